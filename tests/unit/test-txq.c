/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "walk-fixture.h"

/* Queues 'n' packets with serial numbers from 'serial' on for 'port_no'. */
static void
queue(uint32_t port_no, uint32_t serial, size_t n)
{
    struct pmd_txport *txport = pmd_txports_find_send(pmd,
                                                      u32_to_odp(port_no));
    struct dp_packet_batch batch;

    CHECK(txport != NULL);
    dp_packet_batch_init(&batch);
    for (size_t i = 0; i < n; i++) {
        struct dp_packet *packet = make_packet(100, serial + i);

        dp_packet_set_rss_hash(packet, serial + i);
        dp_packet_batch_add(&batch, packet);
    }
    pmd_txport_queue(pmd, txport, &batch);
}

static void
start(void)
{
    fixture_reset();
    n_sent = n_sent_batches = 0;
}

static void
check_order(size_t n)
{
    CHECK_UINT(n_sent, ==, n);
    for (size_t i = 0; i < n; i++) {
        CHECK_UINT(sent[i].serial, ==, i + 1);
    }
}

static void
test_find(void)
{
    CHECK(pmd_txports_find_send(pmd, u32_to_odp(N_PORTS)) != NULL);
    CHECK(!pmd_txports_find_send(pmd, u32_to_odp(N_PORTS + 1)));
    CHECK(!pmd_txports_find_tunnel(pmd, u32_to_odp(1)));
}

/* Packets wait until somebody flushes, or there are too many. */
static void
test_gathering(void)
{
    start();
    CHECK_INT(pmd_flush_output(pmd, true), ==, 0);
    queue(1, 1, 20);
    queue(1, 21, 12);
    CHECK_UINT(n_sent, ==, 0);
    CHECK_INT(pmd->txports.n_pending, ==, 1);
    queue(1, 33, 1);
    CHECK_UINT(n_sent, ==, 32);
    queue(1, 34, 0);
    CHECK_INT(pmd_flush_output(pmd, true), ==, 1);
    check_order(33);
    CHECK_UINT(n_sent_batches, ==, 2);
    CHECK_INT(pmd->txports.n_pending, ==, 0);
    CHECK_UINT(counted(PMD_COUNT_SENT_PKTS), ==, 33);
    CHECK_UINT(counted(PMD_COUNT_SENT_BATCHES), ==, 2);
    CHECK_INT(sent[0].qid, ==, pmd->static_tx_qid);
    CHECK(!sent[0].concurrent);
}

static void
test_flush_interval(void)
{
    start();
    atomic_store_relaxed(&run.tx_flush_interval, 100);
    queue(2, 1, 1);
    CHECK_INT(pmd_flush_output(pmd, false), ==, 1); /* The first is due. */
    queue(2, 2, 1);
    pmd->now += 99;
    CHECK_INT(pmd_flush_output(pmd, false), ==, 0);
    pmd->now += 1;
    CHECK_INT(pmd_flush_output(pmd, false), ==, 1);
    queue(2, 3, 1);
    CHECK_INT(pmd_flush_output(pmd, true), ==, 1);
    check_order(3);
}

/* Two ports wait for themselves. */
static void
test_two_ports(void)
{
    start();
    queue(1, 1, 3);
    queue(3, 4, 2);
    CHECK_INT(pmd->txports.n_pending, ==, 2);
    CHECK_INT(pmd_flush_output(pmd, true), ==, 5);
    CHECK_UINT(n_sent_batches, ==, 2);
    for (size_t i = 0; i < n_sent; i++) {
        CHECK_UINT(sent[i].port, ==, sent[i].serial <= 3 ? 1 : 3);
    }
}

static unsigned int
txq_used(uint32_t port_no, int qid)
{
    return atomic_count_get(&ports[port_no]->txq_used[qid]);
}

static void
add_txq_user(uint32_t port_no, int qid, int n)
{
    atomic_count *used = &ports[port_no]->txq_used[qid];

    atomic_count_set(used, atomic_count_get(used) + n);
}

