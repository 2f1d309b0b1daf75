/* SPDX-License-Identifier: Apache-2.0 */

/* The source.  Stream S goes to port S % n_ports, has a socket and so a source
 * port of its own, and belongs to worker S % n_workers. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "net.h"
#include "pace.h"
#include "report.h"

/* All workers have to be ready when the first datagram is due. */
#define START_DELAY_NS 20000000
/* The longest sleep, so that a worker sees when it is to end. */
#define NAP_NS 100000000
/* How much later than --seconds says what was due until then may be sent. */
#define GRACE_NS 100000000
/* An end marker can get lost like anything else. */
#define END_MARKERS 3
#define END_MARKER_PAUSE_NS 20000000

struct sender {
    const struct run *run;
    struct worker *state;
    unsigned int first, step, n_streams;        /* Of all streams. */
    uint64_t *numbers;                  /* Next number of each stream. */
    uint8_t *payloads;                  /* o->batch of them. */
    struct iovec *iovs;
    struct mmsghdr *messages;
};

static unsigned int
count_streams(const struct options *o)
{
    return o->n_ports * o->n_flows;
}

static bool
sender_init(struct sender *s, const struct run *run, unsigned int worker)
{
    const struct options *o = &run->options;

    *s = (struct sender) {
        .run = run,
        .state = &run->workers[worker],
        .first = worker,
        .step = o->n_workers,
        .n_streams = count_streams(o),
        .numbers = calloc(count_streams(o), sizeof *s->numbers),
        .payloads = calloc(o->batch, o->size),
        .iovs = calloc(o->batch, sizeof *s->iovs),
        .messages = calloc(o->batch, sizeof *s->messages),
    };
    if (!s->numbers || !s->payloads || !s->iovs || !s->messages) {
        return false;
    }
    for (unsigned int i = 0; i < o->batch; i++) {
        s->iovs[i] = (struct iovec) { s->payloads + (size_t) i * o->size,
                                      o->size };
        s->messages[i].msg_hdr.msg_iov = &s->iovs[i];
        s->messages[i].msg_hdr.msg_iovlen = 1;
    }
    return true;
}

static void
sender_destroy(struct sender *s)
{
    free(s->numbers);
    free(s->payloads);
    free(s->iovs);
    free(s->messages);
}

/* Counts an error that goes away by itself.  Returns false after any other. */
static bool
tolerate(struct sender *s, int error)
{
    if (error == ECONNREFUSED) {
        /* Answers an earlier datagram; this one was not sent. */
        counter_add(&s->state->refused, 1);
    } else if (error == ENOBUFS || error == EAGAIN || error == ENOMEM) {
        counter_add(&s->state->no_buffers, 1);
    } else if (error != EINTR) {
        return false;
    }
    return true;
}

/* Sends up to 'n' datagrams of 'stream'.  Returns how many were sent, or -1 if
 * the worker cannot go on. */
static int
send_data(struct sender *s, unsigned int stream, unsigned int n)
{
    const struct options *o = &s->run->options;
    struct wire wire = {
        .type = WIRE_DATA,
        .run = s->run->id,
        .stream = stream,
        .number = s->numbers[stream],
        .extra = clock_now(),
    };
    int sent;

    for (unsigned int i = 0; i < n; i++, wire.number++) {
        wire_put(&wire, s->iovs[i].iov_base);
    }
    sent = sendmmsg(s->run->stream_fds[stream], s->messages, n, 0);
    if (sent < 0) {
        if (tolerate(s, errno)) {
            return 0;
        }
        worker_fail(s->state, errno, "sendmmsg");
        return -1;
    }
    s->numbers[stream] += sent;
    counter_add(&s->state->packets, sent);
    counter_add(&s->state->bytes, (uint64_t) sent * o->size);
    if (!counter_get(&s->state->begun)) {
        counter_set(&s->state->begun, wire.extra);
    }
    counter_set(&s->state->ended, wire.extra);
    return sent;
}

static void
send_end_markers(struct sender *s)
{
    for (int round = 0; round < END_MARKERS; round++) {
        clock_sleep_until(clock_now() + END_MARKER_PAUSE_NS);
        for (unsigned int stream = s->first; stream < s->n_streams;
             stream += s->step) {
            struct wire wire = {
                .type = WIRE_END,
                .run = s->run->id,
                .stream = stream,
                .number = s->numbers[stream],
                .extra = s->n_streams,
            };
            uint8_t buffer[WIRE_SIZE];
            int fd = s->run->stream_fds[stream];

            wire_put(&wire, buffer);
            if (send(fd, buffer, sizeof buffer, 0) < 0) {
                /* That may have been about an earlier one. */
                send(fd, buffer, sizeof buffer, 0);
            }
        }
    }
}

/* Returns how many datagrams the worker may send before it has to look at the
 * time again, after sleeping until there is at least one, or 0 if it is to
 * end.  It has sent 'k' so far and will send 'most'. */
