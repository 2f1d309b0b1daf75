/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/dp-driver.h"
#include "bench/synthetic-netdev.h"
#include "command-line.h"
#include "ct-dpif.h"
#include "dp-packet.h"
#include "dpif.h"
#include "dummy.h"
#include "flow.h"
#include "hash.h"
#include "netdev.h"
#include "netlink.h"
#include "odp-netlink.h"
#include "odp-util.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/vlog.h"
#include "random.h"
#include "stress/flow-registry.h"
#include "stress/packet-gen.h"
#include "stress/random-flows.h"
#include "timeval.h"
#include "util.h"
#include "uuid.h"

/* differential: what a datapath does, as a list of digests
 * ========================================================
 *
 * Sends random packets through a datapath and changes its flows, all drawn
 * from a seed, and writes one line per round with a digest of each thing that
 * can be observed: packets that came out, upcalls, results of flow
 * operations, flows with their statistics, counters of hits, misses and
 * drops, meters.  Linked with two datapaths and run with the same seed, it
 * must write the same twice; run-differential does that.
 *
 * The ports are polled by dpif_run(), so all happens in the main thread, and
 * time stands still but for a step after each round: nothing depends on
 * chance or on the machine.  What may legitimately differ is left out: the
 * order of packets of different flows (digests are sums over packets; the
 * order within a stream is checked, by counting its violations), and which
 * lookup found a flow.
 *
 * With --trace N everything in round N is written out in readable form. */

enum { MAX_QUEUE = 64 };        /* Packets that wait at a port. */
enum { N_STREAMS = 1 << 16 };
enum { CT_FLUSH_ROUNDS = 50 };
enum { SLACK = 64 };            /* Zeros behind a packet. */

static struct {
    uint64_t n_packets;
    uint64_t seed;
    const char *output;
    const char *impl;
    long long int trace;
} opts = {
    .n_packets = 200000,
    .seed = 1,
    .trace = -1,
};

struct digest {
    uint64_t n, sum;
};

/* The last packet of a stream that came out of a port. */
struct stream {
    uint32_t id;
    uint32_t last_seq;
};

struct port {
    struct synthetic_source source;
    struct synthetic_sink sink;
    struct netdev *netdev;
    odp_port_t port_no;
    struct packet_gen_frame *queue;
    size_t head, tail;
    size_t burst;               /* Packets that one poll gives. */
    struct digest out;
    struct stream *streams;     /* N_STREAMS, by the low bits of 'id'. */
};

static struct differential {
    struct dp_driver driver;
    struct rng rng;
    struct packet_gen gen;
    struct port ports[RF_N_PORTS];
    struct netdev *tunnels[3];
    FILE *file;
    long long int round;
    long long int epoch;        /* When time was stopped. */

    struct flow_registry flows;

    /* Observations of this round; the packets' are in their ports. */
    struct digest upcalls, ops, executes;
    uint64_t n_disordered;      /* In total. */
    uint64_t n_sent;
} d;

static bool
tracing(void)
{
    return d.round == opts.trace;
}

static void OVS_PRINTF_FORMAT(1, 2)
trace(const char *format, ...)
{
    if (tracing()) {
        va_list args;

        va_start(args, format);
        vfprintf(d.file, format, args);
        va_end(args);
    }
}

static void
trace_hex(const char *what, const void *data_, size_t size)
{
    const uint8_t *data = data_;

    if (tracing()) {
        fprintf(d.file, "%s %"PRIuSIZE":", what, size);
        for (size_t i = 0; i < size; i++) {
            fprintf(d.file, "%s%02x", i % 4 ? "" : " ", data[i]);
        }
        fputc('\n', d.file);
    }
}

/* Returns a 64-bit hash of 'data', which continues 'basis'. */
static uint64_t
hash64(const void *data, size_t size, uint64_t basis)
{
    ovs_u128 hash;

    hash_bytes128(data, size, basis ^ (basis >> 32), &hash);
    return hash.u64.lo ^ (basis * UINT64_C(0x9e3779b97f4a7c15));
}

static void
digest_add(struct digest *digest, uint64_t hash)
{
    digest->n++;
    digest->sum += hash;
}

