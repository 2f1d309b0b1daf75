/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/upcall.h"

#include <errno.h>

#include "dp-packet.h"
#include "dpif.h"
#include "fat-rwlock.h"
#include "flow.h"
#include "netlink.h"
#include "odp-util.h"
#include "openvswitch/match.h"
#include "openvswitch/ofp-print.h"
#include "openvswitch/ofpbuf.h"
#include "pmd/drops.h"
#include "pmd/execute.h"
#include "pmd/flow-install.h"
#include "pmd/flow-log.h"
#include "pmd/pmd.h"
#include "sync/dp-log.h"
#include "table/dp-key.h"
#include "table/flow-table.h"
#include "util.h"

bool
pmd_upcall_begin(struct pmd_thread *pmd)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    return !fat_rwlock_tryrdlock(&pmd->run->upcall_rwlock);
}

void
pmd_upcall_end(struct pmd_thread *pmd)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    fat_rwlock_unlock(&pmd->run->upcall_rwlock);
}

static void
log_upcall(const struct pmd_thread *pmd, const struct dp_packet *packet,
           const struct flow *flow, const struct flow_wildcards *wc,
           enum dpif_upcall_type type)
{
    struct odp_flow_key_parms parms = {
        .flow = flow,
        .mask = wc ? &wc->masks : NULL,
        .support = pmd_odp_support,
    };
    struct ds s = DS_EMPTY_INITIALIZER;
    struct ofpbuf key;
    char *dump;

    ofpbuf_init(&key, 0);
    odp_flow_key_from_flow(&parms, &key);
    odp_flow_key_format(key.data, key.size, &s);
    dump = ofp_dp_packet_to_string(packet);

    VLOG_DBG("%s: %s upcall:\n%s\n%s", pmd->run->name,
             dpif_upcall_type_to_string(type), ds_cstr(&s), dump);

    free(dump);
    ofpbuf_uninit(&key);
    ds_destroy(&s);
}

/* What the upper layer is told and tells us. */
struct upcall {
    enum dpif_upcall_type type;
    const struct flow *flow;        /* Of the packet. */
    ovs_u128 ufid;                  /* Of 'flow'. */
    const struct nlattr *userdata;  /* DPIF_UC_ACTION only. */
    struct flow_wildcards *wc;      /* Filled in.  DPIF_UC_MISS only. */
    struct ofpbuf *actions;         /* For the packet.  Filled in. */
    struct ofpbuf *put_actions;     /* For the flow, if they differ from
                                     * 'actions'.  Filled in.  DPIF_UC_MISS
                                     * only. */
};

/* Returns 0, or ENOSPC if the actions are valid but no flow is to be
 * installed, or another errno. */
static int
make_upcall(struct pmd_thread *pmd, struct dp_packet *packet,
            struct upcall *upcall)
{
    const struct dp_run *run = pmd->run;

    if (!run->upcall_cb) {
        return ENODEV;
    }
    if (OVS_UNLIKELY(!VLOG_DROP_DBG(&pmd_flow_log_rl))) {
        log_upcall(pmd, packet, upcall->flow, upcall->wc, upcall->type);
    }
    if (upcall->type != DPIF_UC_MISS) {
        /* The packet itself leaves, so its checksums must be right. */
        dp_packet_ol_send_prepare(packet, 0);
    }
    odp_flow_key_hash(upcall->flow, sizeof *upcall->flow, &upcall->ufid);
    return run->upcall_cb(packet, upcall->flow, &upcall->ufid, pmd->core_id,
                          upcall->type, upcall->userdata, upcall->actions,
                          upcall->wc, upcall->put_actions, run->upcall_aux);
}

/* Installs the flow that an upcall gave, unless somebody else was faster, and
 * returns it; NULL if there is no room. */
static struct dp_flow *
install_flow(struct pmd_thread *pmd, const struct dp_key *key,
             struct match *match, const ovs_u128 *ufid,
             const struct ofpbuf *actions, odp_port_t orig_in_port)
{
    struct dp_flow *flow;

    ovs_mutex_lock(&pmd->flows.mutex);
    flow = dp_flow_table_find_key(&pmd->flows, key, NULL);
    if (!flow) {
        pmd_flow_install(pmd, match, ufid, actions->data, actions->size,
                         orig_in_port, &flow);
    }
    dp_flow_table_unlock(&pmd->flows);
    return flow;
}

