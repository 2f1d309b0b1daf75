/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_FIXTURE_H
#define WEFT_TABLE_FIXTURE_H 1

/* What the tests of lib/table are made of: packets, matches and keys, random
 * ones of many kinds among them, and a flow table with a list of all its flows
 * beside it, which can be searched one by one. */

#include "table/flow-table.h"

#include "dp-packet.h"
#include "odp-util.h"
#include "openvswitch/match.h"
#include "ovs-rcu.h"
#include "packets.h"
#include "random.h"
#include "unit.h"
#include "util.h"

/* Makers. */

static inline struct flow
make_flow(uint32_t in_port, uint32_t src, uint32_t dst, uint16_t sport,
          uint16_t dport)
{
    struct flow flow;

    memset(&flow, 0, sizeof flow);
    flow.in_port.odp_port = u32_to_odp(in_port);
    flow.packet_type = htonl(PT_ETH);
    flow.dl_type = htons(ETH_TYPE_IP);
    flow.dl_src = (struct eth_addr) ETH_ADDR_C(02,00,00,00,00,01);
    flow.dl_dst = (struct eth_addr) ETH_ADDR_C(02,00,00,00,00,02);
    flow.nw_src = htonl(src);
    flow.nw_dst = htonl(dst);
    flow.nw_proto = IPPROTO_UDP;
    flow.nw_ttl = 64;
    flow.tp_src = htons(sport);
    flow.tp_dst = htons(dport);
    return flow;
}

static inline struct flow
numbered_flow(uint32_t i)
{
    return make_flow(1, 0x0a000000 | i, 0x0b000000 | i * 7, i, i >> 16);
}

/* A match on the 5-tuple of 'flow'. */
static inline struct match
make_match(const struct flow *flow)
{
    struct match match;

    memset(&match, 0, sizeof match);
    match.flow = *flow;
    match.wc.masks.in_port.odp_port = ODPP_NONE;
    match.wc.masks.recirc_id = UINT32_MAX;
    match.wc.masks.packet_type = OVS_BE32_MAX;
    match.wc.masks.dl_type = OVS_BE16_MAX;
    match.wc.masks.nw_src = OVS_BE32_MAX;
    match.wc.masks.nw_dst = OVS_BE32_MAX;
    match.wc.masks.nw_proto = UINT8_MAX;
    match.wc.masks.nw_frag = FLOW_NW_FRAG_MASK;
    match.wc.masks.tp_src = OVS_BE16_MAX;
    match.wc.masks.tp_dst = OVS_BE16_MAX;
    dp_match_normalize(&match);
    return match;
}

/* The key that a packet of 'flow' has. */
static inline void
make_packet_key(struct dp_key *key, const struct flow *flow)
{
    struct dp_packet packet;

    dp_packet_init(&packet, 0);
    flow_compose(&packet, flow, NULL, 64, false);
    pkt_metadata_from_flow(&packet.md, flow);
    miniflow_extract(&packet, &key->mf);
    key->hash = miniflow_hash_5tuple(&key->mf, 0);
    key->shape = 0;
    key->in_port = flow->in_port.odp_port;
    dp_packet_uninit(&packet);
}

static inline struct dp_flow *
add_flow(struct dp_flow_table *table, struct match *match)
{
    ovs_u128 ufid;
    struct dp_flow_spec spec = {
        .match = match,
        .ufid = &ufid,
        .orig_in_port = ODPP_NONE,
        .pmd_id = 7,
    };
    struct dp_flow *flow;

    odp_flow_key_hash(&match->flow, sizeof match->flow, &ufid);
    ovs_mutex_lock(&table->mutex);
    flow = dp_flow_table_add(table, &spec);
    ovs_mutex_unlock(&table->mutex);
    return flow;
}

static inline void
remove_flow(struct dp_flow_table *table, struct dp_flow *flow)
{
    ovs_mutex_lock(&table->mutex);
    dp_flow_table_remove(table, flow);
    ovs_mutex_unlock(&table->mutex);
}

/* Packets and matches of many kinds.  Values are from few, so that flows often
 * differ in little. */

static inline bool
one_in(int n)
{
    return !random_range(n);
}

static inline void
fill_few(void *p_, size_t n)
{
    uint8_t *p = p_;

    for (size_t i = 0; i < n; i++) {
        p[i] = one_in(2) ? 1 + random_range(3) : 1 << random_range(8);
    }
}

#define FILL_FEW(FIELD) fill_few(&(FIELD), sizeof (FIELD))

