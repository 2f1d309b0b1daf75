/* SPDX-License-Identifier: Apache-2.0 */

/* The datapath as the upper layer uses it: datapaths, ports, flows, execution,
 * bonds, conntrack's knobs, caches.  It is a dummy datapath that is tested,
 * since internal ports of the real one are devices of the system. */

#include <config.h>
#undef NDEBUG

#include "dp/dp-netdev.h"

#include <errno.h>

#include "ct-dpif.h"
#include "dp-packet.h"
#include "dpif.h"
#include "dummy.h"
#include "netdev.h"
#include "odp-util.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/vlog.h"
#include "ovs-numa.h"
#include "ovs-rcu.h"
#include "packets.h"
#include "sset.h"
#include "table/sigcache.h"
#include "unit.h"
#include "util.h"

#define ETH_IP "eth(),eth_type(0x0800)"

static struct dpif *dpif;

static odp_port_t
add_port(const char *name, const char *type, odp_port_t wanted, int error)
{
    odp_port_t port_no = wanted;
    struct netdev *netdev;

    CHECK_INT(netdev_open(name, type, &netdev), ==, 0);
    CHECK_INT(dpif_port_add(dpif, netdev, &port_no), ==, error);
    netdev_close(netdev);
    return port_no;
}

static void
del_port(odp_port_t port_no)
{
    CHECK_INT(dpif_port_del(dpif, port_no, false), ==, 0);
}

static void
open_datapath(void)
{
    CHECK_INT(dpif_create("dp-under-test", "dummy", &dpif), ==, 0);
}

static void
close_datapath(void)
{
    CHECK_INT(dpif_delete(dpif), ==, 0);
    dpif_close(dpif);
    dpif = NULL;
}

/* Datapaths. */

static bool
is_enumerated(const char *type)
{
    struct sset names = SSET_INITIALIZER(&names);
    bool found;

    CHECK_INT(dp_enumerate_names(type, &names), ==, 0);
    found = sset_contains(&names, "dp-under-test");
    sset_destroy(&names);
    return found;
}

static void
test_datapaths(void)
{
    struct dpif *again;

    CHECK_INT(dpif_open("dp-under-test", "dummy", &again), ==, ENODEV);
    open_datapath();
    CHECK_INT(dpif_create("dp-under-test", "dummy", &again), ==, EEXIST);
    CHECK_INT(dpif_open("dp-under-test", "netdev", &again), ==, EINVAL);
    CHECK(is_enumerated("dummy"));
    CHECK(!is_enumerated("netdev"));

    /* A datapath that was deleted stays as long as somebody has it open. */
    CHECK_INT(dpif_open("dp-under-test", "dummy", &again), ==, 0);
    close_datapath();
    CHECK(is_enumerated("dummy"));
    CHECK_INT(dpif_delete(again), ==, 0);
    dpif_close(again);
    CHECK(!is_enumerated("dummy"));

    /* No device for the local port. */
    CHECK_INT(dpif_create("lo", "netdev", &again), !=, 0);
}

/* Ports. */

static void
check_port(odp_port_t port_no, const char *name, const char *type)
{
    struct dpif_port port;

    CHECK_INT(dpif_port_query_by_number(dpif, port_no, &port, false), ==, 0);
    CHECK_STR(port.name, name);
    CHECK_STR(port.type, type);
    CHECK_UINT(odp_to_u32(port.port_no), ==, odp_to_u32(port_no));
    dpif_port_destroy(&port);

    CHECK_INT(dpif_port_query_by_name(dpif, name, &port), ==, 0);
    CHECK_UINT(odp_to_u32(port.port_no), ==, odp_to_u32(port_no));
    dpif_port_destroy(&port);
}

static size_t
count_ports(void)
{
    struct dpif_port_dump dump;
    struct dpif_port port;
    size_t n = 0;

    DPIF_PORT_FOR_EACH (&port, &dump, dpif) {
        n++;
    }
    return n;
}

