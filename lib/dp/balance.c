/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/dp-netdev.h"

#include <inttypes.h>

#include "dp/rxq-plan.h"
#include "openvswitch/poll-loop.h"
#include "sync/dp-log.h"

#define MINUTE_MS 60000

void
dp_netdev_balance_set(struct dp_netdev *dp, bool enable, bool always_log)
{
    struct dp_balance *balance = &dp->balance;

    if (balance->enabled == enable && !always_log) {
        return;
    }

    balance->enabled = enable;
    if (enable) {
        VLOG_INFO("PMD auto load balance is enabled, "
                  "interval %lld mins, pmd load threshold %"PRIu8"%%, "
                  "improvement threshold %"PRIu8"%%.",
                  balance->interval_ms / MINUTE_MS, balance->load_percent,
                  balance->improvement_percent);
    } else {
        balance->last_run = 0;
        VLOG_INFO("PMD auto load balance is disabled.");
    }
}

void
dp_netdev_balance_copy_threshold(struct dp_netdev *dp)
{
    struct pmd_thread *pmd;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        atomic_store_relaxed(&pmd->overload_threshold,
                             dp->balance.load_percent);
    }
}

/* Returns true if some thread has been overloaded for as long as load is
 * remembered. */
static bool
any_thread_overloaded(struct dp_netdev *dp)
{
    struct pmd_thread *pmd;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (atomic_count_get(&pmd->overloaded) >= RXQ_INTERVALS) {
            return true;
        }
    }
    return false;
}

/* Returns true if queues could change places at all: two threads or more that
 * are not isolated, one of them with several queues. */
static bool
has_room_for_change(struct dp_netdev *dp)
{
    struct pmd_thread *pmd;
    unsigned int n_threads = 0;
    bool several_queues = false;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        bool isolated;

        atomic_read_relaxed(&pmd->isolated, &isolated);
        if (pmd->core_id != NON_PMD_CORE_ID && !isolated) {
            ovs_mutex_lock(&pmd->port_mutex);
            several_queues |= hmap_count(&pmd->poll_list) > 1;
            ovs_mutex_unlock(&pmd->port_mutex);
            n_threads++;
        }
    }
    return several_queues && n_threads > 1;
}

/* Decides, at little cost, whether a dry run is worth its own.  Unless the
 * datapath has been reconfigured the answer is the one of the last time. */
static bool
dry_run_is_useful(struct dp_netdev *dp)
{
    struct dp_balance *balance = &dp->balance;

    if (!balance->recheck) {
        if (!balance->dry_run_useful) {
            VLOG_DBG("PMD auto load balance nothing to do, "
                     "no configuration changes since last check.");
        }
        return balance->dry_run_useful;
    }

    balance->recheck = false;
    balance->dry_run_useful = false;
    if (dp->rxq_assign == RXQ_ASSIGN_ROUNDROBIN) {
        VLOG_DBG("PMD auto load balance nothing to do, "
                 "pmd-rxq-assign=roundrobin assignment type configured.");
    } else if (!has_room_for_change(dp)) {
        VLOG_DBG("PMD auto load balance nothing to do, "
                 "not enough non-isolated PMDs or RxQs.");
    } else {
        balance->dry_run_useful = true;
    }
    return balance->dry_run_useful;
}

/* Compares the two plans node by node.  Returns true if on one of them the
 * variance of the load becomes smaller by the percentage that the user asks
 * for. */
static bool
plan_is_better(const struct dp_netdev *dp, const struct rxq_plan *now,
               const struct rxq_plan *then)
{
    uint8_t threshold = dp->balance.improvement_percent;
    bool better = false;

    for (size_t i = 0; i < now->n_numas; i++) {
        int numa_id = now->numas[i].numa_id;
        uint64_t current = rxq_plan_variance(now, numa_id);
        uint64_t estimate = rxq_plan_variance(then, numa_id);
        uint64_t improvement = 0;

        if (estimate < current) {
            improvement = (current - estimate) * 100 / current;
        }
        VLOG_DBG("Numa node %d. Current variance %"PRIu64" Estimated "
                 "variance %"PRIu64". Variance improvement %"PRIu64"%%.",
                 numa_id, current, estimate, improvement);
        better |= improvement >= threshold;
    }
    VLOG_DBG("PMD load variance improvement threshold %u%% is %s.",
             threshold, better ? "met" : "not met");
    return better;
}

static bool
dry_run(struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct rxq_plan now, then;
    bool better = false;

    VLOG_DBG("PMD auto load balance performing dry run.");

    rxq_plan_init(&now);
    rxq_plan_fill(&now, dp);
    rxq_plan_keep(&now, dp->pmd_isolate);

    rxq_plan_init(&then);
    rxq_plan_fill(&then, dp);
    rxq_plan_assign(&then, dp->rxq_assign, dp->pmd_isolate, VLL_DBG);

    /* A foreign node may poll a queue at a very different price, which nobody
     * can tell beforehand. */
    if (then.n_numas > 1 && rxq_plan_crosses_numa(&then)) {
        VLOG_DBG("PMD auto load balance detected cross-numa polling with "
                 "multiple numa nodes. Unable to accurately estimate.");
    } else {
        better = plan_is_better(dp, &now, &then);
    }

    rxq_plan_destroy(&now);
    rxq_plan_destroy(&then);
    return better;
}

void
dp_netdev_balance_run(struct dp_netdev *dp, long long now)
{
    struct dp_balance *balance = &dp->balance;

    if (!balance->enabled) {
        return;
    }
    if (!balance->last_run) {
        balance->last_run = now;
        return;
    }
    if (balance->last_run + balance->interval_ms >= now) {
        return;
    }
    balance->last_run = now;

    if (any_thread_overloaded(dp)
        && !dp_netdev_reconfigure_requested(dp)
        && !dp_netdev_ports_need_restart(dp)
        && dry_run_is_useful(dp)
        && dry_run(dp)) {
        VLOG_INFO("PMD auto load balance dry run. "
                  "Requesting datapath reconfigure.");
        dp_netdev_request_reconfigure(dp);
    }
}

void
dp_netdev_balance_wait(const struct dp_netdev *dp)
{
    const struct dp_balance *balance = &dp->balance;

    if (balance->enabled && balance->last_run) {
        poll_timer_wait_until(balance->last_run + balance->interval_ms + 1);
    }
}
