/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_STREAMS_H
#define UDP_LOAD_STREAMS_H 1

/* The streams that a group of workers has received, in memory that workers may
 * share as processes.
 *
 * A group is what the datagrams of one stream can come to: the worker of a
 * port, all workers of a port, or all workers of the shared socket.  In a
 * group of one, the worker is the only writer.  In a greater one, a writer
 * holds the stream's lock.  Looking up a stream takes no lock, adding one
 * does.  Whoever only reads takes no lock at all. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "sequence.h"
#include "wire.h"

struct stream {
    uint32_t key;                       /* Run, stream. */
    uint16_t run;
    counter n_run_streams;              /* As the end marker says, or 0. */
    pthread_mutex_t lock;
    struct sequence sequence;
};

struct streams {
    uint32_t capacity;
    uint32_t mask;                      /* Of 'index'. */
    bool locked, join;
    pthread_mutex_t lock;               /* To add a stream. */
    _Atomic(uint32_t) n;
    struct stream *array;               /* In the order of their coming. */
    _Atomic(uint32_t) *index;           /* 1 + place in 'array', or 0. */
};

/* Memory for anything that workers share, zeros at first.  Returns NULL if
 * there is none. */
void *shared_alloc(size_t);

struct streams *streams_create(uint32_t capacity, bool locked, bool join);
bool streams_receive(struct streams *, const struct wire *);
uint32_t streams_count(const struct streams *);

#endif /* utilities/udp-load/streams.h */
