/* SPDX-License-Identifier: Apache-2.0 */

/* Tests lib/sync/ovs-rcu.c, of which it includes the source to hold threads
 * between two steps.  The cases run in a fixed order: a process that has had a
 * second thread never goes back, and ovsrcu_exit() is for good. */

#include <config.h>

#include <sys/types.h>
#include <sys/wait.h>

#include "stop-point.h"
#include "sync/ovs-rcu.c"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "timeval.h"
#include "unit.h"

/* Longer than anything takes that does not hang. */
#define LONG_MS 10000

/* Long enough to believe that something does not happen. */
#define SHORT_MS 50

/* Not xnanosleep(), after which the thread is active. */
static void
nap(long long int ms)
{
    struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&ts, NULL);
}

/* A row of numbers that callbacks write. */
static struct record {
    atomic_uint n;
    int numbers[100000];
} record;

static void
record_number(void *number)
{
    unsigned int i;

    atomic_read_relaxed(&record.n, &i);
    record.numbers[i] = *(int *) number;
    atomic_store_explicit(&record.n, i + 1, memory_order_release);
    free(number);
}

static unsigned int
n_recorded(void)
{
    unsigned int n;

    atomic_read_explicit(&record.n, &n, memory_order_acquire);
    return n;
}

/* Postpones 'function', to be called with a copy of 'number' that it frees. */
static void
postpone_with_number(void (*function)(void *), int number)
{
    int *copy = xmalloc(sizeof *copy);

    *copy = number;
    ovsrcu_postpone(function, copy);
}

static void
postpone_number(int number)
{
    postpone_with_number(record_number, number);
}

static void
check_recorded(int first, int n)
{
    CHECK_INT(n_recorded(), ==, n);
    for (int i = 0; i < n; i++) {
        CHECK_INT(record.numbers[i], ==, first + i);
    }
    atomic_store_relaxed(&record.n, 0);
}

/* Waits until 'n' callbacks have been called.  The thread is quiescent from
 * then on. */
static void
await_recorded(unsigned int n)
{
    ovsrcu_quiesce_start();
    for (int i = 0; n_recorded() < n; i++) {
        CHECK_INT(i, <, LONG_MS);
        nap(1);
    }
}

/* One thread. */

static void
test_alone_first_use(void)
{
    CHECK(ovsrcu_is_quiescent());
    ovsrcu_quiesce_start();
    CHECK(ovsrcu_is_quiescent());
    ovsrcu_synchronize();
    CHECK(ovsrcu_is_quiescent());
    ovsrcu_quiesce_end();
    CHECK(!ovsrcu_is_quiescent());
    ovsrcu_quiesce_start();
    ovsrcu_quiesce_start();
    ovsrcu_quiesce_end();
    CHECK(!ovsrcu_is_quiescent());
}

static void
test_alone_order(void)
{
    for (int i = 0; i < 1000; i++) {
        postpone_number(i);
    }
    CHECK_INT(n_recorded(), ==, 0);
    ovsrcu_quiesce();
    check_recorded(0, 1000);

    /* In a quiescent period as well, which it does not end... */
    postpone_number(7);
    ovsrcu_quiesce_start();
    check_recorded(7, 1);
    CHECK(ovsrcu_is_quiescent());

    /* ...but postponing does. */
    postpone_number(8);
    CHECK(!ovsrcu_is_quiescent());
    CHECK_INT(rcu_stats_self_pending(), ==, 1);
    ovsrcu_try_quiesce();
    check_recorded(8, 1);
    CHECK_INT(rcu_stats_self_pending(), ==, 0);
}

static void
quiesce_amid(void *aux OVS_UNUSED)
{
    postpone_number(2);
    ovsrcu_quiesce();
    CHECK_INT(n_recorded(), ==, 1);
}

static void
test_alone_nested(void)
{
    int dummy;

    postpone_number(0);
    ovsrcu_postpone(quiesce_amid, &dummy);
    postpone_number(1);
    ovsrcu_quiesce();
    CHECK_INT(n_recorded(), ==, 2);
    ovsrcu_quiesce();
    check_recorded(0, 3);
}

