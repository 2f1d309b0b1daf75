/* SPDX-License-Identifier: Apache-2.0 */

/* The userspace datapath in the terms of Open vSwitch's datapath interface:
 * the class, and conversions for what does not have its form already.  All
 * that is done, is done in lib/dp. */

#include <config.h>

#include "dpif-netdev.h"

#include "dp/ct.h"
#include "dp/dp-netdev.h"
#include "dpif-provider.h"
#include "pmd/meter.h"
#include "timeval.h"
#include "util.h"

bool
dpif_is_netdev(const struct dpif *dpif)
{
    return dpif->dpif_class->open == dp_netdev_open;
}

/* Every class of this datapath comes here; the commands are the same. */
static int
init(void)
{
    static bool registered;

    if (!registered) {
        registered = true;
        dp_netdev_tune_malloc();
        dp_netdev_register_commands();
    }
    return 0;
}

/* Upcalls are made where packets are polled, so no handler is needed. */
static bool
number_handlers_required(struct dpif *dpif OVS_UNUSED, uint32_t *n_handlers)
{
    *n_handlers = 0;
    return true;
}

static int
queue_to_priority(const struct dpif *dpif OVS_UNUSED, uint32_t queue_id,
                  uint32_t *priority)
{
    *priority = queue_id;
    return 0;
}

static char *
get_datapath_version(void)
{
    return xstrdup("<built-in>");
}

static struct dp_meters *
meters_of(const struct dpif *dpif)
{
    return &dp_netdev_from_dpif(dpif)->run.meters;
}

static void
meter_get_features(const struct dpif *dpif OVS_UNUSED,
                   struct ofputil_meter_features *features)
{
    dp_meters_get_features(features);
}

static int
meter_set(struct dpif *dpif, ofproto_meter_id id,
          struct ofputil_meter_config *config)
{
    return dp_meters_set(meters_of(dpif), id.uint32, config, time_msec());
}

static int
meter_get(const struct dpif *dpif, ofproto_meter_id id,
          struct ofputil_meter_stats *stats, uint16_t n_bands)
{
    return dp_meters_get(meters_of(dpif), id.uint32, stats, n_bands);
}

static int
meter_del(struct dpif *dpif, ofproto_meter_id id,
          struct ofputil_meter_stats *stats, uint16_t n_bands)
{
    return dp_meters_del(meters_of(dpif), id.uint32, stats, n_bands);
}

/* Members that are not mentioned are null: this datapath has no such thing, or
 * does it by itself. */
const struct dpif_class dpif_netdev_class = {
    .type = "netdev",
    .cleanup_required = true,
    .synced_dp_layers = true,

    .init = init,
    .enumerate = dp_netdev_enumerate,
    .open = dp_netdev_open,
    .close = dp_netdev_close,
    .destroy = dp_netdev_destroy,
    .run = dp_netdev_run,
    .wait = dp_netdev_wait,
    .get_stats = dp_netdev_get_stats,
    .set_config = dp_netdev_set_config,
    .get_datapath_version = get_datapath_version,
    .queue_to_priority = queue_to_priority,

    .port_open_type = dp_netdev_port_open_type,
    .port_add = dp_netdev_port_add,
    .port_del = dp_netdev_port_del,
    .port_set_config = dp_netdev_port_set_config,
    .port_query_by_number = dp_netdev_port_query_by_number,
    .port_query_by_name = dp_netdev_port_query_by_name,
    .port_dump_start = dp_netdev_port_dump_start,
    .port_dump_next = dp_netdev_port_dump_next,
    .port_dump_done = dp_netdev_port_dump_done,
    .port_poll = dp_netdev_port_poll,
    .port_poll_wait = dp_netdev_port_poll_wait,

    .flow_flush = dp_netdev_flow_flush,
    .flow_dump_create = dp_netdev_flow_dump_create,
    .flow_dump_destroy = dp_netdev_flow_dump_destroy,
    .flow_dump_thread_create = dp_netdev_flow_dump_thread_create,
    .flow_dump_thread_destroy = dp_netdev_flow_dump_thread_destroy,
    .flow_dump_next = dp_netdev_flow_dump_next,
    .operate = dp_netdev_operate,
    .offload_stats_get = dp_netdev_offload_stats_get,

    .number_handlers_required = number_handlers_required,
    .register_dp_purge_cb = dp_netdev_register_purge_cb,
    .register_upcall_cb = dp_netdev_register_upcall_cb,
    .enable_upcall = dp_netdev_enable_upcall,
    .disable_upcall = dp_netdev_disable_upcall,

    .ct_dump_start = dp_ct_dump_start,
    .ct_dump_next = dp_ct_dump_next,
    .ct_dump_done = dp_ct_dump_done,
    .ct_exp_dump_start = dp_ct_exp_dump_start,
    .ct_exp_dump_next = dp_ct_exp_dump_next,
    .ct_exp_dump_done = dp_ct_exp_dump_done,
    .ct_flush = dp_ct_flush,
    .ct_set_maxconns = dp_ct_set_maxconns,
    .ct_get_maxconns = dp_ct_get_maxconns,
    .ct_get_nconns = dp_ct_get_nconns,
    .ct_set_tcp_seq_chk = dp_ct_set_tcp_seq_chk,
    .ct_get_tcp_seq_chk = dp_ct_get_tcp_seq_chk,
    .ct_set_sweep_interval = dp_ct_set_sweep_interval,
    .ct_get_sweep_interval = dp_ct_get_sweep_interval,
    .ct_set_limits = dp_ct_set_limits,
    .ct_get_limits = dp_ct_get_limits,
    .ct_del_limits = dp_ct_del_limits,
    .ct_set_timeout_policy = dp_ct_set_timeout_policy,
    .ct_get_timeout_policy = dp_ct_get_timeout_policy,
    .ct_del_timeout_policy = dp_ct_del_timeout_policy,
    .ct_get_timeout_policy_name = dp_ct_get_timeout_policy_name,
    .ct_get_features = dp_ct_get_features,

    .ipf_set_enabled = dp_ipf_set_enabled,
    .ipf_set_min_frag = dp_ipf_set_min_frag,
    .ipf_set_max_nfrags = dp_ipf_set_max_nfrags,
    .ipf_get_status = dp_ipf_get_status,
    .ipf_dump_start = dp_ipf_dump_start,
    .ipf_dump_next = dp_ipf_dump_next,
    .ipf_dump_done = dp_ipf_dump_done,

    .meter_get_features = meter_get_features,
    .meter_set = meter_set,
    .meter_get = meter_get,
    .meter_del = meter_del,

    .bond_add = dp_netdev_bond_add,
    .bond_del = dp_netdev_bond_del,
    .bond_stats_get = dp_netdev_bond_stats_get,

    .cache_get_supported_levels = dp_netdev_cache_get_levels,
    .cache_get_name = dp_netdev_cache_get_name,
    .cache_get_size = dp_netdev_cache_get_size,
    .cache_set_size = dp_netdev_cache_set_size,
};
