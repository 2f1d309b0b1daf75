/* SPDX-License-Identifier: Apache-2.0 */

#include "dpdk-peer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

/* The flows of a queue are those whose index, modulo the number of queues, is
 * the queue's: what belongs together stays in order. */
struct tx_queue {
    struct rte_mbuf *pending[PEER_MAX_BURST];
    uint32_t first, n_pending;
    uint32_t n_flows;
    uint32_t next;              /* Flow of this queue; in order. */
    uint32_t round;             /* Of all flows; in order. */
    uint64_t sent;
};

struct rx_queue {
    uint64_t received;
};

/* What is expected of a flow.  'stream' is 0 before its first packet. */
struct flow_state {
    uint32_t stream;
    uint32_t number;
};

struct device {
    const struct peer_options *options;
    uint16_t port;
    bool sends;
    char name[RTE_ETH_NAME_MAX_LEN];
    struct rte_mempool *tx_pool, *rx_pool;

    /* Sending. */
    bool running;
    uint32_t first_flow;
    uint32_t stream;
    uint64_t to_make;           /* Packets that are not made yet. */
    uint32_t n_pending;
    uint64_t rate_start;        /* Since then, by the TSC... */
    uint64_t rate_made;         /* ...so many were made. */
    uint64_t random;
    uint32_t *numbers;          /* By flow; in random order. */
    struct tx_queue tx[PEER_MAX_QUEUES];

    /* Receiving. */
    struct rx_queue rx[PEER_MAX_QUEUES];
    struct flow_state *flows;
    uint32_t n_flows;
    struct device_stats stats;
};

static void
fill_mbuf(struct rte_mempool *pool, void *size, void *mbuf_,
          unsigned int index)
{
    struct rte_mbuf *mbuf = mbuf_;

    (void) pool;
    (void) index;
    rte_pktmbuf_reset_headroom(mbuf);
    memcpy(rte_pktmbuf_mtod(mbuf, void *), packet_filler(),
           *(uint32_t *) size);
}

/* Nobody but build_burst() writes into a packet to send, so the filler stays
 * in it. */
static int
create_pools(struct device *device, int socket)
{
    const struct peer_options *options = device->options;
    uint32_t frame = options->mtu + 64;     /* Tags, device headers. */
    uint32_t rx_size = RTE_MAX(frame, 2048u);
    uint32_t size = RTE_MAX(options->size, 2048u);
    char name[RTE_MEMPOOL_NAMESIZE];

    snprintf(name, sizeof name, "peer-rx-%u", device->port);
    device->rx_pool = rte_pktmbuf_pool_create(
        name, options->n_mbufs, 256, 0, rx_size + RTE_PKTMBUF_HEADROOM,
        socket);
    snprintf(name, sizeof name, "peer-tx-%u", device->port);
    device->tx_pool = rte_pktmbuf_pool_create(
        name, options->n_mbufs, 256, 0, size + RTE_PKTMBUF_HEADROOM, socket);
    if (!device->rx_pool || !device->tx_pool) {
        return rte_errno;
    }
    rte_mempool_obj_iter(device->tx_pool, fill_mbuf,
                         &(uint32_t) { options->size });
    return 0;
}

