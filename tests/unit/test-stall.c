/* SPDX-License-Identifier: Apache-2.0 */

/* The stall recorder: a PMD thread of a real datapath is held in each of its
 * stages in turn, and the recorder has to name the stage and the function.
 *
 * Ports and the upper layer are this file's, and stall where it is told.  For
 * stages that call nothing of the kind it includes the sources, whose stage
 * marks then come here.  It is compiled without inlining, so that a function
 * keeps its name in the stack. */

#include <config.h>
#undef NDEBUG

static void stall_at(const char *point);
#define SYNC_POINT(NAME) stall_at(NAME)

#include "pmd/execute.c"
#include "pmd/housekeeping.c"
#include "pmd/input.c"
#include "pmd/loop.c"
#include "pmd/stall-watch.c"
#include "pmd/stall.c"
#include "dp/commands-stall.c"

#include <semaphore.h>
#include <sys/wait.h>

#include "dp/dp-netdev.h"
#include "dpif.h"
#include "dummy.h"
#include "netdev-provider.h"
#include "openvswitch/vlog.h"
#include "smap.h"
#include "unit.h"

enum { THRESHOLD_US = 20000 };

static struct dpif *dpif;
static struct dp_netdev *dp;
static struct pmd_thread *pmd;

static sem_t reached, released;
static ATOMIC(const char *) wanted; /* Where the thread is to stall, once. */
static atomic_bool deaf;            /* It takes no signals there... */
static atomic_bool deaf_for_ever;   /* ...and none afterwards. */
static atomic_bool want_packet;
static atomic_bool want_ct;

/* Not xnanosleep(), after which the thread is active. */
static void
nap(void)
{
    struct timespec ts = { 0, 1000000 };

    nanosleep(&ts, NULL);
}

static void
wait_for(sem_t *sem)
{
    while (sem_wait(sem)) {
        continue;               /* A signal came. */
    }
}

