/* SPDX-License-Identifier: Apache-2.0 */

/* Unit tests of lib/pmd/pass-choice: a simulated thread forwards bursts whose
 * costs are made up, and the choice must find out which pass is the cheaper
 * one, soon, and stay with it. */

#include <config.h>

#include "pmd/pass-choice.h"

#include "unit.h"
#include "util.h"

enum { BURST_PACKETS = 32 };

/* A thread with its load. */
struct sim {
    struct pass_choice choice;
    long long now;              /* us. */
    long long step;             /* From one burst to the next, us. */
    double cost[N_PASSES];      /* Cycles per packet. */
    double warming;             /* The first burst by another pass than before
                                 * costs so many times as much. */
    double noise;               /* Of a burst: up to that part of its cost,
                                 * more or less. */
    unsigned int outliers[N_PASSES]; /* One burst in so many takes 1,000 times
                                      * as long; 0: none does. */
    uint64_t random;
    enum pass_id last_pass;

    /* What happened. */
    uint64_t n_bursts;
    uint64_t n_other;           /* With the pass not in use. */
    uint64_t n_trial;           /* In trials. */
    unsigned int n_changes;
    long long last_change;      /* us. */
};

static void
sim_init(struct sim *sim, double plain, double interleaved)
{
    memset(sim, 0, sizeof *sim);
    pass_choice_init(&sim->choice);
    sim->now = 12345;
    sim->step = 100;
    sim->cost[PASS_PLAIN] = plain;
    sim->cost[PASS_INTERLEAVED] = interleaved;
    sim->warming = 1;
    sim->random = 88172645463325252ULL;
}

/* Xorshift64 (Marsaglia, 2003). */
static uint64_t
sim_random(struct sim *sim)
{
    sim->random ^= sim->random << 13;
    sim->random ^= sim->random >> 7;
    sim->random ^= sim->random << 17;
    return sim->random;
}

static enum pass_id
in_use(const struct sim *sim)
{
    struct pass_choice_facts facts;

    pass_choice_read(&sim->choice, &facts);
    return facts.in_use;
}

/* The pass whose function the thread is given. */
static enum pass_id
pass_at_work(const struct sim *sim)
{
    lookup_pass_func *function = pass_choice_pass(&sim->choice);

    CHECK(function == lookup_pass_plain
          || function == lookup_pass_interleaved);
    return (function == lookup_pass_plain ? PASS_PLAIN : PASS_INTERLEAVED);
}

static uint64_t
burst_cycles(struct sim *sim, enum pass_id pass, unsigned int n_packets)
{
    double cycles = sim->cost[pass] * n_packets;
    double part = (double) (sim_random(sim) >> 11) / (UINT64_C(1) << 53);

    if (pass != sim->last_pass) {
        cycles *= sim->warming;
    }
    cycles *= 1 + sim->noise * (2 * part - 1);
    if (sim->outliers[pass] && !(sim_random(sim) % sim->outliers[pass])) {
        cycles *= 1000;
    }
    return cycles;
}

static void
sim_burst(struct sim *sim, unsigned int n_packets)
{
    enum pass_id before = in_use(sim);
    bool trial = pass_choice_begin(&sim->choice, sim->now);
    enum pass_id pass = pass_at_work(sim);

    CHECK(trial || pass == before);
    sim->n_bursts++;
    sim->n_trial += trial;
    sim->n_other += pass != before;
    if (trial) {
        pass_choice_end(&sim->choice, sim->now, n_packets,
                        burst_cycles(sim, pass, n_packets));
    }
    sim->last_pass = pass;
    if (in_use(sim) != before) {
        sim->n_changes++;
        sim->last_change = sim->now;
    }
    sim->now += sim->step;
}

static void
sim_run(struct sim *sim, long long ms)
{
    for (long long end = sim->now + ms * 1000; sim->now < end; ) {
        sim_burst(sim, BURST_PACKETS);
    }
}

/* Runs until one trial is over. */
static void
sim_run_trial(struct sim *sim)
{
    uint64_t n_trial = sim->n_trial;

    while (sim->n_trial < n_trial + N_PASSES * PASS_TRIAL_GROUPS
                                    * PASS_GROUP_BURSTS) {
        sim_burst(sim, BURST_PACKETS);
    }
}

static void
test_starts_plain(void)
{
    struct pass_choice_facts facts;
    struct sim sim;

    sim_init(&sim, 100, 100);
    pass_choice_read(&sim.choice, &facts);
    CHECK_INT(facts.in_use, ==, PASS_PLAIN);
    for (int i = 0; i < N_PASSES; i++) {
        CHECK(facts.costs[i] == 0);
    }
    CHECK(pass_functions[PASS_PLAIN] == lookup_pass_plain);
    CHECK(pass_functions[PASS_INTERLEAVED] == lookup_pass_interleaved);
    CHECK(pass_at_work(&sim) == PASS_PLAIN);
}

