/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_PMD_H
#define WEFT_PMD_PMD_H 1

/* A thread that forwards packets, with all that is its own.
 *
 * A PMD thread runs pmd_thread_main() (pmd/loop.h), pinned to its core, and
 * polls the receive queues that the control side gave it.  There is one more
 * 'struct pmd_thread', with the core id NON_PMD_CORE_ID, without a thread:
 * whoever is not a PMD thread and has packets to execute borrows it under
 * dp_run's 'non_pmd_mutex'.
 *
 * Reload
 * ------
 * The control side changes what a thread reads only at reload ('poll_list',
 * 'tx_ports', txq ids) as follows: it makes the change under 'port_mutex',
 * stores the knobs ('exit', 'wait_for_reload', 'reload_tx_qid', relaxed), and
 * sets 'reload' (release).  The thread polls 'reload' each iteration (acquire:
 * pairs with that), takes everything over, clears the knobs and then 'reload'
 * (release).  The control side waits until it reads 'reload' as false
 * (acquire: pairs with that).  A thread that has nothing to poll sleeps on
 * 'reload_seq', which changes with each request, unless 'wait_for_reload' said
 * that another request follows at once.
 *
 * Thread safety
 * -------------
 * Each member says who may touch it.  "Owner" is the thread itself, or for
 * NON_PMD_CORE_ID the holder of 'non_pmd_mutex'. */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmap.h"
#include "openvswitch/hmap.h"
#include "openvswitch/thread.h"
#include "openvswitch/types.h"
#include "ovs-atomic.h"
#include "ovs-thread.h"
#include "pmd/bond.h"
#include "pmd/emc-use.h"
#include "pmd/housekeeping.h"
#include "pmd/pass-choice.h"
#include "pmd/perf.h"
#include "pmd/port.h"
#include "pmd/run.h"
#include "pmd/stage.h"
#include "pmd/txq.h"
#include "table/flow-table.h"
#include "table/lookup.h"
#include "table/sigcache.h"
#include "table/sigcache-handover.h"

/* Times in us. */
#define PMD_RCU_QUIESCE_INTERVAL_US 10000LL
#define PMD_RANK_INTERVAL_US 1000000LL

enum { DP_MAX_RECIRC_DEPTH = 8 };

struct seq;

/* A receive queue that the control side gave a thread. */
struct pmd_poll {
    struct hmap_node node;      /* In pmd_thread's 'poll_list'. */
    struct dp_rxq *rxq;
};

/* A port that the control side lets a thread send to. */
struct pmd_tx_port_ref {
    struct hmap_node node;      /* In pmd_thread's 'tx_ports'. */
    struct dp_port *port;
};

struct pmd_input_impl;
struct pmd_parse_impl;
struct pmd_burst;
struct pmd_stall;

struct pmd_thread {
    /* Constant. */
    struct dp_run *run;
    unsigned core_id;
    int numa_id;
    pthread_t thread;           /* Not for NON_PMD_CORE_ID. */

    struct cmap_node node;      /* In dp_netdev's 'poll_threads'. */
    struct ovs_refcount ref_cnt;

    /* Tables.  'flows' has its own rules; the caches are the owner's. */
    struct dp_flow_table flows;
    struct sigcache emc;
    struct sigcache smc;

    /* What the owner does, for others to see. */
    struct pmd_mark mark;

    /* What the owner knows while it works. */
    long long now;              /* us; of the last pmd_update_time(). */
    struct dp_rxq *last_rxq;    /* Queue whose packets are in work, or null. */
    uint32_t emc_insert_min;    /* Of the queue in work; 0: EMC off. */
    bool smc_enabled;           /* There is an SMC; pmd_resize_caches(). */
    uint32_t recirc_depth;      /* Of the packets in work. */
    struct emc_gate emc_gate;
    struct emc_lot emc_lot;
    struct pmd_txports txports;
    uint32_t static_tx_qid;     /* TXQ_MODE_STATIC: queue on every port. */
    struct pmd_burst *bursts[DP_MAX_RECIRC_DEPTH + 1]; /* Scratch memory of
                                 * pmd/input.c per depth, made when the depth
                                 * is first reached. */

    /* Which implementations are in use (pmd/impl.h).  Written by commands,
     * read by the owner at the start of a burst; relaxed, they are constant
     * tables. */
    ATOMIC(const struct pmd_input_impl *) input_impl;
    ATOMIC(const struct pmd_parse_impl *) parse_impl;

