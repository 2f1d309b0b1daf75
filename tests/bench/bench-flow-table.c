/* SPDX-License-Identifier: Apache-2.0 */

/* What the concurrency protocol of our flow table costs its readers.
 *
 * A lookup here is subtable_lookup(): the bucket, the signatures, the flow in
 * its slab and the comparison of its masked key.  The hash of the key is known
 * beforehand.  Measured are keys that have a flow, and keys that have none:
 *
 * - with the table as it is compiled for the datapath,
 * - without its protocol (tests/bench/subtable-plain.h), in the same table,
 * - as it is, while a thread on another core adds and removes flows without a
 *   pause.
 *
 * Every lookup is verified: it must give the very flow of its key, or none.
 *
 * Usage: bench-flow-table [--repeats=N]
 *
 * The first two take turns, N times (default 301), with keys that are random
 * and not the same ones in the next turn; then the third has as many.  The
 * figures are medians, and the ratio is the median of the ratios of
 * neighboring turns.  Times are those that the thread has the processor for
 * itself.  Readers run on core 1 if there is one, the writer on core 0.
 *
 * Processors such as x86, where every load acquires and every store releases,
 * have no other instructions for it; there, the protocol can only cost what it
 * keeps the compiler from. */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/subtable-plain.h"
#include "bench/turns.h"
#include "odp-util.h"
#include "openvswitch/match.h"
#include "openvswitch/vlog.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "packets.h"
#include "table/dp-flow.h"
#include "table/dp-key.h"
#include "table/flow-table.h"
#include "table/subtable.h"
#include "util.h"

enum {
    MAX_REPEATS = 10000,
    IN_PORT = 1,
    N_QUERIES = 1 << 20,        /* Of a kind... */
    N_TURN = 1 << 13,           /* ...and of these, in a turn. */
    N_WRITTEN = 32,             /* Flows that the writer keeps in the table. */
    N_UNQUIET = 16              /* Changes between quiescent states. */
};

static unsigned int n_repeats = 301;

static void
nap(void)
{
    nanosleep(&(struct timespec) { .tv_nsec = 20000 }, NULL);
}

static uint32_t
random_number(void)
{
    static uint64_t state = 1;

    state = state * UINT64_C(0x5851f42d4c957f2d) + 1;
    return state >> 32;
}

/* The table.
 *
 * Numbers from 0 to 'n' - 1 are flows that stay, those from 'n' to 2 * n - 1
 * are never flows, and the next 'n' are for the writer. */

struct bench_table {
    unsigned int n;
    struct dp_slab *slab;
    struct subtable *subtable;
    struct dp_mask *mask;
    struct dp_shapes shapes;
    struct dp_key key;          /* Of a packet, as readers see it... */
    size_t address_word;        /* ...and which of its words varies. */
};

/* The IPv4 addresses of the packets of flow 'number', as a word of a key. */
static inline uint64_t
addresses_of(uint32_t number)
{
    union {
        ovs_be32 be[2];
        uint64_t word;
    } u = { .be = { htonl(0x0a000001), htonl(number) } };

    return u.word;
}

/* All flows match on the 5-tuple and nothing more. */
static void
make_match(struct match *match)
{
    match_init_catchall(match);
    match_set_in_port(match, OFPP_NONE);
    match->flow.in_port.odp_port = u32_to_odp(IN_PORT);
    match->wc.masks.in_port.odp_port = ODPP_NONE;
    match_set_packet_type(match, htonl(PT_ETH));
    match_set_dl_type(match, htons(ETH_TYPE_IP));
    match_set_nw_proto(match, IPPROTO_UDP);
    match_set_nw_src(match, htonl(0x0a000001));
    match_set_nw_dst(match, htonl(0xffffffff));
    match_set_tp_src(match, htons(1000));
    match_set_tp_dst(match, htons(2000));
    dp_match_normalize(match);
}

