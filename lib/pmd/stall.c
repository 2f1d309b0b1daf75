/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/stall.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(HAVE_UNWIND) && (defined(__x86_64__) || defined(__aarch64__))
#define STALL_STACKS 1
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

#include "ovs-thread.h"
#include "pmd/perf.h"
#include "sync/dp-log.h"
#include "timeval.h"
#include "util.h"

const char *
pmd_stage_name(enum pmd_stage stage)
{
    static const char *const names[] = {
        [PMD_STAGE_OTHER] = "other",
        [PMD_STAGE_RECEIVE] = "receive",
        [PMD_STAGE_PARSE] = "parse",
        [PMD_STAGE_LOOKUP] = "lookup",
        [PMD_STAGE_UPCALL] = "upcall",
        [PMD_STAGE_EXECUTE] = "execute",
        [PMD_STAGE_CONNTRACK] = "conntrack",
        [PMD_STAGE_TRANSMIT] = "transmit",
        [PMD_STAGE_SLEEP] = "sleep",
        [PMD_STAGE_CACHES] = "caches",
        [PMD_STAGE_SWEEP] = "sweep",
        [PMD_STAGE_RANK] = "rank",
        [PMD_STAGE_LOAD] = "load",
        [PMD_STAGE_COVERAGE] = "coverage",
        [PMD_STAGE_QUIESCE] = "quiesce",
        [PMD_STAGE_QUEUES] = "queues",
        [PMD_STAGE_RELOAD] = "reload",
        [PMD_STALL_NOT_CAUGHT] = "not caught",
    };

    return names[stage];
}

/* A capture of a stack.  The watcher fills 'asked' in and sets SLOT_ASKED
 * (release); the handler acquires that, fills the rest in, and sets
 * SLOT_ANSWERED (release), which the watcher acquires. */
enum slot_state { SLOT_IDLE, SLOT_ASKED, SLOT_ANSWERED };

struct slot {
    ATOMIC(int) state;          /* enum slot_state. */
    uint64_t asked;             /* The iteration to be captured. */
    uint64_t found;             /* The iteration that was under way. */
    enum pmd_stage stage;
    struct pmd_stall_stack stack;
};

/* Reports of the owner.  One producer, the owner; one consumer at a time, who
 * holds 'mutex'. */
enum { RING_SIZE = 64 };

struct ring {
    atomic_uint32_t head;       /* Owner stores, release; consumer acquires. */
    atomic_uint32_t tail;       /* The reverse. */
    atomic_uint64_t n_lost;     /* Owner writes, all read; relaxed. */
    struct {
        uint64_t start;
        uint64_t cycles;
    } reports[RING_SIZE];
};

/* The iteration that was found stuck last, until its report comes. */
struct caught {
    uint64_t start;             /* 0: there is none. */
    uint64_t last;              /* 'start' of the last one there was. */
    uint64_t seen;              /* When it was found. */
    uint64_t next_age;          /* When to look again, cycles. */
    bool asked;                 /* For its stack. */
    int64_t waited_before_us;   /* run_delay_us() when it was found. */
    struct pmd_stall_record record;
};

/* An iteration that was seen under way.  A report may come between a look at
 * its ring and the next glimpse, so the last two are kept. */
enum { GLIMPSES = 2 };

struct glimpse {
    uint64_t start;             /* 0: none yet. */
    uint64_t seen;              /* When. */
    enum pmd_stage stage;
};

struct pmd_stall {
    struct slot slot;
    struct ring ring;

    /* The thread, while it may be sent signals to. */
    struct ovs_mutex thread_mutex;
    bool attached OVS_GUARDED;
    pthread_t thread OVS_GUARDED;
    atomic_int tid;             /* Kernel's.  The owner writes, all read;
                                 * relaxed.  0 while detached. */

    /* What is known. */
    struct ovs_mutex mutex;
    struct caught caught OVS_GUARDED;
    struct glimpse glimpses[GLIMPSES] OVS_GUARDED; /* The newest first. */
    struct pmd_stall_figures stages[PMD_N_STAGES + 1] OVS_GUARDED;
    uint64_t lost_before OVS_GUARDED; /* n_lost at the clear. */
    uint64_t n_records OVS_GUARDED;   /* Ever; modulo the size it is
                                                 * the next to be written. */
    struct pmd_stall_record records[PMD_STALL_RECORDS] OVS_GUARDED;
};

