/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/batch.h"

#include "pmd/execute.h"
#include "pmd/pmd.h"
#include "table/dp-flow.h"

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
