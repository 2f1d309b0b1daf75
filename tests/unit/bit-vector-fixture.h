/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_BIT_VECTOR_FIXTURE_H
#define WEFT_BIT_VECTOR_FIXTURE_H 1

/* What the tests of the bit vector are made of: flows with their masks as
 * struct flows, and a check of every bit of a vector. */

#include "table/bit-vector-private.h"

#include "ovs-rcu.h"
#include "unit.h"

/* The input port of all flows. */
#define PORT u32_to_odp(3)

/* A flow with what the tests know of it. */
struct entry {
    struct dp_slab *slab;
    struct dp_flow *flow;
    struct dp_mask *mask;
    struct flow values;         /* Masked. */
    struct flow masks;          /* Without in_port. */
};

static struct entry *
entry_create(struct dp_slab *slab, const struct flow *packet,
             const struct flow *masks)
{
    struct entry *entry = xzalloc(sizeof *entry);
    uint64_t packed[FLOW_U64S];
    struct flowmap map;
    uint64_t *words;
    uint32_t n = 0;

    entry->slab = slab;
    entry->masks = *masks;
    flowmap_init(&map);
    for (size_t i = 0; i < FLOW_U64S; i++) {
        uint64_t mask = flow_u64_value(masks, i);

        *flow_u64_lvalue(&entry->values, i) = flow_u64_value(packet, i)
                                              & mask;
        if (mask) {
            flowmap_set(&map, i, 1);
            packed[n++] = mask;
        }
    }
    entry->mask = dp_mask_from_words(&map, packed);
    dp_mask_complete(entry->mask);
    entry->mask->in_port = PORT;

    entry->flow = dp_slab_alloc(slab);
    words = entry->flow->words;
    if (n > DP_FLOW_INLINE_WORDS) {
        words = entry->flow->more = xmalloc(n * sizeof *words);
    }
    entry->flow->hash = dp_mask_flow(entry->mask, packet, words);
    return entry;
}

static void
entry_free(struct entry *entry)
{
    if (entry->mask->n > DP_FLOW_INLINE_WORDS) {
        free(entry->flow->more);
    }
    dp_slab_free(entry->slab, entry->flow);
    dp_mask_destroy(entry->mask);
    free(entry);
}

static void
entry_insert(struct bit_vector *bv, struct entry *entry)
{
    CHECK_INT(bit_vector_insert(bv, entry->flow, entry->mask), ==, 0);
    dp_flow_publish(entry->flow, entry->mask);
}

static void
entry_remove(struct bit_vector *bv, struct entry *entry)
{
    dp_flow_publish(entry->flow, NULL);
    bit_vector_remove(bv, entry->flow);
}

/* Takes 'entry' out and frees it when nobody can see it any more. */
static void
entry_retire(struct bit_vector *bv, struct entry *entry)
{
    entry_remove(bv, entry);
    ovsrcu_postpone(entry_free, entry);
}

static bool
entry_matches(const struct entry *entry, const struct flow *packet)
{
    for (size_t i = 0; i < FLOW_U64S; i++) {
        if ((flow_u64_value(packet, i) & flow_u64_value(&entry->masks, i))
            != flow_u64_value(&entry->values, i)) {
            return false;
        }
    }
    return true;
}

/* Structure. */

static bool
row_has(const atomic_uint64_t *row, size_t column)
{
    return bv_row_word(row, column / 64) >> column % 64 & 1;
}

/* Checks the bits of 'column', which is in use, and counts in 'users' the
 * nibbles that its flow looks at. */
static void
check_column(const struct bv_table *table, const struct bv_block *block,
             size_t number, const struct bv_column *column, uint32_t *users)
{
    const struct dp_mask *mask = column->mask;
    const uint64_t *words = dp_flow_words(column->flow, mask);
    uint32_t index, n_bits = 0;

    atomic_read_relaxed(&CONST_CAST(struct bv_block *,
                                    block)->indexes[number], &index);
    CHECK_UINT(index, ==, column->flow->index);
    for (uint32_t i = 0; i < table->n_nibbles; i++) {
        size_t idx = table->nibbles[i].id / 16;
        int shift = table->nibbles[i].id % 16 * 4;
        uint32_t m = 0, v = 0;

        if (flowmap_is_set(&mask->mf.map, idx)) {
            size_t n = miniflow_get__(&mask->mf, idx) - mask->words;

            m = mask->words[n] >> shift & 0xf;
            v = words[n] >> shift & 0xf;
        }
        for (uint32_t value = 0; value < 16; value++) {
            CHECK_INT(row_has(bv_row(block, i, value), number), ==,
                      (value & m) == v);
        }
        users[i] += m != 0;
        n_bits += count_1bits(m);
    }

    /* There are no nibbles without rows. */
    for (size_t i = 0; i < mask->n; i++) {
        n_bits -= count_1bits(mask->words[i]);
    }
    CHECK_UINT(n_bits, ==, 0);
}

/* A block's steps take every nibble. */
static void
check_steps(const struct bv_table *table, struct bv_block *block)
{
    bool *taken = xcalloc(table->n_nibbles + 1, sizeof *taken);
    uint32_t n_sure, n = 0;

    for (uint32_t i = 0; i < table->n_steps; i++) {
        uint32_t step, nibble;

        atomic_read_relaxed(&block->steps[i], &step);
        nibble = bv_step_nibble(step);
        CHECK_UINT(nibble, <, table->n_nibbles);
        CHECK_UINT(step, ==, bv_step_make(nibble, &table->nibbles[nibble]));
        n += !taken[nibble];
        taken[nibble] = true;
    }
    CHECK_UINT(n, ==, table->n_nibbles);
    atomic_read_relaxed(&block->n_sure, &n_sure);
    CHECK_UINT(n_sure, <=, table->n_steps);
    CHECK_UINT(n_sure % BV_STEP_GROUP, ==, 0);
    free(taken);
}

static void
check_structure(const struct bit_vector *bv)
{
    const struct bv_table *table = ovsrcu_get(struct bv_table *, &bv->table);
    uint32_t n_flows = 0, n_unused = 0;
    uint32_t *users;

    if (!table) {
        CHECK_UINT(bit_vector_count(bv), ==, 0);
        return;
    }
    users = xcalloc(table->n_nibbles + 1, sizeof *users);
    for (size_t i = 0; i < table->n_blocks; i++) {
        struct bv_block *block = bv_table_block(table, i);

        for (size_t j = 0; j < BV_BLOCK_COLUMNS; j++) {
            const struct bv_column *column = &bv->columns[i][j];

            CHECK_INT(row_has(block->used, j), ==, column->flow != NULL);
            if (column->flow) {
                check_column(table, block, j, column, users);
                n_flows++;
            }
        }
        check_steps(table, block);
    }
    for (size_t i = table->n_blocks; i < BIT_VECTOR_MAX_BLOCKS; i++) {
        CHECK(!bv_table_block(table, i));
    }
    CHECK_UINT(n_flows, ==, bit_vector_count(bv));
    for (uint32_t i = 0; i < table->n_nibbles; i++) {
        CHECK_UINT(table->nibbles[i].n_users, ==, users[i]);
        n_unused += !users[i];
    }
    CHECK_UINT(table->n_unused, ==, n_unused);
    free(users);
}

#endif /* tests/unit/bit-vector-fixture.h */