/* In order: for things that happen one after the other. */
static void
digest_chain(struct digest *digest, uint64_t value)
{
    digest->n++;
    digest->sum = hash64(&value, sizeof value, digest->sum);
}

/* Packets in and out. */

/* Puts 'f' into the empty 'packet'.  Open vSwitch's library sometimes looks
 * behind the end of a packet that is cut short; what is there must not depend
 * on which buffer it is in. */
static void
put_frame(struct dp_packet *packet, const struct packet_gen_frame *f)
{
    memcpy(dp_packet_data(packet), f->data, f->size);
    memset((char *) dp_packet_data(packet) + f->size, 0, SLACK);
    dp_packet_set_size(packet, f->size);
}

static size_t
port_fill(struct synthetic_source *source, struct dp_packet **packets,
          size_t n)
{
    struct port *port = CONTAINER_OF(source, struct port, source);
    size_t i;

    n = MIN(n, port->burst);
    for (i = 0; i < n && port->head != port->tail; i++) {
        const struct packet_gen_frame *f = &port->queue[port->head++];
        unsigned int number = odp_to_u32(port->port_no);

        put_frame(packets[i], f);
        if (number % 2) {
            dp_packet_set_rss_hash(packets[i], f->stream);
        }
        if (number == RF_PORT_CHECKED && !f->damaged) {
            *dp_packet_ol_flags_ptr(packets[i]) |=
                DP_PACKET_OL_RX_IP_CKSUM_GOOD | DP_PACKET_OL_RX_L4_CKSUM_GOOD;
        }
        trace_hex(netdev_get_name(port->netdev), f->data, f->size);
    }
    return i;
}

static void
port_take(struct synthetic_sink *sink, const struct dp_packet_batch *batch,
          int qid OVS_UNUSED)
{
    struct port *port = CONTAINER_OF(sink, struct port, sink);

    for (size_t i = 0; i < batch->count; i++) {
        const struct dp_packet *p = batch->packets[i];
        const void *data = dp_packet_data(p);
        size_t size = dp_packet_size(p);
        struct packet_tag tag;

        digest_add(&port->out, hash64(data, size, size));
        if (packet_gen_get_tag(data, size, &tag)) {
            struct stream *stream = &port->streams[tag.stream % N_STREAMS];

            if (stream->id != tag.stream) {
                *stream = (struct stream) { .id = tag.stream };
            }
            d.n_disordered += tag.seq < stream->last_seq;
            stream->last_seq = MAX(stream->last_seq, tag.seq);
        }
        if (tracing()) {
            char *name = xasprintf("out %"PRIu32,
                                   odp_to_u32(port->port_no));

            trace_hex(name, data, size);
            free(name);
        }
    }
}

/* Makes 'packet' from a frame as if it came in by 'in_port'. */
static void
packet_from_frame(const struct packet_gen_frame *f, odp_port_t in_port,
                  struct dp_packet *packet)
{
    dp_packet_init(packet, f->size + SYNTHETIC_HEADROOM + SLACK);
    dp_packet_reserve(packet, SYNTHETIC_HEADROOM);
    put_frame(packet, f);
    memset(&packet->md, 0, sizeof packet->md);
    pkt_metadata_init(&packet->md, in_port);
}

static unsigned int
n_vlans_of(unsigned int port_number)
{
    return port_number == 5 ? 2 : port_number == 4 ? 1 : 0;
}

/* Upcalls. */

static void
trace_flow(const char *what, const struct ofpbuf *key,
           const struct ofpbuf *mask, const struct ofpbuf *actions)
{
    struct ds s = DS_EMPTY_INITIALIZER;

    if (!tracing()) {
        return;
    }
    odp_flow_format(key->data, key->size, mask ? mask->data : NULL,
                    mask ? mask->size : 0, NULL, &s, true, false);
    if (actions) {
        ds_put_cstr(&s, " actions:");
        format_odp_actions(&s, actions->data, actions->size, NULL);
    }
    trace("%s %s\n", what, ds_cstr(&s));
    ds_destroy(&s);
}

