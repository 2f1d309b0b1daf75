/* SPDX-License-Identifier: Apache-2.0 */

/* "pmd-stall-threshold": the stall recorder (pmd/stall.h) of a datapath. */

#include <config.h>
#include "dp/dp-netdev.h"

#include <inttypes.h>

#include "dp/config-value.h"
#include "pmd/stall.h"
#include "sync/dp-log.h"

void
dp_netdev_init_pmd_stall(struct dp_netdev *dp, struct pmd_thread *pmd)
{
    pmd_stall_set_threshold(pmd, dp->stall_threshold);
}

static void
set_threshold(struct dp_netdev *dp, uint64_t us)
{
    struct pmd_thread *pmd;

    /* Threads are added with the lock: each gets to know either here or when
     * it is made. */
    ovs_rwlock_wrlock(&dp->port_rwlock);
    dp->stall_threshold = us;
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (pmd->core_id != NON_PMD_CORE_ID) {
            pmd_stall_set_threshold(pmd, us);
        }
    }
    ovs_rwlock_unlock(&dp->port_rwlock);
}

void
dp_netdev_set_stall_config(struct dp_netdev *dp, const struct smap *config)
{
    uint64_t us = config_number(config, "pmd-stall-threshold", 0,
                                PMD_STALL_MAX_US, dp->stall_threshold,
                                VLL_WARN);

    if (us == dp->stall_threshold) {
        return;
    }
    set_threshold(dp, us);
    if (!us) {
        dp_netdev_stop_stall_watch(dp);
        VLOG_INFO("PMD stall recorder is off");
        return;
    }

    if (dp->stall_watch) {
        pmd_stall_watch_set(dp->stall_watch, us);
    } else {
        dp->stall_watch = pmd_stall_watch_start(&dp->poll_threads, us);
    }
    VLOG_INFO("PMD stall recorder is on, threshold %"PRIu64" us%s", us,
              pmd_stall_has_stacks() ? "" : ", without stacks (no libunwind)");
}

void
dp_netdev_stop_stall_watch(struct dp_netdev *dp)
{
    if (dp->stall_watch) {
        pmd_stall_watch_stop(dp->stall_watch);
        dp->stall_watch = NULL;
    }
}
