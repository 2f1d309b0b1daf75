/* SPDX-License-Identifier: Apache-2.0 */

/* Life of a datapath: making, finding, counting and freeing it. */

#include <config.h>

#include <errno.h>

#include "conntrack.h"
#include "dp/dp-netdev.h"
#include "fat-rwlock.h"
#include "hash.h"
#include "id-pool.h"
#include "odp-util.h"
#include "ovs-numa.h"
#include "ovs-rcu.h"
#include "seq.h"
#include "sset.h"
#include "table/flow-table.h"
#include "tnl-ports.h"
#include "util.h"

/* "emc-insert-inv-prob": one packet in so many enters the EMC. */
enum { EMC_INSERT_INV_PROB = 100 };

struct ovs_mutex dp_netdev_mutex = OVS_MUTEX_INITIALIZER;
struct shash dp_netdevs OVS_GUARDED_BY(dp_netdev_mutex)
    = SHASH_INITIALIZER(&dp_netdevs);

bool
dp_netdev_class_is_dummy(const struct dpif_class *class)
{
    return class != &dpif_netdev_class;
}

struct dpif_netdev *
dpif_netdev_cast(const struct dpif *dpif)
{
    /* All classes of this datapath, and no others, open with this. */
    ovs_assert(dpif->dpif_class->open == dp_netdev_open);
    return CONTAINER_OF(dpif, struct dpif_netdev, dpif);
}

struct dp_netdev *
dp_netdev_from_dpif(const struct dpif *dpif)
{
    return dpif_netdev_cast(dpif)->dp;
}

int
dp_netdev_enumerate(struct sset *all_dps, const struct dpif_class *class)
{
    struct shash_node *node;

    ovs_mutex_lock(&dp_netdev_mutex);
    SHASH_FOR_EACH (node, &dp_netdevs) {
        const struct dp_netdev *dp = node->data;

        if (dp->class == class) {
            sset_add(all_dps, dp->name);
        }
    }
    ovs_mutex_unlock(&dp_netdev_mutex);

    return 0;
}

struct dp_netdev *
dp_netdev_find(const char *name)
{
    if (name) {
        return shash_find_data(&dp_netdevs, name);
    }
    return (shash_count(&dp_netdevs) == 1
            ? shash_first(&dp_netdevs)->data
            : NULL);
}

void
dp_netdev_request_reconfigure(struct dp_netdev *dp)
{
    seq_change(dp->reconfigure_seq);
}

bool
dp_netdev_reconfigure_requested(const struct dp_netdev *dp)
{
    return seq_read(dp->reconfigure_seq) != dp->last_reconfigure_seq;
}

/* Making. */

static void
run_init(struct dp_run *run, const char *name, const struct dpif_class *class)
    OVS_NO_THREAD_SAFETY_ANALYSIS /* Upcalls begin disabled: callbacks.c. */
{
    run->name = name;
    run->class = class;
    run->hooks = &dp_offload_hooks;
    run->conntrack = conntrack_init();
    dp_meters_init(&run->meters);
    dp_bonds_init(&run->bonds);

    atomic_init(&run->tx_flush_interval, 0);
    atomic_init(&run->emc_insert_min, UINT32_MAX / EMC_INSERT_INV_PROB);
    atomic_init(&run->perf_metrics, false);

    /* Before the lock, which a thread takes under the mutex of the keys when
     * it ends. */
    ovsthread_key_create(&run->pmd_key, NULL);
    fat_rwlock_init(&run->upcall_rwlock);
    fat_rwlock_wrlock(&run->upcall_rwlock);

    /* A queue for each thread that there can be, and one for all others. */
    ovs_mutex_init(&run->tx_qid_mutex);
    run->tx_qid_pool = id_pool_create(0, ovs_numa_get_n_cores() + 1);

    /* Execution can lead to an upcall, and that to another execution. */
    ovs_mutex_init_recursive(&run->non_pmd_mutex);
}