static int
upcall(const struct dp_packet *packet, const struct flow *flow,
       ovs_u128 *ufid, unsigned pmd_id, enum dpif_upcall_type type,
       const struct nlattr *userdata, struct ofpbuf *actions,
       struct flow_wildcards *wc, struct ofpbuf *put_actions,
       void *aux OVS_UNUSED)
{
    struct flow_wildcards dummy_wc;
    struct ofpbuf key, mask;
    struct rng rng;
    uint64_t hash;
    int error = 0;

    ofpbuf_init(&key, 512);
    ofpbuf_init(&mask, 512);
    flow_wildcards_init_catchall(&dummy_wc);
    dp_driver_encode(flow, &dummy_wc, &key, &mask);

    /* What is decided depends on the flow alone. */
    hash = hash64(key.data, key.size, opts.seed);
    rng.state = hash;
    if (type == DPIF_UC_MISS) {
        unsigned int choice = rng_below(&rng, 40);

        error = choice == 0 ? ENOSPC : choice == 1 ? EIO : 0;
        random_flow_actions(&rng, flow, actions);
        if (rng_percent(&rng, 5)) {
            /* Other actions for packets to come than for this one. */
            random_flow_actions(&rng, flow, put_actions);
        }
    } else {
        nl_msg_put_odp_port(actions, OVS_ACTION_ATTR_OUTPUT,
                            u32_to_odp(1 + rng_below(&rng, RF_N_PORTS)));
        error = rng_below(&rng, 20) ? 0 : EIO;
    }
    if (wc) {
        random_flow_mask(flow, wc);
        if (!error) {
            flow_registry_add(&d.flows, flow_registry_hash(flow, wc), ufid);
        }
    }

    hash = hash64(dp_packet_data(packet), dp_packet_size(packet), hash);
    hash = hash64(ufid, sizeof *ufid, hash);
    hash ^= type + (uint64_t) pmd_id * 16;
    if (userdata) {
        hash = hash64(nl_attr_get(userdata), nl_attr_get_size(userdata),
                      hash);
    }
    digest_add(&d.upcalls, hash);
    trace_flow(type == DPIF_UC_MISS ? "miss" : "action", &key, NULL, actions);
    trace_hex("  packet", dp_packet_data(packet), dp_packet_size(packet));
    ofpbuf_uninit(&key);
    ofpbuf_uninit(&mask);
    return error;
}

/* Flow operations. */

struct flow_text {
    struct flow flow;
    struct flow_wildcards wc;
    struct ofpbuf key, mask, actions;
    uint64_t match;             /* Hash of it. */
    ovs_u128 ufid;              /* Of the flow with this match, or a new. */
};

static void
flow_text_init(struct flow_text *t)
{
    ofpbuf_init(&t->key, 512);
    ofpbuf_init(&t->mask, 512);
    ofpbuf_init(&t->actions, 512);
}

static void
flow_text_uninit(struct flow_text *t)
{
    ofpbuf_uninit(&t->key);
    ofpbuf_uninit(&t->mask);
    ofpbuf_uninit(&t->actions);
}

/* Makes a flow that a packet to come may match. */
static void
random_flow(struct flow_text *t)
{
    static const uint8_t ct_states[] = {
        CS_TRACKED | CS_NEW, CS_TRACKED | CS_ESTABLISHED,
        CS_TRACKED | CS_ESTABLISHED | CS_REPLY_DIR,
        CS_TRACKED | CS_INVALID,
    };
    unsigned int number = 1 + rng_below(&d.rng, RF_N_PORTS);
    struct packet_gen_frame f;
    struct dp_packet packet;
    const ovs_u128 *ufid;

    do {
        packet_gen_make(&d.gen, n_vlans_of(number), &f);
    } while (f.size < ETH_HEADER_LEN);
    packet_from_frame(&f, u32_to_odp(number), &packet);
    if (rng_percent(&d.rng, 30)) {
        packet.md.recirc_id = 1 + rng_below(&d.rng, RF_RECIRC_LOOP);
        if (packet.md.recirc_id == RF_RECIRC_CT) {
            packet.md.ct_state = ct_states[rng_below(&d.rng,
                                               ARRAY_SIZE(ct_states))];
            packet.md.ct_zone = 1 + rng_below(&d.rng, 3);
        }
    }
    flow_extract(&packet, &t->flow);
    dp_packet_uninit(&packet);
    random_flow_mask(&t->flow, &t->wc);

    ofpbuf_clear(&t->key);
    ofpbuf_clear(&t->mask);
    ofpbuf_clear(&t->actions);
    dp_driver_encode(&t->flow, &t->wc, &t->key, &t->mask);
    random_flow_actions(&d.rng, &t->flow, &t->actions);
    t->match = flow_registry_hash(&t->flow, &t->wc);
    ufid = flow_registry_find(&d.flows, t->match);
    if (ufid) {
        t->ufid = *ufid;
    } else {
        t->ufid.u64.lo = hash64(t->key.data, t->key.size, 1);
        t->ufid.u64.hi = hash64(t->key.data, t->key.size, 2);
    }
}

