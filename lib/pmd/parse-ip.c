/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/parse-ip.h"

#include <string.h>

#include "dp-packet.h"
#include "flow.h"
#include "packets.h"
#include "table/dp-key.h"
#include "unaligned.h"
#include "util.h"

/* Which word of 'struct flow' has 'FIELD'. */
#define WORD_OF(FIELD) (offsetof(struct flow, FIELD) / sizeof(uint64_t))

/* Bit of that word in unit 'UNIT' of a flowmap, 0 if it is in another. */
#define MAP_BIT_AT(UNIT, WORD)                                  \
    ((WORD) / MAP_T_BITS == (UNIT)                              \
     ? MAP_1 << ((WORD) % MAP_T_BITS) : MAP_0)
#define MAP_BIT(UNIT, FIELD) MAP_BIT_AT(UNIT, WORD_OF(FIELD))
#define MAP_0 ((map_t) 0)

#define COMMON_BITS(UNIT)                                       \
    (MAP_BIT(UNIT, in_port) | MAP_BIT(UNIT, packet_type)        \
     | MAP_BIT(UNIT, dl_dst) | MAP_BIT(UNIT, dl_type)           \
     | MAP_BIT(UNIT, nw_proto) | MAP_BIT(UNIT, tp_src))
#define IPV4_BITS(UNIT) (COMMON_BITS(UNIT) | MAP_BIT(UNIT, nw_src))
#define IPV6_BITS(UNIT)                                         \
    (COMMON_BITS(UNIT)                                          \
     | MAP_BIT(UNIT, ipv6_src)                                  \
     | MAP_BIT_AT(UNIT, WORD_OF(ipv6_src) + 1)                  \
     | MAP_BIT(UNIT, ipv6_dst)                                  \
     | MAP_BIT_AT(UNIT, WORD_OF(ipv6_dst) + 1))
#define TCP_BITS(UNIT) MAP_BIT(UNIT, tcp_flags)

/* What the code below takes for granted about 'struct flow'. */
BUILD_ASSERT_DECL(FLOWMAP_UNITS == 2);
BUILD_ASSERT_DECL(WORD_OF(dp_hash) == WORD_OF(in_port));
BUILD_ASSERT_DECL(WORD_OF(in_port) < WORD_OF(packet_type));
BUILD_ASSERT_DECL(WORD_OF(packet_type) < WORD_OF(dl_dst));
BUILD_ASSERT_DECL(WORD_OF(dl_dst) + 1 == WORD_OF(dl_type));
BUILD_ASSERT_DECL(offsetof(struct flow, dl_type) % 8 == 4);
BUILD_ASSERT_DECL(WORD_OF(dl_type) < WORD_OF(nw_src));
BUILD_ASSERT_DECL(WORD_OF(nw_src) == WORD_OF(nw_dst));
BUILD_ASSERT_DECL(WORD_OF(nw_src) < WORD_OF(ipv6_src));
BUILD_ASSERT_DECL(WORD_OF(ipv6_src) + 2 == WORD_OF(ipv6_dst));
BUILD_ASSERT_DECL(WORD_OF(ipv6_dst) + 1 < WORD_OF(nw_proto));
BUILD_ASSERT_DECL(offsetof(struct flow, ipv6_label) % 8 == 0);
BUILD_ASSERT_DECL(offsetof(struct flow, nw_frag) % 8 == 4);
BUILD_ASSERT_DECL(offsetof(struct flow, nw_tos) % 8 == 5);
BUILD_ASSERT_DECL(offsetof(struct flow, nw_ttl) % 8 == 6);
BUILD_ASSERT_DECL(offsetof(struct flow, nw_proto) % 8 == 7);
BUILD_ASSERT_DECL(WORD_OF(nw_proto) < WORD_OF(tcp_flags));
BUILD_ASSERT_DECL(offsetof(struct flow, tcp_flags) % 8 == 4);
BUILD_ASSERT_DECL(WORD_OF(tcp_flags) < WORD_OF(tp_src));
BUILD_ASSERT_DECL(offsetof(struct flow, tp_src) % 8 == 0);
BUILD_ASSERT_DECL(offsetof(struct flow, tp_dst) % 8 == 2);