static void
table_init(struct bench_table *t, unsigned int n)
{
    const size_t idx = offsetof(struct flow, nw_src) / sizeof(uint64_t);
    struct match match;

    BUILD_ASSERT_DECL(offsetof(struct flow, nw_src) % sizeof(uint64_t) == 0);
    BUILD_ASSERT_DECL(offsetof(struct flow, nw_dst)
                      == offsetof(struct flow, nw_src) + 4);
    make_match(&match);
    t->n = n;
    t->slab = dp_slab_create();
    t->mask = dp_mask_create(&match);
    dp_mask_complete(t->mask);
    t->mask->in_port = u32_to_odp(IN_PORT);
    ovs_assert(t->mask->n <= DP_FLOW_INLINE_WORDS);
    t->subtable = subtable_create(t->mask);

    dp_shapes_init(&t->shapes);
    dp_key_from_flow(&t->key, &match.flow);
    dp_key_set_shape(&t->shapes, &t->key);
    t->address_word = miniflow_get__(&t->key.mf, idx) - t->key.words;
}

/* Makes a key for a thread that does not own the table. */
static void
make_foreign_key(const struct bench_table *t, struct dp_key *key)
{
    *key = t->key;
    key->shape = 0;
}

/* Adds flow 'number'.  'key' is the thread's own. */
static struct dp_flow *
table_add(struct bench_table *t, struct dp_key *key, uint32_t number)
{
    struct dp_flow *flow = dp_slab_alloc(t->slab);

    if (!flow) {
        ovs_fatal(0, "no memory for flows");
    }
    key->words[t->address_word] = addresses_of(number);
    flow->hash = dp_mask_key(t->mask, key, flow->words);
    if (subtable_insert(t->subtable, flow)) {
        ovs_fatal(0, "no memory for the table");
    }
    dp_flow_publish(flow, t->mask);
    return flow;
}

/* The slot is to be freed after a grace period. */
static void
table_remove(struct bench_table *t, struct dp_flow *flow)
{
    dp_flow_publish(flow, NULL);
    subtable_remove(t->subtable, flow);
}

/* The flows with the first numbers get the first slots. */
static inline struct dp_flow *
table_get(const struct bench_table *t, uint32_t number)
{
    return dp_slab_get(t->slab, number + 1);
}

static void
table_fill(struct bench_table *t)
{
    struct dp_key key;

    make_foreign_key(t, &key);
    for (uint32_t i = 0; i < t->n; i++) {
        struct dp_flow *flow = table_add(t, &key, i);

        ovs_assert(flow == table_get(t, i));
    }
}

static void
table_destroy(struct bench_table *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        table_remove(t, table_get(t, i));
    }
    ovsrcu_synchronize();
    for (uint32_t i = 0; i < t->n; i++) {
        dp_slab_free(t->slab, table_get(t, i));
    }
    subtable_destroy(t->subtable);
    dp_slab_destroy(t->slab);
}

/* The writer, a thread that sleeps unless it is told to write. */

struct writer {
    pthread_t thread;
    struct bench_table *table;  /* Set while 'state' is W_IDLE. */
    uint64_t n_changes;         /* Read while it is. */
    double ns;                  /* Likewise. */

    /* The bench sets it to W_BEGIN, W_END and W_EXIT, the writer in answer to
     * the first two to W_BUSY and W_IDLE.  Release and acquire: with it, what
     * is above changes hands. */
    atomic_int state;
};

enum { W_IDLE, W_BEGIN, W_BUSY, W_END, W_EXIT };

static struct writer writer;

static int
writer_state(void)
{
    int state;

    atomic_read_explicit(&writer.state, &state, memory_order_acquire);
    return state;
}

static void
writer_set_state(int state)
{
    atomic_store_explicit(&writer.state, state, memory_order_release);
}

struct dead_flow {
    struct dp_slab *slab;
    struct dp_flow *flow;
};

static void
free_dead_flow(struct dead_flow *dead)
{
    dp_slab_free(dead->slab, dead->flow);
    free(dead);
}

