/* SPDX-License-Identifier: Apache-2.0 */

/* Tests what utilities/udp-load counts with: the histogram, the numbers of a
 * stream's datagrams, the table of streams, the times at which datagrams are
 * due, and what is in a datagram. */

#include "utilities/udp-load/histogram.h"
#include "utilities/udp-load/pace.h"
#include "utilities/udp-load/sequence.h"
#include "utilities/udp-load/streams.h"
#include "utilities/udp-load/wire.h"

#include "unit.h"

#define NS UINT64_C(1000000000)

/* Histogram. */

static void
check_bucket(uint64_t value)
{
    unsigned int bucket = histogram_bucket(value);
    uint64_t upper = histogram_upper(bucket);

    CHECK_UINT(bucket, <, HISTOGRAM_BUCKETS);
    CHECK_UINT(upper, >=, value);
    CHECK_UINT(upper - value, <=, value / 64);
    if (bucket) {
        CHECK_UINT(histogram_upper(bucket - 1), <, value);
    }
    CHECK_UINT(histogram_bucket(upper), ==, bucket);
}

static void
test_histogram_buckets(void)
{
    for (uint64_t value = 0; value < 100000; value++) {
        check_bucket(value);
    }
    for (int bit = 16; bit < 64; bit++) {
        uint64_t power = UINT64_C(1) << bit;

        check_bucket(power - 1);
        check_bucket(power);
        check_bucket(power + 1);
        check_bucket(power + power / 3);
    }
    check_bucket(UINT64_MAX);
    CHECK_UINT(histogram_bucket(UINT64_MAX), ==, HISTOGRAM_BUCKETS - 1);
    CHECK_HEX(histogram_upper(HISTOGRAM_BUCKETS - 1), ==, UINT64_MAX);
}

static void
check_quantile(const struct histogram_sum *sum, unsigned int per_mille,
               uint64_t exact)
{
    uint64_t value = histogram_sum_quantile(sum, per_mille);

    CHECK_UINT(value, >=, exact);
    CHECK_UINT(value - exact, <=, exact / 64);
}

static void
test_histogram_quantiles(void)
{
    static struct histogram a, b;
    static struct histogram_sum sum, earlier;

    CHECK_UINT(histogram_sum_quantile(&sum, 500), ==, 0);

    /* 1000, 2000... 10000000, in two halves. */
    for (uint64_t i = 1; i <= 10000; i++) {
        histogram_add(i % 2 ? &a : &b, i * 1000);
    }
    histogram_sum_add(&sum, &a);
    histogram_sum_add(&sum, &b);
    CHECK_UINT(sum.n, ==, 10000);
    CHECK_UINT(sum.max, ==, 10000000);
    check_quantile(&sum, 0, 1000);
    check_quantile(&sum, 500, 5000000);
    check_quantile(&sum, 900, 9000000);
    check_quantile(&sum, 990, 9900000);
    check_quantile(&sum, 999, 9990000);
    CHECK_UINT(histogram_sum_quantile(&sum, 1000), ==, 10000000);

    /* An interval without the greatest number, and one with nothing. */
    earlier = sum;
    for (int i = 0; i < 3; i++) {
        histogram_add(&a, 777);
    }
    memset(&sum, 0, sizeof sum);
    histogram_sum_add(&sum, &a);
    histogram_sum_add(&sum, &b);
    histogram_sum_since(&sum, &earlier);
    CHECK_UINT(sum.n, ==, 3);
    CHECK_UINT(sum.max, ==, histogram_upper(histogram_bucket(777)));
    check_quantile(&sum, 999, 777);
    histogram_sum_since(&sum, &sum);
    CHECK_UINT(sum.n, ==, 0);
    CHECK_UINT(sum.max, ==, 0);
}

/* Sequence. */

