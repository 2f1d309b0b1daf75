/* SPDX-License-Identifier: Apache-2.0 */

/* Tests what RCU and seq promise to threads that poll: no system call, and
 * never an object that is gone, whatever the others do. */

#include <config.h>

#include "ovs-rcu.h"

#include <sys/types.h>
#include <sys/wait.h>

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include "openvswitch/vlog.h"
#include "ovs-thread.h"
#include "seq.h"
#include "timeval.h"
#include "unit.h"
#include "util.h"

#ifndef __has_feature
#define __has_feature(FEATURE) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) \
    || __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1             /* Makes system calls of its own. */
#else
#define SANITIZED 0
#endif

/* Not xnanosleep(), after which the thread is active. */
static void
nap(long long int ms)
{
    struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&ts, NULL);
}

#if defined(__linux__) && !SANITIZED
enum { JAIL_OPEN, JAIL_SERVED, JAIL_IMPOSSIBLE };
static atomic_int jail = JAIL_OPEN;
static atomic_uint n_callbacks;

static void
count_callback(void *dummy)
{
    unsigned int n;

    free(dummy);
    atomic_add(&n_callbacks, 1, &n);
}

/* Polls in a jail where the first system call kills the process. */
static void *
jailed_main(void *aux OVS_UNUSED)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = { ARRAY_SIZE(filter), filter };
    struct seq *seq = seq_create();

    ovsrcu_try_quiesce();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        atomic_store(&jail, JAIL_IMPOSSIBLE);
        return NULL;
    }
    for (int i = 0; i < 5000000; i++) {
        ovsrcu_try_quiesce();
        seq_change(seq);
    }
    atomic_store(&jail, JAIL_SERVED);

    /* Not the usual way out of a thread, which makes other calls. */
    ovsrcu_try_quiesce();
    syscall(SYS_exit, 0);
    OVS_NOT_REACHED();
}

static void
test_no_system_call(void)
{
    int status;
    pid_t pid;

    /* In a process of its own, since the thread does not exit properly. */
    pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        unsigned int n;
        int state;

        ovs_thread_create("jailed", jailed_main, NULL);
        ovsrcu_quiesce_start();
        do {
            ovsrcu_quiesce_end();
            ovsrcu_postpone(count_callback, (int *) xmalloc(sizeof(int)));
            ovsrcu_quiesce_start();
            nap(1);
            atomic_read(&jail, &state);
        } while (state == JAIL_OPEN);
        if (state == JAIL_IMPOSSIBLE) {
            printf("# no_system_call: cannot be watched here\n");
        }
        fflush(NULL);

        /* The others made their way past it meanwhile. */
        atomic_read(&n_callbacks, &n);
        _exit(state == JAIL_IMPOSSIBLE || n ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_MSG(!WIFSIGNALED(status), "killed by signal %d, as by a system call",
              WTERMSIG(status));
    CHECK_INT(WEXITSTATUS(status), ==, 0);
}
#endif

/* Readers of all kinds follow a pointer that writers replace all the time.
 * The old object is spoiled and freed after a grace period: no reader must
 * ever see that. */
#define ALIVE 0x600d600dU
#define DEAD 0xdeaddeadU

struct object {
    unsigned int a, b;
};

static OVSRCU_TYPE(struct object *) object;
static struct ovs_mutex object_mutex = OVS_MUTEX_INITIALIZER;
static atomic_bool stress_done;
static atomic_uint n_objects;
static atomic_uint n_reads;

static bool
is_stress_done(void)
{
    bool done;

    atomic_read_explicit(&stress_done, &done, memory_order_acquire);
    return done;
}

static void
object_free(void *object_)
{
    struct object *old = object_;
    unsigned int n;

    CHECK_HEX(old->a, ==, ALIVE);
    old->a = old->b = DEAD;
    free(old);
    atomic_sub(&n_objects, 1, &n);
}

static void
object_replace(void)
{
    struct object *new = xmalloc(sizeof *new);
    struct object *old;
    unsigned int n;

    atomic_add(&n_objects, 1, &n);
    new->a = new->b = ALIVE;
    ovs_mutex_lock(&object_mutex);
    old = ovsrcu_get_protected(struct object *, &object);
    ovsrcu_set(&object, new);
    ovs_mutex_unlock(&object_mutex);
    if (old) {
        ovsrcu_postpone(object_free, old);
    }
}

static void
object_look(void)
{
    const struct object *seen = ovsrcu_get(struct object *, &object);
    unsigned int n;

    CHECK_HEX(seen->a, ==, ALIVE);
    for (int i = 0; i < 50; i++) {
        atomic_signal_fence(memory_order_seq_cst);
    }
    CHECK_HEX(seen->b, ==, ALIVE);
    atomic_add_relaxed(&n_reads, 1, &n);
}

static void *
stress_poller(void *aux OVS_UNUSED)
{
    while (!is_stress_done()) {
        for (int i = 0; i < 100; i++) {
            object_look();
        }
        ovsrcu_try_quiesce();
    }
    return NULL;
}

static void *
stress_sleeper(void *aux OVS_UNUSED)
{
    while (!is_stress_done()) {
        object_look();
        ovsrcu_quiesce_start();
        xnanosleep(1000);
        ovsrcu_quiesce_end();
        object_look();
        ovsrcu_quiesce();
    }
    return NULL;
}

static void *
stress_writer(void *aux OVS_UNUSED)
{
    for (int i = 0; !is_stress_done(); i++) {
        object_look();
        object_replace();
        if (i % 10 == 9) {
            ovsrcu_quiesce();
        }
        if (i % 200 == 199) {
            ovsrcu_synchronize();
        }
        if (i % 1000 == 999) {
            ovsrcu_barrier();
        }
    }
    return NULL;
}

static void *
stress_passenger(void *aux OVS_UNUSED)
{
    object_look();
    object_replace();
    return NULL;
}

static void
test_stress(void)
{
    static void *(*const mains[])(void *) = {
        stress_poller, stress_sleeper, stress_sleeper, stress_writer,
        stress_writer,
    };
    pthread_t threads[ARRAY_SIZE(mains)];
    long long int end = time_msec() + 2000;
    unsigned int n;

    ovsrcu_quiesce_end();
    object_replace();
    for (int i = 0; i < ARRAY_SIZE(mains); i++) {
        threads[i] = ovs_thread_create("stress", mains[i], NULL);
    }
    ovsrcu_quiesce_start();
    while (time_msec() < end) {
        xpthread_join(ovs_thread_create("passenger", stress_passenger, NULL),
                      NULL);
        nap(5);
    }
    atomic_store_explicit(&stress_done, true, memory_order_release);
    for (int i = 0; i < ARRAY_SIZE(mains); i++) {
        xpthread_join(threads[i], NULL);
    }
    ovsrcu_barrier();
    atomic_read(&n_objects, &n);
    CHECK_INT(n, ==, 1);
    free(ovsrcu_get_protected(struct object *, &object));
    atomic_read(&n_reads, &n);
    CHECK_INT(n, >, 1000);
    ovsrcu_quiesce_start();
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_CONSOLE, VLL_OFF);

#if defined(__linux__) && !SANITIZED
    RUN_TEST(test_no_system_call);
#endif
    RUN_TEST(test_stress);
    ovsrcu_exit();
    return 0;
}
