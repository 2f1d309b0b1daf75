/* SPDX-License-Identifier: Apache-2.0 */

/* Sequence numbers to wait for, without a lock.
 *
 * The interface and its rules are those of Open vSwitch's "seq.h".  What this
 * implementation promises beyond them:
 *
 *    - seq_read() is a load.
 *    - seq_change() never blocks.  With nobody waiting it is one atomic
 *      addition and a load of the same cache line.  Otherwise it takes the
 *      waiters off the seq and writes a byte into the pipe of each.
 *    - Waiting and waking up touch nothing that other seqs share, and no
 *      memory is allocated for a seq that the thread has waited for before.
 *
 * How it works
 * ============
 *
 * A thread that wants to wait has a "ticket" for the seq, which lies in the
 * seq's box of waiters.  seq_change() adds to the value first and looks into
 * the box second; seq_wait() puts its ticket in, or marks the one that still
 * lies there, first, and looks at the value second.  All four steps are
 * sequentially consistent, so at least one of the two sees the other: no
 * wake-up is lost.  (tests/models/seq-wakeup.pml is the proof.)
 *
 * The state of a ticket says who may do what with it:
 *
 *        put into a box          owner woke up for another reason
 *    OUT ---------------> ARMED --------------------------------> IDLE
 *     ^                    | ^-------------------------------------'|
 *     |                    |        owner waits for it again        |
 *     +--------------------+----------------------------------------+
 *                  taken from the box by seq_change()
 *
 * A thread that wakes up leaves its tickets where they are and only disarms
 * them, since single nodes cannot leave a box.  So a thread has at most one
 * ticket in the box of a seq, and what accumulates is bounded by the seqs that
 * a thread has waited for and that never changed since.
 *
 * Lifetimes
 * =========
 *
 * seq_change() looks into the box after the new value is out, and a thread
 * that saw the new value may be destroying the seq by then.  Therefore the
 * memory of a seq always stays the memory of a seq: it goes to a pool and is
 * reused, but never freed.  A late look into the box of a recycled seq at
 * worst wakes up somebody who then finds nothing changed.
 *
 * A ticket holds a reference to the thread's pipe, for the same reason: the
 * thread may exit between the moment in which its ticket is taken and the
 * moment in which the byte is written. */

#include <config.h>

#include "seq.h"

#include <stdbool.h>

#include "coverage.h"
#include "hash.h"
#include "latch.h"
#include "openvswitch/hmap.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/thread.h"
#include "ovs-atomic.h"
#include "ovs-thread.h"
#include "sync/handoff.h"
#include "sync/sync-point.h"
#include "util.h"

COVERAGE_DEFINE(seq_change);

/* A new seq starts at a number that no other seq of this process has had: the
 * upper bits count the seqs made, the lower ones are for its changes.  At 10
 * million changes a second the lower bits last for almost two hours, and then
 * merely run on into the numbers of a seq that was made later. */
#define SEQ_CHANGE_BITS 36

struct seq {
    PADDED_MEMBERS(CACHE_LINE_SIZE,
        /* Written by any thread with an atomic addition, see seq_change(). */
        atomic_uint64_t value;

        /* Tickets of waiting threads.  Any thread puts and takes. */
        struct handoff waiters;

        struct seq *next_free;  /* While in 'pool', under its mutex. */
    );
};
BUILD_ASSERT_DECL(sizeof(struct seq) == CACHE_LINE_SIZE);

#define SEQS_PER_SLAB 63

struct seq_slab {
    struct seq seqs[SEQS_PER_SLAB];
    struct seq_slab *next;
};

/* Where seqs come from and go to.  Only creation and destruction get here. */
static struct ovs_mutex pool_mutex = OVS_MUTEX_INITIALIZER;
static struct seq *pool_free OVS_GUARDED_BY(pool_mutex);
static struct seq_slab *pool_slabs OVS_GUARDED_BY(pool_mutex);
static uint64_t pool_n_created OVS_GUARDED_BY(pool_mutex);

/* Serves seq_lock() and its relatives, and nothing else. */
static struct ovs_mutex group_mutex = OVS_MUTEX_INITIALIZER;

enum ticket_state {
    TICKET_OUT,                 /* In no box.  The owner's alone. */
    TICKET_ARMED,               /* In a box, the owner wants to be woken. */
    TICKET_IDLE,                /* In a box, the owner does not care. */
    TICKET_ORPHAN,              /* In a box, the owner is gone. */
};

/* The doorbell of a thread.  Outlives the thread while one of its tickets is
 * in a box or in the hands of a thread that wakes it up. */
struct doorbell {
    struct latch latch;
    atomic_uint refs;           /* The thread, and each ticket not OUT. */
};

