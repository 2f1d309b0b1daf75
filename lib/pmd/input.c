/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/input.h"

#include "dp-packet.h"
#include "flow.h"
#include "hash.h"
#include "netdev-offload.h"
#include "odp-util.h"
#include "packets.h"
#include "pmd/batch.h"
#include "pmd/drops.h"
#include "pmd/execute.h"
#include "pmd/impl.h"
#include "pmd/parse-ip.h"
#include "pmd/pmd.h"
#include "pmd/upcall.h"
#include "sync/dp-log.h"
#include "table/dp-classifier.h"
#include "table/dp-key.h"
#include "table/flow-table.h"
#include "table/lookup.h"
#include "table/sigcache.h"
#include "util.h"

/* A burst under way.  As a rule all of its packets are looked up by key; those
 * whose flow is known without one are the exception. */
struct pmd_burst {
    odp_port_t in_port;         /* Of all packets. */
    struct dp_packet_batch packets; /* In the order of arrival. */

    /* If 'n_known' is not zero: flow, or null, and TCP flags of each of
     * 'packets'. */
    size_t n_known;
    struct dp_flow *known[NETDEV_MAX_BURST];
    uint16_t known_flags[NETDEV_MAX_BURST];

    /* The packets that are looked up by key, in the same order: 'packets', or
     * 'rest' if some are known.  The arrays below go with it.  A packet that
     * an upcall has taken care of is replaced by null. */
    struct dp_packet_batch *keyed;
    struct dp_packet_batch rest;
    struct lookup_result results[NETDEV_MAX_BURST];
    struct lookup_hits hits;
    uint32_t n_upcalls;         /* Packets that no table had a flow for. */
    struct flow_batches batches;
    struct dp_key keys[NETDEV_MAX_BURST];
};

/* Returns the scratch memory for the present recirculation depth.  Bursts
 * nest, one per depth. */
static struct pmd_burst *
burst_get(struct pmd_thread *pmd)
{
    struct pmd_burst **burst;

    ovs_assert(pmd->recirc_depth < ARRAY_SIZE(pmd->bursts));
    burst = &pmd->bursts[pmd->recirc_depth];
    if (OVS_UNLIKELY(!*burst)) {
        *burst = xzalloc_cacheline(sizeof **burst);
    }
    return *burst;
}

void
pmd_input_free_scratch(struct pmd_thread *pmd)
{
    for (size_t i = 0; i < ARRAY_SIZE(pmd->bursts); i++) {
        free_cacheline(pmd->bursts[i]);
        pmd->bursts[i] = NULL;
    }
}

/* Takes the packets of 'batch' in, except those that are too short to have an
 * Ethernet header.  With 'init_md' their metadata is made for b->in_port. */
static void
burst_admit(struct pmd_burst *b, struct dp_packet_batch *batch, bool init_md)
{
    size_t n = dp_packet_batch_size(batch);
    size_t n_admitted = 0;

    for (size_t i = 0; i < n; i++) {
        struct dp_packet *packet = batch->packets[i];

        if (i + 1 < n) {
            OVS_PREFETCH(dp_packet_data(batch->packets[i + 1]));
            pkt_metadata_prefetch_init(&batch->packets[i + 1]->md);
        }
        if (OVS_UNLIKELY(dp_packet_size(packet) < ETH_HEADER_LEN)) {
            dp_packet_delete(packet);
            dp_drop_count(DP_DROP_RX_INVALID_PACKET, 1);
            continue;
        }
        if (init_md) {
            pkt_metadata_init(&packet->md, b->in_port);
        }
        b->packets.packets[n_admitted++] = packet;
    }
    b->packets.count = n_admitted;
    b->packets.trunc = false;
    b->n_known = 0;
}

/* Asks the hardware's marks.  Packets that must go no further leave the
 * burst. */
