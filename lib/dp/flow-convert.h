/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_DP_FLOW_CONVERT_H
#define WEFT_DP_FLOW_CONVERT_H 1

/* Between the flows of this datapath and the form in which the control side
 * speaks of them, which is Netlink attributes and 'struct dpif_flow'.
 *
 * Thread-safe.  Where a flow is read, the caller must not quiesce
 * meanwhile. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dp_flow;
struct dp_netdev;
struct dpif_flow;
struct dpif_flow_attrs;
struct dpif_flow_stats;
struct flow;
struct flow_wildcards;
struct nlattr;
struct ofpbuf;

/* Reads the 'key_len' bytes of attributes at 'key' into '*flow'.  Returns 0,
 * or EINVAL if they make no flow that this datapath can match, which is logged
 * unless 'probe' (the caller only wants to know). */
int flow_convert_key(const struct nlattr *key, size_t key_len, bool probe,
                     struct flow *flow);

/* Reads the mask that belongs to 'key', which means 'flow', into '*wc'.  No
 * mask at all is an exact match.  Otherwise as flow_convert_key(). */
int flow_convert_mask(const struct nlattr *key, size_t key_len,
                      const struct nlattr *mask, size_t mask_len, bool probe,
                      const struct flow *flow, struct flow_wildcards *wc);

/* Stores the statistics of 'flow', those of hardware included, to '*stats',
 * and who forwards its packets to '*attrs', if that is not null. */
void flow_convert_stats(const struct dp_netdev *, struct dp_flow *flow,
                        struct dpif_flow_stats *stats,
                        struct dpif_flow_attrs *attrs);

/* Describes 'flow' in '*out'.  Its key is appended to 'key_buf' and its mask
 * to 'mask_buf', which can be one and the same; 'out' points into them, and
 * directly to the actions of 'flow', which are there until the caller
 * quiesces.  With 'terse' there is neither of these. */
void flow_convert_to_dpif(const struct dp_netdev *, struct dp_flow *flow,
                          bool terse, struct ofpbuf *key_buf,
                          struct ofpbuf *mask_buf, struct dpif_flow *out);

#endif /* dp/flow-convert.h */
