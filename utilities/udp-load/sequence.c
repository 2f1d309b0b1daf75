/* SPDX-License-Identifier: Apache-2.0 */

#include "sequence.h"

#include <string.h>

/* 's' has to be zeros.  With 'join' the first number that comes is where the
 * stream begins, otherwise that is 0. */
void
sequence_init(struct sequence *s, bool join)
{
    s->begun = !join;
}

static void
begin(struct sequence *s, uint64_t number)
{
    s->begun = true;
    counter_set(&s->first, number);
    counter_set(&s->next, number);
}

/* Notes 'number' as seen.  Returns true if it was already. */
static bool
test_and_set(struct sequence *s, uint64_t number)
{
    uint64_t *word = &s->seen[number % SEQUENCE_WINDOW / 64];
    uint64_t bit = UINT64_C(1) << number % 64;
    bool was_set = *word & bit;

    *word |= bit;
    return was_set;
}

/* Forgets 'from' and all that follow up to 'to', exclusive, whose places in
 * the window were last used by numbers that are leaving it. */
static void
forget(struct sequence *s, uint64_t from, uint64_t to)
{
    if (to - from >= SEQUENCE_WINDOW) {
        memset(s->seen, 0, sizeof s->seen);
        return;
    }
    while (from < to) {
        if (from % 64 == 0 && to - from >= 64) {
            s->seen[from % SEQUENCE_WINDOW / 64] = 0;
            from += 64;
        } else {
            s->seen[from % SEQUENCE_WINDOW / 64]
                &= ~(UINT64_C(1) << from % 64);
            from++;
        }
    }
}

/* A datagram with 'number' came. */
void
sequence_data(struct sequence *s, uint64_t number)
{
    uint64_t next;

    if (!s->begun) {
        begin(s, number);
    }
    next = counter_get(&s->next);
    if (number >= next) {
        forget(s, next, number + 1);
        test_and_set(s, number);
        counter_set(&s->next, number + 1);
        counter_add(&s->unique, 1);
    } else if (number < counter_get(&s->first)
               || next - number > SEQUENCE_WINDOW) {
        counter_add(&s->stale, 1);
    } else if (test_and_set(s, number)) {
        counter_add(&s->duplicates, 1);
    } else {
        counter_add(&s->reordered, 1);
        counter_add(&s->unique, 1);
    }
}

/* The source says that there were 'announced' datagrams.  This does not make
 * one that is still on its way a reordered one. */
void
sequence_end(struct sequence *s, uint64_t announced)
{
    if (!s->begun) {
        begin(s, announced);
    }
    counter_set(&s->announced, announced);
    counter_set(&s->ended, 1);
}

/* While the writer is at work, the result can be off by what it is just
 * counting. */
int64_t
sequence_lost(const struct sequence *s)
{
    uint64_t unique = counter_get(&s->unique);
    uint64_t end = counter_get(&s->next);
    uint64_t announced = counter_get(&s->announced);

    if (announced > end) {
        end = announced;
    }
    return (int64_t) (end - counter_get(&s->first) - unique);
}
