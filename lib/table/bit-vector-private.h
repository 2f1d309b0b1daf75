/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_BIT_VECTOR_PRIVATE_H
#define WEFT_TABLE_BIT_VECTOR_PRIVATE_H 1

/* What bit-vector.c (lookups, insertions, removals) and bit-vector-order.c
 * (the order in which lookups take the nibbles) have in common.  bit-vector.h
 * says what it is all about. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openvswitch/hmap.h"
#include "ovs-atomic.h"
#include "table/bit-vector.h"
#include "util.h"

enum {
    BV_BLOCK_COLUMNS = 512,
    BV_BLOCK_WORDS = BV_BLOCK_COLUMNS / 64,
    BV_NIBBLE_VALUES = 16,
    BV_WORD_NIBBLES = 16,
    BV_STEP_GROUP = 4           /* Rows that a lookup takes at once. */
};

BUILD_ASSERT_DECL(BV_BLOCK_WORDS * sizeof(uint64_t) == CACHE_LINE_SIZE);
BUILD_ASSERT_DECL(BIT_VECTOR_MAX_BLOCKS * BV_BLOCK_COLUMNS
                  == BIT_VECTOR_MAX_FLOWS);

/* A nibble that has rows.  Its place in the array of 'struct bv_table' is its
 * number, by which the rows and the steps of the blocks know it.  All but the
 * last member are constant. */
struct bv_nibble {
    uint16_t id;                /* Word of 'struct flow' * 16 + nibble in it,
                                 * by which tables with different masks know
                                 * it. */
    uint8_t word;               /* Its word among the masked words of a key. */
    uint8_t shift;              /* The number of its lowest bit there. */
    uint32_t n_users;           /* Flows that look at it.  Writer only. */
};

/* The nibbles of 'n' words, a byte for each: of every word first the lower
 * halves of its bytes, then the upper ones. */
static inline void
bv_cut_nibbles(const uint64_t *words, size_t n, uint64_t *cut)
{
    const uint64_t lower_halves = UINT64_C(0x0f0f0f0f0f0f0f0f);

    for (size_t i = 0; i < n; i++) {
        cut[i * 2] = words[i] & lower_halves;
        cut[i * 2 + 1] = words[i] >> 4 & lower_halves;
    }
}

/* Returns which byte of bv_cut_nibbles()'s output has 'nibble'. */
static inline uint32_t
bv_cut_position(const struct bv_nibble *nibble)
{
    uint32_t byte = nibble->shift / 8;

#ifdef WORDS_BIGENDIAN
    byte = 7 - byte;
#endif
    return nibble->word * BV_WORD_NIBBLES + (nibble->shift & 4) * 2 + byte;
}

/* What a lookup has to do for one nibble, in a word, so that it can be stored
 * whole: the number of the nibble, and where to find what the key has there
 * (bv_cut_position()). */
static inline uint32_t
bv_step_make(uint32_t number, const struct bv_nibble *nibble)
{
    return number << 16 | bv_cut_position(nibble);
}

static inline uint32_t
bv_step_nibble(uint32_t step)
{
    return step >> 16;
}

static inline uint32_t
bv_step_position(uint32_t step)
{
    return step & UINT16_MAX;
}

/* Columns.
 *
 * A bit of a column that is in use is never written but when the column is
 * filled, before it is put to use.  Its neighbours in the same word are, and
 * each such store writes the bit as it was.  So a reader sees the bits of a
 * flow that stays however it falls between the stores of the writer, which
 * therefore need no order among themselves (relaxed).
 *
 * What a reader sees of a column that is being filled or has just been vacated
 * can be anything: at worst it takes it for a candidate and verifies what it
 * finds at 'index', which is no flow, a dead one, or a live one that matches
 * or does not.  A flow that is being inserted is not live yet, and whoever
 * learns that it is, by an acquire that pairs with a release after the
 * insertion, sees all of its column.
 *
 * Likewise a block's steps, relaxed, may be rearranged under a reader, who
 * then takes some rows twice and others not, and has more candidates.  The
 * same goes for 'n_sure'. */
