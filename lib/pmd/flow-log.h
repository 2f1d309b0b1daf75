/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_FLOW_LOG_H
#define WEFT_PMD_FLOW_LOG_H 1

/* What the datapath says in the log about its flows and upcalls.
 *
 * Flows come from two sides, from the control side and from upcalls, and both
 * have to look the same to whoever reads the log at level DBG.  The messages
 * share one rate limit, so that a burst of upcalls leaves room for what it
 * installs and the other way round.
 *
 * Thread-safe. */

#include <stdbool.h>
#include <stddef.h>

#include "odp-util.h"
#include "openvswitch/vlog.h"

struct dp_actions;
struct dp_flow;
struct match;
struct nlattr;

/* What this datapath understands, for conversions of flows into the form that
 * the control side uses. */
extern const struct odp_support pmd_odp_support;

/* The common rate limit: of pmd_flow_log_change(), and of upcall messages. */
extern struct vlog_rate_limit pmd_flow_log_rl;

/* Logs at level DBG that 'flow' was added with 'actions' ('old_actions' is
 * null) or that its actions were replaced.  'match' is what the flow was asked
 * to match. */
void pmd_flow_log_change(const struct dp_flow *flow,
                         const struct match *match,
                         const struct dp_actions *old_actions,
                         const struct nlattr *actions, size_t actions_len);

#endif /* pmd/flow-log.h */
