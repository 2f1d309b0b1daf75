/* SPDX-License-Identifier: Apache-2.0 */

/* See usage() for what this is. */

#include "dpdk-peer.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

static struct peer_options options = {
    .n_flows = 1,
    .size = 64,
    .n_queues = 1,
    .n_descriptors = 1024,
    .n_mbufs = 8191,
    .burst = 32,
    .src = { { 0x02, 0, 0, 0, 0, 0x01 } },
    .dst = { { 0x02, 0, 0, 0, 0, 0x02 } },
};

static struct device *devices[PEER_MAX_DEVICES];
static unsigned int n_devices;

static volatile sig_atomic_t killed;

/* Generators that were started, and for how long they ran. */
static uint32_t stream;
static bool running;
static bool start_awaits_links;
static uint64_t started, elapsed;
static bool input_ended;
static bool quitting;

static void __attribute__((noreturn))
usage(void)
{
    puts("\
dpdk-peer: the other end of a switch's DPDK port\n\
usage: dpdk-peer EAL-ARGUMENTS -- --mode MODE [OPTION]...\n\
The EAL arguments make one to four devices, by --vdev.\n\
\n\
  --mode generate     send packets of UDP to the first device\n\
         sink         count and verify the packets of another dpdk-peer\n\
         both         do both\n\
         echo         answer ARP, neighbor discovery, pings and all other IP\n\
  --duplex            generate for all devices, not only for the first\n\
  --flows N           flows by addresses and ports (default: 1)\n\
  --first-flow N      number of the first of them (default: 0)\n\
  --order ORDER       round-robin (default) or random order of flows\n\
  --ip VERSION        4 (default), 6, or both: every other flow\n\
  --size N            bytes of a frame without FCS (default: 64)\n\
  --src-mac ADDRESS, --dst-mac ADDRESS\n\
  --count N           send N packets (default: without an end)\n\
  --rate N            packets per second (default: as many as it can)\n\
  --burst N           packets at a time (default: 32)\n\
  --queues N          queues to send to, by flow, and to poll (default: 1)\n\
  --descriptors N     of each queue (default: 1024)\n\
  --mbufs N           packet buffers of each device for each direction\n\
  --mtu N             set the MTU of the devices\n\
  --seconds N         quit after N seconds, from the first start on\n\
  --wait              do not send before the command \"start\", instead of\n\
                      as soon as all links are up\n\
  --json              print statistics at the end\n\
\n\
Each line of standard input is a command, whose answer is a line of JSON:\n\
  stats, link         show statistics, or whether the devices' links are up\n\
  start [N], stop     send N packets or those of --count; send no more\n\
  clear               all counters begin anew\n\
  quit\n\
The first line of output says that it is ready.  When standard input ends\n\
and there is nothing to send, it quits, unless --seconds says when.");
    exit(EXIT_SUCCESS);
}

static void __attribute__((noreturn, format(printf, 1, 2)))
bad_usage(const char *format, ...)
{
    va_list args;

    fputs("dpdk-peer: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("; see \"dpdk-peer --help\"\n", stderr);
    exit(2);
}

static bool
parse_count(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static uint64_t
parse_number(const char *name, const char *text, uint64_t min, uint64_t max)
{
    uint64_t value;

    if (!parse_count(text, &value) || value < min || value > max) {
        bad_usage("--%s takes a number from %"PRIu64" to %"PRIu64
                  ", not \"%s\"", name, min, max, text);
    }
    return value;
}

/* Returns the index of 'text' in 'words', which ends with NULL. */
static int
parse_word(const char *name, const char *text, const char *const words[])
{
    for (int i = 0; words[i]; i++) {
        if (!strcmp(text, words[i])) {
            return i;
        }
    }
    bad_usage("--%s: \"%s\" is not known", name, text);
}

static struct rte_ether_addr
parse_mac(const char *name, const char *text)
{
    struct rte_ether_addr mac;

    if (rte_ether_unformat_addr(text, &mac)) {
        bad_usage("--%s takes an Ethernet address, not \"%s\"", name, text);
    }
    return mac;
}

static double
parse_seconds(const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value > 0 && value <= 1e6)) {
        bad_usage("--%s takes a number above 0, not \"%s\"", name, text);
    }
    return value;
}

enum {
    OPT_MODE = 256, OPT_DUPLEX, OPT_FLOWS, OPT_FIRST_FLOW, OPT_ORDER, OPT_IP,
    OPT_SIZE, OPT_SRC_MAC, OPT_DST_MAC, OPT_COUNT, OPT_RATE, OPT_BURST,
    OPT_QUEUES, OPT_DESCRIPTORS, OPT_MBUFS, OPT_MTU, OPT_SECONDS, OPT_WAIT,
    OPT_JSON, OPT_HELP,
};

