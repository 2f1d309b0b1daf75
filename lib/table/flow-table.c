/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/flow-table.h"

#include <errno.h>

#include "hash.h"
#include "openvswitch/match.h"
#include "odp-util.h"
#include "ovs-rcu.h"
#include "packets.h"
#include "table/sigcache.h"

/* Life of a flow's memory. */

/* Frees what belongs to 'info', gives its slot back, and frees 'info'. */
static void
flow_reclaim(struct dp_flow_info *info)
{
    struct dp_flow *flow = info->slot;

    dp_actions_destroy(ovsrcu_get_protected(struct dp_actions *,
                                            &flow->actions));
    if (info->n_words > DP_FLOW_INLINE_WORDS) {
        free(flow->more);
    }
    dp_slab_free(info->slab, flow);
    free(info->offload);
    free(info);
}

bool
dp_flow_ref(struct dp_flow *flow)
{
    return ovs_refcount_try_ref_rcu(&flow->info->ref_cnt);
}

void
dp_flow_unref(struct dp_flow *flow)
{
    if (ovs_refcount_unref_relaxed(&flow->info->ref_cnt) == 1) {
        ovsrcu_postpone(flow_reclaim, flow->info);
    }
}

/* Makes the control side's part of a flow. */
static struct dp_flow_info *
flow_info_create(const struct dp_flow_spec *spec)
{
    const struct flow *flow = &spec->match->flow;
    struct dp_flow_info *info;
    struct {
        struct miniflow mf;
    } map;

    miniflow_map_init(&map.mf, flow);

    size_t n = miniflow_n_values(&map.mf);

    info = xzalloc(sizeof *info + MINIFLOW_VALUES_SIZE(n));
    info->mf.map = map.mf.map;
    miniflow_init(&info->mf, flow);
    info->ufid = *spec->ufid;
    ovs_refcount_init(&info->ref_cnt);
    info->pmd_id = spec->pmd_id;
    info->in_port = flow->in_port.odp_port;
    info->orig_in_port = spec->orig_in_port;
    info->mark = INVALID_FLOW_MARK;
    return info;
}

/* Gives 'info' what a flow needs that hardware may take over. */
static void
flow_info_track_offload(struct dp_flow_info *info, const struct match *match)
{
    struct flow masked;

    for (size_t i = 0; i < FLOW_U64S; i++) {
        *flow_u64_lvalue(&masked, i) = flow_u64_value(&match->flow, i)
                                       & flow_u64_value(&match->wc.masks, i);
    }
    odp_flow_key_hash(&masked, sizeof masked, &info->mega_ufid);
    info->offload = xzalloc(sizeof *info->offload);
}

/* Fills the slot 'flow' for 'spec' and 'mask', without making it live. */
static void
flow_fill(struct dp_flow *flow, struct dp_flow_info *info,
          const struct dp_flow_spec *spec, const struct dp_mask *mask)
{
    struct dp_actions *actions = dp_actions_create(spec->actions,
                                                   spec->actions_len);
    uint64_t *words = flow->words;

    if (mask->n > DP_FLOW_INLINE_WORDS) {
        words = xmalloc(mask->n * sizeof *words);
    }
    flow->hash = dp_mask_flow(mask, &spec->match->flow, words);
    if (words != flow->words) {
        flow->more = words;
    }
    ovsrcu_init(&flow->actions, actions);
    atomic_store_relaxed(&flow->output, odp_to_u32(actions->output));
    flow->batch = NULL;
    flow->info = info;
    atomic_store_relaxed(&flow->packets, 0);
    atomic_store_relaxed(&flow->bytes, 0);
    atomic_store_relaxed(&flow->used, 0);
    atomic_store_relaxed(&flow->tcp_flags, 0);
    info->slot = flow;
    info->mask = mask;
    info->n_words = mask->n;
}

/* Simple flows. */

