/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/dp-key.h"

#include <string.h>

#include "hash.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/match.h"
#include "odp-util.h"

static inline uint32_t
hash_masked_words(const uint64_t *words, uint32_t n)
{
    struct dp_hash hash = dp_hash_begin(n);
    uint32_t i;

    for (i = 0; i + 1 < n; i += 2) {
        dp_hash_add_even(&hash, words[i]);
        dp_hash_add_odd(&hash, words[i + 1]);
    }
    if (i < n) {
        dp_hash_add_even(&hash, words[i]);
    }
    return dp_hash_end(&hash);
}

/* Keys. */

void
dp_key_from_flow(struct dp_key *key, const struct flow *flow)
{
    miniflow_map_init(&key->mf, flow);
    miniflow_init(&key->mf, flow);
    key->hash = hash_masked_words(key->words, miniflow_n_values(&key->mf));
    key->shape = 0;
    key->in_port = flow->in_port.odp_port;
}

void
dp_shapes_init(struct dp_shapes *shapes)
{
    memset(shapes, 0, sizeof *shapes);
    shapes->n = 1;
}

void
dp_key_find_shape(struct dp_shapes *shapes, struct dp_key *key)
{
    uint32_t i;

    for (i = 1; i < shapes->n; i++) {
        if (flowmap_equal(shapes->maps[i], key->mf.map)) {
            break;
        }
    }
    if (i == DP_MAX_SHAPES) {
        key->shape = 0;
        return;
    }
    if (i == shapes->n) {
        shapes->maps[i] = key->mf.map;
        shapes->n++;
    }
    shapes->last = i;
    key->shape = i;
}

/* Masks. */

/* The bits of the word with 'in_port' that are not 'in_port'. */
static uint64_t
in_port_word_rest(void)
{
    union {
        uint8_t bytes[sizeof(uint64_t)];
        uint64_t word;
    } rest;

    BUILD_ASSERT_DECL(offsetof(struct flow, in_port) % sizeof(uint64_t)
                      + sizeof(((struct flow *) 0)->in_port)
                      <= sizeof(uint64_t));
    memset(&rest, 0xff, sizeof rest);
    memset(&rest.bytes[offsetof(struct flow, in_port) % sizeof(uint64_t)], 0,
           sizeof(((struct flow *) 0)->in_port));
    return rest.word;
}

static uint32_t
mask_hash(const struct dp_mask *mask)
{
    uint32_t hash = hash_masked_words(mask->words, mask->n);

    for (size_t i = 0; i < FLOWMAP_UNITS; i++) {
        hash = hash_add64(hash, mask->mf.map.bits[i]);
    }
    return hash_finish(hash, mask->n);
}

static char *
mask_describe(const struct dp_mask *mask)
{
    struct ds s = DS_EMPTY_INITIALIZER;

    for (size_t i = 0; i < FLOWMAP_UNITS; i++) {
        ds_put_format(&s, "%s%d", i ? "," : "miniflow_bits(",
                      count_1bits(mask->mf.map.bits[i]));
    }
    ds_put_char(&s, ')');
    return ds_steal_cstr(&s);
}

struct dp_mask *
dp_mask_from_words(const struct flowmap *map, const uint64_t *words)
{
    uint32_t n = flowmap_n_1bits(*map);
    struct dp_mask *mask = xmalloc(sizeof *mask + n * sizeof *words);

    mask->n = n;
    mask->known_shapes = 0;
    mask->in_port = ODPP_NONE;
    mask->use = NULL;
    mask->positions = NULL;
    mask->extra_info = NULL;
    mask->mf.map = *map;
    memcpy(mask->words, words, n * sizeof *words);
    mask->hash = mask_hash(mask);
    return mask;
}

void
dp_mask_words_init(struct dp_mask_words *out, const struct match *match)
{
    const size_t in_port_idx = offsetof(struct flow, in_port)
                               / sizeof(uint64_t);
    struct flowmap relevant;
    size_t idx;

    flow_wc_map(&match->flow, &relevant);
    flowmap_init(&out->map);
    out->n = 0;
    FLOWMAP_FOR_EACH_INDEX (idx, relevant) {
        uint64_t word = flow_u64_value(&match->wc.masks, idx);

        if (idx == in_port_idx) {
            word &= in_port_word_rest();
        }
        if (word) {
            flowmap_set(&out->map, idx, 1);
            out->words[out->n++] = word;
        }
    }
}

struct dp_mask *
dp_mask_create(const struct match *match)
{
    struct dp_mask_words words;

    dp_mask_words_init(&words, match);
    return dp_mask_from_words(&words.map, words.words);
}

void
dp_mask_complete(struct dp_mask *mask)
{
    mask->positions = xmalloc(DP_MAX_SHAPES * MAX(1, mask->n));
    mask->extra_info = mask_describe(mask);
}

void
dp_mask_destroy(struct dp_mask *mask)
{
    if (mask) {
        free(mask->positions);
        free(mask->extra_info);
        free(mask);
    }
}

struct dp_mask *
dp_mask_copy(const struct dp_mask *mask)
{
    return dp_mask_from_words(&mask->mf.map, mask->words);
}

/* Returns 'word' without the units of 'bits' bits that are not all ones. */
static uint64_t
keep_full_units(uint64_t word, unsigned int bits)
{
    const uint64_t unit = (UINT64_C(1) << bits) - 1;
    uint64_t kept = 0;

    for (unsigned int shift = 0; shift < 64; shift += bits) {
        if (((word >> shift) & unit) == unit) {
            kept |= unit << shift;
        }
    }
    return kept;
}

