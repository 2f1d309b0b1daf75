/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_DP_RXQ_PLAN_H
#define WEFT_DP_RXQ_PLAN_H 1

/* Which thread polls which receive queue: a plan on paper.
 *
 * Problem
 * -------
 * Giving queues to threads is a decision about numbers: how much work each
 * queue was lately, where its port is, which core the user wants for it.  The
 * same decision is wanted for real, when the datapath is reconfigured, and as
 * a thought, when automatic balancing asks whether it would do any good.  So
 * it is taken here on descriptions of threads and queues, without touching
 * either.
 *
 * Rules
 * -----
 * 1. A queue that is pinned to a core goes there if the core has a thread.
 *    With isolation, that thread gets nothing but pinned queues.
 * 2. Any other queue goes to a thread of its own NUMA node.  If that has no
 *    thread that is not isolated, the nodes that have one take turns.
 * 3. Within the node the algorithm chooses.  "roundrobin" deals queues out in
 *    the order given.  The others begin with the busiest queue: "cycles" deals
 *    to and fro (1, 2, 3, 3, 2, 1, ...), "group" gives to the thread with the
 *    least load, or with the fewest queues if the queue is idle.
 *
 * Usage
 * -----
 *     struct rxq_plan plan;
 *
 *     rxq_plan_init(&plan);
 *     rxq_plan_fill(&plan, dp);   (or rxq_plan_add_...())
 *     rxq_plan_assign(&plan, RXQ_ASSIGN_CYCLES, true, VLL_INFO);
 *     ...look at plan.queues[i].thread...
 *     rxq_plan_destroy(&plan);
 *
 * Thread safety: none needed, a plan belongs to who made it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dp/dp-netdev.h"
#include "openvswitch/vlog.h"

struct dp_rxq;
struct pmd_thread;

struct rxq_plan_thread {
    unsigned core_id;
    int numa_id;
    uint64_t interval_cycles;   /* Length of a load interval in cycles; 0 if
                                 * none has ended yet. */
    struct pmd_thread *pmd;     /* The caller's. */

    /* Result. */
    uint64_t load;              /* Sum over its queues. */
    size_t n_queues;
    bool isolated;
};

struct rxq_plan_queue {
    const char *port_name;      /* The caller's, as long as the plan. */
    uint32_t port_no;
    int queue_id;
    int numa_id;                /* Of the port. */
    unsigned pinned_core;       /* OVS_CORE_UNSPEC if it is not pinned. */
    unsigned current_core;      /* That polls it now; OVS_CORE_UNSPEC: none. */
    uint64_t load;              /* Cycles in the last RXQ_INTERVALS. */
    struct dp_rxq *rxq;         /* The caller's. */

    /* Result: who polls it, null for nobody. */
    struct rxq_plan_thread *thread;
};

/* The threads of a NUMA node: a part of the plan's array. */
struct rxq_plan_numa {
    int numa_id;
    struct rxq_plan_thread *threads; /* By core. */
    size_t n_threads;
    size_t n_isolated;
    size_t turn;                /* Times that a thread was drawn. */
};

struct rxq_plan {
    struct rxq_plan_thread *threads; /* By NUMA node and core once assigned. */
    size_t n_threads, allocated_threads;
    struct rxq_plan_queue *queues;   /* In the order of their addition. */
    size_t n_queues, allocated_queues;
    struct rxq_plan_numa *numas;     /* By id. */
    size_t n_numas;
    size_t next_foreign;        /* Node whose turn it is to help out. */
};

void rxq_plan_init(struct rxq_plan *);
void rxq_plan_destroy(struct rxq_plan *);

/* Add a copy of what is given.  Results need not be initialized. */
void rxq_plan_add_thread(struct rxq_plan *, const struct rxq_plan_thread *);
void rxq_plan_add_queue(struct rxq_plan *, const struct rxq_plan_queue *);

/* Adds all threads of 'dp' and all queues of its PMD ports (sched.c). */
void rxq_plan_fill(struct rxq_plan *, struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock);

/* Both give each queue its thread, after which nothing can be added:
 * rxq_plan_assign() according to the rules above, with 'isolate' as to
 * isolation, and rxq_plan_keep() as it is now.  What is decided is logged at
 * 'level'; what a user has to look after as a warning, except that VLL_DBG
 * keeps everything at that level. */
void rxq_plan_assign(struct rxq_plan *, enum rxq_assign, bool isolate,
                     enum vlog_level level);
void rxq_plan_keep(struct rxq_plan *, bool isolate);

/* Returns true if a queue that is not pinned is polled from another NUMA node
 * than its own. */
bool rxq_plan_crosses_numa(const struct rxq_plan *);

/* Returns the variance (percent squared) of the load of the threads of the
 * node 'numa_id' that are not isolated, 0 if it has none. */
uint64_t rxq_plan_variance(const struct rxq_plan *, int numa_id);

#endif /* dp/rxq-plan.h */
