/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/perf.h"

#include <inttypes.h>

#include "compiler.h"
#include "dpdk.h"
#include "openvswitch/vlog.h"
#include "ovs-numa.h"
#include "ovs-thread.h"
#include "pmd/metrics.h"
#include "timeval.h"

#define this_module pmd_perf_log_module

/* Time for which the time stamp counter is watched, if nobody knows its
 * frequency. */
#define TSC_WATCH_NS UINT64_C(100000000)

void
pmd_perf_init(struct pmd_perf *perf)
{
    ovs_mutex_init(&perf->clear_mutex);
    ovs_mutex_lock(&perf->clear_mutex);
    for (int i = 0; i < PMD_N_COUNTERS; i++) {
        atomic_init(&perf->n[i], 0);
        perf->zero[i] = 0;
    }
    ovs_mutex_unlock(&perf->clear_mutex);
    atomic_init(&perf->longest_iteration, 0);
    atomic_init(&perf->longest_ended, 0);
    perf->last_tsc = 0;
    perf->timer = NULL;
    perf->metrics = pmd_metrics_create();
}

void
pmd_perf_destroy(struct pmd_perf *perf)
{
    pmd_metrics_destroy(perf->metrics);
    ovs_mutex_destroy(&perf->clear_mutex);
}

void
pmd_perf_read(struct pmd_perf *perf, uint64_t counts[PMD_N_COUNTERS])
{
    ovs_mutex_lock(&perf->clear_mutex);
    for (int i = 0; i < PMD_N_COUNTERS; i++) {
        uint64_t n;

        atomic_read_relaxed(&perf->n[i], &n);
        counts[i] = n - perf->zero[i];
    }
    ovs_mutex_unlock(&perf->clear_mutex);
}

void
pmd_perf_clear(struct pmd_perf *perf)
{
    ovs_mutex_lock(&perf->clear_mutex);
    for (int i = 0; i < PMD_N_COUNTERS; i++) {
        atomic_read_relaxed(&perf->n[i], &perf->zero[i]);
    }
    atomic_store_relaxed(&perf->longest_iteration, 0);
    pmd_metrics_clear(perf->metrics);
    ovs_mutex_unlock(&perf->clear_mutex);
}

void
pmd_perf_read_longest(struct pmd_perf *perf, double *us, uint64_t *us_ago)
{
    double hz = pmd_perf_tsc_hz();
    struct pmd_perf clock = { .last_tsc = 0 };
    uint64_t now = pmd_perf_now(&clock);
    uint64_t cycles, ended;

    atomic_read_relaxed(&perf->longest_iteration, &cycles);
    atomic_read_relaxed(&perf->longest_ended, &ended);
    *us = cycles * 1e6 / hz;
    *us_ago = cycles && now > ended ? (now - ended) * 1e6 / hz : 0;
}

/* Iterations. */

uint64_t
pmd_perf_start_iteration(struct pmd_perf *perf)
{
    struct pmd_metrics *m = perf->metrics;

    m->n_iterations++;
    m->current = (struct pmd_sample) { .v = { 0 } };

    /* An iteration begins where the one before has ended, so that no time is
     * lost between them. */
    m->start_tsc = perf->last_tsc ? perf->last_tsc : pmd_perf_now(perf);
    return m->start_tsc;
}

