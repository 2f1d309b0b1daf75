/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "bench/synthetic-netdev.h"

#include <errno.h>

#include "coverage.h"
#include "dp-packet.h"
#include "netdev-provider.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "ovs-atomic.h"
#include "ovs-thread.h"
#include "smap.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(synthetic_netdev);

/* Counts the packets that were not found in a pool. */
COVERAGE_DEFINE(synthetic_packet_alloc);

enum { MAX_RXQ = 16 };
enum { MAX_TXQ = 64 };          /* Counter slots; queues beyond share them. */
enum { POOL_SIZE = 4096 };

/* Packets that wait to be received again.  Used by its thread only. */
struct packet_pool {
    size_t n;
    struct dp_packet *packets[POOL_SIZE];
};

/* Packets and bytes of one queue.  Written by the thread that polls the
 * queue, or, for a tx queue that several threads share, by whoever holds the
 * device's 'tx_lock'.  Relaxed: readers want totals, not an order. */
struct queue_counters {
    OVS_ALIGNED_VAR(CACHE_LINE_SIZE) atomic_uint64_t packets;
    atomic_uint64_t bytes;
};

struct synthetic_netdev {
    struct netdev up;
    struct eth_addr mac;

    /* Release store by synthetic_set_enabled(), acquire load by rxq_recv():
     * what the caller prepared before it started traffic is seen. */
    atomic_bool enabled;

    /* Release stores by the setters, acquire loads where they are used. */
    ATOMIC(struct synthetic_source *) sources[MAX_RXQ];
    ATOMIC(struct synthetic_sink *) sink;

    struct ovs_mutex tx_lock;   /* For tx queues that threads share. */

    struct ovs_mutex mutex;     /* For the configuration below. */
    enum netdev_flags flags OVS_GUARDED;
    int mtu OVS_GUARDED;
    int wanted_rxq OVS_GUARDED;
    int wanted_txq OVS_GUARDED;

    struct queue_counters rx[MAX_RXQ];
    struct queue_counters tx[MAX_TXQ];
};

static pthread_key_t pool_key;

static int synthetic_construct(struct netdev *);

static struct synthetic_netdev *
synthetic_cast(const struct netdev *netdev)
{
    ovs_assert(netdev->netdev_class->construct == synthetic_construct);
    return CONTAINER_OF(netdev, struct synthetic_netdev, up);
}

/* Packet pool. */

static void
pool_destroy(void *pool_)
{
    struct packet_pool *pool = pool_;

    for (size_t i = 0; i < pool->n; i++) {
        dp_packet_delete(pool->packets[i]);
    }
    free(pool);
}

static struct packet_pool *
pool_get(void)
{
    struct packet_pool *pool = pthread_getspecific(pool_key);

    if (OVS_UNLIKELY(!pool)) {
        pool = xmalloc(sizeof *pool);
        pool->n = 0;
        xpthread_setspecific(pool_key, pool);
    }
    return pool;
}

void
synthetic_drain_pool(void)
{
    struct packet_pool *pool = pthread_getspecific(pool_key);

    if (pool) {
        xpthread_setspecific(pool_key, NULL);
        pool_destroy(pool);
    }
}

/* Makes 'p', whatever was done to it, an empty packet with headroom. */
static inline void
packet_recycle(struct dp_packet *p)
{
    dp_packet_set_data(p, (char *) dp_packet_base(p) + SYNTHETIC_HEADROOM);
    dp_packet_set_size(p, 0);
    dp_packet_init_specific(p);
    dp_packet_reset_offsets(p);
    dp_packet_reset_offload(p);
    dp_packet_reset_cutlen(p);
    dp_packet_set_tso_segsz(p, 0);
    p->packet_type = htonl(PT_ETH);
    p->csum_start = 0;
    p->csum_offset = 0;
}

static void
pool_take(struct packet_pool *pool, struct dp_packet **packets, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (OVS_LIKELY(pool->n)) {
            packets[i] = pool->packets[--pool->n];
            packet_recycle(packets[i]);
        } else {
            COVERAGE_INC(synthetic_packet_alloc);
            packets[i] = dp_packet_new_with_headroom(SYNTHETIC_FRAME_MAX,
                                                     SYNTHETIC_HEADROOM);
        }
    }
}

static inline void
pool_give(struct packet_pool *pool, struct dp_packet *p)
{
    if (OVS_LIKELY(p->source == DPBUF_MALLOC && pool->n < POOL_SIZE
                   && dp_packet_get_allocated(p) == (SYNTHETIC_FRAME_MAX
                                                     + SYNTHETIC_HEADROOM))) {
        pool->packets[pool->n++] = p;
    } else {
        dp_packet_delete(p);
    }
}

