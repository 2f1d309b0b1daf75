/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_EMC_USE_H
#define WEFT_PMD_EMC_USE_H 1

/* When a thread asks its EMC, and what it puts there.
 *
 * The gate
 * --------
 * With many more flows than the EMC has entries nearly every question is in
 * vain, and costs more than the rare hit saves.  So a thread counts, and
 * leaves the EMC alone for a while when it has answered less than one packet
 * in eight; then it asks again for as long as it takes to count.  Insertions
 * go on all the time, so that a load that fits again is met by a cache that
 * knows it.
 *
 * The lot
 * -------
 * A packet that the EMC does not know is put there with the probability that
 * the user sets ("emc-insert-inv-prob").  Instead of a random number for each
 * packet, one is drawn for each insertion: how many packets to pass over until
 * the next, which is geometrically distributed (Devroye, "Non-Uniform Random
 * Variate Generation", 1986, chapter X.2).
 *
 * Thread safety: owner thread only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util.h"

enum {
    EMC_GATE_SAMPLE = 4096,     /* Packets by which the EMC is judged. */
    EMC_GATE_PAUSE = 2048,      /* Bursts in which it is left alone. */
    EMC_GATE_WORTH = 8          /* One packet in so many must hit. */
};

struct emc_gate {
    uint32_t n_packets, n_hits; /* Since it was opened. */
    uint32_t pause;             /* Bursts that it stays shut. */
};

/* Returns true if the coming burst is to ask the EMC. */
static inline bool
emc_gate_is_open(struct emc_gate *gate)
{
    if (OVS_LIKELY(!gate->pause)) {
        return true;
    }
    gate->pause--;
    return false;
}

/* Counts a burst of 'n_packets', 'n_hits' of which the EMC has known. */
static inline void
emc_gate_count(struct emc_gate *gate, unsigned int n_packets,
               unsigned int n_hits)
{
    gate->n_packets += n_packets;
    gate->n_hits += n_hits;
    if (OVS_UNLIKELY(gate->n_packets >= EMC_GATE_SAMPLE)) {
        if (gate->n_hits < gate->n_packets / EMC_GATE_WORTH) {
            gate->pause = EMC_GATE_PAUSE;
        }
        gate->n_packets = gate->n_hits = 0;
    }
}

struct emc_lot {
    uint32_t threshold;         /* That 'to_pass' was drawn for. */
    uint32_t to_pass;           /* Packets until the next insertion. */
    uint32_t random;            /* Never 0. */
};

void emc_lot_init(struct emc_lot *lot, uint32_t seed);

/* Draws how many packets to pass over, for the probability 'threshold' /
 * UINT32_MAX of an insertion, not 0. */
void emc_lot_draw_next(struct emc_lot *lot, uint32_t threshold);

/* Returns true and stores in '*i' which of the packets 'bits', at least one,
 * is to be inserted next, and takes that one and those before it off 'bits'.
 * Returns false if none of them is. 'threshold' as above, or 0: none ever is.
 * */
static inline bool
emc_lot_draw(struct emc_lot *lot, uint32_t threshold, uint32_t *bits,
             size_t *i)
{
    unsigned int n;

    if (OVS_UNLIKELY(!threshold)) {
        return false;
    }
    if (OVS_UNLIKELY(lot->threshold != threshold)) {
        emc_lot_draw_next(lot, threshold);
    }
    n = count_1bits(*bits);
    if (OVS_LIKELY(n <= lot->to_pass)) {
        lot->to_pass -= n;
        return false;
    }
    for (; lot->to_pass; lot->to_pass--) {
        *bits = zero_rightmost_1bit(*bits);
    }
    *i = raw_ctz(*bits);
    *bits = zero_rightmost_1bit(*bits);
    emc_lot_draw_next(lot, threshold);
    return true;
}

#endif /* pmd/emc-use.h */
