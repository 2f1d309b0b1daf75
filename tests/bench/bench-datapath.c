/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "command-line.h"
#include "bench/dp-driver.h"
#include "dp-packet.h"
#include "dpif.h"
#include "bench/flow-put.h"
#include "bench/flow-set.h"
#include "bench/options.h"
#include "flow.h"
#include "netdev.h"
#include "openvswitch/ofpbuf.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "bench/synthetic-netdev.h"
#include "util.h"

/* bench-datapath: one measurement of a userspace datapath
 * =======================================================
 *
 * Mode "forward" installs flows in the PMD thread of one core, lets a
 * synthetic port receive packets that match them, and measures how many it
 * gets through with in a second of its processor time.  Afterwards it compares
 * what went in with what came out, port by port, with the statistics of every
 * flow and with the counters of lookups.  A share of the packets may match no
 * flow; the upper layer refuses them, so the datapath drops each and counts it
 * as a failed upcall. (Its buffer is freed then and another allocated: part of
 * the cost of such a packet, for any datapath.)
 *
 * Mode "puts" measures how fast flows are installed and deleted, and how much
 * memory each takes.
 *
 * Either prints one line of "name=value" words.  The exit status says only
 * whether the verification passed: a bench reports, it does not judge. */

enum { MAX_OUTPUTS = 16 };
enum { MAX_CONFIG = 16 };
enum { PATIENCE = 100 };        /* Tenths of a second. */
enum { MAX_STRETCH = 5 };

enum bench_mode { MODE_FORWARD, MODE_PUTS };

static struct bench_options {
    enum bench_mode mode;
    uint64_t n_flows;
    uint64_t n_microflows;      /* 0: as many as flows. */
    unsigned int n_masks;
    enum flow_set_kind kind;
    enum flow_choice choice;
    double exponent;            /* Of the Zipf distribution. */
    double absent;              /* Share of packets that match no flow. */
    bool rss;
    bool smc;
    int emc_inv_prob;           /* -1: the datapath's default. */
    bool verify;                /* Count each flow's packets on their way
                                 * out. */
    unsigned int n_outputs;
    double seconds, warmup;
    unsigned int pmd_core, main_core;
    uint64_t seed;
    const char *impl;           /* For dpif-netdev/dpif-impl-set, or NULL. */
    const char *config[MAX_CONFIG];     /* KEY=VALUE, for other_config. */
    size_t n_config;
    const char *label;
} opts = {
    .n_flows = 1000,
    .n_masks = 1,
    .exponent = 1.0,
    .rss = true,
    .emc_inv_prob = -1,
    .n_outputs = 1,
    .seconds = 2.0,
    .warmup = 1.0,
    .pmd_core = 1,
    .seed = 1,
};

static const char *const kind_names[] = { "ipv4", "ipv6", "vlan", "tse" };
static const char *const choice_names[] = { "uniform", "zipf", "robin" };

/* Checks what comes out of one port.  Its members belong to the one thread
 * that sends, and to the main thread once traffic has come to rest. */
struct output {
    struct synthetic_sink up;
    const struct flow_set *set;
    struct netdev *netdev;
    unsigned int index;
    uint64_t flow_sum;          /* As in struct flow_source. */
    uint64_t n_wrong;           /* Packets that should not come out here. */
    uint32_t *per_flow;         /* Packets of each flow, or NULL. */
};

struct bench {
    struct dp_driver driver;
    struct flow_set set;
    struct flow_source source;
    struct flow_put put;
    struct netdev *input;
    odp_port_t in_port;
    struct output outputs[MAX_OUTPUTS];
    odp_port_t out_ports[MAX_OUTPUTS];
    uint32_t *per_flow;

    /* Packets that went up, and those of them that a flow matches: the flows
     * are there before the packets are.  Written by the PMD thread, relaxed;
     * read when traffic has come to rest. */
    atomic_uint64_t n_upcalls, n_wrong_upcalls;
};

