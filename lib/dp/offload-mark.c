/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/offload-mark.h"

#include <stdlib.h>

#include "cmap.h"
#include "hash.h"
#include "openvswitch/hmap.h"
#include "openvswitch/thread.h"
#include "ovs-rcu.h"
#include "table/dp-flow.h"
#include "table/flow-table.h"
#include "util.h"

/* The highest number that devices can carry without confusion. */
#define MARK_MAX (UINT32_MAX - 1)

/* A mark with its megaflow. */
struct mark {
    struct hmap_node by_number; /* In 'marks_by_number'. */
    struct hmap_node by_mega;   /* In 'marks_by_mega'. */
    uint32_t number;
    const struct dp_run *run;
    ovs_u128 mega_ufid;
    size_t n_links;
};

/* A flow that a mark stands for.  Immutable, freed after a grace period. */
struct mark_link {
    struct cmap_node node;      /* In 'links'. */
    uint32_t number;
    const struct dp_run *run;
    struct dp_flow *flow;       /* With a reference. */
};

/* Protects what follows; readers of 'links' do without. */
static struct ovs_mutex mark_mutex = OVS_MUTEX_INITIALIZER;
static struct hmap marks_by_number OVS_GUARDED_BY(mark_mutex)
    = HMAP_INITIALIZER(&marks_by_number);
static struct hmap marks_by_mega OVS_GUARDED_BY(mark_mutex)
    = HMAP_INITIALIZER(&marks_by_mega);
static uint32_t last_number OVS_GUARDED_BY(mark_mutex);
static struct cmap links = CMAP_INITIALIZER;

static uint32_t
mega_hash(const struct dp_run *run, const ovs_u128 *mega_ufid)
{
    return hash_pointer(run, hash_bytes(mega_ufid, sizeof *mega_ufid, 0));
}

static uint32_t
link_hash(uint32_t number, unsigned core_id)
{
    return hash_2words(number, core_id);
}

static struct mark *
find_mega(const struct dp_run *run, const ovs_u128 *mega_ufid)
    OVS_REQUIRES(mark_mutex)
{
    struct mark *mark;

    HMAP_FOR_EACH_WITH_HASH (mark, by_mega, mega_hash(run, mega_ufid),
                             &marks_by_mega) {
        if (mark->run == run && ovs_u128_equals(mark->mega_ufid,
                                                *mega_ufid)) {
            return mark;
        }
    }
    return NULL;
}

static struct mark *
find_number(uint32_t number)
    OVS_REQUIRES(mark_mutex)
{
    struct mark *mark;

    HMAP_FOR_EACH_WITH_HASH (mark, by_number, hash_int(number, 0),
                             &marks_by_number) {
        if (mark->number == number) {
            return mark;
        }
    }
    return NULL;
}

/* Returns a number that is not in use, or INVALID_FLOW_MARK. */
static uint32_t
next_number(void)
    OVS_REQUIRES(mark_mutex)
{
    if (hmap_count(&marks_by_number) >= MARK_MAX) {
        return INVALID_FLOW_MARK;
    }
    do {
        last_number = last_number < MARK_MAX ? last_number + 1 : 1;
    } while (find_number(last_number));
    return last_number;
}

uint32_t
offload_mark_find(const struct dp_run *run, const ovs_u128 *mega_ufid)
{
    const struct mark *mark;
    uint32_t number;

    ovs_mutex_lock(&mark_mutex);
    mark = find_mega(run, mega_ufid);
    number = mark ? mark->number : INVALID_FLOW_MARK;
    ovs_mutex_unlock(&mark_mutex);

    return number;
}

uint32_t
offload_mark_reserve(const struct dp_run *run, const ovs_u128 *mega_ufid)
{
    uint32_t number;

    ovs_mutex_lock(&mark_mutex);
    number = next_number();
    if (number != INVALID_FLOW_MARK) {
        struct mark *mark = xmalloc(sizeof *mark);

        mark->number = number;
        mark->run = run;
        mark->mega_ufid = *mega_ufid;
        mark->n_links = 0;
        hmap_insert(&marks_by_number, &mark->by_number, hash_int(number, 0));
        hmap_insert(&marks_by_mega, &mark->by_mega,
                    mega_hash(run, mega_ufid));
    }
    ovs_mutex_unlock(&mark_mutex);

    return number;
}

void
offload_mark_release(uint32_t number)
{
    struct mark *mark;

    ovs_mutex_lock(&mark_mutex);
    mark = find_number(number);
    ovs_assert(mark && !mark->n_links);
    hmap_remove(&marks_by_number, &mark->by_number);
    hmap_remove(&marks_by_mega, &mark->by_mega);
    ovs_mutex_unlock(&mark_mutex);

    free(mark);
}

bool
offload_mark_link(struct dp_flow *flow, uint32_t number)
{
    struct mark_link *link;
    struct mark *mark;

    ovs_assert(flow->info->mark == INVALID_FLOW_MARK);
    if (!dp_flow_ref(flow)) {
        return false;
    }
    flow->info->mark = number;

    link = xmalloc(sizeof *link);
    link->number = number;
    link->flow = flow;

    ovs_mutex_lock(&mark_mutex);
    mark = find_number(number);
    ovs_assert(mark);
    mark->n_links++;
    link->run = mark->run;
    cmap_insert(&links, &link->node,
                link_hash(number, flow->info->pmd_id));
    ovs_mutex_unlock(&mark_mutex);
    return true;
}

bool
offload_mark_unlink(struct dp_flow *flow)
{
    uint32_t number = flow->info->mark;
    uint32_t hash = link_hash(number, flow->info->pmd_id);
    struct mark_link *link;
    struct mark *mark;
    bool last;

    ovs_mutex_lock(&mark_mutex);
    CMAP_FOR_EACH_WITH_HASH_PROTECTED (link, node, hash, &links) {
        if (link->flow == flow) {
            break;
        }
    }
    mark = find_number(number);
    ovs_assert(link && mark);
    cmap_remove(&links, &link->node, hash);
    last = !--mark->n_links;
    ovs_mutex_unlock(&mark_mutex);

    ovsrcu_postpone(free, link);
    flow->info->mark = INVALID_FLOW_MARK;
    dp_flow_unref(flow);
    return last;
}

struct dp_flow *
offload_mark_find_flow(const struct dp_run *run, unsigned core_id,
                       uint32_t number)
{
    const struct mark_link *link;

    CMAP_FOR_EACH_WITH_HASH (link, node, link_hash(number, core_id),
                             &links) {
        if (link->number == number && link->run == run
            && link->flow->info->pmd_id == core_id
            && dp_flow_is_live(link->flow)) {
            return link->flow;
        }
    }
    return NULL;
}
