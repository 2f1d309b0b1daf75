/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "dp/commands.h"

#include <inttypes.h>

#include "dp/dp-netdev.h"
#include "openvswitch/dynamic-string.h"
#include "pmd/housekeeping.h"
#include "sync/rcu-stats.h"
#include "timeval.h"
#include "util.h"

/* Puts the time from 'then' to now, both in us. */
static void
format_age(struct ds *reply, uint64_t then)
{
    uint64_t now = time_usec();
    uint64_t age = now > then ? now - then : 0;

    if (age < 10000) {
        ds_put_format(reply, "%"PRIu64" us ago", age);
    } else {
        ds_put_format(reply, "%"PRIu64" ms ago", age / 1000);
    }
}

static void
format_rcu(struct ds *reply, struct pmd_housekeeping *house)
{
    struct rcu_thread_stats thread;
    struct rcu_stats all;
    uint64_t quiesced;
    uint32_t id;

    atomic_read_relaxed(&house->rcu_thread, &id);
    atomic_read_relaxed(&house->quiesced, &quiesced);
    rcu_stats_get_thread(id, &thread);
    rcu_stats_get(&all);

    ds_put_cstr(reply, "  last quiescent state: ");
    if (thread.active) {
        format_age(reply, quiesced);
    } else {
        ds_put_cstr(reply, "now (waits for something to poll)");
    }
    ds_put_format(reply, "\n  rcu callbacks pending: %"PRIu64" of the thread, "
                  "%"PRIu64" of all\n",
                  thread.n_postponed - thread.n_called,
                  all.n_postponed > all.n_called
                  ? all.n_postponed - all.n_called : 0);
    ds_put_format(reply, "  rcu grace periods: %"PRIu64" (longest %"PRIu64
                  " us)\n", all.n_grace_periods, all.longest_grace_us);
}

static void
format_sweep(struct ds *reply, const char *name, struct pmd_sweep *sweep)
{
    uint64_t n_sweeps, n_freed, took, ended;
    uint32_t pos, n_buckets;
    bool running;

    atomic_read_relaxed(&sweep->n_buckets, &n_buckets);
    atomic_read_relaxed(&sweep->pos, &pos);
    atomic_read_relaxed(&sweep->running, &running);
    atomic_read_relaxed(&sweep->n_sweeps, &n_sweeps);
    atomic_read_relaxed(&sweep->n_freed, &n_freed);
    atomic_read_relaxed(&sweep->took, &took);
    atomic_read_relaxed(&sweep->ended, &ended);

    ds_put_format(reply, "  %s sweep: ", name);
    if (n_buckets) {
        ds_put_format(reply, "%s at bucket %"PRIu32" of %"PRIu32"\n",
                      running ? "running" : "resting", pos, n_buckets);
    } else {
        ds_put_cstr(reply, "no cache\n");
    }
    ds_put_format(reply, "    entries freed: %"PRIu64"\n", n_freed);
    ds_put_format(reply, "    full sweeps: %"PRIu64, n_sweeps);
    if (n_sweeps) {
        ds_put_format(reply, " (last took %"PRIu64" us, ended ", took);
        format_age(reply, ended);
        ds_put_char(reply, ')');
    }
    ds_put_char(reply, '\n');
}

static void
format_put_off(struct ds *reply, struct pmd_housekeeping *house)
{
    uint64_t n_asked, n_ranked, asked, rank_longest;
    uint64_t n_coverage, n_cleared, coverage_longest;
    uint64_t now = time_usec();
    uint64_t open;

    atomic_read_relaxed(&house->n_asked, &n_asked);
    atomic_read_relaxed(&house->n_ranked, &n_ranked);
    atomic_read_relaxed(&house->rank_asked, &asked);
    atomic_read_relaxed(&house->rank_longest, &rank_longest);
    open = asked && now > asked ? now - asked : 0;
    ds_put_format(reply, "  ranking: asked for %"PRIu64" times, done %"PRIu64
                  "\n", n_asked, n_ranked);
    ds_put_format(reply, "    put off: %"PRIu64" us now, %"PRIu64" us at the "
                  "longest\n", open, MAX(open, rank_longest));

    atomic_read_relaxed(&house->n_coverage, &n_coverage);
    atomic_read_relaxed(&house->n_coverage_done, &n_cleared);
    atomic_read_relaxed(&house->coverage_longest, &coverage_longest);
    ds_put_format(reply, "  coverage: tried %"PRIu64" times, done %"PRIu64
                  "\n    longest time between two: %"PRIu64" us\n",
                  n_coverage, n_cleared, coverage_longest);
}

static void
show_housekeeping(struct ds *reply, struct pmd_thread *pmd)
{
    struct pmd_housekeeping *house = &pmd->house;
    uint64_t us_ago;
    bool polls;
    double us;

    if (pmd->core_id == NON_PMD_CORE_ID) {
        return;
    }
    dp_cmd_format_heading(reply, pmd);
    atomic_read_relaxed(&house->polls, &polls);
    if (!polls) {
        ds_put_cstr(reply, "  has not polled yet\n");
        return;
    }
    format_rcu(reply, house);
    format_sweep(reply, "emc", &house->sweeps[PMD_CACHE_EMC]);
    format_sweep(reply, "smc", &house->sweeps[PMD_CACHE_SMC]);
    format_put_off(reply, house);

    pmd_perf_read_longest(&pmd->perf, &us, &us_ago);
    ds_put_format(reply, "  longest iteration: %.1f us, %"PRIu64" ms ago\n",
                  us, us_ago / 1000);
}

void
dp_cmd_pmd_housekeeping_show(struct unixctl_conn *conn, int argc,
                             const char *argv[], void *aux OVS_UNUSED)
{
    dp_cmd_for_each_pmd(conn, argc, argv, NULL, show_housekeeping);
}
