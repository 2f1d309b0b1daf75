/* SPDX-License-Identifier: Apache-2.0 */

#ifndef STRESS_FLOW_REGISTRY_H
#define STRESS_FLOW_REGISTRY_H 1

/* Which flows are installed
 * =========================
 *
 * A datapath tells flows that are put apart by their identifiers.  It would
 * accept a second flow with the same match and another identifier, and either
 * might then get the packets.  So whoever puts random flows remembers each
 * match that is installed with the identifier that it has.
 *
 * Matches are known by a 64-bit hash; that two share one by chance is as
 * unlikely as it is harmless.
 *
 * Thread safety: none. */

#include <stdint.h>

#include "openvswitch/hmap.h"
#include "openvswitch/types.h"

struct flow;
struct flow_wildcards;

struct flow_registry {
    struct hmap flows;          /* Contains "struct registered_flow". */
};

void flow_registry_init(struct flow_registry *);
void flow_registry_destroy(struct flow_registry *);
void flow_registry_clear(struct flow_registry *);

/* Returns the hash of what a flow like 'flow' with mask 'wc' matches. */
uint64_t flow_registry_hash(const struct flow *flow,
                            const struct flow_wildcards *wc);

/* Returns the identifier of the flow with the match 'hash', or NULL. */
const ovs_u128 *flow_registry_find(const struct flow_registry *,
                                   uint64_t hash);
void flow_registry_add(struct flow_registry *, uint64_t hash,
                       const ovs_u128 *ufid);
void flow_registry_remove(struct flow_registry *, uint64_t hash);

#endif /* flow-registry.h */
