/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_SUBTABLE_H
#define WEFT_TABLE_SUBTABLE_H 1

/* Subtable: the flows that have one mask in common.
 *
 * A hash table from masked key to flow.  A bucket is one cache line with seven
 * entries (signature, flow index) and the number of entries that found it full
 * and went on.  An entry is in the first bucket of its path that had room: its
 * home, then its other bucket, then those that follow this one.  A lookup goes
 * along the path and ends at the first bucket that nobody passed, so that an
 * absent key costs one line as a rule.
 *
 * The table doubles when it is five eighths full.  Doubling fills a new array
 * aside and publishes it; entries never move within an array, so a reader can
 * miss no entry that stays.  Keys with equal hashes, however many, make a path
 * longer but not the table larger.
 *
 * Thread safety
 * -------------
 * One writer at a time (the flow table's mutex).  Readers neither lock nor
 * spin; they must not quiesce during a lookup.  An entry's index is stored
 * last (release) and loaded after its signature has matched (acquire), which
 * is the only order that a reader pays for; a deleted entry has index 0.  A
 * bucket's 'passed' is raised before the entry that passed it is stored, and
 * lowered after it has gone. */

#include <stddef.h>
#include <stdint.h>

#include "cmap.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "pvector.h"
#include "table/dp-flow.h"
#include "table/dp-key.h"

enum { SUBTABLE_WAYS = 7 };

struct subtable_bucket {
    atomic_uint32_t sigs[SUBTABLE_WAYS];
    atomic_uint32_t passed;     /* Entries that went on to another bucket. */
    atomic_uint32_t indexes[SUBTABLE_WAYS]; /* 0: empty. */
    uint32_t pad;
};

BUILD_ASSERT_DECL(sizeof(struct subtable_bucket) == CACHE_LINE_SIZE);

/* One generation of buckets. */
struct subtable_array {
    uint32_t mask;              /* Number of buckets - 1. */
    struct subtable_bucket *buckets;
};

struct subtable {
    struct cmap_node node;      /* In classifier's 'by_mask'. */
    struct dp_mask *mask;
    OVSRCU_TYPE(struct subtable_array *) array;
    size_t n_flows;             /* Writer only. */
};

/* Takes ownership of 'mask'. */
struct subtable *subtable_create(struct dp_mask *mask);

/* Frees 'subtable', its arrays and its mask.  It must be empty, and no reader
 * may use it any more. */
void subtable_destroy(struct subtable *subtable);

/* Files 'flow', which has been filled and is not live yet, under 'flow->hash'.
 * Returns 0, or ENOMEM if the table cannot grow.  Writer only. */
int subtable_insert(struct subtable *, const struct dp_flow *flow);
void subtable_remove(struct subtable *, const struct dp_flow *flow);

/* Returns the live flow whose masked key has hash 'hash' and words 'words', or
 * NULL. */
struct dp_flow *subtable_lookup(const struct subtable *,
                                const struct dp_slab *,
                                uint32_t hash, const uint64_t *words);

#endif /* table/subtable.h */
