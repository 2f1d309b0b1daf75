/* SPDX-License-Identifier: Apache-2.0 */

#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"

static uint64_t *
alloc_counts(unsigned int n)
{
    uint64_t *counts = calloc(n, sizeof *counts);

    if (!counts) {
        net_fail(ENOMEM, "no memory for the report");
    }
    return counts;
}

void
report_init(struct report *r, const struct run *run)
{
    unsigned int n = run->options.n_workers;

    memset(r, 0, sizeof *r);
    r->run = run;
    r->last.worker_packets = alloc_counts(n);
    r->now.worker_packets = alloc_counts(n);
    r->shown.worker_packets = alloc_counts(n);
}

static void
totals_copy(struct totals *dst, const struct totals *src, unsigned int n)
{
    uint64_t *counts = dst->worker_packets;

    memcpy(counts, src->worker_packets, n * sizeof *counts);
    *dst = *src;
    dst->worker_packets = counts;
}

/* Takes from 'later' what was in 'earlier'; how many streams there are stays
 * as it is. */
static void
totals_since(struct totals *later, const struct totals *earlier,
             unsigned int n)
{
    later->time -= earlier->time;
    later->active = later->time;
    later->packets -= earlier->packets;
    later->bytes -= earlier->bytes;
    for (unsigned int i = 0; i < n; i++) {
        later->worker_packets[i] -= earlier->worker_packets[i];
    }
    later->foreign -= earlier->foreign;
    later->untracked -= earlier->untracked;
    later->clock_errors -= earlier->clock_errors;
    later->reordered -= earlier->reordered;
    later->duplicates -= earlier->duplicates;
    later->stale -= earlier->stale;
    later->lost -= earlier->lost;
    later->lost_in_kernel -= earlier->lost_in_kernel;
    later->lost_in_network -= earlier->lost_in_network;
    later->refused -= earlier->refused;
    later->no_buffers -= earlier->no_buffers;
    histogram_sum_since(&later->latency, &earlier->latency);
}

/* In an interval 'active' is its length. */
static double
per_second(uint64_t n, const struct totals *t)
{
    return t->active ? n * 1e9 / t->active : 0;
}

static const struct quantile {
    unsigned int per_mille;
    const char *key, *text;
} quantiles[] = {
    { 500, "p50", "50%" },
    { 900, "p90", "90%" },
    { 990, "p99", "99%" },
    { 999, "p999", "99.9%" },
};
#define N_QUANTILES (sizeof quantiles / sizeof *quantiles)

static void
json_sink(const struct totals *t)
{
    printf(", \"lost\": %" PRId64 ", \"lost_in_kernel\": %" PRId64
           ", \"lost_in_network\": %" PRId64 ", \"reordered\": %" PRIu64
           ", \"duplicates\": %" PRIu64 ", \"stale\": %" PRIu64
           ", \"untracked\": %" PRIu64 ", \"foreign\": %" PRIu64
           ", \"clock_errors\": %" PRIu64
           ", \"streams\": %" PRIu32 ", \"streams_ended\": %" PRIu32,
           t->lost, t->lost_in_kernel, t->lost_in_network, t->reordered,
           t->duplicates, t->stale, t->untracked, t->foreign, t->clock_errors,
           t->n_streams, t->n_ended);
    printf(", \"latency_ns\": {\"samples\": %" PRIu64, t->latency.n);
    for (size_t i = 0; i < N_QUANTILES; i++) {
        printf(", \"%s\": %" PRIu64, quantiles[i].key,
               histogram_sum_quantile(&t->latency, quantiles[i].per_mille));
    }
    printf(", \"max\": %" PRIu64 "}", t->latency.max);
}

static void
json(const struct options *o, const char *type, const struct totals *t,
     uint64_t elapsed)
{
    printf("{\"type\": \"%s\", \"command\": \"%s\", \"elapsed\": %.6f, "
           "\"seconds\": %.6f, \"packets\": %" PRIu64 ", \"bytes\": %" PRIu64
           ", \"packets_per_second\": %.1f", type,
           o->source ? "source" : "sink", elapsed / 1e9, t->active / 1e9,
           t->packets, t->bytes, per_second(t->packets, t));
    if (o->source) {
        printf(", \"refused\": %" PRIu64 ", \"no_buffers\": %" PRIu64
               ", \"behind\": %" PRIu64, t->refused, t->no_buffers,
               t->behind);
    } else {
        json_sink(t);
    }
    printf(", \"workers\": [");
    for (unsigned int i = 0; i < o->n_workers; i++) {
        printf("%s{\"worker\": %u, ", i ? ", " : "", i);
        if (!o->source) {
            printf("\"port\": %u, ", o->port + i % o->n_ports);
        }
        printf("\"packets\": %" PRIu64 ", \"packets_per_second\": %.1f}",
               t->worker_packets[i], per_second(t->worker_packets[i], t));
    }
    puts("]}");
}