static double
read_clock(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static double
now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Processor time of the calling thread. */
static double
cpu_now(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void
output_take(struct synthetic_sink *up, const struct dp_packet_batch *batch,
            int qid OVS_UNUSED)
{
    struct output *output = CONTAINER_OF(up, struct output, up);
    const struct flow_set *set = output->set;
    uint64_t sum = 0, wrong = 0;

    for (size_t i = 0; i < batch->count; i++) {
        uint32_t flow = flow_set_packet_flow(set, batch->packets[i]);

        if (OVS_UNLIKELY(flow == UINT32_MAX
                         || (set->n_outputs > 1
                             && flow % set->n_outputs != output->index))) {
            wrong++;
            continue;
        }
        sum += 1 + flow;
        if (output->per_flow) {
            output->per_flow[flow]++;
        }
    }
    output->flow_sum += sum;
    output->n_wrong += wrong;
}

static void
add_one(atomic_uint64_t *counter)
{
    uint64_t old;

    /* One writer. */
    atomic_read_relaxed(counter, &old);
    atomic_store_relaxed(counter, old + 1);
}

static uint64_t
get_count(const atomic_uint64_t *counter)
{
    uint64_t value;

    atomic_read_relaxed(CONST_CAST(atomic_uint64_t *, counter), &value);
    return value;
}

static int
refuse_upcall(const struct dp_packet *packet,
             const struct flow *flow OVS_UNUSED, ovs_u128 *ufid OVS_UNUSED,
             unsigned pmd_id OVS_UNUSED, enum dpif_upcall_type type OVS_UNUSED,
             const struct nlattr *userdata OVS_UNUSED,
             struct ofpbuf *actions OVS_UNUSED,
             struct flow_wildcards *wc OVS_UNUSED,
             struct ofpbuf *put_actions OVS_UNUSED, void *bench_)
{
    struct bench *bench = bench_;

    add_one(&bench->n_upcalls);
    if (flow_set_packet_flow(&bench->set, packet) != UINT32_MAX) {
        add_one(&bench->n_wrong_upcalls);
    }
    return EIO;
}

static void
bench_configure(struct bench *b)
{
    char value[32];

    snprintf(value, sizeof value, "%llx", 1ULL << opts.pmd_core);
    dp_driver_set(&b->driver, "pmd-cpu-mask", value);
    dp_driver_set(&b->driver, "smc-enable", opts.smc ? "true" : "false");
    if (opts.emc_inv_prob >= 0) {
        snprintf(value, sizeof value, "%d", opts.emc_inv_prob);
        dp_driver_set(&b->driver, "emc-insert-inv-prob", value);
    }
    dp_driver_configure(&b->driver, opts.config, opts.n_config, opts.impl);
}

static void
bench_open(struct bench *b)
{
    char *error;

    if (sysconf(_SC_NPROCESSORS_ONLN) <= MAX(opts.pmd_core, opts.main_core)) {
        ovs_error(0, "only %ld cores are there: both threads share core 0",
                  sysconf(_SC_NPROCESSORS_ONLN));
        opts.pmd_core = opts.main_core = 0;
    }

    dp_driver_open(&b->driver, program_name);
    dp_driver_pin(opts.main_core);
    atomic_init(&b->n_upcalls, 0);
    atomic_init(&b->n_wrong_upcalls, 0);
    dpif_register_upcall_cb(b->driver.dpif, refuse_upcall, b);
    dpif_enable_upcall(b->driver.dpif);
    bench_configure(b);

    b->input = synthetic_open("in", true, 1);
    b->in_port = dp_driver_add_port(&b->driver, b->input);
    error = flow_set_init(&b->set, opts.n_flows, opts.n_masks,
                          opts.n_microflows, opts.kind, opts.n_outputs,
                          b->in_port);
    if (error) {
        ovs_fatal(0, "%s", error);
    }
    flow_source_init(&b->source, &b->set, opts.choice, opts.exponent,
                     opts.rss, opts.seed);
    flow_source_set_absent(&b->source, opts.absent);

    if (opts.verify) {
        b->per_flow = xcalloc(b->set.n_flows, sizeof *b->per_flow);
    }
    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        struct output *output = &b->outputs[i];
        char name[16];

        snprintf(name, sizeof name, "out%u", i);
        output->up.take = output_take;
        output->set = &b->set;
        output->index = i;
        output->per_flow = b->per_flow;
        output->netdev = synthetic_open(name, true, 0);
        synthetic_set_sink(output->netdev, &output->up);
        b->out_ports[i] = dp_driver_add_port(&b->driver, output->netdev);
    }
    flow_put_init(&b->put, &b->set, b->driver.dpif, opts.pmd_core,
                  b->out_ports);
}

static void
bench_close(struct bench *b)
{
    dpif_port_del(b->driver.dpif, b->in_port, false);
    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        dpif_port_del(b->driver.dpif, b->out_ports[i], false);
    }
    dpif_disable_upcall(b->driver.dpif);
    dp_driver_close(&b->driver);
    netdev_close(b->input);
    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        netdev_close(b->outputs[i].netdev);
    }
    flow_put_destroy(&b->put);
    flow_source_destroy(&b->source);
    free(b->per_flow);
}