static void
check_sequence(const struct sequence *s, int64_t lost, uint64_t reordered,
               uint64_t duplicates, uint64_t stale)
{
    CHECK_INT(sequence_lost(s), ==, lost);
    CHECK_UINT(counter_get(&s->reordered), ==, reordered);
    CHECK_UINT(counter_get(&s->duplicates), ==, duplicates);
    CHECK_UINT(counter_get(&s->stale), ==, stale);
}

static void
receive(struct sequence *s, const int *numbers)
{
    for (; *numbers >= 0; numbers++) {
        sequence_data(s, *numbers);
    }
}

static void
test_sequence_definitions(void)
{
    struct sequence s = { .begun = false };

    sequence_init(&s, false);
    check_sequence(&s, 0, 0, 0, 0);
    receive(&s, (int[]) { 0, 1, 2, -1 });
    check_sequence(&s, 0, 0, 0, 0);

    /* Two are missing, then come, the later one first: both are below the
     * number that is expected next. */
    receive(&s, (int[]) { 5, -1 });
    check_sequence(&s, 2, 0, 0, 0);
    receive(&s, (int[]) { 4, -1 });
    check_sequence(&s, 1, 1, 0, 0);
    receive(&s, (int[]) { 3, -1 });
    check_sequence(&s, 0, 2, 0, 0);

    /* Duplicates of one in order, of a late one, of the last one. */
    receive(&s, (int[]) { 1, 3, 5, -1 });
    check_sequence(&s, 0, 2, 3, 0);
    receive(&s, (int[]) { 6, 8, -1 });
    check_sequence(&s, 1, 2, 3, 0);
    CHECK_UINT(counter_get(&s.unique), ==, 8);

    /* The end marker tells of one more, which then comes in order. */
    sequence_end(&s, 10);
    check_sequence(&s, 2, 2, 3, 0);
    sequence_end(&s, 10);
    receive(&s, (int[]) { 9, -1 });
    check_sequence(&s, 1, 2, 3, 0);
}

static void
test_sequence_first_missing(void)
{
    struct sequence s = { .begun = false };

    sequence_init(&s, false);
    receive(&s, (int[]) { 3, -1 });
    check_sequence(&s, 3, 0, 0, 0);
    receive(&s, (int[]) { 0, -1 });
    check_sequence(&s, 2, 1, 0, 0);
}

static void
test_sequence_join(void)
{
    struct sequence s = { .begun = false };

    sequence_init(&s, true);
    check_sequence(&s, 0, 0, 0, 0);
    receive(&s, (int[]) { 1000, 1002, -1 });
    check_sequence(&s, 1, 0, 0, 0);
    receive(&s, (int[]) { 999, -1 });
    check_sequence(&s, 1, 0, 0, 1);
    receive(&s, (int[]) { 1001, -1 });
    check_sequence(&s, 0, 1, 0, 1);
}

/* Only an end marker: with "join", of a stream that has begun nowhere. */
static void
test_sequence_end_alone(void)
{
    struct sequence s = { .begun = false };
    struct sequence joined = { .begun = false };

    sequence_init(&s, false);
    sequence_end(&s, 7);
    check_sequence(&s, 7, 0, 0, 0);
    sequence_init(&joined, true);
    sequence_end(&joined, 7);
    check_sequence(&joined, 0, 0, 0, 0);
}

/* A number keeps its place in the window until it leaves. */
static void
test_sequence_window(void)
{
    struct sequence s = { .begun = false };
    uint64_t last = 3 * SEQUENCE_WINDOW + 17;

    sequence_init(&s, false);
    for (uint64_t i = 0; i <= last; i++) {
        if (i != 70 && i != last - SEQUENCE_WINDOW + 1 && i != last - 5) {
            sequence_data(&s, i);
        }
    }
    check_sequence(&s, 3, 0, 0, 0);
    sequence_data(&s, last - SEQUENCE_WINDOW + 1);
    check_sequence(&s, 2, 1, 0, 0);
    sequence_data(&s, last - SEQUENCE_WINDOW + 1);
    check_sequence(&s, 2, 1, 1, 0);
    sequence_data(&s, last - SEQUENCE_WINDOW);
    check_sequence(&s, 2, 1, 1, 1);
    sequence_data(&s, 70);
    check_sequence(&s, 2, 1, 1, 2);
    sequence_data(&s, last - 5);
    check_sequence(&s, 1, 2, 1, 2);
}

