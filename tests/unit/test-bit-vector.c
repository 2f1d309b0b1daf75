/* SPDX-License-Identifier: Apache-2.0 */

/* Unit tests of lib/table/bit-vector: against a linear search with struct
 * flows, bit by bit (since a bit too many makes lookups slow but not wrong),
 * at its limits, and with readers beside a writer.  With the argument
 * "benchmark", measures lookups and changes instead. */

#include <config.h>

#include <errno.h>
#include <time.h>

#include "bit-vector-fixture.h"
#include "ovs-thread.h"
#include "packets.h"
#include "random.h"

/* Packets and masks. */

static struct flow
udp_packet(uint32_t src, uint32_t dst, uint16_t sport, uint16_t dport)
{
    struct flow flow;

    memset(&flow, 0, sizeof flow);
    flow.in_port.odp_port = PORT;
    flow.packet_type = htonl(PT_ETH);
    flow.dl_type = htons(ETH_TYPE_IP);
    flow.nw_src = htonl(src);
    flow.nw_dst = htonl(dst);
    flow.nw_proto = IPPROTO_UDP;
    flow.tp_src = htons(sport);
    flow.tp_dst = htons(dport);
    return flow;
}

/* What every megaflow looks at. */
static struct flow
base_masks(void)
{
    struct flow masks;

    memset(&masks, 0, sizeof masks);
    masks.recirc_id = UINT32_MAX;
    masks.packet_type = OVS_BE32_MAX;
    masks.dl_type = OVS_BE16_MAX;
    masks.nw_frag = FLOW_NW_FRAG_MASK;
    masks.nw_proto = UINT8_MAX;
    return masks;
}

static struct flow
five_tuple_masks(void)
{
    struct flow masks = base_masks();

    masks.nw_src = masks.nw_dst = OVS_BE32_MAX;
    masks.tp_src = masks.tp_dst = OVS_BE16_MAX;
    return masks;
}

/* Comparison. */

/* Few different bytes, so that flows have something in common. */
static uint8_t
random_byte(void)
{
    static const uint8_t bytes[] = { 0, 1, 2, 0x10, 0x80, 0xff };

    return bytes[random_range(ARRAY_SIZE(bytes))];
}

static void
random_bytes_of(void *p_, size_t n)
{
    uint8_t *p = p_;

    for (size_t i = 0; i < n; i++) {
        p[i] = random_byte();
    }
}

static struct flow
random_packet(void)
{
    struct flow flow = udp_packet(0, 0, 0, 0);

    if (random_range(3)) {
        random_bytes_of(&flow.nw_src, sizeof flow.nw_src);
        random_bytes_of(&flow.nw_dst, sizeof flow.nw_dst);
    } else {
        flow.dl_type = htons(ETH_TYPE_IPV6);
        random_bytes_of(&flow.ipv6_src, sizeof flow.ipv6_src);
        random_bytes_of(&flow.ipv6_dst, sizeof flow.ipv6_dst);
        flow.ipv6_label = htonl(random_range(4));
    }
    random_bytes_of(&flow.tp_src, sizeof flow.tp_src);
    random_bytes_of(&flow.tp_dst, sizeof flow.tp_dst);
    random_bytes_of(&flow.dl_src, sizeof flow.dl_src);
    flow.nw_proto = random_range(2) ? IPPROTO_UDP : IPPROTO_TCP;
    if (!random_range(4)) {
        flow.recirc_id = 1 + random_range(3);
        flow.ct_state = 1 << random_range(6);
        flow.ct_mark = random_range(3);
    }
    if (!random_range(4)) {
        flow.tunnel.ip_dst = htonl(random_range(3));
        flow.tunnel.tun_id = htonll(random_range(5));
        for (size_t i = 0; i < 32; i++) {
            flow.tunnel.metadata.opts.u8[i] = random_byte();
        }
    }
    return flow;
}

static void
random_mask_of(void *mask, size_t n)
{
    uint8_t *p = mask;

    switch (random_range(4)) {
    case 0:
        memset(p, 0xff, n);
        break;
    case 1:
        for (int bits = random_range(n * 8 + 1), i = 0; i < bits; i++) {
            p[i / 8] |= 0x80 >> i % 8;
        }
        break;
    case 2:
        for (size_t i = 0; i < n; i++) {
            p[i] = random_range(3) ? 0 : random_uint8();
        }
        break;
    default:
        break;
    }
}

