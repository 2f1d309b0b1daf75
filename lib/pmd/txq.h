/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_TXQ_H
#define WEFT_PMD_TXQ_H 1

/* Transmission: what a thread has under way to each port.
 *
 * A thread gathers the packets for a port in a batch and sends it when it is
 * full, when its flush time has come, or when the thread has nothing else to
 * do.  The time that sending takes is charged to the receive queues whose
 * packets were sent.
 *
 * Each thread has its own 'struct pmd_txports', loaded from the list that the
 * control side keeps (pmd->tx_ports) whenever the thread reloads.  A port is
 * in 'send' if it has transmit queues and in 'tunnel' if it pushes and pops
 * tunnel headers; it can be in both.
 *
 * Thread safety
 * -------------
 * Owner thread only (or who holds the non-PMD mutex). */

#include <stdbool.h>
#include <stdint.h>

#include "dp-packet.h"
#include "openvswitch/hmap.h"
#include "openvswitch/types.h"
#include "util.h"

struct dp_port;
struct dp_rxq;
struct pmd_thread;

/* A thread that has not used its XPS queue for so long gives it back, us. */
#define TXQ_XPS_TIMEOUT_US 500000LL

struct pmd_txport {
    struct hmap_node node;
    odp_port_t port_no;         /* Of 'port'. */
    struct dp_port *port;
    int qid;                    /* TXQ_MODE_XPS: queue in use, or -1. */
    long long last_used;        /* us; for giving 'qid' back. */
    long long flush_time;       /* us; when 'batch' has waited long enough. */
    struct dp_packet_batch batch;
    struct dp_packet_batch *per_queue; /* TXQ_MODE_HASH: netdev_n_txq(). */
    struct dp_rxq *rxqs[NETDEV_MAX_BURST]; /* Who to charge, per packet. */
};

/* Ports with numbers below this are found without a search. */
enum { TXQ_N_DIRECT = 256 };

struct pmd_txports {
    struct pmd_txport *direct[TXQ_N_DIRECT]; /* Of 'send', null if there is
                                              * none. */
    struct hmap send;           /* 'struct pmd_txport's by port number. */
    struct hmap tunnel;         /* Likewise. */
    int n_pending;              /* Ports in 'send' whose batch has packets. */
};

void pmd_txports_init(struct pmd_txports *);

/* Sends what waits, gives back all queues and empties 'pmd->txports'. */
void pmd_txports_clear(struct pmd_thread *);

/* Makes 'pmd->txports' from 'pmd->tx_ports', whose mutex is held. */
void pmd_txports_load(struct pmd_thread *);

struct pmd_txport *pmd_txports_find_send(const struct pmd_thread *,
                                         odp_port_t);
struct pmd_txport *pmd_txports_find_tunnel(const struct pmd_thread *,
                                           odp_port_t);

/* Returns the port 'port_no' of 'send', or null; then it may still be found by
 * pmd_txports_find_send(). */
static inline struct pmd_txport *
pmd_txports_direct(const struct pmd_txports *txports, odp_port_t port_no)
{
    uint32_t n = odp_to_u32(port_no);

    return OVS_LIKELY(n < TXQ_N_DIRECT) ? txports->direct[n] : NULL;
}

/* Returns true if 'packet' cannot go out in one batch with those that wait, at
 * least one: a DPDK port wants all packets of a batch to come from the same
 * kind of memory. */
static inline bool
pmd_txport_source_differs(const struct pmd_txport *txport,
                          const struct dp_packet *packet)
{
#ifdef DPDK_NETDEV
    return packet->source != txport->batch.packets[0]->source;
#else
    (void) txport;
    (void) packet;
    return false;
#endif
}

/* Queues 'packet' behind others, of which it takes ownership.  Returns false,
 * having done nothing, if none wait or if those that do must be sent first:
 * then use pmd_txport_queue(). */
static inline bool
pmd_txport_append(struct pmd_txport *txport, struct dp_packet *packet,
                  struct dp_rxq *rxq)
{
    size_t n = txport->batch.count;

    if (OVS_UNLIKELY(!n || n >= NETDEV_MAX_BURST
                     || pmd_txport_source_differs(txport, packet))) {
        return false;
    }
    txport->batch.packets[n] = packet;
    txport->rxqs[n] = rxq;
    txport->batch.count = n + 1;
    return true;
}

/* Queues the packets of 'batch', of which it takes ownership. Cut lengths have
 * been applied. */
void pmd_txport_queue(struct pmd_thread *, struct pmd_txport *,
                      struct dp_packet_batch *batch);

/* Sends what waits and is due at pmd->now, or all with 'force'.  Returns the
 * number of packets sent. */
int pmd_flush_output(struct pmd_thread *, bool force);

/* Gives back XPS queues that have not been used for a while, or all. */
void pmd_txports_revalidate_xps(struct pmd_thread *, bool all);

#endif /* pmd/txq.h */