static void
stall_at(const char *point)
{
    const char *where;
    bool no_signals, for_ever;
    sigset_t all, before;

    atomic_read(&wanted, &where);
    if (!own_pmd || !where || strcmp(where, point)) {
        return;
    }
    atomic_store(&wanted, (const char *) NULL);
    atomic_read(&deaf, &no_signals);
    if (no_signals) {
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
    }
    sem_post(&reached);
    wait_for(&released);
    atomic_read(&deaf_for_ever, &for_ever);
    if (no_signals && !for_ever) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

/* Ports. */

static struct netdev *
port_alloc(void)
{
    return xzalloc(sizeof(struct netdev));
}

static int
port_construct(struct netdev *netdev)
{
    netdev->n_rxq = 1;
    netdev->n_txq = 1;
    return 0;
}

static void
port_destruct(struct netdev *netdev OVS_UNUSED)
{
}

static void
port_dealloc(struct netdev *netdev)
{
    free(netdev);
}

static int
port_get_numa_id(const struct netdev *netdev OVS_UNUSED)
{
    return 0;
}

static int
port_update_flags(struct netdev *netdev OVS_UNUSED,
                  enum netdev_flags off OVS_UNUSED,
                  enum netdev_flags on OVS_UNUSED, enum netdev_flags *old)
{
    *old = NETDEV_UP;
    return 0;
}

static struct netdev_rxq *
port_rxq_alloc(void)
{
    return xzalloc(sizeof(struct netdev_rxq));
}

static int
port_rxq_construct(struct netdev_rxq *rx OVS_UNUSED)
{
    return 0;
}

static void
port_rxq_destruct(struct netdev_rxq *rx OVS_UNUSED)
{
}

static void
port_rxq_dealloc(struct netdev_rxq *rx)
{
    free(rx);
}

/* What happens once in a while happens at once, if it is waited for. */
static void
hurry(void)
{
    const char *where;

    atomic_read(&wanted, &where);
    if (where && !strcmp(where, "rank")) {
        own_pmd->next_rank = 0;
    } else if (where && !strcmp(where, "load")) {
        own_pmd->next_interval = 0;
    }
}

static int
port_rxq_recv(struct netdev_rxq *rx OVS_UNUSED, struct dp_packet_batch *batch,
              int *qfill OVS_UNUSED)
{
    struct dp_packet *packet;
    struct flow flow;
    bool send;

    hurry();
    stall_at("port receive");
    atomic_read(&want_packet, &send);
    if (!send) {
        return EAGAIN;
    }
    atomic_store(&want_packet, false);

    memset(&flow, 0, sizeof flow);
    flow.packet_type = htonl(PT_ETH);
    flow.dl_type = htons(ETH_TYPE_IP);
    flow.nw_proto = IPPROTO_UDP;
    flow.nw_ttl = 64;
    packet = dp_packet_new(100);
    flow_compose(packet, &flow, NULL, 58, false);
    dp_packet_batch_init_packet(batch, packet);
    return 0;
}

static int
port_send(struct netdev *netdev OVS_UNUSED, int qid OVS_UNUSED,
          struct dp_packet_batch *batch, bool concurrent OVS_UNUSED)
{
    stall_at("port transmit");
    dp_packet_delete_batch(batch, true);
    return 0;
}

static const struct netdev_class port_class = {
    .type = "stall",
    .is_pmd = true,
    .alloc = port_alloc,
    .construct = port_construct,
    .destruct = port_destruct,
    .dealloc = port_dealloc,
    .get_numa_id = port_get_numa_id,
    .update_flags = port_update_flags,
    .send = port_send,
    .rxq_alloc = port_rxq_alloc,
    .rxq_construct = port_rxq_construct,
    .rxq_destruct = port_rxq_destruct,
    .rxq_dealloc = port_rxq_dealloc,
    .rxq_recv = port_rxq_recv,
};

/* The upper layer.  Has no flow installed, so that each packet comes here. */
static int
upper_layer(const struct dp_packet *packet OVS_UNUSED,
            const struct flow *flow, ovs_u128 *ufid OVS_UNUSED,
            unsigned pmd_id OVS_UNUSED, enum dpif_upcall_type type OVS_UNUSED,
            const struct nlattr *userdata OVS_UNUSED, struct ofpbuf *actions,
            struct flow_wildcards *wc OVS_UNUSED,
            struct ofpbuf *put_actions OVS_UNUSED, void *aux OVS_UNUSED)
{
    bool ct;

    stall_at("upper layer");
    atomic_read(&want_ct, &ct);
    if (ct) {
        size_t offset = nl_msg_start_nested(actions, OVS_ACTION_ATTR_CT);

        nl_msg_put_flag(actions, OVS_CT_ATTR_COMMIT);
        nl_msg_end_nested(actions, offset);
    }
    nl_msg_put_odp_port(actions, OVS_ACTION_ATTR_OUTPUT,
                        flow->in_port.odp_port);
    return ENOSPC;
}

/* The datapath: two threads, one of which has nothing to poll. */

static void
configure(const char *threshold)
{
    struct smap config = SMAP_INITIALIZER(&config);

    smap_add(&config, "pmd-cpu-mask", "3");
    if (threshold) {
        smap_add(&config, "pmd-stall-threshold", threshold);
    }
    CHECK_INT(dpif_set_config(dpif, &config), ==, 0);
    smap_destroy(&config);
}

static odp_port_t port_no = ODPP_NONE;

static void
add_port(void)
{
    struct netdev *netdev;

    CHECK_INT(netdev_open("p1", "stall", &netdev), ==, 0);
    CHECK_INT(dpif_port_add(dpif, netdev, &port_no), ==, 0);
    netdev_close(netdev);
}

static void
del_port(void)
{
    CHECK_INT(dpif_port_del(dpif, port_no, false), ==, 0);
    port_no = ODPP_NONE;
}

/* Finds the thread that polls, or the one that does not. */
static struct pmd_thread *
find_pmd(bool polls)
{
    struct pmd_thread *p;

    CMAP_FOR_EACH (p, node, &dp->poll_threads) {
        bool empty;

        ovs_mutex_lock(&p->port_mutex);
        empty = hmap_is_empty(&p->poll_list);
        ovs_mutex_unlock(&p->port_mutex);
        if (p->core_id != NON_PMD_CORE_ID && empty != polls) {
            return p;
        }
    }
    CHECK(!"no such thread");
    return NULL;
}

static void
open_datapath(void)
{
    CHECK_INT(dpif_create("dp-under-test", "dummy", &dpif), ==, 0);
    dp = dp_netdev_from_dpif(dpif);
    dpif_register_upcall_cb(dpif, upper_layer, NULL);
    dpif_enable_upcall(dpif);
    configure("20000");
    add_port();
    pmd = find_pmd(true);
}

/* The port, and the threads with it, go first: a thread that ends needs
 * upcalls to be enabled. */
static void
close_datapath(void)
{
    if (port_no != ODPP_NONE) {
        del_port();
    }
    dpif_disable_upcall(dpif);
    CHECK_INT(dpif_delete(dpif), ==, 0);
    dpif_close(dpif);
    ovsrcu_barrier();
}

/* What the recorder knows. */

static struct pmd_stall_report report;

/* Reads until there is a record of 'stage', the newest such, that is over or
 * not.  Returns it. */
static const struct pmd_stall_record *
await_record(enum pmd_stage stage, bool ended)
{
    long long deadline = time_msec() + 30000;

    for (;;) {
        pmd_stall_read(pmd, &report);
        CHECK_MSG(time_msec() < deadline, "no %s record of stage %s; there "
                  "are %"PRIuSIZE", the newest of stage %s",
                  ended ? "complete" : "running", pmd_stage_name(stage),
                  report.n_records, pmd_stage_name(report.records[0].stage));
        for (size_t i = 0; i < report.n_records; i++) {
            const struct pmd_stall_record *record = &report.records[i];

            if (record->stage == stage && record->ended == ended
                && (record->stack.n || !pmd_stall_has_stacks())) {
                return record;
            }
        }
        nap();
    }
}

static char *
show(void)
{
    struct ds ds = DS_EMPTY_INITIALIZER;

    show_stalls(&ds, pmd);
    return ds_steal_cstr(&ds);
}

static void
check_contains(const char *text, const char *part)
{
    CHECK_MSG(strstr(text, part), "\"%s\" is not in:\n%s", part, text);
}

static uint64_t
caught_start(void)
{
    uint64_t start;

    ovs_mutex_lock(&pmd->stall->mutex);
    start = pmd->stall->caught.start;
    ovs_mutex_unlock(&pmd->stall->mutex);
    return start;
}

static uint64_t
count_all(void)
{
    uint64_t n = 0;

    pmd_stall_read(pmd, &report);
    for (size_t i = 0; i < ARRAY_SIZE(report.stages); i++) {
        n += report.stages[i].count;
    }
    return n;
}

/* Checks that the stack in 'text' has the function of 'frame', if it can be
 * told.  With TSan it cannot: its runtime defers a signal to where it waits
 * for something itself, and the stack cannot be walked from there. */
static void
check_stack(const char *text, const char *frame)
{
#ifdef __SANITIZE_THREAD__
    bool told = false;
#else
    bool told = pmd_stall_has_stacks();
#endif

    if (told) {
        check_contains(text, frame);
    }
}

/* Stages. */

static void
want_one_packet(void)
{
    atomic_store(&want_packet, true);
}

static void
want_conntrack(void)
{
    atomic_store(&want_ct, true);
    want_one_packet();
}

static void
want_cache(void)
{
    static uint32_t size = 1024;

    size = size == 1024 ? 2048 : 1024;
    CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_EMC, size), ==, 0);
}

