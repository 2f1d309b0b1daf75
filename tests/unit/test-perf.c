/* SPDX-License-Identifier: Apache-2.0 */

/* Counters, timers, histograms, histories and the log of suspicious
 * iterations (pmd/perf.h, pmd/metrics.h). */

#include <config.h>

#include <pthread.h>
#include <unistd.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/vlog.h"
#include "ovs-thread.h"
#include "pmd/metrics.h"
#include "pmd/perf.h"
#include "timeval.h"
#include "unit.h"
#include "util.h"

/* Counters. */

static void
test_counters(void)
{
    uint64_t n[PMD_N_COUNTERS];
    struct pmd_perf perf;

    pmd_perf_init(&perf);
    pmd_perf_read(&perf, n);
    for (int i = 0; i < PMD_N_COUNTERS; i++) {
        CHECK_UINT(n[i], ==, 0);
    }

    pmd_perf_add(&perf, PMD_COUNT_RECV, 3);
    pmd_perf_add(&perf, PMD_COUNT_RECV, UINT64_C(1) << 40);
    pmd_perf_add(&perf, PMD_COUNT_LOST, 1);
    pmd_perf_read(&perf, n);
    CHECK_UINT(n[PMD_COUNT_RECV], ==, (UINT64_C(1) << 40) + 3);
    CHECK_UINT(n[PMD_COUNT_LOST], ==, 1);
    CHECK_UINT(n[PMD_COUNT_MISS], ==, 0);

    /* Only what comes after a clear is seen, and the owner's own counters
     * stay as they are. */
    pmd_perf_clear(&perf);
    pmd_perf_add(&perf, PMD_COUNT_RECV, 5);
    pmd_perf_read(&perf, n);
    CHECK_UINT(n[PMD_COUNT_RECV], ==, 5);
    CHECK_UINT(n[PMD_COUNT_LOST], ==, 0);
    atomic_read_relaxed(&perf.n[PMD_COUNT_LOST], &n[0]);
    CHECK_UINT(n[0], ==, 1);
    pmd_perf_destroy(&perf);
}

/* Timers. */

static void
test_timers_nest(void)
{
    struct pmd_timer outer, middle, inner;
    uint64_t outer_cycles, middle_cycles, inner_cycles;
    uint64_t start, end;
    struct pmd_perf perf;

    pmd_perf_init(&perf);
    start = pmd_perf_now(&perf);
    pmd_timer_start(&perf, &outer);
    pmd_timer_start(&perf, &middle);
    pmd_timer_start(&perf, &inner);
    usleep(20000);
    inner_cycles = pmd_timer_stop(&perf, &inner);
    middle_cycles = pmd_timer_stop(&perf, &middle);
    pmd_timer_start(&perf, &inner);
    usleep(20000);
    inner_cycles += pmd_timer_stop(&perf, &inner);
    outer_cycles = pmd_timer_stop(&perf, &outer);
    end = pmd_perf_now(&perf);

    /* The sleeps belong to 'inner' and to nobody else; nothing is counted
     * twice. */
    CHECK_UINT(inner_cycles, >=, pmd_perf_tsc_hz() / 1000 * 38);
    CHECK_UINT(outer_cycles + middle_cycles, <, inner_cycles / 2);
    CHECK_UINT(outer_cycles + middle_cycles + inner_cycles, <=, end - start);
    CHECK(!perf.timer);
    pmd_perf_destroy(&perf);
}

static void
test_tsc_hz(void)
{
    struct pmd_perf perf = { .last_tsc = 0 };
    uint64_t hz = pmd_perf_tsc_hz();
    uint64_t start, cycles;
    long long us;

    CHECK_UINT(hz, ==, pmd_perf_tsc_hz());
    us = time_usec();
    start = pmd_perf_now(&perf);
    usleep(50000);
    us = time_usec() - us;
    cycles = pmd_perf_now(&perf) - start;

    /* The machine may be busy, so this is about the order of magnitude. */
    CHECK_UINT(cycles, >, hz / 1000000 * us / 4);
    CHECK_UINT(cycles, <, hz / 1000000 * us * 4);
}

/* Histograms. */

