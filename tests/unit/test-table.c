/* SPDX-License-Identifier: Apache-2.0 */

/* Unit tests of lib/table: keys and masks, slab, signature cache, subtable,
 * classifier and flow table; and a stress test of readers against a writer. */

#include <config.h>

#include "table/flow-table.h"
#include "table/lookup.h"
#include "table/sigcache.h"

#include <errno.h>

#include "odp-netlink.h"
#include "openvswitch/vlog.h"
#include "ovs-thread.h"
#include "table-fixture.h"

/* Keys and masks. */

static void
test_mask_of_match(void)
{
    struct flow flow = make_flow(3, 1, 2, 3, 4);
    struct match match = make_match(&flow);
    struct dp_mask *mask = dp_mask_create(&match);
    struct dp_mask *same = dp_mask_create(&match);
    struct flow expanded;

    dp_mask_complete(mask);
    CHECK_UINT(mask->n, ==, 7);
    CHECK_STR(mask->extra_info, "miniflow_bits(4,3)");
    CHECK(dp_mask_equal(mask, same));

    dp_mask_expand(mask, &expanded);
    CHECK_MEM(&expanded, &match.wc.masks, sizeof expanded);

    match.wc.masks.tp_dst = htons(0xff);
    dp_mask_destroy(same);
    same = dp_mask_create(&match);
    CHECK(!dp_mask_equal(mask, same));

    dp_mask_destroy(mask);
    dp_mask_destroy(same);
}

/* Masking must give the same result with a shape, without one, and from the
 * flow. */
static void
check_mask_agrees(const struct match *match, const struct flow *packet,
                  struct dp_shapes *shapes)
{
    struct dp_mask *mask = dp_mask_create(match);
    uint64_t from_flow[FLOW_U64S], plain[FLOW_U64S], shaped[FLOW_U64S];
    uint32_t hash;
    struct dp_key key;

    dp_mask_complete(mask);
    make_packet_key(&key, packet);
    hash = dp_mask_flow(mask, packet, from_flow);
    CHECK_HEX(dp_mask_key(mask, &key, plain), ==, hash);
    CHECK_MEM(plain, from_flow, mask->n * sizeof *plain);
    CHECK(dp_mask_match(mask, &key, from_flow));

    dp_key_set_shape(shapes, &key);
    CHECK_UINT(key.shape, !=, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_HEX(dp_mask_key(mask, &key, shaped), ==, hash);
        CHECK_MEM(shaped, from_flow, mask->n * sizeof *plain);
        CHECK(dp_mask_match(mask, &key, from_flow));
    }
    from_flow[mask->n - 1] ^= 1;
    CHECK(!dp_mask_match(mask, &key, from_flow));
    key.shape = 0;
    CHECK(!dp_mask_match(mask, &key, from_flow));
    dp_mask_destroy(mask);
}

static void
test_masking_agrees(void)
{
    struct flow udp = make_flow(3, 0x01020304, 0x05060708, 99, 100);
    struct flow tcp = udp, arp = udp, vlan = udp, ipv6 = udp;
    struct dp_shapes shapes;
    struct match match;

    dp_shapes_init(&shapes);
    tcp.nw_proto = IPPROTO_TCP;
    tcp.tcp_flags = htons(TCP_SYN);
    vlan.vlans[0].tpid = htons(ETH_TYPE_VLAN);
    vlan.vlans[0].tci = htons(VLAN_CFI | 5);
    arp.dl_type = htons(ETH_TYPE_ARP);
    arp.nw_proto = ARP_OP_REQUEST;
    arp.nw_ttl = 0;
    arp.tp_src = arp.tp_dst = 0;
    arp.arp_sha = arp.dl_src;
    ipv6.dl_type = htons(ETH_TYPE_IPV6);
    ipv6.nw_src = ipv6.nw_dst = 0;
    ipv6.ipv6_src.s6_addr[0] = 0xfe;
    ipv6.ipv6_dst.s6_addr[15] = 1;

    match = make_match(&udp);
    check_mask_agrees(&match, &udp, &shapes);
    check_mask_agrees(&match, &tcp, &shapes);
    check_mask_agrees(&match, &arp, &shapes);
    check_mask_agrees(&match, &vlan, &shapes);
    check_mask_agrees(&match, &ipv6, &shapes);

    match.flow = ipv6;
    memset(&match.wc.masks.ipv6_src, 0xff, 16);
    memset(&match.wc.masks.ipv6_dst, 0x0f, 16);
    check_mask_agrees(&match, &ipv6, &shapes);
    check_mask_agrees(&match, &udp, &shapes);
}

