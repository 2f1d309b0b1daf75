/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/dp-netdev.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coverage.h"
#include "dp/offload-mark.h"
#include "dp/offload-queue.h"
#include "dp-packet.h"
#include "netdev.h"
#include "netdev-offload.h"
#include "netdev-provider.h"
#include "openvswitch/match.h"
#include "openvswitch/ofpbuf.h"
#include "sync/dp-log.h"
#include "table/dp-flow.h"
#include "util.h"
#include "uuid.h"

/* Flows that hardware takes over.
 *
 * A change of a flow table becomes a job for an offload thread (dp/offload-
 * queue.h), which tells the device of the flow's input port.  Packets that the
 * device recognizes come with a mark (dp/offload-mark.h).
 *
 * Lifetimes: a job holds a reference to its flow.  Its datapath stays as long
 * as there may be jobs of it, since dp_netdev_offload_drain() waits for them
 * before it goes. */

#ifdef ALLOW_EXPERIMENTAL_API /* Packet restoration API required. */
COVERAGE_DEFINE(datapath_drop_hw_miss_recover);
#endif

/* Jobs. */

enum flow_op {
    FLOW_OP_ADD,
    FLOW_OP_MODIFY,
    FLOW_OP_DELETE
};

static const char *const flow_op_names[] = {
    [FLOW_OP_ADD] = "add",
    [FLOW_OP_MODIFY] = "modify",
    [FLOW_OP_DELETE] = "delete"
};

struct flow_job {
    struct offload_job job;
    enum flow_op op;
    struct dp_netdev *dp;
    struct dp_flow *flow;       /* With a reference. */
    struct match *match;        /* Null for FLOW_OP_DELETE, as are... */
    struct nlattr *actions;     /* ...the actions. */
    size_t actions_len;
};

static struct dp_netdev *
dp_from_run(const struct dp_run *run)
{
    return CONTAINER_OF(run, struct dp_netdev, run);
}

static const char *
normal_type(const struct dp_netdev *dp)
{
    return dpif_normalize_type(dp->class->type);
}

/* The name of the megaflow of 'flow', as a log message shows it. */
static struct uuid
mega_uuid(const struct dp_flow *flow)
{
    struct uuid uuid;

    memcpy(&uuid, &flow->info->mega_ufid, sizeof uuid);
    return uuid;
}

BUILD_ASSERT_DECL(sizeof(struct uuid) == sizeof(ovs_u128));

/* Returns the device that 'flow' is offloaded to, which the caller closes, or
 * NULL if there is none any more. */
static struct netdev *
open_netdev(const struct dp_netdev *dp, const struct dp_flow *flow)
{
    return netdev_ports_get(flow->info->in_port, normal_type(dp));
}

/* Takes the rule of 'flow' out of the device, once there is nobody else left
 * for whom it is. */
static int
unlink_flow(struct dp_netdev *dp, struct dp_flow *flow)
{
    uint32_t mark = flow->info->mark;
    struct netdev *netdev;
    int error = 0;

    if (mark == INVALID_FLOW_MARK) {
        return EINVAL;
    }
    if (!offload_mark_unlink(flow)) {
        return 0;
    }

    netdev = open_netdev(dp, flow);
    if (netdev) {
        /* Keeps the ports where they are while the device may look at
         * them. */
        ovs_rwlock_rdlock(&dp->port_rwlock);
        error = netdev_flow_del(netdev, &flow->info->mega_ufid, NULL);
        ovs_rwlock_unlock(&dp->port_rwlock);
        netdev_close(netdev);
    }
    if (VLOG_IS_DBG_ENABLED()) {
        struct uuid uuid = mega_uuid(flow);

        VLOG_DBG("Freed flow mark %u mega_ufid "UUID_FMT, mark,
                 UUID_ARGS(&uuid));
    }
    offload_mark_release(mark);
    return error;
}

/* Tells the device about the flow of 'job', which has 'mark'. */
static int
put_rule(struct flow_job *job, uint32_t mark)
{
    struct offload_info info = {
        .flow_mark = mark,
        .orig_in_port = job->flow->info->orig_in_port,
    };
    struct netdev *netdev = open_netdev(job->dp, job->flow);
    int error;

    if (!netdev) {
        return ENODEV;
    }
    ovs_rwlock_rdlock(&job->dp->port_rwlock);
    error = netdev_flow_put(netdev, job->match, job->actions,
                            job->actions_len, &job->flow->info->mega_ufid,
                            &info, NULL);
    ovs_rwlock_unlock(&job->dp->port_rwlock);
    netdev_close(netdev);
    return error;
}