/* The change comes with the last confirmation and not before, in both
 * directions. */
static void
test_changes_when_confirmed(void)
{
    struct sim sim;

    sim_init(&sim, 200, 150);
    for (int round = 0; round < 4; round++) {
        enum pass_id expected = in_use(&sim);

        CHECK_INT(expected, ==, round % 2 ? PASS_INTERLEAVED : PASS_PLAIN);
        sim.cost[expected] = 200;
        sim.cost[!expected] = 150;
        for (int i = 1; i < PASS_CONFIRMATIONS; i++) {
            sim_run_trial(&sim);
            CHECK_INT(in_use(&sim), ==, expected);
        }
        sim_run_trial(&sim);
        CHECK_INT(in_use(&sim), ==, !expected);
        CHECK_UINT(sim.n_changes, ==, round + 1);
    }
}

/* Trials in favor of a change count only if they come on end. */
static void
test_confirmations_start_again(void)
{
    struct sim sim;

    sim_init(&sim, 200, 150);
    for (int round = 0; round < 10; round++) {
        sim.cost[PASS_INTERLEAVED] = 150;
        for (int i = 1; i < PASS_CONFIRMATIONS; i++) {
            sim_run_trial(&sim);
        }
        sim.cost[PASS_INTERLEAVED] = 250;
        sim_run_trial(&sim);
    }
    CHECK_UINT(sim.n_changes, ==, 0);
    CHECK_INT(in_use(&sim), ==, PASS_PLAIN);
}

/* What is better by less than the margin, or not at all, is not worth a
 * change; what is better by more is. */
static void
test_margin(void)
{
    static const struct {
        double parts;           /* Of the margin. */
        unsigned int n_changes;
    } cases[] = {
        { -20, 0 }, { -1.5, 0 }, { -0.5, 0 }, { 0, 0 }, { 0.5, 0 },
        { 0.9, 0 }, { 1.2, 1 }, { 2, 1 }, { 20, 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sim sim;

        sim_init(&sim, 400, 400 * (1 - cases[i].parts * PASS_MARGIN_PERCENT
                                       / 100));
        sim_run(&sim, 10000);
        CHECK_UINT(sim.n_changes, ==, cases[i].n_changes);
        CHECK_INT(in_use(&sim), ==, (cases[i].n_changes
                                     ? PASS_INTERLEAVED : PASS_PLAIN));
    }
}

/* Noise hides no difference that counts, and is rarely taken for one. */
static void
test_noise(void)
{
    enum { N_SEEDS = 20, SECONDS = 30 };
    unsigned int n_changes = 0;

    for (int seed = 1; seed <= N_SEEDS; seed++) {
        struct sim sim;

        sim_init(&sim, 300, 300);
        sim.random = seed * UINT64_C(0x9e3779b97f4a7c15);
        sim.noise = 0.2;
        sim_run(&sim, SECONDS * 1000);
        n_changes += sim.n_changes;

        /* Then one gets better by a tenth. */
        enum pass_id worse = in_use(&sim);

        sim.cost[worse] = 330;
        sim.n_changes = 0;
        sim_run(&sim, SECONDS * 1000);
        CHECK_INT(in_use(&sim), ==, !worse);
        CHECK_UINT(sim.n_changes, ==, 1);
    }

    /* Two that are equal take turns less than once a minute. */
    CHECK_UINT(n_changes, <, N_SEEDS * SECONDS / 60);
}

/* In less than half a second at 10,000 bursts a second, whenever the load
 * changes relative to the trials. */
static void
test_follows_load(void)
{
    long long worst = 0;

    for (int i = 0; i < 200; i++) {
        struct sim sim;
        long long changed;

        sim_init(&sim, 100, 130);
        sim.noise = 0.2;
        sim.random += i;
        sim_run(&sim, 1000 + i);
        CHECK_INT(in_use(&sim), ==, PASS_PLAIN);

        /* The tables become larger than the cache, */
        sim.cost[PASS_PLAIN] = 400;
        sim.cost[PASS_INTERLEAVED] = 250;
        changed = sim.now;
        sim_run(&sim, 1000);
        CHECK_INT(in_use(&sim), ==, PASS_INTERLEAVED);
        CHECK_UINT(sim.n_changes, ==, 1);
        worst = MAX(worst, sim.last_change - changed);

        /* and smaller again. */
        sim_run(&sim, i);
        sim.cost[PASS_PLAIN] = 100;
        sim.cost[PASS_INTERLEAVED] = 130;
        changed = sim.now;
        sim_run(&sim, 1000);
        CHECK_INT(in_use(&sim), ==, PASS_PLAIN);
        CHECK_UINT(sim.n_changes, ==, 2);
        worst = MAX(worst, sim.last_change - changed);
    }
    CHECK_INT(worst, <, 500000);
}

/* In cycles per packet, however many packets a burst has. */
static void
test_costs_shown(void)
{
    struct pass_choice_facts facts;
    struct sim sim;

    sim_init(&sim, 123.5, 130);
    for (int i = 0; i < 5000; i++) {
        sim_burst(&sim, 1 + i * 7 % BURST_PACKETS);
    }
    pass_choice_read(&sim.choice, &facts);
    CHECK_MSG(facts.costs[PASS_PLAIN] > 123
              && facts.costs[PASS_PLAIN] <= 123.5, "%f",
              facts.costs[PASS_PLAIN]);
    CHECK_MSG(facts.costs[PASS_INTERLEAVED] == 130, "%f",
              facts.costs[PASS_INTERLEAVED]);

    /* They are those of the last trial. */
    sim.cost[PASS_PLAIN] = 60;
    sim.cost[PASS_INTERLEAVED] = 61;
    sim_run(&sim, 1000);
    pass_choice_read(&sim.choice, &facts);
    CHECK(facts.costs[PASS_PLAIN] == 60);
    CHECK(facts.costs[PASS_INTERLEAVED] == 61);
    CHECK_INT(facts.in_use, ==, PASS_PLAIN);
}

/* What it costs to go from one pass to the other is not held against either,
 * since it is but for the trial. */
static void
test_warming(void)
{
    struct pass_choice_facts facts;
    struct sim sim;

    sim_init(&sim, 100, 90);
    sim.warming = 50;
    sim_run(&sim, 1000);
    pass_choice_read(&sim.choice, &facts);
    CHECK_INT(facts.in_use, ==, PASS_INTERLEAVED);
    CHECK(facts.costs[PASS_PLAIN] == 100);
    CHECK(facts.costs[PASS_INTERLEAVED] == 90);
}

/* Trials are no more than the manual says. */
static void
test_share_of_trials(void)
{
    enum {
        TRIAL = N_PASSES * PASS_TRIAL_GROUPS * PASS_GROUP_BURSTS,
        SECONDS = 10
    };
    static const int steps[] = { 1, 10, 100 };

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        struct sim sim;
        unsigned int n_trials;

        sim_init(&sim, 100, 120);
        sim.step = steps[i];
        sim_run(&sim, SECONDS * 1000);
        CHECK_UINT(sim.n_changes, ==, 0);
        n_trials = sim.n_trial / TRIAL;
        CHECK_UINT(n_trials, <=, SECONDS * 10 + 1);
        CHECK_UINT(n_trials, >=, SECONDS * 8);
        CHECK_UINT(sim.n_other, <=, (n_trials + 1) * TRIAL / N_PASSES);
        CHECK_UINT(sim.n_other, >=, n_trials * TRIAL / N_PASSES);

        /* Of 100,000 bursts a second, less than a hundredth. */
        CHECK_UINT(sim.n_other * 1000 * 10, <,
                   sim.n_bursts * 10 * steps[i]);
    }
}