static void
want_reload(void)
{
    pmd_reload_request(pmd);
}

static const struct stage_case {
    enum pmd_stage stage;
    const char *point;
    const char *function;       /* That it is in. */
    void (*prepare)(void);
} stage_cases[] = {
    { PMD_STAGE_OTHER, "other", "poll_loop_run", NULL },
    { PMD_STAGE_RECEIVE, "port receive", "port_rxq_recv", NULL },
    { PMD_STAGE_PARSE, "parse", "pmd_input", want_one_packet },
    { PMD_STAGE_LOOKUP, "lookup", "burst_run", want_one_packet },
    { PMD_STAGE_UPCALL, "upper layer", "upper_layer", want_one_packet },
    { PMD_STAGE_EXECUTE, "execute", "pmd_execute_actions", want_one_packet },
    { PMD_STAGE_CONNTRACK, "conntrack", "execute_ct", want_conntrack },
    { PMD_STAGE_TRANSMIT, "port transmit", "port_send", want_one_packet },
    { PMD_STAGE_CACHES, "caches", "pmd_resize_caches", want_cache },
    { PMD_STAGE_SWEEP, "sweep", "sweep_caches", NULL },
    { PMD_STAGE_RANK, "rank", "ask_for_ranking", NULL },
    { PMD_STAGE_LOAD, "load", "end_interval", NULL },
    { PMD_STAGE_COVERAGE, "coverage", "pmd_housekeeping_run", NULL },
    { PMD_STAGE_QUIESCE, "quiesce", "try_quiesce", NULL },
    { PMD_STAGE_QUEUES, "queues", "poll_loop_check_queues", NULL },
    { PMD_STAGE_RELOAD, "reload", "poll_loop_reload", want_reload },
};

