/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "stress/packet-gen.h"

#include <netinet/icmp6.h>
#include <netinet/ip6.h>

#include "crc32c.h"
#include "csum.h"
#include "hash.h"
#include "packets.h"
#include "unaligned.h"
#include "util.h"

enum { TAG_MAGIC = 0x51a77ed1 };
enum { TAG_SIZE = 20 };
enum { MAX_DEPTH = 2 };         /* Of frames in tunnels. */

/* A tag is a magic number and four 16-bit values, each followed by its
 * complement.  Such a pair adds nothing to an Internet checksum, so a tag can
 * be written when the frame is complete. */
static uint32_t
complement_pair(uint16_t value)
{
    return (uint32_t) value << 16 | (uint16_t) ~value;
}

/* A frame under construction.  Layers append to it; each fills in its length
 * and checksum when what it carries is complete. */
struct build {
    struct packet_gen *gen;
    uint8_t *data;
    size_t n;
    unsigned int depth;
    bool has_tag;               /* The frame ends with room for a tag. */
};

static void put_ipv4(struct build *);
static void put_ipv6(struct build *);
static void put_ethernet(struct build *, unsigned int n_vlans);

static uint32_t
below(struct build *b, uint32_t n)
{
    return rng_below(&b->gen->rng, n);
}

static bool
percent(struct build *b, unsigned int p)
{
    return rng_percent(&b->gen->rng, p);
}

static uint8_t *
put_zeros(struct build *b, size_t n)
{
    uint8_t *p = b->data + b->n;

    ovs_assert(b->n + n <= PACKET_GEN_MAX);
    memset(p, 0, n);
    b->n += n;
    return p;
}

static void
put_u8(struct build *b, uint8_t value)
{
    *put_zeros(b, 1) = value;
}

static void
set_u16(uint8_t *p, uint16_t value)
{
    p[0] = value >> 8;
    p[1] = value;
}

static void
put_u16(struct build *b, uint16_t value)
{
    set_u16(put_zeros(b, 2), value);
}

static void
put_u32(struct build *b, uint32_t value)
{
    put_u16(b, value >> 16);
    put_u16(b, value);
}

static void
put_mac(struct build *b, bool destination)
{
    uint32_t choice = below(b, destination ? 5 : 3);

    if (choice == 3) {
        memset(put_zeros(b, 6), 0xff, 6);
    } else if (choice == 4) {
        put_u32(b, 0x01005e00);
        put_u16(b, 0x0001);
    } else {
        put_u32(b, 0x02000000);
        put_u16(b, 0x0a00 + choice + (destination ? 0x10 : 0));
    }
}

static uint32_t
pick_ip(struct build *b, bool destination)
{
    return (destination ? 0x0a010000 : 0x0a000000) | below(b, 2) << 8
           | (1 + below(b, 4));
}

static void
put_ip6_addr(struct build *b, bool destination)
{
    put_u32(b, 0x20010db8);
    put_u32(b, destination);
    put_u32(b, 0);
    put_u32(b, 1 + below(b, 4));
}

static uint16_t
pick_port(struct build *b)
{
    static const uint16_t ports[] = {
        53, 80, 443, 1000, 2000, 4789, 6081, 65535,
    };

    return ports[below(b, ARRAY_SIZE(ports))];
}

/* Appends data, with room for a tag at the end if 'tagged'. */
static void
put_payload(struct build *b, bool tagged)
{
    size_t n = percent(b, 5) ? 200 + below(b, 900) : below(b, 48);

    if (b->depth) {
        n = MIN(n, 100);
    }
    for (size_t i = 0; i < n; i++) {
        put_u8(b, i);
    }
    if (tagged && percent(b, 95)) {
        put_zeros(b, TAG_SIZE);
        b->has_tag = true;
    }
}