/* Padding that a frame of minimal size can need, and some more.  A packet with
 * more than that behind its IP header's length is not for us. */
enum { MAX_PADDING = 255 };

/* What the IP header said. */
struct ip_facts {
    size_t header_len;
    size_t payload_len;         /* Behind the header. */
    size_t padding;             /* l2_pad_size. */
    uint8_t proto;
};

static inline uint64_t
load_word(const void *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

/* Returns the word whose first 4 bytes are 'first' in the host's order and
 * whose last 4 are 'last' likewise. */
static inline uint64_t
make_word(uint32_t first, uint32_t last)
{
    return htonll((uint64_t) first << 32 | last);
}

/* The word with 'in_port' and no 'dp_hash', both in the host's order. */
static inline uint64_t
port_word(odp_port_t in_port)
{
    uint32_t halves[] = { 0, odp_to_u32(in_port) };

    return load_word(halves);
}

/* Returns true and fills '*facts' if 'ip', which has 'size' bytes, begins a
 * packet for us. */
static inline bool
check_ipv4(const struct ip_header *ip, size_t size, struct ip_facts *facts)
{
    size_t tot_len;

    if (OVS_UNLIKELY(size < IP_HEADER_LEN + UDP_HEADER_LEN
                     || ip->ip_ihl_ver != IP_IHL_VER(5, 4)
                     || IP_IS_FRAGMENT(ip->ip_frag_off))) {
        return false;
    }
    tot_len = ntohs(ip->ip_tot_len);
    if (OVS_UNLIKELY(tot_len > size || tot_len < IP_HEADER_LEN
                     || size - tot_len > MAX_PADDING)) {
        return false;
    }
    facts->header_len = IP_HEADER_LEN;
    facts->payload_len = tot_len - IP_HEADER_LEN;
    facts->padding = size - tot_len;
    facts->proto = ip->ip_proto;
    return true;
}

static inline bool
check_ipv6(const struct ovs_16aligned_ip6_hdr *ip, size_t size,
           struct ip_facts *facts)
{
    size_t payload_len;

    if (OVS_UNLIKELY(size < IPV6_HEADER_LEN + UDP_HEADER_LEN)) {
        return false;
    }
    size -= IPV6_HEADER_LEN;
    payload_len = ntohs(ip->ip6_plen);
    if (OVS_UNLIKELY(payload_len > size
                     || size - payload_len > MAX_PADDING)) {
        return false;
    }
    facts->header_len = IPV6_HEADER_LEN;
    facts->payload_len = payload_len;
    facts->padding = size - payload_len;
    facts->proto = ip->ip6_nxt;
    return true;
}

/* Returns true if 'l4' is a complete header of TCP or UDP. */
static inline bool
check_l4(const struct ip_facts *facts, const void *l4)
{
    if (facts->proto == IPPROTO_UDP) {
        return facts->payload_len >= UDP_HEADER_LEN;
    } else if (facts->proto == IPPROTO_TCP
               && facts->payload_len >= TCP_HEADER_LEN) {
        const struct tcp_header *tcp = l4;
        size_t len = TCP_OFFSET(tcp->tcp_ctl) * 4;

        return len >= TCP_HEADER_LEN && len <= facts->payload_len;
    }
    return false;
}

/* Tells 'packet' what has been found out about it. */
static inline void
note_layers(struct dp_packet *packet, const struct ip_facts *facts, bool ipv4)
{
    dp_packet_reset_offsets(packet);
    dp_packet_set_l2_pad_size(packet, facts->padding);
    packet->l3_ofs = ETH_HEADER_LEN;
    packet->l4_ofs = ETH_HEADER_LEN + facts->header_len;

    if (ipv4) {
        dp_packet_hwol_set_tx_ipv4(packet);
        if (dp_packet_ip_checksum_good(packet)) {
            dp_packet_hwol_set_tx_ip_csum(packet);
        }
        dp_packet_update_rss_hash_ipv4_tcp_udp(packet);
    } else {
        dp_packet_hwol_set_tx_ipv6(packet);
        dp_packet_update_rss_hash_ipv6_tcp_udp(packet);
    }
    dp_packet_ol_l4_csum_check_partial(packet);
    if (dp_packet_l4_checksum_good(packet)
        || dp_packet_ol_l4_csum_partial(packet)) {
        if (facts->proto == IPPROTO_TCP) {
            dp_packet_hwol_set_csum_tcp(packet);
        } else {
            dp_packet_hwol_set_csum_udp(packet);
        }
    }
}

/* Stores the words of the key from the network layer's addresses on, which are
 * 'n_addrs' words at 'addrs', to 'words'. */
static inline void
put_l3_l4(struct dp_key *key, uint64_t *words, const void *addrs,
          size_t n_addrs, uint32_t label, uint32_t tos_ttl_proto,
          const struct ip_facts *facts, const void *l4)
{
    uint32_t ports;

    memcpy(words, addrs, n_addrs * sizeof *words);
    words += n_addrs;
    *words++ = make_word(label, tos_ttl_proto);
    key->tcp_flags = 0;
    if (facts->proto == IPPROTO_TCP) {
        const struct tcp_header *tcp = l4;

        key->tcp_flags = TCP_FLAGS(tcp->tcp_ctl);
        *words++ = make_word(0, (uint32_t) key->tcp_flags << 16);
    }
    memcpy(&ports, l4, sizeof ports);
    *words = make_word(ntohl((OVS_FORCE ovs_be32) ports), 0);
}

static inline void
set_map(struct dp_key *key, bool ipv4, bool tcp)
{
    map_t unit0 = ipv4 ? IPV4_BITS(0) : IPV6_BITS(0);
    map_t unit1 = ipv4 ? IPV4_BITS(1) : IPV6_BITS(1);

    key->mf.map.bits[0] = tcp ? unit0 | TCP_BITS(0) : unit0;
    key->mf.map.bits[1] = tcp ? unit1 | TCP_BITS(1) : unit1;
}

bool
pmd_parse_ip(struct dp_packet *packet, struct dp_key *key)
{
    const uint8_t *frame = dp_packet_data(packet);
    const uint8_t *ip = frame + ETH_HEADER_LEN;
    size_t size = dp_packet_size(packet);
    const struct eth_header *eth = (const void *) frame;
    uint64_t *words = key->words;
    struct ip_facts facts;
    const uint8_t *l4;
    bool ipv4;

    if (OVS_UNLIKELY(size < ETH_HEADER_LEN
                     || packet->packet_type != htonl(PT_ETH)
                     || dp_packet_hwol_is_tunnel(packet))) {
        return false;
    }
    ipv4 = eth->eth_type == htons(ETH_TYPE_IP);
    if (OVS_LIKELY(ipv4)) {
        if (!check_ipv4((const void *) ip, size - ETH_HEADER_LEN, &facts)) {
            return false;
        }
    } else if (eth->eth_type != htons(ETH_TYPE_IPV6)
               || !check_ipv6((const void *) ip, size - ETH_HEADER_LEN,
                              &facts)) {
        return false;
    }
    l4 = ip + facts.header_len;
    if (!check_l4(&facts, l4)) {
        return false;
    }

    note_layers(packet, &facts, ipv4);
    set_map(key, ipv4, facts.proto == IPPROTO_TCP);
    words[0] = port_word(packet->md.in_port.odp_port);
    words[1] = 0;               /* PT_ETH. */
    words[2] = load_word(frame);
    words[3] = load_word(frame + 8) & htonll(UINT64_C(0xffffffffffff0000));
    if (ipv4) {
        const struct ip_header *h = (const void *) ip;

        put_l3_l4(key, &words[4], &h->ip_src, 1, 0,
                  h->ip_tos << 16 | h->ip_ttl << 8 | h->ip_proto, &facts, l4);
    } else {
        const struct ovs_16aligned_ip6_hdr *h = (const void *) ip;
        uint32_t flow = ntohl(get_16aligned_be32(&h->ip6_flow));

        put_l3_l4(key, &words[4], &h->ip6_src, 4, flow & IPV6_LABEL_MASK,
                  (flow >> 20 & 0xff) << 16 | h->ip6_hlim << 8 | h->ip6_nxt,
                  &facts, l4);
    }
    return true;
}
