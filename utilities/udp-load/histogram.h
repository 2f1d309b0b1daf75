/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_HISTOGRAM_H
#define UDP_LOAD_HISTOGRAM_H 1

/* A histogram of any 64-bit numbers with a bounded relative error.
 *
 * Numbers below 2**HISTOGRAM_BITS have a bucket each.  Above, the numbers from
 * one power of two to the next are divided into 2**HISTOGRAM_BITS buckets of
 * the same width, so a bucket is never wider than 1/64 of its least number. */

#include "counter.h"

#define HISTOGRAM_BITS 6
#define HISTOGRAM_LINEAR (1 << HISTOGRAM_BITS)
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) * HISTOGRAM_LINEAR)

/* One writer. */
struct histogram {
    counter max;                /* Exact. */
    counter buckets[HISTOGRAM_BUCKETS];
};

/* What readers add up, of all writers. */
struct histogram_sum {
    uint64_t max;
    uint64_t n;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

unsigned int histogram_bucket(uint64_t value);
uint64_t histogram_upper(unsigned int bucket);

void histogram_add(struct histogram *, uint64_t value);

void histogram_sum_add(struct histogram_sum *, const struct histogram *);
void histogram_sum_since(struct histogram_sum *later,
                         const struct histogram_sum *earlier);
uint64_t histogram_sum_quantile(const struct histogram_sum *,
                                unsigned int per_mille);

#endif /* utilities/udp-load/histogram.h */
