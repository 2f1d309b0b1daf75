/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/ct-action.h"

#include <string.h>

#include "conntrack-tp.h"
#include "netlink.h"
#include "sync/dp-log.h"
#include "util.h"

/* Which of the attributes of a range were there. */
struct nat_seen {
    bool direction;             /* Source or destination. */
    bool max_addr;
    bool min_port;
    bool max_port;
};

/* Copies an IPv4 or IPv6 address. */
static void
get_addr(const struct nlattr *a, union ct_addr *addr)
{
    memcpy(addr, nl_attr_get(a), MIN(nl_attr_get_size(a), sizeof *addr));
}

static void
parse_nat_attr(const struct nlattr *a, struct nat_action_info_t *nat,
               struct nat_seen *seen)
{
    switch ((enum ovs_nat_attr) nl_attr_type(a)) {
    case OVS_NAT_ATTR_SRC:
        nat->nat_action |= NAT_ACTION_SRC;
        seen->direction = true;
        return;
    case OVS_NAT_ATTR_DST:
        nat->nat_action |= NAT_ACTION_DST;
        seen->direction = true;
        return;
    case OVS_NAT_ATTR_IP_MIN:
        get_addr(a, &nat->min_addr);
        if (!seen->max_addr) {
            /* A single address until we hear otherwise. */
            nat->max_addr = nat->min_addr;
        }
        return;
    case OVS_NAT_ATTR_IP_MAX:
        get_addr(a, &nat->max_addr);
        seen->max_addr = true;
        return;
    case OVS_NAT_ATTR_PROTO_MIN:
        nat->min_port = nl_attr_get_u16(a);
        seen->min_port = true;
        return;
    case OVS_NAT_ATTR_PROTO_MAX:
        nat->max_port = nl_attr_get_u16(a);
        seen->max_port = true;
        return;
    case OVS_NAT_ATTR_PROTO_RANDOM:
        nat->nat_flags |= NAT_RANGE_RANDOM;
        return;
    case OVS_NAT_ATTR_PERSISTENT:
        nat->nat_flags |= NAT_PERSISTENT;
        return;
    case OVS_NAT_ATTR_PROTO_HASH: /* What happens without it too. */
        return;
    case OVS_NAT_ATTR_UNSPEC:
    case __OVS_NAT_ATTR_MAX:
        OVS_NOT_REACHED();
    }
}

static void
parse_nat(const struct nlattr *nested, struct nat_action_info_t *nat,
          struct nat_seen *seen)
{
    const struct nlattr *a;
    unsigned int left;

    memset(nat, 0, sizeof *nat);
    NL_NESTED_FOR_EACH_UNSAFE (a, left, nested) {
        parse_nat_attr(a, nat, seen);
    }

    if (seen->min_port && !seen->max_port) {
        nat->max_port = nat->min_port;
    }
    if (seen->min_port || seen->max_port) {
        if (nat->nat_action & NAT_ACTION_SRC) {
            nat->nat_action |= NAT_ACTION_SRC_PORT;
        } else if (nat->nat_action & NAT_ACTION_DST) {
            nat->nat_action |= NAT_ACTION_DST_PORT;
        }
    }
}

static uint32_t
parse_timeout(const struct nlattr *a)
{
    const char *id = nl_attr_get_string(a);
    unsigned int tp_id;

    if (!str_to_uint(id, 10, &tp_id)) {
        VLOG_WARN("Invalid Timeout Policy ID: %s.", id);
        return DEFAULT_TP_ID;
    }
    return tp_id;
}

void
ct_action_parse(const struct nlattr *action, struct ct_action *ct)
{
    struct nat_seen seen = { .direction = false };
    const struct nlattr *a;
    unsigned int left;

    /* Leaves 'nat', which is large, alone. */
    ct->commit = false;
    ct->force = false;
    ct->zone = 0;
    ct->tp_id = 0;
    ct->helper = NULL;
    ct->mark = NULL;
    ct->labels = NULL;
    ct->has_nat = false;

    NL_NESTED_FOR_EACH_UNSAFE (a, left, action) {
        switch ((enum ovs_ct_attr) nl_attr_type(a)) {
        case OVS_CT_ATTR_FORCE_COMMIT:
            ct->force = true;
            ct->commit = true;
            break;
        case OVS_CT_ATTR_COMMIT:
            ct->commit = true;
            break;
        case OVS_CT_ATTR_ZONE:
            ct->zone = nl_attr_get_u16(a);
            break;
        case OVS_CT_ATTR_HELPER:
            ct->helper = nl_attr_get_string(a);
            break;
        case OVS_CT_ATTR_MARK:
            ct->mark = nl_attr_get(a);
            break;
        case OVS_CT_ATTR_LABELS:
            ct->labels = nl_attr_get(a);
            break;
        case OVS_CT_ATTR_TIMEOUT:
            ct->tp_id = parse_timeout(a);
            break;
        case OVS_CT_ATTR_NAT:
            ct->has_nat = true;
            parse_nat(a, &ct->nat, &seen);
            break;
        case OVS_CT_ATTR_EVENTMASK: /* There is nobody to notify. */
            break;
        case OVS_CT_ATTR_UNSPEC:
        case __OVS_CT_ATTR_MAX:
            OVS_NOT_REACHED();
        }
    }

    if (seen.direction && !ct->commit) {
        static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(5, 5);

        VLOG_WARN_RL(&rl, "NAT specified without commit.");
    }
}
