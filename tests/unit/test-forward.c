/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

/* The two ways by which packets leave a burst, pmd_forward() for those that
 * are only to be output and a batch per flow for all others, mixed with each
 * other, with upcalls and with recirculation, for each way of looking up; and
 * what the packets are parsed with. */

#include "walk-fixture.h"

#include "pmd/impl.h"

enum { HIGH_PORT = 300 };       /* A port that needs a search. */

/* Checks that 'port' got the packets 'serials', in this order. */
static void
check_port(uint32_t port, const uint32_t *serials, size_t n)
{
    size_t k = 0;

    for (size_t i = 0; i < n_sent; i++) {
        if (sent[i].port == port) {
            CHECK_UINT(k, <, n);
            CHECK_UINT(sent[i].serial, ==, serials[k]);
            k++;
        }
    }
    CHECK_UINT(k, ==, n);
}

#define CHECK_PORT(PORT, ...)                                           \
    do {                                                                \
        const uint32_t serials_[] = { __VA_ARGS__ };                    \
        check_port(PORT, serials_, ARRAY_SIZE(serials_));               \
    } while (0)

/* Returns the flow for 'src_port' after recirculation 'recirc_id', or null. */
static struct dp_flow *
find_flow(uint32_t recirc_id, uint16_t src_port)
{
    struct dp_flow_info *info;

    CMAP_FOR_EACH (info, ufid_node, &pmd->flows.by_ufid) {
        if (MINIFLOW_GET_U32(&info->mf, recirc_id) == recirc_id
            && MINIFLOW_GET_BE16(&info->mf, tp_src) == htons(src_port)) {
            return info->slot;
        }
    }
    return NULL;
}

static void
check_statistics(uint32_t recirc_id, uint16_t src_port, uint64_t n)
{
    struct dp_flow *flow = find_flow(recirc_id, src_port);
    unsigned long long n_packets, n_bytes;

    CHECK(flow);
    atomic_read_relaxed(&flow->packets, &n_packets);
    atomic_read_relaxed(&flow->bytes, &n_bytes);
    CHECK_UINT(n_packets, ==, n);
    CHECK_UINT(n_bytes, ==, n * PACKET_SIZE);
    CHECK(!flow->batch);
}

/* Gives 'pmd' the ports that not all tests need. */
static void
make_high_ports(void)
{
    static const uint32_t numbers[] = {
        TXQ_N_DIRECT - 1, TXQ_N_DIRECT, HIGH_PORT,
    };

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        make_port(pmd, numbers[i], TXQ_MODE_STATIC, 1);
    }
    ovs_mutex_lock(&pmd->port_mutex);
    pmd_txports_load(pmd);
    ovs_mutex_unlock(&pmd->port_mutex);
}

/* Runs 'test' with each way of looking packets up. */
static void
with_each_impl(void (*test)(void))
{
    static const char *const names[] = { "plain", "interleaved", "auto" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct pmd_input_impl *impl = pmd_input_impl_by_name(names[i]);

        CHECK(impl);
        atomic_store_relaxed(&pmd->input_impl, impl);
        test();
    }
    atomic_store_relaxed(&pmd->input_impl, pmd_input_impl_default());
}

/* Flows with one output, with two, and with none, in one burst. */
static void
run_mixed_actions(void)
{
    static const uint16_t flows[] = {
        100, 200, 300, 100, 200, 400, 100, 300, 200, 500, 300,
    };
    uint64_t stub[64 / 8];
    struct ofpbuf actions;

    fixture_reset();
    pmd->emc_insert_min = UINT32_MAX;
    install_output(1, 0, 100, 2);
    install_output(1, 0, 300, 5);
    install_output(1, 0, 500, 2);
    ofpbuf_use_stub(&actions, stub, sizeof stub);
    put_output(&actions, 3);
    put_output(&actions, 4);
    install(1, 0, 200, &actions);
    ofpbuf_clear(&actions);
    install(1, 0, 400, &actions);

    for (uint64_t i = 1; i <= 3; i++) {
        walk(1, flows, ARRAY_SIZE(flows));
        CHECK_UINT(n_sent, ==, 4 + 3 + 2 * 3);
        CHECK_UINT(n_sent_batches, ==, 4);
        CHECK_PORT(2, 1, 4, 7, 10);
        CHECK_PORT(5, 3, 8, 11);
        CHECK_PORT(3, 2, 5, 9);
        CHECK_PORT(4, 2, 5, 9);
        check_statistics(0, 100, 3 * i);
        check_statistics(0, 200, 3 * i);
        check_statistics(0, 300, 3 * i);
        check_statistics(0, 400, i);
        check_statistics(0, 500, i);
    }
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, ARRAY_SIZE(flows));
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, 2 * ARRAY_SIZE(flows));
    CHECK_UINT(n_upcalls, ==, 0);
}

