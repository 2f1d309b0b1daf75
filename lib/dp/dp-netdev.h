/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_DP_DP_NETDEV_H
#define WEFT_DP_DP_NETDEV_H 1

/* The datapath as the control threads see it.
 *
 * 'struct dp_netdev' is what a name like "netdev@ovs-netdev" stands for.  Each
 * subject of its control has a file of its own: ports.c, flows.c, flow-dump.c,
 * config.c, reconfigure.c, sched.c, balance.c, sleep.c, ct.c, offload.c,
 * commands*.c; datapath.c makes, finds and frees it.
 *
 * Locks, outermost first
 * ----------------------
 *    dp->run.upcall_rwlock   (for writing, while upcalls are disabled)
 *    dp_netdev_mutex         (all datapaths)
 *    dp->port_rwlock         (ports)
 *    dp->run.bonds.mutex
 *    dp->caches.mutex        (sizes of caches)
 *    dp->run.non_pmd_mutex   (use of the non-PMD thread's structure)
 *    pmd->port_mutex
 *    pmd->flows.mutex
 *
 * Thread safety
 * -------------
 * Any thread may use a datapath that it has a reference to. */

#include <stdbool.h>
#include <stdint.h>

#include "cmap.h"
#include "dpif.h"
#include "dpif-provider.h"
#include "openvswitch/hmap.h"
#include "openvswitch/shash.h"
#include "openvswitch/thread.h"
#include "ovs-atomic.h"
#include "ovs-thread.h"
#include "pmd/pmd.h"
#include "pmd/run.h"

struct ds;
struct pmd_stall_watch;
struct seq;

/* How receive queues are given to threads ("pmd-rxq-assign"). */
enum rxq_assign {
    RXQ_ASSIGN_ROUNDROBIN,
    RXQ_ASSIGN_CYCLES,          /* Default. */
    RXQ_ASSIGN_GROUP
};

/* Automatic balancing ("pmd-auto-lb*").  Main thread only, except as said. */
struct dp_balance {
    bool enabled;               /* "pmd-auto-lb". */
    bool recheck;               /* Something changed since the last dry run
                                 * was found to be of no use. */
    bool dry_run_useful;        /* Result of the last such check. */
    long long interval_ms;
    long long last_run;         /* Monotonic ms; 0: never. */
    uint8_t improvement_percent;
    uint8_t load_percent;       /* Copied to every thread. */
};

/* The caches that every thread has in front of its classifier; levels of
 * dpif_cache_get_size() and its like. */
enum dp_cache {
    DP_CACHE_EMC,
    DP_CACHE_SMC,
    DP_N_CACHES
};

/* Their sizes (caches.c). */
struct dp_caches {
    /* Held while sizes change, threads come and threads go: so a thread has
     * the size that was in force when it came, and is told of each later
     * one. */
    struct ovs_mutex mutex;
    uint32_t n_entries[DP_N_CACHES] OVS_GUARDED; /* What each thread has, but
                                 * of the SMC only while it is enabled. */
    bool smc_enabled OVS_GUARDED; /* "smc-enable". */

    /* "emc-size" and "smc-size" as they were read last, or null: only when one
     * of them changes does it count.  Main thread only. */
    char *config[DP_N_CACHES];
};

struct dp_netdev {
    struct dp_run run;          /* See pmd/run.h. */
    struct dp_caches caches;

    const struct dpif_class *const class;
    const char *const name;
    struct ovs_refcount ref_cnt;
    atomic_flag destroyed;

    struct ovs_rwlock port_rwlock;
    struct hmap ports OVS_GUARDED; /* 'struct dp_port's. */
    struct seq *port_seq;       /* Changes with each port added or removed. */

    struct cmap poll_threads;   /* 'struct pmd_thread's.  Written with
                                 * 'port_rwlock'. */

    /* Reconfiguration: 'reconfigure_seq' changes on each request; the main
     * thread compares it with the other. */
    struct seq *reconfigure_seq;
    uint64_t last_reconfigure_seq;
    uint64_t last_tnl_conf_seq;

    /* Configuration.  Main thread only. */
    bool configured;            /* dp_netdev_set_config() has been called. */
    enum rxq_assign rxq_assign;
    bool pmd_isolate;           /* "pmd-rxq-isolate". */
    char *pmd_cpu_mask;         /* "pmd-cpu-mask", or null. */
    char *max_sleep_list;       /* "pmd-sleep-max", or null. */
    uint64_t max_sleep_default; /* us. */
    struct dp_balance balance;

