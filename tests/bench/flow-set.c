/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "bench/flow-set.h"

#include <math.h>

#include "csum.h"
#include "dp-packet.h"
#include "flow.h"
#include "packets.h"
#include "unaligned.h"
#include "util.h"

enum { BITS_VARIANTS = 16 };    /* Variants of each address's mask. */
enum { MAX_MICRO_BITS = 16 };
enum { DRAWN_SIZE = 1 << 22 };
enum { PAYLOAD_MAGIC = 0x57656674 };
enum { VLAN_ID = 100 };
enum { ABSENT_PORT = 0x8000 };  /* A bit that no flow's L4 port has. */

/* FLOW_SET_TSE: how long prefixes may be, and what the access list allows. */
enum { SRC_BITS = 32, PORT_BITS = 16 };
enum { TWO_FIELDS = SRC_BITS * PORT_BITS };
static const struct flow_tuple tse_allowed = {
    .src = 0x0a141e28, .dst = 0x14000001, .sport = 12345, .dport = 443,
};

/* What a packet carries behind its UDP header, at any alignment. */
OVS_PACKED(
struct flow_payload {
    uint32_t magic;
    uint32_t flow;              /* Host byte order: nobody else reads it. */
});

/* A bijection of 64-bit numbers that looks random. */
static inline uint64_t
scramble(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 32;
    return x;
}

unsigned int
flow_set_mask_of(const struct flow_set *set, uint64_t flow)
{
    return flow % set->n_masks;
}

static unsigned int
src_wild_bits(const struct flow_set *set, unsigned int mask)
{
    return set->micro_bits + mask % BITS_VARIANTS;
}

static unsigned int
dst_wild_bits(unsigned int mask)
{
    return mask / BITS_VARIANTS;
}

/* The lengths of the prefixes that 'mask' consists of. */
struct tse_lengths {
    unsigned int src, sport, dport;
};

static inline struct tse_lengths
tse_lengths(const struct flow_set *set, unsigned int mask)
{
    return (struct tse_lengths) {
        .src = 1 + mask % SRC_BITS,
        .sport = 1 + mask / SRC_BITS % PORT_BITS,
        .dport = set->n_masks > TWO_FIELDS ? 1 + mask / TWO_FIELDS : 0,
    };
}

/* Returns a number of 'width' bits, the first 'len' - 1 of which are those of
 * 'allowed', the next not, and the rest taken from 'random'. */
static inline uint32_t
deny_prefix(uint32_t allowed, unsigned int width, unsigned int len,
            uint32_t random)
{
    uint64_t bit = UINT64_C(1) << (width - len);

    return ((allowed ^ (len ? bit : 0)) & -bit) | (random & (bit - 1));
}

static void
tse_tuple(const struct flow_set *set, uint64_t microflow,
          struct flow_tuple *t)
{
    struct tse_lengths len = tse_lengths(set, microflow / set->per_flow);
    uint64_t random = scramble(microflow + 1);

    t->src = deny_prefix(tse_allowed.src, SRC_BITS, len.src, random);
    t->dst = tse_allowed.dst;
    t->sport = deny_prefix(tse_allowed.sport, PORT_BITS, len.sport,
                           random >> 32);
    t->dport = deny_prefix(tse_allowed.dport, PORT_BITS, len.dport,
                           random >> 48);
}

void
flow_set_tuple(const struct flow_set *set, uint64_t microflow,
               struct flow_tuple *t)
{
    uint64_t i = microflow, micro = 0;
    unsigned int mask = 0;

    if (OVS_UNLIKELY(set->kind == FLOW_SET_TSE)) {
        tse_tuple(set, microflow, t);
        return;
    }
    if (set->per_flow > 1) {
        i = microflow / set->per_flow;
        micro = microflow % set->per_flow;
    }

    uint32_t nth = i;
    if (set->n_masks > 1) {
        mask = i % set->n_masks;
        nth = i / set->n_masks;
    }

    uint64_t bits = nth * UINT64_C(0x9e3779b97f4a7c15);
    t->src = 0x0a000000 | ((bits >> 40) & 0xffffff);
    t->dst = 0x14000000 | mask << 16 | ((bits >> 16) & 0xffff);
    t->sport = nth;
    t->dport = 1 + (nth >> 16);
    if (set->micro_bits) {
        t->src = (t->src >> set->micro_bits << set->micro_bits) | micro;
    }
}

