/* SPDX-License-Identifier: Apache-2.0 */

/* Tests lib/sync/seq.c, of which it includes the source: some cases hold a
 * thread between two steps, others count what lies in a box. */

#include <config.h>

#include <errno.h>

#include "stop-point.h"
#include "sync/seq.c"

#include "random.h"
#include "timeval.h"
#include "unit.h"

#ifdef __SANITIZE_THREAD__
#define SLOWDOWN 4
#else
#define SLOWDOWN 1
#endif

/* Longer than any wake-up takes on a busy machine. */
#define LONG_MS 10000

/* Blocks until something that was registered before happens, and returns the
 * milliseconds it took; LONG_MS or more says that nothing happened. */
static long long int
block(long long int limit_ms)
{
    long long int start = time_msec();

    poll_timer_wait(limit_ms);
    poll_block();
    return time_msec() - start;
}

/* Tickets in the box of 'seq'.  No other thread may be at it. */
static size_t
count_box(const struct seq *seq)
{
    struct handoff_node *node;
    size_t n = 0;

    atomic_read_explicit(&CONST_CAST(struct seq *, seq)->waiters.newest, &node,
                         memory_order_acquire);
    for (; node; node = node->next) {
        n++;
    }
    return n;
}

static size_t
count_own_tickets(void)
{
    return hmap_count(&waiter_self()->tickets);
}

static unsigned int
box_state(const struct seq *seq)
{
    struct handoff_node *node;
    unsigned int state;

    atomic_read_explicit(&CONST_CAST(struct seq *, seq)->waiters.newest, &node,
                         memory_order_acquire);
    CHECK(node != NULL);
    atomic_read_relaxed(&CONTAINER_OF(node, struct ticket, box_node)->state,
                        &state);
    return state;
}

static void
test_numbers(void)
{
    struct seq *a = seq_create();
    struct seq *b = seq_create();
    uint64_t newest;

    CHECK_UINT(seq_read(a), !=, 0);
    CHECK_UINT(seq_read(b), >, seq_read(a));

    newest = seq_read(b);
    for (int i = 0; i < 1000; i++) {
        uint64_t before = seq_read(a);

        seq_change(a);
        CHECK_UINT(seq_read(a), >, before);
    }
    CHECK_UINT(seq_read(b), ==, newest);

    /* The memory comes back, its numbers do not. */
    for (int i = 0; i < 1000; i++) {
        struct seq *again;

        seq_change(b);
        newest = seq_read(b);
        seq_destroy(b);
        again = seq_create();
        CHECK(again == b);
        CHECK_UINT(seq_read(again), >, newest);
        b = again;
    }
    seq_destroy(a);
    seq_destroy(b);
}

static void
test_no_number_is_zero(void)
{
    uint64_t saved;
    struct seq *seq;

    ovs_mutex_lock(&pool_mutex);
    saved = pool_n_created;
    pool_n_created = (UINT64_C(1) << (64 - SEQ_CHANGE_BITS)) - 1;
    ovs_mutex_unlock(&pool_mutex);

    seq = seq_create();
    CHECK_UINT(seq_read(seq), !=, 0);
    seq_destroy(seq);

    ovs_mutex_lock(&pool_mutex);
    pool_n_created = saved;
    ovs_mutex_unlock(&pool_mutex);
}

static void
test_changed_before_wait(void)
{
    struct seq *seq = seq_create();
    uint64_t before = seq_read(seq);

    seq_change(seq);
    seq_wait(seq, before);
    CHECK_INT(block(LONG_MS), <, LONG_MS);
    CHECK_INT(count_box(seq), ==, 0);
    seq_destroy(seq);
}

static void
test_two_numbers_in_one_round(void)
{
    struct seq *seq = seq_create();
    uint64_t before = seq_read(seq);

    seq_wait(seq, before);
    seq_change(seq);
    seq_wait(seq, seq_read(seq));
    CHECK_INT(block(LONG_MS), <, LONG_MS);

    /* Both are over. */
    CHECK_INT(count_box(seq), ==, 1);
    CHECK_INT(box_state(seq), ==, TICKET_IDLE);
    seq_destroy(seq);
}

