/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <errno.h>
#include <pthread.h>

#include "dp-packet.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "pmd/meter.h"
#include "unit.h"
#include "util.h"

static struct dp_meters meters;

/* Fills 'batch' with 'n' packets of 'size' bytes. */
static void
make_batch(struct dp_packet_batch *batch, size_t n, size_t size)
{
    dp_packet_batch_init(batch);
    for (size_t i = 0; i < n; i++) {
        struct dp_packet *packet = dp_packet_new(size);

        dp_packet_put_zeros(packet, size);
        dp_packet_batch_add(batch, packet);
    }
}

/* Returns how many of 'n' packets of 'size' bytes pass meter 'id'. */
static size_t
n_passing(uint32_t id, size_t n, size_t size, long long now)
{
    struct dp_packet_batch batch;
    size_t n_passed;

    make_batch(&batch, n, size);
    dp_meters_run(&meters, &batch, id, now);
    n_passed = dp_packet_batch_size(&batch);
    dp_packet_delete_batch(&batch, true);
    return n_passed;
}

static struct ofputil_meter_band
drop_band(uint32_t rate, uint32_t burst)
{
    return (struct ofputil_meter_band) {
        .type = OFPMBT13_DROP, .rate = rate, .burst_size = burst,
    };
}

static int
set(uint32_t id, uint16_t flags, struct ofputil_meter_band *bands,
    size_t n_bands, long long now)
{
    struct ofputil_meter_config config = {
        .meter_id = id, .flags = flags, .n_bands = n_bands, .bands = bands,
    };

    return dp_meters_set(&meters, id, &config, now);
}

static struct ofputil_meter_stats
get(uint32_t id, struct ofputil_meter_band_stats *bands, uint16_t n_bands)
{
    struct ofputil_meter_stats stats = { .bands = bands };

    CHECK_INT(dp_meters_get(&meters, id, &stats, n_bands), ==, 0);
    return stats;
}

static void
test_packet_rate(void)
{
    struct ofputil_meter_band band = drop_band(10, 5);
    struct ofputil_meter_band_stats bs[1];
    struct ofputil_meter_stats stats;

    CHECK_INT(set(1, OFPMF13_PKTPS, &band, 1, 1000), ==, 0);

    /* The bucket starts full, with 5 packets, and fills at one per 100 ms. */
    CHECK_INT(n_passing(1, 8, 100, 1000), ==, 5);
    CHECK_INT(n_passing(1, 1, 100, 1099), ==, 0);
    CHECK_INT(n_passing(1, 1, 100, 1100), ==, 1);
    CHECK_INT(n_passing(1, 1, 100, 1100), ==, 0);
    CHECK_INT(n_passing(1, 32, 100, 1400), ==, 3);
    /* No more than full, after however long. */
    CHECK_INT(n_passing(1, 32, 100, 1LL << 40), ==, 5);
    /* A clock that is behind adds nothing. */
    CHECK_INT(n_passing(1, 32, 100, 1500), ==, 0);

    stats = get(1, bs, 1);
    CHECK_INT(stats.packet_in_count, ==, 8 + 3 + 32 * 3);
    CHECK_INT(stats.byte_in_count, ==, 100 * (8 + 3 + 32 * 3));
    CHECK_INT(stats.n_bands, ==, 1);
    CHECK_INT(bs[0].packet_count, ==, 8 + 3 + 32 * 3 - 14);
    CHECK_INT(bs[0].byte_count, ==, 100 * (8 + 3 + 32 * 3 - 14));
}

static void
test_bit_rate(void)
{
    struct ofputil_meter_band band = drop_band(8, 16);

    /* 16,000 bits at first, 8 for each ms after. */
    CHECK_INT(set(2, OFPMF13_KBPS, &band, 1, 0), ==, 0);
    CHECK_INT(n_passing(2, 3, 1000, 0), ==, 2);
    /* What does not fit passes over, and smaller ones after it fit. */
    CHECK_INT(n_passing(2, 1, 101, 100), ==, 0);
    CHECK_INT(n_passing(2, 1, 100, 100), ==, 1);
}

