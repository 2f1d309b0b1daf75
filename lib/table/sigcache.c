/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/sigcache.h"

#include <errno.h>

#include "ovs-numa.h"
#include "table/dp-flow.h"
#include "table/dp-key.h"
#include "table/huge-mem.h"

void
sigcache_init(struct sigcache *cache)
{
    *cache = (struct sigcache) { .buckets = NULL };
}

int
sigcache_create(struct sigcache *cache, uint32_t n_entries, int numa_id)
{
    sigcache_init(cache);
    if (!sigcache_is_valid_size(n_entries)) {
        return EINVAL;
    }
    if (n_entries) {
        cache->buckets = huge_mem_map(sigcache_bytes(n_entries), numa_id);
        if (!cache->buckets) {
            return ENOMEM;
        }
        cache->bucket_mask = n_entries / SIGCACHE_WAYS - 1;
    }
    return 0;
}

void
sigcache_destroy(struct sigcache *cache)
{
    huge_mem_unmap(cache->buckets, sigcache_bytes(sigcache_n_entries(cache)));
    sigcache_init(cache);
}

int
sigcache_resize(struct sigcache *cache, uint32_t n_entries)
{
    struct sigcache new;
    int error = sigcache_create(&new, n_entries, OVS_NUMA_UNSPEC);

    if (!error) {
        sigcache_destroy(cache);
        *cache = new;
    }
    return error;
}

uint32_t
sigcache_n_entries(const struct sigcache *cache)
{
    return cache->buckets ? (cache->bucket_mask + 1) * SIGCACHE_WAYS : 0;
}

/* The entry of 'bucket' that is to hold 'hash': the one that has it already,
 * one that is empty, or else a victim that the hash's upper bits choose (the
 * lower ones chose the bucket). */
static unsigned int
choose_way(const struct sigcache_bucket *bucket, uint32_t hash)
{
    unsigned int way = hash >> 29;

    for (unsigned int i = 0; i < SIGCACHE_WAYS; i++) {
        if (!bucket->indexes[i]) {
            way = i;
        } else if (bucket->sigs[i] == hash) {
            return i;
        }
    }
    return way;
}

void
sigcache_insert(struct sigcache *cache, uint32_t hash, uint32_t index)
{
    struct sigcache_bucket *bucket;
    unsigned int way;

    if (!cache->buckets) {
        return;
    }

    bucket = &cache->buckets[hash & cache->bucket_mask];
    way = choose_way(bucket, hash);
    bucket->sigs[way] = hash;
    bucket->indexes[way] = index;
}

unsigned int
sigcache_sweep(struct sigcache *cache, const struct dp_slab *slab,
               unsigned int n_buckets)
{
    unsigned int n_forgotten = 0;

    if (!cache->buckets) {
        return 0;
    }

    while (n_buckets--) {
        struct sigcache_bucket *bucket = &cache->buckets[cache->sweep_pos];

        cache->sweep_pos = (cache->sweep_pos + 1) & cache->bucket_mask;
        for (unsigned int i = 0; i < SIGCACHE_WAYS; i++) {
            uint32_t index = bucket->indexes[i];

            if (index && !dp_flow_is_live(dp_slab_get(slab, index))) {
                bucket->indexes[i] = 0;
                n_forgotten++;
            }
        }
    }
    return n_forgotten;
}
