/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "stress/stress.h"

#include <errno.h>
#include <stdlib.h>

#include "ct-dpif.h"
#include "dpif.h"
#include "flow.h"
#include "netdev.h"
#include "netlink.h"
#include "odp-netlink.h"
#include "odp-util.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofpbuf.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "random.h"
#include "smap.h"
#include "util.h"

static enum round_kind
current_round(void)
{
    int kind;

    atomic_read_relaxed(&stress.round, &kind);
    return kind;
}

odp_port_t
stress_random_output(void)
{
    return stress.outputs[random_range(N_OUTPUTS)].port_no;
}

void
stress_random_actions(struct ofpbuf *actions)
{
    static const char *const templates[] = {
        "%u",
        "%u",
        "set(eth(src=02:00:00:00:00:08,dst=02:00:00:00:00:09)),%u",
        "meter(0),%u",
        "ct(commit,zone=1),%u",
        "ct(commit,zone=2,nat(src=10.9.0.1-10.9.0.50)),%u",
        ("sample(sample=50.0%%,actions(set(eth(src=02:00:00:00:00:08,"
         "dst=02:00:00:00:00:09)))),%u"),
        "clone(set(eth(src=02:00:00:00:00:08,dst=02:00:00:00:00:09))),%u",
        "trunc(1000),%u",
        "push_vlan(vid=7,pcp=0),pop_vlan,%u",
        "lb_output(1)",
        "recirc(7)",
        "HASH",
        "userspace(pid=1,userdata(010203))",
    };
    const char *template = templates[random_range(ARRAY_SIZE(templates))];
    const char *port = strstr(template, "%u");
    struct ds s = DS_EMPTY_INITIALIZER;

    if (!strcmp(template, "HASH")) {
        /* It has no form in text that can be parsed. */
        struct ovs_action_hash *hash;

        hash = nl_msg_put_unspec_uninit(actions, OVS_ACTION_ATTR_HASH,
                                        sizeof *hash);
        hash->hash_alg = OVS_HASH_ALG_L4;
        hash->hash_basis = 0;
        template = "recirc(7)";
    }
    for (const char *p = template; *p; p++) {
        if (p == port) {
            ds_put_format(&s, "%"PRIu32, odp_to_u32(stress_random_output()));
            p++;
        } else if (*p != '%' || p[1] != '%') {
            ds_put_char(&s, *p);
        }
    }
    if (odp_actions_from_string(ds_cstr(&s), NULL, actions)) {
        ovs_fatal(0, "%s: cannot parse actions", ds_cstr(&s));
    }
    ds_destroy(&s);
}

const struct flow_set *
stress_set_of_port(odp_port_t port_no)
{
    for (size_t i = 0; i < N_INPUTS; i++) {
        if (stress.inputs[i].port_no == port_no) {
            return &stress.inputs[i].set;
        }
    }
    return NULL;
}

/* Threads that change things.  Each of them does short operations between
 * begin() and end(); stress_pause() waits until none is inside of one. */

static bool
begin(void)
{
    for (;;) {
        bool stop, paused;

        atomic_count_inc(&stress.n_active);
        atomic_read_explicit(&stress.stop, &stop, memory_order_seq_cst);
        atomic_read_explicit(&stress.paused, &paused, memory_order_seq_cst);
        if (!stop && !paused) {
            return true;
        }
        atomic_count_dec(&stress.n_active);
        if (stop) {
            return false;
        }
        xnanosleep(2 * 1000 * 1000);
    }
}

static void
end(unsigned int usec)
{
    atomic_count_dec(&stress.n_active);
    ovsrcu_quiesce();
    xnanosleep(usec * 1000);
}

void
stress_pause(void)
{
    atomic_store_explicit(&stress.paused, true, memory_order_seq_cst);
    while (atomic_count_get(&stress.n_active)) {
        dp_driver_run(&stress.driver, 5);
    }
}

void
stress_resume(enum round_kind kind)
{
    atomic_store_relaxed(&stress.round, kind);
    atomic_store_explicit(&stress.paused, false, memory_order_seq_cst);
}

struct flow_op {
    struct ofpbuf key, mask, actions, reply;
    ovs_u128 ufid;
    unsigned int pmd_id;
};

