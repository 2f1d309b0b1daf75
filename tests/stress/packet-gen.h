/* SPDX-License-Identifier: Apache-2.0 */

#ifndef STRESS_PACKET_GEN_H
#define STRESS_PACKET_GEN_H 1

/* Random packets of every kind that a datapath parses
 * ===================================================
 *
 * Makes Ethernet frames with up to two VLAN tags that carry IPv4 (options and
 * fragments included), IPv6 (with extension headers), TCP, UDP, SCTP, ICMP,
 * ICMPv6 with neighbor discovery, ARP, RARP, MPLS, NSH, LLC, VXLAN, Geneve and
 * GRE.  Addresses and ports are drawn from small pools, so that flows repeat.
 * Lengths and checksums are right, except in a small share of frames that are
 * damaged: cut short anywhere, or with bytes overwritten.
 *
 * A frame with room for it ends with a tag: a number of its stream (frames
 * with the same headers have the same) and a sequence number, so that a
 * receiver sees whether a stream's order was kept.
 *
 * The same seed gives the same packets on every machine.
 *
 * Thread safety: a generator belongs to one thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A small generator of random numbers (splitmix64). */
struct rng {
    uint64_t state;
};

static inline uint64_t
rng_next(struct rng *rng)
{
    uint64_t x = rng->state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Returns a number in [0, n), 'n' > 0. */
static inline uint32_t
rng_below(struct rng *rng, uint32_t n)
{
    return ((rng_next(rng) >> 32) * n) >> 32;
}

/* Returns true 'percent' times in a hundred. */
static inline bool
rng_percent(struct rng *rng, unsigned int percent)
{
    return rng_below(rng, 100) < percent;
}

enum { PACKET_GEN_MAX = 1600 };

struct packet_gen {
    struct rng rng;
    uint32_t next_seq;
    unsigned int damaged_percent;
};

struct packet_tag {
    uint32_t stream;
    uint32_t seq;
};

struct packet_gen_frame {
    uint8_t data[PACKET_GEN_MAX];
    size_t size;
    uint32_t stream;            /* A hash of the headers. */
    bool damaged;
};

void packet_gen_init(struct packet_gen *, uint64_t seed);

/* Makes a frame with 'n_vlans' tags. */
void packet_gen_make(struct packet_gen *, unsigned int n_vlans,
                     struct packet_gen_frame *);

/* Copies the tag at the end of a frame; false if there is none. */
bool packet_gen_get_tag(const void *data, size_t size, struct packet_tag *);

#endif /* packet-gen.h */
