/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/dp-classifier.h"

#include "ovs-rcu.h"

enum {
    /* Flows of one masked key that a subtable for a rounded mask takes.  They
     * are in one bucket as a rule, and fetched together. */
    MAX_ALIKE = 4,

    /* Flows of one mask that the bit vector takes... */
    MAX_ODD = 8,

    /* ...unless there are so many subtables: then it takes all that it has
     * room for. */
    MANY_SUBTABLES = 16
};

/* In the order in which they are tried. */
enum level {
    LEVEL_PAIRS,
    LEVEL_BYTES,
    LEVEL_EXACT,
    N_LEVELS
};

/* What is known of a mask that flows have. */
struct dp_mask_use {
    struct cmap_node node;      /* In classifier's 'masks'. */
    struct dp_mask *mask;
    size_t n_flows;
    size_t n_odd;               /* Of them, those in the bit vector. */
    struct subtable *subtables[N_LEVELS]; /* Null: not needed so far. Several
                                 * may be the same. */
};

struct dp_classifier *
dp_classifier_create(odp_port_t in_port)
{
    struct dp_classifier *cls = xmalloc(sizeof *cls);

    cls->in_port = in_port;
    cmap_init(&cls->masks);
    cls->last_mask = NULL;
    cmap_init(&cls->subtables);
    pvector_init(&cls->ranked);
    cls->odd = bit_vector_create();
    return cls;
}

void
dp_classifier_destroy(struct dp_classifier *cls)
{
    ovs_assert(cmap_is_empty(&cls->masks));
    ovs_assert(cmap_is_empty(&cls->subtables));
    cmap_destroy(&cls->masks);
    cmap_destroy(&cls->subtables);
    pvector_destroy(&cls->ranked);
    bit_vector_destroy(cls->odd);
    ovsrcu_postpone(free, cls);
}

/* Subtables. */

/* Returns the subtable for 'mask', of which it takes ownership. */
static struct subtable *
find_or_make_subtable(struct dp_classifier *cls, struct dp_mask *mask)
{
    struct subtable *subtable;

    CMAP_FOR_EACH_WITH_HASH (subtable, node, mask->hash, &cls->subtables) {
        if (dp_mask_equal(subtable->mask, mask)) {
            dp_mask_destroy(mask);
            return subtable;
        }
    }

    dp_mask_complete(mask);
    mask->in_port = cls->in_port;
    subtable = subtable_create(mask);
    cmap_insert(&cls->subtables, &subtable->node, mask->hash);
    return subtable;
}

static void
use_subtable(struct dp_mask_use *use, enum level level,
             struct subtable *subtable)
{
    use->subtables[level] = subtable;
    subtable->n_uses++;
}

static void
disuse_subtable(struct dp_classifier *cls, struct subtable *subtable)
{
    if (!--subtable->n_uses) {
        cmap_remove(&cls->subtables, &subtable->node, subtable->mask->hash);
        ovsrcu_postpone(subtable_destroy, subtable);
    }
}

/* Returns the subtable for flows of 'use' at 'level'. */
static struct subtable *
subtable_at_level(struct dp_classifier *cls, struct dp_mask_use *use,
                  enum level level)
{
    static const enum dp_mask_rounding roundings[] = {
        [LEVEL_PAIRS] = DP_MASK_BY_PAIRS,
        [LEVEL_BYTES] = DP_MASK_BY_BYTES,
    };
    struct subtable *subtable = use->subtables[level];

    if (!subtable) {
        struct dp_mask *mask = (level == LEVEL_EXACT
                                ? dp_mask_copy(use->mask)
                                : dp_mask_round(use->mask, roundings[level]));

        subtable = find_or_make_subtable(cls, mask);
        use_subtable(use, level, subtable);
        if (!use->subtables[LEVEL_EXACT]
            && dp_mask_equal(subtable->mask, use->mask)) {
            use_subtable(use, LEVEL_EXACT, subtable);
        }
    }
    return subtable;
}

static int
insert_into_subtable(struct dp_classifier *cls, struct subtable *subtable,
                     struct dp_flow *flow, uint32_t hash)
{
    int error;

    flow->hash = hash;
    error = subtable_insert(subtable, flow);
    if (!error) {
        flow->info->subtable = subtable;
        if (subtable->n_flows == 1) {
            pvector_insert(&cls->ranked, subtable, 0);
            pvector_publish(&cls->ranked);
        }
    }
    return error;
}

/* Masks. */

struct dp_mask *
dp_classifier_get_mask(struct dp_classifier *cls, struct dp_mask *mask)
{
    struct dp_mask_use *use;

    CMAP_FOR_EACH_WITH_HASH (use, node, mask->hash, &cls->masks) {
        if (dp_mask_equal(use->mask, mask)) {
            dp_mask_destroy(mask);
            return use->mask;
        }
    }

    dp_mask_complete(mask);
    mask->in_port = cls->in_port;
    use = xzalloc(sizeof *use);
    use->mask = mask;
    mask->use = use;
    cmap_insert(&cls->masks, &use->node, mask->hash);
    return mask;
}

