/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_DP_OFFLOAD_MARK_H
#define WEFT_DP_OFFLOAD_MARK_H 1

/* Marks: by which number hardware tells us the flow of a packet.
 *
 * Problem
 * -------
 * A device that matches a megaflow by itself puts a 32-bit mark on its
 * packets, and the thread that receives one finds its flow by the mark instead
 * of by the headers.  Several threads may have the same megaflow, each with a
 * flow of its own; the device knows one rule, with one mark.
 *
 * So a mark belongs to a megaflow of a datapath, and has a link for each flow
 * that it stands for.  The last link that goes takes the mark with it.
 *
 * Marks are handed out in ascending order, so that a number comes back as late
 * as possible: packets with an old mark may still be on their way.
 *
 * Rules
 * -----
 * What concerns one megaflow is done by one thread at a time.
 *
 *     mark = offload_mark_find(run, mega_ufid)
 *     if there is none:
 *         mark = offload_mark_reserve(run, mega_ufid)
 *         put the rule into the device
 *         on error: offload_mark_release(mark)
 *     offload_mark_link(flow, mark)
 *     ...
 *     if (offload_mark_unlink(flow)):
 *         take the rule out of the device
 *         offload_mark_release(mark)
 *
 * A link holds a reference to its flow.
 *
 * Thread safety
 * -------------
 * All functions may be called by any thread.  offload_mark_find_flow() takes
 * no lock; its caller must not quiesce while it uses the flow. */

#include <stdbool.h>
#include <stdint.h>

#include "openvswitch/types.h"

struct dp_flow;
struct dp_run;

/* Returns the mark of 'mega_ufid' in 'run', INVALID_FLOW_MARK if it has
 * none. */
uint32_t offload_mark_find(const struct dp_run *run,
                           const ovs_u128 *mega_ufid);

/* Returns a new mark for 'mega_ufid', which must not have one, or
 * INVALID_FLOW_MARK if all are in use. */
uint32_t offload_mark_reserve(const struct dp_run *run,
                              const ovs_u128 *mega_ufid);

/* Forgets 'mark', which must not have links. */
void offload_mark_release(uint32_t mark);

/* Makes 'mark' stand for 'flow', which must be linked to no mark, and sets its
 * mark.  Returns false if 'flow' is too far gone for a reference. */
bool offload_mark_link(struct dp_flow *flow, uint32_t mark);

/* The opposite.  Returns true if 'flow' was the last one of its mark. */
bool offload_mark_unlink(struct dp_flow *flow);

/* Returns the live flow of the thread of 'core_id' in 'run' that 'mark' stands
 * for, or NULL. */
struct dp_flow *offload_mark_find_flow(const struct dp_run *run,
                                       unsigned core_id, uint32_t mark);

#endif /* dp/offload-mark.h */
