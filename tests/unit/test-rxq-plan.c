/* SPDX-License-Identifier: Apache-2.0 */

/* Assignment of receive queues to threads.
 *
 * Most cases are a table: threads as "numa:core", queues as
 * "numa[@pinned core][=load]", and what must come out, the core of each queue
 * in the same order ("-" for none). */

#include <config.h>
#undef NDEBUG

#include "dp/rxq-plan.h"

#include <ctype.h>

#include "openvswitch/dynamic-string.h"
#include "ovs-numa.h"
#include "unit.h"
#include "util.h"

static const char *
read_number(const char *s, unsigned long long *n)
{
    char *end;

    *n = strtoull(s, &end, 10);
    CHECK_MSG(end != s, "no number at '%s'", s);
    return end;
}

static void
add_threads(struct rxq_plan *plan, const char *s)
{
    while (*s) {
        unsigned long long numa, core;

        s = read_number(s, &numa);
        CHECK(*s == ':');
        s = read_number(s + 1, &core);
        rxq_plan_add_thread(plan, &(struct rxq_plan_thread) {
            .numa_id = numa,
            .core_id = core,
            .interval_cycles = 1000,
        });
        s += strspn(s, " ");
    }
}

static void
add_queues(struct rxq_plan *plan, const char *s)
{
    for (int id = 0; *s; id++) {
        unsigned long long numa, core = OVS_CORE_UNSPEC, load = 0;

        s = read_number(s, &numa);
        if (*s == '@') {
            s = read_number(s + 1, &core);
        }
        if (*s == '=') {
            s = read_number(s + 1, &load);
        }
        rxq_plan_add_queue(plan, &(struct rxq_plan_queue) {
            .port_name = "p0",
            .port_no = 1,
            .queue_id = id,
            .numa_id = numa,
            .pinned_core = core,
            .current_core = OVS_CORE_UNSPEC,
            .load = load,
        });
        s += strspn(s, " ");
    }
}

static char *
describe_result(const struct rxq_plan *plan)
{
    struct ds out = DS_EMPTY_INITIALIZER;

    for (size_t i = 0; i < plan->n_queues; i++) {
        const struct rxq_plan_thread *thread = plan->queues[i].thread;

        ds_put_cstr(&out, i ? " " : "");
        if (thread) {
            ds_put_format(&out, "%u", thread->core_id);
        } else {
            ds_put_char(&out, '-');
        }
    }
    return ds_steal_cstr(&out);
}

/* What must hold for any plan. */
static void
check_sums(const struct rxq_plan *plan)
{
    for (size_t i = 0; i < plan->n_threads; i++) {
        const struct rxq_plan_thread *thread = &plan->threads[i];
        size_t n_queues = 0;
        uint64_t load = 0;

        for (size_t j = 0; j < plan->n_queues; j++) {
            if (plan->queues[j].thread == thread) {
                n_queues++;
                load += plan->queues[j].load;
            }
        }
        CHECK_UINT(thread->n_queues, ==, n_queues);
        CHECK_UINT(thread->load, ==, load);
    }
}

static void
check_plan(const char *threads, const char *queues, enum rxq_assign algorithm,
           bool isolate, const char *expected)
{
    struct rxq_plan plan;
    char *result;

    rxq_plan_init(&plan);
    add_threads(&plan, threads);
    add_queues(&plan, queues);
    rxq_plan_assign(&plan, algorithm, isolate, VLL_DBG);
    check_sums(&plan);
    result = describe_result(&plan);
    CHECK_STR(result, expected);
    free(result);
    rxq_plan_destroy(&plan);
}