static ovs_be16
l4_csum(struct build *b, size_t l3, size_t l4, bool ip6, uint8_t proto)
{
    size_t len = b->n - l4;
    uint32_t sum = 0;

    sum = csum_continue(sum, b->data + l3 + (ip6 ? 8 : 12), ip6 ? 32 : 8);
    sum = csum_add16(sum, htons(len));
    sum = csum_add16(sum, htons(proto));
    sum = csum_continue(sum, b->data + l4, len);
    return csum_finish(sum);
}

/* Layer 4. */

static void
put_tcp(struct build *b, size_t l3, bool ip6)
{
    static const uint16_t flags[] = {
        TCP_SYN, TCP_SYN | TCP_ACK, TCP_ACK, TCP_ACK | TCP_PSH,
        TCP_FIN | TCP_ACK, TCP_RST, 0, TCP_SYN | TCP_FIN,
    };
    size_t l4 = b->n;
    unsigned int words = percent(b, 80) ? 5 : 5 + below(b, 4);

    put_u16(b, pick_port(b));
    put_u16(b, pick_port(b));
    put_u32(b, 1000 + below(b, 1000));
    put_u32(b, 1000 + below(b, 1000));
    put_u16(b, words << 12 | flags[below(b, ARRAY_SIZE(flags))]);
    put_u16(b, 8192);
    put_u32(b, 0);
    memset(put_zeros(b, (words - 5) * 4), 1, (words - 5) * 4);
    put_payload(b, true);
    ovs_be16 csum = l4_csum(b, l3, l4, ip6, IPPROTO_TCP);
    memcpy(b->data + l4 + 16, &csum, sizeof csum);
}

static void
put_tunneled(struct build *b, uint16_t udp_port)
{
    if (udp_port == 4789) {
        put_u32(b, 0x08000000);
        put_u32(b, (100 + below(b, 3)) << 8);
    } else {
        bool option = percent(b, 30);

        put_u16(b, option ? 2 << 8 : 0);
        put_u16(b, ETH_TYPE_TEB);
        put_u32(b, (100 + below(b, 3)) << 8);
        if (option) {
            put_u16(b, 0x0102);
            put_u16(b, 0x0101);
            put_u32(b, below(b, 3));
        }
    }
    b->depth++;
    put_ethernet(b, 0);
    b->depth--;
}

static void
put_udp(struct build *b, size_t l3, bool ip6)
{
    size_t l4 = b->n;
    bool tunnel = b->depth + 1 < MAX_DEPTH && percent(b, 25);
    uint16_t dst = tunnel ? (percent(b, 60) ? 4789 : 6081) : pick_port(b);

    put_u16(b, pick_port(b));
    put_u16(b, dst);
    put_u32(b, 0);
    if (tunnel) {
        put_tunneled(b, dst);
    } else {
        put_payload(b, true);
    }
    set_u16(b->data + l4 + 4, b->n - l4);
    if (ip6 || percent(b, 80)) {
        ovs_be16 csum = l4_csum(b, l3, l4, ip6, IPPROTO_UDP);

        csum = csum ? csum : htons(0xffff);
        memcpy(b->data + l4 + 6, &csum, sizeof csum);
    }
}

static void
put_sctp(struct build *b)
{
    size_t l4 = b->n;

    put_u16(b, pick_port(b));
    put_u16(b, pick_port(b));
    put_u32(b, 1);
    put_u32(b, 0);
    put_payload(b, false);      /* A tag would spoil the CRC. */
    ovs_be32 crc = crc32c(b->data + l4, b->n - l4);
    memcpy(b->data + l4 + 8, &crc, sizeof crc);
}

static void
put_icmp(struct build *b)
{
    static const uint8_t types[] = { 8, 0, 3, 11, 13 };
    size_t l4 = b->n;
    uint8_t type = types[below(b, ARRAY_SIZE(types))];

    put_u8(b, type);
    put_u8(b, type == 3 ? below(b, 4) : 0);
    put_u16(b, 0);
    put_u16(b, below(b, 3));
    put_u16(b, below(b, 3));
    put_payload(b, true);
    ovs_be16 sum = csum(b->data + l4, b->n - l4);
    memcpy(b->data + l4 + 2, &sum, sizeof sum);
}