static inline void
count(struct queue_counters *c, uint64_t packets, uint64_t bytes)
{
    uint64_t old;

    atomic_read_relaxed(&c->packets, &old);
    atomic_store_relaxed(&c->packets, old + packets);
    atomic_read_relaxed(&c->bytes, &old);
    atomic_store_relaxed(&c->bytes, old + bytes);
}

/* Receiving. */

static struct netdev_rxq *
synthetic_rxq_alloc(void)
{
    return xzalloc(sizeof(struct netdev_rxq));
}

static int
synthetic_rxq_construct(struct netdev_rxq *rxq)
{
    return rxq->queue_id < MAX_RXQ ? 0 : EINVAL;
}

static void
synthetic_rxq_destruct(struct netdev_rxq *rxq OVS_UNUSED)
{
}

static void
synthetic_rxq_dealloc(struct netdev_rxq *rxq)
{
    free(rxq);
}

static struct synthetic_source *
rxq_source(const struct netdev_rxq *rxq)
{
    struct synthetic_netdev *dev = synthetic_cast(rxq->netdev);
    struct synthetic_source *source;

    atomic_read_explicit(&dev->sources[rxq->queue_id], &source,
                         memory_order_acquire);
    return source;
}

static int
synthetic_rxq_recv(struct netdev_rxq *rxq, struct dp_packet_batch *batch,
                   int *qfill)
{
    struct synthetic_netdev *dev = synthetic_cast(rxq->netdev);
    struct synthetic_source *source;
    struct packet_pool *pool;
    uint64_t bytes = 0;
    bool enabled;
    size_t n;

    if (qfill) {
        *qfill = -ENOTSUP;
    }

    atomic_read_explicit(&dev->enabled, &enabled, memory_order_acquire);
    source = enabled ? rxq_source(rxq) : NULL;
    if (!source) {
        return EAGAIN;
    }

    pool = pool_get();
    pool_take(pool, batch->packets, NETDEV_MAX_BURST);
    n = source->fill(source, batch->packets, NETDEV_MAX_BURST);
    for (size_t i = n; i < NETDEV_MAX_BURST; i++) {
        pool_give(pool, batch->packets[i]);
    }
    if (!n) {
        return EAGAIN;
    }

    for (size_t i = 0; i < n; i++) {
        bytes += dp_packet_size(batch->packets[i]);
    }
    count(&dev->rx[rxq->queue_id], n, bytes);
    batch->count = n;
    return 0;
}

/* A port that was opened to send only has no source and is not worth
 * polling. */
static bool
synthetic_rxq_enabled(struct netdev_rxq *rxq)
{
    return rxq_source(rxq) != NULL;
}

static void
synthetic_rxq_wait(struct netdev_rxq *rxq)
{
    struct synthetic_netdev *dev = synthetic_cast(rxq->netdev);
    bool enabled;

    atomic_read_relaxed(&dev->enabled, &enabled);
    if (enabled && rxq_source(rxq)) {
        poll_immediate_wake();
    }
}

static int
synthetic_rxq_drain(struct netdev_rxq *rxq OVS_UNUSED)
{
    return 0;
}

/* Sending. */

static int
synthetic_send(struct netdev *netdev, int qid, struct dp_packet_batch *batch,
               bool concurrent_txq)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);
    struct packet_pool *pool = pool_get();
    struct queue_counters *counters;
    struct synthetic_sink *sink;
    struct dp_packet *packet;
    uint64_t bytes = 0;

    atomic_read_explicit(&dev->sink, &sink, memory_order_acquire);
    if (sink) {
        sink->take(sink, batch, qid);
    }

    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        bytes += dp_packet_size(packet);
        pool_give(pool, packet);
    }

    counters = &dev->tx[qid % MAX_TXQ];
    if (OVS_LIKELY(!concurrent_txq && qid < MAX_TXQ)) {
        count(counters, dp_packet_batch_size(batch), bytes);
    } else {
        ovs_mutex_lock(&dev->tx_lock);
        count(counters, dp_packet_batch_size(batch), bytes);
        ovs_mutex_unlock(&dev->tx_lock);
    }
    return 0;
}

/* Life cycle and configuration. */

static struct netdev *
synthetic_alloc(void)
{
    struct synthetic_netdev *dev = xzalloc_cacheline(sizeof *dev);

    return &dev->up;
}