static void
test_algorithms(void)
{
    static const struct {
        const char *threads, *queues;
        const char *roundrobin, *cycles, *group;
    } cases[] = {
        { "0:0", "", "", "", "" },
        { "", "0 0", "- -", "- -", "- -" },
        { "0:0", "0 0 0", "0 0 0", "0 0 0", "0 0 0" },

        /* Idle queues: in turn, to and fro, fewest queues. */
        { "0:0 0:1", "0 0 0 0 0 0 0 0", "0 1 0 1 0 1 0 1",
          "0 1 1 0 0 1 1 0", "0 1 0 1 0 1 0 1" },
        { "0:2 0:0 0:1", "0 0 0 0 0 0 0", "0 1 2 0 1 2 0",
          "0 1 2 2 1 0 0", "0 1 2 0 1 2 0" },

        /* Busy queues: the busiest first, whatever their order. */
        { "0:0 0:1", "0=10 0=40 0=30 0=20", "0 1 0 1",
          "0 0 1 1", "0 0 1 1" },
        { "0:0 0:1", "0=100 0=10 0=20 0=30 0=40", "0 1 0 1 0",
          "0 0 0 1 1", "0 1 1 1 1" },
        { "0:0 0:1 0:2", "0=5 0=9 0=4 0=6", "0 1 2 0",
          "2 0 2 1", "2 0 2 1" },

        /* Idle ones go where few are, though there is load. */
        { "0:0 0:1", "0=50 0=1 0=1 0 0", "0 1 0 1 0",
          "0 1 1 0 0", "0 1 1 0 0" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        check_plan(cases[i].threads, cases[i].queues, RXQ_ASSIGN_ROUNDROBIN,
                   true, cases[i].roundrobin);
        check_plan(cases[i].threads, cases[i].queues, RXQ_ASSIGN_CYCLES,
                   true, cases[i].cycles);
        check_plan(cases[i].threads, cases[i].queues, RXQ_ASSIGN_GROUP,
                   true, cases[i].group);
    }
}

static void
test_numa(void)
{
    /* Queues stay on their node. */
    check_plan("0:0 1:1 0:2 1:3", "1 0 1 0", RXQ_ASSIGN_ROUNDROBIN, true,
               "1 0 3 2");
    check_plan("0:0 1:1 0:2 1:3", "1 1 1 1", RXQ_ASSIGN_CYCLES, true,
               "1 3 3 1");

    /* A node without threads is helped by the others in turn, each of which
     * continues its own sequence. */
    check_plan("1:0 2:1 1:2 2:3", "0 0 0 0", RXQ_ASSIGN_ROUNDROBIN, true,
               "0 1 2 3");
    check_plan("1:0 2:1 1:2 2:3", "0 0 0 0 0 0", RXQ_ASSIGN_CYCLES, true,
               "0 1 2 3 2 3");
    check_plan("1:0 2:1 1:2 2:3", "0=8 0=7 0=6 0=5", RXQ_ASSIGN_GROUP, true,
               "0 1 2 3");

    /* One whose threads are all isolated counts as one without. */
    check_plan("0:0 1:1", "0@0 0 0", RXQ_ASSIGN_CYCLES, true, "0 1 1");
    check_plan("0:0 1:1 2:2", "0@0 1@1 0 1", RXQ_ASSIGN_CYCLES, true,
               "0 1 2 2");
}

static void
test_pinned(void)
{
    /* Isolated threads get nothing else... */
    check_plan("0:0 0:1 0:2", "0@1 0 0 0 0", RXQ_ASSIGN_ROUNDROBIN, true,
               "1 0 2 0 2");
    check_plan("0:0 0:1 0:2", "0@1 0 0 0 0", RXQ_ASSIGN_CYCLES, true,
               "1 0 2 2 0");
    check_plan("0:0 0:1 0:2", "0@1 0 0 0 0", RXQ_ASSIGN_GROUP, true,
               "1 0 2 0 2");

    /* ...but others pinned to them. */
    check_plan("0:0 0:1", "0@1 0@1 0@1 0", RXQ_ASSIGN_CYCLES, true,
               "1 1 1 0");

    /* Without isolation their load counts like any other. */
    check_plan("0:0 0:1", "0@1=10 0=6 0=5", RXQ_ASSIGN_GROUP, false,
               "1 0 0");
    check_plan("0:0 0:1", "0@1=10 0=6 0=5 0=4 0", RXQ_ASSIGN_GROUP, false,
               "1 0 0 1 0");

    /* Pinning crosses nodes. */
    check_plan("0:0 1:1", "1@0 1", RXQ_ASSIGN_CYCLES, true, "0 1");

    /* A core without a thread: as if not pinned. */
    check_plan("0:0 0:1", "0@7 0@1", RXQ_ASSIGN_CYCLES, true, "0 1");

    /* Nobody is left. */
    check_plan("0:0 0:1", "0@0 0@1 0 0", RXQ_ASSIGN_GROUP, true, "0 1 - -");
    check_plan("0:0 1:1", "0@0 0@1 1", RXQ_ASSIGN_ROUNDROBIN, true, "0 1 -");
}

/* The order of addition must not matter where the load decides. */
static void
test_ties(void)
{
    static const int queue_ids[] = { 2, 0, 3, 1 };
    struct rxq_plan plan;

    rxq_plan_init(&plan);
    add_threads(&plan, "0:0 0:1");
    for (size_t i = 0; i < ARRAY_SIZE(queue_ids); i++) {
        rxq_plan_add_queue(&plan, &(struct rxq_plan_queue) {
            .port_name = "p", .port_no = queue_ids[i] / 2,
            .queue_id = queue_ids[i] % 2, .pinned_core = OVS_CORE_UNSPEC,
            .load = 5,
        });
    }
    rxq_plan_assign(&plan, RXQ_ASSIGN_CYCLES, true, VLL_DBG);

    char *result = describe_result(&plan);

    CHECK_STR(result, "1 0 0 1");
    free(result);
    rxq_plan_destroy(&plan);
}

static struct rxq_plan_queue
polled_queue(unsigned core, unsigned pinned, int numa, uint64_t load)
{
    return (struct rxq_plan_queue) {
        .port_name = "p0", .pinned_core = pinned, .current_core = core,
        .numa_id = numa, .load = load,
    };
}

static void
test_keep(void)
{
    const struct rxq_plan_queue queues[] = {
        polled_queue(1, OVS_CORE_UNSPEC, 0, 10),
        polled_queue(0, 0, 0, 20),
        polled_queue(OVS_CORE_UNSPEC, OVS_CORE_UNSPEC, 0, 30),
        polled_queue(9, OVS_CORE_UNSPEC, 0, 40),
    };
    struct rxq_plan plan;
    char *result;

    rxq_plan_init(&plan);
    add_threads(&plan, "0:0 0:1");
    for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
        rxq_plan_add_queue(&plan, &queues[i]);
    }
    rxq_plan_keep(&plan, true);
    check_sums(&plan);
    result = describe_result(&plan);
    CHECK_STR(result, "1 0 - -");
    CHECK(plan.threads[0].isolated);
    CHECK(!plan.threads[1].isolated);
    CHECK_UINT(plan.n_numas, ==, 1);
    CHECK_UINT(plan.numas[0].n_isolated, ==, 1);
    free(result);
    rxq_plan_destroy(&plan);
}

