/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench/control-load.h"
#include "bench/dp-driver.h"
#include "bench/flow-put.h"
#include "bench/flow-set.h"
#include "bench/options.h"
#include "bench/latency-histogram.h"
#include "bench/synthetic-netdev.h"
#include "dp-packet.h"
#include "dpif.h"
#include "netdev.h"
#include "openvswitch/poll-loop.h"
#include "ovs-atomic.h"
#include "packets.h"
#include "timeval.h"
#include "unaligned.h"
#include "util.h"

/* bench-latency: how evenly a PMD thread works beside control threads
 * ===================================================================
 *
 * A PMD thread forwards packets of a synthetic port, which has a full burst
 * each time that it is polled, alone on its core.  The control threads of
 * control-load.h do their work on another.  Measured are, besides throughput:
 *
 *   - the gap: the time from one poll of the queue to the next;
 *
 *   - the packet's time in the switch: from the end of the poll that received
 *     it to when it is sent.
 *
 * Nothing of that time is spent outside of the datapath, but for what the
 * machine itself takes away: interrupts, a hypervisor.  "--spin" measures that
 * floor, with a loop on the same core that does nothing and a gap of 6 us.
 *
 * The PMD thread itself takes the clocks at the begin and the end of the
 * measurement, since the main thread shares its core with the loads.
 *
 * Prints one line of "name=value" words.  The exit status says whether every
 * packet that was received was sent, out of the right port, and whether every
 * load did something; not how good the figures are. */

enum { MAX_OUTPUTS = 16 };
enum { MAX_CONFIG = 16 };
enum { N_SPARE = 4096 };        /* Flows for the load to put and delete. */
enum { PATIENCE = 100 };        /* Tenths of a second. */
enum { SPIN_US = 6 };

static struct bench_options {
    unsigned int loads;         /* Bits, as in struct control_load_config. */
    const char *load_names;
    uint64_t n_flows;
    unsigned int n_outputs;
    double seconds, warmup;
    unsigned int pmd_core, main_core;
    bool spin;
    const char *impl;           /* For dpif-netdev/dpif-impl-set, or NULL. */
    const char *config[MAX_CONFIG];     /* KEY=VALUE, for other_config. */
    size_t n_config;
    const char *histogram;      /* File name, or NULL. */
    const char *label;
} opts = {
    .load_names = "none",
    .n_flows = 10000,
    .n_outputs = 1,
    .seconds = 3.0,
    .warmup = 0.5,
    .pmd_core = 1,
};

enum phase { PHASE_WARMUP, PHASE_MEASURE, PHASE_OVER };

/* What the measuring thread read at one moment. */
struct moment {
    uint64_t ticks;
    uint64_t wall_ns, cpu_ns;
    long int n_switches;        /* Involuntary context switches... */
    long int n_sleeps;          /* ...and voluntary ones. */
};

/* What is measured.  Everything but 'phase' and 'closed' belongs to the
 * thread that measures, and to the main thread when it has seen 'closed'. */
struct record {
    atomic_int phase;           /* Set by the main thread, relaxed. */
    enum phase seen;
    uint64_t last_poll;         /* In ticks. */
    uint64_t n_packets;
    struct moment begin, end;
    struct latency_histogram gaps, times;

    /* Set at the end, release; the main thread's load is an acquire. */
    atomic_bool closed;
};

struct stamping_source {
    struct synthetic_source up;
    struct flow_source packets;
    struct record *record;
};

/* As in struct record: the PMD thread's until traffic has come to rest. */
struct output {
    struct synthetic_sink up;
    const struct flow_set *set;
    struct record *record;
    struct netdev *netdev;
    unsigned int index;
    uint64_t flow_sum;          /* As in struct flow_source. */
    uint64_t n_wrong;           /* Packets that should not come out here. */
};

struct bench {
    struct dp_driver driver;
    struct flow_set set;        /* The flows of the traffic. */
    struct flow_set all;        /* These and the spare ones. */
    struct flow_put put;        /* Of 'all'. */
    struct stamping_source source;
    struct record record;
    struct netdev *input;
    odp_port_t in_port;
    struct output outputs[MAX_OUTPUTS];
    odp_port_t out_ports[MAX_OUTPUTS];
    uint64_t n_done[CONTROL_LOAD_N_KINDS];
};

/* Clocks. */

static uint64_t
read_clock_ns(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static inline uint64_t
read_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    return read_clock_ns(CLOCK_MONOTONIC);
#endif
}

