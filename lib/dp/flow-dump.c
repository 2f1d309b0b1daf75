/* SPDX-License-Identifier: Apache-2.0 */

/* Dumping the flows of all threads.
 *
 * Several dump threads can take from one dump.  Under the dump's mutex each
 * takes the next handful of flows, and then describes them on its own. */

#include <config.h>

#include <errno.h>
#include <stdio.h>

#include "dp/dp-netdev.h"
#include "dp/flow-convert.h"
#include "odp-util.h"
#include "openvswitch/ofpbuf.h"
#include "table/flow-table.h"

/* Flows that a dump thread has memory to describe at a time. */
enum { DUMP_BATCH = 50 };

struct flow_dump {
    struct dpif_flow_dump up;

    struct ovs_mutex mutex;
    struct cmap_position thread_pos OVS_GUARDED;
    struct cmap_position flow_pos OVS_GUARDED; /* In flows of 'pmd'. */
    struct pmd_thread *pmd OVS_GUARDED; /* Being dumped: null before the first
                                         * one and after the last.  The dump
                                         * has a reference. */
    bool done OVS_GUARDED;
};

struct flow_dump_thread {
    struct dpif_flow_dump_thread up;
    struct flow_dump *dump;
    struct {
        struct odputil_keybuf key;
        struct odputil_keybuf mask;
    } texts[DUMP_BATCH];
};

struct dpif_flow_dump *
dp_netdev_flow_dump_create(const struct dpif *dpif, bool terse,
                           struct dpif_flow_dump_types *types OVS_UNUSED)
{
    struct flow_dump *dump = xzalloc(sizeof *dump);

    dpif_flow_dump_init(&dump->up, dpif);
    dump->up.terse = terse;
    ovs_mutex_init(&dump->mutex);
    return &dump->up;
}

int
dp_netdev_flow_dump_destroy(struct dpif_flow_dump *up)
    OVS_NO_THREAD_SAFETY_ANALYSIS
{
    struct flow_dump *dump = CONTAINER_OF(up, struct flow_dump, up);

    /* A dump that was given up early still has a thread. */
    if (dump->pmd) {
        pmd_thread_unref(dump->pmd);
    }
    ovs_mutex_destroy(&dump->mutex);
    free(dump);
    return 0;
}

struct dpif_flow_dump_thread *
dp_netdev_flow_dump_thread_create(struct dpif_flow_dump *up)
{
    struct flow_dump_thread *thread = xmalloc(sizeof *thread);

    dpif_flow_dump_thread_init(&thread->up, up);
    thread->dump = CONTAINER_OF(up, struct flow_dump, up);
    return &thread->up;
}

void
dp_netdev_flow_dump_thread_destroy(struct dpif_flow_dump_thread *up)
{
    free(CONTAINER_OF(up, struct flow_dump_thread, up));
}

/* Moves 'dump' on to the next thread.  Returns false if there is none. */
static bool
flow_dump_next_pmd(struct flow_dump *dump, struct dp_netdev *dp)
    OVS_REQUIRES(dump->mutex)
{
    if (dump->pmd) {
        pmd_thread_unref(dump->pmd);
    }
    dump->pmd = dp_netdev_next_pmd(dp, &dump->thread_pos);
    memset(&dump->flow_pos, 0, sizeof dump->flow_pos);
    dump->done = !dump->pmd;
    return !dump->done;
}

/* Takes up to 'max' flows, all of one thread, from 'dump'. */
static size_t
flow_dump_take(struct flow_dump *dump, struct dp_netdev *dp,
               struct dp_flow *flows[], size_t max)
    OVS_EXCLUDED(dump->mutex)
{
    size_t n = 0;

    ovs_mutex_lock(&dump->mutex);
    while (!n && !dump->done) {
        if (!dump->pmd && !flow_dump_next_pmd(dump, dp)) {
            break;
        }
        while (n < max) {
            struct cmap_node *node;

            node = cmap_next_position(&dump->pmd->flows.by_ufid,
                                      &dump->flow_pos);
            if (!node) {
                flow_dump_next_pmd(dump, dp);
                break;
            }
            flows[n++] = CONTAINER_OF(node, struct dp_flow_info,
                                      ufid_node)->slot;
        }
    }
    ovs_mutex_unlock(&dump->mutex);

    return n;
}

int
dp_netdev_flow_dump_next(struct dpif_flow_dump_thread *up,
                         struct dpif_flow *out, int max_flows)
{
    struct flow_dump_thread *thread
        = CONTAINER_OF(up, struct flow_dump_thread, up);
    struct flow_dump *dump = thread->dump;
    struct dp_netdev *dp = dp_netdev_from_dpif(up->dpif);
    struct dp_flow *flows[DUMP_BATCH];
    size_t n;

    /* Nothing below quiesces, so flows that are removed meanwhile can still be
     * read. */
    n = flow_dump_take(dump, dp, flows, MIN(max_flows, DUMP_BATCH));
    for (size_t i = 0; i < n; i++) {
        struct ofpbuf key, mask;

        ofpbuf_use_stack(&key, &thread->texts[i].key,
                         sizeof thread->texts[i].key);
        ofpbuf_use_stack(&mask, &thread->texts[i].mask,
                         sizeof thread->texts[i].mask);
        flow_convert_to_dpif(dp, flows[i], dump->up.terse, &key, &mask,
                             &out[i]);
    }
    return n;
}