static void
test_no_drop_when_batch_fits(void)
{
    struct ofputil_meter_band band = drop_band(1, 32);

    CHECK_INT(set(3, OFPMF13_PKTPS, &band, 1, 0), ==, 0);
    CHECK_INT(n_passing(3, 32, 64, 0), ==, 32);
    CHECK_INT(n_passing(3, 1, 64, 0), ==, 0);
}

/* Of several bands that a packet runs into, the one with the highest rate
 * counts it. */
static void
test_highest_band(void)
{
    struct ofputil_meter_band bands[] = { drop_band(1, 1), drop_band(3, 3),
                                          drop_band(2, 2) };
    struct ofputil_meter_band_stats bs[3];
    struct ofputil_meter_stats stats;

    CHECK_INT(set(4, OFPMF13_PKTPS, bands, 3, 0), ==, 0);
    CHECK_INT(n_passing(4, 6, 64, 0), ==, 1);
    stats = get(4, bs, 3);
    CHECK_INT(stats.n_bands, ==, 3);
    CHECK_INT(bs[0].packet_count, ==, 1);   /* The 2nd packet. */
    CHECK_INT(bs[2].packet_count, ==, 1);   /* The 3rd. */
    CHECK_INT(bs[1].packet_count, ==, 3);   /* The 4th to 6th. */

    /* Fewer bands asked for than there are. */
    stats = get(4, bs, 2);
    CHECK_INT(stats.n_bands, ==, 2);
}

/* Packets that stay keep their order. */
static void
test_order(void)
{
    struct ofputil_meter_band band = drop_band(1, 1);
    struct dp_packet_batch batch;
    struct dp_packet *small;

    CHECK_INT(set(5, OFPMF13_KBPS, &band, 1, 0), ==, 0);
    make_batch(&batch, 3, 200);     /* 1,600 bits do not fit into 1,000. */
    small = batch.packets[1];
    dp_packet_set_size(small, 100);
    dp_meters_run(&meters, &batch, 5, 0);
    CHECK_INT(dp_packet_batch_size(&batch), ==, 1);
    CHECK(batch.packets[0] == small);
    dp_packet_delete_batch(&batch, true);
}