static void
random_flow_op(struct flow_op *op)
{
    const struct flow_set *set =
        &stress.inputs[random_range(N_INPUTS)].set;
    uint64_t i = random_range(set->n_flows);
    struct flow_wildcards wc;
    struct flow flow;

    ofpbuf_clear(&op->key);
    ofpbuf_clear(&op->mask);
    ofpbuf_clear(&op->actions);
    ofpbuf_clear(&op->reply);
    flow_set_match(set, i, &flow, &wc);
    if (!random_range(8)) {
        flow.recirc_id = RECIRC_ID;
        nl_msg_put_odp_port(&op->actions, OVS_ACTION_ATTR_OUTPUT,
                            stress_random_output());
    } else {
        stress_random_actions(&op->actions);
    }
    dp_driver_encode(&flow, &wc, &op->key, &op->mask);
    flow_set_ufid(set, i | (flow.recirc_id ? 1 << 30 : 0), &op->ufid);
    op->pmd_id = (random_range(3) ? random_range(stress.n_cores)
                  : PMD_ID_NULL);
}

/* EINVAL: no such PMD thread now.  ENOENT, EEXIST: the flow (or one made by
 * an upcall in its place) comes and goes.  EOPNOTSUPP: statistics belong to
 * their thread and cannot be zeroed. */
static void
check_flow_error(const char *what, int error)
{
    if (error && error != ENOENT && error != EEXIST && error != EINVAL
        && error != EOPNOTSUPP) {
        stress_fail("%s: %s", what, ovs_strerror(error));
    }
}

void *
stress_flow_thread(void *aux OVS_UNUSED)
{
    struct flow_op op;

    ofpbuf_init(&op.key, 512);
    ofpbuf_init(&op.mask, 512);
    ofpbuf_init(&op.actions, 512);
    ofpbuf_init(&op.reply, DPIF_FLOW_BUFSIZE);
    while (begin()) {
        for (int n = random_range(64); n >= 0; n--) {
            struct dpif *dpif = stress.driver.dpif;
            struct dpif_flow_stats stats;
            struct dpif_flow flow;

            random_flow_op(&op);
            switch (random_range(8)) {
            case 0: case 1: case 2: case 3:
                check_flow_error("flow put", dpif_flow_put(
                    dpif, DPIF_FP_CREATE | DPIF_FP_MODIFY
                    | (random_range(4) ? 0 : DPIF_FP_ZERO_STATS)
                    | DPIF_FP_PROBE,
                    op.key.data, op.key.size, op.mask.data, op.mask.size,
                    op.actions.data, op.actions.size, &op.ufid, op.pmd_id,
                    random_range(2) ? &stats : NULL));
                atomic_count_inc(&stress.n_puts);
                break;

            case 4: case 5: case 6:
                check_flow_error("flow del", dpif_flow_del(
                    dpif, op.key.data, op.key.size, &op.ufid, op.pmd_id,
                    random_range(2) ? &stats : NULL));
                atomic_count_inc(&stress.n_dels);
                break;

            case 7:
                check_flow_error("flow get", dpif_flow_get(
                    dpif, op.key.data, op.key.size, &op.ufid, op.pmd_id,
                    &op.reply, &flow));
                atomic_count_inc(&stress.n_gets);
                break;
            }
        }
        end(1000);
    }
    ofpbuf_uninit(&op.key);
    ofpbuf_uninit(&op.mask);
    ofpbuf_uninit(&op.actions);
    ofpbuf_uninit(&op.reply);
    return NULL;
}

void
stress_check_dumped(const struct dpif_flow *f)
{
    struct flow flow;
    char *error = NULL;

    if (odp_flow_key_to_flow(f->key, f->key_len, &flow, &error)
        == ODP_FIT_ERROR) {
        stress_fail("dumped flow does not parse: %s", error);
    } else if (!stress_set_of_port(flow.in_port.odp_port)) {
        stress_fail("dumped flow is of port %"PRIu32,
             odp_to_u32(flow.in_port.odp_port));
    } else if (!f->actions_len) {
        stress_fail("dumped flow has no actions");
    } else if (f->pmd_id >= stress.n_cores && f->pmd_id != NON_PMD_ID) {
        stress_fail("dumped flow is of PMD thread %u", f->pmd_id);
    }
    free(error);
}

void *
stress_dump_thread(void *aux OVS_UNUSED)
{
    while (begin()) {
        bool terse = random_range(2);
        struct dpif_flow_dump *dump;
        struct dpif_flow_dump_thread *thread;
        struct dpif_flow flows[32];
        int n;

        dump = dpif_flow_dump_create(stress.driver.dpif, terse, NULL);
        thread = dpif_flow_dump_thread_create(dump);
        while ((n = dpif_flow_dump_next(thread, flows,
                                        1 + random_range(32))) > 0) {
            for (int i = 0; i < n && !terse; i++) {
                stress_check_dumped(&flows[i]);
            }
            stress_add(&stress.n_dumped, n);
        }
        dpif_flow_dump_thread_destroy(thread);
        int error = dpif_flow_dump_destroy(dump);
        if (error) {
            stress_fail("flow dump: %s", ovs_strerror(error));
        }
        atomic_count_inc(&stress.n_dumps);
        end(3000);
    }
    return NULL;
}