static void
test_ports(void)
{
    struct dpif_port port;
    char *devname;

    open_datapath();
    check_port(ODPP_LOCAL, "dp-under-test", "dummy-internal");

    /* Numbers follow names where they can. */
    odp_port_t p3 = add_port("p3", "dummy", ODPP_NONE, 0);
    odp_port_t br2 = add_port("br2", "dummy", ODPP_NONE, 0);
    odp_port_t other3 = add_port("other3", "dummy", ODPP_NONE, 0);
    odp_port_t plain = add_port("plain", "dummy", ODPP_NONE, 0);
    odp_port_t wanted = add_port("wanted", "dummy", u32_to_odp(77), 0);

    CHECK_UINT(odp_to_u32(p3), ==, 3);
    CHECK_UINT(odp_to_u32(br2), ==, 102);
    CHECK_UINT(odp_to_u32(other3), ==, 1);
    CHECK_UINT(odp_to_u32(plain), ==, 2);
    CHECK_UINT(odp_to_u32(wanted), ==, 77);
    check_port(p3, "p3", "dummy");
    check_port(wanted, "wanted", "dummy");
    CHECK_UINT(count_ports(), ==, 6);

    add_port("late", "dummy", u32_to_odp(77), EBUSY);
    add_port("p3", "dummy", u32_to_odp(78), EEXIST);

    /* Whoever polls is told of a change, once. */
    CHECK_INT(dpif_port_poll(dpif, &devname), ==, ENOBUFS);
    CHECK_INT(dpif_port_poll(dpif, &devname), ==, EAGAIN);
    del_port(br2);
    CHECK_INT(dpif_port_poll(dpif, &devname), ==, ENOBUFS);
    CHECK_INT(dpif_port_poll(dpif, &devname), ==, EAGAIN);

    CHECK_INT(dpif_port_query_by_number(dpif, br2, &port, false), ==, ENODEV);
    CHECK_INT(dpif_port_query_by_number(dpif, ODPP_NONE, &port, false),
              ==, EINVAL);
    CHECK_INT(dpif_port_query_by_name(dpif, "br2", &port), ==, ENODEV);
    CHECK_INT(dpif_port_del(dpif, br2, false), ==, ENODEV);
    CHECK_INT(dpif_port_del(dpif, ODPP_LOCAL, false), ==, EINVAL);
    CHECK_INT(dpif_port_del(dpif, ODPP_NONE, false), ==, EINVAL);
    CHECK_UINT(count_ports(), ==, 5);

    /* "dpif-dummy/change-port-number". */
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);

    ovs_rwlock_wrlock(&dp->port_rwlock);
    dp_netdev_renumber_port(dp, dp_netdev_find_port(dp, p3), u32_to_odp(33));
    ovs_rwlock_unlock(&dp->port_rwlock);
    check_port(u32_to_odp(33), "p3", "dummy");
    CHECK_INT(dpif_port_query_by_number(dpif, p3, &port, false), ==, ENODEV);

    close_datapath();
}

/* A dump survives changes between its steps. */
static void
test_port_dump_under_change(void)
{
    struct dpif_port_dump dump;
    struct dpif_port first, next;
    char *name;

    open_datapath();
    add_port("p1", "dummy", ODPP_NONE, 0);
    add_port("p2", "dummy", ODPP_NONE, 0);

    dpif_port_dump_start(&dump, dpif);
    CHECK(dpif_port_dump_next(&dump, &first));
    name = xstrdup(first.name);
    del_port(u32_to_odp(1));
    del_port(u32_to_odp(2));
    CHECK_STR(first.name, name);    /* Still valid. */
    while (dpif_port_dump_next(&dump, &next)) {
        CHECK_STR(next.name, "dp-under-test");
    }
    CHECK_INT(dpif_port_dump_done(&dump), ==, 0);
    free(name);
    close_datapath();
}

/* Flows. */

/* A flow in text, converted.  The stubs are larger than needed. */
struct test_flow {
    struct ofpbuf key, mask, actions;
};

static void
test_flow_init(struct test_flow *tf, const char *match, const char *actions)
{
    char *error = NULL;

    ofpbuf_init(&tf->key, 0);
    ofpbuf_init(&tf->mask, 0);
    ofpbuf_init(&tf->actions, 0);
    CHECK_MSG(!odp_flow_from_string(match, NULL, &tf->key, &tf->mask, &error),
              "%s: %s", match, error);
    CHECK_INT(odp_actions_from_string(actions, NULL, &tf->actions), ==, 0);
}

static void
test_flow_uninit(struct test_flow *tf)
{
    ofpbuf_uninit(&tf->key);
    ofpbuf_uninit(&tf->mask);
    ofpbuf_uninit(&tf->actions);
}

static int
put(const char *match, const char *actions, enum dpif_flow_put_flags flags,
    const ovs_u128 *ufid, unsigned pmd_id)
{
    struct dpif_flow_stats stats;
    struct test_flow tf;
    int error;

    test_flow_init(&tf, match, actions);
    error = dpif_flow_put(dpif, flags, tf.key.data, tf.key.size,
                          tf.mask.data, tf.mask.size, tf.actions.data,
                          tf.actions.size, ufid, pmd_id, &stats);
    test_flow_uninit(&tf);
    return error;
}

static int
add(const char *match, const char *actions)
{
    return put(match, actions, DPIF_FP_CREATE, NULL, PMD_ID_NULL);
}

static int
modify(const char *match, const char *actions)
{
    return put(match, actions, DPIF_FP_MODIFY, NULL, PMD_ID_NULL);
}

static int
del(const char *match, const ovs_u128 *ufid, unsigned pmd_id)
{
    struct test_flow tf;
    int error;

    test_flow_init(&tf, match, "");
    error = dpif_flow_del(dpif, tf.key.data, tf.key.size, ufid, pmd_id, NULL);
    test_flow_uninit(&tf);
    return error;
}

