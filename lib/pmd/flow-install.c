/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/flow-install.h"

#include <errno.h>

#include "netdev-offload.h"
#include "openvswitch/match.h"
#include "pmd/flow-log.h"
#include "table/flow-table.h"

#include "sync/dp-log.h"

static void
log_no_room(const struct pmd_thread *pmd)
{
    static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);

    if (!VLOG_DROP_WARN(&rl)) {
        struct ds who = DS_EMPTY_INITIALIZER;

        if (pmd->core_id == NON_PMD_CORE_ID) {
            ds_put_cstr(&who, "the main thread");
        } else {
            ds_put_format(&who, "the PMD thread on core %u", pmd->core_id);
        }
        VLOG_WARN("%s: cannot add a flow for %s: no room in its flow table, "
                  "which has %"PRIuSIZE" flows", pmd->run->name,
                  ds_cstr(&who), dp_flow_table_count(&pmd->flows));
        ds_destroy(&who);
    }
}

int
pmd_flow_install(struct pmd_thread *pmd, struct match *match,
                 const ovs_u128 *ufid, const struct nlattr *actions,
                 size_t actions_len, odp_port_t orig_in_port,
                 struct dp_flow **flowp)
{
    const struct dp_run_hooks *hooks = pmd->run->hooks;
    const struct dp_flow_spec spec = {
        .match = match,
        .ufid = ufid,
        .actions = actions,
        .actions_len = actions_len,
        .orig_in_port = orig_in_port,
        .pmd_id = pmd->core_id,
        .track_offload = netdev_is_flow_api_enabled(),
    };

    ovs_assert(match->wc.masks.in_port.odp_port == ODPP_NONE);
    dp_match_normalize(match);

    *flowp = dp_flow_table_add(&pmd->flows, &spec);
    if (OVS_UNLIKELY(!*flowp)) {
        log_no_room(pmd);
        return ENOSPC;
    }
    if (hooks->flow_added) {
        hooks->flow_added(pmd, *flowp, match, actions, actions_len);
    }
    pmd_flow_log_change(*flowp, match, NULL, actions, actions_len);
    return 0;
}

void
pmd_flow_change(struct pmd_thread *pmd, struct dp_flow *flow,
                const struct match *match, const struct nlattr *actions,
                size_t actions_len)
{
    const struct dp_run_hooks *hooks = pmd->run->hooks;
    const struct dp_actions *old;

    old = dp_flow_table_set_actions(&pmd->flows, flow, actions, actions_len);
    if (hooks->flow_changed) {
        hooks->flow_changed(pmd, flow, match, actions, actions_len);
    }
    pmd_flow_log_change(flow, match, old, actions, actions_len);
}

void
pmd_flow_uninstall(struct pmd_thread *pmd, struct dp_flow *flow)
{
    const struct dp_run_hooks *hooks = pmd->run->hooks;

    /* While the table still has its reference, so that the hook can take one
     * of its own. */
    if (hooks->flow_removed) {
        hooks->flow_removed(pmd, flow);
    }
    dp_flow_table_remove(&pmd->flows, flow);
}
