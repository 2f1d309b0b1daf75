/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "dp/commands.h"

#include <inttypes.h>

#include "dp/dp-netdev.h"
#include "dpdk.h"
#include "netdev.h"
#include "openvswitch/dynamic-string.h"
#include "ovs-numa.h"
#include "pmd/metrics.h"
#include "timeval.h"
#include "unixctl.h"
#include "util.h"

/* Loads are kept in intervals of so many seconds. */
enum {
    INTERVAL_SECS = RXQ_INTERVAL_US / 1000000,
    MAX_SECS = INTERVAL_SECS * RXQ_INTERVALS
};

/* What a command that goes through the threads was asked for. */
struct pmd_query {
    const char *dp_name;        /* Null: none given. */
    bool one_core;              /* "-pmd": only 'core_id'. */
    unsigned int core_id;
    unsigned int secs;          /* "-secs" */
    bool histograms;            /* Without "-nh". */
    size_t n_iterations;        /* "-it" */
    size_t n_milliseconds;      /* "-ms" */

    /* For dp_cmd_for_each_pmd(). */
    dp_cmd_header_func *header;
    dp_cmd_visit_func *visit;
};

/* Options that a command may have beside "-pmd". */
enum {
    OPT_SECS = 1 << 0,
    OPT_PERF = 1 << 1
};

/* Says what comes before the threads, if there are any. */
typedef void pmd_header_func(struct ds *reply, const struct dp_netdev *,
                             const struct pmd_query *);
/* Shows, or acts on, one thread. */
typedef void pmd_visit_func(struct ds *reply, struct pmd_thread *,
                            const struct pmd_query *);

static size_t
parse_history_length(const char *s)
{
    long int n = strtol(s, NULL, 10);

    return MAX(0, MIN(n, PMD_HISTORY_LEN));
}

/* Puts the arguments of a command into '*query'.  What is no option is the
 * name of a datapath.  A core that is no number selects all. */
static void
pmd_query_parse(struct pmd_query *query, int argc, const char *argv[],
                int options)
{
    *query = (struct pmd_query) { .secs = MAX_SECS, .histograms = true };

    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (options & OPT_PERF && !strcmp(arg, "-nh")) {
            query->histograms = false;
            continue;
        } else if (value && !strcmp(arg, "-pmd")) {
            query->one_core = str_to_uint(value, 10, &query->core_id);
        } else if (value && options & OPT_SECS && !strcmp(arg, "-secs")) {
            if (!str_to_uint(value, 10, &query->secs)
                || !query->secs || query->secs > MAX_SECS) {
                query->secs = MAX_SECS;
            }
            query->secs = ROUND_UP(query->secs, INTERVAL_SECS);
        } else if (value && options & OPT_PERF && !strcmp(arg, "-it")) {
            query->n_iterations = parse_history_length(value);
        } else if (value && options & OPT_PERF && !strcmp(arg, "-ms")) {
            query->n_milliseconds = parse_history_length(value);
        } else {
            query->dp_name = arg;
            continue;
        }
        i++;                    /* The option's value. */
    }
}

/* Finds the datapath of 'query'.  Where there is only one, its name does not
 * matter (users also write it with its type). */
static struct dp_netdev *
pmd_query_find(const struct pmd_query *query)
    OVS_REQUIRES(dp_netdev_mutex)
{
    struct dp_netdev *dp = NULL;

    if (query->dp_name) {
        dp = dp_netdev_find(query->dp_name);
    }
    return dp ? dp : dp_netdev_find(NULL);
}

static void
pmd_query_visit(const struct pmd_query *query, struct dp_netdev *dp,
                struct ds *reply, pmd_header_func *header,
                pmd_visit_func *visit)
{
    bool first = true;
    size_t n;
    struct pmd_thread **pmds = dp_netdev_sorted_pmds(dp, &n);

    for (size_t i = 0; i < n; i++) {
        if (query->one_core && pmds[i]->core_id != query->core_id) {
            continue;
        }
        if (first && header) {
            header(reply, dp, query);
        }
        first = false;
        visit(reply, pmds[i], query);
    }
    free(pmds);
}

/* The whole of a command: 'header' may be null. */
static void
pmd_query_run(struct unixctl_conn *conn, const struct pmd_query *query,
              pmd_header_func *header, pmd_visit_func *visit)
{
    struct ds reply = DS_EMPTY_INITIALIZER;
    struct dp_netdev *dp;

    ovs_mutex_lock(&dp_netdev_mutex);
    dp = pmd_query_find(query);
    if (dp) {
        pmd_query_visit(query, dp, &reply, header, visit);
    }
    ovs_mutex_unlock(&dp_netdev_mutex);

    if (dp) {
        dp_cmd_reply(conn, &reply, true);
    } else {
        dp_cmd_reply_no_datapath(conn);
    }
}

