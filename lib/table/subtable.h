/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_SUBTABLE_H
#define WEFT_TABLE_SUBTABLE_H 1

/* Subtable: flows that are filed under one mask.
 *
 * A hash table from masked key to flow.  The mask of a flow includes that of
 * its subtable but may have more bits, so flows that differ in nothing else
 * share a masked key, and a candidate counts only when the flow itself says
 * that the packet is its own (dp_flow_matches_key()).
 *
 * A bucket is one cache line with seven entries (signature, flow index) and
 * the number of entries that found it full and went on.  An entry is in the
 * first bucket of its path that had room: its home, then its other bucket,
 * then those that follow this one.  A lookup goes along the path and ends at
 * the first bucket that nobody passed, so that an absent key costs one line as
 * a rule.
 *
 * The table doubles when it is five eighths full.  Doubling fills a new array
 * aside and publishes it; entries never move within an array, so a reader can
 * miss no entry that stays.  Keys with equal hashes, however many, make a path
 * longer but not the table larger.
 *
 * Who has other work while the memory answers takes the steps of a lookup one
 * by one: subtable_home() gives the line to be fetched, subtable_match() the
 * candidates in it, and subtable_array_lookup() does the whole if none of them
 * is the one, which is rare.
 *
 * Thread safety
 * -------------
 * One writer at a time (the flow table's mutex).  Readers neither lock nor
 * spin; they must not quiesce during a lookup.  An entry's index is stored
 * last (release) and loaded after its signature has matched (acquire), which
 * is the only order that a reader pays for; a deleted entry has index 0.  A
 * bucket's 'passed' is raised before the entry that passed it is stored, and
 * lowered after it has gone. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmap.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "table/dp-flow.h"
#include "table/dp-key.h"
#include "table/sig-match.h"

enum { SUBTABLE_WAYS = 7 };

/* The indexes come first because the compiler does not fold an offset into the
 * address of an atomic load. */
struct subtable_bucket {
    atomic_uint32_t indexes[SUBTABLE_WAYS]; /* 0: empty. */
    uint32_t pad;
    atomic_uint32_t sigs[SUBTABLE_WAYS];
    atomic_uint32_t passed;     /* Entries that went on to another bucket. */
};

BUILD_ASSERT_DECL(sizeof(struct subtable_bucket) == CACHE_LINE_SIZE);

/* One generation of buckets. */
struct subtable_array {
    uint32_t mask;              /* Number of buckets - 1. */
    struct subtable_bucket *buckets;
};

struct subtable {
    struct cmap_node node;      /* In classifier's 'subtables'. */
    struct dp_mask *mask;
    OVSRCU_TYPE(struct subtable_array *) array;
    size_t n_flows;             /* Writer only. */
    size_t n_uses;              /* Masks that may file flows here.  Writer
                                 * only. */
    atomic_uint32_t hits;       /* Ever; wraps.  Owner thread counts, the
                                 * ranking reads; relaxed. */
    uint32_t hits_ranked;       /* 'hits' at the last ranking.  Writer only. */
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

/* Returns the number of entries with hash 'hash', but no more than 'max'.
 * Writer only. */
unsigned int subtable_count_alike(const struct subtable *, uint32_t hash,
                                  unsigned int max);

/* Returns the live flow that matches 'key', whose hash under the mask of the
 * subtable is 'hash', or NULL. */
struct dp_flow *subtable_lookup(const struct subtable *,
                                const struct dp_slab *,
                                const struct dp_key *key, uint32_t hash);

/* Returns the flow that matches 'key' in the buckets of 'array' that come
 * after the home of 'hash', or NULL. */
struct dp_flow *subtable_lookup_beyond(const struct subtable_array *array,
                                       const struct dp_slab *,
                                       const struct dp_key *key,
                                       uint32_t hash);

static inline const struct subtable_array *
subtable_array_get(const struct subtable *subtable)
{
    return ovsrcu_get(struct subtable_array *, &subtable->array);
}

static inline struct subtable_bucket *
subtable_home(const struct subtable_array *array, uint32_t hash)
{
    return &array->buckets[hash & array->mask];
}

/* Returns a bitmap of the entries of 'bucket' with signature 'hash', deleted
 * ones among them.  The order of the loads does not matter: the signature of
 * an entry that stays does not change. */
static inline unsigned int
subtable_match(const struct subtable_bucket *bucket, uint32_t hash)
{
#if defined(SIG_MATCH_VECTOR) && !defined(__SANITIZE_THREAD__)
    /* The eighth word is 'passed'. */
    return (sig_match_vector(bucket->sigs, hash)
            & ((1u << SUBTABLE_WAYS) - 1));
#else
    struct subtable_bucket *b = CONST_CAST(struct subtable_bucket *, bucket);
    unsigned int match = 0;

    for (unsigned int way = 0; way < SUBTABLE_WAYS; way++) {
        uint32_t sig;

        atomic_read_relaxed(&b->sigs[way], &sig);
        match |= (unsigned int) (sig == hash) << way;
    }
    return match;
#endif
}

/* Returns the flow of an entry whose signature has matched, or NULL if the
 * entry is deleted. */
static inline struct dp_flow *
subtable_bucket_flow(const struct subtable_bucket *bucket, unsigned int way,
                     const struct dp_slab *slab)
{
    struct subtable_bucket *b = CONST_CAST(struct subtable_bucket *, bucket);
    uint32_t index;

    /* Pairs with the release in array_insert(). */
    atomic_read_explicit(&b->indexes[way], &index, memory_order_acquire);
    return index ? dp_slab_get(slab, index) : NULL;
}

/* Returns true if there are entries that found 'bucket' full. */
static inline bool
subtable_bucket_passed(const struct subtable_bucket *bucket)
{
    struct subtable_bucket *b = CONST_CAST(struct subtable_bucket *, bucket);
    uint32_t passed;

    /* Pairs with the release in bucket_add_passed(). */
    atomic_read_explicit(&b->passed, &passed, memory_order_acquire);
    return passed != 0;
}

/* Returns the flow of 'bucket' that matches 'key', or NULL. */
static inline struct dp_flow *
subtable_bucket_lookup(const struct subtable_bucket *bucket,
                       const struct dp_slab *slab, const struct dp_key *key,
                       uint32_t hash)
{
    unsigned int match = subtable_match(bucket, hash);

    for (; match; match = zero_rightmost_1bit(match)) {
        struct dp_flow *flow = subtable_bucket_flow(bucket, raw_ctz(match),
                                                    slab);

        if (OVS_LIKELY(flow && dp_flow_matches_key(flow, key))) {
            return flow;
        }
    }
    return NULL;
}

/* As subtable_lookup(), in the generation 'array' of its buckets. */
static inline struct dp_flow *
subtable_array_lookup(const struct subtable_array *array,
                      const struct dp_slab *slab, const struct dp_key *key,
                      uint32_t hash)
{
    const struct subtable_bucket *home = subtable_home(array, hash);
    struct dp_flow *flow = subtable_bucket_lookup(home, slab, key, hash);

    if (OVS_UNLIKELY(!flow && subtable_bucket_passed(home))) {
        flow = subtable_lookup_beyond(array, slab, key, hash);
    }
    return flow;
}

#endif /* table/subtable.h */
