/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/execute.h"

#include "conntrack.h"
#include "dp-packet.h"
#include "flow.h"
#include "netdev.h"
#include "netlink.h"
#include "odp-execute.h"
#include "odp-netlink.h"
#include "odp-util.h"
#include "packets.h"
#include "pmd/bond.h"
#include "pmd/ct-action.h"
#include "pmd/drops.h"
#include "pmd/input.h"
#include "pmd/meter.h"
#include "pmd/pmd.h"
#include "pmd/txq.h"
#include "pmd/upcall.h"
#include "sync/dp-log.h"
#include "table/dp-flow.h"
#include "util.h"

/* For whom actions are executed: a flow of the datapath, or somebody who has
 * the packets' headers in a 'struct flow'. */
struct execution {
    struct pmd_thread *pmd;
    const struct dp_flow *dp_flow;  /* Null if 'flow' is to be used. */
    const struct flow *flow;
};

/* Ethernet type of the packets when they came.  That of a datapath flow lies
 * where other packets need not go, so only those ask that have to. */
static ovs_be16
execution_dl_type(const struct execution *ex)
{
    return (ex->dp_flow
            ? MINIFLOW_GET_BE16(&ex->dp_flow->info->mf, dl_type)
            : ex->flow->dl_type);
}

/* Returns a batch of packets that the caller owns: 'batch' itself if it is to
 * be taken over, otherwise copies, in 'copies', cut as those in 'batch' were
 * to be. */
static struct dp_packet_batch *
own_packets(struct dp_packet_batch *batch, bool steal,
            struct dp_packet_batch *copies)
{
    if (!steal) {
        dp_packet_batch_clone(copies, batch);
        dp_packet_batch_reset_cutlen(batch);
        batch = copies;
    }
    dp_packet_batch_apply_cutlen(batch);
    return batch;
}

/* Counts all of 'batch' as dropped, and frees it if it is ours. */
static void
drop_batch(struct dp_packet_batch *batch, bool steal, enum dp_drop reason)
{
    dp_drop_count(reason, dp_packet_batch_size(batch));
    dp_packet_delete_batch(batch, steal);
}

/* Returns false if there is no such port. */
static bool
execute_output(struct pmd_thread *pmd, struct dp_packet_batch *batch,
               bool steal, odp_port_t port_no)
{
    struct pmd_txport *txport = pmd_txports_find_send(pmd, port_no);
    struct dp_packet_batch copies;

    if (OVS_UNLIKELY(!txport)) {
        drop_batch(batch, steal, DP_DROP_INVALID_PORT);
        return false;
    }
    pmd_txport_queue(pmd, txport, own_packets(batch, steal, &copies));
    return true;
}

static void
execute_lb_output(struct pmd_thread *pmd, struct dp_packet_batch *batch,
                  bool steal, uint32_t bond_id)
{
    struct dp_bond *bond = dp_bonds_find(&pmd->tx_bonds, bond_id);
    struct dp_packet_batch copies;
    struct dp_packet *packet;

    if (!bond) {
        drop_batch(batch, steal, DP_DROP_INVALID_BOND);
        return;
    }

    batch = own_packets(batch, steal, &copies);
    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        uint32_t hash = dp_packet_get_rss_hash(packet);
        struct dp_bond_bucket *bucket = &bond->buckets[hash & BOND_MASK];
        uint32_t size = dp_packet_size(packet);
        struct dp_packet_batch single;

        dp_packet_batch_init_packet(&single, packet);
        if (execute_output(pmd, &single, true, bucket->member)) {
            dp_bond_bucket_account(bucket, size);
        }
    }
}

static void
execute_tunnel_push(struct pmd_thread *pmd, struct dp_packet_batch *batch,
                    bool steal, const struct nlattr *a)
{
    const struct ovs_action_push_tnl *data = nl_attr_get(a);
    struct pmd_txport *tunnel;
    size_t n;

    if (steal) {
        /* Nothing follows that could see the header. */
        dp_packet_delete_batch(batch, true);
        return;
    }

    dp_packet_batch_apply_cutlen(batch);
    n = dp_packet_batch_size(batch);
    tunnel = pmd_txports_find_tunnel(pmd, data->tnl_port);
    if (!tunnel || netdev_push_header(tunnel->port->netdev, batch, data)) {
        dp_drop_count(DP_DROP_TUNNEL_PUSH_ERROR, n);
        dp_packet_delete_batch(batch, true);
    }
}

/* Sends 'batch', whose packets are ours, through the datapath once more. */
static void
recirculate(struct pmd_thread *pmd, struct dp_packet_batch *batch)
{
    pmd->recirc_depth++;
    pmd_recirculate(pmd, batch);
    pmd->recirc_depth--;
}

