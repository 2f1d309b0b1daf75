/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "stress/random-flows.h"

#include "bench/dp-driver.h"
#include "flow.h"
#include "netlink.h"
#include "odp-util.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/ofpbuf.h"
#include "packets.h"
#include "stress/packet-gen.h"
#include "util.h"

/* What a mask covers beyond the fields that all of them cover. */
enum {
    M_DL_SRC = 1 << 0,
    M_DL_DST = 1 << 1,
    M_VLAN = 1 << 2,
    M_NW_SRC = 1 << 3,
    M_NW_DST = 1 << 4,
    M_PREFIX = 1 << 5,          /* Not all bits of the addresses. */
    M_NW_PROTO = 1 << 6,
    M_TP_SRC = 1 << 7,
    M_TP_DST = 1 << 8,
    M_NW_TOS = 1 << 9,
    M_NW_TTL = 1 << 10,
    M_TCP_FLAGS = 1 << 11,
    M_LABEL = 1 << 12,
    M_ND = 1 << 13,
    M_OTHER = 1 << 14,          /* ARP, MPLS, NSH. */
};

static const unsigned int shapes[] = {
    0,
    M_DL_DST,
    M_NW_DST,
    M_NW_SRC | M_NW_DST | M_PREFIX,
    M_NW_SRC | M_NW_DST | M_NW_PROTO | M_TP_SRC | M_TP_DST,
    M_NW_PROTO | M_TP_DST,
    M_DL_SRC | M_DL_DST | M_VLAN,
    M_NW_TOS | M_NW_TTL,
    M_NW_PROTO | M_TCP_FLAGS,
    M_NW_DST | M_PREFIX | M_NW_PROTO | M_TP_DST | M_TCP_FLAGS,
    M_LABEL | M_NW_PROTO | M_ND,
    M_OTHER,
    M_DL_SRC | M_DL_DST | M_VLAN | M_NW_SRC | M_NW_DST | M_NW_PROTO
        | M_TP_SRC | M_TP_DST | M_NW_TOS | M_NW_TTL | M_TCP_FLAGS | M_LABEL
        | M_ND | M_OTHER,
};

static unsigned int
shape_of(const struct flow *flow)
{
    uint32_t x = odp_to_u32(flow->in_port.odp_port) * 7 + flow->recirc_id * 3
                 + ntohs(flow->dl_type);

    return shapes[x % ARRAY_SIZE(shapes)];
}

static void
mask_ip(const struct flow *flow, unsigned int shape,
        struct flow_wildcards *wc)
{
    bool ip6 = flow->dl_type == htons(ETH_TYPE_IPV6);
    bool later_frag = flow->nw_frag & FLOW_NW_FRAG_LATER;
    uint8_t proto = flow->nw_proto;

    WC_MASK_FIELD(wc, nw_frag);
    if (shape & M_NW_SRC) {
        if (ip6) {
            memset(&wc->masks.ipv6_src, 0xff, shape & M_PREFIX ? 12 : 16);
        } else {
            wc->masks.nw_src = htonl(shape & M_PREFIX ? 0xffffff00
                                     : UINT32_MAX);
        }
    }
    if (shape & M_NW_DST) {
        if (ip6) {
            memset(&wc->masks.ipv6_dst, 0xff, shape & M_PREFIX ? 15 : 16);
        } else {
            wc->masks.nw_dst = htonl(shape & M_PREFIX ? 0xfffffffe
                                     : UINT32_MAX);
        }
    }
    if (shape & M_NW_TOS) {
        WC_MASK_FIELD(wc, nw_tos);
    }
    if (shape & M_NW_TTL) {
        WC_MASK_FIELD(wc, nw_ttl);
    }
    if (ip6 && shape & M_LABEL) {
        wc->masks.ipv6_label = htonl(IPV6_LABEL_MASK);
    }
    if (shape & M_NW_PROTO) {
        WC_MASK_FIELD(wc, nw_proto);
        if (!later_frag && (proto == IPPROTO_TCP || proto == IPPROTO_UDP
                            || proto == IPPROTO_SCTP
                            || proto == (ip6 ? IPPROTO_ICMPV6
                                         : IPPROTO_ICMP))) {
            if (shape & M_TP_SRC) {
                WC_MASK_FIELD(wc, tp_src);
            }
            if (shape & M_TP_DST) {
                WC_MASK_FIELD(wc, tp_dst);
            }
            if (shape & M_TCP_FLAGS && proto == IPPROTO_TCP) {
                wc->masks.tcp_flags = htons(0xfff);
            }
            if (shape & M_ND && ip6 && shape & M_TP_SRC && shape & M_TP_DST
                && is_nd(flow, NULL)) {
                WC_MASK_FIELD(wc, nd_target);
            }
        }
    }
}

