/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_PASS_CHOICE_H
#define WEFT_PMD_PASS_CHOICE_H 1

/* Which lookup pass is the faster one now, found by trying.
 *
 * Problem
 * -------
 * The interleaved pass wins when the tables are larger than the cache, the
 * plain one when they are not, and nobody can say in advance: it depends on
 * the flows, on which of them have traffic, on the masks, and on what else is
 * in the processor's caches.  So each thread tries both, now and then, and
 * goes on with the one for which a packet takes fewer cycles, from its key to
 * its transmission.
 *
 * Method
 * ------
 * A trial is a number of groups of bursts, which are forwarded by the two
 * passes in turns.  What counts is the median of the groups' cycles per
 * packet, since a group may have been interrupted.  Between trials the thread
 * uses one pass.  It changes when the other one has been better by a margin in
 * several trials on end; the first that says so brings the next ones forward,
 * so that a change of load is followed in a fraction of a second, while two
 * passes that are about as good do not take turns.
 *
 * What it costs: a trial forwards 72 bursts with the pass that is not in use,
 * ten times a second.
 *
 * Usage, for each burst from a port:
 *
 *     bool trial = pass_choice_begin(&choice, now);
 *     ... forward the burst by pass_choice_pass(&choice), and everything that
 *         is recirculated from it ...
 *     if (trial) {
 *         pass_choice_end(&choice, now, n_packets, cycles);
 *     }
 *
 * A burst that made upcalls says nothing about lookups: leave
 * pass_choice_end() out.
 *
 * Thread safety: owner thread only, but for pass_choice_read(). */

#include <stdbool.h>
#include <stdint.h>

#include "ovs-atomic.h"
#include "table/lookup.h"

enum pass_id {
    PASS_PLAIN,
    PASS_INTERLEAVED,
    N_PASSES
};

enum {
    PASS_TRIAL_GROUPS = 9,      /* For each pass.  Odd, for the median. */
    PASS_GROUP_BURSTS = 8,      /* The first of which is not counted. */
    PASS_MARGIN_PERCENT = 2,    /* By which the other must be better... */
    PASS_CONFIRMATIONS = 5,     /* ...in so many trials on end. */
};

/* Time from one trial to the next, us, and while a change is considered. */
#define PASS_TRIAL_INTERVAL_US 100000LL
#define PASS_RETRIAL_INTERVAL_US 20000LL

struct pass_choice {
    enum pass_id in_use;        /* Between trials. */
    enum pass_id at_work;       /* For the present burst. */
    bool in_trial;
    unsigned int n_groups;      /* Complete ones of the trial. */
    unsigned int n_bursts;      /* Of the present group. */
    unsigned int n_confirmed;   /* Trials in favor of a change. */
    long long next_trial;       /* us. */
    uint64_t cycles, packets;   /* Of the present group. */
    uint32_t samples[N_PASSES][PASS_TRIAL_GROUPS]; /* As 'costs'. */

    /* For shows.  Owner writes, all read; relaxed. */
    atomic_uint32_t shown_in_use;
    atomic_uint32_t costs[N_PASSES]; /* 1/16 cycles per packet in the last
                                      * trial, 0 before the first. */
};

void pass_choice_init(struct pass_choice *);

/* Begins a burst at 'now' (us).  Returns true if it is part of a trial. */
bool pass_choice_begin(struct pass_choice *, long long now);

/* Ends a burst that is part of a trial: 'n_packets', which is not 0, took
 * 'cycles'. */
void pass_choice_end(struct pass_choice *, long long now,
                     unsigned int n_packets, uint64_t cycles);

extern lookup_pass_func *const pass_functions[N_PASSES];

/* The pass for the present burst. */
static inline lookup_pass_func *
pass_choice_pass(const struct pass_choice *choice)
{
    return pass_functions[choice->at_work];
}

/* What a user wants to know. */
struct pass_choice_facts {
    enum pass_id in_use;
    double costs[N_PASSES];     /* Cycles per packet in the last trial; 0
                                 * before the first. */
};

/* Any thread. */
void pass_choice_read(const struct pass_choice *, struct pass_choice_facts *);

#endif /* pmd/pass-choice.h */
