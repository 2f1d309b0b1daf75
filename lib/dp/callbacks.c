/* SPDX-License-Identifier: Apache-2.0 */

/* What the upper layer wants to be called for.
 *
 * While upcalls are disabled, their lock is held for writing, by the thread
 * that created the datapath or disabled them, and released by whoever enables
 * them.  That is nothing that the compiler could follow. */

#include <config.h>

#include "dp/dp-netdev.h"
#include "fat-rwlock.h"

void
dp_netdev_register_purge_cb(struct dpif *dpif, dp_purge_callback *cb,
                            void *aux)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);

    dp->purge_cb = cb;
    dp->purge_aux = aux;
}

void
dp_netdev_register_upcall_cb(struct dpif *dpif, upcall_callback *cb,
                             void *aux)
{
    struct dp_run *run = &dp_netdev_from_dpif(dpif)->run;

    run->upcall_cb = cb;
    run->upcall_aux = aux;
}

void
dp_netdev_disable_upcall(struct dpif *dpif)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    fat_rwlock_wrlock(&dp_netdev_from_dpif(dpif)->run.upcall_rwlock);
}

void
dp_netdev_enable_upcall(struct dpif *dpif)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    fat_rwlock_unlock(&dp_netdev_from_dpif(dpif)->run.upcall_rwlock);
}
