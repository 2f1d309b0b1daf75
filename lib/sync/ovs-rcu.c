/* SPDX-License-Identifier: Apache-2.0 */

/* Read-copy-update by quiescent states.
 *
 * The interface and its rules are those of Open vSwitch's "ovs-rcu.h"; what
 * this implementation adds to them is that a reader pays one store.
 *
 * The clock
 * =========
 *
 * There is one counter, the epoch.  Each thread shows, in a cache line of its
 * own, the epoch that it saw in its latest quiescent state, or 0 while it is
 * quiescent for a longer time ("away").  So a quiescent state is a load of the
 * epoch and a release store, and tells nobody.
 *
 * Whoever waits for a grace period advances the epoch, and looks at what the
 * threads show until each shows 0 or at least the new epoch.  He sleeps in
 * between, for an eighth of the time that he has waited already, so that the
 * grace period is noticed at most so much late, and nobody has to wake him.
 *
 * Why this is enough (tests/models/grace-period.pml checks it):
 *
 *    - What a reader did before its quiescent state is over when it is seen:
 *      its release store pairs with the acquire load of the one who waits.
 *
 *    - What a reader does after it sees the removal that came before the epoch
 *      was advanced: the advance is a release, the reader's load of the epoch
 *      an acquire.
 *
 *    - A thread that comes back must either be seen, or see.  Its store of
 *      'shown' could otherwise hide in the store buffer behind its first
 *      reads.  So both it and the one who waits pass the gate, an atomic
 *      addition to one common counter: the second to pass sees what the first
 *      did before.
 *
 * Callbacks
 * =========
 *
 * A thread collects its callbacks in a parcel.  It puts the parcel into a
 * common hand-off box in its next quiescent state, or when it is full, which
 * is safe at any time since the grace period begins only after a parcel was
 * taken out.  The background thread "urcu" takes all parcels, waits for one
 * grace period, and calls the callbacks.  The order of each thread is kept:
 * the box keeps it, and there is only one collector.
 *
 * ovsrcu_quiesce() and ovsrcu_quiesce_start() wake up urcu if it sleeps.
 * ovsrcu_try_quiesce(), for threads that poll and must not make a system call,
 * does not: while there are such threads urcu looks into the box by itself
 * every POLLED_BOX_MS.  Otherwise it sleeps until there is something to do.
 *
 * A process that has only one thread needs none of it: there the callbacks
 * are called in the quiescent state itself. */

#include <config.h>

#include "ovs-rcu.h"

#include <sched.h>
#include <time.h>

#include "fatal-signal.h"
#include "openvswitch/list.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/thread.h"
#include "openvswitch/vlog.h"
#include "ovs-atomic.h"
#include "ovs-thread.h"
#include "seq.h"
#include "sync/handoff.h"
#include "sync/rcu-stats.h"
#include "sync/sync-point.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(ovs_rcu);

/* How often urcu looks for parcels that nobody announced, in milliseconds. */
#define POLLED_BOX_MS 50

/* For so long a thread in a hurry looks at the readers again and again before
 * it sleeps, and bounds for the sleep between two looks, in nanoseconds. */
#define LOOK_NS (10 * 1000)
#define NAP_MIN_NS (20 * 1000)
#define NAP_MAX_NS (10 * 1000 * 1000)

/* A reader that takes longer than this is named in the log, and again each
 * time that the wait has doubled. */
#define STALL_MS 1000

#define AWAY 0                  /* In 'shown'; not an epoch. */

struct callback {
    void (*function)(void *aux);
    void *aux;
};

/* Callbacks of one thread, in order.  Private to the thread until it is put
 * into the box, then to whoever takes it out. */
#define PARCEL_SIZE 30

struct parcel {
    struct handoff_node node;
    struct reader *reader;      /* Whose callbacks they are; a reference. */
    unsigned int n;
    struct callback callbacks[PARCEL_SIZE];
};

/* What RCU knows of a thread, from its first use of RCU until it exits; the
 * memory stays until its last callback has been called. */
struct reader {
    /* Written by the thread itself, read by those who wait for a grace
     * period.  AWAY or an epoch; see the top of this file for the orders. */
    PADDED_MEMBERS(CACHE_LINE_SIZE,
        atomic_uint64_t shown;
    );

    /* The thread's alone. */
    struct parcel *parcel;      /* Being filled, or NULL. */
    bool unannounced;           /* Put into the box without telling urcu. */
    bool polls;                 /* Has called ovsrcu_try_quiesce(). */

