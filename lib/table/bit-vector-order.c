/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/bit-vector-private.h"

#include <stdlib.h>

#include "random.h"

/* Order of the steps; bit-vector.h has the method. */

enum { N_SAMPLES = 32 };

/* A key to try, and which columns it has left. */
struct sample {
    uint64_t words[FLOW_U64S];
    uint64_t columns[BV_BLOCK_WORDS];
};

/* What a step is worth: how many columns it excludes, of all samples. */
struct step_gain {
    uint32_t nibble;
    uint32_t gain;              /* An upper bound, since things only get
                                 * worse. */
    uint32_t first_gain;        /* Before any other step. */
    uint32_t round;             /* In which 'gain' was computed. */
};

/* Returns the number of bits in 'words'. */
static uint32_t
count_block_bits(const uint64_t *words)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < BV_BLOCK_WORDS; i++) {
        uint64_t x = words[i];

        x -= x >> 1 & UINT64_C(0x5555555555555555);
        x = (x & UINT64_C(0x3333333333333333))
            + (x >> 2 & UINT64_C(0x3333333333333333));
        sum += (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    }

    /* Eight bytes of up to 64 each: the sum needs more than a byte. */
    sum = (sum & UINT64_C(0x00ff00ff00ff00ff))
          + (sum >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    return sum * UINT64_C(0x0001000100010001) >> 48;
}

/* Makes 'sample' a packet that the flow of 'column' might get: where the flow
 * does not look, it is as 'other' has it, and random where neither looks. */
static void
sample_make(struct sample *sample, const struct bv_table *table,
            const struct bv_block *block, const struct bv_column *column,
            const struct bv_column *other)
{
    struct bv_aligned_flow a, b;

    bv_flow_align(&a, table, column->flow, column->mask);
    bv_flow_align(&b, table, other->flow, other->mask);
    for (uint32_t i = 0; i < table->mask->n; i++) {
        uint64_t rest = b.values[i] | (random_uint64() & ~b.masks[i]);

        sample->words[i] = a.values[i] | (rest & ~a.masks[i]);
    }
    for (size_t i = 0; i < BV_BLOCK_WORDS; i++) {
        sample->columns[i] = bv_row_word(block->used, i);
    }
}

/* Returns some column in use, of any block.  There must be one. */
static const struct bv_column *
random_column(const struct bit_vector *bv, const struct bv_table *table)
{
    const struct bv_column *columns;
    size_t i = random_range(table->n_blocks);
    size_t column = random_range(BV_BLOCK_COLUMNS);

    while (!bv_table_block(table, i)->n_used) {
        i = (i + 1) % table->n_blocks;
    }
    columns = bv->columns[i];
    while (!columns[column].flow) {
        column = (column + 1) % BV_BLOCK_COLUMNS;
    }
    return &columns[column];
}

static const atomic_uint64_t *
sample_row(const struct sample *sample, const struct bv_table *table,
           const struct bv_block *block, uint32_t nibble)
{
    const struct bv_nibble *n = &table->nibbles[nibble];

    return bv_row(block, nibble,
                  bv_word_nibble(sample->words[n->word], n->shift));
}

/* Returns how many columns 'nibble' excludes, of all 'samples'. */
static uint32_t
nibble_gain(const struct sample *samples, const struct bv_table *table,
            const struct bv_block *block, uint32_t nibble)
{
    uint32_t gain = 0;

    for (size_t i = 0; i < N_SAMPLES; i++) {
        const atomic_uint64_t *row = sample_row(&samples[i], table, block,
                                                nibble);
        uint64_t lost[BV_BLOCK_WORDS];

        for (size_t j = 0; j < BV_BLOCK_WORDS; j++) {
            lost[j] = samples[i].columns[j] & ~bv_row_word(row, j);
        }
        gain += count_block_bits(lost);
    }
    return gain;
}

static void
samples_apply(struct sample *samples, const struct bv_table *table,
              const struct bv_block *block, uint32_t nibble)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const atomic_uint64_t *row = sample_row(&samples[i], table, block,
                                                nibble);

        for (size_t j = 0; j < BV_BLOCK_WORDS; j++) {
            samples[i].columns[j] &= bv_row_word(row, j);
        }
    }
}

static int
compare_first_gains(const void *a_, const void *b_)
{
    const struct step_gain *a = a_;
    const struct step_gain *b = b_;

    return (a->first_gain > b->first_gain ? -1
            : a->first_gain < b->first_gain ? 1
            : a->nibble < b->nibble ? -1 : a->nibble > b->nibble);
}

/* Moves to the front of 'gains' what excludes most, then what excludes most
 * after this, and so on for as long as anything is excluded.  Returns how
 * many steps do. */
static uint32_t
gains_sort(struct step_gain *gains, uint32_t n_gains, struct sample *samples,
           const struct bv_table *table, const struct bv_block *block)
{
    uint32_t round;

    for (round = 0; round < n_gains; round++) {
        struct step_gain *best;

        for (;;) {
            best = &gains[round];
            for (uint32_t i = round + 1; i < n_gains; i++) {
                if (gains[i].gain > best->gain) {
                    best = &gains[i];
                }
            }
            if (best->round == round) {
                break;
            }
            best->gain = nibble_gain(samples, table, block, best->nibble);
            best->round = round;
        }
        if (!best->gain) {
            qsort(&gains[round], n_gains - round, sizeof *gains,
                  compare_first_gains);
            break;
        }

        struct step_gain chosen = *best;

        *best = gains[round];
        gains[round] = chosen;
        samples_apply(samples, table, block, chosen.nibble);
    }
    return round;
}

/* Returns how many of the first 'n_sorted' steps are worth to be taken in any
 * case: those after them exclude no more than one column for eight samples. */
static uint32_t
count_sure_steps(const struct step_gain *gains, uint32_t n_sorted)
{
    uint32_t rest = 0;
    uint32_t n;

    for (n = n_sorted; n > 0; n--) {
        rest += gains[n - 1].gain;
        if (rest > N_SAMPLES / 8) {
            break;
        }
    }
    return ROUND_UP(n, BV_STEP_GROUP);
}

void
bv_order_steps(struct bv_block *block, const struct bv_table *table,
               const struct bit_vector *bv)
{
    struct step_gain *gains = xmalloc(MAX(1, table->n_nibbles)
                                      * sizeof *gains);
    struct sample samples[N_SAMPLES];
    uint32_t n_sorted;

    for (size_t i = 0; i < N_SAMPLES; i++) {
        sample_make(&samples[i], table, block, random_column(bv, table),
                    random_column(bv, table));
    }
    for (uint32_t i = 0; i < table->n_nibbles; i++) {
        uint32_t gain = nibble_gain(samples, table, block, i);

        gains[i] = (struct step_gain) { i, gain, gain, 0 };
    }
    n_sorted = gains_sort(gains, table->n_nibbles, samples, table, block);
    for (uint32_t i = 0; i < table->n_steps; i++) {
        uint32_t nibble = gains[MIN(i, table->n_nibbles - 1)].nibble;

        atomic_store_relaxed(&block->steps[i],
                             bv_step_make(nibble, &table->nibbles[nibble]));
    }
    atomic_store_relaxed(&block->n_sure, count_sure_steps(gains, n_sorted));
    free(gains);
    block->n_new = 0;
}
