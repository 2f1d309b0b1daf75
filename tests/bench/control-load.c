/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "bench/control-load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "bench/dp-driver.h"
#include "bench/flow-put.h"
#include "bench/flow-set.h"
#include "dpif.h"
#include "jsonrpc.h"
#include "openvswitch/json.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/poll-loop.h"
#include "ovs-atomic.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "seq.h"
#include "unixctl.h"
#include "util.h"

enum { N_WATCHED = 8 };         /* Seqs that each waiter waits for. */
enum { N_LONELY = 56 };         /* Seqs that nobody waits for. */
enum { N_WAITERS = 4 };
enum { MAX_PENDING = 4096 };    /* RCU callbacks of one thread. */
enum { CALLBACK_BATCH = 64, CALLBACK_BYTES = 256 };
enum { FLOW_BATCH = 64 };
enum { STATS_PER_COMMAND = 32 };
enum { METER_ID = 7 };

/* RCU callbacks that a thread has postponed, and those that were called. */
struct pending {
    uint64_t n_postponed;       /* The thread's own. */

    /* Added to by callbacks, relaxed; the thread reads it as a hint. */
    atomic_uint64_t n_called;
};

/* What pending_add() postpones. */
struct callback {
    struct pending *pending;
    char load[CALLBACK_BYTES];
};

/* One thread. */
struct worker {
    struct control_load *load;
    enum control_load_kind kind;
    unsigned int index;         /* Among those of its kind. */
    pthread_t thread;
    struct pending pending;
    struct seq *token;          /* A waiter's own seq, and its value... */
    uint64_t token_seen;        /* ...when the waiter last looked. */

    /* Written by the thread at the end, read after joining it. */
    uint64_t n_done;
    bool failed;

    atomic_bool ended;          /* Relaxed: joining gives the order. */
};

struct control_load {
    struct control_load_config config;
    struct seq *watched[N_WATCHED];
    struct seq *lonely[N_LONELY];
    struct worker workers[CONTROL_LOAD_N_KINDS + N_WAITERS - 1];
    size_t n_workers;
    struct worker *waiters[N_WAITERS];
    size_t n_waiters;

    atomic_bool stop;           /* Relaxed: only says when to end. */
    struct seq *stop_seq;       /* Changed after 'stop' is set. */
};

static const char *const names[CONTROL_LOAD_N_KINDS] = {
    [CONTROL_LOAD_SEQ_CHANGES] = "seq-changes",
    [CONTROL_LOAD_SEQ_WAITERS] = "seq-waiters",
    [CONTROL_LOAD_RCU_CALLBACKS] = "rcu-callbacks",
    [CONTROL_LOAD_FLOW_DUMPS] = "flow-dumps",
    [CONTROL_LOAD_FLOW_CHANGES] = "flow-changes",
    [CONTROL_LOAD_STATISTICS] = "statistics",
    [CONTROL_LOAD_METERS] = "meters",
};

const char *
control_load_name(enum control_load_kind kind)
{
    return names[kind];
}

static unsigned int
kind_bits(const char *name)
{
    for (size_t i = 0; i < CONTROL_LOAD_N_KINDS; i++) {
        if (!strcmp(name, names[i])) {
            return 1u << i;
        }
    }
    return !strcmp(name, "all") ? CONTROL_LOAD_ALL : 0;
}

char *
control_load_parse(const char *list, unsigned int *kinds)
{
    char *copy = xstrdup(list), *rest = copy, *error = NULL;
    const char *name;

    *kinds = 0;
    while (!error && (name = strsep(&rest, ",")) != NULL) {
        unsigned int bits = kind_bits(name);

        *kinds |= bits;
        if (!bits && strcmp(name, "none")) {
            error = xasprintf("\"%s\" is no load", name);
        }
    }
    free(copy);
    return error;
}

static bool
should_stop(const struct worker *w)
{
    bool stop;

    atomic_read_relaxed(&w->load->stop, &stop);
    return stop;
}

/* Takes note of a failure of what 'w' does, once, and returns false. */
static bool
worker_failed(struct worker *w, const char *what, int error)
{
    if (!w->failed) {
        w->failed = true;
        ovs_error(error, "load %s: %s failed", names[w->kind], what);
    }
    return false;
}

