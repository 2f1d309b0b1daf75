/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/dp-key.h"

#include <string.h>

#include "hash.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/match.h"
#include "odp-util.h"

/* Hash of 'n' words.  Each step multiplies to 128 bits and folds, the scheme
 * of wyhash (Wang Yi, 2019) with constants of our own: two cheap steps a word
 * and every input bit reaches all of the output. */
static inline uint64_t
fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128) a * b;

    return (uint64_t) product ^ (uint64_t) (product >> 64);
}

#define HASH_ODD_A UINT64_C(0xd1b54a32d192ed03)
#define HASH_ODD_B UINT64_C(0xaef17502108ef2d9)

static inline uint32_t
hash_masked_words(const uint64_t *words, uint32_t n)
{
    uint64_t a = HASH_ODD_A ^ n;
    uint64_t b = HASH_ODD_B;
    uint32_t i;

    /* Two chains, so that the multiplications overlap. */
    for (i = 0; i + 1 < n; i += 2) {
        a = fold(a ^ words[i], HASH_ODD_B);
        b = fold(b ^ words[i + 1], HASH_ODD_A);
    }
    if (i < n) {
        a = fold(a ^ words[i], HASH_ODD_B);
    }
    a = fold(a ^ HASH_ODD_A, b ^ HASH_ODD_B);
    return a ^ a >> 32;
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
dp_mask_create(const struct match *match)
{
    const size_t in_port_idx = offsetof(struct flow, in_port)
                               / sizeof(uint64_t);
    uint64_t words[FLOW_U64S];
    struct flowmap relevant;
    struct dp_mask *mask;
    struct flowmap map;
    uint32_t n = 0;
    size_t idx;

    flow_wc_map(&match->flow, &relevant);
    flowmap_init(&map);
    FLOWMAP_FOR_EACH_INDEX (idx, relevant) {
        uint64_t word = flow_u64_value(&match->wc.masks, idx);

        if (idx == in_port_idx) {
            word &= in_port_word_rest();
        }
        if (word) {
            flowmap_set(&map, idx, 1);
            words[n++] = word;
        }
    }

    mask = xmalloc(sizeof *mask + n * sizeof *words);
    mask->n = n;
    mask->hits = 0;
    mask->known_shapes = 0;
    mask->positions = NULL;
    mask->extra_info = NULL;
    mask->mf.map = map;
    memcpy(mask->words, words, n * sizeof *words);
    mask->hash = mask_hash(mask);
    return mask;
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