    /* Written by the thread, read by rcu_stats_get(), relaxed. */
    atomic_uint64_t n_postponed;

    struct ovs_list list_node;  /* In 'readers', under its mutex. */
    char name[16];              /* Changed and read under the same mutex. */
    unsigned int thread_id;     /* ovsthread_id_self().  Constant. */

    /* Changed by those who call, and so not beside what the thread uses all
     * the time. */
    PADDED_MEMBERS(CACHE_LINE_SIZE,
        atomic_uint64_t n_called;   /* Of 'n_postponed'.  Relaxed. */
        atomic_uint32_t n_refs; /* The thread's, and one per parcel.  Taken by
                                 * the thread, relaxed; see reader_unref(). */
    );
};

/* Each has a line of its own: the epoch is read in every quiescent state, and
 * the gate and the box are written at other times. */
static struct {
    /* Advanced by those who wait, see grace_begin(). */
    PADDED_MEMBERS(CACHE_LINE_SIZE, atomic_uint64_t epoch;);

    /* Passed by those who wait and those who come back. */
    PADDED_MEMBERS(CACHE_LINE_SIZE, atomic_uint64_t gate;);

    /* Parcels on their way from any thread to the one that calls. */
    PADDED_MEMBERS(CACHE_LINE_SIZE, struct handoff box;);
} rcu OVS_ALIGNED_VAR(CACHE_LINE_SIZE) = {
    .epoch = 1,
};

/* All threads that use RCU.  Taken when a thread comes, goes or is renamed,
 * and for a look at all. */
static struct ovs_mutex readers_mutex = OVS_MUTEX_INITIALIZER;
static struct ovs_list readers OVS_GUARDED_BY(readers_mutex)
    = OVS_LIST_INITIALIZER(&readers);
static uint64_t n_postponed_by_gone OVS_GUARDED_BY(readers_mutex);

/* The background thread.  'urcu_state' is written under 'urcu_mutex'; readers
 * without the mutex look at it relaxed, as a hint that it is worth taking. */
enum urcu_state {
    URCU_NONE,                  /* Not started yet. */
    URCU_RUNNING,
    URCU_STOPPED,               /* By ovsrcu_exit(), for good. */
};
static struct ovs_mutex urcu_mutex = OVS_MUTEX_INITIALIZER;
static atomic_int urcu_state = URCU_NONE;
static pthread_t urcu_thread OVS_GUARDED_BY(urcu_mutex);

/* Changed to wake up urcu.  Created before the first reader, then constant. */
static struct seq *urcu_seq;

/* Number of live readers that poll.  Relaxed: a change of 'urcu_seq' follows
 * when it grows. */
static atomic_count n_polling = ATOMIC_COUNT_INIT(0);

/* Figures, relaxed. */
static atomic_uint64_t n_called;
static atomic_uint64_t n_grace_periods;
static atomic_uint64_t longest_grace_ns;

/* The calling thread's record, or NULL. */
DEFINE_STATIC_PER_THREAD_DATA(struct reader *, self, NULL);
static pthread_key_t self_key;  /* Only for its destructor. */

static void reader_exit(void *);
static void *urcu_main(void *);

static void
rcu_module_init(void)
{
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;

    if (ovsthread_once_start(&once)) {
        /* Must happen while there is one thread, and the main thread gets
         * here before it makes another. */
        fatal_signal_init();
        xpthread_key_create(&self_key, reader_exit);
        urcu_seq = seq_create();
        ovsthread_once_done(&once);
    }
}