/* Held while ports or the configuration change: Open vSwitch does both from
 * one thread, and dpif_set_config() is not made for anything else. */
static struct ovs_mutex config_mutex = OVS_MUTEX_INITIALIZER;

/* Deletes a port and adds it again under the same number. */
static void
bounce_port(struct netdev *netdev, odp_port_t port_no, unsigned int usec)
{
    int error = dpif_port_del(stress.driver.dpif, port_no, false);

    if (error) {
        stress_fail("port %"PRIu32" del: %s", odp_to_u32(port_no),
             ovs_strerror(error));
    }
    xnanosleep(usec * 1000);
    error = dpif_port_add(stress.driver.dpif, netdev, &port_no);
    if (error) {
        stress_fail("port %"PRIu32" add: %s", odp_to_u32(port_no),
             ovs_strerror(error));
    }
    atomic_count_inc(&stress.n_port_ops);
}

void *
stress_port_thread(void *aux OVS_UNUSED)
{
    struct netdev *extra = synthetic_open("extra", true, 1);

    while (begin()) {
        odp_port_t extra_no = ODPP_NONE;
        int error;

        ovs_mutex_lock(&config_mutex);
        error = dpif_port_add(stress.driver.dpif, extra, &extra_no);
        if (error) {
            stress_fail("extra port: %s", ovs_strerror(error));
        }
        if (current_round() == ROUND_PORTS) {
            struct output *output = &stress.outputs[random_range(N_OUTPUTS)];

            bounce_port(output->netdev, output->port_no, 3000);
        }
        if (random_range(2)) {
            struct input *input = &stress.inputs[random_range(N_INPUTS)];

            bounce_port(input->netdev, input->port_no, 1000);
        }
        if (!error) {
            error = dpif_port_del(stress.driver.dpif, extra_no, false);
            if (error) {
                stress_fail("extra port del: %s", ovs_strerror(error));
            }
        }
        ovs_mutex_unlock(&config_mutex);
        end(20 * 1000);
    }
    netdev_close(extra);
    return NULL;
}

/* What the main thread changes. */

/* Mostly small ones, so that entries displace each other; some for which huge
 * pages come and go; and none at all. */
static uint32_t
random_cache_size(void)
{
    switch (random_range(8)) {
    case 0:
        return 0;
    case 1:
        return 1u << (18 + random_range(4));
    default:
        return 1u << (10 + random_range(6));
    }
}

static void
set_cache_size(struct dp_driver *d, const char *key)
{
    char value[16];

    if (random_range(4)) {
        snprintf(value, sizeof value, "%"PRIu32, random_cache_size());
        dp_driver_set(d, key, value);
    } else {
        dp_driver_set(d, key, NULL);
    }
}

static void
change_config(void)
{
    struct dp_driver *d = &stress.driver;
    static const char *const assignments[] = {
        "cycles", "roundrobin", "group"
    };

    switch (random_range(10)) {
    case 0: case 1: case 2:
        if (current_round() == ROUND_THREADS) {
            unsigned int mask = 1 + random_range((1 << stress.n_cores) - 1);
            char value[16];

            snprintf(value, sizeof value, "%x", mask);
            dp_driver_set(d, "pmd-cpu-mask", value);
        }
        break;
    case 3:
        dp_driver_set(d, "smc-enable", random_range(2) ? "true" : "false");
        break;
    case 4:
        dp_driver_set(d, "emc-insert-inv-prob",
                      random_range(2) ? "1" : random_range(2) ? "0" : "50");
        break;
    case 5:
        dp_driver_set(d, "tx-flush-interval",
                      random_range(2) ? "0" : "200");
        break;
    case 6:
        dp_driver_set(d, "pmd-rxq-assign",
                      assignments[random_range(ARRAY_SIZE(assignments))]);
        break;
    case 7:
        dp_driver_set(d, "pmd-sleep-max", random_range(4) ? "0" : "20");
        break;
    case 8:
        set_cache_size(d, "emc-size");
        break;
    case 9:
        set_cache_size(d, "smc-size");
        break;
    }
    atomic_count_inc(&stress.n_configs);
}

static void
change_queues(void)
{
    struct input *input = &stress.inputs[random_range(N_INPUTS)];
    struct smap args = SMAP_INITIALIZER(&args);
    char *error = NULL;

    if (current_round() != ROUND_THREADS) {
        return;
    }
    smap_add_format(&args, "n_rxq", "%d", 1 + random_range(N_RXQ));
    if (netdev_set_config(input->netdev, &args, &error)) {
        stress_fail("n_rxq: %s", error);
        free(error);
    }
    smap_clear(&args);
    if (random_range(2)) {
        smap_add_format(&args, "pmd-rxq-affinity", "0:%d",
                        random_range(stress.n_cores));
    }
    dpif_port_set_config(stress.driver.dpif, input->port_no, &args);
    smap_destroy(&args);
}

