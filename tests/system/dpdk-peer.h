/* SPDX-License-Identifier: Apache-2.0 */

/* dpdk-peer: the other end of a switch's port.
 *
 *     dpdk-peer.c          options, commands, the loop
 *     dpdk-peer-device.c   a device: what it sends, counts and answers
 *     dpdk-peer-packet.c   a packet of a flow, made and verified
 *     dpdk-peer-answer.c   what --mode echo makes of a packet
 */

#ifndef DPDK_PEER_H
#define DPDK_PEER_H 1

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#define PEER_MAX_DEVICES 4
#define PEER_MAX_QUEUES 16
#define PEER_MAX_BURST 64
#define PEER_MAX_SIZE 9728
#define PEER_MAX_FLOWS (1 << 24)

enum peer_mode {
    PEER_GENERATE,
    PEER_SINK,
    PEER_ECHO,
    PEER_BOTH,
};

enum peer_ip {
    PEER_IPV4,
    PEER_IPV6,
    PEER_IP_BOTH,               /* Even flows are IPv4, odd ones are IPv6. */
};

struct peer_options {
    enum peer_mode mode;
    enum peer_ip ip;
    uint32_t n_flows;
    uint32_t first_flow;
    uint32_t size;              /* Of a frame, without its FCS. */
    uint32_t mtu;               /* 0 leaves the device's own. */
    uint32_t rate;              /* Packets per second; 0 is all it can. */
    uint64_t count;             /* Packets to send; 0 is without an end. */
    double seconds;             /* To run; 0 is without an end. */
    uint32_t n_queues;
    uint32_t n_descriptors;
    uint32_t n_mbufs;
    uint32_t burst;
    bool random;                /* Order of the flows. */
    bool duplex;                /* All devices send, not only the first. */
    bool wait;                  /* For the command "start". */
    bool json;                  /* Statistics at the end. */
    struct rte_ether_addr src, dst;
};

/* A packet.  It says which one it is, behind its UDP header. */
struct packet_id {
    uint32_t flow;
    uint32_t stream;            /* Changes when the numbers begin anew. */
    uint32_t number;            /* Among those of its flow, from 0. */
};

enum packet_verdict {
    PACKET_GOOD,
    PACKET_CORRUPT,
    PACKET_FOREIGN,             /* Not from any dpdk-peer. */
};

void packet_init(const struct peer_options *);
uint32_t packet_min_size(enum peer_ip);
const uint8_t *packet_filler(void);
void packet_build(void *, uint32_t size, struct packet_id);
enum packet_verdict packet_verify(const void *, uint32_t size,
                                  struct packet_id *);

bool packet_answer(void *, uint32_t size, const struct rte_ether_addr *);

/* A device. */
struct device_stats {
    uint64_t sent;
    uint64_t received;          /* Everything; the next ones are part of it. */
    uint64_t bytes;
    uint64_t verified;
    uint64_t corrupt;
    uint64_t foreign;
    uint64_t stray;             /* Of a flow that is not in our set. */
    uint64_t missing;           /* Numbers that were left out... */
    uint64_t late;              /* ...and that came after all, or again. */
    uint64_t flows;             /* That were seen. */
    uint64_t echoed;
};

struct device;

struct device *device_open(uint16_t port, unsigned int index,
                           const struct peer_options *);
void device_close(struct device *);
bool device_generates(const struct device *);
void device_start(struct device *, uint32_t stream, uint64_t count,
                  uint64_t now);
void device_stop(struct device *);
bool device_is_sending(const struct device *);
unsigned int device_send(struct device *, uint64_t now);
unsigned int device_receive(struct device *);
bool device_link(struct device *);
void device_clear(struct device *);
void device_add_stats(const struct device *, struct device_stats *);
void device_print(struct device *, FILE *);

#endif /* dpdk-peer.h */