/* Has the thread stall, and returns when it does. */
static void
begin_stall(const struct stage_case *c)
{
    atomic_store(&wanted, c->point);
    if (c->prepare) {
        c->prepare();
    }
    wait_for(&reached);
}

static void
end_stall(const struct stage_case *c)
{
    sem_post(&released);
    if (c->prepare == want_reload) {
        pmd_reload_wait(pmd);
    }
    atomic_store(&want_ct, false);
}

static void
stall_in(const struct stage_case *c)
{
    char *name = xasprintf("    %s+0x", c->function);
    char *line = xasprintf(" %s: ", pmd_stage_name(c->stage));
    const struct pmd_stall_record *record;
    long long start = time_wall_msec();
    long long us;
    char *text;

    pmd_stall_clear(pmd);
    begin_stall(c);
    us = time_usec();

    /* It can be seen while it lasts. */
    record = await_record(c->stage, false);
    CHECK(record == &report.records[0]);
    CHECK_UINT(record->us, >, THRESHOLD_US);
    CHECK_INT(record->state, ==, 'S');
    CHECK_UINT(report.stages[c->stage].count, ==, 0);
    text = show();
    check_contains(text, line);
    check_contains(text, "and still stuck, blocked (state S)");
    check_stack(text, name);
    free(text);

    us = time_usec() - us;
    end_stall(c);
    record = await_record(c->stage, true);
    CHECK_UINT(record->us, >=, us);
    CHECK_INT(record->started, >=, start - 1000);
    CHECK_INT(record->started, <=, time_wall_msec());
    CHECK_UINT(report.stages[c->stage].count, >=, 1);
    CHECK_UINT(report.stages[c->stage].longest_us, >=, record->us);
    CHECK_UINT(report.stages[c->stage].total_us, >=, record->us);
    text = show();
    check_stack(text, name);
    check_stack(text, "    stall_at+0x");
    check_stack(text, "    pmd_thread_main+0x");
    free(text);
    free(line);
    free(name);
}

static void
test_each_stage(void)
{
    unsigned int seen = 1u << PMD_STAGE_SLEEP; /* No stall; test_sleep(). */

    open_datapath();
    for (size_t i = 0; i < ARRAY_SIZE(stage_cases); i++) {
        stall_in(&stage_cases[i]);
        seen |= 1u << stage_cases[i].stage;
    }
    CHECK_HEX(seen, ==, (1u << PMD_N_STAGES) - 1);
    close_datapath();
}

/* Deliberate pauses. */

static void
test_no_queues(void)
{
    struct pmd_thread *idle;
    uint64_t start;

    open_datapath();
    idle = find_pmd(false);
    do {
        nap();
        atomic_read_relaxed(&idle->mark.start, &start);
    } while (start);
    stall_in(&stage_cases[1]);
    pmd = idle;
    CHECK_UINT(count_all(), ==, 0);
    CHECK_UINT(report.n_records, ==, 0);
    close_datapath();
}

/* The structure without a thread stands for one whose marks are as we say. */
static struct pmd_thread *
non_pmd(void)
{
    struct pmd_thread *p = dp_netdev_get_pmd(dp, NON_PMD_CORE_ID);

    pmd_stall_set_threshold(p, 1000);
    pmd_thread_unref(p);
    return p;
}

