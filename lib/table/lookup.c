/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/lookup.h"

#include "table/dp-classifier.h"

/* Stores what the EMC says of each key, for which nothing speaks yet but the
 * hash, and begins to fetch both lines of the flows. */
static void
ask_emc(const struct lookup_tables *t, const struct dp_key *keys, size_t n,
        struct lookup_result *results)
{
    for (size_t i = 0; i < n; i++) {
        struct dp_flow *flow = NULL;

        if (t->emc) {
            flow = sigcache_candidate(t->emc, t->slab, keys[i].hash);
            if (OVS_LIKELY(flow)) {
                dp_flow_fetch(flow);
            }
        }
        results[i].flow = flow;
    }
}

/* Looks up keys[i], which the EMC does not know. */
static void
ask_others(const struct lookup_tables *t, const struct dp_key *key,
           uint32_t bit, struct lookup_hits *hits,
           struct lookup_result *result)
{
    if (t->smc) {
        result->flow = sigcache_lookup(t->smc, t->slab, key);
        if (OVS_LIKELY(result->flow)) {
            OVS_PREFETCH_WRITE(&result->flow->actions);
            hits->smc |= bit;
            return;
        }
    }
    result->flow = NULL;
    if (OVS_LIKELY(t->cls)) {
        result->flow = dp_classifier_lookup(t->cls, t->slab, key,
                                            &hits->n_asked,
                                            &result->subtable);
        if (OVS_LIKELY(result->flow)) {
            OVS_PREFETCH_WRITE(&result->flow->actions);
            hits->classifier |= bit;
        }
    }
}

struct lookup_hits
lookup_pass_plain(const struct lookup_tables *t, const struct dp_key *keys,
                  size_t n, struct lookup_result *results)
{
    struct lookup_hits hits = { 0, 0, 0, 0 };
    uint32_t emc = 0;

    ask_emc(t, keys, n, results);
    for (size_t i = 0; i < n; i++) {
        uint32_t bit = UINT32_C(1) << i;

        if (OVS_LIKELY(results[i].flow
                       && dp_flow_matches_key(results[i].flow, &keys[i]))) {
            emc |= bit;
        } else {
            ask_others(t, &keys[i], bit, &hits, &results[i]);
        }
    }
    hits.emc = emc;
    return hits;
}