static uint64_t
packets_out(const struct bench *b, uint64_t *bytes)
{
    uint64_t n = 0, n_bytes = 0;

    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        struct synthetic_counters c;

        synthetic_get_counters(b->outputs[i].netdev, &c);
        n += c.tx_packets;
        n_bytes += c.tx_bytes;
    }
    if (bytes) {
        *bytes = n_bytes;
    }
    return n;
}

static uint64_t
packets_in(const struct bench *b)
{
    struct synthetic_counters c;

    synthetic_get_counters(b->input, &c);
    return c.rx_packets;
}

/* Stops the traffic and waits until all that came in has come out or gone up.
 * If that does not happen, gives up when no counter has moved for a long time:
 * on a busy machine the PMD thread may wait for its turn with packets in
 * hand. */
static void
bench_stop(struct bench *b, struct synthetic_counters *in)
{
    uint64_t before = 0, after;
    int idle = 0;

    synthetic_set_enabled(b->input, false);
    do {
        dp_driver_run(&b->driver, 100);
        synthetic_get_counters(b->input, in);
        after = packets_out(b, NULL) + get_count(&b->n_upcalls);
        idle = after == before ? idle + 1 : 0;
        before = after;
    } while (idle < 1 || (after != in->rx_packets && idle < PATIENCE));
}

static bool
complain(const char *what, uint64_t got, uint64_t expected)
{
    if (got != expected) {
        ovs_error(0, "%s: %"PRIu64", expected %"PRIu64, what, got, expected);
        return true;
    }
    return false;
}

/* What the flows' statistics say. */
struct flow_totals {
    uint64_t n_flows, n_packets, n_bytes;
    uint64_t n_differ;          /* Flows with another count than packets. */
    int error;
};

static void
dump_flows(struct bench *b, struct flow_totals *t)
{
    struct dpif_flow_dump *dump;
    struct dpif_flow_dump_thread *thread;
    struct dpif_flow flows[50];
    int n;

    memset(t, 0, sizeof *t);
    dump = dpif_flow_dump_create(b->driver.dpif, true, NULL);
    thread = dpif_flow_dump_thread_create(dump);
    while ((n = dpif_flow_dump_next(thread, flows, ARRAY_SIZE(flows))) > 0) {
        for (int i = 0; i < n; i++) {
            uint64_t flow = flow_set_from_ufid(&flows[i].ufid);

            t->n_flows++;
            t->n_packets += flows[i].stats.n_packets;
            t->n_bytes += flows[i].stats.n_bytes;
            t->n_differ += (flow >= b->set.n_flows
                            || (b->per_flow && flows[i].stats.n_packets
                                               != b->per_flow[flow]));
        }
    }
    dpif_flow_dump_thread_destroy(thread);
    t->error = dpif_flow_dump_destroy(dump);
}

/* Takes off 'in' the packets that match no flow. */
static void
leave_out_absent(const struct bench *b, struct synthetic_counters *in)
{
    uint64_t n_absent = flow_source_n_absent(&b->source);

    in->rx_packets -= n_absent;
    in->rx_bytes -= n_absent * b->set.frame_len;
}