/* Fills 'masks' with all that a simple flow may match on. */
static void
simple_flow_masks(struct flow *masks)
{
    memset(masks, 0, sizeof *masks);
    masks->recirc_id = UINT32_MAX;
    masks->packet_type = OVS_BE32_MAX;
    masks->dl_type = OVS_BE16_MAX;
    masks->vlans[0].tci = htons(VLAN_VID_MASK | VLAN_CFI);
    masks->nw_frag = FLOW_NW_FRAG_MASK;
}

/* Returns true if a packet that is no recirculated one, and for which those
 * bits are known that dp_simple_mark() takes, needs nothing more to be
 * recognized as one of 'match'. */
static bool
match_is_simple(const struct match *match, const struct dp_mask *mask)
{
    struct flow allowed;
    uint32_t i = 0;
    size_t idx;

    if (match->flow.recirc_id
        || match->flow.packet_type != htonl(PT_ETH)
        || match->wc.masks.vlans[0].tci != htons(VLAN_VID_MASK | VLAN_CFI)) {
        return false;
    }

    simple_flow_masks(&allowed);
    FLOWMAP_FOR_EACH_INDEX (idx, mask->mf.map) {
        if (mask->words[i++] & ~flow_u64_value(&allowed, idx)) {
            return false;
        }
    }
    return true;
}

static void
simple_insert(struct dp_flow_table *table, struct dp_flow_info *info,
              const struct flow *flow)
    OVS_REQUIRES(table->mutex)
{
    info->simple_mark = dp_simple_mark(info->in_port, flow->dl_type,
                                       flow->nw_frag, flow->vlans[0].tci);
    info->is_simple = true;
    cmap_insert(&table->simple, &info->simple_node,
                hash_uint64(info->simple_mark));
    ccmap_inc(&table->n_simple, odp_to_u32(info->in_port));
}

static void
simple_remove(struct dp_flow_table *table, struct dp_flow_info *info)
    OVS_REQUIRES(table->mutex)
{
    if (info->is_simple) {
        cmap_remove(&table->simple, &info->simple_node,
                    hash_uint64(info->simple_mark));
        ccmap_dec(&table->n_simple, odp_to_u32(info->in_port));
        info->is_simple = false;
    }
}

bool
dp_flow_table_is_simple(const struct dp_flow_table *table, odp_port_t in_port)
{
    uint32_t port = odp_to_u32(in_port);

    return ccmap_find(&table->n_flows, port)
           == ccmap_find(&table->n_simple, port);
}

struct dp_flow *
dp_flow_table_find_simple(const struct dp_flow_table *table, uint64_t mark)
{
    struct dp_flow_info *info;

    CMAP_FOR_EACH_WITH_HASH (info, simple_node, hash_uint64(mark),
                             &table->simple) {
        if (info->simple_mark == mark) {
            return info->slot;
        }
    }
    return NULL;
}

/* Classifiers. */

struct dp_classifier *
dp_flow_table_get_classifier(const struct dp_flow_table *table,
                             odp_port_t in_port)
{
    struct dp_classifier *cls;

    CMAP_FOR_EACH_WITH_HASH (cls, node, hash_int(odp_to_u32(in_port), 0),
                             &table->classifiers) {
        if (cls->in_port == in_port) {
            return cls;
        }
    }
    return NULL;
}

static struct dp_classifier *
need_classifier(struct dp_flow_table *table, odp_port_t in_port)
    OVS_REQUIRES(table->mutex)
{
    struct dp_classifier *cls = dp_flow_table_get_classifier(table, in_port);

    if (!cls) {
        cls = dp_classifier_create(in_port);
        cmap_insert(&table->classifiers, &cls->node,
                    hash_int(odp_to_u32(in_port), 0));
    }
    return cls;
}

/* The table. */

void
dp_flow_table_init(struct dp_flow_table *table)
{
    ovs_mutex_init(&table->mutex);
    table->slab = dp_slab_create();
    cmap_init(&table->by_ufid);
    atomic_count_init(&table->n_total, 0);
    atomic_init(&table->n_removed, 0);
    atomic_init(&table->rank_wanted, false);
    cmap_init(&table->simple);
    ccmap_init(&table->n_flows);
    ccmap_init(&table->n_simple);
    cmap_init(&table->classifiers);
    dp_shapes_init(&table->shapes);
}