/* Returns an errno value and points '*step' to what failed. */
static int
configure(struct device *device, const char **step)
{
    const struct peer_options *options = device->options;
    int socket = rte_eth_dev_socket_id(device->port);
    uint16_t n_rxd = options->n_descriptors, n_txd = n_rxd;
    struct rte_eth_conf conf = { .rxmode.mtu = 0 };
    struct rte_eth_dev_info info;
    int error;

    *step = "memory for packets";
    error = create_pools(device, socket);
    if (error) {
        return error;
    }

    *step = "rte_eth_dev_configure";
    conf.rxmode.mtu = options->mtu ? options->mtu : RTE_ETHER_MTU;
    error = rte_eth_dev_info_get(device->port, &info);
    if (!error) {
        /* A driver that looks after the link in its interrupt thread must not
         * be asked to do so in this one, too. */
        conf.intr_conf.lsc = !!(*info.dev_flags & RTE_ETH_DEV_INTR_LSC);
        error = rte_eth_dev_configure(device->port, options->n_queues,
                                      options->n_queues, &conf);
    }
    if (error) {
        return -error;
    }
    if (options->mtu) {
        *step = "--mtu";
        error = rte_eth_dev_set_mtu(device->port, options->mtu);
        if (error && error != -ENOTSUP) {
            return -error;
        }
    }

    *step = "queues";
    error = rte_eth_dev_adjust_nb_rx_tx_desc(device->port, &n_rxd, &n_txd);
    for (unsigned int i = 0; !error && i < options->n_queues; i++) {
        error = rte_eth_rx_queue_setup(device->port, i, n_rxd, socket, NULL,
                                       device->rx_pool);
        if (!error) {
            error = rte_eth_tx_queue_setup(device->port, i, n_txd, socket,
                                           NULL);
        }
    }
    if (error) {
        return -error;
    }

    *step = "rte_eth_dev_start";
    error = rte_eth_dev_start(device->port);
    if (error) {
        return -error;
    }
    rte_eth_promiscuous_enable(device->port);
    return 0;
}

static void *
allocate(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p) {
        fprintf(stderr, "dpdk-peer: no memory for %zu flows\n", n);
        exit(EXIT_FAILURE);
    }
    return p;
}

/* Returns NULL after a message. */
struct device *
device_open(uint16_t port, unsigned int index,
            const struct peer_options *options)
{
    struct device *device = allocate(1, sizeof *device);
    bool generates = options->mode == PEER_GENERATE
                     || options->mode == PEER_BOTH;
    const char *step;

    device->options = options;
    device->port = port;
    device->sends = generates && (!index || options->duplex);
    device->first_flow = options->first_flow + index * options->n_flows;
    device->random = 0x853c49e6748fea9b + index;
    rte_eth_dev_get_name_by_port(port, device->name);

    for (uint32_t i = 0; i < options->n_queues; i++) {
        device->tx[i].n_flows = (options->n_flows + options->n_queues - 1 - i)
                                / options->n_queues;
    }
    if (device->sends && options->random) {
        device->numbers = allocate(options->n_flows, sizeof(uint32_t));
    }
    device->n_flows = options->n_flows * (options->duplex ? PEER_MAX_DEVICES
                                                          : 1);
    device->flows = allocate(device->n_flows, sizeof *device->flows);

    int error = configure(device, &step);
    if (error) {
        fprintf(stderr, "dpdk-peer: %s: %s: %s\n", device->name, step,
                rte_strerror(error));
        return NULL;
    }
    return device;
}

void
device_close(struct device *device)
{
    rte_eth_dev_stop(device->port);
    rte_eth_dev_close(device->port);
}

bool
device_generates(const struct device *device)
{
    return device->sends;
}

/* Begins to send 'count' packets. */
void
device_start(struct device *device, uint32_t stream, uint64_t count,
             uint64_t now)
{
    device->running = device->sends;
    device->stream = stream;
    device->to_make = count;
    device->rate_start = now;
    device->rate_made = 0;
    if (device->numbers) {
        memset(device->numbers, 0,
               device->options->n_flows * sizeof *device->numbers);
    }
    for (unsigned int i = 0; i < device->options->n_queues; i++) {
        device->tx[i].next = device->tx[i].round = 0;
    }
}

/* What was made is still sent. */
void
device_stop(struct device *device)
{
    device->to_make = 0;
}

bool
device_is_sending(const struct device *device)
{
    return device->running;
}

/* Returns how many packets may be made now, at most a burst. */
static uint32_t
allowance(struct device *device, uint64_t now)
{
    const struct peer_options *options = device->options;
    uint64_t limit = RTE_MIN(device->to_make, options->burst);

    if (options->rate && limit) {
        uint64_t hz = rte_get_tsc_hz();
        uint64_t elapsed = now - device->rate_start;
        uint64_t due = (unsigned __int128) elapsed * options->rate / hz;

        /* More than 10 ms in which nothing could be sent are not made up
         * for. */
        if (due > device->rate_made + options->rate / 100
                  + 4 * options->burst) {
            device->rate_start = now;
            device->rate_made = 0;
            return limit;
        }
        due = due > device->rate_made ? due - device->rate_made : 0;
        limit = RTE_MIN(limit, due);
    }
    return limit;
}

