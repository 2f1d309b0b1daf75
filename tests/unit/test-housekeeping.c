/* SPDX-License-Identifier: Apache-2.0 */

/* What is done between polls (pmd/housekeeping.h), and what is counted of
 * it. */

#include <config.h>

#include "walk-fixture.h"

#include <unistd.h>

#include "sync/rcu-stats.h"

enum {
    ROUND = 1024,
    SWEEP_ITERATIONS = SIGCACHE_EMC_ENTRIES / SIGCACHE_WAYS * 16,
    IDLE_SWEEP_ITERATIONS = SIGCACHE_EMC_ENTRIES / SIGCACHE_WAYS * 2
};

static uint64_t
get(atomic_uint64_t *counter)
{
    uint64_t n;

    atomic_read_relaxed(counter, &n);
    return n;
}

static bool
run_once(bool idle)
{
    return pmd_housekeeping_run(pmd, NULL, 0, idle);
}

static void
start(void)
{
    fixture_reset();
    pmd_housekeeping_init(&pmd->house);
    pmd_housekeeping_start(pmd);
}

/* RCU. */

static unsigned int n_callbacks;

static void
count_callback(void *aux OVS_UNUSED)
{
    n_callbacks++;
}

static void
test_rcu(void)
{
    struct rcu_thread_stats stats;
    uint64_t before;

    start();
    ovsrcu_quiesce();
    CHECK(!rcu_stats_get_thread(ovsthread_id_self() + 1000, &stats));
    CHECK(rcu_stats_get_thread(ovsthread_id_self(), &stats));
    CHECK(stats.active);
    CHECK_UINT(stats.n_called, ==, stats.n_postponed);
    before = stats.n_called;
    for (int i = 0; i < 100; i++) {
        ovsrcu_postpone(count_callback, pmd);
    }
    rcu_stats_get_thread(ovsthread_id_self(), &stats);
    CHECK_UINT(stats.n_postponed, ==, before + 100);
    CHECK_UINT(stats.n_called, ==, before);

    /* Not before its time comes; then it is noted. */
    uint64_t quiesced = pmd->now;
    pmd->iteration = 1;
    CHECK_UINT(get(&pmd->house.quiesced), ==, quiesced);
    pmd->now += PMD_RCU_QUIESCE_INTERVAL_US - 1;
    run_once(false);
    CHECK_UINT(get(&pmd->house.quiesced), ==, quiesced);
    CHECK_UINT(n_callbacks, ==, 0);
    pmd->now++;
    run_once(false);
    CHECK_UINT(get(&pmd->house.quiesced), ==, pmd->now);
    CHECK_UINT(n_callbacks, ==, 100);
    rcu_stats_get_thread(ovsthread_id_self(), &stats);
    CHECK_UINT(stats.n_called, ==, before + 100);
}

/* What comes each so many iterations comes in iterations of its own. */
static void
test_rounds(void)
{
    unsigned int n_queues = 0;

    start();
    pmd->iteration = 0;
    for (int i = 0; i < 3 * ROUND; i++) {
        uint64_t n_coverage = get(&pmd->house.n_coverage);

        if (run_once(false)) {
            n_queues++;
            CHECK_UINT(get(&pmd->house.n_coverage), ==, n_coverage);
        }
    }
    CHECK_UINT(n_queues, ==, 3);
    CHECK_UINT(get(&pmd->house.n_coverage), ==, 3);
}

static void
test_coverage(void)
{
    start();
    for (int i = 0; i < ROUND; i++) {
        run_once(false);
    }
    uint64_t n = get(&pmd->house.n_coverage_done);
    usleep(1100000);
    for (int i = 0; i < ROUND; i++) {
        run_once(false);
    }
    CHECK_UINT(get(&pmd->house.n_coverage_done), ==, n + 1);
}

/* The sweep. */

static struct dp_flow *
some_flow(void)
{
    struct dp_flow_info *info;

    CMAP_FOR_EACH (info, ufid_node, &pmd->flows.by_ufid) {
        return info->slot;
    }
    CHECK(false);
    return NULL;
}

