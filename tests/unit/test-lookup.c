/* SPDX-License-Identifier: Apache-2.0 */

/* Unit tests of the lookup passes (table/lookup.h): whatever the tables and
 * the keys, each pass must say the same as a search through all flows, and
 * which table had what, as the manual has it. */

#include <config.h>

#include "table/lookup.h"

#include "openvswitch/vlog.h"
#include "table-fixture.h"

static const struct {
    const char *name;
    lookup_pass_func *run;
} passes[] = {
    { "plain", lookup_pass_plain },
    { "interleaved", lookup_pass_interleaved },
};

/* A burst: keys with the packets that they are of, and what these hit. */
struct burst {
    struct dp_key keys[LOOKUP_MAX_KEYS];
    struct flow packets[LOOKUP_MAX_KEYS];
    struct dp_flow *flows[LOOKUP_MAX_KEYS]; /* By burst_search(). */
    size_t n;
};

/* What a pass is to say. */
struct expected {
    struct dp_flow *flows[LOOKUP_MAX_KEYS];
    struct lookup_hits hits;
};

static void
burst_search(struct burst *burst, const struct model *model)
{
    for (size_t i = 0; i < burst->n; i++) {
        burst->flows[i] = model_lookup(model, &burst->packets[i]);
    }
}

static void
expect(struct expected *expected, const struct lookup_tables *t,
       const struct burst *burst)
{
    memset(expected, 0, sizeof *expected);
    for (size_t i = 0; i < burst->n; i++) {
        const struct dp_key *key = &burst->keys[i];
        struct dp_flow *flow = burst->flows[i];
        uint32_t bit = UINT32_C(1) << i;

        if (flow && t->emc && sigcache_candidate(t->emc, t->slab, key->hash)
                              == flow) {
            expected->hits.emc |= bit;
        } else if (flow && t->smc && sigcache_candidate(t->smc, t->slab,
                                                        key->hash) == flow) {
            expected->hits.smc |= bit;
        } else if (flow && t->cls) {
            expected->hits.classifier |= bit;
            expected->hits.n_asked += place_of_flow(t->cls, flow);
        } else {
            flow = NULL;
        }
        expected->flows[i] = flow;
    }
}

/* Runs all passes, which must agree with the model, and returns what they
 * said.  They write to no result that they were not asked for. */
static struct lookup_hits
check_passes(const struct model *model, const struct lookup_tables *t,
             struct burst *burst)
{
    struct lookup_result results[LOOKUP_MAX_KEYS], untouched;
    struct expected expected;

    burst_search(burst, model);
    expect(&expected, t, burst);
    memset(&untouched, 0x5a, sizeof untouched);
    for (size_t p = 0; p < ARRAY_SIZE(passes); p++) {
        struct lookup_hits hits;

        memset(results, 0x5a, sizeof results);
        hits = passes[p].run(t, burst->keys, burst->n, results);
        for (size_t i = 0; i < burst->n; i++) {
            CHECK_MSG(results[i].flow == expected.flows[i],
                      "%s, key %"PRIuSIZE" of %"PRIuSIZE": %p, not %p",
                      passes[p].name, i, burst->n, results[i].flow,
                      expected.flows[i]);
            if (hits.classifier & (UINT32_C(1) << i)) {
                CHECK(results[i].subtable
                      == results[i].flow->info->subtable);
            }
        }
        for (size_t i = burst->n; i < LOOKUP_MAX_KEYS; i++) {
            CHECK_MEM(&results[i], &untouched, sizeof untouched);
        }
        CHECK_HEX(hits.emc, ==, expected.hits.emc);
        CHECK_HEX(hits.smc, ==, expected.hits.smc);
        CHECK_HEX(hits.classifier, ==, expected.hits.classifier);
        CHECK_UINT(hits.n_asked, ==, expected.hits.n_asked);
    }
    return expected.hits;
}

static struct lookup_tables
model_tables(const struct model *model, uint32_t in_port)
{
    return (struct lookup_tables) {
        .slab = model->table.slab,
        .cls = dp_flow_table_get_classifier(&model->table,
                                            u32_to_odp(in_port)),
    };
}

static void
burst_add(struct burst *burst, struct model *model, const struct flow *packet,
          bool shape)
{
    struct dp_key *key = &burst->keys[burst->n];

    make_key(key, packet);
    if (shape) {
        dp_key_set_shape(&model->table.shapes, key);
    }
    burst->packets[burst->n] = *packet;
    burst->n++;
}

