/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_FLOW_SET_H
#define BENCH_FLOW_SET_H 1

/* A set of megaflows and the packets that match them
 * ==================================================
 *
 * Problem: a bench wants up to 2^25 flows over some number of masks, packets
 * of which each matches exactly one flow, and no table that would itself be a
 * cache miss when the next packet is made.
 *
 * So everything is computed from the flow's number.  Flow 'i' has mask
 * 'i % n_masks'.  Its L4 ports say which flow of that mask it is, and the
 * third byte of its destination address says which mask, so that two flows
 * never overlap.  The masks differ in how many low bits of the source address
 * (up to 16 variants) and of the destination address (up to 16 variants) they
 * leave out; with one mask, and as many packets as flows, all of the 5-tuple
 * is matched.  If 'n_microflows' exceeds 'n_flows' then each mask leaves out
 * some more bits of the source address, and those hold the microflow's number
 * within its flow.
 *
 * FLOW_SET_TSE is another set: what an access list that allows one source
 * address and one source port makes of the packets of somebody who does not
 * mean well.  A packet that the list denies is told from the allowed one by
 * the first bit in which they differ, so the switch matches on the bits up to
 * it: one mask for each pair of prefix lengths, 1 to 32 of the address and 1
 * to 16 of the port, and one flow for each mask, which has the allowed bits
 * but for the last, inverted.  Up to 512 masks come from these two fields;
 * beyond, the destination port is a third, which makes 8,192.  A flow's
 * microflows are random in all bits that its mask leaves out, so that caches
 * do not know them.
 * (Csikor et al., "Tuple Space Explosion: A Denial-of-Service Attack Against a
 * Software Packet Classifier", CoNEXT 2019.)
 *
 * A packet carries its flow's number behind the UDP header, for
 * flow_set_packet_flow() to find when it comes out.  There are packets that
 * match no flow, too: they differ from one that does in a single field, in
 * which no flow has their value, so they are not found under any mask.
 *
 * Thread safety: a flow set does not change after flow_set_init().  A
 * flow_source belongs to the thread that polls its rx queue. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openvswitch/types.h"
#include "openvswitch/packets.h"
#include "bench/synthetic-netdev.h"
#include "ovs-atomic.h"
#include "util.h"

struct dp_packet;
struct flow;
struct flow_wildcards;

enum { FLOW_SET_MAX_MASKS = 256 };          /* Of most kinds. */
enum { FLOW_SET_MAX_TSE_MASKS = 32 * 16 * 16 };
enum { FLOW_SET_FRAME_MAX = 96 };

enum flow_set_kind {
    FLOW_SET_IPV4,
    FLOW_SET_IPV6,
    FLOW_SET_VLAN,              /* IPv4 in a VLAN. */
    FLOW_SET_TSE,               /* IPv4, a flow for each of many masks. */
};

struct flow_set {
    uint64_t n_flows;
    uint64_t n_microflows;      /* A multiple of 'n_flows'. */
    uint32_t per_flow;          /* Microflows per flow. */
    unsigned int n_masks;
    unsigned int micro_bits;    /* Source address bits for the microflow. */
    enum flow_set_kind kind;
    unsigned int n_outputs;     /* Flow 'i' goes out of output 'i % this'. */
    odp_port_t in_port;

    /* A frame with everything that all of the flows have in common, and
     * where the rest goes. */
    uint8_t frame[FLOW_SET_FRAME_MAX];
    size_t frame_len;           /* Without FCS: at least 60. */
    size_t l3_ofs, l4_ofs;
    uint32_t ip_csum;           /* Sum of the IPv4 header's fixed words. */
};

/* The 5-tuple of one microflow, or a mask for it, in host byte order. */
struct flow_tuple {
    uint32_t src, dst;          /* IPv6: the last 32 bits. */
    uint16_t sport, dport;
};

