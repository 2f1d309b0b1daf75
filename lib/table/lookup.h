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

enum lookup_source {
    LOOKUP_MISS,                /* No flow. */
    LOOKUP_EMC,
    LOOKUP_SMC,
    LOOKUP_CLASSIFIER
};

struct lookup_result {
    struct dp_flow *flow;       /* NULL for LOOKUP_MISS. */
    enum lookup_source source;
};

struct lookup_tables {
    const struct sigcache *emc; /* Null: not to be asked. */
    const struct sigcache *smc; /* Null: not to be asked. */
    const struct dp_slab *slab;
    struct dp_classifier *cls;  /* Null: the port has no flows. */
};

/* Looks up 'n' keys, results[i] being that of keys[i].  Returns the number of
 * subtables asked, for all keys together. */
typedef unsigned int lookup_pass_func(const struct lookup_tables *,
                                      const struct dp_key *keys, size_t n,
                                      struct lookup_result *results);

/* One packet after the other, save that the flows which the EMC names are
 * fetched for all of them first. */
lookup_pass_func lookup_pass_plain;

#endif /* table/lookup.h */
