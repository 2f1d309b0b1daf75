/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/subtable.h"

#include <errno.h>

#include "table/huge-mem.h"

enum { MIN_BUCKETS = 4 };

/* Path.
 *
 * The buckets in which an entry with some hash can be, in order: home, other,
 * and on from other one by one until all have been visited. */

struct path {
    uint32_t bucket;            /* Where the walk is. */
    uint32_t home;
    uint32_t n_steps;
};

static inline uint32_t
other_bucket(uint32_t hash, uint32_t mask)
{
    uint32_t mixed = hash * UINT32_C(0x9e3779b1);
    uint32_t other = mixed >> 16 | mixed << 16;

    return (other ^ hash) & mask ? other & mask : (other ^ 1) & mask;
}

static inline struct path
path_start(uint32_t hash, uint32_t mask)
{
    return (struct path) { hash & mask, hash & mask, 0 };
}

/* Goes to the next bucket.  Returns false at the end of the path. */
static inline bool
path_next(struct path *path, uint32_t hash, uint32_t mask)
{
    if (!path->n_steps++) {
        path->bucket = other_bucket(hash, mask);
    } else {
        path->bucket = (path->bucket + 1) & mask;
        if (path->bucket == path->home) {
            path->bucket = (path->bucket + 1) & mask;
        }
    }
    return path->n_steps <= mask;
}

/* Arrays. */

static size_t
array_bytes(uint32_t n_buckets)
{
    return (size_t) n_buckets * sizeof(struct subtable_bucket);
}

static struct subtable_array *
array_create(uint32_t n_buckets)
{
    struct subtable_bucket *buckets = huge_mem_alloc(array_bytes(n_buckets));
    struct subtable_array *array;

    if (!buckets) {
        return NULL;
    }
    array = xmalloc(sizeof *array);
    array->mask = n_buckets - 1;
    array->buckets = buckets;
    return array;
}

static void
array_destroy(struct subtable_array *array)
{
    if (array) {
        huge_mem_free(array->buckets, array_bytes(array->mask + 1));
        free(array);
    }
}

static size_t
array_capacity(const struct subtable_array *array)
{
    return ((size_t) array->mask + 1) * SUBTABLE_WAYS;
}

static void
bucket_add_passed(struct subtable_bucket *bucket, int n)
{
    uint32_t passed;

    /* Release: an entry that passed is stored after the count was raised, and
     * has gone before it is lowered.  Pairs with the acquire in
     * subtable_bucket_passed(). */
    atomic_read_relaxed(&bucket->passed, &passed);
    atomic_store_explicit(&bucket->passed, passed + n, memory_order_release);
}

/* Returns the number of a way of 'bucket' with index 'index' (0: an empty
 * one), or SUBTABLE_WAYS. */
static unsigned int
bucket_find_way(const struct subtable_bucket *bucket_, uint32_t index)
{
    struct subtable_bucket *bucket = CONST_CAST(struct subtable_bucket *,
                                                bucket_);
    unsigned int way;

    for (way = 0; way < SUBTABLE_WAYS; way++) {
        uint32_t here;

        atomic_read_relaxed(&bucket->indexes[way], &here);
        if (here == index) {
            break;
        }
    }
    return way;
}

/* Stores an entry in the first bucket of its path with room.  Returns false if
 * there is none. */
static bool
array_insert(struct subtable_array *array, uint32_t hash, uint32_t index)
{
    struct path path = path_start(hash, array->mask);
    struct path p = path;
    unsigned int way;

    while ((way = bucket_find_way(&array->buckets[p.bucket], 0))
           == SUBTABLE_WAYS) {
        if (!path_next(&p, hash, array->mask)) {
            return false;
        }
    }

    while (path.bucket != p.bucket) {
        bucket_add_passed(&array->buckets[path.bucket], 1);
        path_next(&path, hash, array->mask);
    }

    struct subtable_bucket *bucket = &array->buckets[p.bucket];

    /* The release pairs with the acquire in subtable_bucket_flow(): who sees
     * the index sees the flow that it names. */
    atomic_store_relaxed(&bucket->sigs[way], hash);
    atomic_store_explicit(&bucket->indexes[way], index, memory_order_release);
    return true;
}

