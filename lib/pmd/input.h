/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_INPUT_H
#define WEFT_PMD_INPUT_H 1

/* The walk of a burst through the datapath: parse, look up, upcall for what
 * was not found, group by flow, execute.
 *
 * Packets of one flow leave in the order in which they came, whether they were
 * found or needed an upcall.  The packet that needed an upcall is executed
 * with the actions of the upcall, at the time of the upcall.
 *
 * Insertions into the caches come after the burst has been looked up.
 *
 * Thread safety
 * -------------
 * Owner of 'pmd' only.  Must not quiesce from begin to end. */

#include "openvswitch/types.h"

struct dp_packet_batch;
struct pmd_thread;

/* Forwards 'batch', received on port 'port_no'.  Takes ownership of the
 * packets.  Metadata is initialized here. */
void pmd_input(struct pmd_thread *, struct dp_packet_batch *batch,
               odp_port_t port_no);

/* Forwards 'batch' again, whose metadata is valid.  The caller has increased
 * pmd->recirc_depth, which is at most DP_MAX_RECIRC_DEPTH. */
void pmd_recirculate(struct pmd_thread *, struct dp_packet_batch *batch);

/* Frees the scratch memory of 'pmd'. */
void pmd_input_free_scratch(struct pmd_thread *);

#endif /* pmd/input.h */
