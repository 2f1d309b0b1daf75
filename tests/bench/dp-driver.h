/* SPDX-License-Identifier: Apache-2.0 */

#ifndef BENCH_DP_DRIVER_H
#define BENCH_DP_DRIVER_H 1

/* Driving a datapath of type "netdev" without ovs-vswitchd
 * ========================================================
 *
 * What ovs-vswitchd does around a datapath, as far as a bench or a stress
 * test needs it: open one, run it, configure it, add synthetic ports, put and
 * dump flows, and call the ovs-appctl commands.  Only the public interface of
 * the dpif layer is used, so the same program measures whatever datapath it
 * is linked with.
 *
 * Thread safety: everything belongs to the thread that called
 * dp_driver_open(). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpif.h"
#include "openvswitch/types.h"
#include "smap.h"

struct flow;
struct flow_wildcards;
struct netdev;
struct ofpbuf;
struct unixctl_server;

struct dp_driver {
    struct dpif *dpif;
    struct unixctl_server *unixctl;
    struct smap config;         /* What dpif_set_config() was given last. */
};

/* Prepares the process (signals, NUMA, logging of warnings only, synthetic
 * ports) and creates the datapath.  Aborts with a message on failure. */
void dp_driver_open(struct dp_driver *, const char *program);
void dp_driver_close(struct dp_driver *);

/* Sets 'key' in the datapath's configuration to 'value', or removes it for
 * NULL, and applies. */
void dp_driver_set(struct dp_driver *, const char *key, const char *value);

/* Sets the 'n' pairs "KEY=VALUE" of 'config', and has the datapath look up by
 * 'impl' (a name for dpif-netdev/dpif-impl-set) unless that is NULL.  Ends the
 * program if there is no such 'impl'. */
void dp_driver_configure(struct dp_driver *, const char *const config[],
                         size_t n, const char *impl);

/* Lets the datapath work, then sleeps for 'msec' (0: does not). */
void dp_driver_run(struct dp_driver *, long long int msec);

odp_port_t dp_driver_add_port(struct dp_driver *, struct netdev *);

/* Runs the ovs-appctl command 'argv[0]' with the rest of 'argv', which is
 * NULL-terminated.  The command goes through a server socket, as with
 * ovs-appctl itself.  Returns its output, or NULL if the command reported an
 * error, which goes to '*error' if 'error' is nonnull.  The caller must free
 * both. */
char *dp_driver_appctl(struct dp_driver *, const char *const argv[],
                       char **error);

/* Cuts out of 'stats' (the output of dpif-netdev/pmd-stats-show) the number
 * behind 'label' in the part of the PMD thread on 'core', or -1. */
double dp_driver_stat(const char *stats, unsigned int core,
                      const char *label);

/* Returns the output of coverage/show, which the caller must free, and from
 * such an output the sum of all counters whose names begin with 'prefix'.  A
 * thread's share of them shows up within about a second. */
char *dp_driver_coverage(struct dp_driver *);
uint64_t dp_driver_coverage_sum(const char *text, const char *prefix);

/* Appends to 'key' and 'mask' the Netlink form of a match. */
void dp_driver_encode(const struct flow *, const struct flow_wildcards *,
                      struct ofpbuf *key, struct ofpbuf *mask);

/* Bytes of memory that the process has, including huge pages, after freed
 * memory was given back. */
uint64_t dp_driver_memory(void);

/* Seconds of processor time that the PMD thread on 'core' has used, or -1 if
 * that cannot be found out.  On a machine that is shared with others this
 * says more than the time that has passed. */
double dp_driver_pmd_cpu(unsigned int core);

/* Restricts the calling thread to 'core'; false if that is impossible. */
bool dp_driver_pin(unsigned int core);

#endif /* dp-driver.h */
