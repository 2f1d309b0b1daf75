/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/pmd.h"

#include "dpdk.h"
#include "hash.h"
#include "id-pool.h"
#include "netdev.h"
#include "ovs-rcu.h"
#include "pmd/housekeeping.h"
#include "pmd/impl.h"
#include "pmd/input.h"
#include "pmd/stall.h"
#include "random.h"
#include "seq.h"
#include "sync/dp-log.h"
#include "timeval.h"
#include "util.h"

/* How long to wait actively for a thread that reloads, and in which steps
 * afterwards.  Threads may be many and cores few. */
enum {
    RELOAD_SPINS = 1000,
    RELOAD_SLEEP_NS = 10000
};

enum { DEFAULT_OVERLOAD_PERCENT = 95 };

static void
pmd_init_load(struct pmd_thread *pmd)
{
    atomic_init(&pmd->interval_cycles, 0);
    atomic_count_init(&pmd->interval_idx, 0);
    for (size_t i = 0; i < RXQ_INTERVALS; i++) {
        atomic_init(&pmd->busy_cycles[i], 0);
    }
    atomic_count_init(&pmd->overloaded, 0);
    atomic_init(&pmd->overload_threshold, DEFAULT_OVERLOAD_PERCENT);
}

static void
pmd_init_reload(struct pmd_thread *pmd)
{
    pmd->reload_seq = seq_create();
    pmd->last_reload_seq = seq_read(pmd->reload_seq);
    atomic_init(&pmd->reload, false);
    atomic_init(&pmd->wait_for_reload, false);
    atomic_init(&pmd->reload_tx_qid, false);
    atomic_init(&pmd->exit, false);
}

struct pmd_thread *
pmd_thread_create(struct dp_run *run, unsigned core_id, int numa_id)
{
    struct pmd_thread *pmd = xzalloc_cacheline(sizeof *pmd);

    /* Now, rather than in the middle of the first iteration. */
    pmd_perf_tsc_hz();

    pmd->run = run;
    pmd->core_id = core_id;
    pmd->numa_id = numa_id;
    ovs_refcount_init(&pmd->ref_cnt);
    emc_lot_init(&pmd->emc_lot, random_uint32());

    dp_flow_table_init(&pmd->flows);
    sigcache_init(&pmd->emc);
    sigcache_init(&pmd->smc);
    sigcache_handover_init(&pmd->emc_next);
    sigcache_handover_init(&pmd->smc_next);
    pmd_txports_init(&pmd->txports);
    atomic_init(&pmd->input_impl, pmd_input_impl_default());
    atomic_init(&pmd->parse_impl, pmd_parse_impl_default());
    pass_choice_init(&pmd->pass_choice);
    pmd_perf_init(&pmd->perf);
    pmd_housekeeping_init(&pmd->house);
    pmd_mark_init(&pmd->mark);
    pmd->stall = pmd_stall_create();
    pmd_init_load(pmd);

    ovs_mutex_init(&pmd->port_mutex);
    ovs_mutex_lock(&pmd->port_mutex);
    hmap_init(&pmd->poll_list);
    hmap_init(&pmd->tx_ports);
    ovs_mutex_unlock(&pmd->port_mutex);
    dp_bonds_init(&pmd->tx_bonds);
    pmd_init_reload(pmd);
    atomic_init(&pmd->max_sleep, 0);
    pmd_update_time(pmd);

    if (core_id == NON_PMD_CORE_ID) {
        pmd_alloc_tx_qid(pmd);
    }
    return pmd;
}

static void
pmd_thread_free(struct pmd_thread *pmd)
{
    dp_flow_table_destroy(&pmd->flows);
    pmd_free_caches(pmd);
    pmd_input_free_scratch(pmd);

    pmd_txports_clear(pmd);
    hmap_destroy(&pmd->txports.send);
    hmap_destroy(&pmd->txports.tunnel);
    pmd_lists_clear(pmd);
    ovs_mutex_lock(&pmd->port_mutex);
    hmap_destroy(&pmd->poll_list);
    hmap_destroy(&pmd->tx_ports);
    ovs_mutex_unlock(&pmd->port_mutex);
    ovs_mutex_destroy(&pmd->port_mutex);
    dp_bonds_destroy(&pmd->tx_bonds);

    seq_destroy(pmd->reload_seq);
    pmd_perf_destroy(&pmd->perf);
    pmd_stall_destroy(pmd->stall);
    free_cacheline(pmd);
}

bool
pmd_thread_try_ref(struct pmd_thread *pmd)
{
    return ovs_refcount_try_ref_rcu(&pmd->ref_cnt);
}

void
pmd_thread_unref(struct pmd_thread *pmd)
{
    if (pmd && ovs_refcount_unref(&pmd->ref_cnt) == 1) {
        /* Those who found the thread before it was forgotten may still try to
         * take a reference. */
        ovsrcu_postpone(pmd_thread_free, pmd);
    }
}

void
pmd_update_time(struct pmd_thread *pmd)
{
    pmd->now = time_usec();
}