static void
array_remove(struct subtable_array *array, uint32_t hash, uint32_t index)
{
    struct path path = path_start(hash, array->mask);
    struct path p = path;
    unsigned int way;

    while ((way = bucket_find_way(&array->buckets[p.bucket], index))
           == SUBTABLE_WAYS) {
        bool more = path_next(&p, hash, array->mask);

        ovs_assert(more);
    }
    atomic_store_relaxed(&array->buckets[p.bucket].indexes[way], 0);

    while (path.bucket != p.bucket) {
        bucket_add_passed(&array->buckets[path.bucket], -1);
        path_next(&path, hash, array->mask);
    }
}

/* Subtables. */

struct subtable *
subtable_create(struct dp_mask *mask)
{
    struct subtable *subtable = xzalloc(sizeof *subtable);
    struct subtable_array *array = array_create(MIN_BUCKETS);

    if (!array) {
        out_of_memory();
    }
    subtable->mask = mask;
    ovsrcu_init(&subtable->array, array);
    return subtable;
}

void
subtable_destroy(struct subtable *subtable)
{
    if (subtable) {
        ovs_assert(!subtable->n_flows);
        array_destroy(ovsrcu_get_protected(struct subtable_array *,
                                           &subtable->array));
        dp_mask_destroy(subtable->mask);
        free(subtable);
    }
}

/* Copies every entry of 'old' to 'new', which has room for them. */
static void
array_copy(struct subtable_array *new, const struct subtable_array *old)
{
    for (uint32_t i = 0; i <= old->mask; i++) {
        struct subtable_bucket *bucket = &old->buckets[i];

        for (unsigned int way = 0; way < SUBTABLE_WAYS; way++) {
            uint32_t index, sig;

            atomic_read_relaxed(&bucket->indexes[way], &index);
            atomic_read_relaxed(&bucket->sigs[way], &sig);
            if (index) {
                bool done = array_insert(new, sig, index);

                ovs_assert(done);
            }
        }
    }
}

static struct subtable_array *
subtable_grow(struct subtable *subtable, struct subtable_array *old)
{
    struct subtable_array *new = array_create((old->mask + 1) * 2);

    if (new) {
        array_copy(new, old);
        ovsrcu_set(&subtable->array, new);
        ovsrcu_postpone(array_destroy, old);
    }
    return new;
}

int
subtable_insert(struct subtable *subtable, const struct dp_flow *flow)
{
    struct subtable_array *array
        = ovsrcu_get_protected(struct subtable_array *, &subtable->array);

    if ((subtable->n_flows + 1) * 8 > array_capacity(array) * 5) {
        struct subtable_array *larger = subtable_grow(subtable, array);

        /* Without memory for more, use what there is to the last way. */
        array = larger ? larger : array;
    }
    if (!array_insert(array, flow->hash, flow->index)) {
        return ENOMEM;
    }
    subtable->n_flows++;
    return 0;
}

void
subtable_remove(struct subtable *subtable, const struct dp_flow *flow)
{
    array_remove(ovsrcu_get_protected(struct subtable_array *,
                                      &subtable->array),
                 flow->hash, flow->index);
    subtable->n_flows--;
}

unsigned int
subtable_count_alike(const struct subtable *subtable, uint32_t hash,
                     unsigned int max)
{
    const struct subtable_array *array = subtable_array_get(subtable);
    struct path path = path_start(hash, array->mask);
    struct subtable_bucket *bucket;
    unsigned int n = 0;

    do {
        unsigned int match;

        bucket = &array->buckets[path.bucket];
        match = subtable_match(bucket, hash);
        for (; match && n < max; match = zero_rightmost_1bit(match)) {
            uint32_t index;

            atomic_read_relaxed(&bucket->indexes[raw_ctz(match)], &index);
            n += index != 0;
        }
    } while (n < max && subtable_bucket_passed(bucket)
             && path_next(&path, hash, array->mask));
    return n;
}

struct dp_flow *
subtable_lookup_beyond(const struct subtable_array *array,
                       const struct dp_slab *slab, const struct dp_key *key,
                       uint32_t hash)
{
    struct path path = path_start(hash, array->mask);

    while (path_next(&path, hash, array->mask)) {
        const struct subtable_bucket *bucket = &array->buckets[path.bucket];
        struct dp_flow *flow = subtable_bucket_lookup(bucket, slab, key, hash);

        if (flow) {
            return flow;
        }
        if (!subtable_bucket_passed(bucket)) {
            break;
        }
    }
    return NULL;
}

struct dp_flow *
subtable_lookup(const struct subtable *subtable, const struct dp_slab *slab,
                const struct dp_key *key, uint32_t hash)
{
    return subtable_array_lookup(subtable_array_get(subtable), slab, key,
                                 hash);
}