struct bv_block {
    /* Bits of the columns in use. */
    atomic_uint64_t used[BV_BLOCK_WORDS];

    /* Written by the writer only; relaxed, see above.  Arrays of constant
     * size behind this struct. */
    atomic_uint32_t *steps;     /* As many as the table says. */
    atomic_uint32_t n_sure;     /* So many of them are taken without looking
                                 * whether they are needed: to be wrong about
                                 * a branch costs more than some rows.  A
                                 * multiple of BV_STEP_GROUP. */
    atomic_uint64_t *rows;      /* 16 of BV_BLOCK_WORDS for each nibble. */

    /* Writer only. */
    uint32_t n_used;            /* Bits in 'used'. */
    uint32_t n_new;             /* Columns filled since steps were ordered. */

    /* Flows' indexes, by column.  Stored with release after the flow has been
     * filled, and loaded with acquire: who has an index may follow it into
     * the slab. */
    atomic_uint32_t indexes[BV_BLOCK_COLUMNS];
};

/* A generation of blocks.  The mask and with it the set of nibbles are
 * constant; for another set a new table is made, with blocks of its own, and
 * published through the pointer in 'struct bit_vector'. */
struct bv_table {
    struct dp_mask *mask;       /* All nibbles, in full. */
    uint32_t n_steps;           /* Constant. */
    uint32_t n_nibbles;         /* Constant. */
    uint32_t n_blocks;          /* Writer only. */
    uint32_t n_unused;          /* Nibbles without user.  Writer only. */

    /* Those from 'n_blocks' on are null.  A block is complete when the writer
     * stores it (release; readers' acquire pairs with it).  The last one is
     * taken back when it is empty, and freed after a grace period. */
    ATOMIC(struct bv_block *) blocks[BIT_VECTOR_MAX_BLOCKS];

    struct bv_nibble nibbles[]; /* 'n_nibbles' elements, by ascending id. */
};

/* What the writer knows of a column in use. */
struct bv_column {
    struct hmap_node node;      /* In 'by_index'. */
    const struct dp_flow *flow;
    const struct dp_mask *mask;
};

/* For the writer, beside whom nobody writes. */
static inline uint64_t
bv_row_word(const atomic_uint64_t *row, size_t i)
{
    return ((const uint64_t *) row)[i];
}

static inline atomic_uint64_t *
bv_row(const struct bv_block *block, uint32_t nibble, uint32_t value)
{
    return &block->rows[(nibble * BV_NIBBLE_VALUES + value) * BV_BLOCK_WORDS];
}

static inline uint64_t
bv_word_nibble(uint64_t word, uint32_t shift)
{
    return word >> shift & (BV_NIBBLE_VALUES - 1);
}

/* For the writer, who has stored it. */
static inline struct bv_block *
bv_table_block(const struct bv_table *table, size_t i)
{
    struct bv_block *block;

    atomic_read_relaxed(&CONST_CAST(struct bv_table *, table)->blocks[i],
                        &block);
    return block;
}

/* The words of a flow and of its mask where a table's mask has them; zero
 * where the flow does not look. */
struct bv_aligned_flow {
    uint64_t values[FLOW_U64S];
    uint64_t masks[FLOW_U64S];
};

static inline void
bv_flow_align(struct bv_aligned_flow *aligned, const struct bv_table *table,
              const struct dp_flow *flow, const struct dp_mask *mask)
{
    const uint64_t *words = dp_flow_words(flow, mask);
    uint32_t from = 0, to = 0;
    size_t idx;

    FLOWMAP_FOR_EACH_INDEX (idx, table->mask->mf.map) {
        bool has = flowmap_is_set(&mask->mf.map, idx);

        aligned->values[to] = has ? words[from] : 0;
        aligned->masks[to] = has ? mask->words[from] : 0;
        from += has;
        to++;
    }
    ovs_assert(from == mask->n);
}

/* Orders the steps of 'block', a block of 'table', which is the table of 'bv'
 * and has flows.  Writer only. */
void bv_order_steps(struct bv_block *block, const struct bv_table *table,
                    const struct bit_vector *bv);

#endif /* table/bit-vector-private.h */