static int
link_flow(struct dp_flow *flow, uint32_t mark)
{
    if (!offload_mark_link(flow, mark)) {
        return ENOENT;
    }
    if (VLOG_IS_DBG_ENABLED()) {
        struct uuid uuid = mega_uuid(flow);

        VLOG_DBG("Associated dp_netdev flow %p with mark %u mega_ufid "
                 UUID_FMT, flow, mark, UUID_ARGS(&uuid));
    }
    return 0;
}

/* Offloads a flow that has not been offloaded yet: puts a rule into the
 * device, or shares that of another thread's flow for the same megaflow. */
static int
offload_new(struct flow_job *job)
{
    struct dp_flow *flow = job->flow;
    const struct dp_run *run = &job->dp->run;
    uint32_t mark = offload_mark_find(run, &flow->info->mega_ufid);
    int error;

    if (mark != INVALID_FLOW_MARK) {
        VLOG_DBG("Flow has already been offloaded with mark %u", mark);
        return link_flow(flow, mark);
    }

    mark = offload_mark_reserve(run, &flow->info->mega_ufid);
    if (mark == INVALID_FLOW_MARK) {
        VLOG_ERR("Failed to allocate flow mark!");
        return ENOSPC;
    }
    error = put_rule(job, mark);
    if (error) {
        offload_mark_release(mark);
        return error;
    }
    /* 'job' has a reference, so that this one cannot fail. */
    return link_flow(flow, mark);
}

static int
put_flow(struct flow_job *job)
{
    struct dp_flow *flow = job->flow;
    int error;

    if (!dp_flow_is_live(flow)) {
        return ENOENT;
    }
    if (flow->info->mark == INVALID_FLOW_MARK) {
        return offload_new(job);
    }
    if (job->op == FLOW_OP_ADD) {
        return 0;
    }

    error = put_rule(job, flow->info->mark);
    if (error) {
        /* The device must not go on with the old actions. */
        unlink_flow(job->dp, flow);
    }
    return error;
}

static void
free_flow_job(struct flow_job *job)
{
    dp_flow_unref(job->flow);
    free(job->match);
    free(job->actions);
    free(job);
}

static void
run_flow_job(struct offload_job *job_)
{
    struct flow_job *job = CONTAINER_OF(job_, struct flow_job, job);
    int error;

    if (job->op == FLOW_OP_DELETE) {
        error = unlink_flow(job->dp, job->flow);
    } else {
        error = put_flow(job);
    }
    if (VLOG_IS_DBG_ENABLED()) {
        struct uuid uuid = mega_uuid(job->flow);

        VLOG_DBG("%s to %s netdev flow "UUID_FMT,
                 error ? "failed" : "succeed", flow_op_names[job->op],
                 UUID_ARGS(&uuid));
    }
    free_flow_job(job);
}

/* Hooks. */

/* Queues 'op' for 'flow'.  'match' and 'actions' are null for
 * FLOW_OP_DELETE. */
static void
queue_flow_op(struct pmd_thread *pmd, struct dp_flow *flow, enum flow_op op,
              const struct match *match, const struct nlattr *actions,
              size_t actions_len)
{
    struct flow_job *job;

    /* A flow from before offload was enabled is not tracked. */
    if (!netdev_is_flow_api_enabled() || !flow->info->offload) {
        return;
    }
    if (op == FLOW_OP_ADD
        && !offload_queue_has_room(&flow->info->mega_ufid)) {
        static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 1);

        VLOG_WARN_RL(&rl, "%s: a flow stays in software, "
                     "%d offloads are waiting already",
                     pmd->run->name, OFFLOAD_QUEUE_MAX);
        return;
    }
    if (!dp_flow_ref(flow)) {
        return;
    }

    job = xzalloc(sizeof *job);
    job->job.run = run_flow_job;
    job->op = op;
    job->dp = dp_from_run(pmd->run);
    job->flow = flow;
    if (match) {
        job->match = xmemdup(match, sizeof *match);
        job->actions = xmemdup(actions, actions_len);
        job->actions_len = actions_len;
    }
    offload_queue_put(&job->job, &flow->info->mega_ufid);
}

static void
flow_added(struct pmd_thread *pmd, struct dp_flow *flow,
           const struct match *match, const struct nlattr *actions,
           size_t actions_len)
{
    queue_flow_op(pmd, flow, FLOW_OP_ADD, match, actions, actions_len);
}

static void
flow_changed(struct pmd_thread *pmd, struct dp_flow *flow,
             const struct match *match, const struct nlattr *actions,
             size_t actions_len)
{
    queue_flow_op(pmd, flow, FLOW_OP_MODIFY, match, actions, actions_len);
}

static void
flow_removed(struct pmd_thread *pmd, struct dp_flow *flow)
{
    queue_flow_op(pmd, flow, FLOW_OP_DELETE, NULL, NULL, 0);
}

#ifdef ALLOW_EXPERIMENTAL_API /* Packet restoration API required. */
/* Completes a packet that the device gave up half way.  Returns a positive
 * errno if the packet is gone. */
