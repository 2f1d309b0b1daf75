/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/port.h"

#include "netdev.h"
#include "util.h"

void
dp_rxq_reset_load(struct dp_rxq *rxq)
{
    atomic_store_relaxed(&rxq->cycles_current, 0);
    for (size_t i = 0; i < RXQ_INTERVALS; i++) {
        atomic_store_relaxed(&rxq->cycles_interval[i], 0);
    }
}

uint64_t
dp_rxq_end_interval(struct dp_rxq *rxq)
{
    unsigned long long cycles;
    unsigned int slot;

    atomic_read_relaxed(&rxq->cycles_current, &cycles);
    atomic_store_relaxed(&rxq->cycles_current, 0);

    slot = atomic_count_inc(&rxq->interval_idx) % RXQ_INTERVALS;
    atomic_store_relaxed(&rxq->cycles_interval[slot], cycles);
    return cycles;
}

uint64_t
dp_rxq_recent_cycles(const struct dp_rxq *rxq_, int n)
{
    struct dp_rxq *rxq = CONST_CAST(struct dp_rxq *, rxq_);
    unsigned int next = atomic_count_get(&rxq->interval_idx) % RXQ_INTERVALS;
    uint64_t sum = 0;

    for (int i = 1; i <= MIN(n, RXQ_INTERVALS); i++) {
        unsigned long long cycles;

        atomic_read_relaxed(
            &rxq->cycles_interval[(next + RXQ_INTERVALS - i) % RXQ_INTERVALS],
            &cycles);
        sum += cycles;
    }
    return sum;
}

const char *
dp_rxq_name(const struct dp_rxq *rxq)
{
    return netdev_get_name(rxq->port->netdev);
}
