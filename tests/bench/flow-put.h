/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_FLOW_PUT_H
#define BENCH_FLOW_PUT_H 1

/* Installing a flow set
 * =====================
 *
 * Puts the flows of a flow set into a datapath, modifies them, or deletes
 * them, in batches of dpif_operate(), as the upcall handlers and revalidators
 * of ofproto do.  The Netlink form of a flow is a patched copy of a template,
 * so that what is measured is the datapath's work and not the encoding.
 *
 * Thread safety: a struct flow_put belongs to one thread. */

#include "bench/flow-set.h"
#include "openvswitch/ofpbuf.h"

struct dpif;

struct flow_put {
    const struct flow_set *set;
    struct dpif *dpif;
    unsigned int pmd_id;

    struct ofpbuf key;                  /* Template. */
    size_t addr_ofs, port_ofs;          /* Payloads to be patched in it. */
    struct ofpbuf *masks;               /* One for each mask. */
    struct ofpbuf *actions;             /* One for each output. */
};

/* Prepares for 'pmd_id'; flow 'i' will go out of port 'ports[i %
 * set->n_outputs]'. */
void flow_put_init(struct flow_put *, const struct flow_set *, struct dpif *,
                   unsigned int pmd_id, const odp_port_t *ports);
void flow_put_destroy(struct flow_put *);

/* Installs flows 'first' to 'first + n - 1', gives those that are there their
 * actions anew, or deletes them.  Returns how many failed, and the last error
 * in '*error'. */
uint64_t flow_put_install(struct flow_put *, uint64_t first, uint64_t n,
                          int *error);
uint64_t flow_put_modify(struct flow_put *, uint64_t first, uint64_t n,
                         int *error);
uint64_t flow_put_delete(struct flow_put *, uint64_t first, uint64_t n,
                         int *error);

#endif /* flow-put.h */
