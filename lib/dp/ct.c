/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "dp/ct.h"

#include <errno.h>
#include <string.h>

#include "conntrack.h"
#include "conntrack-tp.h"
#include "dp/dp-netdev.h"
#include "dpif-provider.h"
#include "ipf.h"
#include "util.h"

/* A dump of connections or of expectations. */
struct ct_dump {
    struct ct_dpif_dump_state up;
    struct conntrack_dump position;
};

static struct conntrack *
tracker_of(struct dpif *dpif)
{
    return dp_netdev_from_dpif(dpif)->run.conntrack;
}

static struct ipf *
ipf_of(struct dpif *dpif)
{
    return conntrack_ipf_ctx(tracker_of(dpif));
}

static struct conntrack_dump *
position_of(struct ct_dpif_dump_state *state)
{
    return &CONTAINER_OF(state, struct ct_dump, up)->position;
}

static void
ct_dump_free(struct ct_dpif_dump_state *state)
{
    free(CONTAINER_OF(state, struct ct_dump, up));
}

/* Gives '*statep' a new dump, or frees it if 'error' says that the dump could
 * not start. */
static int
ct_dump_started(struct ct_dump *dump, int error,
                struct ct_dpif_dump_state **statep)
{
    *statep = error ? NULL : &dump->up;
    if (error) {
        free(dump);
    }
    return error;
}

int
dp_ct_dump_start(struct dpif *dpif, struct ct_dpif_dump_state **statep,
                 const uint16_t *zone, int *n_buckets)
{
    struct ct_dump *dump = xzalloc(sizeof *dump);

    return ct_dump_started(dump, conntrack_dump_start(tracker_of(dpif),
                                                      &dump->position, zone,
                                                      n_buckets), statep);
}

int
dp_ct_dump_next(struct dpif *dpif OVS_UNUSED, struct ct_dpif_dump_state *state,
                struct ct_dpif_entry *entry)
{
    return conntrack_dump_next(position_of(state), entry);
}

int
dp_ct_dump_done(struct dpif *dpif OVS_UNUSED, struct ct_dpif_dump_state *state)
{
    int error = conntrack_dump_done(position_of(state));

    ct_dump_free(state);
    return error;
}

int
dp_ct_exp_dump_start(struct dpif *dpif, struct ct_dpif_dump_state **statep,
                     const uint16_t *zone)
{
    struct ct_dump *dump = xzalloc(sizeof *dump);

    return ct_dump_started(dump, conntrack_exp_dump_start(tracker_of(dpif),
                                                          &dump->position,
                                                          zone), statep);
}

int
dp_ct_exp_dump_next(struct dpif *dpif OVS_UNUSED,
                    struct ct_dpif_dump_state *state,
                    struct ct_dpif_exp *expectation)
{
    return conntrack_exp_dump_next(position_of(state), expectation);
}

int
dp_ct_exp_dump_done(struct dpif *dpif OVS_UNUSED,
                    struct ct_dpif_dump_state *state)
{
    int error = conntrack_exp_dump_done(position_of(state));

    ct_dump_free(state);
    return error;
}

int
dp_ct_flush(struct dpif *dpif, const uint16_t *zone,
            const struct ct_dpif_tuple *tuple)
{
    return (tuple
            ? conntrack_flush_tuple(tracker_of(dpif), tuple, zone ? *zone : 0)
            : conntrack_flush(tracker_of(dpif), zone));
}

/* Knobs. */

int
dp_ct_set_maxconns(struct dpif *dpif, uint32_t maxconns)
{
    return conntrack_set_maxconns(tracker_of(dpif), maxconns);
}

int
dp_ct_get_maxconns(struct dpif *dpif, uint32_t *maxconns)
{
    return conntrack_get_maxconns(tracker_of(dpif), maxconns);
}

int
dp_ct_get_nconns(struct dpif *dpif, uint32_t *nconns)
{
    return conntrack_get_nconns(tracker_of(dpif), nconns);
}

int
dp_ct_set_tcp_seq_chk(struct dpif *dpif, bool enabled)
{
    return conntrack_set_tcp_seq_chk(tracker_of(dpif), enabled);
}

int
dp_ct_get_tcp_seq_chk(struct dpif *dpif, bool *enabled)
{
    *enabled = conntrack_get_tcp_seq_chk(tracker_of(dpif));
    return 0;
}

int
dp_ct_set_sweep_interval(struct dpif *dpif, uint32_t ms)
{
    return conntrack_set_sweep_interval(tracker_of(dpif), ms);
}

int
dp_ct_get_sweep_interval(struct dpif *dpif, uint32_t *ms)
{
    *ms = conntrack_get_sweep_interval(tracker_of(dpif));
    return 0;
}

int
dp_ct_get_features(struct dpif *dpif OVS_UNUSED, enum ct_features *features)
{
    if (features) {
        *features = CONNTRACK_F_ZERO_SNAT;
    }
    return 0;
}

/* Limits of zones.  The list of a request is worked off up to the first zone
 * that fails. */

int
dp_ct_set_limits(struct dpif *dpif, const struct ovs_list *zone_limits)
{
    struct conntrack *ct = tracker_of(dpif);
    const struct ct_dpif_zone_limit *limit;
    int error = 0;

    LIST_FOR_EACH (limit, node, zone_limits) {
        error = zone_limit_update(ct, limit->zone, limit->limit);
        if (error) {
            break;
        }
    }
    return error;
}