static void
plain_header(struct ds *reply, const struct dp_netdev *dp,
             const struct pmd_query *query)
{
    query->header(reply, dp);
}

static void
plain_visit(struct ds *reply, struct pmd_thread *pmd,
            const struct pmd_query *query)
{
    query->visit(reply, pmd);
}

void
dp_cmd_for_each_pmd(struct unixctl_conn *conn, int argc, const char *argv[],
                    dp_cmd_header_func *header, dp_cmd_visit_func *visit)
{
    struct pmd_query query;

    pmd_query_parse(&query, argc, argv, 0);
    query.header = header;
    query.visit = visit;
    pmd_query_run(conn, &query, header ? plain_header : NULL, plain_visit);
}

void
dp_cmd_format_heading(struct ds *reply, const struct pmd_thread *pmd)
{
    bool main_thread = pmd->core_id == NON_PMD_CORE_ID;

    ds_put_cstr(reply, main_thread ? "main thread" : "pmd thread");
    if (pmd->numa_id != OVS_NUMA_UNSPEC) {
        ds_put_format(reply, " numa_id %d", pmd->numa_id);
    }
    if (!main_thread && pmd->core_id != OVS_CORE_UNSPEC) {
        ds_put_format(reply, " core_id %u", pmd->core_id);
    }
    ds_put_cstr(reply, ":\n");
}

static double
ratio(uint64_t a, uint64_t b)
{
    return b ? (double) a / b : 0;
}

/* pmd-stats-show, pmd-stats-clear. */

static void
format_cycles(struct ds *reply, const uint64_t n[PMD_N_COUNTERS])
{
    uint64_t idle = n[PMD_CYCLES_IDLE];
    uint64_t busy = n[PMD_CYCLES_BUSY];
    uint64_t packets = n[PMD_COUNT_RECV];
    uint64_t total = idle + busy;

    if (!total) {
        return;
    }
    ds_put_format(reply, "  idle cycles: %"PRIu64" (%.02f%%)\n",
                  idle, ratio(idle, total) * 100);
    ds_put_format(reply, "  processing cycles: %"PRIu64" (%.02f%%)\n",
                  busy, ratio(busy, total) * 100);
    if (!packets) {
        return;
    }
    ds_put_format(reply, "  avg cycles per packet: %.02f "
                  "(%"PRIu64"/%"PRIu64")\n",
                  ratio(total, packets), total, packets);
    ds_put_format(reply, "  avg processing cycles per packet: %.02f "
                  "(%"PRIu64"/%"PRIu64")\n",
                  ratio(busy, packets), busy, packets);
}

static void
show_stats(struct ds *reply, struct pmd_thread *pmd,
           const struct pmd_query *query OVS_UNUSED)
{
    uint64_t n[PMD_N_COUNTERS];

    pmd_perf_read(&pmd->perf, n);

    const struct {
        const char *label;
        bool is_count;
        uint64_t count;
        double average;
    } lines[] = {
        { "packets received", true, n[PMD_COUNT_RECV], 0 },
        { "packet recirculations", true, n[PMD_COUNT_RECIRC], 0 },
        { "avg. datapath passes per packet", false, 0,
          ratio(n[PMD_COUNT_RECV] + n[PMD_COUNT_RECIRC],
                n[PMD_COUNT_RECV]) },
        { "phwol hits", true, n[PMD_COUNT_PHWOL_HIT], 0 },
        { "mfex opt hits", true, n[PMD_COUNT_MFEX_OPT_HIT], 0 },
        { "simple match hits", true, n[PMD_COUNT_SIMPLE_HIT], 0 },
        { "emc hits", true, n[PMD_COUNT_EMC_HIT], 0 },
        { "smc hits", true, n[PMD_COUNT_SMC_HIT], 0 },
        { "megaflow hits", true, n[PMD_COUNT_MASKED_HIT], 0 },
        { "avg. subtable lookups per megaflow hit", false, 0,
          ratio(n[PMD_COUNT_MASKED_LOOKUP], n[PMD_COUNT_MASKED_HIT]) },
        { "miss with success upcall", true, n[PMD_COUNT_MISS], 0 },
        { "miss with failed upcall", true, n[PMD_COUNT_LOST], 0 },
        { "avg. packets per output batch", false, 0,
          ratio(n[PMD_COUNT_SENT_PKTS], n[PMD_COUNT_SENT_BATCHES]) },
    };

    dp_cmd_format_heading(reply, pmd);
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        ds_put_format(reply, "  %s: ", lines[i].label);
        if (lines[i].is_count) {
            ds_put_format(reply, "%"PRIu64"\n", lines[i].count);
        } else {
            ds_put_format(reply, "%.02f\n", lines[i].average);
        }
    }
    format_cycles(reply, n);
}