/* Of a thread that attached.  The model makes access to it safe in a signal
 * handler. */
static __thread struct pmd_thread *own_pmd
    __attribute__((tls_model("initial-exec")));

struct pmd_stall *
pmd_stall_create(void)
{
    struct pmd_stall *stall = xzalloc(sizeof *stall);

    atomic_init(&stall->slot.state, SLOT_IDLE);
    atomic_init(&stall->ring.head, 0);
    atomic_init(&stall->ring.tail, 0);
    atomic_init(&stall->ring.n_lost, 0);
    ovs_mutex_init(&stall->thread_mutex);
    atomic_init(&stall->tid, 0);
    ovs_mutex_init(&stall->mutex);
    return stall;
}

void
pmd_stall_destroy(struct pmd_stall *stall)
{
    ovs_mutex_destroy(&stall->mutex);
    ovs_mutex_destroy(&stall->thread_mutex);
    free(stall);
}

/* The owner. */

void
pmd_stall_attach(struct pmd_thread *pmd)
{
    struct pmd_stall *stall = pmd->stall;

    own_pmd = pmd;
    atomic_store_relaxed(&stall->tid, (int) syscall(SYS_gettid));
    ovs_mutex_lock(&stall->thread_mutex);
    stall->thread = pthread_self();
    stall->attached = true;
    ovs_mutex_unlock(&stall->thread_mutex);
}

void
pmd_stall_detach(struct pmd_thread *pmd)
{
    struct pmd_stall *stall = pmd->stall;

    pmd_stall_begin(pmd, 0);
    ovs_mutex_lock(&stall->thread_mutex);
    stall->attached = false;
    ovs_mutex_unlock(&stall->thread_mutex);
    atomic_store_relaxed(&stall->tid, 0);
    own_pmd = NULL;             /* A signal may still be on its way. */
}

void
pmd_stall_put(struct pmd_thread *pmd, uint64_t cycles)
{
    struct ring *ring = &pmd->stall->ring;
    uint32_t head, tail;

    atomic_read_relaxed(&ring->head, &head);
    /* Pairs with the release of the consumer: he has read what stands there
     * now. */
    atomic_read_explicit(&ring->tail, &tail, memory_order_acquire);
    if (head - tail >= RING_SIZE) {
        uint64_t n;

        atomic_read_relaxed(&ring->n_lost, &n);
        atomic_store_relaxed(&ring->n_lost, n + 1);
        return;
    }
    atomic_read_relaxed(&pmd->mark.start,
                        &ring->reports[head % RING_SIZE].start);
    ring->reports[head % RING_SIZE].cycles = cycles;
    /* Pairs with the acquire of the consumer. */
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/* Stacks. */

#ifdef STALL_STACKS
/* The signal; 0: none.  Written before the first watcher starts. */
static int stall_signal;

/* Writes the stack of 'context' down.  Async-signal-safe. */
static void
unwind(struct pmd_stall_stack *stack, void *context)
{
    unw_cursor_t cursor;
    unw_word_t ip;

    stack->n = 0;
    if (unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME)) {
        return;
    }
    do {
        if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || !ip) {
            break;
        }
        stack->ip[stack->n++] = ip;
    } while (stack->n < PMD_STALL_FRAMES && unw_step(&cursor) > 0);
}

static void
stall_handler(int signo OVS_UNUSED, siginfo_t *info, void *context)
{
    struct pmd_thread *pmd = own_pmd;
    int saved_errno = errno;
    struct slot *slot;
    int state;

    /* The sender can lie about himself.  So his pointer is only compared, and
     * what comes unasked is ignored. */
    if (!pmd || info->si_code != SI_QUEUE || info->si_pid != getpid()
        || info->si_value.sival_ptr != pmd->stall) {
        return;
    }
    slot = &pmd->stall->slot;
    atomic_read_explicit(&slot->state, &state, memory_order_acquire);
    if (state != SLOT_ASKED) {
        return;
    }

    atomic_read_relaxed(&pmd->mark.start, &slot->found);
    slot->stage = pmd_stage_get(&pmd->mark);
    slot->stack.n = 0;
    if (slot->found == slot->asked) {
        unwind(&slot->stack, context);
    }
    atomic_store_explicit(&slot->state, SLOT_ANSWERED, memory_order_release);
    errno = saved_errno;
}