static void
test_shapes_run_out(void)
{
    struct dp_shapes shapes;
    struct dp_key key;

    dp_shapes_init(&shapes);
    memset(&key, 0, sizeof key);
    for (int i = 0; i < 2 * DP_MAX_SHAPES; i++) {
        flowmap_init(&key.mf.map);
        flowmap_set(&key.mf.map, i, 1);
        dp_key_set_shape(&shapes, &key);
        CHECK_UINT(key.shape, ==, i + 1 < DP_MAX_SHAPES ? i + 1 : 0);
    }
    flowmap_init(&key.mf.map);
    flowmap_set(&key.mf.map, 3, 1);
    dp_key_set_shape(&shapes, &key);
    CHECK_UINT(key.shape, ==, 4);
}

/* Slab. */

static void
test_slab_reuse(void)
{
    struct dp_slab *slab = dp_slab_create();
    struct dp_flow *a = dp_slab_alloc(slab);
    struct dp_flow *b = dp_slab_alloc(slab);
    uint32_t index = a->index;

    CHECK_UINT(a->index, !=, 0);
    CHECK_UINT(a->index, !=, b->index);
    CHECK(dp_slab_get(slab, index) == a);
    CHECK_UINT((uintptr_t) a % (2 * CACHE_LINE_SIZE), ==, 0);
    dp_slab_free(slab, a);
    CHECK(dp_slab_alloc(slab) == a);
    CHECK_UINT(a->index, ==, index);

    /* Destroyed while slots are out: lives until the last one is back. */
    dp_slab_destroy(slab);
    dp_slab_free(slab, b);
    dp_slab_free(slab, a);
}

/* Signature cache. */

static void
test_sigcache_sizes(void)
{
    struct sigcache cache;

    sigcache_init(&cache);
    CHECK_INT(sigcache_resize(&cache, 3000), ==, EINVAL);
    CHECK_INT(sigcache_resize(&cache, SIGCACHE_MIN_ENTRIES / 2), ==, EINVAL);
    CHECK_INT(sigcache_resize(&cache, 1u << 26), ==, EINVAL);
    CHECK(!sigcache_is_enabled(&cache));
    CHECK_INT(sigcache_resize(&cache, SIGCACHE_MIN_ENTRIES), ==, 0);
    CHECK_UINT(sigcache_n_entries(&cache), ==, SIGCACHE_MIN_ENTRIES);
    CHECK_INT(sigcache_resize(&cache, 12345), ==, EINVAL);
    CHECK_UINT(sigcache_n_entries(&cache), ==, SIGCACHE_MIN_ENTRIES);
    CHECK_INT(sigcache_resize(&cache, 1u << 20), ==, 0);
    CHECK_INT(sigcache_resize(&cache, 0), ==, 0);
    CHECK(!sigcache_is_enabled(&cache));
    sigcache_insert(&cache, 1, 1);
    sigcache_destroy(&cache);
}

