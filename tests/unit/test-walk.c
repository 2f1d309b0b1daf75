/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "walk-fixture.h"

#include "pmd/impl.h"

/* Checks that what left are 'n' packets to 'port' with 'serials'. */
static void
check_sent(uint32_t port, const uint32_t *serials, size_t n)
{
    CHECK_UINT(n_sent, ==, n);
    for (size_t i = 0; i < n; i++) {
        CHECK_UINT(sent[i].port, ==, port);
        CHECK_UINT(sent[i].serial, ==, serials[i]);
    }
}

#define CHECK_SENT(PORT, ...)                                           \
    do {                                                                \
        const uint32_t serials_[] = { __VA_ARGS__ };                    \
        check_sent(PORT, serials_, ARRAY_SIZE(serials_));               \
    } while (0)

/* Returns the index in 'sent' of the packet 'serial'. */
static size_t
find_sent(uint32_t serial)
{
    for (size_t i = 0; i < n_sent; i++) {
        if (sent[i].serial == serial) {
            return i;
        }
    }
    CHECK_MSG(false, "packet %"PRIu32" was not sent", serial);
    return 0;
}

/* Hits and misses mixed: each flow's packets keep their order. */
static void
test_order(void)
{
    static const uint16_t flows[] = { 100, 300, 100, 200, 300, 100, 300 };

    fixture_reset();
    install_output(1, 0, 100, 2);
    install_output(1, 0, 200, 2);
    upcall_port = 2;
    walk(1, flows, ARRAY_SIZE(flows));

    CHECK_UINT(n_upcalls, ==, 1);
    CHECK_UINT(n_sent, ==, ARRAY_SIZE(flows));
    CHECK_UINT(find_sent(1), <, find_sent(3));
    CHECK_UINT(find_sent(3), <, find_sent(6));
    CHECK_UINT(find_sent(2), <, find_sent(5));
    CHECK_UINT(find_sent(5), <, find_sent(7));

    CHECK_UINT(counted(PMD_COUNT_RECV), ==, 7);
    CHECK_UINT(counted(PMD_COUNT_MISS), ==, 1);
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, 6);
    CHECK_UINT(counted(PMD_COUNT_LOST), ==, 0);
    CHECK_UINT(counted(PMD_COUNT_SENT_PKTS), ==, 7);
}

/* A full burst of 32 flows, then again from the other end. */
static void
test_full_burst(void)
{
    uint16_t flows[NETDEV_MAX_BURST];

    fixture_reset();
    for (size_t i = 0; i < ARRAY_SIZE(flows); i++) {
        flows[i] = 1000 + i;
    }
    upcall_port = 3;
    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_UINT(n_upcalls, ==, NETDEV_MAX_BURST);
    CHECK_UINT(n_sent, ==, NETDEV_MAX_BURST);
    for (size_t i = 0; i < ARRAY_SIZE(flows); i++) {
        CHECK_UINT(sent[i].serial, ==, i + 1);
        flows[i] = 1000 + NETDEV_MAX_BURST - 1 - i;
    }
    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_UINT(n_upcalls, ==, NETDEV_MAX_BURST);
    for (size_t i = 0; i < ARRAY_SIZE(flows); i++) {
        CHECK_UINT(sent[i].serial, ==, i + 1);
    }
    CHECK_UINT(n_sent_batches, ==, 1);
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, NETDEV_MAX_BURST);
}

