/* SPDX-License-Identifier: Apache-2.0 */

/* What operations of seq and RCU cost, in nanoseconds of the thread that makes
 * them.
 *
 * Uses nothing but the public interface, so that it can be linked with ours
 * and with Open vSwitch's and the two compared (tests/run-bench-sync).  Prints
 * one line per operation: its name, a tab, and the figure.
 *
 * Usage: bench-sync [MILLISECONDS]
 *
 * Each figure is the best of several runs, which together take MILLISECONDS
 * (default 300): other load on the machine makes a run slower, never
 * faster. */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "seq.h"
#include "util.h"

#define N_RUNS 5

static long long int run_ns = 300 * 1000000LL / N_RUNS;

static long long int
now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Does the operation 'n' times. */
typedef void operation_func(unsigned int n);

/* Returns the nanoseconds of one operation in the best run. */
static double
measure(operation_func *operation)
{
    double best = 1e18;

    for (int i = 0; i < N_RUNS; i++) {
        unsigned long long int n_done = 0;
        long long int start = now_ns();
        unsigned int n = 1;
        long long int took;

        do {
            operation(n);
            n_done += n;
            n = MIN(2 * n, 1024);
            took = now_ns() - start;
        } while (took < run_ns);
        best = MIN(best, (double) took / n_done);
    }
    return best;
}

static void
print_cost(const char *name, operation_func *operation)
{
    printf("%s\t%.1f\n", name, measure(operation));
    fflush(stdout);
}

/* Seqs. */

static struct seq *seq;
static volatile uint64_t sink;

static void
op_read(unsigned int n)
{
    while (n--) {
        sink = seq_read(seq);
    }
}

static void
op_change(unsigned int n)
{
    while (n--) {
        seq_change(seq);
    }
}

static void
op_wait(unsigned int n)
{
    while (n--) {
        seq_wait(seq, seq_read(seq));
        seq_woke();
    }
}

static void
op_create(unsigned int n)
{
    while (n--) {
        seq_destroy(seq_create());
    }
}

/* RCU. */

static void
op_quiesce(unsigned int n)
{
    while (n--) {
        ovsrcu_quiesce();
    }
}

static void
op_try_quiesce(unsigned int n)
{
    while (n--) {
        ovsrcu_try_quiesce();
    }
}

static void
op_start_end(unsigned int n)
{
    while (n--) {
        ovsrcu_quiesce_start();
        ovsrcu_quiesce_end();
    }
}

static void
no_callback(void *aux OVS_UNUSED)
{
}

static void
op_postpone(unsigned int n)
{
    while (n--) {
        ovsrcu_postpone(no_callback, &run_ns);
    }
    ovsrcu_quiesce();
}

static void
op_postpone_quiesce(unsigned int n)
{
    while (n--) {
        ovsrcu_postpone(no_callback, &run_ns);
        ovsrcu_quiesce();
    }
}

static void
op_synchronize(unsigned int n)
{
    while (n--) {
        ovsrcu_synchronize();
    }
}

/* Other threads that go on until they are told. */

static atomic_bool stop;

static bool
told_to_stop(void)
{
    bool value;

    atomic_read_relaxed(&stop, &value);
    return value;
}

/* Waits for 'seq', all the time. */
static void *
waiter_main(void *aux OVS_UNUSED)
{
    while (!told_to_stop()) {
        seq_wait(seq, seq_read(seq));
        poll_timer_wait(100);
        poll_block();
    }
    return NULL;
}

/* Changes a seq of its own. */
static void *
changer_main(void *aux OVS_UNUSED)
{
    struct seq *own = seq_create();

    while (!told_to_stop()) {
        seq_change(own);
    }
    seq_destroy(own);
    return NULL;
}

/* Polls. */
static void *
poller_main(void *aux OVS_UNUSED)
{
    while (!told_to_stop()) {
        for (volatile int i = 0; i < 1000; i++) {
            continue;
        }
        ovsrcu_try_quiesce();
    }
    return NULL;
}

/* What a switch does beside forwarding: changes a seq for which somebody
 * waits, postpones, and sleeps for a moment. */
