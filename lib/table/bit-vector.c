/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/bit-vector-private.h"

#include <errno.h>
#include <string.h>

#include "hash.h"
#include "ovs-rcu.h"

/* Lookup. */

/* A row as readers have it, in vector registers. */
typedef uint64_t row_part __attribute__((vector_size(16), may_alias));
struct row {
    row_part a, b, c, d;
};

BUILD_ASSERT_DECL(sizeof(struct row) == CACHE_LINE_SIZE);

/* The writer may be writing a row's words, and each of them must be read
 * whole: a vector load does not tear aligned words of 64 bits.  There is no
 * such load among C's atomics, but ThreadSanitizer wants to see one. */
static inline row_part
row_part_load(const atomic_uint64_t *row, size_t i)
{
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
    atomic_uint64_t *p = CONST_CAST(atomic_uint64_t *, &row[i * 2]);
    uint64_t x, y;

    atomic_read_relaxed(&p[0], &x);
    atomic_read_relaxed(&p[1], &y);
    return (row_part) { x, y };
#else
    return ((const row_part *) row)[i];
#endif
}

static inline struct row
row_load(const atomic_uint64_t *row)
{
    return (struct row) {
        row_part_load(row, 0), row_part_load(row, 1),
        row_part_load(row, 2), row_part_load(row, 3),
    };
}

static inline struct row
row_and(struct row x, const atomic_uint64_t *row)
{
    struct row y = row_load(row);

    return (struct row) { x.a & y.a, x.b & y.b, x.c & y.c, x.d & y.d };
}

/* Returns the bits that any of the row's words has. */
static inline uint64_t
row_any(struct row x)
{
    row_part any = (x.a | x.b) | (x.c | x.d);

    return any[0] | any[1];
}

union candidates {
    struct row row;
    uint64_t words[BV_BLOCK_WORDS];
};

/* Returns the row that a step of 'block' selects for a key with nibbles
 * 'cut'. */
static inline const atomic_uint64_t *
select_row(const struct bv_block *block, size_t step_number,
           const uint8_t *cut)
{
    uint32_t step;

    atomic_read_relaxed(&block->steps[step_number], &step);
    return bv_row(block, bv_step_nibble(step), cut[bv_step_position(step)]);
}

static inline struct row
take_steps(struct row left, const struct bv_block *block, uint32_t step,
           const uint8_t *cut)
{
    BUILD_ASSERT_DECL(BV_STEP_GROUP == 4);
    left = row_and(left, select_row(block, step, cut));
    left = row_and(left, select_row(block, step + 1, cut));
    left = row_and(left, select_row(block, step + 2, cut));
    return row_and(left, select_row(block, step + 3, cut));
}

/* Stores to 'candidates' the columns of 'block' that may match a key with
 * nibbles 'cut'.  Returns false if there are none. */
static inline bool
block_search(struct bv_block *block, uint32_t n_steps,
             const uint8_t *cut, union candidates *candidates)
{
    struct row left = row_load(block->used);
    uint32_t step, n_sure;
    uint64_t any;

    atomic_read_relaxed(&block->n_sure, &n_sure);
    for (step = 0; step < n_sure; step += BV_STEP_GROUP) {
        left = take_steps(left, block, step, cut);
    }
    any = row_any(left);
    for (; any & (any - 1) && step < n_steps; step += BV_STEP_GROUP) {
        left = take_steps(left, block, step, cut);
        any = row_any(left);
    }
    candidates->row = left;
    return any != 0;
}

/* Returns the flow among the 'candidates' that matches 'key', or NULL. */
static struct dp_flow *
block_verify(const struct bv_block *block, const union candidates *candidates,
             const struct dp_slab *slab, const struct dp_key *key)
{
    for (size_t i = 0; i < BV_BLOCK_WORDS; i++) {
        for (uint64_t word = candidates->words[i]; word;
             word = zero_rightmost_1bit(word)) {
            size_t column = i * 64 + raw_ctz(word);
            struct dp_flow *flow;
            uint32_t index;

            atomic_read_explicit(&CONST_CAST(struct bv_block *,
                                             block)->indexes[column],
                                 &index, memory_order_acquire);
            if (OVS_UNLIKELY(!index)) {
                continue;
            }
            flow = dp_slab_get(slab, index);
            if (OVS_LIKELY(dp_flow_matches_key(flow, key))) {
                return flow;
            }
        }
    }
    return NULL;
}

