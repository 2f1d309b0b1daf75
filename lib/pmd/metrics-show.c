/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/metrics.h"

#include <inttypes.h>

#include "openvswitch/dynamic-string.h"
#include "pmd/perf.h"
#include "util.h"

/* Division in which nothing divided by nothing is nothing. */
static double
ratio(double a, double b)
{
    return b ? a / b : 0;
}

static uint64_t
quotient(uint64_t a, uint64_t b)
{
    return b ? a / b : 0;
}

/* Overall statistics. */

/* Puts "  LABEL   VALUE" with the label's column of this output. */
static void
put_value(struct ds *ds, const char *label, uint64_t value)
{
    ds_put_format(ds, "  %-20s%12"PRIu64, label, value);
}

/* Same, with the share that 'value' has of 'whole', and what the caller adds
 * inside of the parentheses. */
static void
put_share(struct ds *ds, const char *label, uint64_t value, double whole)
{
    put_value(ds, label, value);
    ds_put_format(ds, "  (%5.1f %%", 100.0 * ratio(value, whole));
}

static void
format_cycles(struct ds *ds, const struct pmd_metrics *m,
              const uint64_t n[PMD_N_COUNTERS], double duration)
{
    const struct pmd_histogram *pkts = &m->histograms[PMD_HIST_PKTS];
    double us_per_cycle = 1e6 / pmd_perf_tsc_hz();
    double used = n[PMD_CYCLES_IDLE] + n[PMD_CYCLES_BUSY];
    double slept = n[PMD_CYCLES_SLEEP];
    uint64_t n_iter = pmd_histogram_total(pkts);
    uint64_t n_idle = MIN(pmd_histogram_get(pkts, 0), n_iter);
    uint64_t n_sleep = n[PMD_COUNT_SLEEP_ITER];

    put_value(ds, "Iterations:", n_iter);
    ds_put_format(ds, "  (%.2f us/it)\n",
                  ratio((used + slept) * us_per_cycle, n_iter));
    put_share(ds, "- Used TSC cycles:", used, duration * pmd_perf_tsc_hz());
    ds_put_cstr(ds, " of total cycles)\n");

    put_value(ds, "- idle iterations:", n_idle);
    ds_put_format(ds, "  (%5.1f %% of used cycles)\n",
                  100.0 * ratio(n[PMD_CYCLES_IDLE], used));
    put_value(ds, "- busy iterations:", n_iter - n_idle);
    ds_put_format(ds, "  (%5.1f %% of used cycles)\n",
                  100.0 * ratio(n[PMD_CYCLES_BUSY], used));
    put_share(ds, "- sleep iterations:", n_sleep, n_iter);
    ds_put_cstr(ds, " of iterations)\n");

    put_value(ds, "Sleep time (us):", slept * us_per_cycle + 0.5);
    ds_put_format(ds, "  (%3.0f us/iteration avg.)\n",
                  ratio(slept * us_per_cycle, n_sleep));
}

static void
format_rx(struct ds *ds, const uint64_t n[PMD_N_COUNTERS], double duration)
{
    static const struct {
        const char *label;
        enum pmd_counter counter;
    } hits[] = {
        { "- PHWOL hits:", PMD_COUNT_PHWOL_HIT },
        { "- MFEX Opt hits:", PMD_COUNT_MFEX_OPT_HIT },
        { "- Simple Match hits:", PMD_COUNT_SIMPLE_HIT },
        { "- EMC hits:", PMD_COUNT_EMC_HIT },
        { "- SMC hits:", PMD_COUNT_SMC_HIT },
    };
    uint64_t rx = n[PMD_COUNT_RECV];
    uint64_t passes = rx + n[PMD_COUNT_RECIRC];

    put_value(ds, "Rx packets:", rx);
    if (!rx) {
        ds_put_char(ds, '\n');
        return;
    }
    ds_put_format(ds, "  (%.0f Kpps, %.0f cycles/pkt)\n", rx / duration / 1000,
                  1.0 * n[PMD_CYCLES_BUSY] / rx);
    put_value(ds, "Datapath passes:", passes);
    ds_put_format(ds, "  (%.2f passes/pkt)\n", 1.0 * passes / rx);

    for (size_t i = 0; i < ARRAY_SIZE(hits); i++) {
        put_share(ds, hits[i].label, n[hits[i].counter], passes);
        ds_put_cstr(ds, ")\n");
    }
    put_share(ds, "- Megaflow hits:", n[PMD_COUNT_MASKED_HIT], passes);
    ds_put_format(ds, ", %.2f subtbl lookups/hit)\n",
                  ratio(n[PMD_COUNT_MASKED_LOOKUP], n[PMD_COUNT_MASKED_HIT]));
    put_share(ds, "- Upcalls:", n[PMD_COUNT_MISS], passes);
    ds_put_format(ds, ", %.1f us/upcall)\n",
                  ratio(n[PMD_CYCLES_UPCALL] * 1e6 / pmd_perf_tsc_hz(),
                        n[PMD_COUNT_MISS]));
    put_share(ds, "- Lost upcalls:", n[PMD_COUNT_LOST], passes);
    ds_put_cstr(ds, ")\n");
}

