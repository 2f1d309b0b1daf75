/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/txq.h"

#include "dp-packet.h"
#include "flow.h"
#include "netdev.h"
#include "pmd/perf.h"
#include "pmd/pmd.h"
#include "pmd/port.h"
#include "sync/dp-log.h"
#include "util.h"

void
pmd_txports_init(struct pmd_txports *txports)
{
    memset(txports->direct, 0, sizeof txports->direct);
    hmap_init(&txports->send);
    hmap_init(&txports->tunnel);
    txports->n_pending = 0;
}

static struct pmd_txport *
txport_find(const struct hmap *ports, odp_port_t port_no)
{
    struct pmd_txport *txport;

    HMAP_FOR_EACH_IN_BUCKET (txport, node, dp_port_hash(port_no), ports) {
        if (txport->port_no == port_no) {
            return txport;
        }
    }
    return NULL;
}

struct pmd_txport *
pmd_txports_find_send(const struct pmd_thread *pmd, odp_port_t port_no)
{
    return (OVS_LIKELY(odp_to_u32(port_no) < TXQ_N_DIRECT)
            ? pmd_txports_direct(&pmd->txports, port_no)
            : txport_find(&pmd->txports.send, port_no));
}

struct pmd_txport *
pmd_txports_find_tunnel(const struct pmd_thread *pmd, odp_port_t port_no)
{
    return txport_find(&pmd->txports.tunnel, port_no);
}

static struct pmd_txport *
txport_add(struct hmap *ports, struct dp_port *port)
{
    struct pmd_txport *txport = xzalloc(sizeof *txport);

    txport->port = port;
    txport->port_no = port->port_no;
    txport->qid = -1;
    dp_packet_batch_init(&txport->batch);
    if (port->txq_mode == TXQ_MODE_HASH) {
        txport->per_queue = xcalloc(netdev_n_txq(port->netdev),
                                    sizeof *txport->per_queue);
    }
    hmap_insert(ports, &txport->node, dp_port_hash(port->port_no));
    return txport;
}

static void
txports_empty(struct hmap *ports)
{
    struct pmd_txport *txport;

    HMAP_FOR_EACH_POP (txport, node, ports) {
        free(txport->per_queue);
        free(txport);
    }
    hmap_shrink(ports);
}

void
pmd_txports_clear(struct pmd_thread *pmd)
{
    pmd_flush_output(pmd, true);
    pmd_txports_revalidate_xps(pmd, true);
    memset(pmd->txports.direct, 0, sizeof pmd->txports.direct);
    txports_empty(&pmd->txports.send);
    txports_empty(&pmd->txports.tunnel);
}

void
pmd_txports_load(struct pmd_thread *pmd)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    struct pmd_tx_port_ref *ref;

    pmd_txports_clear(pmd);
    HMAP_FOR_EACH (ref, node, &pmd->tx_ports) {
        struct dp_port *port = ref->port;

        if (netdev_has_tunnel_push_pop(port->netdev)) {
            txport_add(&pmd->txports.tunnel, port);
        }
        if (netdev_n_txq(port->netdev)) {
            struct pmd_txport *txport = txport_add(&pmd->txports.send, port);
            uint32_t n = odp_to_u32(port->port_no);

            if (n < TXQ_N_DIRECT) {
                pmd->txports.direct[n] = txport;
            }
        }
    }
}

/* Gives the queue of 'txport' back, if it has one. */
static void
xps_release(struct pmd_txport *txport)
{
    struct dp_port *port = txport->port;

    if (txport->qid >= 0) {
        atomic_count_dec(&port->txq_used[txport->qid]);
        txport->qid = -1;
    }
}

/* Takes one of the queues of 'txport' that the fewest threads use.
 *
 * Two threads that look at the same time may find the same queue.  Both count
 * as its users then, and a queue that is shared takes packets from all of
 * them (it is sent to as "concurrent"), so that nothing worse comes of it than
 * an uneven share, until one of the two has been idle for a while. */
static void
xps_acquire(struct pmd_txport *txport)
{
    struct dp_port *port = txport->port;
    int n_txq = netdev_n_txq(port->netdev);
    unsigned int fewest = atomic_count_get(&port->txq_used[0]);
    int best = 0;

    for (int i = 1; i < n_txq; i++) {
        unsigned int n = atomic_count_get(&port->txq_used[i]);

        if (n < fewest) {
            fewest = n;
            best = i;
        }
    }
    atomic_count_inc(&port->txq_used[best]);
    txport->qid = best;
}

void
pmd_txports_revalidate_xps(struct pmd_thread *pmd, bool all)
{
    struct pmd_txport *txport;

    HMAP_FOR_EACH (txport, node, &pmd->txports.send) {
        if (txport->port->txq_mode == TXQ_MODE_XPS
            && (all || pmd->now - txport->last_used >= TXQ_XPS_TIMEOUT_US)) {
            xps_release(txport);
        }
    }
}