static void
test_alone_barrier(void)
{
    postpone_number(0);
    ovsrcu_barrier();
    check_recorded(0, 1);
}

/* A child has its only thread and RCU works there, with threads too. */
static void *
child_main(void *aux OVS_UNUSED)
{
    postpone_number(0);
    return NULL;
}

static void
test_fork(void)
{
    int status;
    pid_t pid;

    postpone_number(0);
    pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        CHECK(single_threaded());
        ovsrcu_quiesce();
        check_recorded(0, 1);

        xpthread_join(ovs_thread_create("child", child_main, NULL), NULL);
        ovsrcu_barrier();
        check_recorded(0, 1);
        ovsrcu_exit();
        _exit(42);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), ==, 42);

    ovsrcu_quiesce();
    check_recorded(0, 1);
}

/* A thread that is told step by step what to do. */
enum order {
    ORDER_NONE,
    ORDER_QUIESCE,
    ORDER_TRY_QUIESCE,
    ORDER_LEAVE,
    ORDER_COME_BACK,
    ORDER_POSTPONE,             /* One number, each time the next. */
    ORDER_SYNCHRONIZE,
    ORDER_EXIT,
};

struct puppet {
    pthread_t thread;
    sem_t told, done;
    enum order order;
    struct stop stop;           /* For the next order, if 'point' is set. */
    int next_number;
};

static void
puppet_obey(struct puppet *puppet, enum order order)
{
    switch (order) {
    case ORDER_QUIESCE:
        ovsrcu_quiesce();
        break;
    case ORDER_TRY_QUIESCE:
        CHECK_INT(ovsrcu_try_quiesce(), ==, 0);
        break;
    case ORDER_LEAVE:
        ovsrcu_quiesce_start();
        break;
    case ORDER_COME_BACK:
        ovsrcu_quiesce_end();
        break;
    case ORDER_POSTPONE:
        postpone_number(puppet->next_number++);
        break;
    case ORDER_SYNCHRONIZE:
        ovsrcu_synchronize();
        break;
    case ORDER_NONE:
    case ORDER_EXIT:
        break;
    }
}

static void *
puppet_main(void *puppet_)
{
    struct puppet *puppet = puppet_;
    enum order order;

    CHECK(!ovsrcu_is_quiescent());
    sem_post(&puppet->done);
    do {
        stop_wait__(&puppet->told);
        if (puppet->stop.point) {
            stop_here(&puppet->stop);
        }
        order = puppet->order;
        puppet_obey(puppet, order);
        sem_post(&puppet->done);
    } while (order != ORDER_EXIT);
    return NULL;
}

static void
puppet_start(struct puppet *puppet, const char *name)
{
    memset(puppet, 0, sizeof *puppet);
    sem_init(&puppet->told, 0, 0);
    sem_init(&puppet->done, 0, 0);
    stop_init(&puppet->stop, NULL);
    puppet->thread = ovs_thread_create(name, puppet_main, puppet);
    stop_wait__(&puppet->done);
}

static void
puppet_tell(struct puppet *puppet, enum order order, const char *point)
{
    puppet->order = order;
    puppet->stop.point = point;
    sem_post(&puppet->told);
}

static void
puppet_do(struct puppet *puppet, enum order order)
{
    puppet_tell(puppet, order, NULL);
    stop_wait__(&puppet->done);
}

static bool
puppet_is_done(struct puppet *puppet)
{
    return !sem_trywait(&puppet->done);
}

static void
puppet_end(struct puppet *puppet)
{
    puppet_do(puppet, ORDER_EXIT);
    xpthread_join(puppet->thread, NULL);
    sem_destroy(&puppet->told);
    sem_destroy(&puppet->done);
    stop_destroy(&puppet->stop);
}

/* Several threads.  The main thread is quiescent unless it says otherwise. */

