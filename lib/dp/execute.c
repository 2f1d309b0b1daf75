/* SPDX-License-Identifier: Apache-2.0 */

/* Packets that the upper layer has the datapath execute, and operations in
 * bulk. */

#include <config.h>

#include <errno.h>

#include "dp-packet.h"
#include "dp/dp-netdev.h"
#include "flow.h"
#include "packets.h"
#include "pmd/execute.h"
#include "pmd/txq.h"

/* Executes on 'pmd', which the caller owns. */
static void
execute_on_thread(struct pmd_thread *pmd, struct dpif_execute *args)
{
    struct dp_packet_batch batch;

    pmd_update_time(pmd);

    /* Actions rely on the hash that every packet gets when it enters the
     * datapath.  This one may never have. */
    if (!dp_packet_rss_valid(args->packet)) {
        dp_packet_set_rss_hash(args->packet, flow_hash_5tuple(args->flow, 0));
    }

    /* A copy, since actions may replace the packet (reassembly) or keep it. */
    dp_packet_batch_init_packet(&batch, dp_packet_clone(args->packet));
    pmd_execute_actions(pmd, &batch, false, args->flow, args->actions,
                        args->actions_len);
    pmd_flush_output(pmd, true);

    /* The caller wants to see what became of his packet.  There is no way to
     * give back more than one, for example fragments. */
    if (dp_packet_batch_size(&batch) == 1) {
        dp_packet_swap(args->packet, batch.packets[0]);
    }
    dp_packet_delete_batch(&batch, true);
}

int
dp_netdev_execute(struct dpif *dpif, struct dpif_execute *args)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct pmd_thread *pmd;
    size_t size = dp_packet_size(args->packet);

    if (size < ETH_HEADER_LEN || size > UINT16_MAX) {
        return EINVAL;
    }

    pmd = ovsthread_getspecific(dp->run.pmd_key);
    if (pmd) {
        /* A PMD thread in the middle of an upcall. */
        if (!args->probe) {
            execute_on_thread(pmd, args);
        }
        return 0;
    }

    pmd = dp_netdev_get_pmd(dp, NON_PMD_CORE_ID);
    if (!pmd) {
        return EBUSY;
    }
    /* A probe asks whether the actions would be taken.  Nothing shall leave
     * because of it. */
    if (!args->probe) {
        ovs_mutex_lock(&dp->run.non_pmd_mutex);
        execute_on_thread(pmd, args);
        ovs_mutex_unlock(&dp->run.non_pmd_mutex);
    }
    pmd_thread_unref(pmd);
    return 0;
}

/* What an operation says of the flow that it is about: the thread, and the
 * ufid (null if it has none). */
static const ovs_u128 *
op_get_ufid(const struct dpif_op *op, unsigned *pmd_id)
{
    switch (op->type) {
    case DPIF_OP_FLOW_PUT:
        *pmd_id = op->flow_put.pmd_id;
        return op->flow_put.ufid;
    case DPIF_OP_FLOW_DEL:
        *pmd_id = op->flow_del.pmd_id;
        return op->flow_del.ufid;
    case DPIF_OP_FLOW_GET:
        *pmd_id = op->flow_get.pmd_id;
        return op->flow_get.ufid;
    case DPIF_OP_EXECUTE:
    default:
        return NULL;
    }
}

/* Fetches what the operations on flows will need.  Most often all of them are
 * for the same thread, so it is enough to look after those that are for the
 * thread of the first. */
static void
warm_up(struct dp_netdev *dp, struct dpif_op **ops, size_t n_ops)
{
    const ovs_u128 *ufids[64];
    unsigned first_id = PMD_ID_NULL;
    struct pmd_thread *pmd;
    size_t n = 0;

    for (size_t i = 0; i < n_ops && n < ARRAY_SIZE(ufids); i++) {
        unsigned pmd_id;
        const ovs_u128 *ufid = op_get_ufid(ops[i], &pmd_id);

        if (ufid) {
            first_id = first_id == PMD_ID_NULL ? pmd_id : first_id;
            if (pmd_id == first_id) {
                ufids[n++] = ufid;
            }
        }
    }
    if (n < 2 || first_id == PMD_ID_NULL) {
        return;
    }
    pmd = dp_netdev_get_pmd(dp, first_id);
    if (pmd) {
        dp_flow_table_warm_up(&pmd->flows, ufids, n);
        pmd_thread_unref(pmd);
    }
}

void
dp_netdev_operate(struct dpif *dpif, struct dpif_op **ops, size_t n_ops,
                  enum dpif_offload_type offload_type OVS_UNUSED)
{
    warm_up(dp_netdev_from_dpif(dpif), ops, n_ops);
    for (size_t i = 0; i < n_ops; i++) {
        struct dpif_op *op = ops[i];

        switch (op->type) {
        case DPIF_OP_FLOW_PUT:
            op->error = dp_netdev_flow_put(dpif, &op->flow_put);
            break;
        case DPIF_OP_FLOW_DEL:
            op->error = dp_netdev_flow_del(dpif, &op->flow_del);
            break;
        case DPIF_OP_FLOW_GET:
            op->error = dp_netdev_flow_get(dpif, &op->flow_get);
            break;
        case DPIF_OP_EXECUTE:
            op->error = dp_netdev_execute(dpif, &op->execute);
            break;
        default:
            OVS_NOT_REACHED();
        }
    }
}
