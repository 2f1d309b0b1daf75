/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_LOOKUP_H
#define WEFT_TABLE_LOOKUP_H 1

/* The lookup pass: from the keys of a burst to their flows.
 *
 * A pass takes the keys of up to NETDEV_MAX_BURST packets of one input port
 * and asks, for each, the EMC, the SMC and the classifier in this order.  It
 * writes to nothing but the results: insertions into the caches, upcalls and
 * statistics come afterwards, so that a pass may work on several packets at a
 * time in any order.  Every pass gives the same results.
 *
 * Thread safety
 * -------------
 * The caller is the owner of the caches and does not quiesce until it has done
 * with the flows. */

#include <stddef.h>
#include <stdint.h>

#include "table/dp-flow.h"
#include "table/dp-key.h"
#include "table/flow-table.h"
#include "table/sigcache.h"

enum { LOOKUP_MAX_KEYS = 32 };

struct lookup_result {
    struct dp_flow *flow;       /* Null: no flow. */
    struct subtable *subtable;  /* If the classifier has found the flow: where
                                 * (null: in its bit vector).  Otherwise
                                 * undefined. */
};

/* Who has found the flows: bit i stands for keys[i].  No two have the same
 * bit; what is in none has no flow. */
struct lookup_hits {
    uint32_t emc;
    uint32_t smc;
    uint32_t classifier;
    uint32_t n_asked;           /* Tables of the classifier that were asked,
                                 * for all of its hits together. */
};

struct lookup_tables {
    const struct sigcache *emc; /* Null: not to be asked. */
    const struct sigcache *smc; /* Null: not to be asked. */
    const struct dp_slab *slab;
    struct dp_classifier *cls;  /* Null: the port has no flows. */
};

/* Looks up 'n' keys, 1 to LOOKUP_MAX_KEYS, results[i] being that of keys[i].
 * The buckets of the EMC are being fetched already. */
typedef struct lookup_hits lookup_pass_func(const struct lookup_tables *,
                                            const struct dp_key *keys,
                                            size_t n,
                                            struct lookup_result *results);

/* One packet after the other, save that the flows which the EMC names are
 * fetched for all of them first.  Best while the tables are in the cache. */
lookup_pass_func lookup_pass_plain;

/* A coroutine for each packet, which yields whenever it has begun to fetch
 * lines, so that the memory accesses of many packets overlap. */
lookup_pass_func lookup_pass_interleaved;

#endif /* table/lookup.h */