static void
test_new_thread_is_active(void)
{
    struct puppet a;

    puppet_start(&a, "a");
    CHECK(!ovsrcu_is_quiescent());
    puppet_end(&a);
    ovsrcu_quiesce_start();
}

/* Has 'waiter' synchronize, which must not end before 'reader' does
 * 'order'. */
static void
check_waits(struct puppet *waiter, struct puppet *reader, enum order order)
{
    puppet_tell(waiter, ORDER_SYNCHRONIZE, NULL);
    nap(SHORT_MS);
    CHECK(!puppet_is_done(waiter));
    puppet_do(reader, order);
    stop_wait__(&waiter->done);
}

static void
test_synchronize(void)
{
    struct puppet reader, waiter;

    puppet_start(&reader, "reader");
    puppet_start(&waiter, "waiter");

    check_waits(&waiter, &reader, ORDER_QUIESCE);
    check_waits(&waiter, &reader, ORDER_TRY_QUIESCE);
    check_waits(&waiter, &reader, ORDER_TRY_QUIESCE);
    check_waits(&waiter, &reader, ORDER_LEAVE);

    /* Nobody is there. */
    puppet_do(&waiter, ORDER_SYNCHRONIZE);

    /* Comes back. */
    puppet_do(&reader, ORDER_COME_BACK);
    check_waits(&waiter, &reader, ORDER_QUIESCE);

    /* Comes back by implication. */
    puppet_do(&reader, ORDER_LEAVE);
    puppet_do(&reader, ORDER_QUIESCE);
    check_waits(&waiter, &reader, ORDER_QUIESCE);
    puppet_do(&reader, ORDER_LEAVE);
    puppet_do(&reader, ORDER_TRY_QUIESCE);
    check_waits(&waiter, &reader, ORDER_TRY_QUIESCE);
    puppet_do(&reader, ORDER_LEAVE);
    puppet_do(&reader, ORDER_POSTPONE);
    check_waits(&waiter, &reader, ORDER_QUIESCE);

    /* Two that synchronize do not wait for each other. */
    puppet_do(&reader, ORDER_LEAVE);
    puppet_tell(&reader, ORDER_SYNCHRONIZE, NULL);
    puppet_tell(&waiter, ORDER_SYNCHRONIZE, NULL);
    for (int n_done = 0; n_done < 2; nap(1)) {
        struct puppet *puppets[] = { &reader, &waiter };

        /* Either comes back active, and the other may begin only then. */
        for (int i = 0; i < 2; i++) {
            if (puppet_is_done(puppets[i])) {
                puppet_do(puppets[i], ORDER_LEAVE);
                n_done++;
            }
        }
    }
    puppet_do(&reader, ORDER_COME_BACK);

    /* Neither for one that is gone. */
    puppet_tell(&waiter, ORDER_SYNCHRONIZE, NULL);
    nap(SHORT_MS);
    CHECK(!puppet_is_done(&waiter));
    puppet_end(&reader);
    stop_wait__(&waiter.done);

    puppet_end(&waiter);
    await_recorded(1);
    check_recorded(0, 1);
}

/* The waiter begins while the reader has read the epoch in a quiescent state
 * and has not shown it: what it read before still counts. */
static void
test_grace_amid_show(void)
{
    struct puppet reader, waiter;

    puppet_start(&reader, "reader");
    puppet_start(&waiter, "waiter");

    puppet_tell(&reader, ORDER_QUIESCE, "epoch-read");
    stop_await(&reader.stop);
    puppet_tell(&waiter, ORDER_SYNCHRONIZE, NULL);
    nap(SHORT_MS);
    stop_release(&reader.stop);
    stop_wait__(&reader.done);
    nap(SHORT_MS);
    CHECK(!puppet_is_done(&waiter));
    puppet_do(&reader, ORDER_QUIESCE);
    stop_wait__(&waiter.done);

    puppet_end(&reader);
    puppet_end(&waiter);
}

/* The waiter begins while the reader comes back, before either passed the
 * gate; and the other way around. */
