/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "dp/commands.h"

#include <inttypes.h>

#include "dp/dp-netdev.h"
#include "openvswitch/dynamic-string.h"
#include "ovs-thread.h"
#include "pmd/metrics.h"
#include "unixctl.h"
#include "util.h"

void
dp_cmd_reply(struct unixctl_conn *conn, struct ds *reply, bool ok)
{
    if (ok) {
        unixctl_command_reply(conn, ds_cstr(reply));
    } else {
        unixctl_command_reply_error(conn, ds_cstr(reply));
    }
    ds_destroy(reply);
}

void
dp_cmd_reply_no_datapath(struct unixctl_conn *conn)
{
    unixctl_command_reply_error(conn, "please specify an existing datapath");
}

/* "pmd-rxq-rebalance [dp]" */
static void
cmd_pmd_rxq_rebalance(struct unixctl_conn *conn, int argc,
                      const char *argv[], void *aux OVS_UNUSED)
{
    struct dp_netdev *dp;

    ovs_mutex_lock(&dp_netdev_mutex);
    dp = dp_netdev_find(argc > 1 ? argv[1] : NULL);
    if (dp) {
        dp_netdev_request_reconfigure(dp);
    }
    ovs_mutex_unlock(&dp_netdev_mutex);

    if (dp) {
        unixctl_command_reply(conn, "pmd rxq rebalance requested.\n");
    } else {
        dp_cmd_reply_no_datapath(conn);
    }
}

static void
format_bonds(struct ds *reply, const struct dp_bonds *bonds)
{
    const struct dp_bond *bond;

    if (!cmap_count(&bonds->map)) {
        return;
    }
    ds_put_cstr(reply, "Bonds:\n");
    CMAP_FOR_EACH (bond, node, &bonds->map) {
        ds_put_format(reply, "  bond-id %"PRIu32":\n", bond->id);
        for (int i = 0; i < BOND_BUCKETS; i++) {
            ds_put_format(reply, "    bucket %d - member %"PRIu32"\n", i,
                          odp_to_u32(bond->buckets[i].member));
        }
    }
}

/* "bond-show [dp]" */
static void
cmd_bond_show(struct unixctl_conn *conn, int argc, const char *argv[],
              void *aux OVS_UNUSED)
{
    struct ds reply = DS_EMPTY_INITIALIZER;
    struct dp_netdev *dp;

    ovs_mutex_lock(&dp_netdev_mutex);
    dp = dp_netdev_find(argc > 1 ? argv[1] : NULL);
    if (dp) {
        format_bonds(&reply, &dp->run.bonds);
    }
    ovs_mutex_unlock(&dp_netdev_mutex);

    if (dp) {
        dp_cmd_reply(conn, &reply, true);
    } else {
        dp_cmd_reply_no_datapath(conn);
    }
}

void
dp_netdev_register_commands(void)
{
    static const struct {
        const char *name;
        const char *usage;
        int min_args, max_args;
        unixctl_cb_func *function;
    } commands[] = {
        { "pmd-stats-show", "[-pmd core] [dp]", 0, 3, dp_cmd_pmd_stats_show },
        { "pmd-stats-clear", "[-pmd core] [dp]", 0, 3,
          dp_cmd_pmd_stats_clear },
        { "pmd-rxq-show", "[-pmd core] [-secs secs] [dp]", 0, 5,
          dp_cmd_pmd_rxq_show },
        { "pmd-sleep-show", "[dp]", 0, 1, dp_cmd_pmd_sleep_show },
        { "pmd-perf-show", "[-nh] [-it iter-history-len] "
          "[-ms ms-history-len] [-pmd core] [dp]", 0, 8,
          dp_cmd_pmd_perf_show },
        { "pmd-housekeeping-show", "[-pmd core] [dp]", 0, 3,
          dp_cmd_pmd_housekeeping_show },
        { "pmd-stall-show", "[-pmd core] [dp]", 0, 3,
          dp_cmd_pmd_stall_show },
        { "pmd-stall-clear", "[-pmd core] [dp]", 0, 3,
          dp_cmd_pmd_stall_clear },
        { "pmd-rxq-rebalance", "[dp]", 0, 1, cmd_pmd_rxq_rebalance },
        { "pmd-perf-log-set", "on|off [-b before] [-a after] [-e|-ne] "
          "[-us usec] [-q qlen]", 0, 10, pmd_metrics_log_command },
        { "bond-show", "[dp]", 0, 1, cmd_bond_show },
        { "subtable-lookup-prio-set", "[lookup_func] [prio]", 2, 2,
          dp_cmd_subtable_set },
        { "subtable-lookup-info-get", "", 0, 0, dp_cmd_subtable_get },
        { "subtable-lookup-prio-get", NULL, 0, 0, dp_cmd_subtable_get },
        { "dpif-impl-set", "dpif_implementation_name", 1, 1,
          dp_cmd_dpif_impl_set },
        { "dpif-impl-get", "", 0, 0, dp_cmd_dpif_impl_get },
        { "miniflow-parser-set", "[-pmd core] miniflow_implementation_name "
          "[study_pkt_cnt]", 1, 5, dp_cmd_parser_set },
        { "miniflow-parser-get", "", 0, 0, dp_cmd_parser_get },
    };

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        char *name = xasprintf("dpif-netdev/%s", commands[i].name);

        unixctl_command_register(name, commands[i].usage,
                                 commands[i].min_args, commands[i].max_args,
                                 commands[i].function, NULL);
        free(name);
    }
}
