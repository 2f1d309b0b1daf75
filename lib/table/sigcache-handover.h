/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_SIGCACHE_HANDOVER_H
#define WEFT_TABLE_SIGCACHE_HANDOVER_H 1

/* A signature cache of another size, while packets go on.
 *
 * Problem
 * -------
 * A cache can have 256 MB.  Making that, page by page, and giving it back take
 * a tenth of a second each, in which a thread that polls would lose packets.
 * So the thread has nothing to do with memory: it exchanges the cache that it
 * has for one that is ready.
 *
 * How it goes
 * -----------
 * 1. The control side makes a cache with all of its pages in place, in a
 *    parcel (sigcache_parcel_create()), and offers it (_put()).
 * 2. The owner of the cache finds the offer between two bursts, exchanges the
 *    contents of the parcel for what it has, and hands the parcel back
 *    (_take()).  That is a copy of a few words, an exchange and a
 *    compare-and-swap.  While nothing is offered it costs one relaxed load.
 * 3. The control side frees what has come back (_collect()): before the next
 *    offer, and whenever it comes round.
 *
 * An offer that the owner has not taken when the next one is made, because it
 * sleeps, for example, is replaced and freed at once.  So there are at most
 * two parcels of a cache that have memory and are not the owner's: one that is
 * offered, and one that came back (more only if the control side made several
 * offers since the last _collect(), which _put() does itself).
 *
 * Entries are not carried over.  The classifier knows all that the caches do,
 * and they fill again with the packets that come.
 *
 * Thread safety
 * -------------
 * One control thread at a time (there is a mutex for that) and one owner, who
 * may be at work at the same time.  _init() and _destroy(): nobody else. */

#include <stdbool.h>
#include <stdint.h>

#include "ovs-atomic.h"
#include "sync/handoff.h"
#include "table/sigcache.h"

struct sigcache_parcel {
    struct handoff_node node;   /* In sigcache_handover's 'returned'. */
    struct sigcache cache;      /* The new one, later the old one. */
};

struct sigcache_handover {
    /* What the owner shall take next, or null.  Control side stores (release),
     * owner empties (acquire); see the functions. */
    ATOMIC(struct sigcache_parcel *) offer;

    struct handoff returned;    /* Parcels with caches that were replaced. */

    /* Control side only. */
    uint32_t n_entries;         /* Of the last offer, thus what the owner has
                                 * or will have. */
    unsigned int n_out;         /* Parcels that were offered, and neither came
                                 * back nor were replaced. */
};

void sigcache_handover_init(struct sigcache_handover *);

/* Frees what was offered and what came back. */
void sigcache_handover_destroy(struct sigcache_handover *);

/* Control side. */

/* Makes a parcel with a cache of 'n_entries', see sigcache_create().  Returns
 * NULL, and stores what that function returned to '*errorp', if that failed.
 * The caller offers it or destroys it. */
struct sigcache_parcel *sigcache_parcel_create(uint32_t n_entries, int numa_id,
                                               int *errorp);
void sigcache_parcel_destroy(struct sigcache_parcel *);

/* Offers 'parcel', which belongs to the handover from now on. */
void sigcache_handover_put(struct sigcache_handover *,
                           struct sigcache_parcel *parcel);

/* Frees the caches that were replaced, if any.  Returns the number of parcels
 * that are still out. */
unsigned int sigcache_handover_collect(struct sigcache_handover *);

/* Owner. */

static inline bool
sigcache_handover_is_pending(const struct sigcache_handover *handover)
{
    struct sigcache_parcel *offer;

    /* A hint: _take() gets the contents with an order of its own. */
    atomic_read_relaxed(
        &CONST_CAST(struct sigcache_handover *, handover)->offer, &offer);
    return offer != NULL;
}

/* Exchanges '*cache' for what is offered, which must be pending. */
void sigcache_handover_take(struct sigcache_handover *,
                            struct sigcache *cache);

#endif /* table/sigcache-handover.h */
