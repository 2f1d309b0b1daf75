/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_DP_COMMANDS_H
#define WEFT_DP_COMMANDS_H 1

/* The "dpif-netdev/..." commands of ovs-appctl, divided by subject:
 * commands-pmd.c shows the polling threads, commands-impl.c chooses among
 * implementations, commands.c has the table of all, and the rest.
 *
 * A command's function is a unixctl_cb_func.  It is called by the main thread,
 * takes dp_netdev_mutex itself, and replies in any case. */

#include <stdbool.h>

struct dp_netdev;
struct ds;
struct pmd_thread;
struct unixctl_conn;

/* commands-pmd.c */
void dp_cmd_pmd_stats_show(struct unixctl_conn *, int argc,
                           const char *argv[], void *aux);
void dp_cmd_pmd_stats_clear(struct unixctl_conn *, int argc,
                            const char *argv[], void *aux);
void dp_cmd_pmd_rxq_show(struct unixctl_conn *, int argc,
                         const char *argv[], void *aux);
void dp_cmd_pmd_sleep_show(struct unixctl_conn *, int argc,
                           const char *argv[], void *aux);
void dp_cmd_pmd_perf_show(struct unixctl_conn *, int argc,
                          const char *argv[], void *aux);

/* A command with the arguments "[-pmd core] [dp]": calls 'header', which may
 * be null, and then 'visit' for each of the threads, by core, and replies with
 * what they say. */
typedef void dp_cmd_header_func(struct ds *reply, const struct dp_netdev *);
typedef void dp_cmd_visit_func(struct ds *reply, struct pmd_thread *);
void dp_cmd_for_each_pmd(struct unixctl_conn *, int argc, const char *argv[],
                         dp_cmd_header_func *header, dp_cmd_visit_func *visit);
/* Adds the line that names 'pmd' above what is said of it. */
void dp_cmd_format_heading(struct ds *reply, const struct pmd_thread *);

/* commands-housekeeping.c */
void dp_cmd_pmd_housekeeping_show(struct unixctl_conn *, int argc,
                                  const char *argv[], void *aux);

/* commands-stall.c */
void dp_cmd_pmd_stall_show(struct unixctl_conn *, int argc,
                           const char *argv[], void *aux);
void dp_cmd_pmd_stall_clear(struct unixctl_conn *, int argc,
                            const char *argv[], void *aux);

/* commands-impl.c */
void dp_cmd_dpif_impl_get(struct unixctl_conn *, int argc,
                          const char *argv[], void *aux);
void dp_cmd_dpif_impl_set(struct unixctl_conn *, int argc,
                          const char *argv[], void *aux);
void dp_cmd_parser_get(struct unixctl_conn *, int argc,
                       const char *argv[], void *aux);
void dp_cmd_parser_set(struct unixctl_conn *, int argc,
                       const char *argv[], void *aux);
void dp_cmd_subtable_get(struct unixctl_conn *, int argc,
                         const char *argv[], void *aux);
void dp_cmd_subtable_set(struct unixctl_conn *, int argc,
                         const char *argv[], void *aux);

/* Replies with the contents of 'reply', as an error if 'ok' is false, and
 * frees them. */
void dp_cmd_reply(struct unixctl_conn *, struct ds *reply, bool ok);
/* Replies that there is no such datapath. */
void dp_cmd_reply_no_datapath(struct unixctl_conn *);

#endif /* dp/commands.h */
