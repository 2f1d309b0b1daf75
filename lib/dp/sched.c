/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/dp-netdev.h"

#include "dp/rxq-plan.h"
#include "netdev.h"
#include "pmd/port.h"

const char *
rxq_assign_name(enum rxq_assign algorithm)
{
    switch (algorithm) {
    case RXQ_ASSIGN_ROUNDROBIN:
        return "roundrobin";
    case RXQ_ASSIGN_CYCLES:
        return "cycles";
    case RXQ_ASSIGN_GROUP:
        return "group";
    default:
        return "unknown";
    }
}

static void
add_port_queues(struct rxq_plan *plan, const struct dp_port *port)
{
    for (unsigned int i = 0; i < port->n_rxq; i++) {
        struct dp_rxq *rxq = &port->rxqs[i];

        rxq_plan_add_queue(plan, &(struct rxq_plan_queue) {
            .port_name = dp_rxq_name(rxq),
            .port_no = odp_to_u32(port->port_no),
            .queue_id = netdev_rxq_get_queue_id(rxq->rx),
            .numa_id = netdev_get_numa_id(port->netdev),
            .pinned_core = rxq->core_id,
            .current_core = rxq->pmd ? rxq->pmd->core_id : OVS_CORE_UNSPEC,
            .load = dp_rxq_recent_cycles(rxq, RXQ_INTERVALS),
            .rxq = rxq,
        });
    }
}

void
rxq_plan_fill(struct rxq_plan *plan, struct dp_netdev *dp)
{
    struct pmd_thread *pmd;
    struct dp_port *port;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (pmd->core_id != NON_PMD_CORE_ID) {
            unsigned long long interval_cycles;

            atomic_read_relaxed(&pmd->interval_cycles, &interval_cycles);
            rxq_plan_add_thread(plan, &(struct rxq_plan_thread) {
                .core_id = pmd->core_id,
                .numa_id = pmd->numa_id,
                .interval_cycles = interval_cycles,
                .pmd = pmd,
            });
        }
    }
    HMAP_FOR_EACH (port, node, &dp->ports) {
        if (netdev_is_pmd(port->netdev)) {
            add_port_queues(plan, port);
        }
    }
}

void
dp_netdev_schedule_rxqs(struct dp_netdev *dp)
{
    struct rxq_plan plan;

    rxq_plan_init(&plan);
    rxq_plan_fill(&plan, dp);
    rxq_plan_assign(&plan, dp->rxq_assign, dp->pmd_isolate, VLL_INFO);

    for (size_t i = 0; i < plan.n_threads; i++) {
        atomic_store_relaxed(&plan.threads[i].pmd->isolated,
                             plan.threads[i].isolated);
    }
    for (size_t i = 0; i < plan.n_queues; i++) {
        const struct rxq_plan_queue *queue = &plan.queues[i];

        queue->rxq->pmd = queue->thread ? queue->thread->pmd : NULL;
    }
    rxq_plan_destroy(&plan);
}
