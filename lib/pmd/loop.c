/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/loop.h"

#include <errno.h>

#include "dp-packet.h"
#include "dpdk.h"
#include "netdev.h"
#include "openvswitch/poll-loop.h"
#include "ovs-numa.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "pmd/housekeeping.h"
#include "pmd/input.h"
#include "pmd/pmd.h"
#include "pmd/stall.h"
#include "seq.h"
#include "sync/dp-log.h"
#include "util.h"

enum {
    /* "pmd-sleep-max": a burst of this size ends sleeping at once, otherwise
     * each quiet iteration sleeps one step longer than the last. */
    SLEEP_THRESHOLD = NETDEV_MAX_BURST / 2,
    SLEEP_STEP_US = 1,

    TIMER_RESOLUTION_NS = 1000,

    /* Waiting for a reload that is about to be asked for. */
    WAIT_SPINS = 10000,
    WAIT_SLEEP_NS = 10000
};

/* What the thread knows of a queue that it polls, beside the queue itself. */
struct polled {
    odp_port_t port_no;
    bool emc_enabled;
    bool rxq_enabled;
    uint64_t change_seq;        /* Of the port, when 'rxq_enabled' was set. */
};

struct poll_loop {
    struct pmd_thread *pmd;

    /* Taken over from pmd->poll_list at reload; 'n' elements each. */
    struct dp_rxq **rxqs;
    struct polled *polled;
    size_t n;

    uint64_t sleep_us;          /* For the next quiet iteration. */
};

/* Receives from 'rxq' into 'batch'.  Returns what netdev_rxq_recv() returns;
 * takes the samples that come with a batch. */
static int
receive(struct pmd_thread *pmd, struct dp_rxq *rxq,
        struct dp_packet_batch *batch)
{
    bool metrics = pmd_metrics_enabled(pmd);
    bool want_qlen = metrics && rxq->is_vhost;
    enum pmd_stage outer;
    int qlen = 0;
    int error;

    dp_packet_batch_init(batch);
    outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_RECEIVE);
    error = netdev_rxq_recv(rxq->rx, batch, want_qlen ? &qlen : NULL);
    pmd_stage_set(&pmd->mark, outer);
    if (!error && metrics) {
        int n = dp_packet_batch_size(batch);

        pmd_perf_sample_batch(&pmd->perf, n);
        if (want_qlen && qlen >= 0) {
            pmd_perf_sample_vhost_fill(&pmd->perf, n + qlen);
        }
    }
    return error;
}

int
pmd_poll_rxq(struct pmd_thread *pmd, struct dp_rxq *rxq, odp_port_t port_no)
{
    struct dp_packet_batch batch;
    struct pmd_timer timer;
    int n = 0;
    int error;

    pmd_timer_start(&pmd->perf, &timer);
    pmd->last_rxq = rxq;

    error = receive(pmd, rxq, &batch);
    if (!error) {
        n = dp_packet_batch_size(&batch);
        pmd->recirc_depth = 0;
        pmd_update_time(pmd);
        pmd_input(pmd, &batch, port_no);
        dp_rxq_add_cycles(rxq, pmd_timer_stop(&pmd->perf, &timer));
        pmd_flush_output(pmd, false);
    } else {
        /* Polling in vain is nobody's load. */
        pmd_timer_stop(&pmd->perf, &timer);
        if (error != EAGAIN && error != EOPNOTSUPP) {
            static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);

            VLOG_ERR_RL(&rl, "error receiving data from %s: %s",
                        dp_rxq_name(rxq), ovs_strerror(error));
        }
    }

    pmd->last_rxq = NULL;
    return n;
}

/* Looks whether 'rxq' is enabled, if its device has changed.  A change that
 * comes in between is seen the next time, since its number is read first. */
static void
polled_update(struct polled *polled, const struct dp_rxq *rxq)
{
    uint64_t seq = netdev_get_change_seq(rxq->port->netdev);

    if (polled->change_seq != seq) {
        polled->change_seq = seq;
        polled->rxq_enabled = netdev_rxq_enabled(rxq->rx);
    }
}