static void
writer_remove(struct bench_table *t, struct dp_flow *flow)
{
    struct dead_flow *dead = xmalloc(sizeof *dead);

    table_remove(t, flow);
    dead->slab = t->slab;
    dead->flow = flow;
    ovsrcu_postpone(free_dead_flow, dead);
}

static void
writer_write(struct bench_table *t)
{
    struct dp_flow *flows[N_WRITTEN] = { NULL };
    double start = turns_clock_ns(CLOCK_MONOTONIC);
    struct dp_key key;
    unsigned int i;

    make_foreign_key(t, &key);
    writer_set_state(W_BUSY);
    for (i = 0; writer_state() == W_BUSY; i++) {
        struct dp_flow **flow = &flows[i % N_WRITTEN];

        if (*flow) {
            writer_remove(t, *flow);
        }
        *flow = table_add(t, &key, 2 * t->n + i % t->n);
        if (i % N_UNQUIET == 0) {
            ovsrcu_quiesce();
        }
    }
    writer.n_changes += 2 * i;
    writer.ns += turns_clock_ns(CLOCK_MONOTONIC) - start;
    for (i = 0; i < N_WRITTEN; i++) {
        if (flows[i]) {
            writer_remove(t, flows[i]);
        }
    }
    ovsrcu_quiesce();
    writer_set_state(W_IDLE);
}

static void *
writer_main(void *aux OVS_UNUSED)
{
    int state;

    while ((state = writer_state()) != W_EXIT) {
        if (state == W_BEGIN) {
            writer_write(writer.table);
        } else {
            ovsrcu_quiesce_start();
            nap();
            ovsrcu_quiesce_end();
        }
    }
    return NULL;
}

/* Tells the writer something and waits until it has understood. */
static void
writer_tell(int told, int understood)
{
    writer_set_state(told);
    ovsrcu_quiesce_start();
    while (writer_state() != understood) {
        nap();
    }
    ovsrcu_quiesce_end();
}

/* Lookups. */

struct query {
    uint32_t number;
    uint32_t hash;
};

enum kind { HIT, MISS, N_KINDS };

static struct query queries[N_KINDS][N_QUERIES];

typedef struct dp_flow *lookup_func(const struct subtable *,
                                    const struct dp_slab *,
                                    const struct dp_key *, uint32_t hash);

static void
make_queries(struct bench_table *t)
{
    uint64_t words[DP_FLOW_INLINE_WORDS];
    struct dp_key key = t->key;

    for (int kind = 0; kind < N_KINDS; kind++) {
        for (size_t i = 0; i < N_QUERIES; i++) {
            struct query *q = &queries[kind][i];

            q->number = random_number() % t->n + (kind == MISS ? t->n : 0);
            key.words[t->address_word] = addresses_of(q->number);
            q->hash = dp_mask_key(t->mask, &key, words);
        }
    }
}

/* Makes a turn of queries.  Returns how many found the wrong thing. */
static unsigned int __attribute__((noinline))
look_up(const struct bench_table *t, lookup_func *lookup,
        const struct query *q, enum kind kind)
{
    struct dp_key key = t->key;
    unsigned int n_wrong = 0;

    for (size_t i = 0; i < N_TURN; i++, q++) {
        struct dp_flow *flow;

        key.words[t->address_word] = addresses_of(q->number);
        flow = lookup(t->subtable, t->slab, &key, q->hash);
        n_wrong += flow != (kind == HIT ? table_get(t, q->number) : NULL);
    }
    return n_wrong;
}

/* Returns the nanoseconds of a lookup, in the next turn of its kind. */
static double
time_turn(struct bench_table *t, lookup_func *lookup, enum kind kind)
{
    static size_t next[N_KINDS];
    const struct query *q = &queries[kind][next[kind]];
    unsigned int n_wrong;
    double took;

    next[kind] = (next[kind] + N_TURN) % N_QUERIES;
    took = turns_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    n_wrong = look_up(t, lookup, q, kind);
    took = turns_clock_ns(CLOCK_THREAD_CPUTIME_ID) - took;
    ovsrcu_quiesce();
    if (n_wrong) {
        ovs_fatal(0, "%u of %d lookups in a table of %u flows %s", n_wrong,
                  N_TURN, t->n, kind == HIT ? "did not find their flow"
                  : "found a flow for an absent key");
    }
    return took / N_TURN;
}

