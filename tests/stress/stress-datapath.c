/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "command-line.h"
#include "dp-packet.h"
#include "dpif.h"
#include "flow.h"
#include "netdev.h"
#include "netlink.h"
#include "odp-netlink.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/vlog.h"
#include "ovs-thread.h"
#include "random.h"
#include "stress/stress.h"
#include "timeval.h"
#include "util.h"

/* stress-datapath: everything at once, and nothing may get lost
 * =============================================================
 *
 * Packets of three synthetic ports, two rx queues each, run through a
 * datapath of type "netdev", while other threads put, modify, get, delete and
 * dump flows, delete and add ports, and the main thread changes the
 * configuration, the CPU mask, meters, bonds and connections, and calls the
 * ovs-appctl commands.  Flows that are missing are made by upcalls.
 *
 * It runs in rounds.  After each, the traffic is stopped and must account for
 * itself: every packet that was received was sent, or refused by this
 * program's upcall callback, or is in a drop counter of the datapath.  What
 * may happen in a round depends on its kind:
 *
 *   - in a "threads" round PMD threads come and go (CPU mask, rx queues), and
 *     nothing is done that would justify a drop: drops must be 0 and what
 *     comes out must be, as a multiset of flow numbers, what went in;
 *
 *   - in a "ports" round ports, bonds and the upcall callback come and go:
 *     drops must be counted, every one.
 *
 * (They alternate because a counter that a PMD thread had not published yet
 * may go with the thread.)
 *
 * At the end all flows are installed afresh, traffic runs undisturbed, and
 * their statistics must agree with it.
 *
 * There is no limit on time anywhere.  Each operation's result is checked
 * against those that its preconditions allow. */

static struct {
    double seconds;
    uint32_t seed;
    uint64_t n_flows;
    unsigned int n_masks;
    bool verbose;
} opts = {
    .seconds = 60,
    .seed = 1,
    .n_flows = 3000,
    .n_masks = 8,
};

struct stress stress;

void
stress_fail(const char *format, ...)
{
    va_list args;

    if (atomic_count_inc(&stress.n_errors) < MAX_COMPLAINTS) {
        va_start(args, format);
        ovs_error_valist(0, format, args);
        va_end(args);
    }
}

/* Traffic. */

static void
output_take(struct synthetic_sink *up, const struct dp_packet_batch *batch,
            int qid OVS_UNUSED)
{
    struct output *output = CONTAINER_OF(up, struct output, up);
    const struct flow_set *set = &stress.inputs[0].set;
    uint64_t sum = 0, alien = 0;

    for (size_t i = 0; i < batch->count; i++) {
        uint32_t flow = flow_set_packet_flow(set, batch->packets[i]);

        if (flow == UINT32_MAX) {
            alien++;
        } else {
            sum += 1 + flow;
        }
    }
    stress_add(&output->flow_sum, sum);
    if (alien) {
        stress_add(&output->n_alien, alien);
    }
}

static int
upcall(const struct dp_packet *packet, const struct flow *flow,
       ovs_u128 *ufid OVS_UNUSED, unsigned pmd_id OVS_UNUSED,
       enum dpif_upcall_type type, const struct nlattr *userdata OVS_UNUSED,
       struct ofpbuf *actions, struct flow_wildcards *wc,
       struct ofpbuf *put_actions OVS_UNUSED, void *aux OVS_UNUSED)
{
    const struct flow_set *set = stress_set_of_port(flow->in_port.odp_port);
    uint32_t i = set ? flow_set_packet_flow(set, packet) : UINT32_MAX;
    struct flow ignored;

