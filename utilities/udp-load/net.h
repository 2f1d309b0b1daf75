/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_NET_H
#define UDP_LOAD_NET_H 1

#include <stdint.h>
#include <sys/socket.h>
#include <netinet/in.h>

#include "options.h"

union address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* Prints the message, followed by what 'error' means unless it is 0, and ends
 * the program with EXIT_FAILED. */
void net_fail(int error, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

void net_resolve(union address *, const char *host, int family,
                 const char *what);
void net_set_port(union address *, unsigned int port);
socklen_t net_length(const union address *);
void net_more_files(unsigned int n);

void net_open_sink(struct options *, int *fds);
unsigned int net_drops(int fd);
int net_open_source(const union address *destination,
                    const union address *local, unsigned int local_port);

#endif /* utilities/udp-load/net.h */