/* Takes over what the control side wants to be polled and sent to. */
static void
poll_loop_load(struct poll_loop *loop)
{
    struct pmd_thread *pmd = loop->pmd;
    struct pmd_poll *poll;

    ovs_mutex_lock(&pmd->port_mutex);
    loop->n = hmap_count(&pmd->poll_list);
    loop->rxqs = xrealloc(loop->rxqs, loop->n * sizeof *loop->rxqs);
    loop->polled = xrealloc(loop->polled, loop->n * sizeof *loop->polled);

    size_t i = 0;
    HMAP_FOR_EACH (poll, node, &pmd->poll_list) {
        const struct dp_port *port = poll->rxq->port;

        loop->rxqs[i] = poll->rxq;
        loop->polled[i] = (struct polled) {
            .port_no = port->port_no,
            .emc_enabled = port->emc_enabled,
            .change_seq = 0,    /* No device's is. */
        };
        polled_update(&loop->polled[i++], poll->rxq);
    }
    pmd_txports_load(pmd);
    ovs_mutex_unlock(&pmd->port_mutex);
}

/* Looks which queues are enabled, where something has changed. */
static void
poll_loop_check_queues(struct poll_loop *loop)
{
    struct pmd_mark *mark = &loop->pmd->mark;
    enum pmd_stage outer = pmd_stage_enter(mark, PMD_STAGE_QUEUES);

    for (size_t i = 0; i < loop->n; i++) {
        polled_update(&loop->polled[i], loop->rxqs[i]);
    }
    pmd_stage_set(mark, outer);
}

/* Polls each queue once.  Returns the number of packets. */
static int
poll_loop_receive(struct poll_loop *loop)
{
    struct pmd_thread *pmd = loop->pmd;
    uint32_t emc_insert_min;
    int total = 0;

    atomic_read_relaxed(&pmd->run->emc_insert_min, &emc_insert_min);
    for (size_t i = 0; i < loop->n; i++) {
        const struct polled *polled = &loop->polled[i];
        int n;

        if (!polled->rxq_enabled) {
            continue;
        }
        pmd->emc_insert_min = polled->emc_enabled ? emc_insert_min : 0;
        n = pmd_poll_rxq(pmd, loop->rxqs[i], polled->port_no);
        total += n;
        if (n >= SLEEP_THRESHOLD) {
            loop->sleep_us = 0;
        }
    }
    return total;
}

/* Sleeps if it is quiet and the user wants that.  Returns the cycles slept. */
static uint64_t
poll_loop_sleep(struct poll_loop *loop, uint64_t max_us)
{
    struct pmd_thread *pmd = loop->pmd;
    uint64_t slept = 0;

    if (loop->sleep_us) {
        enum pmd_stage outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_SLEEP);
        struct pmd_timer timer;

        pmd_timer_start(&pmd->perf, &timer);
        xnanosleep_no_quiesce(loop->sleep_us * 1000);
        slept = pmd_timer_stop(&pmd->perf, &timer);
        pmd_stall_slept(pmd, slept, outer);
        pmd_update_time(pmd);
    }
    loop->sleep_us = MIN(loop->sleep_us + SLEEP_STEP_US, max_us);
    return slept;
}

static bool
reload_requested(struct pmd_thread *pmd)
{
    bool reload;

    /* Pairs with the release in pmd_reload_request(). */
    atomic_read_explicit(&pmd->reload, &reload, memory_order_acquire);
    return reload;
}

/* Polls until a reload is requested. */
static void
poll_loop_run(struct poll_loop *loop)
{
    struct pmd_thread *pmd = loop->pmd;
    struct pmd_perf *perf = &pmd->perf;

    for (;;) {
        uint64_t start = pmd_perf_start_iteration(perf);
        uint64_t slept = 0;
        uint64_t max_sleep;
        int n_rx, n_tx = 0;

        pmd_stall_begin(pmd, start);
        pmd_resize_caches(pmd);
        atomic_read_relaxed(&pmd->max_sleep, &max_sleep);
        if (!max_sleep) {
            loop->sleep_us = 0;
        }

        n_rx = poll_loop_receive(loop);
        if (!n_rx) {
            /* Nothing goes to sleep with packets in its hands. */
            pmd_update_time(pmd);
            n_tx = pmd_flush_output(pmd, loop->sleep_us > 0);
        }
        if (max_sleep) {
            slept = poll_loop_sleep(loop, max_sleep);
        }
        if (pmd_housekeeping_run(pmd, loop->rxqs, loop->n, !n_rx)) {
            poll_loop_check_queues(loop);
        }
        if (OVS_UNLIKELY(reload_requested(pmd))) {
            pmd_stall_end(pmd, pmd_perf_now(perf) - start - slept);
            break;
        }
        pmd_stall_end(pmd, pmd_perf_end_iteration(perf, n_rx, n_tx, slept,
                                                  pmd_metrics_enabled(pmd)));
    }
}