static void
execute_tunnel_pop(struct pmd_thread *pmd, struct dp_packet_batch *batch,
                   bool steal, odp_port_t port_no)
{
    struct dp_packet_batch copies;
    struct pmd_txport *tunnel;
    struct dp_packet *packet;
    size_t n;

    if (pmd->recirc_depth >= DP_MAX_RECIRC_DEPTH) {
        drop_batch(batch, steal, DP_DROP_RECIRC_ERROR);
        return;
    }
    tunnel = pmd_txports_find_tunnel(pmd, port_no);
    if (!tunnel) {
        drop_batch(batch, steal, DP_DROP_INVALID_TNL_PORT);
        return;
    }

    batch = own_packets(batch, steal, &copies);
    n = dp_packet_batch_size(batch);
    netdev_pop_header(tunnel->port->netdev, batch);
    n -= dp_packet_batch_size(batch);
    if (n) {
        dp_drop_count(DP_DROP_TUNNEL_POP_ERROR, n);
    }
    if (dp_packet_batch_is_empty(batch)) {
        return;
    }

    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        packet->md.in_port.odp_port = port_no;
    }
    recirculate(pmd, batch);
}

static void
execute_recirc(struct pmd_thread *pmd, struct dp_packet_batch *batch,
               bool steal, uint32_t recirc_id)
{
    struct dp_packet_batch copies;
    struct dp_packet *packet;

    if (pmd->recirc_depth >= DP_MAX_RECIRC_DEPTH) {
        static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(60, 60);

        drop_batch(batch, steal, DP_DROP_RECIRC_ERROR);
        VLOG_WARN_RL(&rl,
                     "Packet dropped. Max recirculation depth exceeded.");
        return;
    }

    if (!steal) {
        /* The packets stay to be cut, whoever comes to output them. */
        dp_packet_batch_clone(&copies, batch);
        batch = &copies;
    }
    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        packet->md.recirc_id = recirc_id;
    }
    recirculate(pmd, batch);
}

static void
execute_ct(const struct execution *ex, struct dp_packet_batch *batch,
           bool steal, const struct nlattr *a)
{
    struct pmd_thread *pmd = ex->pmd;
    enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_CONNTRACK);
    struct ct_action ct;

    ct_action_parse(a, &ct);
    conntrack_execute(pmd->run->conntrack, batch, execution_dl_type(ex),
                      ct.force, ct.commit, ct.zone, ct.mark, ct.labels,
                      ct.helper, ct.has_nat ? &ct.nat : NULL,
                      pmd->now / 1000, ct.tp_id);
    pmd_stage_set(&pmd->mark, outer);
    dp_packet_delete_batch(batch, steal);
}

/* An odp_execute_cb: what the library cannot do without a datapath. */
static void
execute_action(void *ex_, struct dp_packet_batch *batch,
               const struct nlattr *a, bool steal)
{
    const struct execution *ex = ex_;
    struct pmd_thread *pmd = ex->pmd;

    switch (nl_attr_type(a)) {
    case OVS_ACTION_ATTR_OUTPUT:
        execute_output(pmd, batch, steal, nl_attr_get_odp_port(a));
        break;
    case OVS_ACTION_ATTR_LB_OUTPUT:
        execute_lb_output(pmd, batch, steal, nl_attr_get_u32(a));
        break;
    case OVS_ACTION_ATTR_TUNNEL_PUSH:
        execute_tunnel_push(pmd, batch, steal, a);
        break;
    case OVS_ACTION_ATTR_TUNNEL_POP:
        execute_tunnel_pop(pmd, batch, steal, nl_attr_get_odp_port(a));
        break;
    case OVS_ACTION_ATTR_USERSPACE:
        pmd_upcall_action(pmd, batch, a, steal);
        break;
    case OVS_ACTION_ATTR_RECIRC:
        execute_recirc(pmd, batch, steal, nl_attr_get_u32(a));
        break;
    case OVS_ACTION_ATTR_CT:
        execute_ct(ex, batch, steal, a);
        break;
    case OVS_ACTION_ATTR_METER:
        dp_meters_run(&pmd->run->meters, batch, nl_attr_get_u32(a),
                      pmd->now / 1000);
        dp_packet_delete_batch(batch, steal);
        break;
    default: {
        /* "psample" and whatever else this datapath says that it does not
         * support, forced into a flow by hand. */
        static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);

        VLOG_WARN_RL(&rl, "action %d is not supported, ignored",
                     nl_attr_type(a));
        dp_packet_delete_batch(batch, steal);
        break;
    }
    }
}

void
pmd_execute_actions(struct pmd_thread *pmd, struct dp_packet_batch *batch,
                    bool steal, const struct flow *flow,
                    const struct nlattr *actions, size_t actions_len)
{
    enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_EXECUTE);
    struct execution ex = { .pmd = pmd, .flow = flow };

    odp_execute_actions(&ex, batch, steal, actions, actions_len,
                        execute_action);
    pmd_stage_set(&pmd->mark, outer);
}

void
pmd_execute_flow(struct pmd_thread *pmd, struct dp_packet_batch *batch,
                 const struct dp_flow *flow)
{
    odp_port_t output = dp_flow_output(flow);

    if (OVS_LIKELY(output != ODPP_NONE)) {
        /* All that the library would do is call us back, and nothing has been
         * cut yet. */
        struct pmd_txport *txport = pmd_txports_find_send(pmd, output);

        if (OVS_LIKELY(txport)) {
            pmd_txport_queue(pmd, txport, batch);
        } else {
            drop_batch(batch, true, DP_DROP_INVALID_PORT);
        }
    } else {
        const struct dp_actions *actions = dp_flow_actions(flow);
        struct execution ex = { .pmd = pmd, .dp_flow = flow };

        odp_execute_actions(&ex, batch, true, actions->attrs, actions->size,
                            execute_action);
    }
}
