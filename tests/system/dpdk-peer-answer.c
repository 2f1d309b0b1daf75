/* SPDX-License-Identifier: Apache-2.0 */

/* --mode echo: turns a packet into its answer, in place.  Any address that is
 * asked for, by ARP or neighbor discovery, is ours, and answers a ping; any
 * other IP packet goes back to where it came from. */

#include "dpdk-peer.h"

#include <string.h>
#include <netinet/in.h>
#include <rte_arp.h>
#include <rte_icmp.h>
#include <rte_ip.h>

enum {
    ICMP6_ECHO = 128,
    ICMP6_ECHO_REPLY = 129,
    ICMP6_SOLICITATION = 135,
    ICMP6_ADVERTISEMENT = 136,
};

struct advertisement {
    uint8_t type;
    uint8_t code;
    uint16_t checksum;
    uint8_t flags[4];
    uint8_t target[16];
    uint8_t option_type;
    uint8_t option_length;
    struct rte_ether_addr address;
} __attribute__((packed, aligned(2)));

static void
swap(void *a, void *b, size_t size)
{
    uint8_t copy[16];

    memcpy(copy, a, size);
    memcpy(a, b, size);
    memcpy(b, copy, size);
}

static bool
answer_arp(void *data, uint32_t size, const struct rte_ether_addr *mac)
{
    struct rte_arp_hdr *arp = data;

    if (size < sizeof *arp
        || arp->arp_opcode != RTE_BE16(RTE_ARP_OP_REQUEST)) {
        return false;
    }
    arp->arp_opcode = RTE_BE16(RTE_ARP_OP_REPLY);
    arp->arp_data.arp_tha = arp->arp_data.arp_sha;
    arp->arp_data.arp_sha = *mac;
    swap(&arp->arp_data.arp_sip, &arp->arp_data.arp_tip, 4);
    return true;
}

/* Swapping leaves all checksums right. */
static void
swap_ports(uint8_t *data, uint32_t size, uint8_t protocol)
{
    if ((protocol == IPPROTO_UDP || protocol == IPPROTO_TCP) && size >= 8) {
        swap(data, data + 2, 2);
    }
}

static bool
answer_ipv4(void *packet, uint32_t size)
{
    struct rte_ipv4_hdr *ip = packet;
    uint8_t *data = packet;

    if (size < sizeof *ip || size < rte_ipv4_hdr_len(ip)) {
        return false;
    }
    data += rte_ipv4_hdr_len(ip);
    size -= rte_ipv4_hdr_len(ip);
    swap(&ip->src_addr, &ip->dst_addr, 4);
    if (ip->next_proto_id != IPPROTO_ICMP) {
        swap_ports(data, size, ip->next_proto_id);
        return true;
    }

    struct rte_icmp_hdr *icmp = (void *) data;
    if (size < sizeof *icmp
        || icmp->icmp_type != RTE_IP_ICMP_ECHO_REQUEST) {
        return false;
    }

    /* One word of the sum becomes less by the type, 8. */
    uint32_t sum = icmp->icmp_cksum + RTE_BE16(RTE_IP_ICMP_ECHO_REQUEST << 8);
    icmp->icmp_cksum = sum + (sum >> 16);
    icmp->icmp_type = RTE_IP_ICMP_ECHO_REPLY;
    return true;
}

static void
advertise(struct rte_ipv6_hdr *ip, struct advertisement *nd,
          const struct rte_ether_addr *mac)
{
    nd->type = ICMP6_ADVERTISEMENT;
    memset(nd->flags, 0, sizeof nd->flags);
    nd->flags[0] = 0x60;        /* Solicited, override. */
    nd->option_type = 2;        /* Target link-layer address. */
    nd->option_length = 1;
    nd->address = *mac;
    ip->payload_len = rte_cpu_to_be_16(sizeof *nd);
    memcpy(ip->dst_addr, ip->src_addr, sizeof ip->dst_addr);
    memcpy(ip->src_addr, nd->target, sizeof ip->src_addr);
}

static bool
answer_ipv6(void *packet, uint32_t size, bool multicast,
            const struct rte_ether_addr *mac)
{
    struct rte_ipv6_hdr *ip = packet;
    uint8_t *data = packet;

    if (size < sizeof *ip
        || size - sizeof *ip < rte_be_to_cpu_16(ip->payload_len)) {
        return false;
    }
    data += sizeof *ip;
    size = rte_be_to_cpu_16(ip->payload_len);
    if (ip->proto != IPPROTO_ICMPV6) {
        if (multicast) {
            return false;
        }
        swap(ip->src_addr, ip->dst_addr, 16);
        swap_ports(data, size, ip->proto);
        return true;
    }

    struct advertisement *nd = (void *) data;
    if (size >= sizeof *nd && nd->type == ICMP6_SOLICITATION) {
        static const uint8_t unspecified[16];

        if (!memcmp(ip->src_addr, unspecified, sizeof unspecified)) {
            return false;       /* It only asks whether it may have it. */
        }
        advertise(ip, nd, mac);
    } else if (size >= 8 && nd->type == ICMP6_ECHO && !multicast) {
        nd->type = ICMP6_ECHO_REPLY;
        swap(ip->src_addr, ip->dst_addr, 16);
    } else {
        return false;
    }
    nd->checksum = 0;
    nd->checksum = rte_ipv6_udptcp_cksum(ip, nd);
    return true;
}

/* Returns false if there is no answer to it. */
bool
packet_answer(void *packet, uint32_t size, const struct rte_ether_addr *mac)
{
    struct rte_ether_hdr *eth = packet;
    uint8_t *data = packet;
    bool multicast = rte_is_multicast_ether_addr(&eth->dst_addr);
    bool answered;

    data += sizeof *eth;
    size -= sizeof *eth;
    switch (rte_be_to_cpu_16(eth->ether_type)) {
    case RTE_ETHER_TYPE_ARP:
        answered = answer_arp(data, size, mac);
        break;
    case RTE_ETHER_TYPE_IPV4:
        answered = !multicast && answer_ipv4(data, size);
        break;
    case RTE_ETHER_TYPE_IPV6:
        answered = answer_ipv6(data, size, multicast, mac);
        break;
    default:
        return false;
    }
    if (!answered) {
        return false;
    }
    eth->dst_addr = eth->src_addr;
    eth->src_addr = *mac;
    return true;
}