struct dp_flow *
bit_vector_lookup(const struct bit_vector *bv, const struct dp_slab *slab,
                  const struct dp_key *key)
{
    struct bv_table *table = ovsrcu_get(struct bv_table *, &bv->table);
    uint64_t words[FLOW_U64S], cut[FLOW_U64S * 2];
    union candidates candidates;

    if (!table) {
        return NULL;
    }
    dp_mask_key(table->mask, key, words);
    bv_cut_nibbles(words, table->mask->n, cut);
    for (size_t i = 0; i < BIT_VECTOR_MAX_BLOCKS; i++) {
        struct bv_block *block;
        struct dp_flow *flow;

        atomic_read_explicit(&table->blocks[i], &block, memory_order_acquire);
        if (!block) {
            break;
        }
        if (block_search(block, table->n_steps, (const uint8_t *) cut,
                         &candidates)) {
            flow = block_verify(block, &candidates, slab, key);
            if (flow) {
                return flow;
            }
        }
    }
    return NULL;
}

/* Blocks, as the writer sees them. */

/* Makes an empty block for 'table'.  Its rows have all bits set, as they have
 * for flows that do not look at any nibble. */
static struct bv_block *
block_create(const struct bv_table *table)
{
    size_t rows_size = (size_t) table->n_nibbles * BV_NIBBLE_VALUES
                       * CACHE_LINE_SIZE;
    size_t steps_size = table->n_steps * sizeof(uint32_t);
    size_t head_size = ROUND_UP(sizeof(struct bv_block), CACHE_LINE_SIZE);
    char *p = xmalloc_cacheline(head_size + rows_size + steps_size);
    struct bv_block *block = (struct bv_block *) p;

    memset(block, 0, sizeof *block);
    block->rows = (atomic_uint64_t *) (p + head_size);
    block->steps = (atomic_uint32_t *) (p + head_size + rows_size);
    memset(p + head_size, 0xff, rows_size);
    atomic_init(&block->n_sure, MIN(BV_STEP_GROUP, table->n_steps));
    for (uint32_t i = 0; i < table->n_steps; i++) {
        uint32_t nibble = MIN(i, table->n_nibbles - 1);

        atomic_init(&block->steps[i],
                    bv_step_make(nibble, &table->nibbles[nibble]));
    }
    return block;
}

/* Returns the lowest column of 'block' that is not in use, or
 * BV_BLOCK_COLUMNS. */
static size_t
block_find_free(const struct bv_block *block)
{
    size_t i;

    for (i = 0; i < BV_BLOCK_WORDS; i++) {
        uint64_t free_bits = ~bv_row_word(block->used, i);

        if (free_bits) {
            return i * 64 + raw_ctz(free_bits);
        }
    }
    return BV_BLOCK_COLUMNS;
}

static inline void
change_bit(atomic_uint64_t *row, size_t column, bool value)
{
    atomic_uint64_t *p = &row[column / 64];
    uint64_t bit = UINT64_C(1) << column % 64;
    uint64_t word;

    atomic_read_relaxed(p, &word);
    atomic_store_relaxed(p, value ? word | bit : word & ~bit);
}

/* Fills 'column' of 'block' for 'flow' and puts it to use. */
static void
block_fill_column(struct bv_block *block, const struct bv_table *table,
                  size_t column, const struct dp_flow *flow,
                  const struct dp_mask *mask)
{
    struct bv_aligned_flow aligned;

    bv_flow_align(&aligned, table, flow, mask);
    for (uint32_t i = 0; i < table->n_nibbles; i++) {
        const struct bv_nibble *nibble = &table->nibbles[i];
        uint32_t m = bv_word_nibble(aligned.masks[nibble->word],
                                    nibble->shift);
        uint32_t v = bv_word_nibble(aligned.values[nibble->word],
                                    nibble->shift);

        for (uint32_t value = 0; value < BV_NIBBLE_VALUES; value++) {
            change_bit(bv_row(block, i, value), column, (value & m) == v);
        }
    }
    atomic_store_explicit(&block->indexes[column], flow->index,
                          memory_order_release);
    change_bit(block->used, column, true);
    block->n_used++;
    block->n_new++;
}

/* Tables. */

/* Returns 'word' with every nibble that is not zero made full. */
static uint64_t
fill_nibbles(uint64_t word)
{
    word |= word >> 1 & UINT64_C(0x7777777777777777);
    word |= word >> 2 & UINT64_C(0x3333333333333333);
    return (word & UINT64_C(0x1111111111111111)) * 0xf;
}

