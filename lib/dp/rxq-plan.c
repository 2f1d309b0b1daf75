/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/rxq-plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "openvswitch/dynamic-string.h"
#include "sync/dp-log.h"
#include "util.h"

void
rxq_plan_init(struct rxq_plan *plan)
{
    memset(plan, 0, sizeof *plan);
}

void
rxq_plan_destroy(struct rxq_plan *plan)
{
    free(plan->threads);
    free(plan->queues);
    free(plan->numas);
}

void
rxq_plan_add_thread(struct rxq_plan *plan,
                    const struct rxq_plan_thread *thread)
{
    ovs_assert(!plan->numas);
    if (plan->n_threads == plan->allocated_threads) {
        plan->threads = x2nrealloc(plan->threads, &plan->allocated_threads,
                                   sizeof *plan->threads);
    }

    struct rxq_plan_thread *copy = &plan->threads[plan->n_threads++];

    *copy = *thread;
    copy->load = 0;
    copy->n_queues = 0;
    copy->isolated = false;
}

void
rxq_plan_add_queue(struct rxq_plan *plan, const struct rxq_plan_queue *queue)
{
    ovs_assert(!plan->numas);
    if (plan->n_queues == plan->allocated_queues) {
        plan->queues = x2nrealloc(plan->queues, &plan->allocated_queues,
                                  sizeof *plan->queues);
    }

    struct rxq_plan_queue *copy = &plan->queues[plan->n_queues++];

    *copy = *queue;
    copy->thread = NULL;
}

static int
compare_threads(const void *a_, const void *b_)
{
    const struct rxq_plan_thread *a = a_;
    const struct rxq_plan_thread *b = b_;

    return a->numa_id != b->numa_id ? (a->numa_id < b->numa_id ? -1 : 1)
           : a->core_id != b->core_id ? (a->core_id < b->core_id ? -1 : 1)
           : 0;
}

/* Ends the addition of threads and queues: sorts the threads and divides them
 * into NUMA nodes. */
static void
group_by_numa(struct rxq_plan *plan)
{
    ovs_assert(!plan->numas);
    if (plan->n_threads) {
        qsort(plan->threads, plan->n_threads, sizeof *plan->threads,
              compare_threads);
    }

    plan->numas = xcalloc(plan->n_threads + 1, sizeof *plan->numas);
    for (size_t i = 0; i < plan->n_threads; i++) {
        struct rxq_plan_thread *thread = &plan->threads[i];
        struct rxq_plan_numa *numa = plan->numas + plan->n_numas - 1;

        if (!i || numa->numa_id != thread->numa_id) {
            numa = &plan->numas[plan->n_numas++];
            numa->numa_id = thread->numa_id;
            numa->threads = thread;
        }
        numa->n_threads++;
    }
}

static struct rxq_plan_numa *
find_numa(const struct rxq_plan *plan, int numa_id)
{
    for (size_t i = 0; i < plan->n_numas; i++) {
        if (plan->numas[i].numa_id == numa_id) {
            return &plan->numas[i];
        }
    }
    return NULL;
}

static struct rxq_plan_thread *
find_core(const struct rxq_plan *plan, unsigned core_id)
{
    for (size_t i = 0; core_id != OVS_CORE_UNSPEC && i < plan->n_threads;
         i++) {
        if (plan->threads[i].core_id == core_id) {
            return &plan->threads[i];
        }
    }
    return NULL;
}

static bool
has_free_thread(const struct rxq_plan_numa *numa)
{
    return numa && numa->n_threads > numa->n_isolated;
}

static void
isolate_thread(struct rxq_plan *plan, struct rxq_plan_thread *thread)
{
    if (!thread->isolated) {
        thread->isolated = true;
        find_numa(plan, thread->numa_id)->n_isolated++;
    }
}

static void
give(struct rxq_plan_queue *queue, struct rxq_plan_thread *thread)
{
    queue->thread = thread;
    thread->n_queues++;
    thread->load += queue->load;
}

/* What a log message says of the load of 'queue', which the caller frees. */
static char *
describe_load(const struct rxq_plan_queue *queue, enum rxq_assign algorithm)
{
    return algorithm == RXQ_ASSIGN_ROUNDROBIN
           ? xstrdup("")
           : xasprintf(" (measured processing cycles %"PRIu64")",
                       queue->load);
}