/* Subtables. */

/* A match with whole pairs of bytes only, of which there are 2^7, by 'kind';
 * two kinds have no packet in common if 'kind' is part of the packet. */
static struct match
make_kind_match(const struct flow *flow, unsigned int kind)
{
    struct match match = make_match(flow);

    match.wc.masks.vlans[0].tci = OVS_BE16_MAX;
    match.wc.masks.nw_proto = 0;
    match.wc.masks.nw_frag = 0;
    match.wc.masks.nw_dst = kind & 1 ? OVS_BE32_MAX : 0;
    match.wc.masks.tp_src = kind & 2 ? OVS_BE16_MAX : 0;
    match.wc.masks.tp_dst = kind & 4 ? OVS_BE16_MAX : 0;
    match.wc.masks.dl_src.be16[0] = kind & 8 ? OVS_BE16_MAX : 0;
    match.wc.masks.dl_src.be16[1] = kind & 16 ? OVS_BE16_MAX : 0;
    match.wc.masks.dl_dst.be16[0] = kind & 32 ? OVS_BE16_MAX : 0;
    match.wc.masks.dl_dst.be16[1] = kind & 64 ? OVS_BE16_MAX : 0;
    return match;
}

static struct flow
kind_flow(unsigned int kind, uint32_t i)
{
    return make_flow(1, kind << 24 | i, 0x0b000000 | i * 7, i, i >> 16);
}

/* No classifier, one without flows, with few subtables and with many: all of
 * their flows and as many keys without a flow, in bursts of all sizes. */
static void
test_numbers_of_subtables(void)
{
    enum { N_FLOWS = 10 };
    static const unsigned int numbers[] = { 0, 1, 2, 3, 4, 5, 17, 128 };

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        struct lookup_tables t;
        struct model model;
        uint32_t n_hits = 0;

        model_init(&model);
        t = model_tables(&model, 1);
        CHECK(!t.cls);
        for (unsigned int kind = 0; kind < MAX(1, numbers[i]); kind++) {
            for (uint32_t j = 0; j < N_FLOWS; j++) {
                struct flow flow = kind_flow(kind, j);
                struct match match = make_kind_match(&flow, kind);

                CHECK(model_add(&model, &match) != NULL);
            }
        }
        while (!numbers[i] && model.n) {
            model_remove(&model, 0);
        }
        t = model_tables(&model, 1);
        CHECK(t.cls != NULL);
        CHECK_UINT(cmap_count(&t.cls->subtables), ==, numbers[i]);

        for (size_t n = 1; n <= LOOKUP_MAX_KEYS; n++) {
            struct burst burst = { .n = 0 };

            while (burst.n < n) {
                struct flow packet = kind_flow(random_range(numbers[i] + 1),
                                               random_range(2 * N_FLOWS));

                burst_add(&burst, &model, &packet, one_in(2));
            }
            n_hits += count_1bits(check_passes(&model, &t, &burst).classifier);
            t.cls = NULL;
            CHECK_UINT(check_passes(&model, &t, &burst).classifier, ==, 0);
            t = model_tables(&model, 1);
        }
        CHECK_INT(n_hits > 50, ==, numbers[i] != 0);
        model_destroy(&model);
    }
}

/* A hit costs as many tables as its rank says; the rank is the classifier's,
 * and changes; who hits a cache or nothing costs none. */