static uint64_t
wait_for_due(struct sender *s, const struct pace *pace, uint64_t k,
             uint64_t most)
{
    const struct options *o = &s->run->options;
    uint64_t start = s->run->start;
    uint64_t end = o->duration + (o->rate ? GRACE_NS : 0);

    while (k < most && !run_stopped(s->run)) {
        uint64_t now = clock_now();
        uint64_t due, when;

        if (o->duration && now >= start + end) {
            counter_set(&s->state->due, o->rate ? most : 0);
            break;
        } else if (!o->rate) {
            return most - k;
        }
        due = pace_due(pace, now - start);
        if (due > most) {
            due = most;
        }
        counter_set(&s->state->due, due);
        if (due > k) {
            return due - k;
        }
        when = start + pace_time(pace, k);
        clock_sleep_until(when < now + NAP_NS ? when : now + NAP_NS);
    }
    return 0;
}

/* Returns how many datagrams the worker sends at most. */
static uint64_t
most_of(const struct options *o, unsigned int worker)
{
    uint64_t most = UINT64_MAX;

    if (o->count) {
        most = pace_share(o->count, worker, o->n_workers);
    }
    if (o->rate && o->duration) {
        /* What falls due before the end. */
        struct pace pace = { o->rate, worker, o->n_workers };
        uint64_t due = pace_due(&pace, o->duration - 1);

        most = due < most ? due : most;
    }
    return most;
}

static void
source_worker(const struct run *run, unsigned int worker)
{
    const struct options *o = &run->options;
    struct pace pace = { o->rate, worker, o->n_workers };
    uint64_t most = most_of(o, worker);
    unsigned int stream = worker;
    struct sender s;
    uint64_t k = 0;
    uint64_t n;

    if (!sender_init(&s, run, worker)) {
        worker_fail(&run->workers[worker], ENOMEM, "no memory for --batch");
        sender_destroy(&s);
        return;
    }
    /* The kernel may wake a thread 50 us late unless it is told. */
    prctl(PR_SET_TIMERSLACK, 1);
    clock_sleep_until(run->start);
    while ((n = wait_for_due(&s, &pace, k, most)) > 0) {
        int sent = send_data(&s, stream, n < o->batch ? n : o->batch);

        if (sent < 0) {
            break;
        }
        k += sent;
        stream += s.step;
        if (stream >= s.n_streams) {
            stream = s.first;
        }
    }
    if (o->end_markers && !atomic_load(&s.state->error)) {
        send_end_markers(&s);
    }
    sender_destroy(&s);
}

static void
set_up(struct run *run)
{
    const struct options *o = &run->options;
    unsigned int n = count_streams(o);
    union address destination, local;

    net_resolve(&destination, o->destination, o->family, "destination");
    if (o->bind) {
        net_resolve(&local, o->bind, destination.sa.sa_family, "--bind:");
    }
    net_more_files(n);
    run->stream_fds = calloc(n, sizeof *run->stream_fds);
    if (!run->stream_fds) {
        net_fail(ENOMEM, "no memory for %u flows", n);
    }
    for (unsigned int i = 0; i < n; i++) {
        net_set_port(&destination, o->port + i % o->n_ports);
        run->stream_fds[i] = net_open_source(
            &destination, o->bind ? &local : NULL,
            o->source_port ? o->source_port + i : 0);
    }
    if (getrandom(&run->id, sizeof run->id, 0) != sizeof run->id) {
        net_fail(errno, "no random number");
    }
}

static void
collect(const struct run *run, struct totals *t)
{
    uint64_t *counts = t->worker_packets;
    uint64_t now = clock_now();

    memset(t, 0, sizeof *t);
    t->worker_packets = counts;
    t->time = now > run->start ? now - run->start : 0;
    t->active = run_active_time(run);
    for (unsigned int i = 0; i < run->options.n_workers; i++) {
        const struct worker *w = &run->workers[i];
        uint64_t due = counter_get(&w->due);

        counts[i] = counter_get(&w->packets);
        t->packets += counts[i];
        t->bytes += counter_get(&w->bytes);
        t->refused += counter_get(&w->refused);
        t->no_buffers += counter_get(&w->no_buffers);
        t->behind += due > counts[i] ? due - counts[i] : 0;
    }
}

static bool
all_done(const struct run *run)
{
    for (unsigned int i = 0; i < run->options.n_workers; i++) {
        if (!atomic_load(&run->workers[i].done)) {
            return false;
        }
    }
    return true;
}

void
source_run(struct run *run)
{
    const struct options *o = &run->options;
    struct report report;
    uint64_t next;

    set_up(run);
    report_init(&report, run);
    report_start(&report);
    run->start = clock_now() + START_DELAY_NS;
    next = o->interval ? run->start + o->interval : UINT64_MAX;
    run_start_workers(run, source_worker);
    while (run_sleep(run, next) && !all_done(run)) {
        if (clock_now() >= next) {
            collect(run, &report.now);
            report_interval(&report);
            next = run_next(next, o->interval);
        }
    }
    run_stop_workers(run);
    collect(run, &report.now);
    report_end(&report);
}
