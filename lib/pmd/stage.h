/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_STAGE_H
#define WEFT_PMD_STAGE_H 1

/* What a thread is doing right now, in a word.
 *
 * A thread leaves a mark of the stage that it is in, so that whoever finds it
 * stuck (pmd/stall.h) can say where.  A mark is a store of one byte, without a
 * time stamp, once for each stage of a burst and never for a packet.  Stages
 * nest: the one that is left comes back.
 *
 *     enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_TRANSMIT);
 *     ...
 *     pmd_stage_set(&pmd->mark, outer);
 *
 * Each entry is a SYNC_POINT() with the name of the stage (sync/sync-point.h),
 * at which a test may stall the thread.
 *
 * Thread safety
 * -------------
 * The owner of the mark writes.  Its signal handlers and any other thread may
 * read at any time. */

#include <stdint.h>

#include "ovs-atomic.h"
#include "sync/sync-point.h"
#include "util.h"

enum pmd_stage {
    PMD_STAGE_OTHER,            /* Between the others. */
    PMD_STAGE_RECEIVE,          /* A port gives packets. */
    PMD_STAGE_PARSE,            /* Their keys are made. */
    PMD_STAGE_LOOKUP,           /* Their flows are looked for. */
    PMD_STAGE_UPCALL,           /* The upper layer is asked. */
    PMD_STAGE_EXECUTE,          /* Actions, but for the next two. */
    PMD_STAGE_CONNTRACK,
    PMD_STAGE_TRANSMIT,         /* A port takes packets. */
    PMD_STAGE_SLEEP,            /* "pmd-sleep-max". */
    PMD_STAGE_CACHES,           /* A resized cache is taken over. */
    PMD_STAGE_SWEEP,            /* Dead entries of caches are freed. */
    PMD_STAGE_RANK,             /* Subtables are sorted. */
    PMD_STAGE_LOAD,             /* The statistics of an interval end. */
    PMD_STAGE_COVERAGE,         /* Coverage counters are handed over. */
    PMD_STAGE_QUIESCE,
    PMD_STAGE_QUEUES,           /* The states of receive queues are read. */
    PMD_STAGE_RELOAD,           /* New queues and ports are taken over. */
    PMD_N_STAGES
};

/* Returns the name that users see.  Any thread. */
const char *pmd_stage_name(enum pmd_stage);

struct pmd_mark {
    /* Of the iteration under way; cycles, as pmd_perf_now() counts them.
     *
     * 'start' is its begin, by which it is also known, or 0 while the thread
     * is in none (it waits for a reload, say).  'slept' is how much of it was
     * deliberate sleep.  Released by the owner in the order that
     * pmd/stall-watch.c describes, which acquires them. */
    atomic_uint64_t start;
    atomic_uint64_t slept;

    /* Cycles from which an iteration is a stall, UINT64_MAX while nobody wants
     * to know.  The control side writes, all read; relaxed. */
    atomic_uint64_t limit;

    atomic_uint8_t stage;       /* enum pmd_stage.  Relaxed, except that
                                 * leaving PMD_STAGE_SLEEP is released after
                                 * 'slept' has its new value. */
};

static inline void
pmd_mark_init(struct pmd_mark *mark)
{
    atomic_init(&mark->start, 0);
    atomic_init(&mark->slept, 0);
    atomic_init(&mark->limit, UINT64_MAX);
    atomic_init(&mark->stage, PMD_STAGE_OTHER);
}

static inline enum pmd_stage
pmd_stage_get(const struct pmd_mark *mark)
{
    uint8_t stage;

    atomic_read_relaxed(&CONST_CAST(struct pmd_mark *, mark)->stage, &stage);
    return stage;
}

/* Enters 'stage' from one that the caller knows, or goes back to one. */
static inline void
pmd_stage_set(struct pmd_mark *mark, enum pmd_stage stage)
{
    atomic_store_relaxed(&mark->stage, (uint8_t) stage);
    SYNC_POINT(pmd_stage_name(stage));
}

/* Enters 'stage' and returns the one before, to be set again afterwards. */
static inline enum pmd_stage
pmd_stage_enter(struct pmd_mark *mark, enum pmd_stage stage)
{
    enum pmd_stage outer = pmd_stage_get(mark);

    pmd_stage_set(mark, stage);
    return outer;
}

#endif /* pmd/stage.h */