static struct flow
random_masks(void)
{
    struct flow masks = base_masks();

    if (!random_range(50)) {
        memset(&masks, 0, sizeof masks);
    }
    random_mask_of(&masks.nw_src, sizeof masks.nw_src);
    random_mask_of(&masks.nw_dst, sizeof masks.nw_dst);
    random_mask_of(&masks.ipv6_src, sizeof masks.ipv6_src);
    random_mask_of(&masks.ipv6_dst, sizeof masks.ipv6_dst);
    random_mask_of(&masks.tp_src, sizeof masks.tp_src);
    random_mask_of(&masks.tp_dst, sizeof masks.tp_dst);
    random_mask_of(&masks.dl_src, sizeof masks.dl_src);
    random_mask_of(&masks.tunnel.tun_id, sizeof masks.tunnel.tun_id);
    random_mask_of(&masks.ct_mark, sizeof masks.ct_mark);
    if (!random_range(20)) {
        random_mask_of(masks.tunnel.metadata.opts.u8, 32);
    }
    return masks;
}

enum { N_RANDOM = 1400 };

static struct entry *entries[N_RANDOM];

/* Looks 'packet' up, without and with a shape. */
static struct dp_flow *
look_up(const struct bit_vector *bv, const struct dp_slab *slab,
        struct dp_shapes *shapes, const struct flow *packet)
{
    struct dp_flow *flow;
    struct dp_key key;

    dp_key_from_flow(&key, packet);
    flow = bit_vector_lookup(bv, slab, &key);
    dp_key_set_shape(shapes, &key);
    CHECK(bit_vector_lookup(bv, slab, &key) == flow);
    return flow;
}

/* Looks 'packet' up both ways.  Random flows overlap, so any that matches is
 * right.  Returns true if there is one. */
static bool
check_packet(const struct bit_vector *bv, const struct dp_slab *slab,
             struct dp_shapes *shapes, const struct flow *packet)
{
    struct dp_flow *found = look_up(bv, slab, shapes, packet);
    bool any = false;

    for (size_t i = 0; i < N_RANDOM; i++) {
        if (entries[i] && dp_flow_is_live(entries[i]->flow)) {
            bool matches = entry_matches(entries[i], packet);

            any |= matches;
            if (entries[i]->flow == found) {
                CHECK_MSG(matches, "flow %"PRIuSIZE, i);
            }
        }
    }
    CHECK_INT(found != NULL, ==, any);
    return any;
}

/* Checks with packets for each entry, in or not, and others. */
static void
check_entries(const struct bit_vector *bv, const struct dp_slab *slab,
              struct dp_shapes *shapes)
{
    int n_found = 0, n_asked = 0;

    for (size_t i = 0; i < N_RANDOM; i += 1 + random_range(4)) {
        struct flow packet = random_packet();

        n_found += check_packet(bv, slab, shapes, &packet);
        n_asked++;
        if (entries[i]) {
            for (size_t j = 0; j < FLOW_U64S; j++) {
                uint64_t *word = flow_u64_lvalue(&packet, j);

                *word &= ~flow_u64_value(&entries[i]->masks, j);
                *word |= flow_u64_value(&entries[i]->values, j);
            }
            packet.in_port.odp_port = PORT;
            n_found += check_packet(bv, slab, shapes, &packet);
            n_asked++;
        }
    }
    if (bit_vector_count(bv) > 500) {
        CHECK_INT(n_found, >, 50);
    }
    CHECK_INT(n_asked - n_found, >, 50);
}

static void
test_against_linear_search(void)
{
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct dp_shapes shapes;
    size_t count = 0;

    /* First up, then up and down, then down to nothing, then up again. */
    static const int add_shares[] = { 100, 100, 100, 60, 50, 40, 0, 0, 100,
                                      0 };

    dp_shapes_init(&shapes);
    for (size_t round = 0; round < ARRAY_SIZE(add_shares); round++) {
        for (int i = 0; i < N_RANDOM / 2; i++) {
            struct entry **e = &entries[random_range(N_RANDOM)];

            if (random_range(100) < add_shares[round]) {
                struct flow packet = random_packet();
                struct flow masks = random_masks();

                /* Flows that most packets match would hide the others. */
                if (!*e && (masks.tp_src || masks.dl_src.be16[0]
                            || !random_range(400))) {
                    *e = entry_create(slab, &packet, &masks);
                    entry_insert(bv, *e);
                    count++;
                }
            } else if (*e) {
                entry_retire(bv, *e);
                *e = NULL;
                count--;
            }
            CHECK_UINT(bit_vector_count(bv), ==, count);
        }
        if (!add_shares[round]) {
            for (size_t i = round % 2; i < N_RANDOM; i += 2) {
                if (entries[i]) {
                    entry_retire(bv, entries[i]);
                    entries[i] = NULL;
                    count--;
                }
            }
        }
        check_structure(bv);
        check_entries(bv, slab, &shapes);
        ovsrcu_quiesce();
    }
    for (size_t i = 0; i < N_RANDOM; i++) {
        if (entries[i]) {
            entry_retire(bv, entries[i]);
            entries[i] = NULL;
        }
    }
    bit_vector_destroy(bv);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
}

