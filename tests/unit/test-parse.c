/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

/* pmd_parse_ip() against the library's miniflow_extract().
 *
 * Each case makes a frame and offload data, has two identical packets of it
 * parsed by the one and by the other, and compares all that is left in packet
 * and key.  Cases made by hand say as well whether pmd_parse_ip() must take
 * the packet. */

#include "pmd/parse-ip.h"

#include <netinet/in.h>

#include "dp-packet.h"
#include "flow.h"
#include "openvswitch/vlog.h"
#include "packets.h"
#include "stress/packet-gen.h"
#include "table/dp-key.h"
#include "unit.h"
#include "util.h"

/* What is known of a packet but its frame. */
struct facts {
    ovs_be32 packet_type;
    uint64_t ol_flags;
    uint32_t rss_hash;
    uint16_t csum_start, csum_offset;
    uint32_t in_port;
};

struct sample {
    struct facts facts;
    size_t size;
    uint8_t frame[PACKET_GEN_MAX + 512];
};

enum { FILL_FRAME = 0xf5, FILL_PACKET = 0xa5, FILL_KEY = 0xc3 };

/* Bytes before and behind a frame. */
enum { MARGIN = 66 };

struct specimen {
    struct dp_packet packet;
    uint8_t *base;
    size_t allocated;
};

enum verdict {
    ANY,
    MUST_TAKE,
    MUST_LEAVE
};

static uint64_t n_taken, n_left;
static struct rng rng = { UINT64_C(0x7061727365) };

/* Makes a packet of 'sample' in memory of its own, which ends where the frame
 * does if 'tight'.  Of the metadata, only what pkt_metadata_init() sets has a
 * meaning. */
static void
specimen_init(struct specimen *s, const struct sample *sample, bool tight)
{
    struct dp_packet *packet = &s->packet;

    s->allocated = MARGIN + sample->size + (tight ? 0 : MARGIN);
    s->base = xmalloc(s->allocated);
    memset(s->base, FILL_FRAME, s->allocated);
    memcpy(s->base + MARGIN, sample->frame, sample->size);

    memset(packet, FILL_PACKET, sizeof *packet);
    dp_packet_use_stub(packet, s->base, s->allocated);
    dp_packet_set_data(packet, s->base + MARGIN);
    dp_packet_set_size(packet, sample->size);
    packet->packet_type = sample->facts.packet_type;
    packet->l2_pad_size = packet->l2_5_ofs = 11;
    packet->l3_ofs = packet->l4_ofs = 22;
    packet->inner_l3_ofs = packet->inner_l4_ofs = 33;
    packet->csum_start = sample->facts.csum_start;
    packet->csum_offset = sample->facts.csum_offset;
    *dp_packet_ol_flags_ptr(packet) = sample->facts.ol_flags;
    *dp_packet_rss_ptr(packet) = sample->facts.rss_hash;
    memset(&packet->md, FILL_PACKET, sizeof packet->md);
    pkt_metadata_init(&packet->md, u32_to_odp(sample->facts.in_port));
}

/* Compares all that belongs to the packets, 'a' being expected. */
static void
compare_specimens(struct specimen *a, struct specimen *b)
{
    CHECK_UINT(b->packet.l2_pad_size, ==, a->packet.l2_pad_size);
    CHECK_UINT(b->packet.l2_5_ofs, ==, a->packet.l2_5_ofs);
    CHECK_UINT(b->packet.l3_ofs, ==, a->packet.l3_ofs);
    CHECK_UINT(b->packet.l4_ofs, ==, a->packet.l4_ofs);
    CHECK_HEX(*dp_packet_ol_flags_ptr(&b->packet), ==,
              *dp_packet_ol_flags_ptr(&a->packet));
    CHECK_HEX(*dp_packet_rss_ptr(&b->packet), ==,
              *dp_packet_rss_ptr(&a->packet));

    /* And whatever else there is. */
    CHECK(dp_packet_base(&a->packet) == a->base);
    CHECK(dp_packet_base(&b->packet) == b->base);
    dp_packet_set_base(&b->packet, a->base);
    CHECK_MEM(&b->packet, &a->packet, sizeof a->packet);
    dp_packet_set_base(&b->packet, b->base);
    CHECK_MEM(b->base, a->base, a->allocated);
}

