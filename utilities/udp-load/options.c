/* SPDX-License-Identifier: Apache-2.0 */

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "usage.h"
#include "wire.h"

enum {
    OPT_PORTS = UCHAR_MAX + 1,
    OPT_PROCESSES,
    OPT_CPUS,
    OPT_BATCH,
    OPT_INTERVAL,
    OPT_JSON,
    OPT_BIND,
    OPT_SHARED,
    OPT_RCVBUF,
    OPT_ONCE,
    OPT_JOIN,
    OPT_MAX_STREAMS,
    OPT_COUNT,
    OPT_FLOWS,
    OPT_SOURCE_PORT,
    OPT_NO_END,
};

static const struct option long_options[] = {
    {"ipv4", no_argument, NULL, '4'},
    {"ipv6", no_argument, NULL, '6'},
    {"port", required_argument, NULL, 'p'},
    {"ports", required_argument, NULL, OPT_PORTS},
    {"workers", required_argument, NULL, 'w'},
    {"processes", no_argument, NULL, OPT_PROCESSES},
    {"cpus", required_argument, NULL, OPT_CPUS},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"seconds", required_argument, NULL, 't'},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"json", no_argument, NULL, OPT_JSON},
    {"bind", required_argument, NULL, OPT_BIND},
    {"receive", required_argument, NULL, 'r'},
    {"shared-socket", no_argument, NULL, OPT_SHARED},
    {"rcvbuf", required_argument, NULL, OPT_RCVBUF},
    {"once", no_argument, NULL, OPT_ONCE},
    {"join", no_argument, NULL, OPT_JOIN},
    {"max-streams", required_argument, NULL, OPT_MAX_STREAMS},
    {"rate", required_argument, NULL, 'R'},
    {"count", required_argument, NULL, OPT_COUNT},
    {"size", required_argument, NULL, 's'},
    {"flows", required_argument, NULL, OPT_FLOWS},
    {"source-port", required_argument, NULL, OPT_SOURCE_PORT},
    {"no-end-markers", no_argument, NULL, OPT_NO_END},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};
static const char short_options[] = "46p:w:t:r:R:s:hV";

/* Options of one command only. */
static const int sink_options[] = {
    'r', OPT_SHARED, OPT_RCVBUF, OPT_ONCE, OPT_JOIN, OPT_MAX_STREAMS, 0
};
static const int source_options[] = {
    'R', OPT_COUNT, 's', OPT_FLOWS, OPT_SOURCE_PORT, OPT_NO_END, 0
};

static const char *const receive_methods[] = {
    [RECEIVE_RECV] = "recv",
    [RECEIVE_EPOLL] = "epoll",
    [RECEIVE_RECVMMSG] = "recvmmsg",
};
#define N_RECEIVE_METHODS (sizeof receive_methods / sizeof *receive_methods)

const char *
receive_method_name(enum receive_method method)
{
    return receive_methods[method];
}

static void __attribute__((noreturn, format(printf, 1, 2)))
usage_error(const char *format, ...)
{
    va_list args;

    fputs(PROGRAM ": ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("; see " PROGRAM " --help\n", stderr);
    exit(EXIT_USAGE);
}

static const char *
option_name(int c)
{
    const struct option *o = long_options;

    while (o->val != c) {
        o++;
    }
    return o->name;
}

/* Returns the value of option 'c', a number from 'min' to 'max'. */
static uint64_t
parse_number(int c, const char *s, uint64_t min, uint64_t max)
{
    unsigned long long value;
    char *end;

    errno = 0;
    value = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno || value < min || value > max) {
        usage_error("--%s: '%s' is not a whole number from %llu to %llu",
                    option_name(c), s, (unsigned long long) min,
                    (unsigned long long) max);
    }
    return value;
}

/* Returns the value of option 'c', seconds, in nanoseconds. */
static uint64_t
parse_seconds(int c, const char *s, double min)
{
    double value;
    char *end;

    value = strtod(s, &end);
    if (((*s < '0' || *s > '9') && *s != '.') || *end || !isfinite(value)
        || value < min || value > 1e7) {
        usage_error("--%s: '%s' is not a number of seconds from %g to "
                    "10000000", option_name(c), s, min);
    }
    return llround(value * 1e9);
}

static enum receive_method
parse_receive(const char *s)
{
    for (unsigned int i = 0; i < N_RECEIVE_METHODS; i++) {
        if (!strcmp(s, receive_methods[i])) {
            return i;
        }
    }
    usage_error("--receive: '%s' is not recv, epoll or recvmmsg", s);
}

/* Parses "0,2-3". */
static void
parse_cpus(struct options *o, const char *list)
{
    const char *s = list;

    free(o->cpus);
    o->cpus = NULL;
    o->n_cpus = 0;
    for (;;) {
        unsigned long first, last;
        char *end = (char *) s;

        first = last = (*s >= '0' && *s <= '9'
                        ? strtoul(s, &end, 10) : ULONG_MAX);
        if (*end == '-' && end[1] >= '0' && end[1] <= '9') {
            last = strtoul(end + 1, &end, 10);
        }
        if (first > last || last >= CPU_SETSIZE || (*end && *end != ',')) {
            usage_error("--cpus: '%s' is not a list of processors such as "
                        "0,2-3, each below %d", list, CPU_SETSIZE);
        }
        o->cpus = realloc(o->cpus, ((o->n_cpus + last - first + 1)
                                    * sizeof *o->cpus));
        if (!o->cpus) {
            perror(PROGRAM ": out of memory");
            exit(EXIT_FAILED);
        }
        while (first <= last) {
            o->cpus[o->n_cpus++] = first++;
        }
        if (!*end) {
            return;
        }
        s = end + 1;
    }
}

