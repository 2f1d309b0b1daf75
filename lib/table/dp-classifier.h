/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_DP_CLASSIFIER_H
#define WEFT_TABLE_DP_CLASSIFIER_H 1

/* Classifier: the megaflows of one thread that begin at one port.
 *
 * Problem
 * -------
 * Megaflows come with masks, and the classic way is a hash table for each
 * mask: a packet then costs as many lookups as there are masks, and whoever
 * can send packets can make masks, by the hundred: a rule on an address prefix
 * and a port range is enough ("tuple space explosion").
 *
 * What helps is that megaflows do not overlap.  There are no priorities: any
 * flow that matches is the one.  So it is free where to file a flow, as long
 * as its packets look there.
 *
 * Where flows are filed
 * ---------------------
 * 1. In a subtable for the mask rounded down to pairs of bytes, where masks
 *    meet that differ in the length of a prefix or in some flags.  Flows that
 *    are alike there, because they differ only in what was rounded away, are
 *    told apart by asking each of them, so no more than a few such are let in.
 * 2. Else in a subtable for the mask rounded down to bytes, likewise.
 * 3. Else, if the mask has but few such flows or if there are many subtables,
 *    in the classifier's bit vector (table/bit-vector.h) as long as there is
 *    room, whose cost does not depend on how many masks there are.
 * 4. Else in a subtable for the mask as it is, in which no two are alike.
 *
 * A mask of whole pairs goes to its own subtable at once.  So a table of few
 * masks looks as it always has, a table with hundreds of similar masks has
 * a handful of subtables, and hundreds of masks made in malice cost a pass
 * over some cache lines of bits.  No flow ever moves.
 *
 * The idea of merging subtables is TupleMerge's (Daly, Bruschi, Linguaglossa,
 * Pontarelli, Rossi, Tollet, Torng and Yourtchenko, "TupleMerge: Fast Software
 * Packet Processing for Online Packet Classification", IEEE/ACM Transactions
 * on Networking, 2019); without priorities it becomes simpler.
 *
 * Subtables are asked in the order of their rank, which is how many packets
 * they answered lately, and the bit vector last.
 *
 * Thread safety
 * -------------
 * Writers hold the flow table's mutex, the ranking included.  Readers need
 * nothing but RCU. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmap.h"
#include "openvswitch/types.h"
#include "pvector.h"
#include "table/bit-vector.h"
#include "table/dp-flow.h"
#include "table/subtable.h"

struct flow;

struct dp_classifier {
    struct cmap_node node;      /* In dp_flow_table's 'classifiers'. */
    odp_port_t in_port;
    struct cmap masks;          /* 'struct dp_mask_use's.  Writer only. */
    struct dp_mask *last_mask;  /* Given last, or null.  Writer only. */
    struct cmap subtables;      /* All there are.  Writer only. */
    struct pvector ranked;      /* Those with flows, most hits first. */
    struct bit_vector *odd;     /* The flows that are in none of them. */
};

struct dp_classifier *dp_classifier_create(odp_port_t in_port);

/* Frees 'cls', which must be empty of flows, after a grace period.  Writer
 * only, and nobody may find 'cls' any more. */
void dp_classifier_destroy(struct dp_classifier *cls);

/* Returns the one object for the mask 'words' that flows of 'cls' are to use
 * (see dp_mask_words_init()).  It stays until the last flow that was filed
 * with it is removed; without any, call dp_classifier_trim(). */
struct dp_mask *dp_classifier_mask_of(struct dp_classifier *,
                                      const struct dp_mask_words *words);

/* The same for a mask equal to 'mask', of which it takes ownership. */
struct dp_mask *dp_classifier_get_mask(struct dp_classifier *,
                                       struct dp_mask *mask);
void dp_classifier_trim(struct dp_classifier *, struct dp_mask *mask);

/* Files 'flow', which has been filled for 'match' with a mask from
 * dp_classifier_mask_of() and is not live yet. 'flow->hash' is the hash of its
 * masked key, and may become another one.  Sets 'flow->info->subtable'.
 * Returns 0, or ENOMEM. */
int dp_classifier_insert(struct dp_classifier *, struct dp_flow *flow,
                         const struct flow *match);

/* Takes 'flow' out, and with it what has become empty. */
void dp_classifier_remove(struct dp_classifier *, struct dp_flow *flow);

/* Returns the flow that matches 'key', or NULL.  If there is one, adds to
 * '*n_asked' how many tables were asked for it, and stores to '*subtable'
 * which one answered (null: the bit vector). */
struct dp_flow *dp_classifier_lookup(const struct dp_classifier *,
                                     const struct dp_slab *,
                                     const struct dp_key *key,
                                     unsigned int *n_asked,
                                     struct subtable **subtable);

/* Stores the subtables of 'cls', most hits first, to '*ranked' and their
 * number to '*n': valid until the caller quiesces. */
static inline void
dp_classifier_get_ranked(const struct dp_classifier *cls,
                         const struct pvector_entry **ranked, size_t *n)
{
    struct pvector_cursor cursor = pvector_cursor_init(&cls->ranked, 0, 0);

    *ranked = cursor.vector;
    *n = cursor.size;
}

/* Credits 'subtable' with a packet.  Owner thread only. */
static inline void
dp_classifier_credit(struct subtable *subtable)
{
    if (subtable) {
        uint32_t hits;

        atomic_read_relaxed(&subtable->hits, &hits);
        atomic_store_relaxed(&subtable->hits, hits + 1);
    }
}

/* Ranks the subtables anew by their hits since the last time.  Writer only,
 * in any thread: the owner goes on counting meanwhile. */
void dp_classifier_rank(struct dp_classifier *);

#endif /* table/dp-classifier.h */
