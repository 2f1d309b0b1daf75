/* SPDX-License-Identifier: Apache-2.0 */

/* Unit tests of lib/pmd/emc-use: when the EMC is asked, and what gets in. */

#include <config.h>

#include "pmd/emc-use.h"

#include "unit.h"
#include "util.h"

enum { BURST = 32 };

/* Forwards 'n' bursts of which the EMC, when it is asked, knows 'n_known'
 * packets each.  Returns how many bursts asked it. */
static unsigned int
forward(struct emc_gate *gate, unsigned int n, unsigned int n_known)
{
    unsigned int n_asked = 0;

    for (unsigned int i = 0; i < n; i++) {
        if (emc_gate_is_open(gate)) {
            n_asked++;
            emc_gate_count(gate, BURST, n_known);
        }
    }
    return n_asked;
}

/* With one hit in eight packets the EMC is always asked. */
static void
test_gate_stays_open(void)
{
    struct emc_gate gate = { 0, 0, 0 };

    CHECK_UINT(forward(&gate, 100000, BURST / EMC_GATE_WORTH), ==, 100000);
    CHECK_UINT(forward(&gate, 100000, BURST), ==, 100000);
}

/* With fewer it is asked for as long as it takes to see that, left alone for
 * the pause, asked again... */
static void
test_gate_shuts(void)
{
    enum { SAMPLE = EMC_GATE_SAMPLE / BURST };
    struct emc_gate gate = { 0, 0, 0 };

    CHECK_UINT(forward(&gate, SAMPLE, 0), ==, SAMPLE);
    CHECK_UINT(forward(&gate, EMC_GATE_PAUSE, 0), ==, 0);
    CHECK_UINT(forward(&gate, SAMPLE, BURST / EMC_GATE_WORTH - 1), ==, SAMPLE);
    CHECK_UINT(forward(&gate, EMC_GATE_PAUSE, 0), ==, 0);

    /* ...and when the load fits again, it stays open. */
    CHECK_UINT(forward(&gate, 10000, BURST), ==, 10000);
}

/* A few packets are no reason to judge. */
static void
test_gate_needs_a_sample(void)
{
    enum { SAMPLE = EMC_GATE_SAMPLE / BURST };
    struct emc_gate gate = { 0, 0, 0 };

    CHECK_UINT(forward(&gate, SAMPLE - 1, 0), ==, SAMPLE - 1);
    CHECK(emc_gate_is_open(&gate));
}

/* Offers 'n' bursts of the packets in 'bits'.  Returns how many were drawn,
 * and stores how many of each to 'drawn'. */
static unsigned int
offer(struct emc_lot *lot, uint32_t threshold, unsigned int n, uint32_t bits,
      unsigned int drawn[32])
{
    unsigned int n_drawn = 0;

    memset(drawn, 0, 32 * sizeof *drawn);
    for (unsigned int i = 0; i < n; i++) {
        uint32_t left = bits;
        uint32_t seen = 0;
        size_t which;

        while (left && emc_lot_draw(lot, threshold, &left, &which)) {
            uint32_t bit = UINT32_C(1) << which;

            /* In order, each at most once, and none that was not offered. */
            CHECK(bits & bit);
            CHECK(bit > seen);
            CHECK(!(left & (bit | (bit - 1))));
            seen |= bit;
            drawn[which]++;
            n_drawn++;
        }
    }
    return n_drawn;
}

static void
test_lot_all_and_none(void)
{
    unsigned int drawn[32];
    struct emc_lot lot;

    emc_lot_init(&lot, 1);
    CHECK_UINT(offer(&lot, 0, 1000, UINT32_MAX, drawn), ==, 0);
    CHECK_UINT(offer(&lot, UINT32_MAX, 1000, UINT32_MAX, drawn), ==, 32000);
    CHECK_UINT(offer(&lot, UINT32_MAX, 1000, 0x80000001, drawn), ==, 2000);
    CHECK_UINT(offer(&lot, 0, 1000, UINT32_MAX, drawn), ==, 0);
    CHECK_UINT(offer(&lot, 1, 1000, UINT32_MAX, drawn), ==, 0);
    CHECK_UINT(offer(&lot, UINT32_MAX, 10, 1, drawn), ==, 10);
}

/* One in so many, of each packet of a burst alike, within six standard
 * deviations. */
static void
test_lot_probability(void)
{
    static const unsigned int inverses[] = { 2, 3, 4, 20, 100, 1000 };
    enum { N = 200000 };

    for (size_t i = 0; i < ARRAY_SIZE(inverses); i++) {
        double p = 1.0 / inverses[i];
        unsigned int drawn[32];
        struct emc_lot lot;

        emc_lot_init(&lot, 12345 + i);
        offer(&lot, UINT32_MAX / inverses[i], N, UINT32_MAX, drawn);
        for (int j = 0; j < 32; j++) {
            double difference = drawn[j] - N * p;

            CHECK(difference * difference < 36 * N * p * (1 - p));
        }
    }
}

/* Two queues with probabilities of their own, in turns. */
static void
test_lot_two_thresholds(void)
{
    enum { N = 200000, FEW = 100, MANY = 4 };
    unsigned int n_few = 0, n_many = 0, drawn[32];
    struct emc_lot lot;

    emc_lot_init(&lot, 99);
    for (int i = 0; i < N; i++) {
        n_few += offer(&lot, UINT32_MAX / FEW, 1, 0xff, drawn);
        n_many += offer(&lot, UINT32_MAX / MANY, 1, 0xff, drawn);
        CHECK_UINT(offer(&lot, 0, 1, 0xff, drawn), ==, 0);
    }
    CHECK_UINT(n_few, >, 8 * N / FEW * 95 / 100);
    CHECK_UINT(n_few, <, 8 * N / FEW * 105 / 100);
    CHECK_UINT(n_many, >, 8 * N / MANY * 99 / 100);
    CHECK_UINT(n_many, <, 8 * N / MANY * 101 / 100);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);

    RUN_TEST(test_gate_stays_open);
    RUN_TEST(test_gate_shuts);
    RUN_TEST(test_gate_needs_a_sample);
    RUN_TEST(test_lot_all_and_none);
    RUN_TEST(test_lot_probability);
    RUN_TEST(test_lot_two_thresholds);
    return 0;
}
