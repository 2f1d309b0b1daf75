/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_WALK_FIXTURE_H
#define WEFT_WALK_FIXTURE_H 1

/* A thread's structure without a thread and without a datapath, to send
 * packets through by hand: ports that remember what was sent to them, and an
 * upper layer that outputs every new flow to the port that the test says. */

#include <errno.h>

#include "conntrack.h"
#include "coverage.h"
#include "dp-packet.h"
#include "dpif.h"
#include "fat-rwlock.h"
#include "flow.h"
#include "id-pool.h"
#include "netdev-provider.h"
#include "netdev.h"
#include "netlink.h"
#include "odp-util.h"
#include "openvswitch/match.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/vlog.h"
#include "ovs-rcu.h"
#include "packets.h"
#include "pmd/flow-install.h"
#include "pmd/housekeeping.h"
#include "pmd/input.h"
#include "pmd/pmd.h"
#include "pmd/txq.h"
#include "timeval.h"
#include "unit.h"
#include "util.h"

/* What left. */
struct sent {
    uint32_t port;              /* Number in the name of the device. */
    int qid;
    uint32_t serial;            /* Of the packet, as make_packet() had it. */
    uint32_t size;
    bool concurrent;
};

enum { MAX_SENT = 1024 };
static struct sent sent[MAX_SENT];
static size_t n_sent;
static size_t n_sent_batches;

/* If not null: what else happens while a port sends. */
static void (*on_send)(void);

/* Packets and flows.  'serial' is in the last four bytes. */

enum { PACKET_SIZE = 100 };

static struct dp_packet *
make_packet(uint16_t src_port, uint32_t serial)
{
    struct dp_packet *packet = dp_packet_new(PACKET_SIZE);
    struct flow flow;
    uint32_t size;

    memset(&flow, 0, sizeof flow);
    flow.packet_type = htonl(PT_ETH);
    flow.dl_type = htons(ETH_TYPE_IP);
    flow.nw_src = htonl(0x0a000001);
    flow.nw_dst = htonl(0x0a000002);
    flow.nw_proto = IPPROTO_UDP;
    flow.nw_ttl = 64;
    flow.tp_src = htons(src_port);
    flow.tp_dst = htons(53);
    flow_compose(packet, &flow, NULL, 58, false);
    size = dp_packet_size(packet);
    CHECK_UINT(size, ==, PACKET_SIZE);
    memcpy((char *) dp_packet_data(packet) + size - sizeof serial, &serial,
           sizeof serial);
    return packet;
}

static uint32_t
serial_of(const struct dp_packet *packet)
{
    uint32_t serial;

    memcpy(&serial, ((const char *) dp_packet_data(packet)
                     + dp_packet_size(packet) - sizeof serial), sizeof serial);
    return serial;
}

/* Ports: a kind of netdev that only sends. */

static struct netdev *
capture_alloc(void)
{
    return xzalloc(sizeof(struct netdev));
}

static int
capture_construct(struct netdev *netdev OVS_UNUSED)
{
    return 0;
}

static void
capture_destruct(struct netdev *netdev OVS_UNUSED)
{
}

static void
capture_dealloc(struct netdev *netdev)
{
    free(netdev);
}

static int
capture_send(struct netdev *netdev, int qid, struct dp_packet_batch *batch,
             bool concurrent)
{
    uint32_t port = atoi(netdev_get_name(netdev) + strlen("port"));
    struct dp_packet *packet;

    n_sent_batches++;
    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        CHECK_UINT(n_sent, <, MAX_SENT);
        sent[n_sent++] = (struct sent) {
            .port = port, .qid = qid, .serial = serial_of(packet),
            .size = dp_packet_size(packet), .concurrent = concurrent,
        };
    }
    dp_packet_delete_batch(batch, true);
    if (on_send) {
        on_send();
    }
    return 0;
}

static int
capture_update_flags(struct netdev *netdev OVS_UNUSED,
                     enum netdev_flags off OVS_UNUSED,
                     enum netdev_flags on OVS_UNUSED,
                     enum netdev_flags *old)
{
    *old = NETDEV_UP;
    return 0;
}