static void
check_walls(const struct pmd_histogram *hist,
            const uint32_t walls[PMD_HISTOGRAM_BINS])
{
    for (size_t i = 0; i < PMD_HISTOGRAM_BINS; i++) {
        CHECK_MSG(hist->wall[i] == walls[i], "wall %zu is %u, not %u", i,
                  hist->wall[i], walls[i]);
    }
}

static void
test_histogram_walls(void)
{
    struct pmd_histogram hist;

    pmd_histogram_init_linear(&hist, 0, 32);
    check_walls(&hist, (const uint32_t[]) {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16,
        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 32,
        UINT32_MAX });

    pmd_histogram_init_linear(&hist, 100, 30000);
    check_walls(&hist, (const uint32_t[]) {
        100, 1096, 2093, 3090, 4086, 5083, 6080, 7076, 8073, 9070, 10066,
        11063, 12060, 13056, 14053, 15050, 16046, 17043, 18040, 19036, 20033,
        21030, 22026, 23023, 24020, 25016, 26013, 27010, 28006, 29003, 30000,
        UINT32_MAX });

    pmd_histogram_init_log(&hist, 0, 1000);
    check_walls(&hist, (const uint32_t[]) {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 17, 22, 28, 35, 45, 57, 72,
        92, 117, 148, 188, 239, 303, 385, 489, 621, 788, 1000, UINT32_MAX });

    pmd_histogram_init_log(&hist, 1000, 1000000);
    check_walls(&hist, (const uint32_t[]) {
        1000, 1258, 1584, 1995, 2511, 3162, 3981, 5011, 6309, 7943, 10000,
        12589, 15848, 19952, 25118, 31622, 39810, 50118, 63095, 79432, 100000,
        125892, 158489, 199526, 251188, 316227, 398107, 501187, 630957,
        794328, 1000000, UINT32_MAX });
}

static void
check_bins(struct pmd_histogram *hist)
{
    for (size_t i = 0; i < PMD_HISTOGRAM_BINS; i++) {
        uint64_t low = i ? (uint64_t) hist->wall[i - 1] + 1 : 0;
        uint64_t high = hist->wall[i];
        uint64_t total = pmd_histogram_total(hist);

        pmd_histogram_add(hist, low);
        pmd_histogram_add(hist, high);
        CHECK_UINT(pmd_histogram_get(hist, i), ==, 2);
        CHECK_UINT(pmd_histogram_total(hist), ==, total + 2);
    }
    pmd_histogram_add(hist, UINT64_MAX);
    CHECK_UINT(pmd_histogram_get(hist, PMD_HISTOGRAM_BINS - 1), ==, 3);
}

static void
test_histogram_bins(void)
{
    struct pmd_histogram hist;

    pmd_histogram_init_linear(&hist, 0, 30);
    check_bins(&hist);
    pmd_histogram_init_log(&hist, 500, 24000000);
    check_bins(&hist);

    pmd_histogram_clear(&hist);
    CHECK_UINT(pmd_histogram_total(&hist), ==, 0);
    pmd_histogram_add(&hist, 0);
    CHECK_UINT(pmd_histogram_get(&hist, 0), ==, 1);
    CHECK_UINT(pmd_histogram_total(&hist), ==, 1);
}

/* Histories. */

static void
add_samples(struct pmd_history *h, uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i <= last; i++) {
        struct pmd_sample sample;

        for (int j = 0; j < PMD_N_SAMPLE_FIELDS; j++) {
            sample.v[j] = i * 100 + j;
        }
        pmd_history_add(h, &sample);
    }
}

static void
check_sample(const struct pmd_history *h, size_t age, uint64_t expected)
{
    struct pmd_sample sample;

    pmd_history_get(h, age, &sample);
    for (int j = 0; j < PMD_N_SAMPLE_FIELDS; j++) {
        CHECK_UINT(sample.v[j], ==, expected ? expected * 100 + j : 0);
    }
}