static void
test_flow_statistics(void)
{
    static const uint16_t flows[] = { 100, 100, 200, 100 };
    unsigned long long n_packets, n_bytes;
    struct dp_flow_info *info;
    long long used;

    fixture_reset();
    install_output(1, 0, 100, 2);
    CMAP_FOR_EACH (info, ufid_node, &pmd->flows.by_ufid) {
        atomic_read_relaxed(&info->slot->used, &used);
        CHECK_INT(used, ==, 0);
        break;
    }
    walk(1, flows, ARRAY_SIZE(flows));
    atomic_read_relaxed(&info->slot->packets, &n_packets);
    atomic_read_relaxed(&info->slot->bytes, &n_bytes);
    atomic_read_relaxed(&info->slot->used, &used);
    CHECK_UINT(n_packets, ==, 3);
    CHECK_UINT(n_bytes, ==, 3 * PACKET_SIZE);
    CHECK_INT(used, ==, pmd->now / 1000);
    CHECK(!info->slot->batch);
}

/* Where packets are found: the classifier first, then the caches. */
static void
test_caches(void)
{
    static const uint16_t flow[] = { 100 };

    fixture_reset();
    install_output(1, 0, 100, 2);

    pmd->smc_enabled = true;
    walk(1, flow, 1);
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, 1);
    walk(1, flow, 1);
    CHECK_UINT(counted(PMD_COUNT_SMC_HIT), ==, 1);

    pmd->emc_insert_min = UINT32_MAX;
    walk(1, flow, 1);
    CHECK_UINT(counted(PMD_COUNT_SMC_HIT), ==, 1);
    walk(1, flow, 1);
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, 1);
    CHECK_UINT(counted(PMD_COUNT_SMC_HIT), ==, 0);

    /* Neither is asked when it is off. */
    pmd->emc_insert_min = 0;
    walk(1, flow, 1);
    CHECK_UINT(counted(PMD_COUNT_SMC_HIT), ==, 1);
    pmd->smc_enabled = false;
    walk(1, flow, 1);
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, 1);
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, 0);
    CHECK_UINT(n_upcalls, ==, 0);

    /* The flow that an upcall brings is cached at once. */
    fixture_reset();
    pmd->emc_insert_min = UINT32_MAX;
    walk(1, flow, 1);
    walk(1, flow, 1);
    CHECK_UINT(n_upcalls, ==, 1);
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, 1);
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, 0);
}

/* The same packet from two ports, whatever the caches know. */
static void
test_ports_are_apart(void)
{
    static const uint16_t flow[] = { 100 };

    fixture_reset();
    pmd->emc_insert_min = UINT32_MAX;
    pmd->smc_enabled = true;
    install_output(1, 0, 100, 3);
    install_output(2, 0, 100, 4);
    for (int i = 0; i < 3; i++) {
        walk(1, flow, 1);
        CHECK_SENT(3, 1);
        walk(2, flow, 1);
        CHECK_SENT(4, 1);
    }
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, 4);

    /* A port without flows at all. */
    upcall_port = 5;
    walk(6, flow, 1);
    CHECK_SENT(5, 1);
    CHECK_UINT(n_upcalls, ==, 1);
}

/* A flow is no match for a key of another port, even if a cache says so. */
static void
test_foreign_flow(void)
{
    struct dp_packet *packet = make_packet(100, 0);
    struct dp_flow_info *info;
    struct dp_key key;
    struct flow flow;

    fixture_reset();
    install_output(1, 0, 100, 3);
    pkt_metadata_init(&packet->md, u32_to_odp(1));
    flow_extract(packet, &flow);
    dp_packet_delete(packet);
    CMAP_FOR_EACH (info, ufid_node, &pmd->flows.by_ufid) {
        dp_key_from_flow(&key, &flow);
        sigcache_insert(&pmd->emc, key.hash, info->slot->index);
        CHECK(sigcache_lookup(&pmd->emc, pmd->flows.slab, &key)
              == info->slot);

        flow.in_port.odp_port = u32_to_odp(2);
        dp_key_from_flow(&key, &flow);
        sigcache_insert(&pmd->emc, key.hash, info->slot->index);
        CHECK(!sigcache_lookup(&pmd->emc, pmd->flows.slab, &key));
    }
}

