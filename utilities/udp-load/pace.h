/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_PACE_H
#define UDP_LOAD_PACE_H 1

/* When which datagram is due.  Number n of a run is due n/rate seconds after
 * its start: each time is computed from the start, so no error adds up, and a
 * delay is made up for.  Worker w of W sends numbers w, w + W, w + 2 W... */

#include <stdint.h>

struct pace {
    uint64_t rate;              /* Datagrams a second, at least 1. */
    unsigned int worker, n_workers;
};

uint64_t pace_time(const struct pace *, uint64_t k);
uint64_t pace_due(const struct pace *, uint64_t elapsed);
uint64_t pace_share(uint64_t total, unsigned int worker,
                    unsigned int n_workers);

#endif /* utilities/udp-load/pace.h */