/* Parses an option of a sink or of a source alone. */
static void
parse_own_option(struct options *o, int c, const char *arg)
{
    switch (c) {
    case 'r':
        o->receive = parse_receive(arg);
        break;
    case OPT_SHARED:
        o->shared = true;
        break;
    case OPT_RCVBUF:
        o->rcvbuf = parse_number(c, arg, 1, INT_MAX / 2);
        break;
    case OPT_ONCE:
        o->once = true;
        break;
    case OPT_JOIN:
        o->join = true;
        break;
    case OPT_MAX_STREAMS:
        o->max_streams = parse_number(c, arg, 1, 1 << 20);
        break;
    case 'R':
        o->rate = parse_number(c, arg, 0, 1000000000);
        break;
    case OPT_COUNT:
        o->count = parse_number(c, arg, 1, WIRE_MASK);
        break;
    case 's':
        o->size = parse_number(c, arg, WIRE_SIZE, WIRE_MAX_PAYLOAD);
        break;
    case OPT_FLOWS:
        o->n_flows = parse_number(c, arg, 1, WIRE_MAX_STREAMS);
        break;
    case OPT_SOURCE_PORT:
        o->source_port = parse_number(c, arg, 1, 65535);
        break;
    case OPT_NO_END:
        o->end_markers = false;
        break;
    default:
        /* getopt_long() has said what is wrong. */
        exit(EXIT_USAGE);
    }
}

static void
parse_option(struct options *o, int c, const char *arg)
{
    switch (c) {
    case '4':
        o->family = AF_INET;
        break;
    case '6':
        o->family = AF_INET6;
        break;
    case 'p':
        o->port = parse_number(c, arg, 0, 65535);
        break;
    case OPT_PORTS:
        o->n_ports = parse_number(c, arg, 1, 65535);
        break;
    case 'w':
        o->n_workers = parse_number(c, arg, 1, MAX_WORKERS);
        break;
    case OPT_PROCESSES:
        o->processes = true;
        break;
    case OPT_CPUS:
        parse_cpus(o, arg);
        break;
    case OPT_BATCH:
        o->batch = parse_number(c, arg, 1, MAX_BATCH);
        break;
    case 't':
        o->duration = parse_seconds(c, arg, 0.001);
        break;
    case OPT_INTERVAL:
        o->interval = parse_seconds(c, arg, 0);
        break;
    case OPT_JSON:
        o->json = true;
        break;
    case OPT_BIND:
        o->bind = arg;
        break;
    case 'h':
        usage_print();
        exit(EXIT_SUCCESS);
    case 'V':
        printf(PROGRAM " (Weft) " WEFT_VERSION "\n");
        exit(EXIT_SUCCESS);
    default:
        parse_own_option(o, c, arg);
    }
}

/* What does not fit together. */
static void
check(struct options *o)
{
    uint64_t n_streams;

    if (!o->n_ports) {
        o->n_ports = o->shared ? 1 : o->n_workers;
    }
    if (o->port + (o->n_ports - 1) > 65535) {
        usage_error("--port=%u --ports=%u: ports end at 65535", o->port,
                    o->n_ports);
    }
    if (!o->source) {
        if (o->shared && o->n_ports != 1) {
            usage_error("--ports=%u: a shared socket has one port",
                        o->n_ports);
        } else if (o->n_ports > o->n_workers) {
            usage_error("--ports=%u: each port needs a worker, and "
                        "--workers=%u is fewer", o->n_ports, o->n_workers);
        }
        return;
    }
    if (!o->port) {
        usage_error("--port=0: a source has to know its destination");
    }
    n_streams = (uint64_t) o->n_ports * o->n_flows;
    if (n_streams > WIRE_MAX_STREAMS) {
        usage_error("--ports=%u --flows=%u: these are more than %d streams",
                    o->n_ports, o->n_flows, WIRE_MAX_STREAMS);
    } else if (n_streams < o->n_workers) {
        usage_error("--workers=%u: each worker needs a flow of its own, and "
                    "--ports=%u --flows=%u is fewer", o->n_workers,
                    o->n_ports, o->n_flows);
    } else if (o->source_port && o->source_port + (n_streams - 1) > 65535) {
        usage_error("--source-port=%u: with --ports=%u --flows=%u, ports go "
                    "beyond 65535", o->source_port, o->n_ports, o->n_flows);
    }
}

/* Fills '*o' from the command line.  Does not return if anything is wrong with
 * that. */
void
options_parse(struct options *o, int argc, char *argv[])
{
    bool given[OPT_NO_END + 1] = { false };
    const int *foreign;
    const char *command;
    int c;

    *o = (struct options) {
        .family = AF_UNSPEC, .port = 6000, .n_workers = 1, .batch = 32,
        .interval = 1000000000, .receive = RECEIVE_RECV, .max_streams = 4096,
        .size = WIRE_SIZE, .n_flows = 1, .end_markers = true,
    };
    while ((c = getopt_long(argc, argv, short_options, long_options, NULL))
           != -1) {
        parse_option(o, c, optarg);
        given[c] = true;
    }
    if (optind == argc) {
        usage_error("a command is needed, sink or source");
    }
    command = argv[optind++];
    o->source = !strcmp(command, "source");
    if (!o->source && strcmp(command, "sink")) {
        usage_error("'%s' is not a command; sink and source are", command);
    }
    for (foreign = o->source ? sink_options : source_options; *foreign;
         foreign++) {
        if (given[*foreign]) {
            usage_error("--%s is no option of a %s", option_name(*foreign),
                        command);
        }
    }
    if (o->source) {
        if (optind == argc) {
            usage_error("a source needs the address to send to");
        }
        o->destination = argv[optind++];
    }
    if (optind < argc) {
        usage_error("'%s' is one argument too many", argv[optind]);
    }
    check(o);
}
