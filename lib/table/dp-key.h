/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_DP_KEY_H
#define WEFT_TABLE_DP_KEY_H 1

/* The key of a packet, and the masks that flows lay over it.
 *
 * Problem
 * -------
 * Every table of the datapath is asked with what a packet says of itself:
 * its headers and metadata.  A full 'struct flow' is several hundred bytes,
 * nearly all of it zero; a key holds only the 64-bit words that a packet has.
 *
 * A key is a miniflow (Open vSwitch's compressed 'struct flow', lib/flow.h)
 * with room for all that a packet can have, plus the hash by which the
 * signature caches know the packet.  The words follow the maps directly, as
 * miniflow_extract() wants it.
 *
 * A mask is a miniflow whose words say which bits count.  To mask a key means
 * to take, for each word that the mask has, the key's word (zero if the key
 * has none) and the mask's bits of it; a masked key is the plain array of
 * these words, in the order of the mask.  Two words arrays of one mask are
 * comparable word by word, and that is all that a lookup does.
 *
 * 'in_port' is not part of a mask: a classifier serves one port.  Its masks
 * remember the port, for those who have a flow from somewhere else and want to
 * know whether a key is its own.
 *
 * Shapes
 * ------
 * Where a key has a given word depends on which words it has, its shape, and
 * to find out means to count bits.  Packets come in few shapes, so a thread
 * numbers the shapes that it meets, and each of its masks remembers for each
 * shape where its words are.  dp_key_set_shape() numbers a key; a key without
 * number (0) is masked by counting bits.
 *
 * Thread safety
 * -------------
 * Keys belong to their thread.  A mask is immutable from creation until it is
 * freed, which happens a grace period after its last flow has gone; but its
 * positions and hits belong to the thread that owns the flow table.  Another
 * thread uses keys without a shape, and then touches neither. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "flow.h"
#include "openvswitch/types.h"
#include "util.h"

struct dp_mask_use;
struct dp_packet;
struct match;

enum { DP_KEY_ZERO = FLOW_MAX_PACKET_U64S };

struct dp_key {
    uint32_t hash;          /* For the signature caches, from RSS if any. */
    uint32_t shape;         /* Number of the shape, or 0. */
    odp_port_t in_port;     /* The same as in 'mf'. */
    uint16_t tcp_flags;         /* Likewise. */
    uint16_t pad;
    struct miniflow mf;
    uint64_t words[DP_KEY_ZERO + 1]; /* Storage of 'mf's values; the last one
                             * is zero if there is a shape: what an absent
                             * word is. */
};

BUILD_ASSERT_DECL(offsetof(struct dp_key, words)
                  == offsetof(struct dp_key, mf) + sizeof(struct miniflow));

/* The shapes that a thread has met.  Number 0 is not used. */
enum { DP_MAX_SHAPES = 16 };

struct dp_shapes {
    uint32_t n;                 /* Numbers in use, 0 included. */
    uint32_t last;              /* Given last, most probably given next. */
    struct flowmap maps[DP_MAX_SHAPES];
};

void dp_shapes_init(struct dp_shapes *shapes);
void dp_key_find_shape(struct dp_shapes *shapes, struct dp_key *key);

/* Numbers the shape of 'key', whose 'mf' is complete.  Owner thread only. */
static inline void
dp_key_set_shape(struct dp_shapes *shapes, struct dp_key *key)
{
    const struct flowmap *last = &shapes->maps[shapes->last];
    map_t differ = 0;

    /* Unit by unit: the map has just been written that way, and a load of the
     * whole would have to wait for the stores to get to the cache. */
    for (size_t i = 0; i < FLOWMAP_UNITS; i++) {
        differ |= last->bits[i] ^ key->mf.map.bits[i];
    }

    key->words[DP_KEY_ZERO] = 0;
    if (OVS_LIKELY(!differ)) {
        key->shape = shapes->last;
    } else {
        dp_key_find_shape(shapes, key);
    }
}