/* Makes the library map what it needs, and look at the tables of the
 * process, before a thread has to wait for that. */
static void
warm_up(void)
{
    struct pmd_stall_stack stack;
    unw_context_t context;

    if (!unw_getcontext(&context)) {
        unwind(&stack, &context);
    }
}

/* Finds a signal that nobody uses.  DPDK takes such ones, too, and looks in
 * the same way. */
static int
free_signal(void)
{
    for (int signo = SIGRTMIN + 5; signo <= SIGRTMAX; signo++) {
        struct sigaction action;

        if (!sigaction(signo, NULL, &action)
            && !(action.sa_flags & SA_SIGINFO)
            && action.sa_handler == SIG_DFL) {
            return signo;
        }
    }
    return 0;
}

/* Asks 'pmd' for its stack.  Returns false if that is impossible. */
static bool
ask_for_stack(struct pmd_thread *pmd, uint64_t start)
{
    struct pmd_stall *stall = pmd->stall;
    struct slot *slot = &stall->slot;
    bool sent = false;
    int state;

    atomic_read_explicit(&slot->state, &state, memory_order_acquire);
    if (!stall_signal || state == SLOT_ASKED) {
        return false;           /* The last signal is still on its way. */
    }
    slot->asked = start;
    atomic_store_explicit(&slot->state, SLOT_ASKED, memory_order_release);

    ovs_mutex_lock(&stall->thread_mutex);
    if (stall->attached) {
        union sigval value = { .sival_ptr = stall };

        sent = !pthread_sigqueue(stall->thread, stall_signal, value);
    }
    ovs_mutex_unlock(&stall->thread_mutex);
    if (!sent) {
        atomic_store_relaxed(&slot->state, SLOT_IDLE);
    }
    return sent;
}
#else
static bool
ask_for_stack(struct pmd_thread *pmd OVS_UNUSED, uint64_t start OVS_UNUSED)
{
    return false;
}
#endif

bool
pmd_stall_has_stacks(void)
{
#ifdef STALL_STACKS
    return true;
#else
    return false;
#endif
}

void
pmd_stall_prepare(void)
{
#ifdef STALL_STACKS
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;

    if (ovsthread_once_start(&once)) {
        struct sigaction action = {
            .sa_sigaction = stall_handler,
            .sa_flags = SA_SIGINFO | SA_RESTART,
        };
        int signo = free_signal();

        warm_up();
        sigemptyset(&action.sa_mask);
        if (signo && !sigaction(signo, &action, NULL)) {
            VLOG_DBG("stall recorder: uses signal %d", signo);
            stall_signal = signo;
        } else {
            VLOG_WARN("stall recorder: all signals are in use, so that no "
                      "stack can be recorded");
        }
        ovsthread_once_done(&once);
    }
#endif
}

/* What the kernel knows of a thread. */

/* Reads file 'name' of thread 'tid'.  Returns false if there is none. */
static bool
read_task_file(int tid, const char *name, char *buffer, size_t size)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    n = read(fd, buffer, size - 1);
    close(fd);
    buffer[MAX(n, 0)] = '\0';
    return n > 0;
}

/* Returns for how long 'tid' ever was ready to run and did not, or -1. */
static int64_t
run_delay_us(int tid)
{
    uint64_t ran, waited;
    char buffer[128];

    if (!tid || !read_task_file(tid, "schedstat", buffer, sizeof buffer)
        || sscanf(buffer, "%"SCNu64" %"SCNu64, &ran, &waited) != 2) {
        return -1;
    }
    return waited / 1000;
}

static char
task_state(int tid)
{
    char buffer[256];
    const char *p;

    if (!tid || !read_task_file(tid, "stat", buffer, sizeof buffer)) {
        return '?';
    }
    p = strrchr(buffer, ')');   /* The end of the name. */
    return p && p[1] == ' ' && isalpha((unsigned char) p[2]) ? p[2] : '?';
}

