/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H 1

/* Values of options that benches and stress tests have in common, out of
 * getopt_long()'s 'optarg'.  A value that is no good ends the program with a
 * message that names it.  Thread safety: none, as that of getopt_long(). */

#include <getopt.h>
#include <inttypes.h>
#include <stdint.h>

#include "util.h"

/* Returns the value of '--option', a number from 'min' to 'max'. */
static inline uint64_t
option_number(const char *option, uint64_t min, uint64_t max)
{
    unsigned long long value;

    if (!str_to_ullong(optarg, 0, &value) || value < min || value > max) {
        ovs_fatal(0, "--%s: %s is not a number from %"PRIu64" to %"PRIu64,
                  option, optarg, min, max);
    }
    return value;
}

#endif /* bench/options.h */
