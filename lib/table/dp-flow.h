/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_DP_FLOW_H
#define WEFT_TABLE_DP_FLOW_H 1

/* A megaflow, and the slab that it lives in.
 *
 * Problem
 * -------
 * With a million flows nothing of a flow is in the cache when its packet
 * comes.  What a packet costs is the number of cache lines that its lookup
 * touches.  So a flow is divided: a slot of exactly two lines has all that
 * packets need, and a separate 'struct dp_flow_info' has what only the
 * control side asks for (its ufid, the unmasked packet that made it, ...).
 *
 * Line 0 of a slot answers "is it this one?": the reference to the mask and
 * the masked key.  Seven words are enough for a match on the 5-tuple; a longer
 * key lives in memory of its own.  Line 1 answers "what now?": the actions and
 * the statistics.
 *
 * Names
 * -----
 * Slots are in chunks of a slab and are named by a 32-bit index, which is what
 * signature caches and subtables store.  Index 0 names no flow.
 *
 * Rules of the live word
 * ----------------------
 * The reference to the mask is the live word too: a slot without a mask has
 * no flow.
 *
 * 1. A writer fills a slot while its mask is null and then sets the mask
 *    (release).  Until it is null again, mask and key do not change.
 * 2. A reader loads the mask first (acquire; pairs with 1.) and takes null for
 *    "no flow here".
 * 3. A writer that deletes a flow sets the mask to null and hands the slot to
 *    RCU; it is filled again, and the mask freed, only after a grace period.
 *
 * Hence an index that has gone stale in some cache meets a dead slot or
 * another flow, whose key fails to match.  Nothing needs to be invalidated.
 *
 * Thread safety
 * -------------
 * One writer at a time per slab, who holds the flow table's mutex.  Any number
 * of readers, which must not quiesce while they use a flow.  Statistics have
 * one writer, the thread that owns the flow table (or whoever holds the
 * non-PMD mutex), and are read by anybody (relaxed). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmap.h"
#include "flow.h"
#include "openvswitch/thread.h"
#include "openvswitch/types.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "table/dp-key.h"
#include "util.h"

struct nlattr;
struct dp_flow_info;
struct flow_batch;
struct subtable;

/* The actions of a flow, immutable; replaced as a whole under RCU. */
struct dp_actions {
    uint32_t size;              /* In bytes. */
    odp_port_t output;          /* The port, if the actions are a single output
                                 * and nothing else; otherwise ODPP_NONE. */
    struct nlattr attrs[];
};

/* Returns a copy of the 'size' bytes of 'actions'. */
struct dp_actions *dp_actions_create(const struct nlattr *actions,
                                     size_t size);
void dp_actions_destroy(struct dp_actions *);

enum { DP_FLOW_INLINE_WORDS = 7 };

struct dp_flow {
    /* Line 0.  'words' is written before 'mask' is set. */
    ATOMIC(const struct dp_mask *) mask; /* Live word; see above. */
    union {
        uint64_t words[DP_FLOW_INLINE_WORDS]; /* Masked key, or... */
        uint64_t *more;         /* ...where it is, if mask->n is greater. */
    };

    /* Line 1. */
    OVSRCU_TYPE(struct dp_actions *) actions; /* Writers: table's mutex. */
    struct dp_flow_info *info;  /* Immutable while live. */
    struct flow_batch *batch;   /* Owner thread only: see pmd/batch.h. */
    atomic_ullong packets;      /* Owner writes, all read (relaxed). */
    atomic_ullong bytes;        /* Owner writes, all read (relaxed). */
    atomic_llong used;          /* Monotonic ms, 0 if never; likewise. */
    atomic_uint16_t tcp_flags;  /* Seen so far; likewise. */
    uint16_t pad;
    uint32_t hash;              /* In its subtable.  Immutable while live. */
    uint32_t index;             /* The slot's own name.  Constant. */
    atomic_uint32_t output;     /* actions->output, so that a plain output
                                 * needs no third line.  Written after
                                 * 'actions', by who writes these; relaxed:
                                 * whichever of the two changes a reader sees
                                 * first, it executes the old actions or the
                                 * new ones. */
};

BUILD_ASSERT_DECL(sizeof(struct dp_flow) == 2 * CACHE_LINE_SIZE);
BUILD_ASSERT_DECL(offsetof(struct dp_flow, actions) == CACHE_LINE_SIZE);

/* Statistics that a hardware offload reported last, kept for when it cannot
 * be asked.  Allocated only where offload is on. */
struct dp_flow_offload {
    atomic_int result;          /* Of the request that brought the rest. */
    atomic_ullong packets;
    atomic_ullong bytes;
    atomic_llong used;
    atomic_uint16_t tcp_flags;
    atomic_bool offloaded;
    ATOMIC(const char *) dp_layer;
};

/* The mark by which hardware knows a flow; this one is none. */
#define INVALID_FLOW_MARK 0

/* The control side's part of a flow. */
struct dp_flow_info {
    struct dp_flow *slot;
    struct dp_slab *slab;           /* That 'slot' is from. */
    const struct dp_mask *mask;     /* As in the slot; for a dead flow too, for
                                     * a grace period. */
    struct subtable *subtable;      /* That has the flow; null if it is in the
                                     * classifier's bit vector. */
    struct cmap_node ufid_node;     /* In dp_flow_table's 'by_ufid'. */
    struct cmap_node simple_node;   /* In dp_flow_table's 'simple'. */
    ovs_u128 ufid;
    ovs_u128 mega_ufid;             /* Of the masked key, for offload. */
    uint64_t simple_mark;           /* See dp_simple_mark(). */
    struct ovs_refcount ref_cnt;    /* The table has one; offload others. */
    unsigned pmd_id;                /* Core of the owning thread. */
    odp_port_t in_port;
    odp_port_t orig_in_port;        /* Of the outer packet, for tunnels. */
    uint32_t n_words;               /* mask->n, for when the mask is gone. */
    uint32_t mark;                  /* For offload; INVALID_FLOW_MARK if none.
                                     * Offload threads only. */
    bool dead;                      /* Removed; under the table's mutex. */
    bool is_simple;                 /* In 'simple'. */
    struct dp_flow_offload *offload; /* Null where offload is off. */
    struct miniflow mf;             /* The unmasked packet, its words follow.
                                     * Last member. */
};