enum column { WITH, WITHOUT, WRITER, N_COLUMNS };

static double
time_column(struct bench_table *t, enum column column, enum kind kind)
{
    double ns;

    if (column == WITHOUT) {
        return time_turn(t, plain_subtable_lookup, kind);
    }
    if (column == WRITER) {
        writer_tell(W_BEGIN, W_BUSY);
    }
    ns = time_turn(t, subtable_lookup, kind);
    if (column == WRITER) {
        writer_tell(W_END, W_IDLE);
    }
    return ns;
}

/* Measures and prints a line.  Returns the ratio of with to without. */
static double
bench_kind(struct bench_table *t, enum kind kind)
{
    /* What grows steadily meanwhile, or shrinks, makes none look better. */
    static const enum column order[] = { WITH, WITHOUT, WITHOUT, WITH };
    static double times[N_COLUMNS][MAX_REPEATS], ratios[MAX_REPEATS];
    double ratio;

    for (unsigned int i = 0; i < n_repeats; i++) {
        times[WITH][i] = times[WITHOUT][i] = 0;
        for (size_t j = 0; j < ARRAY_SIZE(order); j++) {
            times[order[j]][i] += time_column(t, order[j], kind) / 2;
        }
        ratios[i] = times[WITH][i] / times[WITHOUT][i];
    }
    ratio = turns_median(ratios, n_repeats);

    writer.n_changes = 0;
    writer.ns = 0;
    for (unsigned int i = 0; i < n_repeats; i++) {
        times[WRITER][i] = time_column(t, WRITER, kind);
    }
    printf("%9u  %-6s %9.2f %9.2f %9.3f %13.2f %13.2f\n", t->n,
           kind == HIT ? "hit" : "absent",
           turns_median(times[WITHOUT], n_repeats),
           turns_median(times[WITH], n_repeats), ratio,
           turns_median(times[WRITER], n_repeats),
           writer.n_changes / writer.ns * 1000);
    fflush(stdout);
    return ratio;
}

int
main(int argc, char *argv[])
{
    static const unsigned int sizes[] = { 1 << 10, 1 << 16, 1 << 20 };
    static struct bench_table table;
    double worst = 0;
    bool two_cores;

    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    turns_parse_options(argc, argv, MAX_REPEATS, &n_repeats);

    /* RCU's own thread and the writer stay on the core where they begin. */
    turns_pin(0);
    ovsrcu_quiesce();
    atomic_init(&writer.state, W_IDLE);
    writer.thread = ovs_thread_create("writer", writer_main, NULL);
    ovsrcu_synchronize();
    two_cores = turns_pin(1);

    printf("Lookups in the flow table, in ns; medians of %u turns%s\n\n"
           "%9s  %-6s %9s %9s %9s %13s %13s\n"
           "%9s  %-6s %9s %9s %9s %13s %13s\n",
           n_repeats, two_cores ? "" : "; ONE CORE ONLY",
           "", "", "without", "with the", "", "...and beside", "its changes,",
           "flows", "key", "protocol", "protocol", "ratio", "a writer",
           "millions/s");
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        table_init(&table, sizes[i]);
        table_fill(&table);
        make_queries(&table);
        writer.table = &table;
        for (enum kind kind = 0; kind < N_KINDS; kind++) {
            double ratio = bench_kind(&table, kind);

            worst = MAX(worst, ratio);
        }
        table_destroy(&table);
    }
    writer_set_state(W_EXIT);
    ovsrcu_quiesce_start();
    xpthread_join(writer.thread, NULL);

    printf("\nGoal: a ratio of no more than 1.03 everywhere: %s (%.3f)\n",
           worst <= 1.03 ? "met" : "missed", worst);
    return 0;
}