static long long int
monotonic_ns(void)
{
    struct timespec ts;

    /* Not time_msec(), which stands still or jumps when a test says so. */
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Readers: quiescent states. */

static bool
reader_is_away(struct reader *reader)
{
    uint64_t shown;

    atomic_read_relaxed(&reader->shown, &shown); /* Our own store. */
    return shown == AWAY;
}

/* The quiescent state proper.  'reader' is the calling thread and not away. */
static inline void
reader_show(struct reader *reader)
{
    uint64_t epoch;

    /* Acquire pairs with the advance in grace_begin(): what we read from now
     * on comes after what was removed before it. */
    atomic_read_explicit(&rcu.epoch, &epoch, memory_order_acquire);

    SYNC_POINT("epoch-read");

    /* Release pairs with grace_is_over(): what we read until now is over. */
    atomic_store_explicit(&reader->shown, epoch, memory_order_release);
}

/* The calling thread stops being quiescent. */
static void
reader_come_back(struct reader *reader)
{
    uint64_t pass;

    reader_show(reader);
    SYNC_POINT("came-back");

    /* Pairs with the passing in grace_begin().  If we are first, they see that
     * we are here.  If they are, we see what was removed before. */
    atomic_add_explicit(&rcu.gate, 1, &pass, memory_order_acq_rel);
}

static void
reader_leave(struct reader *reader)
{
    /* Release pairs with grace_is_over(), as in reader_show(). */
    atomic_store_explicit(&reader->shown, AWAY, memory_order_release);
}

/* Copies the name under which the log would complain about this thread. */
static void
reader_update_name(struct reader *reader)
    OVS_EXCLUDED(readers_mutex)
{
    const char *name = get_subprogram_name();

    name = name[0] ? name : "main";

    /* Only we write it, so we may compare without the mutex. */
    if (OVS_UNLIKELY(strncmp(name, reader->name, sizeof reader->name - 1))) {
        ovs_mutex_lock(&readers_mutex);
        ovs_strlcpy(reader->name, name, sizeof reader->name);
        ovs_mutex_unlock(&readers_mutex);
    }
}

static struct reader *
reader_new(void)
    OVS_EXCLUDED(readers_mutex)
{
    struct reader *reader = xzalloc_cacheline(sizeof *reader);

    rcu_module_init();

    atomic_init(&reader->shown, AWAY);
    atomic_init(&reader->n_postponed, 0);
    atomic_init(&reader->n_called, 0);
    atomic_init(&reader->n_refs, 1);
    reader->thread_id = ovsthread_id_self();
    reader_update_name(reader);

    ovs_mutex_lock(&readers_mutex);
    ovs_list_push_back(&readers, &reader->list_node);
    ovs_mutex_unlock(&readers_mutex);

    *self_get() = reader;
    xpthread_setspecific(self_key, reader);
    return reader;
}

/* Returns the calling thread's record, and makes it active if it was not. */
static struct reader *
reader_active(void)
{
    struct reader *reader = *self_get();

    if (OVS_UNLIKELY(!reader)) {
        reader = reader_new();
    }
    if (reader_is_away(reader)) {
        reader_come_back(reader);
    }
    return reader;
}

/* Puts the callbacks of 'reader', if there are any, into the box. */
static void
reader_hand_over(struct reader *reader)
{
    struct parcel *parcel = reader->parcel;

    if (parcel) {
        reader->parcel = NULL;
        reader->unannounced = true;
        handoff_put(&rcu.box, &parcel->node);
    }
}

/* Wakes up urcu if 'reader' has put something into the box. */
static void
reader_announce(struct reader *reader)
{
    if (reader->unannounced) {
        reader->unannounced = false;
        seq_change(urcu_seq);
    }
}

static void
reader_unref(struct reader *reader)
{
    uint32_t n;

    /* As an acquire it pairs with the release of the same by all others, who
     * are done with 'reader'. */
    atomic_sub_explicit(&reader->n_refs, 1, &n, memory_order_acq_rel);
    if (n == 1) {
        free_cacheline(reader);
    }
}

/* Destructor of 'self_key'. */
static void
reader_exit(void *reader_)
    OVS_EXCLUDED(readers_mutex)
{
    struct reader *reader = reader_;
    uint64_t n;

    *self_get() = NULL;
    reader_hand_over(reader);
    if (reader->polls) {
        atomic_count_dec(&n_polling);
    }
    reader_announce(reader);

    ovs_mutex_lock(&readers_mutex);
    atomic_read_relaxed(&reader->n_postponed, &n);
    n_postponed_by_gone += n;
    ovs_list_remove(&reader->list_node);
    ovs_mutex_unlock(&readers_mutex);

    reader_unref(reader);
}

/* Those who wait: grace periods. */

/* Begins a grace period and returns its epoch, to be given to
 * grace_is_over(). */
static uint64_t
grace_begin(void)
{
    uint64_t epoch, pass;

    /* Release pairs with reader_show(). */
    atomic_add_explicit(&rcu.epoch, 1, &epoch, memory_order_acq_rel);

    SYNC_POINT("grace-begun");

    /* Pairs with the passing in reader_come_back(). */
    atomic_add_explicit(&rcu.gate, 1, &pass, memory_order_acq_rel);

    return epoch + 1;
}

/* Returns true if no thread is left that has been active since before
 * grace_begin() returned 'epoch'.  Otherwise copies the name of one into the
 * 'name_size' bytes of 'name'. */
static bool
grace_is_over(uint64_t epoch, char *name, size_t name_size)
    OVS_EXCLUDED(readers_mutex)
{
    const struct reader *reader;
    bool over = true;

    ovs_mutex_lock(&readers_mutex);
    LIST_FOR_EACH (reader, list_node, &readers) {
        uint64_t shown;

        /* Acquire pairs with reader_show() and reader_leave(). */
        atomic_read_explicit(&CONST_CAST(struct reader *, reader)->shown,
                             &shown, memory_order_acquire);
        if (shown != AWAY && shown < epoch) {
            ovs_strlcpy(name, reader->name, name_size);
            over = false;
            break;
        }
    }
    ovs_mutex_unlock(&readers_mutex);

    return over;
}

static void
grace_account(long long int elapsed_ns)
{
    uint64_t longest, n;

    atomic_add_relaxed(&n_grace_periods, 1, &n);
    atomic_read_relaxed(&longest_grace_ns, &longest);
    while (elapsed_ns > longest
           && !atomic_compare_exchange_weak_relaxed(&longest_grace_ns,
                                                    &longest, elapsed_ns)) {
        continue;
    }
}

/* Sleeps between two looks, 'elapsed' nanoseconds after the first. */
static void
grace_nap(long long int elapsed, bool hurry)
{
    long long int ns = MIN(MAX(elapsed / 8, NAP_MIN_NS), NAP_MAX_NS);

    if (hurry && elapsed < LOOK_NS) {
        sched_yield();
    } else if (ns < 1000000) {
        struct timespec ts = { .tv_nsec = ns };

        nanosleep(&ts, NULL);
    } else {
        /* A thread that waits for long does what every waiting thread does,
         * e.g. notices that the process has been told to end. */
        poll_timer_wait(ns / 1000000);
        poll_block();
    }
}

/* Waits for a grace period.  The calling thread must be quiescent, or it waits
 * for itself.  'hurry' says that somebody waits for it to return. */
static void
grace_wait(bool hurry)
{
    uint64_t epoch = grace_begin();
    long long int start = monotonic_ns();
    unsigned int threshold = STALL_MS;
    long long int elapsed = 0;
    char name[16];

    while (!grace_is_over(epoch, name, sizeof name)) {
        grace_nap(elapsed, hurry);

        elapsed = monotonic_ns() - start;
        if (elapsed / 1000000 >= threshold) {
            VLOG_WARN("blocked %u ms waiting for %s to quiesce",
                      (unsigned int) (elapsed / 1000000), name);
            threshold *= 2;
        }
    }
    grace_account(elapsed);
}

/* Callbacks. */

static void OVS_NO_SANITIZE_FUNCTION
parcel_call(struct parcel *parcel)
{
    uint64_t n;

    for (unsigned int i = 0; i < parcel->n; i++) {
        struct reader *reader = *self_get();

        parcel->callbacks[i].function(parcel->callbacks[i].aux);

        /* No callback leaves anything for the next, so between them is a
         * quiescent state, and a long row of them holds up nobody. */
        if (reader && !reader_is_away(reader)) {
            reader_show(reader);
        }
    }
    atomic_add_relaxed(&n_called, parcel->n, &n);
    atomic_add_relaxed(&parcel->reader->n_called, parcel->n, &n);
    reader_unref(parcel->reader);
    free(parcel);
}

static void
synchronize(bool hurry)
{
    if (!single_threaded()) {
        ovsrcu_quiesce_start();
        grace_wait(hurry);
        ovsrcu_quiesce_end();
    }
}

/* Takes all parcels out of the box, waits for a grace period unless this is
 * the only thread, and calls what is in them.  Returns false if there was
 * nothing.  Only one thread at a time may get here: the only one, urcu, or the
 * one that has stopped urcu. */
static bool
call_postponed(void)
{
    struct handoff_node *node, *next;

    node = handoff_take(&rcu.box);
    if (!node) {
        return false;
    }
    synchronize(false);         /* The longer, the more in one go. */

    for (; node; node = next) {
        next = node->next;
        parcel_call(CONTAINER_OF(node, struct parcel, node));
    }
    return true;
}

/* Makes sure that somebody calls the callbacks that were handed over: calls
 * them itself in a process with one thread, else starts urcu. */
static void
ensure_callee(void)
    OVS_EXCLUDED(urcu_mutex)
{
    int state;

    atomic_read_relaxed(&urcu_state, &state);
    if (OVS_LIKELY(state != URCU_NONE)) {
        return;
    }

    if (single_threaded()) {
        static bool calling;    /* One thread, so it needs no lock. */

        /* If a callback is quiescent, the rest is still to be called before
         * what that one has postponed. */
        if (!calling) {
            calling = true;
            call_postponed();
            calling = false;
        }
        return;
    }

    rcu_module_init();
    ovs_mutex_lock(&urcu_mutex);
    atomic_read_relaxed(&urcu_state, &state);
    if (state == URCU_NONE) {
        atomic_store_relaxed(&urcu_state, URCU_RUNNING);
        urcu_thread = ovs_thread_create("urcu", urcu_main, NULL);
    }
    ovs_mutex_unlock(&urcu_mutex);
}

static bool
urcu_is_stopped(void)
{
    int state;

    /* Set before 'urcu_seq' changes, whose acquire in seq_read() covers it. */
    atomic_read_relaxed(&urcu_state, &state);
    return state == URCU_STOPPED;
}

static void *
urcu_main(void *aux OVS_UNUSED)
{
    for (;;) {
        uint64_t seqno = seq_read(urcu_seq);

        if (urcu_is_stopped()) {
            return NULL;
        }

        /* What callbacks postpone is ours to call as well. */
        reader_hand_over(reader_active());
        if (!call_postponed()) {
            if (atomic_count_get(&n_polling)) {
                poll_timer_wait(POLLED_BOX_MS);
            }
            seq_wait(urcu_seq, seqno);
            poll_block();
        }
    }
}

/* The interface, in the order of "ovs-rcu.h". */

/* Calls 'function' with 'aux' after a grace period, after the callbacks that
 * this thread has postponed before. */
void
ovsrcu_postpone__(void (*function)(void *aux), void *aux)
{
    struct reader *reader = reader_active();
    struct parcel *parcel = reader->parcel;
    uint64_t n;

    if (!parcel) {
        parcel = reader->parcel = xmalloc(sizeof *parcel);
        atomic_add_relaxed(&reader->n_refs, 1, &n);
        parcel->reader = reader;
        parcel->n = 0;
    }
    parcel->callbacks[parcel->n].function = function;
    parcel->callbacks[parcel->n].aux = aux;
    if (++parcel->n == PARCEL_SIZE) {
        /* urcu will be told in our next quiescent state, without which the
         * callbacks cannot be called anyway. */
        reader_hand_over(reader);
    }

    atomic_read_relaxed(&reader->n_postponed, &n);
    atomic_store_relaxed(&reader->n_postponed, n + 1);
}

/* Begins a time in which this thread is quiescent. */
void
ovsrcu_quiesce_start(void)
{
    struct reader *reader = *self_get();

    if (reader) {
        /* Handed over first: whoever sees us away knows that we have nothing
         * left.  ovsrcu_barrier() relies on it. */
        reader_hand_over(reader);
        reader_leave(reader);
        reader_announce(reader);
    }
    ensure_callee();
}

/* Ends such a time.  They do not nest. */
void
ovsrcu_quiesce_end(void)
{
    reader_update_name(reader_active());
}

/* A momentary quiescent state.  The thread is active afterwards. */
void
ovsrcu_quiesce(void)
{
    struct reader *reader = reader_active();

    reader_hand_over(reader);
    SYNC_POINT("handed-over");
    reader_show(reader);
    reader_announce(reader);
    ensure_callee();
}

/* ovsrcu_try_quiesce() for the first time, or with something to hand over. */
static void
try_quiesce_slowly(void)
{
    struct reader *reader = reader_active();

    if (!reader->polls) {
        reader->polls = true;
        atomic_count_inc(&n_polling);
        seq_change(urcu_seq);   /* Makes urcu notice 'n_polling'. */
    }
    reader_hand_over(reader);
    reader_show(reader);
    if (single_threaded()) {
        ensure_callee();
    }
}

/* A momentary quiescent state for a thread that polls: takes no lock and makes
 * no system call (but for memory the first time).  Never fails: returns 0.
 *
 * Does not start urcu, which would then run on the CPUs of this thread. */
int
ovsrcu_try_quiesce(void)
{
    struct reader *reader = *self_get();

    if (OVS_LIKELY(reader && reader->polls && !reader->parcel
                   && !reader_is_away(reader))) {
        reader_show(reader);
    } else {
        try_quiesce_slowly();
    }
    return 0;
}

/* Returns true if this thread is between ovsrcu_quiesce_start() and
 * ovsrcu_quiesce_end(), or has not used RCU yet. */
bool
ovsrcu_is_quiescent(void)
{
    struct reader *reader = *self_get();

    return !reader || reader_is_away(reader);
}

/* Waits until every thread has been quiescent at least once.  The calling
 * thread is quiescent meanwhile and active afterwards. */
void
ovsrcu_synchronize(void)
{
    synchronize(true);
}

/* Stops urcu for good and calls the callbacks that have been handed over, and
 * those that these postpone in turn, so that a process that is about to end
 * frees what it had.  Other threads should be gone. */
void
ovsrcu_exit(void)
    OVS_EXCLUDED(urcu_mutex)
{
    bool running = false;
    pthread_t thread;

    if (!single_threaded()) {
        int state;

        ovs_mutex_lock(&urcu_mutex);
        atomic_read_relaxed(&urcu_state, &state);
        running = state == URCU_RUNNING;
        thread = urcu_thread;
        atomic_store_relaxed(&urcu_state, URCU_STOPPED);
        ovs_mutex_unlock(&urcu_mutex);
    }
    if (running) {
        seq_change(urcu_seq);
        ovsrcu_quiesce_start(); /* It may be waiting for us. */
        xpthread_join(thread, NULL);
        ovsrcu_quiesce_end();
    }

    /* Each round may postpone more.  A fault that does so forever must not
     * keep the process from ending. */
    for (int i = 0; i < 8; i++) {
        ovsrcu_synchronize();
        reader_hand_over(reader_active());
        if (!call_postponed()) {
            break;
        }
    }
}

static void
barrier_reached(void *seq)
{
    seq_change(seq);
}

/* Waits until all callbacks that any thread has postponed before this call
 * have returned.  Must not be called by a callback. */
void
ovsrcu_barrier(void)
{
    struct seq *reached = seq_create();
    uint64_t before = seq_read(reached);

    /* A thread hands over before it shows a quiescent state, so now
     * everything is in the box or out of it, and ours goes behind. */
    ovsrcu_synchronize();
    ovsrcu_postpone__(barrier_reached, reached);

    while (seq_read(reached) == before) {
        if (urcu_is_stopped()) {
            reader_hand_over(reader_active());
            call_postponed();
        } else {
            /* Includes the quiescent state that hands it over. */
            seq_wait(reached, before);
            poll_block();
        }
    }
    seq_destroy(reached);
}

/* Figures. */

/* Fills 'stats'. */
void
rcu_stats_get(struct rcu_stats *stats)
    OVS_EXCLUDED(readers_mutex)
{
    struct reader *reader;

    memset(stats, 0, sizeof *stats);
    atomic_read_relaxed(&n_called, &stats->n_called);
    atomic_read_relaxed(&n_grace_periods, &stats->n_grace_periods);
    atomic_read_relaxed(&longest_grace_ns, &stats->longest_grace_us);
    stats->longest_grace_us /= 1000;

    ovs_mutex_lock(&readers_mutex);
    stats->n_postponed = n_postponed_by_gone;
    LIST_FOR_EACH (reader, list_node, &readers) {
        uint64_t shown, n;

        atomic_read_relaxed(&reader->n_postponed, &n);
        atomic_read_relaxed(&reader->shown, &shown);
        stats->n_postponed += n;
        stats->n_threads++;
        stats->n_active += shown != AWAY;
    }
    ovs_mutex_unlock(&readers_mutex);
}

bool
rcu_stats_get_thread(unsigned int thread_id, struct rcu_thread_stats *stats)
    OVS_EXCLUDED(readers_mutex)
{
    struct reader *reader;
    bool found = false;

    memset(stats, 0, sizeof *stats);
    ovs_mutex_lock(&readers_mutex);
    LIST_FOR_EACH (reader, list_node, &readers) {
        if (reader->thread_id == thread_id) {
            uint64_t shown, called;

            atomic_read_relaxed(&reader->n_called, &called);
            atomic_read_relaxed(&reader->n_postponed, &stats->n_postponed);
            atomic_read_relaxed(&reader->shown, &shown);
            /* Two numbers that move: the older may be the larger. */
            stats->n_called = MIN(called, stats->n_postponed);
            stats->active = shown != AWAY;
            found = true;
            break;
        }
    }
    ovs_mutex_unlock(&readers_mutex);
    return found;
}

unsigned int
rcu_stats_self_pending(void)
{
    struct reader *reader = *self_get();

    return reader && reader->parcel ? reader->parcel->n : 0;
}
