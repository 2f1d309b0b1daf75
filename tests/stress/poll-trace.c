/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "stress/poll-trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "compiler.h"
#include "hash.h"
#include "ovs-atomic.h"
#include "util.h"

#if defined(HAVE_UNWIND) && defined(__GLIBC__)
#define TRACE_WORKS 1
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#if defined(__x86_64__) && defined(PR_SET_SYSCALL_USER_DISPATCH)
#define TRACE_SYSCALLS 1
#endif
#endif

enum { N_SLOTS = 1024 };        /* A power of 2. */

/* What of the kernel's interface its headers may lack. */
enum { DISPATCH_ALLOW = 0, DISPATCH_BLOCK = 1 };
enum { CODE_USER_DISPATCH = 2 };

/* The traced thread's.  The model makes it accessible in a signal handler and
 * within malloc(). */
static __thread struct {
    volatile char selector;     /* The kernel reads it at each system call. */
    volatile bool on;           /* Note what is called. */
    bool attached;
    sigset_t old_mask;
} own __attribute__((tls_model("initial-exec")));

static atomic_bool wanted = false;      /* Relaxed. */

/* The traced thread stores false, release, when it is done with 'result';
 * others acquire. */
static atomic_bool active = false;

static struct {
    struct poll_trace_event slots[N_SLOTS];     /* By hash; n == 0: free. */
    uint64_t n_lost;
    uint64_t n_polls;
    bool saw_syscalls;
    struct timespec begin, end;
} result;

bool
poll_trace_works(void)
{
#ifdef TRACE_WORKS
    return true;
#else
    return false;
#endif
}

/* Taking notes. */

#ifdef TRACE_WORKS
static void
record(const struct poll_trace_event *new, bool failed)
{
    uint32_t hash = hash_bytes(new->stack, sizeof new->stack,
                               new->kind + new->number);

    for (size_t i = 0; i < N_SLOTS; i++) {
        struct poll_trace_event *e = &result.slots[(hash + i) % N_SLOTS];

        if (!e->n) {
            *e = *new;
        } else if (e->kind != new->kind || e->function != new->function
                   || e->number != new->number
                   || e->operation != new->operation
                   || memcmp(e->stack, new->stack, sizeof e->stack)) {
            continue;
        }
        e->n++;
        e->n_failed += failed;
        return;
    }
    result.n_lost++;
}

/* Takes note of a call of 'function' that returns to 'caller'. */
static void __attribute__((noinline))
note_call(enum poll_trace_kind kind, const char *function, bool failed,
          void *caller)
{
    struct poll_trace_event e = { .kind = kind, .function = function };
    void *frames[POLL_TRACE_DEPTH + 4];
    char selector = own.selector;
    int saved_errno = errno;
    int n, skip = 0;

    /* libunwind has locks and makes system calls, too. */
    own.on = false;
    own.selector = DISPATCH_ALLOW;
    n = unw_backtrace(frames, ARRAY_SIZE(frames));
    while (skip < n && frames[skip] != caller) {
        skip++;
    }
    if (skip >= n) {
        e.stack[0] = caller;
    } else {
        memcpy(e.stack, frames + skip,
               MIN(n - skip, POLL_TRACE_DEPTH) * sizeof *frames);
    }
    record(&e, failed);
    own.selector = selector;
    own.on = true;
    errno = saved_errno;
}

/* Our definitions of what is traced.  The C library's own are found by name:
 * most of their callers come before anything could be prepared. */

#define NOTE(KIND, NAME, FAILED)                                        \
    if (OVS_UNLIKELY(own.on)) {                                         \
        note_call(KIND, NAME, FAILED, __builtin_return_address(0));     \
    }