static void
mask_other(const struct flow *flow, unsigned int shape,
           struct flow_wildcards *wc)
{
    if (!(shape & M_OTHER)) {
        return;
    }
    if (flow->dl_type == htons(ETH_TYPE_ARP)
        || flow->dl_type == htons(ETH_TYPE_RARP)) {
        WC_MASK_FIELD(wc, nw_src);
        WC_MASK_FIELD(wc, nw_dst);
        WC_MASK_FIELD(wc, nw_proto);
        WC_MASK_FIELD(wc, arp_sha);
    } else if (eth_type_mpls(flow->dl_type)) {
        wc->masks.mpls_lse[0] = OVS_BE32_MAX;
    } else if (flow->dl_type == htons(ETH_TYPE_NSH)) {
        WC_MASK_FIELD(wc, nsh.flags);
        WC_MASK_FIELD(wc, nsh.mdtype);
        WC_MASK_FIELD(wc, nsh.np);
        WC_MASK_FIELD(wc, nsh.path_hdr);
    }
}

static void
mask_tunnel(const struct flow *flow, struct flow_wildcards *wc)
{
    if (flow_tnl_dst_is_set(&flow->tunnel)) {
        WC_MASK_FIELD(wc, tunnel.tun_id);
        WC_MASK_FIELD(wc, tunnel.ip_src);
        WC_MASK_FIELD(wc, tunnel.ip_dst);
        WC_MASK_FIELD(wc, tunnel.ipv6_src);
        WC_MASK_FIELD(wc, tunnel.ipv6_dst);
        WC_MASK_FIELD(wc, tunnel.flags);
    }
}

/* Sends a mask through its Netlink form, which drops what that cannot say. */
static void
normalize(const struct flow *flow, struct flow_wildcards *wc)
{
    struct flow_wildcards result;
    struct ofpbuf key, mask;

    ofpbuf_init(&key, 512);
    ofpbuf_init(&mask, 512);
    dp_driver_encode(flow, wc, &key, &mask);
    if (odp_flow_key_to_mask(mask.data, mask.size, &result, flow, NULL)
        != ODP_FIT_ERROR) {
        /* Attributes for the Ethernet type come with an exact mask only. */
        *wc = result;
    }
    ofpbuf_uninit(&key);
    ofpbuf_uninit(&mask);
    WC_MASK_FIELD(wc, in_port);
    WC_MASK_FIELD(wc, recirc_id);
    WC_MASK_FIELD(wc, packet_type);
    WC_MASK_FIELD(wc, dl_type);
}

void
random_flow_mask(const struct flow *flow, struct flow_wildcards *wc)
{
    unsigned int shape = shape_of(flow);

    flow_wildcards_init_catchall(wc);
    WC_MASK_FIELD(wc, in_port);
    WC_MASK_FIELD(wc, recirc_id);
    WC_MASK_FIELD(wc, packet_type);
    WC_MASK_FIELD(wc, dl_type);
    mask_tunnel(flow, wc);
    if (shape & M_DL_SRC) {
        WC_MASK_FIELD(wc, dl_src);
    }
    if (shape & M_DL_DST) {
        WC_MASK_FIELD(wc, dl_dst);
    }
    wc->masks.vlans[0].tci = htons(VLAN_CFI);
    if (shape & M_VLAN) {
        WC_MASK_FIELD(wc, vlans[0]);
    }
    if (is_ip_any(flow)) {
        mask_ip(flow, shape, wc);
    } else {
        mask_other(flow, shape, wc);
    }

    if (flow->recirc_id == RF_RECIRC_CT) {
        WC_MASK_FIELD(wc, ct_state);
        WC_MASK_FIELD(wc, ct_zone);
        WC_MASK_FIELD(wc, ct_mark);
    } else if (flow->recirc_id == RF_RECIRC_HASH) {
        wc->masks.dp_hash = 3;
    }
    normalize(flow, wc);
}