    /* "pmd-stall-threshold", us.  Written with 'port_rwlock', read with it or
     * by the main thread.  A watcher is there while it is not zero; main
     * thread only. */
    uint64_t stall_threshold;
    struct pmd_stall_watch *stall_watch;

    dp_purge_callback *purge_cb; /* Set once, before the first purge. */
    void *purge_aux;
};

/* A dpif's handle for a datapath. */
struct dpif_netdev {
    struct dpif dpif;
    struct dp_netdev *dp;
    uint64_t last_port_seq;
};

extern struct ovs_mutex dp_netdev_mutex;
extern struct shash dp_netdevs OVS_GUARDED;

struct dpif_netdev *dpif_netdev_cast(const struct dpif *);
struct dp_netdev *dp_netdev_from_dpif(const struct dpif *);
bool dp_netdev_class_is_dummy(const struct dpif_class *);

/* datapath.c: life of a datapath.  Arguments and results are those of the
 * members of 'struct dpif_class' of the same name, here and in all of dp/. */
int dp_netdev_enumerate(struct sset *all_dps, const struct dpif_class *);
int dp_netdev_open(const struct dpif_class *, const char *name, bool create,
                   struct dpif **dpifp);
void dp_netdev_close(struct dpif *);
int dp_netdev_destroy(struct dpif *);
int dp_netdev_get_stats(const struct dpif *, struct dpif_dp_stats *);
/* Releases a reference, with dp_netdev_mutex held. */
void dp_netdev_unref(struct dp_netdev *dp) OVS_REQUIRES(dp_netdev_mutex);
/* Finds the datapath 'name', or the only one if 'name' is null.  NULL if there
 * is none or 'name' is null and there are several. */
struct dp_netdev *dp_netdev_find(const char *name)
    OVS_REQUIRES(dp_netdev_mutex);
void dp_netdev_request_reconfigure(struct dp_netdev *dp);
bool dp_netdev_reconfigure_requested(const struct dp_netdev *dp);

/* threads.c: threads of a datapath. */
struct pmd_thread *dp_netdev_get_pmd(struct dp_netdev *dp, unsigned core_id);
struct pmd_thread *dp_netdev_next_pmd(struct dp_netdev *dp,
                                      struct cmap_position *);
/* Makes the thread of 'core_id' and (unless NON_PMD_CORE_ID) starts it.  It is
 * up to the caller to log that, here and where a thread is deleted. */
struct pmd_thread *dp_netdev_add_pmd(struct dp_netdev *dp, unsigned core_id,
                                     int numa_id);
/* Stops, purges and forgets a thread.  May quiesce, so not to be called while
 * iterating 'poll_threads'. */
void dp_netdev_del_pmd(struct dp_netdev *dp, struct pmd_thread *);
void dp_netdev_del_all_pmds(struct dp_netdev *dp, bool non_pmd_too);
/* All threads by core id, in memory that the caller frees. */
struct pmd_thread **dp_netdev_sorted_pmds(struct dp_netdev *dp, size_t *n);
/* Reloads those that need it, all at a time, and waits. */
void dp_netdev_reload_pmds(struct dp_netdev *dp);

/* ports.c */
const char *dp_netdev_port_open_type(const struct dpif_class *,
                                     const char *type);
int dp_netdev_port_add(struct dpif *, struct netdev *, odp_port_t *port_nop);
int dp_netdev_port_del(struct dpif *, odp_port_t);
int dp_netdev_port_set_config(struct dpif *, odp_port_t,
                              const struct smap *); /* port-config.c */
int dp_netdev_port_query_by_number(const struct dpif *, odp_port_t,
                                   struct dpif_port *);
int dp_netdev_port_query_by_name(const struct dpif *, const char *devname,
                                 struct dpif_port *);
int dp_netdev_port_dump_start(const struct dpif *, void **statep);
int dp_netdev_port_dump_next(const struct dpif *, void *state,
                             struct dpif_port *);
