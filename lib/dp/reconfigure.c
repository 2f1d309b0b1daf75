/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/dp-netdev.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "netdev.h"
#include "ovs-numa.h"
#include "seq.h"
#include "sync/dp-log.h"
#include "util.h"

/* Reconfiguration: from what the user asks for (ports, their queues, cores,
 * rules of assignment) to what the threads do.
 *
 * A queue or a port may be touched by a thread until it has reloaded without
 * it.  So the order is: take away and reload, change, give and reload.  A
 * queue that moves stays where it is until its new thread is known, and is
 * nowhere only for as long as two reloads take; its packets wait in the device
 * meanwhile. */

/* How many threads each NUMA node gets if the user names no cores. */
enum { DEFAULT_THREADS_PER_NUMA = 1 };

bool
dp_netdev_has_pmd_port(const struct dp_netdev *dp)
{
    struct dp_port *port;

    HMAP_FOR_EACH (port, node, &dp->ports) {
        if (netdev_is_pmd(port->netdev)) {
            return true;
        }
    }
    return false;
}

bool
dp_netdev_ports_need_restart(const struct dp_netdev *dp)
{
    struct dp_port *port;

    HMAP_FOR_EACH (port, node, &dp->ports) {
        if (netdev_is_reconf_required(port->netdev)) {
            return true;
        }
    }
    return false;
}

/* Threads. */

/* Returns the cores that are to have a thread.  The caller destroys the
 * dump. */
static struct ovs_numa_dump *
wanted_cores(const struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    if (!dp_netdev_has_pmd_port(dp)) {
        return ovs_numa_dump_n_cores_per_numa(0);
    }
    if (dp->pmd_cpu_mask && dp->pmd_cpu_mask[0]) {
        return ovs_numa_dump_cores_with_cmask(dp->pmd_cpu_mask);
    }
    return ovs_numa_dump_n_cores_per_numa(DEFAULT_THREADS_PER_NUMA);
}

/* Ends the threads that are not on one of 'cores'.  Returns their number. */
static size_t
delete_unwanted_threads(struct dp_netdev *dp,
                        const struct ovs_numa_dump *cores)
    OVS_REQ_WRLOCK(dp->port_rwlock)
{
    size_t n, n_deleted = 0;
    struct pmd_thread **pmds = dp_netdev_sorted_pmds(dp, &n);

    for (size_t i = 0; i < n; i++) {
        struct pmd_thread *pmd = pmds[i];

        if (pmd->core_id != NON_PMD_CORE_ID
            && !ovs_numa_dump_contains_core(cores, pmd->numa_id,
                                            pmd->core_id)) {
            VLOG_INFO("PMD thread on numa_id: %d, core id: %2u destroyed.",
                      pmd->numa_id, pmd->core_id);
            dp_netdev_del_pmd(dp, pmd);
            n_deleted++;
        }
    }
    free(pmds);
    return n_deleted;
}

/* Lets the threads draw new transmit queue ids, which have gaps after some
 * threads have gone: devices are asked for as many queues as there are
 * threads, and the highest ids would have to share. */
static void
compact_tx_qids(struct dp_netdev *dp)
{
    struct pmd_thread *pmd;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (pmd->core_id != NON_PMD_CORE_ID) {
            atomic_store_relaxed(&pmd->reload_tx_qid, true);
            pmd->need_reload = true;
        }
    }
    dp_netdev_reload_pmds(dp);
}

static size_t
create_missing_threads(struct dp_netdev *dp, const struct ovs_numa_dump *cores)
    OVS_REQ_WRLOCK(dp->port_rwlock)
{
    const struct ovs_numa_info_core *core;
    size_t n_created = 0;

    FOR_EACH_CORE_ON_DUMP (core, cores) {
        struct pmd_thread *pmd = dp_netdev_get_pmd(dp, core->core_id);

        if (pmd) {
            pmd_thread_unref(pmd);
        } else {
            dp_netdev_add_pmd(dp, core->core_id, core->numa_id);
            VLOG_INFO("PMD thread on numa_id: %d, core id: %2u created.",
                      core->numa_id, core->core_id);
            n_created++;
        }
    }
    return n_created;
}

static void
adjust_threads(struct dp_netdev *dp)
    OVS_REQ_WRLOCK(dp->port_rwlock)
{
    struct ovs_numa_dump *cores = wanted_cores(dp);
    size_t n_before = cmap_count(&dp->poll_threads) - 1;
    size_t n_deleted = delete_unwanted_threads(dp, cores);

    /* New threads fill the gaps, unless there are fewer than before. */
    if (ovs_numa_dump_count(cores) < n_before) {
        compact_tx_qids(dp);
    }

    size_t n_created = create_missing_threads(dp, cores);

    if (n_deleted || n_created) {
        const struct ovs_numa_info_numa *numa;

        FOR_EACH_NUMA_ON_DUMP (numa, cores) {
            VLOG_INFO("There are %"PRIuSIZE" pmd threads on numa node %d",
                      numa->n_cores, numa->numa_id);
        }
    }
    ovs_numa_dump_destroy(cores);
}

