/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H 1

/* What benches have in common whose variants take turns in one process: the
 * option for the number of turns, a core to be alone on, clocks, medians.
 *
 * Needs nothing of Open vSwitch, since not all of them link it.  sched.h has
 * to be included with _GNU_SOURCE.  Thread safety: none needed. */

#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Returns the time of 'clock' in ns. */
static inline double
turns_clock_ns(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Keeps the calling thread on 'core'.  Returns false if that cannot be. */
static inline bool
turns_pin(unsigned int core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return !sched_setaffinity(0, sizeof set, &set);
}

static inline int
turns_compare(const void *a_, const void *b_)
{
    const double *a = a_, *b = b_;

    return *a < *b ? -1 : *a > *b;
}

/* Returns the median of 'values', which it sorts. */
static inline double
turns_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, turns_compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Takes the program's only option, "--repeats=N" with N from 1 to 'max', and
 * stores N to '*n_repeats'.  Ends the program, with its usage, if there is
 * anything else. */
static inline void
turns_parse_options(int argc, char *argv[], unsigned int max,
                    unsigned int *n_repeats)
{
    static const struct option options[] = {
        { "repeats", required_argument, NULL, 'r' },
        { NULL, 0, NULL, 0 },
    };
    unsigned long int n = *n_repeats;
    int c;

    while ((c = getopt_long(argc, argv, "r:", options, NULL)) != -1) {
        n = c == 'r' ? strtoul(optarg, NULL, 10) : 0;
        if (!n || n > max) {
            break;
        }
    }
    if (!n || n > max || optind != argc) {
        const char *slash = strrchr(argv[0], '/');

        fprintf(stderr, "%s: usage: %s [--repeats=N], N from 1 to %u\n",
                slash ? slash + 1 : argv[0], argv[0], max);
        exit(1);
    }
    *n_repeats = n;
}

#endif /* bench/turns.h */
