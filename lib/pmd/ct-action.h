/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_CT_ACTION_H
#define WEFT_PMD_CT_ACTION_H 1

/* The action "ct" in the form in which conntrack_execute() wants it.
 *
 * Thread-safe. */

#include <stdbool.h>
#include <stdint.h>

#include "conntrack.h"
#include "odp-netlink.h"

struct nlattr;

struct ct_action {
    bool commit;
    bool force;                 /* Commit even in the other direction. */
    uint16_t zone;
    uint32_t tp_id;             /* Timeout policy. */
    const char *helper;         /* Null if none, as all of these. */
    const uint32_t *mark;       /* Value and mask. */
    const struct ovs_key_ct_labels *labels; /* Value and mask. */
    bool has_nat;               /* 'nat' is valid. */
    struct nat_action_info_t nat;
};

/* Takes the OVS_ACTION_ATTR_CT attribute 'a' apart.  The result points into
 * 'a'. */
void ct_action_parse(const struct nlattr *a, struct ct_action *);

#endif /* pmd/ct-action.h */
