/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_HOUSEKEEPING_H
#define WEFT_PMD_HOUSEKEEPING_H 1

/* What a PMD thread does besides forwarding: quiescent states, cache sweep,
 * ranking of subtables, load intervals, coverage.  All of it in one place,
 * with a budget per iteration.  Nothing here waits: what needs a lock tries
 * it and comes back later.
 *
 * Thread safety: the PMD thread only, but for what makes and frees caches. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dp_rxq;
struct pmd_thread;

/* Prepares for a new round of polling (start, and after each reload). */
void pmd_housekeeping_start(struct pmd_thread *);

/* One iteration's share.  'rxqs' are the queues that the thread polls.
 * Returns true if it is time to look at the state of the queues again (once in
 * a while). */
bool pmd_housekeeping_run(struct pmd_thread *, struct dp_rxq *const rxqs[],
                          size_t n_rxqs);

/* Takes the caches over that the control side offers in place of those that
 * 'pmd' has, if any: see table/sigcache-handover.h.  Owner only (for
 * NON_PMD_CORE_ID: whoever holds 'non_pmd_mutex'), between bursts. */
void pmd_resize_caches(struct pmd_thread *);

/* Makes the caches of 'pmd' (zero: none), before its thread starts and before
 * others can find it.  Returns 0, or ENOMEM if one of them has no memory: then
 * 'pmd' works without that one. */
int pmd_init_caches(struct pmd_thread *pmd, uint32_t emc_entries,
                    uint32_t smc_entries);

/* Frees the caches of 'pmd' and all that was offered to it.  To be called when
 * its thread has ended (for NON_PMD_CORE_ID: with 'non_pmd_mutex').  May be
 * called again. */
void pmd_free_caches(struct pmd_thread *pmd);

#endif /* pmd/housekeeping.h */