static void
test_unchanged_blocks(void)
{
    struct seq *seq = seq_create();

    for (int i = 0; i < 3; i++) {
        seq_wait(seq, seq_read(seq));
        CHECK_INT(block(20), >=, 20);
    }
    CHECK_INT(count_box(seq), ==, 1);
    seq_destroy(seq);
}

static void
test_no_late_wakeup(void)
{
    struct seq *seq = seq_create();
    struct seq *other = seq_create();

    /* Wake up for another reason. */
    seq_wait(seq, seq_read(seq));
    poll_immediate_wake();
    poll_block();

    /* So this does not concern us. */
    seq_change(seq);
    seq_wait(other, seq_read(other));
    CHECK_INT(block(30), >=, 30);

    seq_destroy(seq);
    seq_destroy(other);
}

static void
test_tickets_are_reused(void)
{
    enum { N = 100 };
    struct seq *seqs[N];
    size_t n_tickets;

    for (int i = 0; i < N; i++) {
        seqs[i] = seq_create();
        seq_wait(seqs[i], seq_read(seqs[i]));
    }
    poll_immediate_wake();
    poll_block();
    n_tickets = count_own_tickets();

    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < N; i++) {
            seq_wait(seqs[i], seq_read(seqs[i]));
        }
        seq_change(seqs[round]);
        CHECK_INT(block(LONG_MS), <, LONG_MS);
    }
    CHECK_INT(count_own_tickets(), ==, n_tickets);
    for (int i = 0; i < N; i++) {
        CHECK_INT(count_box(seqs[i]), <=, 1);
        seq_destroy(seqs[i]);
    }
}

static void
test_tickets_are_bounded(void)
{
    /* Each seq is new memory, at first, and is gone before the next. */
    for (int round = 0; round < 20; round++) {
        enum { N = 200 };
        struct seq *seqs[N];

        for (int i = 0; i < N; i++) {
            seqs[i] = seq_create();
        }
        for (int i = 0; i < N; i++) {
            seq_wait(seqs[i], seq_read(seqs[i]));
            poll_immediate_wake();
            poll_block();
            seq_destroy(seqs[i]);
        }
    }

    /* A sweep finds that none of them is of use. */
    CHECK_INT(count_own_tickets(), <=, 2 * (200 + SWEEP_MIN));
    waiter_sweep(waiter_self());
    CHECK_INT(count_own_tickets(), ==, 0);
}

/* A thread that does one thing with a seq. */
struct job {
    struct seq *seq;
    struct stop stop;           /* Used if 'stop.point' is nonnull. */
    uint64_t before;
    long long int took;
    pthread_t thread;
};

static void
job_start(struct job *job, const char *name, void *(*main_)(void *),
          struct seq *seq, const char *point)
{
    memset(job, 0, sizeof *job);
    job->seq = seq;
    job->before = seq_read(seq);
    job->took = -1;
    stop_init(&job->stop, point);
    job->thread = ovs_thread_create(name, main_, job);
}

static void
job_join(struct job *job)
{
    xpthread_join(job->thread, NULL);
    stop_destroy(&job->stop);
}

static void *
changer_main(void *job_)
{
    struct job *job = job_;

    if (job->stop.point) {
        stop_here(&job->stop);
    }
    seq_change(job->seq);
    return NULL;
}

static void *
waiter_main(void *job_)
{
    struct job *job = job_;

    if (job->stop.point) {
        stop_here(&job->stop);
    }
    seq_wait(job->seq, job->before);
    job->took = block(LONG_MS);
    return NULL;
}

/* Waits until 'seq' has 'n' waiters. */
static void
await_waiters(struct seq *seq, size_t n)
{
    while (count_box(seq) < n) {
        xnanosleep(1000000);
    }
}

