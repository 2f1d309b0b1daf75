/* SPDX-License-Identifier: Apache-2.0 */

/* What the upper layer does to flows: put, get, delete and flush.
 *
 * Every thread has a flow table of its own.  An operation names a thread by
 * its core, or means all of them (PMD_ID_NULL); then it succeeds only if it
 * did for each, and statistics add up. */

#include <config.h>

#include <errno.h>
#include <string.h>

#include "dp/dp-netdev.h"
#include "dp/flow-convert.h"
#include "odp-util.h"
#include "openvswitch/match.h"
#include "pmd/flow-install.h"
#include "table/flow-table.h"

#include "sync/dp-log.h"

/* Does an operation, of which 'aux' is the rest, on one thread.  Adds to
 * '*stats'. */
typedef int thread_op(const struct dp_netdev *, struct pmd_thread *,
                      void *aux, struct dpif_flow_stats *stats);

/* Lets 'op' work on thread 'pmd_id', or on all threads.  Returns EINVAL if
 * there is none; if several fail, the error of the last that did. */
static int
do_on_threads(struct dp_netdev *dp, unsigned pmd_id, thread_op *op,
              void *aux, struct dpif_flow_stats *stats)
{
    struct dpif_flow_stats ignored;
    struct pmd_thread *pmd;
    int error;

    if (!stats) {
        stats = &ignored;
    }
    memset(stats, 0, sizeof *stats);

    if (pmd_id != PMD_ID_NULL) {
        pmd = dp_netdev_get_pmd(dp, pmd_id);
        if (!pmd) {
            return EINVAL;
        }
        error = op(dp, pmd, aux, stats);
        pmd_thread_unref(pmd);
        return error;
    }

    /* Not cmap_is_empty(), which only the writer may call. */
    bool any = false;

    error = 0;
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        int retval = op(dp, pmd, aux, stats);

        error = retval ? retval : error;
        any = true;
    }
    return any ? error : EINVAL;
}

static void
add_flow_stats(const struct dp_netdev *dp, struct dp_flow *flow,
               struct dpif_flow_stats *sum)
{
    struct dpif_flow_stats stats;

    flow_convert_stats(dp, flow, &stats, NULL);
    sum->n_packets += stats.n_packets;
    sum->n_bytes += stats.n_bytes;
    sum->tcp_flags |= stats.tcp_flags;
    sum->used = MAX(sum->used, stats.used);
}

/* A flow that comes without a ufid has that which its key makes. */
static void
ufid_of_flow(const struct flow *flow, ovs_u128 *ufid)
{
    odp_flow_key_hash(flow, sizeof *flow, ufid);
}

/* Determines the ufid of an operation that has 'ufid' or else 'key'.  Returns
 * false if it has neither. */
static bool
ufid_of_op(const ovs_u128 *ufid, const struct nlattr *key, size_t key_len,
           ovs_u128 *result)
{
    struct flow flow;

    if (ufid) {
        *result = *ufid;
        return true;
    }
    if (key && key_len && !flow_convert_key(key, key_len, false, &flow)) {
        ufid_of_flow(&flow, result);
        return true;
    }
    return false;
}

/* Put. */

struct flow_put {
    const struct dpif_flow_put *args;
    struct match match;
    ovs_u128 ufid;
    struct dp_key key;          /* If there is no 'args->ufid': of match.flow,
                                 * unmasked, since a search with the masked key
                                 * could hit a wider flow. */
};

static const char *
put_flags_name(enum dpif_flow_put_flags flags)
{
    return (flags & DPIF_FP_CREATE ? "[create]"
            : flags & DPIF_FP_MODIFY ? "[modify]"
            : "[zero]");
}

static int
flow_put_parse(const struct dpif_flow_put *args, struct flow_put *put)
{
    static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);
    bool probe = args->flags & DPIF_FP_PROBE;
    struct match *match = &put->match;
    int error;

    put->args = args;
    memset(&match->tun_md, 0, sizeof match->tun_md);
    error = flow_convert_key(args->key, args->key_len, probe, &match->flow);
    if (!error) {
        error = flow_convert_mask(args->key, args->key_len,
                                  args->mask, args->mask_len, probe,
                                  &match->flow, &match->wc);
    }
    if (error) {
        return error;
    }

    if (match->wc.masks.in_port.odp_port != ODPP_NONE) {
        VLOG_ERR_RL(&rl, "failed to put%s flow: in_port is not an exact match",
                    put_flags_name(args->flags));
        return EINVAL;
    }

    if (args->ufid) {
        put->ufid = *args->ufid;
    } else {
        ufid_of_flow(&match->flow, &put->ufid);
        dp_key_from_flow(&put->key, &match->flow);
    }
    dp_match_normalize(match);
    return 0;
}

/* Gives 'flow', which 'put' has found, the new actions. */
static int
flow_put_modify(const struct dp_netdev *dp, struct pmd_thread *pmd,
                const struct flow_put *put, struct dp_flow *flow,
                struct dpif_flow_stats *stats)
    OVS_REQUIRES(pmd->flows.mutex)
{
    const struct dpif_flow_put *args = put->args;

    if (!args->ufid) {
        struct flow owner;

        /* Found by its key, so all that is certain is that 'flow' covers it.
         * The flow that was meant is the one which the same packet made. */
        dp_flow_info_get_flow(flow->info, &owner);
        if (!flow_equal(&owner, &put->match.flow)) {
            return EINVAL;
        }
    }

    pmd_flow_change(pmd, flow, &put->match, args->actions, args->actions_len);
    add_flow_stats(dp, flow, stats);

    /* Statistics belong to the thread that counts, nobody else may write to
     * them. */
    return args->flags & DPIF_FP_ZERO_STATS ? EOPNOTSUPP : 0;
}