#define FIND_REAL(NAME)                                     \
    static ATOMIC(void *) found_##NAME = NULL;              \
    void *real_##NAME;                                      \
                                                            \
    atomic_read_relaxed(&found_##NAME, &real_##NAME);       \
    if (OVS_UNLIKELY(!real_##NAME)) {                       \
        real_##NAME = dlsym(RTLD_NEXT, #NAME);              \
        atomic_store_relaxed(&found_##NAME, real_##NAME);   \
    }

#define DEFINE_LOCK(KIND, NAME, TYPE)               \
    int                                             \
    NAME(TYPE *lock)                                \
    {                                               \
        FIND_REAL(NAME);                            \
        int (*real)(TYPE *) = real_##NAME;          \
        int error = real(lock);                     \
                                                    \
        NOTE(KIND, #NAME, error != 0);              \
        return error;                               \
    }

DEFINE_LOCK(POLL_TRACE_LOCK, pthread_mutex_lock, pthread_mutex_t)
DEFINE_LOCK(POLL_TRACE_LOCK, pthread_rwlock_rdlock, pthread_rwlock_t)
DEFINE_LOCK(POLL_TRACE_LOCK, pthread_rwlock_wrlock, pthread_rwlock_t)
DEFINE_LOCK(POLL_TRACE_LOCK, pthread_spin_lock, pthread_spinlock_t)
DEFINE_LOCK(POLL_TRACE_LOCK, pthread_barrier_wait, pthread_barrier_t)
DEFINE_LOCK(POLL_TRACE_TRY, pthread_mutex_trylock, pthread_mutex_t)
DEFINE_LOCK(POLL_TRACE_TRY, pthread_rwlock_tryrdlock, pthread_rwlock_t)
DEFINE_LOCK(POLL_TRACE_TRY, pthread_rwlock_trywrlock, pthread_rwlock_t)
DEFINE_LOCK(POLL_TRACE_TRY, pthread_spin_trylock, pthread_spinlock_t)

int
pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    FIND_REAL(pthread_cond_wait);
    int (*real)(pthread_cond_t *, pthread_mutex_t *) = real_pthread_cond_wait;

    NOTE(POLL_TRACE_LOCK, "pthread_cond_wait", false);
    return real(cond, mutex);
}

int
pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                       const struct timespec *until)
{
    FIND_REAL(pthread_cond_timedwait);
    int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *)
        = real_pthread_cond_timedwait;

    NOTE(POLL_TRACE_LOCK, "pthread_cond_timedwait", false);
    return real(cond, mutex, until);
}

/* The heap has other names for what may be replaced. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *
malloc(size_t size)
{
    NOTE(POLL_TRACE_HEAP, "malloc", false);
    return __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
    NOTE(POLL_TRACE_HEAP, "calloc", false);
    return __libc_calloc(n, size);
}

void *
realloc(void *p, size_t size)
{
    NOTE(POLL_TRACE_HEAP, "realloc", false);
    return __libc_realloc(p, size);
}

int
posix_memalign(void **p, size_t alignment, size_t size)
{
    void *new;

    NOTE(POLL_TRACE_HEAP, "posix_memalign", false);
    if (alignment < sizeof(void *) || !IS_POW2(alignment)) {
        return EINVAL;
    }
    new = __libc_memalign(alignment, size);
    if (!new) {
        return ENOMEM;
    }
    *p = new;
    return 0;
}

void *
aligned_alloc(size_t alignment, size_t size)
{
    NOTE(POLL_TRACE_HEAP, "aligned_alloc", false);
    return __libc_memalign(alignment, size);
}

void
free(void *p)
{
    if (p) {
        NOTE(POLL_TRACE_HEAP, "free", false);
    }
    __libc_free(p);
}
#endif /* TRACE_WORKS */

/* System calls. */

#ifdef TRACE_SYSCALLS
/* Where the handler of SIGSYS returns to: the one place from which the kernel
 * always takes a system call, since the handler cannot leave dispatch off and
 * the return itself is one.  The C library's own such place cannot be asked
 * for. */
void poll_trace_restorer(void);
enum { RESTORER_LEN = 11 };
asm(".text\n"
    ".globl poll_trace_restorer\n"
    ".hidden poll_trace_restorer\n"
    ".type poll_trace_restorer, @function\n"
    "poll_trace_restorer:\n"
    "    movq $15, %rax\n"              /* rt_sigreturn */
    "    syscall\n"
    "    ud2\n"
    ".size poll_trace_restorer, . - poll_trace_restorer\n");

/* As the kernel has it. */
struct kernel_sigaction {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long int flags;
    void (*restorer)(void);
    uint64_t mask;
};
#define KERNEL_SA_RESTORER 0x04000000

static long int
raw_syscall(long int number, const greg_t *regs)
{
    register long int r10 asm("r10") = regs[REG_R10];
    register long int r8 asm("r8") = regs[REG_R8];
    register long int r9 asm("r9") = regs[REG_R9];
    long int value = number;

    asm volatile("syscall"
                 : "+a" (value)
                 : "D" (regs[REG_RDI]), "S" (regs[REG_RSI]),
                   "d" (regs[REG_RDX]), "r" (r10), "r" (r8), "r" (r9)
                 : "rcx", "r11", "memory");
    return value;
}

static void
walk_context(ucontext_t *context, void *stack[POLL_TRACE_DEPTH])
{
    unw_cursor_t cursor;
    unw_word_t ip;

    if (unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME)) {
        return;
    }
    for (size_t i = 0; i < POLL_TRACE_DEPTH; i++) {
        if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || !ip) {
            break;
        }
        stack[i] = (void *) (uintptr_t) ip;
        if (unw_step(&cursor) <= 0) {
            break;
        }
    }
}