static void
table_destroy(struct bv_table *table)
{
    for (size_t i = 0; i < table->n_blocks; i++) {
        free_cacheline(bv_table_block(table, i));
    }
    dp_mask_destroy(table->mask);
    free(table);
}

/* Makes a table without blocks, with rows for the nibbles of 'words', a whole
 * 'struct flow' of them. */
static struct bv_table *
table_create(const uint64_t *words)
{
    uint64_t packed[FLOW_U64S];
    struct bv_table *table;
    struct flowmap map;
    uint32_t n_nibbles = 0;
    uint32_t n = 0;

    flowmap_init(&map);
    for (size_t idx = 0; idx < FLOW_U64S; idx++) {
        if (words[idx]) {
            flowmap_set(&map, idx, 1);
            packed[n++] = words[idx];
            n_nibbles += count_1bits(words[idx]) / 4;
        }
    }

    table = xzalloc(sizeof *table + n_nibbles * sizeof *table->nibbles);
    table->mask = dp_mask_from_words(&map, packed);
    dp_mask_complete(table->mask);
    table->n_nibbles = table->n_unused = n_nibbles;
    table->n_steps = ROUND_UP(n_nibbles, BV_STEP_GROUP);

    struct bv_nibble *nibble = table->nibbles;

    n = 0;
    for (size_t idx = 0; idx < FLOW_U64S; idx++) {
        for (uint32_t i = 0; i < BV_WORD_NIBBLES; i++) {
            if (bv_word_nibble(words[idx], i * 4)) {
                *nibble++ = (struct bv_nibble) {
                    .id = idx * BV_WORD_NIBBLES + i, .word = n, .shift = i * 4,
                };
            }
        }
        n += words[idx] != 0;
    }
    return table;
}

/* Returns true if 'table' has rows for all nibbles that 'mask' has. */
static bool
table_covers(const struct bv_table *table, const struct dp_mask *mask)
{
    uint32_t n = 0;
    size_t idx;

    FLOWMAP_FOR_EACH_INDEX (idx, mask->mf.map) {
        if (!flowmap_is_set(&table->mask->mf.map, idx)
            || (mask->words[n] & ~*miniflow_get__(&table->mask->mf, idx))) {
            return false;
        }
        n++;
    }
    return true;
}

/* Adds 'delta', 1 or -1, to the users of all nibbles that 'mask' has. */
static void
table_count_users(struct bv_table *table, const struct dp_mask *mask,
                  int delta)
{
    uint64_t words[FLOW_U64S];
    uint32_t n = 0, to = 0;
    size_t idx;

    FLOWMAP_FOR_EACH_INDEX (idx, table->mask->mf.map) {
        words[to++] = flowmap_is_set(&mask->mf.map, idx) ? mask->words[n++]
                                                         : 0;
    }
    for (uint32_t i = 0; i < table->n_nibbles; i++) {
        struct bv_nibble *nibble = &table->nibbles[i];

        if (bv_word_nibble(words[nibble->word], nibble->shift)) {
            table->n_unused -= !nibble->n_users;
            nibble->n_users += delta;
            table->n_unused += !nibble->n_users;
        }
    }
}

/* Translates the numbers of nibbles of 'old' to those of 'new': stores them to
 * 'numbers', UINT32_MAX for those that are in 'old' only. */
static void
map_nibbles(const struct bv_table *new, const struct bv_table *old,
            uint32_t *numbers)
{
    uint32_t j = 0;

    for (uint32_t i = 0; i < old->n_nibbles; i++) {
        while (j < new->n_nibbles
               && new->nibbles[j].id < old->nibbles[i].id) {
            j++;
        }
        numbers[i] = (j < new->n_nibbles
                      && new->nibbles[j].id == old->nibbles[i].id
                      ? j : UINT32_MAX);
    }
}

/* Makes the steps of 'block' those of 'from' as far as 'new' has their nibbles
 * ('numbers', from map_nibbles()), in their order, and then the others. */