/* Returns the queue to send to for a port of TXQ_MODE_XPS. */
static int
xps_get_qid(struct pmd_thread *pmd, struct pmd_txport *txport)
{
    long long idle = pmd->now - txport->last_used;

    txport->last_used = pmd->now;
    if (txport->qid < 0 || idle >= TXQ_XPS_TIMEOUT_US) {
        xps_release(txport);
        xps_acquire(txport);
        /* Taking a queue is rare; others are looked after on the occasion. */
        pmd_txports_revalidate_xps(pmd, false);
        VLOG_DBG("Core %d: New TX queue ID %d for port \'%s\'.",
                 pmd->core_id, txport->qid,
                 netdev_get_name(txport->port->netdev));
    }
    return txport->qid;
}

static uint32_t
tx_hash(struct dp_packet *packet)
{
    struct flow flow;

    if (OVS_LIKELY(dp_packet_rss_valid(packet))) {
        return dp_packet_get_rss_hash(packet);
    }
    flow_extract(packet, &flow);
    return flow_hash_5tuple(&flow, 0);
}

/* Sends the batch of 'txport' over all queues of the port, each packet to the
 * queue that its hash says. */
static void
send_hashed(struct pmd_txport *txport)
{
    struct netdev *netdev = txport->port->netdev;
    int n_txq = netdev_n_txq(netdev);
    struct dp_packet *packet;

    DP_PACKET_BATCH_FOR_EACH (i, packet, &txport->batch) {
        dp_packet_batch_add(&txport->per_queue[tx_hash(packet) % n_txq],
                            packet);
    }
    for (int qid = 0; qid < n_txq; qid++) {
        struct dp_packet_batch *batch = &txport->per_queue[qid];

        if (!dp_packet_batch_is_empty(batch)) {
            netdev_send(netdev, qid, batch, true);
            dp_packet_batch_init(batch);
        }
    }
}

/* Charges 'cycles' for the sending of 'n' packets to their receive queues, in
 * equal parts. */
static void
charge_rxqs(struct pmd_txport *txport, int n, uint64_t cycles)
{
    uint64_t share = cycles / n;

    for (int i = 0; i < n; i++) {
        if (txport->rxqs[i]) {
            dp_rxq_add_cycles(txport->rxqs[i], share);
        }
    }
}

/* Sends what waits for 'txport', which is something, and returns how much. */
static int
txport_flush(struct pmd_thread *pmd, struct pmd_txport *txport)
{
    int n = dp_packet_batch_size(&txport->batch);
    enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_TRANSMIT);
    struct netdev *netdev = txport->port->netdev;
    struct pmd_timer timer;
    uint32_t interval;

    pmd_timer_start(&pmd->perf, &timer);
    switch (txport->port->txq_mode) {
    case TXQ_MODE_HASH:
        send_hashed(txport);
        break;
    case TXQ_MODE_XPS:
        netdev_send(netdev, xps_get_qid(pmd, txport), &txport->batch, true);
        break;
    case TXQ_MODE_STATIC:
        netdev_send(netdev, pmd->static_tx_qid, &txport->batch, false);
        break;
    }
    pmd_stage_set(&pmd->mark, outer);
    dp_packet_batch_init(&txport->batch);
    pmd->txports.n_pending--;

    atomic_read_relaxed(&pmd->run->tx_flush_interval, &interval);
    txport->flush_time = pmd->now + interval;

    pmd_perf_add(&pmd->perf, PMD_COUNT_SENT_PKTS, n);
    pmd_perf_add(&pmd->perf, PMD_COUNT_SENT_BATCHES, 1);
    charge_rxqs(txport, n, pmd_timer_stop(&pmd->perf, &timer));
    return n;
}

void
pmd_txport_queue(struct pmd_thread *pmd, struct pmd_txport *txport,
                 struct dp_packet_batch *batch)
{
    size_t n_waiting = dp_packet_batch_size(&txport->batch);
    size_t n = dp_packet_batch_size(batch);

    if (!n) {
        return;
    }
    if (n_waiting && (n_waiting + n > NETDEV_MAX_BURST
                      || pmd_txport_source_differs(txport,
                                                   batch->packets[0]))) {
        txport_flush(pmd, txport);
        n_waiting = 0;
    }
    if (!n_waiting) {
        pmd->txports.n_pending++;
    }
    for (size_t i = 0; i < n; i++) {
        txport->batch.packets[n_waiting + i] = batch->packets[i];
        txport->rxqs[n_waiting + i] = pmd->last_rxq;
    }
    txport->batch.count = n_waiting + n;
}

int
pmd_flush_output(struct pmd_thread *pmd, bool force)
{
    struct pmd_txport *txport;
    int n = 0;

    if (!pmd->txports.n_pending) {
        return 0;
    }
    HMAP_FOR_EACH (txport, node, &pmd->txports.send) {
        if (!dp_packet_batch_is_empty(&txport->batch)
            && (force || pmd->now >= txport->flush_time)) {
            n += txport_flush(pmd, txport);
        }
    }
    return n;
}