static int
recover_packet(struct netdev *netdev, struct dp_packet *packet)
{
    bool supported;
    int error = 0;

    atomic_read_relaxed(&netdev->hw_info.miss_api_supported, &supported);
    if (supported) {
        error = netdev_hw_miss_packet_recover(netdev, packet);
        if (error == EOPNOTSUPP) {
            error = 0;
        } else if (error) {
            COVERAGE_INC(datapath_drop_hw_miss_recover);
        }
    }
    return error;
}
#else
static int
recover_packet(struct netdev *netdev OVS_UNUSED,
               struct dp_packet *packet OVS_UNUSED)
{
    return 0;
}
#endif

static int
hw_flow(struct pmd_thread *pmd, struct netdev *netdev,
        struct dp_packet *packet, struct dp_flow **flowp)
{
    int error = recover_packet(netdev, packet);
    uint32_t mark;

    *flowp = NULL;
    if (!error && dp_packet_has_flow_mark(packet, &mark)) {
        *flowp = offload_mark_find_flow(pmd->run, pmd->core_id, mark);
    }
    return error;
}

const struct dp_run_hooks dp_offload_hooks = {
    .flow_added = flow_added,
    .flow_changed = flow_changed,
    .flow_removed = flow_removed,
    .hw_flow = hw_flow,
};

/* Ports that go, and datapaths. */

struct flush {
    struct dp_netdev *dp;
    struct netdev *netdev;
};

static void
flush_netdev(void *flush_)
{
    struct flush *flush = flush_;

    ovs_rwlock_rdlock(&flush->dp->port_rwlock);
    netdev_flow_flush(flush->netdev);
    ovs_rwlock_unlock(&flush->dp->port_rwlock);
}

static void
lock_ports(void *flush_)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    struct flush *flush = flush_;

    ovs_rwlock_wrlock(&flush->dp->port_rwlock);
}

/* The lock on the ports is given up meanwhile, since the jobs need it.  It is
 * taken back while the offload threads stand still, so that none of them puts
 * anything into the device after it has been flushed: they find the port gone.
 *
 * The device is held by a reference of its own, for which it must not matter
 * that its port is about to go. */
void
dp_netdev_offload_flush(struct dp_netdev *dp, struct dp_port *port)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    if (netdev_is_flow_api_enabled()) {
        struct flush flush = {
            .dp = dp,
            .netdev = netdev_ref(port->netdev),
        };

        ovs_rwlock_unlock(&dp->port_rwlock);
        offload_queue_rendezvous(flush_netdev, lock_ports, &flush);
        netdev_close(flush.netdev);
    }
}

void
dp_netdev_offload_drain(void)
{
    if (netdev_is_flow_api_enabled()) {
        offload_queue_rendezvous(NULL, NULL, NULL);
    }
}

/* Statistics of flows. */

/* Keeps what the device said of a flow. */
static void
remember_stats(struct dp_flow_offload *last, int result,
               const struct dpif_flow_stats *stats,
               const struct dpif_flow_attrs *attrs)
{
    atomic_store_relaxed(&last->result, result);
    if (!result) {
        atomic_store_relaxed(&last->packets, stats->n_packets);
        atomic_store_relaxed(&last->bytes, stats->n_bytes);
        atomic_store_relaxed(&last->used, stats->used);
        atomic_store_relaxed(&last->tcp_flags, stats->tcp_flags);
        atomic_store_relaxed(&last->offloaded, attrs->offloaded);
        atomic_store_relaxed(&last->dp_layer, attrs->dp_layer);
    }
}

/* The opposite.  Returns false if the device never said anything. */
static bool
recall_stats(struct dp_flow_offload *last, struct dpif_flow_stats *stats,
             struct dpif_flow_attrs *attrs)
{
    unsigned long long n;
    int result;

    atomic_read_relaxed(&last->result, &result);
    atomic_read_relaxed(&last->dp_layer, &attrs->dp_layer);
    if (result || !attrs->dp_layer) {
        return false;
    }
    atomic_read_relaxed(&last->offloaded, &attrs->offloaded);
    atomic_read_relaxed(&last->packets, &n);
    stats->n_packets = n;
    atomic_read_relaxed(&last->bytes, &n);
    stats->n_bytes = n;
    atomic_read_relaxed(&last->used, &stats->used);
    atomic_read_relaxed(&last->tcp_flags, &stats->tcp_flags);
    return true;
}

/* Asks 'netdev'. */
static bool
ask_stats(struct netdev *netdev, struct dp_flow *flow,
          struct dpif_flow_stats *stats, struct dpif_flow_attrs *attrs)
{
    uint64_t stub[1024 / 8];
    struct nlattr *actions;
    struct ofpbuf buffer;
    struct match match;
    int error;

