/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/bond.h"

#include "hash.h"
#include "ovs-rcu.h"
#include "util.h"

static uint32_t
bond_hash(uint32_t id)
{
    return hash_int(id, 0);
}

void
dp_bonds_init(struct dp_bonds *bonds)
{
    ovs_mutex_init(&bonds->mutex);
    cmap_init(&bonds->map);
}

void
dp_bonds_destroy(struct dp_bonds *bonds)
{
    dp_bonds_clear(bonds);
    cmap_destroy(&bonds->map);
    ovs_mutex_destroy(&bonds->mutex);
}

void
dp_bonds_clear(struct dp_bonds *bonds)
{
    struct dp_bond *bond;

    ovs_mutex_lock(&bonds->mutex);
    CMAP_FOR_EACH (bond, node, &bonds->map) {
        cmap_remove(&bonds->map, &bond->node, bond_hash(bond->id));
        ovsrcu_postpone(free, bond);
    }
    ovs_mutex_unlock(&bonds->mutex);
}

struct dp_bond *
dp_bonds_find(const struct dp_bonds *bonds, uint32_t id)
{
    struct dp_bond *bond;

    CMAP_FOR_EACH_WITH_HASH (bond, node, bond_hash(id), &bonds->map) {
        if (bond->id == id) {
            return bond;
        }
    }
    return NULL;
}

/* Makes bond 'id' with the members of 'from', where a bucket's member lies
 * 'stride' bytes behind that of the bucket before.  Counts start at those of
 * 'counts', or at zero if it is null. */
static struct dp_bond *
bond_create(uint32_t id, const odp_port_t *from, size_t stride,
            const struct dp_bond *counts)
{
    struct dp_bond *bond = xzalloc(sizeof *bond);
    const char *member = (const char *) from;

    bond->id = id;
    for (size_t i = 0; i < BOND_BUCKETS; i++, member += stride) {
        struct dp_bond_bucket *bucket = &bond->buckets[i];
        unsigned long long packets = 0, bytes = 0;

        if (counts) {
            struct dp_bond_bucket *old
                = CONST_CAST(struct dp_bond_bucket *, &counts->buckets[i]);

            atomic_read_relaxed(&old->packets, &packets);
            atomic_read_relaxed(&old->bytes, &bytes);
        }
        memcpy(&bucket->member, member, sizeof bucket->member);
        atomic_init(&bucket->packets, packets);
        atomic_init(&bucket->bytes, bytes);
    }
    return bond;
}

void
dp_bonds_put(struct dp_bonds *bonds, uint32_t id, const odp_port_t *members,
             bool replace)
{
    ovs_mutex_lock(&bonds->mutex);

    struct dp_bond *old = dp_bonds_find(bonds, id);

    if (!old || replace) {
        struct dp_bond *new = bond_create(id, members, sizeof *members, old);

        if (old) {
            cmap_replace(&bonds->map, &old->node, &new->node, bond_hash(id));
            ovsrcu_postpone(free, old);
        } else {
            cmap_insert(&bonds->map, &new->node, bond_hash(id));
        }
    }
    ovs_mutex_unlock(&bonds->mutex);
}

void
dp_bonds_copy_missing(struct dp_bonds *dst, const struct dp_bonds *src)
{
    const struct dp_bond *bond;

    ovs_mutex_lock(&dst->mutex);
    CMAP_FOR_EACH (bond, node, &src->map) {
        if (!dp_bonds_find(dst, bond->id)) {
            struct dp_bond *copy = bond_create(bond->id,
                                               &bond->buckets[0].member,
                                               sizeof bond->buckets[0], NULL);

            cmap_insert(&dst->map, &copy->node, bond_hash(copy->id));
        }
    }
    ovs_mutex_unlock(&dst->mutex);
}

bool
dp_bonds_remove(struct dp_bonds *bonds, uint32_t id)
{
    ovs_mutex_lock(&bonds->mutex);

    struct dp_bond *bond = dp_bonds_find(bonds, id);

    if (bond) {
        cmap_remove(&bonds->map, &bond->node, bond_hash(id));
        ovsrcu_postpone(free, bond);
    }
    ovs_mutex_unlock(&bonds->mutex);

    return bond != NULL;
}

void
dp_bond_bucket_account(struct dp_bond_bucket *bucket, uint32_t size)
{
    unsigned long long n;

    atomic_read_relaxed(&bucket->packets, &n);
    atomic_store_relaxed(&bucket->packets, n + 1);
    atomic_read_relaxed(&bucket->bytes, &n);
    atomic_store_relaxed(&bucket->bytes, n + size);
}
