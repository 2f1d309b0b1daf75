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

struct dp_flow;
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

/* Appends 'packet', which hit 'flow', to the flow's batch. */
void flow_batches_add(struct flow_batches *, struct dp_flow *flow,
                      struct dp_packet *packet, uint16_t tcp_flags);

/* Accounts and executes all batches, in the order of their first packets. */
void flow_batches_execute(struct flow_batches *, struct pmd_thread *);

#endif /* pmd/batch.h */