    ofpbuf_use_stack(&buffer, stub, sizeof stub);
    error = netdev_flow_get(netdev, &match, &actions, &flow->info->mega_ufid,
                            stats, attrs, &buffer);
    remember_stats(flow->info->offload, error, stats, attrs);
    return !error;
}

bool
dp_netdev_offload_flow_stats(const struct dp_netdev *dp_,
                             struct dp_flow *flow,
                             struct dpif_flow_stats *stats,
                             struct dpif_flow_attrs *attrs)
{
    struct dp_netdev *dp = CONST_CAST(struct dp_netdev *, dp_);
    struct netdev *netdev;
    bool ok;

    if (!netdev_is_flow_api_enabled() || !flow->info->offload) {
        return false;
    }
    netdev = open_netdev(dp, flow);
    if (!netdev) {
        return false;
    }

    /* The main thread may hold the lock and wait for just the thread that asks
     * (purging a thread's flows stops the revalidators), so this must not
     * wait.  What is known from the last time has to do then. */
    if (!ovs_rwlock_tryrdlock(&dp->port_rwlock)) {
        ok = ask_stats(netdev, flow, stats, attrs);
        ovs_rwlock_unlock(&dp->port_rwlock);
    } else {
        ok = recall_stats(flow->info->offload, stats, attrs);
    }
    netdev_close(netdev);
    return ok;
}

/* Statistics of offloading. */

enum {
    STAT_ENQUEUED,
    STAT_INSERTED,
    STAT_CMA_MEAN,
    STAT_CMA_STDDEV,
    STAT_EMA_MEAN,
    STAT_EMA_STDDEV,
    N_STATS
};

static const char *const stat_names[N_STATS] = {
    [STAT_ENQUEUED] =   "                Enqueued offloads",
    [STAT_INSERTED] =   "                Inserted offloads",
    [STAT_CMA_MEAN] =   "  Cumulative Average latency (us)",
    [STAT_CMA_STDDEV] = "   Cumulative Latency stddev (us)",
    [STAT_EMA_MEAN] =   " Exponential Average latency (us)",
    [STAT_EMA_STDDEV] = "  Exponential Latency stddev (us)",
};

/* Adds to inserted[i] the number of rules that thread i of 'n' put into the
 * devices of 'dp'. */
static void
count_inserted(struct dp_netdev *dp, uint64_t *inserted, unsigned int n)
{
    uint64_t *of_port = xcalloc(n, sizeof *of_port);
    struct dp_port *port;

    ovs_rwlock_rdlock(&dp->port_rwlock);
    HMAP_FOR_EACH (port, node, &dp->ports) {
        memset(of_port, 0, n * sizeof *of_port);
        if (!netdev_flow_get_n_flows(port->netdev, of_port)) {
            for (unsigned int i = 0; i < n; i++) {
                inserted[i] += of_port[i];
            }
        }
    }
    ovs_rwlock_unlock(&dp->port_rwlock);
    free(of_port);
}

int
dp_netdev_offload_stats_get(struct dpif *dpif,
                            struct netdev_custom_stats *stats)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    unsigned int n = netdev_offload_thread_nb();
    struct netdev_custom_counter *counter;
    uint64_t totals[N_STATS] = { 0 };
    uint64_t *inserted;

    if (!netdev_is_flow_api_enabled() || !n) {
        return EINVAL;
    }

    inserted = xcalloc(n, sizeof *inserted);
    count_inserted(dp, inserted, n);

    /* The sums come first, then each thread. */
    stats->size = N_STATS * (n + 1);
    stats->counters = xcalloc(stats->size, sizeof *stats->counters);
    counter = &stats->counters[N_STATS];
    for (unsigned int tid = 0; tid < n; tid++) {
        struct offload_queue_stats queue;

        offload_queue_get_stats(tid, &queue);

        const uint64_t values[N_STATS] = {
            [STAT_ENQUEUED] = queue.n_queued,
            [STAT_INSERTED] = inserted[tid],
            [STAT_CMA_MEAN] = queue.cma_mean,
            [STAT_CMA_STDDEV] = queue.cma_stddev,
            [STAT_EMA_MEAN] = queue.ema_mean,
            [STAT_EMA_STDDEV] = queue.ema_stddev,
        };

        for (size_t i = 0; i < N_STATS; i++, counter++) {
            snprintf(counter->name, sizeof counter->name, "  [%3u] %s", tid,
                     stat_names[i]);
            counter->value = values[i];
            totals[i] += values[i];
        }
    }
    free(inserted);

    for (size_t i = 0; i < N_STATS; i++) {
        counter = &stats->counters[i];
        snprintf(counter->name, sizeof counter->name, "  Total %s",
                 stat_names[i]);
        /* Of latencies, the mean. */
        counter->value = i >= STAT_CMA_MEAN ? totals[i] / n : totals[i];
    }
    return 0;
}
