/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/control-load.h"
#include "bench/dp-driver.h"
#include "bench/flow-put.h"
#include "bench/flow-set.h"
#include "bench/options.h"
#include "bench/synthetic-netdev.h"
#include "dpif.h"
#include "flow.h"
#include "netdev.h"
#include "netlink.h"
#include "odp-netlink.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/vlog.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "smap.h"
#include "stress/stall-log.h"
#include "sync/rcu-stats.h"
#include "timeval.h"
#include "util.h"

/* soak: nothing grows and nothing stalls unnoticed
 * ================================================
 *
 * Packets run all the time through a PMD thread, while every load of
 * control-load.h is at work on another core and the main thread makes changes,
 * in cycles of about two seconds.  A cycle makes each change of the table
 * 'changes' one after the other, and takes them back in the opposite order:
 * so each ends where it began, and what the process has got then, compared
 * with the cycles before, is what it does not give back.
 *
 * The permanent port "in" stays with the PMD thread on its own core, and so do
 * its flows, which the loads use.  The changes are about "guest" ports, with
 * traffic of their own, whose flows are installed, made by upcalls and
 * deleted, and which also a second PMD thread serves that comes and goes.
 *
 * It is an error if
 *
 *   - memory, as a median of the last samples, is more than 2 % above that
 *     after the first minute, or the first quarter of a short run.  The loads
 *     rest for the moment that this takes.  malloc() has a single arena for
 *     this (unless MALLOC_ARENA_MAX says otherwise): where it has one for each
 *     thread, what one thread allocates and another frees leaves it with more
 *     and more pages that are almost empty, for some minutes, while what is
 *     in use (the second figure of a line) stays the same;
 *
 *   - a packet was received and neither sent nor counted as dropped;
 *
 *   - a load or a change did nothing, or failed;
 *
 *   - RCU callbacks are left at the end;
 *
 *   - the stall recorder missed a stall that it could have caught, by
 *     stall-log.h.
 *
 * With "--fault leak" some memory is lost in each cycle, and the exit status
 * is that of a test of this test: success, if this was found and nothing else.
 * Without any option both are run, in short. */

#ifndef __has_feature
#define __has_feature(FEATURE) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) \
    || __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1             /* Which keeps memory for itself. */
#else
#define SANITIZED 0
#endif

enum { LOAD_CORE = 0 };
enum { N_SPARE = 4096 };        /* Flows for the load to put and delete. */
enum { N_GUEST_FLOWS = SANITIZED ? 500 : 4000, N_GUEST_MASKS = 8 };
enum { GUEST_IN = 100, GUEST_OUT = 101 };       /* Port numbers. */
enum { GUEST_RXQ = 2 };
enum { N_IDLE = 4, FIRST_IDLE = 110 };          /* Ports without traffic. */
enum { N_METERS = 64, FIRST_METER = 100 };
enum { DWELL_MS = 100, REST_MS = 400 };
enum { MAX_SAMPLES = 10000, MIN_SAMPLES = SANITIZED ? 3 : 6 };
enum { MANY_SAMPLES = 20 };
enum { MAX_MEDIAN_OF = 5, SHORT_MEDIAN_OF = 3 };
enum { SHORT_SECONDS = 60 };
enum { LEAK_PIECES = 4096, LEAK_BYTES = 256 };  /* In each cycle. */
#define GROWTH 0.02
#define SHORT_ALLOWANCE (1 << 20)               /* Bytes. */

static struct {
    double seconds;
    unsigned int loads;         /* Bits, as in struct control_load_config. */
    unsigned int changes;       /* Bits, by index in 'changes'. */
    uint64_t n_flows;
    bool leak;
    bool verbose;
} opts = {
    .seconds = 600,
    .loads = CONTROL_LOAD_ALL,
    .changes = UINT_MAX,
    .n_flows = SANITIZED ? 2000 : 10000,
};

struct sample {
    double seconds;             /* Since the start. */
    uint64_t memory;            /* Bytes. */
};

struct soak {
    struct dp_driver driver;
    unsigned int core;          /* Of the PMD thread that stays. */
    unsigned int n_errors;
    long long int start;        /* Milliseconds. */

    /* What stays. */
    struct netdev *in, *out;
    odp_port_t in_port, out_port;
    struct flow_set set;        /* The flows of the traffic. */
    struct flow_set all;        /* These and the spare ones. */
    struct flow_put put;        /* Of 'all'. */
    struct flow_source source;