/* Returns the flow that 'match' or 'ufid' finds in text, or "errno N".  The
 * caller frees it. */
static char *
get(const char *match, const ovs_u128 *ufid, unsigned pmd_id)
{
    uint64_t stub[DPIF_FLOW_BUFSIZE / 8];
    struct ofpbuf buf = OFPBUF_STUB_INITIALIZER(stub);
    struct ds text = DS_EMPTY_INITIALIZER;
    struct dpif_flow flow;
    struct test_flow tf;
    int error;

    test_flow_init(&tf, match, "");
    error = dpif_flow_get(dpif, tf.key.data, tf.key.size, ufid, pmd_id, &buf,
                          &flow);
    test_flow_uninit(&tf);
    if (error) {
        ds_put_format(&text, "errno %d", error);
    } else {
        odp_flow_format(flow.key, flow.key_len, flow.mask, flow.mask_len,
                        NULL, &text, false, true);
        ds_put_cstr(&text, " actions:");
        format_odp_actions(&text, flow.actions, flow.actions_len, NULL);
    }
    ofpbuf_uninit(&buf);
    return ds_steal_cstr(&text);
}

static void
check_get(const char *match, const ovs_u128 *ufid, const char *expected)
{
    char *text = get(match, ufid, PMD_ID_NULL);

    CHECK_STR(text, expected);
    free(text);
}

static void
check_get_error(const char *match, const ovs_u128 *ufid, int error)
{
    char *expected = xasprintf("errno %d", error);

    check_get(match, ufid, expected);
    free(expected);
}

static size_t
count_flows(bool terse)
{
    struct dpif_flow_dump *dump = dpif_flow_dump_create(dpif, terse, NULL);
    struct dpif_flow_dump_thread *thread = dpif_flow_dump_thread_create(dump);
    struct dpif_flow flows[7];
    size_t total = 0;
    int n;

    while ((n = dpif_flow_dump_next(thread, flows, ARRAY_SIZE(flows))) > 0) {
        for (int i = 0; i < n; i++) {
            CHECK(flows[i].ufid_present);
            CHECK(!ovs_u128_is_zero(flows[i].ufid));
            CHECK(terse == !flows[i].key_len);
            CHECK(terse == !flows[i].mask_len);
            CHECK(terse == !flows[i].actions_len);
            CHECK_STR(flows[i].attrs.dp_layer, "ovs");
            CHECK(!flows[i].attrs.offloaded);
            CHECK(!strncmp(flows[i].attrs.dp_extra_info, "miniflow_bits(",
                           14));
        }
        total += n;
    }
    dpif_flow_dump_thread_destroy(thread);
    CHECK_INT(dpif_flow_dump_destroy(dump), ==, 0);
    return total;
}

static void
test_flow_put_get_del(void)
{
    const char *m = "recirc_id(0),in_port(1)," ETH_IP ",ipv4(dst=10.1.2.2"
                    "/255.255.255.0,frag=no)";
    const ovs_u128 ufid = { .u64 = { .lo = 5, .hi = 6 } };
    const ovs_u128 none = { .u64 = { .lo = 5, .hi = 7 } };

    open_datapath();
    CHECK_INT(modify(m, "1"), ==, ENOENT);
    CHECK_INT(add(m, "1"), ==, 0);
    CHECK_INT(add(m, "1"), ==, EEXIST);
    check_get(m, NULL, "recirc_id(0),in_port(1)," ETH_IP ",ipv4(dst=10.1.2.2"
              "/255.255.255.0,frag=no) actions:1");

    /* Not the same flow, though it covers the packet that made it. */
    check_get_error("in_port(1)," ETH_IP ",ipv4(dst=10.1.2.3,frag=no)", NULL,
                    ENOENT);

    CHECK_INT(modify(m, "drop"), ==, 0);
    check_get(m, NULL, "recirc_id(0),in_port(1)," ETH_IP ",ipv4(dst=10.1.2.2"
              "/255.255.255.0,frag=no) actions:drop");
    CHECK_INT(put(m, "3", DPIF_FP_CREATE | DPIF_FP_MODIFY, NULL, PMD_ID_NULL),
              ==, 0);
    CHECK_INT(put(m, "4", DPIF_FP_MODIFY | DPIF_FP_ZERO_STATS, NULL,
                  PMD_ID_NULL), ==, EOPNOTSUPP);
    CHECK_INT(put(m, "4", 0, NULL, PMD_ID_NULL), ==, 0);
    CHECK_UINT(count_flows(false), ==, 1);
    CHECK_UINT(count_flows(true), ==, 1);
    CHECK_INT(del(m, NULL, PMD_ID_NULL), ==, 0);
    CHECK_INT(del(m, NULL, PMD_ID_NULL), ==, ENOENT);

    /* By a ufid of the caller's, which has precedence over the key. */
    CHECK_INT(put(m, "1", DPIF_FP_CREATE, &ufid, PMD_ID_NULL), ==, 0);
    CHECK_INT(put(m, "1", DPIF_FP_CREATE, &ufid, PMD_ID_NULL), ==, EEXIST);
    CHECK_INT(put(m, "2", DPIF_FP_MODIFY, &ufid, PMD_ID_NULL), ==, 0);
    CHECK_INT(put(m, "2", DPIF_FP_MODIFY, &none, PMD_ID_NULL), ==, ENOENT);
    check_get("", &ufid, "recirc_id(0),in_port(1)," ETH_IP ",ipv4(dst=10.1.2.2"
              "/255.255.255.0,frag=no) actions:2");
    check_get_error(m, NULL, ENOENT);
    check_get_error(m, &none, ENOENT);
    check_get_error("", NULL, ENOENT);
    CHECK_INT(del(m, &none, PMD_ID_NULL), ==, ENOENT);
    CHECK_INT(del(m, &ufid, PMD_ID_NULL), ==, 0);
    CHECK_INT(del("", NULL, PMD_ID_NULL), ==, ENOENT);

    /* There is no thread on core 5. */
    CHECK_INT(put(m, "1", DPIF_FP_CREATE, NULL, 5), ==, EINVAL);
    CHECK_INT(del(m, NULL, 5), ==, EINVAL);
    CHECK_INT(put(m, "1", DPIF_FP_CREATE, NULL, NON_PMD_CORE_ID), ==, 0);

    CHECK_INT(dpif_flow_flush(dpif), ==, 0);
    CHECK_UINT(count_flows(false), ==, 0);
    close_datapath();
}

