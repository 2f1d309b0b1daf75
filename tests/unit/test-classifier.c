/* SPDX-License-Identifier: Apache-2.0 */

/* Unit tests of the classifier (table/dp-classifier.h): where flows are filed
 * and what remains when they go; the ranking; a comparison with a list of all
 * flows, while they come and go; and readers, by either pass, against a
 * writer. */

#include <config.h>

#include "table/dp-classifier.h"

#include "openvswitch/vlog.h"
#include "ovs-thread.h"
#include "table-fixture.h"
#include "table/lookup.h"

/* What the classifier's implementation allows. */
enum {
    MAX_ALIKE = 4,
    MAX_ODD = 8,
    MANY_SUBTABLES = 16
};

/* Flows on an IPv4 5-tuple with a prefix of the source. */

static struct dp_flow *
add_prefix(struct model *model, uint32_t src, int len, uint16_t dport)
{
    struct flow flow = make_flow(1, src, 1, 1, dport);
    struct match match = make_match(&flow);
    struct dp_flow *added;

    match.wc.masks.nw_src = be32_prefix_mask(len);
    added = model_add(model, &match);
    CHECK(added != NULL);
    return added;
}

static struct dp_classifier *
classifier(const struct model *model)
{
    return dp_flow_table_get_classifier(&model->table, u32_to_odp(1));
}

static size_t
n_ranked(const struct dp_classifier *cls)
{
    const struct pvector_entry *ranked;
    size_t n;

    dp_classifier_get_ranked(cls, &ranked, &n);
    return n;
}

/* A model that is destroyed with its last flow removed must have freed all
 * masks and subtables before. */
static void
check_empty(const struct model *model)
{
    const struct dp_classifier *cls = classifier(model);

    CHECK_UINT(model->n, ==, 0);
    CHECK_UINT(cmap_count(&cls->masks), ==, 0);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 0);
    CHECK_UINT(n_ranked(cls), ==, 0);
    CHECK_UINT(bit_vector_count(cls->odd), ==, 0);
    CHECK(bit_vector_is_empty(cls->odd));
}

/* Every flow is found with the key of the packet that made it. */
static void
check_all_found(const struct model *model)
{
    for (size_t i = 0; i < model->n; i++) {
        const struct model_flow *mf = &model->flows[i];
        unsigned int n = 0;
        struct dp_key key;

        make_key(&key, &mf->packet);
        CHECK(dp_flow_table_find_key(&model->table, &key, &n) == mf->flow);
        CHECK_UINT(n, ==, place_of_flow(classifier(model), mf->flow));
    }
}

static void
remove_all(struct model *model)
{
    while (model->n) {
        model_remove(model, random_range(model->n));
        check_all_found(model);
    }
    check_empty(model);
}

/* Removes the flow 'flow'. */
static void
model_remove_flow(struct model *model, const struct dp_flow *flow)
{
    size_t i = 0;

    while (model->flows[i].flow != flow) {
        i++;
        CHECK_UINT(i, <, model->n);
    }
    model_remove(model, i);
}

/* Placement. */

/* Masks that differ in the length of a prefix share a subtable, as long as
 * their flows are not alike in it. */
static void
test_merged_masks(void)
{
    struct subtable *subtable = NULL;
    struct model model;

    model_init(&model);
    for (int len = 16; len < 32; len++) {
        struct dp_flow *flow = add_prefix(&model, (uint32_t) len << 16, len,
                                          1);

        subtable = subtable ? subtable : flow->info->subtable;
        CHECK(subtable != NULL);
        CHECK(flow->info->subtable == subtable);
        CHECK_UINT(cmap_count(&classifier(&model)->masks), ==, len - 15);
        CHECK_UINT(subtable->n_uses, >=, len - 15);
    }
    CHECK_UINT(n_ranked(classifier(&model)), ==, 1);
    CHECK_UINT(subtable->n_flows, ==, 16);

    /* With a shorter one there is less in common; so is with a full one. */
    CHECK(add_prefix(&model, 0x80000000, 15, 1)->info->subtable != subtable);
    CHECK(add_prefix(&model, 0x90000000, 32, 1)->info->subtable != subtable);
    CHECK_UINT(n_ranked(classifier(&model)), ==, 3);
    check_all_found(&model);
    remove_all(&model);
    model_destroy(&model);
}