static inline void
random_transport(struct flow *flow)
{
    static const uint8_t protocols[] = {
        IPPROTO_UDP, IPPROTO_TCP, IPPROTO_SCTP, IPPROTO_ICMP
    };

    flow->nw_proto = protocols[random_range(ARRAY_SIZE(protocols))];
    flow->nw_tos = one_in(3) ? 1 << (2 + random_range(6)) : 0;
    flow->nw_ttl = one_in(4) ? 1 + random_range(255) : 64;
    flow->nw_frag = one_in(8) ? FLOW_NW_FRAG_ANY : 0;
    FILL_FEW(flow->tp_src);
    FILL_FEW(flow->tp_dst);
    if (flow->nw_proto == IPPROTO_TCP) {
        flow->tcp_flags = htons(1 << random_range(6));
    }
}

static inline void
random_network(struct flow *flow)
{
    switch (random_range(6)) {
    case 0:
    case 1:
        flow->dl_type = htons(ETH_TYPE_IP);
        FILL_FEW(flow->nw_src);
        FILL_FEW(flow->nw_dst);
        random_transport(flow);
        break;

    case 2:
        flow->dl_type = htons(ETH_TYPE_IPV6);
        FILL_FEW(flow->ipv6_src);
        FILL_FEW(flow->ipv6_dst);
        if (one_in(2)) {
            FILL_FEW(flow->ipv6_label);
            flow->ipv6_label &= htonl(IPV6_LABEL_MASK);
        }
        random_transport(flow);
        break;

    case 3:
        flow->dl_type = htons(ETH_TYPE_MPLS);
        fill_few(flow->mpls_lse, (sizeof flow->mpls_lse[0]
                                  * (1 + random_range(FLOW_MAX_MPLS_LABELS))));
        break;

    case 4:
        flow->dl_type = htons(ETH_TYPE_NSH);
        flow->nsh.mdtype = NSH_M_TYPE1;
        flow->nsh.np = 1 + random_range(4);
        flow->nsh.ttl = random_range(64);
        FILL_FEW(flow->nsh.path_hdr);
        FILL_FEW(flow->nsh.context);
        break;

    case 5:
        flow->dl_type = htons(ETH_TYPE_ARP);
        FILL_FEW(flow->nw_src);
        FILL_FEW(flow->nw_dst);
        flow->nw_proto = 1 + random_range(2);
        FILL_FEW(flow->arp_sha);
        FILL_FEW(flow->arp_tha);
        break;
    }
}

static inline void
random_metadata(struct flow *flow)
{
    if (one_in(4)) {
        if (one_in(2)) {
            FILL_FEW(flow->tunnel.ip_dst);
            FILL_FEW(flow->tunnel.ip_src);
        } else {
            FILL_FEW(flow->tunnel.ipv6_dst);
            FILL_FEW(flow->tunnel.ipv6_src);
        }
        flow->tunnel.ip_ttl = 64;
        flow->tunnel.tp_dst = htons(6081);
        flow->tunnel.flags = FLOW_TNL_F_KEY | FLOW_TNL_F_UDPIF;
        FILL_FEW(flow->tunnel.tun_id);
        if (one_in(2)) {
            flow->tunnel.metadata.present.len = 16;
            fill_few(&flow->tunnel.metadata.opts, 16);
        }
    }
    if (one_in(4)) {
        flow->recirc_id = 1 + random_range(3);
        flow->ct_state = 1 << random_range(6);
        FILL_FEW(flow->ct_zone);
        FILL_FEW(flow->ct_mark);
        FILL_FEW(flow->ct_label);
        if (flow->dl_type == htons(ETH_TYPE_IP)) {
            FILL_FEW(flow->ct_nw_src);
            FILL_FEW(flow->ct_nw_dst);
            flow->ct_nw_proto = flow->nw_proto;
            FILL_FEW(flow->ct_tp_src);
            FILL_FEW(flow->ct_tp_dst);
        }
    }
    if (one_in(5)) {
        FILL_FEW(flow->dp_hash);
        FILL_FEW(flow->skb_priority);
        FILL_FEW(flow->pkt_mark);
    }
}