static int
flow_put_on_thread(const struct dp_netdev *dp, struct pmd_thread *pmd,
                   void *put_, struct dpif_flow_stats *stats)
{
    struct flow_put *put = put_;
    const struct dpif_flow_put *args = put->args;
    struct dp_flow *flow;
    int error = 0;

    ovs_mutex_lock(&pmd->flows.mutex);
    flow = (args->ufid
            ? dp_flow_table_find_ufid(&pmd->flows, args->ufid)
            : dp_flow_table_find_key(&pmd->flows, &put->key, NULL));
    if (!flow) {
        if (args->flags & DPIF_FP_CREATE) {
            error = pmd_flow_install(pmd, &put->match, &put->ufid,
                                     args->actions, args->actions_len,
                                     ODPP_NONE, &flow);
        } else if (args->flags & DPIF_FP_MODIFY) {
            error = ENOENT;
        }
    } else if (args->flags & DPIF_FP_MODIFY) {
        error = flow_put_modify(dp, pmd, put, flow, stats);
    } else if (args->flags & DPIF_FP_CREATE) {
        error = EEXIST;
    }
    dp_flow_table_unlock(&pmd->flows);

    return error;
}

int
dp_netdev_flow_put(struct dpif *dpif, const struct dpif_flow_put *args)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct flow_put put;
    int error;

    if (args->stats) {
        memset(args->stats, 0, sizeof *args->stats);
    }
    error = flow_put_parse(args, &put);
    return error ? error : do_on_threads(dp, args->pmd_id, flow_put_on_thread,
                                         &put, args->stats);
}

/* Get. */

/* Looks for flow 'ufid' in the thread 'pmd' and describes it. */
static int
flow_get_on_thread(const struct dp_netdev *dp, struct pmd_thread *pmd,
                   const ovs_u128 *ufid, const struct dpif_flow_get *args)
{
    struct dp_flow *flow = dp_flow_table_find_ufid(&pmd->flows, ufid);

    if (!flow) {
        return ENOENT;
    }
    flow_convert_to_dpif(dp, flow, false, args->buffer, args->buffer,
                         args->flow);
    return 0;
}

int
dp_netdev_flow_get(const struct dpif *dpif, const struct dpif_flow_get *args)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct pmd_thread *pmd;
    ovs_u128 ufid;
    int error;

    bool has_ufid = ufid_of_op(args->ufid, args->key, args->key_len, &ufid);

    if (args->pmd_id != PMD_ID_NULL) {
        pmd = dp_netdev_get_pmd(dp, args->pmd_id);
        if (!pmd) {
            return EINVAL;
        }
        error = (has_ufid ? flow_get_on_thread(dp, pmd, &ufid, args)
                 : ENOENT);
        pmd_thread_unref(pmd);
        return error;
    }

    /* The first thread that has the flow answers for it. */
    error = EINVAL;
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        error = (has_ufid ? flow_get_on_thread(dp, pmd, &ufid, args)
                 : ENOENT);
        if (!error) {
            break;
        }
    }
    return error;
}

/* Delete and flush. */

static int
flow_del_on_thread(const struct dp_netdev *dp, struct pmd_thread *pmd,
                   void *ufid, struct dpif_flow_stats *stats)
{
    struct dp_flow *flow;

    ovs_mutex_lock(&pmd->flows.mutex);
    flow = dp_flow_table_find_ufid(&pmd->flows, ufid);
    if (flow) {
        add_flow_stats(dp, flow, stats);
        pmd_flow_uninstall(pmd, flow);
    }
    dp_flow_table_unlock(&pmd->flows);

    return flow ? 0 : ENOENT;
}

static int
flow_not_found(const struct dp_netdev *dp OVS_UNUSED,
               struct pmd_thread *pmd OVS_UNUSED,
               void *aux OVS_UNUSED,
               struct dpif_flow_stats *stats OVS_UNUSED)
{
    return ENOENT;
}

int
dp_netdev_flow_del(struct dpif *dpif, const struct dpif_flow_del *args)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    ovs_u128 ufid;
    bool has_ufid = ufid_of_op(args->ufid, args->key, args->key_len, &ufid);

    return do_on_threads(dp, args->pmd_id,
                         has_ufid ? flow_del_on_thread : flow_not_found,
                         &ufid, args->stats);
}

void
dp_netdev_pmd_flush_flows(struct pmd_thread *pmd)
{
    struct dp_flow_info *info;

    ovs_mutex_lock(&pmd->flows.mutex);
    CMAP_FOR_EACH (info, ufid_node, &pmd->flows.by_ufid) {
        pmd_flow_uninstall(pmd, info->slot);
    }
    dp_flow_table_unlock(&pmd->flows);
}

int
dp_netdev_flow_flush(struct dpif *dpif)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct pmd_thread *pmd;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        dp_netdev_pmd_flush_flows(pmd);
    }
    return 0;
}