int dp_netdev_port_dump_done(const struct dpif *, void *state);
int dp_netdev_port_poll(const struct dpif *, char **devnamep);
void dp_netdev_port_poll_wait(const struct dpif *);
/* Adds the internal port 'devname' as 'port_no' when a datapath is made. */
int dp_netdev_create_port(struct dp_netdev *dp, const char *devname,
                          const char *type, odp_port_t port_no)
    OVS_REQ_WRLOCK(dp->port_rwlock);
struct dp_port *dp_netdev_find_port(const struct dp_netdev *dp, odp_port_t)
    OVS_REQ_RDLOCK(dp->port_rwlock);
struct dp_port *dp_netdev_find_port_by_name(const struct dp_netdev *dp,
                                            const char *devname)
    OVS_REQ_RDLOCK(dp->port_rwlock);
/* Takes 'port' out of the datapath and frees it.  Requests the necessary
 * reconfiguration before it is freed. */
void dp_netdev_remove_port(struct dp_netdev *dp, struct dp_port *)
    OVS_REQ_WRLOCK(dp->port_rwlock);
void dp_port_destroy(struct dp_port *);
/* Pins the receive queues of 'port' to cores as 'list' says ("queue:core,...",
 * or null for none).  Returns EINVAL for a list that cannot be read, and then
 * leaves the queues as they are. */
int dp_port_set_rxq_affinity(struct dp_port *, const char *list);
/* "dpif-dummy/change-port-number": moves 'port' to 'port_no'. */
void dp_netdev_renumber_port(struct dp_netdev *dp, struct dp_port *,
                             odp_port_t port_no)
    OVS_REQ_WRLOCK(dp->port_rwlock);

/* reconfigure.c, sched.c, balance.c, sleep.c, config.c, run.c */

/* Makes threads, ports and queues what the user wants them to be, in the main
 * thread.  A port that cannot be configured is removed and freed. */
void dp_netdev_reconfigure(struct dp_netdev *dp)
    OVS_REQ_WRLOCK(dp->port_rwlock);
bool dp_netdev_ports_need_restart(const struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock);
bool dp_netdev_has_pmd_port(const struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock);
/* Sets dp_rxq's 'pmd' for all queues, and pmd_thread's 'isolated'. */
void dp_netdev_schedule_rxqs(struct dp_netdev *dp)
    OVS_REQ_RDLOCK(dp->port_rwlock);
const char *rxq_assign_name(enum rxq_assign);
/* Main thread, each run: balances if it is time. */
void dp_netdev_balance_run(struct dp_netdev *dp, long long now)
    OVS_REQ_RDLOCK(dp->port_rwlock);
/* Main thread: wakes it up in time for that. */
void dp_netdev_balance_wait(const struct dp_netdev *dp);
/* Turns balancing on or off.  Logs a change, or the settings in any case. */
void dp_netdev_balance_set(struct dp_netdev *dp, bool enable,
                           bool always_log);
/* Tells all threads the load from which they count as overloaded. */
void dp_netdev_balance_copy_threshold(struct dp_netdev *dp);
/* "pmd-sleep-max" for a thread that is being made, and for all threads. */
void dp_netdev_init_pmd_sleep(struct dp_netdev *dp, struct pmd_thread *);
void dp_netdev_set_sleep_config(struct dp_netdev *dp, const struct smap *);
/* stall.c: "pmd-stall-threshold", for a thread that is being made, and for all
 * threads; and the end of it before the last thread goes. */
void dp_netdev_init_pmd_stall(struct dp_netdev *dp, struct pmd_thread *);
void dp_netdev_set_stall_config(struct dp_netdev *dp, const struct smap *);
void dp_netdev_stop_stall_watch(struct dp_netdev *dp);
/* malloc.c: once in the process, before there are datapaths. */
void dp_netdev_tune_malloc(void);
int dp_netdev_set_config(struct dpif *, const struct smap *other_config);
bool dp_netdev_run(struct dpif *);
void dp_netdev_wait(struct dpif *);

/* execute.c, flows.c, flow-dump.c, flow-convert.c */
int dp_netdev_flow_put(struct dpif *, const struct dpif_flow_put *);
int dp_netdev_flow_get(const struct dpif *, const struct dpif_flow_get *);
int dp_netdev_flow_del(struct dpif *, const struct dpif_flow_del *);
int dp_netdev_flow_flush(struct dpif *);
int dp_netdev_execute(struct dpif *, struct dpif_execute *);
void dp_netdev_operate(struct dpif *, struct dpif_op **, size_t n_ops,
                       enum dpif_offload_type);