static void
test_history(void)
{
    struct pmd_history *h = xmalloc(sizeof *h);

    pmd_history_init(h);
    check_sample(h, 1, 0);

    add_samples(h, 1, 10);
    check_sample(h, 1, 10);
    check_sample(h, 10, 1);
    check_sample(h, 11, 0);

    /* Around the ring, twice. */
    add_samples(h, 11, 3 * PMD_HISTORY_RING);
    check_sample(h, 1, 3 * PMD_HISTORY_RING);
    check_sample(h, PMD_HISTORY_LEN,
                 3 * PMD_HISTORY_RING + 1 - PMD_HISTORY_LEN);
    check_sample(h, PMD_HISTORY_LEN + 1, 0);

    pmd_history_clear(h);
    check_sample(h, 1, 0);
    add_samples(h, 7, 8);
    check_sample(h, 1, 8);
    check_sample(h, 2, 7);
    check_sample(h, 3, 0);
    free(h);
}

/* Iterations. */

static void
test_iterations(void)
{
    uint64_t n[PMD_N_COUNTERS];
    struct pmd_sample sample;
    struct pmd_metrics *m;
    struct pmd_perf perf;

    pmd_perf_init(&perf);
    m = perf.metrics;
    pmd_perf_now(&perf);

    /* Idle, then received, then only sent. */
    pmd_perf_start_iteration(&perf);
    pmd_perf_end_iteration(&perf, 0, 0, 0, false);
    pmd_perf_read(&perf, n);
    CHECK_UINT(n[PMD_CYCLES_IDLE], >, 0);
    CHECK_UINT(n[PMD_CYCLES_BUSY], ==, 0);
    CHECK_UINT(n[PMD_COUNT_SLEEP_ITER], ==, 0);

    pmd_perf_clear(&perf);
    pmd_perf_start_iteration(&perf);
    pmd_perf_end_iteration(&perf, 0, 1, 0, false);
    pmd_perf_read(&perf, n);
    CHECK_UINT(n[PMD_CYCLES_IDLE], ==, 0);
    CHECK_UINT(n[PMD_CYCLES_BUSY], >, 0);
    CHECK_UINT(pmd_histogram_total(&m->histograms[PMD_HIST_PKTS]), ==, 1);
    CHECK_UINT(pmd_histogram_total(&m->histograms[PMD_HIST_UPCALLS]), ==, 0);
    pmd_history_get(&m->iterations, 1, &sample);
    CHECK_UINT(sample.v[PMD_SAMPLE_STAMP], ==, 0);

    /* With metrics, and sleep. */
    pmd_perf_clear(&perf);
    pmd_perf_start_iteration(&perf);
    pmd_perf_sample_batch(&perf, 32);
    pmd_perf_sample_batch(&perf, 8);
    pmd_perf_sample_vhost_fill(&perf, 99);
    pmd_perf_sample_vhost_fill(&perf, 12);
    pmd_perf_sample_upcall(&perf, 5000);
    pmd_perf_sample_upcall(&perf, 7000);
    usleep(10000);
    uint64_t slept = pmd_perf_tsc_hz() / 100;
    pmd_perf_end_iteration(&perf, 40, 0, slept, true);

    pmd_perf_read(&perf, n);
    CHECK_UINT(n[PMD_COUNT_SLEEP_ITER], ==, 1);
    CHECK_UINT(n[PMD_CYCLES_SLEEP], ==, slept);
    CHECK_UINT(n[PMD_CYCLES_UPCALL], ==, 12000);

    pmd_history_get(&m->iterations, 1, &sample);
    CHECK_UINT(sample.v[PMD_SAMPLE_STAMP], ==, 3);
    CHECK_UINT(sample.v[PMD_SAMPLE_ITERATIONS], ==, 1);
    CHECK_UINT(sample.v[PMD_SAMPLE_CYCLES], ==, n[PMD_CYCLES_BUSY]);
    CHECK_UINT(sample.v[PMD_SAMPLE_BUSY_CYCLES], ==, n[PMD_CYCLES_BUSY]);
    CHECK_UINT(sample.v[PMD_SAMPLE_PKTS], ==, 40);
    CHECK_UINT(sample.v[PMD_SAMPLE_BATCHES], ==, 2);
    CHECK_UINT(sample.v[PMD_SAMPLE_VHOST_FILL], ==, 99);
    CHECK_UINT(sample.v[PMD_SAMPLE_UPCALLS], ==, 2);
    CHECK_UINT(sample.v[PMD_SAMPLE_UPCALL_CYCLES], ==, 12000);
    CHECK_UINT(pmd_histogram_total(&m->histograms[PMD_HIST_PKTS_PER_BATCH]),
               ==, 2);
    CHECK_UINT(pmd_histogram_get(&m->histograms[PMD_HIST_UPCALLS], 2), ==, 1);
    pmd_perf_destroy(&perf);
}