static void
burst_ask_hardware(struct pmd_thread *pmd, struct pmd_burst *b)
{
    struct netdev *netdev = pmd->last_rxq ? pmd->last_rxq->port->netdev : NULL;
    size_t n = 0;

    for (size_t i = 0; i < dp_packet_batch_size(&b->packets); i++) {
        struct dp_packet *packet = b->packets.packets[i];
        struct dp_flow *flow = NULL;

        if (pmd->run->hooks->hw_flow(pmd, netdev, packet, &flow)) {
            continue;
        }
        if (flow) {
            b->known_flags[n] = parse_tcp_flags(packet, NULL, NULL, NULL);
            b->n_known++;
        }
        b->known[n] = flow;
        b->packets.packets[n++] = packet;
    }
    b->packets.count = n;
    pmd_perf_add(&pmd->perf, PMD_COUNT_PHWOL_HIT, b->n_known);
}

/* Looks up by simple mark what has no flow yet. */
static void
burst_ask_simple(struct pmd_thread *pmd, struct pmd_burst *b)
{
    bool none_known = !b->n_known;
    struct dp_packet *packet;
    size_t n_hits = 0;

    DP_PACKET_BATCH_FOR_EACH (i, packet, &b->packets) {
        ovs_be16 dl_type = 0, vlan_tci = 0;
        uint8_t nw_frag = 0;
        uint64_t mark;

        if (!none_known && b->known[i]) {
            continue;
        }
        b->known_flags[i] = parse_tcp_flags(packet, &dl_type, &nw_frag,
                                            &vlan_tci);
        mark = dp_simple_mark(b->in_port, dl_type, nw_frag, vlan_tci);
        b->known[i] = dp_flow_table_find_simple(&pmd->flows, mark);
        n_hits += b->known[i] != NULL;
    }
    b->n_known += n_hits;
    pmd_perf_add(&pmd->perf, PMD_COUNT_SIMPLE_HIT, n_hits);
}

/* Sets b->keyed. */
static void
burst_collect(struct pmd_burst *b)
{
    struct dp_packet *packet;

    if (OVS_LIKELY(!b->n_known)) {
        b->keyed = &b->packets;
        return;
    }

    b->keyed = &b->rest;
    dp_packet_batch_init(&b->rest);
    DP_PACKET_BATCH_FOR_EACH (i, packet, &b->packets) {
        if (!b->known[i]) {
            dp_packet_batch_add(&b->rest, packet);
        }
    }
}

/* Returns a value that makes the hash of one and the same packet differ from
 * port to port and from pass to pass through the datapath, so that a signature
 * cache can hold it more than once. */
static uint32_t
burst_salt(const struct pmd_thread *pmd, const struct pmd_burst *b)
{
    return hash_2words(odp_to_u32(b->in_port), pmd->recirc_depth);
}

/* Makes the keys, and asks the memory for what the EMC knows of them if
 * 'emc' is not null.  'fresh': the packets come from a port. */
static void
burst_parse(struct pmd_thread *pmd, struct pmd_burst *b,
            const struct sigcache *emc, bool fresh)
{
    const uint32_t salt = burst_salt(pmd, b);
    const struct pmd_parse_impl *impl;
    struct dp_packet *packet;
    uint32_t parsed = 0;
    bool try_ip;

    atomic_read_relaxed(&pmd->parse_impl, &impl);
    try_ip = fresh && !impl->parse;
    if (impl->parse) {
        parsed = impl->parse(pmd, b->keyed, b->keys);
        pmd_perf_add(&pmd->perf, PMD_COUNT_MFEX_OPT_HIT, count_1bits(parsed));
    }

    DP_PACKET_BATCH_FOR_EACH (i, packet, b->keyed) {
        struct dp_key *key = &b->keys[i];
        uint32_t hash;

        if (OVS_UNLIKELY(!try_ip || !pmd_parse_ip(packet, key))) {
            if (!(parsed & (UINT32_C(1) << i))) {
                miniflow_extract(packet, &key->mf);
            }
            key->tcp_flags = miniflow_get_tcp_flags(&key->mf);
        }
        if (OVS_LIKELY(dp_packet_rss_valid(packet))) {
            hash = dp_packet_get_rss_hash(packet);
        } else {
            hash = miniflow_hash_5tuple(&key->mf, 0);
            dp_packet_set_rss_hash(packet, hash);
        }
        key->hash = hash ^ salt;
        if (emc) {
            OVS_PREFETCH(sigcache_bucket(emc, key->hash));
        }
        key->in_port = b->in_port;
        dp_key_set_shape(&pmd->flows.shapes, key);
    }
}