void
dp_flow_table_destroy(struct dp_flow_table *table)
{
    struct dp_classifier *cls;
    struct dp_flow_info *info;

    ovs_mutex_lock(&table->mutex);
    CMAP_FOR_EACH (info, ufid_node, &table->by_ufid) {
        dp_flow_table_remove(table, info->slot);
    }
    CMAP_FOR_EACH (cls, node, &table->classifiers) {
        cmap_remove(&table->classifiers, &cls->node,
                    hash_int(odp_to_u32(cls->in_port), 0));
        dp_classifier_destroy(cls);
    }
    ovs_mutex_unlock(&table->mutex);

    cmap_destroy(&table->classifiers);
    cmap_destroy(&table->by_ufid);
    cmap_destroy(&table->simple);
    ccmap_destroy(&table->n_flows);
    ccmap_destroy(&table->n_simple);
    dp_slab_destroy(table->slab);
    ovs_mutex_destroy(&table->mutex);
}

size_t
dp_flow_table_count(const struct dp_flow_table *table)
{
    /* Not cmap_count(), which only the writer may call. */
    return atomic_count_get(&CONST_CAST(struct dp_flow_table *,
                                        table)->n_total);
}

static void
rank_subtables(struct dp_flow_table *table)
    OVS_REQUIRES(table->mutex)
{
    struct dp_classifier *cls;

    atomic_store_relaxed(&table->rank_wanted, false);
    CMAP_FOR_EACH (cls, node, &table->classifiers) {
        dp_classifier_rank(cls);
    }
}

void
dp_flow_table_unlock(struct dp_flow_table *table)
{
    if (OVS_UNLIKELY(dp_flow_table_wants_ranking(table))) {
        rank_subtables(table);
    }
    ovs_mutex_unlock(&table->mutex);
}

void
dp_flow_table_rank_if_wanted(struct dp_flow_table *table)
{
    if (dp_flow_table_wants_ranking(table)) {
        ovs_mutex_lock(&table->mutex);
        dp_flow_table_unlock(table);
    }
}

void
dp_match_normalize(struct match *match)
{
    if (!match->wc.masks.vlans[0].tci) {
        match->wc.masks.vlans[0].tci = htons(VLAN_VID_MASK | VLAN_CFI);
    }
}

static uint32_t
hash_ufid(const ovs_u128 *ufid)
{
    return ufid->u32[0];
}

struct dp_flow *
dp_flow_table_add(struct dp_flow_table *table,
                  const struct dp_flow_spec *spec)
{
    const struct match *match = spec->match;
    struct dp_mask_words words;
    struct dp_classifier *cls;
    struct dp_flow_info *info;
    struct dp_flow *flow;
    struct dp_mask *mask;

    ovs_assert(match->wc.masks.in_port.odp_port == ODPP_NONE);

    flow = dp_slab_alloc(table->slab);
    if (!flow) {
        return NULL;
    }

    cls = need_classifier(table, match->flow.in_port.odp_port);
    dp_mask_words_init(&words, match);
    mask = dp_classifier_mask_of(cls, &words);
    info = flow_info_create(spec);
    info->slab = table->slab;
    if (spec->track_offload) {
        flow_info_track_offload(info, match);
    }
    flow_fill(flow, info, spec, mask);

    if (dp_classifier_insert(cls, flow, &match->flow)) {
        dp_classifier_trim(cls, mask);
        flow_reclaim(info);
        return NULL;
    }
    dp_flow_publish(flow, mask);

    cmap_insert(&table->by_ufid, &info->ufid_node, hash_ufid(&info->ufid));
    atomic_count_inc(&table->n_total);
    ccmap_inc(&table->n_flows, odp_to_u32(info->in_port));
    if (match_is_simple(match, mask)) {
        simple_insert(table, info, &match->flow);
    }
    return flow;
}