static void
block_translate_steps(struct bv_block *block, const struct bv_table *new,
                      struct bv_block *from,
                      const struct bv_table *old, const uint32_t *numbers)
{
    bool *done = xzalloc(MAX(1, new->n_nibbles) * sizeof *done);
    uint32_t n_sure, n = 0;

    for (uint32_t i = 0; i < old->n_nibbles; i++) {
        uint32_t step, nibble;

        atomic_read_relaxed(&from->steps[i], &step);
        nibble = numbers[bv_step_nibble(step)];
        if (nibble != UINT32_MAX) {
            atomic_init(&block->steps[n++],
                        bv_step_make(nibble, &new->nibbles[nibble]));
            done[nibble] = true;
        }
    }
    for (uint32_t i = 0; i < new->n_nibbles; i++) {
        if (!done[i]) {
            atomic_init(&block->steps[n++], bv_step_make(i, &new->nibbles[i]));
        }
    }
    atomic_read_relaxed(&from->n_sure, &n_sure);
    atomic_init(&block->n_sure, MIN(n_sure, new->n_steps));
    for (; n < new->n_steps; n++) {
        uint32_t last;

        atomic_read_relaxed(&block->steps[n - 1], &last);
        atomic_init(&block->steps[n], last);
    }
    free(done);
}

/* Returns a copy for 'new' of 'from', a block of 'old'.  No flow looks at a
 * nibble that one of the two tables has not: of new ones, the rows stay as
 * block_create() made them. */
static struct bv_block *
block_translate(const struct bv_table *new, struct bv_block *from,
                const struct bv_table *old, const uint32_t *numbers)
{
    struct bv_block *block = block_create(new);

    memcpy(block->used, from->used, sizeof block->used);
    memcpy(block->indexes, from->indexes, sizeof block->indexes);
    block->n_used = from->n_used;
    block->n_new = from->n_new;
    for (uint32_t i = 0; i < old->n_nibbles; i++) {
        if (numbers[i] != UINT32_MAX) {
            memcpy(bv_row(block, numbers[i], 0), bv_row(from, i, 0),
                   BV_NIBBLE_VALUES * CACHE_LINE_SIZE);
        }
    }
    block_translate_steps(block, new, from, old, numbers);
    return block;
}

/* Copies to 'new' all that 'old' has. */
static void
table_translate(struct bv_table *new, const struct bv_table *old)
{
    uint32_t *numbers = xmalloc(MAX(1, old->n_nibbles) * sizeof *numbers);

    map_nibbles(new, old, numbers);
    for (uint32_t i = 0; i < old->n_nibbles; i++) {
        if (numbers[i] != UINT32_MAX && old->nibbles[i].n_users) {
            new->nibbles[numbers[i]].n_users = old->nibbles[i].n_users;
            new->n_unused--;
        }
    }
    for (size_t i = 0; i < old->n_blocks; i++) {
        atomic_init(&new->blocks[i],
                    block_translate(new, bv_table_block(old, i), old,
                                    numbers));
    }
    new->n_blocks = old->n_blocks;
    free(numbers);
}

/* The bit vector. */

struct bit_vector *
bit_vector_create(void)
{
    struct bit_vector *bv = xzalloc(sizeof *bv);

    ovsrcu_init(&bv->table, NULL);
    hmap_init(&bv->by_index);
    return bv;
}

static void
bit_vector_free(struct bit_vector *bv)
{
    for (size_t i = 0; i < BIT_VECTOR_MAX_BLOCKS; i++) {
        free(bv->columns[i]);
    }
    hmap_destroy(&bv->by_index);
    free(bv);
}

void
bit_vector_destroy(struct bit_vector *bv)
{
    if (bv) {
        ovs_assert(hmap_is_empty(&bv->by_index));
        ovsrcu_postpone(bit_vector_free, bv);
    }
}

size_t
bit_vector_count(const struct bit_vector *bv)
{
    return hmap_count(&bv->by_index);
}

/* Publishes 'new', which may be null, in place of the table there is. */
static void
replace_table(struct bit_vector *bv, struct bv_table *new)
{
    struct bv_table *old = ovsrcu_get_protected(struct bv_table *, &bv->table);

    ovsrcu_set(&bv->table, new);
    if (old) {
        ovsrcu_postpone(table_destroy, old);
    }
}

/* Replaces the table by one that has rows for the nibbles that 'mask' has, if
 * any, and those that there are, unless 'weed' and no flow uses them.  Returns
 * the new table. */
static struct bv_table *
change_nibbles(struct bit_vector *bv, const struct dp_mask *mask, bool weed)
{
    struct bv_table *old = ovsrcu_get_protected(struct bv_table *, &bv->table);
    uint64_t words[FLOW_U64S];
    struct bv_table *new;
    uint32_t n = 0;
    size_t idx;

    memset(words, 0, sizeof words);
    for (uint32_t i = 0; old && i < old->n_nibbles; i++) {
        const struct bv_nibble *nibble = &old->nibbles[i];

        if (nibble->n_users || !weed) {
            words[nibble->id / BV_WORD_NIBBLES]
                |= UINT64_C(0xf) << nibble->shift;
        }
    }
    if (mask) {
        FLOWMAP_FOR_EACH_INDEX (idx, mask->mf.map) {
            words[idx] |= fill_nibbles(mask->words[n++]);
        }
    }

    new = table_create(words);
    if (old) {
        table_translate(new, old);
    }
    replace_table(bv, new);
    return new;
}

