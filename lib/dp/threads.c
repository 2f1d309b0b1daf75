/* SPDX-License-Identifier: Apache-2.0 */

/* The threads of a datapath: finding, making, reloading and removing them. */

#include <config.h>

#include <stdlib.h>

#include "dp/dp-netdev.h"
#include "hash.h"
#include "pmd/loop.h"
#include "util.h"

static uint32_t
core_hash(unsigned core_id)
{
    return hash_int(core_id, 0);
}

/* Finds the thread of 'core_id' and takes a reference to it, which the caller
 * gives back.  NULL if there is none. */
struct pmd_thread *
dp_netdev_get_pmd(struct dp_netdev *dp, unsigned core_id)
{
    struct pmd_thread *pmd;

    CMAP_FOR_EACH_WITH_HASH (pmd, node, core_hash(core_id),
                             &dp->poll_threads) {
        if (pmd->core_id == core_id) {
            return pmd_thread_try_ref(pmd) ? pmd : NULL;
        }
    }
    return NULL;
}

/* Returns the next thread after '*pos', which starts as all zeros, with a
 * reference for the caller.  NULL at the end. */
struct pmd_thread *
dp_netdev_next_pmd(struct dp_netdev *dp, struct cmap_position *pos)
{
    struct cmap_node *node;

    while ((node = cmap_next_position(&dp->poll_threads, pos)) != NULL) {
        struct pmd_thread *pmd = CONTAINER_OF(node, struct pmd_thread, node);

        if (pmd_thread_try_ref(pmd)) {
            return pmd;
        }
    }
    return NULL;
}

struct pmd_thread *
dp_netdev_add_pmd(struct dp_netdev *dp, unsigned core_id, int numa_id)
{
    struct pmd_thread *pmd = pmd_thread_create(&dp->run, core_id, numa_id);

    dp_netdev_init_pmd_sleep(dp, pmd);
    dp_netdev_init_pmd_stall(dp, pmd);
    dp_netdev_insert_pmd(dp, pmd, core_hash(core_id));

    if (core_id != NON_PMD_CORE_ID) {
        char *name = xasprintf("pmd-c%02u/id:", core_id);

        pmd->thread = ovs_thread_create(name, pmd_thread_main, pmd);
        free(name);
    }
    return pmd;
}

/* Gives back what the structure without a thread has in use.  (A real thread
 * does that itself when it ends.) */
static void
release_non_pmd(struct dp_netdev *dp, struct pmd_thread *pmd)
{
    ovs_mutex_lock(&dp->run.non_pmd_mutex);
    pmd_txports_clear(pmd);
    pmd_free_tx_qid(pmd);
    ovs_mutex_unlock(&dp->run.non_pmd_mutex);
}

void
dp_netdev_del_pmd(struct dp_netdev *dp, struct pmd_thread *pmd)
{
    if (pmd->core_id == NON_PMD_CORE_ID) {
        release_non_pmd(dp, pmd);
    } else {
        atomic_store_relaxed(&pmd->exit, true);
        pmd_reload_request(pmd);
        xpthread_join(pmd->thread, NULL);
    }
    pmd_lists_clear(pmd);

    /* The upper layer wants the statistics of the flows, so they must still be
     * there. Afterwards they go at once: others may hold references to 'pmd'
     * for longer than the datapath lives. */
    if (dp->purge_cb) {
        dp->purge_cb(dp->purge_aux, pmd->core_id);
    }
    dp_netdev_pmd_flush_flows(pmd);

    dp_netdev_forget_pmd(dp, pmd, core_hash(pmd->core_id));
    pmd_thread_unref(pmd);
}

static int
compare_cores(const void *a_, const void *b_)
{
    const struct pmd_thread *const *a = a_;
    const struct pmd_thread *const *b = b_;

    return ((*a)->core_id > (*b)->core_id) - ((*a)->core_id < (*b)->core_id);
}

/* References are not taken: the caller has 'port_rwlock' or does not
 * quiesce. */
struct pmd_thread **
dp_netdev_sorted_pmds(struct dp_netdev *dp, size_t *n)
{
    struct pmd_thread **list = NULL;
    size_t allocated = 0;
    struct pmd_thread *pmd;

    *n = 0;
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (*n >= allocated) {
            list = x2nrealloc(list, &allocated, sizeof *list);
        }
        list[(*n)++] = pmd;
    }
    if (*n) {
        qsort(list, *n, sizeof *list, compare_cores);
    }
    return list;
}

void
dp_netdev_del_all_pmds(struct dp_netdev *dp, bool non_pmd_too)
{
    size_t n;
    struct pmd_thread **list = dp_netdev_sorted_pmds(dp, &n);

    for (size_t i = 0; i < n; i++) {
        if (non_pmd_too || list[i]->core_id != NON_PMD_CORE_ID) {
            dp_netdev_del_pmd(dp, list[i]);
        }
    }
    free(list);
}

void
dp_netdev_reload_pmds(struct dp_netdev *dp)
{
    struct pmd_thread *pmd;

    /* First ask all, then wait for all, so that it takes as long as the
     * slowest. */
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (pmd->need_reload) {
            pmd_reload_request(pmd);
        }
    }
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        if (pmd->need_reload) {
            pmd_reload_wait(pmd);
            pmd->need_reload = false;
        }
    }
}