/* Of two overlapping megaflows a change must hit the one that was meant. */
static void
test_overlapping_flows(void)
{
    const char *narrow = "recirc_id(0),in_port(1)," ETH_IP
                         ",ipv4(dst=10.1.2.2/255.255.255.0,frag=no)";
    const char *wide = "recirc_id(0),in_port(1)," ETH_IP
                       ",ipv4(dst=10.1.0.2/255.255.0.0,frag=no)";
    const ovs_u128 narrow_ufid = { .u64 = { .lo = 1, .hi = 24 } };
    const ovs_u128 wide_ufid = { .u64 = { .lo = 1, .hi = 16 } };

    open_datapath();
    CHECK_INT(add(wide, "1"), ==, 0);
    CHECK_INT(add(narrow, "2"), ==, EEXIST);    /* Already covered. */
    CHECK_INT(modify(narrow, "2"), ==, EINVAL); /* By another flow. */
    check_get(wide, NULL, "recirc_id(0),in_port(1)," ETH_IP
              ",ipv4(dst=10.1.0.2/255.255.0.0,frag=no) actions:1");
    CHECK_INT(dpif_flow_flush(dpif), ==, 0);

    CHECK_INT(put(narrow, "1", DPIF_FP_CREATE, &narrow_ufid, PMD_ID_NULL),
              ==, 0);
    CHECK_INT(put(wide, "2", DPIF_FP_CREATE, &wide_ufid, PMD_ID_NULL), ==, 0);
    CHECK_INT(put(narrow, "3", DPIF_FP_MODIFY, &narrow_ufid, PMD_ID_NULL),
              ==, 0);
    CHECK_INT(put(wide, "4", DPIF_FP_MODIFY, &wide_ufid, PMD_ID_NULL), ==, 0);
    check_get("", &narrow_ufid, "recirc_id(0),in_port(1)," ETH_IP
              ",ipv4(dst=10.1.2.2/255.255.255.0,frag=no) actions:3");
    check_get("", &wide_ufid, "recirc_id(0),in_port(1)," ETH_IP
              ",ipv4(dst=10.1.0.2/255.255.0.0,frag=no) actions:4");
    close_datapath();
}

static void
test_bad_flows(void)
{
    struct test_flow tf;

    open_datapath();

    /* in_port not exact. */
    CHECK_INT(add("eth(),eth_type(0x0800),ipv4()", "1"), ==, EINVAL);
    CHECK_INT(add("in_port(1/0xff)," ETH_IP ",ipv4(frag=no)", "1"),
              ==, EINVAL);

    /* A packet without Ethernet type. */
    CHECK_INT(add("in_port(1),packet_type(ns=0,id=0),ipv4(frag=no)", "1"),
              ==, EINVAL);

    /* A key, and a mask, that end in the middle of an attribute. */
    test_flow_init(&tf, "in_port(1)," ETH_IP ",ipv4(frag=no)", "1");
    CHECK_INT(dpif_flow_put(dpif, DPIF_FP_CREATE, tf.key.data,
                            tf.key.size - 4, tf.mask.data, tf.mask.size,
                            tf.actions.data, tf.actions.size, NULL,
                            PMD_ID_NULL, NULL), ==, EINVAL);
    CHECK_INT(dpif_flow_put(dpif, DPIF_FP_CREATE, tf.key.data, tf.key.size,
                            tf.mask.data, tf.mask.size - 4, tf.actions.data,
                            tf.actions.size, NULL, PMD_ID_NULL, NULL),
              ==, EINVAL);
    test_flow_uninit(&tf);

    CHECK_UINT(count_flows(false), ==, 0);
    close_datapath();
}

