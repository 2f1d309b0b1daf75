/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_HOUSEKEEPING_H
#define WEFT_PMD_HOUSEKEEPING_H 1

/* What a PMD thread does besides forwarding: quiescent states, cache sweep,
 * ranking of subtables, load intervals, coverage.  All of it in one place,
 * with a budget per iteration.  Nothing here waits: what needs a lock tries
 * it and comes back later.
 *
 * Thread safety: the PMD thread only. */

#include <stdbool.h>
#include <stddef.h>

struct dp_rxq;
struct pmd_thread;

/* Prepares for a new round of polling (start, and after each reload). */
void pmd_housekeeping_start(struct pmd_thread *);

/* One iteration's share.  'rxqs' are the queues that the thread polls.
 * Returns true if it is time to look at the state of the queues again (once in
 * a while). */
bool pmd_housekeeping_run(struct pmd_thread *, struct dp_rxq *const rxqs[],
                          size_t n_rxqs);

/* Gives the caches of 'pmd' the sizes that its dp_run asks for, if they have
 * others.  A size that cannot be had is logged and tried no more until another
 * one is asked for; the cache stays as it was.  Owner only (for
 * NON_PMD_CORE_ID: whoever holds 'non_pmd_mutex'), between bursts. */
void pmd_resize_caches(struct pmd_thread *);

#endif /* pmd/housekeeping.h */