/* Compares keys: 'b' is what pmd_parse_ip() made. */
static void
compare_keys(struct dp_key *a, struct dp_key *b, struct dp_key *untouched)
{
    size_t n = miniflow_n_values(&a->mf);

    CHECK_MEM(&b->mf.map, &a->mf.map, sizeof a->mf.map);
    CHECK_MEM(b->words, a->words, n * sizeof *a->words);
    CHECK_HEX(b->tcp_flags, ==, miniflow_get_tcp_flags(&a->mf));

    /* The rest of the key is the caller's. */
    CHECK_HEX(b->hash, ==, untouched->hash);
    CHECK_HEX(b->shape, ==, untouched->shape);
    CHECK_HEX(odp_to_u32(b->in_port), ==, odp_to_u32(untouched->in_port));
    CHECK_MEM(&b->words[n], &untouched->words[n],
              (ARRAY_SIZE(b->words) - n) * sizeof *b->words);
}

/* Parses 'sample' in both ways and compares.  Returns true if pmd_parse_ip()
 * took it. */
static bool
try_in(const struct sample *sample, bool tight)
{
    struct dp_key good, key, untouched;
    struct specimen a, b;
    bool taken;

    memset(&untouched, FILL_KEY, sizeof untouched);
    memset(&good, 0, sizeof good);
    key = untouched;
    specimen_init(&a, sample, tight);
    specimen_init(&b, sample, tight);

    taken = pmd_parse_ip(&b.packet, &key);
    if (taken) {
        miniflow_extract(&a.packet, &good.mf);
        compare_keys(&good, &key, &untouched);
    } else {
        CHECK_MEM(&key, &untouched, sizeof key);
    }
    compare_specimens(&a, &b);
    free(a.base);
    free(b.base);
    return taken;
}

static bool
try_parse(const struct sample *sample, enum verdict verdict)
{
    bool taken = try_in(sample, false);

    CHECK(try_in(sample, true) == taken);
    if (verdict == MUST_TAKE) {
        CHECK_MSG(taken, "size %"PRIuSIZE, sample->size);
    } else if (verdict == MUST_LEAVE) {
        CHECK_MSG(!taken, "size %"PRIuSIZE, sample->size);
    }
    *(taken ? &n_taken : &n_left) += 1;
    return taken;
}

static enum verdict
must_take_if(bool condition)
{
    return condition ? MUST_TAKE : MUST_LEAVE;
}

/* Frames. */

static size_t
l3_len(bool ipv4)
{
    return ipv4 ? IP_HEADER_LEN : IPV6_HEADER_LEN;
}

static uint8_t *
l3_of(struct sample *s)
{
    return s->frame + ETH_HEADER_LEN;
}

static uint8_t *
l4_of(struct sample *s, bool ipv4)
{
    return l3_of(s) + l3_len(ipv4);
}

static void
put_be16(uint8_t *p, uint16_t value)
{
    p[0] = value >> 8;
    p[1] = value;
}

static void
put_random(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = rng_next(&rng);
    }
}

/* Gives the IP header the length of what is behind it. */
static void
set_l3_payload(struct sample *s, bool ipv4, size_t n)
{
    if (ipv4) {
        put_be16(l3_of(s) + 2, IP_HEADER_LEN + n);
    } else {
        put_be16(l3_of(s) + 4, n);
    }
}

/* A frame of TCP or UDP with 'n_data' bytes and then padding, its addresses
 * and whatever else is free at random. */