static void
test_tables_asked(void)
{
    enum { N = 5 };
    struct dp_flow *flows[N];
    struct burst burst = { .n = 0 };
    struct lookup_tables t;
    struct lookup_hits hits;
    struct sigcache emc;
    struct model model;
    struct flow packet;

    model_init(&model);
    for (unsigned int kind = 0; kind < N; kind++) {
        struct flow flow = kind_flow(kind, 1);
        struct match match = make_kind_match(&flow, kind);

        flows[kind] = model_add(&model, &match);
    }
    t = model_tables(&model, 1);
    for (unsigned int order = 0; order < N; order++) {
        /* Kind 'order' gets most hits, the next one less, ... */
        for (unsigned int i = 0; i < N; i++) {
            for (unsigned int n = i; n < N; n++) {
                dp_classifier_credit(flows[(order + i) % N]->info->subtable);
            }
        }
        dp_classifier_rank(t.cls);
        for (unsigned int i = 0; i < N; i++) {
            burst.n = 0;
            packet = kind_flow((order + i) % N, 1);
            burst_add(&burst, &model, &packet, true);
            CHECK_UINT(check_passes(&model, &t, &burst).n_asked, ==, i + 1);
        }

        /* All together, and some that hit nothing. */
        burst.n = 0;
        for (unsigned int i = 0; i < 2 * N; i++) {
            packet = kind_flow(i % N, 1 + i / N);
            burst_add(&burst, &model, &packet, true);
        }
        hits = check_passes(&model, &t, &burst);
        CHECK_HEX(hits.classifier, ==, (1u << N) - 1);
        CHECK_UINT(hits.n_asked, ==, N * (N + 1) / 2);
    }

    sigcache_init(&emc);
    CHECK_INT(sigcache_resize(&emc, SIGCACHE_MIN_ENTRIES), ==, 0);
    sigcache_insert(&emc, burst.keys[N - 2].hash, flows[N - 2]->index);
    t.emc = &emc;
    hits = check_passes(&model, &t, &burst);
    CHECK_HEX(hits.emc, ==, 1u << (N - 2));
    CHECK_UINT(hits.n_asked, ==, N * (N + 1) / 2 - N);
    sigcache_destroy(&emc);
    model_destroy(&model);
}

/* A table whose flows are all in the bit vector: those that were in subtables
 * have gone. */
static void
test_odd_flows_only(void)
{
    struct burst burst = { .n = 0 };
    struct lookup_tables t;
    struct lookup_hits hits;
    struct model model;

    model_init(&model);
    for (uint32_t i = 0; i < 16; i++) {
        struct flow flow = make_flow(1, 0x0a010000 | i << 4, 1, 1, 1);
        struct match match = make_match(&flow);

        match.wc.masks.nw_src = be32_prefix_mask(28);
        CHECK(model_add(&model, &match) != NULL);
    }
    for (size_t i = model.n; i-- > 0; ) {
        if (model.flows[i].flow->info->subtable) {
            model_remove(&model, i);
        }
    }
    CHECK_UINT(model.n, ==, 8);
    t = model_tables(&model, 1);
    for (uint32_t i = 0; i < 16; i++) {
        struct flow packet = make_flow(1, 0x0a010000 | i << 4 | i, 1, 1, 1);

        burst_add(&burst, &model, &packet, i % 2);
    }
    hits = check_passes(&model, &t, &burst);
    CHECK_INT(count_1bits(hits.classifier), ==, 8);
    CHECK_UINT(hits.n_asked, ==, 8);
    model_destroy(&model);
}

/* Flows that are all at home in one bucket, however large the table becomes:
 * what it has no room for is beyond it. */
static void
test_overflowing_buckets(void)
{
    enum { N_FLOWS = 100, N_KEYS = 200 };
    const struct subtable_array *array;
    unsigned int n_beyond = 0;
    struct flow packets[N_KEYS];
    struct lookup_tables t;
    struct model model;
    struct dp_mask *mask;
    struct match match;
    uint32_t i = 0;

    packets[0] = kind_flow(1, 0);
    match = make_kind_match(&packets[0], 1);
    mask = dp_mask_create(&match);
    for (size_t n = 0; n < N_KEYS; i++) {
        uint64_t words[FLOW_U64S];

        packets[n] = kind_flow(1, i);
        n += !(dp_mask_flow(mask, &packets[n], words) & 0xff);
    }
    dp_mask_destroy(mask);

    model_init(&model);
    for (size_t n = 0; n < N_FLOWS; n++) {
        match = make_kind_match(&packets[n], 1);
        CHECK(model_add(&model, &match) != NULL);
        t = model_tables(&model, 1);
        CHECK_UINT(cmap_count(&t.cls->subtables), ==, 1);

        /* Some of the flows, with those that came last, and some absent
         * ones. */
        struct burst burst = { .n = 0 };

        while (burst.n < LOOKUP_MAX_KEYS) {
            size_t which = (burst.n % 2 ? n - MIN(n, burst.n)
                            : random_range(N_KEYS));

            burst_add(&burst, &model, &packets[which], one_in(2));
        }
        check_passes(&model, &t, &burst);
    }

    array = subtable_array_get(model.flows[0].flow->info->subtable);
    CHECK_UINT(array->mask, <=, 0xff);
    for (size_t n = 0; n < N_FLOWS; n++) {
        const struct dp_flow *flow = model.flows[n].flow;
        const struct subtable_bucket *home = subtable_home(array, flow->hash);
        struct dp_key key;

        make_key(&key, &packets[n]);
        CHECK(home == &array->buckets[0]);
        CHECK(subtable_bucket_passed(home));
        if (!subtable_bucket_lookup(home, t.slab, &key, flow->hash)) {
            CHECK(subtable_lookup_beyond(array, t.slab, &key, flow->hash)
                  == flow);
            n_beyond++;
        }
    }
    CHECK_UINT(n_beyond, ==, N_FLOWS - SUBTABLE_WAYS);

    /* What is beyond is found too when those before it have gone. */
    while (model.n) {
        struct burst burst = { .n = 0 };

        while (burst.n < LOOKUP_MAX_KEYS) {
            burst_add(&burst, &model, &packets[random_range(N_KEYS)],
                      one_in(2));
        }
        check_passes(&model, &t, &burst);
        model_remove(&model, random_range(MIN(model.n, SUBTABLE_WAYS)));
    }
    model_destroy(&model);
}