    /* What comes and goes. */
    struct netdev *guest_in, *guest_out;
    struct netdev *idle[N_IDLE];
    struct flow_set guest_set;
    struct flow_put guest_put;
    odp_port_t guest_ports[2];  /* Where its flows go to. */
    struct flow_source guest_sources[GUEST_RXQ];
    atomic_uint64_t n_upcalls;  /* PMD threads add, relaxed. */

    struct control_load *load;
    uint64_t n_done[CONTROL_LOAD_N_KINDS];

    struct sample samples[MAX_SAMPLES];
    size_t n_samples;
    uint64_t last_packets;
    long long int last_msec;

    struct stall_log stalls;
};

static struct soak soak;

static void OVS_PRINTF_FORMAT(2, 3)
fail(struct soak *s, const char *format, ...)
{
    va_list args;

    if (s->n_errors++ < 30) {
        va_start(args, format);
        ovs_error_valist(0, format, args);
        va_end(args);
    }
}

/* Takes note that 'what' failed, if 'error' says so. */
static void
check(struct soak *s, const char *what, int error)
{
    if (error) {
        fail(s, "%s: %s", what, ovs_strerror(error));
    }
}

/* Traffic. */

static int
upcall(const struct dp_packet *packet, const struct flow *flow,
       ovs_u128 *ufid OVS_UNUSED, unsigned pmd_id OVS_UNUSED,
       enum dpif_upcall_type type OVS_UNUSED,
       const struct nlattr *userdata OVS_UNUSED, struct ofpbuf *actions,
       struct flow_wildcards *wc, struct ofpbuf *put_actions OVS_UNUSED,
       void *aux)
{
    struct soak *s = aux;
    uint32_t i = flow_set_packet_flow(&s->guest_set, packet);
    uint64_t old;

    atomic_add_relaxed(&s->n_upcalls, 1, &old);
    if (i == UINT32_MAX || odp_to_u32(flow->in_port.odp_port) != GUEST_IN) {
        return EINVAL;          /* Which shows as a drop, see verify(). */
    }
    nl_msg_put_odp_port(actions, OVS_ACTION_ATTR_OUTPUT,
                        s->guest_ports[i % ARRAY_SIZE(s->guest_ports)]);
    if (wc) {
        struct flow ignored;

        flow_set_match(&s->guest_set, i, &ignored, wc);
    }
    return 0;
}

static void
count_packets(const struct soak *s, uint64_t *in, uint64_t *out)
{
    const struct netdev *const ins[] = { s->in, s->guest_in };
    const struct netdev *const outs[] = { s->out, s->guest_out };
    struct synthetic_counters c;

    *in = *out = 0;
    for (size_t i = 0; i < ARRAY_SIZE(ins); i++) {
        synthetic_get_counters(ins[i], &c);
        *in += c.rx_packets;
        synthetic_get_counters(outs[i], &c);
        *out += c.tx_packets;
    }
}

/* Stops the traffic and says what became of it. */
static void
verify_packets(struct soak *s)
{
    uint64_t in, out, drops, refused;
    int tries = 0;

    synthetic_set_enabled(s->in, false);
    synthetic_set_enabled(s->guest_in, false);
    do {
        char *text;

        /* Counters of threads become visible after about a second. */
        dp_driver_run(&s->driver, 300);
        count_packets(s, &in, &out);
        text = dp_driver_coverage(&s->driver);
        drops = (dp_driver_coverage_sum(text, "datapath_drop_")
                 + dp_driver_coverage_sum(text, "drop_action_"));
        refused = dp_driver_coverage_sum(text, "datapath_drop_upcall_error");
        free(text);
    } while (in != out + drops && ++tries < 50);

    printf("packets: %"PRIu64" received, %"PRIu64" sent, %"PRIu64
           " dropped\n", in, out, drops);
    if (in != out + drops) {
        fail(s, "%"PRId64" packets are missing", in - out - drops);
    }
    if (refused) {
        fail(s, "%"PRIu64" upcalls with a packet that nobody sent", refused);
    }
    if (!in) {
        fail(s, "no packets at all");
    }
}

/* What comes and goes.  Each change returns how many operations it made. */