static void
make_plain(struct sample *s, bool ipv4, bool tcp, size_t n_data,
           size_t padding)
{
    size_t l4_len = tcp ? TCP_HEADER_LEN : UDP_HEADER_LEN;
    uint8_t *l3 = l3_of(s);

    memset(&s->facts, 0, sizeof s->facts);
    s->facts.packet_type = htonl(PT_ETH);
    s->facts.in_port = rng_next(&rng);

    s->size = ETH_HEADER_LEN + l3_len(ipv4) + l4_len + n_data + padding;
    ovs_assert(s->size <= sizeof s->frame);
    put_random(s->frame, s->size);
    put_be16(s->frame + 12, ipv4 ? ETH_TYPE_IP : ETH_TYPE_IPV6);
    if (ipv4) {
        l3[0] = 0x45;
        put_be16(l3 + 6, IP_DONT_FRAGMENT);
        l3[9] = tcp ? IPPROTO_TCP : IPPROTO_UDP;
    } else {
        l3[0] = 0x60 | (l3[0] & 0xf);
        l3[6] = tcp ? IPPROTO_TCP : IPPROTO_UDP;
    }
    set_l3_payload(s, ipv4, l4_len + n_data);
    if (tcp) {
        uint8_t *tcp_ctl = l4_of(s, ipv4) + 12;

        *tcp_ctl = 0x50 | (*tcp_ctl & 0xf);
    }
}

#define FOR_EACH_KIND(IPV4, TCP)                                        \
    for (int kind_ = 0; kind_ < 4; kind_++)                             \
        for (bool IPV4 = kind_ & 1, TCP = kind_ & 2, once_ = true;      \
             once_; once_ = false)

/* Cases by hand. */

static void
test_plain(void)
{
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        for (size_t n_data = 0; n_data <= 1460; n_data += 5) {
            make_plain(&s, ipv4, tcp, n_data, 0);
            try_parse(&s, MUST_TAKE);
        }
    }
}

/* What the words are, said without the library. */
static void
test_words(void)
{
    struct specimen specimen;
    struct dp_key key;
    struct sample s;
    struct flow flow;

    FOR_EACH_KIND (ipv4, tcp) {
        make_plain(&s, ipv4, tcp, 10, 5);
        specimen_init(&specimen, &s, true);
        CHECK(pmd_parse_ip(&specimen.packet, &key));
        miniflow_expand(&key.mf, &flow);

        CHECK_UINT(odp_to_u32(flow.in_port.odp_port), ==, s.facts.in_port);
        CHECK_UINT(ntohl(flow.packet_type), ==, PT_ETH);
        CHECK_MEM(&flow.dl_dst, s.frame, 6);
        CHECK_MEM(&flow.dl_src, s.frame + 6, 6);
        CHECK_MEM(&flow.dl_type, s.frame + 12, 2);
        if (ipv4) {
            CHECK_HEX(flow.nw_tos, ==, l3_of(&s)[1]);
            CHECK_HEX(flow.nw_ttl, ==, l3_of(&s)[8]);
            CHECK_MEM(&flow.nw_src, l3_of(&s) + 12, 4);
            CHECK_MEM(&flow.nw_dst, l3_of(&s) + 16, 4);
        } else {
            CHECK_HEX(flow.nw_tos, ==,
                      (l3_of(&s)[0] & 0xf) << 4 | l3_of(&s)[1] >> 4);
            CHECK_HEX(flow.nw_ttl, ==, l3_of(&s)[7]);
            CHECK_MEM(&flow.ipv6_src, l3_of(&s) + 8, 16);
            CHECK_MEM(&flow.ipv6_dst, l3_of(&s) + 24, 16);
        }
        CHECK_UINT(flow.nw_frag, ==, 0);
        CHECK_UINT(flow.nw_proto, ==, tcp ? IPPROTO_TCP : IPPROTO_UDP);
        CHECK_MEM(&flow.tp_src, l4_of(&s, ipv4), 2);
        CHECK_MEM(&flow.tp_dst, l4_of(&s, ipv4) + 2, 2);
        CHECK_UINT(specimen.packet.l2_pad_size, ==, 5);
        CHECK_UINT(specimen.packet.l3_ofs, ==, ETH_HEADER_LEN);
        CHECK_UINT(specimen.packet.l4_ofs, ==, ETH_HEADER_LEN + l3_len(ipv4));
        free(specimen.base);
    }
}

