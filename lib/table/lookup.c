/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/lookup.h"

/* What 'key', which the EMC does not know, hits elsewhere. */
static struct lookup_result
lookup_beyond_emc(const struct lookup_tables *t, const struct dp_key *key,
                  unsigned int *n_subtables)
{
    struct dp_flow *flow;

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
                OVS_PREFETCH(flow->words);
                OVS_PREFETCH_WRITE(&flow->actions);
            }
        }
        results[i].flow = flow;
        results[i].source = LOOKUP_EMC;
    }
}

unsigned int
lookup_pass_plain(const struct lookup_tables *t, const struct dp_key *keys,
                  size_t n, struct lookup_result *results)
{
    unsigned int n_subtables = 0;

    ask_emc(t, keys, n, results);
    for (size_t i = 0; i < n; i++) {
        struct lookup_result *result = &results[i];

        if (OVS_UNLIKELY(!result->flow
                         || !dp_flow_matches_key(result->flow, &keys[i]))) {
            *result = lookup_beyond_emc(t, &keys[i], &n_subtables);
        }
    }
    return n_subtables;
}