static void
format_tx(struct ds *ds, const uint64_t n[PMD_N_COUNTERS], double duration)
{
    uint64_t tx = n[PMD_COUNT_SENT_PKTS];

    put_value(ds, "Tx packets:", tx);
    if (!tx) {
        ds_put_cstr(ds, "\n\n");
        return;
    }
    ds_put_format(ds, "  (%.0f Kpps)\n", tx / duration / 1000);
    put_value(ds, "Tx batches:", n[PMD_COUNT_SENT_BATCHES]);
    ds_put_format(ds, "  (%.2f pkts/batch)\n",
                  ratio(tx, n[PMD_COUNT_SENT_BATCHES]));
}

void
pmd_metrics_format_overall(struct ds *ds, const struct pmd_metrics *m,
                           const uint64_t n[PMD_N_COUNTERS], double duration)
{
    if (duration > 0) {
        format_cycles(ds, m, n, duration);
        format_rx(ds, n, duration);
        format_tx(ds, n, duration);
    }
}

/* Histograms. */

enum { HIST_COLUMN = 21 };      /* Width: wall (9), space, count (11). */

static const char *
column_gap(size_t column)
{
    return column ? "  " : "   ";
}

/* 'vhost' is the heading of the column that has two names. */
static void
put_histogram_headings(struct ds *ds, const char *vhost)
{
    const char *headings[PMD_N_HISTOGRAMS] = {
        [PMD_HIST_CYCLES] = "cycles/it",
        [PMD_HIST_PKTS] = "packets/it",
        [PMD_HIST_CYCLES_PER_PKT] = "cycles/pkt",
        [PMD_HIST_PKTS_PER_BATCH] = "pkts/batch",
        [PMD_HIST_VHOST_FILL] = vhost,
        [PMD_HIST_UPCALLS] = "upcalls/it",
        [PMD_HIST_CYCLES_PER_UPCALL] = "cycles/upcall",
    };

    for (size_t i = 0; i < PMD_N_HISTOGRAMS; i++) {
        ds_put_format(ds, "%s%-*s", column_gap(i), HIST_COLUMN, headings[i]);
    }
    ds_put_char(ds, '\n');
}

static void
put_histogram_bin(struct ds *ds, const struct pmd_metrics *m, size_t bin)
{
    for (size_t i = 0; i < PMD_N_HISTOGRAMS; i++) {
        const struct pmd_histogram *hist = &m->histograms[i];

        ds_put_cstr(ds, column_gap(i));
        if (bin < PMD_HISTOGRAM_BINS - 1) {
            ds_put_format(ds, "%-9"PRIu32" ", hist->wall[bin]);
        } else {
            ds_put_format(ds, "%-9s ", ">");
        }
        ds_put_format(ds, "%-11"PRIu64, pmd_histogram_get(hist, bin));
    }
    ds_put_char(ds, '\n');
}

static void
put_histogram_averages(struct ds *ds, const struct pmd_metrics *m)
{
    const struct {
        enum pmd_sample_field sum, per;
        bool fraction;
    } averages[PMD_N_HISTOGRAMS] = {
        [PMD_HIST_CYCLES]
            = { PMD_SAMPLE_CYCLES, PMD_SAMPLE_ITERATIONS, false },
        [PMD_HIST_PKTS]
            = { PMD_SAMPLE_PKTS, PMD_SAMPLE_ITERATIONS, true },
        [PMD_HIST_CYCLES_PER_PKT]
            = { PMD_SAMPLE_BUSY_CYCLES, PMD_SAMPLE_PKTS, false },
        [PMD_HIST_PKTS_PER_BATCH]
            = { PMD_SAMPLE_PKTS, PMD_SAMPLE_BATCHES, true },
        [PMD_HIST_VHOST_FILL]
            = { PMD_SAMPLE_VHOST_FILL, PMD_SAMPLE_ITERATIONS, true },
        [PMD_HIST_UPCALLS]
            = { PMD_SAMPLE_UPCALLS, PMD_SAMPLE_ITERATIONS, true },
        [PMD_HIST_CYCLES_PER_UPCALL]
            = { PMD_SAMPLE_UPCALL_CYCLES, PMD_SAMPLE_UPCALLS, false },
    };
    uint64_t totals[PMD_N_SAMPLE_FIELDS];

    for (size_t j = 0; j < PMD_N_SAMPLE_FIELDS; j++) {
        atomic_read_relaxed(&CONST_CAST(struct pmd_metrics *, m)->totals[j],
                            &totals[j]);
        totals[j] -= m->totals_zero[j];
    }
    for (size_t i = 0; i < PMD_N_HISTOGRAMS; i++) {
        uint64_t sum = totals[averages[i].sum];
        uint64_t per = totals[averages[i].per];

        ds_put_cstr(ds, column_gap(i));
        if (averages[i].fraction) {
            ds_put_format(ds, "%-*.5f", HIST_COLUMN, ratio(sum, per));
        } else {
            ds_put_format(ds, "%-*"PRIu64, HIST_COLUMN, quotient(sum, per));
        }
    }
    ds_put_char(ds, '\n');
}

