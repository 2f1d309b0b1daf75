/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_METER_H
#define WEFT_PMD_METER_H 1

/* Meters: token buckets that every thread may draw from.
 *
 * A band's bucket holds thousandths of a packet (a meter that counts packets)
 * or bits (one that counts kilobits).  It fills with time and is drawn from by
 * packets; a band whose bucket runs dry drops.  Threads share a bucket without
 * a lock: the one that moves 'used' forward adds the tokens of that time; all
 * draw with compare-and-swap.  So no packet waits for another thread.
 *
 * Thread safety
 * -------------
 * dp_meters_run() from any thread, which must not quiesce meanwhile.  Changes
 * under 'mutex'; a meter that is replaced or removed stays until a grace
 * period has passed. */

#include <stdint.h>

#include "cmap.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/thread.h"
#include "ovs-atomic.h"

struct dp_packet_batch;

enum {
    DP_MAX_METERS = 1 << 18,
    DP_MAX_METER_BANDS = 8
};

struct dp_meter_band {
    uint32_t rate;              /* packets/s or kbit/s.  Constant. */
    uint32_t burst;             /* packets or kbit.  Constant. */
    atomic_uint64_t bucket;     /* Tokens; see above.  All relaxed. */
    atomic_uint64_t packets;    /* That hit this band.  Relaxed. */
    atomic_uint64_t bytes;      /* Likewise. */
};

struct dp_meter {
    struct cmap_node node;      /* In dp_meters' 'map'. */
    uint32_t id;                /* Constant. */
    uint16_t flags;             /* OFPMF13_*.  Constant. */
    uint16_t n_bands;           /* Constant. */
    uint32_t max_delta_ms;      /* Time that fills the largest bucket. */
    atomic_uint64_t used;       /* Last use, ms.  Relaxed. */
    atomic_uint64_t packets;    /* Relaxed. */
    atomic_uint64_t bytes;      /* Relaxed. */
    struct dp_meter_band bands[];
};

struct dp_meters {
    struct ovs_mutex mutex;
    struct cmap map;            /* 'struct dp_meter's.  Written with
                                 * 'mutex'. */
};

void dp_meters_init(struct dp_meters *);
void dp_meters_destroy(struct dp_meters *);

/* Lets meter 'id' judge the packets of 'batch' at time 'now' (ms): those over
 * the rate are freed, counted as drops, and leave the batch.  A batch passes
 * a meter that does not exist. */
void dp_meters_run(struct dp_meters *, struct dp_packet_batch *batch,
                   uint32_t id, long long now);

/* The control side.  All as struct dpif_class says of meter_get_features(),
 * meter_set(), meter_get() and meter_del(); positive errno.  A band of
 * 'config' without a burst size gets one, as large as its rate; the caller
 * sees it. */
void dp_meters_get_features(struct ofputil_meter_features *features);
int dp_meters_set(struct dp_meters *, uint32_t id,
                  struct ofputil_meter_config *config, long long now);
int dp_meters_get(struct dp_meters *, uint32_t id,
                  struct ofputil_meter_stats *stats, uint16_t n_bands);
int dp_meters_del(struct dp_meters *, uint32_t id,
                  struct ofputil_meter_stats *stats, uint16_t n_bands);

#endif /* pmd/meter.h */