/* Adds 'n' flows with prefixes of 'len' bits that are alike from 'bits' on. */
static void
add_alike(struct model *model, struct dp_flow **flows, int n, uint32_t base,
          int len)
{
    for (int i = 0; i < n; i++) {
        flows[i] = add_prefix(model, base | (uint32_t) i << (32 - len), len,
                              1);
    }
}

/* So many flows that are alike when rounded to pairs of bytes go to that
 * subtable; as many that are alike when rounded to bytes go to that; a few to
 * the bit vector; and the rest to a subtable of their own. */
static void
test_places(void)
{
    enum { N = 2 * MAX_ALIKE + MAX_ODD + 10 };
    struct subtable *pairs, *bytes, *own;
    struct dp_flow *flows[N], *other;
    struct dp_classifier *cls;
    struct model model;

    model_init(&model);
    add_alike(&model, flows, N, 0x0a010000, 29);
    cls = classifier(&model);
    pairs = flows[0]->info->subtable;
    bytes = flows[MAX_ALIKE]->info->subtable;
    own = flows[N - 1]->info->subtable;
    CHECK(pairs && bytes && own);
    CHECK(pairs != bytes && bytes != own && own != pairs);
    for (int i = 0; i < N; i++) {
        CHECK(flows[i]->info->subtable
              == (i < MAX_ALIKE ? pairs
                  : i < 2 * MAX_ALIKE ? bytes
                  : i < 2 * MAX_ALIKE + MAX_ODD ? NULL
                  : own));
    }
    CHECK(dp_mask_equal(own->mask, flows[0]->info->mask));
    CHECK(!dp_mask_equal(pairs->mask, own->mask));
    CHECK(!dp_mask_equal(bytes->mask, own->mask));
    CHECK_UINT(cmap_count(&cls->masks), ==, 1);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 3);
    CHECK_UINT(n_ranked(cls), ==, 3);
    CHECK_UINT(bit_vector_count(cls->odd), ==, MAX_ODD);
    check_all_found(&model);

    /* One that is not like them has room elsewhere still. */
    other = add_prefix(&model, 0x0b010000, 29, 1);
    CHECK(other->info->subtable == pairs);
    other = add_prefix(&model, 0x0a01f000, 29, 1);
    CHECK(other->info->subtable == bytes);

    /* Room that was given back is used again, except in the bit vector, since
     * there is a subtable now. */
    model_remove_flow(&model, flows[1]);
    flows[1] = add_prefix(&model, 0x0a010000 | 1 << 3, 29, 1);
    CHECK(flows[1]->info->subtable == pairs);
    model_remove_flow(&model, flows[2 * MAX_ALIKE]);
    CHECK_UINT(bit_vector_count(cls->odd), ==, MAX_ODD - 1);
    flows[2 * MAX_ALIKE] = add_prefix(&model,
                                      0x0a010000 | 2 * MAX_ALIKE << 3, 29, 1);
    CHECK(flows[2 * MAX_ALIKE]->info->subtable == own);
    check_all_found(&model);
    remove_all(&model);
    model_destroy(&model);
}

/* Each mask has its own share of the bit vector. */
static void
test_odd_flows_of_many_masks(void)
{
    enum { N = MAX_ALIKE + MAX_ODD };
    struct dp_flow *flows[N];
    struct dp_classifier *cls;
    struct model model;

    model_init(&model);

    /* To a prefix shorter than 24, bytes are no better than pairs. */
    for (int len = 20; len < 24; len++) {
        add_alike(&model, flows, N, (uint32_t) len << 16, len);
        cls = classifier(&model);
        CHECK_UINT(bit_vector_count(cls->odd), ==, (len - 19) * MAX_ODD);
        CHECK_UINT(cmap_count(&cls->subtables), ==, 1);
        CHECK_UINT(cmap_count(&cls->masks), ==, len - 19);
        CHECK_UINT(flows[0]->info->subtable->n_uses, >=, len - 19);
    }

    /* The room of one that goes is for another. */
    CHECK(!flows[N - 1]->info->subtable);
    model_remove_flow(&model, flows[N - 1]);
    CHECK_UINT(bit_vector_count(cls->odd), ==, 4 * MAX_ODD - 1);
    flows[N - 1] = add_prefix(&model, 23 << 16 | 14 << 9, 23, 1);
    CHECK(!flows[N - 1]->info->subtable);
    CHECK_UINT(bit_vector_count(cls->odd), ==, 4 * MAX_ODD);
    CHECK(add_prefix(&model, 23 << 16 | 15 << 9, 23, 1)->info->subtable
          != flows[0]->info->subtable);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 2);
    check_all_found(&model);
    remove_all(&model);
    model_destroy(&model);
}

