/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_RUN_H
#define WEFT_PMD_RUN_H 1

/* The run side of a datapath: what the threads that forward packets share, and
 * what the control side tells them.
 *
 * 'struct dp_run' is part of 'struct dp_netdev' (lib/dp), which makes it
 * before the first thread and frees it after the last one.  Configuration
 * reaches threads as words that they read (atomics, relaxed: each word stands
 * for itself) or, where several things must change together, by a reload of
 * the thread (pmd/pmd.h). */

#include <stdbool.h>
#include <stdint.h>

#include "dpif.h"
#include "dpif-provider.h"
#include "fat-rwlock.h"
#include "openvswitch/thread.h"
#include "ovs-atomic.h"
#include "ovs-thread.h"
#include "pmd/bond.h"
#include "pmd/meter.h"

struct conntrack;
struct dp_flow;
struct dp_packet;
struct id_pool;
struct match;
struct nlattr;
struct pmd_thread;
struct netdev;

/* What the run side asks of rooms above it.  A member may be null: then there
 * is nothing to be done. */
struct dp_run_hooks {
    /* 'flow' was added to (or removed from, or changed in) the flow table of
     * 'pmd', whose mutex is held.  'old_actions' is null for a new flow. */
    void (*flow_added)(struct pmd_thread *, struct dp_flow *,
                       const struct match *, const struct nlattr *actions,
                       size_t actions_len);
    void (*flow_changed)(struct pmd_thread *, struct dp_flow *,
                         const struct match *, const struct nlattr *actions,
                         size_t actions_len);
    void (*flow_removed)(struct pmd_thread *, struct dp_flow *);

    /* Finds the flow that hardware has marked 'packet' (received from
     * 'netdev') with; NULL if none.  Returns a positive errno if the packet
     * must go no further (the hook has freed it). */
    int (*hw_flow)(struct pmd_thread *, struct netdev *, struct dp_packet *,
                   struct dp_flow **);
};

struct dp_run {
    const char *name;                   /* Of the datapath.  Constant. */
    const struct dpif_class *class;     /* Constant. */
    const struct dp_run_hooks *hooks;   /* Constant. */
    struct conntrack *conntrack;        /* Constant; thread-safe itself. */
    struct dp_meters meters;
    struct dp_bonds bonds;              /* The control side's set, without
                                         * counts. */

    /* Configuration.  Written by the control side, read by all (relaxed). */
    atomic_uint32_t tx_flush_interval;  /* us; "tx-flush-interval". */
    atomic_uint32_t emc_insert_min;     /* A random number up to this inserts;
                                         * 0: never.  UINT32_MAX / inverse
                                         * probability. */
    atomic_bool perf_metrics;           /* "pmd-perf-metrics". */

    /* Upcalls.  Held for reading (tried, never waited for) by a thread that
     * makes an upcall; held for writing while the upper layer has upcalls
     * disabled.  'upcall_cb' is set before upcalls are first enabled. */
    struct fat_rwlock upcall_rwlock;
    upcall_callback *upcall_cb;
    void *upcall_aux;

    /* Transmit queue ids, each thread has one of its own. */
    struct ovs_mutex tx_qid_mutex;
    struct id_pool *tx_qid_pool OVS_GUARDED;

    /* The thread that "executes" for all threads which are not PMD threads,
     * NON_PMD_CORE_ID, is used under this mutex. */
    struct ovs_mutex non_pmd_mutex;

    ovsthread_key_t pmd_key;            /* A PMD thread's 'struct pmd_thread',
                                         * null in other threads. */
};

#endif /* pmd/run.h */
