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
#include "pmd/impl.h"
#include "pmd/pmd.h"
#include "pmd/upcall.h"
#include "random.h"
#include "sync/dp-log.h"
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
    uint16_t tcp_flags[NETDEV_MAX_BURST];
    struct lookup_result results[NETDEV_MAX_BURST];
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
 * 'emc' is not null. */
static void
burst_parse(struct pmd_thread *pmd, struct pmd_burst *b,
            const struct sigcache *emc)
{
    const uint32_t salt = burst_salt(pmd, b);
    const struct pmd_parse_impl *impl;
    struct dp_packet *packet;
    uint32_t parsed = 0;

    atomic_read_relaxed(&pmd->parse_impl, &impl);
    if (impl->parse) {
        parsed = impl->parse(pmd, b->keyed, b->keys);
        pmd_perf_add(&pmd->perf, PMD_COUNT_MFEX_OPT_HIT, count_1bits(parsed));
    }

    DP_PACKET_BATCH_FOR_EACH (i, packet, b->keyed) {
        struct dp_key *key = &b->keys[i];
        uint32_t hash;

        if (!(parsed & (UINT32_C(1) << i))) {
            miniflow_extract(packet, &key->mf);
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
        b->tcp_flags[i] = miniflow_get_tcp_flags(&key->mf);
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

            VLOG_ERR_RL(&rl, "lookup gave flow %"PRIu32" (source %d), "
                        "validation gave flow %"PRIu32,
                        result->flow->index, result->source, flow->index);
            result->flow = flow;
            result->source = LOOKUP_CLASSIFIER;
        }
    }
}

static void
credit_mask(const struct dp_flow *flow)
{
    const struct dp_mask *mask = dp_flow_live_mask(flow);

    if (mask) {
        dp_mask_credit(mask);
    }
}

/* Looks all keys up in 'tables' and counts.  Returns how many packets the EMC
 * did not know, and stores how many of them have no flow to '*n_misses'. */
static size_t
burst_lookup(struct pmd_thread *pmd, struct pmd_burst *b,
             const struct lookup_tables *tables, size_t *n_misses)
{
    const size_t n = dp_packet_batch_size(b->keyed);
    size_t n_from[LOOKUP_CLASSIFIER + 1] = { 0 };
    const struct pmd_input_impl *impl;
    unsigned int n_subtables;

    atomic_read_relaxed(&pmd->input_impl, &impl);
    n_subtables = impl->pass(tables, b->keys, n, b->results);
    if (OVS_UNLIKELY(pmd_subtable_impl_in_use()->validate)) {
        burst_validate(pmd, b);
    }

    for (size_t i = 0; i < n; i++) {
        const struct lookup_result *result = &b->results[i];

        n_from[result->source]++;
        if (result->flow) {
            if (OVS_UNLIKELY(result->source != LOOKUP_EMC)) {
                OVS_PREFETCH_WRITE(&result->flow->actions);
                if (result->source == LOOKUP_CLASSIFIER) {
                    credit_mask(result->flow);
                }
            }
        }
    }
    pmd_perf_add(&pmd->perf, PMD_COUNT_EMC_HIT, n_from[LOOKUP_EMC]);
    pmd_perf_add(&pmd->perf, PMD_COUNT_SMC_HIT, n_from[LOOKUP_SMC]);
    pmd_perf_add(&pmd->perf, PMD_COUNT_MASKED_HIT, n_from[LOOKUP_CLASSIFIER]);
    pmd_perf_add(&pmd->perf, PMD_COUNT_MASKED_LOOKUP, n_subtables);
    *n_misses = n_from[LOOKUP_MISS];
    return n - n_from[LOOKUP_EMC];
}

/* Drops all packets without a flow. */
static void
burst_drop_missed(struct pmd_thread *pmd, struct pmd_burst *b)
{
    size_t n = 0;

    for (size_t i = 0; i < dp_packet_batch_size(b->keyed); i++) {
        if (!b->results[i].flow) {
            dp_packet_delete(b->keyed->packets[i]);
            b->keyed->packets[i] = NULL;
            n++;
        }
    }
    dp_drop_count(DP_DROP_LOCK_ERROR, n);
    pmd_perf_add(&pmd->perf, PMD_COUNT_LOST, n);
}

/* Makes upcalls for the packets without a flow, one by one.  A flow that an
 * earlier packet brought in is found by those behind it. */