static const struct netdev_class capture_class = {
    .type = "capture",
    .alloc = capture_alloc,
    .construct = capture_construct,
    .destruct = capture_destruct,
    .dealloc = capture_dealloc,
    .send = capture_send,
    .update_flags = capture_update_flags,
};

enum { N_PORTS = 8 };           /* 1 to N_PORTS. */
static struct dp_port *ports[N_PORTS + 1];

/* Makes a port, which 'pmd' sends to from its next pmd_txports_load() on. */
static struct dp_port *
make_port(struct pmd_thread *pmd, uint32_t port_no, enum txq_mode mode,
          int n_txq)
{
    struct dp_port *port = xzalloc(sizeof *port);
    char name[16];

    snprintf(name, sizeof name, "port%"PRIu32, port_no);
    CHECK_INT(netdev_open(name, "capture", &port->netdev), ==, 0);
    port->netdev->n_txq = n_txq;
    port->port_no = u32_to_odp(port_no);
    port->txq_mode = mode;
    port->txq_used = xcalloc(n_txq + 1, sizeof *port->txq_used);

    ovs_mutex_lock(&pmd->port_mutex);
    pmd_tx_ports_add(pmd, port);
    ovs_mutex_unlock(&pmd->port_mutex);
    return port;
}

/* The upper layer. */

static struct dp_run run;
static struct pmd_thread *pmd;

static uint32_t upcall_port;    /* Where new flows go. */
static int upcall_error;        /* What upcalls return. */
static unsigned int n_upcalls;

/* What flows match, apart from the input port. */
static void
set_wildcards(struct flow_wildcards *wc)
{
    memset(wc, 0, sizeof *wc);
    WC_MASK_FIELD(wc, in_port.odp_port);
    WC_MASK_FIELD(wc, recirc_id);
    WC_MASK_FIELD(wc, packet_type);
    WC_MASK_FIELD(wc, dl_type);
    WC_MASK_FIELD_MASK(wc, nw_frag, FLOW_NW_FRAG_MASK);
    WC_MASK_FIELD(wc, nw_proto);
    WC_MASK_FIELD(wc, tp_src);
}

static void
put_output(struct ofpbuf *actions, uint32_t port)
{
    nl_msg_put_odp_port(actions, OVS_ACTION_ATTR_OUTPUT, u32_to_odp(port));
}

static int
upcall(const struct dp_packet *packet OVS_UNUSED,
       const struct flow *flow OVS_UNUSED, ovs_u128 *ufid OVS_UNUSED,
       unsigned pmd_id OVS_UNUSED, enum dpif_upcall_type type,
       const struct nlattr *userdata OVS_UNUSED, struct ofpbuf *actions,
       struct flow_wildcards *wc, struct ofpbuf *put_actions OVS_UNUSED,
       void *aux OVS_UNUSED)
{
    n_upcalls++;
    if (wc) {
        set_wildcards(wc);
    }
    CHECK_INT(type == DPIF_UC_MISS, ==, wc != NULL);
    put_output(actions, upcall_port);
    return upcall_error;
}

/* Installs a flow for packets like make_packet(src_port) from 'in_port' after
 * recirculation 'recirc_id'. */
static void OVS_UNUSED
install(uint32_t in_port, uint32_t recirc_id, uint16_t src_port,
        const struct ofpbuf *actions)
{
    struct dp_packet *packet = make_packet(src_port, 0);
    struct dp_flow *flow;
    struct match match;
    ovs_u128 ufid;

    memset(&match, 0, sizeof match);
    pkt_metadata_init(&packet->md, u32_to_odp(in_port));
    packet->md.recirc_id = recirc_id;
    flow_extract(packet, &match.flow);
    dp_packet_delete(packet);
    set_wildcards(&match.wc);
    odp_flow_key_hash(&match.flow, sizeof match.flow, &ufid);

    ovs_mutex_lock(&pmd->flows.mutex);
    CHECK_INT(pmd_flow_install(pmd, &match, &ufid, actions->data,
                               actions->size, ODPP_NONE, &flow), ==, 0);
    ovs_mutex_unlock(&pmd->flows.mutex);
}