/* Single flows. */

static void
test_empty(void)
{
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct flow packet = udp_packet(1, 2, 3, 4);
    struct dp_shapes shapes;

    dp_shapes_init(&shapes);
    CHECK(!look_up(bv, slab, &shapes, &packet));
    CHECK_UINT(bit_vector_count(bv), ==, 0);
    CHECK(bit_vector_is_empty(bv));
    bit_vector_destroy(bv);
    bit_vector_destroy(NULL);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
}

/* A mask without words matches all packets of the port, and only of this, and
 * is found beside flows that look at many words. */
static void
test_zero_mask(void)
{
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct flow packet = udp_packet(1, 2, 3, 4);
    struct flow all = five_tuple_masks();
    struct flow none;
    struct entry *catchall, *exact;
    struct dp_shapes shapes;

    dp_shapes_init(&shapes);
    memset(&none, 0, sizeof none);
    catchall = entry_create(slab, &packet, &none);
    exact = entry_create(slab, &packet, &all);
    CHECK_UINT(catchall->mask->n, ==, 0);

    entry_insert(bv, catchall);
    CHECK(look_up(bv, slab, &shapes, &packet) == catchall->flow);
    packet.nw_src = htonl(77);
    CHECK(look_up(bv, slab, &shapes, &packet) == catchall->flow);
    packet.in_port.odp_port = u32_to_odp(4);
    CHECK(!look_up(bv, slab, &shapes, &packet));
    packet.in_port.odp_port = PORT;

    entry_insert(bv, exact);
    CHECK(look_up(bv, slab, &shapes, &packet) == catchall->flow);
    entry_remove(bv, catchall);
    CHECK(!look_up(bv, slab, &shapes, &packet));
    packet.nw_src = htonl(1);
    CHECK(look_up(bv, slab, &shapes, &packet) == exact->flow);
    entry_remove(bv, exact);
    CHECK(!look_up(bv, slab, &shapes, &packet));

    bit_vector_destroy(bv);
    entry_free(catchall);
    entry_free(exact);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
}

/* A flow that wants zero matches packets that have not the word, one that
 * wants something else does not; and vice versa. */
static void
test_absent_words(void)
{
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct flow packet = udp_packet(1, 2, 3, 4);
    struct flow tunneled = packet;
    struct flow masks = base_masks();
    struct entry *without, *with;
    struct dp_shapes shapes;

    dp_shapes_init(&shapes);
    tunneled.tunnel.ip_dst = htonl(0x01020304);
    tunneled.tunnel.tun_id = htonll(0x1234567800000000);
    masks.tunnel.tun_id = htonll(0x0000ff0000000000);
    without = entry_create(slab, &packet, &masks);
    with = entry_create(slab, &tunneled, &masks);

    entry_insert(bv, with);
    CHECK(!look_up(bv, slab, &shapes, &packet));
    CHECK(look_up(bv, slab, &shapes, &tunneled) == with->flow);
    entry_insert(bv, without);
    CHECK(look_up(bv, slab, &shapes, &packet) == without->flow);
    CHECK(look_up(bv, slab, &shapes, &tunneled) == with->flow);
    tunneled.tunnel.tun_id = htonll(0x1234007800000000);
    CHECK(look_up(bv, slab, &shapes, &tunneled) == without->flow);
    entry_remove(bv, without);
    CHECK(!look_up(bv, slab, &shapes, &packet));
    CHECK(!look_up(bv, slab, &shapes, &tunneled));
    entry_remove(bv, with);

    bit_vector_destroy(bv);
    entry_free(with);
    entry_free(without);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
}