/* Actions.  In a template, "%p" stands for a port that packets can leave by.
 * Words in capitals are actions that have no textual form to be parsed; they
 * must not be nested in others. */

#define VXLAN_PUSH \
    "tnl_push(tnl_port(6),header(size=50,type=4," \
    "eth(dst=f8:bc:12:44:34:b6,src=f8:bc:12:46:58:e0,dl_type=0x0800)," \
    "ipv4(src=1.1.2.88,dst=1.1.2.92,proto=17,tos=0,ttl=64,frag=0x4000)," \
    "udp(src=0,dst=4789,csum=0x0),vxlan(flags=0x8000000,vni=0x64))," \
    "out_port(%p))"
#define GENEVE_PUSH \
    "tnl_push(tnl_port(7),header(size=58,type=5," \
    "eth(dst=f8:bc:12:44:34:b6,src=f8:bc:12:46:58:e0,dl_type=0x0800)," \
    "ipv4(src=1.1.2.88,dst=1.1.2.92,proto=17,tos=0,ttl=64,frag=0x4000)," \
    "udp(src=0,dst=6081,csum=0xffff)," \
    "geneve(crit,vni=0x64,options({class=0x102,type=0x80,len=4,0xa})))," \
    "out_port(%p))"
#define GRE_PUSH \
    "tnl_push(tnl_port(8),header(size=42,type=3," \
    "eth(dst=f8:bc:12:44:34:b6,src=f8:bc:12:46:58:e0,dl_type=0x0800)," \
    "ipv4(src=1.1.2.88,dst=1.1.2.92,proto=47,tos=0,ttl=64,frag=0x4000)," \
    "gre((flags=0x2000,proto=0x6558),key=0x64)),out_port(%p))"

static const char *const any_templates[] = {
    /* For any packet. */
    "%p",
    "%p",
    "%p",
    "%p,%p",
    "drop",
    "99",
    "99,%p",
    "set(eth(src=02:00:00:00:00:31,dst=02:00:00:00:00:32)),%p",
    "set(eth(src=02:00:00:00:00:31/ff:ff:00:00:00:ff)),%p,%p",
    "%p,set(eth(dst=02:00:00:00:00:33/00:00:00:00:00:ff)),%p",
    "push_vlan(vid=12,pcp=3),%p",
    ("push_vlan(tpid=0x88a8,vid=12,pcp=3),push_vlan(vid=13,pcp=0),%p,"
     "pop_vlan,%p"),
    "pop_vlan,%p",
    "clone(push_vlan(vid=9,pcp=0),%p),%p",
    "clone(set(eth(dst=02:00:00:00:00:34)),%p)",
    "sample(sample=100.0%,actions(%p)),%p",
    "sample(sample=0.0%,actions(%p)),%p",
    "check_pkt_len(size=100,gt(%p),le(%p,%p))",
    "check_pkt_len(size=80,gt(drop),le(push_vlan(vid=3,pcp=0),%p))",
    "meter(0),%p",
    "lb_output(1)",
    "userspace(pid=0,userdata(0102030405060708)),%p",
    "userspace(pid=0,userdata(01))",
    "set(skb_priority(0x7)),set(skb_mark(0x5)),%p",
    VXLAN_PUSH,
    GENEVE_PUSH,
    GRE_PUSH,
    "clone(" VXLAN_PUSH "),%p",
};

/* Not for packets whose checksums a NIC has checked: Open vSwitch's library
 * aborts when it has to complete a checksum that one of these put out of its
 * reach. */
static const char *const encap_templates[] = {
    "PUSH_MPLS,%p",
    "add_mpls(label=200,tc=7,ttl=64,bos=1,eth_type=0x8847),%p",
    ("push_nsh(flags=0,ttl=60,mdtype=1,np=3,spi=0x1234,si=255,c1=0x11223344,"
     "c2=0x0,c3=0x0,c4=0x0),PUSH_ETH,%p"),
    "trunc(60),%p,%p",
    "trunc(14),%p",
};

static const char *const ip_templates[] = {
    /* For IPv4 that is no fragment. */
    "set(ipv4(ttl=63)),%p",
    "set(ipv4(src=10.7.0.1,dst=10.7.0.0/255.255.0.0,tos=0/0x3,ttl=63)),%p",
    "set(ipv4(tos=0x8/0xfc)),%p,%p",
    "ct(commit,zone=1),%p",
    "ct(commit,zone=2,mark=0x5/0xf,label=0x1/0x3),%p",
    "ct(commit,zone=3,nat(src=10.9.0.7)),%p",
    "ct(zone=3,nat),%p",
    "ct(force_commit,zone=1,mark=0x6/0xffffffff),%p",
    "ct(commit,zone=1),ct_clear,%p",
};

