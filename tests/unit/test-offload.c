/* SPDX-License-Identifier: Apache-2.0 */

/* Hardware offload: marks, and the queue of jobs with its rendezvous.  (What
 * a device is told is the subject of Open vSwitch's own tests.) */

#include <config.h>
#undef NDEBUG

#include "dp/offload-mark.h"
#include "dp/offload-queue.h"

#include "odp-util.h"
#include "openvswitch/match.h"
#include "ovs-rcu.h"
#include "pmd/run.h"
#include "table/dp-flow.h"
#include "table/flow-table.h"
#include "unit.h"
#include "util.h"

static struct dp_flow_table table;

static struct dp_flow *
add_flow(uint32_t n, unsigned pmd_id)
{
    ovs_u128 ufid = { .u64 = { .lo = n, .hi = pmd_id } };
    struct match match;
    struct dp_flow_spec spec = {
        .match = &match,
        .ufid = &ufid,
        .orig_in_port = ODPP_NONE,
        .pmd_id = pmd_id,
        .track_offload = true,
    };
    struct dp_flow *flow;

    memset(&match, 0, sizeof match);
    match.flow.in_port.odp_port = u32_to_odp(1);
    match.flow.skb_priority = n;
    match.wc.masks.skb_priority = UINT32_MAX;
    match.wc.masks.in_port.odp_port = ODPP_NONE;
    dp_match_normalize(&match);

    ovs_mutex_lock(&table.mutex);
    flow = dp_flow_table_add(&table, &spec);
    ovs_mutex_unlock(&table.mutex);
    CHECK(flow);
    return flow;
}

static void
remove_flow(struct dp_flow *flow)
{
    ovs_mutex_lock(&table.mutex);
    dp_flow_table_remove(&table, flow);
    ovs_mutex_unlock(&table.mutex);
}

static ovs_u128
mega(uint64_t n)
{
    return (ovs_u128) { .u64 = { .lo = n, .hi = ~n } };
}

static void
test_marks(void)
{
    static struct dp_run run_a, run_b;
    struct dp_flow *on_3 = add_flow(1, 3);
    struct dp_flow *on_4 = add_flow(2, 4);
    struct dp_flow *other = add_flow(3, 3);
    ovs_u128 m1 = mega(1), m2 = mega(2);

    CHECK_UINT(offload_mark_find(&run_a, &m1), ==, INVALID_FLOW_MARK);

    uint32_t x = offload_mark_reserve(&run_a, &m1);
    uint32_t y = offload_mark_reserve(&run_a, &m2);
    uint32_t z = offload_mark_reserve(&run_b, &m1);

    CHECK(x != INVALID_FLOW_MARK && y != INVALID_FLOW_MARK
          && z != INVALID_FLOW_MARK);
    CHECK(x != y && y != z && x != z);
    CHECK_UINT(offload_mark_find(&run_a, &m1), ==, x);
    CHECK_UINT(offload_mark_find(&run_a, &m2), ==, y);
    CHECK_UINT(offload_mark_find(&run_b, &m1), ==, z);
    CHECK(!offload_mark_find_flow(&run_a, 3, x));

    /* One mark, two threads. */
    CHECK(offload_mark_link(on_3, x));
    CHECK(offload_mark_link(on_4, x));
    CHECK(offload_mark_link(other, y));
    CHECK_UINT(on_3->info->mark, ==, x);
    CHECK(offload_mark_find_flow(&run_a, 3, x) == on_3);
    CHECK(offload_mark_find_flow(&run_a, 4, x) == on_4);
    CHECK(offload_mark_find_flow(&run_a, 3, y) == other);
    CHECK(!offload_mark_find_flow(&run_a, 5, x));
    CHECK(!offload_mark_find_flow(&run_a, 3, z));
    CHECK(!offload_mark_find_flow(&run_b, 3, x));
    CHECK(!offload_mark_find_flow(&run_a, 3, INVALID_FLOW_MARK));

    /* A dead flow is not found, though it is linked. */
    remove_flow(on_3);
    CHECK(!offload_mark_find_flow(&run_a, 3, x));
    CHECK(!offload_mark_unlink(on_3));
    CHECK(offload_mark_find_flow(&run_a, 4, x) == on_4);
    CHECK_UINT(offload_mark_find(&run_a, &m1), ==, x);

    CHECK(offload_mark_unlink(on_4));
    CHECK_UINT(on_4->info->mark, ==, INVALID_FLOW_MARK);
    CHECK(!offload_mark_find_flow(&run_a, 4, x));
    offload_mark_release(x);
    CHECK_UINT(offload_mark_find(&run_a, &m1), ==, INVALID_FLOW_MARK);

    /* A number does not come back at once. */
    uint32_t again = offload_mark_reserve(&run_a, &m1);

    CHECK(again != x && again != y && again != z);
    offload_mark_release(again);

    CHECK(offload_mark_unlink(other));
    offload_mark_release(y);
    offload_mark_release(z);
    remove_flow(on_4);
    remove_flow(other);
}

