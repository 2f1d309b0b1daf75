/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_UPCALL_H
#define WEFT_PMD_UPCALL_H 1

/* Upcalls: what happens to a packet that no flow knows, and to one that an
 * action sends to userspace.
 *
 * For now the polling thread itself calls the upper layer, installs the flow
 * that it gets, and executes the packet; everything about that is behind this
 * header, so that it can move to another thread without anybody noticing.
 *
 * Thread safety: owner of 'pmd' only. */

#include <stdbool.h>
#include <stdint.h>

#include "odp-netlink.h"
#include "openvswitch/types.h"

struct dp_flow;
struct dp_key;
struct dp_packet;
struct dp_packet_batch;
struct flow;
struct nlattr;
struct ofpbuf;
struct pmd_thread;

/* Upcalls may be made between begin and end.  Returns false if the upper layer
 * has upcalls disabled; the caller then drops its packets
 * (DP_DROP_LOCK_ERROR), and does not call pmd_upcall_end(). */
bool pmd_upcall_begin(struct pmd_thread *);
void pmd_upcall_end(struct pmd_thread *);

/* Sends 'packet', which missed with 'key', up, executes the actions that come
 * back on it (or frees and counts it), and installs the flow.  Takes ownership
 * of 'packet'.  Returns 0 or a positive errno; stores the flow (or NULL if
 * none was installed) to '*flowp'. */
int pmd_upcall_miss(struct pmd_thread *, struct dp_packet *packet,
                    const struct dp_key *key, struct dp_flow **flowp);

/* Executes an OVS_ACTION_ATTR_USERSPACE action 'a' on 'batch'.  Takes
 * ownership of the packets if 'steal'. */
void pmd_upcall_action(struct pmd_thread *, struct dp_packet_batch *batch,
                       const struct nlattr *a, bool steal);

#endif /* pmd/upcall.h */
