/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_SYNTHETIC_NETDEV_H
#define BENCH_SYNTHETIC_NETDEV_H 1

/* Synthetic network devices
 * =========================
 *
 * Problem: a bench or a stress test of a datapath wants packets out of
 * nowhere and into nowhere, at a cost that is small beside the datapath's,
 * and it wants to know what became of every one of them.
 *
 * A synthetic port asks a "source" for the frames that it receives and shows
 * what is sent through it to a "sink".  It keeps counters of both.  The
 * dp_packets come from a last-in, first-out pool of the polling thread and
 * return to it when they are sent, so a packet that is forwarded costs no
 * allocation and the few buffers in use stay in the first-level cache, as
 * descriptors and headers do that a NIC has just written into the last-level
 * cache.
 *
 * Three netdev types exist after synthetic_register():
 *
 *   - "synthetic", polled by PMD threads;
 *
 *   - "synthetic-main", polled by dpif_run() in the calling thread, which
 *     makes a run that has only such ports single-threaded;
 *
 *   - "tap", in place of Open vSwitch's own: the datapath of type "netdev"
 *     makes its local port with it, and so needs no privilege and leaves no
 *     device behind.
 *
 * Usage:
 *
 *     synthetic_register();
 *     netdev = synthetic_open("in", true, 1);
 *     synthetic_set_source(netdev, 0, &my_source);
 *     dpif_port_add(dpif, netdev, &port_no);
 *     synthetic_set_enabled(netdev, true);
 *
 * The caller keeps its reference (netdev_close() releases it), so the
 * counters outlive the datapath's port.
 *
 * Thread safety: sources and sinks are called by the thread that polls, or
 * sends; one source belongs to one rx queue and is never called by two
 * threads at the same time.  A sink is called by all the threads that send,
 * concurrently; 'qid' tells tx queues apart.  Everything else may be called
 * from any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dp_packet;
struct dp_packet_batch;
struct netdev;

/* Bytes of headroom and of frame that a packet of the pool has room for. */
enum { SYNTHETIC_HEADROOM = 128 };
enum { SYNTHETIC_FRAME_MAX = 1792 };

/* Where an rx queue's frames come from. */
struct synthetic_source {
    /* Writes a frame into each of the 'n' packets and sets its size (and
     * hash or offload flags, if any).  A packet comes empty, with
     * SYNTHETIC_HEADROOM bytes before its data and room for
     * SYNTHETIC_FRAME_MAX after it.  Returns how many were filled, at most
     * 'n'; 0 means that nothing is there to be received now. */
    size_t (*fill)(struct synthetic_source *, struct dp_packet **, size_t n);
};

/* Where a port's packets go to. */
struct synthetic_sink {
    /* Looks at the packets, which the port owns and recycles afterwards. */
    void (*take)(struct synthetic_sink *, const struct dp_packet_batch *,
                 int qid);
};

struct synthetic_counters {
    uint64_t rx_packets;
    uint64_t rx_bytes;
    uint64_t tx_packets;
    uint64_t tx_bytes;
};

void synthetic_register(void);

/* Opens a port named 'name', with 'n_rxq' rx queues (0 for a port that only
 * sends), of type "synthetic" if 'pmd', else "synthetic-main".  Aborts on
 * failure: it means that the name is taken by a device of another type. */
struct netdev *synthetic_open(const char *name, bool pmd, int n_rxq);

/* Gives rx queue 'rxq' of 'netdev' its source, which must stay until the port
 * is disabled and its reader has seen that.  NULL: none. */
void synthetic_set_source(struct netdev *, int rxq,
                          struct synthetic_source *);
void synthetic_set_sink(struct netdev *, struct synthetic_sink *);

/* Starts, or stops, reception on all of the rx queues.  A burst that a PMD
 * thread has begun is not called back: packets may still come shortly after
 * a stop. */
void synthetic_set_enabled(struct netdev *, bool);

void synthetic_get_counters(const struct netdev *,
                            struct synthetic_counters *);

/* Frees the packets in the calling thread's pool.  Threads that end do this
 * by themselves. */
void synthetic_drain_pool(void);

#endif /* synthetic-netdev.h */