static void
test_sigcache_lookup(void)
{
    struct dp_flow_table table;
    struct sigcache cache;
    struct flow flow1 = numbered_flow(1);
    struct flow flow2 = numbered_flow(2);
    struct match match1 = make_match(&flow1);
    struct match match2 = make_match(&flow2);
    struct dp_flow *f1, *f2;
    struct dp_key key1, key2;

    dp_flow_table_init(&table);
    sigcache_init(&cache);
    CHECK_INT(sigcache_resize(&cache, SIGCACHE_MIN_ENTRIES), ==, 0);
    f1 = add_flow(&table, &match1);
    f2 = add_flow(&table, &match2);
    make_packet_key(&key1, &flow1);
    make_packet_key(&key2, &flow2);

    CHECK(!sigcache_lookup(&cache, table.slab, &key1));
    sigcache_insert(&cache, key1.hash, f1->index);
    CHECK(sigcache_lookup(&cache, table.slab, &key1) == f1);

    /* The same packet from another port: no hit. */
    flow1.in_port.odp_port = u32_to_odp(2);
    make_packet_key(&key2, &flow1);
    CHECK_HEX(key2.hash, ==, key1.hash);
    CHECK(!sigcache_lookup(&cache, table.slab, &key2));
    make_packet_key(&key2, &flow2);

    /* Same signature, other packet: no hit.  Then the entry changes hands. */
    key2.hash = key1.hash;
    CHECK(!sigcache_lookup(&cache, table.slab, &key2));
    sigcache_insert(&cache, key2.hash, f2->index);
    CHECK(sigcache_lookup(&cache, table.slab, &key2) == f2);
    CHECK(!sigcache_lookup(&cache, table.slab, &key1));

    /* A full bucket gives up one entry. */
    for (uint32_t i = 1; i <= SIGCACHE_WAYS; i++) {
        sigcache_insert(&cache, key1.hash ^ i << 28, f1->index);
    }

    /* A dead flow is not found and is swept away. */
    sigcache_insert(&cache, key1.hash, f1->index);
    remove_flow(&table, f1);
    CHECK(!sigcache_lookup(&cache, table.slab, &key1));
    CHECK_UINT(sigcache_sweep(&cache, table.slab,
                              SIGCACHE_MIN_ENTRIES / SIGCACHE_WAYS),
               >=, 1);
    CHECK_UINT(sigcache_sweep(&cache, table.slab,
                              SIGCACHE_MIN_ENTRIES / SIGCACHE_WAYS),
               ==, 0);

    sigcache_destroy(&cache);
    dp_flow_table_destroy(&table);
}

/* Flow table. */

static void
test_flow_table_one(void)
{
    struct dp_flow_table table;
    struct flow flow = numbered_flow(9);
    struct match match = make_match(&flow);
    struct dp_flow *f;
    struct dp_key key;
    struct flow out;
    unsigned int n = 0;

    dp_flow_table_init(&table);
    f = add_flow(&table, &match);
    CHECK(f != NULL);
    CHECK_UINT(dp_flow_table_count(&table), ==, 1);
    CHECK(dp_flow_table_find_ufid(&table, &f->info->ufid) == f);
    dp_flow_info_get_flow(f->info, &out);
    CHECK_MEM(&out, &flow, sizeof out);

    make_packet_key(&key, &flow);
    CHECK(dp_flow_table_find_key(&table, &key, &n) == f);
    CHECK_UINT(n, ==, 1);
    dp_key_from_flow(&key, &flow);
    CHECK(dp_flow_table_find_key(&table, &key, NULL) == f);

    dp_flow_account(f, 2, 128, 0x12, 1000);
    dp_flow_account(f, 1, 64, 0x01, 2000);
    unsigned long long packets, bytes;
    uint16_t flags;
    atomic_read_relaxed(&f->packets, &packets);
    atomic_read_relaxed(&f->bytes, &bytes);
    atomic_read_relaxed(&f->tcp_flags, &flags);
    CHECK_UINT(packets, ==, 3);
    CHECK_UINT(bytes, ==, 192);
    CHECK_HEX(flags, ==, 0x13);

    ovs_u128 ufid = f->info->ufid;
    remove_flow(&table, f);
    CHECK(!dp_flow_is_live(f));
    CHECK(!dp_flow_table_find_ufid(&table, &ufid));
    CHECK(!dp_flow_table_find_key(&table, &key, NULL));
    CHECK_UINT(dp_flow_table_count(&table), ==, 0);
    dp_flow_table_destroy(&table);
}

/* Keys of more words than a slot has room for. */
static void
test_flow_table_long_key(void)
{
    struct dp_flow_table table;
    struct flow flow = make_flow(1, 0, 0, 5, 6);
    struct dp_flow *f;
    struct match match;
    struct dp_key key;

    flow.dl_type = htons(ETH_TYPE_IPV6);
    flow.nw_src = flow.nw_dst = 0;
    for (int i = 0; i < 16; i++) {
        flow.ipv6_src.s6_addr[i] = i + 1;
        flow.ipv6_dst.s6_addr[i] = 0xf0 | i;
    }
    match = make_match(&flow);
    memset(&match.wc.masks.ipv6_src, 0xff, 16);
    memset(&match.wc.masks.ipv6_dst, 0xff, 16);
    memset(&match.wc.masks.dl_src, 0xff, 6);

    dp_flow_table_init(&table);
    f = add_flow(&table, &match);
    CHECK_UINT(f->info->mask->n, >, DP_FLOW_INLINE_WORDS);
    make_packet_key(&key, &flow);
    CHECK(dp_flow_table_find_key(&table, &key, NULL) == f);
    flow.ipv6_dst.s6_addr[15] ^= 1;
    make_packet_key(&key, &flow);
    CHECK(!dp_flow_table_find_key(&table, &key, NULL));
    dp_flow_table_destroy(&table);
}