/* A match on whole pairs of bytes with a mask of its own for each 'kind' less
 * than 64. */
static struct match
whole_match(unsigned int kind)
{
    struct flow flow = make_flow(1, 1, 1, 1, 1000 + kind);
    struct match match = make_match(&flow);

    for (int i = 0; i < 3; i++) {
        match.wc.masks.dl_src.be16[i] = kind & 1 << i ? OVS_BE16_MAX : 0;
        match.wc.masks.dl_dst.be16[i] = kind & 8 << i ? OVS_BE16_MAX : 0;
    }
    return match;
}

/* Where there are many subtables, one more for odd flows is made no more. */
static void
test_many_subtables(void)
{
    enum { N = 2 * MAX_ALIKE + 3 * MAX_ODD };

    for (int n = MANY_SUBTABLES - 4; n <= MANY_SUBTABLES; n++) {
        struct dp_flow *flows[N];
        struct dp_classifier *cls;
        struct model model;
        bool many;

        model_init(&model);
        for (int kind = 0; kind < n; kind++) {
            struct match match = whole_match(kind);

            CHECK(model_add(&model, &match) != NULL);
        }
        cls = classifier(&model);
        CHECK_UINT(n_ranked(cls), ==, n);

        /* With two more for those that are alike. */
        add_alike(&model, flows, N, 0x0a010000, 29);
        many = n + 2 >= MANY_SUBTABLES;
        CHECK_UINT(n_ranked(cls), ==, n + 2 + !many);
        CHECK_UINT(bit_vector_count(cls->odd), ==,
                   many ? N - 2 * MAX_ALIKE : MAX_ODD);
        check_all_found(&model);
        remove_all(&model);
        model_destroy(&model);
    }
}

/* What the bit vector has no room for has a subtable, and stays there. */
static void
test_full_bit_vector(void)
{
    enum {
        N_TOTAL = 8192,         /* Flows on a prefix of 29 bits in one of 16
                                 * bits. */
        N_BYTES = 256 * MAX_ALIKE, /* Of them, those alike as bytes. */
        N_OWN = N_TOTAL - MAX_ALIKE - N_BYTES - BIT_VECTOR_MAX_FLOWS
    };
    struct dp_flow **flows = xcalloc(N_TOTAL, sizeof *flows);
    struct dp_flow_table table;
    struct dp_classifier *cls;
    struct dp_key key;
    size_t n_own = 0;

    dp_flow_table_init(&table);
    for (int kind = 0; kind < MANY_SUBTABLES; kind++) {
        struct match match = whole_match(kind);

        CHECK(add_flow(&table, &match) != NULL);
    }
    for (int i = 0; i < N_TOTAL; i++) {
        struct flow flow = make_flow(1, 0x0a010000 | i << 3, 1, 1, 1);
        struct match match = make_match(&flow);

        match.wc.masks.nw_src = be32_prefix_mask(29);
        flows[i] = add_flow(&table, &match);
        CHECK(flows[i] != NULL);
        ovsrcu_quiesce();
    }
    cls = dp_flow_table_get_classifier(&table, u32_to_odp(1));
    CHECK_UINT(bit_vector_count(cls->odd), ==, BIT_VECTOR_MAX_FLOWS);
    CHECK_UINT(n_ranked(cls), ==, MANY_SUBTABLES + 3);
    for (int i = 0; i < N_TOTAL; i++) {
        struct flow packet = make_flow(1, 0x0a010000 | i << 3 | i % 8, 1, 1,
                                       1);
        const struct subtable *subtable = flows[i]->info->subtable;

        make_key(&key, &packet);
        CHECK(dp_flow_table_find_key(&table, &key, NULL) == flows[i]);
        n_own += subtable && dp_mask_equal(subtable->mask,
                                           flows[i]->info->mask);
    }
    CHECK_UINT(n_own, ==, N_OWN);
    for (int i = 0; i < N_TOTAL; i++) {
        remove_flow(&table, flows[i]);
    }
    CHECK(bit_vector_is_empty(cls->odd));
    CHECK_UINT(cmap_count(&cls->masks), ==, MANY_SUBTABLES);
    CHECK_UINT(cmap_count(&cls->subtables), ==, MANY_SUBTABLES);
    free(flows);
    dp_flow_table_destroy(&table);
    ovsrcu_quiesce();
}

/* A mask without anything to be rounded away has its own subtable at once and
 * nothing else. */