static void
remove_some_flow(void)
{
    struct dp_flow *flow = some_flow();

    ovs_mutex_lock(&pmd->flows.mutex);
    pmd_flow_uninstall(pmd, flow);
    dp_flow_table_unlock(&pmd->flows);
}

static void
fill_emc(void)
{
    uint32_t index = some_flow()->index;

    for (uint32_t i = 0; i < SIGCACHE_EMC_ENTRIES; i++) {
        sigcache_insert(&pmd->emc, i, index);
    }
}

static unsigned int
count_entries(void)
{
    unsigned int n = 0;

    for (uint32_t i = 0; i <= pmd->emc.bucket_mask; i++) {
        for (int j = 0; j < SIGCACHE_WAYS; j++) {
            n += pmd->emc.buckets[i].indexes[j] != 0;
        }
    }
    return n;
}

static void
check_sweep(bool idle, unsigned int n_iterations)
{
    struct pmd_sweep *sweep = &pmd->house.sweeps[PMD_CACHE_EMC];
    uint64_t n_sweeps;

    start();
    install_output(1, 0, 100, 2);
    fill_emc();
    CHECK_UINT(count_entries(), ==, SIGCACHE_EMC_ENTRIES);

    /* Of the flows that fixture_reset() has removed there is nothing left. */
    for (unsigned int i = 0; i < n_iterations + 16; i++) {
        run_once(idle);
    }
    CHECK_UINT(count_entries(), ==, SIGCACHE_EMC_ENTRIES);
    CHECK_UINT(get(&sweep->n_freed), ==, 0);
    n_sweeps = get(&sweep->n_sweeps);
    CHECK_UINT(n_sweeps, <=, 1);

    /* It rests. */
    for (unsigned int i = 0; i < n_iterations + 16; i++) {
        run_once(idle);
    }
    CHECK_UINT(get(&sweep->n_sweeps), ==, n_sweeps);

    remove_some_flow();
    for (unsigned int i = 0; i < n_iterations / 2; i++) {
        run_once(idle);
    }
    CHECK_UINT(count_entries(), >, 0);
    CHECK_UINT(count_entries(), <, SIGCACHE_EMC_ENTRIES);
    for (unsigned int i = 0; i < n_iterations / 2 + 16; i++) {
        run_once(idle);
    }
    CHECK_UINT(count_entries(), ==, 0);
    CHECK_UINT(get(&sweep->n_freed), ==, SIGCACHE_EMC_ENTRIES);
    CHECK_UINT(get(&sweep->n_sweeps), ==, n_sweeps + 1);
}

static void
test_sweep(void)
{
    /* Less than a second at 10 us, in any case. */
    BUILD_ASSERT(SWEEP_ITERATIONS < 100000);
    check_sweep(false, SWEEP_ITERATIONS);
    check_sweep(true, IDLE_SWEEP_ITERATIONS);
}

/* Ranking. */

static uint32_t
hits_ranked(void)
{
    return some_flow()->info->subtable->hits_ranked;
}

static struct ovs_barrier barrier;

/* Gives the ranking its turn at 'us' after now. */
static void
rank_after(long long us)
{
    pmd->now += us;
    pmd->next_quiesce = pmd->next_interval = LLONG_MAX;
    run_once(false);
    run_once(false);            /* The first could be another's turn. */
}

/* Nobody but the main thread is there to rank. */
static void
test_ranking(void)
{
    start();
    install_output(1, 0, 100, 2);
    for (int i = 0; i < 5; i++) {
        dp_classifier_credit(some_flow()->info->subtable);
    }
    rank_after(PMD_RANK_INTERVAL_US - 1);
    CHECK_UINT(get(&pmd->house.n_asked), ==, 0);
    dp_flow_table_rank_if_wanted(&pmd->flows);
    CHECK_UINT(hits_ranked(), ==, 0);
    rank_after(1);
    CHECK_UINT(get(&pmd->house.n_asked), ==, 1);
    CHECK_UINT(get(&pmd->house.n_ranked), ==, 0);
    CHECK_UINT(hits_ranked(), ==, 0);
    dp_flow_table_rank_if_wanted(&pmd->flows);
    CHECK_UINT(hits_ranked(), ==, 5);

    rank_after(1000);
    CHECK_UINT(get(&pmd->house.n_ranked), ==, 1);
    CHECK_UINT(get(&pmd->house.rank_longest), ==, 1000);

    /* The next one comes a second after the one before was asked for. */
    rank_after(PMD_RANK_INTERVAL_US - 1001);
    CHECK_UINT(get(&pmd->house.n_asked), ==, 1);
    rank_after(1);
    CHECK_UINT(get(&pmd->house.n_asked), ==, 2);
}

