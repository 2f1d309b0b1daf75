/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/control-load.h"
#include "bench/dp-driver.h"
#include "bench/flow-put.h"
#include "bench/flow-set.h"
#include "bench/options.h"
#include "bench/synthetic-netdev.h"
#include "dpif.h"
#include "netdev.h"
#include "netlink.h"
#include "odp-netlink.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofpbuf.h"
#include "ovs-atomic.h"
#include "stress/poll-trace.h"
#include "util.h"

/* poll-quiet: a PMD thread in steady state waits for nobody
 * =========================================================
 *
 * A PMD thread forwards packets of a synthetic port, beside the control
 * threads of control-load.h, and is traced (poll-trace.h).  It must take no
 * lock that may wait, use no heap, and make no system call; tries of locks are
 * shown, too, but are no fault.  The exceptions are in excuses[], below: they
 * are counted and printed apart.
 *
 * Steady state: all packets have a flow; flows come, go and change meanwhile.
 * Some of them have a meter, some two outputs, packets leave by several ports,
 * and both caches are on.  So whatever the thread does now and then is part of
 * it; to have the end of a load interval in it, too, takes 5 seconds.
 *
 * Without any option this is a test: short runs, first with each of the faults
 * that --fault puts in, which must be found. */

enum { MAX_OUTPUTS = 16 };
enum { N_SPARE = 4096 };        /* Flows for the load to put and delete. */
enum { N_MASKS = 4 };
enum { METER_ID = 0 };          /* Not the load's. */
enum { PATIENCE = 100 };        /* Tenths of a second. */
enum { SHOWN_DEPTH = 6 };       /* Of a stack. */
enum { EXIT_SKIPPED = 77 };

/* A flow's number modulo N_CLASSES says what its packets have done to them
 * and, modulo the number of outputs, where they go. */
enum { CLASS_METER = 5, CLASS_TWICE = 6, N_CLASSES = 8 };

enum fault { FAULT_NONE, FAULT_MUTEX, FAULT_MALLOC, FAULT_SYSCALL };
static const char *const fault_names[] = {
    [FAULT_NONE] = "none",
    [FAULT_MUTEX] = "mutex",
    [FAULT_MALLOC] = "malloc",
    [FAULT_SYSCALL] = "syscall",
};

static struct {
    unsigned int loads;         /* Bits, as in struct control_load_config. */
    uint64_t n_flows;
    unsigned int n_outputs;
    double seconds;
    unsigned int pmd_core, main_core;
    enum fault fault;
    bool report;
    const char *label;
} opts = {
    .loads = CONTROL_LOAD_ALL,
    .n_flows = 10000,
    .n_outputs = 4,
    .seconds = 10,
    .pmd_core = 1,
};

/* Where an event may come from. */
static const struct excuse {
    enum poll_trace_kind kind;
    const char *function;       /* Prefix of a name in the stack. */
    const char *why;
} excuses[] = {
    /* Open vSwitch's library for coverage counters.  The thread tries for its
     * mutex, once a second, and waits for nobody; but if others have begun to
     * wait before it releases the mutex, then that wakes one of them:
     * find_excuse() lets FUTEX_WAKE pass, and nothing else. */
    { POLL_TRACE_SYSCALL, "coverage_", "coverage" },

    /* A packet that leaves by two ports is two packets, whose memory belongs
     * to the one port's driver and to the other's.  Open vSwitch makes the
     * second one, on the heap. */
    { POLL_TRACE_HEAP, "dp_packet_clone", "copies" },

    /* The port itself, which frees such a copy. */
    { POLL_TRACE_HEAP, "synthetic_send", "port" },
};

struct quiet_source {
    struct synthetic_source up;
    struct flow_source packets;
    bool started;               /* The PMD thread's. */
    atomic_uint64_t n_twice;    /* Packets sent twice.  The PMD thread
                                 * writes, all read; relaxed. */
};

struct quiet {
    struct dp_driver driver;
    struct flow_set set;        /* The flows of the traffic. */
    struct flow_set all;        /* These and the spare ones. */
    struct flow_put put;        /* Of 'all'. */
    struct quiet_source source;
    struct netdev *input, *outputs[MAX_OUTPUTS];
    odp_port_t in_port, out_ports[MAX_OUTPUTS];
    uint64_t n_done[CONTROL_LOAD_N_KINDS];
};

/* Faults. */

static void __attribute__((noinline))
fault_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void __attribute__((noinline))
fault_malloc(void)
{
    void *volatile p = malloc(100);

    free(p);
}

