/* SPDX-License-Identifier: Apache-2.0 */

/* Sizes of the signature caches: "dpctl/cache-get-size" and "-set-size", and
 * "emc-size", "smc-size" and "smc-enable" of the database.  Whoever spoke last
 * is right.
 *
 * All memory is made and given back here, by control threads; a PMD thread
 * exchanges one cache for another (table/sigcache-handover.h). */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dp/config-value.h"
#include "dp/dp-netdev.h"
#include "pmd/housekeeping.h"
#include "smap.h"
#include "sync/dp-log.h"
#include "table/sigcache-handover.h"
#include "table/sigcache.h"

static const struct {
    const char *name;           /* As in "dpctl". */
    const char *key;            /* Of 'other_config'. */
    uint32_t n_entries;         /* Default. */
} cache_info[DP_N_CACHES] = {
    [DP_CACHE_EMC] = { "emc", "emc-size", SIGCACHE_EMC_ENTRIES },
    [DP_CACHE_SMC] = { "smc", "smc-size", SIGCACHE_SMC_ENTRIES },
};

static struct vlog_rate_limit bad_size_rl = VLOG_RATE_LIMIT_INIT(10, 20);

void
dp_netdev_init_caches(struct dp_netdev *dp)
    OVS_NO_THREAD_SAFETY_ANALYSIS /* Nobody else has 'dp' yet. */
{
    struct dp_caches *caches = &dp->caches;

    ovs_mutex_init(&caches->mutex);
    for (int i = 0; i < DP_N_CACHES; i++) {
        caches->n_entries[i] = cache_info[i].n_entries;
        caches->config[i] = NULL;
    }
    caches->smc_enabled = false;
}

void
dp_netdev_destroy_caches(struct dp_netdev *dp)
{
    for (int i = 0; i < DP_N_CACHES; i++) {
        free(dp->caches.config[i]);
    }
    ovs_mutex_destroy(&dp->caches.mutex);
}

/* Threads that come and go. */

void
dp_netdev_insert_pmd(struct dp_netdev *dp, struct pmd_thread *pmd,
                     uint32_t hash)
{
    struct dp_caches *caches = &dp->caches;

    ovs_mutex_lock(&caches->mutex);
    uint32_t emc = caches->n_entries[DP_CACHE_EMC];
    uint32_t smc = (caches->smc_enabled ? caches->n_entries[DP_CACHE_SMC]
                    : 0);

    if (pmd_init_caches(pmd, emc, smc)) {
        VLOG_WARN_RL(&bad_size_rl, "core %u: no memory for an EMC of %"PRIu32
                     " and an SMC of %"PRIu32" entries; the thread has to do "
                     "without until a size is set again",
                     pmd->core_id, emc, smc);
    }
    cmap_insert(&dp->poll_threads, &pmd->node, hash);
    ovs_mutex_unlock(&caches->mutex);
}

void
dp_netdev_forget_pmd(struct dp_netdev *dp, struct pmd_thread *pmd,
                     uint32_t hash)
{
    ovs_mutex_lock(&dp->caches.mutex);
    cmap_remove(&dp->poll_threads, &pmd->node, hash);
    if (pmd->core_id == NON_PMD_CORE_ID) {
        ovs_mutex_lock(&dp->run.non_pmd_mutex);
        pmd_free_caches(pmd);
        ovs_mutex_unlock(&dp->run.non_pmd_mutex);
    } else {
        pmd_free_caches(pmd);
    }
    ovs_mutex_unlock(&dp->caches.mutex);
}

/* Resizing. */

static struct sigcache_handover *
pmd_handover(struct pmd_thread *pmd, enum dp_cache level)
{
    return level == DP_CACHE_EMC ? &pmd->emc_next : &pmd->smc_next;
}

/* Offers 'parcel' to 'pmd'.  PMD threads take it over by themselves.  The
 * structure that other threads share has nobody who would, so that is done
 * here. */
