/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_FLOW_INSTALL_H
#define WEFT_PMD_FLOW_INSTALL_H 1

/* Changes to the flow table of a thread, with all that goes with them: the
 * log, the hooks of the run side (hardware offload), a word to the operator
 * when there is no room.  The control side and upcalls use the same three
 * functions, so that a flow is the same wherever it came from.
 *
 * Thread safety: any thread that holds the mutex of 'pmd->flows'. */

#include <stddef.h>

#include "openvswitch/thread.h"
#include "openvswitch/types.h"
#include "pmd/pmd.h"

struct dp_actions;
struct dp_flow;
struct match;
struct nlattr;

/* Adds a flow to 'pmd'.  'match' must have 'in_port' exact, must not overlap
 * with a flow of 'pmd', and is normalized here (dp_match_normalize()).
 * 'orig_in_port' is ODPP_NONE unless an outer packet came from there.
 *
 * Stores the flow to '*flowp' and returns 0, or stores NULL and returns
 * ENOSPC if there is no room for the flow; that is logged, and nothing has
 * changed. */
int pmd_flow_install(struct pmd_thread *pmd, struct match *match,
                     const ovs_u128 *ufid, const struct nlattr *actions,
                     size_t actions_len, odp_port_t orig_in_port,
                     struct dp_flow **flowp)
    OVS_REQUIRES(pmd->flows.mutex);

/* Gives 'flow' of 'pmd' other actions.  'match' is for the log and the
 * hooks. */
void pmd_flow_change(struct pmd_thread *pmd, struct dp_flow *flow,
                     const struct match *match, const struct nlattr *actions,
                     size_t actions_len)
    OVS_REQUIRES(pmd->flows.mutex);

/* Removes 'flow' from 'pmd'.  It can be read until the caller quiesces. */
void pmd_flow_uninstall(struct pmd_thread *pmd, struct dp_flow *flow)
    OVS_REQUIRES(pmd->flows.mutex);

#endif /* pmd/flow-install.h */
