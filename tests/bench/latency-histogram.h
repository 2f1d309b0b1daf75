/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_LATENCY_HISTOGRAM_H
#define BENCH_LATENCY_HISTOGRAM_H 1

/* Histograms of durations
 * =======================
 *
 * Problem: a bench wants the 99.99th percentile of hundreds of millions of
 * durations, from tens of ticks of the processor's clock up to seconds, and
 * the thread that takes them can afford an addition and nothing else.
 *
 * So the buckets are log-linear: each power of two is divided into 64 buckets
 * of equal width, and values below 64 have a bucket each.  A value is known
 * with a relative error of at most 1/64, in 22 kB of memory, however many
 * there are; only the few lines of the buckets that occur are in the cache.
 * The longest value is kept exactly.
 *
 * Thread safety: none.  A histogram has an owner who writes it; others may
 * read it when the owner has told them, with release order, that it has
 * stopped. */

#include <stdint.h>
#include <stdio.h>

enum { LATENCY_SUB_BITS = 6 };          /* 64 buckets for a power of two. */
enum { LATENCY_MAX_BITS = 48 };         /* Longer values count as 2^48 - 1. */
enum { LATENCY_N_BUCKETS = ((LATENCY_MAX_BITS - LATENCY_SUB_BITS + 1)
                            << LATENCY_SUB_BITS) };

/* Empty when all of it is 0. */
struct latency_histogram {
    uint64_t n;                         /* Values. */
    uint64_t longest;
    uint64_t buckets[LATENCY_N_BUCKETS];
};

static inline unsigned int
latency_bucket(uint64_t value)
{
    unsigned int shift;

    if (value < 1 << LATENCY_SUB_BITS) {
        return value;
    }
    if (value >> LATENCY_MAX_BITS) {
        return LATENCY_N_BUCKETS - 1;
    }
    shift = 63 - __builtin_clzll(value) - LATENCY_SUB_BITS;
    return (shift << LATENCY_SUB_BITS) + (value >> shift);
}

static inline void
latency_histogram_add(struct latency_histogram *h, uint64_t value)
{
    h->n++;
    h->longest = value > h->longest ? value : h->longest;
    h->buckets[latency_bucket(value)]++;
}

/* Returns a value that at most the share 1 - 'share' of all values exceeds,
 * for a share from 0 to 1: the upper end of the bucket that has it, or the
 * longest value if that is less.  0 if there are no values. */
uint64_t latency_histogram_percentile(const struct latency_histogram *,
                                      double share);

/* Returns how many values are greater than 'value', but for those that share
 * a bucket with it. */
uint64_t latency_histogram_above(const struct latency_histogram *,
                                 uint64_t value);

/* Writes a line "NAME UPPER COUNT" for each bucket that is not empty, with the
 * upper end in units of which 'per_unit' values make one. */
void latency_histogram_write(const struct latency_histogram *, FILE *,
                             const char *name, double per_unit);

#endif /* bench/latency-histogram.h */
