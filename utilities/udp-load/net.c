/* SPDX-License-Identifier: Apache-2.0 */

#include "net.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* How long a blocking receive takes to see that it is to end. */
#define RECEIVE_TIMEOUT_US 100000

void
net_fail(int error, const char *format, ...)
{
    va_list args;

    fputs(PROGRAM ": ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    if (error) {
        fprintf(stderr, ": %s", strerror(error));
    }
    putc('\n', stderr);
    exit(EXIT_FAILED);
}

/* Looks up 'host', an address or a name, for 'what'. */
void
net_resolve(union address *address, const char *host, int family,
            const char *what)
{
    struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_DGRAM };
    struct addrinfo *found;
    int error = getaddrinfo(host, NULL, &hints, &found);

    if (error) {
        const char *only = (family == AF_INET ? " as IPv4"
                            : family == AF_INET6 ? " as IPv6" : "");

        fprintf(stderr, PROGRAM ": %s '%s' was not understood%s: %s\n", what,
                host, only, gai_strerror(error));
        exit(EXIT_USAGE);
    }
    memset(address, 0, sizeof *address);
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
}

void
net_set_port(union address *address, unsigned int port)
{
    if (address->sa.sa_family == AF_INET6) {
        address->in6.sin6_port = htons(port);
    } else {
        address->in.sin_port = htons(port);
    }
}

socklen_t
net_length(const union address *address)
{
    return (address->sa.sa_family == AF_INET6
            ? sizeof address->in6 : sizeof address->in);
}

/* Raises the limit of open files, if need be, so that 'n' more can be. */
void
net_more_files(unsigned int n)
{
    struct rlimit limit;

    n += 64;
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < n) {
        limit.rlim_cur = n < limit.rlim_max ? n : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int
open_socket(int family)
{
    int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        net_fail(errno, "a socket cannot be opened");
    }
    return fd;
}

static void
set_option(int fd, int option, int value, const char *name)
{
    if (setsockopt(fd, SOL_SOCKET, option, &value, sizeof value)) {
        net_fail(errno, "%s cannot be set to %d", name, value);
    }
}

/* The system has a limit (net.core.rmem_max) for who is not root. */
static void
set_rcvbuf(int fd, int asked)
{
    socklen_t length = sizeof asked;
    int got;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &asked, sizeof asked)) {
        set_option(fd, SO_RCVBUF, asked, "SO_RCVBUF");
    }
    /* The kernel doubles what it is given. */
    if (!getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &length)
        && got / 2 < asked) {
        fprintf(stderr, PROGRAM ": warning: --rcvbuf=%d: the system allows %d "
                "only (net.core.rmem_max)\n", asked, got / 2);
    }
}

static int
open_sink_socket(const struct options *o, const union address *address)
{
    struct timeval timeout = { .tv_usec = RECEIVE_TIMEOUT_US };
    int fd = open_socket(address->sa.sa_family);
    int one = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout)) {
        net_fail(errno, "SO_RCVTIMEO cannot be set");
    }
    set_option(fd, SO_RXQ_OVFL, 1, "SO_RXQ_OVFL");
    if (o->n_ports < o->n_workers && !o->shared) {
        set_option(fd, SO_REUSEPORT, 1, "SO_REUSEPORT");
    }
    if (o->rcvbuf) {
        set_rcvbuf(fd, o->rcvbuf);
    }
    if (o->family == AF_INET6
        && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one)) {
        net_fail(errno, "IPV6_V6ONLY cannot be set");
    }
    return fd;
}

/* Opens the first 'n' sockets at the ports from o->port.  Returns 0 or an
 * error, and with that the port in '*port'. */
static int
try_open(struct options *o, union address *address, int *fds, unsigned int n,
         unsigned int *port)
{
    unsigned int base = o->port;

    for (unsigned int i = 0; i < n; i++) {
        socklen_t length = sizeof *address;
        int error;

        *port = i || base ? base + i % o->n_ports : 0;
        net_set_port(address, *port);
        fds[i] = open_sink_socket(o, address);
        if (*port > 65535
            || bind(fds[i], &address->sa, net_length(address))) {
            error = *port > 65535 ? EADDRINUSE : errno;
            for (unsigned int j = 0; j <= i; j++) {
                close(fds[j]);
            }
            return error;
        }
        if (!base) {
            getsockname(fds[i], &address->sa, &length);
            base = ntohs(address->sa.sa_family == AF_INET6
                         ? address->in6.sin6_port : address->in.sin_port);
        }
    }
    o->port = base;
    return 0;
}

/* Opens the sink's sockets, one for each worker or one for all, in 'fds'. */
void
net_open_sink(struct options *o, int *fds)
{
    unsigned int n = o->shared ? 1 : o->n_workers;
    const char *host = o->bind;
    union address address;
    unsigned int port;
    int error;

    if (!host) {
        host = o->family == AF_INET6 ? "::" : "0.0.0.0";
    }
    net_resolve(&address, host, o->family, "--bind:");
    o->family = address.sa.sa_family;
    net_more_files(2 * n);

    /* Any port, and the next ones are somebody else's?  Then another one. */
    for (int tries = 0; ; tries++) {
        error = try_open(o, &address, fds, n, &port);
        if (!error) {
            return;
        } else if (o->port || error != EADDRINUSE || tries >= 100) {
            net_fail(error, "%s port %u cannot be bound", host, port);
        }
    }
}

/* Returns how many datagrams the kernel has dropped at socket 'fd', modulo
 * 2**32, 0 if it does not tell. */
unsigned int
net_drops(int fd)
{
    uint32_t info[SK_MEMINFO_VARS] = { 0 };
    socklen_t length = sizeof info;

    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &length)) {
        return 0;
    }
    return info[SK_MEMINFO_DROPS];
}

/* Returns a socket that sends to 'destination', from 'local' if it is nonnull
 * and from 'local_port' if it is not 0. */
int
net_open_source(const union address *destination, const union address *local,
                unsigned int local_port)
{
    int fd = open_socket(destination->sa.sa_family);

    if (local || local_port) {
        union address address;

        memset(&address, 0, sizeof address);
        address.sa.sa_family = destination->sa.sa_family;
        if (local) {
            address = *local;
        }
        net_set_port(&address, local_port);
        if (bind(fd, &address.sa, net_length(&address))) {
            net_fail(errno, "source port %u cannot be bound", local_port);
        }
    }
    if (connect(fd, &destination->sa, net_length(destination))) {
        net_fail(errno, "there is no way to the destination");
    }
    return fd;
}
