/* SPDX-License-Identifier: Apache-2.0 */

#include "streams.h"

#include <sys/mman.h>

void *
shared_alloc(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

static void
mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* Returns a table of at most 'capacity' streams, whose streams begin where
 * 'join' tells (see sequence_init()), or NULL if there is not enough
 * memory. */
struct streams *
streams_create(uint32_t capacity, bool locked, bool join)
{
    struct streams *streams = shared_alloc(sizeof *streams);
    uint32_t size = 1;

    if (!streams) {
        return NULL;
    }
    while (size < 2 * capacity) {
        size *= 2;
    }
    streams->capacity = capacity;
    streams->mask = size - 1;
    streams->locked = locked;
    streams->join = join;
    mutex_init(&streams->lock);
    streams->array = shared_alloc(capacity * sizeof *streams->array);
    streams->index = shared_alloc(size * sizeof *streams->index);
    return streams->array && streams->index ? streams : NULL;
}

/* Returns the stream with 'key', or NULL and in '*place' where in the index it
 * has to go. */
static struct stream *
find(struct streams *streams, uint32_t key, uint32_t *place)
{
    uint32_t i = key * UINT32_C(0x9e3779b1);

    for (i ^= i >> 15;; i++) {
        uint32_t n = atomic_load_explicit(&streams->index[i & streams->mask],
                                          memory_order_acquire);

        if (!n) {
            *place = i & streams->mask;
            return NULL;
        } else if (streams->array[n - 1].key == key) {
            return &streams->array[n - 1];
        }
    }
}

static struct stream *
add(struct streams *streams, uint32_t key)
{
    struct stream *stream;
    uint32_t place;
    uint32_t n;

    pthread_mutex_lock(&streams->lock);
    stream = find(streams, key, &place);
    n = atomic_load_explicit(&streams->n, memory_order_relaxed);
    if (!stream && n < streams->capacity) {
        stream = &streams->array[n];
        stream->key = key;
        stream->run = key >> 16;
        mutex_init(&stream->lock);
        sequence_init(&stream->sequence, streams->join);
        atomic_store_explicit(&streams->index[place], n + 1,
                              memory_order_release);
        atomic_store_explicit(&streams->n, n + 1, memory_order_release);
    }
    pthread_mutex_unlock(&streams->lock);
    return stream;
}

static void
account(struct stream *stream, const struct wire *wire)
{
    if (wire->type == WIRE_DATA) {
        sequence_data(&stream->sequence, wire->number);
    } else {
        counter_set(&stream->n_run_streams, wire->extra);
        sequence_end(&stream->sequence, wire->number);
    }
}

/* Notes that 'wire' came.  Returns false if its stream is one too many. */
bool
streams_receive(struct streams *streams, const struct wire *wire)
{
    uint32_t key = (uint32_t) wire->run << 16 | wire->stream;
    uint32_t place;
    struct stream *stream = find(streams, key, &place);

    if (!stream) {
        stream = add(streams, key);
        if (!stream) {
            return false;
        }
    }
    if (streams->locked) {
        pthread_mutex_lock(&stream->lock);
        account(stream, wire);
        pthread_mutex_unlock(&stream->lock);
    } else {
        account(stream, wire);
    }
    return true;
}

/* Returns how many of the array's streams can be read. */
uint32_t
streams_count(const struct streams *streams)
{
    return atomic_load_explicit(&((struct streams *) streams)->n,
                                memory_order_acquire);
}
