/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_DP_OFFLOAD_QUEUE_H
#define WEFT_DP_OFFLOAD_QUEUE_H 1

/* The threads that talk to devices about flows.
 *
 * Problem
 * -------
 * Putting a rule into a device takes as long as it takes; those who install
 * flows cannot wait for it.  They leave a job with a thread made for that.
 *
 * There are as many of these threads as the user configured when hardware
 * offload was enabled ("n-offload-threads"); they start with the first job.
 * Jobs of the same megaflow go to the same thread, which does them in order.
 *
 * The queue has a limit, beyond which new flows stay in software.  What
 * corrects or takes back something that a device may have is always accepted,
 * of which there cannot be more than there are flows.
 *
 * Thread safety
 * -------------
 * All functions may be called by any thread.  None but
 * offload_queue_rendezvous() waits. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openvswitch/types.h"
#include "sync/handoff.h"

enum { OFFLOAD_QUEUE_MAX = 1 << 20 };

/* A job; part of something larger that its maker allocates. */
struct offload_job {
    struct handoff_node node;
    long long queued_us;        /* For the latency.  Set by the queue. */

    /* Does the job, and frees it.  Runs in the offload thread, which does not
     * quiesce meanwhile unless this function does. */
    void (*run)(struct offload_job *);
};

/* Returns true if there is room for one more new flow in the queue of
 * 'mega_ufid'. */
bool offload_queue_has_room(const ovs_u128 *mega_ufid);

/* Takes ownership of 'job', whose 'run' is set. */
void offload_queue_put(struct offload_job *job, const ovs_u128 *mega_ufid);

/* Waits until each thread has done all jobs that were put before, and calls
 * 'at_rest', which may be null, once per thread in that thread.  Then calls
 * 'meanwhile' (unless it is null) while all of them stand still.  The caller
 * may quiesce, and must hold no lock that jobs take, except that 'meanwhile'
 * may take one. */
void offload_queue_rendezvous(void (*at_rest)(void *aux),
                              void (*meanwhile)(void *aux), void *aux);

/* Statistics of thread 'tid'.  Latencies in us: mean and standard deviation,
 * cumulative and exponential. */
struct offload_queue_stats {
    uint64_t n_queued;
    double cma_mean, cma_stddev;
    double ema_mean, ema_stddev;
};
void offload_queue_get_stats(unsigned int tid, struct offload_queue_stats *);

#endif /* dp/offload-queue.h */