static void
put_icmp6(struct build *b, size_t l3)
{
    static const uint8_t types[] = { 128, 129, 135, 136, 1 };
    size_t l4 = b->n;
    uint8_t type = types[below(b, ARRAY_SIZE(types))];

    put_u8(b, type);
    put_u8(b, 0);
    put_u16(b, 0);
    put_u32(b, type == 136 ? 0x60000000 : 0);
    if (type == 135 || type == 136) {
        put_ip6_addr(b, true);
        if (percent(b, 70)) {
            put_u8(b, type == 135 ? 1 : 2);
            put_u8(b, 1);
            put_mac(b, false);
        }
    } else {
        put_payload(b, true);
    }
    ovs_be16 csum = l4_csum(b, l3, l4, true, IPPROTO_ICMPV6);
    memcpy(b->data + l4 + 2, &csum, sizeof csum);
}

static void
put_gre(struct build *b)
{
    put_u16(b, 0x2000);
    put_u16(b, ETH_TYPE_TEB);
    put_u32(b, 100 + below(b, 3));
    b->depth++;
    put_ethernet(b, 0);
    b->depth--;
}

static void
put_l4(struct build *b, size_t l3, bool ip6, uint8_t proto)
{
    switch (proto) {
    case IPPROTO_TCP:
        put_tcp(b, l3, ip6);
        break;
    case IPPROTO_UDP:
        put_udp(b, l3, ip6);
        break;
    case IPPROTO_SCTP:
        put_sctp(b);
        break;
    case IPPROTO_ICMP:
        put_icmp(b);
        break;
    case IPPROTO_ICMPV6:
        put_icmp6(b, l3);
        break;
    case IPPROTO_GRE:
        put_gre(b);
        break;
    case IPPROTO_IGMP:
        put_u32(b, 0x11000000);
        put_u32(b, 0xe0000001);
        break;
    default:
        put_payload(b, true);
        break;
    }
}

static uint8_t
pick_proto(struct build *b, bool ip6)
{
    uint32_t choice = below(b, 100);

    if (choice < 40) {
        return IPPROTO_TCP;
    } else if (choice < 72) {
        return IPPROTO_UDP;
    } else if (choice < 85) {
        return ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
    } else if (choice < 90) {
        return IPPROTO_SCTP;
    } else if (choice < 95) {
        return b->depth + 1 < MAX_DEPTH ? IPPROTO_GRE : 99;
    } else if (choice < 97 && !ip6) {
        return IPPROTO_IGMP;
    } else {
        return 253;
    }
}

/* Layer 3. */

static void
put_ipv4(struct build *b)
{
    static const uint8_t ttls[] = { 0, 1, 64, 255 };
    size_t l3 = b->n;
    unsigned int words = percent(b, 92) ? 5 : 6 + below(b, 3);
    uint8_t proto = pick_proto(b, false);
    uint16_t frag = percent(b, 50) ? IP_DONT_FRAGMENT : 0;

    if (percent(b, 10)) {
        frag = percent(b, 50) ? IP_MORE_FRAGMENTS
               : percent(b, 50) ? 185 : IP_MORE_FRAGMENTS | 185;
    }
    put_u8(b, 0x40 | words);
    put_u8(b, below(b, 4) * 0x2e);
    put_u16(b, 0);
    put_u16(b, below(b, 4));
    put_u16(b, frag);
    put_u8(b, percent(b, 90) ? 64 : ttls[below(b, ARRAY_SIZE(ttls))]);
    put_u8(b, proto);
    put_u16(b, 0);
    put_u32(b, pick_ip(b, false));
    put_u32(b, pick_ip(b, true));
    memset(put_zeros(b, (words - 5) * 4), 1, (words - 5) * 4);
    if (frag & IP_FRAG_OFF_MASK) {
        put_payload(b, true);
    } else {
        put_l4(b, l3, false, proto);
    }
    set_u16(b->data + l3 + 2, b->n - l3);
    ovs_be16 sum = csum(b->data + l3, words * 4);
    memcpy(b->data + l3 + 10, &sum, sizeof sum);
}