/* Stores in 'm' which bits of the 5-tuple 'mask' matches. */
static void
mask_tuple(const struct flow_set *set, unsigned int mask,
           struct flow_tuple *m)
{
    if (set->kind == FLOW_SET_TSE) {
        struct tse_lengths len = tse_lengths(set, mask);

        m->src = UINT32_MAX << (SRC_BITS - len.src);
        m->dst = UINT32_MAX;
        m->sport = UINT32_MAX << (PORT_BITS - len.sport);
        m->dport = UINT32_MAX << (PORT_BITS - len.dport);
    } else {
        m->src = UINT32_MAX << src_wild_bits(set, mask);
        m->dst = UINT32_MAX << dst_wild_bits(mask);
        m->sport = UINT16_MAX;
        m->dport = UINT16_MAX;
    }
}

/* Lays out the part of the frame that is the same for all flows. */
static void
make_template(struct flow_set *set)
{
    struct eth_header *eth = (struct eth_header *) set->frame;
    size_t ofs = ETH_HEADER_LEN;

    memset(set->frame, 0, sizeof set->frame);
    eth_addr_from_uint64(UINT64_C(0x020000000101), &eth->eth_dst);
    eth_addr_from_uint64(UINT64_C(0x020000000202), &eth->eth_src);
    eth->eth_type = htons(set->kind == FLOW_SET_IPV6 ? ETH_TYPE_IPV6
                          : ETH_TYPE_IP);
    if (set->kind == FLOW_SET_VLAN) {
        ovs_be16 inner = eth->eth_type;

        eth->eth_type = htons(ETH_TYPE_VLAN_8021Q);
        put_unaligned_be16((ovs_be16 *) (set->frame + ofs), htons(VLAN_ID));
        put_unaligned_be16((ovs_be16 *) (set->frame + ofs + 2), inner);
        ofs += VLAN_HEADER_LEN;
    }

    set->l3_ofs = ofs;
    set->l4_ofs = ofs + (set->kind == FLOW_SET_IPV6 ? IPV6_HEADER_LEN
                         : IP_HEADER_LEN);
    set->frame_len = MAX(60, (set->l4_ofs + UDP_HEADER_LEN
                              + sizeof(struct flow_payload)));

    size_t l4_len = set->frame_len - set->l4_ofs;
    if (set->kind == FLOW_SET_IPV6) {
        struct ovs_16aligned_ip6_hdr *ip6 = (void *) (set->frame + ofs);
        struct in6_addr addr;

        put_16aligned_be32(&ip6->ip6_flow, htonl(6 << 28));
        ip6->ip6_plen = htons(l4_len);
        ip6->ip6_nxt = IPPROTO_UDP;
        ip6->ip6_hlim = 64;
        ipv6_parse("2001:db8::", &addr);
        memcpy(&ip6->ip6_src, &addr, sizeof addr);
        ipv6_parse("2001:db8:1::", &addr);
        memcpy(&ip6->ip6_dst, &addr, sizeof addr);
    } else {
        struct ip_header *ip = (void *) (set->frame + ofs);

        ip->ip_ihl_ver = IP_IHL_VER(5, 4);
        ip->ip_tot_len = htons(IP_HEADER_LEN + l4_len);
        ip->ip_frag_off = htons(IP_DONT_FRAGMENT);
        ip->ip_ttl = 64;
        ip->ip_proto = IPPROTO_UDP;
        set->ip_csum = csum_continue(0, ip, sizeof *ip);
    }

    struct udp_header *udp = (void *) (set->frame + set->l4_ofs);
    udp->udp_len = htons(l4_len);
}