static void
offer_parcel(struct dp_netdev *dp, struct pmd_thread *pmd, enum dp_cache level,
             struct sigcache_parcel *parcel)
    OVS_REQUIRES(dp->caches.mutex)
{
    struct sigcache_handover *handover = pmd_handover(pmd, level);

    sigcache_handover_put(handover, parcel);
    if (pmd->core_id == NON_PMD_CORE_ID) {
        ovs_mutex_lock(&dp->run.non_pmd_mutex);
        pmd_resize_caches(pmd);
        ovs_mutex_unlock(&dp->run.non_pmd_mutex);
        sigcache_handover_collect(handover);
    }
}

/* Gives all threads caches of 'n_entries', or none of them: returns 0, or a
 * positive errno with everything as it was. */
static int
resize_all(struct dp_netdev *dp, enum dp_cache level, uint32_t n_entries)
    OVS_REQUIRES(dp->caches.mutex)
{
    struct sigcache_parcel **parcels;
    struct pmd_thread *pmd;
    size_t n = 0;
    int error = 0;

    /* The mutex keeps 'poll_threads' the same all the time. */
    parcels = xcalloc(cmap_count(&dp->poll_threads) + 1, sizeof *parcels);
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (pmd_handover(pmd, level)->n_entries != n_entries) {
            parcels[n] = sigcache_parcel_create(n_entries, pmd->numa_id,
                                                &error);
            if (error) {
                break;
            }
            n++;
        }
    }

    if (error) {
        while (n > 0) {
            sigcache_parcel_destroy(parcels[--n]);
        }
    } else {
        n = 0;
        CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
            if (pmd_handover(pmd, level)->n_entries != n_entries) {
                offer_parcel(dp, pmd, level, parcels[n++]);
            }
        }
    }
    free(parcels);
    return error;
}

/* Makes 'n_entries', which is valid, the size of the caches of 'level'.
 * Returns 0, or ENOMEM. */
static int
set_size(struct dp_netdev *dp, enum dp_cache level, uint32_t n_entries)
    OVS_EXCLUDED(dp->caches.mutex)
{
    struct dp_caches *caches = &dp->caches;
    int error = 0;

    ovs_mutex_lock(&dp->caches.mutex);
    if (level != DP_CACHE_SMC || caches->smc_enabled) {
        error = resize_all(dp, level, n_entries);
    }
    if (error) {
        VLOG_WARN_RL(&bad_size_rl, "%s: cannot make %s caches of %"PRIu32
                     " entries (%"PRIuSIZE" kB for each thread): %s; they "
                     "stay at %"PRIu32" entries", dp->name,
                     cache_info[level].name, n_entries,
                     sigcache_bytes(n_entries) / 1024, ovs_strerror(error),
                     caches->n_entries[level]);
    } else if (n_entries != caches->n_entries[level]) {
        caches->n_entries[level] = n_entries;
        VLOG_INFO("%s: %s caches have %"PRIu32" entries now", dp->name,
                  cache_info[level].name, n_entries);
    }
    ovs_mutex_unlock(&dp->caches.mutex);
    return error;
}

void
dp_netdev_run_caches(struct dp_netdev *dp)
{
    struct pmd_thread *pmd;

    /* Whoever has the mutex collects, too. */
    if (ovs_mutex_trylock(&dp->caches.mutex)) {
        return;
    }
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        sigcache_handover_collect(&pmd->emc_next);
        sigcache_handover_collect(&pmd->smc_next);
    }
    ovs_mutex_unlock(&dp->caches.mutex);
}

/* "dpctl". */

int
dp_netdev_cache_get_levels(struct dpif *dpif OVS_UNUSED, uint32_t *n_levels)
{
    *n_levels = DP_N_CACHES;
    return 0;
}

int
dp_netdev_cache_get_name(struct dpif *dpif OVS_UNUSED, uint32_t level,
                         const char **name)
{
    if (level >= DP_N_CACHES) {
        return EINVAL;
    }
    *name = cache_info[level].name;
    return 0;
}