static void
put_ipv6(struct build *b)
{
    size_t l3 = b->n;
    uint8_t proto = pick_proto(b, true);
    uint8_t *next;

    put_u32(b, 6 << 28 | below(b, 2) << 22 | below(b, 3));
    put_u16(b, 0);
    next = put_zeros(b, 1);
    put_u8(b, percent(b, 95) ? 64 : 1);
    put_ip6_addr(b, false);
    put_ip6_addr(b, true);

    for (unsigned int n = percent(b, 85) ? 0 : 1 + below(b, 2); n > 0; n--) {
        static const uint8_t types[] = {
            IPPROTO_HOPOPTS, IPPROTO_DSTOPTS, IPPROTO_ROUTING,
        };

        *next = types[below(b, ARRAY_SIZE(types))];
        next = put_zeros(b, 8);
        next[2] = 1;            /* PadN. */
        next[3] = 4;
    }
    if (percent(b, 8)) {
        uint16_t offset = percent(b, 50) ? 0 : 185 << 3;

        *next = IPPROTO_FRAGMENT;
        next = put_zeros(b, 1);
        put_u8(b, 0);
        put_u16(b, offset | below(b, 2));
        put_u32(b, below(b, 4));
        *next = proto;
        if (offset) {
            put_payload(b, true);
        } else {
            put_l4(b, l3, true, proto);
        }
    } else {
        *next = proto;
        put_l4(b, l3, true, proto);
    }
    set_u16(b->data + l3 + 4, b->n - l3 - 40);
}

static void
put_arp(struct build *b)
{
    put_u16(b, percent(b, 97) ? 1 : 6);
    put_u16(b, ETH_TYPE_IP);
    put_u16(b, 0x0604);
    put_u16(b, 1 + below(b, 2));
    put_mac(b, false);
    put_u32(b, pick_ip(b, false));
    put_mac(b, false);
    put_u32(b, pick_ip(b, true));
}

static void
put_mpls(struct build *b)
{
    for (unsigned int n = 1 + below(b, 3); n > 0; n--) {
        put_u32(b, (16 + below(b, 3)) << 12 | below(b, 2) << 9
                   | (n == 1) << 8 | 64);
    }
    put_ipv4(b);
}

static void
put_nsh(struct build *b)
{
    bool md1 = percent(b, 60);

    put_u16(b, 63 << 6 | (md1 ? 6 : 4));
    put_u8(b, md1 ? 1 : 2);
    put_u8(b, 1);
    put_u32(b, (10 + below(b, 3)) << 8 | 255);
    if (md1) {
        for (int i = 0; i < 4; i++) {
            put_u32(b, below(b, 2));
        }
    } else {
        put_u16(b, 0x1000);
        put_u16(b, 0x0104);
        put_u32(b, below(b, 3));
    }
    put_ipv4(b);
}

static void
put_llc(struct build *b)
{
    size_t length = b->n - 2;

    if (percent(b, 50)) {
        put_u32(b, 0xaaaa0300);
        put_u16(b, 0x0000);
        put_u16(b, percent(b, 50) ? ETH_TYPE_IP : 0x1234);
    } else {
        put_u16(b, 0x4242);
        put_u8(b, 3);
    }
    put_payload(b, true);
    set_u16(b->data + length, b->n - length - 2);
}