static void
test_flow_dump(void)
{
    enum { N = 333 };

    open_datapath();
    for (int i = 0; i < N; i++) {
        char *m = xasprintf("in_port(%d)," ETH_IP ",ipv4(src=10.0.%d.%d,"
                            "frag=no)", i % 3 + 1, i / 100, i % 100);

        CHECK_INT(add(m, "1"), ==, 0);
        free(m);
    }
    CHECK_UINT(count_flows(false), ==, N);
    CHECK_UINT(count_flows(true), ==, N);

    /* Two threads share a dump, flows go meanwhile, and nobody takes the
     * rest. */
    struct dpif_flow_dump *dump = dpif_flow_dump_create(dpif, false, NULL);
    struct dpif_flow_dump_thread *a = dpif_flow_dump_thread_create(dump);
    struct dpif_flow_dump_thread *b = dpif_flow_dump_thread_create(dump);
    struct dpif_flow flows_a[20], flows_b[20];

    CHECK_INT(dpif_flow_dump_next(a, flows_a, 20), ==, 20);
    CHECK_INT(dpif_flow_dump_next(b, flows_b, 20), ==, 20);
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 20; j++) {
            CHECK(!ovs_u128_equals(flows_a[i].ufid, flows_b[j].ufid));
        }
    }
    CHECK_INT(dpif_flow_flush(dpif), ==, 0);
    CHECK_INT(dpif_flow_dump_next(a, flows_a, 20), ==, 0);
    CHECK_INT(dpif_flow_dump_next(b, flows_b, 20), ==, 0);
    dpif_flow_dump_thread_destroy(a);
    dpif_flow_dump_thread_destroy(b);
    dpif_flow_dump_destroy(dump);

    CHECK_INT(add("in_port(1)," ETH_IP ",ipv4(frag=no)", "1"), ==, 0);
    CHECK_INT(add("in_port(2)," ETH_IP ",ipv4(frag=no)", "1"), ==, 0);
    dump = dpif_flow_dump_create(dpif, true, NULL);
    a = dpif_flow_dump_thread_create(dump);
    CHECK_INT(dpif_flow_dump_next(a, flows_a, 1), ==, 1);
    dpif_flow_dump_thread_destroy(a);
    dpif_flow_dump_destroy(dump);
    close_datapath();
}

/* A table without room for another flow says so, and nothing else happens. */
static void
test_full_table(void)
{
    const char *first = "in_port(1)," ETH_IP ",ipv4(frag=no)";
    const char *second = "in_port(2)," ETH_IP ",ipv4(frag=no)";
    uint32_t n_chunks, next_fresh;
    struct pmd_thread *pmd;
    struct dp_slab *slab;

    open_datapath();
    CHECK_INT(add(first, "1"), ==, 0);

    /* As after the last of 67 million flows. */
    pmd = dp_netdev_get_pmd(dp_netdev_from_dpif(dpif), NON_PMD_CORE_ID);
    slab = pmd->flows.slab;
    n_chunks = slab->n_chunks;
    next_fresh = slab->next_fresh;
    slab->n_chunks = DP_SLAB_MAX_CHUNKS;
    slab->next_fresh = DP_SLAB_MAX_CHUNKS << DP_SLAB_CHUNK_BITS;
    CHECK_INT(add(second, "1"), ==, ENOSPC);
    CHECK_INT(add(second, "1"), ==, ENOSPC);
    CHECK_UINT(count_flows(false), ==, 1);
    CHECK_INT(modify(first, "2"), ==, 0);

    /* Room again. */
    slab->n_chunks = n_chunks;
    slab->next_fresh = next_fresh;
    pmd_thread_unref(pmd);
    CHECK_INT(add(second, "1"), ==, 0);
    CHECK_UINT(count_flows(false), ==, 2);
    close_datapath();
}