static void __attribute__((noinline))
fault_syscall(void)
{
    volatile long int parent = syscall(SYS_getppid);

    ignore(parent);
}

static void
commit_fault(void)
{
    switch (opts.fault) {
    case FAULT_MUTEX:
        fault_mutex();
        break;
    case FAULT_MALLOC:
        fault_malloc();
        break;
    case FAULT_SYSCALL:
        fault_syscall();
        break;
    case FAULT_NONE:
        break;
    }
}

/* What the PMD thread does. */

/* Has the heap of the thread grow to what a burst of copies may take, before
 * the trace: it would do so by and by, with a system call each time, whenever
 * chance makes more copies at once than ever before. */
static void
grow_heap(void)
{
    enum { N = 64, SIZE = 1500 };
    void *blocks[N];

    for (size_t i = 0; i < N; i++) {
        blocks[i] = xmalloc(SIZE);
    }
    for (size_t i = 0; i < N; i++) {
        free(blocks[i]);
    }
}

/* The source's own part is not traced. */
static size_t
quiet_fill(struct synthetic_source *up, struct dp_packet **packets, size_t n)
{
    struct quiet_source *source = CONTAINER_OF(up, struct quiet_source, up);
    const struct flow_set *set = source->packets.set;
    uint64_t n_twice;

    poll_trace_pause();
    if (OVS_UNLIKELY(!source->started)) {
        source->started = true;
        grow_heap();
    }
    n = source->packets.up.fill(&source->packets.up, packets, n);
    atomic_read_relaxed(&source->n_twice, &n_twice);
    for (size_t i = 0; i < n; i++) {
        n_twice += (flow_set_packet_flow(set, packets[i]) % N_CLASSES
                    == CLASS_TWICE);
    }
    atomic_store_relaxed(&source->n_twice, n_twice);
    poll_trace_resume();
    commit_fault();
    return n;
}

/* Setting up. */

static void
init_set(struct flow_set *set, uint64_t n_flows, odp_port_t in_port)
{
    char *error = flow_set_init(set, n_flows, N_MASKS, 0, FLOW_SET_IPV4,
                                N_CLASSES, in_port);

    if (error) {
        ovs_fatal(0, "%s", error);
    }
}

/* Makes a meter that lets everything pass. */
static void
set_meter(struct quiet *q)
{
    struct ofputil_meter_band band = {
        .type = OFPMBT13_DROP,
        .rate = UINT32_MAX / 2,
        .burst_size = UINT32_MAX / 2,
    };
    struct ofputil_meter_config config = {
        .meter_id = METER_ID,
        .flags = OFPMF13_PKTPS | OFPMF13_BURST,
        .n_bands = 1,
        .bands = &band,
    };
    int error = dpif_meter_set(q->driver.dpif, (ofproto_meter_id) { METER_ID },
                               &config);

    if (error) {
        ovs_fatal(error, "cannot make a meter");
    }
}

static void
install_flows(struct quiet *q)
{
    odp_port_t ports[N_CLASSES];
    struct ofpbuf *actions;
    int error = 0;

    for (size_t i = 0; i < N_CLASSES; i++) {
        ports[i] = q->out_ports[i % opts.n_outputs];
    }
    flow_put_init(&q->put, &q->all, q->driver.dpif, opts.pmd_core, ports);

    set_meter(q);
    actions = &q->put.actions[CLASS_METER];
    ofpbuf_clear(actions);
    nl_msg_put_u32(actions, OVS_ACTION_ATTR_METER, METER_ID);
    nl_msg_put_odp_port(actions, OVS_ACTION_ATTR_OUTPUT, ports[CLASS_METER]);
    nl_msg_put_odp_port(&q->put.actions[CLASS_TWICE], OVS_ACTION_ATTR_OUTPUT,
                        ports[CLASS_TWICE + 1]);

    if (flow_put_install(&q->put, 0, opts.n_flows, &error)) {
        ovs_fatal(error, "cannot install the flows");
    }
}

static void
quiet_open(struct quiet *q)
{
    char value[32];

    /* Before there are other threads: they all stay there, but for the PMD
     * thread, which goes to its own core. */
    if (!dp_driver_pin(opts.main_core)) {
        ovs_fatal(errno, "cannot run on core %u", opts.main_core);
    }
    dp_driver_open(&q->driver, program_name);
    snprintf(value, sizeof value, "%llx", 1ULL << opts.pmd_core);
    dp_driver_set(&q->driver, "pmd-cpu-mask", value);
    dp_driver_set(&q->driver, "smc-enable", "true");

    q->input = synthetic_open("in", true, 1);
    q->in_port = dp_driver_add_port(&q->driver, q->input);
    init_set(&q->set, opts.n_flows, q->in_port);
    init_set(&q->all, opts.n_flows + N_SPARE, q->in_port);
    q->source.up.fill = quiet_fill;
    atomic_init(&q->source.n_twice, 0);
    flow_source_init(&q->source.packets, &q->set, FLOW_CHOICE_UNIFORM, 0,
                     true, 1);
    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        char name[16];

        snprintf(name, sizeof name, "out%u", i);
        q->outputs[i] = synthetic_open(name, true, 0);
        q->out_ports[i] = dp_driver_add_port(&q->driver, q->outputs[i]);
    }
    install_flows(q);
}