/* Ports. */

/* How threads, 'n_threads' in number, share the transmit queues that 'port'
 * has now. */
static enum txq_mode
wanted_txq_mode(const struct dp_port *port, int n_threads)
{
    int n_txq = netdev_n_txq(port->netdev);

    if (port->hash_steering && n_txq > 1) {
        return TXQ_MODE_HASH;
    }
    return n_txq < n_threads ? TXQ_MODE_XPS : TXQ_MODE_STATIC;
}

/* Sets 'need_reconfigure' of the ports that threads must let go of, because
 * the device or the way of sending changes.  (A device may ask for it at any
 * moment: whoever asks later has to wait for the next time.) */
static void
mark_ports(struct dp_netdev *dp, int n_threads)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct dp_port *port;

    HMAP_FOR_EACH (port, node, &dp->ports) {
        netdev_set_tx_multiq(port->netdev, n_threads);
        if (netdev_is_reconf_required(port->netdev)
            || port->txq_mode != wanted_txq_mode(port, n_threads)) {
            port->need_reconfigure = true;
        }
    }
}

static bool
port_is_stale(const struct dp_netdev *dp, const struct dp_port *port)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    return port->need_reconfigure || !hmap_contains(&dp->ports, &port->node);
}

/* Takes the ports that are marked, and those that have left the datapath, away
 * from all threads. */
static void
detach_stale_ports(struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct pmd_thread *pmd;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        struct pmd_tx_port_ref *tx;
        struct pmd_poll *poll;

        ovs_mutex_lock(&pmd->port_mutex);
        HMAP_FOR_EACH_SAFE (poll, node, &pmd->poll_list) {
            if (port_is_stale(dp, poll->rxq->port)) {
                pmd_poll_list_remove(pmd, poll);
            }
        }
        HMAP_FOR_EACH_SAFE (tx, node, &pmd->tx_ports) {
            if (port_is_stale(dp, tx->port)) {
                pmd_tx_ports_remove(pmd, tx);
            }
        }
        ovs_mutex_unlock(&pmd->port_mutex);
    }
    dp_netdev_reload_pmds(dp);
}

static void
close_rxqs(struct dp_port *port)
{
    for (unsigned int i = 0; i < port->n_rxq; i++) {
        netdev_rxq_close(port->rxqs[i].rx);
        port->rxqs[i].rx = NULL;
    }
    port->n_rxq = 0;
}

/* Opens all queues that the device has.  The first 'n_old' elements of
 * port->rxqs are from before, and what is known of their load is kept.
 * Returns 0 or a positive errno; then some of them may be open. */
static int
open_rxqs(struct dp_port *port, unsigned int n_old)
{
    unsigned int n = netdev_n_rxq(port->netdev);

    port->rxqs = xrealloc(port->rxqs, MAX(n, 1) * sizeof *port->rxqs);
    for (unsigned int i = 0; i < n; i++) {
        struct dp_rxq *rxq = &port->rxqs[i];
        int error;

        if (i >= n_old) {
            memset(rxq, 0, sizeof *rxq);
            rxq->core_id = OVS_CORE_UNSPEC;
        }
        rxq->port = port;
        rxq->is_vhost = !strncmp(port->type, "dpdkvhost", 9);

        error = netdev_rxq_open(port->netdev, &rxq->rx, i);
        if (error) {
            return error;
        }
        port->n_rxq++;
    }
    return 0;
}

/* Lets the device of 'port', which no thread uses, take over what was changed
 * in its settings.  Returns 0 or a positive errno. */
static int
port_reconfigure(struct dp_port *port)
{
    struct netdev *netdev = port->netdev;
    unsigned int n_old = port->n_rxq;
    int error;

    close_rxqs(port);

    if (netdev_is_reconf_required(netdev) || port->need_reconfigure) {
        error = netdev_reconfigure(netdev);
        if (error && error != EOPNOTSUPP) {
            VLOG_ERR("Failed to set interface %s new configuration",
                     netdev_get_name(netdev));
            return error;
        }
    }

    free(port->txq_used);
    port->txq_used = xcalloc(netdev_n_txq(netdev) + 1,
                             sizeof *port->txq_used);

    error = open_rxqs(port, n_old);
    if (error) {
        VLOG_ERR("%s: receive queue %u cannot be opened (%s)",
                 netdev_get_name(netdev), port->n_rxq, ovs_strerror(error));
        return error;
    }

    /* There may be queues now that were not there when the list was set. */
    dp_port_set_rxq_affinity(port, port->rxq_affinity_list);
    port->need_reconfigure = false;
    return 0;
}