static void
run_destroy(struct dp_run *run)
    OVS_NO_THREAD_SAFETY_ANALYSIS /* Upcalls are disabled: callbacks.c. */
{
    ovs_mutex_destroy(&run->non_pmd_mutex);

    id_pool_destroy(run->tx_qid_pool);
    ovs_mutex_destroy(&run->tx_qid_mutex);

    ovs_assert(fat_rwlock_tryrdlock(&run->upcall_rwlock));
    fat_rwlock_unlock(&run->upcall_rwlock);
    fat_rwlock_destroy(&run->upcall_rwlock);
    ovsthread_key_delete(run->pmd_key);

    dp_bonds_destroy(&run->bonds);
    dp_meters_destroy(&run->meters);
    conntrack_destroy(run->conntrack);
}

static void
dp_netdev_free_memory(struct dp_netdev *dp)
{
    free(CONST_CAST(char *, dp->name));
    free(dp);
}

/* Makes a datapath that nobody can find yet, without threads and ports.
 *
 * Upcalls of a new datapath are disabled, which means that the caller holds a
 * lock from here on, until he enables them.  dp_netdev_mutex is taken within
 * that lock (a datapath with upcalls disabled can be closed), so not held
 * here. */
static struct dp_netdev *
dp_netdev_new(const char *name, const struct dpif_class *class)
    OVS_EXCLUDED(dp_netdev_mutex)
{
    struct dp_netdev *dp = xzalloc(sizeof *dp);

    *CONST_CAST(const char **, &dp->name) = xstrdup(name);
    *CONST_CAST(const struct dpif_class **, &dp->class) = class;
    ovs_refcount_init(&dp->ref_cnt);
    atomic_flag_clear(&dp->destroyed);
    run_init(&dp->run, dp->name, class);
    dp_netdev_init_caches(dp);

    ovs_rwlock_init(&dp->port_rwlock);
    hmap_init(&dp->ports);
    dp->port_seq = seq_create();
    cmap_init(&dp->poll_threads);
    dp->rxq_assign = RXQ_ASSIGN_CYCLES;
    dp->pmd_isolate = true;
    dp->reconfigure_seq = seq_create();
    dp->last_reconfigure_seq = seq_read(dp->reconfigure_seq);
    dp->last_tnl_conf_seq = seq_read(tnl_conf_seq);

    /* Measured once, which takes a while.  Better now than with locks held. */
    pmd_perf_tsc_hz();
    return dp;
}

/* Frees what dp_netdev_new() made.  The memory itself stays as long as
 * somebody may have a thread's structure, which refers to it. */
static void
dp_netdev_free(struct dp_netdev *dp)
{
    run_destroy(&dp->run);
    dp_netdev_destroy_caches(dp);
    cmap_destroy(&dp->poll_threads);
    seq_destroy(dp->reconfigure_seq);
    seq_destroy(dp->port_seq);
    hmap_destroy(&dp->ports);
    ovs_rwlock_destroy(&dp->port_rwlock);
    free(dp->max_sleep_list);
    free(dp->pmd_cpu_mask);
    ovsrcu_postpone(dp_netdev_free_memory, dp);
}

/* Takes down a datapath that was up, and frees it. */
static void
dp_netdev_take_down(struct dp_netdev *dp)
    OVS_REQUIRES(dp_netdev_mutex)
{
    shash_find_and_delete(&dp_netdevs, dp->name);
    dp_netdev_stop_stall_watch(dp);

    ovs_rwlock_wrlock(&dp->port_rwlock);
    /* Not an iteration: the reconfiguration may remove others as well. */
    while (!hmap_is_empty(&dp->ports)) {
        struct dp_port *port = CONTAINER_OF(hmap_first(&dp->ports),
                                            struct dp_port, node);

        dp_netdev_remove_port(dp, port);
    }
    ovs_rwlock_unlock(&dp->port_rwlock);

    dp_netdev_del_all_pmds(dp, true);
    dp_netdev_offload_drain();
    dp_netdev_free(dp);
}

/* Gives 'dp' the structure for all who are no PMD threads, and its local port,
 * and lets it be found.  If that fails 'dp' is freed. */