static void
check_crosses(const char *threads, const char *queues, bool isolate,
              bool expected)
{
    struct rxq_plan plan;

    rxq_plan_init(&plan);
    add_threads(&plan, threads);
    add_queues(&plan, queues);
    rxq_plan_assign(&plan, RXQ_ASSIGN_GROUP, isolate, VLL_DBG);
    CHECK_INT(rxq_plan_crosses_numa(&plan), ==, expected);
    rxq_plan_destroy(&plan);
}

static void
test_crosses_numa(void)
{
    check_crosses("0:0 1:1", "0 1 0 1", true, false);
    check_crosses("1:0 2:1", "0 1", true, true);
    check_crosses("1:0 2:1", "1 2", true, false);
    check_crosses("1:0 2:1", "0@0 0@1", true, false);
    check_crosses("1:0 2:1", "0@0 0@1", false, false);
    check_crosses("1:0 2:1", "0@0 0@1 0", false, true);
    check_crosses("", "0 1", true, false);
}

static void
check_variance(const char *threads, const char *queues, bool isolate,
               int numa_id, uint64_t expected)
{
    struct rxq_plan plan;

    rxq_plan_init(&plan);
    add_threads(&plan, threads);
    add_queues(&plan, queues);
    rxq_plan_assign(&plan, RXQ_ASSIGN_ROUNDROBIN, isolate, VLL_DBG);
    CHECK_UINT(rxq_plan_variance(&plan, numa_id), ==, expected);
    rxq_plan_destroy(&plan);
}

/* A thread can do 1,000 cycles in each of RXQ_INTERVALS. */
static void
test_variance(void)
{
    BUILD_ASSERT(RXQ_INTERVALS == 12);

    check_variance("0:0 0:1", "0=1200 0=1200", true, 0, 0);
    check_variance("0:0 0:1", "0=12000 0", true, 0, 2500);
    check_variance("0:0 0:1", "0=6000 0=3600", true, 0, 100);
    check_variance("0:0 0:1 0:2", "0=3600 0=1200 0=2400", true, 0, 66);

    /* Each node for itself, isolated threads left out. */
    check_variance("0:0 1:1 0:2", "0=12000 1=600 0", true, 0, 2500);
    check_variance("0:0 1:1 0:2", "0=12000 1=600 0", true, 1, 0);
    check_variance("0:0 0:1 0:2", "0@2=12000 0=1200 0=1200", true, 0, 0);
    check_variance("0:0 0:1", "0@0 0@1", true, 0, 0);
    check_variance("0:0", "0=12000", true, 5, 0);
}

static void
test_variance_without_measurement(void)
{
    struct rxq_plan plan;

    rxq_plan_init(&plan);
    rxq_plan_add_thread(&plan, &(struct rxq_plan_thread) { .core_id = 0 });
    rxq_plan_add_thread(&plan, &(struct rxq_plan_thread) { .core_id = 1 });
    add_queues(&plan, "0=5000");
    rxq_plan_assign(&plan, RXQ_ASSIGN_GROUP, true, VLL_DBG);
    CHECK_UINT(rxq_plan_variance(&plan, 0), ==, 0);
    rxq_plan_destroy(&plan);
}

int
main(void)
{
    RUN_TEST(test_algorithms);
    RUN_TEST(test_numa);
    RUN_TEST(test_pinned);
    RUN_TEST(test_ties);
    RUN_TEST(test_keep);
    RUN_TEST(test_crosses_numa);
    RUN_TEST(test_variance);
    RUN_TEST(test_variance_without_measurement);
    return 0;
}