/* Bursts that were interrupted count for nothing: neither those of one pass
 * only, for it or against it, nor those of both. */
static void
test_outliers(void)
{
    for (int i = 0; i < 50; i++) {
        struct sim sim;
        enum pass_id better = i % 2 ? PASS_INTERLEAVED : PASS_PLAIN;

        sim_init(&sim, 300, 300);
        sim.cost[better] = 270;
        sim.outliers[better] = i % 5 ? 100 : 0;
        sim.outliers[!better] = i % 3 ? 100 : 0;
        sim.noise = i % 7 ? 0.05 : 0;
        sim.random += i;
        sim_run(&sim, 1000);
        CHECK_INT(in_use(&sim), ==, better);
        sim_run(&sim, 20000);
        CHECK_INT(in_use(&sim), ==, better);
        CHECK_UINT(sim.n_changes, ==, better != PASS_PLAIN);
    }
}

/* Bursts of a trial that say nothing, for which there is no end, are as if
 * they had not been. */
static void
test_bursts_without_end(void)
{
    struct sim sim;

    sim_init(&sim, 300, 250);
    for (int i = 0; i < 10000; i++) {
        if (i % 3) {
            pass_choice_begin(&sim.choice, sim.now);
            sim.now += sim.step;
        } else {
            sim_burst(&sim, BURST_PACKETS);
        }
    }
    CHECK_INT(in_use(&sim), ==, PASS_INTERLEAVED);
    CHECK_UINT(sim.n_changes, ==, 1);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    RUN_TEST(test_starts_plain);
    RUN_TEST(test_changes_when_confirmed);
    RUN_TEST(test_confirmations_start_again);
    RUN_TEST(test_margin);
    RUN_TEST(test_noise);
    RUN_TEST(test_follows_load);
    RUN_TEST(test_costs_shown);
    RUN_TEST(test_warming);
    RUN_TEST(test_share_of_trials);
    RUN_TEST(test_outliers);
    RUN_TEST(test_bursts_without_end);
    return 0;
}
