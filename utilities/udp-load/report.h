/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_REPORT_H
#define UDP_LOAD_REPORT_H 1

#include "run.h"

/* All numbers of one moment, since the start or, after totals_since(), since
 * another moment. */
struct totals {
    uint64_t time;              /* ns since the start. */
    uint64_t active;            /* ns from the first datagram to the last. */
    uint64_t packets, bytes;
    uint64_t *worker_packets;

    /* Sink. */
    uint64_t foreign, untracked, clock_errors;
    uint64_t reordered, duplicates, stale;
    int64_t lost, lost_in_kernel, lost_in_network;
    uint32_t n_streams, n_ended;
    struct histogram_sum latency;

    /* Source. */
    uint64_t refused, no_buffers, behind;
};

struct report {
    const struct run *run;
    struct totals last;         /* At the last report. */
    struct totals now;
    struct totals shown;
};

void report_init(struct report *, const struct run *);
void report_start(struct report *);
/* Both take the numbers of this moment from r->now. */
void report_interval(struct report *);
void report_end(struct report *);

#endif /* utilities/udp-load/report.h */
