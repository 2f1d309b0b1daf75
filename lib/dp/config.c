/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/dp-netdev.h"

#include <inttypes.h>
#include <stdlib.h>

#include "dp/config-value.h"
#include "ovs-numa.h"
#include "smap.h"
#include "sync/dp-log.h"
#include "util.h"

/* Defaults and limits, as the manual of the database has them. */
enum {
    TX_FLUSH_DEFAULT_US = 0,
    TX_FLUSH_MAX_US = 1000000,
    EMC_INV_PROB_DEFAULT = 100,
    BALANCE_INTERVAL_DEFAULT_MIN = 1,
    BALANCE_INTERVAL_MAX_MIN = 20000,
    BALANCE_IMPROVEMENT_DEFAULT = 25,
    BALANCE_LOAD_DEFAULT = 95
};

#define MINUTE_MS 60000

/* For the values that the users of this file cannot take. */
static struct vlog_rate_limit bad_config_rl = VLOG_RATE_LIMIT_INIT(10, 20);

static void
set_tx_flush_interval(struct dp_netdev *dp, const struct smap *config)
{
    uint32_t old, new;

    atomic_read_relaxed(&dp->run.tx_flush_interval, &old);
    new = config_number(config, "tx-flush-interval", TX_FLUSH_DEFAULT_US,
                        TX_FLUSH_MAX_US, old, VLL_WARN);
    if (new != old) {
        atomic_store_relaxed(&dp->run.tx_flush_interval, new);
        VLOG_INFO("Flushing interval for tx queues set to %"PRIu32" us",
                  new);
    }
}

/* Returns true if threads can run on a core of 'mask'. */
static bool
cpu_mask_is_usable(const char *mask)
{
    const char *digits = mask;
    struct ovs_numa_dump *cores;
    bool usable;

    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        digits += 2;
    }
    for (const char *p = digits; *p; p++) {
        if (hexit_value(*p) < 0) {
            return false;
        }
    }

    cores = ovs_numa_dump_cores_with_cmask(mask);
    usable = ovs_numa_dump_count(cores) > 0;
    ovs_numa_dump_destroy(cores);
    return usable;
}

static void
set_cpu_mask(struct dp_netdev *dp, const struct smap *config)
{
    const char *mask = smap_get(config, "pmd-cpu-mask");

    if (nullable_string_is_equal(dp->pmd_cpu_mask, mask)) {
        return;
    }
    if (mask && mask[0] && !cpu_mask_is_usable(mask)) {
        VLOG_WARN_RL(&bad_config_rl,
                     "pmd-cpu-mask: '%s' names no core of this system; "
                     "PMD threads stay on those of '%s'", mask,
                     dp->pmd_cpu_mask ? dp->pmd_cpu_mask : "the default");
        return;
    }
    /* A port that another thread adds may start a reconfiguration, which reads
     * the mask. */
    ovs_rwlock_wrlock(&dp->port_rwlock);
    free(dp->pmd_cpu_mask);
    dp->pmd_cpu_mask = nullable_xstrdup(mask);
    ovs_rwlock_unlock(&dp->port_rwlock);
    dp_netdev_request_reconfigure(dp);
}

static void
set_emc_insertion(struct dp_netdev *dp, const struct smap *config)
{
    uint32_t old, new, inverse;

    atomic_read_relaxed(&dp->run.emc_insert_min, &old);
    inverse = config_number(config, "emc-insert-inv-prob",
                            EMC_INV_PROB_DEFAULT, UINT32_MAX,
                            old ? UINT32_MAX / old : 0, VLL_WARN);
    new = inverse ? UINT32_MAX / inverse : 0;
    if (new == old) {
        return;
    }

    atomic_store_relaxed(&dp->run.emc_insert_min, new);
    if (new) {
        VLOG_INFO("EMC insertion probability changed to "
                  "1/%"PRIu32" (~%.2f%%)", inverse, 100.0 / inverse);
    } else {
        VLOG_INFO("EMC insertion probability changed to zero");
    }
}

/* A switch that is a word for the threads.  'on' and 'off' go to the log when
 * it is thrown. */
static void
set_switch(atomic_bool *word, const struct smap *config, const char *key,
           const char *on, const char *off)
{
    bool old, new;

    atomic_read_relaxed(word, &old);
    new = config_bool(config, NULL, key, false, old);
    if (new != old) {
        atomic_store_relaxed(word, new);
        VLOG_INFO("%s", new ? on : off);
    }
}