static uint64_t
add_port(struct soak *s, struct netdev *netdev, uint32_t number)
{
    odp_port_t port_no = u32_to_odp(number);

    check(s, "port add", dpif_port_add(s->driver.dpif, netdev, &port_no));
    return 1;
}

static uint64_t
delete_port(struct soak *s, uint32_t number)
{
    check(s, "port del",
          dpif_port_del(s->driver.dpif, u32_to_odp(number), false));
    return 1;
}

/* Deletes the flows of the guest port, whoever made them, as a revalidator
 * does.  Returns how many there were. */
static uint64_t
delete_guest_flows(struct soak *s)
{
    struct dpif *dpif = s->driver.dpif;
    struct dpif_flow_dump *dump = dpif_flow_dump_create(dpif, false, NULL);
    struct dpif_flow_dump_thread *thread = dpif_flow_dump_thread_create(dump);
    struct dpif_flow flows[50];
    uint64_t n_deleted = 0;
    int n;

    while ((n = dpif_flow_dump_next(thread, flows, ARRAY_SIZE(flows))) > 0) {
        for (int i = 0; i < n; i++) {
            const struct dpif_flow *f = &flows[i];
            const struct nlattr *port
                = nl_attr_find__(f->key, f->key_len, OVS_KEY_ATTR_IN_PORT);

            if (port && nl_attr_get_u32(port) == GUEST_IN) {
                check(s, "flow del", dpif_flow_del(dpif, f->key, f->key_len,
                                                   &f->ufid, f->pmd_id,
                                                   NULL));
                n_deleted++;
            }
        }
        ovsrcu_quiesce();
    }
    dpif_flow_dump_thread_destroy(thread);
    check(s, "flow dump", dpif_flow_dump_destroy(dump));
    return n_deleted;
}

static uint64_t
change_ports(struct soak *s, bool on)
{
    if (on) {
        add_port(s, s->guest_out, GUEST_OUT);
        add_port(s, s->guest_in, GUEST_IN);
        for (size_t i = 0; i < N_IDLE; i++) {
            add_port(s, s->idle[i], FIRST_IDLE + i);
        }
    } else {
        /* The first one with its traffic. */
        delete_port(s, GUEST_OUT);
        dp_driver_run(&s->driver, DWELL_MS / 4);
        delete_port(s, GUEST_IN);
        for (size_t i = 0; i < N_IDLE; i++) {
            delete_port(s, FIRST_IDLE + i);
        }

        /* Upcalls have made flows until now. */
        delete_guest_flows(s);
    }
    return 2 + N_IDLE;
}

static uint64_t
change_flows(struct soak *s, bool on)
{
    uint64_t n_failed;
    int error = 0;

    if (!on) {
        return delete_guest_flows(s);
    }
    n_failed = flow_put_install(&s->guest_put, 0, N_GUEST_FLOWS, &error);
    if (error != EEXIST) {      /* An upcall made it. */
        check(s, "flow put", error);
    }
    return N_GUEST_FLOWS - n_failed;
}

static uint64_t
change_meters(struct soak *s, bool on)
{
    for (uint32_t i = 0; i < N_METERS; i++) {
        ofproto_meter_id id = { FIRST_METER + i };
        struct ofputil_meter_band band = {
            .type = OFPMBT13_DROP, .rate = 1000 + i, .burst_size = 1000,
        };
        struct ofputil_meter_config config = {
            .meter_id = FIRST_METER + i,
            .flags = OFPMF13_PKTPS | OFPMF13_BURST | OFPMF13_STATS,
            .n_bands = 1,
            .bands = &band,
        };

        check(s, "meter", on ? dpif_meter_set(s->driver.dpif, id, &config)
                          : dpif_meter_del(s->driver.dpif, id, NULL, 0));
    }
    return N_METERS;
}

static uint64_t
change_caches(struct soak *s, bool on)
{
    dp_driver_set(&s->driver, "smc-enable", on ? "true" : NULL);
    dp_driver_set(&s->driver, "emc-size", on ? "32768" : NULL);
    dp_driver_set(&s->driver, "smc-size", on ? "65536" : NULL);
    return 3;
}

static uint64_t
change_queues(struct soak *s, bool on)
{
    struct smap args = SMAP_INITIALIZER(&args);
    char *error = NULL;

    smap_add_format(&args, "n_rxq", "%d", on ? 1 : GUEST_RXQ);
    if (netdev_set_config(s->guest_in, &args, &error)) {
        fail(s, "n_rxq: %s", error);
        free(error);
    }
    smap_destroy(&args);
    return 1;
}

