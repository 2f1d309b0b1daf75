/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/housekeeping.h"

#include "coverage.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "pmd/pmd.h"
#include "sync/dp-log.h"
#include "table/flow-table.h"
#include "util.h"

COVERAGE_DEFINE(pmd_coverage_cleared);

enum {
    /* Iterations from one look at slow things to the next, and which of them
     * each of these has: not those in which the sweep is due. */
    ROUND = 1024,
    ROUND_QUIESCE = 0,
    ROUND_COVERAGE = ROUND / 4 + 1,
    ROUND_QUEUES = ROUND / 2 + 1,

    /* Iterations from one swept bucket of a cache to its next. */
    SWEEP_ROUND = 16,
    SWEEP_ROUND_IDLE = 2,

    /* From one look whether what was asked for is done to the next, in us. */
    RANK_LOOK_US = 1000
};

/* The owner's way to add to a figure. */
static void
figure_add(atomic_uint64_t *figure, uint64_t n)
{
    uint64_t old;

    atomic_read_relaxed(figure, &old);
    atomic_store_relaxed(figure, old + n);
}

/* The owner's way to keep a maximum. */
static void
figure_raise(atomic_uint64_t *figure, uint64_t n)
{
    uint64_t old;

    atomic_read_relaxed(figure, &old);
    if (n > old) {
        atomic_store_relaxed(figure, n);
    }
}

void
pmd_housekeeping_init(struct pmd_housekeeping *house)
{
    for (int i = 0; i < PMD_N_CACHES; i++) {
        struct pmd_sweep *sweep = &house->sweeps[i];

        sweep->covered = sweep->left = sweep->started = 0;
        atomic_init(&sweep->pos, 0);
        atomic_init(&sweep->n_buckets, 0);
        atomic_init(&sweep->running, false);
        atomic_init(&sweep->n_sweeps, 0);
        atomic_init(&sweep->n_freed, 0);
        atomic_init(&sweep->took, 0);
        atomic_init(&sweep->ended, 0);
    }
    atomic_init(&house->quiesced, 0);
    atomic_init(&house->rcu_thread, 0);
    atomic_init(&house->polls, false);
    atomic_init(&house->n_asked, 0);
    atomic_init(&house->n_ranked, 0);
    atomic_init(&house->rank_asked, 0);
    atomic_init(&house->rank_longest, 0);
    atomic_init(&house->n_coverage, 0);
    atomic_init(&house->n_coverage_done, 0);
    atomic_init(&house->coverage_cleared, 0);
    atomic_init(&house->coverage_longest, 0);
}

/* Caches. */

/* 'cache' is a new one, in which there is nothing to be found. */
static void
reset_sweep(struct pmd_thread *pmd, enum pmd_cache which,
            const struct sigcache *cache)
{
    struct pmd_sweep *sweep = &pmd->house.sweeps[which];

    sweep->covered = dp_flow_table_n_removed(&pmd->flows);
    sweep->left = 0;
    atomic_store_relaxed(&sweep->running, false);
    atomic_store_relaxed(&sweep->pos, 0);
    atomic_store_relaxed(&sweep->n_buckets,
                         sigcache_n_entries(cache) / SIGCACHE_WAYS);
}

void
pmd_resize_caches(struct pmd_thread *pmd)
{
    if (OVS_UNLIKELY(sigcache_handover_is_pending(&pmd->emc_next))) {
        enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_CACHES);

        sigcache_handover_take(&pmd->emc_next, &pmd->emc);
        reset_sweep(pmd, PMD_CACHE_EMC, &pmd->emc);
        pmd_stage_set(&pmd->mark, outer);
    }
    if (OVS_UNLIKELY(sigcache_handover_is_pending(&pmd->smc_next))) {
        enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_CACHES);

        sigcache_handover_take(&pmd->smc_next, &pmd->smc);
        pmd->smc_enabled = sigcache_is_enabled(&pmd->smc);
        reset_sweep(pmd, PMD_CACHE_SMC, &pmd->smc);
        pmd_stage_set(&pmd->mark, outer);
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
    reset_sweep(pmd, PMD_CACHE_EMC, &pmd->emc);
    reset_sweep(pmd, PMD_CACHE_SMC, &pmd->smc);
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

/* Begins a sweep if there may be anything to be found.  Returns false if
 * not. */
static bool
begin_sweep(struct pmd_thread *pmd, struct pmd_sweep *sweep,
            const struct sigcache *cache)
{
    uint64_t n_removed = dp_flow_table_n_removed(&pmd->flows);

    if (n_removed == sweep->covered) {
        return false;
    }
    sweep->covered = n_removed;
    sweep->left = sigcache_n_entries(cache) / SIGCACHE_WAYS;
    sweep->started = pmd->now;
    atomic_store_relaxed(&sweep->n_buckets, sweep->left);
    atomic_store_relaxed(&sweep->running, true);
    return true;
}

static void
end_sweep(struct pmd_thread *pmd, struct pmd_sweep *sweep)
{
    atomic_store_relaxed(&sweep->running, false);
    atomic_store_relaxed(&sweep->took, pmd->now - sweep->started);
    atomic_store_relaxed(&sweep->ended, pmd->now);
    figure_add(&sweep->n_sweeps, 1);
}