static void
test_whole_masks(void)
{
    enum { N = 100 };
    struct subtable *subtable = NULL;
    struct dp_classifier *cls;
    struct model model;

    model_init(&model);
    for (int i = 0; i < N; i++) {
        struct flow flow = numbered_flow(i);
        struct match match = make_match(&flow);
        struct dp_flow *added = model_add(&model, &match);

        subtable = subtable ? subtable : added->info->subtable;
        CHECK(added->info->subtable == subtable);
        CHECK(dp_mask_equal(subtable->mask, added->info->mask));
        CHECK(subtable->mask != added->info->mask);
    }
    cls = classifier(&model);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 1);
    CHECK_UINT(subtable->n_flows, ==, N);

    /* Whole bytes, but not pairs of them: the first few that are alike as
     * pairs are there, and none of the others is odd. */
    for (int i = 0; i < 2 * MAX_ALIKE + MAX_ODD; i++) {
        struct flow flow = make_flow(1, 0xc0a80000 | i << 8, 1, 2, 3);
        struct match match = make_match(&flow);
        struct dp_flow *added;

        match.wc.masks.nw_src = be32_prefix_mask(24);
        added = model_add(&model, &match);
        CHECK(added->info->subtable != NULL);
        CHECK_INT(dp_mask_equal(added->info->subtable->mask,
                                added->info->mask), ==, i >= MAX_ALIKE);
    }
    CHECK_UINT(bit_vector_count(cls->odd), ==, 0);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 3);
    check_all_found(&model);
    remove_all(&model);
    model_destroy(&model);
}

/* The VLAN id is not rounded away, though its mask is no pair of bytes: flows
 * that differ in nothing else are in one subtable. */
static void
test_vlans(void)
{
    struct subtable *subtable = NULL;
    struct model model;

    model_init(&model);
    for (int vid = 0; vid < 4096; vid += 17) {
        struct flow flow = numbered_flow(1);
        struct match match;
        struct dp_flow *added;

        flow.vlans[0].tpid = htons(ETH_TYPE_VLAN);
        flow.vlans[0].tci = htons(VLAN_CFI | vid);
        match = make_match(&flow);
        added = model_add(&model, &match);
        subtable = subtable ? subtable : added->info->subtable;
        CHECK(subtable != NULL);
        CHECK(added->info->subtable == subtable);
    }
    CHECK_UINT(cmap_count(&classifier(&model)->subtables), ==, 1);
    check_all_found(&model);
    while (model.n) {
        model_remove(&model, 0);
    }
    check_empty(&model);
    model_destroy(&model);
}

/* A subtable goes with the last mask that may use it, not with its last flow,
 * but it is not asked while it has none. */
static void
test_subtables_go(void)
{
    struct dp_flow *alike[MAX_ALIKE + 1], *other;
    struct dp_classifier *cls;
    struct model model;

    model_init(&model);
    add_alike(&model, alike, MAX_ALIKE + 1, 0x0a010000, 28);
    other = add_prefix(&model, 0x0b010000, 27, 1);
    cls = classifier(&model);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 2);
    CHECK_UINT(n_ranked(cls), ==, 2);
    CHECK(other->info->subtable == alike[0]->info->subtable);

    /* The one for bytes has no flows, but a mask. */
    model_remove_flow(&model, alike[MAX_ALIKE]);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 2);
    CHECK_UINT(n_ranked(cls), ==, 1);
    check_all_found(&model);

    /* Its mask goes; the other subtable has another one. */
    for (int i = 0; i < MAX_ALIKE; i++) {
        CHECK_UINT(cmap_count(&cls->masks), ==, 2);
        CHECK_UINT(cmap_count(&cls->subtables), ==, 2);
        model_remove_flow(&model, alike[i]);
    }
    CHECK_UINT(cmap_count(&cls->masks), ==, 1);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 1);
    check_all_found(&model);
    model_remove_flow(&model, other);
    check_empty(&model);

    /* All of it again, in the other order. */
    add_alike(&model, alike, MAX_ALIKE + 1, 0x0a010000, 28);
    for (int i = 0; i <= MAX_ALIKE; i++) {
        CHECK_UINT(cmap_count(&cls->subtables), ==, 2);
        model_remove_flow(&model, alike[i]);
    }
    check_empty(&model);
    model_destroy(&model);
}

static struct dp_mask *
mask_of(struct dp_classifier *cls, const struct match *match)
{
    struct dp_mask_words words;

    dp_mask_words_init(&words, match);
    return dp_classifier_mask_of(cls, &words);
}