static void
test_mixed_actions(void)
{
    with_each_impl(run_mixed_actions);
}

/* Receives 'n' packets of flow 100 without sending what waits.  'serial' is
 * that of the first. */
static void
receive(size_t n, uint32_t serial)
{
    struct dp_packet_batch batch;

    dp_packet_batch_init(&batch);
    for (size_t i = 0; i < n; i++) {
        dp_packet_batch_add(&batch, make_packet(100, serial + i));
    }
    pmd_input(pmd, &batch, u32_to_odp(1));
}

/* What waits for a port is sent when there are as many as a batch holds, in
 * the middle of a burst if it comes to that. */
static void
run_flush_in_burst(void)
{
    for (size_t n_waiting = 0; n_waiting <= NETDEV_MAX_BURST; n_waiting++) {
        fixture_reset();
        install_output(1, 0, 100, 2);
        n_sent = n_sent_batches = 0;
        if (n_waiting) {
            receive(n_waiting, 1);
        }
        CHECK_UINT(n_sent, ==, 0);
        CHECK_INT(pmd->txports.n_pending, ==, n_waiting > 0);

        receive(NETDEV_MAX_BURST, n_waiting + 1);
        CHECK_UINT(n_sent, ==, n_waiting ? NETDEV_MAX_BURST : 0);
        CHECK_UINT(n_sent_batches, ==, n_waiting > 0);
        CHECK_INT(pmd->txports.n_pending, ==, 1);

        CHECK_INT(pmd_flush_output(pmd, true), ==,
                  n_waiting ? n_waiting : NETDEV_MAX_BURST);
        CHECK_INT(pmd->txports.n_pending, ==, 0);
        CHECK_UINT(n_sent, ==, n_waiting + NETDEV_MAX_BURST);
        CHECK_UINT(n_sent_batches, ==, 1 + (n_waiting > 0));
        for (size_t i = 0; i < n_sent; i++) {
            CHECK_UINT(sent[i].port, ==, 2);
            CHECK_UINT(sent[i].serial, ==, i + 1);
        }
        CHECK_UINT(counted(PMD_COUNT_SENT_PKTS), ==, n_sent);
        CHECK_UINT(counted(PMD_COUNT_SENT_BATCHES), ==, n_sent_batches);
        check_statistics(0, 100, n_sent);
    }
}

static void
test_flush_in_burst(void)
{
    with_each_impl(run_flush_in_burst);
}

/* Replaces the actions of flow 200, once. */

static const struct ofpbuf *new_actions;

static void
change_actions(void)
{
    struct dp_flow *flow = find_flow(0, 200);

    on_send = NULL;
    CHECK(flow);
    ovs_mutex_lock(&pmd->flows.mutex);
    dp_flow_table_set_actions(&pmd->flows, flow, new_actions->data,
                              new_actions->size);
    ovs_mutex_unlock(&pmd->flows.mutex);
}

/* A flow's actions change in the middle of a burst, so that some of its
 * packets are for the one way and some for the other: they do not overtake
 * each other. */