void
pmd_metrics_format_histograms(struct ds *ds, const struct pmd_metrics *m)
{
    ds_put_cstr(ds, "Histograms\n");
    put_histogram_headings(ds, "max vhost qlen");
    for (size_t bin = 0; bin < PMD_HISTOGRAM_BINS; bin++) {
        put_histogram_bin(ds, m, bin);
    }
    ds_put_char_multiple(ds, '-', 154);
    ds_put_char(ds, '\n');
    put_histogram_headings(ds, "vhost qlen");
    put_histogram_averages(ds, m);
}

/* Histories. */

/* A table whose first column is 'first_width' wide. */
static void
put_history_headings(struct ds *ds, int first_width,
                     const char *const headings[], size_t n)
{
    ds_put_format(ds, "   %-*s", first_width, headings[0]);
    for (size_t i = 1; i < n; i++) {
        ds_put_format(ds, "   %-10s", headings[i]);
    }
    ds_put_char(ds, '\n');
}

static void
put_history_row(struct ds *ds, int first_width, const uint64_t values[],
                size_t n)
{
    ds_put_format(ds, "   %-*"PRIu64" ", first_width, values[0]);
    for (size_t i = 1; i < n; i++) {
        ds_put_format(ds, "  %-11"PRIu64, values[i]);
    }
    ds_put_char(ds, '\n');
}

void
pmd_metrics_format_iterations(struct ds *ds, const struct pmd_metrics *m,
                              size_t n)
{
    static const char *const headings[] = {
        "iter", "cycles", "packets", "cycles/pkt", "pkts/batch",
        "vhost qlen", "upcalls", "cycles/upcall",
    };

    if (!n) {
        return;
    }
    put_history_headings(ds, 17, headings, ARRAY_SIZE(headings));
    for (size_t age = 1; age <= n; age++) {
        struct pmd_sample s;

        pmd_history_get(&m->iterations, age, &s);

        const uint64_t row[ARRAY_SIZE(headings)] = {
            s.v[PMD_SAMPLE_STAMP],
            s.v[PMD_SAMPLE_CYCLES],
            s.v[PMD_SAMPLE_PKTS],
            quotient(s.v[PMD_SAMPLE_CYCLES], s.v[PMD_SAMPLE_PKTS]),
            quotient(s.v[PMD_SAMPLE_PKTS], s.v[PMD_SAMPLE_BATCHES]),
            s.v[PMD_SAMPLE_VHOST_FILL],
            s.v[PMD_SAMPLE_UPCALLS],
            quotient(s.v[PMD_SAMPLE_UPCALL_CYCLES], s.v[PMD_SAMPLE_UPCALLS]),
        };

        put_history_row(ds, 17, row, ARRAY_SIZE(row));
    }
}

void
pmd_metrics_format_milliseconds(struct ds *ds, const struct pmd_metrics *m,
                                size_t n)
{
    static const char *const headings[] = {
        "ms", "iterations", "cycles/it", "Kpps", "cycles/pkt", "pkts/batch",
        "vhost qlen", "upcalls", "cycles/upcall",
    };

    if (!n) {
        return;
    }
    put_history_headings(ds, 12, headings, ARRAY_SIZE(headings));
    for (size_t age = 1; age <= n; age++) {
        struct pmd_sample s;

        pmd_history_get(&m->milliseconds, age, &s);

        const uint64_t row[ARRAY_SIZE(headings)] = {
            s.v[PMD_SAMPLE_STAMP],
            s.v[PMD_SAMPLE_ITERATIONS],
            quotient(s.v[PMD_SAMPLE_CYCLES], s.v[PMD_SAMPLE_ITERATIONS]),
            s.v[PMD_SAMPLE_PKTS],
            quotient(s.v[PMD_SAMPLE_BUSY_CYCLES], s.v[PMD_SAMPLE_PKTS]),
            quotient(s.v[PMD_SAMPLE_PKTS], s.v[PMD_SAMPLE_BATCHES]),
            quotient(s.v[PMD_SAMPLE_VHOST_FILL], s.v[PMD_SAMPLE_ITERATIONS]),
            s.v[PMD_SAMPLE_UPCALLS],
            quotient(s.v[PMD_SAMPLE_UPCALL_CYCLES], s.v[PMD_SAMPLE_UPCALLS]),
        };

        put_history_row(ds, 12, row, ARRAY_SIZE(row));
    }
}