/* Compares the results of a pass with what single searches give.  A flow that
 * came or went meanwhile excuses a difference. */
static void
burst_validate(struct pmd_thread *pmd, struct pmd_burst *b)
{
    for (size_t i = 0; i < dp_packet_batch_size(b->keyed); i++) {
        struct lookup_result *result = &b->results[i];
        struct dp_flow *flow;

        flow = dp_flow_table_find_key(&pmd->flows, &b->keys[i], NULL);
        if (flow && result->flow && flow != result->flow
            && dp_flow_is_live(flow) && dp_flow_is_live(result->flow)) {
            static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(5, 5);

            VLOG_ERR_RL(&rl, "lookup gave flow %"PRIu32", "
                        "validation gave flow %"PRIu32,
                        result->flow->index, flow->index);
            result->flow = flow;
        }
    }
}

/* Bits of the packets that are looked up by key. */
static uint32_t
burst_bits(const struct pmd_burst *b)
{
    return UINT32_MAX >> (32 - dp_packet_batch_size(b->keyed));
}

BUILD_ASSERT_DECL((int) NETDEV_MAX_BURST == (int) LOOKUP_MAX_KEYS);

/* Returns the pass that the user has chosen, null for "auto". */
static lookup_pass_func *
chosen_pass(struct pmd_thread *pmd)
{
    const struct pmd_input_impl *impl;

    atomic_read_relaxed(&pmd->input_impl, &impl);
    return impl->pass;
}

static lookup_pass_func *
burst_pass(struct pmd_thread *pmd)
{
    lookup_pass_func *pass = chosen_pass(pmd);

    return pass ? pass : pass_choice_pass(&pmd->pass_choice);
}

/* Looks all keys up in 'tables' and counts.  There is at least one. */
static void
burst_lookup(struct pmd_thread *pmd, struct pmd_burst *b,
             const struct lookup_tables *tables)
{
    struct lookup_hits *hits = &b->hits;
    size_t i;

    *hits = burst_pass(pmd)(tables, b->keys, dp_packet_batch_size(b->keyed),
                            b->results);
    if (OVS_UNLIKELY(pmd_subtable_impl_in_use()->validate)) {
        burst_validate(pmd, b);
    }
    if (tables->emc) {
        unsigned int n_hits = count_1bits(hits->emc);

        emc_gate_count(&pmd->emc_gate, dp_packet_batch_size(b->keyed),
                       n_hits);
        pmd_perf_add(&pmd->perf, PMD_COUNT_EMC_HIT, n_hits);
    }

    if (hits->smc | hits->classifier) {
        ULLONG_FOR_EACH_1 (i, hits->classifier) {
            dp_classifier_credit(b->results[i].subtable);
        }
        pmd_perf_add(&pmd->perf, PMD_COUNT_SMC_HIT, count_1bits(hits->smc));
        pmd_perf_add(&pmd->perf, PMD_COUNT_MASKED_HIT,
                     count_1bits(hits->classifier));
    }
    pmd_perf_add(&pmd->perf, PMD_COUNT_MASKED_LOOKUP, hits->n_asked);
}

/* The packets that no table has a flow for. */
static uint32_t
burst_missed(const struct pmd_burst *b)
{
    return burst_bits(b) & ~(b->hits.emc | b->hits.smc | b->hits.classifier);
}

/* Drops all packets without a flow. */
static void
burst_drop_missed(struct pmd_thread *pmd, struct pmd_burst *b)
{
    uint32_t missed = burst_missed(b);
    size_t i;

    ULLONG_FOR_EACH_1 (i, missed) {
        dp_packet_delete(b->keyed->packets[i]);
        b->keyed->packets[i] = NULL;
    }
    dp_drop_count(DP_DROP_LOCK_ERROR, count_1bits(missed));
    pmd_perf_add(&pmd->perf, PMD_COUNT_LOST, count_1bits(missed));
}

