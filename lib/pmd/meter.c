/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/meter.h"

#include <errno.h>
#include <string.h>

#include "dp-packet.h"
#include "ovs-rcu.h"
#include "pmd/drops.h"
#include "util.h"

/* Flags and kinds of bands that can be had. */
#define METER_FLAGS (OFPMF13_KBPS | OFPMF13_PKTPS | OFPMF13_BURST   \
                     | OFPMF13_STATS)
#define METER_BAND_TYPES (1u << OFPMBT13_DROP)

/* Tokens for one packet, or one kilobit; and for one unit of rate and ms. */
enum { TOKENS_PER_UNIT = 1000 };

void
dp_meters_init(struct dp_meters *meters)
{
    ovs_mutex_init(&meters->mutex);
    cmap_init(&meters->map);
}

/* The upper layer numbers meters one by one, so that the id itself spreads
 * over the buckets. */
static uint32_t
meter_hash(uint32_t id)
{
    return id;
}

static struct dp_meter *
meter_find(const struct dp_meters *meters, uint32_t id)
{
    struct dp_meter *meter;

    CMAP_FOR_EACH_WITH_HASH (meter, node, meter_hash(id), &meters->map) {
        if (meter->id == id) {
            return meter;
        }
    }
    return NULL;
}

static void
meter_remove(struct dp_meters *meters, struct dp_meter *meter)
    OVS_REQUIRES(meters->mutex)
{
    cmap_remove(&meters->map, &meter->node, meter_hash(meter->id));
    ovsrcu_postpone(free, meter);
}

void
dp_meters_destroy(struct dp_meters *meters)
{
    struct dp_meter *meter;

    ovs_mutex_lock(&meters->mutex);
    CMAP_FOR_EACH (meter, node, &meters->map) {
        meter_remove(meters, meter);
    }
    cmap_destroy(&meters->map);
    ovs_mutex_unlock(&meters->mutex);
    ovs_mutex_destroy(&meters->mutex);
}

/* Packets. */

static uint64_t
band_capacity(const struct dp_meter_band *band)
{
    return (uint64_t) band->burst * TOKENS_PER_UNIT;
}

/* Adds 'tokens' to the bucket, which holds so many and no more. */
static void
band_fill(struct dp_meter_band *band, uint64_t tokens)
{
    uint64_t level, filled;

    atomic_read_relaxed(&band->bucket, &level);
    do {
        filled = MIN(level + tokens, band_capacity(band));
    } while (!atomic_compare_exchange_weak_relaxed(&band->bucket, &level,
                                                   filled));
}

/* Takes 'tokens' from the bucket, or returns false if it has less. */
static bool
band_draw(struct dp_meter_band *band, uint64_t tokens)
{
    uint64_t level;

    atomic_read_relaxed(&band->bucket, &level);
    do {
        if (level < tokens) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_relaxed(&band->bucket, &level,
                                                   level - tokens));
    return true;
}

/* Moves the meter's time forward to 'now' and fills its buckets with what that
 * time is worth.  Of several threads only the one that moves the time fills;
 * one whose clock is behind finds nothing to do. */
static void
meter_advance(struct dp_meter *meter, uint64_t now)
{
    uint64_t used, elapsed;

    atomic_read_relaxed(&meter->used, &used);
    do {
        if (used >= now) {
            return;
        }
    } while (!atomic_compare_exchange_weak_relaxed(&meter->used, &used, now));

    /* More time than this fills no bucket further, but could overflow. */
    elapsed = MIN(now - used, meter->max_delta_ms);
    for (size_t i = 0; i < meter->n_bands; i++) {
        struct dp_meter_band *band = &meter->bands[i];

        band_fill(band, elapsed * band->rate);
    }
}

/* A batch under judgement. */
struct meter_case {
    uint64_t tokens[NETDEV_MAX_BURST]; /* What each packet costs. */
    int8_t band[NETDEV_MAX_BURST];     /* That drops it, or -1. */
    uint64_t total_tokens;
    bool any_drop;
};

/* Opens the case of 'batch': what it costs, and the meter's own counts. */
static void
meter_open(struct dp_meter *meter, const struct dp_packet_batch *batch,
           struct meter_case *mc)
{
    bool count_packets = meter->flags & OFPMF13_PKTPS;
    struct dp_packet *packet;
    uint64_t bytes = 0;
    uint64_t old;

    mc->total_tokens = 0;
    mc->any_drop = false;
    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        uint32_t size = dp_packet_size(packet);

        bytes += size;
        mc->band[i] = -1;
        mc->tokens[i] = count_packets ? TOKENS_PER_UNIT : (uint64_t) size * 8;
        mc->total_tokens += mc->tokens[i];
    }
    atomic_add_relaxed(&meter->packets, dp_packet_batch_size(batch), &old);
    atomic_add_relaxed(&meter->bytes, bytes, &old);
}

/* Lets band 'i' of 'meter' judge the 'n' packets of the case.  A packet that
 * runs into several bands is dropped by the one with the highest rate, the
 * first of them if there are equals. */
static void
meter_judge(struct dp_meter *meter, size_t i, size_t n, struct meter_case *mc)
{
    struct dp_meter_band *band = &meter->bands[i];

    if (band_draw(band, mc->total_tokens)) {
        return;
    }

    for (size_t j = 0; j < n; j++) {
        uint32_t rate_so_far = (mc->band[j] < 0
                                ? 0 : meter->bands[mc->band[j]].rate);

        if (!band_draw(band, mc->tokens[j]) && band->rate > rate_so_far) {
            mc->band[j] = i;
            mc->any_drop = true;
        }
    }
}