    atomic_count_inc(&stress.n_upcalls);
    if (i == UINT32_MAX) {
        stress_fail("upcall with a packet that nobody sent");
        return EINVAL;
    }
    if (type == DPIF_UC_ACTION || flow->recirc_id) {
        /* The second half of a flow: it must not come back again. */
        nl_msg_put_odp_port(actions, OVS_ACTION_ATTR_OUTPUT,
                            stress_random_output());
    } else {
        if (!random_range(16)) {
            stress_add(&stress.n_refused, 1);
            stress_add(&stress.refused_sum, 1 + i);
            return EIO;
        }
        stress_random_actions(actions);
    }
    if (wc) {
        flow_set_match(set, i, &ignored, wc);
    }
    return random_range(8) ? 0 : ENOSPC;
}

/* Accounting. */

struct account {
    uint64_t in, out, refused, drops;
    uint64_t in_sum, out_sum, refused_sum;
};

static void
take_account(struct account *a, bool read_drops)
{
    struct synthetic_counters c;

    memset(a, 0, sizeof *a);
    for (size_t i = 0; i < N_INPUTS; i++) {
        synthetic_get_counters(stress.inputs[i].netdev, &c);
        a->in += c.rx_packets;
        for (size_t q = 0; q < N_RXQ; q++) {
            a->in_sum += flow_source_sum(&stress.inputs[i].sources[q]);
        }
    }
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        synthetic_get_counters(stress.outputs[i].netdev, &c);
        a->out += c.tx_packets;
        a->out_sum += stress_read(&stress.outputs[i].flow_sum);
    }
    a->refused = stress_read(&stress.n_refused);
    a->refused_sum = stress_read(&stress.refused_sum);
    if (read_drops) {
        /* The refused ones are counted by the datapath, too. */
        char *text = dp_driver_coverage(&stress.driver);

        a->drops = (dp_driver_coverage_sum(text, "datapath_drop_")
                    + dp_driver_coverage_sum(text, "drop_action_")
                    - dp_driver_coverage_sum(text,
                                             "datapath_drop_upcall_error"));
        free(text);
    }
}

static void
set_traffic(bool on)
{
    for (size_t i = 0; i < N_INPUTS; i++) {
        synthetic_set_enabled(stress.inputs[i].netdev, on);
    }
    if (!on) {
        struct synthetic_counters c;
        uint64_t before, now = 0;

        /* Long enough for any tx-flush-interval in use. */
        do {
            before = now;
            dp_driver_run(&stress.driver, 100);
            now = 0;
            for (size_t i = 0; i < N_INPUTS; i++) {
                synthetic_get_counters(stress.inputs[i].netdev, &c);
                now += c.rx_packets;
            }
            for (size_t i = 0; i < N_OUTPUTS; i++) {
                synthetic_get_counters(stress.outputs[i].netdev, &c);
                now += c.tx_packets;
            }
        } while (now != before);
    }
}

/* Writes out the drop counters, as they are since the start. */
static void
show_drops(void)
{
    char *text = dp_driver_coverage(&stress.driver);
    char *rest = text, *line;

    while (rest && (line = strsep(&rest, "\n")) != NULL) {
        if (strstr(line, "drop_")) {
            fprintf(stderr, "%s\n", line);
        }
    }
    free(text);
}

/* Checks what happened since 'start' and makes 'start' the present state. */
static void
settle(struct account *start, enum round_kind kind, int round)
{
    struct account end;
    uint64_t in, gone;
    int tries = 0;

    /* Counters of threads become visible after about a second. */
    do {
        if (tries) {
            dp_driver_run(&stress.driver, 300);
        }
        take_account(&end, true);
        in = end.in - start->in;
        gone = (end.out - start->out + end.refused - start->refused
                + end.drops - start->drops);
    } while (in != gone && ++tries < 50);

    if (opts.verbose) {
        printf("round %d (%s): %"PRIu64" in, %"PRIu64" out, %"PRIu64
               " refused, %"PRIu64" dropped\n", round,
               kind == ROUND_THREADS ? "threads" : "ports", in,
               end.out - start->out, end.refused - start->refused,
               end.drops - start->drops);
        fflush(stdout);
    }
    if (in != gone) {
        stress_fail("round %d: %"PRIu64" packets in, %"PRIu64" out, %"PRIu64
                    " refused, %"PRIu64" dropped: %"PRId64" are missing",
                    round, in, end.out - start->out,
                    end.refused - start->refused, end.drops - start->drops,
                    in - gone);
        show_drops();
    }
    if (kind == ROUND_THREADS) {
        if (end.drops != start->drops) {
            stress_fail("round %d: %"PRIu64" drops without a reason", round,
                        end.drops - start->drops);
            show_drops();
        } else if (in == gone
                   && end.in_sum - start->in_sum
                      != (end.out_sum - start->out_sum
                          + end.refused_sum - start->refused_sum)) {
            stress_fail("round %d: other packets came out than went in",
                        round);
        }
    }
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        uint64_t n = stress_read(&stress.outputs[i].n_alien);

        if (n) {
            stress_fail("%"PRIu64" packets came out that nobody sent", n);
        }
    }
    *start = end;
}