void
dp_cmd_pmd_stats_show(struct unixctl_conn *conn, int argc,
                      const char *argv[], void *aux OVS_UNUSED)
{
    struct pmd_query query;

    pmd_query_parse(&query, argc, argv, 0);
    pmd_query_run(conn, &query, NULL, show_stats);
}

static void
clear_stats(struct ds *reply OVS_UNUSED, struct pmd_thread *pmd,
            const struct pmd_query *query OVS_UNUSED)
{
    pmd_perf_clear(&pmd->perf);
}

void
dp_cmd_pmd_stats_clear(struct unixctl_conn *conn, int argc,
                       const char *argv[], void *aux OVS_UNUSED)
{
    struct pmd_query query;

    pmd_query_parse(&query, argc, argv, 0);
    pmd_query_run(conn, &query, NULL, clear_stats);
}

/* pmd-rxq-show. */

static int
compare_rxqs(const void *a_, const void *b_)
{
    const struct dp_rxq *a = *(const struct dp_rxq *const *) a_;
    const struct dp_rxq *b = *(const struct dp_rxq *const *) b_;
    int cmp = strcmp(dp_rxq_name(a), dp_rxq_name(b));

    return (cmp ? cmp
            : netdev_rxq_get_queue_id(a->rx) - netdev_rxq_get_queue_id(b->rx));
}

/* Returns the queues that 'pmd' polls, in the order of their names. */
static const struct dp_rxq **
sorted_rxqs(struct pmd_thread *pmd, size_t *n)
    OVS_REQUIRES(pmd->port_mutex)
{
    const struct dp_rxq **rxqs;
    struct pmd_poll *poll;
    size_t i = 0;

    rxqs = xcalloc(hmap_count(&pmd->poll_list), sizeof *rxqs);
    HMAP_FOR_EACH (poll, node, &pmd->poll_list) {
        rxqs[i++] = poll->rxq;
    }
    qsort(rxqs, i, sizeof *rxqs, compare_rxqs);
    *n = i;
    return rxqs;
}

/* Sum of the busy cycles of the newest 'n' intervals. */
static uint64_t
recent_busy_cycles(struct pmd_thread *pmd, unsigned int n)
{
    unsigned int idx = atomic_count_get(&pmd->interval_idx);
    uint64_t sum = 0;

    for (unsigned int i = 1; i <= n; i++) {
        unsigned long long cycles;

        atomic_read_relaxed(
            &pmd->busy_cycles[(idx + RXQ_INTERVALS - i) % RXQ_INTERVALS],
            &cycles);
        sum += cycles;
    }
    return sum;
}

static void
format_usage(struct ds *reply, uint64_t part, uint64_t whole)
{
    if (whole) {
        ds_put_format(reply, "%2.0f %%\n", ratio(part, whole) * 100);
    } else {
        ds_put_cstr(reply, "NOT AVAIL\n");
    }
}

static void
show_rxqs_header(struct ds *reply, const struct dp_netdev *dp OVS_UNUSED,
                 const struct pmd_query *query)
{
    ds_put_format(reply, "Displaying last %u seconds pmd usage %%\n",
                  query->secs);
}

