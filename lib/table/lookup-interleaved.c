/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/lookup.h"

#include "table/bit-vector.h"
#include "table/dp-classifier.h"
#include "table/subtable.h"
#include "weft/coro.h"

/* The walk of a packet through the tables, as a coroutine. */

enum {
    /* Packets under way at a time. */
    N_LANES = 16,

    /* Subtables that a packet asks at a time.  Those of lower rank are asked
     * in vain more often than not. */
    N_ABREAST = 2
};

/* A subtable that a packet asks. */
struct probe {
    const struct subtable_array *array;
    const struct subtable_bucket *bucket;
    uint32_t hash;
};

/* What a packet needs from one step to the next. */
struct lane {
    struct coro coro;
    uint32_t next;              /* Of the subtables, by rank. */
    uint32_t bit;               /* Of the key, in hits. */
    const struct dp_key *key;
    struct lookup_result *result;
    struct dp_flow *candidate;  /* To be verified. */
    size_t from;                /* Probe that gave it. */
    struct probe probes[N_ABREAST];
};

struct pass {
    const struct lookup_tables *t;
    const struct dp_key *keys;
    struct lookup_result *results;
    size_t n, n_started;
    const struct pvector_entry *ranked; /* Subtables of t->cls. */
    size_t n_ranked;
    struct lookup_hits hits;
};

/* Stores to lane->candidate what 'cache' says of the packet, and begins to
 * fetch it.  Returns false if that is nothing. */
static inline bool
ask_cache(struct lane *lane, const struct pass *pass,
          const struct sigcache *cache)
{
    lane->candidate = sigcache_candidate(cache, pass->t->slab,
                                         lane->key->hash);
    if (!lane->candidate) {
        return false;
    }
    dp_flow_fetch(lane->candidate);
    return true;
}

/* Number of the subtables that lane->probes stands for. */
static inline size_t
n_abreast(const struct lane *lane, const struct pass *pass)
{
    return MIN(N_ABREAST, pass->n_ranked - lane->next);
}

/* Begins to fetch the buckets of the next subtables. */
static inline void
fetch_buckets(struct lane *lane, const struct pass *pass)
{
    for (size_t i = 0; i < n_abreast(lane, pass); i++) {
        struct probe *probe = &lane->probes[i];
        const struct subtable *subtable = pass->ranked[lane->next + i].ptr;

        probe->hash = dp_mask_hash_key(subtable->mask, lane->key);
        probe->array = subtable_array_get(subtable);
        probe->bucket = subtable_home(probe->array, probe->hash);
        OVS_PREFETCH(probe->bucket);
    }
}

/* Begins to fetch the flows that the buckets name.  The first of them becomes
 * lane->candidate, which is null if there is none. */
static inline void
fetch_candidates(struct lane *lane, const struct pass *pass)
{
    lane->candidate = NULL;
    for (size_t i = 0; i < n_abreast(lane, pass); i++) {
        const struct probe *probe = &lane->probes[i];
        unsigned int match = subtable_match(probe->bucket, probe->hash);

        for (; match; match = zero_rightmost_1bit(match)) {
            struct dp_flow *flow = subtable_bucket_flow(probe->bucket,
                                                        raw_ctz(match),
                                                        pass->t->slab);
            if (OVS_LIKELY(flow)) {
                dp_flow_fetch(flow);
                if (OVS_LIKELY(!lane->candidate)) {
                    lane->candidate = flow;
                    lane->from = i;
                }
            }
        }
    }
}

/* The flow is 'flow', from probe 'i'. */
static inline void
found(struct lane *lane, struct pass *pass, struct dp_flow *flow, size_t i)
{
    lane->result->flow = flow;
    lane->result->subtable = pass->ranked[lane->next + i].ptr;
    pass->hits.classifier |= lane->bit;
    pass->hits.n_asked += lane->next + i + 1;
}

/* Looks for the flow in all that the probes stand for.  Returns true if it is
 * there; else goes on to the next subtables. */