/* One thread's standing in one seq's box. */
struct ticket {
    struct handoff_node box_node;   /* In 'seq->waiters' unless OUT. */

    /* "enum ticket_state".  Owner and taker both change it with atomic
     * operations; see ticket_arm(), ticket_disarm() and ticket_ring(). */
    atomic_uint state;

    /* Constant while not OUT. */
    struct doorbell *doorbell;
    struct seq *seq;

    /* Private to the owner. */
    struct hmap_node map_node;      /* In 'waiter->tickets', by 'seq'. */
    struct ticket *next_in_round;   /* In 'waiter->round'. */
    bool in_round;
};

/* A thread that has waited for a seq.  Private to that thread. */
struct waiter {
    struct doorbell *doorbell;
    struct hmap tickets;            /* Contains "struct ticket"s. */
    size_t sweep_at;                /* Sweep when 'tickets' has this many. */
    struct ticket *round;           /* Waited for since the last seq_woke(). */
    bool listening;                 /* This round polls the doorbell? */
};

#define SWEEP_MIN 32

static pthread_key_t waiter_key;

static void waiter_exit(void *);

static void
waiter_module_init(void)
{
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;

    if (ovsthread_once_start(&once)) {
        xpthread_key_create(&waiter_key, waiter_exit);
        ovsthread_once_done(&once);
    }
}

static struct waiter *
waiter_self(void)
{
    struct waiter *waiter;

    waiter_module_init();
    waiter = pthread_getspecific(waiter_key);
    if (!waiter) {
        struct doorbell *doorbell = xmalloc(sizeof *doorbell);

        latch_init(&doorbell->latch);
        atomic_init(&doorbell->refs, 1);

        waiter = xzalloc(sizeof *waiter);
        waiter->doorbell = doorbell;
        hmap_init(&waiter->tickets);
        waiter->sweep_at = SWEEP_MIN;
        xpthread_setspecific(waiter_key, waiter);
    }
    return waiter;
}

/* Owner. */
static void
doorbell_ref(struct doorbell *doorbell)
{
    unsigned int refs;

    /* Relaxed: handing the reference on publishes it. */
    atomic_add_relaxed(&doorbell->refs, 1, &refs);
}

static void
doorbell_unref(struct doorbell *doorbell)
{
    unsigned int refs;

    /* Each release pairs with the acquire of the last, who destroys. */
    atomic_sub_explicit(&doorbell->refs, 1, &refs, memory_order_acq_rel);
    if (refs == 1) {
        latch_destroy(&doorbell->latch);
        free(doorbell);
    }
}

/* Called by the thread that took 'ticket' from a box: wakes up the owner if he
 * wants to be woken, and gives him the ticket back. */
static void
ticket_ring(struct ticket *ticket)
{
    struct doorbell *doorbell = ticket->doorbell;
    unsigned int state;

    /* Release pairs with the owner's reads of 'state' in ticket_is_out() and
     * ticket_arm(): from here on the ticket is his.  Acquire pairs with
     * ticket_abandon(), whose owner's last words precede our free(). */
    state = atomic_exchange_explicit(&ticket->state, TICKET_OUT,
                                     memory_order_acq_rel);
    SYNC_POINT("ticket-back");
    if (state == TICKET_ARMED) {
        latch_set(&doorbell->latch);
    } else if (state == TICKET_ORPHAN) {
        free(ticket);
    }
    doorbell_unref(doorbell);
}

/* Takes all tickets out of the box of 'seq' and rings for each. */
static void
seq_ring_all(struct seq *seq)
{
    struct handoff_node *node, *next;

    for (node = handoff_take_newest_first(&seq->waiters); node; node = next) {
        next = node->next;
        SYNC_POINT("ticket-taken");
        ticket_ring(CONTAINER_OF(node, struct ticket, box_node));
    }
}

/* Owner: true if nobody else can have a pointer to 'ticket'. */
static bool
ticket_is_out(struct ticket *ticket)
{
    unsigned int state;

    /* Acquire pairs with the exchange in ticket_ring(). */
    atomic_read_explicit(&ticket->state, &state, memory_order_acquire);
    return state == TICKET_OUT;
}

/* Owner: makes sure that the ticket is in the box of its seq and ARMED.  The
 * caller must look at the value of the seq afterwards. */