static void
test_flow_table_many(void)
{
    enum { N = 20000 };
    struct dp_flow **flows = xcalloc(N, sizeof *flows);
    struct dp_flow_table table;
    struct dp_key key;

    dp_flow_table_init(&table);
    for (uint32_t i = 0; i < N; i++) {
        struct flow flow = numbered_flow(i);
        struct match match = make_match(&flow);

        flows[i] = add_flow(&table, &match);
        CHECK(flows[i] != NULL);
    }
    for (uint32_t i = 0; i < N; i += 3) {
        remove_flow(&table, flows[i]);
        flows[i] = NULL;
    }
    for (uint32_t i = 0; i < N + 100; i++) {
        struct flow flow = numbered_flow(i);

        make_packet_key(&key, &flow);
        CHECK(dp_flow_table_find_key(&table, &key, NULL)
              == (i < N ? flows[i] : NULL));
    }
    free(flows);
    dp_flow_table_destroy(&table);
}

/* Masks, ranking and subtables that come and go.  Flow i is for sources with
 * i zeros and a one, the last for source 0: none overlaps with another. */
static void
test_classifier_masks(void)
{
    enum { N = 33 };
    struct dp_flow *flows[N];
    struct dp_flow_table table;
    struct subtable *subtable;
    struct dp_key key;
    unsigned int n;

    dp_flow_table_init(&table);
    for (int i = 0; i < N; i++) {
        struct flow flow = make_flow(1, i < 32 ? UINT32_C(0x80000000) >> i : 0,
                                     1, 1, 1);
        struct match match = make_match(&flow);

        match.wc.masks.nw_src = be32_prefix_mask(MIN(i + 1, 32));
        flows[i] = add_flow(&table, &match);
        CHECK_UINT(cmap_count(&dp_flow_table_get_classifier(
                                   &table, u32_to_odp(1))->masks),
                   ==, MIN(i + 1, 32));
    }

    struct dp_classifier *cls = dp_flow_table_get_classifier(&table,
                                                             u32_to_odp(1));

    CHECK_UINT(cmap_count(&cls->subtables), >, 1);
    CHECK_UINT(cmap_count(&cls->subtables), <, N / 2);
    for (int i = 0; i < N; i++) {
        struct flow flow = make_flow(1, i < 32 ? UINT32_MAX >> i : 0, 1, 1, 1);

        make_packet_key(&key, &flow);
        CHECK(dp_flow_table_find_key(&table, &key, NULL) == flows[i]);
    }

    /* Ranked first after it had the hits. */
    struct flow flow = make_flow(1, 0, 1, 1, 1);
    make_packet_key(&key, &flow);
    remove_flow(&table, flows[0]);
    n = 0;
    CHECK(dp_flow_table_find_key(&table, &key, &n) == flows[32]);
    CHECK_UINT(n, >, 1);
    subtable = flows[32]->info->subtable;
    CHECK_UINT(subtable->hits, ==, 0);
    dp_classifier_credit(subtable);
    CHECK_UINT(subtable->hits, ==, 1);
    dp_classifier_rank(cls);
    n = 0;
    CHECK(dp_flow_table_find_key(&table, &key, &n) == flows[32]);
    CHECK_UINT(n, ==, 1);
    CHECK_UINT(subtable->hits_ranked, ==, 1);

    for (int i = 1; i < N; i++) {
        remove_flow(&table, flows[i]);
    }
    CHECK_UINT(cmap_count(&cls->masks), ==, 0);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 0);
    CHECK(!dp_flow_table_find_key(&table, &key, NULL));
    dp_flow_table_destroy(&table);
}