/* Makes upcalls for the packets without a flow, one by one.  A flow that an
 * earlier packet brought in is found by those behind it. */
static void
burst_upcall(struct pmd_thread *pmd, struct pmd_burst *b)
{
    unsigned int n_found = 0, n_ok = 0, n_failed = 0, n_asked = 0;
    uint32_t missed = burst_missed(b);
    enum pmd_stage outer;
    size_t i;

    if (!pmd_upcall_begin(pmd)) {
        burst_drop_missed(pmd, b);
        return;
    }
    outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_UPCALL);
    b->n_upcalls += count_1bits(missed);
    ULLONG_FOR_EACH_1 (i, missed) {
        struct lookup_result *result = &b->results[i];
        struct dp_packet *packet = b->keyed->packets[i];
        unsigned int asked = 0;

        result->flow = dp_flow_table_find_key(&pmd->flows, &b->keys[i],
                                              &asked);
        if (result->flow) {
            n_asked += asked;
            n_found++;
            continue;
        }

        b->keyed->packets[i] = NULL;
        if (pmd_upcall_miss(pmd, packet, &b->keys[i], &result->flow)) {
            n_failed++;
        } else {
            n_ok++;
        }
    }
    pmd_upcall_end(pmd);
    pmd_stage_set(&pmd->mark, outer);

    pmd_perf_add(&pmd->perf, PMD_COUNT_MASKED_HIT, n_found);
    pmd_perf_add(&pmd->perf, PMD_COUNT_MASKED_LOOKUP, n_asked);
    pmd_perf_add(&pmd->perf, PMD_COUNT_MISS, n_ok);
    pmd_perf_add(&pmd->perf, PMD_COUNT_LOST, n_failed);
}

/* Tells the caches what they did not know. */
static void
burst_learn(struct pmd_thread *pmd, struct pmd_burst *b)
{
    uint32_t unknown = burst_bits(b) & ~b->hits.emc;
    size_t i;

    if (pmd->smc_enabled) {
        ULLONG_FOR_EACH_1 (i, unknown & ~b->hits.smc) {
            if (OVS_LIKELY(b->results[i].flow)) {
                sigcache_insert(&pmd->smc, b->keys[i].hash,
                                b->results[i].flow->index);
            }
        }
    }

    while (unknown && emc_lot_draw(&pmd->emc_lot, pmd->emc_insert_min,
                                   &unknown, &i)) {
        if (OVS_LIKELY(b->results[i].flow)) {
            sigcache_insert(&pmd->emc, b->keys[i].hash,
                            b->results[i].flow->index);
        }
    }
}

/* Executes at once what is only to be output, and groups other packets by
 * flow. */
static inline void
burst_dispatch(struct pmd_thread *pmd, struct pmd_burst *b,
               struct dp_packet *packet, struct dp_flow *flow,
               uint16_t tcp_flags, long long now)
{
    if (OVS_LIKELY(pmd_forward(pmd, packet, flow, tcp_flags, now))) {
        return;
    }
    if (dp_flow_output(flow) == ODPP_NONE) {
        OVS_PREFETCH(dp_flow_actions(flow));
    }
    flow_batches_add(&b->batches, flow, packet, tcp_flags);
}

/* Executes all packets, those of a flow in the order of arrival. */
static void
burst_execute(struct pmd_thread *pmd, struct pmd_burst *b)
{
    size_t n = dp_packet_batch_size(&b->packets);
    long long now = pmd->now / 1000;
    size_t k = 0;               /* In b->keyed. */

    flow_batches_init(&b->batches);
    for (size_t i = 0; i < n; i++) {
        if (OVS_UNLIKELY(b->n_known) && b->known[i]) {
            burst_dispatch(pmd, b, b->packets.packets[i], b->known[i],
                           b->known_flags[i], now);
        } else {
            struct dp_packet *packet = b->keyed->packets[k];

            if (OVS_LIKELY(packet)) {
                burst_dispatch(pmd, b, packet, b->results[k].flow,
                               b->keys[k].tcp_flags, now);
            }
            k++;
        }
    }
    flow_batches_execute(&b->batches, pmd);
}

