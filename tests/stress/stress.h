/* SPDX-License-Identifier: Apache-2.0 */

#ifndef STRESS_STRESS_H
#define STRESS_STRESS_H 1

/* What the parts of stress-datapath share: its state, and the changes that it
 * makes to a datapath under traffic (stress-changes.c).  The opening comment
 * of stress-datapath.c says what it is about.
 *
 * Thread safety: members that several threads use are atomic; the others are
 * set up before the threads start and do not change until they have ended. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/dp-driver.h"
#include "bench/flow-put.h"
#include "bench/flow-set.h"
#include "bench/synthetic-netdev.h"
#include "ovs-atomic.h"

struct dpif_flow;
struct netdev;
struct ofpbuf;

enum { N_INPUTS = 3, N_RXQ = 2, N_OUTPUTS = 4 };
enum { N_CORES = 2 };
enum { RECIRC_ID = 7 };
enum { BOND_ID = 1 };
enum { MAX_COMPLAINTS = 30 };
#define NON_PMD_ID UINT32_MAX   /* Flows of the thread that runs dpif_run(). */

enum round_kind { ROUND_THREADS, ROUND_PORTS, N_ROUND_KINDS };

/* A port's packets, counted on the way out.  All relaxed: totals are read when
 * traffic rests. */
struct output {
    struct synthetic_sink up;
    struct netdev *netdev;
    odp_port_t port_no;
    atomic_uint64_t flow_sum;
    atomic_uint64_t n_alien;    /* Packets that nobody sent. */
};

struct input {
    struct netdev *netdev;
    odp_port_t port_no;
    struct flow_set set;
    struct flow_source sources[N_RXQ];
    struct flow_put put;
};

struct stress {
    struct dp_driver driver;
    struct input inputs[N_INPUTS];
    struct output outputs[N_OUTPUTS];
    unsigned int n_cores;

    /* Written by the main thread, read by the others; relaxed. */
    atomic_bool stop;           /* The program ends. */
    atomic_int round;           /* An enum round_kind. */
    atomic_bool paused;         /* Between rounds: change nothing. */
    atomic_count n_active;      /* Threads that are in an operation. */

    /* Packets that upcalls refused, and the sum of their flow numbers. */
    atomic_uint64_t n_refused;
    atomic_uint64_t refused_sum;
    atomic_count n_errors;

    /* Operations done, for the report. */
    atomic_uint64_t n_dumped;
    atomic_count n_puts, n_dels, n_gets, n_dumps, n_port_ops;
    atomic_count n_configs, n_appctl, n_upcalls, n_meters;
};

extern struct stress stress;

static inline void
stress_add(atomic_uint64_t *sum, uint64_t n)
{
    uint64_t orig;

    atomic_add_relaxed(sum, n, &orig);
}

static inline uint64_t
stress_read(atomic_uint64_t *value)
{
    uint64_t n;

    atomic_read_relaxed(value, &n);
    return n;
}

/* Reports an error and remembers that there was one. */
void stress_fail(const char *format, ...) OVS_PRINTF_FORMAT(1, 2);

odp_port_t stress_random_output(void);
const struct flow_set *stress_set_of_port(odp_port_t);

/* Appends actions that send each packet exactly once. */
void stress_random_actions(struct ofpbuf *);

/* Complains if a dumped flow is not one that can be there. */
void stress_check_dumped(const struct dpif_flow *);

/* The threads' main functions. */
void *stress_flow_thread(void *);
void *stress_dump_thread(void *);
void *stress_port_thread(void *);

/* Waits until none of the threads changes anything; lets them go on, in a
 * round of the given kind. */
void stress_pause(void);
void stress_resume(enum round_kind);

/* One change of each kind that the main thread makes. */
void stress_change(void);
void stress_set_bond(void);
void stress_set_meter(bool also_delete);

#endif /* stress.h */