int
dp_ct_del_limits(struct dpif *dpif, const struct ovs_list *zone_limits)
{
    struct conntrack *ct = tracker_of(dpif);
    const struct ct_dpif_zone_limit *limit;
    int error = 0;

    LIST_FOR_EACH (limit, node, zone_limits) {
        error = zone_limit_delete(ct, limit->zone);
        if (error) {
            break;
        }
    }
    return error;
}

/* Replies with the default limit and with every zone that has one. */
static void
get_all_limits(struct conntrack *ct, struct ovs_list *reply)
{
    for (int zone = DEFAULT_ZONE; zone <= MAX_ZONE; zone++) {
        struct conntrack_zone_info info = zone_limit_get(ct, zone);

        /* A zone without a limit answers with another number. */
        if (info.zone == zone) {
            ct_dpif_push_zone_limit(reply, zone, info.limit,
                                    zone == DEFAULT_ZONE ? 0 : info.count);
        }
    }
}

int
dp_ct_get_limits(struct dpif *dpif, const struct ovs_list *request,
                 struct ovs_list *reply)
{
    struct conntrack *ct = tracker_of(dpif);
    const struct ct_dpif_zone_limit *wanted;

    if (ovs_list_is_empty(request)) {
        get_all_limits(ct, reply);
        return 0;
    }

    LIST_FOR_EACH (wanted, node, request) {
        struct conntrack_zone_info info = zone_limit_get(ct, wanted->zone);

        /* A zone without a limit has the default one. */
        if (info.zone != wanted->zone && info.zone != DEFAULT_ZONE) {
            return EINVAL;
        }
        ct_dpif_push_zone_limit(reply, wanted->zone, info.limit, info.count);
    }
    return 0;
}

/* Timeout policies. */

int
dp_ct_set_timeout_policy(struct dpif *dpif,
                         const struct ct_dpif_timeout_policy *policy)
{
    struct timeout_policy tp = { .policy = *policy };

    return timeout_policy_update(tracker_of(dpif), &tp);
}

int
dp_ct_get_timeout_policy(struct dpif *dpif, uint32_t tp_id,
                         struct ct_dpif_timeout_policy *policy)
{
    const struct timeout_policy *tp;

    tp = timeout_policy_get(tracker_of(dpif), tp_id);
    if (!tp) {
        return ENOENT;
    }
    *policy = tp->policy;
    return 0;
}

int
dp_ct_del_timeout_policy(struct dpif *dpif, uint32_t tp_id)
{
    return timeout_policy_delete(tracker_of(dpif), tp_id);
}

/* A policy holds for all protocols here, so that its number is name enough. */
int
dp_ct_get_timeout_policy_name(struct dpif *dpif OVS_UNUSED, uint32_t tp_id,
                              uint16_t dl_type OVS_UNUSED,
                              uint8_t nw_proto OVS_UNUSED, char **name,
                              bool *is_generic)
{
    *name = xasprintf("%"PRIu32, tp_id);
    *is_generic = true;
    return 0;
}

/* Fragments. */

int
dp_ipf_set_enabled(struct dpif *dpif, bool v6, bool enabled)
{
    return ipf_set_enabled(ipf_of(dpif), v6, enabled);
}

int
dp_ipf_set_min_frag(struct dpif *dpif, bool v6, uint32_t min_frag)
{
    return ipf_set_min_frag(ipf_of(dpif), v6, min_frag);
}

int
dp_ipf_set_max_nfrags(struct dpif *dpif, uint32_t max_nfrags)
{
    return ipf_set_max_nfrags(ipf_of(dpif), max_nfrags);
}

static void
get_ipf_proto_status(const struct ipf_proto_status *src,
                     struct dpif_ipf_proto_status *dst)
{
    dst->nfrag_accepted = src->nfrag_accepted;
    dst->nfrag_completed_sent = src->nfrag_completed_sent;
    dst->nfrag_expired_sent = src->nfrag_expired_sent;
    dst->nfrag_too_small = src->nfrag_too_small;
    dst->nfrag_overlap = src->nfrag_overlap;
    dst->nfrag_purged = src->nfrag_purged;
    dst->min_frag_size = src->min_frag_size;
    dst->enabled = src->enabled;
}

int
dp_ipf_get_status(struct dpif *dpif, struct dpif_ipf_status *status)
{
    struct ipf_status ipf_status;

    ipf_get_status(ipf_of(dpif), &ipf_status);
    get_ipf_proto_status(&ipf_status.v4, &status->v4);
    get_ipf_proto_status(&ipf_status.v6, &status->v6);
    status->nfrag = ipf_status.nfrag;
    status->nfrag_max = ipf_status.nfrag_max;
    return 0;
}

int
dp_ipf_dump_start(struct dpif *dpif OVS_UNUSED, struct ipf_dump_ctx **ctxp)
{
    return ipf_dump_start(ctxp);
}

int
dp_ipf_dump_next(struct dpif *dpif, void *ctx, char **dump)
{
    return ipf_dump_next(ipf_of(dpif), ctx, dump);
}

int
dp_ipf_dump_done(struct dpif *dpif OVS_UNUSED, void *ctx)
{
    return ipf_dump_done(ctx);
}