int
dp_netdev_cache_get_size(struct dpif *dpif, uint32_t level, uint32_t *size)
{
    struct dp_caches *caches = &dp_netdev_from_dpif(dpif)->caches;

    if (level >= DP_N_CACHES) {
        return EINVAL;
    }
    ovs_mutex_lock(&caches->mutex);
    *size = caches->n_entries[level];
    ovs_mutex_unlock(&caches->mutex);
    return 0;
}

int
dp_netdev_cache_set_size(struct dpif *dpif, uint32_t level, uint32_t size)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);

    if (level >= DP_N_CACHES) {
        return EINVAL;
    }
    if (!sigcache_is_valid_size(size)) {
        VLOG_WARN_RL(&bad_size_rl, "%s: %"PRIu32" is not a valid number of "
                     "entries for the %s cache: it must be 0 or a power of 2 "
                     "from %d to %d", dp->name, size, cache_info[level].name,
                     SIGCACHE_MIN_ENTRIES, SIGCACHE_MAX_ENTRIES);
        return EINVAL;
    }
    return set_size(dp, level, size);
}

/* The database. */

/* Sets the size that 'config' has for 'level', if that is another one than
 * when it was read last. */
static void
configure_size(struct dp_netdev *dp, const struct smap *config,
               enum dp_cache level)
{
    const char *key = cache_info[level].key;
    const char *string = smap_get(config, key);
    char **last = &dp->caches.config[level];
    uint32_t n_entries = cache_info[level].n_entries;

    if (nullable_string_is_equal(string, *last)) {
        return;
    }
    free(*last);
    *last = nullable_xstrdup(string);

    if (string && !config_size_parse(string, SIGCACHE_MIN_ENTRIES,
                                     SIGCACHE_MAX_ENTRIES, &n_entries)) {
        ovs_mutex_lock(&dp->caches.mutex);
        VLOG_WARN_RL(&bad_size_rl, "%s: '%s' is neither 0 nor a power of 2 "
                     "from %d to %d; %s caches stay at %"PRIu32" entries",
                     key, string, SIGCACHE_MIN_ENTRIES, SIGCACHE_MAX_ENTRIES,
                     cache_info[level].name, dp->caches.n_entries[level]);
        ovs_mutex_unlock(&dp->caches.mutex);
        return;
    }
    set_size(dp, level, n_entries);
}

/* Gives all threads an SMC, or takes it away.  If there is no memory for that
 * it is tried again when the configuration is read next. */
static void
enable_smc(struct dp_netdev *dp, bool enable)
    OVS_EXCLUDED(dp->caches.mutex)
{
    struct dp_caches *caches = &dp->caches;

    ovs_mutex_lock(&dp->caches.mutex);
    if (enable != caches->smc_enabled) {
        uint32_t n_entries = enable ? caches->n_entries[DP_CACHE_SMC] : 0;
        int error = resize_all(dp, DP_CACHE_SMC, n_entries);

        if (error) {
            VLOG_WARN_RL(&bad_size_rl, "smc-enable: cannot make smc caches of "
                         "%"PRIu32" entries (%"PRIuSIZE" kB for each thread): "
                         "%s; it stays false", n_entries,
                         sigcache_bytes(n_entries) / 1024,
                         ovs_strerror(error));
        } else {
            caches->smc_enabled = enable;
            VLOG_INFO("SMC cache is %s", enable ? "enabled" : "disabled");
        }
    }
    ovs_mutex_unlock(&dp->caches.mutex);
}

void
dp_netdev_set_cache_config(struct dp_netdev *dp, const struct smap *config)
{
    bool enabled, enable;

    ovs_mutex_lock(&dp->caches.mutex);
    enabled = dp->caches.smc_enabled;
    ovs_mutex_unlock(&dp->caches.mutex);
    enable = config_bool(config, NULL, "smc-enable", false, enabled);

    /* In an order in which no memory is made only to be given back. */
    if (!enable) {
        enable_smc(dp, false);
    }
    for (int i = 0; i < DP_N_CACHES; i++) {
        configure_size(dp, config, i);
    }
    if (enable) {
        enable_smc(dp, true);
    }
}
