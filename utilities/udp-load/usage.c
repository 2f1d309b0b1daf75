/* SPDX-License-Identifier: Apache-2.0 */

#include "usage.h"

#include <stdio.h>

#include "options.h"

/* In parts, since C compilers need not take longer strings. */
void
usage_print(void)
{
    puts(PROGRAM ": sends UDP datagrams and measures what arrives\n"
         "usage: " PROGRAM " [OPTIONS] sink\n"
         "       " PROGRAM " [OPTIONS] source ADDRESS\n"
         "\n"
         "A sink's worker I receives at port BASE + I; a source sends to all "
         "ports.");
    puts("\nOptions of both:\n"
         "  -p, --port=BASE         first destination port (6000); 0: a sink "
         "takes any\n"
         "      --ports=N           destination ports (one for each worker)\n"
         "  -w, --workers=N         workers (1)\n"
         "      --processes         workers are processes, not threads\n"
         "      --cpus=LIST         pin workers to these CPUs in turn, e.g. "
         "0,2-3\n"
         "      --batch=N           datagrams in one call or turn (32)\n"
         "  -t, --seconds=N         end after N seconds\n"
         "      --interval=N        report each N seconds (1), 0 for the end "
         "alone\n"
         "      --json              each report is a JSON object on a line\n"
         "      --bind=ADDRESS      local address\n"
         "  -4, --ipv4              only IPv4\n"
         "  -6, --ipv6              only IPv6");
    puts("\nOptions of a sink:\n"
         "  -r, --receive=METHOD    recv (the default), epoll or recvmmsg\n"
         "      --shared-socket     one socket for all workers\n"
         "      --rcvbuf=BYTES      receive buffer of each socket\n"
         "      --once              end when a source has ended\n"
         "      --join              begin each stream where it is found\n"
         "      --max-streams=N     most streams of a port (4096)\n"
         "With fewer ports than workers and no shared socket, workers have "
         "sockets of\n"
         "their own at the same port (SO_REUSEPORT).");
    puts("\nOptions of a source:\n"
         "  -R, --rate=N            datagrams a second of all workers; 0, the "
         "default,\n"
         "                          is as fast as it goes\n"
         "      --count=N           end after N datagrams of all workers\n"
         "  -s, --size=BYTES        UDP payload, 18 (the default) to 65507\n"
         "      --flows=N           source ports for each destination port "
         "(1)\n"
         "      --source-port=PORT  first source port (any)\n"
         "      --no-end-markers    do not tell the sink where streams end");
    puts("\nOther options:\n"
         "  -h, --help              display this help\n"
         "  -V, --version           display the version\n"
         "\n"
         "Exit status: 0, or 1 after an error, 2 if the command line is "
         "wrong, 3 if a\n"
         "sink has received nothing.");
}