/* Sweeps a bucket of 'cache', unless its sweep rests. */
static void
sweep_cache(struct pmd_thread *pmd, enum pmd_cache which,
            struct sigcache *cache)
{
    struct pmd_sweep *sweep = &pmd->house.sweeps[which];
    unsigned int n_freed;

    if (!sigcache_is_enabled(cache)
        || (!sweep->left && !begin_sweep(pmd, sweep, cache))) {
        return;
    }
    n_freed = sigcache_sweep(cache, pmd->flows.slab, 1);
    if (n_freed) {
        figure_add(&sweep->n_freed, n_freed);
    }
    atomic_store_relaxed(&sweep->pos, cache->sweep_pos);
    if (!--sweep->left) {
        end_sweep(pmd, sweep);
    }
}

/* Forgets cached names of dead flows, a bucket at a time, the caches in turn.
 * A bucket costs as many cache misses as it has entries, hence the pauses
 * while there are packets. */
static void
sweep_caches(struct pmd_thread *pmd, bool idle)
{
    unsigned int round = idle ? SWEEP_ROUND_IDLE : SWEEP_ROUND;
    unsigned int turn = pmd->iteration % round;
    enum pmd_stage outer;

    if (turn % (round / 2)) {
        return;
    }
    outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_SWEEP);
    if (!turn) {
        sweep_cache(pmd, PMD_CACHE_EMC, &pmd->emc);
    } else {
        sweep_cache(pmd, PMD_CACHE_SMC, &pmd->smc);
    }
    pmd_stage_set(&pmd->mark, outer);
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
    enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_LOAD);
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
    pmd_stage_set(&pmd->mark, outer);
}

/* Ranking. */

/* Asks for the ranking of the subtables, or sees whether it was done. */
static void
ask_for_ranking(struct pmd_thread *pmd)
{
    enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_RANK);
    struct pmd_housekeeping *house = &pmd->house;
    uint64_t asked;

    atomic_read_relaxed(&house->rank_asked, &asked);
    if (!asked) {
        dp_flow_table_ask_for_ranking(&pmd->flows);
        figure_add(&house->n_asked, 1);
        atomic_store_relaxed(&house->rank_asked, pmd->now);
        pmd->next_rank = pmd->now + RANK_LOOK_US;
    } else {
        figure_raise(&house->rank_longest, pmd->now - asked);
        if (dp_flow_table_wants_ranking(&pmd->flows)) {
            pmd->next_rank = pmd->now + RANK_LOOK_US;
        } else {
            figure_add(&house->n_ranked, 1);
            atomic_store_relaxed(&house->rank_asked, 0);
            pmd->next_rank = asked + PMD_RANK_INTERVAL_US;
        }
    }
    pmd_stage_set(&pmd->mark, outer);
}

/* Coverage. */

/* The counters are Open vSwitch's: it adds what this thread has counted to the
 * totals, once a second and if it gets its lock, and does not tell.  But our
 * own counter tells, which is then zero. */
static void
clear_coverage(struct pmd_thread *pmd)
{
    enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_COVERAGE);
    struct pmd_housekeeping *house = &pmd->house;

    COVERAGE_INC(pmd_coverage_cleared);
    coverage_try_clear();
    figure_add(&house->n_coverage, 1);
    if (!*counter_pmd_coverage_cleared_get()) {
        uint64_t last;

        atomic_read_relaxed(&house->coverage_cleared, &last);
        if (last) {
            figure_raise(&house->coverage_longest, pmd->now - last);
        }
        atomic_store_relaxed(&house->coverage_cleared, pmd->now);
        figure_add(&house->n_coverage_done, 1);
    }
    pmd_stage_set(&pmd->mark, outer);
}

/* The whole. */

static void
try_quiesce(struct pmd_thread *pmd)
{
    enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_QUIESCE);

    ovsrcu_try_quiesce();
    atomic_store_relaxed(&pmd->house.quiesced, pmd->now);
    pmd->next_quiesce = pmd->now + PMD_RCU_QUIESCE_INTERVAL_US;
    pmd_stage_set(&pmd->mark, outer);
}

void
pmd_housekeeping_start(struct pmd_thread *pmd)
{
    pmd_update_time(pmd);
    atomic_store_relaxed(&pmd->house.rcu_thread, ovsthread_id_self());
    atomic_store_relaxed(&pmd->house.polls, true);
    atomic_store_relaxed(&pmd->house.quiesced, pmd->now);
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
                     size_t n_rxqs, bool idle)
{
    unsigned int turn = ++pmd->iteration % ROUND;

    if (turn == ROUND_QUIESCE || pmd->now >= pmd->next_quiesce) {
        try_quiesce(pmd);
    }
    if (turn == ROUND_COVERAGE) {
        clear_coverage(pmd);
    } else if (turn == ROUND_QUEUES) {
        return true;
    } else if (pmd->now >= pmd->next_interval) {
        end_interval(pmd, rxqs, n_rxqs);
    } else if (pmd->now >= pmd->next_rank) {
        ask_for_ranking(pmd);
    } else {
        sweep_caches(pmd, idle);
    }
    return false;
}