static void
test_wakes_all(void)
{
    struct seq *seq = seq_create();
    struct job jobs[8];

    for (int i = 0; i < ARRAY_SIZE(jobs); i++) {
        job_start(&jobs[i], "waiter", waiter_main, seq, NULL);
    }
    await_waiters(seq, ARRAY_SIZE(jobs));
    seq_change(seq);
    for (int i = 0; i < ARRAY_SIZE(jobs); i++) {
        job_join(&jobs[i]);
        CHECK_INT(jobs[i].took, <, LONG_MS);
    }
    CHECK_INT(count_box(seq), ==, 0);
    seq_destroy(seq);
}

static void
test_destroy_wakes(void)
{
    struct seq *seq = seq_create();
    struct job job;

    job_start(&job, "waiter", waiter_main, seq, NULL);
    await_waiters(seq, 1);
    seq_destroy(seq);
    job_join(&job);
    CHECK_INT(job.took, <, LONG_MS);
}

/* The changer has a new number out but has not looked into the box. */
static void
test_wait_amid_change(void)
{
    struct seq *seq = seq_create();
    uint64_t before = seq_read(seq);
    struct job job;

    job_start(&job, "changer", changer_main, seq, "seq-changed");
    stop_await(&job.stop);
    CHECK_UINT(seq_read(seq), !=, before);

    /* Waiting for the old number does not block. */
    seq_wait(seq, before);
    CHECK_INT(block(LONG_MS), <, LONG_MS);

    /* Waiting for the new one blocks, until the changer gets to the box. */
    seq_wait(seq, seq_read(seq));
    CHECK_INT(block(20), >=, 20);
    seq_wait(seq, seq_read(seq));
    stop_release(&job.stop);
    block(1000);

    /* That was for nothing; the next change still wakes up. */
    job_join(&job);
    seq_wait(seq, seq_read(seq));
    seq_change(seq);
    CHECK_INT(block(LONG_MS), <, LONG_MS);
    seq_destroy(seq);
}

/* The waiter's ticket is in the box, but it has not looked at the number. */
static void
test_change_amid_wait(void)
{
    struct seq *seq = seq_create();
    struct job job;

    job_start(&job, "waiter", waiter_main, seq, "ticket-armed");
    stop_await(&job.stop);
    CHECK_INT(count_box(seq), ==, 1);
    seq_change(seq);
    CHECK_INT(count_box(seq), ==, 0);
    stop_release(&job.stop);
    job_join(&job);
    CHECK_INT(job.took, <, LONG_MS);
    seq_destroy(seq);
}

/* One thread has taken the ticket and not given it back, when the waiter waits
 * for the number that this thread has made and another changes it again. */
static void
test_wait_while_taken(void)
{
    struct seq *seq = seq_create();
    struct job job;

    seq_wait(seq, seq_read(seq));
    poll_immediate_wake();
    poll_block();
    CHECK_INT(box_state(seq), ==, TICKET_IDLE);

    job_start(&job, "changer", changer_main, seq, "ticket-taken");
    stop_await(&job.stop);
    CHECK_INT(count_box(seq), ==, 0);

    /* Armed in the hands of the other thread. */
    seq_wait(seq, seq_read(seq));
    CHECK_INT(count_box(seq), ==, 0);
    seq_change(seq);
    stop_release(&job.stop);
    CHECK_INT(block(LONG_MS), <, LONG_MS);

    job_join(&job);
    seq_destroy(seq);
}

/* A seq is destroyed, and its memory is another seq, while a thread that has
 * changed it is still inside. */
static void
test_recycle_amid_change(void)
{
    struct seq *seq = seq_create();
    struct job changer, waiter;
    struct seq *again;

    job_start(&changer, "changer", changer_main, seq, "seq-changed");
    stop_await(&changer.stop);
    seq_destroy(seq);
    again = seq_create();
    CHECK(again == seq);

    job_start(&waiter, "waiter", waiter_main, again, NULL);
    await_waiters(again, 1);
    stop_release(&changer.stop);
    job_join(&changer);
    job_join(&waiter);
    CHECK_INT(waiter.took, <, LONG_MS);
    CHECK_UINT(seq_read(again), ==, waiter.before);
    seq_destroy(again);
}