/* Returns true, or false if 'error' says that 'what' failed. */
static bool
check(struct worker *w, const char *what, int error)
{
    return error ? worker_failed(w, what, error) : true;
}

/* Bounding what RCU holds back. */

static void
callback_free(struct callback *callback)
{
    uint64_t old;

    atomic_add_relaxed(&callback->pending->n_called, 1, &old);
    free(callback);
}

static void
pending_add(struct pending *pending)
{
    struct callback *callback = xmalloc(sizeof *callback);

    callback->pending = pending;
    memset(callback->load, 0, sizeof callback->load);
    pending->n_postponed++;
    ovsrcu_postpone(callback_free, callback);
}

/* Returns once no more than 'max' callbacks are pending, or when 'w' should
 * stop.  A quiescent state. */
static void
pending_wait(struct worker *w, uint64_t max)
{
    ovsrcu_quiesce();
    while (!should_stop(w)) {
        uint64_t n_called;

        atomic_read_relaxed(&w->pending.n_called, &n_called);
        if (w->pending.n_postponed - n_called <= max) {
            break;
        }
        xnanosleep(100 * 1000);
    }
}

/* The kinds.  Each makes one round of its work and returns false when it
 * cannot go on. */

static bool
do_seq_changes(struct worker *w)
{
    struct control_load *load = w->load;

    for (size_t i = 0; i < N_WATCHED; i++) {
        seq_change(load->watched[i]);
    }
    for (size_t i = 0; i < N_LONELY; i++) {
        seq_change(load->lonely[i]);
    }
    w->n_done += N_WATCHED + N_LONELY;
    ovsrcu_quiesce();
    return true;
}

static bool
do_seq_waiter(struct worker *w, uint64_t watched_seen[N_WATCHED])
{
    struct control_load *load = w->load;
    uint64_t stop_seen = seq_read(load->stop_seq);
    uint64_t token;

    if (should_stop(w)) {
        return false;
    }
    seq_wait(load->stop_seq, stop_seen);
    seq_wait(w->token, w->token_seen);
    for (size_t i = 0; i < N_WATCHED; i++) {
        seq_wait(load->watched[i], watched_seen[i]);
    }
    poll_block();

    token = seq_read(w->token);
    if (token != w->token_seen) {
        w->token_seen = token;
        seq_change(load->waiters[(w->index + 1) % N_WAITERS]->token);
    }
    for (size_t i = 0; i < N_WATCHED; i++) {
        watched_seen[i] = seq_read(load->watched[i]);
    }
    w->n_done++;
    return true;
}

static bool
do_rcu_callbacks(struct worker *w)
{
    for (size_t i = 0; i < CALLBACK_BATCH; i++) {
        pending_add(&w->pending);
    }
    w->n_done += CALLBACK_BATCH;
    pending_wait(w, MAX_PENDING - CALLBACK_BATCH);
    return true;
}

static bool
do_flow_dump(struct worker *w)
{
    struct dpif *dpif = w->load->config.driver->dpif;
    struct dpif_flow_dump *dump = dpif_flow_dump_create(dpif, true, NULL);
    struct dpif_flow_dump_thread *thread = dpif_flow_dump_thread_create(dump);
    struct dpif_flow flows[50];
    uint64_t n_flows = 0;
    int n;

    while (!should_stop(w)
           && (n = dpif_flow_dump_next(thread, flows,
                                       ARRAY_SIZE(flows))) > 0) {
        n_flows += n;
        ovsrcu_quiesce();
    }
    dpif_flow_dump_thread_destroy(thread);
    w->n_done++;
    return check(w, "flow dump", dpif_flow_dump_destroy(dump))
           && (n_flows || should_stop(w)
               || worker_failed(w, "finding flows in a dump", 0));
}

static bool
do_flow_changes(struct worker *w)
{
    const struct control_load_config *config = &w->load->config;
    uint64_t n_new = MIN(FLOW_BATCH, config->n_spare);
    uint64_t n_old = MIN(FLOW_BATCH, config->n_flows);
    uint64_t round = w->n_done / (2 * n_new + n_old);
    uint64_t old = round * n_old % (config->n_flows - n_old + 1);
    uint64_t new = config->n_flows + (round * n_new
                                      % (config->n_spare - n_new + 1));
    int error = 0;

    flow_put_install(config->put, new, n_new, &error);
    if (!check(w, "flow put", error)) {
        return false;
    }
    flow_put_modify(config->put, old, n_old, &error);
    if (!check(w, "flow modification", error)) {
        return false;
    }
    flow_put_delete(config->put, new, n_new, &error);
    w->n_done += 2 * n_new + n_old;

    /* What the datapath has postponed comes before this, or is freed at about
     * the same time. */
    pending_add(&w->pending);
    pending_wait(w, MAX_PENDING / FLOW_BATCH);
    return check(w, "flow deletion", error);
}