static void
text_latency(const struct totals *t)
{
    if (!t->latency.n) {
        return;
    }
    printf("  latency, us:");
    for (size_t i = 0; i < N_QUANTILES; i++) {
        printf(" %s %.1f,", quantiles[i].text,
               histogram_sum_quantile(&t->latency, quantiles[i].per_mille)
               / 1e3);
    }
    printf(" longest %.1f\n", t->latency.max / 1e3);
}

static void
text_sink(const struct totals *t)
{
    printf("  lost %" PRId64 " (%" PRId64 " by the kernel, %" PRId64
           " by the network), reordered %" PRIu64 ", duplicates %" PRIu64,
           t->lost, t->lost_in_kernel, t->lost_in_network, t->reordered,
           t->duplicates);
    if (t->stale) {
        printf(", stale %" PRIu64, t->stale);
    }
    if (t->untracked) {
        printf(", in too many streams %" PRIu64, t->untracked);
    }
    if (t->foreign) {
        printf(", foreign %" PRIu64, t->foreign);
    }
    if (t->clock_errors) {
        printf(", with a time of sending to come %" PRIu64, t->clock_errors);
    }
    putchar('\n');
    text_latency(t);
}

static void
text_source(const struct totals *t)
{
    if (t->behind) {
        printf("  behind by %" PRIu64 "\n", t->behind);
    }
    if (t->refused) {
        printf("  tried again: %" PRIu64 " times, since the port was "
               "unreachable\n", t->refused);
    }
    if (t->no_buffers) {
        printf("  tried again: %" PRIu64 " times, since a queue was full\n",
               t->no_buffers);
    }
}

static void
text(const struct options *o, bool end, const struct totals *t,
     uint64_t elapsed)
{
    if (end) {
        printf("total: %" PRIu64 " packets in %.3f s, %.0f packets/s\n",
               t->packets, t->active / 1e9, per_second(t->packets, t));
    } else {
        printf("%.3f s: %.0f packets/s\n", elapsed / 1e9,
               per_second(t->packets, t));
    }
    if (o->n_workers > 1 || end) {
        printf("  workers, packets/s:");
        for (unsigned int i = 0; i < o->n_workers; i++) {
            printf(" %.0f", per_second(t->worker_packets[i], t));
        }
        putchar('\n');
    }
    if (o->source) {
        text_source(t);
    } else {
        text_sink(t);
    }
}

static void
show(struct report *r, const char *type, bool end)
{
    const struct options *o = &r->run->options;

    if (o->json) {
        json(o, type, &r->shown, r->now.time);
    } else {
        text(o, end, &r->shown, r->now.time);
    }
    fflush(stdout);
}

void
report_start(struct report *r)
{
    const struct options *o = &r->run->options;
    const char *command = o->source ? "source" : "sink";
    const char *socket = (o->shared ? "shared"
                          : o->n_ports < o->n_workers ? "reuseport" : "own");

    if (o->json) {
        printf("{\"type\": \"start\", \"command\": \"%s\", \"pid\": %ld, "
               "\"port\": %u, \"ports\": %u, \"workers\": %u, "
               "\"workers_are\": \"%s\"", command, (long) getpid(), o->port,
               o->n_ports, o->n_workers,
               o->processes ? "processes" : "threads");
        if (o->source) {
            printf(", \"rate\": %" PRIu64 ", \"size\": %u, \"flows\": %u}\n",
                   o->rate, o->size, o->n_flows);
        } else {
            printf(", \"receive\": \"%s\", \"socket\": \"%s\"}\n",
                   receive_method_name(o->receive), socket);
        }
    } else if (!o->source) {
        printf("receiving at ports %u to %u, %u %s, %s, sockets: %s\n",
               o->port, o->port + o->n_ports - 1, o->n_workers,
               o->processes ? "processes" : "threads",
               receive_method_name(o->receive), socket);
    }
    fflush(stdout);
}

void
report_interval(struct report *r)
{
    unsigned int n = r->run->options.n_workers;

    totals_copy(&r->shown, &r->now, n);
    totals_since(&r->shown, &r->last, n);
    totals_copy(&r->last, &r->now, n);
    show(r, "interval", false);
}

void
report_end(struct report *r)
{
    totals_copy(&r->shown, &r->now, r->run->options.n_workers);
    show(r, "end", true);
}