int
pmd_upcall_miss(struct pmd_thread *pmd, struct dp_packet *packet,
                const struct dp_key *key, struct dp_flow **flowp)
{
    uint64_t actions_stub[512 / 8], put_actions_stub[512 / 8];
    uint64_t start = pmd_perf_now(&pmd->perf);
    /* The actions may change the packet and its metadata. */
    odp_port_t orig_in_port = packet->md.orig_in_port;
    struct ofpbuf actions, put_actions;
    struct match match;
    struct upcall upcall = {
        .type = DPIF_UC_MISS,
        .flow = &match.flow,
        .wc = &match.wc,
        .actions = &actions,
        .put_actions = &put_actions,
    };
    int error;

    *flowp = NULL;
    ofpbuf_use_stub(&actions, actions_stub, sizeof actions_stub);
    ofpbuf_use_stub(&put_actions, put_actions_stub, sizeof put_actions_stub);
    match.tun_md.valid = false;
    miniflow_expand(&key->mf, &match.flow);
    memset(&match.wc, 0, sizeof match.wc);

    error = make_upcall(pmd, packet, &upcall);
    if (error && error != ENOSPC) {
        dp_packet_delete(packet);
        dp_drop_count(DP_DROP_UPCALL_ERROR, 1);
        goto exit;
    }

    struct dp_packet_batch batch;

    dp_packet_batch_init_packet(&batch, packet);
    pmd_execute_actions(pmd, &batch, true, &match.flow, actions.data,
                        actions.size);
    if (!error) {
        *flowp = install_flow(pmd, key, &match, &upcall.ufid,
                              put_actions.size ? &put_actions : &actions,
                              orig_in_port);
    }
    if (pmd_metrics_enabled(pmd)) {
        pmd_perf_sample_upcall(&pmd->perf, pmd_perf_now(&pmd->perf) - start);
    }

exit:
    ofpbuf_uninit(&actions);
    ofpbuf_uninit(&put_actions);
    return error;
}

/* Sends 'packet' up and executes what comes back.  Frees it if 'steal'. */
static void
upcall_packet(struct pmd_thread *pmd, struct dp_packet *packet, bool steal,
              const struct nlattr *userdata, struct ofpbuf *actions)
{
    struct flow flow;
    struct upcall upcall = {
        .type = DPIF_UC_ACTION,
        .flow = &flow,
        .userdata = userdata,
        .actions = actions,
    };
    int error;

    flow_extract(packet, &flow);
    ofpbuf_clear(actions);
    error = make_upcall(pmd, packet, &upcall);
    if (!error || error == ENOSPC) {
        struct dp_packet_batch batch;

        dp_packet_batch_init_packet(&batch, packet);
        pmd_execute_actions(pmd, &batch, steal, &flow, actions->data,
                            actions->size);
    } else if (steal) {
        dp_packet_delete(packet);
        dp_drop_count(DP_DROP_USERSPACE_ACTION_ERROR, 1);
    }
}

void
pmd_upcall_action(struct pmd_thread *pmd, struct dp_packet_batch *batch,
                  const struct nlattr *a, bool steal)
{
    const struct nlattr *userdata;
    struct dp_packet_batch copies;
    struct dp_packet *packet;
    struct ofpbuf actions;
    enum pmd_stage outer;
    bool copied = false;

    if (!pmd_upcall_begin(pmd)) {
        dp_drop_count(DP_DROP_LOCK_ERROR, dp_packet_batch_size(batch));
        dp_packet_delete_batch(batch, steal);
        return;
    }
    outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_UPCALL);

    if (batch->trunc) {
        /* Userspace is to see the cut packets, others the whole ones. */
        if (!steal) {
            dp_packet_batch_clone(&copies, batch);
            dp_packet_batch_reset_cutlen(batch);
            batch = &copies;
            copied = true;
        }
        dp_packet_batch_apply_cutlen(batch);
    }

    userdata = nl_attr_find_nested(a, OVS_USERSPACE_ATTR_USERDATA);
    ofpbuf_init(&actions, 0);
    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        upcall_packet(pmd, packet, steal, userdata, &actions);
    }
    ofpbuf_uninit(&actions);

    if (copied) {
        dp_packet_delete_batch(batch, true);
    }
    pmd_upcall_end(pmd);
    pmd_stage_set(&pmd->mark, outer);
}