static void
quiet_close(struct quiet *q)
{
    dpif_port_del(q->driver.dpif, q->in_port, false);
    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        dpif_port_del(q->driver.dpif, q->out_ports[i], false);
    }
    dp_driver_close(&q->driver);
    netdev_close(q->input);
    for (unsigned int i = 0; i < opts.n_outputs; i++) {
        netdev_close(q->outputs[i]);
    }
    flow_put_destroy(&q->put);
    flow_source_destroy(&q->source.packets);
}

/* Running. */

/* Begins or ends the trace.  Returns false if the PMD thread seems to be
 * stuck. */
static bool
switch_trace(struct quiet *q, bool on)
{
    poll_trace_want(on);
    for (int i = 0; i < PATIENCE && poll_trace_is_on() != on; i++) {
        dp_driver_run(&q->driver, 1 + i);
    }
    return poll_trace_is_on() == on;
}

/* Stops the traffic and waits until it has come to rest.  Returns whether all
 * of it came out: then there was no miss either, as no one answers any. */
static bool
stop_and_verify(struct quiet *q)
{
    uint64_t before = 0, after, expected;
    int idle = 0;

    synthetic_set_enabled(q->input, false);
    do {
        struct synthetic_counters c;
        uint64_t n_twice;

        dp_driver_run(&q->driver, 100);
        synthetic_get_counters(q->input, &c);
        atomic_read_relaxed(&q->source.n_twice, &n_twice);
        expected = c.rx_packets + n_twice;
        after = 0;
        for (unsigned int i = 0; i < opts.n_outputs; i++) {
            synthetic_get_counters(q->outputs[i], &c);
            after += c.tx_packets;
        }
        idle = after == before ? idle + 1 : 0;
        before = after;
    } while (idle < 1 || (after != expected && idle < PATIENCE));

    if (after != expected || !after) {
        ovs_error(0, "packets out: %"PRIu64", expected %"PRIu64,
                  after, expected);
        return false;
    }
    return true;
}

static bool
loads_worked(const struct quiet *q)
{
    bool ok = true;

    for (size_t i = 0; i < CONTROL_LOAD_N_KINDS; i++) {
        if (opts.loads & (1u << i) && !q->n_done[i]) {
            ovs_error(0, "load %s: did nothing, or failed",
                      control_load_name(i));
            ok = false;
        }
    }
    return ok;
}

static bool
quiet_run(struct quiet *q)
{
    enum { WARMUP_MS = 500 };
    struct control_load_config config = {
        .kinds = opts.loads,
        .driver = &q->driver,
        .core = opts.main_core,
        .put = &q->put,
        .n_flows = opts.n_flows,
        .n_spare = N_SPARE,
    };
    struct control_load *load;
    bool on, off, verified;

    synthetic_set_source(q->input, 0, &q->source.up);
    synthetic_set_enabled(q->input, true);
    load = control_load_start(&config);
    dp_driver_run(&q->driver, WARMUP_MS);
    on = switch_trace(q, true);
    dp_driver_run(&q->driver, opts.seconds * 1000);
    off = switch_trace(q, false);
    if (!on || !off) {
        ovs_fatal(0, "the PMD thread does not poll");
    }
    control_load_stop(load, q->n_done);
    verified = stop_and_verify(q);
    return loads_worked(q) && verified;
}

/* Judging and printing. */

static const struct excuse *
find_excuse(const struct poll_trace_event *e, char *const names[])
{
    /* No one is excused who waits. */
    if (e->kind == POLL_TRACE_SYSCALL
        && (e->number != SYS_futex || e->operation != FUTEX_WAKE)) {
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_SIZE(excuses); i++) {
        const char *prefix = excuses[i].function;

        for (size_t j = 0; j < POLL_TRACE_DEPTH && names[j]; j++) {
            if (excuses[i].kind == e->kind
                && !strncmp(names[j], prefix, strlen(prefix))) {
                return &excuses[i];
            }
        }
    }
    return NULL;
}