/* A flow that was deleted is not found, in whatever cache it is. */
static void
test_deleted_flow(void)
{
    static const uint16_t flow[] = { 100 };
    struct dp_flow_info *info;

    fixture_reset();
    pmd->emc_insert_min = UINT32_MAX;
    pmd->smc_enabled = true;
    install_output(1, 0, 100, 3);
    walk(1, flow, 1);
    CHECK_SENT(3, 1);

    ovs_mutex_lock(&pmd->flows.mutex);
    CMAP_FOR_EACH (info, ufid_node, &pmd->flows.by_ufid) {
        pmd_flow_uninstall(pmd, info->slot);
    }
    ovs_mutex_unlock(&pmd->flows.mutex);
    upcall_port = 4;
    walk(1, flow, 1);
    CHECK_SENT(4, 1);
    CHECK_UINT(n_upcalls, ==, 1);
    ovsrcu_quiesce();
}

static void
test_short_packet(void)
{
    struct dp_packet_batch batch;

    fixture_reset();
    install_output(1, 0, 100, 2);
    DROPPED(rx_invalid_packet);
    dp_packet_batch_init(&batch);
    for (uint32_t i = 1; i <= 3; i++) {
        dp_packet_batch_add(&batch, make_packet(100, i));
    }
    dp_packet_set_size(batch.packets[1], ETH_HEADER_LEN - 1);
    n_sent = 0;
    pmd_input(pmd, &batch, u32_to_odp(1));
    pmd_flush_output(pmd, true);
    CHECK_SENT(2, 1, 3);
    CHECK_UINT(DROPPED(rx_invalid_packet), ==, 1);
    CHECK_UINT(counted(PMD_COUNT_RECV), ==, 3);

    /* Nothing but short ones. */
    dp_packet_batch_init_packet(&batch, make_packet(100, 1));
    dp_packet_set_size(batch.packets[0], 0);
    n_sent = 0;
    pmd_input(pmd, &batch, u32_to_odp(1));
    pmd_flush_output(pmd, true);
    CHECK_UINT(n_sent, ==, 0);
    CHECK_UINT(DROPPED(rx_invalid_packet), ==, 1);
}

static void
test_upcall_failures(void)
{
    static const uint16_t flows[] = { 100, 200, 100 };

    fixture_reset();
    install_output(1, 0, 200, 2);
    DROPPED(upcall_error);
    DROPPED(lock_error);

    upcall_error = EINVAL;
    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_SENT(2, 2);
    CHECK_UINT(DROPPED(upcall_error), ==, 2);
    CHECK_UINT(counted(PMD_COUNT_LOST), ==, 2);
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, 1);

    /* No room for a flow: the packets go out all the same. */
    upcall_error = ENOSPC;
    upcall_port = 2;
    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_UINT(n_sent, ==, 3);
    CHECK_UINT(counted(PMD_COUNT_LOST), ==, 2);
    CHECK_UINT(dp_flow_table_count(&pmd->flows), ==, 1);

    /* Upcalls are disabled. */
    upcall_error = 0;
    n_upcalls = 0;
    fat_rwlock_wrlock(&run.upcall_rwlock);
    walk(1, flows, ARRAY_SIZE(flows));
    fat_rwlock_unlock(&run.upcall_rwlock);
    CHECK_SENT(2, 2);
    CHECK_UINT(n_upcalls, ==, 0);
    CHECK_UINT(DROPPED(lock_error), ==, 2);
    CHECK_UINT(counted(PMD_COUNT_LOST), ==, 2);

    /* No upper layer. */
    run.upcall_cb = NULL;
    walk(1, flows, ARRAY_SIZE(flows));
    run.upcall_cb = upcall;
    CHECK_SENT(2, 2);
    CHECK_UINT(DROPPED(upcall_error), ==, 2);
}

