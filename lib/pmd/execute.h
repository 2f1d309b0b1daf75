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

struct dp_flow;
struct dp_packet_batch;
struct flow;
struct nlattr;
struct pmd_thread;

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

#endif /* pmd/execute.h */
