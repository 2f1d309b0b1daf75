/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/dp-classifier.h"

#include "ovs-rcu.h"

struct dp_classifier *
dp_classifier_create(odp_port_t in_port)
{
    struct dp_classifier *cls = xmalloc(sizeof *cls);

    cls->in_port = in_port;
    cmap_init(&cls->by_mask);
    pvector_init(&cls->ranked);
    return cls;
}

/* Takes 'subtable' from everybody's sight; it goes after a grace period. */
static void
drop_subtable(struct dp_classifier *cls, struct subtable *subtable)
{
    cmap_remove(&cls->by_mask, &subtable->node, subtable->mask->hash);
    pvector_remove(&cls->ranked, subtable);
    ovsrcu_postpone(subtable_destroy, subtable);
}

void
dp_classifier_destroy(struct dp_classifier *cls)
{
    struct subtable *subtable;

    CMAP_FOR_EACH (subtable, node, &cls->by_mask) {
        ovs_assert(!subtable->n_flows);
        drop_subtable(cls, subtable);
    }
    pvector_publish(&cls->ranked);
    cmap_destroy(&cls->by_mask);
    pvector_destroy(&cls->ranked);
    ovsrcu_postpone(free, cls);
}

struct subtable *
dp_classifier_get_subtable(struct dp_classifier *cls, struct dp_mask *mask)
{
    struct subtable *subtable;

    CMAP_FOR_EACH_WITH_HASH (subtable, node, mask->hash, &cls->by_mask) {
        if (dp_mask_equal(subtable->mask, mask)) {
            dp_mask_destroy(mask);
            return subtable;
        }
    }

    dp_mask_complete(mask);
    mask->in_port = cls->in_port;
    subtable = subtable_create(mask);
    cmap_insert(&cls->by_mask, &subtable->node, mask->hash);
    pvector_insert(&cls->ranked, subtable, 0);
    pvector_publish(&cls->ranked);
    return subtable;
}

static struct subtable *
find_subtable_of(const struct dp_classifier *cls, const struct dp_mask *mask)
{
    struct subtable *subtable;

    CMAP_FOR_EACH_WITH_HASH (subtable, node, mask->hash, &cls->by_mask) {
        if (subtable->mask == mask) {
            return subtable;
        }
    }
    OVS_NOT_REACHED();
}

void
dp_classifier_remove_flow(struct dp_classifier *cls, struct dp_flow *flow)
{
    struct subtable *subtable = find_subtable_of(cls, flow->info->mask);

    subtable_remove(subtable, flow);
    dp_classifier_trim(cls, subtable);
}

void
dp_classifier_trim(struct dp_classifier *cls, struct subtable *subtable)
{
    if (!subtable->n_flows) {
        drop_subtable(cls, subtable);
        pvector_publish(&cls->ranked);
    }
}

struct dp_flow *
dp_classifier_lookup(const struct dp_classifier *cls,
                     const struct dp_slab *slab, const struct dp_key *key,
                     unsigned int *n_subtables)
{
    uint64_t words[FLOW_U64S];
    struct subtable *subtable;

    PVECTOR_FOR_EACH (subtable, &cls->ranked) {
        uint32_t hash = dp_mask_key(subtable->mask, key, words);
        struct dp_flow *flow = subtable_lookup(subtable, slab, hash, words);

        ++*n_subtables;
        if (flow) {
            return flow;
        }
    }
    return NULL;
}

void
dp_classifier_rank(struct dp_classifier *cls)
{
    struct subtable *subtable;

    PVECTOR_FOR_EACH (subtable, &cls->ranked) {
        struct dp_mask *mask = subtable->mask;

        pvector_change_priority(&cls->ranked, subtable,
                                MIN(mask->hits, INT_MAX));
        mask->hits = 0;
    }
    pvector_publish(&cls->ranked);
}