/* A second PMD thread, among the loads. */
static uint64_t
change_threads(struct soak *s, bool on)
{
    unsigned int mask = 1u << s->core;
    char value[16];

    if (!on) {
        stall_log_collect(&s->stalls);  /* Its own would go with it. */
    }
    snprintf(value, sizeof value, "%x", on ? mask | 1u << LOAD_CORE : mask);
    dp_driver_set(&s->driver, "pmd-cpu-mask", value);
    return 1;
}

static struct {
    const char *name;
    uint64_t (*apply)(struct soak *, bool on);
    uint64_t n_done;
} changes[] = {
    { "ports", change_ports, 0 },
    { "flows", change_flows, 0 },
    { "meters", change_meters, 0 },
    { "caches", change_caches, 0 },
    { "queues", change_queues, 0 },
    { "threads", change_threads, 0 },
};

static void
apply_change(struct soak *s, size_t i, bool on)
{
    if (opts.changes & (1u << i)) {
        changes[i].n_done += changes[i].apply(s, on);
        dp_driver_run(&s->driver, DWELL_MS);
    }
}

static void
run_cycle(struct soak *s)
{
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        apply_change(s, i, true);
    }
    for (size_t i = ARRAY_SIZE(changes); i-- > 0; ) {
        apply_change(s, i, false);
    }
    if (opts.leak) {
        for (size_t i = 0; i < LEAK_PIECES; i++) {
            static char *volatile lost;

            lost = xmalloc(LEAK_BYTES);
            memset(lost, 1, LEAK_BYTES);
        }
    }
    dp_driver_run(&s->driver, REST_MS);
}

/* Samples. */

/* Bytes that malloc() has given out, to tell a leak from memory that is free
 * and cannot be given back to the kernel; 0 if unknown. */
