/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/pass-choice.h"

#include <stdlib.h>

#include "util.h"

enum { COST_UNIT = 16 };        /* Parts of a cycle. */

lookup_pass_func *const pass_functions[N_PASSES] = {
    [PASS_PLAIN] = lookup_pass_plain,
    [PASS_INTERLEAVED] = lookup_pass_interleaved,
};

void
pass_choice_init(struct pass_choice *choice)
{
    *choice = (struct pass_choice) { .in_use = PASS_PLAIN };
    atomic_init(&choice->shown_in_use, PASS_PLAIN);
    for (int i = 0; i < N_PASSES; i++) {
        atomic_init(&choice->costs[i], 0);
    }
}

static enum pass_id
other_pass(enum pass_id id)
{
    return id == PASS_PLAIN ? PASS_INTERLEAVED : PASS_PLAIN;
}

static void
begin_group(struct pass_choice *choice)
{
    choice->n_bursts = 0;
    choice->cycles = 0;
    choice->packets = 0;
}

/* The pass that the present group of a trial is for. */
static enum pass_id
group_pass(const struct pass_choice *choice)
{
    return (choice->n_groups % N_PASSES
            ? other_pass(choice->in_use) : choice->in_use);
}

bool
pass_choice_begin(struct pass_choice *choice, long long now)
{
    if (OVS_LIKELY(!choice->in_trial)) {
        if (OVS_LIKELY(now < choice->next_trial)) {
            choice->at_work = choice->in_use;
            return false;
        }
        choice->in_trial = true;
        choice->n_groups = 0;
        begin_group(choice);
    }
    choice->at_work = group_pass(choice);
    return true;
}

static int
compare_samples(const void *a_, const void *b_)
{
    const uint32_t *a = a_, *b = b_;

    return *a < *b ? -1 : *a > *b;
}

static uint32_t
median_cost(uint32_t samples[PASS_TRIAL_GROUPS])
{
    qsort(samples, PASS_TRIAL_GROUPS, sizeof *samples, compare_samples);
    return samples[PASS_TRIAL_GROUPS / 2];
}

/* Draws the conclusions of a trial. */
static void
conclude(struct pass_choice *choice, long long now)
{
    enum pass_id other = other_pass(choice->in_use);
    uint64_t cost[N_PASSES];

    for (int i = 0; i < N_PASSES; i++) {
        cost[i] = median_cost(choice->samples[i]);
        atomic_store_relaxed(&choice->costs[i], cost[i]);
    }

    if (cost[other] * 100
        < cost[choice->in_use] * (100 - PASS_MARGIN_PERCENT)) {
        choice->n_confirmed++;
    } else {
        choice->n_confirmed = 0;
    }
    if (choice->n_confirmed >= PASS_CONFIRMATIONS) {
        choice->n_confirmed = 0;
        choice->in_use = other;
        atomic_store_relaxed(&choice->shown_in_use, other);
    }

    choice->in_trial = false;
    choice->next_trial = now + (choice->n_confirmed
                                ? PASS_RETRIAL_INTERVAL_US
                                : PASS_TRIAL_INTERVAL_US);
}

void
pass_choice_end(struct pass_choice *choice, long long now,
                unsigned int n_packets, uint64_t cycles)
{
    if (choice->n_bursts++) {
        choice->cycles += cycles;
        choice->packets += n_packets;
    }
    if (choice->n_bursts < PASS_GROUP_BURSTS) {
        return;
    }

    choice->samples[group_pass(choice)][choice->n_groups / N_PASSES]
        = choice->cycles * COST_UNIT / choice->packets;
    choice->n_groups++;
    begin_group(choice);
    if (choice->n_groups == N_PASSES * PASS_TRIAL_GROUPS) {
        conclude(choice, now);
    }
}

void
pass_choice_read(const struct pass_choice *choice_,
                 struct pass_choice_facts *facts)
{
    struct pass_choice *choice = CONST_CAST(struct pass_choice *, choice_);
    uint32_t value;

    atomic_read_relaxed(&choice->shown_in_use, &value);
    facts->in_use = value;
    for (int i = 0; i < N_PASSES; i++) {
        atomic_read_relaxed(&choice->costs[i], &value);
        facts->costs[i] = (double) value / COST_UNIT;
    }
}