/* Returns the identifier that a datapath makes if it is given none. */
static ovs_u128
default_ufid(const struct flow_text *t)
{
    struct flow flow;
    ovs_u128 ufid;

    odp_flow_key_to_flow(t->key.data, t->key.size, &flow, NULL);
    odp_flow_key_hash(&flow, sizeof flow, &ufid);
    return ufid;
}

static uint64_t
hash_stats(const struct dpif_flow_stats *stats, uint64_t basis)
{
    uint64_t values[] = {
        stats->n_packets, stats->n_bytes,
        stats->used ? stats->used - d.epoch : 0, stats->tcp_flags,
    };

    return hash64(values, sizeof values, basis);
}

static uint64_t
hash_dumped(const struct dpif_flow *f)
{
    uint64_t hash = hash64(f->key, f->key_len, f->pmd_id);

    hash = hash64(f->mask, f->mask_len, hash);
    hash = hash64(f->actions, f->actions_len, hash);
    hash = hash64(&f->ufid, sizeof f->ufid, hash);
    return hash_stats(&f->stats, hash);
}

static void
op_done(const char *what, const struct flow_text *t, int error,
        const struct dpif_flow_stats *stats)
{
    digest_chain(&d.ops, error);
    if (!error && stats) {
        digest_chain(&d.ops, hash_stats(stats, 0));
    }
    if (tracing()) {
        char *s = xasprintf("%s (%s)", what,
                            error ? ovs_strerror(error) : "ok");

        trace_flow(s, &t->key, &t->mask, &t->actions);
        free(s);
    }
}

static void
flow_operation(struct flow_text *t)
{
    static const enum dpif_flow_put_flags put_flags[] = {
        DPIF_FP_CREATE, DPIF_FP_CREATE,
        DPIF_FP_MODIFY, DPIF_FP_MODIFY | DPIF_FP_ZERO_STATS,
    };
    struct dpif *dpif = d.driver.dpif;
    struct dpif_flow_stats stats;
    const ovs_u128 *ufid;
    int error;

    random_flow(t);
    ufid = rng_percent(&d.rng, 80) ? &t->ufid : NULL;
    memset(&stats, 0, sizeof stats);
    switch (rng_below(&d.rng, 8)) {
    case 0: case 1: case 2: case 3: {
        enum dpif_flow_put_flags flags;

        flags = put_flags[rng_below(&d.rng, ARRAY_SIZE(put_flags))];
        error = dpif_flow_put(dpif, flags | DPIF_FP_PROBE, t->key.data,
                              t->key.size, t->mask.data, t->mask.size,
                              t->actions.data, t->actions.size, ufid,
                              PMD_ID_NULL, &stats);
        if (!error && flags & DPIF_FP_CREATE) {
            ovs_u128 made = ufid ? *ufid : default_ufid(t);

            flow_registry_add(&d.flows, t->match, &made);
        }
        op_done("put", t, error, &stats);
        break;
    }

    case 4: case 5:
        error = dpif_flow_del(dpif, t->key.data, t->key.size, ufid,
                              PMD_ID_NULL, &stats);
        if (!error) {
            flow_registry_remove(&d.flows, t->match);
        }
        op_done("del", t, error, &stats);
        break;

    default: {
        struct dpif_flow got;
        struct ofpbuf buf;

        ofpbuf_init(&buf, DPIF_FLOW_BUFSIZE);
        error = dpif_flow_get(dpif, t->key.data, t->key.size, ufid,
                              PMD_ID_NULL, &buf, &got);
        op_done("get", t, error, error ? NULL : &got.stats);
        if (!error) {
            digest_chain(&d.ops, hash64(got.actions, got.actions_len,
                                        hash64(got.mask, got.mask_len, 0)));
        }
        ofpbuf_uninit(&buf);
        break;
    }
    }
}

