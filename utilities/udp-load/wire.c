/* SPDX-License-Identifier: Apache-2.0 */

#include "wire.h"

static void
put_be(uint8_t *p, uint64_t value, int n)
{
    while (n-- > 0) {
        p[n] = value;
        value >>= 8;
    }
}

static uint64_t
get_be(const uint8_t *p, int n)
{
    uint64_t value = 0;

    for (int i = 0; i < n; i++) {
        value = value << 8 | p[i];
    }
    return value;
}

void
wire_put(const struct wire *wire, uint8_t buffer[WIRE_SIZE])
{
    put_be(buffer, wire->type, 2);
    put_be(buffer + 2, wire->run, 2);
    put_be(buffer + 4, wire->stream, 2);
    put_be(buffer + 6, wire->number, 6);
    put_be(buffer + 12, wire->extra, 6);
}

/* Returns false if the 'size' bytes at 'buffer' are not from a source of
 * ours. */
bool
wire_get(struct wire *wire, const uint8_t *buffer, size_t size)
{
    uint64_t type;

    if (size < WIRE_SIZE) {
        return false;
    }
    type = get_be(buffer, 2);
    if (type != WIRE_DATA && type != WIRE_END) {
        return false;
    }
    wire->type = type;
    wire->run = get_be(buffer + 2, 2);
    wire->stream = get_be(buffer + 4, 2);
    wire->number = get_be(buffer + 6, 6);
    wire->extra = get_be(buffer + 12, 6);
    return true;
}

/* Returns the nanoseconds from 'sent', as it came in a datagram, to 'now', a
 * whole time.  It is negative if the two clocks differ so. */
int64_t
wire_elapsed(uint64_t sent, uint64_t now)
{
    uint64_t difference = (now - sent) & WIRE_MASK;

    return (difference >> (WIRE_BITS - 1)
            ? (int64_t) difference - (INT64_C(1) << WIRE_BITS)
            : (int64_t) difference);
}
