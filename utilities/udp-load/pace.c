/* SPDX-License-Identifier: Apache-2.0 */

#include "pace.h"

#define NS 1000000000ULL

/* Returns when the worker's datagram 'k' is due, in nanoseconds after the
 * start, rounded up. */
uint64_t
pace_time(const struct pace *pace, uint64_t k)
{
    uint64_t n = k * pace->n_workers + pace->worker;

    return (n / pace->rate * NS
            + (n % pace->rate * NS + pace->rate - 1) / pace->rate);
}

/* Returns how many of the worker's datagrams are due 'elapsed' nanoseconds
 * after the start. */
uint64_t
pace_due(const struct pace *pace, uint64_t elapsed)
{
    uint64_t total = (elapsed / NS * pace->rate
                      + elapsed % NS * pace->rate / NS + 1);

    return pace_share(total, pace->worker, pace->n_workers);
}

/* Returns how many of the numbers below 'total' are a worker's. */
uint64_t
pace_share(uint64_t total, unsigned int worker, unsigned int n_workers)
{
    return total > worker ? (total - worker - 1) / n_workers + 1 : 0;
}