/* Records. */

static uint64_t
cycles_to_us(uint64_t cycles)
{
    return cycles * 1e6 / pmd_perf_tsc_hz();
}

static uint64_t
now_cycles(void)
{
    struct pmd_perf clock;

    return pmd_perf_now(&clock);
}

static int
read_tid(struct pmd_stall *stall)
{
    int tid;

    atomic_read_relaxed(&stall->tid, &tid);
    return tid;
}

/* Takes the stack over, if it came in time. */
static void
take_answer(struct pmd_stall *stall)
    OVS_REQUIRES(stall->mutex)
{
    struct caught *caught = &stall->caught;
    struct slot *slot = &stall->slot;
    int state;

    atomic_read_explicit(&slot->state, &state, memory_order_acquire);
    if (state != SLOT_ANSWERED) {
        return;
    }
    if (caught->asked && caught->start == slot->asked
        && slot->found == slot->asked) {
        /* Seen from the thread itself, it fits the stack. */
        caught->record.stage = slot->stage;
        caught->record.stack = slot->stack;
    }
    caught->asked = false;
    atomic_store_relaxed(&slot->state, SLOT_IDLE);
}

/* Completes the record of what is caught, which took 'cycles' until now. */
static void
complete_record(struct pmd_stall *stall, struct pmd_stall_record *record,
                uint64_t cycles, bool ended)
    OVS_REQUIRES(stall->mutex)
{
    const struct caught *caught = &stall->caught;
    int64_t waited = run_delay_us(read_tid(stall));

    *record = caught->record;
    record->us = cycles_to_us(cycles);
    record->ended = ended;
    record->waited_us = -1;
    if (waited >= 0 && caught->waited_before_us >= 0) {
        /* It may have waited since then, too. */
        record->waited_us = MIN(waited - caught->waited_before_us,
                                (int64_t) record->us);
    }
}

/* Returns true if what was known as 'known', 'seen' when it was, is the
 * iteration that began at 'start'.  The thread publishes a begin a little later
 * than it is: whoever is stuck meanwhile is found in the iteration before,
 * which has no report. */
static bool
is_same(uint64_t known, uint64_t seen, uint64_t start)
{
    return known && (known == start || (known < start && start < seen));
}

/* Returns where the iteration that began at 'start' was seen last. */
static enum pmd_stage
seen_in(const struct pmd_stall *stall, uint64_t start)
    OVS_REQUIRES(stall->mutex)
{
    for (size_t i = 0; i < GLIMPSES; i++) {
        const struct glimpse *glimpse = &stall->glimpses[i];

        if (is_same(glimpse->start, glimpse->seen, start)) {
            return glimpse->stage;
        }
    }
    return PMD_STALL_NOT_CAUGHT;
}

static void
take_report(struct pmd_stall *stall, uint64_t start, uint64_t cycles)
    OVS_REQUIRES(stall->mutex)
{
    enum pmd_stage stage = seen_in(stall, start);
    uint64_t us = cycles_to_us(cycles);
    struct pmd_stall_figures *figures;

    if (is_same(stall->caught.start, stall->caught.seen, start)) {
        struct pmd_stall_record *record
            = &stall->records[stall->n_records++ % PMD_STALL_RECORDS];

        complete_record(stall, record, cycles, true);
        stage = record->stage;
        stall->caught.start = 0;
    }
    figures = &stall->stages[stage];
    figures->count++;
    figures->total_us += us;
    figures->longest_us = MAX(figures->longest_us, us);
}

static void
collect(struct pmd_stall *stall)
    OVS_REQUIRES(stall->mutex)
{
    struct ring *ring = &stall->ring;
    uint32_t head, tail;

    /* Pairs with the release in pmd_stall_put().  An answer that came in time
     * was there before the report: so it is looked for afterwards. */
    atomic_read_explicit(&ring->head, &head, memory_order_acquire);
    take_answer(stall);
    atomic_read_relaxed(&ring->tail, &tail);
    for (; tail != head; tail++) {
        take_report(stall, ring->reports[tail % RING_SIZE].start,
                    ring->reports[tail % RING_SIZE].cycles);
        /* Pairs with the acquire in pmd_stall_put(). */
        atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    }
}