/* The undisturbed end: only flows that are installed, and their counts. */

static uint64_t
received_by_threads(void)
{
    const char *argv[] = { "dpif-netdev/pmd-stats-show", NULL };
    char *stats = dp_driver_appctl(&stress.driver, argv, NULL);
    uint64_t sum = 0;

    for (unsigned int core = 0; core < stress.n_cores; core++) {
        double n = dp_driver_stat(stats, core, "packets received:");

        sum += n > 0 ? n : 0;
    }
    free(stats);
    return sum;
}

static void
sum_flows(uint64_t *packets, uint64_t *bytes)
{
    struct dpif_flow_dump *dump;
    struct dpif_flow_dump_thread *thread;
    struct dpif_flow flows[32];
    int n;

    *packets = *bytes = 0;
    dump = dpif_flow_dump_create(stress.driver.dpif, false, NULL);
    thread = dpif_flow_dump_thread_create(dump);
    while ((n = dpif_flow_dump_next(thread, flows, 32)) > 0) {
        for (int i = 0; i < n; i++) {
            stress_check_dumped(&flows[i]);
            *packets += flows[i].stats.n_packets;
            *bytes += flows[i].stats.n_bytes;
        }
    }
    dpif_flow_dump_thread_destroy(thread);
    dpif_flow_dump_destroy(dump);
}

/* Compares what flows and threads have counted with 'packets' and 'bytes'.
 * They may do so a little later than they send. */
static void
check_statistics(uint64_t packets, uint64_t bytes, uint64_t received_before)
{
    uint64_t n_packets, n_bytes, received;
    int tries = 0;

    do {
        if (tries) {
            dp_driver_run(&stress.driver, 300);
        }
        sum_flows(&n_packets, &n_bytes);
        received = received_by_threads() - received_before;
    } while ((n_packets != packets || received != packets) && ++tries < 50);

    if (n_packets != packets || n_bytes != bytes) {
        stress_fail("flows count %"PRIu64" packets and %"PRIu64" bytes of "
                    "%"PRIu64" and %"PRIu64, n_packets, n_bytes, packets,
                    bytes);
    }
    if (received != packets) {
        stress_fail("pmd-stats-show counts %"PRIu64" packets of %"PRIu64,
                    received, packets);
    }
}

