/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "bench/subtable-plain.h"

/* All that has atomics and is not of the table comes first, so as to stay as
 * it is. */
#include "cmap.h"
#include "flow.h"
#include "openvswitch/thread.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "pvector.h"
#include "util.h"

/* The type of an atomic variable's value. */
#define PLAIN_TYPE(ATOMIC_VAR) __typeof__(((void) 0, (ATOMIC_VAR)))

#undef atomic_read_explicit
#undef atomic_read_relaxed
#undef atomic_store_explicit
#undef atomic_store_relaxed
#define atomic_read_explicit(SRC, DST, ORDER)           \
    ((void) (ORDER), (void) (*(DST) = *(PLAIN_TYPE(*(SRC)) *) (SRC)))
#define atomic_read_relaxed(SRC, DST)                   \
    atomic_read_explicit(SRC, DST, memory_order_relaxed)
#define atomic_store_explicit(DST, VALUE, ORDER)        \
    ((void) (ORDER), (void) (*(PLAIN_TYPE(*(DST)) *) (DST) = (VALUE)))
#define atomic_store_relaxed(DST, VALUE)                \
    atomic_store_explicit(DST, VALUE, memory_order_relaxed)

#define subtable_create plain_subtable_create
#define subtable_destroy plain_subtable_destroy
#define subtable_insert plain_subtable_insert
#define subtable_remove plain_subtable_remove
#define subtable_count_alike plain_subtable_count_alike
#define subtable_lookup plain_subtable_lookup
#define subtable_lookup_beyond plain_subtable_lookup_beyond

#include "table/subtable.c"
