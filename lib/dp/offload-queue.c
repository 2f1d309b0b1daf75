/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/offload-queue.h"

#include <stdlib.h>

#include "mov-avg.h"
#include "netdev-offload.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/thread.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "seq.h"
#include "timeval.h"
#include "util.h"

/* Longest time without a quiescent state while there is work, us. */
#define QUIESCE_INTERVAL_US 10000LL

/* Number of values that the exponential average remembers. */
enum { EMA_VALUES = 100 };

struct offload_thread {
    struct handoff jobs;
    struct seq *seq;            /* Changes when a job is put. */
    atomic_uint64_t n_queued;   /* Jobs put and not begun.  Relaxed. */

    struct ovs_mutex latency_mutex;
    struct mov_avg_cma cma OVS_GUARDED;
    struct mov_avg_ema ema OVS_GUARDED;
};

/* Null until the first job.  Written once (release), read by all (acquire). */
static ATOMIC(struct offload_thread *) offload_threads;

static struct offload_thread *
started_threads(void)
{
    struct offload_thread *threads;

    /* Pairs with the store in start_threads(). */
    atomic_read_explicit(&offload_threads, &threads, memory_order_acquire);
    return threads;
}

static void
note_latency(struct offload_thread *thread, long long queued_us)
{
    long long latency = time_usec() - queued_us;

    ovs_mutex_lock(&thread->latency_mutex);
    mov_avg_cma_update(&thread->cma, latency);
    mov_avg_ema_update(&thread->ema, latency);
    ovs_mutex_unlock(&thread->latency_mutex);
}

/* Does the jobs of the list 'node'. */
static void
run_jobs(struct offload_thread *thread, struct handoff_node *node)
{
    long long next_quiesce = time_usec() + QUIESCE_INTERVAL_US;

    while (node) {
        struct offload_job *job = CONTAINER_OF(node, struct offload_job, node);
        long long queued_us = job->queued_us;
        uint64_t orig;

        node = node->next;
        atomic_sub_relaxed(&thread->n_queued, 1, &orig);
        job->run(job);
        note_latency(thread, queued_us);

        if (time_usec() >= next_quiesce) {
            ovsrcu_quiesce();
            next_quiesce = time_usec() + QUIESCE_INTERVAL_US;
        }
    }
}

static void *
offload_thread_main(void *thread_)
{
    struct offload_thread *thread = thread_;

    for (;;) {
        uint64_t seq = seq_read(thread->seq);

        run_jobs(thread, handoff_take(&thread->jobs));
        seq_wait(thread->seq, seq);
        poll_block();
    }
    return NULL;
}

static struct offload_thread *
start_threads(void)
{
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;

    if (ovsthread_once_start(&once)) {
        unsigned int n = netdev_offload_thread_nb();
        struct offload_thread *threads = xcalloc(n, sizeof *threads);

        for (unsigned int i = 0; i < n; i++) {
            struct offload_thread *thread = &threads[i];

            handoff_init(&thread->jobs);
            thread->seq = seq_create();
            atomic_init(&thread->n_queued, 0);
            ovs_mutex_init(&thread->latency_mutex);
            ovs_mutex_lock(&thread->latency_mutex);
            mov_avg_cma_init(&thread->cma);
            mov_avg_ema_init(&thread->ema, EMA_VALUES);
            ovs_mutex_unlock(&thread->latency_mutex);
            /* The name is how the library knows an offload thread. */
            ovs_thread_create("hw_offload", offload_thread_main, thread);
        }
        atomic_store_explicit(&offload_threads, threads,
                              memory_order_release);
        ovsthread_once_done(&once);
    }
    return started_threads();
}

static void
put(struct offload_thread *thread, struct offload_job *job)
{
    uint64_t orig;

    job->queued_us = time_usec();
    atomic_add_relaxed(&thread->n_queued, 1, &orig);
    handoff_put(&thread->jobs, &job->node);
    seq_change(thread->seq);
}

