/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/housekeeping.h"

#include "coverage.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "pmd/pmd.h"
#include "sync/dp-log.h"
#include "table/dp-classifier.h"
#include "util.h"

COVERAGE_DEFINE(pmd_rank_deferred);

enum {
    /* Iterations from one look at slow things to the next, and from one
     * swept bucket of a cache to the next. */
    ROUND = 1024,
    SWEEP_ROUND = 16,

    /* The writers of the flow table had the mutex: try again after this many
     * us. */
    RANK_RETRY_US = 1000
};

/* Caches. */

void
pmd_resize_caches(struct pmd_thread *pmd)
{
    if (OVS_UNLIKELY(sigcache_handover_is_pending(&pmd->emc_next))) {
        sigcache_handover_take(&pmd->emc_next, &pmd->emc);
    }
    if (OVS_UNLIKELY(sigcache_handover_is_pending(&pmd->smc_next))) {
        sigcache_handover_take(&pmd->smc_next, &pmd->smc);
        pmd->smc_enabled = sigcache_is_enabled(&pmd->smc);
    }
}

int
pmd_init_caches(struct pmd_thread *pmd, uint32_t emc_entries,
                uint32_t smc_entries)
{
    int emc_error = sigcache_create(&pmd->emc, emc_entries, pmd->numa_id);
    int smc_error = sigcache_create(&pmd->smc, smc_entries, pmd->numa_id);

    pmd->emc_next.n_entries = sigcache_n_entries(&pmd->emc);
    pmd->smc_next.n_entries = sigcache_n_entries(&pmd->smc);
    pmd->smc_enabled = sigcache_is_enabled(&pmd->smc);
    return emc_error ? emc_error : smc_error;
}

void
pmd_free_caches(struct pmd_thread *pmd)
{
    sigcache_handover_destroy(&pmd->emc_next);
    sigcache_handover_destroy(&pmd->smc_next);
    sigcache_destroy(&pmd->emc);
    sigcache_destroy(&pmd->smc);
    pmd->smc_enabled = false;
}

/* Forgets cached names of dead flows, a bucket at a time, the caches in turn.
 * A bucket costs as many cache misses as it has entries, hence the pauses. */
static void
sweep_caches(struct pmd_thread *pmd)
{
    switch (pmd->iteration % SWEEP_ROUND) {
    case 0:
        if (sigcache_is_enabled(&pmd->emc)) {
            sigcache_sweep(&pmd->emc, pmd->flows.slab, 1);
        }
        break;
    case SWEEP_ROUND / 2:
        if (sigcache_is_enabled(&pmd->smc)) {
            sigcache_sweep(&pmd->smc, pmd->flows.slab, 1);
        }
        break;
    }
}

/* Load. */

static uint64_t
read_counter(struct pmd_thread *pmd, enum pmd_counter counter)
{
    uint64_t n;

    atomic_read_relaxed(&pmd->perf.n[counter], &n);
    return n;
}

/* Returns what was added to 'counter' since the last call. */
static uint64_t
take_difference(struct pmd_thread *pmd, enum pmd_counter counter)
{
    uint64_t n = read_counter(pmd, counter);
    uint64_t difference = n - pmd->prev_counts[counter];

    pmd->prev_counts[counter] = n;
    return difference;
}

/* Judges the load of the interval that ends.  Isolated threads count too:
 * whoever balances leaves them out. */
static void
count_overload(struct pmd_thread *pmd, uint64_t busy, uint64_t all)
{
    uint8_t threshold;

    atomic_read_relaxed(&pmd->overload_threshold, &threshold);
    if (all && busy * 100 / all >= threshold) {
        atomic_count_inc(&pmd->overloaded);
    } else {
        atomic_count_set(&pmd->overloaded, 0);
    }
}

static void
end_interval(struct pmd_thread *pmd, struct dp_rxq *const rxqs[],
             size_t n_rxqs)
{
    uint64_t busy = take_difference(pmd, PMD_CYCLES_BUSY);
    uint64_t all = busy + take_difference(pmd, PMD_CYCLES_IDLE)
                   + take_difference(pmd, PMD_CYCLES_SLEEP);
    uint64_t tsc = pmd_perf_now(&pmd->perf);
    unsigned int idx;

    count_overload(pmd, busy, all);
    for (size_t i = 0; i < n_rxqs; i++) {
        dp_rxq_end_interval(rxqs[i]);
    }
    idx = atomic_count_inc(&pmd->interval_idx) % RXQ_INTERVALS;
    atomic_store_relaxed(&pmd->busy_cycles[idx], busy);
    atomic_store_relaxed(&pmd->interval_cycles, tsc - pmd->interval_tsc);
    pmd->interval_tsc = tsc;
    pmd->next_interval = pmd->now + RXQ_INTERVAL_US;
}

/* Ranking. */

static void
rank_subtables(struct pmd_thread *pmd)
{
    struct dp_classifier *cls;

    if (ovs_mutex_trylock(&pmd->flows.mutex)) {
        COVERAGE_INC(pmd_rank_deferred);
        pmd->next_rank = pmd->now + RANK_RETRY_US;
        return;
    }
    CMAP_FOR_EACH (cls, node, &pmd->flows.classifiers) {
        dp_classifier_rank(cls);
    }
    ovs_mutex_unlock(&pmd->flows.mutex);
    pmd->next_rank = pmd->now + PMD_RANK_INTERVAL_US;
}

/* The whole. */

static void
try_quiesce(struct pmd_thread *pmd)
{
    if (!ovsrcu_try_quiesce()) {
        pmd->next_quiesce = pmd->now + PMD_RCU_QUIESCE_INTERVAL_US;
    }
}

void
pmd_housekeeping_start(struct pmd_thread *pmd)
{
    pmd_update_time(pmd);
    pmd->next_rank = pmd->now + PMD_RANK_INTERVAL_US;
    pmd->next_quiesce = pmd->now + PMD_RCU_QUIESCE_INTERVAL_US;
    pmd->next_interval = pmd->now + RXQ_INTERVAL_US;

    pmd->interval_tsc = pmd_perf_now(&pmd->perf);
    for (int i = 0; i < PMD_N_COUNTERS; i++) {
        pmd->prev_counts[i] = read_counter(pmd, i);
    }
    atomic_store_relaxed(&pmd->interval_cycles, 0);
    for (int i = 0; i < RXQ_INTERVALS; i++) {
        atomic_store_relaxed(&pmd->busy_cycles[i], 0);
    }
    atomic_count_set(&pmd->interval_idx, 0);
    atomic_count_set(&pmd->overloaded, 0);
}

bool
pmd_housekeeping_run(struct pmd_thread *pmd, struct dp_rxq *const rxqs[],
                     size_t n_rxqs)
{
    bool round = !(++pmd->iteration % ROUND);

    sweep_caches(pmd);
    if (pmd->now >= pmd->next_interval) {
        end_interval(pmd, rxqs, n_rxqs);
    }
    if (pmd->now >= pmd->next_rank) {
        rank_subtables(pmd);
    }
    if (round) {
        coverage_try_clear();
    }
    if (round || pmd->now >= pmd->next_quiesce) {
        try_quiesce(pmd);
    }
    return round;
}
