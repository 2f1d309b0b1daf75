/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_OPTIONS_H
#define UDP_LOAD_OPTIONS_H 1

#include <stdbool.h>
#include <stdint.h>

#define PROGRAM "ovs-udp-load"

#define MAX_WORKERS 1024
#define MAX_BATCH 1024

enum exit_status {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_NOTHING = 3,           /* A sink received nothing. */
};

enum receive_method {
    RECEIVE_RECV,
    RECEIVE_EPOLL,
    RECEIVE_RECVMMSG,
};

struct options {
    /* Both. */
    bool source;                /* Otherwise a sink. */
    int family;                 /* AF_INET or AF_INET6. */
    unsigned int port, n_ports;
    unsigned int n_workers;
    bool processes;
    unsigned int *cpus;         /* A worker's CPU, in turn. */
    unsigned int n_cpus;
    unsigned int batch;
    uint64_t duration;          /* ns; 0 if it does not end by itself. */
    uint64_t interval;          /* ns; 0 for no report but the last. */
    bool json;
    const char *bind;           /* Or NULL. */

    /* Sink. */
    enum receive_method receive;
    bool shared;
    unsigned int rcvbuf;        /* 0 for the system's default. */
    bool once, join;
    unsigned int max_streams;

    /* Source. */
    const char *destination;
    uint64_t rate;              /* 0 for as fast as it goes. */
    uint64_t count;             /* 0 for no limit. */
    unsigned int size;
    unsigned int n_flows;       /* To each port. */
    unsigned int source_port;   /* 0 for any. */
    bool end_markers;
};

void options_parse(struct options *, int argc, char *argv[]);
const char *receive_method_name(enum receive_method);

#endif /* utilities/udp-load/options.h */