static void
put_ethernet(struct build *b, unsigned int n_vlans)
{
    uint32_t choice = below(b, 100);

    put_mac(b, true);
    put_mac(b, false);
    for (unsigned int i = 0; i < n_vlans; i++) {
        put_u16(b, i + 1 < n_vlans ? ETH_TYPE_VLAN_8021AD
                : ETH_TYPE_VLAN_8021Q);
        put_u16(b, below(b, 2) << 13 | (100 + below(b, 4)));
    }

    if (choice < 55) {
        put_u16(b, ETH_TYPE_IP);
        put_ipv4(b);
    } else if (choice < 77) {
        put_u16(b, ETH_TYPE_IPV6);
        put_ipv6(b);
    } else if (choice < 84) {
        put_u16(b, ETH_TYPE_ARP);
        put_arp(b);
    } else if (choice < 86) {
        put_u16(b, ETH_TYPE_RARP);
        put_arp(b);
    } else if (choice < 91) {
        put_u16(b, percent(b, 70) ? ETH_TYPE_MPLS : ETH_TYPE_MPLS_MCAST);
        put_mpls(b);
    } else if (choice < 95) {
        put_u16(b, ETH_TYPE_NSH);
        put_nsh(b);
    } else if (choice < 97) {
        put_u16(b, 0);
        put_llc(b);
    } else {
        put_u16(b, percent(b, 50) ? 0x88cc : 0x9999);
        put_payload(b, true);
    }
}

static void
finish_tag(struct packet_gen_frame *f, uint32_t seq)
{
    uint32_t tag[TAG_SIZE / 4] = {
        TAG_MAGIC,
        complement_pair(f->stream >> 16),
        complement_pair(f->stream),
        complement_pair(seq >> 16),
        complement_pair(seq),
    };

    memcpy(f->data + f->size - sizeof tag, tag, sizeof tag);
}

static void
damage(struct packet_gen *gen, struct packet_gen_frame *f)
{
    f->damaged = true;
    if (rng_percent(&gen->rng, 50) || f->size < 40) {
        f->size = rng_below(&gen->rng, f->size + 1);
    } else {
        /* Behind the VLAN tags: frames of one port have the same number of
         * them, which keeps flows from overlapping. */
        for (int i = rng_below(&gen->rng, 4); i >= 0; i--) {
            size_t ofs = 22 + rng_below(&gen->rng, MIN(60, f->size - 22));

            f->data[ofs] = rng_next(&gen->rng);
        }
    }
}

void
packet_gen_init(struct packet_gen *gen, uint64_t seed)
{
    memset(gen, 0, sizeof *gen);
    gen->rng.state = seed;
    gen->damaged_percent = 6;
}

void
packet_gen_make(struct packet_gen *gen, unsigned int n_vlans,
                struct packet_gen_frame *f)
{
    struct build b = { .gen = gen, .data = f->data };

    put_ethernet(&b, n_vlans);
    f->size = b.n;
    f->damaged = false;

    /* All of the frame that is not the tag makes the stream. */
    f->stream = hash_bytes(f->data, b.has_tag ? b.n - TAG_SIZE : b.n, 0);
    if (b.has_tag) {
        finish_tag(f, gen->next_seq++);
    }
    if (rng_percent(&gen->rng, gen->damaged_percent)) {
        damage(gen, f);
    }
}

bool
packet_gen_get_tag(const void *data, size_t size, struct packet_tag *tag)
{
    uint32_t words[TAG_SIZE / 4];

    if (size < sizeof words) {
        return false;
    }
    memcpy(words, (const uint8_t *) data + size - sizeof words, sizeof words);
    tag->stream = (words[1] >> 16) << 16 | words[2] >> 16;
    tag->seq = (words[3] >> 16) << 16 | words[4] >> 16;
    return words[0] == TAG_MAGIC
           && words[1] == complement_pair(tag->stream >> 16)
           && words[2] == complement_pair(tag->stream)
           && words[3] == complement_pair(tag->seq >> 16)
           && words[4] == complement_pair(tag->seq);
}