/* A flow that is in but not live is not found, and does not hide others. */
static void
test_not_live(void)
{
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct flow packet = udp_packet(1, 2, 3, 4);
    struct flow masks = five_tuple_masks();
    struct entry *a = entry_create(slab, &packet, &masks);
    struct entry *b = entry_create(slab, &packet, &masks);
    struct dp_shapes shapes;

    dp_shapes_init(&shapes);
    CHECK_INT(bit_vector_insert(bv, a->flow, a->mask), ==, 0);
    CHECK(!look_up(bv, slab, &shapes, &packet));
    entry_insert(bv, b);
    CHECK(look_up(bv, slab, &shapes, &packet) == b->flow);
    dp_flow_publish(a->flow, a->mask);
    dp_flow_publish(b->flow, NULL);
    CHECK(look_up(bv, slab, &shapes, &packet) == a->flow);
    bit_vector_remove(bv, b->flow);
    CHECK(look_up(bv, slab, &shapes, &packet) == a->flow);
    entry_remove(bv, a);

    bit_vector_destroy(bv);
    entry_free(a);
    entry_free(b);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
}

/* Tuple space explosion. */

enum { N_EXPLOSION = 32 * 16 * 16 };

/* Where a 5-tuple must differ from this to be dropped. */
#define EXPLOSION_SRC UINT32_C(0x0a141e28)
#define EXPLOSION_SPORT 0x3039
#define EXPLOSION_DPORT 0x0050

/* Makes a packet and the masks of the megaflow that it makes where a rule
 * accepts some source, another some port, a third another port, and the rest
 * is dropped: for each field, the bits up to the first that differs.  'i' is
 * below N_EXPLOSION; each has a mask of its own and no two overlap. */
static void
make_explosion(uint32_t i, struct flow *packet, struct flow *masks)
{
    int src = i % 32;
    int sport = i / 32 % 16;
    int dport = i / 32 / 16;
    uint32_t low = random_uint32();

    *packet = udp_packet(
        EXPLOSION_SRC ^ (0x80000000 >> src | (low & 0x7fffffff >> src)),
        random_uint32(),
        EXPLOSION_SPORT ^ (0x8000 >> sport | (low & 0x7fff >> sport)),
        EXPLOSION_DPORT ^ (0x8000 >> dport | (low >> 16 & 0x7fff >> dport)));
    *masks = base_masks();
    masks->nw_src = be32_prefix_mask(src + 1);
    masks->tp_src = htons(0xffff0000 >> (sport + 1));
    masks->tp_dst = htons(0xffff0000 >> (dport + 1));
}

/* Returns 'i' in another order. */
static uint32_t
shuffle(uint32_t i)
{
    return i * 2655 % N_EXPLOSION;
}

/* Fills the vector until it takes no more, empties half of it and fills it
 * again; all that is in must be found all the time. */
static void
test_growth_and_limit(void)
{
    struct entry **all = xcalloc(BIT_VECTOR_MAX_FLOWS + 1, sizeof *all);
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct dp_shapes shapes;
    struct flow packet, masks;

    dp_shapes_init(&shapes);
    for (size_t i = 0; i <= BIT_VECTOR_MAX_FLOWS; i++) {
        make_explosion(shuffle(i), &packet, &masks);
        all[i] = entry_create(slab, &packet, &masks);
        CHECK(!look_up(bv, slab, &shapes, &packet));
        if (i < BIT_VECTOR_MAX_FLOWS) {
            entry_insert(bv, all[i]);
            CHECK(look_up(bv, slab, &shapes, &packet) == all[i]->flow);
        } else {
            CHECK_INT(bit_vector_insert(bv, all[i]->flow, all[i]->mask), ==,
                      ENOSPC);
        }
    }
    CHECK_UINT(bit_vector_count(bv), ==, BIT_VECTOR_MAX_FLOWS);

    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < BIT_VECTOR_MAX_FLOWS; i++) {
            bool in = round % 2 || i % 2 || (round == 2 && i < 3000);

            if (in && !dp_flow_is_live(all[i]->flow)) {
                entry_insert(bv, all[i]);
            } else if (!in && dp_flow_is_live(all[i]->flow)) {
                entry_remove(bv, all[i]);
            }
        }
        for (size_t i = 0; i < BIT_VECTOR_MAX_FLOWS; i++) {
            make_explosion(shuffle(i), &packet, &masks);
            CHECK(look_up(bv, slab, &shapes, &packet)
                  == (dp_flow_is_live(all[i]->flow) ? all[i]->flow : NULL));
        }
        check_structure(bv);
        ovsrcu_quiesce();
    }

    CHECK_INT(bit_vector_insert(bv, all[BIT_VECTOR_MAX_FLOWS]->flow,
                                all[BIT_VECTOR_MAX_FLOWS]->mask), ==, ENOSPC);
    entry_remove(bv, all[7]);
    entry_insert(bv, all[BIT_VECTOR_MAX_FLOWS]);

    /* Down, from the end and then from the start, with the blocks. */
    for (size_t i = BIT_VECTOR_MAX_FLOWS; i + 1 > 0; i--) {
        if (i != 7 && i % 5) {
            entry_remove(bv, all[i]);
        }
    }
    check_structure(bv);
    for (size_t i = 0; i <= BIT_VECTOR_MAX_FLOWS; i += 5) {
        make_explosion(shuffle(i), &packet, &masks);
        CHECK(look_up(bv, slab, &shapes, &packet) == all[i]->flow);
        entry_remove(bv, all[i]);
        CHECK(!look_up(bv, slab, &shapes, &packet));
    }
    CHECK_UINT(bit_vector_count(bv), ==, 0);

    bit_vector_destroy(bv);
    for (size_t i = 0; i <= BIT_VECTOR_MAX_FLOWS; i++) {
        entry_free(all[i]);
    }
    free(all);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
}

