/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/dp-netdev.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dp/config-value.h"
#include "netdev.h"
#include "odp-util.h"
#include "openvswitch/dynamic-string.h"
#include "smap.h"
#include "sync/dp-log.h"
#include "util.h"

static struct vlog_rate_limit bad_config_rl = VLOG_RATE_LIMIT_INIT(10, 20);

int
dp_port_set_rxq_affinity(struct dp_port *port, const char *list)
{
    unsigned *cores = xmalloc(MAX(port->n_rxq, 1) * sizeof *cores);
    int error = rxq_affinity_parse(list, cores, port->n_rxq);

    for (unsigned int i = 0; !error && i < port->n_rxq; i++) {
        port->rxqs[i].core_id = cores[i];
    }
    free(cores);
    return error;
}

static bool
pmd_polls_port(struct pmd_thread *pmd, const struct dp_port *port)
{
    struct pmd_poll *poll;
    bool found = false;

    ovs_mutex_lock(&pmd->port_mutex);
    HMAP_FOR_EACH (poll, node, &pmd->poll_list) {
        if (poll->rxq->port == port) {
            found = true;
            break;
        }
    }
    ovs_mutex_unlock(&pmd->port_mutex);
    return found;
}

static void
log_emc(struct dp_netdev *dp, const struct dp_port *port)
{
    const char *name = netdev_get_name(port->netdev);
    uint32_t min;

    atomic_read_relaxed(&dp->run.emc_insert_min, &min);
    if (!port->emc_enabled) {
        VLOG_INFO("%s: EMC has been disabled.", name);
    } else if (!min) {
        VLOG_INFO("%s: EMC has been enabled. "
                  "Current insertion probability is zero.", name);
    } else {
        uint32_t inverse = UINT32_MAX / min;

        VLOG_INFO("%s: EMC has been enabled. Current insertion probability "
                  "is 1/%"PRIu32" (~%.2f%%).", name, inverse,
                  100.0 / inverse);
    }
}

static void
set_emc(struct dp_netdev *dp, struct dp_port *port, const struct smap *config)
{
    bool enable = config_bool(config, netdev_get_name(port->netdev),
                              "emc-enable", true, port->emc_enabled);
    struct pmd_thread *pmd;

    if (enable == port->emc_enabled) {
        return;
    }

    /* A thread looks at the setting when it reloads its queues. */
    port->emc_enabled = enable;
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (pmd_polls_port(pmd, port)) {
            pmd->need_reload = true;
        }
    }
    dp_netdev_request_reconfigure(dp);
    log_emc(dp, port);
}

static int
set_affinity(struct dp_netdev *dp, struct dp_port *port,
             const struct smap *config)
{
    const char *list = smap_get(config, "pmd-rxq-affinity");
    int error;

    if (!netdev_is_pmd(port->netdev)
        || nullable_string_is_equal(list, port->rxq_affinity_list)) {
        return 0;
    }

    error = dp_port_set_rxq_affinity(port, list);
    if (error) {
        VLOG_WARN_RL(&bad_config_rl,
                     "%s: pmd-rxq-affinity: '%s' is not a list of "
                     "queue:core; it stays '%s'",
                     netdev_get_name(port->netdev), list,
                     port->rxq_affinity_list ? port->rxq_affinity_list : "");
        return error;
    }
    free(port->rxq_affinity_list);
    port->rxq_affinity_list = nullable_xstrdup(list);
    dp_netdev_request_reconfigure(dp);
    return 0;
}

static void
set_tx_steering(struct dp_netdev *dp, struct dp_port *port,
                const struct smap *config)
{
    const char *name = netdev_get_name(port->netdev);
    const char *mode = smap_get_def(config, "tx-steering", "thread");
    bool hash = !strcmp(mode, "hash");

    if (!hash && strcmp(mode, "thread")) {
        VLOG_WARN_RL(&bad_config_rl,
                     "%s: tx-steering: '%s' is neither thread nor hash; "
                     "it stays %s", name, mode,
                     port->hash_steering ? "hash" : "thread");
        return;
    }
    if (hash != port->hash_steering) {
        port->hash_steering = hash;
        VLOG_INFO("%s: Tx packet steering mode has been set to '%s'.",
                  name, mode);
        dp_netdev_request_reconfigure(dp);
    }
}

/* What changes here reaches the threads with the reconfiguration that it
 * requests. */
int
dp_netdev_port_set_config(struct dpif *dpif, odp_port_t port_no,
                          const struct smap *config)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct dp_port *port;
    int error;

    ovs_rwlock_wrlock(&dp->port_rwlock);
    port = dp_netdev_find_port(dp, port_no);
    if (port) {
        set_emc(dp, port, config);
        error = set_affinity(dp, port, config);
        set_tx_steering(dp, port, config);
    } else {
        error = port_no == ODPP_NONE ? EINVAL : ENODEV;
    }
    ovs_rwlock_unlock(&dp->port_rwlock);
    return error;
}