struct dp_mask *
dp_classifier_mask_of(struct dp_classifier *cls,
                      const struct dp_mask_words *words)
{
    /* As a rule, a flow has the mask of the one before it. */
    if (!cls->last_mask || !dp_mask_consists_of(cls->last_mask, words)) {
        struct dp_mask *mask = dp_mask_from_words(&words->map, words->words);

        cls->last_mask = dp_classifier_get_mask(cls, mask);
    }
    return cls->last_mask;
}

void
dp_classifier_trim(struct dp_classifier *cls, struct dp_mask *mask)
{
    struct dp_mask_use *use = mask->use;

    if (use->n_flows) {
        return;
    }
    for (enum level level = 0; level < N_LEVELS; level++) {
        if (use->subtables[level]) {
            disuse_subtable(cls, use->subtables[level]);
        }
    }
    if (cls->last_mask == mask) {
        cls->last_mask = NULL;
    }
    cmap_remove(&cls->masks, &use->node, mask->hash);
    ovsrcu_postpone(dp_mask_destroy, mask);
    ovsrcu_postpone(free, use);
}

/* Flows. */

/* Returns true if another odd flow of 'use' is for the bit vector. */
static bool
prefers_bit_vector(const struct dp_classifier *cls,
                   const struct dp_mask_use *use)
{
    return (!use->subtables[LEVEL_EXACT]
            && (use->n_odd < MAX_ODD
                || pvector_count(&cls->ranked) >= MANY_SUBTABLES));
}

/* Files 'flow' wherever it fits. */
static int
file_flow(struct dp_classifier *cls, struct dp_mask_use *use,
          struct dp_flow *flow, const struct flow *match)
{
    uint64_t words[FLOW_U64S];
    struct subtable *subtable;
    uint32_t hash;

    for (enum level level = 0; level < LEVEL_EXACT; level++) {
        subtable = subtable_at_level(cls, use, level);
        if (subtable == use->subtables[LEVEL_EXACT]) {
            return insert_into_subtable(cls, subtable, flow, flow->hash);
        }
        hash = dp_mask_flow(subtable->mask, match, words);
        if (subtable_count_alike(subtable, hash, MAX_ALIKE) < MAX_ALIKE) {
            return insert_into_subtable(cls, subtable, flow, hash);
        }
    }

    if (prefers_bit_vector(cls, use)
        && !bit_vector_insert(cls->odd, flow, use->mask)) {
        flow->info->subtable = NULL;
        use->n_odd++;
        return 0;
    }

    subtable = subtable_at_level(cls, use, LEVEL_EXACT);
    return insert_into_subtable(cls, subtable, flow, flow->hash);
}

int
dp_classifier_insert(struct dp_classifier *cls, struct dp_flow *flow,
                     const struct flow *match)
{
    struct dp_mask_use *use = flow->info->mask->use;
    int error = file_flow(cls, use, flow, match);

    if (!error) {
        use->n_flows++;
    }
    return error;
}

void
dp_classifier_remove(struct dp_classifier *cls, struct dp_flow *flow)
{
    struct subtable *subtable = flow->info->subtable;
    struct dp_mask_use *use = flow->info->mask->use;

    if (subtable) {
        subtable_remove(subtable, flow);
        if (!subtable->n_flows) {
            pvector_remove(&cls->ranked, subtable);
            pvector_publish(&cls->ranked);
        }
    } else {
        bit_vector_remove(cls->odd, flow);
        use->n_odd--;
    }
    use->n_flows--;
    dp_classifier_trim(cls, use->mask);
}

struct dp_flow *
dp_classifier_lookup(const struct dp_classifier *cls,
                     const struct dp_slab *slab, const struct dp_key *key,
                     unsigned int *n_asked, struct subtable **subtablep)
{
    struct subtable *subtable;
    struct dp_flow *flow;
    unsigned int n = 0;

    PVECTOR_FOR_EACH (subtable, &cls->ranked) {
        uint32_t hash = dp_mask_hash_key(subtable->mask, key);

        flow = subtable_lookup(subtable, slab, key, hash);
        n++;
        if (flow) {
            *subtablep = subtable;
            *n_asked += n;
            return flow;
        }
    }

    flow = NULL;
    if (!bit_vector_is_empty(cls->odd)) {
        flow = bit_vector_lookup(cls->odd, slab, key);
        if (flow) {
            *subtablep = NULL;
            *n_asked += n + 1;
        }
    }
    return flow;
}

void
dp_classifier_rank(struct dp_classifier *cls)
{
    struct subtable *subtable;

    PVECTOR_FOR_EACH (subtable, &cls->ranked) {
        uint32_t hits;

        atomic_read_relaxed(&subtable->hits, &hits);
        pvector_change_priority(&cls->ranked, subtable,
                                MIN(hits - subtable->hits_ranked, INT_MAX));
        subtable->hits_ranked = hits;
    }
    pvector_publish(&cls->ranked);
}