/* Makes a set of 'n_flows' flows (1 to 2^25) over 'n_masks' masks (1 to
 * FLOW_SET_MAX_MASKS, at most 'n_flows') and 'n_microflows' microflows
 * (rounded up to a multiple of 'n_flows'; at most 2^16 per flow). FLOW_SET_TSE
 * has as many flows as masks, up to FLOW_SET_MAX_TSE_MASKS, and 2^16
 * microflows per flow unless 'n_microflows' says otherwise.  Returns NULL, or
 * a message that says what is out of range, which the caller must free. */
char *flow_set_init(struct flow_set *, uint64_t n_flows, unsigned int n_masks,
                    uint64_t n_microflows, enum flow_set_kind,
                    unsigned int n_outputs, odp_port_t in_port);

unsigned int flow_set_mask_of(const struct flow_set *, uint64_t flow);
void flow_set_tuple(const struct flow_set *, uint64_t microflow,
                    struct flow_tuple *);

/* Stores the match of flow 'i' in 'flow' and 'wc'. */
void flow_set_match(const struct flow_set *, uint64_t i,
                    struct flow *flow, struct flow_wildcards *wc);

/* Stores in 'ufid' an identifier that no other flow of the set, nor of a set
 * with another input port, has; finds the flow again. */
void flow_set_ufid(const struct flow_set *, uint64_t i, ovs_u128 *ufid);
uint64_t flow_set_from_ufid(const ovs_u128 *ufid);

/* Writes the packet of 'microflow' into the empty packet 'p', with the hash
 * of its 5-tuple if 'rss'. */
void flow_set_fill(const struct flow_set *, uint64_t microflow, bool rss,
                   struct dp_packet *p);

/* The same, but for one field: the packet that results matches no flow. */
void flow_set_fill_absent(const struct flow_set *, uint64_t microflow,
                          bool rss, struct dp_packet *p);

/* Returns the number of the flow that 'p' belongs to, or UINT32_MAX if it is
 * no packet of 'set', or one that matches no flow. */
uint32_t flow_set_packet_flow(const struct flow_set *,
                              const struct dp_packet *p);

/* Which microflow comes next. */
enum flow_choice {
    FLOW_CHOICE_UNIFORM,
    FLOW_CHOICE_ZIPF,           /* P(k-th) proportional to 1 / k^exponent;
                                 * neighboring ranks in different flows. */
    FLOW_CHOICE_ROUND_ROBIN,
};

/* A source of an endless stream of packets of a flow set.  Zipf choices are
 * drawn beforehand and read in sequence, since drawing one costs as much as a
 * datapath's work on the packet. */
struct flow_source {
    struct synthetic_source up;
    const struct flow_set *set;
    enum flow_choice choice;
    bool rss;
    uint64_t random;            /* State of the generator. */
    uint64_t next;              /* Round robin, or index in 'drawn'. */
    uint32_t *drawn;            /* Zipf only. */
    size_t drawn_mask;
    uint64_t absent_below;      /* Share of packets that match no flow, in
                                 * 2^-32. */

    /* Sum of the numbers, each plus 1, of the flows that were sent, and number
     * of packets that match none.  Written by the polling thread, relaxed;
     * read them after the port's counters have come to rest. */
    atomic_uint64_t flow_sum;
    atomic_uint64_t n_absent;
};

/* Return 'flow_sum' and 'n_absent' of 'source', in any thread. */
static inline uint64_t
flow_source_sum(const struct flow_source *source)
{
    uint64_t sum;

    atomic_read_relaxed(&CONST_CAST(struct flow_source *, source)->flow_sum,
                        &sum);
    return sum;
}

static inline uint64_t
flow_source_n_absent(const struct flow_source *source)
{
    uint64_t n;

    atomic_read_relaxed(&CONST_CAST(struct flow_source *, source)->n_absent,
                        &n);
    return n;
}

void flow_source_init(struct flow_source *, const struct flow_set *,
                      enum flow_choice, double exponent, bool rss,
                      uint64_t seed);

/* Has 'share' (0 to 1) of the packets, drawn at random, match no flow.  Call
 * it before the source is in use. */
void flow_source_set_absent(struct flow_source *, double share);
void flow_source_destroy(struct flow_source *);

#endif /* flow-set.h */