/* Expands the packet that made the flow into '*flow'. */
void dp_flow_info_get_flow(const struct dp_flow_info *, struct flow *flow);

/* Returns the mask of 'flow', or null if it is dead. */
static inline const struct dp_mask *
dp_flow_live_mask(const struct dp_flow *flow)
{
    const struct dp_mask *mask;

    /* Pairs with the release in dp_flow_publish(). */
    atomic_read_explicit(&CONST_CAST(struct dp_flow *, flow)->mask, &mask,
                         memory_order_acquire);
    return mask;
}

static inline bool
dp_flow_is_live(const struct dp_flow *flow)
{
    return dp_flow_live_mask(flow) != NULL;
}

static inline const uint64_t *
dp_flow_words(const struct dp_flow *flow, const struct dp_mask *mask)
{
    return (OVS_LIKELY(mask->n <= DP_FLOW_INLINE_WORDS)
            ? flow->words : flow->more);
}

/* Begins to fetch both lines of 'flow' into the cache: that which says whether
 * it is the one, and that which is needed, and written to, if it is. */
static inline void
dp_flow_fetch(const struct dp_flow *flow)
{
    OVS_PREFETCH(flow->words);
    OVS_PREFETCH_WRITE(&flow->actions);
}

/* Returns true if 'flow' is live and matches 'key'. */
static inline bool
dp_flow_matches_key(const struct dp_flow *flow, const struct dp_key *key)
{
    const struct dp_mask *mask = dp_flow_live_mask(flow);

    return (mask && mask->in_port == key->in_port
            && dp_mask_match(mask, key, dp_flow_words(flow, mask)));
}

/* Writer only: makes 'flow', which has been filled, live. */
void dp_flow_publish(struct dp_flow *flow, const struct dp_mask *mask);

static inline const struct dp_actions *
dp_flow_actions(const struct dp_flow *flow)
{
    return ovsrcu_get(struct dp_actions *, &flow->actions);
}

/* Returns the port if the actions of 'flow' are a single output, otherwise
 * ODPP_NONE: then ask dp_flow_actions(). */
static inline odp_port_t
dp_flow_output(const struct dp_flow *flow)
{
    uint32_t output;

    atomic_read_relaxed(&CONST_CAST(struct dp_flow *, flow)->output, &output);
    return u32_to_odp(output);
}

/* Adds to the statistics of 'flow'.  Owner thread only.  'now' in ms. */
static inline void
dp_flow_account(struct dp_flow *flow, unsigned int packets,
                unsigned int bytes, uint16_t tcp_flags, long long now)
{
    unsigned long long n;
    uint16_t flags;

    atomic_store_relaxed(&flow->used, now);
    atomic_read_relaxed(&flow->packets, &n);
    atomic_store_relaxed(&flow->packets, n + packets);
    atomic_read_relaxed(&flow->bytes, &n);
    atomic_store_relaxed(&flow->bytes, n + bytes);
    atomic_read_relaxed(&flow->tcp_flags, &flags);
    if (tcp_flags & ~flags) {
        atomic_store_relaxed(&flow->tcp_flags, flags | tcp_flags);
    }
}

/* Slab. */

enum {
    DP_SLAB_CHUNK_BITS = 14,    /* Slots in a chunk: 16,384 of 128 bytes, which
                                 * is one huge page of 2 MB. */
    DP_SLAB_MAX_CHUNKS = 4096   /* 67 million flows a thread. */
};

struct dp_slab {
    /* Chunks are mapped when needed and stay until dp_slab_destroy().  An
     * element is written once, by the writer, before an index in it is used
     * (the index travels with release order). */
    struct dp_flow **chunks;
    uint32_t n_chunks;          /* Writer only. */
    uint32_t next_fresh;        /* Lowest index never used.  Writer only, until
                                 * 'defunct'; then it does not change. */
    struct ovs_mutex mutex;     /* Protects the free list: RCU callbacks put
                                 * slots back. */
    uint32_t *free_slots OVS_GUARDED;
    atomic_size_t n_free;       /* Elements of 'free_slots'.  Written with
                                 * 'mutex'; the writer looks without it whether
                                 * there are any (relaxed: a hint). */
    size_t allocated_free OVS_GUARDED;
    bool defunct OVS_GUARDED;   /* The last slot to come back frees
                                 * the slab. */
};

static inline struct dp_flow *
dp_slab_get(const struct dp_slab *slab, uint32_t index)
{
    return &slab->chunks[index >> DP_SLAB_CHUNK_BITS]
                        [index & ((1u << DP_SLAB_CHUNK_BITS) - 1)];
}

struct dp_slab *dp_slab_create(void);

/* Frees 'slab', at the latest when the last slot has been given back. */
void dp_slab_destroy(struct dp_slab *slab);

/* Returns a dead slot, or NULL if the slab has no more.  Writer only. */
struct dp_flow *dp_slab_alloc(struct dp_slab *slab);

/* Gives a slot back that has never been live, or one whose flow died at least
 * a grace period ago. */
void dp_slab_free(struct dp_slab *slab, struct dp_flow *flow);

#endif /* table/dp-flow.h */