static void
ticket_arm(struct ticket *ticket)
{
    unsigned int state = TICKET_IDLE;

    /* The success order is the first half of the handshake, "arm, then look
     * at the value", against "add to the value, then look into the box" of
     * seq_change().  Acquire on failure pairs with ticket_ring(). */
    if (atomic_compare_exchange_strong_explicit(&ticket->state, &state,
                                                TICKET_ARMED,
                                                memory_order_seq_cst,
                                                memory_order_acquire)
        || state == TICKET_ARMED) {
        return;
    }

    /* It is OUT and only ours.  The put publishes it, and is the first half of
     * the handshake here. */
    atomic_store_relaxed(&ticket->state, TICKET_ARMED);
    doorbell_ref(ticket->doorbell);
    handoff_put(&ticket->seq->waiters, &ticket->box_node);
}

/* Owner: no longer wants to be woken for 'ticket'. */
static void
ticket_disarm(struct ticket *ticket)
{
    unsigned int state = TICKET_ARMED;

    /* If the ticket was taken meanwhile it is OUT and stays so.  Nothing is
     * published here; acquire pairs with ticket_ring(). */
    atomic_compare_exchange_strong_explicit(&ticket->state, &state,
                                            TICKET_IDLE,
                                            memory_order_acquire,
                                            memory_order_acquire);
}

/* Owner: gets rid of 'ticket', wherever it is. */
static void
ticket_abandon(struct ticket *ticket)
{
    struct seq *seq = ticket->seq;
    unsigned int state;

    /* Release pairs with the exchange in ticket_ring(), which may free the
     * ticket; acquire the other way around. */
    state = atomic_exchange_explicit(&ticket->state, TICKET_ORPHAN,
                                     memory_order_acq_rel);
    if (state == TICKET_OUT) {
        free(ticket);
    } else {
        /* Empty the box, so that tickets of dead threads do not gather in a
         * seq that never changes.  The other threads in it wake up once for
         * nothing.  If somebody took our ticket a moment ago he frees it. */
        seq_ring_all(seq);
    }
}

/* Frees the tickets that came back and that were not needed since.  What is
 * in use keeps its place; the next sweep is due when there are twice as many,
 * so the cost per ticket made is constant. */
static void
waiter_sweep(struct waiter *waiter)
{
    struct ticket *ticket;

    HMAP_FOR_EACH_SAFE (ticket, map_node, &waiter->tickets) {
        if (!ticket->in_round && ticket_is_out(ticket)) {
            hmap_remove(&waiter->tickets, &ticket->map_node);
            free(ticket);
        }
    }
    waiter->sweep_at = MAX(SWEEP_MIN, 2 * hmap_count(&waiter->tickets));
}

static struct ticket *
waiter_get_ticket(struct waiter *waiter, struct seq *seq)
{
    uint32_t hash = hash_pointer(seq, 0);
    struct ticket *ticket;

    HMAP_FOR_EACH_WITH_HASH (ticket, map_node, hash, &waiter->tickets) {
        if (ticket->seq == seq) {
            return ticket;
        }
    }

    if (hmap_count(&waiter->tickets) >= waiter->sweep_at) {
        waiter_sweep(waiter);
    }

    ticket = xzalloc(sizeof *ticket);
    atomic_init(&ticket->state, TICKET_OUT);
    ticket->doorbell = waiter->doorbell;
    ticket->seq = seq;
    hmap_insert(&waiter->tickets, &ticket->map_node, hash);
    return ticket;
}

/* Ends the current round: disarms what was waited for. */
static void
waiter_end_round(struct waiter *waiter)
{
    struct ticket *ticket, *next;

    for (ticket = waiter->round; ticket; ticket = next) {
        next = ticket->next_in_round;
        ticket->in_round = false;
        ticket_disarm(ticket);
    }
    waiter->round = NULL;

    /* A thread that took one of the tickets before it was disarmed may still
     * write its byte after this, which costs one needless round. */
    if (waiter->listening) {
        waiter->listening = false;
        latch_poll(&waiter->doorbell->latch);
    }
}

/* Destructor of 'waiter_key'. */
static void
waiter_exit(void *waiter_)
{
    struct waiter *waiter = waiter_;
    struct ticket *ticket;

    HMAP_FOR_EACH_POP (ticket, map_node, &waiter->tickets) {
        ticket_abandon(ticket);
    }
    hmap_destroy(&waiter->tickets);
    doorbell_unref(waiter->doorbell);
    free(waiter);
}

/* Adds a slab of fresh seqs to the pool. */
static void
pool_grow(void)
    OVS_REQUIRES(pool_mutex)
{
    struct seq_slab *slab = xzalloc_cacheline(sizeof *slab);

    slab->next = pool_slabs;
    pool_slabs = slab;
    for (size_t i = 0; i < SEQS_PER_SLAB; i++) {
        struct seq *seq = &slab->seqs[i];

        atomic_init(&seq->value, 0);
        handoff_init(&seq->waiters);
        seq->next_free = pool_free;
        pool_free = seq;
    }
}