/* Returns the tables to ask, without the caches unless 'use_caches'. */
static struct lookup_tables
burst_tables(struct pmd_thread *pmd, const struct pmd_burst *b,
             bool use_caches)
{
    bool emc = (pmd->emc_insert_min && sigcache_is_enabled(&pmd->emc)
                && emc_gate_is_open(&pmd->emc_gate));
    bool smc = pmd->smc_enabled && sigcache_is_enabled(&pmd->smc);

    return (struct lookup_tables) {
        .emc = use_caches && emc ? &pmd->emc : NULL,
        .smc = use_caches && smc ? &pmd->smc : NULL,
        .slab = pmd->flows.slab,
        .cls = dp_flow_table_get_classifier(&pmd->flows, b->in_port),
    };
}

/* The walk from the keys on. */
static void
burst_run(struct pmd_thread *pmd, struct pmd_burst *b, bool fresh,
          bool use_caches)
{
    burst_collect(b);
    if (!dp_packet_batch_is_empty(b->keyed)) {
        struct lookup_tables tables = burst_tables(pmd, b, use_caches);

        burst_parse(pmd, b, tables.emc, fresh);
        pmd_stage_set(&pmd->mark, PMD_STAGE_LOOKUP);
        burst_lookup(pmd, b, &tables);
        if (OVS_UNLIKELY(b->hits.emc != burst_bits(b))) {
            if (OVS_UNLIKELY(burst_missed(b))) {
                burst_upcall(pmd, b);
            }
            burst_learn(pmd, b);
        }
    }
    pmd_stage_set(&pmd->mark, PMD_STAGE_EXECUTE);
    burst_execute(pmd, b);
}

/* As burst_run(), for packets from a port, and measures it if the choice of
 * passes wants to know. */
static void
burst_run_fresh(struct pmd_thread *pmd, struct pmd_burst *b, bool use_caches)
{
    struct pass_choice *choice = &pmd->pass_choice;
    size_t n = dp_packet_batch_size(&b->packets);
    uint64_t start;

    if (chosen_pass(pmd) || !n || !pass_choice_begin(choice, pmd->now)) {
        burst_run(pmd, b, true, use_caches);
        return;
    }

    start = pmd_perf_now(&pmd->perf);
    b->n_upcalls = 0;
    burst_run(pmd, b, true, use_caches);
    if (!b->n_upcalls) {
        pass_choice_end(choice, pmd->now, n,
                        pmd_perf_now(&pmd->perf) - start);
    }
}

void
pmd_input(struct pmd_thread *pmd, struct dp_packet_batch *batch,
          odp_port_t port_no)
{
    struct pmd_burst *b = burst_get(pmd);
    bool simple = dp_flow_table_is_simple(&pmd->flows, port_no);
    enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_PARSE);

    pmd_perf_add(&pmd->perf, PMD_COUNT_RECV, dp_packet_batch_size(batch));
    b->in_port = port_no;
    burst_admit(b, batch, true);
    if (OVS_UNLIKELY(netdev_is_flow_api_enabled())
        && pmd->run->hooks->hw_flow) {
        burst_ask_hardware(pmd, b);
    }
    if (simple) {
        burst_ask_simple(pmd, b);
    }
    /* Simple marks find every flow of the port, so what they did not find is
     * in no cache either. */
    burst_run_fresh(pmd, b, !simple);
    pmd_stage_set(&pmd->mark, outer);
}

void
pmd_recirculate(struct pmd_thread *pmd, struct dp_packet_batch *batch)
{
    struct pmd_burst *b = burst_get(pmd);
    enum pmd_stage outer;

    pmd_perf_add(&pmd->perf, PMD_COUNT_RECIRC, dp_packet_batch_size(batch));
    if (dp_packet_batch_is_empty(batch)) {
        return;
    }
    b->in_port = batch->packets[0]->md.in_port.odp_port;
    outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_PARSE);
    burst_admit(b, batch, false);
    burst_run(pmd, b, false, true);
    pmd_stage_set(&pmd->mark, outer);
}
