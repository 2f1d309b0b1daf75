/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_SEQUENCE_H
#define UDP_LOAD_SEQUENCE_H 1

/* What the numbers of the datagrams of one stream tell.
 *
 * As in RFC 4737, section 3.3, 'next' is the number that is expected next: one
 * more than the greatest that came.  A datagram with a number below it that
 * comes for the first time is reordered; all others that come for the first
 * time are in order.  A number that came before is a duplicate, and nothing
 * else.  What never came is lost: nothing counts losses, they are what there
 * should be without what there is, so one that comes late is not lost.
 *
 * The last SEQUENCE_WINDOW numbers below 'next' are remembered.  Of a number
 * below those it is not known whether it came before.  Such a datagram is
 * stale, and counts as nothing else.
 *
 * There is one writer at a time; any number of threads and processes may read
 * the counters. */

#include <stdbool.h>

#include "counter.h"

#define SEQUENCE_WINDOW 16384

struct sequence {
    counter next;
    counter unique;             /* That came, without duplicates and stale. */
    counter reordered;
    counter duplicates;
    counter stale;
    counter ended;              /* Nonzero after the end marker... */
    counter announced;          /* ...and how many it said there were. */
    counter first;              /* Counting begins with this number. */
    bool begun;                 /* The writer's alone. */

    /* The writer's alone: bit N % SEQUENCE_WINDOW is set if N came. */
    uint64_t seen[SEQUENCE_WINDOW / 64];
};

void sequence_init(struct sequence *, bool join);
void sequence_data(struct sequence *, uint64_t number);
void sequence_end(struct sequence *, uint64_t announced);
int64_t sequence_lost(const struct sequence *);

#endif /* utilities/udp-load/sequence.h */