/* The queue that the fewest use, kept while in use, given back when idle. */
static void
test_xps(void)
{
    start();
    add_txq_user(7, 0, 2);
    add_txq_user(7, 1, 1);
    add_txq_user(7, 3, 1);

    queue(7, 1, 2);
    pmd_flush_output(pmd, true);
    CHECK_INT(sent[0].qid, ==, 2);
    CHECK(sent[0].concurrent);
    CHECK_UINT(txq_used(7, 2), ==, 1);

    /* Others come; we stay. */
    add_txq_user(7, 2, 5);
    pmd->now += TXQ_XPS_TIMEOUT_US - 1;
    queue(7, 3, 1);
    pmd_flush_output(pmd, true);
    CHECK_INT(sent[2].qid, ==, 2);
    pmd_txports_revalidate_xps(pmd, false);
    CHECK_UINT(txq_used(7, 2), ==, 6);

    /* After a pause we look again. */
    pmd->now += TXQ_XPS_TIMEOUT_US;
    queue(7, 4, 1);
    pmd_flush_output(pmd, true);
    CHECK_INT(sent[3].qid, ==, 1);
    CHECK_UINT(txq_used(7, 2), ==, 5);
    CHECK_UINT(txq_used(7, 1), ==, 2);

    pmd->now += TXQ_XPS_TIMEOUT_US;
    pmd_txports_revalidate_xps(pmd, false);
    CHECK_UINT(txq_used(7, 1), ==, 1);

    queue(7, 5, 1);
    pmd_flush_output(pmd, true);
    pmd_txports_revalidate_xps(pmd, true);
    CHECK_UINT(txq_used(7, 1), ==, 1);
    add_txq_user(7, 0, -2);
    add_txq_user(7, 1, -1);
    add_txq_user(7, 2, -5);
    add_txq_user(7, 3, -1);
}

static void
test_hash_steering(void)
{
    start();
    queue(8, 1, 32);
    CHECK_INT(pmd_flush_output(pmd, true), ==, 32);
    CHECK_UINT(n_sent, ==, 32);
    CHECK_UINT(n_sent_batches, ==, 4);
    for (size_t i = 0; i < n_sent; i++) {
        CHECK_INT(sent[i].qid, ==, sent[i].serial % 4);
        CHECK(sent[i].concurrent);
        if (i % 8) {
            CHECK_UINT(sent[i].serial, ==, sent[i - 1].serial + 4);
        }
    }
    CHECK_UINT(counted(PMD_COUNT_SENT_BATCHES), ==, 1);
}

/* Loading again sends what waits and gives queues back. */
static void
test_reload(void)
{
    start();
    queue(1, 1, 4);
    queue(7, 5, 1);
    ovs_mutex_lock(&pmd->port_mutex);
    pmd_txports_load(pmd);
    ovs_mutex_unlock(&pmd->port_mutex);
    CHECK_UINT(n_sent, ==, 5);
    for (int i = 0; i < 4; i++) {
        CHECK_UINT(txq_used(7, i), ==, 0);
    }
    CHECK_INT(pmd->txports.n_pending, ==, 0);
    queue(1, 1, 1);
    CHECK_INT(pmd_flush_output(pmd, true), ==, 1);
}

/* The time for sending goes to the queues that the packets came from. */
static void
test_charging(void)
{
    struct dp_rxq a, b;
    unsigned long long cycles_a, cycles_b;

    start();
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    pmd->last_rxq = &a;
    queue(1, 1, 3);
    pmd->last_rxq = NULL;
    queue(1, 4, 1);
    pmd->last_rxq = &b;
    queue(1, 5, 1);
    pmd_flush_output(pmd, true);
    pmd->last_rxq = NULL;

    atomic_read_relaxed(&a.cycles_current, &cycles_a);
    atomic_read_relaxed(&b.cycles_current, &cycles_b);
    CHECK_UINT(cycles_b, >, 0);
    CHECK_UINT(cycles_a, ==, 3 * cycles_b);

    /* Intervals. */
    CHECK_UINT(dp_rxq_recent_cycles(&a, RXQ_INTERVALS), ==, 0);
    CHECK_UINT(dp_rxq_end_interval(&a), ==, cycles_a);
    CHECK_UINT(dp_rxq_end_interval(&a), ==, 0);
    CHECK_UINT(dp_rxq_recent_cycles(&a, 1), ==, 0);
    CHECK_UINT(dp_rxq_recent_cycles(&a, 2), ==, cycles_a);
    CHECK_UINT(dp_rxq_recent_cycles(&a, RXQ_INTERVALS), ==, cycles_a);
    for (int i = 0; i < RXQ_INTERVALS - 1; i++) {
        dp_rxq_add_cycles(&a, 1);
        dp_rxq_end_interval(&a);
    }
    CHECK_UINT(dp_rxq_recent_cycles(&a, RXQ_INTERVALS), ==,
               RXQ_INTERVALS - 1);
    dp_rxq_reset_load(&a);
    CHECK_UINT(dp_rxq_recent_cycles(&a, RXQ_INTERVALS), ==, 0);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    fixture_init();

    RUN_TEST(test_find);
    RUN_TEST(test_gathering);
    RUN_TEST(test_flush_interval);
    RUN_TEST(test_two_ports);
    RUN_TEST(test_xps);
    RUN_TEST(test_hash_steering);
    RUN_TEST(test_reload);
    RUN_TEST(test_charging);
    return 0;
}