static void
test_milliseconds(void)
{
    struct pmd_sample sample;
    struct pmd_metrics *m;
    struct pmd_perf perf;
    uint64_t total;

    pmd_perf_init(&perf);
    m = perf.metrics;
    for (int i = 0; i < 3; i++) {
        usleep(3000);
        pmd_perf_start_iteration(&perf);
        pmd_perf_end_iteration(&perf, 2, 0, 0, true);
    }

    /* Each iteration ended a millisecond of its own. */
    atomic_read_relaxed(&m->milliseconds.n, &total);
    CHECK_UINT(total, ==, 3);
    pmd_history_get(&m->milliseconds, 1, &sample);
    CHECK_UINT(sample.v[PMD_SAMPLE_ITERATIONS], ==, 1);
    CHECK_UINT(sample.v[PMD_SAMPLE_PKTS], ==, 2);
    CHECK_UINT(sample.v[PMD_SAMPLE_STAMP], <, time_msec());
    atomic_read_relaxed(&m->totals[PMD_SAMPLE_PKTS], &total);
    CHECK_UINT(total, ==, 6);
    pmd_perf_destroy(&perf);
}

/* Formats. */

static size_t
count_lines(const char *s)
{
    size_t n = 0;

    for (; *s; s++) {
        n += *s == '\n';
    }
    return n;
}

static void
test_format(void)
{
    struct ds ds = DS_EMPTY_INITIALIZER;
    uint64_t n[PMD_N_COUNTERS] = {
        [PMD_COUNT_EMC_HIT] = 6,
        [PMD_COUNT_MASKED_HIT] = 3,
        [PMD_COUNT_MASKED_LOOKUP] = 6,
        [PMD_COUNT_MISS] = 1,
        [PMD_COUNT_RECV] = 8,
        [PMD_COUNT_RECIRC] = 2,
        [PMD_COUNT_SENT_PKTS] = 8,
        [PMD_COUNT_SENT_BATCHES] = 4,
        [PMD_CYCLES_BUSY] = 800,
    };
    struct pmd_metrics *m = pmd_metrics_create();

    pmd_metrics_format_overall(&ds, m, n, 0);
    CHECK_STR(ds_cstr(&ds), "");

    pmd_metrics_format_overall(&ds, m, n, 2);
    CHECK(strstr(ds_cstr(&ds), "\n  Rx packets:                    8"
                 "  (0 Kpps, 100 cycles/pkt)\n"));
    CHECK(strstr(ds_cstr(&ds), "\n  Datapath passes:              10"
                 "  (1.25 passes/pkt)\n"));
    CHECK(strstr(ds_cstr(&ds), "\n  - EMC hits:                    6"
                 "  ( 60.0 %)\n"));
    CHECK(strstr(ds_cstr(&ds), "\n  - Megaflow hits:               3"
                 "  ( 30.0 %, 2.00 subtbl lookups/hit)\n"));
    CHECK(strstr(ds_cstr(&ds), "\n  - Upcalls:                     1"
                 "  ( 10.0 %, 0.0 us/upcall)\n"));
    CHECK(strstr(ds_cstr(&ds), "\n  Tx batches:                    4"
                 "  (2.00 pkts/batch)\n"));

    ds_clear(&ds);
    memset(n, 0, sizeof n);
    pmd_metrics_format_overall(&ds, m, n, 2);
    CHECK(strstr(ds_cstr(&ds), "\n  Rx packets:                    0\n"
                 "  Tx packets:                    0\n\n"));

    /* Two lines of headings, the bins, the rule, headings, averages. */
    ds_clear(&ds);
    pmd_metrics_format_histograms(&ds, m);
    CHECK_UINT(count_lines(ds_cstr(&ds)), ==, 2 + PMD_HISTOGRAM_BINS + 3);

    ds_clear(&ds);
    pmd_metrics_format_iterations(&ds, m, 0);
    pmd_metrics_format_milliseconds(&ds, m, 0);
    CHECK_STR(ds_cstr(&ds), "");
    pmd_metrics_format_iterations(&ds, m, PMD_HISTORY_LEN);
    CHECK_UINT(count_lines(ds_cstr(&ds)), ==, 1 + PMD_HISTORY_LEN);
    ds_destroy(&ds);
    pmd_metrics_destroy(m);
}

