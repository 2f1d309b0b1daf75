/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_DP_CT_H
#define WEFT_DP_CT_H 1

/* Connection tracking and reassembly of fragments, as the upper layer manages
 * them.  Each datapath has one tracker of its own, Open vSwitch's userspace
 * conntrack; here it is given the shape of 'struct dpif_class'.
 *
 * Thread-safe. */

#include <stdbool.h>
#include <stdint.h>

#include "ct-dpif.h"

struct dpif;
struct dpif_ipf_status;
struct ipf_dump_ctx;
struct ovs_list;

/* Arguments and results are those of the members of 'struct dpif_class' of the
 * same name. */
int dp_ct_dump_start(struct dpif *, struct ct_dpif_dump_state **,
                     const uint16_t *zone, int *n_buckets);
int dp_ct_dump_next(struct dpif *, struct ct_dpif_dump_state *,
                    struct ct_dpif_entry *);
int dp_ct_dump_done(struct dpif *, struct ct_dpif_dump_state *);
int dp_ct_exp_dump_start(struct dpif *, struct ct_dpif_dump_state **,
                         const uint16_t *zone);
int dp_ct_exp_dump_next(struct dpif *, struct ct_dpif_dump_state *,
                        struct ct_dpif_exp *);
int dp_ct_exp_dump_done(struct dpif *, struct ct_dpif_dump_state *);
int dp_ct_flush(struct dpif *, const uint16_t *zone,
                const struct ct_dpif_tuple *);

int dp_ct_set_maxconns(struct dpif *, uint32_t maxconns);
int dp_ct_get_maxconns(struct dpif *, uint32_t *maxconns);
int dp_ct_get_nconns(struct dpif *, uint32_t *nconns);
int dp_ct_set_tcp_seq_chk(struct dpif *, bool enabled);
int dp_ct_get_tcp_seq_chk(struct dpif *, bool *enabled);
int dp_ct_set_sweep_interval(struct dpif *, uint32_t ms);
int dp_ct_get_sweep_interval(struct dpif *, uint32_t *ms);
int dp_ct_get_features(struct dpif *, enum ct_features *);

int dp_ct_set_limits(struct dpif *, const struct ovs_list *zone_limits);
int dp_ct_get_limits(struct dpif *, const struct ovs_list *request,
                     struct ovs_list *reply);
int dp_ct_del_limits(struct dpif *, const struct ovs_list *zone_limits);

int dp_ct_set_timeout_policy(struct dpif *,
                             const struct ct_dpif_timeout_policy *);
int dp_ct_get_timeout_policy(struct dpif *, uint32_t tp_id,
                             struct ct_dpif_timeout_policy *);
int dp_ct_del_timeout_policy(struct dpif *, uint32_t tp_id);
int dp_ct_get_timeout_policy_name(struct dpif *, uint32_t tp_id,
                                  uint16_t dl_type, uint8_t nw_proto,
                                  char **name, bool *is_generic);

int dp_ipf_set_enabled(struct dpif *, bool v6, bool enabled);
int dp_ipf_set_min_frag(struct dpif *, bool v6, uint32_t min_frag);
int dp_ipf_set_max_nfrags(struct dpif *, uint32_t max_nfrags);
int dp_ipf_get_status(struct dpif *, struct dpif_ipf_status *);
int dp_ipf_dump_start(struct dpif *, struct ipf_dump_ctx **);
int dp_ipf_dump_next(struct dpif *, void *ctx, char **dump);
int dp_ipf_dump_done(struct dpif *, void *ctx);

#endif /* dp/ct.h */