/* A mask that was asked for and not used. */
static void
test_unused_mask(void)
{
    struct dp_classifier *cls = dp_classifier_create(u32_to_odp(1));
    struct flow flow = numbered_flow(1);
    struct match match = make_match(&flow);
    struct dp_mask *mask, *same, *other;

    /* Twice, since it must not be remembered after it has gone. */
    for (int i = 0; i < 2; i++) {
        mask = mask_of(cls, &match);
        CHECK(mask_of(cls, &match) == mask);
        CHECK_UINT(cmap_count(&cls->masks), ==, 1);
        dp_classifier_trim(cls, mask);
        CHECK_UINT(cmap_count(&cls->masks), ==, 0);
    }

    /* Another mask in between changes nothing. */
    mask = mask_of(cls, &match);
    match.wc.masks.nw_src = htonl(0xffffff00);
    other = mask_of(cls, &match);
    CHECK(other != mask);
    match.wc.masks.nw_src = OVS_BE32_MAX;
    CHECK(mask_of(cls, &match) == mask);
    same = dp_classifier_get_mask(cls, dp_mask_create(&match));
    CHECK(mask == same);
    CHECK_UINT(cmap_count(&cls->masks), ==, 2);
    dp_classifier_trim(cls, other);
    CHECK_UINT(odp_to_u32(mask->in_port), ==, 1);
    CHECK_UINT(cmap_count(&cls->masks), ==, 1);
    dp_classifier_trim(cls, mask);
    CHECK_UINT(cmap_count(&cls->masks), ==, 0);
    CHECK_UINT(cmap_count(&cls->subtables), ==, 0);
    dp_classifier_destroy(cls);
}

/* Ranking. */

/* Checks that the subtables of 'cls' are in the order of 'flows', and that
 * their hits are forgotten. */
static void
check_order(const struct dp_classifier *cls, struct dp_flow *const *flows,
            size_t n)
{
    const struct pvector_entry *ranked;
    size_t n_subtables;

    dp_classifier_get_ranked(cls, &ranked, &n_subtables);
    CHECK_UINT(n_subtables, ==, n);
    for (size_t i = 0; i < n; i++) {
        CHECK(ranked[i].ptr == flows[i]->info->subtable);
        CHECK_UINT(flows[i]->info->subtable->hits, ==,
                   flows[i]->info->subtable->hits_ranked);
        CHECK_UINT(place_of_flow(cls, flows[i]), ==, i + 1);
    }
}

/* Most hits since the last time first, whatever was before. */
static void
test_ranking(void)
{
    enum { N = 5, ROUNDS = 100 };
    struct dp_flow *flows[N], *newcomer;
    struct dp_classifier *cls;
    struct model model;

    random_set_seed(3);
    model_init(&model);
    for (int i = 0; i < N; i++) {
        struct flow flow = make_flow(1, i, 1, 1, i);
        struct match match = make_match(&flow);

        /* Each with a mask that has something to itself. */
        match.wc.masks.dl_src.be16[0] = i & 1 ? OVS_BE16_MAX : 0;
        match.wc.masks.dl_src.be16[1] = i & 2 ? OVS_BE16_MAX : 0;
        match.wc.masks.dl_src.be16[2] = i & 4 ? OVS_BE16_MAX : 0;
        flows[i] = model_add(&model, &match);
        CHECK(flows[i] != NULL);
    }
    cls = classifier(&model);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = N - 1; i > 0; i--) {
            int j = random_range(i + 1);
            struct dp_flow *flow = flows[i];

            flows[i] = flows[j];
            flows[j] = flow;
        }
        for (int i = 0; i < N; i++) {
            for (int n = i; n < N; n++) {
                dp_classifier_credit(flows[i]->info->subtable);
            }
        }
        dp_classifier_rank(cls);
        check_order(cls, flows, N);
        check_all_found(&model);
        ovsrcu_quiesce();
    }

    /* No hits for who is new, and none that overflow for who has many. */
    newcomer = add_prefix(&model, 77 << 16, 16, 1);
    CHECK_UINT(place_of_flow(cls, newcomer), ==, N + 1);
    flows[N - 1]->info->subtable->hits += UINT32_MAX;
    flows[0]->info->subtable->hits += 1000;
    dp_classifier_rank(cls);
    CHECK_UINT(place_of_flow(cls, flows[N - 1]), ==, 1);
    CHECK_UINT(place_of_flow(cls, flows[0]), ==, 2);

    /* What the bit vector answers is nobody's. */
    dp_classifier_credit(NULL);
    remove_all(&model);
    model_destroy(&model);
}