static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline struct packet_id
next_packet(struct device *device, struct tx_queue *queue, uint32_t index)
{
    struct packet_id id = { .stream = device->stream };
    uint32_t flow;

    if (device->numbers) {
        uint64_t random = next_random(&device->random) >> 32;

        flow = (random * queue->n_flows >> 32) * device->options->n_queues
               + index;
        id.number = device->numbers[flow]++;
    } else {
        flow = queue->next * device->options->n_queues + index;
        id.number = queue->round;
        if (++queue->next == queue->n_flows) {
            queue->next = 0;
            queue->round++;
        }
    }
    id.flow = device->first_flow + flow;
    return id;
}

static void
build_burst(struct device *device, uint32_t index, uint32_t n)
{
    struct tx_queue *queue = &device->tx[index];
    uint32_t size = device->options->size;

    if (!n || rte_pktmbuf_alloc_bulk(device->tx_pool, queue->pending, n)) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct rte_mbuf *mbuf = queue->pending[i];

        packet_build(rte_pktmbuf_mtod(mbuf, void *), size,
                     next_packet(device, queue, index));
        mbuf->data_len = mbuf->pkt_len = size;
    }
    queue->first = 0;
    queue->n_pending = n;
    device->n_pending += n;
    device->to_make -= n;
    device->rate_made += n;
}

/* Sends a burst to each queue.  What the device does not take now is tried
 * again the next time, so no packet is lost on this side.  Returns the number
 * of packets that were taken. */
unsigned int
device_send(struct device *device, uint64_t now)
{
    unsigned int total = 0;

    if (!device->running) {
        return 0;
    }
    for (uint32_t i = 0; i < device->options->n_queues; i++) {
        struct tx_queue *queue = &device->tx[i];

        if (!queue->n_pending && queue->n_flows) {
            build_burst(device, i, allowance(device, now));
        }
        if (queue->n_pending) {
            uint32_t n = rte_eth_tx_burst(device->port, i,
                                          &queue->pending[queue->first],
                                          queue->n_pending);

            queue->first += n;
            queue->n_pending -= n;
            device->n_pending -= n;
            queue->sent += n;
            total += n;
        }
    }
    device->stats.sent += total;
    device->running = device->to_make || device->n_pending;
    return total;
}

static void
count_good(struct device *device, struct packet_id id)
{
    struct device_stats *stats = &device->stats;
    uint32_t index = id.flow - device->options->first_flow;

    if (index >= device->n_flows) {
        stats->stray++;
        return;
    }

    struct flow_state *flow = &device->flows[index];
    if (flow->stream != id.stream) {
        stats->flows += !flow->stream;
        flow->stream = id.stream;
        flow->number = 0;
    }
    stats->verified++;
    if (id.number >= flow->number) {
        stats->missing += id.number - flow->number;
        flow->number = id.number + 1;
    } else {
        stats->late++;
    }
}

static void
count_packet(struct device *device, struct rte_mbuf *mbuf)
{
    static uint8_t copy[PEER_MAX_SIZE + 64];
    uint32_t size = mbuf->pkt_len;
    struct packet_id id;

    if (size < RTE_ETHER_HDR_LEN || size > sizeof copy) {
        device->stats.foreign++;
        return;
    }
    switch (packet_verify(rte_pktmbuf_read(mbuf, 0, size, copy), size, &id)) {
    case PACKET_GOOD:
        count_good(device, id);
        break;
    case PACKET_CORRUPT:
        device->stats.corrupt++;
        break;
    case PACKET_FOREIGN:
        device->stats.foreign++;
        break;
    }
}

