/* SPDX-License-Identifier: Apache-2.0 */

/* A packet follows from its size and its packet_id, to the last bit: whoever
 * receives one makes it again and compares. */

#include "dpdk-peer.h"

#include <string.h>
#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_udp.h>

struct label {
    rte_be32_t magic;
    rte_be32_t flow;
    rte_be32_t stream;
    rte_be32_t number;
} __attribute__((packed));

#define MAGIC RTE_BE32(0x77656674)

struct packet4 {
    struct rte_ether_hdr eth;
    struct rte_ipv4_hdr ip;
    struct rte_udp_hdr udp;
    struct label label;
} __attribute__((packed, aligned(2)));

struct packet6 {
    struct rte_ether_hdr eth;
    struct rte_ipv6_hdr ip;
    struct rte_udp_hdr udp;
    struct label label;
} __attribute__((packed, aligned(2)));

/* Both lengths are even, and so are the offsets of all that is summed up. */
static struct packet4 template4;
static struct packet6 template6;
static uint32_t header_sum4;    /* Of the template's IPv4 header. */
static enum peer_ip versions;

/* What is behind the label, by offset in the frame, and the sum of its 16-bit
 * words before an offset. */
static uint8_t filler[PEER_MAX_SIZE + 1];
static uint32_t filler_sum[PEER_MAX_SIZE / 2 + 1];

static uint32_t
sum_words(const void *data, size_t size)
{
    const uint8_t *p = data;
    uint32_t sum = 0;

    for (size_t i = 0; i < size; i += 2) {
        uint16_t word;

        memcpy(&word, p + i, sizeof word);
        sum += word;
    }
    return sum;
}

static uint16_t
finish_sum(uint64_t sum)
{
    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return ~sum;
}

static uint32_t
sum32(uint32_t value)
{
    return (value & 0xffff) + (value >> 16);
}

/* Sum of the filler from offset 'start', which is even, to 'end'. */
static uint32_t
sum_filler(uint32_t start, uint32_t end)
{
    uint32_t sum = filler_sum[end / 2] - filler_sum[start / 2];

    if (end & 1) {
        uint8_t last[2] = { filler[end - 1], 0 };

        sum += sum_words(last, sizeof last);
    }
    return sum;
}

void
packet_init(const struct peer_options *options)
{
    versions = options->ip;

    for (uint32_t i = 0; i < sizeof filler; i++) {
        filler[i] = i * 131 + (i >> 8) + 7;
    }
    for (uint32_t i = 0; i < PEER_MAX_SIZE / 2; i++) {
        filler_sum[i + 1] = filler_sum[i] + sum_words(&filler[i * 2], 2);
    }

    template4.eth.src_addr = template6.eth.src_addr = options->src;
    template4.eth.dst_addr = template6.eth.dst_addr = options->dst;

    template4.eth.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
    template4.ip.version_ihl = RTE_IPV4_VHL_DEF;
    template4.ip.time_to_live = 64;
    template4.ip.next_proto_id = IPPROTO_UDP;
    template4.label.magic = MAGIC;
    header_sum4 = sum_words(&template4.ip, sizeof template4.ip);

    template6.eth.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
    template6.ip.vtc_flow = RTE_BE32(6u << 28);
    template6.ip.proto = IPPROTO_UDP;
    template6.ip.hop_limits = 64;
    template6.label.magic = MAGIC;
}

uint32_t
packet_min_size(enum peer_ip ip)
{
    return ip == PEER_IPV4 ? sizeof template4 : sizeof template6;
}

const uint8_t *
packet_filler(void)
{
    return filler;
}

static bool
flow_is_ipv6(uint32_t flow)
{
    return versions == PEER_IPV6 || (versions == PEER_IP_BOTH && flow & 1);
}

/* Spreads 'flow' over 64 bits.  The low 24 bits differ for any two flows. */
static uint64_t
spread_flow(uint32_t flow)
{
    uint64_t low = flow * 0x9e3779b1u & 0xffffff;
    uint64_t high = (flow + 1) * UINT64_C(0xbf58476d1ce4e5b9);

    return low | (high ^ high >> 29) << 24;
}

/* The ports are out of the way of what the switch knows by number, such as
 * tunnels'. */
static void
set_ports(struct rte_udp_hdr *udp, uint64_t hash, uint32_t length)
{
    udp->src_port = rte_cpu_to_be_16(10000 + (hash >> 24 & 0x3fff));
    udp->dst_port = rte_cpu_to_be_16(30000 + (hash >> 38 & 0x3fff));
    udp->dgram_len = rte_cpu_to_be_16(length);
}

static void
set_label(struct label *label, struct packet_id id)
{
    label->flow = rte_cpu_to_be_32(id.flow);
    label->stream = rte_cpu_to_be_32(id.stream);
    label->number = rte_cpu_to_be_32(id.number);
}