static uint32_t
count_blocks(const struct bit_vector *bv)
{
    return ovsrcu_get(struct bv_table *, &bv->table)->n_blocks;
}

/* Blocks come when they are needed, and the last ones go when they are empty
 * and the one before has room. */
static void
test_blocks(void)
{
    enum { N = 1500 };
    struct entry **all = xcalloc(N, sizeof *all);
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct flow packet, masks;
    size_t i;

    for (i = 0; i < N; i++) {
        make_explosion(shuffle(i), &packet, &masks);
        all[i] = entry_create(slab, &packet, &masks);
        entry_insert(bv, all[i]);
        CHECK_UINT(count_blocks(bv), ==, i / BV_BLOCK_COLUMNS + 1);
    }
    while (i-- > 0) {
        size_t room = BV_BLOCK_COLUMNS / 4;

        entry_remove(bv, all[i]);
        if (i) {
            CHECK_UINT(count_blocks(bv), ==,
                       MIN(3, (i + room - 1) / BV_BLOCK_COLUMNS + 1));
        }
    }
    check_structure(bv);
    bit_vector_destroy(bv);
    for (i = 0; i < N; i++) {
        entry_free(all[i]);
    }
    free(all);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
}

/* Nibbles that no flow uses any more are weeded out some time, but not at each
 * removal: the table is replaced for the first flow that looks at them, and
 * from then on twice in 512 rounds. */
static void
test_weeding(void)
{
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct flow packet = udp_packet(1, 2, 3, 4), masks;
    const struct bv_table *table = NULL;
    struct entry *stays, *many;
    struct dp_shapes shapes;
    int n_tables = 0;

    dp_shapes_init(&shapes);
    masks = base_masks();
    masks.tp_dst = OVS_BE16_MAX;
    stays = entry_create(slab, &packet, &masks);
    entry_insert(bv, stays);

    masks = five_tuple_masks();
    memset(&masks.ipv6_src, 0xff, sizeof masks.ipv6_src);
    memset(&masks.dl_src, 0xff, sizeof masks.dl_src);
    packet.nw_dst = htonl(22);
    packet.tp_dst = htons(44);
    many = entry_create(slab, &packet, &masks);
    for (int i = 0; i < 1100; i++) {
        entry_insert(bv, many);
        if (ovsrcu_get(struct bv_table *, &bv->table) != table) {
            table = ovsrcu_get(struct bv_table *, &bv->table);
            n_tables++;
        }
        CHECK(look_up(bv, slab, &shapes, &packet) == many->flow);
        packet.tp_dst = htons(4);
        CHECK(look_up(bv, slab, &shapes, &packet) == stays->flow);
        packet.tp_dst = htons(44);
        entry_remove(bv, many);
        CHECK(!look_up(bv, slab, &shapes, &packet));
        packet.tp_dst = htons(4);
        CHECK(look_up(bv, slab, &shapes, &packet) == stays->flow);
        packet.tp_dst = htons(44);
    }
    check_structure(bv);

    /* After 512 and 1024 removals, and the next insertion had it all again. */
    CHECK_INT(n_tables, ==, 3);
    entry_remove(bv, stays);
    CHECK(bit_vector_is_empty(bv));
    bit_vector_destroy(bv);
    entry_free(stays);
    entry_free(many);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
}