/* Caches. */

struct caches {
    struct sigcache emc, smc;
};

static void
caches_init(struct caches *caches, struct lookup_tables *t, uint32_t emc_size,
            uint32_t smc_size)
{
    sigcache_init(&caches->emc);
    sigcache_init(&caches->smc);
    CHECK_INT(sigcache_resize(&caches->emc, emc_size), ==, 0);
    CHECK_INT(sigcache_resize(&caches->smc, smc_size), ==, 0);
    t->emc = emc_size ? &caches->emc : NULL;
    t->smc = smc_size ? &caches->smc : NULL;
}

static void
caches_destroy(struct caches *caches)
{
    sigcache_destroy(&caches->emc);
    sigcache_destroy(&caches->smc);
}

enum { N_WRONG = 7 };

/* Makes indexes for N_WRONG entries of the caches, each but the last two wrong
 * in its way. */
static void
make_wrong_indexes(struct model *model, uint32_t indexes[N_WRONG])
{
    struct dp_flow *reused, *other;
    struct match match;
    struct flow flow;

    for (uint32_t i = 0; i < N_WRONG; i++) {
        flow = numbered_flow(i);
        match = make_match(&flow);
        CHECK(model_add(model, &match) != NULL);
    }

    /* A slot that died... */
    flow = numbered_flow(100);
    match = make_match(&flow);
    indexes[0] = model_add(model, &match)->index;
    model_remove(model, model->n - 1);

    /* ...one that another flow got since... */
    flow = numbered_flow(101);
    match = make_match(&flow);
    reused = model_add(model, &match);
    indexes[1] = reused->index;
    model_remove(model, model->n - 1);
    ovsrcu_synchronize();
    ovsrcu_barrier();
    do {
        flow.tp_src = htons(ntohs(flow.tp_src) + 1);
        match = make_match(&flow);
        other = model_add(model, &match);
    } while (other != reused);

    /* ...one that has been dead all along... */
    indexes[2] = 10000;
    CHECK(!dp_flow_is_live(dp_slab_get(model->table.slab, indexes[2])));

    /* ...one for the very same packet from another port... */
    flow = numbered_flow(3);
    flow.in_port.odp_port = u32_to_odp(2);
    match = make_match(&flow);
    indexes[3] = model_add(model, &match)->index;

    /* ...and one that is right, but not for this packet. */
    indexes[4] = model->flows[5].flow->index;
    indexes[5] = model->flows[5].flow->index;
    indexes[6] = model->flows[6].flow->index;
}

/* Every way in which an entry can be wrong, in one cache and in both.  The
 * flow that it should have led to is found by who is asked next. */