/* Sets in 'kept' the bits that rounding leaves alone. */
static void
rounding_kept_bits(struct flow *kept)
{
    memset(kept, 0, sizeof *kept);
    kept->nw_frag = UINT8_MAX;
    kept->nw_proto = UINT8_MAX;

    /* No pair of bytes, since its priority is left out as a rule, and yet in
     * nearly every mask (see dp_match_normalize()). */
    kept->vlans[0].tci = OVS_BE16_MAX;
}

struct dp_mask *
dp_mask_round(const struct dp_mask *mask, enum dp_mask_rounding rounding)
{
    unsigned int bits = rounding == DP_MASK_BY_PAIRS ? 16 : 8;
    uint64_t words[FLOW_U64S];
    struct flowmap map;
    uint32_t i = 0, n = 0;
    struct flow kept;
    size_t idx;

    rounding_kept_bits(&kept);
    flowmap_init(&map);
    FLOWMAP_FOR_EACH_INDEX (idx, mask->mf.map) {
        uint64_t word = (keep_full_units(mask->words[i], bits)
                         | (mask->words[i] & flow_u64_value(&kept, idx)));

        if (word) {
            flowmap_set(&map, idx, 1);
            words[n++] = word;
        }
        i++;
    }
    return dp_mask_from_words(&map, words);
}

bool
dp_mask_equal(const struct dp_mask *a, const struct dp_mask *b)
{
    return a->hash == b->hash
           && flowmap_equal(a->mf.map, b->mf.map)
           && !memcmp(a->words, b->words, a->n * sizeof a->words[0]);
}

void
dp_mask_expand(const struct dp_mask *mask, struct flow *masks)
{
    miniflow_expand(&mask->mf, masks);
    masks->in_port.odp_port = ODPP_NONE;
}

uint32_t
dp_mask_flow(const struct dp_mask *mask, const struct flow *flow,
             uint64_t *words)
{
    uint32_t n = 0;
    size_t idx;

    FLOWMAP_FOR_EACH_INDEX (idx, mask->mf.map) {
        words[n] = flow_u64_value(flow, idx) & mask->words[n];
        n++;
    }
    return hash_masked_words(words, n);
}

/* A walk over the words of a key that a mask has.  To step from one to the
 * next means to pass those that the key has between them. */
struct mask_walk {
    const uint64_t *next;       /* Key's word for the lowest bit of 'key'. */
    map_t key;                  /* Bits of the key not passed yet... */
    map_t mask;                 /* ...and of the mask, in this unit. */
    size_t unit;
};

static inline void
mask_walk_start(struct mask_walk *walk, const struct dp_mask *mask,
                const struct dp_key *key)
{
    walk->next = key->words;
    walk->unit = 0;
    walk->key = key->mf.map.bits[0];
    walk->mask = mask->mf.map.bits[0];
}

static inline uint64_t
mask_walk_word(struct mask_walk *walk, const struct dp_mask *mask,
               const struct dp_key *key)
{
    while (!walk->mask) {
        walk->unit++;
        for (; walk->key; walk->key = zero_rightmost_1bit(walk->key)) {
            walk->next++;
        }
        walk->key = key->mf.map.bits[walk->unit];
        walk->mask = mask->mf.map.bits[walk->unit];
    }

    map_t bit = rightmost_1bit(walk->mask);

    walk->mask ^= bit;
    while (walk->key & (bit - 1)) {
        walk->key = zero_rightmost_1bit(walk->key);
        walk->next++;
    }
    return walk->key & bit ? *walk->next : 0;
}

/* Fills the row of 'mask's positions for the shape of 'key'. */
static void
mask_learn_shape(struct dp_mask *mask, const struct dp_key *key)
{
    uint8_t *row = &mask->positions[key->shape * mask->n];
    struct flowmap map = key->mf.map;
    uint32_t i = 0;
    size_t idx;

    FLOWMAP_FOR_EACH_INDEX (idx, mask->mf.map) {
        row[i++] = flowmap_is_set(&map, idx)
                   ? miniflow_get__(&key->mf, idx) - key->words
                   : DP_KEY_ZERO;
    }
    mask->known_shapes |= 1u << key->shape;
}

static inline const uint8_t *
mask_positions(const struct dp_mask *mask_, const struct dp_key *key)
{
    struct dp_mask *mask = CONST_CAST(struct dp_mask *, mask_);

    if (OVS_UNLIKELY(!(mask->known_shapes & (1u << key->shape)))) {
        mask_learn_shape(mask, key);
    }
    return &mask->positions[key->shape * mask->n];
}

uint32_t
dp_mask_key(const struct dp_mask *mask, const struct dp_key *key,
            uint64_t *words)
{
    if (OVS_LIKELY(key->shape)) {
        const uint8_t *positions = mask_positions(mask, key);

        for (uint32_t i = 0; i < mask->n; i++) {
            words[i] = key->words[positions[i]] & mask->words[i];
        }
    } else {
        struct mask_walk walk;

        mask_walk_start(&walk, mask, key);
        for (uint32_t i = 0; i < mask->n; i++) {
            words[i] = mask_walk_word(&walk, mask, key) & mask->words[i];
        }
    }
    return hash_masked_words(words, mask->n);
}

bool
dp_mask_match_slow(const struct dp_mask *mask, const struct dp_key *key,
                   const uint64_t *words)
{
    uint64_t differ = 0;

    if (OVS_LIKELY(key->shape)) {
        const uint8_t *positions = mask_positions(mask, key);

        for (uint32_t i = 0; i < mask->n; i++) {
            differ |= (key->words[positions[i]] & mask->words[i]) ^ words[i];
        }
    } else {
        struct mask_walk walk;

        mask_walk_start(&walk, mask, key);
        for (uint32_t i = 0; i < mask->n; i++) {
            differ |= (mask_walk_word(&walk, mask, key) & mask->words[i])
                      ^ words[i];
        }
    }
    return !differ;
}