/* Against the model. */

static void
check_lookups(const struct model *model, int n)
{
    for (int i = 0; i < n; i++) {
        struct subtable *subtable = NULL;
        struct dp_flow *flow;
        struct flow packet;
        struct dp_key key;
        unsigned int n_asked = 1000;

        model_random_packet(model, 1, &packet);
        make_key(&key, &packet);
        flow = dp_classifier_lookup(classifier(model), model->table.slab,
                                    &key, &n_asked, &subtable);
        CHECK(flow == model_lookup(model, &packet));
        if (flow) {
            CHECK_UINT(n_asked - 1000, ==,
                       place_of_flow(classifier(model), flow));
            CHECK(subtable == flow->info->subtable);
        } else {
            CHECK_UINT(n_asked, ==, 1000);
        }
    }
}

/* Checks what a classifier counts by counting it. */
static void
check_counts(const struct model *model)
{
    const struct dp_classifier *cls = classifier(model);
    struct subtable *subtable;
    size_t n_odd = 0, n_filed = 0, n_used = 0;

    for (size_t i = 0; i < model->n; i++) {
        const struct dp_flow_info *info = model->flows[i].flow->info;

        n_odd += !info->subtable;
        CHECK(!info->subtable || info->subtable->n_flows);
    }
    CMAP_FOR_EACH (subtable, node, &cls->subtables) {
        n_filed += subtable->n_flows;
        n_used += subtable->n_flows != 0;
        CHECK_UINT(subtable->n_uses, >, 0);
    }
    CHECK_UINT(n_odd, ==, bit_vector_count(cls->odd));
    CHECK_UINT(n_odd + n_filed, ==, model->n);
    CHECK_UINT(n_used, ==, n_ranked(cls));
    CHECK_UINT(cmap_count(&cls->masks), <=, model->n);
}

/* Thousands of flows with all kinds of masks come and go. */
static void
test_random_changes(void)
{
    size_t most = 0, most_odd = 0;

    for (int seed = 1; seed <= 4; seed++) {
        struct model model;

        random_set_seed(seed);
        model_init(&model);
        do {
            model_add_random(&model, 1);
        } while (!model.n);

        for (int i = 0; i < 2000; i++) {
            /* More and more flows, then less and less. */
            if (model.n > 1 && one_in(i < 1000 ? 6 : 2)) {
                model_remove(&model, random_range(model.n));
            } else if (one_in(6)) {
                model_add_random(&model, 1);
            } else {
                model_add_similar(&model);
            }
            if (one_in(50)) {
                dp_classifier_credit(model.flows[random_range(model.n)]
                                     .flow->info->subtable);
                dp_classifier_rank(classifier(&model));
            }
            check_lookups(&model, 2);
            if (!(i % 50)) {
                check_counts(&model);
                most = MAX(most, model.n);
                most_odd = MAX(most_odd,
                               bit_vector_count(classifier(&model)->odd));
                ovsrcu_quiesce();
            }
        }
        while (model.n) {
            model_remove(&model, random_range(model.n));
        }
        check_empty(&model);
        model_destroy(&model);
    }
    CHECK_UINT(most, >, 200);
    CHECK_UINT(most_odd, >, 20);
}

/* Stress: readers, one by each pass, against a writer.  Flows with even
 * numbers stay and must always be found; those with odd ones come and go, and
 * a reader finds the right one or none. */

enum { N_STRESS = 600, N_ROUNDS = 40 };

static struct dp_flow_table stress_table;
static struct flow stress_packets[N_STRESS]; /* Constant while there are
                                              * readers. */
static struct dp_flow *stress_staying[N_STRESS]; /* Likewise. */
static atomic_bool stress_stop = false; /* Writer sets it; relaxed. */
static atomic_count stress_rounds[2] = {
    ATOMIC_COUNT_INIT(0), ATOMIC_COUNT_INIT(0)
};

struct stress_reader {
    lookup_pass_func *pass;
    atomic_count *rounds;
    uint32_t seed;
};