/* Readers beside a writer.  The flows that stay look at all of 'nw_src', which
 * nothing that moves can match, and must be found all the time.  Those that
 * move are so many that blocks come and go, and their masks such that nibbles
 * do. */

enum { N_STAY = 300, N_MOVE = 900, N_READERS = 2, READER_ROUNDS = 30 };

static struct bit_vector *stress_bv;
static struct dp_slab *stress_slab;
static struct entry *stress_stay[N_STAY];
static atomic_count stress_rounds = ATOMIC_COUNT_INIT(0);
static atomic_bool stress_stop = false;

static struct flow
staying_packet(uint32_t i)
{
    return udp_packet(0x0a000000 | i << 8, 0x0c000000, i, 80);
}

static void
make_mover(struct flow *packet, struct flow *masks)
{
    *packet = random_packet();
    *masks = random_masks();
    packet->dl_type = htons(ETH_TYPE_IP);
    masks->dl_type = OVS_BE16_MAX;
    packet->nw_src = htonl(0x0b000000 | random_range(1 << 16));
    masks->nw_src = htonl(0xff00ff00);
}

static void *
stress_reader(void *arg OVS_UNUSED)
{
    struct dp_key *keys = xcalloc(N_STAY, sizeof *keys);
    bool stop;

    for (uint32_t i = 0; i < N_STAY; i++) {
        struct flow packet = staying_packet(i);

        dp_key_from_flow(&keys[i], &packet);
    }
    do {
        for (uint32_t i = 0; i < N_STAY; i++) {
            struct flow packet, masks;
            struct dp_flow *flow;
            struct dp_key key;

            flow = bit_vector_lookup(stress_bv, stress_slab, &keys[i]);
            CHECK_MSG(flow == stress_stay[i]->flow, "flow %d", i);

            make_mover(&packet, &masks);
            dp_key_from_flow(&key, &packet);
            flow = bit_vector_lookup(stress_bv, stress_slab, &key);
            if (flow) {
                for (uint32_t j = 0; j < N_STAY; j++) {
                    CHECK(flow != stress_stay[j]->flow);
                }
            }
        }
        atomic_count_inc(&stress_rounds);
        ovsrcu_quiesce();
        atomic_read_relaxed(&stress_stop, &stop);
    } while (!stop);
    free(keys);
    return NULL;
}

static void
test_readers_beside_writer(void)
{
    struct entry **movers = xcalloc(N_MOVE, sizeof *movers);
    pthread_t readers[N_READERS];
    struct flow packet, masks;

    stress_bv = bit_vector_create();
    stress_slab = dp_slab_create();
    for (uint32_t i = 0; i < N_STAY; i++) {
        packet = staying_packet(i);
        masks = base_masks();
        masks.nw_src = OVS_BE32_MAX;
        masks.tp_dst = htons(i);
        masks.tp_src = htons(i % 7 ? i * 31 : 0);
        stress_stay[i] = entry_create(stress_slab, &packet, &masks);

        /* Among others, so that they come to stay in all blocks. */
        for (uint32_t j = i * 3; j < i * 3 + 3; j++) {
            make_mover(&packet, &masks);
            movers[j] = entry_create(stress_slab, &packet, &masks);
            entry_insert(stress_bv, movers[j]);
        }
        entry_insert(stress_bv, stress_stay[i]);
    }
    for (int i = 0; i < N_READERS; i++) {
        readers[i] = ovs_thread_create("reader", stress_reader, NULL);
    }
    for (int round = 0;
         round < 30
         || atomic_count_get(&stress_rounds) < READER_ROUNDS * N_READERS;
         round++) {
        for (int i = 0; i < N_MOVE; i++) {
            if (movers[i] && round % 3) {
                entry_retire(stress_bv, movers[i]);
                movers[i] = NULL;
            } else if (!movers[i] && random_range(4)) {
                make_mover(&packet, &masks);
                movers[i] = entry_create(stress_slab, &packet, &masks);
                entry_insert(stress_bv, movers[i]);
            }
        }
        ovsrcu_quiesce();
    }
    atomic_store_relaxed(&stress_stop, true);
    for (int i = 0; i < N_READERS; i++) {
        xpthread_join(readers[i], NULL);
    }
    for (int i = 0; i < N_MOVE; i++) {
        if (movers[i]) {
            entry_retire(stress_bv, movers[i]);
        }
    }
    free(movers);
    for (uint32_t i = 0; i < N_STAY; i++) {
        entry_retire(stress_bv, stress_stay[i]);
    }
    bit_vector_destroy(stress_bv);
    ovsrcu_barrier();
    dp_slab_destroy(stress_slab);
}