/* Sends a packet from the control plane, often with tunnel metadata. */
static void
execute_packet(void)
{
    unsigned int number = rng_percent(&d.rng, 60)
                          ? RF_PORT_VXLAN + rng_below(&d.rng, 3)
                          : 1 + rng_below(&d.rng, RF_N_PORTS);
    struct packet_gen_frame f;
    struct dp_packet packet;
    struct ofpbuf actions;
    struct flow flow;
    int error;

    do {
        packet_gen_make(&d.gen, n_vlans_of(number), &f);
    } while (f.size < ETH_HEADER_LEN);
    packet_from_frame(&f, u32_to_odp(number), &packet);
    if (number >= RF_PORT_VXLAN) {
        struct flow_tnl *tnl = &packet.md.tunnel;

        tnl->ip_src = htonl(0x01010100 + rng_below(&d.rng, 3));
        tnl->ip_dst = htonl(0x01010258);
        tnl->tun_id = htonll(100 + rng_below(&d.rng, 3));
        tnl->flags = FLOW_TNL_F_KEY
                     | (rng_percent(&d.rng, 50) ? FLOW_TNL_F_CSUM : 0);
        tnl->ip_tos = rng_below(&d.rng, 2);
        tnl->ip_ttl = 64;
    }
    ofpbuf_init(&actions, 256);
    random_execute_actions(&d.rng, &actions);
    flow_extract(&packet, &flow);

    struct dpif_execute execute = {
        .actions = actions.data,
        .actions_len = actions.size,
        .flow = &flow,
        .packet = &packet,
    };
    trace_hex("execute", f.data, f.size);
    error = dpif_execute(d.driver.dpif, &execute);
    digest_chain(&d.executes, error);
    dp_packet_uninit(&packet);
    ofpbuf_uninit(&actions);
}

/* One round. */

static void
change_config(void)
{
    switch (rng_below(&d.rng, 12)) {
    case 0:
        dp_driver_set(&d.driver, "smc-enable",
                      rng_percent(&d.rng, 50) ? "true" : "false");
        break;
    case 1:
        dp_driver_set(&d.driver, "emc-insert-inv-prob",
                      rng_percent(&d.rng, 50) ? "1" : "0");
        break;
    case 2:
        if (rng_percent(&d.rng, 20)) {
            digest_chain(&d.ops, dpif_flow_flush(d.driver.dpif));
            flow_registry_clear(&d.flows);
        }
        break;
    default:
        break;
    }
}

static void
send_burst(void)
{
    struct port *port = &d.ports[rng_below(&d.rng, RF_N_PORTS)];
    unsigned int number = odp_to_u32(port->port_no);
    size_t n = 1 + rng_below(&d.rng, MAX_QUEUE);

    port->head = port->tail = 0;
    port->burst = 1 + rng_below(&d.rng, 32);
    while (port->tail < n) {
        struct packet_gen_frame *f = &port->queue[port->tail];

        packet_gen_make(&d.gen, n_vlans_of(number), f);
        port->tail++;

        /* A flow's next packets are often right behind. */
        while (port->tail < n && rng_percent(&d.rng, 30)) {
            port->queue[port->tail++] = *f;
        }
    }
    d.n_sent += n;
    while (port->head != port->tail) {
        dpif_run(d.driver.dpif);
    }
    dpif_run(d.driver.dpif);
}

static void
call_appctl(const char *command, const char *argument)
{
    const char *argv[] = { command, argument, NULL };
    char *error, *reply = dp_driver_appctl(&d.driver, argv, &error);

    if (!reply) {
        ovs_fatal(0, "%s %s: %s", command, argument ? argument : "", error);
    }
    free(reply);
}