/* Makes what a packet of any kind says of itself. */
static inline void
random_packet(struct flow *flow, uint32_t in_port)
{
    memset(flow, 0, sizeof *flow);
    flow->in_port.odp_port = u32_to_odp(in_port);
    flow->packet_type = htonl(PT_ETH);
    FILL_FEW(flow->dl_src);
    FILL_FEW(flow->dl_dst);
    random_network(flow);
    random_metadata(flow);
    for (int i = 0; i < FLOW_MAX_VLAN_HEADERS && one_in(3); i++) {
        flow->vlans[i].tpid = htons(ETH_TYPE_VLAN);
        flow->vlans[i].tci = htons(VLAN_CFI | random_range(0x1000));
    }
}

static inline uint64_t
random_word(void)
{
    return (uint64_t) random_uint32() << 32 | random_uint32();
}

/* A mask for a word, as a user or an attacker might make it. */
static inline uint64_t
random_word_mask(void)
{
    unsigned int n = random_range(64);

    switch (random_range(6)) {
    case 0:
        return 0;
    case 1:
        return ntohll(htonll(UINT64_MAX << n));
    case 2:
        return (OVS_FORCE uint64_t) htonll(UINT64_MAX << n);
    case 3:
        return random_word();
    case 4:
        return UINT64_C(0xff) << (n & 56) | UINT64_C(0xffff) << (n & 48);
    default:
        return UINT64_MAX;
    }
}

/* Makes a match that a packet of 'flow' satisfies. */
static inline void
random_match(struct match *match, const struct flow *flow)
{
    int style = random_range(4);

    memset(match, 0, sizeof *match);
    match->flow = *flow;
    for (size_t i = 0; i < FLOW_U64S; i++) {
        uint64_t mask = 0;

        if (flow_u64_value(flow, i)) {
            switch (style) {
            case 0:
                mask = UINT64_MAX;
                break;
            case 1:
                mask = one_in(5) ? random_word_mask() : UINT64_MAX;
                break;
            default:
                mask = random_word_mask();
                break;
            }
        } else if (one_in(10)) {
            mask = UINT64_MAX;
        }
        *flow_u64_lvalue(&match->wc.masks, i) = mask;
    }
    match->wc.masks.in_port.odp_port = ODPP_NONE;
    dp_match_normalize(match);
}

/* Makes the key of a packet of 'flow'.  Whatever a lookup must not look at is
 * neither zero nor what it was. */
static inline void
make_key(struct dp_key *key, const struct flow *flow)
{
    unsigned int n = 0;

    for (size_t i = 0; i < FLOW_U64S; i++) {
        n += flow_u64_value(flow, i) != 0;
    }
    CHECK_UINT(n, <=, FLOW_MAX_PACKET_U64S);
    memset(key, 0xa5, sizeof *key);
    dp_key_from_flow(key, flow);
}

/* The model: a flow table and a list of all its flows. */

struct model_flow {
    struct dp_flow *flow;
    struct flow packet;         /* That made it. */
    struct flow values;         /* Masked. */
    struct flow masks;          /* With in_port. */
    uint8_t words[FLOW_U64S];   /* Those that 'masks' has... */
    size_t n_words;             /* ...and their number. */
};

struct model {
    struct dp_flow_table table;
    struct model_flow *flows;
    size_t n, allocated;
};

static inline void
model_init(struct model *model)
{
    memset(model, 0, sizeof *model);
    dp_flow_table_init(&model->table);
}

static inline void
model_destroy(struct model *model)
{
    dp_flow_table_destroy(&model->table);
    free(model->flows);
    ovsrcu_quiesce();
}

/* Returns true if there are packets for both. */
static inline bool
model_flows_overlap(const struct model_flow *a, const struct model_flow *b)
{
    for (size_t i = 0; i < a->n_words; i++) {
        size_t idx = a->words[i];

        if ((flow_u64_value(&a->values, idx) ^ flow_u64_value(&b->values, idx))
            & flow_u64_value(&a->masks, idx)
            & flow_u64_value(&b->masks, idx)) {
            return false;
        }
    }
    return true;
}

static inline bool
model_flow_matches(const struct model_flow *mf, const struct flow *packet)
{
    for (size_t i = 0; i < mf->n_words; i++) {
        size_t idx = mf->words[i];

        if ((flow_u64_value(packet, idx) & flow_u64_value(&mf->masks, idx))
            != flow_u64_value(&mf->values, idx)) {
            return false;
        }
    }
    return true;
}

/* Adds a flow for 'match' unless it would overlap with another.  Returns it,
 * or NULL. */