static void
run_actions_change(void)
{
    static const uint16_t flows[] = { 200, 100, 200, 100, 200, 200, 100 };
    uint64_t stub[64 / 8], stub2[64 / 8];
    struct ofpbuf one_output, two_outputs;

    ofpbuf_use_stub(&one_output, stub, sizeof stub);
    put_output(&one_output, 5);
    ofpbuf_use_stub(&two_outputs, stub2, sizeof stub2);
    put_output(&two_outputs, 3);
    put_output(&two_outputs, 5);

    for (int to_one = 0; to_one < 2; to_one++) {
        fixture_reset();
        install_output(1, 0, 100, 2);
        install(1, 0, 200, to_one ? &two_outputs : &one_output);
        new_actions = to_one ? &one_output : &two_outputs;

        /* The second packet of flow 100 finds no room to wait. */
        receive(NETDEV_MAX_BURST - 1, 101);
        on_send = change_actions;
        walk(1, flows, ARRAY_SIZE(flows));
        CHECK(!on_send);
        CHECK_UINT(n_sent_batches, ==, 3 + !to_one);
        CHECK_PORT(5, 1, 3, 5, 6);
        if (to_one) {
            check_port(3, NULL, 0);
        } else {
            CHECK_PORT(3, 5, 6);
        }
        check_statistics(0, 200, 4);
        check_statistics(0, 100, NETDEV_MAX_BURST - 1 + 3);
        ovsrcu_quiesce();
    }
}

static void
test_actions_change(void)
{
    with_each_impl(run_actions_change);
}

/* Port numbers from both sides of what is found without a search, and ports
 * that are not there. */
static void
run_port_numbers(void)
{
    static const uint16_t flows[] = {
        100, 200, 300, 400, 500, 600, 100, 200, 300, 400, 500, 600, 700, 100,
    };

    fixture_reset();
    DROPPED(invalid_port);
    install_output(1, 0, 100, HIGH_PORT);
    install_output(1, 0, 200, TXQ_N_DIRECT - 1);
    install_output(1, 0, 300, TXQ_N_DIRECT);
    install_output(1, 0, 400, TXQ_N_DIRECT - 2);
    install_output(1, 0, 500, TXQ_N_DIRECT + 1);
    install_output(1, 0, 600, UINT32_MAX - 1);
    install_output(1, 0, 700, HIGH_PORT);
    walk(1, flows, ARRAY_SIZE(flows));
    CHECK_UINT(n_sent, ==, 8);
    CHECK_UINT(n_sent_batches, ==, 3);
    CHECK_PORT(HIGH_PORT, 1, 7, 14, 13);
    CHECK_PORT(TXQ_N_DIRECT - 1, 2, 8);
    CHECK_PORT(TXQ_N_DIRECT, 3, 9);
    CHECK_UINT(DROPPED(invalid_port), ==, 6);
    for (size_t i = 0; i < 6; i++) {
        check_statistics(0, flows[i], i ? 2 : 3);
    }
    check_statistics(0, 700, 1);
}

static void
test_port_numbers(void)
{
    with_each_impl(run_port_numbers);
}

/* Sends packets of TCP to 'out_port', with 'n' kinds of flags, through a VLAN
 * if 'tagged', and checks that the flow learns of them. */
static void
check_tcp_flags(uint32_t out_port, bool tagged, const uint16_t *flags,
                size_t n)
{
    struct dp_packet_batch batch;
    struct dp_flow *dp_flow;
    uint16_t expected = 0;
    uint16_t seen;

    fixture_reset();
    upcall_port = out_port;
    dp_packet_batch_init(&batch);
    for (size_t i = 0; i <= n; i++) {
        struct dp_packet *packet = dp_packet_new(PACKET_SIZE);
        struct flow flow;

        memset(&flow, 0, sizeof flow);
        flow.packet_type = htonl(PT_ETH);
        flow.dl_type = htons(ETH_TYPE_IP);
        if (tagged) {
            flow.vlans[0].tpid = htons(ETH_TYPE_VLAN);
            flow.vlans[0].tci = htons(VLAN_CFI | 7);
        }
        flow.nw_proto = IPPROTO_TCP;
        flow.tp_src = htons(100);
        /* The first one makes the flow. */
        flow.tcp_flags = htons(i ? flags[i - 1] : TCP_RST);
        expected |= i ? flags[i - 1] : 0;
        flow_compose(packet, &flow, NULL, 0, false);
        dp_packet_batch_add(&batch, packet);
    }
    pmd_input(pmd, &batch, u32_to_odp(1));
    pmd_flush_output(pmd, true);
    CHECK_UINT(n_upcalls, ==, 1);

    dp_flow = find_flow(0, 100);
    CHECK(dp_flow);
    atomic_read_relaxed(&dp_flow->tcp_flags, &seen);
    CHECK_HEX(seen, ==, expected);
}