static const char *const udp_templates[] = {
    "set(udp(src=81,dst=6632)),%p",
    "set(udp(dst=6632/0xff)),%p",
    "tnl_pop(6)",
    "tnl_pop(7)",
    "%p,tnl_pop(6)",
};

static const char *const tcp_templates[] = {
    "set(tcp(src=82,dst=6633)),%p",
    "set(tcp(dst=0/0xff00)),%p",
};

static const char *const recirc_templates[] = {
    "recirc(3)",
    "recirc(4)",
    "%p,recirc(3)",
    "set(eth(dst=02:00:00:00:00:35)),recirc(3)",
    "HASH0,recirc(2)",
    "HASH5,recirc(2)",
    "clone(recirc(3)),%p",
    "push_vlan(vid=77,pcp=0),%p,pop_vlan,recirc(3)",
};

static const char *const ip_recirc_templates[] = {
    "ct(zone=1),recirc(1)",
    "ct(commit,zone=1),recirc(1)",
    "ct(zone=2),recirc(1)",
    "ct(zone=3,nat),recirc(1)",
    "ct(commit,zone=3,nat(src=10.9.0.7)),recirc(1)",
};

static void
put_hash(struct ofpbuf *actions, uint32_t basis)
{
    struct ovs_action_hash *hash;

    hash = nl_msg_put_unspec_uninit(actions, OVS_ACTION_ATTR_HASH,
                                    sizeof *hash);
    hash->hash_alg = OVS_HASH_ALG_L4;
    hash->hash_basis = basis;
}

/* Appends the action that 'word' stands for; false if it is none of those in
 * capitals. */
static bool
put_word(const char *word, struct ofpbuf *actions)
{
    if (!strcmp(word, "HASH0") || !strcmp(word, "HASH5")) {
        put_hash(actions, word[4] - '0');
    } else if (!strcmp(word, "PUSH_MPLS")) {
        struct ovs_action_push_mpls mpls;

        memset(&mpls, 0, sizeof mpls);      /* It has padding. */
        mpls.mpls_lse = htonl(200 << 12 | 1 << 9 | 1 << 8 | 64);
        mpls.mpls_ethertype = htons(ETH_TYPE_MPLS);
        nl_msg_put_unspec(actions, OVS_ACTION_ATTR_PUSH_MPLS, &mpls,
                          sizeof mpls);
    } else if (!strcmp(word, "POP_MPLS")) {
        nl_msg_put_be16(actions, OVS_ACTION_ATTR_POP_MPLS,
                        htons(ETH_TYPE_IP));
    } else if (!strcmp(word, "PUSH_ETH")) {
        struct ovs_action_push_eth eth;

        memset(&eth, 0x22, sizeof eth);
        nl_msg_put_unspec(actions, OVS_ACTION_ATTR_PUSH_ETH, &eth,
                          sizeof eth);
    } else if (!strcmp(word, "POP_ETH")) {
        nl_msg_put_flag(actions, OVS_ACTION_ATTR_POP_ETH);
    } else {
        return false;
    }
    return true;
}

/* Appends the one action in the 'n' bytes at 'template'. */
static void
put_action(struct rng *rng, const char *template, size_t n,
           struct ofpbuf *actions)
{
    struct ds s = DS_EMPTY_INITIALIZER;

    for (size_t i = 0; i < n; i++) {
        if (template[i] == '%' && template[i + 1] == 'p') {
            ds_put_format(&s, "%d", 1 + rng_below(rng, RF_N_PORTS));
            i++;
        } else {
            ds_put_char(&s, template[i]);
        }
    }
    if (!put_word(ds_cstr(&s), actions)
        && strcmp(ds_cstr(&s), "drop")
        && odp_actions_from_string(ds_cstr(&s), NULL, actions)) {
        ovs_fatal(0, "%s: cannot parse action", ds_cstr(&s));
    }
    ds_destroy(&s);
}

