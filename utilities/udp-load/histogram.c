/* SPDX-License-Identifier: Apache-2.0 */

#include "histogram.h"

unsigned int
histogram_bucket(uint64_t value)
{
    unsigned int shift;

    if (value < HISTOGRAM_LINEAR) {
        return value;
    }
    shift = 63 - __builtin_clzll(value) - HISTOGRAM_BITS;
    return shift * HISTOGRAM_LINEAR + (value >> shift);
}

/* Returns the greatest number in 'bucket'. */
uint64_t
histogram_upper(unsigned int bucket)
{
    unsigned int shift;
    uint64_t mantissa;

    if (bucket < 2 * HISTOGRAM_LINEAR) {
        return bucket;
    }
    shift = bucket / HISTOGRAM_LINEAR - 1;
    mantissa = HISTOGRAM_LINEAR + bucket % HISTOGRAM_LINEAR;
    /* In the last bucket this wraps around to UINT64_MAX. */
    return ((mantissa + 1) << shift) - 1;
}

void
histogram_add(struct histogram *h, uint64_t value)
{
    counter_add(&h->buckets[histogram_bucket(value)], 1);
    if (value > counter_get(&h->max)) {
        counter_set(&h->max, value);
    }
}

void
histogram_sum_add(struct histogram_sum *sum, const struct histogram *h)
{
    uint64_t max = counter_get(&h->max);

    if (max > sum->max) {
        sum->max = max;
    }
    for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t n = counter_get(&h->buckets[i]);

        sum->buckets[i] += n;
        sum->n += n;
    }
}

/* Takes from 'later' what was in 'earlier' already.  Its greatest number is no
 * longer known exactly then, but as the upper end of its bucket. */
void
histogram_sum_since(struct histogram_sum *later,
                    const struct histogram_sum *earlier)
{
    unsigned int last = 0;

    for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        later->buckets[i] -= earlier->buckets[i];
        if (later->buckets[i]) {
            last = i;
        }
    }
    later->n -= earlier->n;
    if (!later->n) {
        later->max = 0;
    } else if (histogram_upper(last) < later->max) {
        later->max = histogram_upper(last);
    }
}

/* Returns a number that at least 'per_mille' of 1000 numbers do not exceed and
 * that is at most 1/64 too great; 0 if there are none. */
uint64_t
histogram_sum_quantile(const struct histogram_sum *sum, unsigned int per_mille)
{
    /* Rounded up, without an overflow. */
    uint64_t rank = (sum->n / 1000 * per_mille
                     + (sum->n % 1000 * per_mille + 999) / 1000);
    uint64_t seen = 0;

    if (!sum->n) {
        return 0;
    }
    if (!rank) {
        rank = 1;
    }
    for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += sum->buckets[i];
        if (seen >= rank) {
            uint64_t upper = histogram_upper(i);

            return upper < sum->max ? upper : sum->max;
        }
    }
    return sum->max;
}