/* Compares the flows' statistics with what went in and matches a flow.  A
 * datapath may count a packet a little later than it sends it. */
static bool
flows_add_up(struct bench *b, const struct synthetic_counters *in)
{
    struct flow_totals t;
    bool bad = false;

    for (int i = 0; i < PATIENCE; i++) {
        dump_flows(b, &t);
        if (t.n_packets == in->rx_packets) {
            break;
        }
        dp_driver_run(&b->driver, 100);
    }
    bad |= complain("error of the dump", t.error, 0);
    bad |= complain("flows in the dump", t.n_flows, b->set.n_flows);
    bad |= complain("packets of all flows", t.n_packets, in->rx_packets);
    bad |= complain("bytes of all flows", t.n_bytes, in->rx_bytes);
    bad |= complain("flows whose packets are wrong", t.n_differ, 0);
    return !bad;
}

static bool
outputs_add_up(struct bench *b, const struct synthetic_counters *in)
{
    uint64_t n_bytes, n_packets = packets_out(b, &n_bytes);
    uint64_t sum = 0, wrong = 0;
    bool bad = false;

    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        sum += b->outputs[i].flow_sum;
        wrong += b->outputs[i].n_wrong;
    }
    bad |= complain("packets out", n_packets, in->rx_packets);
    bad |= complain("bytes out", n_bytes, in->rx_bytes);
    bad |= complain("sum of flow numbers out", sum,
                    flow_source_sum(&b->source));
    bad |= complain("packets out of the wrong port", wrong, 0);
    bad |= complain("upcalls", get_count(&b->n_upcalls),
                    flow_source_n_absent(&b->source));
    bad |= complain("upcalls of packets that a flow matches",
                    get_count(&b->n_wrong_upcalls), 0);
    return !bad;
}

/* What pmd-stats-show says about lookups, as counts. */
struct hits {
    double emc, smc, simple, megaflow;
    double lookups;             /* Subtables looked into by megaflow hits. */
    double missed, lost;        /* Misses that went well, and that did not. */
};

/* A count that is missing is 0, and so does not add up. */
static double
lookup_count(const char *stats, const char *label)
{
    return MAX(0, dp_driver_stat(stats, opts.pmd_core, label));
}

static void
get_hits(struct bench *b, struct hits *h)
{
    const char *argv[] = { "dpif-netdev/pmd-stats-show", NULL };
    char *stats = dp_driver_appctl(&b->driver, argv, NULL);

    h->emc = lookup_count(stats, "emc hits:");
    h->smc = lookup_count(stats, "smc hits:");
    h->simple = lookup_count(stats, "simple match hits:");
    h->megaflow = lookup_count(stats, "megaflow hits:");
    h->missed = lookup_count(stats, "miss with success upcall:");
    h->lost = lookup_count(stats, "miss with failed upcall:");
    h->lookups = h->megaflow * lookup_count(stats,
                                            "lookups per megaflow hit:");
    free(stats);
}

static double
found(const struct hits *h)
{
    return h->emc + h->smc + h->simple + h->megaflow;
}

/* Compares the counters of lookups, since the PMD thread began, with what went
 * in and matches a flow. */
static bool
hits_add_up(struct bench *b, const struct synthetic_counters *in)
{
    struct hits h;
    bool bad = false;

    get_hits(b, &h);
    bad |= complain("lookups that found a flow", found(&h), in->rx_packets);
    bad |= complain("misses with successful upcall", h.missed, 0);
    bad |= complain("misses with failed upcall", h.lost,
                    flow_source_n_absent(&b->source));
    return !bad;
}