/* Appends the actions in 'template', which are separated by commas. */
static void
put_template(struct rng *rng, const char *template, struct ofpbuf *actions)
{
    const char *start = template;
    int depth = 0;

    for (const char *p = template; ; p++) {
        depth += (*p == '(') - (*p == ')');
        if (!*p || (*p == ',' && !depth)) {
            put_action(rng, start, p - start, actions);
            if (!*p) {
                break;
            }
            start = p + 1;
        }
    }
}

#define PICK(RNG, TEMPLATES) \
    ((TEMPLATES)[rng_below(RNG, ARRAY_SIZE(TEMPLATES))])

/* Actions that rewrite a header are for packets that have it.  The parser
 * leaves the fields of a header that is cut short zero, so a flow that matches
 * one of them with another value has no such packets. */

static bool
has_ipv4(const struct flow *flow)
{
    return flow->dl_type == htons(ETH_TYPE_IP) && !flow->nw_frag
           && ((shape_of(flow) & M_NW_PROTO && flow->nw_proto)
               || (shape_of(flow) & M_NW_DST && flow->nw_dst));
}

static bool
has_ports(const struct flow *flow)
{
    return shape_of(flow) & M_NW_PROTO && shape_of(flow) & M_TP_DST
           && flow->tp_dst;
}

static bool
has_other(const struct flow *flow)
{
    return shape_of(flow) & M_OTHER
           && (eth_type_mpls(flow->dl_type) ? flow->mpls_lse[0] != 0
               : flow->dl_type == htons(ETH_TYPE_NSH) ? flow->nsh.np != 0
               : flow->dl_type == htons(ETH_TYPE_ARP) && flow->nw_proto);
}

/* What Open vSwitch's library can put an NSH header in front of: it aborts when
 * it shall do that to another type, which comes out of a GRE tunnel. */
static bool
can_carry_nsh(const struct flow *flow)
{
    return flow->packet_type == htonl(PT_ETH)
           || flow->packet_type == htonl(PT_IPV4)
           || flow->packet_type == htonl(PT_IPV6)
           || flow->packet_type == htonl(PT_NSH);
}

static const char *
pick_ipv4_template(struct rng *rng, const struct flow *flow)
{
    if (has_ports(flow) && rng_percent(rng, 50)) {
        if (flow->nw_proto == IPPROTO_UDP) {
            return PICK(rng, udp_templates);
        } else if (flow->nw_proto == IPPROTO_TCP) {
            return PICK(rng, tcp_templates);
        }
    } else if (shape_of(flow) & M_NW_PROTO
               && flow->nw_proto == IPPROTO_GRE) {
        return "tnl_pop(8)";
    }
    return PICK(rng, ip_templates);
}

static const char *
pick_other_template(struct rng *rng, const struct flow *flow)
{
    if (flow->dl_type == htons(ETH_TYPE_NSH)) {
        return "POP_ETH,pop_nsh(),%p";
    } else if (eth_type_mpls(flow->dl_type)) {
        return rng_percent(rng, 50) ? "POP_MPLS,%p"
               : "set(mpls(label=300,tc=1,ttl=5,bos=1)),%p";
    } else {
        return "set(arp(sip=10.0.9.9,op=2)),%p";
    }
}

static const char *
pick_template(struct rng *rng, const struct flow *flow)
{
    if (flow->recirc_id == RF_RECIRC_LOOP) {
        return "recirc(4)";
    }
    if (!flow->recirc_id && rng_percent(rng, 25)) {
        return (has_ipv4(flow) && rng_percent(rng, 60)
                ? PICK(rng, ip_recirc_templates)
                : PICK(rng, recirc_templates));
    }
    if (has_ipv4(flow) && rng_percent(rng, 50)) {
        return pick_ipv4_template(rng, flow);
    }
    if (has_other(flow) && rng_percent(rng, 40)) {
        return pick_other_template(rng, flow);
    }
    if (odp_to_u32(flow->in_port.odp_port) != RF_PORT_CHECKED
        && can_carry_nsh(flow) && rng_percent(rng, 15)) {
        return PICK(rng, encap_templates);
    }
    return PICK(rng, any_templates);
}

void
random_flow_actions(struct rng *rng, const struct flow *flow,
                    struct ofpbuf *actions)
{
    put_template(rng, pick_template(rng, flow), actions);
}

void
random_execute_actions(struct rng *rng, struct ofpbuf *actions)
{
    put_template(rng, (rng_percent(rng, 60) ? PICK(rng, recirc_templates)
                       : PICK(rng, any_templates)), actions);
}