void
pmd_stall_collect(struct pmd_thread *pmd)
{
    struct pmd_stall *stall = pmd->stall;

    ovs_mutex_lock(&stall->mutex);
    collect(stall);
    ovs_mutex_unlock(&stall->mutex);
}

void
pmd_stall_glimpse(struct pmd_thread *pmd, uint64_t start, uint64_t now,
                  enum pmd_stage stage)
{
    struct pmd_stall *stall = pmd->stall;
    struct glimpse *glimpses = stall->glimpses;

    ovs_mutex_lock(&stall->mutex);
    if (glimpses[0].start != start) {
        glimpses[1] = glimpses[0];
    }
    glimpses[0] = (struct glimpse) {
        .start = start, .seen = now, .stage = stage,
    };
    ovs_mutex_unlock(&stall->mutex);
}

void
pmd_stall_capture(struct pmd_thread *pmd, uint64_t start,
                  enum pmd_stage stage)
{
    struct pmd_stall *stall = pmd->stall;
    struct caught *caught = &stall->caught;

    ovs_mutex_lock(&stall->mutex);
    if (caught->last != start) {
        uint64_t now = now_cycles();
        uint64_t age = now - start;
        int tid = read_tid(stall);

        /* The last one's report may have come since the last look.  If it has
         * not, there was no room for it. */
        collect(stall);
        *caught = (struct caught) {
            .start = start,
            .last = start,
            .seen = now,
            .next_age = 2 * age,
            .record = {
                .started = time_wall_msec() - cycles_to_us(age) / 1000,
                .stage = stage,
                .state = task_state(tid), /* The signal wakes it up. */
            },
        };
        caught->asked = ask_for_stack(pmd, start);
        caught->waited_before_us = run_delay_us(tid);
    } else if (caught->start == start
               && now_cycles() - start >= caught->next_age) {
        /* It may be stuck somewhere else by now.  The last look is later than
         * half of the stall, so it is there that most of it was spent. */
        caught->next_age *= 2;
        collect(stall);
        if (caught->start == start) {
            char state = task_state(read_tid(stall));

            if (ask_for_stack(pmd, start)) {
                caught->asked = true;
                caught->record.state = state;
            } else if (!caught->record.stack.n) {
                caught->record.stage = stage;
            }
        }
    }
    ovs_mutex_unlock(&stall->mutex);
}

void
pmd_stall_set_threshold(struct pmd_thread *pmd, uint64_t us)
{
    uint64_t cycles = us * (pmd_perf_tsc_hz() / 1e6);

    atomic_store_relaxed(&pmd->mark.limit, us ? cycles : UINT64_MAX);
}

void
pmd_stall_read(struct pmd_thread *pmd, struct pmd_stall_report *report)
{
    struct pmd_stall *stall = pmd->stall;
    uint64_t start, slept, n, now = now_cycles();

    ovs_mutex_lock(&stall->mutex);
    collect(stall);
    memcpy(report->stages, stall->stages, sizeof report->stages);
    atomic_read_relaxed(&stall->ring.n_lost, &n);
    report->n_lost = n - stall->lost_before;
    report->n_records = 0;

    atomic_read_explicit(&pmd->mark.slept, &slept, memory_order_acquire);
    atomic_read_explicit(&pmd->mark.start, &start, memory_order_acquire);
    if (stall->caught.start && stall->caught.start == start
        && now - start > slept) {
        complete_record(stall, &report->records[report->n_records++],
                        now - start - slept, false);
    }
    n = stall->n_records;
    for (uint64_t i = 0; i < MIN(n, PMD_STALL_RECORDS); i++) {
        report->records[report->n_records++]
            = stall->records[(n - 1 - i) % PMD_STALL_RECORDS];
    }
    ovs_mutex_unlock(&stall->mutex);
}

void
pmd_stall_clear(struct pmd_thread *pmd)
{
    struct pmd_stall *stall = pmd->stall;

    ovs_mutex_lock(&stall->mutex);
    collect(stall);
    memset(stall->stages, 0, sizeof stall->stages);
    atomic_read_relaxed(&stall->ring.n_lost, &stall->lost_before);
    stall->n_records = 0;
    ovs_mutex_unlock(&stall->mutex);
}