static void *
leaver_main(void *job_)
{
    struct job *job = job_;

    seq_wait(job->seq, job->before);
    stop_await(&job->stop);
    return NULL;
}

/* A thread exits after its ticket came back, before the bell rings. */
static void
test_exit_before_ring(void)
{
    struct seq *seq = seq_create();
    struct job waiter, changer;

    job_start(&waiter, "leaver", leaver_main, seq, NULL);
    await_waiters(seq, 1);
    job_start(&changer, "changer", changer_main, seq, "ticket-back");
    stop_await(&changer.stop);
    sem_post(&waiter.stop.reached);
    job_join(&waiter);
    stop_release(&changer.stop);    /* Writes to the pipe of the dead. */
    job_join(&changer);
    seq_destroy(seq);
}

/* A thread exits while its ticket is in the hands of another. */
static void
test_exit_while_taken(void)
{
    struct seq *seq = seq_create();
    struct job waiter, changer;

    job_start(&waiter, "leaver", leaver_main, seq, NULL);
    await_waiters(seq, 1);
    job_start(&changer, "changer", changer_main, seq, "ticket-taken");
    stop_await(&changer.stop);
    sem_post(&waiter.stop.reached);
    job_join(&waiter);
    stop_release(&changer.stop);    /* Frees the ticket. */
    job_join(&changer);
    CHECK_INT(count_box(seq), ==, 0);
    seq_destroy(seq);
}

/* Threads that come and go leave nothing in a seq that never changes. */
static void
test_exit_leaves_nothing(void)
{
    struct seq *seq = seq_create();

    for (int i = 0; i < 50; i++) {
        struct job waiter;

        job_start(&waiter, "leaver", leaver_main, seq, NULL);
        sem_post(&waiter.stop.reached);
        job_join(&waiter);
    }
    CHECK_INT(count_box(seq), ==, 0);
    seq_destroy(seq);
}

static void *
try_lock_main(void *error)
{
    int retval = seq_try_lock();

    if (!retval) {
        seq_unlock();
    }
    *(int *) error = retval;
    return NULL;
}

static void
test_lock(void)
{
    struct seq *seq = seq_create();
    uint64_t before = seq_read(seq);
    pthread_t thread;
    int error;

    seq_lock();
    thread = ovs_thread_create("locker", try_lock_main, &error);
    xpthread_join(thread, NULL);
    CHECK_INT(error, ==, EBUSY);

    /* Nobody else needs the lock. */
    seq_change(seq);
    seq_change_protected(seq);
    CHECK_UINT(seq_read(seq), ==, before + 2);
    seq_unlock();

    thread = ovs_thread_create("locker", try_lock_main, &error);
    xpthread_join(thread, NULL);
    CHECK_INT(error, ==, 0);
    seq_destroy(seq);
}

/* A token goes around a ring of threads, each of which waits for its own seq
 * and for a common one, which changes all the time, comes and goes.  A lost
 * wake-up stops the token for LONG_MS. */
#define RING 4

static struct ring {
    struct seq *seqs[RING];
    atomic_uint64_t token;      /* Release on passing, acquire on reading. */
    struct seq *noise;
    atomic_bool done;
    atomic_llong longest;
} ring;

static uint64_t
ring_token(void)
{
    uint64_t token;

    atomic_read_explicit(&ring.token, &token, memory_order_acquire);
    return token;
}

static bool
ring_done(void)
{
    bool done;

    atomic_read_explicit(&ring.done, &done, memory_order_acquire);
    return done;
}