static void
final_round(void)
{
    uint64_t packets = 0, bytes = 0, received, upcalls;
    struct synthetic_counters c;
    struct account start;
    int error;

    dp_driver_set(&stress.driver, "tx-flush-interval", "0");
    error = dpif_flow_flush(stress.driver.dpif);
    if (error) {
        stress_fail("flow flush: %s", ovs_strerror(error));
    }
    for (size_t i = 0; i < N_INPUTS; i++) {
        struct input *input = &stress.inputs[i];

        if (flow_put_install(&input->put, 0, input->set.n_flows, &error)) {
            stress_fail("final flow put: %s", ovs_strerror(error));
        }
        synthetic_get_counters(input->netdev, &c);
        packets -= c.rx_packets;
        bytes -= c.rx_bytes;
    }
    take_account(&start, true);
    received = received_by_threads();
    upcalls = atomic_count_get(&stress.n_upcalls);

    set_traffic(true);
    dp_driver_run(&stress.driver, 2000);
    set_traffic(false);

    for (size_t i = 0; i < N_INPUTS; i++) {
        synthetic_get_counters(stress.inputs[i].netdev, &c);
        packets += c.rx_packets;
        bytes += c.rx_bytes;
    }
    settle(&start, ROUND_THREADS, 0);
    check_statistics(packets, bytes, received);
    if (upcalls != atomic_count_get(&stress.n_upcalls)) {
        stress_fail("upcalls although all flows are there");
    }
    if (!packets) {
        stress_fail("no packets at all");
    }
}

/* Set-up. */

static void
open_ports(void)
{
    struct stress *s = &stress;

    for (size_t i = 0; i < N_INPUTS; i++) {
        struct input *input = &s->inputs[i];
        char name[16], *error;

        snprintf(name, sizeof name, "in%"PRIuSIZE, i);
        input->netdev = synthetic_open(name, true, N_RXQ);
        input->port_no = dp_driver_add_port(&s->driver, input->netdev);
        error = flow_set_init(&input->set, opts.n_flows, opts.n_masks,
                              opts.n_flows * 4, FLOW_SET_IPV4, 1,
                              input->port_no);
        if (error) {
            ovs_fatal(0, "%s", error);
        }
        for (size_t q = 0; q < N_RXQ; q++) {
            flow_source_init(&input->sources[q], &input->set,
                             q ? FLOW_CHOICE_ZIPF : FLOW_CHOICE_UNIFORM, 1.0,
                             i != 1, opts.seed + i * N_RXQ + q);
            synthetic_set_source(input->netdev, q, &input->sources[q].up);
        }
    }
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        struct output *output = &s->outputs[i];
        char name[16];

        output->up.take = output_take;
        atomic_init(&output->flow_sum, 0);
        atomic_init(&output->n_alien, 0);
        snprintf(name, sizeof name, "out%"PRIuSIZE, i);
        output->netdev = synthetic_open(name, true, 0);
        synthetic_set_sink(output->netdev, &output->up);
        output->port_no = dp_driver_add_port(&s->driver, output->netdev);
    }
    for (size_t i = 0; i < N_INPUTS; i++) {
        flow_put_init(&s->inputs[i].put, &s->inputs[i].set, s->driver.dpif,
                      PMD_ID_NULL, &s->outputs[i].port_no);
    }
}

static void
close_ports(void)
{
    struct stress *s = &stress;

    for (size_t i = 0; i < N_INPUTS; i++) {
        dpif_port_del(s->driver.dpif, s->inputs[i].port_no, false);
        flow_put_destroy(&s->inputs[i].put);
    }
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        dpif_port_del(s->driver.dpif, s->outputs[i].port_no, false);
    }

    /* Only now: a PMD thread that ends while upcalls are disabled would wait
     * for them. */
    dpif_disable_upcall(s->driver.dpif);
    dp_driver_close(&s->driver);
    for (size_t i = 0; i < N_INPUTS; i++) {
        netdev_close(s->inputs[i].netdev);
        for (size_t q = 0; q < N_RXQ; q++) {
            flow_source_destroy(&s->inputs[i].sources[q]);
        }
    }
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        netdev_close(s->outputs[i].netdev);
    }
}