static bool
show(struct worker *w, struct jsonrpc *client, const char *command)
{
    struct json *reply = NULL, *failure = NULL;
    int error = unixctl_client_transact(client, command, 0, NULL, &reply,
                                        &failure);
    bool failed = failure != NULL;

    json_destroy(reply);
    json_destroy(failure);
    return check(w, command, error ? error : failed ? EINVAL : 0);
}

static bool
do_statistics(struct worker *w, struct jsonrpc *client)
{
    const struct control_load_config *config = &w->load->config;
    struct dpif *dpif = config->driver->dpif;
    uint64_t flow = w->n_done % config->n_flows;
    struct dpif_dp_stats dp_stats;
    struct dpif_port_dump dump;
    struct dpif_port port;
    struct dpif_flow got;
    uint64_t stub[1024 / 8];
    struct ofpbuf buf;
    ovs_u128 ufid;
    int error;

    if (!check(w, "dpif_get_dp_stats",
               dpif_get_dp_stats(dpif, &dp_stats))) {
        return false;
    }
    DPIF_PORT_FOR_EACH (&port, &dump, dpif) {
        w->n_done++;
    }

    flow_set_ufid(config->put->set, flow, &ufid);
    ofpbuf_use_stub(&buf, stub, sizeof stub);
    error = dpif_flow_get(dpif, NULL, 0, &ufid, config->put->pmd_id, &buf,
                          &got);
    ofpbuf_uninit(&buf);
    if (!check(w, "dpif_flow_get", error)) {
        return false;
    }

    if (w->n_done++ % STATS_PER_COMMAND == 0
        && !(show(w, client, "dpif-netdev/pmd-stats-show")
             && show(w, client, "dpif-netdev/pmd-perf-show"))) {
        return false;
    }
    ovsrcu_quiesce();
    return true;
}

static bool
set_meter(struct worker *w, uint32_t rate)
{
    struct ofputil_meter_band band = {
        .type = OFPMBT13_DROP, .rate = rate, .burst_size = rate,
    };
    struct ofputil_meter_config config = {
        .meter_id = METER_ID,
        .flags = OFPMF13_PKTPS | OFPMF13_BURST | OFPMF13_STATS,
        .n_bands = 1,
        .bands = &band,
    };

    return check(w, "meter set",
                 dpif_meter_set(w->load->config.driver->dpif,
                                (ofproto_meter_id) { METER_ID }, &config));
}

static bool
do_meters(struct worker *w)
{
    struct dpif *dpif = w->load->config.driver->dpif;
    ofproto_meter_id id = { METER_ID };
    struct ofputil_meter_band_stats band;
    struct ofputil_meter_stats stats = { .bands = &band };

    if (!set_meter(w, 1000 + w->n_done % 1000) || !set_meter(w, 5000)
        || !check(w, "meter get", dpif_meter_get(dpif, id, &stats, 1))
        || !check(w, "meter del", dpif_meter_del(dpif, id, &stats, 1))) {
        return false;
    }
    w->n_done += 4;

    /* The datapath postpones what it has replaced. */
    pending_add(&w->pending);
    pending_wait(w, MAX_PENDING / 4);
    return true;
}

/* Threads. */

static void
run_seq_waiter(struct worker *w)
{
    uint64_t watched_seen[N_WATCHED] = { 0 };

    while (do_seq_waiter(w, watched_seen)) {
        continue;
    }
}

static void
run_statistics(struct worker *w)
{
    struct unixctl_server *server = w->load->config.driver->unixctl;
    struct jsonrpc *client;

    if (check(w, "connecting to the control socket",
              unixctl_client_create(unixctl_server_get_path(server),
                                    &client))) {
        while (!should_stop(w) && do_statistics(w, client)) {
            continue;
        }
        jsonrpc_close(client);
    }
}