/* Steps forward.  More than a second, for coverage counters to be totaled. */
static void
warp(unsigned int msec)
{
    char argument[16];

    snprintf(argument, sizeof argument, "%u", msec);
    call_appctl("time/warp", argument);
}

/* Keeps the thread that removes expired connections from doing it, since when
 * it does depends on real time: lets its first sweep pass, after which it
 * waits for the new interval.  run_round() flushes instead. */
static void
stop_connection_sweeps(void)
{
    uint32_t msec = UINT32_MAX / 2;
    int error = ct_dpif_sweep(d.driver.dpif, &msec);

    if (error) {
        ovs_fatal(error, "cannot set the sweep interval");
    }
    warp(30 * 1000);
    xnanosleep(UINT64_C(500) * 1000 * 1000);
}

static void
print_digest(const char *name, struct digest *digest)
{
    fprintf(d.file, " %s=%"PRIu64":%016"PRIx64, name, digest->n,
            digest->sum);
    memset(digest, 0, sizeof *digest);
}

/* Digests all flows and returns the sum of their packets. */
static uint64_t
digest_flows(struct digest *digest)
{
    struct dpif_flow_dump *dump;
    struct dpif_flow_dump_thread *thread;
    struct dpif_flow flows[32];
    uint64_t n_packets = 0;
    int n;

    dump = dpif_flow_dump_create(d.driver.dpif, false, NULL);
    thread = dpif_flow_dump_thread_create(dump);
    while ((n = dpif_flow_dump_next(thread, flows, 32)) > 0) {
        for (int i = 0; i < n; i++) {
            const struct dpif_flow *f = &flows[i];

            digest_add(digest, hash_dumped(f));
            n_packets += f->stats.n_packets;
            if (tracing()) {
                struct ds s = DS_EMPTY_INITIALIZER;

                odp_flow_format(f->key, f->key_len, f->mask, f->mask_len,
                                NULL, &s, true, false);
                ds_put_cstr(&s, " actions:");
                format_odp_actions(&s, f->actions, f->actions_len, NULL);
                ds_put_format(&s, " pmd:%u ufid:"UUID_FMT" ", f->pmd_id,
                              UUID_ARGS((struct uuid *) &f->ufid));
                dpif_flow_stats_format(&f->stats, &s);
                ds_put_format(&s, " used:%lld hash:%016"PRIx64,
                              f->stats.used ? f->stats.used - d.epoch : 0,
                              hash_dumped(f));
                trace("flow %s\n", ds_cstr(&s));
                ds_destroy(&s);
            }
        }
    }
    dpif_flow_dump_thread_destroy(thread);
    digest_chain(&d.ops, dpif_flow_dump_destroy(dump));
    return n_packets;
}

static void
print_counters(void)
{
    struct ofputil_meter_band_stats band;
    struct ofputil_meter_stats meter = { .bands = &band };
    struct dpif_dp_stats stats;
    char *text, *line, *rest;

    memset(&stats, 0, sizeof stats);
    dpif_get_dp_stats(d.driver.dpif, &stats);
    fprintf(d.file, " hit=%"PRIu64" missed=%"PRIu64" lost=%"PRIu64
            " n_flows=%"PRIu64, stats.n_hit, stats.n_missed, stats.n_lost,
            stats.n_flows);

    memset(&band, 0, sizeof band);
    if (!dpif_meter_get(d.driver.dpif,
                        (ofproto_meter_id) { RF_METER_ID }, &meter, 1)) {
        fprintf(d.file, " meter=%"PRIu64"/%"PRIu64"/%"PRIu64,
                meter.packet_in_count, meter.byte_in_count,
                band.packet_count);
    }

    /* Sorted by count, then name: the same on both sides if all agree. */
    text = dp_driver_coverage(&d.driver);
    rest = text;
    while (rest && (line = strsep(&rest, "\n")) != NULL) {
        if (!strncmp(line, "datapath_drop_", 14)
            || !strncmp(line, "drop_action_", 12)) {
            const char *total = strstr(line, "total:");

            fprintf(d.file, " %.*s=%s", (int) strcspn(line, " "), line,
                    total ? total + strlen("total: ") : "?");
        }
    }
    free(text);
}

