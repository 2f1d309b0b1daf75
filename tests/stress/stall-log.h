/* SPDX-License-Identifier: Apache-2.0 */

#ifndef STRESS_STALL_LOG_H
#define STRESS_STALL_LOG_H 1

/* All stalls of a long run, and whether the stall recorder saw them
 * =================================================================
 *
 * The recorder (pmd/stall.h) forgets what it knows of a PMD thread when the
 * thread ends, and cannot say whether it would have been able to catch what it
 * did not.  A stall log switches it on, sums its figures up by and by, and
 * has a witness: a thread that sleeps as the recorder's watcher does, with the
 * same priority, and notes how late it wakes up.  A stall of more than twice
 * the threshold that has no name is an error, unless the witness was as late:
 * then the machine stood still.
 *
 * Usage:
 *
 *     stall_log_start(&log, &driver);
 *     stall_log_collect(&log);     (now and then; before a thread ends)
 *     n_errors += stall_log_stop(&log);
 *
 * Thread safety: everything belongs to the thread that runs the datapath. */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ovs-atomic.h"
#include "pmd/stall.h"

struct dp_driver;

struct stall_log {
    struct dp_driver *driver;
    bool verbose;               /* Print what is collected. */

    struct pmd_stall_figures stages[PMD_N_STAGES + 1];
    uint64_t n_lost;
    uint64_t n_excused;
    unsigned int n_errors;

    pthread_t witness;
    atomic_bool stop;           /* Relaxed. */
    atomic_uint64_t late_us;    /* Longest since it was read last.  The witness
                                 * raises it, the owner takes it; relaxed. */
    uint64_t longest_late_us;
};

/* Begins.  'verbose' prints each stall as it is collected. */
void stall_log_start(struct stall_log *, struct dp_driver *, bool verbose);

/* Takes over what the recorder knows, and empties it. */
void stall_log_collect(struct stall_log *);

/* Collects for the last time, prints a table, and returns how many errors
 * there were, each of which was printed. */
unsigned int stall_log_stop(struct stall_log *);

#endif /* stress/stall-log.h */