/* Returns the number of a column of 'table' that is not in use. */
static size_t
find_free_column(struct bit_vector *bv, struct bv_table *table)
{
    size_t i;

    for (i = 0; i < table->n_blocks; i++) {
        const struct bv_block *block = bv_table_block(table, i);

        if (block->n_used < BV_BLOCK_COLUMNS) {
            return i * BV_BLOCK_COLUMNS + block_find_free(block);
        }
    }

    ovs_assert(i < BIT_VECTOR_MAX_BLOCKS);
    if (!bv->columns[i]) {
        bv->columns[i] = xcalloc(BV_BLOCK_COLUMNS, sizeof *bv->columns[i]);
    }
    atomic_store_explicit(&table->blocks[i], block_create(table),
                          memory_order_release);
    table->n_blocks++;
    return i * BV_BLOCK_COLUMNS;
}

int
bit_vector_insert(struct bit_vector *bv, const struct dp_flow *flow,
                  const struct dp_mask *mask)
{
    struct bv_table *table = ovsrcu_get_protected(struct bv_table *,
                                                  &bv->table);
    struct bv_column *column;
    struct bv_block *block;
    size_t number, i;

    if (bit_vector_count(bv) >= BIT_VECTOR_MAX_FLOWS) {
        return ENOSPC;
    }
    if (!table || !table_covers(table, mask)) {
        table = change_nibbles(bv, mask, false);
    }
    number = find_free_column(bv, table);
    i = number / BV_BLOCK_COLUMNS;
    block = bv_table_block(table, i);
    block_fill_column(block, table, number % BV_BLOCK_COLUMNS, flow, mask);
    table_count_users(table, mask, 1);

    column = &bv->columns[i][number % BV_BLOCK_COLUMNS];
    column->flow = flow;
    column->mask = mask;
    hmap_insert(&bv->by_index, &column->node, hash_int(flow->index, 0));

    if (block->n_new >= 4 + block->n_used / 2) {
        bv_order_steps(block, table, bv);
    }
    return 0;
}

static struct bv_column *
find_column(const struct bit_vector *bv, const struct dp_flow *flow)
{
    struct bv_column *column;

    HMAP_FOR_EACH_WITH_HASH (column, node, hash_int(flow->index, 0),
                             &bv->by_index) {
        if (column->flow == flow) {
            return column;
        }
    }
    OVS_NOT_REACHED();
}

/* Takes back the last blocks of 'table' as long as they are empty and there
 * is room enough before them that they will not be needed at once. */
static void
trim_blocks(struct bv_table *table)
{
    while (table->n_blocks > 1) {
        size_t last = table->n_blocks - 1;
        struct bv_block *block = bv_table_block(table, last);

        if (block->n_used
            || (bv_table_block(table, last - 1)->n_used
                > BV_BLOCK_COLUMNS * 3 / 4)) {
            break;
        }
        atomic_store_relaxed(&table->blocks[last], NULL);
        table->n_blocks--;
        ovsrcu_postpone(free_cacheline, block);
    }
}

void
bit_vector_remove(struct bit_vector *bv, const struct dp_flow *flow)
{
    struct bv_table *table = ovsrcu_get_protected(struct bv_table *,
                                                  &bv->table);
    struct bv_column *column = find_column(bv, flow);
    struct bv_block *block;
    size_t i = 0;

    while (!bv->columns[i] || column < bv->columns[i]
           || column >= bv->columns[i] + BV_BLOCK_COLUMNS) {
        i++;
    }
    block = bv_table_block(table, i);
    change_bit(block->used, column - bv->columns[i], false);
    block->n_used--;
    table_count_users(table, column->mask, -1);
    hmap_remove(&bv->by_index, &column->node);
    column->flow = NULL;
    column->mask = NULL;
    bv->n_removed++;

    if (hmap_is_empty(&bv->by_index)) {
        replace_table(bv, NULL);
        return;
    }
    trim_blocks(table);
    if (bv->n_removed >= BV_BLOCK_COLUMNS
        && table->n_unused > table->n_nibbles / 2) {
        change_nibbles(bv, NULL, true);
        bv->n_removed = 0;
    }
}
