/* SPDX-License-Identifier: Apache-2.0 */

/* Names and sizes of the signature caches, for "dpctl/cache-get-size" and
 * "dpctl/cache-set-size". */

#include <config.h>

#include <errno.h>

#include "dp/dp-netdev.h"
#include "pmd/housekeeping.h"
#include "table/sigcache.h"

#include "sync/dp-log.h"

enum cache_level {
    CACHE_EMC,
    CACHE_SMC,
    N_CACHES
};

static const char *const cache_names[N_CACHES] = {
    [CACHE_EMC] = "emc",
    [CACHE_SMC] = "smc",
};

/* The wanted number of entries of 'level', which is valid. */
static atomic_uint32_t *
cache_entries(struct dp_netdev *dp, uint32_t level)
{
    return level == CACHE_EMC ? &dp->run.emc_entries : &dp->run.smc_entries;
}

int
dp_netdev_cache_get_levels(struct dpif *dpif OVS_UNUSED, uint32_t *n_levels)
{
    *n_levels = N_CACHES;
    return 0;
}

int
dp_netdev_cache_get_name(struct dpif *dpif OVS_UNUSED, uint32_t level,
                         const char **name)
{
    if (level >= N_CACHES) {
        return EINVAL;
    }
    *name = cache_names[level];
    return 0;
}

int
dp_netdev_cache_get_size(struct dpif *dpif, uint32_t level, uint32_t *size)
{
    if (level >= N_CACHES) {
        return EINVAL;
    }
    atomic_read_relaxed(cache_entries(dp_netdev_from_dpif(dpif), level), size);
    return 0;
}

/* PMD threads take the new size over by themselves.  The structure that other
 * threads share has nobody who would, so it gets its caches here. */
static void
resize_non_pmd_caches(struct dp_netdev *dp)
{
    struct pmd_thread *pmd = dp_netdev_get_pmd(dp, NON_PMD_CORE_ID);

    if (pmd) {
        ovs_mutex_lock(&dp->run.non_pmd_mutex);
        pmd_resize_caches(pmd);
        ovs_mutex_unlock(&dp->run.non_pmd_mutex);
        pmd_thread_unref(pmd);
    }
}

int
dp_netdev_cache_set_size(struct dpif *dpif, uint32_t level, uint32_t size)
{
    static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);

    if (level >= N_CACHES) {
        return EINVAL;
    }
    if (size && (!IS_POW2(size) || size < SIGCACHE_MIN_ENTRIES
                 || size > SIGCACHE_MAX_ENTRIES)) {
        VLOG_WARN_RL(&rl, "%s: %"PRIu32" is not a valid number of entries for "
                     "the %s cache: it must be 0 or a power of 2 from %d to "
                     "%d", dp->name, size, cache_names[level],
                     SIGCACHE_MIN_ENTRIES, SIGCACHE_MAX_ENTRIES);
        return EINVAL;
    }

    atomic_store_relaxed(cache_entries(dp, level), size);
    resize_non_pmd_caches(dp);
    return 0;
}