/* TCP flags arrive at the flow, whoever parses and forwards the packet. */
static void
run_tcp_flags(void)
{
    static const uint16_t flags[] = { TCP_SYN, TCP_ACK, TCP_ACK | TCP_FIN };
    static const uint16_t others[] = { TCP_PSH, TCP_URG, TCP_ECE | TCP_CWR };

    check_tcp_flags(2, false, flags, ARRAY_SIZE(flags));
    check_tcp_flags(2, true, others, ARRAY_SIZE(others));
    check_tcp_flags(HIGH_PORT, false, flags, ARRAY_SIZE(flags));
    check_tcp_flags(HIGH_PORT, true, others, ARRAY_SIZE(others));
}

static void
test_tcp_flags(void)
{
    with_each_impl(run_tcp_flags);
}

/* Many bursts of flows of all kinds, which come and go, against a model. */

enum { N_MODEL_FLOWS = 24, N_STAGES = 2, MODEL_RECIRC = 5 };
enum { FIRST_SRC_PORT = 2000 };

struct model_flow {
    bool installed;
    uint64_t n_packets;         /* That hit the flow. */
};

static struct model_flow model[N_MODEL_FLOWS][N_STAGES];
static uint32_t model_random;

static uint32_t
random_below(uint32_t n)
{
    model_random = model_random * 1664525 + 1013904223;
    return (model_random >> 16) % n;
}

/* Where the packets of flow 'id' go in the end.  Returns the number of
 * ports. */
static size_t
model_ports(uint32_t id, uint32_t out[2])
{
    out[0] = 2 + id / 6;
    out[1] = 1;
    switch (id % 6) {
    case 0: case 1: case 4:
        return 1;
    case 2:
        return 2;
    case 3:
        out[0] = HIGH_PORT;
        return 1;
    default:
        return 0;
    }
}

/* Flows 4, 10, ... are recirculated first. */
static bool
model_recirculates(uint32_t id)
{
    return id % 6 == 4;
}

static int
model_upcall(const struct dp_packet *packet OVS_UNUSED,
             const struct flow *flow, ovs_u128 *ufid OVS_UNUSED,
             unsigned pmd_id OVS_UNUSED,
             enum dpif_upcall_type type OVS_UNUSED,
             const struct nlattr *userdata OVS_UNUSED, struct ofpbuf *actions,
             struct flow_wildcards *wc, struct ofpbuf *put_actions OVS_UNUSED,
             void *aux OVS_UNUSED)
{
    uint32_t id = ntohs(flow->tp_src) - FIRST_SRC_PORT;

    n_upcalls++;
    CHECK_UINT(id, <, N_MODEL_FLOWS);
    set_wildcards(wc);
    if (model_recirculates(id) && !flow->recirc_id) {
        nl_msg_put_u32(actions, OVS_ACTION_ATTR_RECIRC, MODEL_RECIRC);
    } else {
        uint32_t out[2];
        size_t n = model_ports(id, out);

        for (size_t i = 0; i < n; i++) {
            put_output(actions, out[i]);
        }
    }
    return 0;
}

/* Takes a packet of flow 'id' into account.  Returns how many upcalls it
 * makes. */
static unsigned int
model_receive(uint32_t id)
{
    unsigned int n_missed = 0;

    for (int stage = 0; stage <= model_recirculates(id); stage++) {
        struct model_flow *mf = &model[id][stage];

        if (mf->installed) {
            mf->n_packets++;
        } else {
            *mf = (struct model_flow) { .installed = true };
            n_missed++;
        }
    }
    return n_missed;
}

/* Checks that what left is what had to: each flow's packets, in order. */
static void
check_model_output(const uint16_t *flows, size_t n)
{
    uint32_t last[N_MODEL_FLOWS][2];
    size_t n_expected = 0;
    uint32_t out[2];

    memset(last, 0, sizeof last);
    for (size_t i = 0; i < n; i++) {
        n_expected += model_ports(flows[i] - FIRST_SRC_PORT, out);
    }
    CHECK_UINT(n_sent, ==, n_expected);
    for (size_t i = 0; i < n_sent; i++) {
        uint32_t serial = sent[i].serial;
        uint32_t id = flows[serial - 1] - FIRST_SRC_PORT;
        size_t n_ports = model_ports(id, out);
        size_t k = n_ports == 2 && sent[i].port == out[1];

        CHECK_UINT(n_ports, >, 0);
        CHECK_UINT(sent[i].port, ==, out[k]);
        CHECK_UINT(serial, >, last[id][k]);
        last[id][k] = serial;
    }
}