/* A flow that recirculates for ever ends at the limit. */
static void
test_recirculation_limit(void)
{
    static const uint16_t flow[] = { 100, 100 };
    uint64_t stub[64 / 8];
    struct ofpbuf actions;

    fixture_reset();
    DROPPED(recirc_error);
    ofpbuf_use_stub(&actions, stub, sizeof stub);
    nl_msg_put_u32(&actions, OVS_ACTION_ATTR_RECIRC, 5);
    install(1, 0, 100, &actions);
    install(1, 5, 100, &actions);

    walk(1, flow, ARRAY_SIZE(flow));
    CHECK_UINT(n_sent, ==, 0);
    CHECK_UINT(DROPPED(recirc_error), ==, 2);
    CHECK_UINT(counted(PMD_COUNT_RECIRC), ==, 2 * DP_MAX_RECIRC_DEPTH);
    CHECK_UINT(pmd->recirc_depth, ==, 0);
    CHECK_UINT(n_upcalls, ==, 0);
}

/* Two flows that both send their packets into a third one: batches of the
 * first pass are not mixed up with those of the second. */
static void
test_recirculation(void)
{
    static const uint16_t flows[] = { 100, 200, 100, 200 };
    uint64_t stub[64 / 8];
    struct ofpbuf actions;

    fixture_reset();
    pmd->emc_insert_min = UINT32_MAX;
    ofpbuf_use_stub(&actions, stub, sizeof stub);
    nl_msg_put_u32(&actions, OVS_ACTION_ATTR_RECIRC, 5);
    install(1, 0, 100, &actions);
    install(1, 0, 200, &actions);
    install_output(1, 5, 100, 2);
    install_output(1, 5, 200, 2);
    for (int i = 0; i < 3; i++) {
        walk(1, flows, ARRAY_SIZE(flows));
        CHECK_SENT(2, 1, 3, 2, 4);
    }
    CHECK_UINT(counted(PMD_COUNT_RECV), ==, 12);
    CHECK_UINT(counted(PMD_COUNT_RECIRC), ==, 12);
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, 16);
}

static void
test_output_errors(void)
{
    static const uint16_t flow[] = { 100, 100, 100 };
    uint64_t stub[64 / 8];
    struct ofpbuf actions;

    fixture_reset();
    DROPPED(invalid_port);
    DROPPED(invalid_bond);
    install_output(1, 0, 100, 99);
    walk(1, flow, ARRAY_SIZE(flow));
    CHECK_UINT(DROPPED(invalid_port), ==, 3);

    fixture_reset();
    ofpbuf_use_stub(&actions, stub, sizeof stub);
    nl_msg_put_u32(&actions, OVS_ACTION_ATTR_LB_OUTPUT, 7);
    install(1, 0, 100, &actions);
    walk(1, flow, ARRAY_SIZE(flow));
    CHECK_UINT(DROPPED(invalid_bond), ==, 3);

    fixture_reset();
    DROPPED(invalid_tnl_port);
    ofpbuf_use_stub(&actions, stub, sizeof stub);
    nl_msg_put_odp_port(&actions, OVS_ACTION_ATTR_TUNNEL_POP, u32_to_odp(2));
    install(1, 0, 100, &actions);
    walk(1, flow, ARRAY_SIZE(flow));
    CHECK_UINT(DROPPED(invalid_tnl_port), ==, 3);
    CHECK_UINT(n_sent, ==, 0);
}

/* Several outputs, one of them cut. */
static void
test_truncate(void)
{
    static const uint16_t flow[] = { 100 };
    uint64_t stub[128 / 8];
    struct ovs_action_trunc *trunc;
    struct ofpbuf actions;

    fixture_reset();
    ofpbuf_use_stub(&actions, stub, sizeof stub);
    put_output(&actions, 2);
    trunc = nl_msg_put_unspec_uninit(&actions, OVS_ACTION_ATTR_TRUNC,
                                     sizeof *trunc);
    trunc->max_len = 60;
    put_output(&actions, 3);
    put_output(&actions, 4);
    install(1, 0, 100, &actions);
    walk(1, flow, 1);
    CHECK_UINT(n_sent, ==, 3);
    for (size_t i = 0; i < n_sent; i++) {
        CHECK_UINT(sent[i].size, ==, sent[i].port == 3 ? 60 : PACKET_SIZE);
    }
}