/* After a jump over so many numbers, none of them has come. */
static void
check_jump(uint64_t distance)
{
    struct sequence s = { .begun = false };
    uint64_t lost = 0;

    sequence_init(&s, false);
    for (uint64_t i = 0; i <= SEQUENCE_WINDOW + 20; i++) {
        sequence_data(&s, i);
    }
    sequence_data(&s, SEQUENCE_WINDOW + 20 + distance);
    lost = distance - 1;
    check_sequence(&s, lost, 0, 0, 0);
    for (uint64_t i = 1; i < distance && i < SEQUENCE_WINDOW; i++) {
        sequence_data(&s, SEQUENCE_WINDOW + 20 + distance - i);
        check_sequence(&s, --lost, i, 0, 0);
    }
}

static void
test_sequence_jumps(void)
{
    static const uint64_t distances[] = {
        1, 2, 3, 43, 44, 45, 63, 64, 65, 107, 108, 109, 1000,
        SEQUENCE_WINDOW - 1, SEQUENCE_WINDOW, SEQUENCE_WINDOW + 1,
        10 * SEQUENCE_WINDOW, UINT64_C(1) << 47,
    };

    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        check_jump(distances[i]);
    }
}

/* Random numbers, against an account that remembers everything. */
static void
test_sequence_random(void)
{
    enum { N = 200000, SPREAD = SEQUENCE_WINDOW / 2 };
    static bool came[N + SPREAD];
    struct sequence s = { .begun = false };
    uint64_t next = 0, unique = 0, reordered = 0, duplicates = 0;
    uint64_t random = 1;

    sequence_init(&s, false);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t number;

        random = random * UINT64_C(6364136223846793005) + 1;
        number = i + (random >> 33) % SPREAD;
        sequence_data(&s, number);
        if (came[number]) {
            duplicates++;
        } else {
            unique++;
            reordered += number < next;
        }
        came[number] = true;
        next = number >= next ? number + 1 : next;
    }
    CHECK_UINT(reordered, >, 1000);
    CHECK_UINT(duplicates, >, 1000);
    check_sequence(&s, next - unique, reordered, duplicates, 0);
}

/* Streams. */

static void
check_streams(bool locked)
{
    enum { N = 1000 };
    struct streams *streams = streams_create(N, locked, false);

    CHECK(streams != NULL);
    for (int round = 0; round < 2; round++) {
        for (unsigned int i = 0; i < N; i++) {
            struct wire wire = { WIRE_DATA, i / 10, i % 10 * 6000, round, 0 };

            CHECK(streams_receive(streams, &wire));
        }
        CHECK_UINT(streams_count(streams), ==, N);
    }
    /* One more does not fit, and those that are there go on. */
    CHECK(!streams_receive(streams, &(struct wire) {
        WIRE_DATA, 0xffff, 0xffff, 0, 0 }));
    CHECK(streams_receive(streams, &(struct wire) {
        WIRE_END, 0, 0, 3, N }));
    CHECK_UINT(streams_count(streams), ==, N);
    CHECK_INT(sequence_lost(&streams->array[0].sequence), ==, 1);
    CHECK_UINT(counter_get(&streams->array[0].n_run_streams), ==, N);
    for (unsigned int i = 1; i < N; i++) {
        check_sequence(&streams->array[i].sequence, 0, 0, 0, 0);
        CHECK_UINT(counter_get(&streams->array[i].sequence.unique), ==, 2);
    }
}

static void
test_streams(void)
{
    check_streams(false);
    check_streams(true);
}

/* Pace. */

/* Every datagram is due at its time and not a nanosecond earlier, however long
 * it goes on: no error adds up. */
