/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_CONTROL_LOAD_H
#define BENCH_CONTROL_LOAD_H 1

/* What the control threads of ovs-vswitchd do, as a load
 * ======================================================
 *
 * Problem: a bench or a test wants to know what a PMD thread feels of the
 * control threads beside it: handlers, revalidators, the main thread.  Here
 * each kind of their work has a thread that does nothing else, again and
 * again, as fast as it can.
 *
 *   - seq-changes: seq_change() of some seqs that the waiters (next kind) wait
 *     for and of many that nobody waits for.
 *
 *   - seq-waiters: a ring of threads that sleep in poll_block(), each with
 *     seq_wait() on one seq of its own and on those of the kind before.  Each
 *     wakes up the next one, so that it is a load without seq-changes, too.
 *
 *   - rcu-callbacks: batches of allocations that ovsrcu_postpone() frees, each
 *     batch followed by a quiescent state.
 *
 *   - flow-dumps: a dump of all flows, as the revalidators make it.
 *
 *   - flow-changes: flow puts, modifications (to equal actions) of flows that
 *     carry traffic, and deletions of the flows that were put.
 *
 *   - statistics: the datapath's statistics, its ports, single flows, and
 *     the ovs-appctl commands dpif-netdev/pmd-stats-show and pmd-perf-show.
 *
 *   - meters: set, modify, get and delete a meter.
 *
 * Only the public dpif, seq and RCU interfaces are used, so that it is the
 * same load with whatever implementation it is linked.
 *
 * A thread that gives memory back through RCU waits when a bounded number of
 * its callbacks has not been called yet.  So memory is bounded, also where RCU
 * is slower than the load.
 *
 * Usage:
 *
 *     load = control_load_start(&config);
 *     dp_driver_run(driver, 1000);    (serves ovs-appctl for "statistics")
 *     control_load_stop(load, n_done);
 *
 * Thread safety: start and stop belong to the thread that runs the datapath
 * and the ovs-appctl server. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_load;
struct dp_driver;
struct flow_put;

enum control_load_kind {
    CONTROL_LOAD_SEQ_CHANGES,
    CONTROL_LOAD_SEQ_WAITERS,
    CONTROL_LOAD_RCU_CALLBACKS,
    CONTROL_LOAD_FLOW_DUMPS,
    CONTROL_LOAD_FLOW_CHANGES,
    CONTROL_LOAD_STATISTICS,
    CONTROL_LOAD_METERS,
};
enum { CONTROL_LOAD_N_KINDS = CONTROL_LOAD_METERS + 1 };
enum { CONTROL_LOAD_ALL = (1 << CONTROL_LOAD_N_KINDS) - 1 };

struct control_load_config {
    unsigned int kinds;         /* A bit (1 << kind) for each one wanted. */
    struct dp_driver *driver;
    unsigned int core;          /* Where all of its threads run. */

    /* For CONTROL_LOAD_FLOW_CHANGES and CONTROL_LOAD_STATISTICS: flows 0 to
     * 'n_flows' - 1 of 'put' are installed already and stay; the load comes
     * and goes with the 'n_spare' (at least 1) that follow.  No one else may
     * use 'put' meanwhile. */
    struct flow_put *put;
    uint64_t n_flows, n_spare;
};

/* The name of a kind, such as "seq-changes", and the kinds that 'names' lists,
 * as bits: names with commas between them, "all" or "none".  On failure
 * control_load_parse() returns a message, which the caller must free, instead
 * of NULL. */
const char *control_load_name(enum control_load_kind);
char *control_load_parse(const char *names, unsigned int *kinds);

/* Starts the threads.  The caller owns the result.  'config' is copied. */
struct control_load *control_load_start(const struct control_load_config *);

/* Ends the threads, deletes what flows and meters they left, waits for their
 * RCU callbacks, and frees 'load'.  Stores to 'n_done' how many operations
 * each kind has made.  A kind that was wanted and shows 0 did nothing or had
 * a failure, which it printed: an error in either case. */
void control_load_stop(struct control_load *load,
                       uint64_t n_done[CONTROL_LOAD_N_KINDS]);

#endif /* bench/control-load.h */