static void
test_grace_amid_return(void)
{
    struct puppet reader, waiter;

    puppet_start(&reader, "reader");
    puppet_start(&waiter, "waiter");

    puppet_do(&reader, ORDER_LEAVE);
    puppet_tell(&reader, ORDER_COME_BACK, "came-back");
    stop_await(&reader.stop);
    puppet_tell(&waiter, ORDER_SYNCHRONIZE, NULL);
    nap(SHORT_MS);
    CHECK(!puppet_is_done(&waiter));
    stop_release(&reader.stop);
    stop_wait__(&reader.done);
    nap(SHORT_MS);
    CHECK(!puppet_is_done(&waiter));
    puppet_do(&reader, ORDER_QUIESCE);
    stop_wait__(&waiter.done);

    /* The epoch is new already when the reader reads it, so it has nothing
     * old. */
    puppet_do(&reader, ORDER_LEAVE);
    puppet_tell(&waiter, ORDER_SYNCHRONIZE, "grace-begun");
    stop_await(&waiter.stop);
    puppet_do(&reader, ORDER_COME_BACK);
    stop_release(&waiter.stop);
    stop_wait__(&waiter.done);

    /* And here it read the one before. */
    puppet_do(&reader, ORDER_LEAVE);
    puppet_tell(&reader, ORDER_COME_BACK, "epoch-read");
    stop_await(&reader.stop);
    puppet_tell(&waiter, ORDER_SYNCHRONIZE, "grace-begun");
    stop_await(&waiter.stop);
    stop_release(&reader.stop);
    stop_wait__(&reader.done);
    stop_release(&waiter.stop);
    nap(SHORT_MS);
    CHECK(!puppet_is_done(&waiter));
    puppet_do(&reader, ORDER_TRY_QUIESCE);
    stop_wait__(&waiter.done);

    puppet_end(&reader);
    puppet_end(&waiter);
}

static void
test_callback_waits_for_reader(void)
{
    struct puppet reader, writer;

    puppet_start(&reader, "reader");
    puppet_start(&writer, "writer");

    puppet_do(&writer, ORDER_POSTPONE);
    nap(SHORT_MS);
    CHECK_INT(n_recorded(), ==, 0);     /* The writer is active. */
    puppet_do(&writer, ORDER_LEAVE);
    nap(SHORT_MS);
    CHECK_INT(n_recorded(), ==, 0);     /* The reader is. */
    puppet_do(&reader, ORDER_QUIESCE);
    await_recorded(1);                  /* Neither was at that time. */
    check_recorded(0, 1);

    puppet_end(&reader);
    puppet_end(&writer);
}

static void
test_order(void)
{
    for (int i = 0; i < 10000; i++) {
        postpone_number(i);
        if (i % 97 == 0) {
            ovsrcu_quiesce();
        } else if (i % 101 == 0) {
            ovsrcu_try_quiesce();
        }
    }
    ovsrcu_barrier();
    check_recorded(0, 10000);
    ovsrcu_quiesce_start();
}

/* A full parcel leaves early, and urcu must hear of it nevertheless. */
static void
test_full_parcel(void)
{
    struct puppet writer;

    puppet_start(&writer, "writer");
    for (int i = 0; i < PARCEL_SIZE; i++) {
        puppet_do(&writer, ORDER_POSTPONE);
    }
    nap(SHORT_MS);
    CHECK_INT(n_recorded(), ==, 0);
    puppet_do(&writer, ORDER_QUIESCE);
    puppet_do(&writer, ORDER_LEAVE);
    await_recorded(PARCEL_SIZE);
    check_recorded(0, PARCEL_SIZE);

    /* Likewise if the thread exits. */
    for (int i = 0; i < PARCEL_SIZE; i++) {
        puppet_do(&writer, ORDER_POSTPONE);
    }
    puppet_end(&writer);
    await_recorded(PARCEL_SIZE);
    check_recorded(PARCEL_SIZE, PARCEL_SIZE);
}

