/* SPDX-License-Identifier: Apache-2.0 */

/* The sink's main thread: it opens the sockets, watches and reports. */

#include "sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"
#include "report.h"

/* For --once: from the first end marker on, others and late datagrams have
 * this long to come; nothing for a while is enough, too, if all streams have
 * ended. */
#define END_PATIENCE_NS 1000000000ULL
#define END_QUIET_NS 100000000ULL

static uint64_t *socket_drops;  /* What the kernel dropped, of each socket. */

static unsigned int
n_sockets(const struct options *o)
{
    return o->shared ? 1 : o->n_workers;
}

/* Takes 'drops', modulo 2**32, into a count that may know more already. */
static void
extend(uint64_t *count, uint32_t drops)
{
    uint32_t more = drops - (uint32_t) *count;

    if (more < UINT32_MAX / 2) {
        *count += more;
    }
}

/* Returns how many datagrams the kernel has dropped at all sockets.
 * SO_RXQ_OVFL comes with a datagram, so it cannot tell of drops after the last
 * one; for these the socket is asked, which old kernels do not answer. */
static uint64_t
kernel_drops(const struct run *run)
{
    const struct options *o = &run->options;
    uint64_t sum = 0;

    for (unsigned int i = 0; i < o->n_workers; i++) {
        extend(&socket_drops[o->shared ? 0 : i],
               counter_get(&run->workers[i].kernel_drops));
    }
    for (unsigned int i = 0; i < n_sockets(o); i++) {
        extend(&socket_drops[i], net_drops(run->fds[i]));
        sum += socket_drops[i];
    }
    return sum;
}

static void
add_streams(struct totals *t, const struct streams *streams)
{
    uint32_t n = streams_count(streams);

    for (uint32_t i = 0; i < n; i++) {
        const struct sequence *s = &streams->array[i].sequence;

        t->lost += sequence_lost(s);
        t->reordered += counter_get(&s->reordered);
        t->duplicates += counter_get(&s->duplicates);
        t->stale += counter_get(&s->stale);
        t->n_ended += counter_get(&s->ended) != 0;
    }
    t->n_streams += n;
}

static void
collect(const struct run *run, struct totals *t)
{
    const struct options *o = &run->options;
    uint64_t *counts = t->worker_packets;

    memset(t, 0, sizeof *t);
    t->worker_packets = counts;
    t->time = clock_now() - run->start;
    t->active = run_active_time(run);
    for (unsigned int i = 0; i < o->n_workers; i++) {
        const struct worker *w = &run->workers[i];

        counts[i] = counter_get(&w->packets);
        t->packets += counts[i];
        t->bytes += counter_get(&w->bytes);
        t->foreign += counter_get(&w->foreign);
        t->untracked += counter_get(&w->untracked);
        t->clock_errors += counter_get(&w->clock_errors);
        histogram_sum_add(&t->latency, &w->latency);
    }
    for (unsigned int i = 0; i < o->n_ports; i++) {
        add_streams(t, run->streams[i]);
    }
    t->lost_in_kernel = kernel_drops(run);
    t->lost_in_network = (t->lost > t->lost_in_kernel
                          ? t->lost - t->lost_in_kernel : 0);
}

/* Returns true if all streams of one source have ended. */
static bool
a_source_has_ended(const struct run *run)
{
    static unsigned int ended[UINT16_MAX + 1];

    memset(ended, 0, sizeof ended);
    for (unsigned int i = 0; i < run->options.n_ports; i++) {
        const struct streams *streams = run->streams[i];

        for (uint32_t j = 0; j < streams_count(streams); j++) {
            const struct stream *s = &streams->array[j];

            if (counter_get(&s->sequence.ended)
                && ++ended[s->run] >= counter_get(&s->n_run_streams)) {
                return true;
            }
        }
    }
    return false;
}

/* What --once waits for. */
struct end_watch {
    uint64_t first;             /* Time of the first end marker, or 0. */
    uint64_t packets;           /* Datagrams so far... */
    uint64_t since;             /* ...and the time that this was new. */
};

static bool
is_over(const struct run *run, struct end_watch *watch)
{
    uint64_t now = clock_now();
    uint64_t packets = 0;
    uint64_t ends = 0;

    for (unsigned int i = 0; i < run->options.n_workers; i++) {
        packets += counter_get(&run->workers[i].packets);
        ends += counter_get(&run->workers[i].end_markers);
    }
    if (!ends) {
        return false;
    }
    if (!watch->first) {
        watch->first = now;
    }
    if (packets != watch->packets || !watch->since) {
        watch->packets = packets;
        watch->since = now;
    }
    if (now - watch->since < END_QUIET_NS) {
        return false;
    }
    return (now - watch->first >= END_PATIENCE_NS
            || a_source_has_ended(run));
}

static void
set_up(struct run *run)
{
    struct options *o = &run->options;

    run->fds = calloc(n_sockets(o), sizeof *run->fds);
    run->streams = calloc(o->n_ports, sizeof *run->streams);
    socket_drops = calloc(n_sockets(o), sizeof *socket_drops);
    if (!run->fds || !run->streams || !socket_drops) {
        net_fail(ENOMEM, "no memory for %u workers", o->n_workers);
    }
    net_open_sink(o, run->fds);
    for (unsigned int i = 0; i < o->n_ports; i++) {
        run->streams[i] = streams_create(o->max_streams,
                                         o->n_ports < o->n_workers, o->join);
        if (!run->streams[i]) {
            net_fail(ENOMEM, "no memory for --max-streams=%u",
                     o->max_streams);
        }
    }
}

/* Returns the program's exit status. */
int
sink_run(struct run *run)
{
    const struct options *o = &run->options;
    struct end_watch watch = { .first = 0 };
    uint64_t end, next;
    struct report report;

    set_up(run);
    run->start = clock_now();
    end = o->duration ? run->start + o->duration : UINT64_MAX;
    next = o->interval ? run->start + o->interval : UINT64_MAX;
    report_init(&report, run);
    run_start_workers(run, receive_worker);
    report_start(&report);

    while (run_sleep(run, end < next ? end : next)
           && clock_now() < end && !(o->once && is_over(run, &watch))) {
        if (clock_now() >= next) {
            collect(run, &report.now);
            report_interval(&report);
            next = run_next(next, o->interval);
        }
    }
    run_stop_workers(run);
    collect(run, &report.now);
    report_end(&report);
    return report.now.packets ? EXIT_SUCCESS : EXIT_NOTHING;
}