char *
flow_set_init(struct flow_set *set, uint64_t n_flows, unsigned int n_masks,
              uint64_t n_microflows, enum flow_set_kind kind,
              unsigned int n_outputs, odp_port_t in_port)
{
    if (n_flows < 1 || n_flows > 1 << 25) {
        return xasprintf("number of flows %"PRIu64" is not in 1...%d",
                         n_flows, 1 << 25);
    }

    unsigned int max_masks = (kind == FLOW_SET_TSE ? FLOW_SET_MAX_TSE_MASKS
                              : FLOW_SET_MAX_MASKS);
    if (n_masks < 1 || n_masks > max_masks || n_masks > n_flows) {
        return xasprintf("number of masks %u is not in 1...%u, or exceeds "
                         "the number of flows", n_masks, max_masks);
    }
    if (kind == FLOW_SET_TSE) {
        if (n_flows != n_masks) {
            return xasprintf("%"PRIu64" flows are not one for each of %u "
                             "masks", n_flows, n_masks);
        }
        n_microflows = n_microflows ? n_microflows : n_flows << MAX_MICRO_BITS;
    }
    n_microflows = MAX(n_microflows, n_flows);
    if (DIV_ROUND_UP(n_microflows, n_flows) > 1 << MAX_MICRO_BITS) {
        return xasprintf("%"PRIu64" microflows are more than %d per flow",
                         n_microflows, 1 << MAX_MICRO_BITS);
    }

    memset(set, 0, sizeof *set);
    set->n_flows = n_flows;
    set->per_flow = DIV_ROUND_UP(n_microflows, n_flows);
    set->n_microflows = set->per_flow * n_flows;
    if (set->n_microflows > UINT32_MAX) {
        return xasprintf("%"PRIu64" microflows are too many",
                         set->n_microflows);
    }
    set->n_masks = n_masks;
    set->micro_bits = log_2_ceil(set->per_flow);
    set->kind = kind;
    set->n_outputs = n_outputs;
    set->in_port = in_port;
    make_template(set);
    return NULL;
}

/* Sets the last 32 bits of 'addr'. */
static void
put_tail(struct in6_addr *addr, uint32_t value)
{
    ovs_be32 tail = htonl(value);

    memcpy(&addr->s6_addr[12], &tail, sizeof tail);
}

void
flow_set_match(const struct flow_set *set, uint64_t i, struct flow *flow,
               struct flow_wildcards *wc)
{
    uint8_t buf[sizeof(struct dp_packet) + 64];
    struct dp_packet *p = ALIGNED_CAST(struct dp_packet *,
                                       ROUND_UP((uintptr_t) buf, 64));
    uint8_t frame[FLOW_SET_FRAME_MAX];
    struct flow_tuple t, m;

    /* Let the parser make the key from the packet: it is what the packet
     * will be compared with. */
    memcpy(frame, set->frame, set->frame_len);
    flow_set_tuple(set, i * set->per_flow, &t);
    dp_packet_use_const(p, frame, set->frame_len);
    pkt_metadata_init(&p->md, set->in_port);
    flow_extract(p, flow);

    mask_tuple(set, flow_set_mask_of(set, i), &m);
    flow->tp_src = htons(t.sport & m.sport);
    flow->tp_dst = htons(t.dport & m.dport);

    flow_wildcards_init_catchall(wc);
    WC_MASK_FIELD(wc, recirc_id);
    WC_MASK_FIELD(wc, in_port);
    WC_MASK_FIELD(wc, packet_type);
    WC_MASK_FIELD(wc, dl_type);
    WC_MASK_FIELD(wc, nw_frag);
    WC_MASK_FIELD(wc, nw_proto);
    wc->masks.tp_src = htons(m.sport);
    wc->masks.tp_dst = htons(m.dport);
    if (set->kind == FLOW_SET_VLAN) {
        WC_MASK_FIELD(wc, vlans[0]);
    }
    if (set->kind == FLOW_SET_IPV6) {
        memset(&wc->masks.ipv6_src, 0xff, 12);
        memset(&wc->masks.ipv6_dst, 0xff, 12);
        put_tail(&flow->ipv6_src, t.src & m.src);
        put_tail(&flow->ipv6_dst, t.dst & m.dst);
        put_tail(&wc->masks.ipv6_src, m.src);
        put_tail(&wc->masks.ipv6_dst, m.dst);
    } else {
        flow->nw_src = htonl(t.src & m.src);
        flow->nw_dst = htonl(t.dst & m.dst);
        wc->masks.nw_src = htonl(m.src);
        wc->masks.nw_dst = htonl(m.dst);
    }
}

void
flow_set_ufid(const struct flow_set *set, uint64_t i, ovs_u128 *ufid)
{
    i |= (uint64_t) odp_to_u32(set->in_port) << 32;
    ufid->u64.lo = scramble(i + 1);
    ufid->u64.hi = ufid->u64.lo ^ i;
}

uint64_t
flow_set_from_ufid(const ovs_u128 *ufid)
{
    return (uint32_t) (ufid->u64.hi ^ ufid->u64.lo);
}