/* Entries with one and the same hash fill whole buckets and must all be found,
 * without the table growing for it. */
static void
test_subtable_equal_hashes(void)
{
    enum { N = 100 };
    struct flow flow = numbered_flow(1);
    struct match match = make_match(&flow);
    struct dp_mask *mask = dp_mask_create(&match);
    struct dp_slab *slab = dp_slab_create();
    struct dp_flow *flows[N];
    struct subtable *st;
    struct dp_key key;

    dp_mask_complete(mask);
    mask->in_port = u32_to_odp(1);
    st = subtable_create(mask);
    for (int i = 0; i < N; i++) {
        flow = numbered_flow(i);
        flows[i] = dp_slab_alloc(slab);
        dp_mask_flow(mask, &flow, flows[i]->words);
        flows[i]->hash = 0x12345678;
        CHECK_INT(subtable_insert(st, flows[i]), ==, 0);
        dp_flow_publish(flows[i], mask);
    }
    CHECK_UINT(ovsrcu_get(struct subtable_array *, &st->array)->mask, <, 64);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++) {
            flow = numbered_flow(i);
            make_packet_key(&key, &flow);
            CHECK(subtable_lookup(st, slab, &key, 0x12345678)
                  == (round && i % 2 ? NULL : flows[i]));
            CHECK(!subtable_lookup(st, slab, &key, 0x12345679));
        }
        for (int i = round ? 0 : 1; i < N; i += 2) {
            dp_flow_publish(flows[i], NULL);
            subtable_remove(st, flows[i]);
        }
    }

    /* Nobody has passed any bucket any more. */
    struct subtable_array *array = ovsrcu_get(struct subtable_array *,
                                              &st->array);
    for (uint32_t i = 0; i <= array->mask; i++) {
        uint32_t passed;

        atomic_read_relaxed(&array->buckets[i].passed, &passed);
        CHECK_UINT(passed, ==, 0);
    }
    subtable_destroy(st);
    for (int i = 0; i < N; i++) {
        dp_slab_free(slab, flows[i]);
    }
    dp_slab_destroy(slab);
}

static void
test_simple_flows(void)
{
    struct dp_flow_table table;
    struct flow flow = numbered_flow(1);
    struct match five_tuple = make_match(&flow);
    struct match simple = five_tuple;
    odp_port_t port = u32_to_odp(1);
    uint64_t mark = dp_simple_mark(port, htons(ETH_TYPE_IP), 0, 0);
    struct dp_flow *f, *other;

    simple.wc.masks.nw_src = simple.wc.masks.nw_dst = 0;
    simple.wc.masks.nw_proto = 0;
    simple.wc.masks.tp_src = simple.wc.masks.tp_dst = 0;

    dp_flow_table_init(&table);
    f = add_flow(&table, &simple);
    CHECK(dp_flow_table_is_simple(&table, port));
    CHECK(dp_flow_table_find_simple(&table, mark) == f);
    CHECK(!dp_flow_table_find_simple(&table, mark + 1));

    simple.flow.dl_type = htons(ETH_TYPE_ARP);
    five_tuple.flow.nw_src = 99;
    other = add_flow(&table, &five_tuple);
    CHECK(!dp_flow_table_is_simple(&table, port));
    remove_flow(&table, other);
    CHECK(dp_flow_table_is_simple(&table, port));
    remove_flow(&table, f);
    CHECK(!dp_flow_table_find_simple(&table, mark));
    dp_flow_table_destroy(&table);
}