/* Prints the rates between two moments, and where the packets were found. */
static void
print_hits(const struct hits *h0, const struct hits *h1)
{
    double mega = h1->megaflow - h0->megaflow;
    double missed = h1->missed - h0->missed + h1->lost - h0->lost;
    double all = found(h1) - found(h0) + missed;

    printf("emc_hits=%.4f smc_hits=%.4f simple_hits=%.4f megaflow_hits=%.4f "
           "misses=%.4f lookups_per_hit=%.2f ",
           (h1->emc - h0->emc) / all, (h1->smc - h0->smc) / all,
           (h1->simple - h0->simple) / all, mega / all, missed / all,
           mega ? (h1->lookups - h0->lookups) / mega : 0.0);
}

static void
print_head(const char *mode)
{
    printf("datapath=%s mode=%s flows=%"PRIu64" masks=%u kind=%s ",
           opts.label, mode, opts.n_flows, opts.n_masks,
           kind_names[opts.kind]);
}

static bool
install_all(struct bench *b)
{
    int error = 0;
    uint64_t failed = flow_put_install(&b->put, 0, b->set.n_flows, &error);

    if (failed) {
        ovs_error(error, "%"PRIu64" flows cannot be installed", failed);
    }
    return !failed;
}

/* Returns when the PMD thread has worked for about 'seconds', which takes
 * longer where others use its core, but at most MAX_STRETCH times as long. */
static void
let_pmd_work(struct bench *b, double seconds)
{
    double begin = dp_driver_pmd_cpu(opts.pmd_core);
    double deadline = now() + seconds * MAX_STRETCH;
    double left = seconds;

    do {
        dp_driver_run(&b->driver, left * 1000);
        left = begin < 0 ? 0 : (seconds + begin
                                - dp_driver_pmd_cpu(opts.pmd_core));
    } while (left > seconds / 20 && now() < deadline);
}

static bool
run_forward(struct bench *b)
{
    struct synthetic_counters in;
    struct hits h0, h1;
    uint64_t n0, n1;
    double t0, t1, cpu0, cpu1;
    bool ok;

    ok = install_all(b);
    synthetic_set_source(b->input, 0, &b->source.up);
    synthetic_set_enabled(b->input, true);
    let_pmd_work(b, opts.warmup);

    get_hits(b, &h0);
    t0 = now();
    cpu0 = dp_driver_pmd_cpu(opts.pmd_core);
    n0 = packets_in(b);
    let_pmd_work(b, opts.seconds);
    t1 = now();
    cpu1 = dp_driver_pmd_cpu(opts.pmd_core);
    n1 = packets_in(b);
    get_hits(b, &h1);

    bench_stop(b, &in);
    uint64_t n_all = in.rx_packets;
    leave_out_absent(b, &in);
    ok &= outputs_add_up(b, &in);
    ok &= flows_add_up(b, &in);
    ok &= hits_add_up(b, &in);
    if (n1 == n0) {
        ovs_error(0, "no packet came in while it was measured");
        ok = false;
    }

    /* Figures are per second of the PMD thread's processor time; 'busy' says
     * how much of the core it had. */
    double n = n1 - n0;
    double wall = t1 - t0;
    double cpu = cpu0 >= 0 && cpu1 > cpu0 ? cpu1 - cpu0 : wall;

    print_head("forward");
    printf("microflows=%"PRIu64" distribution=%s absent=%g rss=%s smc=%s "
           "emc=%d outputs=%u impl=%s seconds=%.3f busy=%.3f "
           "packets=%"PRIu64" wall_mpps=%.3f mpps=%.3f ns_per_packet=%.1f ",
           b->set.n_microflows, choice_names[opts.choice], opts.absent,
           opts.rss ? "on" : "off", opts.smc ? "on" : "off",
           opts.emc_inv_prob, opts.n_outputs,
           opts.impl ? opts.impl : "default", wall, cpu / wall, n_all,
           n / wall / 1e6, n / cpu / 1e6, n ? cpu * 1e9 / n : 0);
    print_hits(&h0, &h1);
    printf("verified=%s\n", ok ? "yes" : "no");
    return ok;
}

static uint64_t
count_flows(struct bench *b)
{
    struct dpif_dp_stats stats;

    memset(&stats, 0, sizeof stats);
    dpif_get_dp_stats(b->driver.dpif, &stats);
    return stats.n_flows;
}

