/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_FLOW_TABLE_H
#define WEFT_TABLE_FLOW_TABLE_H 1

/* Flow table: all the megaflows of one thread, and every way to find them.
 *
 * - by packet: a classifier for each input port;
 * - by ufid, for the control side: 'by_ufid';
 * - by "simple mark": if all flows of a port match on nothing but what every
 *   packet has (Ethernet type, VLAN id, fragment bits), its packets need no
 *   key: the few bits that count make a 64-bit mark, looked up in 'simple'.
 *
 * Thread safety
 * -------------
 * Changes require 'mutex'.  Searches require nothing but that the caller does
 * not quiesce while it uses what it found.  What is removed stays readable for
 * a grace period.
 *
 * Ranking
 * -------
 * Now and then somebody has to rank the subtables anew (dp_classifier_rank()),
 * which is a change.  The thread that forwards takes no lock, so it only asks
 * for it.  The next writer who is done does it; where there is none, whoever
 * looks after the datapath does, by dp_flow_table_rank_if_wanted().  Hence
 * whoever has locked 'mutex' unlocks it by dp_flow_table_unlock(). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ccmap.h"
#include "cmap.h"
#include "openvswitch/thread.h"
#include "openvswitch/types.h"
#include "table/dp-classifier.h"
#include "table/dp-flow.h"

struct match;

struct dp_flow_table {
    struct ovs_mutex mutex;
    struct dp_slab *slab;       /* Written with 'mutex'. */
    struct cmap by_ufid;        /* 'struct dp_flow_info's.  Written with
                                 * 'mutex'. */
    atomic_count n_total;       /* Of them.  Written with 'mutex'. */
    atomic_uint64_t n_removed;  /* Ever.  Written with 'mutex', release; pairs
                                 * with dp_flow_table_n_removed(). */
    atomic_bool rank_wanted;    /* Set by the owner thread, cleared by whoever
                                 * ranks, with 'mutex'.  Relaxed: it stands for
                                 * no other data. */
    struct cmap simple;         /* Likewise, by simple mark. */
    struct ccmap n_flows;       /* Per input port.  Written with 'mutex'. */
    struct ccmap n_simple;      /* Per input port.  Written with 'mutex'. */
    struct cmap classifiers;    /* Written with 'mutex'. */
    struct dp_shapes shapes;    /* Of packets.  Owner thread only. */
};

void dp_flow_table_init(struct dp_flow_table *);

/* Removes all flows and frees the table's memory (after grace periods). No
 * other thread may use the table. */
void dp_flow_table_destroy(struct dp_flow_table *);

/* Ends a change: ranks the subtables of all classifiers, by their hits since
 * the last time, if that was asked for, and unlocks the mutex. */
void dp_flow_table_unlock(struct dp_flow_table *table)
    OVS_RELEASES(table->mutex);

/* Does what was asked for if no writer has done it yet. */
void dp_flow_table_rank_if_wanted(struct dp_flow_table *table)
    OVS_EXCLUDED(table->mutex);

/* Asks for a ranking.  Owner thread. */
static inline void
dp_flow_table_ask_for_ranking(struct dp_flow_table *table)
{
    atomic_store_relaxed(&table->rank_wanted, true);
}

/* Returns true if it was asked for and is not done.  Any thread. */
static inline bool
dp_flow_table_wants_ranking(struct dp_flow_table *table)
{
    bool wanted;

    atomic_read_relaxed(&table->rank_wanted, &wanted);
    return wanted;
}

/* What a new flow is made of. */
struct dp_flow_spec {
    struct match *match;        /* 'in_port' exact in it; vlans[0].tci of the
                                 * mask already set as the table wants it
                                 * (see dp_match_normalize()). */
    const ovs_u128 *ufid;
    const struct nlattr *actions;
    size_t actions_len;
    odp_port_t orig_in_port;    /* ODPP_NONE if there is none. */
    unsigned pmd_id;
    bool track_offload;         /* Allocate 'info->offload'? */
};

/* A datapath flow cannot say that the presence of a VLAN tag does not matter:
 * a mask without it becomes an exact match on there being none or which. */
void dp_match_normalize(struct match *match);

/* Adds a flow.  'spec->match' must not overlap with a flow of the table.
 * Returns it, or NULL if there is no memory for it or the table is full. */
struct dp_flow *dp_flow_table_add(struct dp_flow_table *table,
                                  const struct dp_flow_spec *spec)
    OVS_REQUIRES(table->mutex);

/* Removes 'flow'; it is dead for packets at once.  The caller may use it, and
 * its 'info', until it quiesces.  */
void dp_flow_table_remove(struct dp_flow_table *table, struct dp_flow *flow)
    OVS_REQUIRES(table->mutex);

/* Replaces the actions of 'flow' and returns the old ones, valid until the
 * caller quiesces. */
const struct dp_actions *
dp_flow_table_set_actions(struct dp_flow_table *table, struct dp_flow *flow,
                          const struct nlattr *actions, size_t actions_len)
    OVS_REQUIRES(table->mutex);

/* Takes a reference to 'flow', which keeps the slot and its 'info' from being
 * used again, alive or not.  Returns false if it is too late for that. */
bool dp_flow_ref(struct dp_flow *flow);

/* Any thread. */
void dp_flow_unref(struct dp_flow *flow);

struct dp_flow *dp_flow_table_find_ufid(const struct dp_flow_table *,
                                        const ovs_u128 *ufid);

/* Fetches what dp_flow_table_find_ufid(), _add() and _remove() will need for
 * flows 'ufids' into the cache, the memory accesses of all of them at once.
 * Whether there are such flows does not matter. */
void dp_flow_table_warm_up(const struct dp_flow_table *,
                           const ovs_u128 *const *ufids, size_t n);

/* Returns the flow that 'key' matches in the classifier of its input port, or
 * NULL.  If there is one, adds the number of tables asked to '*n_asked' (which
 * may be null).  Does not count hits. */
struct dp_flow *dp_flow_table_find_key(const struct dp_flow_table *,
                                       const struct dp_key *key,
                                       unsigned int *n_asked);

struct dp_classifier *dp_flow_table_get_classifier(
    const struct dp_flow_table *, odp_port_t in_port);

size_t dp_flow_table_count(const struct dp_flow_table *);

/* Returns how many flows were ever removed.  The caller finds these dead from
 * now on, so that it need not look for dead flows again before the number has
 * grown. */
static inline uint64_t
dp_flow_table_n_removed(const struct dp_flow_table *table)
{
    uint64_t n;

    /* Pairs with the release in dp_flow_table_remove(). */
    atomic_read_explicit(
        &CONST_CAST(struct dp_flow_table *, table)->n_removed, &n,
        memory_order_acquire);
    return n;
}

/* Simple marks. */

static inline uint64_t
dp_simple_mark(odp_port_t in_port, ovs_be16 dl_type, uint8_t nw_frag,
               ovs_be16 vlan_tci)
{
    uint16_t vlan = ntohs(vlan_tci) & 0x1fff; /* CFI and VID. */
    uint16_t rest = (nw_frag & FLOW_NW_FRAG_MASK) << 13 | vlan;

    return (uint64_t) odp_to_u32(in_port) << 32
           | (uint32_t) ntohs(dl_type) << 16 | rest;
}

/* Returns true if all flows of 'in_port' are simple. */
bool dp_flow_table_is_simple(const struct dp_flow_table *, odp_port_t in_port);

struct dp_flow *dp_flow_table_find_simple(const struct dp_flow_table *,
                                          uint64_t mark);

#endif /* table/flow-table.h */
