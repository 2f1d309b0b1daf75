/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/flow-log.h"

#include "odp-util.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/match.h"
#include "openvswitch/ofpbuf.h"
#include "table/dp-flow.h"

#include "sync/dp-log.h"

const struct odp_support pmd_odp_support = {
    .recirc = true,
    .ct_state = true,
    .ct_state_nat = true,
    .ct_zone = true,
    .ct_mark = true,
    .ct_label = true,
    .ct_orig_tuple = true,
    .ct_orig_tuple6 = true,
    .max_vlan_headers = SIZE_MAX,
    .max_mpls_depth = SIZE_MAX,
};

struct vlog_rate_limit pmd_flow_log_rl = VLOG_RATE_LIMIT_INIT(600, 600);

/* Appends 'match' in the notation of datapath flows. */
static void
put_match_as_odp(const struct match *match, struct ds *ds)
{
    uint64_t key_stub[512 / 8], mask_stub[512 / 8];
    struct ofpbuf key = OFPBUF_STUB_INITIALIZER(key_stub);
    struct ofpbuf mask = OFPBUF_STUB_INITIALIZER(mask_stub);
    struct odp_flow_key_parms parms = {
        .support = pmd_odp_support,
        .flow = &match->flow,
        .mask = &match->wc.masks,
    };

    odp_flow_key_from_flow(&parms, &key);
    parms.key_buf = &key;
    odp_flow_key_from_mask(&parms, &mask);
    odp_flow_format(key.data, key.size, mask.data, mask.size, NULL, ds,
                    false, true);

    ofpbuf_uninit(&mask);
    ofpbuf_uninit(&key);
}

/* Logs what the table really looks for, which can be less than what was asked
 * for: words that make no sense for the packet are left out. */
static void
log_installed_match(const struct dp_flow_info *info)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct match installed;

    memset(&installed, 0, sizeof installed);
    dp_flow_info_get_flow(info, &installed.flow);
    dp_mask_expand(info->mask, &installed.wc.masks);
    match_zero_wildcarded_fields(&installed);

    ds_put_cstr(&ds, "flow match: ");
    match_format(&installed, NULL, &ds, OFP_DEFAULT_PRIORITY);
    VLOG_DBG("%s", ds_cstr(&ds));
    ds_destroy(&ds);
}

void
pmd_flow_log_change(const struct dp_flow *flow, const struct match *match,
                    const struct dp_actions *old_actions,
                    const struct nlattr *actions, size_t actions_len)
{
    const struct dp_flow_info *info = flow->info;

    if (OVS_LIKELY(VLOG_DROP_DBG(&pmd_flow_log_rl))) {
        return;
    }

    struct ds ds = DS_EMPTY_INITIALIZER;

    ds_put_cstr(&ds, old_actions ? "flow_mod: " : "flow_add: ");
    odp_format_ufid(&info->ufid, &ds);
    ds_put_cstr(&ds, " mega_");
    odp_format_ufid(&info->mega_ufid, &ds);
    ds_put_char(&ds, ' ');
    put_match_as_odp(match, &ds);
    if (old_actions) {
        ds_put_cstr(&ds, ", old_actions:");
        format_odp_actions(&ds, old_actions->attrs, old_actions->size, NULL);
    }
    ds_put_cstr(&ds, ", actions:");
    format_odp_actions(&ds, actions, actions_len, NULL);
    VLOG_DBG("%s", ds_cstr(&ds));
    ds_destroy(&ds);

    log_installed_match(info);
}