static void
print_event(const struct poll_trace_event *e, const char *verdict,
            char *const names[])
{
    char what[64];

    if (e->function) {
        snprintf(what, sizeof what, "%s", e->function);
    } else if (e->number == SYS_futex) {
        snprintf(what, sizeof what, "futex operation %ld", e->operation);
    } else {
        snprintf(what, sizeof what, "system call %ld", e->number);
    }
    printf("  %-8s %-22s %10"PRIu64, verdict, what, e->n);
    if (e->kind == POLL_TRACE_TRY) {
        printf(" (%"PRIu64" failed)", e->n_failed);
    }
    for (size_t i = 0; i < SHOWN_DEPTH && names[i]; i++) {
        printf("%s%s", i ? " < " : "  ", names[i]);
    }
    putchar('\n');
}

/* What all events of a verdict come to. */
struct totals {
    uint64_t found[POLL_TRACE_N_KINDS];
    uint64_t excused[ARRAY_SIZE(excuses)];
    uint64_t n_failed;          /* Tries. */
};

static void
judge(const struct poll_trace_event *e, struct totals *totals)
{
    char *names[POLL_TRACE_DEPTH] = { NULL };
    const struct excuse *excuse;

    for (size_t i = 0; i < POLL_TRACE_DEPTH && e->stack[i]; i++) {
        names[i] = poll_trace_symbol(e->stack[i]);
    }
    excuse = find_excuse(e, names);
    if (excuse) {
        totals->excused[excuse - excuses] += e->n;
    } else {
        totals->found[e->kind] += e->n;
    }
    totals->n_failed += e->n_failed;
    print_event(e, excuse ? excuse->why
                : e->kind == POLL_TRACE_TRY ? "try" : "found", names);
    for (size_t i = 0; i < POLL_TRACE_DEPTH; i++) {
        free(names[i]);
    }
}

/* Returns whether nothing was found that has no excuse. */
static bool
print_trace(void)
{
    static const char *const names[POLL_TRACE_N_KINDS] = {
        [POLL_TRACE_LOCK] = "locks",
        [POLL_TRACE_TRY] = "tries",
        [POLL_TRACE_HEAP] = "heap",
        [POLL_TRACE_SYSCALL] = "syscalls",
    };
    double seconds = poll_trace_seconds();
    const struct poll_trace_event *e = NULL;
    struct totals totals = { .n_failed = 0 };
    bool quiet = !poll_trace_n_lost();

    while ((e = poll_trace_next(e)) != NULL) {
        judge(e, &totals);
    }

    printf("datapath=%s seconds=%.3f polls=%"PRIu64, opts.label, seconds,
           poll_trace_n_polls());
    for (size_t i = 0; i < POLL_TRACE_N_KINDS; i++) {
        if (i == POLL_TRACE_SYSCALL && !poll_trace_saw_syscalls()) {
            printf(" syscalls=unknown");
            continue;
        }
        printf(" %s=%"PRIu64" %s_per_s=%.1f", names[i], totals.found[i],
               names[i], totals.found[i] / seconds);
        quiet &= i == POLL_TRACE_TRY || !totals.found[i];
    }
    printf(" failed_tries=%"PRIu64, totals.n_failed);
    for (size_t i = 0; i < ARRAY_SIZE(excuses); i++) {
        printf(" excused_%s_%s=%"PRIu64, excuses[i].why,
               names[excuses[i].kind], totals.excused[i]);
    }
    if (poll_trace_n_lost()) {
        printf(" lost=%"PRIu64, poll_trace_n_lost());
    }
    printf(" quiet=%s\n", quiet ? "yes" : "no");
    fflush(stdout);
    return quiet;
}

static int
trace_once(void)
{
    static struct quiet q;
    bool verified, quiet;

    quiet_open(&q);
    verified = quiet_run(&q);
    quiet = print_trace();
    quiet_close(&q);

    if (!verified || (!quiet && !opts.report)) {
        return EXIT_FAILURE;
    }
    if (!poll_trace_saw_syscalls()) {
        printf("no system call was traced: this needs x86-64 and a kernel "
               "with syscall user dispatch\n");
        return opts.report ? EXIT_SUCCESS : EXIT_SKIPPED;
    }
    return EXIT_SUCCESS;
}

/* The test. */

/* Runs this program for 'seconds' with 'fault' in it, and shows its output.
 * Returns its exit status, but if there is a fault, EXIT_SUCCESS instead if
 * it was found, and EXIT_FAILURE if not. */