static void
check_model_statistics(void)
{
    for (uint32_t id = 0; id < N_MODEL_FLOWS; id++) {
        for (int stage = 0; stage < N_STAGES; stage++) {
            const struct model_flow *mf = &model[id][stage];
            uint32_t recirc_id = stage ? MODEL_RECIRC : 0;

            if (mf->installed) {
                check_statistics(recirc_id, FIRST_SRC_PORT + id,
                                 mf->n_packets);
            } else {
                CHECK(!find_flow(recirc_id, FIRST_SRC_PORT + id));
            }
        }
    }
}

static void
model_delete(uint32_t id, int stage)
{
    struct dp_flow *flow = find_flow(stage ? MODEL_RECIRC : 0,
                                     FIRST_SRC_PORT + id);

    if (flow) {
        CHECK(model[id][stage].installed);
        ovs_mutex_lock(&pmd->flows.mutex);
        pmd_flow_uninstall(pmd, flow);
        ovs_mutex_unlock(&pmd->flows.mutex);
        ovsrcu_quiesce();
        model[id][stage].installed = false;
    }
}

static void
run_model(void)
{
    unsigned int n_all_kinds = 0;

    fixture_reset();
    memset(model, 0, sizeof model);
    model_random = 1;
    run.upcall_cb = model_upcall;
    for (int round = 0; round < 1000; round++) {
        size_t n = 1 + random_below(NETDEV_MAX_BURST);
        uint64_t n_emc, n_smc, n_masked, n_missed;
        uint16_t flows[NETDEV_MAX_BURST];
        unsigned int n_expected = 0;

        pmd->emc_insert_min = round % 4 ? UINT32_MAX / 3 : 0;
        pmd->smc_enabled = round % 16 < 4;
        for (size_t i = 0; i < n; i++) {
            uint32_t id = random_below(N_MODEL_FLOWS);

            flows[i] = FIRST_SRC_PORT + id;
            n_expected += model_receive(id);
        }
        n_upcalls = 0;
        walk(1, flows, n);
        CHECK_UINT(n_upcalls, ==, n_expected);
        check_model_output(flows, n);

        n_emc = counted(PMD_COUNT_EMC_HIT);
        n_smc = counted(PMD_COUNT_SMC_HIT);
        n_masked = counted(PMD_COUNT_MASKED_HIT);
        n_missed = counted(PMD_COUNT_MISS);
        CHECK_UINT(n_missed, ==, n_expected);
        CHECK_UINT(n_emc + n_smc + n_masked + n_missed, ==,
                   counted(PMD_COUNT_RECV) + counted(PMD_COUNT_RECIRC));
        n_all_kinds += n_emc && n_masked && n_missed;

        if (round % 2) {
            check_model_statistics();
        }
        for (uint32_t n_gone = random_below(4); n_gone > 0; n_gone--) {
            model_delete(random_below(N_MODEL_FLOWS), random_below(2));
        }
    }
    run.upcall_cb = upcall;
    CHECK_UINT(n_all_kinds, >, 100);
}

static void
test_model(void)
{
    with_each_impl(run_model);
}

/* With the autovalidator, packets are parsed as without it. */
static void
test_parser_validation(void)
{
    static const uint16_t flows[] = { 100, 200, 100, 300 };
    const struct pmd_parse_impl *validator, *impl;

    fixture_reset();
    validator = pmd_parse_impl_by_name("autovalidator");
    CHECK(validator);
    atomic_store_relaxed(&pmd->parse_impl, validator);
    pmd->emc_insert_min = UINT32_MAX;
    install_output(1, 0, 100, 2);
    install_output(1, 0, 200, HIGH_PORT);
    upcall_port = 3;
    for (uint64_t i = 1; i <= 2; i++) {
        walk(1, flows, ARRAY_SIZE(flows));
        CHECK_PORT(2, 1, 3);
        CHECK_PORT(HIGH_PORT, 2);
        CHECK_PORT(3, 4);
        check_statistics(0, 100, 2 * i);
        check_statistics(0, 200, i);
        check_statistics(0, 300, i - 1);
    }
    CHECK_UINT(n_upcalls, ==, 1);
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, ARRAY_SIZE(flows));
    CHECK_UINT(counted(PMD_COUNT_MFEX_OPT_HIT), ==, 0);
    atomic_read_relaxed(&pmd->parse_impl, &impl);
    CHECK(impl == validator);
    atomic_store_relaxed(&pmd->parse_impl, pmd_parse_impl_default());
}

