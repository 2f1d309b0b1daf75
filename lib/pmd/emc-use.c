/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/emc-use.h"

#include <math.h>

void
emc_lot_init(struct emc_lot *lot, uint32_t seed)
{
    *lot = (struct emc_lot) { .threshold = 0, .random = seed | 1 };
}

/* Returns a random number from 1 on: Marsaglia's xorshift ("Xorshift RNGs",
 * 2003). */
static uint32_t
next_random(struct emc_lot *lot)
{
    uint32_t x = lot->random;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    lot->random = x;
    return x;
}

void
emc_lot_draw_next(struct emc_lot *lot, uint32_t threshold)
{
    lot->threshold = threshold;
    if (threshold == UINT32_MAX) {
        lot->to_pass = 0;
    } else {
        double p = threshold * 0x1p-32;
        double passed = log(next_random(lot) * 0x1p-32) / log1p(-p);

        lot->to_pass = passed < UINT32_MAX ? passed : UINT32_MAX;
    }
}
