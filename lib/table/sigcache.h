/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_SIGCACHE_H
#define WEFT_TABLE_SIGCACHE_H 1

/* Signature cache: from the hash of a packet to the flow that it hit last.
 *
 * Problem
 * -------
 * Most packets belong to a flow that was looked up a moment ago.  A cache in
 * front of the classifier answers them with one cache line.  It stores no
 * keys and holds no references: an entry is a 32-bit signature (the packet's
 * whole hash) and the 32-bit index of a flow, eight entries to a line, and a
 * hit counts only when the flow itself says that the packet is its own
 * (dp_flow_matches_key()).  So entries are never invalidated, and 8,192 of
 * them take 64 kB.
 *
 * The exact-match cache (EMC) and the signature-match cache (SMC) of the
 * userspace datapath are two instances that differ in size and in how eagerly
 * they are filled.  There is no limit on the index: a flow that exists can be
 * cached.
 *
 * Thread safety
 * -------------
 * None: a cache belongs to one thread, or to who holds its mutex.  For a cache
 * of another size than before, that thread need not wait until there is memory
 * for it: see table/sigcache-handover.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/dp-flow.h"
#include "table/dp-key.h"
#include "table/sig-match.h"
#include "util.h"

enum { SIGCACHE_WAYS = 8 };

struct sigcache_bucket {
    uint32_t sigs[SIGCACHE_WAYS];
    uint32_t indexes[SIGCACHE_WAYS]; /* 0: empty. */
};

BUILD_ASSERT_DECL(sizeof(struct sigcache_bucket) == CACHE_LINE_SIZE);

struct sigcache {
    struct sigcache_bucket *buckets; /* Null: the cache has no memory. */
    uint32_t bucket_mask;
    uint32_t sweep_pos;         /* Next bucket to sweep. */
};

/* Sizes are powers of 2, in entries. */
enum {
    SIGCACHE_MIN_ENTRIES = 1 << 10,
    SIGCACHE_MAX_ENTRIES = 1 << 25,
    SIGCACHE_EMC_ENTRIES = 1 << 13, /* Default of the EMC. */
    SIGCACHE_SMC_ENTRIES = 1 << 20  /* Default of the SMC. */
};

/* Initializes 'cache' as a cache without memory, in which nothing is found and
 * into which nothing is inserted. */
void sigcache_init(struct sigcache *cache);

/* Returns true if a cache may have 'n_entries': none, or a power of two from
 * SIGCACHE_MIN_ENTRIES to SIGCACHE_MAX_ENTRIES. */
static inline bool
sigcache_is_valid_size(uint32_t n_entries)
{
    return (!n_entries
            || (n_entries >= SIGCACHE_MIN_ENTRIES
                && n_entries <= SIGCACHE_MAX_ENTRIES
                && !(n_entries & (n_entries - 1))));
}

/* The bytes of memory that 'n_entries' take. */
static inline size_t
sigcache_bytes(uint32_t n_entries)
{
    return (size_t) n_entries / SIGCACHE_WAYS * sizeof(struct sigcache_bucket);
}

/* Initializes 'cache' with 'n_entries', all empty, or as sigcache_init() for
 * zero.  All of its memory is in place, on NUMA node 'numa_id' if possible
 * (huge_mem_map(), which see for the time that it takes).  Returns 0, EINVAL
 * for a number that sigcache_is_valid_size() refuses, or ENOMEM; then 'cache'
 * has no memory. */
int sigcache_create(struct sigcache *cache, uint32_t n_entries, int numa_id);

/* Gives 'cache' memory for 'n_entries', at once and anywhere.  What was in it
 * is forgotten.  Returns 0 or an error as sigcache_create(); then 'cache' is
 * unchanged. */
int sigcache_resize(struct sigcache *cache, uint32_t n_entries);

void sigcache_destroy(struct sigcache *cache);

/* Returns the number of entries that 'cache' has memory for. */
uint32_t sigcache_n_entries(const struct sigcache *cache);

/* Makes 'hash' lead to the flow 'index' from now on, at the cost of another
 * entry of its bucket if it is full. */
void sigcache_insert(struct sigcache *cache, uint32_t hash, uint32_t index);

/* Forgets the entries of the next 'n_buckets' buckets that lead to flows
 * which are dead, and returns their number. */
unsigned int sigcache_sweep(struct sigcache *cache,
                            const struct dp_slab *slab,
                            unsigned int n_buckets);

static inline const struct sigcache_bucket *
sigcache_bucket(const struct sigcache *cache, uint32_t hash)
{
    return &cache->buckets[hash & cache->bucket_mask];
}

/* Returns a bitmap of the entries of 'bucket' whose signature is 'hash', empty
 * ones among them. */
static inline unsigned int
sigcache_bucket_match(const struct sigcache_bucket *bucket, uint32_t hash)
{
#ifdef SIG_MATCH_VECTOR
    return sig_match_vector(bucket->sigs, hash);
#else
    unsigned int match = 0;

    for (unsigned int i = 0; i < SIGCACHE_WAYS; i++) {
        match |= (unsigned int) (bucket->sigs[i] == hash) << i;
    }
    return match;
#endif
}

static inline bool
sigcache_is_enabled(const struct sigcache *cache)
{
    return cache->buckets != NULL;
}

/* Returns the flow that 'hash' leads to in 'cache', or NULL.  It may be dead
 * or of another packet: see dp_flow_matches_key().  'cache' must have memory.
 * The caller must not quiesce while it uses the flow. */
static inline struct dp_flow *
sigcache_candidate(const struct sigcache *cache, const struct dp_slab *slab,
                   uint32_t hash)
{
    const struct sigcache_bucket *bucket = sigcache_bucket(cache, hash);
    unsigned int match = sigcache_bucket_match(bucket, hash);

    for (; match; match = zero_rightmost_1bit(match)) {
        uint32_t index = bucket->indexes[raw_ctz(match)];

        /* There is one entry per hash at most, but for empty ones. */
        if (OVS_LIKELY(index)) {
            return dp_slab_get(slab, index);
        }
    }
    return NULL;
}

/* Returns the flow that 'key' hits in 'cache', or NULL, under the same
 * conditions. */
static inline struct dp_flow *
sigcache_lookup(const struct sigcache *cache, const struct dp_slab *slab,
                const struct dp_key *key)
{
    struct dp_flow *flow = sigcache_candidate(cache, slab, key->hash);

    return flow && dp_flow_matches_key(flow, key) ? flow : NULL;
}

#endif /* table/sigcache.h */