static int
dp_netdev_bring_up(struct dp_netdev *dp)
    OVS_REQUIRES(dp_netdev_mutex)
{
    int error;

    shash_add(&dp_netdevs, dp->name, dp);

    ovs_rwlock_wrlock(&dp->port_rwlock);
    /* The first thread, so that it gets transmit queue 0. */
    dp_netdev_add_pmd(dp, NON_PMD_CORE_ID, OVS_NUMA_UNSPEC);
    error = dp_netdev_create_port(dp, dp->name,
                                  dp_netdev_port_open_type(dp->class,
                                                           "internal"),
                                  ODPP_LOCAL);
    ovs_rwlock_unlock(&dp->port_rwlock);

    if (error) {
        dp_netdev_take_down(dp);
    }
    return error;
}

/* Handles. */

static struct dpif *
dpif_netdev_create(struct dp_netdev *dp)
{
    uint16_t netflow_id = hash_string(dp->name, 0);
    struct dpif_netdev *handle = xmalloc(sizeof *handle);

    dpif_init(&handle->dpif, dp->class, dp->name, netflow_id >> 8,
              netflow_id);
    ovs_refcount_ref(&dp->ref_cnt);
    handle->dp = dp;
    handle->last_port_seq = seq_read(dp->port_seq);
    return &handle->dpif;
}

int
dp_netdev_open(const struct dpif_class *class, const char *name, bool create,
               struct dpif **dpifp)
{
    struct dp_netdev *new = create ? dp_netdev_new(name, class) : NULL;
    struct dp_netdev *dp;
    int error;

    ovs_mutex_lock(&dp_netdev_mutex);
    dp = dp_netdev_find(name);
    if (dp) {
        error = dp->class != class ? EINVAL : create ? EEXIST : 0;
    } else if (new) {
        dp = new;
        new = NULL;
        error = dp_netdev_bring_up(dp);
    } else {
        error = ENODEV;
    }
    if (!error) {
        *dpifp = dpif_netdev_create(dp);
    }
    ovs_mutex_unlock(&dp_netdev_mutex);

    if (new) {
        dp_netdev_free(new);
    }
    return error;
}

/* Needs the mutex so that nobody finds 'dp' by its name while it is freed. */
void
dp_netdev_unref(struct dp_netdev *dp)
{
    if (ovs_refcount_unref_relaxed(&dp->ref_cnt) == 1) {
        dp_netdev_take_down(dp);
    }
}

void
dp_netdev_close(struct dpif *dpif)
{
    struct dpif_netdev *handle = dpif_netdev_cast(dpif);

    ovs_mutex_lock(&dp_netdev_mutex);
    dp_netdev_unref(handle->dp);
    ovs_mutex_unlock(&dp_netdev_mutex);
    free(handle);
}

/* Gives back the reference that the datapath has to itself, so that it goes
 * away with its last handle. */
int
dp_netdev_destroy(struct dpif *dpif)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);

    if (!atomic_flag_test_and_set(&dp->destroyed)) {
        unsigned int refs = ovs_refcount_unref_relaxed(&dp->ref_cnt);

        ovs_assert(refs > 1);   /* 'dpif' has one. */
    }
    return 0;
}

int
dp_netdev_get_stats(const struct dpif *dpif, struct dpif_dp_stats *stats)
{
    static const enum pmd_counter hits[] = {
        PMD_COUNT_PHWOL_HIT,
        PMD_COUNT_SIMPLE_HIT,
        PMD_COUNT_EMC_HIT,
        PMD_COUNT_SMC_HIT,
        PMD_COUNT_MASKED_HIT,
    };
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct pmd_thread *pmd;

    memset(stats, 0, sizeof *stats);
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        uint64_t counts[PMD_N_COUNTERS];

        pmd_perf_read(&pmd->perf, counts);
        for (size_t i = 0; i < ARRAY_SIZE(hits); i++) {
            stats->n_hit += counts[hits[i]];
        }
        stats->n_missed += counts[PMD_COUNT_MISS];
        stats->n_lost += counts[PMD_COUNT_LOST];
        stats->n_flows += dp_flow_table_count(&pmd->flows);
    }

    /* Masks are a matter of each thread and port. */
    stats->n_masks = UINT32_MAX;
    stats->n_mask_hit = UINT64_MAX;
    stats->n_cache_hit = UINT64_MAX;
    return 0;
}
