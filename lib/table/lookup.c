/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/lookup.h"

static struct lookup_result
lookup_one(const struct lookup_tables *t, const struct dp_key *key,
           unsigned int *n_subtables)
{
    struct dp_flow *flow;

    if (t->emc) {
        flow = sigcache_lookup(t->emc, t->slab, key);
        if (OVS_LIKELY(flow)) {
            return (struct lookup_result) { flow, LOOKUP_EMC };
        }
    }
    if (t->smc) {
        flow = sigcache_lookup(t->smc, t->slab, key);
        if (OVS_LIKELY(flow)) {
            return (struct lookup_result) { flow, LOOKUP_SMC };
        }
    }
    if (OVS_LIKELY(t->cls)) {
        flow = dp_classifier_lookup(t->cls, t->slab, key, n_subtables);
        if (OVS_LIKELY(flow)) {
            return (struct lookup_result) { flow, LOOKUP_CLASSIFIER };
        }
    }
    return (struct lookup_result) { NULL, LOOKUP_MISS };
}

unsigned int
lookup_pass_plain(const struct lookup_tables *t, const struct dp_key *keys,
                  size_t n, struct lookup_result *results)
{
    unsigned int n_subtables = 0;

    for (size_t i = 0; i < n; i++) {
        results[i] = lookup_one(t, &keys[i], &n_subtables);
    }
    return n_subtables;
}
