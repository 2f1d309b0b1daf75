/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/metrics.h"

#include <math.h>

#include "pmd/perf.h"
#include "timeval.h"
#include "util.h"

/* The clock is looked at once in this many microseconds. */
enum { MS_CHECK_US = 4 };

/* Adds to a sum that only the caller writes. */
static void
sum_add(atomic_uint64_t *sum, uint64_t n)
{
    uint64_t old;

    atomic_read_relaxed(sum, &old);
    atomic_store_relaxed(sum, old + n);
}

/* Histograms. */

static void
histogram_init_bins(struct pmd_histogram *hist)
{
    for (size_t i = 0; i < PMD_HISTOGRAM_BINS; i++) {
        atomic_init(&hist->bin[i], 0);
        hist->zero[i] = 0;
    }
    hist->wall[PMD_HISTOGRAM_BINS - 1] = UINT32_MAX;
}

void
pmd_histogram_init_linear(struct pmd_histogram *hist, uint32_t min,
                          uint32_t max)
{
    const uint32_t last = PMD_HISTOGRAM_BINS - 2;

    ovs_assert(min < max);
    for (uint32_t i = 0; i <= last; i++) {
        hist->wall[i] = min + (uint64_t) i * (max - min) / last;
    }
    histogram_init_bins(hist);
}

void
pmd_histogram_init_log(struct pmd_histogram *hist, uint32_t min, uint32_t max)
{
    const uint32_t last = PMD_HISTOGRAM_BINS - 2;
    uint32_t first = 0;
    double from, step;

    ovs_assert(min < max);
    if (!min) {
        /* Zero has no logarithm: a bin of its own, the rest begins at 1. */
        hist->wall[first++] = 0;
    }
    from = log(MAX(min, 1));
    step = (log(max) - from) / (last - first);
    for (uint32_t i = first; i <= last; i++) {
        /* What is meant to be an integer may come out a little below. */
        uint32_t wall = exp(from + (i - first) * step) + 1e-6;

        /* Small ratios fall on the same integer. */
        hist->wall[i] = i > first ? MAX(wall, hist->wall[i - 1] + 1) : wall;
    }
    hist->wall[last] = MAX(hist->wall[last], max);
    histogram_init_bins(hist);
}

void
pmd_histogram_add(struct pmd_histogram *hist, uint64_t value)
{
    size_t bin = 0;

    /* Finds the first wall that is not less than 'value'.  The last one never
     * is, so it is never looked at. */
    for (size_t half = PMD_HISTOGRAM_BINS / 2; half; half /= 2) {
        bin += value > hist->wall[bin + half - 1] ? half : 0;
    }
    sum_add(&hist->bin[bin], 1);
}

void
pmd_histogram_clear(struct pmd_histogram *hist)
{
    for (size_t i = 0; i < PMD_HISTOGRAM_BINS; i++) {
        atomic_read_relaxed(&hist->bin[i], &hist->zero[i]);
    }
}

uint64_t
pmd_histogram_get(const struct pmd_histogram *hist, size_t bin)
{
    uint64_t n;

    atomic_read_relaxed(&CONST_CAST(struct pmd_histogram *, hist)->bin[bin],
                        &n);
    return n - hist->zero[bin];
}

uint64_t
pmd_histogram_total(const struct pmd_histogram *hist)
{
    uint64_t total = 0;

    for (size_t i = 0; i < PMD_HISTOGRAM_BINS; i++) {
        total += pmd_histogram_get(hist, i);
    }
    return total;
}

/* Histories. */

void
pmd_history_init(struct pmd_history *h)
{
    atomic_init(&h->n, 0);
    h->zero = 0;
    for (size_t i = 0; i < PMD_HISTORY_RING; i++) {
        for (size_t j = 0; j < PMD_N_SAMPLE_FIELDS; j++) {
            atomic_init(&h->ring[i][j], 0);
        }
    }
}

void
pmd_history_add(struct pmd_history *h, const struct pmd_sample *sample)
{
    uint64_t n;

    atomic_read_relaxed(&h->n, &n);
    for (size_t j = 0; j < PMD_N_SAMPLE_FIELDS; j++) {
        atomic_store_relaxed(&h->ring[n % PMD_HISTORY_RING][j], sample->v[j]);
    }
    /* Pairs with the acquire in pmd_history_get(). */
    atomic_store_explicit(&h->n, n + 1, memory_order_release);
}

void
pmd_history_clear(struct pmd_history *h)
{
    atomic_read_relaxed(&h->n, &h->zero);
}

void
pmd_history_get(const struct pmd_history *h_, size_t age,
                struct pmd_sample *sample)
{
    struct pmd_history *h = CONST_CAST(struct pmd_history *, h_);
    uint64_t n;