static void
stress_burst(lookup_pass_func *pass, const struct dp_key *keys,
             const int *numbers)
{
    struct lookup_result results[LOOKUP_MAX_KEYS];
    struct lookup_tables t = {
        .slab = stress_table.slab,
        .cls = dp_flow_table_get_classifier(&stress_table, u32_to_odp(1)),
    };
    struct lookup_hits hits = pass(&t, keys, LOOKUP_MAX_KEYS, results);

    CHECK_HEX(hits.emc | hits.smc, ==, 0);
    for (int i = 0; i < LOOKUP_MAX_KEYS; i++) {
        const struct dp_flow *flow = results[i].flow;
        struct flow packet;

        CHECK_INT(flow != NULL, ==, (hits.classifier >> i & 1) != 0);
        if (numbers[i] % 2 == 0) {
            CHECK_MSG(flow == stress_staying[numbers[i]],
                      "flow %d is not found", numbers[i]);
        } else if (flow) {
            dp_flow_info_get_flow(flow->info, &packet);
            CHECK_MEM(&packet, &stress_packets[numbers[i]], sizeof packet);
        }
    }
}

static void *
stress_reader_main(void *reader_)
{
    const struct stress_reader *reader = reader_;
    struct dp_key *keys = xcalloc(LOOKUP_MAX_KEYS, sizeof *keys);
    bool stop;

    random_set_seed(reader->seed);
    do {
        for (int burst = 0; burst < N_STRESS / LOOKUP_MAX_KEYS; burst++) {
            int numbers[LOOKUP_MAX_KEYS];

            for (int i = 0; i < LOOKUP_MAX_KEYS; i++) {
                numbers[i] = random_range(N_STRESS);
                make_key(&keys[i], &stress_packets[numbers[i]]);
            }
            stress_burst(reader->pass, keys, numbers);
            ovsrcu_quiesce();
        }
        atomic_count_inc(reader->rounds);
        atomic_read_relaxed(&stress_stop, &stop);
    } while (!stop);
    free(keys);
    return NULL;
}

/* Ranks the subtables, each with a random number of hits. */
static void
stress_rank(struct dp_flow *const *flows)
{
    for (int i = 0; i < N_STRESS; i += 2) {
        if (one_in(3)) {
            dp_classifier_credit(flows[i]->info->subtable);
        }
    }
    ovs_mutex_lock(&stress_table.mutex);
    dp_classifier_rank(dp_flow_table_get_classifier(&stress_table,
                                                    u32_to_odp(1)));
    ovs_mutex_unlock(&stress_table.mutex);
}

/* Adds or removes about every other flow that does not stay. */
static void
stress_change(struct dp_flow **flows, struct match *matches)
{
    for (int i = 1; i < N_STRESS; i += 2) {
        if (flows[i] && one_in(2)) {
            remove_flow(&stress_table, flows[i]);
            flows[i] = NULL;
        } else if (!flows[i] && one_in(2)) {
            flows[i] = add_flow(&stress_table, &matches[i]);
            CHECK(flows[i] != NULL);
        }
    }
}

/* Makes matches that do not overlap. */
static struct match *
make_stress_matches(void)
{
    struct match *matches = xcalloc(N_STRESS, sizeof *matches);
    struct model model;

    random_set_seed(1);
    model_init(&model);
    while (model.n < N_STRESS) {
        if (one_in(10)) {
            model_add_random(&model, 1);
        } else {
            model_add_similar(&model);
        }
    }
    for (int i = 0; i < N_STRESS; i++) {
        matches[i].flow = model.flows[i].packet;
        matches[i].wc.masks = model.flows[i].masks;
    }
    model_destroy(&model);
    return matches;
}

static void
test_stress_readers(void)
{
    struct stress_reader readers[] = {
        { lookup_pass_plain, &stress_rounds[0], 11 },
        { lookup_pass_interleaved, &stress_rounds[1], 12 },
    };
    struct match *matches = make_stress_matches();
    pthread_t threads[ARRAY_SIZE(readers)];
    struct dp_flow *flows[N_STRESS];
    struct dp_classifier *cls;
    size_t most_odd = 0;

    dp_flow_table_init(&stress_table);
    memset(flows, 0, sizeof flows);
    for (int i = 0; i < N_STRESS; i++) {
        stress_packets[i] = matches[i].flow;
        if (i % 2 == 0) {
            flows[i] = add_flow(&stress_table, &matches[i]);
            stress_staying[i] = flows[i];
        }
    }
    cls = dp_flow_table_get_classifier(&stress_table, u32_to_odp(1));
    for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
        threads[i] = ovs_thread_create("reader", stress_reader_main,
                                       &readers[i]);
    }
    for (int round = 0;
         round < N_ROUNDS || atomic_count_get(&stress_rounds[0]) < N_ROUNDS
         || atomic_count_get(&stress_rounds[1]) < N_ROUNDS;
         round++) {
        stress_change(flows, matches);
        stress_rank(flows);
        most_odd = MAX(most_odd, bit_vector_count(cls->odd));
        ovsrcu_quiesce();
    }
    atomic_store_relaxed(&stress_stop, true);
    for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
        xpthread_join(threads[i], NULL);
    }

    CHECK_UINT(most_odd, >, 20);
    CHECK_UINT(cmap_count(&cls->masks), >, 20);
    CHECK_UINT(n_ranked(cls), >, 20);
    dp_flow_table_destroy(&stress_table);
    free(matches);
}