/* A mask, in the form in which lookups use it. */
struct dp_mask {
    uint32_t hash;              /* Of maps and words.  Constant. */
    uint32_t n;                 /* Number of words. */
    uint32_t known_shapes;      /* Bit i: row i of 'positions' is filled.
                                 * Owner thread. */
    odp_port_t in_port;         /* Of the classifier.  Constant once a flow
                                 * has the mask. */
    struct dp_mask_use *use;    /* The classifier's.  Writer only. */
    uint8_t *positions;         /* DP_MAX_SHAPES rows of 'n' indexes into a
                                 * key's 'words'.  Owner thread. */
    char *extra_info;           /* "miniflow_bits(a,b)", for flow dumps. */
    struct miniflow mf;
    uint64_t words[];           /* 'n' elements. */
};

BUILD_ASSERT_DECL(offsetof(struct dp_mask, words)
                  == offsetof(struct dp_mask, mf) + sizeof(struct miniflow));

/* Takes 'flow' apart into 'key' without masking anything. 'key->hash' becomes
 * a hash of all words; the key has no shape.  Words that no packet can have
 * (registers, conjunction ids) must be zero in 'flow'. */
void dp_key_from_flow(struct dp_key *key, const struct flow *flow);

/* What makes a mask: which words, and their values in order, none of which is
 * zero. */
struct dp_mask_words {
    struct flowmap map;
    uint32_t n;
    uint64_t words[FLOW_U64S];
};

/* Stores the mask of 'match' to '*words', without 'in_port' and without words
 * that are of no meaning for a packet such as 'match->flow' (an IPv6 address
 * for an ARP packet, say). */
void dp_mask_words_init(struct dp_mask_words *words,
                        const struct match *match);

/* The same as a mask.  The caller frees it with dp_mask_destroy(). */
struct dp_mask *dp_mask_create(const struct match *match);

/* Makes a mask of the words that 'map' has; 'words' are their values, in
 * order, none of them zero.  The caller frees it with dp_mask_destroy(). */
struct dp_mask *dp_mask_from_words(const struct flowmap *map,
                                   const uint64_t *words);
void dp_mask_destroy(struct dp_mask *);

/* Gives a mask that is to stay what lookups and dumps need of it; before, it
 * is good for no more than to be compared. */
void dp_mask_complete(struct dp_mask *);

/* Returns a mask equal to 'mask', for which what goes for a new mask goes. */
struct dp_mask *dp_mask_copy(const struct dp_mask *mask);

/* How much dp_mask_round() leaves. */
enum dp_mask_rounding {
    DP_MASK_BY_PAIRS,           /* Pairs of bytes, at even places. */
    DP_MASK_BY_BYTES
};

/* Returns a mask that has, of 'mask', only what whole bytes or pairs of bytes
 * are exact: what masks that differ in the length of a prefix, or in some
 * flags, have in common.  The IP protocol, the fragment bits and the outer
 * VLAN tag stay as they are.  The caller frees it with dp_mask_destroy(). */
struct dp_mask *dp_mask_round(const struct dp_mask *mask,
                              enum dp_mask_rounding);

bool dp_mask_equal(const struct dp_mask *, const struct dp_mask *);

/* Returns true if 'mask' consists of 'words'. */
static inline bool
dp_mask_consists_of(const struct dp_mask *mask,
                    const struct dp_mask_words *words)
{
    return flowmap_equal(mask->mf.map, words->map)
           && !memcmp(mask->words, words->words,
                      words->n * sizeof words->words[0]);
}

/* Expands 'mask' into 'masks', with 'in_port' exact again. */
void dp_mask_expand(const struct dp_mask *mask, struct flow *masks);

/* Stores 'flow' masked with 'mask' to 'words' (mask->n elements) and returns
 * the hash under which a subtable files it. */
uint32_t dp_mask_flow(const struct dp_mask *mask, const struct flow *flow,
                      uint64_t *words);