static void
test_wrong_entries(void)
{
    const uint32_t all = (1u << N_WRONG) - 1;
    const uint32_t right = UINT32_C(3) << 5;
    struct burst burst = { .n = 0 };
    uint32_t indexes[N_WRONG];
    struct lookup_hits hits;
    struct lookup_tables t;
    struct caches caches;
    struct model model;

    model_init(&model);
    make_wrong_indexes(&model, indexes);
    t = model_tables(&model, 1);
    for (uint32_t i = 0; i < N_WRONG; i++) {
        struct flow flow = numbered_flow(i);

        burst_add(&burst, &model, &flow, true);
    }

    /* One hash for two packets; and one that looks like no entry. */
    burst.keys[4].hash = burst.keys[5].hash;
    burst.keys[6].hash = 0;

    for (int which = 1; which < 4; which++) {
        caches_init(&caches, &t, which & 1 ? SIGCACHE_MIN_ENTRIES : 0,
                    which & 2 ? SIGCACHE_MIN_ENTRIES : 0);
        hits = check_passes(&model, &t, &burst);
        CHECK_HEX(hits.classifier, ==, all);

        for (int i = 0; i < N_WRONG; i++) {
            sigcache_insert(&caches.emc, burst.keys[i].hash, indexes[i]);
            sigcache_insert(&caches.smc, burst.keys[i].hash, indexes[i]);
        }
        hits = check_passes(&model, &t, &burst);
        CHECK_HEX(hits.emc, ==, which & 1 ? right : 0);
        CHECK_HEX(hits.smc, ==, which == 2 ? right : 0);
        CHECK_HEX(hits.classifier, ==, all & ~right);

        /* The SMC learns better, and the flow of one hash changes there. */
        for (int i = 0; i < 5; i++) {
            sigcache_insert(&caches.smc, burst.keys[i].hash,
                            model.flows[i].flow->index);
        }
        hits = check_passes(&model, &t, &burst);
        CHECK_HEX(hits.emc, ==, which & 1 ? right : 0);
        CHECK_HEX(hits.smc, ==, (!(which & 2) ? 0
                                 : which == 2 ? 0x5f : 0x1f));
        caches_destroy(&caches);
    }
    model_destroy(&model);
}

/* Inserts a few entries for 'burst' into 'cache', most of them right. */
static void
fill_cache(struct sigcache *cache, const struct model *model,
           const struct burst *burst)
{
    for (size_t i = 0; i < burst->n; i++) {
        const struct dp_flow *flow = burst->flows[i];

        if (one_in(6) && model->table.slab->n_chunks) {
            sigcache_insert(cache, burst->keys[i].hash,
                            1 + random_range(2 * MAX(1, model->n)));
        } else if (flow && one_in(2)) {
            sigcache_insert(cache, burst->keys[i].hash, flow->index);
        }
    }
}

/* Packets. */

/* Keys as they are taken from packets, with what came before them in the same
 * memory still there; some have no shape, or one too many. */
static void
test_keys_of_packets(void)
{
    enum { N = 400 };
    struct burst burst = { .n = 0 };
    struct lookup_hits hits;
    struct lookup_tables t;
    struct model model;

    random_set_seed(5);
    model_init(&model);
    for (int i = 0; i < N; i++) {
        struct dp_key *key = &burst.keys[0];
        struct flow flow;
        struct match match;

        do {
            memset(&flow, 0, sizeof flow);
            random_packet(&flow, 1);
        } while (flow.dl_type == htons(ETH_TYPE_NSH)
                 || flow.tunnel.metadata.present.len);
        memset(key, 0xa5, sizeof *key);
        make_packet_key(key, &flow);
        miniflow_expand(&key->mf, &flow);
        random_match(&match, &flow);
        burst.packets[0] = flow;
        burst.n = 1;

        if (!model_lookup(&model, &flow)) {
            model_add(&model, &match);
        }
        t = model_tables(&model, 1);
        hits = check_passes(&model, &t, &burst);
        CHECK_UINT(hits.classifier, ==,
                   model_lookup(&model, &flow) ? 1 : 0);
        dp_key_set_shape(&model.table.shapes, key);
        CHECK_INT(check_passes(&model, &t, &burst).classifier, ==,
                  hits.classifier);
    }
    CHECK_UINT(model.table.shapes.n, ==, DP_MAX_SHAPES);
    CHECK_UINT(model.n, >, N / 4);
    model_destroy(&model);
}

/* Everything at random. */

struct tally {
    uint64_t emc, smc, classifier, odd, missed, shaped, unshaped, long_keys;
};

static void
make_random_burst(struct burst *burst, struct model *model, uint32_t in_port)
{
    size_t n = 1 + random_range(LOOKUP_MAX_KEYS);
    bool no_shapes = one_in(5);

    burst->n = 0;
    while (burst->n < n) {
        struct flow packet;

        if (burst->n && one_in(4)) {
            packet = burst->packets[random_range(burst->n)];
        } else {
            model_random_packet(model, in_port, &packet);
        }
        burst_add(burst, model, &packet, !no_shapes && !one_in(10));

        /* Many packets with the same hash, and with hash 0. */
        uint32_t *hash = &burst->keys[burst->n - 1].hash;

        *hash = one_in(10) ? 0 : one_in(5) ? *hash & 0xf : *hash;
    }
}