static enum rxq_assign
read_rxq_assign(const struct dp_netdev *dp, const struct smap *config)
{
    static const enum rxq_assign all[] = {
        RXQ_ASSIGN_ROUNDROBIN, RXQ_ASSIGN_CYCLES, RXQ_ASSIGN_GROUP
    };
    const char *name = smap_get_def(config, "pmd-rxq-assign",
                                    rxq_assign_name(RXQ_ASSIGN_CYCLES));

    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        if (!strcmp(name, rxq_assign_name(all[i]))) {
            return all[i];
        }
    }

    VLOG_WARN_RL(&bad_config_rl,
                 "Unsupported rx queue to PMD assignment mode in "
                 "pmd-rxq-assign: '%s'. It stays '%s'.", name,
                 rxq_assign_name(dp->rxq_assign));
    return dp->rxq_assign;
}

static void
set_rxq_assignment(struct dp_netdev *dp, const struct smap *config)
{
    enum rxq_assign assign = read_rxq_assign(dp, config);
    bool isolate = config_bool(config, NULL, "pmd-rxq-isolate", true,
                               dp->pmd_isolate);

    if (assign != dp->rxq_assign) {
        dp->rxq_assign = assign;
        VLOG_INFO("Rxq to PMD assignment mode changed to: '%s'.",
                  rxq_assign_name(assign));
        dp_netdev_request_reconfigure(dp);
    }

    if (!isolate && assign != RXQ_ASSIGN_GROUP) {
        VLOG_WARN_RL(&bad_config_rl, "pmd-rxq-isolate can only be set false "
                     "when using pmd-rxq-assign=group");
        isolate = true;
    }
    if (isolate != dp->pmd_isolate) {
        dp->pmd_isolate = isolate;
        VLOG_INFO("pmd-rxq-affinity %s PMD core",
                  isolate ? "isolates" : "does not isolate");
        dp_netdev_request_reconfigure(dp);
    }
}

/* Automatic balancing.  For its numbers a value out of range means the
 * default, as it always has, so that it is no more than worth a note. */
static void
set_balance(struct dp_netdev *dp, const struct smap *config)
{
    struct dp_balance *balance = &dp->balance;
    bool changed = false;
    uint64_t n;

    n = config_number(config, "pmd-auto-lb-rebal-interval",
                      BALANCE_INTERVAL_DEFAULT_MIN, BALANCE_INTERVAL_MAX_MIN,
                      BALANCE_INTERVAL_DEFAULT_MIN, VLL_INFO);
    n = MAX(n, 1);
    if (n * MINUTE_MS != balance->interval_ms) {
        balance->interval_ms = n * MINUTE_MS;
        VLOG_INFO("PMD auto load balance interval set to %"PRIu64" mins", n);
        changed = true;
    }

    n = config_number(config, "pmd-auto-lb-improvement-threshold",
                      BALANCE_IMPROVEMENT_DEFAULT, 100,
                      BALANCE_IMPROVEMENT_DEFAULT, VLL_INFO);
    if (n != balance->improvement_percent) {
        balance->improvement_percent = n;
        VLOG_INFO("PMD auto load balance improvement threshold set to "
                  "%"PRIu64"%%", n);
        changed = true;
    }

    n = config_number(config, "pmd-auto-lb-load-threshold",
                      BALANCE_LOAD_DEFAULT, 100, BALANCE_LOAD_DEFAULT,
                      VLL_INFO);
    if (n != balance->load_percent) {
        balance->load_percent = n;
        dp_netdev_balance_copy_threshold(dp);
        VLOG_INFO("PMD auto load balance load threshold set to "
                  "%"PRIu64"%%", n);
        changed = true;
    }

    dp_netdev_balance_set(dp, config_bool(config, NULL, "pmd-auto-lb", false,
                                          balance->enabled), changed);
}

int
dp_netdev_set_config(struct dpif *dpif, const struct smap *config)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);

    set_tx_flush_interval(dp, config);
    set_cpu_mask(dp, config);
    set_emc_insertion(dp, config);
    set_switch(&dp->run.perf_metrics, config, "pmd-perf-metrics",
               "PMD performance metrics collection enabled",
               "PMD performance metrics collection disabled");
    dp_netdev_set_cache_config(dp, config);
    set_rxq_assignment(dp, config);
    set_balance(dp, config);
    dp_netdev_set_sleep_config(dp, config);
    dp_netdev_set_stall_config(dp, config);

    dp->configured = true;
    return 0;
}