uint64_t
pmd_perf_end_iteration(struct pmd_perf *perf, int rx_packets, int tx_packets,
                       uint64_t slept_cycles, bool full_metrics)
{
    struct pmd_metrics *m = perf->metrics;
    uint64_t now = pmd_perf_now(perf);
    uint64_t cycles = now - m->start_tsc - slept_cycles;
    bool busy = rx_packets || tx_packets;
    uint64_t longest;

    atomic_read_relaxed(&perf->longest_iteration, &longest);
    if (OVS_UNLIKELY(cycles > longest)) {
        atomic_store_relaxed(&perf->longest_ended, now);
        atomic_store_relaxed(&perf->longest_iteration, cycles);
    }
    pmd_perf_add(perf, busy ? PMD_CYCLES_BUSY : PMD_CYCLES_IDLE, cycles);
    if (slept_cycles) {
        pmd_perf_add(perf, PMD_COUNT_SLEEP_ITER, 1);
        pmd_perf_add(perf, PMD_CYCLES_SLEEP, slept_cycles);
    }
    pmd_metrics_count_iteration(m, cycles, rx_packets);
    if (full_metrics
        && pmd_metrics_end_iteration(m, cycles, rx_packets, now)) {
        pmd_perf_now(perf);
    }
    return cycles;
}

/* Samples. */

void
pmd_perf_sample_batch(struct pmd_perf *perf, int n_packets)
{
    struct pmd_metrics *m = perf->metrics;

    m->current.v[PMD_SAMPLE_BATCHES]++;
    pmd_histogram_add(&m->histograms[PMD_HIST_PKTS_PER_BATCH], n_packets);
}

void
pmd_perf_sample_vhost_fill(struct pmd_perf *perf, uint32_t fill)
{
    uint64_t *max = &perf->metrics->current.v[PMD_SAMPLE_VHOST_FILL];

    *max = MAX(*max, fill);
}

void
pmd_perf_sample_upcall(struct pmd_perf *perf, uint64_t cycles)
{
    struct pmd_metrics *m = perf->metrics;

    m->current.v[PMD_SAMPLE_UPCALLS]++;
    m->current.v[PMD_SAMPLE_UPCALL_CYCLES] += cycles;
    pmd_histogram_add(&m->histograms[PMD_HIST_CYCLES_PER_UPCALL], cycles);
    pmd_perf_add(perf, PMD_CYCLES_UPCALL, cycles);
}

/* Frequency. */

static uint64_t
monotonic_ns(void)
{
    struct timespec ts;

    xclock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

/* Counts cycles while the thread sleeps, which on a busy machine may be for
 * longer than it wanted.  Pinned to one core meanwhile, since the counters of
 * two cores need not agree. */
static uint64_t
watch_tsc(void)
{
    struct ovs_numa_dump *affinity = ovs_numa_thread_getaffinity_dump();
    struct pmd_perf perf = { .last_tsc = 0 };
    uint64_t start, end, ns;

    if (affinity) {
        const struct ovs_numa_info_core *core;

        FOR_EACH_CORE_ON_DUMP (core, affinity) {
            ovs_numa_thread_setaffinity_core(core->core_id);
            break;
        }
    }

    ns = monotonic_ns();
    start = pmd_perf_now(&perf);
    xnanosleep(TSC_WATCH_NS);
    end = pmd_perf_now(&perf);
    ns = monotonic_ns() - ns;

    if (affinity) {
        ovs_numa_thread_setaffinity_dump(affinity);
        ovs_numa_dump_destroy(affinity);
    }
    return end > start && ns ? (end - start) * 1e9 / ns : 0;
}

static uint64_t
find_tsc_hz(void)
{
    uint64_t hz = 0;

#ifdef DPDK_NETDEV
    if (dpdk_available()) {
        hz = rte_get_tsc_hz();
    }
    if (hz > 1) {
        VLOG_INFO("DPDK provided TSC frequency: %"PRIu64" KHz", hz / 1000);
        return hz;
    }
#endif
    hz = watch_tsc();
    if (!hz) {
        VLOG_WARN("TSC source is unreliable.");
        hz = 1;
    }
    VLOG_INFO("Estimated TSC frequency: %"PRIu64" KHz", hz / 1000);
    return hz;
}

uint64_t
pmd_perf_tsc_hz(void)
{
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;
    static uint64_t hz;

    if (ovsthread_once_start(&once)) {
        hz = find_tsc_hz();
        ovsthread_once_done(&once);
    }
    return hz;
}