static void
test_actions(void)
{
    struct dp_flow_table table;
    struct flow flow = numbered_flow(1);
    struct match match = make_match(&flow);
    struct ofpbuf actions;
    struct dp_flow *f;

    ofpbuf_init(&actions, 64);
    nl_msg_put_odp_port(&actions, OVS_ACTION_ATTR_OUTPUT, u32_to_odp(5));
    dp_flow_table_init(&table);
    f = add_flow(&table, &match);
    CHECK_UINT(dp_flow_actions(f)->size, ==, 0);
    CHECK_UINT(odp_to_u32(dp_flow_actions(f)->output), ==,
               odp_to_u32(ODPP_NONE));

    ovs_mutex_lock(&table.mutex);
    dp_flow_table_set_actions(&table, f, actions.data, actions.size);
    CHECK_UINT(odp_to_u32(dp_flow_actions(f)->output), ==, 5);
    nl_msg_put_odp_port(&actions, OVS_ACTION_ATTR_OUTPUT, u32_to_odp(6));
    dp_flow_table_set_actions(&table, f, actions.data, actions.size);
    ovs_mutex_unlock(&table.mutex);
    CHECK_UINT(odp_to_u32(dp_flow_actions(f)->output), ==,
               odp_to_u32(ODPP_NONE));
    CHECK_UINT(dp_flow_actions(f)->size, ==, actions.size);
    ofpbuf_uninit(&actions);
    dp_flow_table_destroy(&table);
}

/* A reference keeps a removed flow's memory; without one, the slot is used
 * again once RCU allows it. */
static void
test_flow_references(void)
{
    struct dp_flow_table table;
    struct flow flow = numbered_flow(1);
    struct match match = make_match(&flow);
    struct dp_flow *held, *f;

    dp_flow_table_init(&table);
    held = add_flow(&table, &match);
    CHECK(dp_flow_ref(held));
    remove_flow(&table, held);
    ovsrcu_synchronize();
    ovsrcu_barrier();
    CHECK(held->info->dead);
    f = add_flow(&table, &match);
    CHECK(f != held);
    dp_flow_unref(held);
    ovsrcu_barrier();
    remove_flow(&table, f);
    ovsrcu_barrier();
    f = add_flow(&table, &match);
    CHECK(f->info->slot == f);
    CHECK_UINT(f->index, <, 3);
    dp_flow_table_destroy(&table);
}

/* The pass. */

static void
test_lookup_pass(void)
{
    struct dp_flow_table table;
    struct sigcache emc, smc;
    struct lookup_result results[4];
    struct lookup_hits hits;
    struct dp_key keys[4];
    struct dp_flow *flows[3];

    dp_flow_table_init(&table);
    sigcache_init(&emc);
    sigcache_init(&smc);
    sigcache_resize(&emc, SIGCACHE_MIN_ENTRIES);
    sigcache_resize(&smc, SIGCACHE_MIN_ENTRIES);
    for (int i = 0; i < 4; i++) {
        struct flow flow = numbered_flow(i);
        struct match match = make_match(&flow);

        make_packet_key(&keys[i], &flow);
        dp_key_set_shape(&table.shapes, &keys[i]);
        if (i < 3) {
            flows[i] = add_flow(&table, &match);
        }
    }
    sigcache_insert(&emc, keys[0].hash, flows[0]->index);
    sigcache_insert(&smc, keys[1].hash, flows[1]->index);

    struct lookup_tables tables = {
        .emc = &emc,
        .smc = &smc,
        .slab = table.slab,
        .cls = dp_flow_table_get_classifier(&table, u32_to_odp(1)),
    };
    hits = lookup_pass_plain(&tables, keys, 4, results);
    CHECK_HEX(hits.emc, ==, 1);
    CHECK_HEX(hits.smc, ==, 2);
    CHECK_HEX(hits.classifier, ==, 4);
    CHECK_UINT(hits.n_asked, ==, 1);
    CHECK(results[2].subtable == flows[2]->info->subtable);
    for (int i = 0; i < 4; i++) {
        CHECK(results[i].flow == (i < 3 ? flows[i] : NULL));
    }

    tables.emc = tables.smc = NULL;
    hits = lookup_pass_plain(&tables, keys, 4, results);
    CHECK_HEX(hits.emc | hits.smc, ==, 0);
    CHECK_HEX(hits.classifier, ==, 7);
    CHECK_UINT(hits.n_asked, ==, 3);
    for (int i = 0; i < 4; i++) {
        CHECK(results[i].flow == (i < 3 ? flows[i] : NULL));
    }
    tables.cls = NULL;
    hits = lookup_pass_plain(&tables, keys, 4, results);
    CHECK_HEX(hits.emc | hits.smc | hits.classifier, ==, 0);
    CHECK_UINT(hits.n_asked, ==, 0);
    for (int i = 0; i < 4; i++) {
        CHECK(!results[i].flow);
    }

    sigcache_destroy(&emc);
    sigcache_destroy(&smc);
    dp_flow_table_destroy(&table);
}