static const struct option long_options[] = {
    { "mode", required_argument, NULL, OPT_MODE },
    { "duplex", no_argument, NULL, OPT_DUPLEX },
    { "flows", required_argument, NULL, OPT_FLOWS },
    { "first-flow", required_argument, NULL, OPT_FIRST_FLOW },
    { "order", required_argument, NULL, OPT_ORDER },
    { "ip", required_argument, NULL, OPT_IP },
    { "size", required_argument, NULL, OPT_SIZE },
    { "src-mac", required_argument, NULL, OPT_SRC_MAC },
    { "dst-mac", required_argument, NULL, OPT_DST_MAC },
    { "count", required_argument, NULL, OPT_COUNT },
    { "rate", required_argument, NULL, OPT_RATE },
    { "burst", required_argument, NULL, OPT_BURST },
    { "queues", required_argument, NULL, OPT_QUEUES },
    { "descriptors", required_argument, NULL, OPT_DESCRIPTORS },
    { "mbufs", required_argument, NULL, OPT_MBUFS },
    { "mtu", required_argument, NULL, OPT_MTU },
    { "seconds", required_argument, NULL, OPT_SECONDS },
    { "wait", no_argument, NULL, OPT_WAIT },
    { "json", no_argument, NULL, OPT_JSON },
    { "help", no_argument, NULL, OPT_HELP },
    { NULL, 0, NULL, 0 },
};

static void
set_option(int c, const char *name, const char *arg)
{
    static const char *const modes[] = { "generate", "sink", "echo", "both",
                                         NULL };
    static const char *const ips[] = { "4", "6", "both", NULL };
    static const char *const orders[] = { "round-robin", "random", NULL };
    struct peer_options *o = &options;

    switch (c) {
    case OPT_MODE: o->mode = parse_word(name, arg, modes); break;
    case OPT_DUPLEX: o->duplex = true; break;
    case OPT_FLOWS:
        o->n_flows = parse_number(name, arg, 1, PEER_MAX_FLOWS);
        break;
    case OPT_FIRST_FLOW:
        o->first_flow = parse_number(name, arg, 0, PEER_MAX_FLOWS);
        break;
    case OPT_ORDER: o->random = parse_word(name, arg, orders); break;
    case OPT_IP: o->ip = parse_word(name, arg, ips); break;
    case OPT_SIZE:
        o->size = parse_number(name, arg, 60, PEER_MAX_SIZE);
        break;
    case OPT_SRC_MAC: o->src = parse_mac(name, arg); break;
    case OPT_DST_MAC: o->dst = parse_mac(name, arg); break;
    case OPT_COUNT: o->count = parse_number(name, arg, 1, INT64_MAX); break;
    case OPT_RATE: o->rate = parse_number(name, arg, 1, UINT32_MAX); break;
    case OPT_BURST:
        o->burst = parse_number(name, arg, 1, PEER_MAX_BURST);
        break;
    case OPT_QUEUES:
        o->n_queues = parse_number(name, arg, 1, PEER_MAX_QUEUES);
        break;
    case OPT_DESCRIPTORS:
        o->n_descriptors = parse_number(name, arg, 32, 32768);
        break;
    case OPT_MBUFS:
        o->n_mbufs = parse_number(name, arg, 1024, 1 << 22);
        break;
    case OPT_MTU:
        o->mtu = parse_number(name, arg, 68, PEER_MAX_SIZE);
        break;
    case OPT_SECONDS: o->seconds = parse_seconds(name, arg); break;
    case OPT_WAIT: o->wait = true; break;
    case OPT_JSON: o->json = true; break;
    case OPT_HELP: usage();
    default:
        abort();
    }
}