/* Waits for a reload, without anything to poll.  'soon': it is about to be
 * requested, and packets may be lost meanwhile; but a core that several
 * threads share must come to those who request it, too. */
static void
wait_for_reload(struct pmd_thread *pmd, bool soon)
{
    if (soon) {
        for (int i = 0; !reload_requested(pmd); i++) {
            if (i >= WAIT_SPINS) {
                ovsrcu_quiesce();
                xnanosleep_no_quiesce(WAIT_SLEEP_NS);
            }
        }
        return;
    }
    while (seq_read(pmd->reload_seq) == pmd->last_reload_seq) {
        seq_wait(pmd->reload_seq, pmd->last_reload_seq);
        poll_block();
    }
}

/* Takes a requested reload over.  Returns true if the thread shall go on;
 * stores to '*soon' whether another reload follows at once. */
static bool
poll_loop_reload(struct poll_loop *loop, bool *soon)
{
    struct pmd_thread *pmd = loop->pmd;
    uint64_t begin = pmd_perf_now(&pmd->perf);
    bool new_qid, exiting;
    enum pmd_stage outer;

    /* An iteration of its own kind. */
    pmd_stall_begin(pmd, begin);
    outer = pmd_stage_enter(&pmd->mark, PMD_STAGE_RELOAD);
    poll_loop_load(loop);

    /* The knobs were stored before 'reload'. */
    atomic_read_relaxed(&pmd->wait_for_reload, soon);
    atomic_read_relaxed(&pmd->reload_tx_qid, &new_qid);
    atomic_read_relaxed(&pmd->exit, &exiting);
    if (new_qid) {
        pmd_free_tx_qid(pmd);
        pmd_alloc_tx_qid(pmd);
    }

    atomic_store_relaxed(&pmd->wait_for_reload, false);
    atomic_store_relaxed(&pmd->reload_tx_qid, false);
    pmd->last_reload_seq = seq_read(pmd->reload_seq);
    pmd_stage_set(&pmd->mark, outer);
    pmd_stall_end(pmd, pmd_perf_now(&pmd->perf) - begin);
    pmd_stall_begin(pmd, 0);

    /* Pairs with the acquire in pmd_reload_wait(). */
    atomic_store_explicit(&pmd->reload, false, memory_order_release);
    return !exiting;
}

/* Begins a round of polling with what was loaded. */
static void
poll_loop_start(struct poll_loop *loop)
{
    struct pmd_thread *pmd = loop->pmd;

    for (size_t i = 0; i < loop->n; i++) {
        VLOG_DBG("Core %u processing port \'%s\' with queue-id %d\n",
                 pmd->core_id, dp_rxq_name(loop->rxqs[i]),
                 netdev_rxq_get_queue_id(loop->rxqs[i]->rx));
        dp_rxq_reset_load(loop->rxqs[i]);
    }
}

void *
pmd_thread_main(void *pmd_)
{
    struct pmd_thread *pmd = pmd_;
    struct poll_loop loop = { .pmd = pmd };
    bool attached = false;
    bool soon = false;

    ovsthread_setspecific(pmd->run->pmd_key, pmd);
    ovs_numa_thread_setaffinity_core(pmd->core_id);
    set_timer_resolution(TIMER_RESOLUTION_NS);
    pmd_stall_attach(pmd);

    pmd_alloc_tx_qid(pmd);
    poll_loop_load(&loop);

    do {
        /* DPDK may have been initialized since the last time. */
        if (!attached) {
            attached = dpdk_attach_thread(pmd->core_id);
        }
        poll_loop_start(&loop);
        if (!loop.n) {
            wait_for_reload(pmd, soon);
        }
        pmd_housekeeping_start(pmd);
        poll_loop_run(&loop);
    } while (poll_loop_reload(&loop, &soon));

    pmd_stall_detach(pmd);
    pmd_txports_clear(pmd);
    pmd_free_tx_qid(pmd);
    free(loop.rxqs);
    free(loop.polled);
    if (attached) {
        dpdk_detach_thread();
    }
    return NULL;
}