static bool
ask_probes(struct lane *lane, struct pass *pass)
{
    size_t n = n_abreast(lane, pass);

    for (size_t i = 0; i < n; i++) {
        const struct probe *probe = &lane->probes[i];
        struct dp_flow *flow = subtable_array_lookup(probe->array,
                                                     pass->t->slab, lane->key,
                                                     probe->hash);

        if (flow) {
            found(lane, pass, flow, i);
            return true;
        }
    }
    lane->next += n;
    return false;
}

/* What no subtable has: the classifier's odd flows, or nothing. */
static void
ask_odd(struct lane *lane, struct pass *pass)
{
    const struct dp_classifier *cls = pass->t->cls;
    struct dp_flow *flow = NULL;

    if (cls && OVS_UNLIKELY(!bit_vector_is_empty(cls->odd))) {
        flow = bit_vector_lookup(cls->odd, pass->t->slab, lane->key);
        if (flow) {
            lane->result->subtable = NULL;
            pass->hits.classifier |= lane->bit;
            pass->hits.n_asked += pass->n_ranked + 1;
        }
    }
    lane->result->flow = flow;
}

static enum coro_state
lane_resume(void *lane_, void *pass_)
{
    struct lane *lane = lane_;
    struct pass *pass = pass_;
    const struct lookup_tables *t = pass->t;

    CORO_BEGIN(&lane->coro);

    /* The bucket of the EMC has been fetched while the key was made. */
    if (t->emc && ask_cache(lane, pass, t->emc)) {
        CORO_YIELD(&lane->coro);
        if (OVS_LIKELY(dp_flow_matches_key(lane->candidate, lane->key))) {
            lane->result->flow = lane->candidate;
            pass->hits.emc |= lane->bit;
            CORO_FINISH(&lane->coro);
        }
    }

    if (t->smc) {
        OVS_PREFETCH(sigcache_bucket(t->smc, lane->key->hash));
        CORO_YIELD(&lane->coro);
        if (ask_cache(lane, pass, t->smc)) {
            CORO_YIELD(&lane->coro);
            if (OVS_LIKELY(dp_flow_matches_key(lane->candidate, lane->key))) {
                lane->result->flow = lane->candidate;
                pass->hits.smc |= lane->bit;
                CORO_FINISH(&lane->coro);
            }
        }
    }

    while (lane->next < pass->n_ranked) {
        fetch_buckets(lane, pass);
        CORO_YIELD(&lane->coro);
        fetch_candidates(lane, pass);
        if (OVS_LIKELY(lane->candidate)) {
            CORO_YIELD(&lane->coro);
            if (OVS_LIKELY(dp_flow_matches_key(lane->candidate, lane->key))) {
                found(lane, pass, lane->candidate, lane->from);
                CORO_FINISH(&lane->coro);
            }
        }
        if (ask_probes(lane, pass)) {
            CORO_FINISH(&lane->coro);
        }
    }
    ask_odd(lane, pass);

    CORO_END(&lane->coro);
}

static bool
lane_start(void *lane_, void *pass_)
{
    struct lane *lane = lane_;
    struct pass *pass = pass_;
    size_t i = pass->n_started;

    if (i == pass->n) {
        return false;
    }
    pass->n_started++;
    coro_init(&lane->coro);
    lane->next = 0;
    lane->bit = UINT32_C(1) << i;
    lane->key = &pass->keys[i];
    lane->result = &pass->results[i];
    return true;
}

struct lookup_hits
lookup_pass_interleaved(const struct lookup_tables *t,
                        const struct dp_key *keys, size_t n,
                        struct lookup_result *results)
{
    struct pass pass = {
        .t = t, .keys = keys, .results = results, .n = n,
    };
    struct lane lanes[N_LANES];

    if (OVS_LIKELY(t->cls)) {
        dp_classifier_get_ranked(t->cls, &pass.ranked, &pass.n_ranked);
    }
    coro_interleave(lanes, sizeof lanes[0], N_LANES, lane_start, lane_resume,
                    &pass);
    return pass.hits;
}
