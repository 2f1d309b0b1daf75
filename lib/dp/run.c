/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/dp-netdev.h"

#include "netdev.h"
#include "openvswitch/poll-loop.h"
#include "pmd/loop.h"
#include "seq.h"
#include "timeval.h"
#include "tnl-neigh-cache.h"
#include "tnl-ports.h"

/* The datapath's share of the main thread: ports that no PMD thread can poll,
 * reconfiguration, balancing, tunnel tables. */

/* Polls 'port' as 'non_pmd'.  Returns true if there were packets. */
static bool
poll_port(struct dp_netdev *dp, struct pmd_thread *non_pmd,
          struct dp_port *port)
{
    bool received = false;

    non_pmd->emc_insert_min = 0;
    if (port->emc_enabled) {
        atomic_read_relaxed(&dp->run.emc_insert_min,
                            &non_pmd->emc_insert_min);
    }
    for (unsigned int i = 0; i < port->n_rxq; i++) {
        if (netdev_rxq_enabled(port->rxqs[i].rx)
            && pmd_poll_rxq(non_pmd, &port->rxqs[i], port->port_no)) {
            received = true;
        }
    }
    return received;
}

static void
poll_non_pmd_ports(struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    struct pmd_thread *non_pmd = dp_netdev_get_pmd(dp, NON_PMD_CORE_ID);
    struct dp_port *port;
    bool received = false;

    if (!non_pmd) {
        return;
    }

    ovs_mutex_lock(&dp->run.non_pmd_mutex);
    HMAP_FOR_EACH (port, node, &dp->ports) {
        if (!netdev_is_pmd(port->netdev)) {
            received |= poll_port(dp, non_pmd, port);
        }
    }
    if (!received) {
        /* Nothing has sent, or looked at the clock: there may be something
         * left from before. */
        pmd_update_time(non_pmd);
        pmd_flush_output(non_pmd, false);
    }
    pmd_txports_revalidate_xps(non_pmd, false);
    ovs_mutex_unlock(&dp->run.non_pmd_mutex);

    pmd_thread_unref(non_pmd);
}

/* Ranks subtables for the threads that have asked for it and met no writer. */
static void
rank_subtables(struct dp_netdev *dp)
{
    struct pmd_thread *pmd;

    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        dp_flow_table_rank_if_wanted(&pmd->flows);
    }
}

/* Returns true if the upper layer should look at all flows again. */
bool
dp_netdev_run(struct dpif *dpif)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    bool reconfigure;
    uint64_t tnl_seq;

    ovs_rwlock_rdlock(&dp->port_rwlock);
    poll_non_pmd_ports(dp);
    rank_subtables(dp);
    dp_netdev_balance_run(dp, time_msec());
    reconfigure = dp_netdev_reconfigure_requested(dp)
                  || dp_netdev_ports_need_restart(dp);
    ovs_rwlock_unlock(&dp->port_rwlock);

    if (reconfigure) {
        ovs_rwlock_wrlock(&dp->port_rwlock);
        dp_netdev_reconfigure(dp);
        ovs_rwlock_unlock(&dp->port_rwlock);
    }

    dp_netdev_run_caches(dp);
    tnl_neigh_cache_run();
    tnl_port_map_run();

    tnl_seq = seq_read(tnl_conf_seq);
    if (tnl_seq != dp->last_tnl_conf_seq) {
        dp->last_tnl_conf_seq = tnl_seq;
        return true;
    }
    return false;
}

void
dp_netdev_wait(struct dpif *dpif)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct dp_port *port;

    ovs_rwlock_rdlock(&dp->port_rwlock);
    HMAP_FOR_EACH (port, node, &dp->ports) {
        netdev_wait_reconf_required(port->netdev);
        if (!netdev_is_pmd(port->netdev)) {
            for (unsigned int i = 0; i < port->n_rxq; i++) {
                netdev_rxq_wait(port->rxqs[i].rx);
            }
        }
    }
    ovs_rwlock_unlock(&dp->port_rwlock);

    seq_wait(dp->reconfigure_seq, dp->last_reconfigure_seq);
    seq_wait(tnl_conf_seq, dp->last_tnl_conf_seq);
    dp_netdev_balance_wait(dp);
}