    struct pass_choice pass_choice; /* For "auto". */

    struct pmd_perf perf;
    struct pmd_stall *stall;    /* See pmd/stall.h.  Constant. */

    struct pmd_housekeeping house;

    /* Housekeeping.  Owner.  Times in us. */
    unsigned int iteration;     /* Counts them; wraps. */
    long long next_rank;        /* Of subtables. */
    long long next_interval;    /* End of the load interval. */
    long long next_quiesce;

    /* Load of the thread, for balancing and for shows.  Owner writes, control
     * side reads; relaxed. */
    uint64_t interval_tsc;      /* Start of the running interval.  Owner. */
    uint64_t prev_counts[PMD_N_COUNTERS]; /* At its start.  Owner. */
    atomic_ullong interval_cycles;      /* Length of the last interval. */
    atomic_count interval_idx;
    atomic_ullong busy_cycles[RXQ_INTERVALS];
    atomic_count overloaded;    /* Intervals in a row over the threshold. */

    /* Lists of what to poll and where to send.  The control side writes, the
     * owner reads at reload. */
    struct ovs_mutex port_mutex;
    struct hmap poll_list OVS_GUARDED; /* struct pmd_poll */
    struct hmap tx_ports OVS_GUARDED;  /* pmd_tx_port_ref */
    struct dp_bonds tx_bonds;   /* Has its own mutex. */

    /* Reload; see above. */
    struct seq *reload_seq;
    uint64_t last_reload_seq;   /* Owner. */
    atomic_bool reload;
    atomic_bool wait_for_reload;
    atomic_bool reload_tx_qid;
    atomic_bool exit;

    /* Caches that are to take the place of 'emc' and 'smc'.  Shared in the way
     * that their header says; the control side's part is under the mutex of
     * the datapath's caches.  (Not beside what the owner writes all the
     * time.) */
    struct sigcache_handover emc_next;
    struct sigcache_handover smc_next;

    /* Control side only. */
    bool need_reload;

    /* Has queues pinned to it, and takes no others.  Written under the
     * datapath's port lock; read by commands without it, relaxed. */
    atomic_bool isolated;

    atomic_uint64_t max_sleep;  /* us.  Control side writes, owner reads;
                                 * relaxed. */
    atomic_uint8_t overload_threshold; /* Percent of busy time in an interval
                                 * that counts as overload.  Likewise. */
};

/* Makes a thread's structure (pmd.c), with 'ref_cnt' 1, without starting
 * anything.  Its caches have no memory yet.  The caller owns it. */
struct pmd_thread *pmd_thread_create(struct dp_run *run, unsigned core_id,
                                     int numa_id);

/* Frees 'pmd' and its flows.  To be called, through pmd_thread_unref(), once
 * nobody can find it any more and its thread has ended. */
bool pmd_thread_try_ref(struct pmd_thread *);
void pmd_thread_unref(struct pmd_thread *);

/* Reads the clock into pmd->now. */
void pmd_update_time(struct pmd_thread *);

/* Allocation of pmd->static_tx_qid from the pool of the run. */
void pmd_alloc_tx_qid(struct pmd_thread *);
void pmd_free_tx_qid(struct pmd_thread *);

static inline bool
pmd_metrics_enabled(const struct pmd_thread *pmd)
{
    bool enabled;

    atomic_read_relaxed(&pmd->run->perf_metrics, &enabled);
    return enabled;
}

/* Asks 'pmd' to reload (for NON_PMD_CORE_ID: reloads at once, takes
 * 'non_pmd_mutex').  pmd_reload_wait() returns when it has. */
void pmd_reload_request(struct pmd_thread *);
void pmd_reload_wait(struct pmd_thread *);

/* Lists of the control side.  'need_reload' is set where one changes. */
void pmd_poll_list_add(struct pmd_thread *pmd, struct dp_rxq *)
    OVS_REQUIRES(pmd->port_mutex);
void pmd_poll_list_remove(struct pmd_thread *pmd, struct pmd_poll *)
    OVS_REQUIRES(pmd->port_mutex);
void pmd_tx_ports_add(struct pmd_thread *pmd, struct dp_port *)
    OVS_REQUIRES(pmd->port_mutex);
void pmd_tx_ports_remove(struct pmd_thread *pmd, struct pmd_tx_port_ref *)
    OVS_REQUIRES(pmd->port_mutex);
/* Empties all lists, bonds included. */
void pmd_lists_clear(struct pmd_thread *);

#endif /* pmd/pmd.h */