static void OVS_UNUSED
install_output(uint32_t in_port, uint32_t recirc_id, uint16_t src_port,
               uint32_t out_port)
{
    uint64_t stub[64 / 8];
    struct ofpbuf actions;

    ofpbuf_use_stub(&actions, stub, sizeof stub);
    put_output(&actions, out_port);
    install(in_port, recirc_id, src_port, &actions);
}

/* Sends 'n' packets in from 'in_port', from the source ports 'src_ports', with
 * serial numbers from 1 on, flushes, and leaves what came out in 'sent'. */
static void OVS_UNUSED
walk(uint32_t in_port, const uint16_t *src_ports, size_t n)
{
    struct dp_packet_batch batch;

    dp_packet_batch_init(&batch);
    for (size_t i = 0; i < n; i++) {
        dp_packet_batch_add(&batch, make_packet(src_ports[i], i + 1));
    }
    n_sent = n_sent_batches = 0;
    pmd_input(pmd, &batch, u32_to_odp(in_port));
    pmd_flush_output(pmd, true);
}

/* Value of a counter since the last time it was asked. */
static uint64_t
counted(enum pmd_counter counter)
{
    static uint64_t before[PMD_N_COUNTERS];
    uint64_t counts[PMD_N_COUNTERS];
    uint64_t difference;

    pmd_perf_read(&pmd->perf, counts);
    difference = counts[counter] - before[counter];
    before[counter] = counts[counter];
    return difference;
}

/* Drops for 'REASON' since the last time it was asked. */
#define DROPPED(REASON) ({                                              \
        extern struct coverage_counter counter_datapath_drop_##REASON;  \
        counter_datapath_drop_##REASON.count();                         \
    })

static void
fixture_init(void)
{
    static const struct dp_run_hooks no_hooks;

    netdev_register_provider(&capture_class);
    run.name = "test";
    run.hooks = &no_hooks;
    dp_meters_init(&run.meters);
    dp_bonds_init(&run.bonds);
    atomic_init(&run.tx_flush_interval, 0);
    atomic_init(&run.emc_insert_min, UINT32_MAX);
    atomic_init(&run.perf_metrics, false);
    fat_rwlock_init(&run.upcall_rwlock);
    run.upcall_cb = upcall;
    ovs_mutex_init(&run.tx_qid_mutex);
    ovs_mutex_lock(&run.tx_qid_mutex);
    run.tx_qid_pool = id_pool_create(0, 8);
    ovs_mutex_unlock(&run.tx_qid_mutex);
    ovs_mutex_init_recursive(&run.non_pmd_mutex);

    pmd = pmd_thread_create(&run, NON_PMD_CORE_ID, OVS_NUMA_UNSPEC);
    for (uint32_t i = 1; i <= N_PORTS; i++) {
        ports[i] = make_port(pmd, i,
                             (i == 7 ? TXQ_MODE_XPS
                              : i == 8 ? TXQ_MODE_HASH : TXQ_MODE_STATIC),
                             i >= 7 ? 4 : 1);
    }
    ovs_mutex_lock(&pmd->port_mutex);
    pmd_txports_load(pmd);
    ovs_mutex_unlock(&pmd->port_mutex);
}

/* A new case: no flows, caches off, empty counters. */
static void
fixture_reset(void)
{
    struct dp_flow_info *info;

    ovs_mutex_lock(&pmd->flows.mutex);
    CMAP_FOR_EACH (info, ufid_node, &pmd->flows.by_ufid) {
        pmd_flow_uninstall(pmd, info->slot);
    }
    ovs_mutex_unlock(&pmd->flows.mutex);
    ovsrcu_quiesce();

    /* A slot that is used again for the same flow would let what the caches
     * remember come true again. */
    CHECK_INT(sigcache_resize(&pmd->emc, SIGCACHE_EMC_ENTRIES), ==, 0);
    CHECK_INT(sigcache_resize(&pmd->smc, SIGCACHE_MIN_ENTRIES), ==, 0);
    pmd->emc_insert_min = 0;
    pmd->smc_enabled = false;
    atomic_store_relaxed(&run.tx_flush_interval, 0);
    upcall_port = 1;
    upcall_error = 0;
    n_upcalls = 0;
    for (int i = 0; i < PMD_N_COUNTERS; i++) {
        counted(i);
    }
}

#endif /* walk-fixture.h */