/* Jobs. */

enum { N_JOBS = 20000 };

static unsigned int order[N_JOBS];
static unsigned int n_done;     /* Offload thread, until a rendezvous. */

struct test_job {
    struct offload_job job;
    unsigned int number;
};

static void
run_test_job(struct offload_job *job_)
{
    struct test_job *job = CONTAINER_OF(job_, struct test_job, job);

    order[n_done++] = job->number;
    free(job);
}

static void
put_job(unsigned int number)
{
    struct test_job *job = xzalloc(sizeof *job);
    ovs_u128 ufid = mega(5);

    job->job.run = run_test_job;
    job->number = number;
    offload_queue_put(&job->job, &ufid);
}

struct rendezvous_log {
    atomic_count at_rest;
    unsigned int meanwhile;     /* How many were at rest then. */
};

static void
log_at_rest(void *log_)
{
    struct rendezvous_log *log = log_;

    atomic_count_inc(&log->at_rest);
}

static void
log_meanwhile(void *log_)
{
    struct rendezvous_log *log = log_;

    CHECK_UINT(log->meanwhile, ==, 0);
    log->meanwhile = atomic_count_get(&log->at_rest);
}

static void
test_rendezvous_without_threads(void)
{
    struct rendezvous_log log = { .at_rest = ATOMIC_COUNT_INIT(1) };
    struct offload_queue_stats stats;

    /* There is nobody to wait for, but 'meanwhile' is called. */
    offload_queue_rendezvous(log_at_rest, log_meanwhile, &log);
    CHECK_UINT(atomic_count_get(&log.at_rest), ==, 1);
    CHECK_UINT(log.meanwhile, ==, 1);

    offload_queue_get_stats(0, &stats);
    CHECK_UINT(stats.n_queued, ==, 0);
}

static void
test_jobs_in_order(void)
{
    struct rendezvous_log log = { .at_rest = ATOMIC_COUNT_INIT(0) };
    struct offload_queue_stats stats;
    ovs_u128 ufid = mega(5);

    for (unsigned int i = 0; i < N_JOBS; i++) {
        put_job(i);
    }
    CHECK(offload_queue_has_room(&ufid));
    offload_queue_rendezvous(log_at_rest, log_meanwhile, &log);
    CHECK_UINT(log.meanwhile, ==, 1); /* One thread is the default. */

    CHECK_UINT(n_done, ==, N_JOBS);
    for (unsigned int i = 0; i < N_JOBS; i++) {
        CHECK_UINT(order[i], ==, i);
    }

    offload_queue_get_stats(0, &stats);
    CHECK_UINT(stats.n_queued, ==, 0);
    CHECK(stats.cma_mean >= 0 && stats.ema_mean >= 0);
}

static void
test_many_rendezvous(void)
{
    for (unsigned int i = 0; i < 200; i++) {
        struct rendezvous_log log = { .at_rest = ATOMIC_COUNT_INIT(0) };

        n_done = 0;
        put_job(i);
        offload_queue_rendezvous(log_at_rest, log_meanwhile, &log);
        CHECK_UINT(n_done, ==, 1);
        CHECK_UINT(order[0], ==, i);
        CHECK_UINT(log.meanwhile, ==, 1);
    }
    offload_queue_rendezvous(NULL, NULL, NULL);
}

int
main(void)
{
    dp_flow_table_init(&table);
    RUN_TEST(test_marks);
    dp_flow_table_destroy(&table);

    RUN_TEST(test_rendezvous_without_threads);
    RUN_TEST(test_jobs_in_order);
    RUN_TEST(test_many_rendezvous);
    return 0;
}