static void
print_round(void)
{
    struct digest flows = { 0, 0 };
    uint64_t flow_packets = digest_flows(&flows);

    fprintf(d.file, "round %lld sent=%"PRIu64, d.round, d.n_sent);
    for (size_t i = 0; i < RF_N_PORTS; i++) {
        char name[16];

        snprintf(name, sizeof name, "out%"PRIuSIZE, i + 1);
        print_digest(name, &d.ports[i].out);
    }
    print_digest("upcalls", &d.upcalls);
    print_digest("ops", &d.ops);
    print_digest("executes", &d.executes);
    fprintf(d.file, " disordered=%"PRIu64, d.n_disordered);
    print_digest("flows", &flows);
    fprintf(d.file, " flow_packets=%"PRIu64, flow_packets);
    print_counters();
    fputc('\n', d.file);
    fflush(d.file);
}

static void
run_round(struct flow_text *t)
{
    change_config();
    if (!(d.round % CT_FLUSH_ROUNDS)) {
        digest_chain(&d.ops, ct_dpif_flush(d.driver.dpif, NULL, NULL));
    }
    for (int n = rng_below(&d.rng, 40); n > 0; n--) {
        flow_operation(t);
    }
    for (int n = 8; n > 0; n--) {
        send_burst();
        if (rng_percent(&d.rng, 50)) {
            execute_packet();
        }
    }
    dpif_run(d.driver.dpif);
    warp(1001 + rng_below(&d.rng, 200));
    dpif_run(d.driver.dpif);
    print_round();
}

/* Set-up. */

static void
open_ports(void)
{
    static const char *const tunnels[][3] = {
        { "vxlan0", "vxlan", "4789" },
        { "geneve0", "geneve", "6081" },
        { "gre0", "gre", NULL },
    };

    for (size_t i = 0; i < RF_N_PORTS; i++) {
        struct port *port = &d.ports[i];
        odp_port_t port_no = u32_to_odp(i + 1);
        char name[16];
        int error;

        snprintf(name, sizeof name, "p%"PRIuSIZE, i + 1);
        port->netdev = synthetic_open(name, false, 1);
        port->port_no = port_no;
        port->source.fill = port_fill;
        port->sink.take = port_take;
        port->queue = xcalloc(MAX_QUEUE, sizeof *port->queue);
        port->streams = xcalloc(N_STREAMS, sizeof *port->streams);
        synthetic_set_source(port->netdev, 0, &port->source);
        synthetic_set_sink(port->netdev, &port->sink);
        synthetic_set_enabled(port->netdev, true);
        error = dpif_port_add(d.driver.dpif, port->netdev, &port_no);
        if (error) {
            ovs_fatal(error, "%s: cannot add port", name);
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(tunnels); i++) {
        odp_port_t port_no = u32_to_odp(RF_PORT_VXLAN + i);
        struct smap args = SMAP_INITIALIZER(&args);
        char *message = NULL;
        int error;

        error = netdev_open(tunnels[i][0], tunnels[i][1], &d.tunnels[i]);
        smap_add(&args, "remote_ip", "flow");
        smap_add(&args, "key", "flow");
        if (tunnels[i][2]) {
            smap_add(&args, "dst_port", tunnels[i][2]);
        }
        if (!error) {
            error = netdev_set_config(d.tunnels[i], &args, &message);
        }
        if (!error) {
            error = dpif_port_add(d.driver.dpif, d.tunnels[i], &port_no);
        }
        if (error) {
            ovs_fatal(error, "%s: cannot add port: %s", tunnels[i][0],
                      message ? message : "");
        }
        smap_destroy(&args);
    }
}

static void
close_ports(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(d.tunnels); i++) {
        dpif_port_del(d.driver.dpif, u32_to_odp(RF_PORT_VXLAN + i), false);
        netdev_close(d.tunnels[i]);
    }
    for (size_t i = 0; i < RF_N_PORTS; i++) {
        dpif_port_del(d.driver.dpif, d.ports[i].port_no, false);
    }
    dpif_disable_upcall(d.driver.dpif);
    dp_driver_close(&d.driver);
    for (size_t i = 0; i < RF_N_PORTS; i++) {
        netdev_close(d.ports[i].netdev);
        free(d.ports[i].queue);
        free(d.ports[i].streams);
    }
}