/* The validator leaves in a packet what the library does, with what else a
 * packet for a tunnel has. */
static void
test_parser_leaves_packet(void)
{
    static const uint64_t flags[] = { 0, DP_PACKET_OL_TX_TUNNEL_VXLAN };
    const struct pmd_parse_impl *impl;
    static struct dp_key keys[NETDEV_MAX_BURST];

    fixture_reset();
    impl = pmd_parse_impl_by_name("autovalidator");
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
        struct dp_packet *packet = make_packet(100, 1);
        struct dp_packet *other = make_packet(100, 1);
        struct dp_packet_batch batch;

        pkt_metadata_init(&packet->md, u32_to_odp(1));
        pkt_metadata_init(&other->md, u32_to_odp(1));
        packet->inner_l3_ofs = other->inner_l3_ofs = 64;
        packet->inner_l4_ofs = other->inner_l4_ofs = 84;
        *dp_packet_ol_flags_ptr(packet) |= flags[i];
        *dp_packet_ol_flags_ptr(other) |= flags[i];

        dp_packet_batch_init_packet(&batch, packet);
        CHECK_HEX(impl->parse(pmd, &batch, keys), ==, 0);
        miniflow_extract(other, &keys[1].mf);
        CHECK(miniflow_equal(&keys[0].mf, &keys[1].mf));
        CHECK_UINT(packet->l2_pad_size, ==, other->l2_pad_size);
        CHECK_UINT(packet->l2_5_ofs, ==, other->l2_5_ofs);
        CHECK_UINT(packet->l3_ofs, ==, other->l3_ofs);
        CHECK_UINT(packet->l4_ofs, ==, other->l4_ofs);
        CHECK_UINT(packet->inner_l3_ofs, ==, other->inner_l3_ofs);
        CHECK_UINT(packet->inner_l4_ofs, ==, other->inner_l4_ofs);
        CHECK_HEX(*dp_packet_ol_flags_ptr(packet), ==,
                  *dp_packet_ol_flags_ptr(other));
        CHECK_HEX(dp_packet_get_rss_hash(packet), ==,
                  dp_packet_get_rss_hash(other));
        dp_packet_delete(packet);
        dp_packet_delete(other);
    }
}

/* The validator notices a parser that goes wrong.  Here it is made to: packets
 * that have been recirculated are sent in as if they came from a port, which
 * our parser takes for granted. */
static void
test_parser_failure(void)
{
    struct dp_packet_batch batch;
    const struct pmd_parse_impl *impl;

    fixture_reset();
    atomic_store_relaxed(&pmd->parse_impl,
                         pmd_parse_impl_by_name("autovalidator"));
    install_output(1, 0, 100, 2);
    install_output(1, 9, 100, 3);
    for (int i = 0; i < 2; i++) {
        dp_packet_batch_init_packet(&batch, make_packet(100, 1));
        pkt_metadata_init(&batch.packets[0]->md, u32_to_odp(1));
        batch.packets[0]->md.recirc_id = 9;
        n_sent = 0;
        pmd_recirculate(pmd, &batch);
        pmd_flush_output(pmd, true);
        CHECK_UINT(n_sent, ==, 1);
        CHECK_PORT(3, 1);
        atomic_read_relaxed(&pmd->parse_impl, &impl);
        CHECK_STR(impl->name, "library");
    }
    CHECK_UINT(n_upcalls, ==, 0);
    atomic_store_relaxed(&pmd->parse_impl, pmd_parse_impl_default());
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    fixture_init();
    make_high_ports();

    RUN_TEST(test_mixed_actions);
    RUN_TEST(test_flush_in_burst);
    RUN_TEST(test_actions_change);
    RUN_TEST(test_port_numbers);
    RUN_TEST(test_tcp_flags);
    RUN_TEST(test_model);
    RUN_TEST(test_parser_validation);
    RUN_TEST(test_parser_leaves_packet);
    RUN_TEST(test_parser_failure);

    fixture_reset();
    return 0;
}
