/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/batch.h"

#include "pmd/execute.h"
#include "pmd/pmd.h"
#include "table/dp-flow.h"

void
flow_batches_add(struct flow_batches *fb, struct dp_flow *flow,
                 struct dp_packet *packet, uint16_t tcp_flags)
{
    struct flow_batch *batch = flow->batch;

    if (!batch) {
        ovs_assert(fb->n < ARRAY_SIZE(fb->batches));
        batch = &fb->batches[fb->n++];
        batch->flow = flow;
        batch->n_bytes = 0;
        batch->tcp_flags = 0;
        dp_packet_batch_init(&batch->packets);
        flow->batch = batch;
    }
    batch->n_bytes += dp_packet_size(packet);
    batch->tcp_flags |= tcp_flags;
    dp_packet_batch_add(&batch->packets, packet);
}

void
flow_batches_execute(struct flow_batches *fb, struct pmd_thread *pmd)
{
    long long now = pmd->now / 1000;
    size_t n = fb->n;

    for (size_t i = 0; i < n; i++) {
        fb->batches[i].flow->batch = NULL;
    }
    for (size_t i = 0; i < n; i++) {
        struct flow_batch *batch = &fb->batches[i];

        dp_flow_account(batch->flow, dp_packet_batch_size(&batch->packets),
                        batch->n_bytes, batch->tcp_flags, now);
        pmd_execute_flow(pmd, &batch->packets, batch->flow);
    }
    fb->n = 0;
}