/* Stress: readers against a writer.  Flows below N_STAY must always be found;
 * those above come and go, and what is found must be what was asked for. */

enum { N_STAY = 500, N_MOVE = 500, N_READERS = 2 };

static struct dp_flow_table stress_table;
static atomic_bool stress_stop = false;
static atomic_count stress_lookups = ATOMIC_COUNT_INIT(0);

static void *
stress_reader(void *arg OVS_UNUSED)
{
    struct dp_key *keys = xcalloc(N_STAY + N_MOVE, sizeof *keys);
    struct sigcache cache;
    bool stop;

    sigcache_init(&cache);
    sigcache_resize(&cache, SIGCACHE_MIN_ENTRIES);
    for (int i = 0; i < N_STAY + N_MOVE; i++) {
        struct flow flow = numbered_flow(i);

        make_packet_key(&keys[i], &flow);
    }
    do {
        for (int i = 0; i < N_STAY + N_MOVE; i++) {
            struct dp_flow *f, *cached;

            f = dp_flow_table_find_key(&stress_table, &keys[i], NULL);
            CHECK_MSG(f || i >= N_STAY, "flow %d is not found", i);
            cached = sigcache_lookup(&cache, stress_table.slab, &keys[i]);
            if (f) {
                struct flow flow;

                dp_flow_info_get_flow(f->info, &flow);
                CHECK_HEX(flow.nw_src, ==, htonl(0x0a000000 | i));
                CHECK_UINT(dp_flow_actions(f)->size, ==, 0);
                sigcache_insert(&cache, keys[i].hash, f->index);
            }
            if (cached && i < N_STAY) {
                CHECK(cached == f);
            }
        }
        atomic_count_inc(&stress_lookups);
        ovsrcu_quiesce();
        atomic_read_relaxed(&stress_stop, &stop);
    } while (!stop);
    sigcache_destroy(&cache);
    free(keys);
    return NULL;
}

static void
test_stress_readers(void)
{
    struct dp_flow *flows[N_STAY + N_MOVE];
    pthread_t readers[N_READERS];

    dp_flow_table_init(&stress_table);
    memset(flows, 0, sizeof flows);
    for (int i = 0; i < N_STAY; i++) {
        struct flow flow = numbered_flow(i);
        struct match match = make_match(&flow);

        flows[i] = add_flow(&stress_table, &match);
    }
    for (int i = 0; i < N_READERS; i++) {
        readers[i] = ovs_thread_create("reader", stress_reader, NULL);
    }
    for (int round = 0;
         round < 60 || atomic_count_get(&stress_lookups) < 20 * N_READERS;
         round++) {
        for (int i = N_STAY; i < N_STAY + N_MOVE; i++) {
            struct flow flow = numbered_flow(i);
            struct match match = make_match(&flow);

            if (flows[i]) {
                remove_flow(&stress_table, flows[i]);
                flows[i] = NULL;
            } else if (random_range(4)) {
                flows[i] = add_flow(&stress_table, &match);
            }
        }
        ovsrcu_quiesce();
    }
    atomic_store_relaxed(&stress_stop, true);
    for (int i = 0; i < N_READERS; i++) {
        xpthread_join(readers[i], NULL);
    }
    dp_flow_table_destroy(&stress_table);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    RUN_TEST(test_mask_of_match);
    RUN_TEST(test_masking_agrees);
    RUN_TEST(test_shapes_run_out);
    RUN_TEST(test_slab_reuse);
    RUN_TEST(test_sigcache_sizes);
    RUN_TEST(test_sigcache_lookup);
    RUN_TEST(test_flow_table_one);
    RUN_TEST(test_flow_table_long_key);
    RUN_TEST(test_flow_table_many);
    RUN_TEST(test_classifier_masks);
    RUN_TEST(test_subtable_equal_hashes);
    RUN_TEST(test_simple_flows);
    RUN_TEST(test_actions);
    RUN_TEST(test_flow_references);
    RUN_TEST(test_lookup_pass);
    RUN_TEST(test_stress_readers);

    /* Leave nothing with RCU, for the leak check's sake. */
    ovsrcu_barrier();
    ovsrcu_barrier();
    return 0;
}