static void
test_sleep(void)
{
    uint64_t second = pmd_perf_tsc_hz();

    open_datapath();
    pmd = non_pmd();
    pmd_stall_begin(pmd, now_cycles() - 2 * second);
    pmd_stage_set(&pmd->mark, PMD_STAGE_SLEEP);
    look_at(pmd);
    CHECK_UINT(caught_start(), ==, 0);
    pmd_stall_slept(pmd, 3 * second, PMD_STAGE_OTHER);
    look_at(pmd);
    CHECK_UINT(caught_start(), ==, 0);
    pmd_stall_set_threshold(pmd, 500000);
    pmd_stall_slept(pmd, 1.9 * second, PMD_STAGE_OTHER);
    look_at(pmd);
    CHECK_UINT(caught_start(), ==, 0);
    pmd_stall_slept(pmd, second, PMD_STAGE_OTHER);
    look_at(pmd);
    CHECK_UINT(caught_start(), !=, 0);

    /* The sleep is not part of it. */
    pmd_stall_read(pmd, &report);
    CHECK_UINT(report.records[0].us, >=, 1000000);
    CHECK_UINT(report.records[0].us, <, 1900000);
    pmd_stall_end(pmd, second);
    pmd_stall_begin(pmd, now_cycles());
    CHECK_UINT(pmd->mark.slept, ==, 0);
    look_at(pmd);
    CHECK_UINT(caught_start(), ==, 0);
    close_datapath();
}

/* Over before it was found to be a stall, but not before it was seen. */
static void
test_glimpse(void)
{
    uint64_t ms = pmd_perf_tsc_hz() / 1000;
    uint64_t start;

    open_datapath();
    pmd = non_pmd();
    pmd_stall_set_threshold(pmd, PMD_STALL_MAX_US);
    start = now_cycles() - 3 * ms;
    pmd_stall_begin(pmd, start);
    pmd_stage_set(&pmd->mark, PMD_STAGE_PARSE);
    look_at(pmd);
    pmd_stage_set(&pmd->mark, PMD_STAGE_TRANSMIT);
    look_at(pmd);
    CHECK_UINT(caught_start(), ==, 0);

    /* It ends, and the next one is seen before the report is read. */
    pmd_stall_set_threshold(pmd, 1000);
    pmd_stall_end(pmd, 3 * ms);
    pmd_stall_begin(pmd, start + 1);
    pmd_stall_glimpse(pmd, start + 1, start + 2, PMD_STAGE_RECEIVE);
    pmd_stall_read(pmd, &report);
    CHECK_UINT(report.stages[PMD_STAGE_TRANSMIT].count, ==, 1);
    CHECK_UINT(count_all(), ==, 1);
    CHECK_UINT(report.n_records, ==, 0);

    /* Two later nobody knows any more. */
    pmd_stall_glimpse(pmd, start + 2, start + 3, PMD_STAGE_RECEIVE);
    pmd_stall_glimpse(pmd, start + 4, start + 5, PMD_STAGE_RECEIVE);
    pmd_stall_end(pmd, 2 * ms);
    pmd_stall_read(pmd, &report);
    CHECK_UINT(report.stages[PMD_STALL_NOT_CAUGHT].count, ==, 1);

    /* It was stuck before it could publish its begin. */
    pmd_stall_glimpse(pmd, start + 5, start + 10, PMD_STAGE_QUIESCE);
    pmd_stall_begin(pmd, start + 9);
    pmd_stall_end(pmd, 2 * ms);
    pmd_stall_read(pmd, &report);
    CHECK_UINT(report.stages[PMD_STAGE_QUIESCE].count, ==, 1);
    CHECK_UINT(count_all(), ==, 3);
    close_datapath();
}

/* The store. */

