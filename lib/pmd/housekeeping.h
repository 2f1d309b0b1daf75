/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_HOUSEKEEPING_H
#define WEFT_PMD_HOUSEKEEPING_H 1

/* What a PMD thread does besides forwarding.  All of it in one place, with a
 * budget per iteration.  Nothing here waits.
 *
 * The budget
 * ----------
 * | work              | when                           | lock               |
 * |-------------------+--------------------------------+--------------------|
 * | caches taken over | each iteration, if offered     | none               |
 * | reload            | each iteration, if asked for   | port_mutex, waits: |
 * |                   | (loop.c)                       | it is no steady    |
 * |                   |                                | state              |
 * | quiescent state   | each 1,024, and each 10 ms     | none               |
 * | coverage          | each 1,024; clears 1 in 1 s    | tried              |
 * | state of queues   | each 1,024                     | none               |
 * | load interval     | each 5 s                       | none               |
 * | ranking           | each 1 s, asked for            | none: others do it |
 * | sweep             | a bucket of one cache: each 8  | none               |
 * |                   | iterations, or each if idle    |                    |
 *
 * But for the quiescent state, which is a store, no iteration does more than
 * one of these: the first three have iterations of their own in each 1,024,
 * and what is due by the clock takes the next one that is free.
 *
 * Ranking
 * -------
 * To rank the subtables takes the mutex of the flow table.  Even if it were
 * only tried, to unlock it would take a system call whenever somebody had
 * begun to wait for it meanwhile.  So the thread asks for the ranking and goes
 * on; whoever has the mutex next, or the main thread, does it (see
 * table/flow-table.h), and the figures say how long that takes.
 *
 * Coverage is the one lock that is still tried: the counters belong to Open
 * vSwitch's library, which adds those of a thread up under its mutex.
 *
 * The sweep
 * ---------
 * A sweep forgets the cached names of dead flows, eight to a bucket.  It
 * begins when a flow has died since the last one began, passes over the whole
 * cache, and rests if there is nothing to be found.  A bucket of each cache in
 * 16 iterations, or in 2 if there were no packets, makes for a whole sweep:
 *
 *     entries      iterations   at 10 us   idle iterations   at 0.3 us
 *       8,192          16,384     0.16 s             2,048     0.6 ms
 *   1,048,576       2,097,152       21 s           262,144      79 ms
 *  33,554,432      67,108,864      671 s         8,388,608      2.5 s
 *
 * A dead entry does no harm but to take a place, so that time is not critical.
 *
 * Thread safety
 * -------------
 * The PMD thread only, but for what makes and frees caches, and for the
 * figures, which any thread may read. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ovs-atomic.h"

struct dp_rxq;
struct pmd_thread;

enum pmd_cache {
    PMD_CACHE_EMC,
    PMD_CACHE_SMC,
    PMD_N_CACHES
};

/* Sweep of a cache.  Times in us. */
struct pmd_sweep {
    /* Owner. */
    uint64_t covered;           /* dp_flow_table_n_removed() when the last
                                 * sweep began. */
    uint32_t left;              /* Buckets that are left of it. */
    long long started;

    /* Owner writes, all read; relaxed, each for itself. */
    atomic_uint32_t pos;        /* Next bucket... */
    atomic_uint32_t n_buckets;  /* ...of so many; 0: there is no cache. */
    atomic_bool running;
    atomic_uint64_t n_sweeps;   /* That are complete. */
    atomic_uint64_t n_freed;    /* Entries. */
    atomic_uint64_t took;       /* By the last complete one... */
    atomic_uint64_t ended;      /* ...which ended then. */
};

struct pmd_housekeeping {
    struct pmd_sweep sweeps[PMD_N_CACHES];

    /* Owner writes, all read; relaxed, each for itself.  Times in us. */
    atomic_uint64_t quiesced;   /* Time of the last quiescent state. */
    atomic_uint32_t rcu_thread; /* ovsthread_id_self() of the owner... */
    atomic_bool polls;          /* ...if it has begun to poll. */
    atomic_uint64_t n_asked;    /* Rankings that were asked for... */
    atomic_uint64_t n_ranked;   /* ...and those of them that were done. */
    atomic_uint64_t rank_asked; /* When the open one was asked for; 0: none
                                 * is. */
    atomic_uint64_t rank_longest; /* Longest time until one was done. */
    atomic_uint64_t n_coverage; /* Calls of coverage_try_clear(). */
    atomic_uint64_t n_coverage_done; /* Of them, those that have cleared. */
    atomic_uint64_t coverage_cleared; /* When the last of these was. */
    atomic_uint64_t coverage_longest; /* Longest time between two. */
};

void pmd_housekeeping_init(struct pmd_housekeeping *);

/* Prepares for a new round of polling (start, and after each reload). */
void pmd_housekeeping_start(struct pmd_thread *);

/* One iteration's share.  'rxqs' are the queues that the thread polls; 'idle'
 * says that they had no packets.  Returns true if it is time to look at the
 * state of the queues again (once in a while). */
bool pmd_housekeeping_run(struct pmd_thread *, struct dp_rxq *const rxqs[],
                          size_t n_rxqs, bool idle);

/* Takes the caches over that the control side offers in place of those that
 * 'pmd' has, if any: see table/sigcache-handover.h.  Owner only (for
 * NON_PMD_CORE_ID: whoever holds 'non_pmd_mutex'), between bursts. */
void pmd_resize_caches(struct pmd_thread *);

/* Makes the caches of 'pmd' (zero: none), before its thread starts and before
 * others can find it.  Returns 0, or ENOMEM if one of them has no memory: then
 * 'pmd' works without that one. */
int pmd_init_caches(struct pmd_thread *pmd, uint32_t emc_entries,
                    uint32_t smc_entries);

/* Frees the caches of 'pmd' and all that was offered to it.  To be called when
 * its thread has ended (for NON_PMD_CORE_ID: with 'non_pmd_mutex').  May be
 * called again. */
void pmd_free_caches(struct pmd_thread *pmd);

#endif /* pmd/housekeeping.h */
