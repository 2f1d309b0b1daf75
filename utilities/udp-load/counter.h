/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_COUNTER_H
#define UDP_LOAD_COUNTER_H 1

/* Counters that one thread or process writes at a time and others read.  The
 * writer needs no atomic read-modify-write: nobody else changes the value. */

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic(uint64_t) counter;

static inline uint64_t
counter_get(const counter *c)
{
    return atomic_load_explicit((counter *) c, memory_order_relaxed);
}

static inline void
counter_set(counter *c, uint64_t value)
{
    atomic_store_explicit(c, value, memory_order_relaxed);
}

static inline void
counter_add(counter *c, uint64_t n)
{
    counter_set(c, counter_get(c) + n);
}

#endif /* utilities/udp-load/counter.h */
