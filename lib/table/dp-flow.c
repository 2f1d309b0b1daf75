/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/dp-flow.h"

#include <errno.h>

#include "netlink.h"
#include "odp-netlink.h"
#include "odp-util.h"
#include "table/huge-mem.h"

#define CHUNK_SLOTS (1u << DP_SLAB_CHUNK_BITS)
#define CHUNK_BYTES (CHUNK_SLOTS * sizeof(struct dp_flow))

/* Actions. */

static odp_port_t
single_output(const struct nlattr *actions, size_t size)
{
    return size == NLA_ALIGN(NLA_HDRLEN + sizeof(odp_port_t))
           && nl_attr_type(actions) == OVS_ACTION_ATTR_OUTPUT
           ? nl_attr_get_odp_port(actions)
           : ODPP_NONE;
}

struct dp_actions *
dp_actions_create(const struct nlattr *actions, size_t size)
{
    struct dp_actions *copy = xmalloc(sizeof *copy + size);

    copy->size = size;
    copy->output = single_output(actions, size);
    if (size) {
        memcpy(copy->attrs, actions, size);
    }
    return copy;
}

void
dp_actions_destroy(struct dp_actions *actions)
{
    free(actions);
}

/* Flows. */

void
dp_flow_info_get_flow(const struct dp_flow_info *info, struct flow *flow)
{
    miniflow_expand(&info->mf, flow);
}

void
dp_flow_publish(struct dp_flow *flow, const struct dp_mask *mask)
{
    /* Pairs with the acquire in dp_flow_live_mask(). */
    atomic_store_explicit(&flow->mask, mask, memory_order_release);
}

/* Slab. */

struct dp_slab *
dp_slab_create(void)
{
    struct dp_slab *slab = xzalloc(sizeof *slab);

    ovs_mutex_init(&slab->mutex);
    slab->chunks = xcalloc(DP_SLAB_MAX_CHUNKS, sizeof *slab->chunks);
    slab->next_fresh = 1;
    atomic_init(&slab->n_free, 0);
    return slab;
}

static void
slab_free_memory(struct dp_slab *slab)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    for (uint32_t i = 0; i < slab->n_chunks; i++) {
        huge_mem_free(slab->chunks[i], CHUNK_BYTES);
    }
    free(slab->chunks);
    free(slab->free_slots);
    ovs_mutex_destroy(&slab->mutex);
    free(slab);
}

static size_t
slab_n_free(const struct dp_slab *slab)
{
    size_t n;

    atomic_read_relaxed(&CONST_CAST(struct dp_slab *, slab)->n_free, &n);
    return n;
}

/* Returns true if all slots that were ever handed out are back. */
static bool
slab_is_complete(const struct dp_slab *slab)
    OVS_REQUIRES(slab->mutex)
{
    return slab_n_free(slab) == slab->next_fresh - 1;
}

void
dp_slab_destroy(struct dp_slab *slab)
{
    bool last;

    ovs_mutex_lock(&slab->mutex);
    slab->defunct = true;
    last = slab_is_complete(slab);
    ovs_mutex_unlock(&slab->mutex);

    if (last) {
        slab_free_memory(slab);
    }
}

/* Returns the index of a slot that has been used before, or 0. */
static uint32_t
slab_pop(struct dp_slab *slab)
{
    uint32_t index;
    size_t n;

    if (!slab_n_free(slab)) {
        return 0;
    }

    /* Nobody else takes slots, so there is still one. */
    ovs_mutex_lock(&slab->mutex);
    n = slab_n_free(slab) - 1;
    index = slab->free_slots[n];
    atomic_store_relaxed(&slab->n_free, n);
    ovs_mutex_unlock(&slab->mutex);
    return index;
}

/* Returns the index of a slot that is used for the first time, or 0. */
static uint32_t
slab_extend(struct dp_slab *slab)
{
    if (slab->next_fresh >> DP_SLAB_CHUNK_BITS >= slab->n_chunks) {
        struct dp_flow *chunk;

        if (slab->n_chunks >= DP_SLAB_MAX_CHUNKS) {
            return 0;
        }
        chunk = huge_mem_alloc(CHUNK_BYTES);
        if (!chunk) {
            return 0;
        }
        slab->chunks[slab->n_chunks++] = chunk;
    }
    return slab->next_fresh++;
}

struct dp_flow *
dp_slab_alloc(struct dp_slab *slab)
{
    struct dp_flow *flow;
    uint32_t index = slab_pop(slab);

    if (!index) {
        index = slab_extend(slab);
        if (!index) {
            return NULL;
        }
    }
    flow = dp_slab_get(slab, index);
    flow->index = index;
    return flow;
}

void
dp_slab_free(struct dp_slab *slab, struct dp_flow *flow)
{
    bool last;
    size_t n;

    ovs_mutex_lock(&slab->mutex);
    n = slab_n_free(slab);
    if (n >= slab->allocated_free) {
        slab->free_slots = x2nrealloc(slab->free_slots, &slab->allocated_free,
                                      sizeof *slab->free_slots);
    }
    slab->free_slots[n] = flow->index;
    atomic_store_relaxed(&slab->n_free, n + 1);
    last = slab->defunct && slab_is_complete(slab);
    ovs_mutex_unlock(&slab->mutex);

    if (last) {
        slab_free_memory(slab);
    }
}