static int
synthetic_construct(struct netdev *netdev)
{
    static atomic_count n_devices = ATOMIC_COUNT_INIT(0);
    struct synthetic_netdev *dev = synthetic_cast(netdev);
    unsigned int id = atomic_count_inc(&n_devices);

    eth_addr_from_uint64(UINT64_C(0x020000000000) + id, &dev->mac);
    atomic_init(&dev->enabled, false);
    for (size_t i = 0; i < MAX_RXQ; i++) {
        atomic_init(&dev->sources[i], NULL);
        atomic_init(&dev->rx[i].packets, 0);
        atomic_init(&dev->rx[i].bytes, 0);
    }
    for (size_t i = 0; i < MAX_TXQ; i++) {
        atomic_init(&dev->tx[i].packets, 0);
        atomic_init(&dev->tx[i].bytes, 0);
    }
    atomic_init(&dev->sink, NULL);

    ovs_mutex_init(&dev->tx_lock);
    ovs_mutex_init(&dev->mutex);
    ovs_mutex_lock(&dev->mutex);
    dev->flags = NETDEV_UP;
    dev->mtu = ETH_PAYLOAD_MAX;
    dev->wanted_rxq = 1;
    dev->wanted_txq = 1;
    ovs_mutex_unlock(&dev->mutex);

    netdev->n_rxq = 1;
    netdev->n_txq = 1;
    return 0;
}

static void
synthetic_destruct(struct netdev *netdev)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);

    ovs_mutex_destroy(&dev->mutex);
    ovs_mutex_destroy(&dev->tx_lock);
}

static void
synthetic_dealloc(struct netdev *netdev)
{
    free_cacheline(synthetic_cast(netdev));
}

static int
synthetic_get_config(const struct netdev *netdev, struct smap *args)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);

    ovs_mutex_lock(&dev->mutex);
    smap_add_format(args, "n_rxq", "%d", dev->wanted_rxq);
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

static int
synthetic_set_config(struct netdev *netdev, const struct smap *args,
                     char **errp)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);
    int n_rxq = smap_get_int(args, "n_rxq", 1);

    if (n_rxq < 0 || n_rxq > MAX_RXQ) {
        if (errp) {
            *errp = xasprintf("%s: n_rxq %d is not in 0...%d",
                              netdev_get_name(netdev), n_rxq, MAX_RXQ);
        }
        return EINVAL;
    }

    ovs_mutex_lock(&dev->mutex);
    if (n_rxq != dev->wanted_rxq) {
        dev->wanted_rxq = n_rxq;
        netdev_request_reconfigure(netdev);
    }
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

static int
synthetic_set_tx_multiq(struct netdev *netdev, unsigned int n_txq)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);

    ovs_mutex_lock(&dev->mutex);
    if (n_txq != dev->wanted_txq) {
        dev->wanted_txq = n_txq;
        netdev_request_reconfigure(netdev);
    }
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

static int
synthetic_reconfigure(struct netdev *netdev)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);

    ovs_mutex_lock(&dev->mutex);
    netdev->n_rxq = dev->wanted_rxq;
    netdev->n_txq = dev->wanted_txq;
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

static int
synthetic_get_numa_id(const struct netdev *netdev OVS_UNUSED)
{
    return 0;
}

static int
synthetic_set_etheraddr(struct netdev *netdev, const struct eth_addr mac)
{
    synthetic_cast(netdev)->mac = mac;
    netdev_change_seq_changed(netdev);
    return 0;
}

static int
synthetic_get_etheraddr(const struct netdev *netdev, struct eth_addr *mac)
{
    *mac = synthetic_cast(netdev)->mac;
    return 0;
}

static int
synthetic_get_mtu(const struct netdev *netdev, int *mtu)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);

    ovs_mutex_lock(&dev->mutex);
    *mtu = dev->mtu;
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

static int
synthetic_update_flags(struct netdev *netdev, enum netdev_flags off,
                       enum netdev_flags on, enum netdev_flags *old)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);

    ovs_mutex_lock(&dev->mutex);
    *old = dev->flags;
    dev->flags = (dev->flags & ~off) | on;
    ovs_mutex_unlock(&dev->mutex);
    return 0;
}

static int
synthetic_get_stats(const struct netdev *netdev, struct netdev_stats *stats)
{
    struct synthetic_counters c;

    synthetic_get_counters(netdev, &c);
    memset(stats, 0, sizeof *stats);
    stats->rx_packets = c.rx_packets;
    stats->rx_bytes = c.rx_bytes;
    stats->tx_packets = c.tx_packets;
    stats->tx_bytes = c.tx_bytes;
    return 0;
}

