/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "bench/flow-put.h"

#include <errno.h>

#include "bench/dp-driver.h"
#include "dpif.h"
#include "flow.h"
#include "netlink.h"
#include "odp-netlink.h"
#include "ovs-rcu.h"
#include "util.h"

enum { BATCH = 64 };
enum { KEY_SIZE = 512 };
enum { QUIESCE_FLOWS = BATCH * 16 };    /* As a handler thread does. */

/* Returns where in 'key' the payload of the attribute 'type' begins; VLAN
 * keys have the network layer inside an encapsulation. */
static size_t
attr_ofs(const struct ofpbuf *key, uint16_t type)
{
    const struct nlattr *attr = nl_attr_find(key, 0, type);

    if (!attr) {
        const struct nlattr *encap = nl_attr_find(key, 0, OVS_KEY_ATTR_ENCAP);

        ovs_assert(encap);
        attr = nl_attr_find_nested(encap, type);
        ovs_assert(attr);
    }
    return (const char *) nl_attr_get(attr) - (const char *) key->data;
}

static void
patch_key(const struct flow_put *fp, uint64_t i, void *key_)
{
    const struct flow_set *set = fp->set;
    uint8_t *key = key_;
    struct flow_tuple t;

    flow_set_tuple(set, i * set->per_flow, &t);
    if (set->kind == FLOW_SET_IPV6) {
        struct ovs_key_ipv6 *ip6 = (void *) (key + fp->addr_ofs);
        ovs_be32 src = htonl(t.src), dst = htonl(t.dst);

        memcpy(&ip6->ipv6_src.s6_addr[12], &src, sizeof src);
        memcpy(&ip6->ipv6_dst.s6_addr[12], &dst, sizeof dst);
    } else {
        struct ovs_key_ipv4 *ip = (void *) (key + fp->addr_ofs);

        ip->ipv4_src = htonl(t.src);
        ip->ipv4_dst = htonl(t.dst);
    }

    struct ovs_key_udp *udp = (void *) (key + fp->port_ofs);
    udp->udp_src = htons(t.sport);
    udp->udp_dst = htons(t.dport);
}

void
flow_put_init(struct flow_put *fp, const struct flow_set *set,
              struct dpif *dpif, unsigned int pmd_id, const odp_port_t *ports)
{
    memset(fp, 0, sizeof *fp);
    fp->set = set;
    fp->dpif = dpif;
    fp->pmd_id = pmd_id;

    fp->masks = xmalloc(set->n_masks * sizeof *fp->masks);
    for (unsigned int m = 0; m < set->n_masks; m++) {
        struct ofpbuf *key = m ? NULL : &fp->key;
        struct flow_wildcards wc;
        struct ofpbuf scratch;
        struct flow flow;

        if (!key) {
            key = &scratch;
        }
        ofpbuf_init(key, KEY_SIZE);
        ofpbuf_init(&fp->masks[m], KEY_SIZE);
        flow_set_match(set, m, &flow, &wc);
        dp_driver_encode(&flow, &wc, key, &fp->masks[m]);
        if (m) {
            ofpbuf_uninit(&scratch);
        }
    }
    ovs_assert(fp->key.size <= KEY_SIZE);

    fp->addr_ofs = attr_ofs(&fp->key, set->kind == FLOW_SET_IPV6
                            ? OVS_KEY_ATTR_IPV6 : OVS_KEY_ATTR_IPV4);
    fp->port_ofs = attr_ofs(&fp->key, OVS_KEY_ATTR_UDP);

    fp->actions = xmalloc(set->n_outputs * sizeof *fp->actions);
    for (unsigned int o = 0; o < set->n_outputs; o++) {
        ofpbuf_init(&fp->actions[o], 64);
        nl_msg_put_odp_port(&fp->actions[o], OVS_ACTION_ATTR_OUTPUT,
                            ports[o]);
    }
}

void
flow_put_destroy(struct flow_put *fp)
{
    ofpbuf_uninit(&fp->key);
    for (unsigned int m = 0; m < fp->set->n_masks; m++) {
        ofpbuf_uninit(&fp->masks[m]);
    }
    free(fp->masks);
    for (unsigned int o = 0; o < fp->set->n_outputs; o++) {
        ofpbuf_uninit(&fp->actions[o]);
    }
    free(fp->actions);
}

/* Puts with 'flags', or deletes if they are 0. */
static uint64_t
operate(struct flow_put *fp, uint64_t first, uint64_t n,
        enum dpif_flow_put_flags flags, int *error)
{
    uint32_t keys[BATCH][KEY_SIZE / 4];
    struct dpif_op ops[BATCH], *opsp[BATCH];
    ovs_u128 ufids[BATCH];
    uint64_t n_failed = 0;

    for (size_t k = 0; k < BATCH; k++) {
        memcpy(keys[k], fp->key.data, fp->key.size);
        opsp[k] = &ops[k];
    }

    for (uint64_t done = 0; done < n; ) {
        size_t n_ops = MIN(BATCH, n - done);

        for (size_t k = 0; k < n_ops; k++) {
            uint64_t i = first + done + k;
            const struct ofpbuf *actions;
            const struct ofpbuf *mask;

            patch_key(fp, i, keys[k]);
            flow_set_ufid(fp->set, i, &ufids[k]);
            if (flags) {
                actions = &fp->actions[i % fp->set->n_outputs];
                mask = &fp->masks[flow_set_mask_of(fp->set, i)];
                ops[k] = (struct dpif_op) {
                    .type = DPIF_OP_FLOW_PUT,
                    .flow_put = {
                        .flags = flags,
                        .key = (struct nlattr *) keys[k],
                        .key_len = fp->key.size,
                        .mask = mask->data,
                        .mask_len = mask->size,
                        .actions = actions->data,
                        .actions_len = actions->size,
                        .ufid = &ufids[k],
                        .pmd_id = fp->pmd_id,
                    },
                };
            } else {
                ops[k] = (struct dpif_op) {
                    .type = DPIF_OP_FLOW_DEL,
                    .flow_del = {
                        .key = (struct nlattr *) keys[k],
                        .key_len = fp->key.size,
                        .ufid = &ufids[k],
                        .terse = true,
                        .pmd_id = fp->pmd_id,
                    },
                };
            }
        }

        dpif_operate(fp->dpif, opsp, n_ops, DPIF_OFFLOAD_AUTO);
        for (size_t k = 0; k < n_ops; k++) {
            if (ops[k].error) {
                *error = ops[k].error;
                n_failed++;
            }
        }
        done += n_ops;
        if (!(done % QUIESCE_FLOWS)) {
            ovsrcu_quiesce();
        }
    }
    return n_failed;
}

uint64_t
flow_put_install(struct flow_put *fp, uint64_t first, uint64_t n, int *error)
{
    return operate(fp, first, n, DPIF_FP_CREATE, error);
}

uint64_t
flow_put_modify(struct flow_put *fp, uint64_t first, uint64_t n, int *error)
{
    return operate(fp, first, n, DPIF_FP_MODIFY, error);
}

uint64_t
flow_put_delete(struct flow_put *fp, uint64_t first, uint64_t n, int *error)
{
    return operate(fp, first, n, 0, error);
}