/* Parses what is behind the EAL's arguments. */
static void
parse_options(int argc, char *argv[])
{
    bool has_mode = false;
    int index;
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", long_options, &index)) != -1) {
        if (c == '?') {
            bad_usage("%s: there is no such option, or it takes no value",
                      argv[optind - 1]);
        } else if (c == ':') {
            bad_usage("%s takes a value", argv[optind - 1]);
        }
        has_mode |= c == OPT_MODE;
        set_option(c, long_options[index].name, optarg);
    }
    if (optind < argc) {
        bad_usage("\"%s\" is not an option", argv[optind]);
    }
    if (!has_mode) {
        bad_usage("there is no --mode");
    }
    if (options.size < packet_min_size(options.ip)) {
        bad_usage("--size: a packet of IPv6 takes at least %"PRIu32" bytes, "
                  "not %"PRIu32, packet_min_size(options.ip), options.size);
    }
    if ((uint64_t) options.first_flow
        + (uint64_t) options.n_flows * (options.duplex ? PEER_MAX_DEVICES : 1)
        > PEER_MAX_FLOWS) {
        bad_usage("--flows %"PRIu32" and --first-flow %"PRIu32" go beyond %d",
                  options.n_flows, options.first_flow, PEER_MAX_FLOWS);
    }
    optind = 1;
}

static double
to_seconds(uint64_t cycles)
{
    return (double) cycles / rte_get_tsc_hz();
}

static void
print_devices(void)
{
    fputs("\"devices\": [", stdout);
    for (unsigned int i = 0; i < n_devices; i++) {
        fputs(i ? ", " : "", stdout);
        device_print(devices[i], stdout);
    }
    fputs("]", stdout);
}

static void
print_stats(void)
{
    struct device_stats total = { 0 };
    double seconds = to_seconds(running ? rte_rdtsc() - started : elapsed);

    for (unsigned int i = 0; i < n_devices; i++) {
        device_add_stats(devices[i], &total);
    }
    printf("{\"sending\": %s, \"seconds\": %.6f, \"sent\": %"PRIu64
           ", \"received\": %"PRIu64", \"bytes\": %"PRIu64
           ", \"verified\": %"PRIu64", \"missing\": %"PRIu64
           ", \"late\": %"PRIu64", \"corrupt\": %"PRIu64
           ", \"foreign\": %"PRIu64", \"stray\": %"PRIu64
           ", \"flows\": %"PRIu64", \"echoed\": %"PRIu64", ",
           running ? "true" : "false", seconds, total.sent, total.received,
           total.bytes, total.verified, total.missing, total.late,
           total.corrupt, total.foreign, total.stray, total.flows,
           total.echoed);
    print_devices();
    puts("}");
}

static void
start(uint64_t count)
{
    uint64_t now = rte_rdtsc();

    stream++;
    for (unsigned int i = 0; i < n_devices; i++) {
        device_start(devices[i], stream, count ? count : UINT64_MAX, now);
    }
    started = now;
    running = true;
}

static void
stop(void)
{
    start_awaits_links = false;
    for (unsigned int i = 0; i < n_devices; i++) {
        device_stop(devices[i]);
    }
}

static void
run_start(const char *argument)
{
    uint64_t count = options.count;

    if (!device_generates(devices[0])) {
        puts("{\"error\": \"start: this mode does not send\"}");
    } else if (running || start_awaits_links) {
        puts("{\"error\": \"start: it is sending already\"}");
    } else if (argument && (!parse_count(argument, &count) || !count)) {
        printf("{\"error\": \"start takes a number of packets, "
               "not \\\"%s\\\"\"}\n", argument);
    } else {
        start(count);
        puts("{\"ok\": true}");
    }
}

static void
run_command(char *line)
{
    char *state;
    const char *command = strtok_r(line, " \t\r", &state);
    const char *argument = strtok_r(NULL, " \t\r", &state);

    if (!command) {
        return;
    }
    if (!strcmp(command, "start")) {
        run_start(argument);
    } else if (argument) {
        printf("{\"error\": \"%s takes no argument\"}\n", command);
    } else if (!strcmp(command, "stats")) {
        print_stats();
    } else if (!strcmp(command, "link")) {
        fputs("{", stdout);
        print_devices();
        puts("}");
    } else if (!strcmp(command, "stop")) {
        stop();
        puts("{\"ok\": true}");
    } else if (!strcmp(command, "clear")) {
        for (unsigned int i = 0; i < n_devices; i++) {
            device_clear(devices[i]);
        }
        started = rte_rdtsc();
        elapsed = 0;
        puts("{\"ok\": true}");
    } else if (!strcmp(command, "quit")) {
        quitting = true;
        if (!options.json) {
            puts("{\"ok\": true}");
        }
    } else {
        printf("{\"error\": \"there is no command \\\"%s\\\"\"}\n", command);
    }
    fflush(stdout);
}