static void
test_figures(void)
{
    uint64_t ms = pmd_perf_tsc_hz() / 1000;

    open_datapath();
    pmd = non_pmd();

    /* Not caught, and the ring full. */
    for (int i = 0; i < RING_SIZE + 6; i++) {
        pmd_stall_begin(pmd, 1000 + i);
        pmd_stall_end(pmd, i % 2 ? 4 * ms : 2 * ms);
        pmd_stall_end(pmd, ms / 2);
    }
    pmd_stall_read(pmd, &report);
    CHECK_UINT(report.stages[PMD_STALL_NOT_CAUGHT].count, ==, RING_SIZE);
    CHECK_UINT(report.stages[PMD_STALL_NOT_CAUGHT].longest_us / 10, ==,
               cycles_to_us(4 * ms) / 10);
    CHECK_UINT(report.stages[PMD_STALL_NOT_CAUGHT].total_us / 1000, ==,
               cycles_to_us(3 * ms * RING_SIZE) / 1000);
    CHECK_UINT(report.n_lost, ==, 6);
    CHECK_UINT(report.n_records, ==, 0);

    /* Caught ones: the newest are kept. */
    for (int i = 0; i < PMD_STALL_RECORDS + 4; i++) {
        pmd_stall_begin(pmd, 2000 + i);
        pmd_stall_capture(pmd, 2000 + i, PMD_STAGE_TRANSMIT);
        pmd_stall_end(pmd, (i + 2) * ms);
        /* Another one's report does not end it. */
        pmd_stall_collect(pmd);
        CHECK_UINT(caught_start(), ==, 0);
        pmd_stall_capture(pmd, 2000 + i, PMD_STAGE_TRANSMIT);
        CHECK_UINT(caught_start(), ==, 0);
    }
    pmd_stall_read(pmd, &report);
    CHECK_UINT(report.stages[PMD_STAGE_TRANSMIT].count, ==,
               PMD_STALL_RECORDS + 4);
    CHECK_UINT(report.n_records, ==, PMD_STALL_RECORDS);
    for (int i = 0; i < PMD_STALL_RECORDS; i++) {
        CHECK_UINT(report.records[i].us, ==,
                   cycles_to_us((PMD_STALL_RECORDS + 5 - i) * ms));
        CHECK_INT(report.records[i].state, ==, '?');
        CHECK_INT(report.records[i].waited_us, ==, -1);
    }

    /* A stall whose report was lost, then another. */
    pmd_stall_begin(pmd, 3000);
    pmd_stall_capture(pmd, 3000, PMD_STAGE_SWEEP);
    pmd_stall_begin(pmd, 3001);
    pmd_stall_capture(pmd, 3001, PMD_STAGE_RANK);
    pmd_stall_end(pmd, 2 * ms);
    pmd_stall_read(pmd, &report);
    CHECK_UINT(report.stages[PMD_STAGE_SWEEP].count, ==, 0);
    CHECK_UINT(report.stages[PMD_STAGE_RANK].count, ==, 1);

    pmd_stall_clear(pmd);
    CHECK_UINT(count_all(), ==, 0);
    CHECK_UINT(report.n_lost, ==, 0);
    CHECK_UINT(report.n_records, ==, 0);
    pmd_stall_begin(pmd, 4000);
    pmd_stall_end(pmd, 2 * ms);
    CHECK_UINT(count_all(), ==, 1);
    pmd_stall_clear(pmd);
    pmd_stall_begin(pmd, 0);
    close_datapath();
}

/* The key. */

static void
test_threshold(void)
{
    const struct stage_case *c = &stage_cases[1];
    struct ds ds = DS_EMPTY_INITIALIZER;
    uint64_t limit;

    open_datapath();
    CHECK(dp->stall_watch);
    stall_in(c);

    /* Greater: nothing to see.  Less again: the same stall is found now. */
    configure("10000000");
    pmd_stall_clear(pmd);
    begin_stall(c);
    for (int i = 0; i < 60; i++) {
        nap();
    }
    CHECK_UINT(count_all(), ==, 0);
    CHECK_UINT(report.n_records, ==, 0);
    configure("30000");
    await_record(c->stage, false);
    end_stall(c);
    await_record(c->stage, true);

    /* What cannot be changes nothing. */
    configure("10000001");
    CHECK_UINT(dp->stall_threshold, ==, 30000);
    configure("-1");
    CHECK_UINT(dp->stall_threshold, ==, 30000);
    configure("");
    CHECK_UINT(dp->stall_threshold, ==, 30000);
    show_header(&ds, dp);
    check_contains(ds_cstr(&ds), "on, threshold 30000 us");

    /* Off: what was recorded stays. */
    configure(NULL);
    CHECK(!dp->stall_watch);
    atomic_read_relaxed(&pmd->mark.limit, &limit);
    CHECK_UINT(limit, ==, UINT64_MAX);
    CHECK_UINT(count_all(), >=, 1);
    pmd_stall_clear(pmd);
    begin_stall(c);
    for (int i = 0; i < 60; i++) {
        nap();
    }
    end_stall(c);
    begin_stall(c);             /* It has ended that iteration. */
    CHECK_UINT(count_all(), ==, 0);
    ds_clear(&ds);
    show_header(&ds, dp);
    check_contains(ds_cstr(&ds), "off; other_config:pmd-stall-threshold=");
    ds_destroy(&ds);

    /* And on, while it is stuck. */
    configure("20000");
    await_record(c->stage, false);
    end_stall(c);
    close_datapath();
}