static bool
run_puts(struct bench *b)
{
    uint64_t before, after, failed;
    double t0, t1, t2, t3, wall;
    bool ok;
    int error = 0;

    /* Let start-up garbage go, and then the tables that puts outgrew. */
    dp_driver_run(&b->driver, 100);
    ovsrcu_barrier();
    before = dp_driver_memory();

    wall = now();
    t0 = cpu_now();
    ok = install_all(b);
    t1 = cpu_now();
    wall = now() - wall;
    dp_driver_run(&b->driver, 100);
    ovsrcu_barrier();
    after = dp_driver_memory();
    ok &= !complain("flows after puts", count_flows(b), b->set.n_flows);

    t2 = cpu_now();
    failed = flow_put_delete(&b->put, 0, b->set.n_flows, &error);
    t3 = cpu_now();
    ok &= !complain("failed deletions", failed, 0);
    ok &= !complain("flows after deletions", count_flows(b), 0);

    print_head("puts");
    printf("wall_puts_per_s=%.0f puts_per_s=%.0f dels_per_s=%.0f "
           "bytes_per_flow=%.1f verified=%s\n", b->set.n_flows / wall,
           b->set.n_flows / (t1 - t0), b->set.n_flows / (t3 - t2),
           ((double) after - before) / b->set.n_flows, ok ? "yes" : "no");
    return ok;
}

/* Command line. */

static void
usage(void)
{
    printf("%s: measures a userspace datapath\n"
           "usage: %s [OPTIONS]\n"
           "  --mode forward|puts        what to measure (forward)\n"
           "  --flows N                  megaflows (1000)\n"
           "  --masks M                  different masks (1)\n"
           "  --microflows N             different packets (as many as "
           "flows)\n"
           "  --distribution uniform|zipf|robin\n"
           "  --zipf-exponent X          (1.0)\n"
           "  --absent X                 share of packets that match no flow "
           "(0)\n"
           "  --ipv6, --vlan             instead of plain IPv4\n"
           "  --tse                      as many flows as masks, whose masks "
           "are made of\n"
           "                             prefixes of two fields (up to 512) "
           "or three\n"
           "  --rss on|off               packets come with a hash (on)\n"
           "  --smc on|off               smc-enable (off)\n"
           "  --emc N                    emc-insert-inv-prob\n"
           "  --impl NAME                dpif-netdev/dpif-impl-set NAME\n"
           "  --config KEY=VALUE         other_config:KEY=VALUE; may be "
           "repeated\n"
           "  --outputs N                ports that packets leave by (1)\n"
           "  --seconds S, --warmup S    of the PMD thread's work (2, 1)\n"
           "  --pmd-core N, --main-core N  (1, 0)\n"
           "  --seed N                   (1)\n"
           "  --verify                   check each flow's count, too\n"
           "  --label NAME               for the output line\n"
           "  -h, --help\n", program_name, program_name);
    exit(EXIT_SUCCESS);
}

static double
parse_real(const char *option, double min, double max)
{
    char *tail;
    double value = strtod(optarg, &tail);

    if (*tail || tail == optarg || !(value >= min && value <= max)) {
        ovs_fatal(0, "--%s: %s is not a number from %g to %g",
                  option, optarg, min, max);
    }
    return value;
}

static int
parse_choice(const char *option, const char *const names[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(optarg, names[i])) {
            return i;
        }
    }
    ovs_fatal(0, "--%s: %s is none of its values", option, optarg);
}

static void
add_config(const char *assign)
{
    if (!strchr(assign, '=')) {
        ovs_fatal(0, "--config: %s is not of the form KEY=VALUE", assign);
    }
    if (opts.n_config >= MAX_CONFIG) {
        ovs_fatal(0, "--config: more than %d of them", MAX_CONFIG);
    }
    opts.config[opts.n_config++] = assign;
}