/* Cut off at every length, with the IP header telling of it or not. */
static void
test_truncated(void)
{
    struct sample s, whole;

    FOR_EACH_KIND (ipv4, tcp) {
        size_t headers = ETH_HEADER_LEN + l3_len(ipv4);
        size_t l4_len = tcp ? TCP_HEADER_LEN : UDP_HEADER_LEN;

        make_plain(&whole, ipv4, tcp, 40, 0);
        for (size_t size = 0; size < whole.size; size++) {
            s = whole;
            s.size = size;
            try_parse(&s, MUST_LEAVE);
            if (size >= headers) {
                set_l3_payload(&s, ipv4, size - headers);
                try_parse(&s, must_take_if(size >= headers + l4_len));
            }
        }
    }
}

static void
test_padding(void)
{
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        for (size_t padding = 0; padding <= 300; padding++) {
            make_plain(&s, ipv4, tcp, 18, padding);
            try_parse(&s, must_take_if(padding <= 255));
        }
    }
}

/* Lengths that the IP header can give. */
static void
test_l3_length(void)
{
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        size_t l4_len = tcp ? TCP_HEADER_LEN : UDP_HEADER_LEN;

        make_plain(&s, ipv4, tcp, 300, 0);
        for (uint32_t length = 0; length <= UINT16_MAX;
             length += length < 1000 ? 1 : 41) {
            size_t payload = length - (ipv4 ? IP_HEADER_LEN : 0);

            put_be16(l3_of(&s) + (ipv4 ? 2 : 4), length);
            try_parse(&s, must_take_if((!ipv4 || length >= IP_HEADER_LEN)
                                       && payload >= l4_len
                                       && payload <= l4_len + 300
                                       && payload + 255 >= l4_len + 300));
        }
    }
}

/* Versions and options.  IPv6 has no length there, and neither parser asks for
 * the version that it must have. */
static void
test_first_byte(void)
{
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        make_plain(&s, ipv4, tcp, 60, 0);
        for (int byte = 0; byte <= UINT8_MAX; byte++) {
            l3_of(&s)[0] = byte;
            try_parse(&s, must_take_if(!ipv4 || byte == 0x45));
        }
    }
}

static void
test_fragments(void)
{
    struct sample s;

    for (int tcp = 0; tcp < 2; tcp++) {
        make_plain(&s, true, tcp, 20, 0);
        for (uint32_t frag = 0; frag <= UINT16_MAX; frag++) {
            put_be16(l3_of(&s) + 6, frag);
            try_parse(&s, must_take_if(!(frag & (IP_MORE_FRAGMENTS
                                                 | IP_FRAG_OFF_MASK))));
        }
    }
}

/* IPv6's extension headers are among the protocols. */
static void
test_protocols(void)
{
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        for (int proto = 0; proto <= UINT8_MAX; proto++) {
            make_plain(&s, ipv4, tcp, 60, 0);
            l3_of(&s)[ipv4 ? 9 : 6] = proto;
            l4_of(&s, ipv4)[12] = 0x50;
            try_parse(&s, must_take_if(proto == IPPROTO_TCP
                                       || proto == IPPROTO_UDP));
        }
    }
}

/* Header lengths and flags, reserved ones included. */
static void
test_tcp_control(void)
{
    enum { N_DATA = 21 };
    struct sample s;

    for (int ipv4 = 0; ipv4 < 2; ipv4++) {
        make_plain(&s, ipv4, true, N_DATA, 3);
        for (uint32_t ctl = 0; ctl <= UINT16_MAX; ctl++) {
            size_t len = (ctl >> 12) * 4;

            put_be16(l4_of(&s, ipv4) + 12, ctl);
            try_parse(&s, must_take_if(len >= TCP_HEADER_LEN
                                       && len <= TCP_HEADER_LEN + N_DATA));
        }
    }
}

/* Tags, labels, ARP, lengths of LLC and all else. */
static void
test_ethernet_types(void)
{
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        make_plain(&s, ipv4, tcp, 60, 0);
        for (uint32_t type = 0; type <= UINT16_MAX; type++) {
            put_be16(s.frame + 12, type);
            if (type == ETH_TYPE_IP || type == ETH_TYPE_IPV6) {
                try_parse(&s, ((type == ETH_TYPE_IP) == ipv4
                               ? MUST_TAKE : ANY));
            } else {
                try_parse(&s, MUST_LEAVE);
            }
        }
    }
}