static void
test_configuration(void)
{
    struct ofputil_meter_band bands[DP_MAX_METER_BANDS + 1];
    struct ofputil_meter_features features;
    struct ofputil_meter_stats stats = { .bands = NULL };

    for (size_t i = 0; i < ARRAY_SIZE(bands); i++) {
        bands[i] = drop_band(7, 0);
    }
    CHECK_INT(set(DP_MAX_METERS, OFPMF13_PKTPS, bands, 1, 0), ==, EFBIG);
    CHECK_INT(set(6, 1 << 15, bands, 1, 0), ==, EBADF);
    CHECK_INT(set(6, OFPMF13_PKTPS, bands, ARRAY_SIZE(bands), 0), ==, EINVAL);
    bands[1].type = OFPMBT13_DSCP_REMARK;
    CHECK_INT(set(6, OFPMF13_PKTPS, bands, 2, 0), ==, ENODEV);
    CHECK_INT(dp_meters_get(&meters, 6, NULL, 0), ==, ENOENT);
    CHECK_INT(dp_meters_get(&meters, DP_MAX_METERS, NULL, 0), ==, EFBIG);
    CHECK_INT(dp_meters_del(&meters, 6, NULL, 0), ==, ENOENT);

    /* No burst size: as large as the rate. */
    CHECK_INT(set(DP_MAX_METERS - 1, OFPMF13_PKTPS, bands, 1, 0), ==, 0);
    CHECK_INT(bands[0].burst_size, ==, 7);
    CHECK_INT(n_passing(DP_MAX_METERS - 1, 32, 64, 0), ==, 7);

    /* A change starts anew. */
    CHECK_INT(set(DP_MAX_METERS - 1, OFPMF13_PKTPS, bands, 1, 0), ==, 0);
    CHECK_INT(n_passing(DP_MAX_METERS - 1, 32, 64, 0), ==, 7);
    CHECK_INT(dp_meters_del(&meters, DP_MAX_METERS - 1, &stats, 0), ==, 0);
    CHECK_INT(stats.packet_in_count, ==, 32);
    CHECK_INT(dp_meters_get(&meters, DP_MAX_METERS - 1, NULL, 0), ==, ENOENT);

    /* What does not exist lets everything pass. */
    CHECK_INT(n_passing(DP_MAX_METERS - 1, 32, 64, 0), ==, 32);
    CHECK_INT(n_passing(UINT32_MAX, 32, 64, 0), ==, 32);

    /* Neither do bands with rate 0, or no bands at all, stop anything. */
    bands[0] = drop_band(0, 0);
    CHECK_INT(set(6, OFPMF13_PKTPS, bands, 1, 0), ==, 0);
    CHECK_INT(n_passing(6, 4, 64, 10), ==, 4);
    CHECK_INT(set(6, OFPMF13_PKTPS, NULL, 0, 0), ==, 0);
    CHECK_INT(n_passing(6, 4, 64, 10), ==, 4);

    dp_meters_get_features(&features);
    CHECK_UINT(features.max_meters, ==, DP_MAX_METERS);
    CHECK_UINT(features.max_bands, ==, DP_MAX_METER_BANDS);
    CHECK_HEX(features.band_types, ==, 1 << OFPMBT13_DROP);
    CHECK_HEX(features.capabilities, ==, 0xf);
}

enum { N_THREADS = 4, N_BURSTS = 20000, BURST = 8 };

static void *
draw_together(void *n_passed_)
{
    unsigned int *n_passed = n_passed_;

    for (int i = 0; i < N_BURSTS; i++) {
        *n_passed += n_passing(7, BURST, 64, i);
        if (!(i % 100)) {
            ovsrcu_quiesce();
        }
    }
    return NULL;
}

/* Threads that share a meter get together what the rate allows: the full
 * bucket, and what fell due until the last of them looked at the clock.  A
 * token that is added while the bucket is full is lost, which the rate here
 * excludes. */
static void
test_threads(void)
{
    struct ofputil_meter_band band = drop_band(1000, 100);
    unsigned int n_passed[N_THREADS] = { 0 };
    struct ofputil_meter_band_stats bs[1];
    pthread_t threads[N_THREADS];
    struct ofputil_meter_stats stats;
    unsigned int total = 0;

    CHECK_INT(set(7, OFPMF13_PKTPS, &band, 1, 0), ==, 0);
    for (int i = 0; i < N_THREADS; i++) {
        threads[i] = ovs_thread_create("meter", draw_together, &n_passed[i]);
    }
    for (int i = 0; i < N_THREADS; i++) {
        xpthread_join(threads[i], NULL);
        total += n_passed[i];
    }
    CHECK_INT(total, ==, 100 + N_BURSTS - 1);

    stats = get(7, bs, 1);
    CHECK_INT(stats.packet_in_count, ==, N_THREADS * N_BURSTS * BURST);
    CHECK_INT(bs[0].packet_count, ==, N_THREADS * N_BURSTS * BURST - total);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    dp_meters_init(&meters);

    RUN_TEST(test_packet_rate);
    RUN_TEST(test_bit_rate);
    RUN_TEST(test_no_drop_when_batch_fits);
    RUN_TEST(test_highest_band);
    RUN_TEST(test_order);
    RUN_TEST(test_configuration);
    RUN_TEST(test_threads);

    dp_meters_destroy(&meters);
    return 0;
}