struct dpif_flow_dump *dp_netdev_flow_dump_create(
    const struct dpif *, bool terse, struct dpif_flow_dump_types *);
int dp_netdev_flow_dump_destroy(struct dpif_flow_dump *);
struct dpif_flow_dump_thread *dp_netdev_flow_dump_thread_create(
    struct dpif_flow_dump *);
void dp_netdev_flow_dump_thread_destroy(struct dpif_flow_dump_thread *);
int dp_netdev_flow_dump_next(struct dpif_flow_dump_thread *,
                             struct dpif_flow *, int max_flows);
/* Removes all flows of one thread. */
void dp_netdev_pmd_flush_flows(struct pmd_thread *);

/* offload.c: flows that hardware takes over. */
extern const struct dp_run_hooks dp_offload_hooks;
int dp_netdev_offload_stats_get(struct dpif *, struct netdev_custom_stats *);
/* Waits until nothing is left to be done for 'port', which no thread uses any
 * more, and takes all rules out of its device.  Releases 'port_rwlock' for
 * some time. */
void dp_netdev_offload_flush(struct dp_netdev *dp, struct dp_port *port)
    OVS_REQ_WRLOCK(dp->port_rwlock);
/* Waits until all that was asked for so far is done.  To be called before a
 * datapath is freed, with all of its flows removed. */
void dp_netdev_offload_drain(void);
/* Asks the hardware for the statistics of 'flow'; false: it has none. */
bool dp_netdev_offload_flow_stats(const struct dp_netdev *dp, struct dp_flow *,
                                  struct dpif_flow_stats *,
                                  struct dpif_flow_attrs *);

/* callbacks.c: what the upper layer wants to be called for. */
void dp_netdev_register_purge_cb(struct dpif *, dp_purge_callback *,
                                 void *aux);
void dp_netdev_register_upcall_cb(struct dpif *, upcall_callback *, void *aux);
void dp_netdev_enable_upcall(struct dpif *);
void dp_netdev_disable_upcall(struct dpif *);

/* caches.c: sizes of the caches.  A level is an 'enum dp_cache', sizes are in
 * entries.  Setting one returns 0, EINVAL, or ENOMEM if there is no memory for
 * all threads to have that size, which then is in force for none.  It takes as
 * long as the memory takes to be zeroed, and forgets what was cached. */
int dp_netdev_cache_get_levels(struct dpif *, uint32_t *n_levels);
int dp_netdev_cache_get_name(struct dpif *, uint32_t level, const char **name);
int dp_netdev_cache_get_size(struct dpif *, uint32_t level, uint32_t *size);
int dp_netdev_cache_set_size(struct dpif *, uint32_t level, uint32_t size);
void dp_netdev_init_caches(struct dp_netdev *dp);
void dp_netdev_destroy_caches(struct dp_netdev *dp);
/* The same by "emc-size", "smc-size" and "smc-enable". */
void dp_netdev_set_cache_config(struct dp_netdev *dp, const struct smap *);
/* Gives a new thread its caches and adds it to 'poll_threads', and the
 * reverse for one that has ended. */
void dp_netdev_insert_pmd(struct dp_netdev *dp, struct pmd_thread *,
                          uint32_t hash)
    OVS_EXCLUDED(dp->caches.mutex);
void dp_netdev_forget_pmd(struct dp_netdev *dp, struct pmd_thread *,
                          uint32_t hash)
    OVS_EXCLUDED(dp->caches.mutex);
/* Main thread, each run: frees caches that were replaced. */
void dp_netdev_run_caches(struct dp_netdev *dp)
    OVS_EXCLUDED(dp->caches.mutex);

/* bonds.c */
int dp_netdev_bond_add(struct dpif *, uint32_t bond_id, odp_port_t *members);
int dp_netdev_bond_del(struct dpif *, uint32_t bond_id);
int dp_netdev_bond_stats_get(struct dpif *, uint32_t bond_id,
                             uint64_t *n_bytes);

/* commands.c: registers "dpif-netdev/..." with unixctl; once per process. */
void dp_netdev_register_commands(void);
/* dummy.c: registers "dpif-dummy/..." */
void dp_netdev_register_dummy_commands(void);

#endif /* dp/dp-netdev.h */