/* Suspicious iterations. */

static char *log_name;

static void
start_log(void)
{
    log_name = xasprintf("test-perf-%ld.log", (long int) getpid());
    unlink(log_name);
    vlog_set_levels(NULL, VLF_CONSOLE, VLL_OFF);
    vlog_set_levels(NULL, VLF_SYSLOG, VLL_OFF);
    CHECK_INT(vlog_set_log_file(log_name), ==, 0);
}

/* Returns how often 's' is in the log. */
static size_t
count_in_log(const char *s)
{
    FILE *stream = fopen(log_name, "r");
    char line[512];
    size_t n = 0;

    CHECK(stream);
    while (fgets(line, sizeof line, stream)) {
        n += strstr(line, s) != NULL;
    }
    fclose(stream);
    return n;
}

static bool
log_set(const char *args)
{
    char *copy = xstrdup(args);
    const char *argv[16] = { "pmd-perf-log-set" };
    char *save = NULL;
    int argc = 1;
    bool ok;

    for (char *arg = strtok_r(copy, " ", &save); arg;
         arg = strtok_r(NULL, " ", &save)) {
        argv[argc++] = arg;
    }
    ok = pmd_metrics_log_set(argc, argv);
    free(copy);
    return ok;
}

static void
iterate(struct pmd_perf *perf, int n, uint32_t vhost_fill)
{
    for (int i = 0; i < n; i++) {
        pmd_perf_start_iteration(perf);
        pmd_perf_sample_vhost_fill(perf, vhost_fill);
        pmd_perf_end_iteration(perf, 0, 0, 0, true);
    }
}

static void
test_log_arguments(void)
{
    CHECK(log_set(""));
    CHECK(log_set("on -b 3 -a 4 -e -us 1000 -q 77"));
    CHECK_UINT(count_in_log("pmd-perf-log-set: on, before=3, after=4, "
                            "extend=true, us_thr=1000, q_thr=77"), ==, 1);
    CHECK(!log_set("on -b"));
    CHECK(!log_set("-us many"));
    CHECK(!log_set("maybe"));
    CHECK(!log_set("off -x"));
    CHECK(log_set("-b 5000 -a 5000 -ne"));
    CHECK_UINT(count_in_log("pmd-perf-log-set: on, before=998, after=0, "
                            "extend=false, us_thr=1000, q_thr=77"), ==, 1);
}

static void
test_log_suspicious(void)
{
    struct pmd_perf perf;

    pmd_perf_init(&perf);
    CHECK(log_set("on -b 2 -a 3 -ne -us 100000000 -q 100"));
    iterate(&perf, 10, 99);
    CHECK_UINT(count_in_log("Suspicious iteration"), ==, 0);

    /* The second one is in the neighborhood of the first: not logged. */
    iterate(&perf, 1, 100);
    iterate(&perf, 1, 300);
    iterate(&perf, 2, 0);
    CHECK_UINT(count_in_log("Suspicious iteration"), ==, 0);
    iterate(&perf, 1, 0);
    CHECK_UINT(count_in_log("Suspicious iteration (Vhost RX queue full): "
                            "iter=11"), ==, 1);
    CHECK_UINT(count_in_log("Suspicious iteration"), ==, 1);
    CHECK_UINT(count_in_log("   9    "), ==, 1);
    CHECK_UINT(count_in_log("   14   "), ==, 1);
    CHECK_UINT(count_in_log("   8    "), ==, 0);
    CHECK_UINT(count_in_log("   15   "), ==, 0);

    /* Now with extension: both, one neighborhood. */
    CHECK(log_set("-e"));
    iterate(&perf, 1, 100);
    iterate(&perf, 1, 0);
    iterate(&perf, 1, 200);
    iterate(&perf, 10, 0);
    CHECK_UINT(count_in_log("Suspicious iteration"), ==, 3);
    CHECK_UINT(count_in_log("Neighborhood"), ==, 2);

    /* Too long. */
    CHECK(log_set("-us 5000"));
    pmd_perf_start_iteration(&perf);
    usleep(10000);
    pmd_perf_end_iteration(&perf, 0, 0, 0, true);
    iterate(&perf, 10, 0);
    CHECK_UINT(count_in_log("(Excessive total cycles)"), >=, 1);

    CHECK(log_set("off"));
    iterate(&perf, 10, 500);
    CHECK_UINT(count_in_log("Neighborhood"), ==, 3);
    pmd_perf_destroy(&perf);
}