static void
read_commands(void)
{
    static char buffer[256];
    static size_t used;
    struct pollfd pollfd = { .fd = STDIN_FILENO, .events = POLLIN };
    char *end;

    if (input_ended || poll(&pollfd, 1, 0) <= 0) {
        return;
    }

    ssize_t n = read(STDIN_FILENO, buffer + used, sizeof buffer - 1 - used);
    if (n <= 0) {
        input_ended = !n || (errno != EINTR && errno != EAGAIN);
        return;
    }
    used += n;
    buffer[used] = '\0';
    while ((end = strchr(buffer, '\n'))) {
        *end++ = '\0';
        run_command(buffer);
        used -= end - buffer;
        memmove(buffer, end, used + 1);
    }
    if (used == sizeof buffer - 1) {
        puts("{\"error\": \"the line is too long\"}");
        used = 0;
    }
}

/* Does what is due each millisecond.  Returns false when it is time to
 * quit. */
static bool
check(uint64_t now)
{
    static uint64_t begin, next_links;

    read_commands();
    if (now >= next_links || start_awaits_links) {
        bool up = true;

        for (unsigned int i = 0; i < n_devices; i++) {
            up &= device_link(devices[i]);
        }
        if (up && start_awaits_links) {
            start_awaits_links = false;
            start(options.count);
        }
        next_links = now + rte_get_tsc_hz() / 10;
    }

    if (!begin && (running || !device_generates(devices[0]))) {
        begin = now;
    }
    if (options.seconds) {
        quitting |= begin && to_seconds(now - begin) >= options.seconds;
    } else {
        quitting |= input_ended && !running && !start_awaits_links;
    }
    return !quitting && !killed;
}

static bool
any_is_sending(void)
{
    for (unsigned int i = 0; i < n_devices; i++) {
        if (device_is_sending(devices[i])) {
            return true;
        }
    }
    return false;
}

static void
run(void)
{
    uint64_t next_check = 0;
    unsigned int idle = 0;
    bool receives = options.mode != PEER_GENERATE;

    for (;;) {
        uint64_t now = rte_rdtsc();
        bool due = now >= next_check;
        unsigned int work = 0;

        if (due) {
            if (!check(now)) {
                break;
            }
            next_check = now + rte_get_tsc_hz() / 1000;
        }
        for (unsigned int i = 0; i < n_devices; i++) {
            work += device_send(devices[i], now);
            if (receives || due) {
                work += device_receive(devices[i]);
            }
        }
        if (running && !any_is_sending()) {
            running = false;
            elapsed = rte_rdtsc() - started;
        }

        /* Others may need the processor, but not if packets wait. */
        idle = work ? 0 : idle + 1;
        if (idle > 256 && (!running || options.rate)) {
            usleep(20);
        }
    }
    if (running) {
        elapsed = rte_rdtsc() - started;
        running = false;
    }

    /* Let the other side take what is still in the rings. */
    if (stream) {
        usleep(20000);
    }
}

static void
handle_signal(int signal)
{
    (void) signal;
    killed = 1;
}

static void
open_devices(void)
{
    uint16_t port;

    RTE_ETH_FOREACH_DEV (port) {
        if (n_devices == PEER_MAX_DEVICES) {
            bad_usage("there are more than %d devices", PEER_MAX_DEVICES);
        }
        devices[n_devices] = device_open(port, n_devices, &options);
        if (!devices[n_devices]) {
            exit(EXIT_FAILURE);
        }
        n_devices++;
    }
    if (!n_devices) {
        bad_usage("there is no device: the EAL arguments lack a --vdev");
    }
}

int
main(int argc, char *argv[])
{
    int split = 1;

    while (split < argc && strcmp(argv[split], "--")) {
        if (!strcmp(argv[split], "--help")) {
            usage();
        }
        split++;
    }
    if (split == argc) {
        bad_usage("there is no \"--\" between EAL arguments and options");
    }
    parse_options(argc - split, argv + split);
    packet_init(&options);

    if (rte_eal_init(split, argv) < 0) {
        fprintf(stderr, "dpdk-peer: EAL: %s\n", rte_strerror(rte_errno));
        return EXIT_FAILURE;
    }
    open_devices();

    /* The EAL's own handlers, if any, are not wanted any more. */
    signal(SIGTERM, handle_signal);
    signal(SIGINT, handle_signal);
    signal(SIGPIPE, SIG_IGN);

    printf("{\"ready\": true, \"pid\": %d}\n", (int) getpid());
    fflush(stdout);
    start_awaits_links = device_generates(devices[0]) && !options.wait;
    run();
    if (options.json) {
        print_stats();
        fflush(stdout);
    }
    for (unsigned int i = 0; i < n_devices; i++) {
        device_close(devices[i]);
    }
    rte_eal_cleanup();
    return EXIT_SUCCESS;
}
