/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_SUBTABLE_PLAIN_H
#define BENCH_SUBTABLE_PLAIN_H 1

/* lib/table/subtable.c, compiled a second time without its concurrency
 * protocol: all atomics are plain variables to the compiler, which may keep,
 * repeat, merge and reorder accesses as it likes, and no access has an order.
 * That is what the table would be if readers and writer were one thread.
 *
 * For bench-flow-table, to tell what the protocol costs.  Since not a type
 * differs, both may look into the same table. */

#include <stdint.h>

struct dp_flow;
struct dp_key;
struct dp_slab;
struct subtable;

/* As subtable_lookup(), while nobody writes. */
struct dp_flow *plain_subtable_lookup(const struct subtable *,
                                      const struct dp_slab *,
                                      const struct dp_key *key, uint32_t hash);

#endif /* tests/bench/subtable-plain.h */