/* A log of more than 100 iterations falls back to the defaults. */
static void
test_log_large(void)
{
    struct pmd_perf perf;

    pmd_perf_init(&perf);
    CHECK(log_set("on -b 150 -a 10 -e -us 100000000 -q 100"));
    iterate(&perf, 200, 0);
    iterate(&perf, 1, 100);
    iterate(&perf, 11, 0);
    CHECK(log_set("-q 99"));
    CHECK_UINT(count_in_log("on, before=5, after=5, extend=false, "
                            "us_thr=100000000, q_thr=99"), ==, 1);
    CHECK(log_set("off"));
    pmd_perf_destroy(&perf);
}

/* One thread works while another one shows and clears. */

struct race {
    struct pmd_perf perf;
    atomic_bool stop;
};

static void *
race_main(void *race_)
{
    struct race *race = race_;
    bool stop;

    do {
        pmd_perf_start_iteration(&race->perf);
        pmd_perf_add(&race->perf, PMD_COUNT_RECV, 1);
        pmd_perf_sample_batch(&race->perf, 1);
        pmd_perf_sample_upcall(&race->perf, 10);
        pmd_perf_end_iteration(&race->perf, 1, 1, 0, true);
        atomic_read_relaxed(&race->stop, &stop);
    } while (!stop);
    return NULL;
}

static void
test_readers_and_clear(void)
{
    struct race race;
    pthread_t thread;

    atomic_init(&race.stop, false);
    pmd_perf_init(&race.perf);
    thread = ovs_thread_create("race", race_main, &race);
    for (int i = 0; i < 200; i++) {
        struct pmd_perf *perf = &race.perf;
        struct ds ds = DS_EMPTY_INITIALIZER;
        uint64_t n[PMD_N_COUNTERS];

        pmd_perf_read(perf, n);
        CHECK_UINT(n[PMD_COUNT_RECV], <, UINT64_C(1) << 62);
        ovs_mutex_lock(&perf->clear_mutex);
        pmd_metrics_format_overall(&ds, perf->metrics, n, 1);
        pmd_metrics_format_histograms(&ds, perf->metrics);
        pmd_metrics_format_iterations(&ds, perf->metrics, 1000);
        pmd_metrics_format_milliseconds(&ds, perf->metrics, 1000);
        ovs_mutex_unlock(&perf->clear_mutex);
        pmd_perf_clear(perf);
        ds_destroy(&ds);
    }
    atomic_store_relaxed(&race.stop, true);
    xpthread_join(thread, NULL);

    /* What happened after the last clear is still in order. */
    struct pmd_sample a, b;
    pmd_history_get(&race.perf.metrics->iterations, 1, &a);
    pmd_history_get(&race.perf.metrics->iterations, 2, &b);
    CHECK(!b.v[PMD_SAMPLE_STAMP]
          || a.v[PMD_SAMPLE_STAMP] == b.v[PMD_SAMPLE_STAMP] + 1);
    pmd_perf_destroy(&race.perf);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    start_log();
    RUN_TEST(test_counters);
    RUN_TEST(test_timers_nest);
    RUN_TEST(test_tsc_hz);
    RUN_TEST(test_histogram_walls);
    RUN_TEST(test_histogram_bins);
    RUN_TEST(test_history);
    RUN_TEST(test_iterations);
    RUN_TEST(test_milliseconds);
    RUN_TEST(test_format);
    RUN_TEST(test_log_arguments);
    RUN_TEST(test_log_suspicious);
    RUN_TEST(test_log_large);
    RUN_TEST(test_readers_and_clear);
    unlink(log_name);
    return 0;
}
