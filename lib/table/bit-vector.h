/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_BIT_VECTOR_H
#define WEFT_TABLE_BIT_VECTOR_H 1

/* Bit vector: a bounded number of megaflows with arbitrarily many masks.
 *
 * Problem
 * -------
 * Tuple-space search asks one hash table per mask, so who can make masks makes
 * every packet dear: some hundred packets to well chosen addresses and ports
 * are enough for as many masks ("tuple space explosion", Csikor et al., CoNEXT
 * 2019).  This structure does not care what masks its flows have.
 *
 * Method
 * ------
 * Each flow has a column of bits.  For each nibble (four bits) of the key that
 * any flow looks at there are 16 rows, one for each value that a packet can
 * have there, and the row of value 'v' has the bits of the flows that accept
 * it: (v & mask) == flow's value.  To look a key up is to AND the rows that
 * its nibbles select; what remains is verified.  It is the bit vector scheme
 * of Lakshman and Stiliadis ("High-Speed Policy-Based Packet Forwarding Using
 * Efficient Multi-dimensional Range Matching", SIGCOMM 1998), with a nibble of
 * a ternary key in place of a dimension of ranges, as Ganegedara and Prasanna
 * have it ("StrideBV: Single Chip 400G+ Packet Classification", HPSR 2012).
 *
 * Three things make it fast enough for a CPU.
 *
 * - Columns come in blocks of 512, one cache line of a row, and each block is
 *   searched by itself.
 *
 * - The AND of any rows that a key selects has the bits of all flows that
 *   match it, and perhaps more.  So a lookup may take the rows in any order
 *   and stop where it likes: it stops when a block has about one candidate
 *   left, which as a rule is after a fraction of the nibbles.
 *
 * - Each block takes its nibbles in an order of its own, in which those come
 *   first that leave fewest candidates.  It is found by trial with keys made
 *   from the flows that there are, greedily.  (What a nibble excludes is a set
 *   of columns, so a nibble's gain only shrinks as others are taken before
 *   it, and the accelerated greedy of Minoux, 1978, finds the best next one
 *   without asking them all again.)  The trial tells also how many nibbles
 *   nearly all keys need; these are taken without a branch between them.
 *
 * Cost
 * ----
 * A block takes 1 kB for each nibble that flows look at: 40 to 60 kB for flows
 * that match on IPv4 5-tuples, about three times this with IPv6.  A lookup
 * reads one line per block and nibble tried.  An insertion writes 16 bits for
 * each nibble.  All blocks are copied when a flow looks at nibbles that none
 * has looked at before.  Nibbles that no flow looks at any more are kept, so
 * that this does not happen to the same ones again and again; they are weeded
 * out when they are more than the others, at most once in 512 removals.
 *
 * Thread safety
 * -------------
 * One writer at a time (the flow table's mutex).  Readers neither lock nor
 * spin, and must not quiesce during a lookup.  A flow that is in the vector
 * before a lookup and stays until after it cannot be missed.
 *
 * Usage
 * -----
 * The flows are of one classifier: they do not overlap, and have the same
 * input port.
 *
 *     error = bit_vector_insert(bv, flow, mask);
 *     if (!error) {
 *         dp_flow_publish(flow, mask);
 *     }
 *     ...
 *     dp_flow_publish(flow, NULL);
 *     bit_vector_remove(bv, flow);
 *     (the slot and the mask can go after a grace period) */

#include <stdbool.h>
#include <stddef.h>

#include "openvswitch/hmap.h"
#include "ovs-rcu.h"
#include "table/dp-flow.h"
#include "table/dp-key.h"

struct bv_column;
struct bv_table;

enum {
    BIT_VECTOR_MAX_FLOWS = 4096,
    BIT_VECTOR_MAX_BLOCKS = BIT_VECTOR_MAX_FLOWS / 512
};

struct bit_vector {
    /* Null if there are no flows.  Replaced tables go after a grace period. */
    OVSRCU_TYPE(struct bv_table *) table;

    /* Writer only. */
    struct hmap by_index;       /* Has the columns in use, by the hash of their
                                 * flows' indexes. */
    struct bv_column *columns[BIT_VECTOR_MAX_BLOCKS]; /* 512 each; those of
                                 * blocks that never were are null. */
    size_t n_removed;           /* Flows, since nibbles were last weeded. */
};

struct bit_vector *bit_vector_create(void);

/* Frees 'bv', which must be empty, after a grace period.  Null is allowed.
 * Writer only, and nobody may find 'bv' any more. */
void bit_vector_destroy(struct bit_vector *bv);

/* Files 'flow', which has been filled for 'mask', is not live yet and is not
 * in 'bv'.  'mask' must stay until the flow has been removed.  Returns 0, or
 * ENOSPC if 'bv' has BIT_VECTOR_MAX_FLOWS flows.  Writer only. */
int bit_vector_insert(struct bit_vector *bv, const struct dp_flow *flow,
                      const struct dp_mask *mask);

/* Takes out 'flow', which must be in 'bv'.  Writer only. */
void bit_vector_remove(struct bit_vector *bv, const struct dp_flow *flow);

/* Returns the live flow that matches 'key', or NULL.  'slab' has the flows'
 * slots. */
struct dp_flow *bit_vector_lookup(const struct bit_vector *bv,
                                  const struct dp_slab *slab,
                                  const struct dp_key *key);

/* Number of flows.  Writer only. */
size_t bit_vector_count(const struct bit_vector *bv);

/* Returns true if there are no flows.  For readers too. */
static inline bool
bit_vector_is_empty(const struct bit_vector *bv)
{
    return !ovsrcu_get(struct bv_table *, &bv->table);
}

#endif /* table/bit-vector.h */
