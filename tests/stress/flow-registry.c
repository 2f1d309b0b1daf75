/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "stress/flow-registry.h"

#include "flow.h"
#include "hash.h"
#include "openvswitch/match.h"
#include "util.h"

struct registered_flow {
    struct hmap_node node;
    uint64_t hash;
    ovs_u128 ufid;
};

void
flow_registry_init(struct flow_registry *r)
{
    hmap_init(&r->flows);
}

void
flow_registry_destroy(struct flow_registry *r)
{
    flow_registry_clear(r);
    hmap_destroy(&r->flows);
}

void
flow_registry_clear(struct flow_registry *r)
{
    struct registered_flow *f;

    HMAP_FOR_EACH_POP (f, node, &r->flows) {
        free(f);
    }
}

uint64_t
flow_registry_hash(const struct flow *flow, const struct flow_wildcards *wc)
{
    struct match match;
    ovs_u128 fields, mask;

    match_init(&match, flow, wc);
    hash_bytes128(&match.flow, sizeof match.flow, 0, &fields);
    hash_bytes128(&match.wc.masks, sizeof match.wc.masks, 0, &mask);
    return fields.u64.lo ^ mask.u64.hi;
}

static struct registered_flow *
find(const struct flow_registry *r, uint64_t hash)
{
    struct registered_flow *f;

    HMAP_FOR_EACH_WITH_HASH (f, node, hash, &r->flows) {
        if (f->hash == hash) {
            return f;
        }
    }
    return NULL;
}

const ovs_u128 *
flow_registry_find(const struct flow_registry *r, uint64_t hash)
{
    struct registered_flow *f = find(r, hash);

    return f ? &f->ufid : NULL;
}

void
flow_registry_add(struct flow_registry *r, uint64_t hash,
                  const ovs_u128 *ufid)
{
    if (!find(r, hash)) {
        struct registered_flow *f = xmalloc(sizeof *f);

        f->hash = hash;
        f->ufid = *ufid;
        hmap_insert(&r->flows, &f->node, hash);
    }
}

void
flow_registry_remove(struct flow_registry *r, uint64_t hash)
{
    struct registered_flow *f = find(r, hash);

    if (f) {
        hmap_remove(&r->flows, &f->node);
        free(f);
    }
}