static void
burst_upcall(struct pmd_thread *pmd, struct pmd_burst *b)
{
    unsigned int n_found = 0, n_ok = 0, n_failed = 0, n_subtables = 0;

    if (!pmd_upcall_begin(pmd)) {
        burst_drop_missed(pmd, b);
        return;
    }
    for (size_t i = 0; i < dp_packet_batch_size(b->keyed); i++) {
        struct lookup_result *result = &b->results[i];
        struct dp_packet *packet = b->keyed->packets[i];
        unsigned int asked = 0;

        if (OVS_LIKELY(result->flow)) {
            continue;
        }

        result->flow = dp_flow_table_find_key(&pmd->flows, &b->keys[i],
                                              &asked);
        if (result->flow) {
            result->source = LOOKUP_CLASSIFIER;
            credit_mask(result->flow);
            n_subtables += asked;
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

    pmd_perf_add(&pmd->perf, PMD_COUNT_MASKED_HIT, n_found);
    pmd_perf_add(&pmd->perf, PMD_COUNT_MASKED_LOOKUP, n_subtables);
    pmd_perf_add(&pmd->perf, PMD_COUNT_MISS, n_ok);
    pmd_perf_add(&pmd->perf, PMD_COUNT_LOST, n_failed);
}

static bool
want_emc(const struct pmd_thread *pmd)
{
    return pmd->emc_insert_min && random_uint32() <= pmd->emc_insert_min;
}

/* Tells the caches what they did not know. */
static void
burst_learn(struct pmd_thread *pmd, struct pmd_burst *b)
{
    for (size_t i = 0; i < dp_packet_batch_size(b->keyed); i++) {
        const struct lookup_result *result = &b->results[i];
        struct dp_flow *flow = result->flow;
        uint32_t hash = b->keys[i].hash;

        if (!flow || result->source == LOOKUP_EMC) {
            continue;
        }
        if (result->source != LOOKUP_SMC && pmd->smc_enabled) {
            sigcache_insert(&pmd->smc, hash, flow->index);
        }
        if (want_emc(pmd)) {
            sigcache_insert(&pmd->emc, hash, flow->index);
        }
    }
}

static void
burst_group(struct pmd_burst *b, struct dp_packet *packet,
            struct dp_flow *flow, uint16_t tcp_flags)
{
    if (dp_flow_output(flow) == ODPP_NONE) {
        OVS_PREFETCH(dp_flow_actions(flow));
    }
    flow_batches_add(&b->batches, flow, packet, tcp_flags);
}

/* Groups the packets by flow, in the order of arrival, and executes. */
static void
burst_execute(struct pmd_thread *pmd, struct pmd_burst *b)
{
    size_t n = dp_packet_batch_size(&b->packets);
    size_t k = 0;               /* In b->keyed. */

    flow_batches_init(&b->batches);
    for (size_t i = 0; i < n; i++) {
        if (OVS_UNLIKELY(b->n_known) && b->known[i]) {
            burst_group(b, b->packets.packets[i], b->known[i],
                        b->known_flags[i]);
        } else {
            struct dp_packet *packet = b->keyed->packets[k];

            if (OVS_LIKELY(packet)) {
                burst_group(b, packet, b->results[k].flow, b->tcp_flags[k]);
            }
            k++;
        }
    }
    flow_batches_execute(&b->batches, pmd);
}

/* Returns the tables to ask, without the caches unless 'use_caches'. */
static struct lookup_tables
burst_tables(const struct pmd_thread *pmd, const struct pmd_burst *b,
             bool use_caches)
{
    bool emc = pmd->emc_insert_min && sigcache_is_enabled(&pmd->emc);
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
burst_run(struct pmd_thread *pmd, struct pmd_burst *b, bool use_caches)
{
    burst_collect(b);
    if (!dp_packet_batch_is_empty(b->keyed)) {
        struct lookup_tables tables = burst_tables(pmd, b, use_caches);

        size_t n_misses;

        burst_parse(pmd, b, tables.emc);
        if (burst_lookup(pmd, b, &tables, &n_misses)) {
            if (OVS_UNLIKELY(n_misses)) {
                burst_upcall(pmd, b);
            }
            burst_learn(pmd, b);
        }
    }
    burst_execute(pmd, b);
}

void
pmd_input(struct pmd_thread *pmd, struct dp_packet_batch *batch,
          odp_port_t port_no)
{
    struct pmd_burst *b = burst_get(pmd);
    bool simple = dp_flow_table_is_simple(&pmd->flows, port_no);

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
    burst_run(pmd, b, !simple);
}

void
pmd_recirculate(struct pmd_thread *pmd, struct dp_packet_batch *batch)
{
    struct pmd_burst *b = burst_get(pmd);

    pmd_perf_add(&pmd->perf, PMD_COUNT_RECIRC, dp_packet_batch_size(batch));
    if (dp_packet_batch_is_empty(batch)) {
        return;
    }
    b->in_port = batch->packets[0]->md.in_port.odp_port;
    burst_admit(b, batch, false);
    burst_run(pmd, b, true);
}