bool
offload_queue_has_room(const ovs_u128 *mega_ufid)
{
    struct offload_thread *threads = started_threads();
    uint64_t n = 0;

    if (threads) {
        unsigned int tid = netdev_offload_ufid_to_thread_id(*mega_ufid);

        atomic_read_relaxed(&threads[tid].n_queued, &n);
    }
    return n < OFFLOAD_QUEUE_MAX;
}

void
offload_queue_put(struct offload_job *job, const ovs_u128 *mega_ufid)
{
    struct offload_thread *threads = start_threads();

    put(&threads[netdev_offload_ufid_to_thread_id(*mega_ufid)], job);
}

/* Rendezvous. */

struct rendezvous {
    struct ovs_barrier barrier; /* All threads and the caller. */
    struct ovs_refcount ref_cnt; /* Likewise: the last one out frees. */
    void (*at_rest)(void *);
    void *aux;
};

struct rendezvous_job {
    struct offload_job job;
    struct rendezvous *rendezvous;
};

static void
rendezvous_unref(struct rendezvous *rendezvous)
{
    if (ovs_refcount_unref(&rendezvous->ref_cnt) == 1) {
        ovs_barrier_destroy(&rendezvous->barrier);
        free(rendezvous);
    }
}

static void
run_rendezvous(struct offload_job *job_)
{
    struct rendezvous_job *job = CONTAINER_OF(job_, struct rendezvous_job,
                                              job);
    struct rendezvous *rendezvous = job->rendezvous;

    free(job);
    if (rendezvous->at_rest) {
        rendezvous->at_rest(rendezvous->aux);
    }
    ovs_barrier_block(&rendezvous->barrier);
    ovs_barrier_block(&rendezvous->barrier);
    rendezvous_unref(rendezvous);
}

void
offload_queue_rendezvous(void (*at_rest)(void *), void (*meanwhile)(void *),
                         void *aux)
{
    /* Two rendezvous at a time would wait for each other's threads. */
    static struct ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
    unsigned int n = netdev_offload_thread_nb();
    struct offload_thread *threads = started_threads();
    struct rendezvous *rendezvous;

    if (!threads) {
        if (meanwhile) {
            meanwhile(aux);
        }
        return;
    }

    rendezvous = xmalloc(sizeof *rendezvous);
    ovs_barrier_init(&rendezvous->barrier, n + 1);
    ovs_refcount_init(&rendezvous->ref_cnt);
    rendezvous->at_rest = at_rest;
    rendezvous->aux = aux;

    ovs_mutex_lock(&mutex);
    for (unsigned int i = 0; i < n; i++) {
        struct rendezvous_job *job = xzalloc(sizeof *job);

        job->job.run = run_rendezvous;
        job->rendezvous = rendezvous;
        ovs_refcount_ref(&rendezvous->ref_cnt);
        put(&threads[i], &job->job);
    }
    ovs_barrier_block(&rendezvous->barrier);
    if (meanwhile) {
        meanwhile(aux);
    }
    ovs_barrier_block(&rendezvous->barrier);
    ovs_mutex_unlock(&mutex);
    rendezvous_unref(rendezvous);
}

void
offload_queue_get_stats(unsigned int tid, struct offload_queue_stats *stats)
{
    struct offload_thread *threads = started_threads();

    memset(stats, 0, sizeof *stats);
    if (threads) {
        struct offload_thread *thread = &threads[tid];

        atomic_read_relaxed(&thread->n_queued, &stats->n_queued);
        ovs_mutex_lock(&thread->latency_mutex);
        stats->cma_mean = mov_avg_cma(&thread->cma);
        stats->cma_stddev = mov_avg_cma_std_dev(&thread->cma);
        stats->ema_mean = mov_avg_ema(&thread->ema);
        stats->ema_stddev = mov_avg_ema_std_dev(&thread->ema);
        ovs_mutex_unlock(&thread->latency_mutex);
    }
}
