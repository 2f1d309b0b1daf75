/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_WIRE_H
#define UDP_LOAD_WIRE_H 1

/* What a datagram begins with, in network byte order.  It is as long as the
 * payload of the smallest Ethernet frame with IPv4, so that frames of 64 bytes
 * can be measured:
 *
 *      0  2  what it is: WIRE_DATA or WIRE_END
 *      2  2  run: a number drawn by the source when it starts
 *      4  2  stream: one source port and one destination port of the run
 *      6  6  data: number of the datagram in its stream, from 0
 *            end: how many datagrams of data the stream had
 *     12  6  data: time of sending, CLOCK_MONOTONIC in nanoseconds
 *            end: how many streams the run has
 *
 * Times are taken modulo 2**48 ns, 78 hours. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_SIZE 18
#define WIRE_MAX_PAYLOAD 65507          /* With IPv4. */
#define WIRE_MAX_STREAMS 65536
#define WIRE_BITS 48
#define WIRE_MASK ((UINT64_C(1) << WIRE_BITS) - 1)

enum wire_type {
    WIRE_DATA = 0x57d1,
    WIRE_END = 0x57ed,
};

struct wire {
    enum wire_type type;
    uint16_t run;
    uint16_t stream;
    uint64_t number;
    uint64_t extra;             /* The time, or the number of streams. */
};

void wire_put(const struct wire *, uint8_t buffer[WIRE_SIZE]);
bool wire_get(struct wire *, const uint8_t *buffer, size_t size);
int64_t wire_elapsed(uint64_t sent, uint64_t now);

#endif /* utilities/udp-load/wire.h */