/* Reconfigures the ports that are marked.  A port that fails leaves the
 * datapath. */
static void
reconfigure_ports(struct dp_netdev *dp, int n_threads)
    OVS_REQ_WRLOCK(dp->port_rwlock)
{
    struct dp_port *port;

    HMAP_FOR_EACH_SAFE (port, node, &dp->ports) {
        if (!port->need_reconfigure) {
            continue;
        }
        if (port_reconfigure(port)) {
            hmap_remove(&dp->ports, &port->node);
            seq_change(dp->port_seq);
            dp_port_destroy(port);
        } else {
            port->txq_mode = wanted_txq_mode(port, n_threads);
        }
    }
}

/* Queues. */

/* Puts dp_rxq's 'pmd' right for all queues: the thread that shall poll it. */
static void
reschedule(struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct pmd_thread *pmd;
    struct dp_port *port;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        atomic_store_relaxed(&pmd->isolated, false);
    }
    HMAP_FOR_EACH (port, node, &dp->ports) {
        for (unsigned int i = 0; i < port->n_rxq; i++) {
            port->rxqs[i].pmd = NULL;
        }
    }
    dp_netdev_schedule_rxqs(dp);
}

/* Returns true if 'pmd' shall poll anything. */
static bool
has_scheduled_rxq(const struct dp_netdev *dp, const struct pmd_thread *pmd)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct dp_port *port;

    HMAP_FOR_EACH (port, node, &dp->ports) {
        for (unsigned int i = 0; i < port->n_rxq; i++) {
            if (port->rxqs[i].pmd == pmd) {
                return true;
            }
        }
    }
    return false;
}

/* Takes those queues from the threads that others shall poll. */
static void
take_moving_rxqs(struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct pmd_thread *pmd;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        struct pmd_poll *poll;
        bool taken = false;

        ovs_mutex_lock(&pmd->port_mutex);
        HMAP_FOR_EACH_SAFE (poll, node, &pmd->poll_list) {
            if (poll->rxq->pmd != pmd) {
                pmd_poll_list_remove(pmd, poll);
                taken = true;
            }
        }
        if (taken && hmap_is_empty(&pmd->poll_list)
            && has_scheduled_rxq(dp, pmd)) {
            /* It gets others in a moment, for which it should not go to
             * sleep. */
            atomic_store_relaxed(&pmd->wait_for_reload, true);
        }
        ovs_mutex_unlock(&pmd->port_mutex);
    }
    dp_netdev_reload_pmds(dp);
}

static void
give_rxqs(struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct dp_port *port;

    HMAP_FOR_EACH (port, node, &dp->ports) {
        for (unsigned int i = 0; i < port->n_rxq; i++) {
            struct dp_rxq *rxq = &port->rxqs[i];
            struct pmd_thread *pmd = rxq->pmd;

            if (pmd) {
                ovs_mutex_lock(&pmd->port_mutex);
                pmd_poll_list_add(pmd, rxq);
                ovs_mutex_unlock(&pmd->port_mutex);
            }
        }
    }
}

/* Returns true if 'pmd' is to poll a queue. */
static bool
polls_any(const struct dp_netdev *dp, const struct pmd_thread *pmd)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    const struct dp_port *port;

    HMAP_FOR_EACH (port, node, &dp->ports) {
        for (unsigned int i = 0; i < port->n_rxq; i++) {
            if (port->rxqs[i].pmd == pmd) {
                return true;
            }
        }
    }
    return false;
}

/* Lets every thread that has packets to send know all ports and bonds. */
static void
give_tx_ports(struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct pmd_thread *pmd;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (pmd->core_id == NON_PMD_CORE_ID || polls_any(dp, pmd)) {
            struct dp_port *port;

            dp_bonds_copy_missing(&pmd->tx_bonds, &dp->run.bonds);
            ovs_mutex_lock(&pmd->port_mutex);
            HMAP_FOR_EACH (port, node, &dp->ports) {
                pmd_tx_ports_add(pmd, port);
            }
            ovs_mutex_unlock(&pmd->port_mutex);
        }
    }
}

void
dp_netdev_reconfigure(struct dp_netdev *dp)
{
    int n_threads;

    dp->last_reconfigure_seq = seq_read(dp->reconfigure_seq);

    adjust_threads(dp);
    dp_netdev_balance_copy_threshold(dp);
    n_threads = cmap_count(&dp->poll_threads);

    mark_ports(dp, n_threads);
    detach_stale_ports(dp);
    reconfigure_ports(dp, n_threads);

    reschedule(dp);
    take_moving_rxqs(dp);

    /* In this order: a thread that was created a moment ago loads what it
     * finds when it comes to run, and shall find nothing to poll before it has
     * where to send. */
    give_tx_ports(dp);
    give_rxqs(dp);
    dp_netdev_reload_pmds(dp);

    dp->balance.recheck = true;
}
