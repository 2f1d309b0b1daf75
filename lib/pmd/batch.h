/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_BATCH_H
#define WEFT_PMD_BATCH_H 1

/* Grouping the packets of a burst by flow, in the order of their arrival.
 *
 * While a burst is grouped, each of its flows points to its batch
 * (dp_flow's 'batch').  flow_batches_execute() resets all of these pointers
 * before it executes anything, because execution may recirculate into another
 * burst that meets the same flow.
 *
 * Thread safety: owner thread only. */

#include <stddef.h>
#include <stdint.h>

#include "dp-packet.h"
#include "table/dp-flow.h"

struct pmd_thread;

struct flow_batch {
    struct dp_flow *flow;
    unsigned int n_bytes;
    uint16_t tcp_flags;
    struct dp_packet_batch packets;
};

struct flow_batches {
    size_t n;
    struct flow_batch batches[NETDEV_MAX_BURST];
};

static inline void
flow_batches_init(struct flow_batches *fb)
{
    fb->n = 0;
}

/* Begins a batch for 'flow', and returns it. */
static inline struct flow_batch *
flow_batches_begin(struct flow_batches *fb, struct dp_flow *flow)
{
    struct flow_batch *batch = &fb->batches[fb->n++];

    batch->flow = flow;
    batch->n_bytes = 0;
    batch->tcp_flags = 0;
    dp_packet_batch_init(&batch->packets);
    flow->batch = batch;
    return batch;
}

/* Appends 'packet', which hit 'flow', to the flow's batch.  There are no more
 * than NETDEV_MAX_BURST packets between flow_batches_init() and
 * flow_batches_execute(), so that there is room for all. */
static inline void
flow_batches_add(struct flow_batches *fb, struct dp_flow *flow,
                 struct dp_packet *packet, uint16_t tcp_flags)
{
    struct flow_batch *batch = flow->batch;

    if (!batch) {
        batch = flow_batches_begin(fb, flow);
    }
    batch->n_bytes += dp_packet_size(packet);
    batch->tcp_flags |= tcp_flags;
    batch->packets.packets[batch->packets.count++] = packet;
}

/* Accounts and executes all batches, in the order of their first packets. */
void flow_batches_execute(struct flow_batches *, struct pmd_thread *);

#endif /* pmd/batch.h */
