/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_RUN_H
#define UDP_LOAD_RUN_H 1

/* What the main thread and the workers, threads or processes, have in common.
 *
 * All that is written after the workers have started lies in shared memory.
 * The main thread writes 'stop'; each worker writes its own 'struct
 * worker'. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"
#include "options.h"
#include "streams.h"

struct worker {
    _Alignas(64) counter packets;       /* Datagrams of data. */
    counter bytes;                      /* Their payload. */
    counter begun, ended;       /* Times of the first and the last one. */

    /* Sink. */
    counter foreign;            /* Not of a source of ours. */
    counter untracked;          /* Of a stream that is one too many. */
    counter clock_errors;       /* Older than their time of sending. */
    counter kernel_drops;       /* As SO_RXQ_OVFL said last. */
    counter end_markers;
    struct histogram latency;   /* ns. */

    /* Source. */
    counter refused;            /* Attempts that met "port unreachable". */
    counter no_buffers;         /* Attempts that met a full queue. */
    counter due;                /* Datagrams that should have been sent. */

    atomic_int error;           /* What has ended it, an errno value, or 0. */
    _Atomic(const char *) failed;       /* What that was about. */
    atomic_bool done;
};

struct control {
    atomic_bool stop;
};

struct run {
    struct options options;
    uint64_t start;             /* CLOCK_MONOTONIC, ns. */
    struct control *control;
    struct worker *workers;

    /* Sink. */
    int *fds;                   /* A worker's socket, or the one of all. */
    struct streams **streams;   /* Of each port. */

    /* Source. */
    int *stream_fds;
    uint16_t id;
};

#define RUN_TICK_NS 20000000    /* How often the main thread looks around. */

typedef void worker_func(const struct run *, unsigned int worker);

/* In source.c and sink.c. */
void source_run(struct run *);
int sink_run(struct run *);

void run_init(struct run *);
void run_start_workers(struct run *, worker_func *);
void run_stop_workers(struct run *);
bool run_sleep(struct run *, uint64_t until);
uint64_t run_next(uint64_t last, uint64_t interval);

void worker_fail(struct worker *, int error, const char *what);
bool run_stopped(const struct run *);

uint64_t run_active_time(const struct run *);

uint64_t clock_now(void);
void clock_sleep_until(uint64_t);

#endif /* utilities/udp-load/run.h */