static inline struct dp_flow *
model_add(struct model *model, struct match *match)
{
    struct dp_mask *mask = dp_mask_create(match);
    struct model_flow new;

    new.packet = match->flow;
    new.n_words = 0;
    dp_mask_expand(mask, &new.masks);
    dp_mask_destroy(mask);
    for (size_t i = 0; i < FLOW_U64S; i++) {
        *flow_u64_lvalue(&new.values, i) = flow_u64_value(&match->flow, i)
                                           & flow_u64_value(&new.masks, i);
        if (flow_u64_value(&new.masks, i)) {
            new.words[new.n_words++] = i;
        }
    }
    for (size_t i = 0; i < model->n; i++) {
        if (model_flows_overlap(&new, &model->flows[i])) {
            return NULL;
        }
    }

    new.flow = add_flow(&model->table, match);
    CHECK(new.flow != NULL);
    if (model->n == model->allocated) {
        model->flows = x2nrealloc(model->flows, &model->allocated,
                                  sizeof *model->flows);
    }
    model->flows[model->n++] = new;
    return new.flow;
}

static inline void
model_remove(struct model *model, size_t i)
{
    remove_flow(&model->table, model->flows[i].flow);
    model->flows[i] = model->flows[--model->n];
}

/* Tries to add a flow for a random packet from 'in_port'. */
static inline void
model_add_random(struct model *model, uint32_t in_port)
{
    struct match match;
    struct flow packet;

    random_packet(&packet, in_port);
    random_match(&match, &packet);
    model_add(model, &match);
}

/* Returns the bytes of 'mask' that are neither 0 nor 0xff. */
static inline uint64_t
partial_bytes(uint64_t mask)
{
    uint64_t partial = 0;

    for (int shift = 0; shift < 64; shift += 8) {
        uint64_t byte = mask & UINT64_C(0xff) << shift;

        if (byte != UINT64_C(0xff) << shift) {
            partial |= byte;
        }
    }
    return partial;
}

/* Tries to add a flow with the mask of some other one that differs from it in
 * nothing but what rounding the mask takes away. */
static inline void
model_add_similar(struct model *model)
{
    const struct model_flow *mf;
    struct match match;

    if (model->n) {
        mf = &model->flows[random_range(model->n)];
        memset(&match, 0, sizeof match);
        match.flow = mf->packet;
        match.wc.masks = mf->masks;
        for (size_t i = 0; i < FLOW_U64S; i++) {
            uint64_t *word = flow_u64_lvalue(&match.flow, i);

            if (*word && one_in(2)) {
                *word ^= (random_word()
                          & partial_bytes(flow_u64_value(&mf->masks, i)));
            }
        }
        model_add(model, &match);
    }
}

/* The flow that a packet belongs to, by asking all of them. */
static inline struct dp_flow *
model_lookup(const struct model *model, const struct flow *packet)
{
    struct dp_flow *found = NULL;

    for (size_t i = 0; i < model->n; i++) {
        if (model_flow_matches(&model->flows[i], packet)) {
            CHECK(!found);
            found = model->flows[i].flow;
        }
    }
    return found;
}

/* Makes a packet from 'in_port': one that differs from that which made some
 * flow only in what the flow does not look at, one that differs in a bit more,
 * or one of its own. */
static inline void
model_random_packet(const struct model *model, uint32_t in_port,
                    struct flow *packet)
{
    const struct model_flow *mf;

    if (!model->n || one_in(8)) {
        random_packet(packet, in_port);
        return;
    }
    mf = &model->flows[random_range(model->n)];
    *packet = mf->packet;
    for (size_t i = 0; i < FLOW_U64S; i++) {
        uint64_t *word = flow_u64_lvalue(packet, i);

        if (*word && one_in(3)) {
            *word ^= random_word() & ~flow_u64_value(&mf->masks, i);
        }
        if (*word && one_in(100)) {
            *word ^= UINT64_C(1) << random_range(64);
        }
    }
    packet->in_port.odp_port = u32_to_odp(in_port);
}

/* Where a classifier has 'flow': how many tables are asked until it is found,
 * by the order in which they are asked. */
static inline unsigned int
place_of_flow(const struct dp_classifier *cls, const struct dp_flow *flow)
{
    const struct pvector_entry *ranked;
    size_t n, i;

    dp_classifier_get_ranked(cls, &ranked, &n);
    for (i = 0; i < n; i++) {
        if (ranked[i].ptr == flow->info->subtable) {
            break;
        }
    }
    CHECK_INT(i < n, ==, flow->info->subtable != NULL);
    return i + 1;
}

#endif /* tests/unit/table-fixture.h */