void
pmd_alloc_tx_qid(struct pmd_thread *pmd)
{
    struct dp_run *run = pmd->run;

    ovs_mutex_lock(&run->tx_qid_mutex);
    if (!id_pool_alloc_id(run->tx_qid_pool, &pmd->static_tx_qid)) {
        VLOG_ABORT("no transmit queue id left for the thread of core %u",
                   pmd->core_id);
    }
    ovs_mutex_unlock(&run->tx_qid_mutex);

    VLOG_DBG("static_tx_qid = %"PRIu32" allocated for PMD thread on core %2d"
             ", numa_id %d.", pmd->static_tx_qid, (int) pmd->core_id,
             pmd->numa_id);
}

void
pmd_free_tx_qid(struct pmd_thread *pmd)
{
    ovs_mutex_lock(&pmd->run->tx_qid_mutex);
    id_pool_free_id(pmd->run->tx_qid_pool, pmd->static_tx_qid);
    ovs_mutex_unlock(&pmd->run->tx_qid_mutex);
}

/* Reload. */

void
pmd_reload_request(struct pmd_thread *pmd)
{
    if (pmd->core_id == NON_PMD_CORE_ID) {
        ovs_mutex_lock(&pmd->run->non_pmd_mutex);
        ovs_mutex_lock(&pmd->port_mutex);
        pmd_txports_load(pmd);
        ovs_mutex_unlock(&pmd->port_mutex);
        ovs_mutex_unlock(&pmd->run->non_pmd_mutex);
        return;
    }

    /* In this order: a thread that sees 'reload' also sees the new 'seq', and
     * does not take it for another request once it has reloaded. */
    seq_change(pmd->reload_seq);

    /* Pairs with the acquire in loop.c: the knobs come first. */
    atomic_store_explicit(&pmd->reload, true, memory_order_release);
}

void
pmd_reload_wait(struct pmd_thread *pmd)
{
    if (pmd->core_id == NON_PMD_CORE_ID) {
        return;
    }
    for (int i = 0; ; i++) {
        bool reload;

        /* Pairs with the release with which the thread reports that it has
         * taken everything over. */
        atomic_read_explicit(&pmd->reload, &reload, memory_order_acquire);
        if (!reload) {
            break;
        }
        if (i >= RELOAD_SPINS) {
            xnanosleep_no_quiesce(RELOAD_SLEEP_NS);
        }
    }
}

/* Lists of the control side. */

static bool
poll_list_has(const struct pmd_thread *pmd, const struct dp_rxq *rxq)
    OVS_REQUIRES(pmd->port_mutex)
{
    const struct pmd_poll *poll;

    HMAP_FOR_EACH_IN_BUCKET (poll, node, hash_pointer(rxq, 0),
                             &pmd->poll_list) {
        if (poll->rxq == rxq) {
            return true;
        }
    }
    return false;
}

void
pmd_poll_list_add(struct pmd_thread *pmd, struct dp_rxq *rxq)
{
    if (!poll_list_has(pmd, rxq)) {
        struct pmd_poll *poll = xzalloc(sizeof *poll);

        pmd->need_reload = true;
        poll->rxq = rxq;
        hmap_insert(&pmd->poll_list, &poll->node, hash_pointer(rxq, 0));
    }
}

static bool
tx_ports_have(const struct pmd_thread *pmd, odp_port_t port_no)
    OVS_REQUIRES(pmd->port_mutex)
{
    const struct pmd_tx_port_ref *ref;

    HMAP_FOR_EACH_IN_BUCKET (ref, node, dp_port_hash(port_no),
                             &pmd->tx_ports) {
        if (ref->port->port_no == port_no) {
            return true;
        }
    }
    return false;
}

void
pmd_tx_ports_add(struct pmd_thread *pmd, struct dp_port *port)
{
    if (!tx_ports_have(pmd, port->port_no)) {
        struct pmd_tx_port_ref *ref = xzalloc(sizeof *ref);

        pmd->need_reload = true;
        ref->port = port;
        hmap_insert(&pmd->tx_ports, &ref->node, dp_port_hash(port->port_no));
    }
}

void
pmd_poll_list_remove(struct pmd_thread *pmd, struct pmd_poll *poll)
{
    pmd->need_reload = true;
    hmap_remove(&pmd->poll_list, &poll->node);
    free(poll);
}

void
pmd_tx_ports_remove(struct pmd_thread *pmd, struct pmd_tx_port_ref *ref)
{
    pmd->need_reload = true;
    hmap_remove(&pmd->tx_ports, &ref->node);
    free(ref);
}

void
pmd_lists_clear(struct pmd_thread *pmd)
{
    struct pmd_tx_port_ref *ref;
    struct pmd_poll *poll;

    ovs_mutex_lock(&pmd->port_mutex);
    HMAP_FOR_EACH_POP (poll, node, &pmd->poll_list) {
        free(poll);
    }
    HMAP_FOR_EACH_POP (ref, node, &pmd->tx_ports) {
        free(ref);
    }
    ovs_mutex_unlock(&pmd->port_mutex);
    dp_bonds_clear(&pmd->tx_bonds);
}
