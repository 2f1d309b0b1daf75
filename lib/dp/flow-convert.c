/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "dp/flow-convert.h"

#include <errno.h>
#include <string.h>

#include "dp/dp-netdev.h"
#include "odp-util.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/ofpbuf.h"
#include "packets.h"
#include "pmd/flow-log.h"
#include "table/dp-flow.h"

#include "sync/dp-log.h"

/* A flow that asks for a conntrack state which this datapath does not have
 * could never match.  But it has all that there are. */
BUILD_ASSERT_DECL(CS_SUPPORTED_MASK == UINT8_MAX);
BUILD_ASSERT_DECL(sizeof ((struct flow *) NULL)->ct_state == sizeof(uint8_t));

int
flow_convert_key(const struct nlattr *key, size_t key_len, bool probe,
                 struct flow *flow)
{
    static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);

    if (!odp_flow_key_to_flow(key, key_len, flow, NULL)) {
        return 0;
    }

    /* What the upper layer cannot express it should not have sent. */
    if (!probe && !VLOG_DROP_ERR(&rl)) {
        struct ds text = DS_EMPTY_INITIALIZER;

        odp_flow_format(key, key_len, NULL, 0, NULL, &text, true, false);
        VLOG_ERR("internal error parsing flow key %s", ds_cstr(&text));
        ds_destroy(&text);
    }
    return EINVAL;
}

int
flow_convert_mask(const struct nlattr *key, size_t key_len,
                  const struct nlattr *mask, size_t mask_len, bool probe,
                  const struct flow *flow, struct flow_wildcards *wc)
{
    static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(1, 5);
    enum odp_key_fitness fit;

    fit = odp_flow_key_to_mask(mask, mask_len, wc, flow, NULL);
    if (fit == ODP_FIT_PERFECT) {
        return 0;
    }

    if (!probe && !VLOG_DROP_ERR(&rl)) {
        struct ds text = DS_EMPTY_INITIALIZER;

        odp_flow_format(key, key_len, mask, mask_len, NULL, &text, true,
                        true);
        VLOG_ERR("internal error parsing flow mask %s (%s)", ds_cstr(&text),
                 odp_key_fitness_to_string(fit));
        ds_destroy(&text);
    }
    return EINVAL;
}

void
flow_convert_stats(const struct dp_netdev *dp, struct dp_flow *flow,
                   struct dpif_flow_stats *stats,
                   struct dpif_flow_attrs *attrs)
{
    struct dpif_flow_attrs hw_attrs;
    struct dpif_flow_stats hw;
    unsigned long long n;

    atomic_read_relaxed(&flow->packets, &n);
    stats->n_packets = n;
    atomic_read_relaxed(&flow->bytes, &n);
    stats->n_bytes = n;
    atomic_read_relaxed(&flow->used, &stats->used);
    atomic_read_relaxed(&flow->tcp_flags, &stats->tcp_flags);

    if (dp_netdev_offload_flow_stats(dp, flow, &hw, &hw_attrs)) {
        stats->n_packets += hw.n_packets;
        stats->n_bytes += hw.n_bytes;
        stats->used = MAX(stats->used, hw.used);
        stats->tcp_flags |= hw.tcp_flags;
    } else {
        hw_attrs.offloaded = false;
        hw_attrs.dp_layer = "ovs";
    }

    if (attrs) {
        attrs->offloaded = hw_attrs.offloaded;
        attrs->dp_layer = hw_attrs.dp_layer;
    }
}

/* Key, mask and actions for flow_convert_to_dpif(). */
static void
put_match_and_actions(const struct dp_flow *flow, struct ofpbuf *key_buf,
                      struct ofpbuf *mask_buf, struct dpif_flow *out)
{
    const struct dp_actions *actions = dp_flow_actions(flow);
    struct flow packet, masks;
    struct odp_flow_key_parms parms = {
        .flow = &packet,
        .mask = &masks,
        .support = pmd_odp_support,
    };

    dp_flow_info_get_flow(flow->info, &packet);
    dp_mask_expand(flow->info->mask, &masks);

    uint32_t key_ofs = key_buf->size;
    odp_flow_key_from_flow(&parms, key_buf);
    out->key_len = key_buf->size - key_ofs;

    /* The mask is made with an eye on the key, which must not move. */
    if (mask_buf == key_buf) {
        ofpbuf_prealloc_tailroom(mask_buf, sizeof(struct odputil_keybuf));
    }
    uint32_t mask_ofs = mask_buf->size;
    parms.key_buf = key_buf;
    odp_flow_key_from_mask(&parms, mask_buf);
    out->mask_len = mask_buf->size - mask_ofs;

    /* Only now: a buffer can move when it grows. */
    out->key = ofpbuf_at_assert(key_buf, key_ofs, out->key_len);
    out->mask = ofpbuf_at_assert(mask_buf, mask_ofs, out->mask_len);

    out->actions = actions->attrs;
    out->actions_len = actions->size;
}

void
flow_convert_to_dpif(const struct dp_netdev *dp, struct dp_flow *flow,
                     bool terse, struct ofpbuf *key_buf,
                     struct ofpbuf *mask_buf, struct dpif_flow *out)
{
    const struct dp_flow_info *info = flow->info;

    memset(out, 0, sizeof *out);
    if (!terse) {
        put_match_and_actions(flow, key_buf, mask_buf, out);
    }
    out->ufid = info->ufid;
    out->ufid_present = true;
    out->pmd_id = info->pmd_id;
    flow_convert_stats(dp, flow, &out->stats, &out->attrs);
    out->attrs.dp_extra_info = info->mask->extra_info;
}