/* Sends back the answers among 'mbufs' and frees the others. */
static void
echo(struct device *device, uint32_t queue, struct rte_mbuf **mbufs,
     uint32_t n)
{
    uint32_t n_answers = 0;

    for (uint32_t i = 0; i < n; i++) {
        struct rte_mbuf *mbuf = mbufs[i];

        /* An answer needs the headers in one piece. */
        if (mbuf->data_len >= RTE_ETHER_HDR_LEN
            && (mbuf->nb_segs == 1 || !rte_pktmbuf_linearize(mbuf))
            && packet_answer(rte_pktmbuf_mtod(mbuf, void *),
                             mbuf->data_len, &device->options->src)) {
            mbuf->ol_flags = 0;
            mbufs[n_answers++] = mbuf;
        } else {
            rte_pktmbuf_free(mbuf);
        }
    }

    uint32_t sent = rte_eth_tx_burst(device->port, queue, mbufs, n_answers);
    device->stats.echoed += sent;
    device->tx[queue].sent += sent;
    rte_pktmbuf_free_bulk(mbufs + sent, n_answers - sent);
}

/* Returns the number of packets that came. */
unsigned int
device_receive(struct device *device)
{
    enum peer_mode mode = device->options->mode;
    unsigned int total = 0;

    for (uint32_t i = 0; i < device->options->n_queues; i++) {
        struct rte_mbuf *mbufs[PEER_MAX_BURST];
        uint32_t n = rte_eth_rx_burst(device->port, i, mbufs, PEER_MAX_BURST);

        if (!n) {
            continue;
        }
        total += n;
        device->rx[i].received += n;
        for (uint32_t j = 0; j < n; j++) {
            device->stats.bytes += mbufs[j]->pkt_len;
            if (mode == PEER_SINK || mode == PEER_BOTH) {
                count_packet(device, mbufs[j]);
            }
        }
        if (mode == PEER_ECHO) {
            echo(device, i, mbufs, n);
        } else {
            rte_pktmbuf_free_bulk(mbufs, n);
        }
    }
    device->stats.received += total;
    return total;
}

/* Returns true if the link is up.  Some drivers accept a new connection only
 * when they are asked. */
bool
device_link(struct device *device)
{
    struct rte_eth_link link = { .link_status = RTE_ETH_LINK_DOWN };

    return !rte_eth_link_get_nowait(device->port, &link)
           && link.link_status == RTE_ETH_LINK_UP;
}

/* Counters begin anew; what was seen of a flow is forgotten. */
void
device_clear(struct device *device)
{
    memset(&device->stats, 0, sizeof device->stats);
    memset(device->flows, 0, device->n_flows * sizeof *device->flows);
    for (unsigned int i = 0; i < PEER_MAX_QUEUES; i++) {
        device->rx[i].received = 0;
        device->tx[i].sent = 0;
    }
    rte_eth_stats_reset(device->port);
}

void
device_add_stats(const struct device *device, struct device_stats *total)
{
    const struct device_stats *stats = &device->stats;

    total->sent += stats->sent;
    total->received += stats->received;
    total->bytes += stats->bytes;
    total->verified += stats->verified;
    total->corrupt += stats->corrupt;
    total->foreign += stats->foreign;
    total->stray += stats->stray;
    total->missing += stats->missing;
    total->late += stats->late;
    total->flows += stats->flows;
    total->echoed += stats->echoed;
}

void
device_print(struct device *device, FILE *file)
{
    struct rte_eth_stats counters = { 0 };

    rte_eth_stats_get(device->port, &counters);
    fprintf(file, "{\"name\": \"%s\", \"link\": \"%s\", "
            "\"sent\": %"PRIu64", \"received\": %"PRIu64", "
            "\"imissed\": %"PRIu64", \"ierrors\": %"PRIu64", "
            "\"rx_nombuf\": %"PRIu64", \"oerrors\": %"PRIu64", "
            "\"queues\": [",
            device->name, device_link(device) ? "up" : "down",
            device->stats.sent, device->stats.received,
            counters.imissed, counters.ierrors, counters.rx_nombuf,
            counters.oerrors);
    for (unsigned int i = 0; i < device->options->n_queues; i++) {
        fprintf(file, "%s{\"sent\": %"PRIu64", \"received\": %"PRIu64"}",
                i ? ", " : "", device->tx[i].sent, device->rx[i].received);
    }
    fputs("]}", file);
}