/* Signals. */

#ifdef STALL_STACKS
/* Waits until 'pmd' has no signal pending. */
static void
await_delivery(void)
{
    unsigned long long pending;

    do {
        char buffer[4096];
        const char *p;

        nap();
        CHECK(read_task_file(read_tid(pmd->stall), "status", buffer,
                             sizeof buffer));
        p = strstr(buffer, "SigPnd:");
        CHECK(p);
        pending = strtoull(p + strlen("SigPnd:"), NULL, 16);
    } while (pending);
}

static void
send_signal(pid_t pid, void *pointer)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_pid = pid;
    info.si_value.sival_ptr = pointer;
    CHECK_INT(syscall(SYS_rt_tgsigqueueinfo, getpid(), read_tid(pmd->stall),
                      stall_signal, &info), ==, 0);
    await_delivery();
}

static int
slot_state(void)
{
    int state;

    atomic_read_explicit(&pmd->stall->slot.state, &state,
                         memory_order_acquire);
    return state;
}

/* Nobody but the watcher gets an answer, and he none when he does not ask. */
static void
test_signals(void)
{
    struct slot *slot;
    pid_t child;
    int status;

    open_datapath();
    configure(NULL);
    slot = &pmd->stall->slot;

    send_signal(getpid(), pmd->stall);
    CHECK_INT(slot_state(), ==, SLOT_IDLE);

    slot->asked = 1;
    atomic_store_explicit(&slot->state, (int) SLOT_ASKED,
                          memory_order_release);
    send_signal(getpid(), NULL);
    send_signal(getpid(), (void *) 8);
    send_signal(getpid(), pmd);
    CHECK_INT(pthread_kill(pmd->thread, stall_signal), ==, 0);
    await_delivery();
    send_signal(1, pmd->stall);
    CHECK_INT(slot_state(), ==, SLOT_ASKED);

    /* Another process, which can say of itself what it wants. */
    child = fork();
    if (!child) {
        union sigval value = { .sival_ptr = pmd->stall };

        _exit(sigqueue(getppid(), stall_signal, value) != 0);
    }
    CHECK_INT(waitpid(child, &status, 0), ==, child);
    CHECK_INT(status, ==, 0);
    await_delivery();
    CHECK_INT(slot_state(), ==, SLOT_ASKED);

    /* The right one, for an iteration that is over. */
    send_signal(getpid(), pmd->stall);
    while (slot_state() != SLOT_ANSWERED) {
        nap();
    }
    CHECK_UINT(slot->found, !=, slot->asked);
    CHECK_UINT(slot->stack.n, ==, 0);
    pmd_stall_collect(pmd);
    CHECK_INT(slot_state(), ==, SLOT_IDLE);
    CHECK_UINT(count_all(), ==, 0);
    close_datapath();
}

/* The signal comes when the iteration is over: the stage stays known, another
 * iteration's stack is not taken for this one's. */
static void
test_late(void)
{
    open_datapath();
    configure(NULL);
    pmd_stall_capture(pmd, 1, PMD_STAGE_SWEEP);
    CHECK_UINT(caught_start(), ==, 1);
    while (slot_state() != SLOT_ANSWERED) {
        nap();
    }
    ovs_mutex_lock(&pmd->stall->mutex);
    collect(pmd->stall);
    take_report(pmd->stall, 1, pmd_perf_tsc_hz());
    ovs_mutex_unlock(&pmd->stall->mutex);
    pmd_stall_read(pmd, &report);
    CHECK_UINT(report.n_records, ==, 1);
    CHECK_INT(report.records[0].stage, ==, PMD_STAGE_SWEEP);
    CHECK_UINT(report.records[0].stack.n, ==, 0);
    CHECK_UINT(report.stages[PMD_STAGE_SWEEP].count, ==, 1);
    close_datapath();
}