/* What a polling thread postpones gets called without anybody's help, and
 * what it leaves behind too. */
static void
test_polling_thread(void)
{
    struct puppet poller;

    puppet_start(&poller, "poller");
    puppet_do(&poller, ORDER_TRY_QUIESCE);
    CHECK_INT(atomic_count_get(&n_polling), >=, 1);
    for (int i = 0; i < 3; i++) {
        long long int start = time_msec();

        puppet_do(&poller, ORDER_POSTPONE);
        while (n_recorded() < i + 1) {
            puppet_do(&poller, ORDER_TRY_QUIESCE);
            CHECK_INT(time_msec() - start, <, LONG_MS);
            nap(1);
        }
    }
    check_recorded(0, 3);

    puppet_do(&poller, ORDER_POSTPONE);
    puppet_do(&poller, ORDER_TRY_QUIESCE);
    puppet_end(&poller);
    await_recorded(1);
    check_recorded(3, 1);
}

/* Nobody's lock or seq keeps a polling thread from its quiescent state. */
static void
test_try_cannot_fail(void)
{
    struct puppet poller;

    puppet_start(&poller, "poller");
    seq_lock();
    ovs_mutex_lock(&urcu_mutex);
    for (int i = 0; i < 10; i++) {
        puppet_do(&poller, ORDER_POSTPONE);
        puppet_do(&poller, ORDER_TRY_QUIESCE);
    }
    ovs_mutex_lock(&readers_mutex);
    for (int i = 0; i < 10; i++) {
        puppet_do(&poller, ORDER_POSTPONE);
        puppet_do(&poller, ORDER_TRY_QUIESCE);
    }
    ovs_mutex_unlock(&readers_mutex);
    ovs_mutex_unlock(&urcu_mutex);
    seq_unlock();
    puppet_end(&poller);
    await_recorded(20);
    check_recorded(0, 20);
}

static void
test_barrier(void)
{
    struct puppet a, b;

    puppet_start(&a, "a");
    puppet_start(&b, "b");
    ovsrcu_quiesce_end();
    for (int round = 0; round < 5; round++) {
        puppet_do(&a, ORDER_POSTPONE);
        puppet_do(&a, ORDER_TRY_QUIESCE);
        puppet_do(&b, ORDER_POSTPONE);
        puppet_do(&b, ORDER_LEAVE);
        postpone_number(round);
        puppet_do(&a, ORDER_LEAVE);
        ovsrcu_barrier();
        CHECK_INT(n_recorded(), ==, 3);
        for (int i = 0; i < 3; i++) {
            CHECK_INT(record.numbers[i], ==, round);
        }
        atomic_store_relaxed(&record.n, 0);
    }
    CHECK(!ovsrcu_is_quiescent());
    ovsrcu_quiesce_start();
    puppet_end(&a);
    puppet_end(&b);
}

/* A barrier that begins after a thread has handed over and before it shows. */
static void
test_barrier_amid_quiesce(void)
{
    struct puppet writer;

    puppet_start(&writer, "writer");
    puppet_do(&writer, ORDER_POSTPONE);
    puppet_tell(&writer, ORDER_QUIESCE, "handed-over");
    stop_await(&writer.stop);
    CHECK_INT(n_recorded(), ==, 0);
    stop_release(&writer.stop);
    stop_wait__(&writer.done);
    puppet_do(&writer, ORDER_LEAVE);
    ovsrcu_barrier();
    check_recorded(0, 1);
    ovsrcu_quiesce_start();
    puppet_end(&writer);
}

/* A callback that uses RCU itself. */
static void
callback_synchronizes(void *number)
{
    ovsrcu_synchronize();
    postpone_number(*(int *) number + 1);
    ovsrcu_quiesce();
    record_number(number);
}

static void
test_callback_uses_rcu(void)
{
    postpone_with_number(callback_synchronizes, 0);
    await_recorded(2);
    check_recorded(0, 2);
}