/* Returns the hash of 'key' masked with 'mask', as dp_mask_flow() does.
 * Stores the masked words to 'words' (mask->n elements). */
uint32_t dp_mask_key(const struct dp_mask *mask, const struct dp_key *key,
                     uint64_t *words);

/* The hash: of words, two at a time.  Each step multiplies to 128 bits and
 * folds, the scheme of wyhash (Wang Yi, 2019) with constants of our own: two
 * cheap steps a word and every input bit reaches all of the output.  There are
 * two chains, so that the multiplications overlap. */
struct dp_hash {
    uint64_t a, b;
};

#define DP_HASH_ODD_A UINT64_C(0xd1b54a32d192ed03)
#define DP_HASH_ODD_B UINT64_C(0xaef17502108ef2d9)

static inline uint64_t
dp_hash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128) a * b;

    return (uint64_t) product ^ (uint64_t) (product >> 64);
}

static inline struct dp_hash
dp_hash_begin(uint32_t n_words)
{
    return (struct dp_hash) { DP_HASH_ODD_A ^ n_words, DP_HASH_ODD_B };
}

/* Adds the words at even and at odd places. */
static inline void
dp_hash_add_even(struct dp_hash *hash, uint64_t word)
{
    hash->a = dp_hash_fold(hash->a ^ word, DP_HASH_ODD_B);
}

static inline void
dp_hash_add_odd(struct dp_hash *hash, uint64_t word)
{
    hash->b = dp_hash_fold(hash->b ^ word, DP_HASH_ODD_A);
}

static inline uint32_t
dp_hash_end(const struct dp_hash *hash)
{
    uint64_t x = dp_hash_fold(hash->a ^ DP_HASH_ODD_A,
                              hash->b ^ DP_HASH_ODD_B);

    return x ^ x >> 32;
}

/* As dp_mask_key(), without the words. */
static inline uint32_t
dp_mask_hash_key(const struct dp_mask *mask, const struct dp_key *key)
{
    const uint8_t *positions;
    struct dp_hash hash;
    uint32_t i = 0;

    if (OVS_UNLIKELY(!key->shape
                     || !(mask->known_shapes & (1u << key->shape)))) {
        uint64_t words[FLOW_U64S];

        return dp_mask_key(mask, key, words);
    }
    positions = &mask->positions[key->shape * mask->n];

    hash = dp_hash_begin(mask->n);
    for (; i + 1 < mask->n; i += 2) {
        dp_hash_add_even(&hash, key->words[positions[i]] & mask->words[i]);
        dp_hash_add_odd(&hash, (key->words[positions[i + 1]]
                                & mask->words[i + 1]));
    }
    if (i < mask->n) {
        dp_hash_add_even(&hash, key->words[positions[i]] & mask->words[i]);
    }
    return dp_hash_end(&hash);
}

/* As dp_mask_match(), for keys without a shape or with one that 'mask' does
 * not know yet. */
bool dp_mask_match_slow(const struct dp_mask *mask, const struct dp_key *key,
                        const uint64_t *words);

/* Returns true if 'key' masked with 'mask' is equal to 'words'. */
static inline bool
dp_mask_match(const struct dp_mask *mask, const struct dp_key *key,
              const uint64_t *words)
{
    const uint8_t *positions;
    uint64_t differ = 0;

    if (OVS_UNLIKELY(!key->shape
                     || !(mask->known_shapes & (1u << key->shape)))) {
        return dp_mask_match_slow(mask, key, words);
    }
    positions = &mask->positions[key->shape * mask->n];

    uint32_t i = 0;

    for (; i + 1 < mask->n; i += 2) {
        differ |= (key->words[positions[i]] & mask->words[i]) ^ words[i];
        differ |= ((key->words[positions[i + 1]] & mask->words[i + 1])
                   ^ words[i + 1]);
    }
    if (i < mask->n) {
        differ |= (key->words[positions[i]] & mask->words[i]) ^ words[i];
    }
    return !differ;
}

#endif /* table/dp-key.h */