/* Readers against a writer that makes one subtable after the other grow.  The
 * few flows that were there at first must be found all the time. */

enum { N_KINDS = 48, N_AT_FIRST = 16, N_MORE = 3000 };

static struct dp_flow *grow_flows[N_KINDS][N_AT_FIRST]; /* Constant while there
                                                         * are readers. */
static atomic_int grow_kind = 0; /* That grows now; N_KINDS: the end.  Writer
                                  * sets it; relaxed. */

static struct match
grow_match(unsigned int kind, unsigned int i)
{
    struct match match = whole_match(kind);

    match.flow.nw_src = htonl(i);
    return match;
}

static void *
grow_reader_main(void *pass_)
{
    lookup_pass_func *const *pass = pass_;
    struct lookup_tables t = { .slab = stress_table.slab };
    struct lookup_result results[N_AT_FIRST];
    struct dp_key *keys = xcalloc(N_AT_FIRST, sizeof *keys);
    int kind, last = -1;

    for (;;) {
        atomic_read_relaxed(&grow_kind, &kind);
        if (kind == N_KINDS) {
            break;
        }
        for (int i = 0; i < N_AT_FIRST && kind != last; i++) {
            struct match match = grow_match(kind, i);

            make_key(&keys[i], &match.flow);
        }
        last = kind;
        t.cls = dp_flow_table_get_classifier(&stress_table, u32_to_odp(1));
        (*pass)(&t, keys, N_AT_FIRST, results);
        for (int i = 0; i < N_AT_FIRST; i++) {
            CHECK(results[i].flow == grow_flows[kind][i]);
        }
        ovsrcu_quiesce();
    }
    free(keys);
    return NULL;
}

static void
test_growing_under_readers(void)
{
    static lookup_pass_func *by_pass[] = {
        lookup_pass_plain, lookup_pass_interleaved
    };
    pthread_t threads[ARRAY_SIZE(by_pass)];

    dp_flow_table_init(&stress_table);
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (int i = 0; i < N_AT_FIRST; i++) {
            struct match match = grow_match(kind, i);

            grow_flows[kind][i] = add_flow(&stress_table, &match);
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(by_pass); i++) {
        threads[i] = ovs_thread_create("reader", grow_reader_main,
                                       &by_pass[i]);
    }
    for (int kind = 0; kind < N_KINDS; kind++) {
        atomic_store_relaxed(&grow_kind, kind);
        for (int i = N_AT_FIRST; i < N_AT_FIRST + N_MORE; i++) {
            struct match match = grow_match(kind, i);

            CHECK(add_flow(&stress_table, &match) != NULL);
        }
        ovsrcu_quiesce();
    }
    atomic_store_relaxed(&grow_kind, N_KINDS);
    for (size_t i = 0; i < ARRAY_SIZE(by_pass); i++) {
        xpthread_join(threads[i], NULL);
    }
    dp_flow_table_destroy(&stress_table);
    ovsrcu_quiesce();
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    random_set_seed(1);
    RUN_TEST(test_merged_masks);
    RUN_TEST(test_places);
    RUN_TEST(test_odd_flows_of_many_masks);
    RUN_TEST(test_many_subtables);
    RUN_TEST(test_full_bit_vector);
    RUN_TEST(test_whole_masks);
    RUN_TEST(test_vlans);
    RUN_TEST(test_subtables_go);
    RUN_TEST(test_unused_mask);
    RUN_TEST(test_ranking);
    RUN_TEST(test_random_changes);
    RUN_TEST(test_stress_readers);
    RUN_TEST(test_growing_under_readers);

    /* Leave nothing with RCU, for the leak check's sake. */
    ovsrcu_barrier();
    ovsrcu_barrier();
    return 0;
}