/* A long row of callbacks does not hold up those who synchronize. */
static void
callback_sleeps(void *number)
{
    nap(20);
    record_number(number);
}

static void
test_long_row_of_callbacks(void)
{
    enum { N = 50 };
    unsigned int n;

    for (int i = 0; i < N; i++) {
        postpone_with_number(callback_sleeps, i);
    }
    await_recorded(1);
    ovsrcu_synchronize();
    n = n_recorded();
    CHECK_INT(n, <, N);
    ovsrcu_barrier();
    check_recorded(0, N);
    ovsrcu_quiesce_start();
}

/* Voluntary and other context switches of urcu, or -1. */
static long int
urcu_n_switches(void)
{
    struct dirent *entry;
    long int sum = -1;
    DIR *dir;

    dir = opendir("/proc/self/task");
    while (dir && (entry = readdir(dir)) != NULL) {
        char *name = xasprintf("/proc/self/task/%s/status", entry->d_name);
        FILE *stream = fopen(name, "r");
        char line[128];
        bool found = false;
        long int n;

        while (stream && fgets(line, sizeof line, stream)) {
            found = found || !strncmp(line, "Name:\turcu", 10);
            if (found && (sscanf(line, "voluntary_ctxt_switches: %ld", &n)
                          || sscanf(line, "nonvoluntary_ctxt_switches: %ld",
                                    &n))) {
                sum = MAX(sum, 0) + n;
            }
        }
        if (stream) {
            fclose(stream);
        }
        free(name);
    }
    if (dir) {
        closedir(dir);
    }
    return sum;
}

static void
test_idle_sleeps(void)
{
    struct puppet a;
    long int before;

    /* test_order() made a polling thread of us. */
    CHECK_INT(atomic_count_get(&n_polling), ==, 1);
    atomic_count_dec(&n_polling);
    (*self_get())->polls = false;

    puppet_start(&a, "a");
    puppet_do(&a, ORDER_LEAVE);
    ovsrcu_barrier();
    ovsrcu_quiesce_start();
    nap(2 * POLLED_BOX_MS);
    before = urcu_n_switches();
    CHECK(before != -1);
    for (int i = 0; i < 200; i++) {
        puppet_do(&a, i % 2 ? ORDER_QUIESCE : ORDER_LEAVE);
        nap(1);
    }
    CHECK_INT(urcu_n_switches(), ==, before);
    puppet_end(&a);
}

/* The warning that names who blocks whom. */

static char log_name[] = "/tmp/weft-test-rcu.XXXXXX";

/* Begins to log.  Before there is another thread: vlog changes, without a lock
 * that they take, what those who log look at. */
static void
open_log(void)
{
    int fd = mkstemp(log_name);

    CHECK(fd >= 0);
    close(fd);
    CHECK_INT(vlog_set_log_file(log_name), ==, 0);
}

static long int
log_size(void)
{
    struct stat s;

    CHECK_INT(stat(log_name, &s), ==, 0);
    return s.st_size;
}

/* Returns what has been logged from 'offset' on. */
static char *
read_log(long int offset)
{
    static char text[65536];
    FILE *stream = fopen(log_name, "r");
    size_t n;

    CHECK(stream != NULL);
    CHECK_INT(fseek(stream, offset, SEEK_SET), ==, 0);
    n = fread(text, 1, sizeof text - 1, stream);
    text[n] = '\0';
    fclose(stream);
    return text;
}

static void
test_stall_is_named(void)
{
    long int start = log_size();
    struct puppet sloth;
    unsigned int ms, id;
    char *line;

    puppet_start(&sloth, "sloth");
    puppet_tell(&sloth, ORDER_QUIESCE, "epoch-read");
    stop_await(&sloth.stop);
    ovsrcu_quiesce_end();
    postpone_number(0);
    ovsrcu_quiesce_start();
    nap(STALL_MS + 200);
    stop_release(&sloth.stop);
    stop_wait__(&sloth.done);
    puppet_do(&sloth, ORDER_LEAVE);
    await_recorded(1);
    check_recorded(0, 1);
    puppet_end(&sloth);

    line = strstr(read_log(start), "|WARN|blocked ");
    CHECK(line != NULL);
    CHECK(ovs_scan(line, "|WARN|blocked %u ms waiting for sloth%u to quiesce",
                   &ms, &id));
    CHECK_INT(ms, >=, STALL_MS);
    CHECK_INT(ms, <, STALL_MS + 200);
    CHECK(!strstr(line + 1, "|WARN|blocked "));
}