static void
report(const struct account *total)
{
    struct stress *s = &stress;

    printf("packets=%"PRIu64" refused=%"PRIu64" dropped=%"PRIu64" upcalls=%u "
           "puts=%u dels=%u gets=%u dumps=%u dumped=%"PRIu64" port_changes=%u "
           "configs=%u meters=%u appctl=%u errors=%u\n",
           total->in, total->refused, total->drops,
           atomic_count_get(&s->n_upcalls), atomic_count_get(&s->n_puts),
           atomic_count_get(&s->n_dels), atomic_count_get(&s->n_gets),
           atomic_count_get(&s->n_dumps), stress_read(&s->n_dumped),
           atomic_count_get(&s->n_port_ops),
           atomic_count_get(&s->n_configs), atomic_count_get(&s->n_meters),
           atomic_count_get(&s->n_appctl), atomic_count_get(&s->n_errors));
}

static void
run_rounds(struct account *start)
{
    long long int stop = time_msec() + opts.seconds * 1000;
    long long int length = MIN(5000, opts.seconds * 1000 / N_ROUND_KINDS);
    int round = 0;

    while (time_msec() < stop) {
        enum round_kind kind = round++ % N_ROUND_KINDS;
        long long int round_end = time_msec() + length;

        stress_resume(kind);
        set_traffic(true);
        while (time_msec() < round_end) {
            stress_change();
            dp_driver_run(&stress.driver, 20);
        }
        stress_pause();
        set_traffic(false);
        settle(start, kind, round);
    }
}

static void
parse_options(int argc, char *argv[])
{
    static const struct option options[] = {
        { "seconds", required_argument, NULL, 's' },
        { "seed", required_argument, NULL, 'r' },
        { "flows", required_argument, NULL, 'f' },
        { "verbose", no_argument, NULL, 'v' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    int c;

    while ((c = getopt_long(argc, argv, "hv", options, NULL)) != -1) {
        unsigned long long n = 0;

        if (optarg && (!str_to_ullong(optarg, 0, &n) || n > 1 << 20 || !n)) {
            ovs_fatal(0, "%s: not a number from 1 to %d", optarg, 1 << 20);
        }
        switch (c) {
        case 's':
            opts.seconds = n;
            break;
        case 'r':
            opts.seed = n;
            break;
        case 'f':
            opts.n_flows = MAX(n, opts.n_masks);
            break;
        case 'v':
            opts.verbose = true;
            break;
        case 'h':
            printf("%s: changes everything under traffic and counts packets\n"
                   "usage: %s [--seconds N] [--seed N] [--flows N] "
                   "[--verbose]\n", program_name, program_name);
            exit(EXIT_SUCCESS);
        default:
            exit(2);
        }
    }
}

int
main(int argc, char *argv[])
{
    pthread_t threads[5];
    struct account total;

    set_program_name(argv[0]);
    parse_options(argc, argv);
    random_set_seed(opts.seed);
    stress.n_cores = MIN(N_CORES, sysconf(_SC_NPROCESSORS_ONLN));
    atomic_init(&stress.paused, true);

    dp_driver_open(&stress.driver, argv[0]);
    vlog_set_levels(NULL, VLF_CONSOLE, VLL_EMER);
    dpif_register_upcall_cb(stress.driver.dpif, upcall, NULL);
    dpif_enable_upcall(stress.driver.dpif);
    dp_driver_set(&stress.driver, "pmd-cpu-mask", "1");
    open_ports();
    stress_set_bond();
    stress_set_meter(false);

    threads[0] = ovs_thread_create("flows", stress_flow_thread, NULL);
    threads[1] = ovs_thread_create("flows", stress_flow_thread, NULL);
    threads[2] = ovs_thread_create("dumps", stress_dump_thread, NULL);
    threads[3] = ovs_thread_create("dumps", stress_dump_thread, NULL);
    threads[4] = ovs_thread_create("ports", stress_port_thread, NULL);

    take_account(&total, true);
    run_rounds(&total);
    atomic_store_explicit(&stress.stop, true, memory_order_seq_cst);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        xpthread_join(threads[i], NULL);
    }
    final_round();
    take_account(&total, true);

    close_ports();
    report(&total);
    return atomic_count_get(&stress.n_errors) ? EXIT_FAILURE : EXIT_SUCCESS;
}