static void *
ring_main(void *seq_)
{
    struct seq **seq = seq_;
    size_t i = seq - ring.seqs;

    while (!ring_done()) {
        uint64_t seqno = seq_read(*seq);
        uint64_t token = ring_token();

        if (token % RING == i) {
            atomic_store_explicit(&ring.token, token + 1,
                                  memory_order_release);
            seq_change(ring.seqs[(i + 1) % RING]);
        } else {
            long long int took;

            if (token & 16) {
                seq_wait(ring.noise, seq_read(ring.noise));
            }
            seq_wait(*seq, seqno);
            took = block(LONG_MS);
            CHECK_MSG(took < LONG_MS || ring_done(),
                      "a wake-up was lost at token %"PRIu64, token);
        }
    }
    seq_change(ring.seqs[(i + 1) % RING]);
    return NULL;
}

static void *
noise_main(void *aux OVS_UNUSED)
{
    while (!ring_done()) {
        struct seq *seq = seq_create();

        seq_change(ring.noise);
        seq_destroy(seq);
        xnanosleep(20000);
    }
    return NULL;
}

static void
test_stress_ring(void)
{
    pthread_t threads[RING], noise;
    long long int end = time_msec() + 2000;

    ring.noise = seq_create();
    for (int i = 0; i < RING; i++) {
        ring.seqs[i] = seq_create();
    }
    for (int i = 0; i < RING; i++) {
        threads[i] = ovs_thread_create("ring", ring_main, &ring.seqs[i]);
    }
    noise = ovs_thread_create("noise", noise_main, NULL);

    while (time_msec() < end) {
        uint64_t token = ring_token();

        xnanosleep(200000000);
        CHECK_UINT(ring_token(), >, token);
    }
    atomic_store_explicit(&ring.done, true, memory_order_release);
    for (int i = 0; i < RING; i++) {
        seq_change(ring.seqs[i]);
    }
    for (int i = 0; i < RING; i++) {
        xpthread_join(threads[i], NULL);
    }
    xpthread_join(noise, NULL);
    CHECK_UINT(ring_token(), >, 100 / SLOWDOWN);
    for (int i = 0; i < RING; i++) {
        seq_destroy(ring.seqs[i]);
    }
    seq_destroy(ring.noise);
}

/* Many threads change one seq: no change is lost. */
static void *
many_main(void *seq)
{
    for (int i = 0; i < 20000; i++) {
        seq_change(seq);
    }
    return NULL;
}

static void
test_stress_changes(void)
{
    struct seq *seq = seq_create();
    uint64_t before = seq_read(seq);
    pthread_t threads[4];

    for (int i = 0; i < ARRAY_SIZE(threads); i++) {
        threads[i] = ovs_thread_create("many", many_main, seq);
    }
    while (seq_read(seq) != before + ARRAY_SIZE(threads) * 20000) {
        uint64_t seqno = seq_read(seq);

        if (seqno != before + ARRAY_SIZE(threads) * 20000) {
            seq_wait(seq, seqno);
            CHECK_INT(block(LONG_MS), <, LONG_MS);
        }
    }
    for (int i = 0; i < ARRAY_SIZE(threads); i++) {
        xpthread_join(threads[i], NULL);
    }
    seq_destroy(seq);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);

    RUN_TEST(test_numbers);
    RUN_TEST(test_no_number_is_zero);
    RUN_TEST(test_changed_before_wait);
    RUN_TEST(test_two_numbers_in_one_round);
    RUN_TEST(test_unchanged_blocks);
    RUN_TEST(test_no_late_wakeup);
    RUN_TEST(test_tickets_are_reused);
    RUN_TEST(test_tickets_are_bounded);
    RUN_TEST(test_wakes_all);
    RUN_TEST(test_destroy_wakes);
    RUN_TEST(test_wait_amid_change);
    RUN_TEST(test_change_amid_wait);
    RUN_TEST(test_wait_while_taken);
    RUN_TEST(test_recycle_amid_change);
    RUN_TEST(test_exit_before_ring);
    RUN_TEST(test_exit_while_taken);
    RUN_TEST(test_exit_leaves_nothing);
    RUN_TEST(test_lock);
    RUN_TEST(test_stress_ring);
    RUN_TEST(test_stress_changes);
    return 0;
}
