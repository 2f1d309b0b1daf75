/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_CORO_H
#define WEFT_CORO_H 1

/* Stackless coroutines, and an interleaver that runs many of them at once.
 *
 * Problem
 * -------
 * A search through tables larger than the cache spends its time waiting: each
 * step asks the memory for a line whose address the last line gave.  One
 * search cannot be hurried, but many can wait at the same time.  So a search
 * is written as a coroutine that begins to fetch a line and yields, and an
 * interleaver goes round a number of them; when it comes back to the first,
 * the line is there.
 *
 * A coroutine here has no stack.  It is a function that is called again and
 * again with the same frame, and that continues each time behind the yield
 * that it left by.  To resume one is a function call (none, if the compiler
 * inlines it) and a jump through a table: a few cycles, where a switch of
 * stacks costs tens of them.  The price is that what must survive a yield is
 * kept in the frame, since local variables do not.
 *
 * This header needs nothing but a compiler that has __COUNTER__ (gcc, clang).
 *
 * Usage
 * -----
 * The frame is a structure of yours with a 'struct coro' in it:
 *
 *     struct walk {
 *         struct coro coro;
 *         const struct node *node;
 *         int key;
 *     };
 *
 *     static enum coro_state
 *     walk_resume(void *walk_, void *aux)
 *     {
 *         struct walk *walk = walk_;
 *
 *         CORO_BEGIN(&walk->coro);
 *         while (walk->node && walk->node->key != walk->key) {
 *             walk->node = walk->node->next;
 *             __builtin_prefetch(walk->node);
 *             CORO_YIELD(&walk->coro);
 *         }
 *         report(aux, walk->node);
 *         CORO_END(&walk->coro);
 *     }
 *
 * and another function gives lanes their work:
 *
 *     static bool
 *     walk_start(void *walk_, void *aux)
 *     {
 *         struct walk *walk = walk_;
 *         struct job *job = next_job(aux);
 *
 *         if (!job) {
 *             return false;
 *         }
 *         coro_init(&walk->coro);
 *         walk->node = job->list;
 *         walk->key = job->key;
 *         return true;
 *     }
 *
 *     struct walk lanes[16];
 *     coro_interleave(lanes, sizeof lanes[0], 16, walk_start, walk_resume,
 *                     &jobs);
 *
 * Rules
 * -----
 * - Between CORO_BEGIN and CORO_END, a local variable has no value after a
 *   yield: declare it in a block without yields, or before CORO_BEGIN and set
 *   it from the frame at each resume.
 * - A 'break' outside of a loop of your own leaves the coroutine.  So do not
 *   write one.
 * - No CORO_YIELD inside a 'switch' of your own, and none where the scope of a
 *   variable-length array would be entered.
 * - One coroutine a function.
 * - CORO_FINISH ends from anywhere between the two.
 *
 * How many lanes
 * --------------
 * Enough to cover the latency of a line with the work of the others, and no
 * more than the processor has line buffers for times the work of a stage:
 * 8 to 32.  With everything in the cache, one (a plain loop) is best: there
 * is nothing to wait for.
 *
 * Thread safety: frames belong to who runs them.  What coroutines share among
 * each other needs no locks, since only one runs at a time, but may have
 * changed after a yield.
 *
 * Sources: Duff, "Re: Explanation, please!" (1988), for the 'switch' whose
 * cases lie inside of loops; Dunkels and others, "Protothreads" (SenSys 2006);
 * Jonathan, Minhas, Hunter, Levandoski and Nishanov, "Exploiting Coroutines to
 * Attack the 'Killer Nanoseconds'" (VLDB 2018), for interleaving lookups. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a coroutine goes on: 0 at its beginning, else behind a yield. */
struct coro {
    uint32_t at;
};

enum coro_state {
    CORO_YIELDED,               /* To be resumed. */
    CORO_FINISHED               /* The frame is free. */
};

static inline void
coro_init(struct coro *coro)
{
    coro->at = 0;
}

/* The yields of a function are numbered 1, 2, ... in their order, so that the
 * compiler makes a dense table of them. */
#define CORO_BEGIN(CORO)                                \
    enum { coro_base__ = __COUNTER__ };                 \
    switch ((CORO)->at) {                               \
    case 0:

#define CORO_YIELD(CORO) CORO_YIELD_AT__(CORO, __COUNTER__)
#define CORO_YIELD_AT__(CORO, N)                        \
    do {                                                \
        (CORO)->at = (N) - coro_base__;                 \
        return CORO_YIELDED;                            \
    case (N) - coro_base__:;                            \
    } while (0)

#define CORO_FINISH(CORO) do { (void) (CORO); return CORO_FINISHED; } while (0)

#define CORO_END(CORO)                                  \
        CORO_FINISH(CORO);                              \
    default:                                            \
        __builtin_unreachable();                        \
    }

/* Makes 'frame' ready for the next piece of work (coro_init() included).
 * Returns false if there is no more; it may be asked again nevertheless. */
typedef bool coro_start_func(void *frame, void *aux);

/* The coroutine. */
typedef enum coro_state coro_resume_func(void *frame, void *aux);

enum { CORO_MAX_LANES = 64 };

/* Does all the work that 'start' gives, up to 'n_lanes' (1 to CORO_MAX_LANES)
 * pieces at a time.  'frames' are 'n_lanes' frames of 'frame_size' bytes each.
 * The lanes are resumed in turn.  One whose coroutine ends gets the next piece
 * of work at once and runs it to its first yield.  Work is started in the
 * order in which 'start' gives it; it ends in any order.
 *
 * Always inlined: if 'start' and 'resume' are functions of the caller's file,
 * the compiler sees through the pointers. */
static inline __attribute__((always_inline)) void
coro_interleave(void *frames, size_t frame_size, size_t n_lanes,
                coro_start_func *start, coro_resume_func *resume, void *aux)
{
    void *lanes[CORO_MAX_LANES];
    size_t n = 0;

    while (n < n_lanes) {
        void *frame = (char *) frames + n * frame_size;

        if (!start(frame, aux)) {
            break;
        }
        lanes[n++] = frame;
    }

    while (n) {
        size_t n_kept = 0;

        for (size_t i = 0; i < n; i++) {
            void *frame = lanes[i];
            bool under_way;

            do {
                under_way = resume(frame, aux) == CORO_YIELDED;
            } while (!under_way && start(frame, aux));

            lanes[n_kept] = frame;
            n_kept += under_way;
        }
        n = n_kept;
    }
}

#endif /* weft/coro.h */