static void
test_packet_types(void)
{
    static const uint32_t types[] = {
        PT_USE_NEXT_PROTO, PT_IPV4, PT_IPV6, PT_MPLS, PT_MPLS_MC, PT_NSH,
        PT_UNKNOWN, 1, 0x01000000, 0x80000000,
    };
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        make_plain(&s, ipv4, tcp, 20, 0);
        for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
            s.facts.packet_type = htonl(types[i]);
            try_parse(&s, MUST_LEAVE);
        }
    }
}

static const uint64_t tunnel_flags[] = {
    DP_PACKET_OL_TX_TUNNEL_GENEVE, DP_PACKET_OL_TX_TUNNEL_VXLAN,
    DP_PACKET_OL_TX_TUNNEL_GRE,
};
static const uint64_t other_flags[] = {
    DP_PACKET_OL_RSS_HASH, DP_PACKET_OL_FLOW_MARK,
    DP_PACKET_OL_RX_L4_CKSUM_BAD, DP_PACKET_OL_RX_L4_CKSUM_GOOD,
    DP_PACKET_OL_RX_IP_CKSUM_BAD, DP_PACKET_OL_RX_IP_CKSUM_GOOD,
    DP_PACKET_OL_TX_TCP_SEG, DP_PACKET_OL_TX_IPV4, DP_PACKET_OL_TX_IPV6,
    DP_PACKET_OL_TX_TCP_CKSUM, DP_PACKET_OL_TX_UDP_CKSUM,
    DP_PACKET_OL_TX_IP_CKSUM,
};

/* All combinations of offload flags, a tunnel's with and without. */
static void
test_offload_flags(void)
{
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        make_plain(&s, ipv4, tcp, 20, 0);
        for (uint32_t bits = 0; bits < 1u << ARRAY_SIZE(other_flags);
             bits++) {
            uint64_t flags = 0;

            for (size_t i = 0; i < ARRAY_SIZE(other_flags); i++) {
                flags |= bits & 1u << i ? other_flags[i] : 0;
            }
            s.facts.rss_hash = rng_next(&rng);
            s.facts.ol_flags = flags;
            try_parse(&s, MUST_TAKE);
            s.facts.ol_flags |= tunnel_flags[bits % ARRAY_SIZE(tunnel_flags)];
            try_parse(&s, must_take_if(!(s.facts.ol_flags
                                         & (DP_PACKET_OL_TX_TUNNEL_GENEVE
                                            | DP_PACKET_OL_TX_TUNNEL_VXLAN
                                            | DP_PACKET_OL_TX_TUNNEL_GRE))));
        }
    }
}

static void
test_partial_checksums(void)
{
    static const uint16_t offsets[] = { 0, 1, 6, 16, UINT16_MAX };
    struct sample s;

    FOR_EACH_KIND (ipv4, tcp) {
        make_plain(&s, ipv4, tcp, 20, 0);
        for (uint16_t start = 0; start < 100; start++) {
            for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
                s.facts.csum_start = start;
                s.facts.csum_offset = offsets[i];
                s.facts.ol_flags = (rng_next(&rng)
                                    & DP_PACKET_OL_RX_L4_CKSUM_MASK);
                try_parse(&s, MUST_TAKE);
            }
        }
    }
}

/* Cases at random. */

enum { N_RANDOM = 200000 };

static void
random_facts(struct sample *s)
{
    struct facts *facts = &s->facts;

    for (size_t i = 0; i < ARRAY_SIZE(other_flags); i++) {
        if (rng_percent(&rng, 30)) {
            facts->ol_flags |= other_flags[i];
        }
    }
    if (rng_percent(&rng, 5)) {
        facts->ol_flags |= tunnel_flags[rng_below(&rng, 3)];
    }
    facts->rss_hash = rng_next(&rng);
    facts->in_port = rng_next(&rng);
    if (rng_percent(&rng, 20)) {
        facts->csum_start = rng_below(&rng, 60);
        facts->csum_offset = rng_below(&rng, 3) * 8;
    }
    facts->packet_type = htonl(rng_percent(&rng, 96) ? PT_ETH : PT_IPV4);
}