static void
moment_take(struct moment *m)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    m->n_switches = usage.ru_nivcsw;
    m->n_sleeps = usage.ru_nvcsw;
    m->cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    m->wall_ns = read_clock_ns(CLOCK_MONOTONIC);
    m->ticks = read_ticks();
}

static double
ticks_per_us(const struct record *r)
{
    return ((r->end.ticks - r->begin.ticks) * 1000.0
            / (r->end.wall_ns - r->begin.wall_ns));
}

/* What the PMD thread does. */

/* Takes note that the measurement begins, or ends.  Its own time is part of no
 * gap. */
static void
record_change(struct record *r, enum phase phase)
{
    if (phase == PHASE_MEASURE) {
        moment_take(&r->begin);
    } else {
        moment_take(&r->end);
        atomic_store_explicit(&r->closed, true, memory_order_release);
    }
    r->seen = phase;
}

/* Takes note of a poll that begins now and returns 'n' packets. */
static inline void
record_poll(struct record *r, size_t n)
{
    int phase;

    atomic_read_relaxed(&r->phase, &phase);
    if (OVS_UNLIKELY(phase != r->seen)) {
        record_change(r, phase);
        r->last_poll = read_ticks();
        r->n_packets += phase == PHASE_MEASURE ? n : 0;
    } else if (phase == PHASE_MEASURE) {
        uint64_t now = read_ticks();

        latency_histogram_add(&r->gaps, now - r->last_poll);
        r->last_poll = now;
        r->n_packets += n;
    }
}

/* Where in a packet of 'set' there is room for the time of its reception:
 * behind what the flow set writes. */
static inline size_t
stamp_ofs(const struct flow_set *set)
{
    return set->frame_len - sizeof(ovs_32aligned_u64);
}

static size_t
stamping_fill(struct synthetic_source *up, struct dp_packet **packets,
              size_t n)
{
    struct stamping_source *source = CONTAINER_OF(up, struct stamping_source,
                                                  up);
    size_t ofs = stamp_ofs(source->packets.set);
    uint64_t now;

    record_poll(source->record, n);
    n = source->packets.up.fill(&source->packets.up, packets, n);
    now = read_ticks();
    for (size_t i = 0; i < n; i++) {
        memcpy((char *) dp_packet_data(packets[i]) + ofs, &now, sizeof now);
    }
    return n;
}

static void
output_take(struct synthetic_sink *up, const struct dp_packet_batch *batch,
            int qid OVS_UNUSED)
{
    struct output *output = CONTAINER_OF(up, struct output, up);
    const struct flow_set *set = output->set;
    struct record *r = output->record;
    bool measure = r->seen == PHASE_MEASURE;
    uint64_t now = read_ticks();

    for (size_t i = 0; i < batch->count; i++) {
        const struct dp_packet *p = batch->packets[i];
        uint32_t flow = flow_set_packet_flow(set, p);
        uint64_t then;

        if (OVS_UNLIKELY(flow == UINT32_MAX
                         || (set->n_outputs > 1
                             && flow % set->n_outputs != output->index))) {
            output->n_wrong++;
            continue;
        }
        output->flow_sum += 1 + flow;
        if (measure) {
            memcpy(&then, (const char *) dp_packet_data(p) + stamp_ofs(set),
                   sizeof then);
            latency_histogram_add(&r->times, now - then);
        }
    }
}

/* The machine's own floor. */

/* Does nothing, for a time that depends on 'n' alone. */
static void
spin(unsigned int n)
{
    uint64_t x = 1;

    while (n--) {
        x *= 3;
        asm volatile("" : "+r" (x));    /* One multiplication after another. */
    }
}

/* Returns how often spin() has to go around to take SPIN_US. */
static unsigned int
spin_calibrate(void)
{
    enum { TRY = 20000 };
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 100; i++) {
        uint64_t begin = read_clock_ns(CLOCK_MONOTONIC);

        spin(TRY);
        best = MIN(best, read_clock_ns(CLOCK_MONOTONIC) - begin);
    }
    return MAX(1, TRY * (SPIN_US * 1000.0) / best);
}

static void
run_spin(struct record *r)
{
    unsigned int n;
    uint64_t end;

    if (!dp_driver_pin(opts.pmd_core)) {
        ovs_fatal(errno, "cannot run on core %u", opts.pmd_core);
    }
    n = spin_calibrate();
    end = read_clock_ns(CLOCK_MONOTONIC) + opts.seconds * 1e9;
    atomic_store_relaxed(&r->phase, PHASE_MEASURE);
    do {
        /* The clock is read seldom: it is no part of the loop. */
        for (int i = 0; i < 1000; i++) {
            record_poll(r, 0);
            spin(n);
        }
    } while (read_clock_ns(CLOCK_MONOTONIC) < end);
    atomic_store_relaxed(&r->phase, PHASE_OVER);
    record_poll(r, 0);
}