static void
test_bond_and_meter(void)
{
    static const uint16_t flows[] = { 100, 100, 100, 100 };
    odp_port_t members[BOND_BUCKETS];
    struct ofputil_meter_band band = {
        .type = OFPMBT13_DROP, .rate = 1, .burst_size = 3,
    };
    struct ofputil_meter_config meter = {
        .flags = OFPMF13_PKTPS, .n_bands = 1, .bands = &band,
    };
    unsigned long long total = 0;
    uint64_t stub[64 / 8];
    struct ofpbuf actions;

    fixture_reset();
    DROPPED(meter);
    for (size_t i = 0; i < BOND_BUCKETS; i++) {
        members[i] = u32_to_odp(4);
    }
    dp_bonds_put(&pmd->tx_bonds, 7, members, true);
    CHECK_INT(dp_meters_set(&run.meters, 1, &meter, pmd->now / 1000), ==, 0);

    ofpbuf_use_stub(&actions, stub, sizeof stub);
    nl_msg_put_u32(&actions, OVS_ACTION_ATTR_METER, 1);
    nl_msg_put_u32(&actions, OVS_ACTION_ATTR_LB_OUTPUT, 7);
    install(1, 0, 100, &actions);
    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_SENT(4, 1, 2, 3);
    CHECK_UINT(DROPPED(meter), ==, 1);

    for (size_t i = 0; i < BOND_BUCKETS; i++) {
        unsigned long long n;

        atomic_read_relaxed(
            &dp_bonds_find(&pmd->tx_bonds, 7)->buckets[i].bytes, &n);
        total += n;
    }
    CHECK_UINT(total, ==, 3 * PACKET_SIZE);
    dp_bonds_clear(&pmd->tx_bonds);
    CHECK_INT(dp_meters_del(&run.meters, 1, NULL, 0), ==, 0);
}

static void
test_userspace_action(void)
{
    static const uint16_t flow[] = { 100, 100 };
    uint64_t stub[64 / 8];
    struct ofpbuf actions;
    size_t ofs;

    fixture_reset();
    DROPPED(userspace_action_error);
    DROPPED(lock_error);
    ofpbuf_use_stub(&actions, stub, sizeof stub);
    ofs = nl_msg_start_nested(&actions, OVS_ACTION_ATTR_USERSPACE);
    nl_msg_put_u32(&actions, OVS_USERSPACE_ATTR_PID, 0);
    nl_msg_end_nested(&actions, ofs);
    install(1, 0, 100, &actions);

    upcall_port = 4;
    walk(1, flow, ARRAY_SIZE(flow));
    CHECK_SENT(4, 1, 2);
    CHECK_UINT(n_upcalls, ==, 2);

    upcall_error = EINVAL;
    walk(1, flow, ARRAY_SIZE(flow));
    CHECK_UINT(n_sent, ==, 0);
    CHECK_UINT(DROPPED(userspace_action_error), ==, 2);

    fat_rwlock_wrlock(&run.upcall_rwlock);
    walk(1, flow, ARRAY_SIZE(flow));
    fat_rwlock_unlock(&run.upcall_rwlock);
    CHECK_UINT(DROPPED(lock_error), ==, 2);
}