/* An operation without a core means every thread, and sums up. */
static void
test_several_threads(void)
{
    const char *m = "in_port(1)," ETH_IP ",ipv4(frag=no)";
    struct dp_netdev *dp;
    struct pmd_thread **list, *pmd;
    size_t n;

    open_datapath();
    dp = dp_netdev_from_dpif(dpif);
    CHECK(!dp_netdev_get_pmd(dp, 0));
    add_port("p1", "dummy-pmd", ODPP_NONE, 0);

    list = dp_netdev_sorted_pmds(dp, &n);
    CHECK_UINT(n, ==, 2);
    CHECK_UINT(list[0]->core_id, ==, 0);
    CHECK_UINT(list[1]->core_id, ==, NON_PMD_CORE_ID);
    free(list);
    pmd = dp_netdev_get_pmd(dp, 0);
    CHECK(pmd);
    pmd_thread_unref(pmd);

    CHECK_INT(add(m, "1"), ==, 0);
    CHECK_UINT(count_flows(false), ==, 2);
    CHECK_INT(put(m, "1", DPIF_FP_CREATE, NULL, 0), ==, EEXIST);
    CHECK_INT(put(m, "2", DPIF_FP_MODIFY, NULL, 0), ==, 0);
    CHECK_INT(del(m, NULL, 0), ==, 0);
    CHECK_UINT(count_flows(false), ==, 1);

    char *text = get(m, NULL, 0);
    char *expected = xasprintf("errno %d", ENOENT);

    CHECK_STR(text, expected);
    free(text);
    free(expected);
    text = get(m, NULL, NON_PMD_CORE_ID);
    CHECK(strstr(text, "actions:1"));
    free(text);

    /* One thread has the flow, the other one has not. */
    CHECK_INT(modify(m, "3"), ==, ENOENT);
    CHECK_INT(del(m, NULL, PMD_ID_NULL), ==, ENOENT);
    CHECK_UINT(count_flows(false), ==, 0);

    /* With its last port the thread goes, and its flows. */
    CHECK_INT(add(m, "1"), ==, 0);
    del_port(u32_to_odp(1));
    CHECK(!dp_netdev_get_pmd(dp, 0));
    CHECK_UINT(count_flows(false), ==, 1);
    close_datapath();
}

/* Execution. */

static int
execute(struct dp_packet *packet, const char *actions, bool probe)
{
    struct ofpbuf odp = OFPBUF_STUB_INITIALIZER(
        (uint64_t[32]) { 0 });
    struct flow flow;
    int error;

    CHECK_INT(odp_actions_from_string(actions, NULL, &odp), ==, 0);
    flow_extract(packet, &flow);
    struct dpif_execute args = {
        .actions = odp.data,
        .actions_len = odp.size,
        .packet = packet,
        .flow = &flow,
        .probe = probe,
    };
    struct dpif_op op = { .type = DPIF_OP_EXECUTE, .execute = args };
    struct dpif_op *ops[] = { &op };

    dpif_operate(dpif, ops, 1, DPIF_OFFLOAD_AUTO);
    error = op.error;
    ofpbuf_uninit(&odp);
    return error;
}

static uint64_t
tx_packets(const char *name, const char *type)
{
    struct netdev_stats stats;
    struct netdev *netdev;

    CHECK_INT(netdev_open(name, type, &netdev), ==, 0);
    CHECK_INT(netdev_get_stats(netdev, &stats), ==, 0);
    netdev_close(netdev);
    return stats.tx_packets;
}

static void
test_execute(void)
{
    struct dp_packet packet;
    struct eth_header *eth;

    open_datapath();
    add_port("p1", "dummy", ODPP_NONE, 0);
    dp_packet_init(&packet, 0);

    dp_packet_put_zeros(&packet, ETH_HEADER_LEN - 1);
    CHECK_INT(execute(&packet, "1", false), ==, EINVAL);
    dp_packet_clear(&packet);
    CHECK_UINT(tx_packets("p1", "dummy"), ==, 0);

    dp_packet_put_zeros(&packet, 64);
    CHECK_INT(execute(&packet, "1", true), ==, 0);
    CHECK_UINT(tx_packets("p1", "dummy"), ==, 0);
    CHECK_INT(execute(&packet, "1", false), ==, 0);
    CHECK_UINT(tx_packets("p1", "dummy"), ==, 1);
    CHECK_INT(execute(&packet, "1,99,1", false), ==, 0);
    CHECK_UINT(tx_packets("p1", "dummy"), ==, 3);

    /* The caller sees what the actions did to the packet. */
    CHECK_INT(execute(&packet, "set(eth(src=00:00:00:00:00:01,"
                      "dst=00:00:00:00:00:02)),1", false), ==, 0);
    eth = dp_packet_eth(&packet);
    CHECK(eth && eth->eth_src.ea[5] == 1 && eth->eth_dst.ea[5] == 2);
    CHECK_UINT(tx_packets("p1", "dummy"), ==, 4);

    /* Every packet that was dropped keeps what it was. */
    CHECK_INT(execute(&packet, "drop", false), ==, 0);
    CHECK_UINT(dp_packet_size(&packet), ==, 64);

    dp_packet_uninit(&packet);
    close_datapath();
}

