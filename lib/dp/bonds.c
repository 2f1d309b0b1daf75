/* SPDX-License-Identifier: Apache-2.0 */

/* Bonds with balanced output, as the upper layer manages them.  The datapath
 * knows the members; each thread has its own copy, which counts. */

#include <config.h>

#include <errno.h>

#include "dp/dp-netdev.h"
#include "pmd/bond.h"

int
dp_netdev_bond_add(struct dpif *dpif, uint32_t bond_id, odp_port_t *members)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct pmd_thread *pmd;

    dp_bonds_put(&dp->run.bonds, bond_id, members, true);
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        dp_bonds_put(&pmd->tx_bonds, bond_id, members, true);
    }
    return 0;
}

int
dp_netdev_bond_del(struct dpif *dpif, uint32_t bond_id)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct pmd_thread *pmd;

    if (!dp_bonds_remove(&dp->run.bonds, bond_id)) {
        return ENOENT;
    }
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        dp_bonds_remove(&pmd->tx_bonds, bond_id);
    }
    return 0;
}

/* Adds to the BOND_BUCKETS elements of 'n_bytes'. */
int
dp_netdev_bond_stats_get(struct dpif *dpif, uint32_t bond_id,
                         uint64_t *n_bytes)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct pmd_thread *pmd;

    if (!dp_bonds_find(&dp->run.bonds, bond_id)) {
        return ENOENT;
    }
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        struct dp_bond *bond = dp_bonds_find(&pmd->tx_bonds, bond_id);

        for (size_t i = 0; bond && i < BOND_BUCKETS; i++) {
            unsigned long long n;

            atomic_read_relaxed(&bond->buckets[i].bytes, &n);
            n_bytes[i] += n;
        }
    }
    return 0;
}