void
stress_set_bond(void)
{
    odp_port_t members[BOND_BUCKETS];
    int error;

    for (size_t i = 0; i < BOND_BUCKETS; i++) {
        members[i] = stress_random_output();
    }
    error = dpif_bond_add(stress.driver.dpif, BOND_ID, members);
    if (error) {
        stress_fail("bond add: %s", ovs_strerror(error));
    }
}

void
stress_set_meter(bool also_delete)
{
    struct ofputil_meter_band band = {
        .type = OFPMBT13_DROP,
        .rate = UINT32_MAX / 2,     /* Beyond what traffic there can be. */
        .burst_size = UINT32_MAX / 2,
    };
    struct ofputil_meter_config config = {
        .meter_id = 1,
        .flags = OFPMF13_PKTPS | OFPMF13_BURST,
        .n_bands = 1,
        .bands = &band,
    };
    struct ofputil_meter_band_stats band_stats;
    struct ofputil_meter_stats stats = { .bands = &band_stats };
    ofproto_meter_id id = { 0 };
    int error;

    if (also_delete) {
        dpif_meter_del(stress.driver.dpif, id, NULL, 0);
    }
    error = dpif_meter_set(stress.driver.dpif, id, &config);
    if (error) {
        stress_fail("meter set: %s", ovs_strerror(error));
    }
    error = dpif_meter_get(stress.driver.dpif, id, &stats, 1);
    if (error) {
        stress_fail("meter get: %s", ovs_strerror(error));
    }
    atomic_count_inc(&stress.n_meters);
}

static void
change_objects(void)
{
    struct dpif *dpif = stress.driver.dpif;
    uint64_t bytes[BOND_BUCKETS];
    uint32_t levels;

    switch (random_range(6)) {
    case 0:
        stress_set_meter(random_range(2));
        break;
    case 1:
        stress_set_bond();
        break;
    case 2:
        if (current_round() == ROUND_PORTS) {
            dpif_bond_del(dpif, BOND_ID);
            dp_driver_run(&stress.driver, 5);
            stress_set_bond();
        }
        break;
    case 3:
        dpif_bond_stats_get(dpif, BOND_ID, bytes);
        break;
    case 4:
        ct_dpif_flush(dpif, NULL, NULL);
        break;
    case 5:
        if (!dpif_cache_get_supported_levels(dpif, &levels) && levels) {
            uint32_t level = random_range(levels), size;

            if (!dpif_cache_get_size(dpif, level, &size)) {
                int error = dpif_cache_set_size(dpif, level,
                                                random_cache_size());

                if (error) {
                    stress_fail("cache size: %s", ovs_strerror(error));
                }
            }
        }
        break;
    }
    if (current_round() == ROUND_PORTS && !random_range(4)) {
        dpif_disable_upcall(dpif);
        dpif_enable_upcall(dpif);
    }
}

static void
call_appctl(void)
{
    static const char *const commands[][5] = {
        { "dpif-netdev/pmd-stats-show" },
        { "dpif-netdev/pmd-rxq-show" },
        { "dpif-netdev/pmd-perf-show" },
        { "dpif-netdev/pmd-perf-show", "-it", "10", "-ms", "10" },
        { "dpif-netdev/pmd-rxq-rebalance" },
        { "dpif-netdev/pmd-perf-log-set", "off" },
        { "dpif-netdev/bond-show" },
        { "dpif-netdev/pmd-sleep-show" },
        { "dpif-netdev/subtable-lookup-prio-get" },
        { "dpif-netdev/subtable-lookup-info-get" },
        { "dpif-netdev/subtable-lookup-prio-set", "generic", "3" },
        { "dpif-netdev/dpif-impl-get" },
        { "dpif-netdev/miniflow-parser-get" },
        { "dpif-netdev/pmd-stats-clear" },
        { "coverage/show" },
        { "memory/show" },
    };
    size_t i = random_range(ARRAY_SIZE(commands));
    const char *argv[6] = { NULL };
    char *error, *reply;

    memcpy(argv, commands[i], sizeof commands[i]);
    reply = dp_driver_appctl(&stress.driver, argv, &error);
    if (!reply && strcmp(argv[0], "memory/show")) {
        stress_fail("%s: %s", argv[0], error);
    }
    free(reply);
    free(error);
    atomic_count_inc(&stress.n_appctl);
}

void
stress_change(void)
{
    ovs_mutex_lock(&config_mutex);
    change_config();
    change_queues();
    ovs_mutex_unlock(&config_mutex);
    change_objects();
    call_appctl();
}