/* A thread that does not get to run, and so not to answer, for long. */
static void
test_slow_answer(void)
{
    const struct stage_case *c = &stage_cases[1];
    const struct pmd_stall_record *record;

    open_datapath();
    pmd_stall_clear(pmd);
    atomic_store(&deaf, true);
    begin_stall(c);
    do {
        nap();
        pmd_stall_read(pmd, &report);
        record = &report.records[0];
    } while (!report.n_records || record->ended
             || record->us < 5 * THRESHOLD_US);
    CHECK_INT(slot_state(), ==, SLOT_ASKED);
    CHECK_UINT(record->stack.n, ==, 0);
    atomic_store(&deaf, false);
    end_stall(c);
    do {
        nap();
        pmd_stall_read(pmd, &report);
    } while (!report.n_records || !record->ended);
    CHECK_INT(record->stage, ==, c->stage);
    CHECK_UINT(record->stack.n, >, 0);
    close_datapath();
}

/* A thread that ends with the signal on its way. */
static void
test_exit_while_asked(void)
{
    const struct stage_case *c = &stage_cases[1];

    for (int i = 0; i < 3; i++) {
        open_datapath();

        atomic_store(&deaf, true);
        atomic_store(&deaf_for_ever, true);
        begin_stall(c);
        while (slot_state() != SLOT_ASKED) {
            nap();
        }
        pmd_stall_read(pmd, &report);
        CHECK_INT(report.records[0].stage, ==, c->stage);
        CHECK(!report.records[0].ended);
        CHECK_UINT(report.records[0].stack.n, ==, 0);
        atomic_store(&deaf, false);
        end_stall(c);
        del_port();
        atomic_store(&deaf_for_ever, false);
        CHECK_UINT(cmap_count(&dp->poll_threads), ==, 1);
        close_datapath();
    }
}
#endif

/* Threads come and go while the watcher looks at everything they do. */
static void
test_threads(void)
{
    open_datapath();

    for (int i = 0; i < 20; i++) {
        struct pmd_thread *ended = pmd;

        configure(i % 4 ? "1" : NULL);
        CHECK(pmd_thread_try_ref(ended));
        del_port();

        /* Nobody is sent a signal any more. */
        pmd_stall_collect(ended);
        pmd_stall_capture(ended, 1, PMD_STAGE_RECEIVE);
        pmd_stall_read(ended, &report);
        CHECK_INT(ended->stall->slot.state, !=, SLOT_ASKED);
        ovs_mutex_lock(&ended->stall->thread_mutex);
        CHECK(!ended->stall->attached);
        ovs_mutex_unlock(&ended->stall->thread_mutex);
        pmd_thread_unref(ended);

        configure(i % 3 ? "2" : NULL);
        add_port();
        pmd = find_pmd(true);
        configure("1");
        while (!count_all()) {
            nap();
        }
    }
    close_datapath();
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    ovs_numa_set_dummy("0,0");
    ovs_numa_init();
    alarm(300);                 /* Whoever waits for ever has failed. */
    sem_init(&reached, 0, 0);
    sem_init(&released, 0, 0);
    netdev_register_provider(&port_class);
    netdev_dummy_register(DUMMY_OVERRIDE_NONE);
    dpif_dummy_register(DUMMY_OVERRIDE_NONE);

    RUN_TEST(test_each_stage);
    RUN_TEST(test_no_queues);
    RUN_TEST(test_sleep);
    RUN_TEST(test_glimpse);
    RUN_TEST(test_figures);
    RUN_TEST(test_threshold);
#ifdef STALL_STACKS
    RUN_TEST(test_signals);
    RUN_TEST(test_late);
    RUN_TEST(test_slow_answer);
    RUN_TEST(test_exit_while_asked);
#endif
    RUN_TEST(test_threads);
    ovsrcu_exit();
    return 0;
}
