/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_DP_CLASSIFIER_H
#define WEFT_TABLE_DP_CLASSIFIER_H 1

/* Classifier: the megaflows of one thread that begin at one port.
 *
 * Subtables are asked in the order of their rank, which is how many packets
 * they answered lately; the first that has a flow for the key ends the search,
 * since megaflows do not overlap.
 *
 * Thread safety
 * -------------
 * Writers hold the flow table's mutex, the ranking included.  Readers need
 * nothing but RCU. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmap.h"
#include "openvswitch/types.h"
#include "pvector.h"
#include "table/dp-flow.h"
#include "table/subtable.h"

struct dp_classifier {
    struct cmap_node node;      /* In dp_flow_table's 'classifiers'. */
    odp_port_t in_port;
    struct cmap by_mask;        /* Has 'struct subtable's. */
    struct pvector ranked;      /* The same, most hits first. */
};

struct dp_classifier *dp_classifier_create(odp_port_t in_port);

/* Frees 'cls' and its subtables, which must be empty of flows, after a grace
 * period.  Writer only, and nobody may find 'cls' any more. */
void dp_classifier_destroy(struct dp_classifier *cls);

/* Returns the subtable for 'mask', made if there is none.  Takes ownership of
 * 'mask' in any case.  Writer only. */
struct subtable *dp_classifier_get_subtable(struct dp_classifier *,
                                            struct dp_mask *mask);

/* Takes 'flow' out, and its subtable with it if that has become empty. */
void dp_classifier_remove_flow(struct dp_classifier *, struct dp_flow *flow);

/* Removes 'subtable' if it is empty. */
void dp_classifier_trim(struct dp_classifier *, struct subtable *subtable);

/* Returns the flow that matches 'key', or NULL, and adds to '*n_subtables' how
 * many subtables were asked for it. */
struct dp_flow *dp_classifier_lookup(const struct dp_classifier *,
                                     const struct dp_slab *,
                                     const struct dp_key *key,
                                     unsigned int *n_subtables);

/* Ranks the subtables anew by their hits since the last time, and forgets
 * these.  Writer only, and the owner of the hit counts must be the caller. */
void dp_classifier_rank(struct dp_classifier *);

#endif /* table/dp-classifier.h */