static void
parse_option(int c)
{
    static const char *const modes[] = { "forward", "puts" };
    static const char *const switches[] = { "off", "on" };

    switch (c) {
    case 'M':
        opts.mode = parse_choice("mode", modes, ARRAY_SIZE(modes));
        break;
    case 'f':
        opts.n_flows = option_number("flows", 1, 1 << 25);
        break;
    case 'm':
        opts.n_masks = option_number("masks", 1, FLOW_SET_MAX_TSE_MASKS);
        break;
    case 'u':
        opts.n_microflows = option_number("microflows", 1, UINT32_MAX);
        break;
    case 'd':
        opts.choice = parse_choice("distribution", choice_names,
                                   ARRAY_SIZE(choice_names));
        break;
    case 'z':
        opts.exponent = parse_real("zipf-exponent", 0.01, 10);
        break;
    case 'a':
        opts.absent = parse_real("absent", 0, 1);
        break;
    case '6':
    case 'v':
    case 't':
        opts.kind = (c == '6' ? FLOW_SET_IPV6
                     : c == 'v' ? FLOW_SET_VLAN : FLOW_SET_TSE);
        break;
    case 'r':
        opts.rss = parse_choice("rss", switches, ARRAY_SIZE(switches));
        break;
    case 's':
        opts.smc = parse_choice("smc", switches, ARRAY_SIZE(switches));
        break;
    case 'e':
        opts.emc_inv_prob = option_number("emc", 0, INT_MAX);
        break;
    case 'i':
        opts.impl = optarg;
        break;
    case 'C':
        add_config(optarg);
        break;
    case 'o':
        opts.n_outputs = option_number("outputs", 1, MAX_OUTPUTS);
        break;
    case 'S':
        opts.seconds = parse_real("seconds", 0.01, 86400);
        break;
    case 'w':
        opts.warmup = parse_real("warmup", 0, 86400);
        break;
    case 'p':
        opts.pmd_core = option_number("pmd-core", 0, 63);
        break;
    case 'c':
        opts.main_core = option_number("main-core", 0, 63);
        break;
    case 'x':
        opts.seed = option_number("seed", 0, UINT64_MAX);
        break;
    case 'V':
        opts.verify = true;
        break;
    case 'l':
        opts.label = optarg;
        break;
    case 'h':
        usage();
        break;
    default:
        exit(2);
    }
}

int
main(int argc, char *argv[])
{
    static const struct option options[] = {
        { "mode", required_argument, NULL, 'M' },
        { "flows", required_argument, NULL, 'f' },
        { "masks", required_argument, NULL, 'm' },
        { "microflows", required_argument, NULL, 'u' },
        { "distribution", required_argument, NULL, 'd' },
        { "zipf-exponent", required_argument, NULL, 'z' },
        { "absent", required_argument, NULL, 'a' },
        { "ipv6", no_argument, NULL, '6' },
        { "vlan", no_argument, NULL, 'v' },
        { "tse", no_argument, NULL, 't' },
        { "rss", required_argument, NULL, 'r' },
        { "smc", required_argument, NULL, 's' },
        { "emc", required_argument, NULL, 'e' },
        { "impl", required_argument, NULL, 'i' },
        { "config", required_argument, NULL, 'C' },
        { "outputs", required_argument, NULL, 'o' },
        { "seconds", required_argument, NULL, 'S' },
        { "warmup", required_argument, NULL, 'w' },
        { "pmd-core", required_argument, NULL, 'p' },
        { "main-core", required_argument, NULL, 'c' },
        { "seed", required_argument, NULL, 'x' },
        { "verify", no_argument, NULL, 'V' },
        { "label", required_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    static struct bench bench;
    bool ok;
    int c;

    set_program_name(argv[0]);
    opts.label = xstrdup(program_name);
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        parse_option(c);
    }
    if (optind < argc) {
        ovs_fatal(0, "%s: no argument expected", argv[optind]);
    }

    if (opts.kind == FLOW_SET_TSE) {
        opts.n_flows = opts.n_masks;
    }

    bench_open(&bench);
    ok = opts.mode == MODE_PUTS ? run_puts(&bench) : run_forward(&bench);
    fflush(stdout);
    bench_close(&bench);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