static void *
holder_main(void *aux OVS_UNUSED)
{
    ovs_mutex_lock(&pmd->flows.mutex);
    ovs_barrier_block(&barrier);
    ovs_barrier_block(&barrier);
    dp_flow_table_unlock(&pmd->flows);
    ovs_barrier_block(&barrier);
    return NULL;
}

/* A writer has the mutex all the time: it is not waited for, it shows how long
 * that has put the work off, and the writer does it. */
static void
test_ranking_put_off(void)
{
    pthread_t holder;

    start();
    install_output(1, 0, 100, 2);
    ovs_barrier_init(&barrier, 2);
    holder = ovs_thread_create("holder", holder_main, NULL);
    ovs_barrier_block(&barrier);

    dp_classifier_credit(some_flow()->info->subtable);
    rank_after(PMD_RANK_INTERVAL_US);
    for (int i = 0; i < 3; i++) {
        rank_after(1000000);
    }
    CHECK_UINT(get(&pmd->house.n_asked), ==, 1);
    CHECK_UINT(get(&pmd->house.n_ranked), ==, 0);
    CHECK_UINT(get(&pmd->house.rank_asked), ==, pmd->now - 3000000);
    CHECK_UINT(get(&pmd->house.rank_longest), ==, 3000000);
    CHECK_UINT(hits_ranked(), ==, 0);

    ovs_barrier_block(&barrier);
    ovs_barrier_block(&barrier);
    CHECK_UINT(hits_ranked(), ==, 1);
    rank_after(1000);
    CHECK_UINT(get(&pmd->house.n_ranked), ==, 1);
    CHECK_UINT(get(&pmd->house.n_asked), ==, 2); /* Is due already. */

    xpthread_join(holder, NULL);
    ovs_barrier_destroy(&barrier);
}

/* Iterations. */

static void
one_iteration(useconds_t us, uint64_t slept)
{
    pmd_perf_now(&pmd->perf);
    pmd_perf_start_iteration(&pmd->perf);
    usleep(us);
    pmd_perf_end_iteration(&pmd->perf, 1, 0, slept, false);
}

static void
test_longest_iteration(void)
{
    double longest, us;
    uint64_t ago;

    start();
    pmd_perf_clear(&pmd->perf);
    pmd_perf_read_longest(&pmd->perf, &us, &ago);
    CHECK(us == 0);
    CHECK_UINT(ago, ==, 0);
    one_iteration(5000, 0);
    pmd_perf_read_longest(&pmd->perf, &longest, &ago);
    CHECK(longest >= 4900);

    /* A short one changes nothing, and sleep does not count. */
    one_iteration(0, 0);
    one_iteration(20000, pmd_perf_tsc_hz() / 1000 * 20);
    pmd_perf_read_longest(&pmd->perf, &us, &ago);
    CHECK(us >= longest);
    CHECK_UINT(pmd->perf.last_tsc, >, 0);

    pmd_perf_clear(&pmd->perf);
    one_iteration(0, 0);
    pmd_perf_read_longest(&pmd->perf, &us, &ago);
    CHECK(us > 0);
    CHECK(us < longest);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    fixture_init();

    RUN_TEST(test_rcu);
    RUN_TEST(test_rounds);
    RUN_TEST(test_coverage);
    RUN_TEST(test_sweep);
    RUN_TEST(test_ranking);
    RUN_TEST(test_ranking_put_off);
    RUN_TEST(test_longest_iteration);
    return 0;
}
