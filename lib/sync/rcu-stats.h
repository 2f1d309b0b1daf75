/* SPDX-License-Identifier: Apache-2.0 */

#ifndef SYNC_RCU_STATS_H
#define SYNC_RCU_STATS_H 1

/* RCU figures
 * ===========
 *
 * The RCU interface itself is Open vSwitch's "ovs-rcu.h".  This header has
 * what an operator or a test wants to know about the implementation in
 * sync/ovs-rcu.c: whether callbacks pile up, and for how long readers have
 * held up those who wait for them.
 *
 * Thread safety
 * -------------
 *
 * Every function may be called in any thread.  The figures of other threads
 * are read while they move, so they are exact only when nothing moves. */

#include <stdbool.h>
#include <stdint.h>

struct rcu_stats {
    uint64_t n_postponed;       /* Callbacks ever given to RCU. */
    uint64_t n_called;          /* Of these, callbacks that have returned. */
    uint64_t n_grace_periods;   /* Grace periods that somebody waited for. */
    uint64_t longest_grace_us;  /* Longest of these waits, in microseconds. */
    unsigned int n_threads;     /* Threads known to RCU. */
    unsigned int n_active;      /* Of these, threads that are not quiescent. */
};

void rcu_stats_get(struct rcu_stats *);

/* The same of one thread. */
struct rcu_thread_stats {
    uint64_t n_postponed;       /* Callbacks that it ever gave to RCU. */
    uint64_t n_called;          /* Of these, callbacks that have returned. */
    bool active;                /* It is not quiescent. */
};

/* Fills 'stats' for the thread whose ovsthread_id_self() is 'thread_id'.
 * Returns false, with all zero, if there is none (any more) that uses RCU.
 * Ids are not used again, so that one may be kept for as long as one likes. */
bool rcu_stats_get_thread(unsigned int thread_id, struct rcu_thread_stats *);

/* Callbacks that this thread has postponed and not handed over yet; its next
 * quiescent state does that. */
unsigned int rcu_stats_self_pending(void);

#endif /* sync/rcu-stats.h */