static void
count_burst(struct tally *tally, const struct burst *burst,
            const struct lookup_hits *hits)
{
    uint32_t any = hits->emc | hits->smc | hits->classifier;

    tally->emc += count_1bits(hits->emc);
    tally->smc += count_1bits(hits->smc);
    tally->classifier += count_1bits(hits->classifier);
    tally->missed += burst->n - count_1bits(any);
    for (size_t i = 0; i < burst->n; i++) {
        const struct dp_flow *flow = burst->flows[i];

        *(burst->keys[i].shape ? &tally->shaped : &tally->unshaped) += 1;
        if (hits->classifier & (UINT32_C(1) << i)) {
            tally->odd += !flow->info->subtable;
        }
        tally->long_keys += flow && (flow->info->n_words
                                     > DP_FLOW_INLINE_WORDS);
    }
}

static void
random_round(struct tally *tally)
{
    static const uint32_t sizes[] = { 0, SIGCACHE_MIN_ENTRIES, 1 << 13 };
    struct caches caches;
    struct lookup_tables t;
    struct burst burst;
    struct model model;
    unsigned int n;
    bool similar = one_in(2);

    model_init(&model);
    caches_init(&caches, &t, sizes[random_range(ARRAY_SIZE(sizes))],
                sizes[random_range(ARRAY_SIZE(sizes))]);
    n = one_in(3) ? random_range(4) : random_range(300);
    for (unsigned int i = 0; i < n; i++) {
        if (similar && !one_in(20)) {
            model_add_similar(&model);
        } else {
            model_add_random(&model, 1 + one_in(3));
        }
    }
    for (int i = 0; i < 60; i++) {
        uint32_t in_port = 1 + one_in(4);
        struct lookup_tables port = model_tables(&model, in_port);
        struct lookup_hits hits;

        port.emc = caches.emc.buckets ? &caches.emc : NULL;
        port.smc = caches.smc.buckets ? &caches.smc : NULL;
        make_random_burst(&burst, &model, in_port);
        burst_search(&burst, &model);
        fill_cache(&caches.emc, &model, &burst);
        fill_cache(&caches.smc, &model, &burst);
        hits = check_passes(&model, &port, &burst);
        count_burst(tally, &burst, &hits);

        if (model.n && one_in(2)) {
            model_remove(&model, random_range(model.n));
            ovsrcu_quiesce();
        } else if (one_in(2)) {
            model_add_random(&model, in_port);
        }
        if (port.cls && one_in(10)) {
            for (size_t j = 0; j < model.n; j++) {
                if (model.flows[j].flow->info->in_port
                    == u32_to_odp(in_port) && one_in(3)) {
                    dp_classifier_credit(model.flows[j].flow->info->subtable);
                }
            }
            dp_classifier_rank(port.cls);
        }
    }
    caches_destroy(&caches);
    model_destroy(&model);
}

static void
test_random(void)
{
    struct tally tally;

    memset(&tally, 0, sizeof tally);
    for (int seed = 1; seed <= 60; seed++) {
        random_set_seed(seed);
        random_round(&tally);
    }

    /* All of it has happened, and often. */
    CHECK_UINT(tally.emc, >, 1000);
    CHECK_UINT(tally.smc, >, 1000);
    CHECK_UINT(tally.classifier, >, 1000);
    CHECK_UINT(tally.odd, >, 100);
    CHECK_UINT(tally.missed, >, 1000);
    CHECK_UINT(tally.shaped, >, 1000);
    CHECK_UINT(tally.unshaped, >, 1000);
    CHECK_UINT(tally.long_keys, >, 1000);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    random_set_seed(1);
    RUN_TEST(test_numbers_of_subtables);
    RUN_TEST(test_tables_asked);
    RUN_TEST(test_odd_flows_only);
    RUN_TEST(test_overflowing_buckets);
    RUN_TEST(test_wrong_entries);
    RUN_TEST(test_keys_of_packets);
    RUN_TEST(test_random);

    /* Leave nothing with RCU, for the leak check's sake. */
    ovsrcu_barrier();
    ovsrcu_barrier();
    return 0;
}