#define SYNTHETIC_CLASS(TYPE, IS_PMD)                   \
    {                                                   \
        .type = TYPE,                                   \
        .is_pmd = IS_PMD,                               \
        .alloc = synthetic_alloc,                       \
        .construct = synthetic_construct,               \
        .destruct = synthetic_destruct,                 \
        .dealloc = synthetic_dealloc,                   \
        .get_config = synthetic_get_config,             \
        .set_config = synthetic_set_config,             \
        .get_numa_id = synthetic_get_numa_id,           \
        .set_tx_multiq = synthetic_set_tx_multiq,       \
        .send = synthetic_send,                         \
        .set_etheraddr = synthetic_set_etheraddr,       \
        .get_etheraddr = synthetic_get_etheraddr,       \
        .get_mtu = synthetic_get_mtu,                   \
        .get_stats = synthetic_get_stats,               \
        .update_flags = synthetic_update_flags,         \
        .reconfigure = synthetic_reconfigure,           \
        .rxq_alloc = synthetic_rxq_alloc,               \
        .rxq_construct = synthetic_rxq_construct,       \
        .rxq_destruct = synthetic_rxq_destruct,         \
        .rxq_dealloc = synthetic_rxq_dealloc,           \
        .rxq_enabled = synthetic_rxq_enabled,           \
        .rxq_recv = synthetic_rxq_recv,                 \
        .rxq_wait = synthetic_rxq_wait,                 \
        .rxq_drain = synthetic_rxq_drain,               \
    }

static const struct netdev_class synthetic_pmd_class =
    SYNTHETIC_CLASS("synthetic", true);
static const struct netdev_class synthetic_main_class =
    SYNTHETIC_CLASS("synthetic-main", false);
static const struct netdev_class synthetic_tap_class =
    SYNTHETIC_CLASS("tap", false);

/* Registers the three types.  Call it once, before a datapath is opened. */
void
synthetic_register(void)
{
    xpthread_key_create(&pool_key, pool_destroy);
    netdev_unregister_provider("tap");
    netdev_register_provider(&synthetic_tap_class);
    netdev_register_provider(&synthetic_pmd_class);
    netdev_register_provider(&synthetic_main_class);
}

struct netdev *
synthetic_open(const char *name, bool pmd, int n_rxq)
{
    struct smap args = SMAP_INITIALIZER(&args);
    struct netdev *netdev;
    char *error_text = NULL;
    int error;

    error = netdev_open(name, pmd ? "synthetic" : "synthetic-main", &netdev);
    if (error) {
        ovs_abort(error, "%s: cannot open synthetic port", name);
    }

    smap_add_format(&args, "n_rxq", "%d", n_rxq);
    error = netdev_set_config(netdev, &args, &error_text);
    if (error) {
        ovs_abort(error, "%s: %s", name,
                  error_text ? error_text : "cannot configure port");
    }
    smap_destroy(&args);
    return netdev;
}

void
synthetic_set_source(struct netdev *netdev, int rxq,
                     struct synthetic_source *source)
{
    ovs_assert(rxq >= 0 && rxq < MAX_RXQ);
    atomic_store_explicit(&synthetic_cast(netdev)->sources[rxq], source,
                          memory_order_release);

    /* A datapath asks rxq_enabled() again only after a change. */
    netdev_change_seq_changed(netdev);
}

void
synthetic_set_sink(struct netdev *netdev, struct synthetic_sink *sink)
{
    atomic_store_explicit(&synthetic_cast(netdev)->sink, sink,
                          memory_order_release);
}

void
synthetic_set_enabled(struct netdev *netdev, bool enabled)
{
    atomic_store_explicit(&synthetic_cast(netdev)->enabled, enabled,
                          memory_order_release);
}

void
synthetic_get_counters(const struct netdev *netdev,
                       struct synthetic_counters *c)
{
    struct synthetic_netdev *dev = synthetic_cast(netdev);
    uint64_t value;

    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < MAX_RXQ; i++) {
        atomic_read_relaxed(&dev->rx[i].packets, &value);
        c->rx_packets += value;
        atomic_read_relaxed(&dev->rx[i].bytes, &value);
        c->rx_bytes += value;
    }
    for (size_t i = 0; i < MAX_TXQ; i++) {
        atomic_read_relaxed(&dev->tx[i].packets, &value);
        c->tx_packets += value;
        atomic_read_relaxed(&dev->tx[i].bytes, &value);
        c->tx_bytes += value;
    }
}