static enum vlog_level
warning_level(enum vlog_level level)
{
    return level == VLL_DBG ? VLL_DBG : VLL_WARN;
}

/* Gives pinned queues to their threads.  Stores pointers to the queues that
 * are still to be had to 'rest' and returns their number. */
static size_t
assign_pinned(struct rxq_plan *plan, enum rxq_assign algorithm, bool isolate,
              enum vlog_level level, struct rxq_plan_queue **rest)
{
    size_t n_rest = 0;

    for (size_t i = 0; i < plan->n_queues; i++) {
        struct rxq_plan_queue *queue = &plan->queues[i];
        struct rxq_plan_thread *thread = find_core(plan, queue->pinned_core);

        if (!thread) {
            if (queue->pinned_core != OVS_CORE_UNSPEC) {
                VLOG(warning_level(level),
                     "Core %2u cannot be pinned with port '%s' rx queue %d. "
                     "Use pmd-cpu-mask to enable a pmd on core %u. "
                     "An alternative core will be assigned.",
                     queue->pinned_core, queue->port_name, queue->queue_id,
                     queue->pinned_core);
            }
            rest[n_rest++] = queue;
            continue;
        }

        if (isolate) {
            isolate_thread(plan, thread);
        }
        give(queue, thread);

        char *load = describe_load(queue, algorithm);

        VLOG(level, "Core %2u on numa node %d is pinned with port '%s' "
             "rx queue %d%s", thread->core_id, thread->numa_id,
             queue->port_name, queue->queue_id, load);
        free(load);
    }
    return n_rest;
}

/* Busiest first.  Equal loads are put in the order of port and queue, so that
 * the result is the same with every qsort(). */
static int
compare_queues(const void *a_, const void *b_)
{
    const struct rxq_plan_queue *a = *(const struct rxq_plan_queue **) a_;
    const struct rxq_plan_queue *b = *(const struct rxq_plan_queue **) b_;

    if (a->load != b->load) {
        return a->load > b->load ? -1 : 1;
    }
    if (a->port_no != b->port_no) {
        return a->port_no < b->port_no ? -1 : 1;
    }
    return a->queue_id - b->queue_id;
}

/* Returns the node that is to poll queues of the node 'numa_id': itself, or
 * the next one in turn that can, or null. */
static struct rxq_plan_numa *
choose_numa(struct rxq_plan *plan, int numa_id)
{
    struct rxq_plan_numa *numa = find_numa(plan, numa_id);

    if (has_free_thread(numa)) {
        return numa;
    }
    for (size_t i = 0; i < plan->n_numas; i++) {
        numa = &plan->numas[plan->next_foreign++ % plan->n_numas];
        if (has_free_thread(numa)) {
            return numa;
        }
    }
    return NULL;
}

/* Returns the thread of 'numa' that has the least load ('by_load') or else the
 * fewest queues. */
static struct rxq_plan_thread *
least_thread(const struct rxq_plan_numa *numa, bool by_load)
{
    struct rxq_plan_thread *least = NULL;

    for (size_t i = 0; i < numa->n_threads; i++) {
        struct rxq_plan_thread *thread = &numa->threads[i];

        if (!thread->isolated
            && (!least || (by_load ? thread->load < least->load
                           : thread->n_queues < least->n_queues))) {
            least = thread;
        }
    }
    return least;
}

/* Returns the thread of 'numa', which has a free one, whose turn it is. */
static struct rxq_plan_thread *
next_thread(struct rxq_plan_numa *numa, bool to_and_fro)
{
    size_t n = numa->n_threads;
    struct rxq_plan_thread *thread;

    do {
        size_t turn = numa->turn++;
        size_t way = turn % (to_and_fro ? 2 * n : n);

        thread = &numa->threads[way < n ? way : 2 * n - 1 - way];
    } while (thread->isolated);
    return thread;
}

static struct rxq_plan_thread *
choose_thread(struct rxq_plan_numa *numa, enum rxq_assign algorithm,
              const struct rxq_plan_queue *queue)
{
    switch (algorithm) {
    case RXQ_ASSIGN_GROUP:
        return least_thread(numa, queue->load > 0);
    case RXQ_ASSIGN_CYCLES:
        return next_thread(numa, true);
    case RXQ_ASSIGN_ROUNDROBIN:
        return next_thread(numa, false);
    default:
        OVS_NOT_REACHED();
    }
}

