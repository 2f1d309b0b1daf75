/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_EXECUTE_H
#define WEFT_PMD_EXECUTE_H 1

/* Execution of actions.  Open vSwitch's library (odp-execute.h) does those
 * that only change packets and calls back for those that need a datapath:
 * output, balanced output, tunnels, userspace, recirculation, conntrack,
 * meters.  Every packet that does not leave is freed and counted.
 *
 * Thread safety: owner of 'pmd' only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dp-packet.h"
#include "pmd/pmd.h"
#include "pmd/txq.h"
#include "table/dp-flow.h"
#include "util.h"

struct flow;
struct nlattr;

/* Executes 'actions' on 'batch'.  Takes ownership of the packets if 'steal'.
 * 'flow' need only have the fields that conntrack asks for (dl_type), see
 * conntrack_execute(). */
void pmd_execute_actions(struct pmd_thread *, struct dp_packet_batch *batch,
                         bool steal, const struct flow *flow,
                         const struct nlattr *actions, size_t actions_len);

/* Executes the actions of 'flow' on 'batch', the packets of which it takes
 * ownership. */
void pmd_execute_flow(struct pmd_thread *, struct dp_packet_batch *batch,
                      const struct dp_flow *flow);

/* Accounts and executes 'flow' for the single 'packet' if its only action is
 * to output to a port that is at hand, and if no batch of it waits to be
 * executed.  Returns false, having done nothing, if it is not so simple. 'now'
 * in ms. */
static inline bool
pmd_forward(struct pmd_thread *pmd, struct dp_packet *packet,
            struct dp_flow *flow, uint16_t tcp_flags, long long now)
{
    struct pmd_txport *txport = pmd_txports_direct(&pmd->txports,
                                                   dp_flow_output(flow));

    if (OVS_UNLIKELY(!txport || flow->batch)) {
        return false;
    }
    dp_flow_account(flow, 1, dp_packet_size(packet), tcp_flags, now);
    if (OVS_UNLIKELY(!pmd_txport_append(txport, packet, pmd->last_rxq))) {
        struct dp_packet_batch single;

        dp_packet_batch_init_packet(&single, packet);
        pmd_txport_queue(pmd, txport, &single);
    }
    return true;
}

#endif /* pmd/execute.h */