static void
test_statistics(void)
{
    struct dpif_dp_stats stats;

    open_datapath();
    CHECK_INT(add("in_port(1)," ETH_IP ",ipv4(frag=no)", "1"), ==, 0);
    CHECK_INT(dpif_get_dp_stats(dpif, &stats), ==, 0);
    CHECK_UINT(stats.n_flows, ==, 1);
    CHECK_UINT(stats.n_hit, ==, 0);
    CHECK_UINT(stats.n_missed, ==, 0);
    CHECK_UINT(stats.n_lost, ==, 0);
    CHECK_UINT(stats.n_masks, ==, UINT32_MAX);
    CHECK_UINT(stats.n_mask_hit, ==, UINT64_MAX);
    CHECK_UINT(stats.n_cache_hit, ==, UINT64_MAX);
    close_datapath();
}

/* The rest. */

static void
test_bonds(void)
{
    odp_port_t members[BOND_BUCKETS];
    uint64_t n_bytes[BOND_BUCKETS] = { 0 };

    open_datapath();
    for (size_t i = 0; i < BOND_BUCKETS; i++) {
        members[i] = u32_to_odp(i % 2 + 1);
    }
    CHECK_INT(dpif_bond_stats_get(dpif, 7, n_bytes), ==, ENOENT);
    CHECK_INT(dpif_bond_del(dpif, 7), ==, ENOENT);
    CHECK_INT(dpif_bond_add(dpif, 7, members), ==, 0);
    CHECK_INT(dpif_bond_add(dpif, 7, members), ==, 0);

    /* Each thread counts for itself. */
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct pmd_thread *pmd = dp_netdev_get_pmd(dp, NON_PMD_CORE_ID);
    struct dp_bond *bond = dp_bonds_find(&pmd->tx_bonds, 7);

    CHECK(bond);
    dp_bond_bucket_account(&bond->buckets[3], 1500);
    pmd_thread_unref(pmd);
    CHECK_INT(dpif_bond_stats_get(dpif, 7, n_bytes), ==, 0);
    CHECK_UINT(n_bytes[3], ==, 1500);
    CHECK_UINT(n_bytes[2], ==, 0);

    CHECK_INT(dpif_bond_del(dpif, 7), ==, 0);
    CHECK_INT(dpif_bond_del(dpif, 7), ==, ENOENT);
    close_datapath();
}

static void
check_limit(struct ovs_list *limits, int32_t zone, uint32_t limit)
{
    struct ct_dpif_zone_limit *zl;

    LIST_FOR_EACH (zl, node, limits) {
        if (zl->zone == zone) {
            CHECK_UINT(zl->limit, ==, limit);
            CHECK_UINT(zl->count, ==, 0);
            return;
        }
    }
    CHECK_MSG(false, "no limit of zone %"PRId32, zone);
}

static void
test_ct_limits(void)
{
    struct ovs_list some = OVS_LIST_INITIALIZER(&some);
    struct ovs_list none = OVS_LIST_INITIALIZER(&none);
    struct ovs_list reply = OVS_LIST_INITIALIZER(&reply);

    open_datapath();
    ct_dpif_push_zone_limit(&some, OVS_ZONE_LIMIT_DEFAULT_ZONE, 15, 0);
    ct_dpif_push_zone_limit(&some, 0, 5, 0);
    ct_dpif_push_zone_limit(&some, UINT16_MAX, 3, 0);
    CHECK_INT(ct_dpif_set_limits(dpif, &some), ==, 0);

    CHECK_INT(ct_dpif_get_limits(dpif, &none, &reply), ==, 0);
    CHECK_UINT(ovs_list_size(&reply), ==, 3);
    check_limit(&reply, OVS_ZONE_LIMIT_DEFAULT_ZONE, 15);
    check_limit(&reply, 0, 5);
    check_limit(&reply, UINT16_MAX, 3);
    ct_dpif_free_zone_limits(&reply);
    ct_dpif_free_zone_limits(&some);

    /* A zone without a limit of its own has the default. */
    ct_dpif_push_zone_limit(&some, 0, 0, 0);
    CHECK_INT(ct_dpif_del_limits(dpif, &some), ==, 0);
    CHECK_INT(ct_dpif_get_limits(dpif, &some, &reply), ==, 0);
    CHECK_UINT(ovs_list_size(&reply), ==, 1);
    check_limit(&reply, 0, 15);
    ct_dpif_free_zone_limits(&reply);
    ct_dpif_free_zone_limits(&some);
    close_datapath();
}

