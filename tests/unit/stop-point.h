/* SPDX-License-Identifier: Apache-2.0 */

#ifndef WEFT_UNIT_STOP_POINT_H
#define WEFT_UNIT_STOP_POINT_H 1

/* Holds a thread between two steps of lock-free code.
 *
 * Include this before the source file under test, whose SYNC_POINT()s (see
 * sync/sync-point.h) then end up here.  A thread that called stop_here(&stop)
 * is held when it next gets to the point that 'stop' names, once.  Another
 * thread waits for that with stop_await(), does what is to happen in between,
 * and calls stop_release().
 *
 *     struct stop stop;
 *
 *     stop_init(&stop, "seq-changed");
 *
 *     thread A: stop_here(&stop); seq_change(seq);
 *     thread B: stop_await(&stop); ...; stop_release(&stop);
 */

#include <semaphore.h>
#include <string.h>

struct stop {
    const char *point;          /* Where to hold the thread. */
    sem_t reached, released;
};

static __thread struct stop *stop_pending;

static inline void
stop_init(struct stop *stop, const char *point)
{
    stop->point = point;
    sem_init(&stop->reached, 0, 0);
    sem_init(&stop->released, 0, 0);
}

static inline void
stop_destroy(struct stop *stop)
{
    sem_destroy(&stop->reached);
    sem_destroy(&stop->released);
}

static inline void
stop_wait__(sem_t *sem)
{
    while (sem_wait(sem)) {
        continue;               /* A signal came. */
    }
}

static inline void
stop_here(struct stop *stop)
{
    stop_pending = stop;
}

static inline void
stop_await(struct stop *stop)
{
    stop_wait__(&stop->reached);
}

static inline void
stop_release(struct stop *stop)
{
    sem_post(&stop->released);
}

static inline void
stop_at_point(const char *point)
{
    struct stop *stop = stop_pending;

    if (stop && !strcmp(stop->point, point)) {
        stop_pending = NULL;
        sem_post(&stop->reached);
        stop_wait__(&stop->released);
    }
}

#define SYNC_POINT(NAME) stop_at_point(NAME)

#endif /* tests/unit/stop-point.h */
