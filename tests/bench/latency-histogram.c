/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "bench/latency-histogram.h"

#include <inttypes.h>
#include <math.h>

#include "util.h"

/* Returns the greatest value that belongs into bucket 'i'. */
static uint64_t
bucket_end(unsigned int i)
{
    unsigned int octave = i >> LATENCY_SUB_BITS;
    unsigned int shift = octave ? octave - 1 : 0;
    uint64_t head = i - (shift << LATENCY_SUB_BITS);

    return ((head + 1) << shift) - 1;
}

uint64_t
latency_histogram_percentile(const struct latency_histogram *h, double share)
{
    uint64_t rank = MAX(1, ceil(share * h->n));
    uint64_t seen = 0;

    for (unsigned int i = 0; i < LATENCY_N_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen >= rank) {
            return MIN(bucket_end(i), h->longest);
        }
    }
    return h->longest;
}

uint64_t
latency_histogram_above(const struct latency_histogram *h, uint64_t value)
{
    uint64_t n = 0;

    for (unsigned int i = latency_bucket(value) + 1; i < LATENCY_N_BUCKETS;
         i++) {
        n += h->buckets[i];
    }
    return n;
}

void
latency_histogram_write(const struct latency_histogram *h, FILE *file,
                        const char *name, double per_unit)
{
    for (unsigned int i = 0; i < LATENCY_N_BUCKETS; i++) {
        if (h->buckets[i]) {
            fprintf(file, "%s %.4f %"PRIu64"\n", name,
                    MIN(bucket_end(i), h->longest) / per_unit, h->buckets[i]);
        }
    }
}