static void
check_pace(uint64_t rate, unsigned int n_workers, uint64_t from)
{
    for (unsigned int worker = 0; worker < n_workers; worker++) {
        struct pace pace = { rate, worker, n_workers };

        for (uint64_t k = from; k < from + 1000; k++) {
            uint64_t time = pace_time(&pace, k);

            if (n_workers < rate) {
                CHECK_UINT(pace_due(&pace, time), >=, k + 1);
            }
            if (rate < NS) {
                CHECK_UINT(pace_due(&pace, time), ==, k + 1);
            }
            if (time) {
                CHECK_UINT(pace_due(&pace, time - 1), <=, k);
            }
        }
    }
}

static void
test_pace(void)
{
    static const uint64_t rates[] = { 1, 3, 7, 1000, 99999, 1234567, NS };

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        for (unsigned int n_workers = 1; n_workers < 6; n_workers++) {
            check_pace(rates[i], n_workers, 0);
            check_pace(rates[i], n_workers, rates[i] * 1000000 + 1);
        }
    }
}

/* In whole seconds, all workers together send the rate, from the first on. */
static void
test_pace_total(void)
{
    static const uint64_t rates[] = { 1, 3, 1000, 99999, NS };

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        for (uint64_t seconds = 1; seconds < 100000; seconds *= 7) {
            uint64_t due = 0;
            uint64_t share = 0;

            for (unsigned int w = 0; w < 3; w++) {
                struct pace pace = { rates[i], w, 3 };

                due += pace_due(&pace, seconds * NS - 1);
                share += pace_share(rates[i] * seconds, w, 3);
            }
            CHECK_UINT(due, ==, rates[i] * seconds);
            CHECK_UINT(share, ==, rates[i] * seconds);
        }
    }
}

/* Wire. */

static void
test_wire(void)
{
    static const uint8_t expected[WIRE_SIZE] = {
        0x57, 0xd1, 0x12, 0x34, 0xfe, 0xdc,
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
        0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6,
    };
    struct wire wire = {
        .type = WIRE_DATA, .run = 0x1234, .stream = 0xfedc,
        .number = UINT64_C(0x010203040506),
        .extra = UINT64_C(0xabcdf1f2f3f4f5f6),
    };
    uint8_t buffer[WIRE_SIZE];
    struct wire got;

    wire_put(&wire, buffer);
    CHECK_MEM(buffer, expected, sizeof expected);
    CHECK(wire_get(&got, buffer, sizeof buffer));
    CHECK_UINT(got.type, ==, WIRE_DATA);
    CHECK_HEX(got.run, ==, wire.run);
    CHECK_HEX(got.stream, ==, wire.stream);
    CHECK_HEX(got.number, ==, wire.number);
    CHECK_HEX(got.extra, ==, wire.extra & WIRE_MASK);

    CHECK(!wire_get(&got, buffer, sizeof buffer - 1));
    buffer[1]++;
    CHECK(!wire_get(&got, buffer, sizeof buffer));

    CHECK_INT(wire_elapsed(5, 5), ==, 0);
    CHECK_INT(wire_elapsed(5, 105), ==, 100);
    CHECK_INT(wire_elapsed(105, 5), ==, -100);
    CHECK_INT(wire_elapsed(WIRE_MASK, WIRE_MASK + 8), ==, 8);
    CHECK_INT(wire_elapsed(3, WIRE_MASK + 1 + 3 + 9), ==, 9);
}

int
main(void)
{
    RUN_TEST(test_histogram_buckets);
    RUN_TEST(test_histogram_quantiles);
    RUN_TEST(test_sequence_definitions);
    RUN_TEST(test_sequence_first_missing);
    RUN_TEST(test_sequence_join);
    RUN_TEST(test_sequence_end_alone);
    RUN_TEST(test_sequence_window);
    RUN_TEST(test_sequence_jumps);
    RUN_TEST(test_sequence_random);
    RUN_TEST(test_streams);
    RUN_TEST(test_pace);
    RUN_TEST(test_pace_total);
    RUN_TEST(test_wire);
    return 0;
}
