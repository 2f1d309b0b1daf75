/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/sigcache-handover.h"

#include <stdlib.h>

#include "sync/sync-point.h"
#include "util.h"

void
sigcache_handover_init(struct sigcache_handover *handover)
{
    atomic_init(&handover->offer, NULL);
    handoff_init(&handover->returned);
    handover->n_entries = 0;
    handover->n_out = 0;
}

void
sigcache_handover_destroy(struct sigcache_handover *handover)
{
    struct sigcache_parcel *offer;

    sigcache_handover_collect(handover);
    atomic_read_relaxed(&handover->offer, &offer);
    sigcache_parcel_destroy(offer);
    sigcache_handover_init(handover);
}

struct sigcache_parcel *
sigcache_parcel_create(uint32_t n_entries, int numa_id, int *errorp)
{
    struct sigcache_parcel *parcel = xmalloc(sizeof *parcel);

    *errorp = sigcache_create(&parcel->cache, n_entries, numa_id);
    if (*errorp) {
        free(parcel);
        return NULL;
    }
    return parcel;
}

void
sigcache_parcel_destroy(struct sigcache_parcel *parcel)
{
    if (parcel) {
        sigcache_destroy(&parcel->cache);
        free(parcel);
    }
}

void
sigcache_handover_put(struct sigcache_handover *handover,
                      struct sigcache_parcel *parcel)
{
    struct sigcache_parcel *unwanted;

    sigcache_handover_collect(handover);
    handover->n_entries = sigcache_n_entries(&parcel->cache);
    handover->n_out++;

    /* Release pairs with the acquire in sigcache_handover_take(): the owner
     * sees the parcel's contents.  Those of the one that is replaced were
     * written by the control side itself. */
    unwanted = atomic_exchange_explicit(&handover->offer, parcel,
                                        memory_order_release);
    if (unwanted) {
        sigcache_parcel_destroy(unwanted);
        handover->n_out--;
    }
}

unsigned int
sigcache_handover_collect(struct sigcache_handover *handover)
{
    /* The look would fetch a line of the owner's, hence the count. */
    if (handover->n_out && !handoff_is_empty(&handover->returned)) {
        struct handoff_node *node, *next;

        node = handoff_take_newest_first(&handover->returned);
        for (; node; node = next) {
            next = node->next;
            sigcache_parcel_destroy(CONTAINER_OF(node, struct sigcache_parcel,
                                                 node));
            handover->n_out--;
        }
    }
    return handover->n_out;
}

void
sigcache_handover_take(struct sigcache_handover *handover,
                       struct sigcache *cache)
{
    struct sigcache_parcel *parcel;
    struct sigcache old = *cache;

    SYNC_POINT("cache-offer-seen");

    /* Acquire pairs with the release in sigcache_handover_put().  Nobody but
     * the caller ever leaves null there; what it gets may be newer than the
     * offer that it has seen, which is freed by then. */
    parcel = atomic_exchange_explicit(&handover->offer, NULL,
                                      memory_order_acquire);

    SYNC_POINT("cache-offer-taken");

    *cache = parcel->cache;
    parcel->cache = old;

    /* Its release order has all that the caller did with the old cache happen
     * before it is freed. */
    handoff_put(&handover->returned, &parcel->node);
}
