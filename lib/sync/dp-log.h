/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_SYNC_DP_LOG_H
#define WEFT_SYNC_DP_LOG_H 1

/* The log module "dpif_netdev", shared by every file of the datapath.
 *
 * Operators set its level by one name ("vlog/set dpif_netdev:dbg") and tools
 * read the name in the log, so that the division of the datapath into files
 * must not show.  A file that logs as the datapath includes this header after
 * the system and library headers and uses VLOG_WARN() and its kin; it does
 * not use VLOG_DEFINE_THIS_MODULE().  A file whose messages go under another
 * name ("pmd_perf", say) defines its own module and leaves this header out.
 *
 * Thread-safe. */

#include "openvswitch/vlog.h"

extern struct vlog_module dp_log_module;

#define this_module dp_log_module

#endif /* sync/dp-log.h */