/* Setting up. */

static void
bench_configure(struct bench *b)
{
    char value[32];

    snprintf(value, sizeof value, "%llx", 1ULL << opts.pmd_core);
    dp_driver_set(&b->driver, "pmd-cpu-mask", value);
    dp_driver_configure(&b->driver, opts.config, opts.n_config, opts.impl);
}

static void
init_set(struct flow_set *set, uint64_t n_flows, odp_port_t in_port)
{
    char *error = flow_set_init(set, n_flows, 1, 0, FLOW_SET_IPV4,
                                opts.n_outputs, in_port);

    if (error) {
        ovs_fatal(0, "%s", error);
    }
}

static void
bench_open(struct bench *b)
{
    /* Before there are other threads: they all stay there, but for the PMD
     * thread, which goes to its own core. */
    if (!dp_driver_pin(opts.main_core)) {
        ovs_fatal(errno, "cannot run on core %u", opts.main_core);
    }
    dp_driver_open(&b->driver, program_name);
    bench_configure(b);

    b->input = synthetic_open("in", true, 1);
    b->in_port = dp_driver_add_port(&b->driver, b->input);
    init_set(&b->set, opts.n_flows, b->in_port);
    init_set(&b->all, opts.n_flows + N_SPARE, b->in_port);
    b->source.up.fill = stamping_fill;
    b->source.record = &b->record;
    flow_source_init(&b->source.packets, &b->set, FLOW_CHOICE_UNIFORM, 0,
                     true, 1);

    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        struct output *output = &b->outputs[i];
        char name[16];

        snprintf(name, sizeof name, "out%u", i);
        output->up.take = output_take;
        output->set = &b->set;
        output->record = &b->record;
        output->index = i;
        output->netdev = synthetic_open(name, true, 0);
        synthetic_set_sink(output->netdev, &output->up);
        b->out_ports[i] = dp_driver_add_port(&b->driver, output->netdev);
    }
    flow_put_init(&b->put, &b->all, b->driver.dpif, opts.pmd_core,
                  b->out_ports);
}

static void
bench_close(struct bench *b)
{
    dpif_port_del(b->driver.dpif, b->in_port, false);
    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        dpif_port_del(b->driver.dpif, b->out_ports[i], false);
    }
    dp_driver_close(&b->driver);
    netdev_close(b->input);
    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        netdev_close(b->outputs[i].netdev);
    }
    flow_put_destroy(&b->put);
    flow_source_destroy(&b->source.packets);
}

/* Measuring and checking. */

static bool
complain(const char *what, uint64_t got, uint64_t expected)
{
    if (got != expected) {
        ovs_error(0, "%s: %"PRIu64", expected %"PRIu64, what, got, expected);
        return true;
    }
    return false;
}

static uint64_t
packets_out(const struct bench *b)
{
    uint64_t n = 0;

    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        struct synthetic_counters c;

        synthetic_get_counters(b->outputs[i].netdev, &c);
        n += c.tx_packets;
    }
    return n;
}

/* Stops the traffic, waits until it has come to rest, and compares what came
 * out with what went in. */
static bool
stop_and_verify(struct bench *b)
{
    struct synthetic_counters in;
    uint64_t sum = 0, wrong = 0, before = 0, after;
    bool bad = false;
    int idle = 0;

    synthetic_set_enabled(b->input, false);
    do {
        dp_driver_run(&b->driver, 100);
        synthetic_get_counters(b->input, &in);
        after = packets_out(b);
        idle = after == before ? idle + 1 : 0;
        before = after;
    } while (idle < 1 || (after != in.rx_packets && idle < PATIENCE));

    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        sum += b->outputs[i].flow_sum;
        wrong += b->outputs[i].n_wrong;
    }
    bad |= complain("packets out", after, in.rx_packets);
    bad |= complain("packets out of the wrong port", wrong, 0);
    bad |= complain("sum of flow numbers out", sum,
                    flow_source_sum(&b->source.packets));
    printf("received=%"PRIu64" sent=%"PRIu64" ", in.rx_packets, after);
    return !bad;
}

static bool
loads_worked(const struct bench *b)
{
    bool ok = true;

    for (size_t i = 0; i < CONTROL_LOAD_N_KINDS; i++) {
        if (opts.loads & (1u << i) && !b->n_done[i]) {
            ovs_error(0, "load %s: did nothing, or failed",
                      control_load_name(i));
            ok = false;
        }
    }
    return ok;
}

