/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_METRICS_H
#define WEFT_PMD_METRICS_H 1

/* Metrics: what the iterations of a poll loop were like.
 *
 * Problem
 * -------
 * Sums say that a thread is busy, but not that one iteration in a million
 * takes a millisecond, which is where packets are lost.  So each iteration
 * leaves a sample: in histograms, in a history of the last iterations, and,
 * summed up, in a history of the last milliseconds.  Iterations that are
 * suspiciously slow can be logged with their neighbors.
 *
 * Rules
 * -----
 * The owner stores with relaxed atomics, which are plain stores, and never
 * looks at what others do.  Histograms and sums only ever grow; to clear them
 * means to remember in 'zero' how far they had grown, and a history remembers
 * how many samples are too old to be shown.  A reader may therefore meet a
 * sample that is not in all of them yet, and one that wraps around in a
 * history while it is read, but it neither delays the owner nor races with
 * it.
 *
 * Thread safety
 * -------------
 * pmd_metrics_clear() and the functions that format require 'clear_mutex' of
 * the pmd_perf and may run in any thread.  pmd_metrics_log_set() and the
 * command may run in any thread, too.  All others belong to the owner. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openvswitch/thread.h"
#include "ovs-atomic.h"
#include "pmd/perf.h"
#include "util.h"

struct ds;
struct unixctl_conn;

enum {
    PMD_HISTOGRAM_BINS = 32,    /* A power of 2. */
    PMD_HISTORY_LEN = 1000,     /* Samples that can be shown. */
    PMD_HISTORY_RING = 1024     /* Samples that are kept. */
};

BUILD_ASSERT_DECL(PMD_HISTORY_RING > PMD_HISTORY_LEN);

/* How often a quantity was in which range.  Bin i counts values up to wall[i]
 * that are greater than wall[i - 1]. */
struct pmd_histogram {
    uint32_t wall[PMD_HISTOGRAM_BINS];       /* Ascending, the last one is
                                              * UINT32_MAX.  Constant. */
    atomic_uint64_t bin[PMD_HISTOGRAM_BINS]; /* Owner writes; all read;
                                              * relaxed. */
    uint64_t zero[PMD_HISTOGRAM_BINS];       /* With 'clear_mutex'. */
};

/* Walls at even distances, or at even ratios as far as integers allow.  Both
 * put the first one at 'min' and the last but one at 'max' ('min' < 'max'). */
void pmd_histogram_init_linear(struct pmd_histogram *, uint32_t min,
                               uint32_t max);
void pmd_histogram_init_log(struct pmd_histogram *, uint32_t min,
                            uint32_t max);
void pmd_histogram_add(struct pmd_histogram *, uint64_t value);
void pmd_histogram_clear(struct pmd_histogram *);
/* Count of 'bin', and of all bins, since the last clear. */
uint64_t pmd_histogram_get(const struct pmd_histogram *, size_t bin);
uint64_t pmd_histogram_total(const struct pmd_histogram *);

/* What is known of an iteration, or of a number of them. */
enum pmd_sample_field {
    PMD_SAMPLE_STAMP,           /* Iteration number, or monotonic ms. */
    PMD_SAMPLE_ITERATIONS,
    PMD_SAMPLE_CYCLES,          /* Without sleep. */
    PMD_SAMPLE_BUSY_CYCLES,     /* Of iterations that received packets. */
    PMD_SAMPLE_PKTS,            /* Received. */
    PMD_SAMPLE_BATCHES,         /* Received. */
    PMD_SAMPLE_VHOST_FILL,      /* Greatest in an iteration; their sum. */
    PMD_SAMPLE_UPCALLS,
    PMD_SAMPLE_UPCALL_CYCLES,
    PMD_N_SAMPLE_FIELDS
};

struct pmd_sample {
    uint64_t v[PMD_N_SAMPLE_FIELDS];
};

struct pmd_history {
    atomic_uint64_t n;          /* Samples stored so far.  Owner, release after
                                 * the sample; readers, acquire. */
    uint64_t zero;              /* 'n' at the last clear.  'clear_mutex'. */
    atomic_uint64_t ring[PMD_HISTORY_RING][PMD_N_SAMPLE_FIELDS]; /* Relaxed. */
};