static void
assign_one(struct rxq_plan *plan, struct rxq_plan_queue *queue,
           enum rxq_assign algorithm, enum vlog_level level)
{
    struct rxq_plan_numa *numa = choose_numa(plan, queue->numa_id);
    char *load = describe_load(queue, algorithm);

    if (!numa) {
        VLOG(warning_level(level),
             "No non-isolated pmd on any numa available for port '%s' "
             "rx queue %d%s. This rx queue will not be polled.",
             queue->port_name, queue->queue_id, load);
    } else {
        struct rxq_plan_thread *thread = choose_thread(numa, algorithm, queue);

        if (numa->numa_id != queue->numa_id) {
            VLOG(level,
                 "There's no available (non-isolated) pmd thread on numa "
                 "node %d. Port '%s' rx queue %d will be assigned to a pmd "
                 "on numa node %d. This may lead to reduced performance.",
                 queue->numa_id, queue->port_name, queue->queue_id,
                 numa->numa_id);
        }
        VLOG(level, "Core %2u on numa node %d assigned port '%s' "
             "rx queue %d%s.", thread->core_id, numa->numa_id,
             queue->port_name, queue->queue_id, load);
        give(queue, thread);
    }
    free(load);
}

void
rxq_plan_assign(struct rxq_plan *plan, enum rxq_assign algorithm,
                bool isolate, enum vlog_level level)
{
    struct rxq_plan_queue **rest;
    size_t n_rest;

    group_by_numa(plan);

    rest = xmalloc(MAX(plan->n_queues, 1) * sizeof *rest);
    n_rest = assign_pinned(plan, algorithm, isolate, level, rest);

    if (n_rest && level != VLL_DBG) {
        VLOG(level, "Performing pmd to rx queue assignment using %s "
             "algorithm.", rxq_assign_name(algorithm));
    }
    if (n_rest && algorithm != RXQ_ASSIGN_ROUNDROBIN) {
        qsort(rest, n_rest, sizeof *rest, compare_queues);
    }
    for (size_t i = 0; i < n_rest; i++) {
        assign_one(plan, rest[i], algorithm, level);
    }
    free(rest);
}

void
rxq_plan_keep(struct rxq_plan *plan, bool isolate)
{
    group_by_numa(plan);

    for (size_t i = 0; i < plan->n_queues; i++) {
        struct rxq_plan_queue *queue = &plan->queues[i];
        struct rxq_plan_thread *thread = find_core(plan, queue->current_core);

        if (thread) {
            if (isolate && queue->pinned_core != OVS_CORE_UNSPEC) {
                isolate_thread(plan, thread);
            }
            give(queue, thread);
        }
    }
}

bool
rxq_plan_crosses_numa(const struct rxq_plan *plan)
{
    for (size_t i = 0; i < plan->n_queues; i++) {
        const struct rxq_plan_queue *queue = &plan->queues[i];

        if (queue->thread && !queue->thread->isolated
            && queue->pinned_core == OVS_CORE_UNSPEC
            && queue->thread->numa_id != queue->numa_id) {
            return true;
        }
    }
    return false;
}

/* The load of 'thread' in percent of what it can do, as far as known. */
static uint64_t
busy_percent(const struct rxq_plan_thread *thread)
{
    uint64_t capacity = thread->interval_cycles * RXQ_INTERVALS;

    return capacity ? thread->load * 100 / capacity : 0;
}

uint64_t
rxq_plan_variance(const struct rxq_plan *plan, int numa_id)
{
    const struct rxq_plan_numa *numa = find_numa(plan, numa_id);
    uint64_t sum = 0, squares = 0, n = 0, mean;

    if (!has_free_thread(numa)) {
        return 0;
    }

    for (size_t i = 0; i < numa->n_threads; i++) {
        if (!numa->threads[i].isolated) {
            sum += busy_percent(&numa->threads[i]);
            n++;
        }
    }
    mean = sum / n;

    for (size_t i = 0; i < numa->n_threads; i++) {
        if (!numa->threads[i].isolated) {
            uint64_t percent = busy_percent(&numa->threads[i]);
            uint64_t off = percent > mean ? percent - mean : mean - percent;

            squares += off * off;
        }
    }
    return squares / n;
}