/* Waits until the PMD thread has ended its measurement.  Returns false if it
 * seems to be stuck. */
static bool
wait_until_closed(struct bench *b)
{
    for (int i = 0; i < PATIENCE; i++) {
        bool closed;

        dp_driver_run(&b->driver, 1 + i);
        atomic_read_explicit(&b->record.closed, &closed,
                             memory_order_acquire);
        if (closed) {
            return true;
        }
    }
    return false;
}

static bool
run_forward(struct bench *b)
{
    struct control_load_config config = {
        .kinds = opts.loads,
        .driver = &b->driver,
        .core = opts.main_core,
        .put = &b->put,
        .n_flows = opts.n_flows,
        .n_spare = N_SPARE,
    };
    struct control_load *load;
    bool ok, closed;
    int error = 0;

    if (flow_put_install(&b->put, 0, opts.n_flows, &error)) {
        ovs_fatal(error, "cannot install the flows");
    }
    synthetic_set_source(b->input, 0, &b->source.up);
    synthetic_set_enabled(b->input, true);
    dp_driver_run(&b->driver, opts.warmup * 1000);

    load = control_load_start(&config);
    dp_driver_run(&b->driver, opts.warmup * 1000);
    atomic_store_relaxed(&b->record.phase, PHASE_MEASURE);
    dp_driver_run(&b->driver, opts.seconds * 1000);
    atomic_store_relaxed(&b->record.phase, PHASE_OVER);
    closed = wait_until_closed(b);
    control_load_stop(load, b->n_done);

    ok = stop_and_verify(b);
    if (!closed || !b->record.gaps.n) {
        ovs_error(0, "the PMD thread did not poll while it was measured");
        ok = false;
    }
    return loads_worked(b) && ok;
}

/* Printing. */