static uint64_t
allocated_bytes(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

static uint64_t
callbacks_outstanding(void)
{
    struct rcu_stats stats;

    rcu_stats_get(&stats);
    return stats.n_postponed - stats.n_called;
}

static void
start_loads(struct soak *s)
{
    struct control_load_config config = {
        .kinds = opts.loads,
        .driver = &s->driver,
        .core = LOAD_CORE,
        .put = &s->put,
        .n_flows = opts.n_flows,
        .n_spare = N_SPARE,
    };
    uint64_t out;

    s->load = control_load_start(&config);
    count_packets(s, &s->last_packets, &out);
    s->last_msec = time_msec();
}

static void
stop_loads(struct soak *s)
{
    uint64_t n_done[CONTROL_LOAD_N_KINDS];

    control_load_stop(s->load, n_done);
    for (size_t i = 0; i < CONTROL_LOAD_N_KINDS; i++) {
        if (opts.loads & (1u << i) && !n_done[i]) {
            fail(s, "load %s: did nothing, or failed", control_load_name(i));
        }
        s->n_done[i] += n_done[i];
    }
}

/* Takes a sample and leaves the loads stopped, with their RCU callbacks
 * called: there are more of these, by megabytes, the busier the machine is
 * otherwise. */
static void
take_sample(struct soak *s)
{
    long long int now = time_msec();
    uint64_t in, out, memory, allocated, callbacks;
    struct dpif_dp_stats stats;

    count_packets(s, &in, &out);
    callbacks = callbacks_outstanding();
    check(s, "dpif_get_dp_stats",
          dpif_get_dp_stats(s->driver.dpif, &stats));
    stall_log_collect(&s->stalls);

    stop_loads(s);
    ovsrcu_barrier();
    allocated = allocated_bytes();
    memory = dp_driver_memory();
    printf("%4.0f s  memory %7.3f MB (malloc %7.3f)  %6.3f Mpps  "
           "callbacks %5"PRIu64"  flows %"PRIu64"\n",
           (now - s->start) / 1e3, memory / 1e6, allocated / 1e6,
           (in - s->last_packets) / 1e3 / MAX(1, now - s->last_msec),
           callbacks, stats.n_flows);
    fflush(stdout);
    if (s->n_samples < MAX_SAMPLES) {
        s->samples[s->n_samples++] = (struct sample) {
            .seconds = (now - s->start) / 1e3,
            .memory = memory,
        };
    }
}

static int
compare_u64(const void *a_, const void *b_)
{
    const uint64_t *a = a_, *b = b_;

    return *a < *b ? -1 : *a > *b;
}

/* Returns the median of the memory of 'n' samples from 'first' on. */
static uint64_t
median_memory(const struct soak *s, size_t first, size_t n)
{
    uint64_t values[MAX_MEDIAN_OF];

    for (size_t i = 0; i < n; i++) {
        values[i] = s->samples[first + i].memory;
    }
    qsort(values, n, sizeof values[0], compare_u64);
    return values[n / 2];
}

/* Returns whether memory has grown too much. */
static bool
memory_has_grown(const struct soak *s)
{
    double mark = MIN(60.0, opts.seconds / 4);
    size_t n = (s->n_samples < MANY_SAMPLES ? SHORT_MEDIAN_OF
                : MAX_MEDIAN_OF);
    uint64_t before, after, limit;
    size_t middle = n / 2;

    /* The samples around the mark. */
    while (s->samples[middle].seconds < mark
           && middle < s->n_samples - n) {
        middle++;
    }
    before = median_memory(s, middle - n / 2, n);
    after = median_memory(s, s->n_samples - n, n);
    limit = before * (1 + GROWTH);
    if (opts.seconds < SHORT_SECONDS) {
        limit += SHORT_ALLOWANCE;
    }
    printf("memory: %.3f MB after %.0f s, %.3f MB at the end (%+.2f %%)\n",
           before / 1e6, s->samples[middle].seconds, after / 1e6,
           100.0 * ((double) after / before - 1));
    return after > limit;
}

/* Setting up. */

static void
init_set(struct flow_set *set, uint64_t n_flows, unsigned int n_masks,
         unsigned int n_outputs, odp_port_t in_port)
{
    char *error = flow_set_init(set, n_flows, n_masks, 0, FLOW_SET_IPV4,
                                n_outputs, in_port);

    if (error) {
        ovs_fatal(0, "%s", error);
    }
}

static void
open_permanent(struct soak *s)
{
    struct smap args = SMAP_INITIALIZER(&args);

    s->in = synthetic_open("in", true, 1);
    s->in_port = dp_driver_add_port(&s->driver, s->in);
    smap_add_format(&args, "pmd-rxq-affinity", "0:%u", s->core);
    check(s, "pmd-rxq-affinity",
          dpif_port_set_config(s->driver.dpif, s->in_port, &args));
    smap_destroy(&args);
    s->out = synthetic_open("out", true, 0);
    s->out_port = dp_driver_add_port(&s->driver, s->out);

    init_set(&s->set, opts.n_flows, 1, 1, s->in_port);
    init_set(&s->all, opts.n_flows + N_SPARE, 1, 1, s->in_port);
    flow_source_init(&s->source, &s->set, FLOW_CHOICE_UNIFORM, 0, true, 1);
    flow_put_init(&s->put, &s->all, s->driver.dpif, s->core, &s->out_port);
    synthetic_set_source(s->in, 0, &s->source.up);
}

static void
open_guests(struct soak *s)
{
    s->guest_in = synthetic_open("guest-in", true, GUEST_RXQ);
    s->guest_out = synthetic_open("guest-out", true, 0);
    for (size_t i = 0; i < N_IDLE; i++) {
        char name[16];

        snprintf(name, sizeof name, "idle%"PRIuSIZE, i);
        s->idle[i] = synthetic_open(name, true, 1);
    }
    s->guest_ports[0] = u32_to_odp(GUEST_OUT);
    s->guest_ports[1] = s->out_port;
    init_set(&s->guest_set, N_GUEST_FLOWS, N_GUEST_MASKS,
             ARRAY_SIZE(s->guest_ports), u32_to_odp(GUEST_IN));
    flow_put_init(&s->guest_put, &s->guest_set, s->driver.dpif, PMD_ID_NULL,
                  s->guest_ports);
    for (size_t i = 0; i < GUEST_RXQ; i++) {
        flow_source_init(&s->guest_sources[i], &s->guest_set,
                         FLOW_CHOICE_UNIFORM, 0, i != 0, 2 + i);
        synthetic_set_source(s->guest_in, i, &s->guest_sources[i].up);
    }
    synthetic_set_enabled(s->guest_in, true);
}

static void
open_all(struct soak *s)
{
    char value[16];

    s->core = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    if (s->core == LOAD_CORE) {
        ovs_error(0, "only one core is there: the loads share it");
    }

    /* Before there are other threads: they all stay there, but for PMD
     * threads. */
    if (!dp_driver_pin(LOAD_CORE)) {
        ovs_fatal(errno, "cannot run on core %d", LOAD_CORE);
    }
    dp_driver_open(&s->driver, program_name);
    dpif_register_upcall_cb(s->driver.dpif, upcall, s);
    dpif_enable_upcall(s->driver.dpif);

    /* Without isolation the guests' queues may go there, too. */
    dp_driver_set(&s->driver, "pmd-rxq-assign", "group");
    dp_driver_set(&s->driver, "pmd-rxq-isolate", "false");
    snprintf(value, sizeof value, "%x", 1u << s->core);
    dp_driver_set(&s->driver, "pmd-cpu-mask", value);

    open_permanent(s);
    open_guests(s);
    dp_driver_run(&s->driver, DWELL_MS);
    stall_log_start(&s->stalls, &s->driver, opts.verbose);
}

static void
close_all(struct soak *s)
{
    check(s, "port del", dpif_port_del(s->driver.dpif, s->in_port, false));
    check(s, "port del", dpif_port_del(s->driver.dpif, s->out_port, false));
    dp_driver_run(&s->driver, DWELL_MS);
    dpif_disable_upcall(s->driver.dpif);
    dp_driver_close(&s->driver);

    netdev_close(s->in);
    netdev_close(s->out);
    netdev_close(s->guest_in);
    netdev_close(s->guest_out);
    for (size_t i = 0; i < N_IDLE; i++) {
        netdev_close(s->idle[i]);
    }
    flow_put_destroy(&s->put);
    flow_put_destroy(&s->guest_put);
    flow_source_destroy(&s->source);
    for (size_t i = 0; i < GUEST_RXQ; i++) {
        flow_source_destroy(&s->guest_sources[i]);
    }
}

/* No thread of the datapath is left.  What is postponed by a callback, and the
 * barrier's own callback, may take another round. */
static void
verify_callbacks(struct soak *s)
{
    uint64_t n;
    int tries = 0;

    do {
        ovsrcu_barrier();
        n = callbacks_outstanding();
    } while (n && ++tries < 10);
    printf("RCU callbacks left: %"PRIu64"\n", n);
    if (n) {
        fail(s, "%"PRIu64" RCU callbacks were not called", n);
    }
}

static void
verify_work(struct soak *s)
{
    uint64_t n_upcalls;

    printf("done:");
    for (size_t i = 0; i < CONTROL_LOAD_N_KINDS; i++) {
        if (opts.loads & (1u << i)) {
            printf(" %s=%"PRIu64, control_load_name(i), s->n_done[i]);
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        if (opts.changes & (1u << i)) {
            printf(" %s=%"PRIu64, changes[i].name, changes[i].n_done);
            if (!changes[i].n_done) {
                fail(s, "%s: no change was made", changes[i].name);
            }
        }
    }
    atomic_read_relaxed(&s->n_upcalls, &n_upcalls);
    printf(" upcalls=%"PRIu64"\n", n_upcalls);
}

/* Returns whether memory has grown too much. */
static bool
run(struct soak *s)
{
    double interval = MIN(10, opts.seconds / 10), next = interval;
    int error = 0;

    if (flow_put_install(&s->put, 0, opts.n_flows, &error)) {
        ovs_fatal(error, "cannot install the flows");
    }
    synthetic_set_enabled(s->in, true);
    s->start = time_msec();
    start_loads(s);
    for (;;) {
        double now;

        run_cycle(s);
        now = (time_msec() - s->start) / 1e3;
        if (now >= next) {
            take_sample(s);
            if (now >= opts.seconds && s->n_samples >= MIN_SAMPLES) {
                break;
            }
            next += interval * ceil((now - next + 1e-3) / interval);
            start_loads(s);
        }
    }
    verify_packets(s);
    verify_work(s);
    s->n_errors += stall_log_stop(&s->stalls);
    return memory_has_grown(s);
}

/* Command line. */

/* Runs this program with "--seconds 'seconds'" and 'extra' (or NULL), and
 * returns whether it succeeded. */
static bool
run_self(const char *seconds, const char *extra)
{
    const char *argv[] = { program_name, "--seconds", seconds, extra, NULL };
    int status = 0;
    pid_t pid;

    printf("--seconds %s %s\n", seconds, extra ? extra : "");
    fflush(stdout);
    pid = fork();
    if (pid < 0) {
        ovs_fatal(errno, "fork");
    } else if (!pid) {
        execv("/proc/self/exe", (char **) argv);
        ovs_fatal(errno, "/proc/self/exe: cannot execute");
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            ovs_fatal(errno, "waitpid");
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* The short version, and whether it would find something. */
static bool
run_short(void)
{
    bool ok = run_self("20", NULL);

    if (SANITIZED) {
        printf("memory is not judged under a sanitizer\n");
    } else if (!run_self("12", "--fault=leak")) {
        ovs_error(0, "a leak was not found, or other things were wrong");
        ok = false;
    }
    return ok;
}

static unsigned int
parse_changes(const char *list)
{
    char *copy = xstrdup(list), *rest = copy;
    unsigned int bits = 0;
    const char *name;

    while ((name = strsep(&rest, ",")) != NULL) {
        unsigned int bit = !strcmp(name, "all") ? UINT_MAX : 0;

        for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
            bit |= !strcmp(name, changes[i].name) ? 1u << i : 0;
        }
        if (!bit && strcmp(name, "none")) {
            ovs_fatal(0, "--changes: \"%s\" is none (see --help)", name);
        }
        bits |= bit;
    }
    free(copy);
    return bits;
}

static void
usage(void)
{
    printf("%s: changes everything for a long time and watches memory\n"
           "usage: %s [OPTIONS]; without any, a short test\n"
           "  --seconds N               length (600)\n"
           "  --load NAME[,NAME...]|all|none     as in bench-latency (all)\n"
           "  --changes NAME[,NAME...]|all|none  what comes and goes (all):\n"
           "                           ", program_name, program_name);
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        printf(" %s", changes[i].name);
    }
    printf("\n  --flows N                 that stay (%"PRIu64")\n"
           "  --verbose                 print the stalls\n", opts.n_flows);
    exit(EXIT_SUCCESS);
}

static void
parse_options(int argc, char *argv[])
{
    static const struct option options[] = {
        { "seconds", required_argument, NULL, 's' },
        { "load", required_argument, NULL, 'L' },
        { "changes", required_argument, NULL, 'c' },
        { "flows", required_argument, NULL, 'f' },
        { "fault", required_argument, NULL, 'F' },
        { "verbose", no_argument, NULL, 'v' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    char *error;
    int c;

    while ((c = getopt_long(argc, argv, "hv", options, NULL)) != -1) {
        switch (c) {
        case 's':
            opts.seconds = option_number("seconds", 1, 86400);
            break;
        case 'L':
            error = control_load_parse(optarg, &opts.loads);
            if (error) {
                ovs_fatal(0, "--load: %s (see --help of bench-latency)",
                          error);
            }
            break;
        case 'c':
            opts.changes = parse_changes(optarg);
            break;
        case 'f':
            opts.n_flows = option_number("flows", 64, 1 << 20);
            break;
        case 'F':
            if (strcmp(optarg, "leak")) {
                ovs_fatal(0, "--fault: leak is the only one");
            }
            opts.leak = true;
            break;
        case 'v':
            opts.verbose = true;
            break;
        case 'h':
            usage();
            break;
        default:
            exit(2);
        }
    }
    if (optind < argc) {
        ovs_fatal(0, "%s: no argument expected", argv[optind]);
    }
}

int
main(int argc, char *argv[])
{
    bool grown;

    set_program_name(argv[0]);
    if (argc == 1) {
        return run_short() ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    parse_options(argc, argv);
#ifdef M_ARENA_MAX
    if (!getenv("MALLOC_ARENA_MAX")) {
        mallopt(M_ARENA_MAX, 1);
    }
#endif
    open_all(&soak);
    grown = run(&soak);
    close_all(&soak);
    verify_callbacks(&soak);

    if (grown && !SANITIZED && !opts.leak) {
        fail(&soak, "memory has grown");
    } else if (opts.leak && !grown) {
        fail(&soak, "a leak of %d kB in each cycle was not noticed",
             LEAK_PIECES * LEAK_BYTES / 1000);
    }
    printf("%s\n", soak.n_errors ? "FAILED" : "ok");
    return soak.n_errors ? EXIT_FAILURE : EXIT_SUCCESS;
}