static void
test_ct_knobs(void)
{
    struct ct_dpif_timeout_policy tp = { .id = 9 }, got;
    uint32_t n;
    bool on;

    open_datapath();
    CHECK_INT(ct_dpif_set_maxconns(dpif, 1234), ==, 0);
    CHECK_INT(ct_dpif_get_maxconns(dpif, &n), ==, 0);
    CHECK_UINT(n, ==, 1234);
    CHECK_INT(ct_dpif_get_nconns(dpif, &n), ==, 0);
    CHECK_UINT(n, ==, 0);
    CHECK_INT(ct_dpif_set_tcp_seq_chk(dpif, false), ==, 0);
    CHECK_INT(ct_dpif_get_tcp_seq_chk(dpif, &on), ==, 0);
    CHECK(!on);
    n = 4321;
    CHECK_INT(ct_dpif_sweep(dpif, &n), ==, 0);
    n = 0;                      /* Means to ask. */
    CHECK_INT(ct_dpif_sweep(dpif, &n), ==, 0);
    CHECK_UINT(n, ==, 4321);

    CHECK_INT(ct_dpif_get_timeout_policy(dpif, 9, &got), ==, ENOENT);
    CHECK(ct_dpif_set_timeout_policy_attr_by_name(&tp, "udp_first", 17));
    CHECK_INT(ct_dpif_set_timeout_policy(dpif, &tp), ==, 0);
    CHECK_INT(ct_dpif_get_timeout_policy(dpif, 9, &got), ==, 0);
    CHECK_UINT(got.attrs[CT_DPIF_TP_ATTR_UDP_FIRST], ==, 17);
    CHECK_INT(ct_dpif_del_timeout_policy(dpif, 9), ==, 0);
    CHECK_INT(ct_dpif_del_timeout_policy(dpif, 9), !=, 0);
    close_datapath();
}

static void
check_cache_size(uint32_t level, uint32_t expected)
{
    uint32_t size;

    CHECK_INT(dp_netdev_cache_get_size(dpif, level, &size), ==, 0);
    CHECK_UINT(size, ==, expected);
}

static void
test_cache_sizes(void)
{
    static const uint32_t bad[] = {
        1, 8, 1000, SIGCACHE_MIN_ENTRIES / 2, SIGCACHE_MIN_ENTRIES + 8,
        SIGCACHE_MAX_ENTRIES - 1, SIGCACHE_MAX_ENTRIES * 2, UINT32_MAX,
    };
    const char *name;
    uint32_t n;

    open_datapath();

    /* The class for tests has none, see dummy.c. */
    CHECK_INT(dpif_cache_get_supported_levels(dpif, &n), ==, EOPNOTSUPP);

    CHECK_INT(dp_netdev_cache_get_levels(dpif, &n), ==, 0);
    CHECK_UINT(n, ==, 2);
    CHECK_INT(dp_netdev_cache_get_name(dpif, 0, &name), ==, 0);
    CHECK_STR(name, "emc");
    CHECK_INT(dp_netdev_cache_get_name(dpif, 1, &name), ==, 0);
    CHECK_STR(name, "smc");
    CHECK_INT(dp_netdev_cache_get_name(dpif, 2, &name), ==, EINVAL);
    CHECK_INT(dp_netdev_cache_get_size(dpif, 2, &n), ==, EINVAL);
    CHECK_INT(dp_netdev_cache_set_size(dpif, 2, 1024), ==, EINVAL);
    check_cache_size(0, SIGCACHE_EMC_ENTRIES);
    check_cache_size(1, SIGCACHE_SMC_ENTRIES);

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        CHECK_INT(dp_netdev_cache_set_size(dpif, 0, bad[i]), ==, EINVAL);
        check_cache_size(0, SIGCACHE_EMC_ENTRIES);
    }

    CHECK_INT(dp_netdev_cache_set_size(dpif, 0, 2048), ==, 0);
    check_cache_size(0, 2048);
    check_cache_size(1, SIGCACHE_SMC_ENTRIES);

    struct pmd_thread *pmd
        = dp_netdev_get_pmd(dp_netdev_from_dpif(dpif), NON_PMD_CORE_ID);

    CHECK_UINT(pmd->emc.bucket_mask + 1, ==, 2048 / SIGCACHE_WAYS);
    CHECK_INT(dp_netdev_cache_set_size(dpif, 0, 0), ==, 0);
    CHECK(!sigcache_is_enabled(&pmd->emc));
    pmd_thread_unref(pmd);
    close_datapath();
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    ovs_numa_set_dummy("0,0");
    ovs_numa_init();
    netdev_dummy_register(DUMMY_OVERRIDE_NONE);
    dpif_dummy_register(DUMMY_OVERRIDE_NONE);

    RUN_TEST(test_datapaths);
    RUN_TEST(test_ports);
    RUN_TEST(test_port_dump_under_change);
    RUN_TEST(test_flow_put_get_del);
    RUN_TEST(test_overlapping_flows);
    RUN_TEST(test_bad_flows);
    RUN_TEST(test_flow_dump);
    RUN_TEST(test_full_table);
    RUN_TEST(test_several_threads);
    RUN_TEST(test_execute);
    RUN_TEST(test_statistics);
    RUN_TEST(test_bonds);
    RUN_TEST(test_ct_limits);
    RUN_TEST(test_ct_knobs);
    RUN_TEST(test_cache_sizes);
    ovsrcu_exit();
    return 0;
}