static inline uint16_t
fold_csum(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

/* Returns the number of the flow that 'microflow' is one of. */
static inline uint64_t
flow_of(const struct flow_set *set, uint64_t microflow)
{
    return set->per_flow > 1 ? microflow / set->per_flow : microflow;
}

static inline void
write_packet(const struct flow_set *set, const struct flow_tuple *t,
             uint32_t flow, bool rss, struct dp_packet *p)
{
    uint8_t *frame = dp_packet_data(p);
    struct flow_payload *payload;
    struct udp_header *udp;

    /* Fixed sizes are copied by a few vector moves; a packet of the pool has
     * room for them. */
    memcpy(frame, set->frame, 64);
    if (set->frame_len > 64) {
        memcpy(frame + 64, set->frame + 64, FLOW_SET_FRAME_MAX - 64);
    }
    if (set->kind == FLOW_SET_IPV6) {
        struct ovs_16aligned_ip6_hdr *ip6 = (void *) (frame + set->l3_ofs);

        put_16aligned_be32(&ip6->ip6_src.be32[3], htonl(t->src));
        put_16aligned_be32(&ip6->ip6_dst.be32[3], htonl(t->dst));
    } else {
        struct ip_header *ip = (void *) (frame + set->l3_ofs);
        ovs_be32 src = htonl(t->src), dst = htonl(t->dst);

        put_16aligned_be32(&ip->ip_src, src);
        put_16aligned_be32(&ip->ip_dst, dst);
        ip->ip_csum = (OVS_FORCE ovs_be16) fold_csum(
            set->ip_csum
            + ((OVS_FORCE uint32_t) src & 0xffff)
            + ((OVS_FORCE uint32_t) src >> 16)
            + ((OVS_FORCE uint32_t) dst & 0xffff)
            + ((OVS_FORCE uint32_t) dst >> 16));
    }

    udp = (void *) (frame + set->l4_ofs);
    udp->udp_src = htons(t->sport);
    udp->udp_dst = htons(t->dport);
    payload = (void *) (udp + 1);
    payload->magic = PAYLOAD_MAGIC;
    payload->flow = flow;

    dp_packet_set_size(p, set->frame_len);
    if (rss) {
        uint64_t addrs = (uint64_t) t->src << 32 | t->dst;
        uint64_t ports = (uint64_t) t->sport << 16 | t->dport;

        dp_packet_set_rss_hash(p, scramble(addrs * UINT64_C(0x9e3779b97f4a7c15)
                                           + ports));
    }
}

void
flow_set_fill(const struct flow_set *set, uint64_t microflow, bool rss,
              struct dp_packet *p)
{
    struct flow_tuple t;

    flow_set_tuple(set, microflow, &t);
    write_packet(set, &t, flow_of(set, microflow), rss, p);
}

void
flow_set_fill_absent(const struct flow_set *set, uint64_t microflow, bool rss,
                     struct dp_packet *p)
{
    struct flow_tuple t;

    flow_set_tuple(set, microflow, &t);
    if (set->kind == FLOW_SET_TSE) {
        t.src = tse_allowed.src;
    } else {
        t.dport |= ABSENT_PORT;
    }
    write_packet(set, &t, UINT32_MAX, rss, p);
}

uint32_t
flow_set_packet_flow(const struct flow_set *set, const struct dp_packet *p)
{
    const struct flow_payload *payload;

    payload = dp_packet_at(p, set->l4_ofs + UDP_HEADER_LEN, sizeof *payload);
    return payload && payload->magic == PAYLOAD_MAGIC
           && payload->flow < set->n_flows ? payload->flow : UINT32_MAX;
}

/* Sources. */

static inline uint64_t
next_random(struct flow_source *source)
{
    uint64_t x = source->random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    source->random = x;
    return x;
}

/* Returns a number in [0, n), 'n' below 2^32. */
static inline uint64_t
random_below(struct flow_source *source, uint64_t n)
{
    return ((next_random(source) >> 32) * n) >> 32;
}

/* What one call of fill() sends. */
struct sent {
    uint64_t flow_sum, n_absent;
};

static inline void
send_one(struct flow_source *source, uint64_t microflow, struct dp_packet *p,
         struct sent *sent)
{
    const struct flow_set *set = source->set;

    if (OVS_UNLIKELY(source->absent_below)
        && next_random(source) >> 32 < source->absent_below) {
        flow_set_fill_absent(set, microflow, source->rss, p);
        sent->n_absent++;
    } else {
        flow_set_fill(set, microflow, source->rss, p);
        sent->flow_sum += 1 + flow_of(set, microflow);
    }
}

static void
flow_source_add(struct flow_source *source, const struct sent *sent)
{
    uint64_t old;

    /* One writer. */
    atomic_read_relaxed(&source->flow_sum, &old);
    atomic_store_relaxed(&source->flow_sum, old + sent->flow_sum);
    atomic_read_relaxed(&source->n_absent, &old);
    atomic_store_relaxed(&source->n_absent, old + sent->n_absent);
}

static size_t
fill_uniform(struct synthetic_source *up, struct dp_packet **packets,
             size_t n)
{
    struct flow_source *source = CONTAINER_OF(up, struct flow_source, up);
    struct sent sent = { 0, 0 };

    for (size_t i = 0; i < n; i++) {
        send_one(source, random_below(source, source->set->n_microflows),
                 packets[i], &sent);
    }
    flow_source_add(source, &sent);
    return n;
}

static size_t
fill_zipf(struct synthetic_source *up, struct dp_packet **packets, size_t n)
{
    struct flow_source *source = CONTAINER_OF(up, struct flow_source, up);
    struct sent sent = { 0, 0 };

    for (size_t i = 0; i < n; i++) {
        send_one(source, source->drawn[source->next++ & source->drawn_mask],
                 packets[i], &sent);
    }
    flow_source_add(source, &sent);
    return n;
}

static size_t
fill_round_robin(struct synthetic_source *up, struct dp_packet **packets,
                 size_t n)
{
    struct flow_source *source = CONTAINER_OF(up, struct flow_source, up);
    struct sent sent = { 0, 0 };

    for (size_t i = 0; i < n; i++) {
        uint64_t m = source->next;

        source->next = m + 1 < source->set->n_microflows ? m + 1 : 0;
        send_one(source, m, packets[i], &sent);
    }
    flow_source_add(source, &sent);
    return n;
}

/* The integral of x^-s, and its inverse. */
static double
zipf_integral(double x, double s)
{
    return s == 1.0 ? log(x) : (pow(x, 1.0 - s) - 1.0) / (1.0 - s);
}

static double
zipf_inverse(double y, double s)
{
    return s == 1.0 ? exp(y) : pow(y * (1.0 - s) + 1.0, 1.0 / (1.0 - s));
}

/* Draws a rank in 1...n with probability proportional to rank^-s: inverts the
 * continuous distribution, rounds, and rejects by how much the rounding's
 * bar exceeds the curve (rejection-inversion). */
static uint64_t
draw_zipf(struct flow_source *source, uint64_t n, double s)
{
    double low = zipf_integral(1.5, s) - 1.0;
    double high = zipf_integral(n + 0.5, s);

    for (;;) {
        double u = (next_random(source) >> 11) * 0x1p-53;
        double y = low + u * (high - low);
        double x = zipf_inverse(y, s);
        uint64_t k = MAX(1, MIN(n, (uint64_t) (x + 0.5)));

        if (y >= zipf_integral(k + 0.5, s) - pow(k, -s)) {
            return k;
        }
    }
}

/* Returns the microflow of popularity 'rank', from 0.  Those that are alike in
 * popularity belong to different flows. */
static uint32_t
microflow_of_rank(const struct flow_set *set, uint64_t rank)
{
    return rank % set->n_flows * set->per_flow + rank / set->n_flows;
}

void
flow_source_init(struct flow_source *source, const struct flow_set *set,
                 enum flow_choice choice, double exponent, bool rss,
                 uint64_t seed)
{
    memset(source, 0, sizeof *source);
    source->set = set;
    source->choice = choice;
    source->rss = rss;
    source->random = scramble(seed + 1) | 1;

    switch (choice) {
    case FLOW_CHOICE_UNIFORM:
        source->up.fill = fill_uniform;
        break;
    case FLOW_CHOICE_ROUND_ROBIN:
        source->up.fill = fill_round_robin;
        break;
    case FLOW_CHOICE_ZIPF:
        source->up.fill = fill_zipf;
        source->drawn = xmalloc(DRAWN_SIZE * sizeof *source->drawn);
        source->drawn_mask = DRAWN_SIZE - 1;
        for (size_t i = 0; i < DRAWN_SIZE; i++) {
            uint64_t rank = draw_zipf(source, set->n_microflows, exponent) - 1;

            source->drawn[i] = microflow_of_rank(set, rank);
        }
        break;
    default:
        OVS_NOT_REACHED();
    }
}

void
flow_source_set_absent(struct flow_source *source, double share)
{
    source->absent_below = share * 0x1p32;
}

void
flow_source_destroy(struct flow_source *source)
{
    free(source->drawn);
    source->drawn = NULL;
}