/* Benchmark. */

static double
now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Returns ns per lookup of 'n_keys' keys, of which all are found or none: the
 * best of many rounds, since others may use the machine too. */
static double
measure_lookups(const struct bit_vector *bv, const struct dp_slab *slab,
                const struct dp_key *keys, size_t n_keys, bool found)
{
    double best = 0;

    for (int round = 0; round < 500; round++) {
        double start = now_ns();
        double ns;

        for (size_t i = 0; i < n_keys; i++) {
            CHECK(!bit_vector_lookup(bv, slab, &keys[i]) == !found);
        }
        ns = (now_ns() - start) / n_keys;
        best = round && best < ns ? best : ns;
    }
    return best;
}

static void
benchmark(size_t n)
{
    enum { N_KEYS = 2048 };
    struct entry **all = xcalloc(n, sizeof *all);
    struct dp_key *keys = xcalloc(N_KEYS, sizeof *keys);
    struct bit_vector *bv = bit_vector_create();
    struct dp_slab *slab = dp_slab_create();
    struct flow packet, masks;
    struct dp_shapes shapes;
    double insert, change, hit, miss, start;

    dp_shapes_init(&shapes);
    for (size_t i = 0; i < n; i++) {
        make_explosion(shuffle(i), &packet, &masks);
        all[i] = entry_create(slab, &packet, &masks);
    }
    start = now_ns();
    for (size_t i = 0; i < n; i++) {
        entry_insert(bv, all[i]);
    }
    insert = (now_ns() - start) / n;
    start = now_ns();
    for (size_t i = 0; i < n * 2; i++) {
        entry_remove(bv, all[i * 7 % n]);
        entry_insert(bv, all[i * 7 % n]);
    }
    change = (now_ns() - start) / n / 2;

    for (size_t i = 0; i < N_KEYS; i++) {
        make_explosion(shuffle(random_range(n)), &packet, &masks);
        dp_key_from_flow(&keys[i], &packet);
        dp_key_set_shape(&shapes, &keys[i]);
    }
    hit = measure_lookups(bv, slab, keys, N_KEYS, true);
    for (size_t i = 0; i < N_KEYS; i++) {
        make_explosion(shuffle(n + random_range(N_EXPLOSION - n)), &packet,
                       &masks);
        dp_key_from_flow(&keys[i], &packet);
        dp_key_set_shape(&shapes, &keys[i]);
    }
    miss = measure_lookups(bv, slab, keys, N_KEYS, false);
    printf("%5"PRIuSIZE" flows and masks: hit %6.1f ns, miss %6.1f ns, "
           "insert %6.0f ns, remove and insert %6.0f ns\n",
           n, hit, miss, insert, change);

    for (size_t i = 0; i < n; i++) {
        entry_retire(bv, all[i]);
    }
    bit_vector_destroy(bv);
    ovsrcu_barrier();
    dp_slab_destroy(slab);
    free(keys);
    free(all);
}

int
main(int argc, char *argv[])
{
    set_program_name(argv[0]);
    if (argc > 1 && !strcmp(argv[1], "benchmark")) {
        static const size_t sizes[] = { 16, 64, 256, 512, 1024, 2048, 4096 };

        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
            benchmark(sizes[i]);
        }
        return 0;
    }
    RUN_TEST(test_empty);
    RUN_TEST(test_zero_mask);
    RUN_TEST(test_absent_words);
    RUN_TEST(test_not_live);
    RUN_TEST(test_against_linear_search);
    RUN_TEST(test_growth_and_limit);
    RUN_TEST(test_blocks);
    RUN_TEST(test_weeding);
    RUN_TEST(test_readers_beside_writer);

    /* Leave nothing with RCU, for the leak check's sake. */
    ovsrcu_barrier();
    ovsrcu_barrier();
    return 0;
}