static void *
worker_main(void *w_)
{
    static bool (*const rounds[CONTROL_LOAD_N_KINDS])(struct worker *) = {
        [CONTROL_LOAD_SEQ_CHANGES] = do_seq_changes,
        [CONTROL_LOAD_RCU_CALLBACKS] = do_rcu_callbacks,
        [CONTROL_LOAD_FLOW_DUMPS] = do_flow_dump,
        [CONTROL_LOAD_FLOW_CHANGES] = do_flow_changes,
        [CONTROL_LOAD_METERS] = do_meters,
    };
    struct worker *w = w_;

    dp_driver_pin(w->load->config.core);
    if (w->kind == CONTROL_LOAD_SEQ_WAITERS) {
        run_seq_waiter(w);
    } else if (w->kind == CONTROL_LOAD_STATISTICS) {
        run_statistics(w);
    } else {
        while (!should_stop(w) && rounds[w->kind](w)) {
            continue;
        }
    }
    atomic_store_relaxed(&w->ended, true);
    return NULL;
}

static void
add_worker(struct control_load *load, enum control_load_kind kind)
{
    struct worker *w = &load->workers[load->n_workers++];

    w->load = load;
    w->kind = kind;
    atomic_init(&w->pending.n_called, 0);
    atomic_init(&w->ended, false);
    if (kind == CONTROL_LOAD_SEQ_WAITERS) {
        w->token = seq_create();
        w->token_seen = seq_read(w->token);
        w->index = load->n_waiters;
        if (!w->index) {
            seq_change(w->token);       /* The first one has the token. */
        }
        load->waiters[load->n_waiters++] = w;
    }
}

struct control_load *
control_load_start(const struct control_load_config *config)
{
    struct control_load *load = xzalloc(sizeof *load);

    load->config = *config;
    atomic_init(&load->stop, false);
    load->stop_seq = seq_create();
    for (size_t i = 0; i < N_WATCHED; i++) {
        load->watched[i] = seq_create();
    }
    for (size_t i = 0; i < N_LONELY; i++) {
        load->lonely[i] = seq_create();
    }

    for (size_t kind = 0; kind < CONTROL_LOAD_N_KINDS; kind++) {
        if (config->kinds & (1u << kind)) {
            size_t n = kind == CONTROL_LOAD_SEQ_WAITERS ? N_WAITERS : 1;

            while (n--) {
                add_worker(load, kind);
            }
        }
    }
    for (size_t i = 0; i < load->n_workers; i++) {
        struct worker *w = &load->workers[i];

        w->thread = ovs_thread_create(names[w->kind], worker_main, w);
    }
    return load;
}

static bool
all_ended(const struct control_load *load)
{
    for (size_t i = 0; i < load->n_workers; i++) {
        bool ended;

        atomic_read_relaxed(&CONST_CAST(struct control_load *, load)
                            ->workers[i].ended, &ended);
        if (!ended) {
            return false;
        }
    }
    return true;
}

void
control_load_stop(struct control_load *load,
                  uint64_t n_done[CONTROL_LOAD_N_KINDS])
{
    bool failed[CONTROL_LOAD_N_KINDS] = { false };

    atomic_store_relaxed(&load->stop, true);
    seq_change(load->stop_seq);
    while (!all_ended(load)) {
        /* A thread may be waiting for an answer. */
        dp_driver_run(load->config.driver, 1);
    }

    memset(n_done, 0, CONTROL_LOAD_N_KINDS * sizeof *n_done);
    for (size_t i = 0; i < load->n_workers; i++) {
        struct worker *w = &load->workers[i];

        xpthread_join(w->thread, NULL);
        n_done[w->kind] += w->n_done;
        failed[w->kind] |= w->failed;
    }
    for (size_t i = 0; i < CONTROL_LOAD_N_KINDS; i++) {
        if (failed[i]) {
            n_done[i] = 0;
        }
    }

    /* Callbacks know the workers. */
    ovsrcu_barrier();
    for (size_t i = 0; i < N_WATCHED; i++) {
        seq_destroy(load->watched[i]);
    }
    for (size_t i = 0; i < N_LONELY; i++) {
        seq_destroy(load->lonely[i]);
    }
    for (size_t i = 0; i < load->n_waiters; i++) {
        seq_destroy(load->waiters[i]->token);
    }
    seq_destroy(load->stop_seq);
    free(load);
}