static int
run_self(const char *self, enum fault fault, double seconds)
{
    const char *name = fault_names[fault];
    char *command = xasprintf("'%s' --seconds %g --fault %s 2>&1", self,
                              seconds, name);
    char *function = xasprintf("fault_%s+", name);
    FILE *output = popen(command, "r");
    bool seen = false;
    char line[2048];
    int status;

    if (!output) {
        ovs_fatal(errno, "%s: cannot run", command);
    }
    printf("fault: %s\n", name);
    while (fgets(line, sizeof line, output)) {
        fputs(line, stdout);
        seen |= !strncmp(line, "  found ", 8) && strstr(line, function);
    }
    fflush(stdout);
    status = pclose(output);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
    if (fault != FAULT_NONE && status != EXIT_SKIPPED) {
        status = status == 1 && seen ? EXIT_SUCCESS : EXIT_FAILURE;
        printf("fault: %s was %sfound\n", name, status ? "not " : "");
    }
    free(function);
    free(command);
    return status;
}

static int
run_test(void)
{
    char self[1024];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    bool skipped = false;

    if (len < 0) {
        ovs_fatal(errno, "cannot find this program");
    }
    self[len] = '\0';
    for (size_t i = ARRAY_SIZE(fault_names); i-- > 0; ) {
        int status = run_self(self, i, i == FAULT_NONE ? 2 : 0.5);

        if (status == EXIT_SKIPPED) {
            skipped = true;
        } else if (status) {
            return status;
        }
    }
    if (skipped) {
        printf("system calls could not be traced, all else is well\n");
    }
    return skipped ? EXIT_SKIPPED : EXIT_SUCCESS;
}

/* Command line. */

static void
usage(void)
{
    printf("%s: shows that a PMD thread takes no lock and makes no system "
           "call\n"
           "usage: %s [OPTIONS]; without any, a short test\n"
           "  --seconds S               length of the trace (10)\n"
           "  --load NAME[,NAME...]|all|none  what control threads do "
           "meanwhile (all)\n"
           "  --flows N                 megaflows (10000)\n"
           "  --outputs N               ports that packets leave by (4)\n"
           "  --fault mutex|malloc|syscall  commit that in each poll\n"
           "  --report                  do not fail whatever was found\n"
           "  --pmd-core N, --main-core N  the latter for the loads, too "
           "(1, 0)\n"
           "  --label NAME              for the output line\n"
           "  -h, --help\n", program_name, program_name);
    exit(EXIT_SUCCESS);
}

static void
parse_seconds(void)
{
    char *tail;

    opts.seconds = strtod(optarg, &tail);
    if (*tail || tail == optarg
        || !(opts.seconds >= 0.01 && opts.seconds <= 86400)) {
        ovs_fatal(0, "--seconds: %s is not a number of seconds from 0.01 to "
                  "86400", optarg);
    }
}

static void
parse_load(void)
{
    char *error = control_load_parse(optarg, &opts.loads);

    if (error) {
        ovs_fatal(0, "--load: %s", error);
    }
}

static void
parse_fault(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(fault_names); i++) {
        if (!strcmp(optarg, fault_names[i])) {
            opts.fault = i;
            return;
        }
    }
    ovs_fatal(0, "--fault: no fault \"%s\"", optarg);
}

static void
parse_option(int c)
{
    switch (c) {
    case 'S':
        parse_seconds();
        break;
    case 'L':
        parse_load();
        break;
    case 'f':
        opts.n_flows = option_number("flows", N_CLASSES * N_MASKS, 1 << 24);
        break;
    case 'o':
        opts.n_outputs = option_number("outputs", 1, MAX_OUTPUTS);
        break;
    case 'F':
        parse_fault();
        break;
    case 'r':
        opts.report = true;
        break;
    case 'p':
        opts.pmd_core = option_number("pmd-core", 0, 63);
        break;
    case 'c':
        opts.main_core = option_number("main-core", 0, 63);
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
        { "seconds", required_argument, NULL, 'S' },
        { "load", required_argument, NULL, 'L' },
        { "flows", required_argument, NULL, 'f' },
        { "outputs", required_argument, NULL, 'o' },
        { "fault", required_argument, NULL, 'F' },
        { "report", no_argument, NULL, 'r' },
        { "pmd-core", required_argument, NULL, 'p' },
        { "main-core", required_argument, NULL, 'c' },
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
    set_program_name(argv[0]);
    if (!poll_trace_works()) {
        printf("this needs libunwind and the GNU C library\n");
        return EXIT_SKIPPED;
    }
    if (argc < 2) {
        return run_test();
    }
    parse_options(argc, argv);
    return trace_once();
}
