/* SPDX-License-Identifier: Apache-2.0 */

#ifndef STRESS_RANDOM_FLOWS_H
#define STRESS_RANDOM_FLOWS_H 1

/* Random megaflows and actions
 * ============================
 *
 * Problem: two datapaths shall do the same with the same flows, so the flows
 * must not overlap: with two that match one packet, either choice is right.
 *
 * Therefore what is matched, beyond the fields that each flow matches, is a
 * function of fields that each flow matches: the input port, the
 * recirculation identifier and the Ethernet type.  Two flows that agree on
 * these have the same mask, and are equal or disjoint.
 *
 * Actions come from a list of templates.  A flow after the first
 * recirculation never goes back to a lower identifier, except for one that
 * goes to itself, to hit the limit on the depth.
 *
 * Thread safety: none needed, everything is in the arguments. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openvswitch/types.h"

struct flow;
struct flow_wildcards;
struct ofpbuf;
struct rng;

/* Ports of the datapath that random actions name. */
enum {
    RF_N_PORTS = 5,             /* Synthetic ports 1 to 5. */
    RF_PORT_CHECKED = 1,        /* Its packets come with good checksums. */
    RF_PORT_VXLAN = 6,
    RF_PORT_GENEVE = 7,
    RF_PORT_GRE = 8,
    RF_PORT_ABSENT = 99,
};

/* What recirculated packets' flows match on. */
enum {
    RF_RECIRC_CT = 1,           /* Connection tracking fields. */
    RF_RECIRC_HASH = 2,         /* dp_hash. */
    RF_RECIRC_PLAIN = 3,
    RF_RECIRC_LOOP = 4,         /* Recirculates again and again. */
};

enum { RF_BOND_ID = 1, RF_METER_ID = 0 };

/* Stores in 'wc' what a flow like 'flow' matches, in a form that survives the
 * way through Netlink attributes. */
void random_flow_mask(const struct flow *flow, struct flow_wildcards *wc);

/* Appends random actions for a flow like 'flow'. */
void random_flow_actions(struct rng *, const struct flow *flow,
                         struct ofpbuf *actions);

/* Appends random actions for packets that are executed. */
void random_execute_actions(struct rng *, struct ofpbuf *actions);

#endif /* random-flows.h */