/* Sets the checksum of 'udp', which a label follows and the filler up to byte
 * 'size' of the frame.  'sum' is the one of the addresses. */
static void
set_udp_checksum(struct rte_udp_hdr *udp, uint32_t start, uint32_t size,
                 uint64_t sum)
{
    udp->dgram_cksum = 0;
    sum += sum_words(udp, sizeof *udp + sizeof(struct label));
    sum += udp->dgram_len + RTE_BE16(IPPROTO_UDP);
    sum += sum_filler(start, size);

    uint16_t checksum = finish_sum(sum);
    udp->dgram_cksum = checksum ? checksum : 0xffff;
}

static inline void
build4(struct packet4 *p, uint32_t size, struct packet_id id)
{
    uint64_t hash = spread_flow(id.flow);
    uint32_t src = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 0)
                                    | (hash & 0xffffff));
    uint32_t dst = rte_cpu_to_be_32(RTE_IPV4(172, 16, 0, 0)
                                    | (hash >> 44 & 0xfffff));
    uint32_t addresses = sum32(src) + sum32(dst);

    memcpy(p, &template4, sizeof *p);
    p->ip.total_length = rte_cpu_to_be_16(size - sizeof p->eth);
    p->ip.src_addr = src;
    p->ip.dst_addr = dst;
    p->ip.hdr_checksum = finish_sum(header_sum4 + addresses
                                    + p->ip.total_length);
    set_ports(&p->udp, hash, size - offsetof(struct packet4, udp));
    set_label(&p->label, id);
    set_udp_checksum(&p->udp, sizeof *p, size, addresses);
}

static inline void
build6(struct packet6 *p, uint32_t size, struct packet_id id)
{
    uint64_t hash = spread_flow(id.flow);
    uint32_t length = size - offsetof(struct packet6, udp);
    rte_be32_t src[4] = { RTE_BE32(0xfd000000), 0, RTE_BE32(1),
                          rte_cpu_to_be_32(hash & 0xffffff) };
    rte_be32_t dst[4] = { RTE_BE32(0xfd000000), 0, RTE_BE32(2),
                          rte_cpu_to_be_32(hash >> 44) };

    memcpy(p, &template6, sizeof *p);
    p->ip.payload_len = rte_cpu_to_be_16(length);
    memcpy(p->ip.src_addr, src, sizeof src);
    memcpy(p->ip.dst_addr, dst, sizeof dst);
    set_ports(&p->udp, hash, length);
    set_label(&p->label, id);
    set_udp_checksum(&p->udp, sizeof *p, size,
                     sum_words(src, sizeof src) + sum_words(dst, sizeof dst));
}

/* Puts back what the headers of an IPv6 packet overwrote. */
static void
restore_filler(uint8_t *data, uint32_t size)
{
    uint32_t start = sizeof template4;

    memcpy(data + start, filler + start,
           RTE_MIN(size, sizeof template6) - start);
}

/* Writes the headers and the label; the filler is there already. */
void
packet_build(void *data, uint32_t size, struct packet_id id)
{
    if (flow_is_ipv6(id.flow)) {
        build6(data, size, id);
    } else {
        build4(data, size, id);
        if (versions == PEER_IP_BOTH) {
            restore_filler(data, size);
        }
    }
}

/* Sets '*id' if the packet is a good one. */
enum packet_verdict
packet_verify(const void *packet, uint32_t size, struct packet_id *id)
{
    struct packet6 expected;
    const struct rte_ether_hdr *eth = packet;
    const struct label *label;
    uint32_t header_size;

    if (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
        label = &((const struct packet4 *) packet)->label;
        header_size = sizeof(struct packet4);
    } else if (eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
        label = &((const struct packet6 *) packet)->label;
        header_size = sizeof(struct packet6);
    } else {
        return PACKET_FOREIGN;
    }
    if (size < header_size || label->magic != MAGIC) {
        return PACKET_FOREIGN;
    }

    id->flow = rte_be_to_cpu_32(label->flow);
    id->stream = rte_be_to_cpu_32(label->stream);
    id->number = rte_be_to_cpu_32(label->number);
    if (flow_is_ipv6(id->flow) != (header_size == sizeof(struct packet6))
        || size > PEER_MAX_SIZE) {
        return PACKET_CORRUPT;
    }
    packet_build(&expected, size, *id);

    /* A switch may change the Ethernet addresses. */
    const uint8_t *data = packet;
    uint32_t skipped = offsetof(struct rte_ether_hdr, ether_type);
    return (memcmp(data + skipped, (uint8_t *) &expected + skipped,
                   header_size - skipped)
            || memcmp(data + header_size, filler + header_size,
                      size - header_size)
            ? PACKET_CORRUPT : PACKET_GOOD);
}
