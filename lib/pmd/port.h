/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_PORT_H
#define WEFT_PMD_PORT_H 1

/* Ports and their receive queues, as both the control side and the polling
 * threads see them.
 *
 * Ownership
 * ---------
 * The control side (lib/dp) makes, configures and frees ports.  It changes
 * what is marked "stable" only while no polling thread uses the port: it takes
 * the port out of the threads' lists, waits until they have reloaded, makes
 * the change, and puts the port back.  What polling threads write is atomic
 * and marked so. */

#include <stdbool.h>
#include <stdint.h>

#include "flow.h"
#include "hash.h"
#include "openvswitch/hmap.h"
#include "openvswitch/thread.h"
#include "openvswitch/types.h"
#include "ovs-atomic.h"
#include "ovs-numa.h"
#include "util.h"

struct netdev;
struct netdev_rxq;
struct netdev_saved_flags;
struct pmd_thread;
struct dp_port;

/* Intervals of rxq load that are kept, and the length of one in us. */
enum { RXQ_INTERVALS = 12 };
#define RXQ_INTERVAL_US 5000000LL

struct dp_rxq {
    struct dp_port *port;       /* Stable. */
    struct netdev_rxq *rx;      /* Stable. */
    unsigned core_id;           /* Core that the queue is pinned to, or
                                 * OVS_CORE_UNSPEC.  Control side only. */
    struct pmd_thread *pmd;     /* Thread that polls the queue, or is to poll
                                 * it once a reconfiguration is through.
                                 * Control side only (port_rwlock). */
    bool is_vhost;              /* Stable. */

    /* Load.  Cycles spent on packets of this queue.  Written by the polling
     * thread, read by the control side; all relaxed, each a number for
     * itself. */
    atomic_ullong cycles_current;   /* In the running interval. */
    atomic_ullong cycles_interval[RXQ_INTERVALS];
    atomic_count interval_idx;      /* Counts intervals; modulo RXQ_INTERVALS
                                     * it is the next to be written. */
};

/* Returns the name of the port of 'rxq'.  Not netdev_rxq_get_name(), which
 * looks at a count of references that other threads change.  Any thread. */
const char *dp_rxq_name(const struct dp_rxq *rxq);

/* Load accounting (rxq.c).  Any thread, relaxed. */
static inline void
dp_rxq_add_cycles(struct dp_rxq *rxq, uint64_t cycles)
{
    unsigned long long n;

    atomic_read_relaxed(&rxq->cycles_current, &n);
    atomic_store_relaxed(&rxq->cycles_current, n + cycles);
}

void dp_rxq_reset_load(struct dp_rxq *rxq);       /* Polling thread. */
/* Polling thread: ends the interval and returns its cycles. */
uint64_t dp_rxq_end_interval(struct dp_rxq *rxq);
/* Sum of the newest 'n' (<= RXQ_INTERVALS) finished intervals. */
uint64_t dp_rxq_recent_cycles(const struct dp_rxq *rxq, int n);

/* How a port's transmit queues are shared by the threads. */
enum txq_mode {
    TXQ_MODE_STATIC,            /* A queue for each thread. */
    TXQ_MODE_XPS,               /* Fewer queues than threads: taken in turn. */
    TXQ_MODE_HASH               /* The packet's hash chooses the queue. */
};

struct dp_port {
    odp_port_t port_no;         /* Stable. */
    struct netdev *netdev;      /* Stable. */
    char *type;                 /* As the user asked for it.  Constant. */
    enum txq_mode txq_mode;     /* Stable. */
    bool hash_steering;         /* "tx-steering=hash" asked for.  Control. */
    bool emc_enabled;           /* "emc-enable".  Stable (a change reloads the
                                 * threads that poll the port). */
    bool need_reconfigure;      /* Control side only. */
    struct hmap_node node;      /* In dp_netdev's 'ports'. */
    struct netdev_saved_flags *saved_flags; /* Promiscuous mode. */
    char *rxq_affinity_list;    /* "pmd-rxq-affinity", or null.  Control. */

    struct dp_rxq *rxqs;        /* Stable. */
    unsigned int n_rxq;         /* Stable. */

    /* TXQ_MODE_XPS: how many threads use each queue, netdev_n_txq() + 1
     * elements.  The array is stable.  Each thread adds and subtracts itself;
     * relaxed, the numbers stand for nothing but themselves. */
    atomic_count *txq_used;
};

static inline uint32_t
dp_port_hash(odp_port_t port_no)
{
    return hash_int(odp_to_u32(port_no), 0);
}

#endif /* pmd/port.h */