static void
print_histogram(const char *name, const struct latency_histogram *h,
                double per_us)
{
    static const struct {
        const char *name;
        double share;
    } percentiles[] = {
        { "median", 0.5 }, { "p99", 0.99 }, { "p9999", 0.9999 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++) {
        printf("%s_%s_us=%.3f ", name, percentiles[i].name,
               latency_histogram_percentile(h, percentiles[i].share)
               / per_us);
    }
    printf("%s_longest_us=%.3f %s_above_20us=%"PRIu64" "
           "%s_above_100us=%"PRIu64" ", name, h->longest / per_us,
           name, latency_histogram_above(h, 20 * per_us),
           name, latency_histogram_above(h, 100 * per_us));
}

static void
print_record(const struct record *r)
{
    double per_us = ticks_per_us(r);
    double wall = (r->end.wall_ns - r->begin.wall_ns) * 1e-9;
    double cpu = (r->end.cpu_ns - r->begin.cpu_ns) * 1e-9;

    printf("seconds=%.3f busy=%.4f polls=%"PRIu64" ", wall, cpu / wall,
           r->gaps.n);
    print_histogram("gap", &r->gaps, per_us);
    if (!opts.spin) {
        printf("packets=%"PRIu64" wall_mpps=%.3f mpps=%.3f ", r->n_packets,
               r->n_packets / wall / 1e6, r->n_packets / cpu / 1e6);
        print_histogram("time", &r->times, per_us);
    }
    printf("switches=%ld sleeps=%ld ",
           r->end.n_switches - r->begin.n_switches,
           r->end.n_sleeps - r->begin.n_sleeps);
}

static void
write_histograms(const struct record *r)
{
    FILE *file = fopen(opts.histogram, "w");

    if (!file) {
        ovs_fatal(errno, "%s: cannot open", opts.histogram);
    }
    fprintf(file, "# what, up to us, how many\n");
    latency_histogram_write(&r->gaps, file, "gap", ticks_per_us(r));
    latency_histogram_write(&r->times, file, "time", ticks_per_us(r));
    if (fclose(file)) {
        ovs_fatal(errno, "%s: cannot write", opts.histogram);
    }
}

/* Command line. */

static void
usage(void)
{
    printf("%s: measures how evenly a userspace datapath works\n"
           "usage: %s [OPTIONS]\n"
           "  --load NAME[,NAME...]|all|none  what control threads do "
           "meanwhile (none):\n                            ", program_name,
           program_name);
    for (size_t i = 0; i < CONTROL_LOAD_N_KINDS; i++) {
        printf("%s%s", control_load_name(i),
               i == CONTROL_LOAD_N_KINDS - 1 ? "\n"
               : i % 3 == 2 ? ",\n                            " : ", ");
    }
    printf("  --spin                    measure the machine alone, without a "
           "datapath\n"
           "  --flows N                 megaflows (10000)\n"
           "  --outputs N               ports that packets leave by (1)\n"
           "  --seconds S               length of the measurement (3)\n"
           "  --warmup S                time before the load begins, and "
           "again between that\n"
           "                            and the measurement (0.5)\n"
           "  --impl NAME               dpif-netdev/dpif-impl-set NAME\n"
           "  --config KEY=VALUE        other_config:KEY=VALUE; may be "
           "repeated\n"
           "  --pmd-core N, --main-core N  the latter for the loads, too "
           "(1, 0)\n"
           "  --histogram FILE          write the distributions\n"
           "  --label NAME              for the output line\n"
           "  -h, --help\n");
    exit(EXIT_SUCCESS);
}

static double
parse_seconds(const char *option, double min)
{
    char *tail;
    double value = strtod(optarg, &tail);

    if (*tail || tail == optarg || !(value >= min && value <= 86400)) {
        ovs_fatal(0, "--%s: %s is not a number of seconds from %g to 86400",
                  option, optarg, min);
    }
    return value;
}

static void
parse_load(void)
{
    char *error = control_load_parse(optarg, &opts.loads);

    if (error) {
        ovs_fatal(0, "--load: %s (see --help)", error);
    }
    opts.load_names = optarg;
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
    switch (c) {
    case 'L':
        parse_load();
        break;
    case 'f':
        opts.n_flows = option_number("flows", 64, 1 << 24);
        break;
    case 'o':
        opts.n_outputs = option_number("outputs", 1, MAX_OUTPUTS);
        break;
    case 'S':
        opts.seconds = parse_seconds("seconds", 0.01);
        break;
    case 'w':
        opts.warmup = parse_seconds("warmup", 0);
        break;
    case 's':
        opts.spin = true;
        break;
    case 'i':
        opts.impl = optarg;
        break;
    case 'C':
        add_config(optarg);
        break;
    case 'p':
        opts.pmd_core = option_number("pmd-core", 0, 63);
        break;
    case 'c':
        opts.main_core = option_number("main-core", 0, 63);
        break;
    case 'H':
        opts.histogram = optarg;
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

static void
parse_options(int argc, char *argv[])
{
    static const struct option options[] = {
        { "load", required_argument, NULL, 'L' },
        { "flows", required_argument, NULL, 'f' },
        { "outputs", required_argument, NULL, 'o' },
        { "seconds", required_argument, NULL, 'S' },
        { "warmup", required_argument, NULL, 'w' },
        { "spin", no_argument, NULL, 's' },
        { "impl", required_argument, NULL, 'i' },
        { "config", required_argument, NULL, 'C' },
        { "pmd-core", required_argument, NULL, 'p' },
        { "main-core", required_argument, NULL, 'c' },
        { "histogram", required_argument, NULL, 'H' },
        { "label", required_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    int c;

    opts.label = xstrdup(program_name);
    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        parse_option(c);
    }
    if (optind < argc) {
        ovs_fatal(0, "%s: no argument expected", argv[optind]);
    }
    if (sysconf(_SC_NPROCESSORS_ONLN) <= MAX(opts.pmd_core, opts.main_core)) {
        ovs_error(0, "only %ld cores are there: both threads share core 0",
                  sysconf(_SC_NPROCESSORS_ONLN));
        opts.pmd_core = opts.main_core = 0;
    }
}

int
main(int argc, char *argv[])
{
    static struct bench bench;
    bool ok = true;

    set_program_name(argv[0]);
    parse_options(argc, argv);
    atomic_init(&bench.record.phase, PHASE_WARMUP);
    atomic_init(&bench.record.closed, false);

    printf("datapath=%s load=%s flows=%"PRIu64" ", opts.label,
           opts.load_names, opts.n_flows);
    if (opts.spin) {
        run_spin(&bench.record);
    } else {
        bench_open(&bench);
        ok = run_forward(&bench);
    }
    if (bench.record.gaps.n) {
        print_record(&bench.record);
    }
    for (size_t i = 0; i < CONTROL_LOAD_N_KINDS; i++) {
        if (opts.loads & (1u << i)) {
            printf("%s=%"PRIu64" ", control_load_name(i), bench.n_done[i]);
        }
    }
    printf("verified=%s\n", ok ? "yes" : "no");
    fflush(stdout);

    if (opts.histogram && bench.record.gaps.n) {
        write_histograms(&bench.record);
    }
    if (!opts.spin) {
        bench_close(&bench);
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