void pmd_history_init(struct pmd_history *);
void pmd_history_add(struct pmd_history *, const struct pmd_sample *);
void pmd_history_clear(struct pmd_history *);
/* Reads the sample that came 'age' samples before the next one (1 is the
 * newest, PMD_HISTORY_LEN the oldest).  All zero if there is none. */
void pmd_history_get(const struct pmd_history *, size_t age,
                     struct pmd_sample *);

enum pmd_histogram_id {
    /* In the order in which they are shown. */
    PMD_HIST_CYCLES,            /* Per iteration... */
    PMD_HIST_PKTS,
    PMD_HIST_CYCLES_PER_PKT,
    PMD_HIST_PKTS_PER_BATCH,
    PMD_HIST_VHOST_FILL,
    PMD_HIST_UPCALLS,
    PMD_HIST_CYCLES_PER_UPCALL,
    PMD_N_HISTOGRAMS
};

/* The suspicious iteration that is to be logged once its neighborhood is
 * complete.  Positions count the samples of the history of iterations. */
struct pmd_slow_log {
    const char *reason;         /* Null: there is none. */
    uint64_t pos;
    uint64_t begin;             /* First to be logged. */
    uint64_t end;               /* Behind the last to be logged. */
};

struct pmd_metrics {
    /* All read. */
    struct pmd_histogram histograms[PMD_N_HISTOGRAMS];
    struct pmd_history iterations;
    struct pmd_history milliseconds;
    atomic_uint64_t totals[PMD_N_SAMPLE_FIELDS]; /* Over the milliseconds.
                                                  * Relaxed. */

    /* Owner only. */
    uint64_t start_tsc;         /* Of the running iteration. */
    uint64_t next_ms_check;     /* When to look at the clock again, cycles. */
    uint64_t n_iterations;      /* Started. */
    struct pmd_sample current;  /* The running iteration. */
    struct pmd_sample ms;       /* The running millisecond. */
    struct pmd_slow_log slow_log;

    /* With 'clear_mutex'. */
    uint64_t totals_zero[PMD_N_SAMPLE_FIELDS];
    long long start_ms;         /* Of the measurement: last clear. */
};

struct pmd_metrics *pmd_metrics_create(void);
void pmd_metrics_destroy(struct pmd_metrics *);
void pmd_metrics_clear(struct pmd_metrics *);

/* Ends an iteration that took 'cycles'.  The first is called each time, the
 * second one while metrics are on.  'now' is in cycles.  Returns true if
 * something was logged, which takes time that should not be counted for the
 * next iteration. */
void pmd_metrics_count_iteration(struct pmd_metrics *, uint64_t cycles,
                                 uint32_t n_rx);
bool pmd_metrics_end_iteration(struct pmd_metrics *, uint64_t cycles,
                               uint32_t n_rx, uint64_t now);

/* "pmd-perf-show" (metrics-show.c).  'duration' of the measurement in
 * seconds; 'counts' as pmd_perf_read() gives them. */
void pmd_metrics_format_overall(struct ds *, const struct pmd_metrics *,
                                const uint64_t counts[PMD_N_COUNTERS],
                                double duration);
void pmd_metrics_format_histograms(struct ds *, const struct pmd_metrics *);
void pmd_metrics_format_iterations(struct ds *, const struct pmd_metrics *,
                                   size_t n);
void pmd_metrics_format_milliseconds(struct ds *, const struct pmd_metrics *,
                                     size_t n);

/* The log of suspicious iterations (metrics-log.c). */

/* Judges the iteration 'current', which is about to be added to the history,
 * and logs what is complete.  Returns true if something was logged. */
bool pmd_metrics_log_run(struct pmd_metrics *);

/* Takes over the options argv[1] to argv[argc - 1] of "pmd-perf-log-set" and
 * logs what is in force now, or returns false if they are no good. */
bool pmd_metrics_log_set(int argc, const char *argv[]);
/* "pmd-perf-log-set". */
void pmd_metrics_log_command(struct unixctl_conn *, int argc,
                             const char *argv[], void *aux);

/* The log module "pmd_perf". */
extern struct vlog_module pmd_perf_log_module;

#endif /* pmd/metrics.h */