static void
set_up(const char *program)
{
    struct ofputil_meter_band band = {
        .type = OFPMBT13_DROP, .rate = 200, .burst_size = 50,
    };
    struct ofputil_meter_config meter = {
        .meter_id = 1, .flags = OFPMF13_PKTPS | OFPMF13_BURST,
        .n_bands = 1, .bands = &band,
    };
    odp_port_t members[BOND_BUCKETS];
    ovs_u128 unused;
    int error;

    /* Both datapaths shall see the same random numbers where the result
     * depends on one: the secret in flow identifiers is drawn at once. */
    random_set_seed(opts.seed);
    odp_flow_key_hash("", 0, &unused);

    /* Makes the mutex that threads need as soon as time is a dummy. */
    time_msec();
    timeval_dummy_register();
    dp_driver_open(&d.driver, program);
    vlog_set_levels(NULL, VLF_CONSOLE, VLL_EMER);
    call_appctl("time/stop", NULL);
    stop_connection_sweeps();
    d.epoch = time_msec();
    if (opts.impl) {
        call_appctl("dpif-netdev/dpif-impl-set", opts.impl);
    }

    flow_registry_init(&d.flows);
    d.rng.state = opts.seed;
    packet_gen_init(&d.gen, opts.seed + 1000);
    dpif_register_upcall_cb(d.driver.dpif, upcall, NULL);
    dpif_enable_upcall(d.driver.dpif);
    open_ports();

    for (size_t i = 0; i < BOND_BUCKETS; i++) {
        members[i] = u32_to_odp(1 + i % RF_N_PORTS);
    }
    error = dpif_bond_add(d.driver.dpif, RF_BOND_ID, members);
    if (error) {
        ovs_fatal(error, "cannot add bond");
    }
    error = dpif_meter_set(d.driver.dpif,
                           (ofproto_meter_id) { RF_METER_ID }, &meter);
    if (error) {
        ovs_fatal(error, "cannot set meter");
    }
}

static void
parse_options(int argc, char *argv[])
{
    static const struct option options[] = {
        { "packets", required_argument, NULL, 'p' },
        { "seed", required_argument, NULL, 's' },
        { "output", required_argument, NULL, 'o' },
        { "impl", required_argument, NULL, 'i' },
        { "trace", required_argument, NULL, 't' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    unsigned long long n = 0;
    int c;

    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (strchr("pst", c) && !str_to_ullong(optarg, 0, &n)) {
            ovs_fatal(0, "%s: not a number", optarg);
        }
        switch (c) {
        case 'p':
            opts.n_packets = n;
            break;
        case 's':
            opts.seed = n;
            break;
        case 'o':
            opts.output = optarg;
            break;
        case 'i':
            opts.impl = optarg;
            break;
        case 't':
            opts.trace = n;
            break;
        case 'h':
            printf("%s: writes digests of what a datapath does\n"
                   "usage: %s [--packets N] [--seed N] [--output FILE] "
                   "[--impl NAME] [--trace ROUND]\n",
                   program_name, program_name);
            exit(EXIT_SUCCESS);
        default:
            exit(2);
        }
    }
}

int
main(int argc, char *argv[])
{
    struct flow_text t;

    set_program_name(argv[0]);
    parse_options(argc, argv);
    d.file = opts.output ? fopen(opts.output, "w") : stdout;
    if (!d.file) {
        ovs_fatal(errno, "%s: cannot write", opts.output);
    }

    set_up(argv[0]);
    flow_text_init(&t);
    for (d.round = 1; d.n_sent < opts.n_packets; d.round++) {
        run_round(&t);
    }
    fprintf(d.file, "end rounds=%lld sent=%"PRIu64"\n", d.round - 1,
            d.n_sent);
    flow_text_uninit(&t);
    close_ports();
    flow_registry_destroy(&d.flows);
    if (d.file != stdout && fclose(d.file)) {
        ovs_fatal(errno, "%s: write failed", opts.output);
    }
    return EXIT_SUCCESS;
}
