/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_PARSE_IP_H
#define WEFT_PMD_PARSE_IP_H 1

/* A parser for what nearly all packets are: Ethernet without tag, IPv4 without
 * options or IPv6 without extension headers, not a fragment, TCP or UDP.
 *
 * It stands before the library's miniflow_extract(), which takes every packet
 * and asks many questions for it.  For the packets that this one takes, the
 * words of a key are always the same and in the same places, so that it is
 * a few checks and as many copies.
 *
 * Thread safety: packet and key belong to the caller. */

#include <stdbool.h>

struct dp_key;
struct dp_packet;

/* Parses 'packet', whose metadata says no more than where it came from
 * (pkt_metadata_init()), into 'key->mf' and 'key->tcp_flags'.  Does to
 * 'packet' what miniflow_extract() does: layers, padding, hash and offload
 * flags.  Returns false, having done nothing, if the packet is of another
 * kind. */
bool pmd_parse_ip(struct dp_packet *packet, struct dp_key *key);

#endif /* pmd/parse-ip.h */