    /* Pairs with the release in pmd_history_add(). */
    atomic_read_explicit(&h->n, &n, memory_order_acquire);
    if (!age || age > PMD_HISTORY_LEN || n < h->zero + age) {
        *sample = (struct pmd_sample) { .v = { 0 } };
        return;
    }
    for (size_t j = 0; j < PMD_N_SAMPLE_FIELDS; j++) {
        atomic_read_relaxed(&h->ring[(n - age) % PMD_HISTORY_RING][j],
                            &sample->v[j]);
    }
}

/* Metrics. */

struct pmd_metrics *
pmd_metrics_create(void)
{
    struct pmd_metrics *m = xzalloc(sizeof *m);
    struct pmd_histogram *hist = m->histograms;

    /* 24 million cycles are about 10 ms, a virtio queue has up to 512
     * packets in work, an upcall takes up to some 400 us. */
    pmd_histogram_init_log(&hist[PMD_HIST_CYCLES], 500, 24000000);
    pmd_histogram_init_log(&hist[PMD_HIST_PKTS], 0, 1000);
    pmd_histogram_init_linear(&hist[PMD_HIST_CYCLES_PER_PKT], 100, 30000);
    pmd_histogram_init_linear(&hist[PMD_HIST_PKTS_PER_BATCH], 0, 32);
    pmd_histogram_init_log(&hist[PMD_HIST_VHOST_FILL], 0, 512);
    pmd_histogram_init_linear(&hist[PMD_HIST_UPCALLS], 0, 30);
    pmd_histogram_init_log(&hist[PMD_HIST_CYCLES_PER_UPCALL], 1000, 1000000);

    pmd_history_init(&m->iterations);
    pmd_history_init(&m->milliseconds);
    for (size_t j = 0; j < PMD_N_SAMPLE_FIELDS; j++) {
        atomic_init(&m->totals[j], 0);
    }
    m->start_ms = time_msec();
    m->ms.v[PMD_SAMPLE_STAMP] = m->start_ms;
    return m;
}

void
pmd_metrics_destroy(struct pmd_metrics *m)
{
    free(m);
}

void
pmd_metrics_clear(struct pmd_metrics *m)
{
    for (size_t i = 0; i < PMD_N_HISTOGRAMS; i++) {
        pmd_histogram_clear(&m->histograms[i]);
    }
    pmd_history_clear(&m->iterations);
    pmd_history_clear(&m->milliseconds);
    for (size_t j = 0; j < PMD_N_SAMPLE_FIELDS; j++) {
        atomic_read_relaxed(&m->totals[j], &m->totals_zero[j]);
    }
    m->start_ms = time_msec();
}

void
pmd_metrics_count_iteration(struct pmd_metrics *m, uint64_t cycles,
                            uint32_t n_rx)
{
    pmd_histogram_add(&m->histograms[PMD_HIST_CYCLES], cycles);
    pmd_histogram_add(&m->histograms[PMD_HIST_PKTS], n_rx);
}

/* Ends the running millisecond if it is over. */
static void
metrics_check_ms(struct pmd_metrics *m)
{
    uint64_t ms = time_msec();

    if (ms == m->ms.v[PMD_SAMPLE_STAMP]) {
        return;
    }
    for (size_t j = PMD_SAMPLE_STAMP + 1; j < PMD_N_SAMPLE_FIELDS; j++) {
        sum_add(&m->totals[j], m->ms.v[j]);
    }
    pmd_history_add(&m->milliseconds, &m->ms);
    m->ms = (struct pmd_sample) { .v = { [PMD_SAMPLE_STAMP] = ms } };
}

bool
pmd_metrics_end_iteration(struct pmd_metrics *m, uint64_t cycles,
                          uint32_t n_rx, uint64_t now)
{
    struct pmd_histogram *hist = m->histograms;
    uint64_t *v = m->current.v;
    bool logged;

    v[PMD_SAMPLE_STAMP] = m->n_iterations;
    v[PMD_SAMPLE_ITERATIONS] = 1;
    v[PMD_SAMPLE_CYCLES] = cycles;
    v[PMD_SAMPLE_BUSY_CYCLES] = n_rx ? cycles : 0;
    v[PMD_SAMPLE_PKTS] = n_rx;

    if (n_rx) {
        pmd_histogram_add(&hist[PMD_HIST_CYCLES_PER_PKT], cycles / n_rx);
    }
    pmd_histogram_add(&hist[PMD_HIST_UPCALLS], v[PMD_SAMPLE_UPCALLS]);
    pmd_histogram_add(&hist[PMD_HIST_VHOST_FILL], v[PMD_SAMPLE_VHOST_FILL]);

    for (size_t j = PMD_SAMPLE_STAMP + 1; j < PMD_N_SAMPLE_FIELDS; j++) {
        m->ms.v[j] += v[j];
    }

    logged = pmd_metrics_log_run(m);
    pmd_history_add(&m->iterations, &m->current);

    if (now >= m->next_ms_check) {
        metrics_check_ms(m);
        m->next_ms_check = now + pmd_perf_tsc_hz() / (1000000 / MS_CHECK_US);
    }
    return logged;
}