/* Carries the judgement out. */
static void
meter_close(struct dp_meter *meter, struct dp_packet_batch *batch,
            const struct meter_case *mc)
{
    uint64_t bytes[DP_MAX_METER_BANDS] = { 0 };
    unsigned int packets[DP_MAX_METER_BANDS] = { 0 };
    const size_t n = dp_packet_batch_size(batch);
    struct dp_packet *packet;
    unsigned int dropped = 0;
    uint64_t old;
    size_t i;

    DP_PACKET_BATCH_REFILL_FOR_EACH (i, n, packet, batch) {
        int band = mc->band[i];

        if (band < 0) {
            dp_packet_batch_refill(batch, packet, i);
        } else {
            packets[band]++;
            bytes[band] += dp_packet_size(packet);
            dp_packet_delete(packet);
        }
    }

    for (i = 0; i < meter->n_bands; i++) {
        if (packets[i]) {
            atomic_add_relaxed(&meter->bands[i].packets, packets[i], &old);
            atomic_add_relaxed(&meter->bands[i].bytes, bytes[i], &old);
            dropped += packets[i];
        }
    }
    dp_drop_count(DP_DROP_METER, dropped);
}

void
dp_meters_run(struct dp_meters *meters, struct dp_packet_batch *batch,
              uint32_t id, long long now)
{
    const size_t n = dp_packet_batch_size(batch);
    struct dp_meter *meter;
    struct meter_case mc;

    meter = id < DP_MAX_METERS && n ? meter_find(meters, id) : NULL;
    if (!meter) {
        return;
    }

    meter_advance(meter, now);
    meter_open(meter, batch, &mc);
    for (size_t i = 0; i < meter->n_bands; i++) {
        meter_judge(meter, i, n, &mc);
    }
    if (mc.any_drop) {
        meter_close(meter, batch, &mc);
    }
}

/* Control. */

void
dp_meters_get_features(struct ofputil_meter_features *features)
{
    features->max_meters = DP_MAX_METERS;
    features->band_types = METER_BAND_TYPES;
    features->capabilities = METER_FLAGS;
    features->max_bands = DP_MAX_METER_BANDS;
    features->max_color = 0;
}

static int
meter_check(uint32_t id, const struct ofputil_meter_config *config)
{
    if (id >= DP_MAX_METERS) {
        return EFBIG;
    } else if (config->flags & ~METER_FLAGS) {
        return EBADF;
    } else if (config->n_bands > DP_MAX_METER_BANDS) {
        return EINVAL;
    }
    for (size_t i = 0; i < config->n_bands; i++) {
        if (config->bands[i].type != OFPMBT13_DROP) {
            return ENODEV;
        }
    }
    return 0;
}

/* Makes meter 'id' with full buckets. */
static struct dp_meter *
meter_create(uint32_t id, struct ofputil_meter_config *config, long long now)
{
    struct dp_meter *meter = xzalloc(sizeof *meter + (config->n_bands
                                                      * sizeof *meter->bands));

    meter->id = id;
    meter->flags = config->flags;
    meter->n_bands = config->n_bands;
    atomic_init(&meter->used, now);

    for (size_t i = 0; i < config->n_bands; i++) {
        struct ofputil_meter_band *wanted = &config->bands[i];
        struct dp_meter_band *band = &meter->bands[i];

        if (!wanted->burst_size) {
            wanted->burst_size = wanted->rate;
        }
        band->rate = wanted->rate;
        band->burst = wanted->burst_size;
        atomic_init(&band->bucket, band_capacity(band));
        if (band->rate) {
            uint64_t fill_ms = band_capacity(band) / band->rate;

            meter->max_delta_ms = MAX(meter->max_delta_ms,
                                      MIN(fill_ms, UINT32_MAX));
        }
    }
    return meter;
}

int
dp_meters_set(struct dp_meters *meters, uint32_t id,
              struct ofputil_meter_config *config, long long now)
{
    struct dp_meter *new, *old;
    int error;

    error = meter_check(id, config);
    if (error) {
        return error;
    }

    new = meter_create(id, config, now);
    ovs_mutex_lock(&meters->mutex);
    old = meter_find(meters, id);
    if (old) {
        cmap_replace(&meters->map, &old->node, &new->node, meter_hash(id));
        ovsrcu_postpone(free, old);
    } else {
        cmap_insert(&meters->map, &new->node, meter_hash(id));
    }
    ovs_mutex_unlock(&meters->mutex);
    return 0;
}

int
dp_meters_get(struct dp_meters *meters, uint32_t id,
              struct ofputil_meter_stats *stats, uint16_t n_bands)
{
    struct dp_meter *meter;

    if (id >= DP_MAX_METERS) {
        return EFBIG;
    }
    meter = meter_find(meters, id);
    if (!meter) {
        return ENOENT;
    }

    if (stats) {
        atomic_read_relaxed(&meter->packets, &stats->packet_in_count);
        atomic_read_relaxed(&meter->bytes, &stats->byte_in_count);
        stats->n_bands = MIN(n_bands, meter->n_bands);
        for (size_t i = 0; i < stats->n_bands; i++) {
            atomic_read_relaxed(&meter->bands[i].packets,
                                &stats->bands[i].packet_count);
            atomic_read_relaxed(&meter->bands[i].bytes,
                                &stats->bands[i].byte_count);
        }
    }
    return 0;
}

int
dp_meters_del(struct dp_meters *meters, uint32_t id,
              struct ofputil_meter_stats *stats, uint16_t n_bands)
{
    int error = dp_meters_get(meters, id, stats, n_bands);

    if (!error) {
        ovs_mutex_lock(&meters->mutex);

        struct dp_meter *meter = meter_find(meters, id);

        if (meter) {
            meter_remove(meters, meter);
        }
        ovs_mutex_unlock(&meters->mutex);
    }
    return error;
}
