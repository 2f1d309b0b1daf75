/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_STALL_H
#define WEFT_PMD_STALL_H 1

/* The stall recorder: which stage of a PMD thread took too long, and where in
 * the code it was then ("pmd-stall-threshold").
 *
 * How it works
 * ------------
 * A thread publishes when its iteration began and which stage it is in
 * (pmd/stage.h).  While the recorder is on, a watcher thread looks at these
 * marks some times per threshold.  An iteration that it finds to be too old is
 * stuck right now: the watcher notes the stage, and sends the thread a signal
 * whose handler writes down the thread's stack.
 *
 * A thread that ends an iteration beyond the threshold reports its length
 * through a ring.  A report and what was noted belong together if they are of
 * the same iteration.  A stall that was over before the watcher found it has
 * no record, and counts for the stage in which the watcher last saw it while
 * it was younger than the threshold.  If the watcher was kept from looking for
 * that long, it counts as PMD_STALL_NOT_CAUGHT.
 *
 * The handler
 * -----------
 * It may interrupt anything, and so it does nothing but unwind (libunwind's
 * local unwinding is made for that) into memory that has been there before.
 * It acts only on a signal that says that it was queued by this process, for
 * this very thread, and only if the watcher waits for it: a signal that
 * another process sends changes nothing, whatever it says of itself, and no
 * pointer that came with a signal is followed.  A signal that arrives when the
 * iteration is over finds another one under way, and is answered so.
 *
 * Without libunwind there is no signal and no stack, all else is the same.
 *
 * Thread safety
 * -------------
 * Each function says who may call it.  pmd_stall_begin(), _slept(), _end() are
 * for the owner of 'pmd', in its poll loop: a few stores and, within _end(),
 * one load and a comparison. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmap.h"
#include "pmd/pmd.h"
#include "pmd/stage.h"

/* In place of a stage: nobody looked while it lasted. */
#define PMD_STALL_NOT_CAUGHT PMD_N_STAGES

enum {
    PMD_STALL_RECORDS = 16,     /* Newest ones that are kept. */
    PMD_STALL_FRAMES = 32,      /* Innermost ones of a stack. */
    PMD_STALL_MAX_US = 10000000 /* Greatest threshold. */
};

struct pmd_stall_stack {
    size_t n;
    uintptr_t ip[PMD_STALL_FRAMES]; /* ip[0] is where the thread was, the
                                     * others are return addresses. */
};

struct pmd_stall_record {
    long long started;          /* Wall clock, ms. */
    uint64_t us;                /* How long it took, without sleep. */
    bool ended;                 /* Otherwise 'us' is how long it has taken. */
    enum pmd_stage stage;
    char state;                 /* As in /proc/PID/stat when it was found; '?'
                                 * if unknown. */
    int64_t waited_us;          /* How much of it the thread was ready to run
                                 * and did not; -1 if unknown. */
    struct pmd_stall_stack stack;
};

struct pmd_stall_figures {
    uint64_t count;
    uint64_t total_us;
    uint64_t longest_us;
};

/* All that is known of a thread's stalls. */
struct pmd_stall_report {
    struct pmd_stall_figures stages[PMD_N_STAGES + 1];
    uint64_t n_lost;            /* Reports for which the ring had no room. */
    size_t n_records;
    struct pmd_stall_record records[PMD_STALL_RECORDS + 1]; /* From new to old,
                                 * with the one that is not over first. */
};

/* A thread's part of the recorder.  Owned by its pmd_thread. */
struct pmd_stall *pmd_stall_create(void);
void pmd_stall_destroy(struct pmd_stall *);

/* The thread itself, when it starts and before it ends.  After _detach() no
 * signal is sent to it any more.  They take a mutex that a sender holds while
 * he sends. */
void pmd_stall_attach(struct pmd_thread *);
void pmd_stall_detach(struct pmd_thread *);

/* Adds the iteration that ends to the ring; pmd_stall_end(). */
void pmd_stall_put(struct pmd_thread *, uint64_t cycles);

/* An iteration begins at 'now' (cycles); 0: the thread pauses. */
static inline void
pmd_stall_begin(struct pmd_thread *pmd, uint64_t now)
{
    uint64_t slept;

    /* Both release pair with the acquires of the watcher: who sees the new
     * 'start' finds what was put into the ring before, who sees that nothing
     * was slept sees the new 'start'. */
    atomic_store_explicit(&pmd->mark.start, now, memory_order_release);
    atomic_read_relaxed(&pmd->mark.slept, &slept);
    if (slept) {
        atomic_store_explicit(&pmd->mark.slept, 0, memory_order_release);
    }
}

/* 'cycles' of this iteration were slept, and PMD_STAGE_SLEEP ends. */
static inline void
pmd_stall_slept(struct pmd_thread *pmd, uint64_t cycles, enum pmd_stage outer)
{
    atomic_store_relaxed(&pmd->mark.slept, cycles);
    /* Pairs with the acquire of the watcher. */
    atomic_store_explicit(&pmd->mark.stage, (uint8_t) outer,
                          memory_order_release);
}

/* The iteration that has begun last took 'cycles', without sleep. */
static inline void
pmd_stall_end(struct pmd_thread *pmd, uint64_t cycles)
{
    uint64_t limit;

    atomic_read_relaxed(&pmd->mark.limit, &limit);
    if (OVS_UNLIKELY(cycles > limit)) {
        pmd_stall_put(pmd, cycles);
    }
}

/* Any thread. */

/* From how many microseconds on an iteration of 'pmd' is a stall; 0: never.
 * Needs pmd_perf_tsc_hz() to be known. */
void pmd_stall_set_threshold(struct pmd_thread *, uint64_t us);

/* Copies what is known of the stalls of 'pmd' until now. */
void pmd_stall_read(struct pmd_thread *, struct pmd_stall_report *);
/* Forgets all of it.  A stall under way counts when it ends. */
void pmd_stall_clear(struct pmd_thread *);

/* True if stacks can be recorded. */
bool pmd_stall_has_stacks(void);

/* Watching; for pmd/stall-watch.c.  The first prepares the process, once: the
 * signal, and the memory of libunwind. */
void pmd_stall_prepare(void);
/* Takes reports and an answered capture over into the records. */
void pmd_stall_collect(struct pmd_thread *);
/* Notes that the iteration known as 'start' of 'pmd' was seen in 'stage' at
 * 'now' (cycles) or a little later. */
void pmd_stall_glimpse(struct pmd_thread *, uint64_t start, uint64_t now,
                       enum pmd_stage);
/* Notes that the iteration known as 'start' of 'pmd' is stuck in 'stage', and
 * has its stack captured, and again each time that it has got twice as old. */
void pmd_stall_capture(struct pmd_thread *, uint64_t start, enum pmd_stage);

/* A watcher of all 'struct pmd_thread's in 'pmds' (by their 'node'), in a
 * thread of its own, which finds stalls of 'us' microseconds and more.  'pmds'
 * may change meanwhile; a thread that left it is freed after a grace period at
 * the earliest.  _stop() waits for the watcher's thread, which takes up to
 * 10 ms, and frees everything.  Control side. */
struct pmd_stall_watch *pmd_stall_watch_start(const struct cmap *pmds,
                                              uint64_t us);
void pmd_stall_watch_set(struct pmd_stall_watch *, uint64_t us);
void pmd_stall_watch_stop(struct pmd_stall_watch *);

#endif /* pmd/stall.h */
