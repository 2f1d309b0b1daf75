/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_BOND_H
#define WEFT_PMD_BOND_H 1

/* Bonds with balanced output: the action lb_output chooses the member port by
 * the packet's hash from a table of BOND_BUCKETS.
 *
 * The datapath has one set of bonds, and each thread has a copy of it with
 * counters of its own, so that counting needs no atomic operation but plain
 * relaxed stores.  A change of members makes a new 'struct dp_bond', with the
 * counters carried over, in the place of the old one.
 *
 * Thread safety
 * -------------
 * dp_bonds_find() needs RCU only.  Changes need the set's 'mutex'. */

#include <stdint.h>

#include "cmap.h"
#include "dpif.h"
#include "openvswitch/thread.h"
#include "openvswitch/types.h"
#include "ovs-atomic.h"

struct dp_bond_bucket {
    odp_port_t member;
    atomic_ullong packets;      /* Owner thread writes, all read; relaxed. */
    atomic_ullong bytes;        /* Likewise. */
};

struct dp_bond {
    struct cmap_node node;      /* In dp_bonds' 'map'. */
    uint32_t id;
    struct dp_bond_bucket buckets[BOND_BUCKETS];
};

struct dp_bonds {
    struct ovs_mutex mutex;
    struct cmap map;            /* 'struct dp_bond's.  Written with 'mutex'. */
};

void dp_bonds_init(struct dp_bonds *);
void dp_bonds_destroy(struct dp_bonds *);
void dp_bonds_clear(struct dp_bonds *);

struct dp_bond *dp_bonds_find(const struct dp_bonds *, uint32_t id);

/* Adds bond 'id' with the member ports 'members' (BOND_BUCKETS elements), or
 * replaces its members if it exists and 'replace' is true. */
void dp_bonds_put(struct dp_bonds *, uint32_t id, const odp_port_t *members,
                  bool replace);
/* Copies every bond of 'src' that 'dst' lacks. */
void dp_bonds_copy_missing(struct dp_bonds *dst, const struct dp_bonds *src);
/* Returns false if there is no such bond. */
bool dp_bonds_remove(struct dp_bonds *, uint32_t id);

/* Counts a packet of 'size' bytes for 'bucket'.  Owner thread only. */
void dp_bond_bucket_account(struct dp_bond_bucket *bucket, uint32_t size);

#endif /* pmd/bond.h */
