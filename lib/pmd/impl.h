/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_IMPL_H
#define WEFT_PMD_IMPL_H 1

/* The implementations among which a user can choose at run time.
 *
 *  - input ("dpif-impl-get", "dpif-impl-set"): the lookup pass of a burst.
 *  - parse ("miniflow-parser-get", "-set"): from packet to key. "scalar"
 *    takes TCP and UDP over IP itself (pmd/parse-ip.h) and leaves the rest to
 *    the library's miniflow_extract(); "autovalidator" runs all that are
 *    available and compares; "study" measures which one hits most.
 *  - subtable lookup ("subtable-lookup-prio-get", "-set", "-info-get"):
 *    "generic" and "autovalidator", chosen by priority, for all threads alike.
 *    "autovalidator" has every result of the lookup pass compared with what a
 *    single search in the classifier gives.
 *
 * Tables are constant; which one a thread uses is an atomic pointer in it.
 * Defaults for new threads are atomics here.
 *
 * Thread safety: any thread, for everything here. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ovs-atomic.h"
#include "table/lookup.h"

struct ds;
struct dp_packet_batch;
struct pmd_thread;

struct pmd_input_impl {
    const char *name;
    lookup_pass_func *pass;     /* Null for "auto". */
};

/* Parses the packets of 'batch' into 'keys' (key->mf only; hashes are up to
 * the caller).  Returns a bitmap of the packets that an optimized parser took;
 * the others must be parsed by the library. */
typedef uint32_t pmd_parse_func(struct pmd_thread *,
                                struct dp_packet_batch *batch,
                                struct dp_key *keys);

struct pmd_parse_impl {
    const char *name;
    pmd_parse_func *parse;      /* Null for "scalar". */
};

const struct pmd_input_impl *pmd_input_impl_default(void);
const struct pmd_input_impl *pmd_input_impl_by_name(const char *name);
const struct pmd_input_impl *pmd_input_impl_list(size_t *n);
void pmd_input_impl_set_default(const struct pmd_input_impl *);

const struct pmd_parse_impl *pmd_parse_impl_default(void);
const struct pmd_parse_impl *pmd_parse_impl_by_name(const char *name);
const struct pmd_parse_impl *pmd_parse_impl_list(size_t *n);
void pmd_parse_impl_set_default(const struct pmd_parse_impl *);

/* The parser "study", and the number of packets that it looks at unless told
 * otherwise. */
pmd_parse_func pmd_parse_study;
enum { PMD_STUDY_DEFAULT_PACKETS = 128 };

/* Number of packets that "study" looks at before it decides, > 0.  Any
 * thread. */
void pmd_parse_study_set_packets(uint32_t n_packets);

/* Subtable lookup.  The implementation of the highest priority is in use, the
 * first of the list where several have it. */
struct pmd_subtable_impl {
    const char *name;           /* Constant. */
    bool validate;              /* Ask the flow table again, packet by packet,
                                 * and compare.  Constant. */
    atomic_uint8_t prio;        /* Commands write, all read; relaxed. */
};

struct pmd_subtable_impl *pmd_subtable_impl_list(size_t *n);
struct pmd_subtable_impl *pmd_subtable_impl_by_name(const char *name);
const struct pmd_subtable_impl *pmd_subtable_impl_in_use(void);

#endif /* pmd/impl.h */
