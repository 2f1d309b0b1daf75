/* SPDX-License-Identifier: Apache-2.0 */

#ifndef SYNC_HANDOFF_H
#define SYNC_HANDOFF_H 1

/* Lock-free hand-off
 * ==================
 *
 * Problem
 * -------
 *
 * Threads that must not block have things to give to a thread that may: dead
 * objects, finished work, a request to be woken.  A hand-off is the box in
 * between.  Anyone may put a node in at any time, and whoever comes to collect
 * gets everything that is in the box at once.
 *
 * Nothing here allocates, blocks or makes a system call.  Putting in is one
 * compare-and-swap, repeated only when another thread put something in or
 * emptied the box in the same instant, and emptying is one exchange.  Since
 * nodes never leave one by one, a node that comes back while somebody else is
 * in the middle of putting his own does no harm (the usual "ABA" trap of
 * linked lists does not exist).
 *
 * Rules
 * -----
 *
 *    - A node is in at most one box at a time, and belongs to the box from
 *      handoff_put() until somebody has taken it.  The one who took it may do
 *      with it what he likes, including free it.
 *
 *    - handoff_take() returns the nodes in the order in which they were put.
 *      So what one thread puts in comes out in that thread's order, within one
 *      harvest and, with a single collector, from one harvest to the next.
 *
 *    - The list that was taken is private; read 'next' of a node before
 *      giving the node away.
 *
 *    - The box has no limit.  Whoever puts things in is responsible for a
 *      bound or for a count that somebody can see.
 *
 * Thread safety
 * -------------
 *
 * All functions but handoff_init() may be called by any number of threads at
 * the same time.  What a thread wrote before handoff_put() is visible to the
 * thread that takes the node.
 *
 * handoff_put() and handoff_is_empty() take part in the single total order of
 * sequentially consistent operations, so they can be half of a "put, then look
 * at your flag" against "set the flag, then look into the box" handshake.
 *
 * Usage
 * -----
 *
 *     struct job {
 *         struct handoff_node node;
 *         ...
 *     };
 *     static struct handoff jobs = HANDOFF_INITIALIZER;
 *
 *     handoff_put(&jobs, &job->node);
 *
 *     struct handoff_node *node, *next;
 *     for (node = handoff_take(&jobs); node; node = next) {
 *         struct job *job = CONTAINER_OF(node, struct job, node);
 *
 *         next = node->next;
 *         do_job(job);
 *         free(job);
 *     }
 */

#include <stdbool.h>
#include <stddef.h>
#include "ovs-atomic.h"

/* Embedded in what is handed over.  'next' belongs to whoever owns the node:
 * the thread that puts it, then the box, then the thread that took it. */
struct handoff_node {
    struct handoff_node *next;
};

/* 'newest' is the node that was put last, whose 'next' is the one before. */
struct handoff {
    ATOMIC(struct handoff_node *) newest;
};

#define HANDOFF_INITIALIZER { NULL }

static inline void
handoff_init(struct handoff *box)
{
    atomic_init(&box->newest, NULL);
}

/* True if there was nothing in 'box' at the time of the look. */
static inline bool
handoff_is_empty(const struct handoff *box)
{
    struct handoff_node *newest;

    /* Total order with the swap in handoff_put(), see "Thread safety". */
    atomic_read_explicit(&CONST_CAST(struct handoff *, box)->newest, &newest,
                         memory_order_seq_cst);
    return !newest;
}

/* Puts 'node', which the caller owns, into 'box'.  Returns true if 'box' was
 * empty. */
static inline bool
handoff_put(struct handoff *box, struct handoff_node *node)
{
    struct handoff_node *newest;

    atomic_read_relaxed(&box->newest, &newest);
    do {
        node->next = newest;
        /* The release side of this order pairs with the exchange in
         * handoff_take_newest_first(): the taker sees the node's contents. */
    } while (!atomic_compare_exchange_weak_explicit(&box->newest,
                                                    &newest, node,
                                                    memory_order_seq_cst,
                                                    memory_order_relaxed));
    return !newest;
}

/* Empties 'box' and returns what was in it, linked by 'next', the node that
 * was put last at the head.  NULL if there was nothing. */
static inline struct handoff_node *
handoff_take_newest_first(struct handoff *box)
{
    /* Acquire pairs with the swap in handoff_put(), and with those of all
     * nodes further down the list, whose swaps this one's release sequence
     * continues. */
    return atomic_exchange_explicit(&box->newest, NULL, memory_order_acquire);
}

/* As handoff_take_newest_first(), but in the order of handoff_put(). */
static inline struct handoff_node *
handoff_take(struct handoff *box)
{
    struct handoff_node *node = handoff_take_newest_first(box);
    struct handoff_node *oldest = NULL;

    while (node) {
        struct handoff_node *next = node->next;

        node->next = oldest;
        oldest = node;
        node = next;
    }
    return oldest;
}

#endif /* sync/handoff.h */