static void
show_rxqs(struct ds *reply, struct pmd_thread *pmd,
          const struct pmd_query *query)
{
    unsigned int n_intervals = query->secs / INTERVAL_SECS;
    unsigned long long total;
    uint64_t busy, used = 0;
    bool isolated;
    size_t n;

    if (pmd->core_id == NON_PMD_CORE_ID) {
        return;
    }
    atomic_read_relaxed(&pmd->isolated, &isolated);
    ds_put_format(reply, "pmd thread numa_id %d core_id %u:\n"
                  "  isolated : %s\n", pmd->numa_id, pmd->core_id,
                  isolated ? "true" : "false");

    /* All intervals are about as long as the last one. */
    atomic_read_relaxed(&pmd->interval_cycles, &total);
    total *= n_intervals;
    busy = MIN(recent_busy_cycles(pmd, n_intervals), total);

    ovs_mutex_lock(&pmd->port_mutex);
    const struct dp_rxq **rxqs = sorted_rxqs(pmd, &n);
    for (size_t i = 0; i < n; i++) {
        uint64_t cycles = dp_rxq_recent_cycles(rxqs[i], n_intervals);
        struct netdev_rxq *rx = rxqs[i]->rx;

        ds_put_format(reply, "  port: %-16s  queue-id: %2d %s  pmd usage: ",
                      dp_rxq_name(rxqs[i]), netdev_rxq_get_queue_id(rx),
                      netdev_rxq_enabled(rx) ? "(enabled) " : "(disabled)");
        format_usage(reply, cycles, total);
        used += cycles;
    }
    ovs_mutex_unlock(&pmd->port_mutex);
    free(rxqs);

    if (n) {
        /* What the thread does besides its queues' packets. */
        ds_put_cstr(reply, "  overhead: ");
        format_usage(reply, busy > used ? busy - used : 0, total);
    }
}

void
dp_cmd_pmd_rxq_show(struct unixctl_conn *conn, int argc,
                    const char *argv[], void *aux OVS_UNUSED)
{
    struct pmd_query query;

    pmd_query_parse(&query, argc, argv, OPT_SECS);
    pmd_query_run(conn, &query, show_rxqs_header, show_rxqs);
}

/* pmd-sleep-show. */

static void
show_sleep_header(struct ds *reply, const struct dp_netdev *dp,
                  const struct pmd_query *query OVS_UNUSED)
{
    ds_put_format(reply, "Default max sleep: %4"PRIu64" us\n",
                  dp->max_sleep_default);
}

static void
show_sleep(struct ds *reply, struct pmd_thread *pmd,
           const struct pmd_query *query OVS_UNUSED)
{
    if (pmd->core_id != NON_PMD_CORE_ID) {
        uint64_t max_sleep;

        atomic_read_relaxed(&pmd->max_sleep, &max_sleep);
        ds_put_format(reply, "pmd thread numa_id %d core_id %u:\n"
                      "  max sleep: %4"PRIu64" us\n",
                      pmd->numa_id, pmd->core_id, max_sleep);
    }
}

void
dp_cmd_pmd_sleep_show(struct unixctl_conn *conn, int argc,
                      const char *argv[], void *aux OVS_UNUSED)
{
    struct pmd_query query;

    pmd_query_parse(&query, argc, argv, 0);
    pmd_query_run(conn, &query, show_sleep_header, show_sleep);
}

/* pmd-perf-show. */

static void
format_metrics(struct ds *reply, const struct pmd_metrics *metrics,
               const struct pmd_query *query)
{
    if (query->histograms) {
        ds_put_char(reply, '\n');
        pmd_metrics_format_histograms(reply, metrics);
    }
    if (query->n_iterations) {
        ds_put_char(reply, '\n');
        pmd_metrics_format_iterations(reply, metrics, query->n_iterations);
    }
    if (query->n_milliseconds) {
        ds_put_char(reply, '\n');
        pmd_metrics_format_milliseconds(reply, metrics,
                                        query->n_milliseconds);
    }
}

static void
show_perf(struct ds *reply, struct pmd_thread *pmd,
          const struct pmd_query *query)
{
    struct pmd_perf *perf = &pmd->perf;
    uint64_t counts[PMD_N_COUNTERS];
    double duration;
    char *now;

    if (pmd->core_id == NON_PMD_CORE_ID) {
        return;
    }
    now = xastrftime_msec("%H:%M:%S.###", time_wall_msec(), true);
    pmd_perf_read(perf, counts);

    ovs_mutex_lock(&perf->clear_mutex);
    duration = (time_msec() - perf->metrics->start_ms) / 1000.0;
    ds_put_format(reply, "\nTime: %s\nMeasurement duration: %.3f s\n\n",
                  now, duration);
    dp_cmd_format_heading(reply, pmd);
    ds_put_char(reply, '\n');
    pmd_metrics_format_overall(reply, perf->metrics, counts, duration);
    if (pmd_metrics_enabled(pmd)) {
        format_metrics(reply, perf->metrics, query);
    }
    ovs_mutex_unlock(&perf->clear_mutex);
    free(now);
}

void
dp_cmd_pmd_perf_show(struct unixctl_conn *conn, int argc,
                     const char *argv[], void *aux OVS_UNUSED)
{
    struct pmd_query query;

    pmd_query_parse(&query, argc, argv, OPT_PERF);
    pmd_query_run(conn, &query, NULL, show_perf);
}