static void
on_sigsys(int signo OVS_UNUSED, siginfo_t *info, void *context_)
{
    ucontext_t *context = context_;
    greg_t *regs = context->uc_mcontext.gregs;
    struct poll_trace_event e = { .kind = POLL_TRACE_SYSCALL };
    int saved_errno = errno;
    bool on = own.on;

    own.selector = DISPATCH_ALLOW;
    own.on = false;
    if (info->si_code != CODE_USER_DISPATCH) {
        abort();
    }
    e.number = info->si_syscall;
    if (e.number == SYS_futex) {
        e.operation = regs[REG_RSI] & 0x7f;
    }
    walk_context(context, e.stack);
    record(&e, false);
    regs[REG_RAX] = raw_syscall(e.number, regs);
    errno = saved_errno;
    own.on = on;
    own.selector = DISPATCH_BLOCK;
}

static bool
dispatch_start(void)
{
    struct kernel_sigaction action = {
        .handler = on_sigsys,
        .flags = SA_SIGINFO | KERNEL_SA_RESTORER,
        .restorer = poll_trace_restorer,
        .mask = UINT64_MAX,
    };

    return !syscall(SYS_rt_sigaction, SIGSYS, &action, NULL,
                    sizeof action.mask)
           && !prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
                     (unsigned long int) poll_trace_restorer,
                     (unsigned long int) RESTORER_LEN, &own.selector);
}

static void
dispatch_stop(void)
{
    prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
}
#else
static bool
dispatch_start(void)
{
    return false;
}

static void
dispatch_stop(void)
{
}
#endif

/* Beginning and end. */

void
poll_trace_want(bool want)
{
    atomic_store_relaxed(&wanted, want);
}

bool
poll_trace_is_on(void)
{
    bool on;

    atomic_read_explicit(&active, &on, memory_order_acquire);
    return on;
}

static void
attach(void)
{
    sigset_t mask;

    sigfillset(&mask);
    sigdelset(&mask, SIGSYS);
    pthread_sigmask(SIG_SETMASK, &mask, &own.old_mask);
    result.saw_syscalls = dispatch_start();
    own.attached = true;
    atomic_store_explicit(&active, true, memory_order_release);
    clock_gettime(CLOCK_MONOTONIC, &result.begin);
}

static void
detach(void)
{
    clock_gettime(CLOCK_MONOTONIC, &result.end);
    if (result.saw_syscalls) {
        dispatch_stop();
    }
    pthread_sigmask(SIG_SETMASK, &own.old_mask, NULL);
    own.attached = false;
    atomic_store_explicit(&active, false, memory_order_release);
}

void
poll_trace_pause(void)
{
    own.selector = DISPATCH_ALLOW;
    own.on = false;
}

void
poll_trace_resume(void)
{
    bool want;

    atomic_read_relaxed(&wanted, &want);
    if (OVS_UNLIKELY(want != own.attached)) {
        if (want) {
            attach();
        } else {
            detach();
        }
    }
    if (want) {
        result.n_polls++;
        own.on = true;
        own.selector = DISPATCH_BLOCK;
    }
}

/* Results. */

const struct poll_trace_event *
poll_trace_next(const struct poll_trace_event *prev)
{
    size_t i = prev ? prev - result.slots + 1 : 0;

    while (i < N_SLOTS && !result.slots[i].n) {
        i++;
    }
    return i < N_SLOTS ? &result.slots[i] : NULL;
}

uint64_t
poll_trace_n_lost(void)
{
    return result.n_lost;
}

bool
poll_trace_saw_syscalls(void)
{
    return result.saw_syscalls;
}

uint64_t
poll_trace_n_polls(void)
{
    return result.n_polls;
}

double
poll_trace_seconds(void)
{
    return (result.end.tv_sec - result.begin.tv_sec
            + (result.end.tv_nsec - result.begin.tv_nsec) * 1e-9);
}

char *
poll_trace_symbol(const void *ip)
{
    Dl_info info;

#ifdef TRACE_WORKS
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t offset;
    char name[128];

    /* A stripped file's next symbol may be far away: the unwind tables know
     * where a function begins. */
    if (!unw_getcontext(&context)
        && !unw_init_local2(&cursor, &context, UNW_INIT_SIGNAL_FRAME)
        && !unw_set_reg(&cursor, UNW_REG_IP, (uintptr_t) ip)
        && !unw_get_proc_name(&cursor, name, sizeof name, &offset)) {
        unw_proc_info_t proc;

        if (!unw_get_proc_info(&cursor, &proc)
            && proc.start_ip == (uintptr_t) ip - offset) {
            return xasprintf("%s+0x%"PRIx64, name, (uint64_t) offset);
        }
    }
#endif
    if (dladdr(ip, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');

        return xasprintf("%s+0x%"PRIxPTR,
                         slash ? slash + 1 : info.dli_fname,
                         (uintptr_t) ip - (uintptr_t) info.dli_fbase);
    }
    return xasprintf("%p", ip);
}