/* A port all of whose flows are simple needs no keys. */
static void
test_simple_match(void)
{
    static const uint16_t flows[] = { 100, 200 };
    struct dp_packet *packet = make_packet(100, 0);
    uint64_t stub[64 / 8];
    struct ofpbuf actions;
    struct dp_flow *flow;
    struct match match;
    ovs_u128 ufid = { .u32 = { 1 } };

    fixture_reset();
    memset(&match, 0, sizeof match);
    pkt_metadata_init(&packet->md, u32_to_odp(1));
    flow_extract(packet, &match.flow);
    dp_packet_delete(packet);
    WC_MASK_FIELD(&match.wc, in_port.odp_port);
    WC_MASK_FIELD(&match.wc, recirc_id);
    WC_MASK_FIELD(&match.wc, packet_type);
    WC_MASK_FIELD(&match.wc, dl_type);
    WC_MASK_FIELD_MASK(&match.wc, nw_frag, FLOW_NW_FRAG_MASK);
    ofpbuf_use_stub(&actions, stub, sizeof stub);
    put_output(&actions, 5);
    ovs_mutex_lock(&pmd->flows.mutex);
    CHECK_INT(pmd_flow_install(pmd, &match, &ufid, actions.data, actions.size,
                               ODPP_NONE, &flow), ==, 0);
    ovs_mutex_unlock(&pmd->flows.mutex);

    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_SENT(5, 1, 2);
    CHECK_UINT(counted(PMD_COUNT_SIMPLE_HIT), ==, 2);
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, 0);
}

/* With the autovalidator, the results are the same. */
static void
test_validation(void)
{
    static const uint16_t flows[] = { 100, 200, 300 };
    struct pmd_subtable_impl *impl;

    fixture_reset();
    impl = pmd_subtable_impl_by_name("autovalidator");
    CHECK(pmd_subtable_impl_in_use() != impl);
    atomic_store_relaxed(&impl->prio, 200);
    CHECK(pmd_subtable_impl_in_use() == impl);
    CHECK(!pmd_subtable_impl_by_name("avx512_gather"));

    pmd->emc_insert_min = UINT32_MAX;
    upcall_port = 5;
    walk(1, flows, ARRAY_SIZE(flows));
    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_SENT(5, 1, 2, 3);
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, 3);
    atomic_store_relaxed(&impl->prio, 0);
}

/* "study" finds nothing that is worth it and gives up. */
static void
test_study(void)
{
    static const uint16_t flows[] = { 100, 200, 300 };
    const struct pmd_parse_impl *impl;

    fixture_reset();
    pmd_parse_study_set_packets(5);
    atomic_store_relaxed(&pmd->parse_impl, pmd_parse_impl_by_name("study"));
    walk(1, flows, ARRAY_SIZE(flows));
    atomic_read_relaxed(&pmd->parse_impl, &impl);
    CHECK_STR(impl->name, "study");
    walk(1, flows, ARRAY_SIZE(flows));
    atomic_read_relaxed(&pmd->parse_impl, &impl);
    CHECK_STR(impl->name, "scalar");
    CHECK_UINT(n_sent, ==, 3);

    atomic_store_relaxed(&pmd->parse_impl,
                         pmd_parse_impl_by_name("autovalidator"));
    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_UINT(n_sent, ==, 3);
    CHECK_UINT(counted(PMD_COUNT_MFEX_OPT_HIT), ==, 0);
    atomic_store_relaxed(&pmd->parse_impl, pmd_parse_impl_default());
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    fixture_init();

    RUN_TEST(test_order);
    RUN_TEST(test_full_burst);
    RUN_TEST(test_flow_statistics);
    RUN_TEST(test_caches);
    RUN_TEST(test_ports_are_apart);
    RUN_TEST(test_foreign_flow);
    RUN_TEST(test_deleted_flow);
    RUN_TEST(test_short_packet);
    RUN_TEST(test_upcall_failures);
    RUN_TEST(test_recirculation_limit);
    RUN_TEST(test_recirculation);
    RUN_TEST(test_output_errors);
    RUN_TEST(test_truncate);
    RUN_TEST(test_bond_and_meter);
    RUN_TEST(test_userspace_action);
    RUN_TEST(test_simple_match);
    RUN_TEST(test_validation);
    RUN_TEST(test_study);

    fixture_reset();
    return 0;
}