static void *
control_main(void *aux OVS_UNUSED)
{
    while (!told_to_stop()) {
        for (int i = 0; i < 100; i++) {
            ovsrcu_postpone(no_callback, &run_ns);
            seq_change(seq);
        }
        poll_timer_wait(1);
        poll_block();
    }
    return NULL;
}

static void
print_cost_beside(const char *name, operation_func *operation,
                  void *(*main_)(void *))
{
    pthread_t thread;

    atomic_store_relaxed(&stop, false);
    thread = ovs_thread_create("bench", main_, NULL);
    print_cost(name, operation);
    atomic_store_relaxed(&stop, true);
    ovsrcu_quiesce_start();
    xpthread_join(thread, NULL);
    ovsrcu_quiesce_end();
}

/* The quiescent states of a polling thread, one by one, beside control
 * threads: the time of one, the 99.9th percentile and the failures. */
static void
print_try_quiesce_under_load(void)
{
    enum { N = 200000 };
    static unsigned int histogram[100000];  /* In units of 10 ns. */
    static void *(*const mains[])(void *) = {
        control_main, control_main, waiter_main, waiter_main,
    };
    pthread_t threads[ARRAY_SIZE(mains)];
    unsigned int n_failed = 0, n = 0, sum = 0, i;
    long long int total = 0;

    atomic_store_relaxed(&stop, false);
    for (i = 0; i < ARRAY_SIZE(mains); i++) {
        threads[i] = ovs_thread_create("load", mains[i], NULL);
    }
    for (n = 0; n < N; n++) {
        long long int start, took;

        for (volatile int j = 0; j < 1000; j++) {
            continue;
        }
        start = now_ns();
        n_failed += ovsrcu_try_quiesce() != 0;
        took = now_ns() - start;
        total += took;
        histogram[MIN(took / 10, ARRAY_SIZE(histogram) - 1)]++;
    }
    for (i = 0; sum < N / 1000 * 999; i++) {
        sum += histogram[i];
    }
    atomic_store_relaxed(&stop, true);
    ovsrcu_quiesce_start();
    for (int j = 0; j < ARRAY_SIZE(mains); j++) {
        xpthread_join(threads[j], NULL);
    }
    ovsrcu_quiesce_end();
    printf("try_quiesce, control load, mean\t%.1f\n", (double) total / N);
    printf("try_quiesce, control load, 99.9th percentile\t%u.0\n", i * 10);
    printf("try_quiesce, control load, failures per 1,000\t%.1f\n",
           n_failed * 1000.0 / N);
}

int
main(int argc, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    if (argc > 2 || (argc == 2 && atoi(argv[1]) <= 0)) {
        ovs_fatal(0, "usage: %s [MILLISECONDS]", program_name);
    }
    if (argc == 2) {
        run_ns = atoi(argv[1]) * 1000000LL / N_RUNS;
    }

    seq = seq_create();

    /* The process has a second thread from the beginning, and RCU's own. */
    ovsrcu_quiesce();
    atomic_store_relaxed(&stop, true);
    xpthread_join(ovs_thread_create("first", changer_main, NULL), NULL);
    ovsrcu_quiesce();

    print_cost("seq_read", op_read);
    print_cost("seq_change, nobody waits", op_change);
    print_cost_beside("seq_change, a thread waits", op_change, waiter_main);
    print_cost_beside("seq_change, another thread changes another seq",
                      op_change, changer_main);
    print_cost("seq_wait + seq_woke", op_wait);
    print_cost("seq_create + seq_destroy", op_create);

    print_cost("quiesce", op_quiesce);
    print_cost("try_quiesce", op_try_quiesce);
    print_cost_beside("try_quiesce, another thread changes a seq",
                      op_try_quiesce, changer_main);
    print_cost("quiesce_start + quiesce_end", op_start_end);
    print_cost("postpone", op_postpone);
    print_cost("postpone + quiesce", op_postpone_quiesce);
    print_cost("synchronize, nobody is active", op_synchronize);
    print_cost_beside("synchronize, a thread polls", op_synchronize,
                      poller_main);
    print_try_quiesce_under_load();

    seq_destroy(seq);
    return 0;
}