/* Changes the size, or some bytes, most of them of the headers. */
static void
mutate(struct sample *s)
{
    uint32_t what = rng_below(&rng, 4);

    if (what == 0) {
        s->size = rng_below(&rng, s->size + 1);
    } else if (what == 1) {
        size_t n = rng_below(&rng, 300);

        n = MIN(n, sizeof s->frame - s->size);
        put_random(s->frame + s->size, n);
        s->size += n;
    }
    for (uint32_t n = rng_below(&rng, 4); n > 0 && s->size; n--) {
        size_t ofs = rng_below(&rng, MIN(s->size, 80));

        if (rng_percent(&rng, 50)) {
            s->frame[ofs] = rng_next(&rng);
        } else {
            s->frame[ofs] ^= 1u << rng_below(&rng, 8);
        }
    }
}

static void
test_mutated(void)
{
    struct sample s;

    n_taken = n_left = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        make_plain(&s, rng_percent(&rng, 50), rng_percent(&rng, 50),
                   rng_below(&rng, 80), rng_below(&rng, 20));
        random_facts(&s);
        mutate(&s);
        try_parse(&s, ANY);
    }
    CHECK_UINT(n_taken, >, N_RANDOM / 4);
    CHECK_UINT(n_left, >, N_RANDOM / 4);
}

/* Every kind of packet that the library knows. */
static void
test_random(void)
{
    struct packet_gen_frame f;
    struct packet_gen gen;
    struct sample s;

    packet_gen_init(&gen, 20261);
    n_taken = n_left = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        packet_gen_make(&gen, rng_percent(&rng, 80) ? 0 : i % 3, &f);
        memset(&s.facts, 0, sizeof s.facts);
        memcpy(s.frame, f.data, f.size);
        s.size = f.size;
        random_facts(&s);
        if (rng_percent(&rng, 20)) {
            mutate(&s);
        }
        try_parse(&s, ANY);
    }
    CHECK_UINT(n_taken, >, N_RANDOM / 5);
    CHECK_UINT(n_left, >, N_RANDOM / 5);
}

/* Bytes without any sense behind an Ethernet type. */
static void
test_noise(void)
{
    struct sample s;

    n_taken = n_left = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        memset(&s.facts, 0, sizeof s.facts);
        random_facts(&s);
        s.size = rng_below(&rng, 120);
        put_random(s.frame, sizeof s.frame / 8);
        if (rng_percent(&rng, 90)) {
            bool ipv4 = rng_percent(&rng, 50);

            put_be16(s.frame + 12, ipv4 ? ETH_TYPE_IP : ETH_TYPE_IPV6);
            l3_of(&s)[ipv4 ? 9 : 6] = (rng_percent(&rng, 50) ? IPPROTO_TCP
                                       : IPPROTO_UDP);
            put_be16(l3_of(&s) + (ipv4 ? 2 : 4), rng_below(&rng, 120));
            l3_of(&s)[0] = 0x40 | rng_below(&rng, 8);
            if (rng_percent(&rng, 80)) {
                put_be16(l3_of(&s) + 6, ipv4 ? 0 : IPPROTO_UDP << 8);
            }
        }
        try_parse(&s, ANY);
    }
    CHECK_UINT(n_taken, >, N_RANDOM / 100);
    CHECK_UINT(n_left, >, N_RANDOM / 2);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);

    RUN_TEST(test_plain);
    RUN_TEST(test_words);
    RUN_TEST(test_truncated);
    RUN_TEST(test_padding);
    RUN_TEST(test_l3_length);
    RUN_TEST(test_first_byte);
    RUN_TEST(test_fragments);
    RUN_TEST(test_protocols);
    RUN_TEST(test_tcp_control);
    RUN_TEST(test_ethernet_types);
    RUN_TEST(test_packet_types);
    RUN_TEST(test_offload_flags);
    RUN_TEST(test_partial_checksums);
    RUN_TEST(test_mutated);
    RUN_TEST(test_random);
    RUN_TEST(test_noise);
    return 0;
}