/* Creates and returns a seq, whose number differs from all that this and
 * other seqs have had, and is never 0.  The caller must eventually destroy it
 * with seq_destroy(). */
struct seq *
seq_create(void)
    OVS_EXCLUDED(pool_mutex)
{
    struct seq *seq;

    COVERAGE_INC(seq_change);

    ovs_mutex_lock(&pool_mutex);
    if (!pool_free) {
        pool_grow();
    }
    seq = pool_free;
    pool_free = seq->next_free;
    seq->next_free = NULL;
    do {
        pool_n_created++;
    } while (!(pool_n_created << SEQ_CHANGE_BITS));

    /* Whoever hands out the pointer publishes the value with it. */
    atomic_store_relaxed(&seq->value, pool_n_created << SEQ_CHANGE_BITS);
    ovs_mutex_unlock(&pool_mutex);

    return seq;
}

/* Destroys 'seq' and wakes up whoever waits for it.  A seq_change() whose new
 * number the caller has seen may still be on its way out of that function, but
 * nobody may begin to use 'seq'. */
void
seq_destroy(struct seq *seq)
    OVS_EXCLUDED(pool_mutex)
{
    seq_ring_all(seq);

    ovs_mutex_lock(&pool_mutex);
    seq->next_free = pool_free;
    pool_free = seq;
    ovs_mutex_unlock(&pool_mutex);
}

/* Gives 'seq' a new number and wakes up whoever waits for it.  Never
 * blocks. */
void
seq_change(struct seq *seq)
{
    uint64_t old;

    COVERAGE_INC(seq_change);

    /* As a release it pairs with seq_read().  Sequentially consistent, and
     * before the look into the box, it is the other half of the handshake with
     * seq_wait_at(). */
    atomic_add_explicit(&seq->value, 1, &old, memory_order_seq_cst);
    SYNC_POINT("seq-changed");
    if (OVS_UNLIKELY(!handoff_is_empty(&seq->waiters))) {
        seq_ring_all(seq);
    }
}

/* Returns the current number of 'seq'. */
uint64_t
seq_read(const struct seq *seq)
{
    uint64_t value;

    /* Acquire pairs with the addition in seq_change(). */
    atomic_read_explicit(&CONST_CAST(struct seq *, seq)->value, &value,
                         memory_order_acquire);
    return value;
}

/* Makes the next poll_block() of this thread return when the number of 'seq'
 * is not, or no longer, 'value'.  'where' is the caller's place in the source,
 * for the log. */
void
seq_wait_at(const struct seq *seq_, uint64_t value, const char *where)
{
    struct seq *seq = CONST_CAST(struct seq *, seq_);
    struct waiter *waiter;
    struct ticket *ticket;
    uint64_t now;

    if (seq_read(seq) != value) {
        poll_immediate_wake_at(where);
        return;
    }

    waiter = waiter_self();
    ticket = waiter_get_ticket(waiter, seq);
    ticket_arm(ticket);
    if (!ticket->in_round) {
        ticket->in_round = true;
        ticket->next_in_round = waiter->round;
        waiter->round = ticket;
    }

    SYNC_POINT("ticket-armed");

    /* Second half of the handshake, see ticket_arm(). */
    atomic_read_explicit(&seq->value, &now, memory_order_seq_cst);
    if (now != value) {
        poll_immediate_wake_at(where);
    }
    if (!waiter->listening) {
        waiter->listening = true;
        latch_wait_at(&waiter->doorbell->latch, where);
    }
}

/* Called by poll_block() before it returns: ends all waiting of this
 * thread. */
void
seq_woke(void)
{
    struct waiter *waiter;

    waiter_module_init();
    waiter = pthread_getspecific(waiter_key);
    if (waiter && (waiter->round || waiter->listening)) {
        waiter_end_round(waiter);
    }
}

/* The following belong to the interface, but seq_change() does not need them:
 * the lock only keeps its own holders apart, and a change under it is a change
 * like any other. */

void
seq_lock(void)
    OVS_ACQUIRES(group_mutex)
{
    ovs_mutex_lock(&group_mutex);
}

/* Returns 0 if the lock was taken, EBUSY if another thread has it. */
int
seq_try_lock(void)
    OVS_TRY_LOCK(0, group_mutex)
{
    return ovs_mutex_trylock(&group_mutex);
}

void
seq_unlock(void)
    OVS_RELEASES(group_mutex)
{
    ovs_mutex_unlock(&group_mutex);
}

void
seq_change_protected(struct seq *seq)
{
    seq_change(seq);
}