void
dp_flow_table_remove(struct dp_flow_table *table, struct dp_flow *flow)
{
    struct dp_flow_info *info = flow->info;
    struct dp_classifier *cls = dp_flow_table_get_classifier(table,
                                                             info->in_port);
    uint64_t n_removed;

    ovs_assert(!info->dead);
    info->dead = true;
    simple_remove(table, info);
    ccmap_dec(&table->n_flows, odp_to_u32(info->in_port));
    cmap_remove(&table->by_ufid, &info->ufid_node, hash_ufid(&info->ufid));
    atomic_count_dec(&table->n_total);

    dp_flow_publish(flow, NULL);
    atomic_read_relaxed(&table->n_removed, &n_removed);
    /* Pairs with the acquire in dp_flow_table_n_removed(): 'flow' is dead for
     * whoever sees that the number has grown. */
    atomic_store_explicit(&table->n_removed, n_removed + 1,
                          memory_order_release);
    dp_classifier_remove(cls, flow);
    dp_flow_unref(flow);
}

const struct dp_actions *
dp_flow_table_set_actions(struct dp_flow_table *table, struct dp_flow *flow,
                          const struct nlattr *actions, size_t actions_len)
{
    struct dp_actions *old = ovsrcu_get_protected(struct dp_actions *,
                                                  &flow->actions);
    struct dp_actions *new = dp_actions_create(actions, actions_len);

    ovsrcu_set(&flow->actions, new);
    atomic_store_relaxed(&flow->output, odp_to_u32(new->output));
    ovsrcu_postpone(dp_actions_destroy, old);
    return old;
}

struct dp_flow *
dp_flow_table_find_ufid(const struct dp_flow_table *table,
                        const ovs_u128 *ufid)
{
    struct dp_flow_info *info;

    CMAP_FOR_EACH_WITH_HASH (info, ufid_node, hash_ufid(ufid),
                             &table->by_ufid) {
        if (ovs_u128_equals(info->ufid, *ufid)) {
            return info->slot;
        }
    }
    return NULL;
}

/* Number of ufids that are looked for at a time. */
enum { WARM_UP_BATCH = 32 };

static void
warm_up_batch(const struct dp_flow_table *table, const ovs_u128 *const *ufids,
              size_t n)
{
    const struct cmap_node *nodes[WARM_UP_BATCH];
    uint32_t hashes[WARM_UP_BATCH];
    unsigned long found;
    size_t i;

    for (i = 0; i < n; i++) {
        hashes[i] = hash_ufid(ufids[i]);
    }
    found = cmap_find_batch(&table->by_ufid, ((1ULL << n) - 1), hashes, nodes);

    /* Each step needs what the last one has begun to fetch. */
    ULLONG_FOR_EACH_1 (i, found) {
        const struct dp_flow_info *info
            = CONTAINER_OF(nodes[i], struct dp_flow_info, ufid_node);

        OVS_PREFETCH(&info->ref_cnt);
        dp_flow_fetch(info->slot);
    }
    ULLONG_FOR_EACH_1 (i, found) {
        const struct dp_flow_info *info
            = CONTAINER_OF(nodes[i], struct dp_flow_info, ufid_node);

        if (info->subtable) {
            OVS_PREFETCH(subtable_home(subtable_array_get(info->subtable),
                                       info->slot->hash));
        }
    }
}

void
dp_flow_table_warm_up(const struct dp_flow_table *table,
                      const ovs_u128 *const *ufids, size_t n)
{
    for (size_t i = 0; i < n; i += WARM_UP_BATCH) {
        warm_up_batch(table, ufids + i, MIN(WARM_UP_BATCH, n - i));
    }
}

struct dp_flow *
dp_flow_table_find_key(const struct dp_flow_table *table,
                       const struct dp_key *key, unsigned int *n_asked)
{
    odp_port_t in_port = u32_to_odp(MINIFLOW_GET_U32(&key->mf,
                                                     in_port.odp_port));
    struct dp_classifier *cls = dp_flow_table_get_classifier(table, in_port);
    struct subtable *subtable;
    unsigned int ignored = 0;

    return cls ? dp_classifier_lookup(cls, table->slab, key,
                                      n_asked ? n_asked : &ignored,
                                      &subtable)
               : NULL;
}