/* Waits until 'stats' says that all callbacks have returned, since that of a
 * barrier tells the barrier before it returns. */
static void
await_all_returned(struct rcu_stats *stats)
{
    ovsrcu_barrier();
    rcu_stats_get(stats);
    for (int i = 0; stats->n_called != stats->n_postponed; i++) {
        CHECK_INT(i, <, LONG_MS);
        nap(1);
        rcu_stats_get(stats);
    }
}

static void
test_stats(void)
{
    struct rcu_stats before, after;
    struct puppet a;

    await_all_returned(&before);
    puppet_start(&a, "a");
    for (int i = 0; i < 40; i++) {
        puppet_do(&a, ORDER_POSTPONE);
    }
    rcu_stats_get(&after);
    CHECK_UINT(after.n_postponed, ==, before.n_postponed + 40);
    CHECK_UINT(after.n_called, ==, before.n_called);
    CHECK_UINT(after.n_threads, ==, before.n_threads + 1);
    CHECK_UINT(after.n_active, >=, 2);      /* It and this one. */

    puppet_end(&a);
    await_all_returned(&after);
    CHECK_UINT(after.n_postponed, ==, before.n_postponed + 41);
    CHECK_UINT(after.n_threads, ==, before.n_threads);
    CHECK_UINT(after.n_grace_periods, >, before.n_grace_periods);
    CHECK_UINT(after.longest_grace_us, >=, STALL_MS * 1000);
    CHECK_UINT(after.n_called, ==, before.n_called + 41);
    check_recorded(0, 40);
    ovsrcu_quiesce_start();
}

/* The end: callbacks that postpone more are all called, none afterwards. */
static void
callback_chain(void *number_)
{
    int number = *(int *) number_;

    record_number(number_);
    if (number < 5) {
        postpone_with_number(callback_chain, number + 1);
    }
}

static void
test_exit(void)
{
    ovsrcu_quiesce_end();
    postpone_with_number(callback_chain, 0);
    ovsrcu_exit();
    check_recorded(0, 6);
    CHECK_INT(urcu_n_switches(), ==, -1);

    /* Whoever waits for callbacks now calls them. */
    postpone_number(0);
    ovsrcu_quiesce();
    CHECK_INT(n_recorded(), ==, 0);
    ovsrcu_barrier();
    check_recorded(0, 1);
    ovsrcu_exit();
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_CONSOLE, VLL_OFF);
    open_log();

    RUN_TEST(test_alone_first_use);
    RUN_TEST(test_alone_order);
    RUN_TEST(test_alone_nested);
    RUN_TEST(test_alone_barrier);
    RUN_TEST(test_fork);
    RUN_TEST(test_new_thread_is_active);
    RUN_TEST(test_synchronize);
    RUN_TEST(test_grace_amid_show);
    RUN_TEST(test_grace_amid_return);
    RUN_TEST(test_callback_waits_for_reader);
    RUN_TEST(test_order);
    RUN_TEST(test_full_parcel);
    RUN_TEST(test_polling_thread);
    RUN_TEST(test_try_cannot_fail);
    RUN_TEST(test_barrier);
    RUN_TEST(test_barrier_amid_quiesce);
    RUN_TEST(test_callback_uses_rcu);
    RUN_TEST(test_long_row_of_callbacks);
    RUN_TEST(test_stall_is_named);
    unlink(log_name);
    RUN_TEST(test_stats);
    RUN_TEST(test_idle_sleeps);
    RUN_TEST(test_exit);
    return 0;
}
