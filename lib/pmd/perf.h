/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_PERF_H
#define WEFT_PMD_PERF_H 1

/* What a thread counts and times.
 *
 * Counters are always on.  Their owner adds to them with relaxed stores, and
 * any thread may read them; clearing them does not touch them, but remembers
 * where they stood, so that nobody ever waits for the owner or the other way
 * round.
 *
 * Timers measure cycles and nest: the time of an inner timer is not counted
 * for the outer one.
 *
 *     struct pmd_timer timer;
 *     pmd_timer_start(&pmd->perf, &timer);
 *     ...
 *     cycles = pmd_timer_stop(&pmd->perf, &timer);
 *
 * Metrics (histograms, history of iterations and milliseconds, the log of
 * suspicious iterations; pmd/metrics.h) cost more and are gathered only while
 * "pmd-perf-metrics" is on.
 *
 * Thread safety
 * -------------
 * Everything here is called by the owner, except pmd_perf_read() and
 * pmd_perf_clear(), which any thread may call. */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#ifdef DPDK_NETDEV
#include <rte_config.h>
#include <rte_cycles.h>
#endif

#include "openvswitch/thread.h"
#include "ovs-atomic.h"
#include "util.h"

struct pmd_metrics;

enum pmd_counter {
    /* A packet counts once in these each time that it passes the datapath. */
    PMD_COUNT_PHWOL_HIT,        /* Found by the mark of the hardware. */
    PMD_COUNT_MFEX_OPT_HIT,     /* Parsed by an optimized parser (in addition
                                 * to one of the others). */
    PMD_COUNT_SIMPLE_HIT,
    PMD_COUNT_EMC_HIT,
    PMD_COUNT_SMC_HIT,
    PMD_COUNT_MASKED_HIT,
    PMD_COUNT_MISS,             /* Upcall succeeded. */
    PMD_COUNT_LOST,             /* Upcall failed. */

    PMD_COUNT_MASKED_LOOKUP,    /* Subtables asked. */
    PMD_COUNT_RECV,             /* Packets from ports. */
    PMD_COUNT_RECIRC,           /* Packets that came back. */
    PMD_COUNT_SENT_PKTS,
    PMD_COUNT_SENT_BATCHES,
    PMD_CYCLES_IDLE,            /* Of iterations without packets. */
    PMD_CYCLES_BUSY,            /* Of iterations with packets. */
    PMD_CYCLES_UPCALL,
    PMD_COUNT_SLEEP_ITER,       /* Iterations in which the thread slept. */
    PMD_CYCLES_SLEEP,
    PMD_N_COUNTERS
};

struct pmd_timer {
    uint64_t start;
    uint64_t suspended_at;
    struct pmd_timer *outer;
};

struct pmd_perf {
    atomic_uint64_t n[PMD_N_COUNTERS]; /* Owner writes; all read; relaxed. */
    struct ovs_mutex clear_mutex;      /* Orders those who clear and read. */
    uint64_t zero[PMD_N_COUNTERS] OVS_GUARDED;

    /* The longest iteration since the last clear, without sleep, and the time
     * when it ended, in cycles.  Owner writes, and pmd_perf_clear() sets it
     * back to 0; all read; relaxed.  Who comes between the two sees the time
     * of another one, which matters to nobody. */
    atomic_uint64_t longest_iteration;
    atomic_uint64_t longest_ended;

    uint64_t last_tsc;                 /* Last time read.  Owner only. */
    struct pmd_timer *timer;           /* Innermost running.  Owner only. */
    struct pmd_metrics *metrics;       /* Constant. */
};

void pmd_perf_init(struct pmd_perf *);
void pmd_perf_destroy(struct pmd_perf *);

/* Stores the counters since the last clear to 'counts'. */
void pmd_perf_read(struct pmd_perf *, uint64_t counts[PMD_N_COUNTERS]);
/* Stores how long the longest iteration since the last clear took, in us and
 * without sleep, to '*us' (0: none yet), and how long ago it ended to
 * '*us_ago'.  Any thread. */
void pmd_perf_read_longest(struct pmd_perf *, double *us, uint64_t *us_ago);
/* Clears counters and metrics, at once. */
void pmd_perf_clear(struct pmd_perf *);

static inline void
pmd_perf_add(struct pmd_perf *perf, enum pmd_counter counter, uint64_t n)
{
    uint64_t old;

    atomic_read_relaxed(&perf->n[counter], &old);
    atomic_store_relaxed(&perf->n[counter], old + n);
}

/* Returns the time in cycles. */
static inline uint64_t
pmd_perf_now(struct pmd_perf *perf)
{
#ifdef DPDK_NETDEV
    perf->last_tsc = rte_get_tsc_cycles();
#elif defined(__x86_64__)
    perf->last_tsc = __builtin_ia32_rdtsc();
#else
    struct timespec ts;

    if (!clock_gettime(CLOCK_MONOTONIC_RAW, &ts)) {
        perf->last_tsc = ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
    }
#endif
    return perf->last_tsc;
}

/* Frequency of pmd_perf_now() in Hz, 1 if unknown.  The first call in a
 * process may take a tenth of a second to measure it, in which the caller
 * quiesces.  Any thread. */
uint64_t pmd_perf_tsc_hz(void);

static inline void
pmd_timer_start(struct pmd_perf *perf, struct pmd_timer *timer)
{
    uint64_t now = pmd_perf_now(perf);

    if (perf->timer) {
        perf->timer->suspended_at = now;
    }
    timer->start = now;
    timer->outer = perf->timer;
    perf->timer = timer;
}

static inline uint64_t
pmd_timer_stop(struct pmd_perf *perf, struct pmd_timer *timer)
{
    uint64_t now = pmd_perf_now(perf);

    perf->timer = timer->outer;
    if (timer->outer) {
        timer->outer->start += now - timer->outer->suspended_at;
    }
    return now - timer->start;
}

/* Iterations of the poll loop.  An iteration that has received or sent
 * packets is busy.  With 'full_metrics' the iteration goes into the metrics
 * as well.  The first returns when the iteration began, the second how long it
 * was without sleep, in cycles. */
uint64_t pmd_perf_start_iteration(struct pmd_perf *);
uint64_t pmd_perf_end_iteration(struct pmd_perf *, int rx_packets,
                                int tx_packets, uint64_t slept_cycles,
                                bool full_metrics);

/* Samples for the metrics, to be given only while metrics are on. */
void pmd_perf_sample_batch(struct pmd_perf *, int n_packets);
void pmd_perf_sample_vhost_fill(struct pmd_perf *, uint32_t fill);
void pmd_perf_sample_upcall(struct pmd_perf *, uint64_t cycles);

#endif /* pmd/perf.h */
