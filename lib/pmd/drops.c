/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/drops.h"

#include "coverage.h"
#include "util.h"

COVERAGE_DEFINE(datapath_drop_meter);
COVERAGE_DEFINE(datapath_drop_upcall_error);
COVERAGE_DEFINE(datapath_drop_lock_error);
COVERAGE_DEFINE(datapath_drop_userspace_action_error);
COVERAGE_DEFINE(datapath_drop_tunnel_push_error);
COVERAGE_DEFINE(datapath_drop_tunnel_pop_error);
COVERAGE_DEFINE(datapath_drop_recirc_error);
COVERAGE_DEFINE(datapath_drop_invalid_port);
COVERAGE_DEFINE(datapath_drop_invalid_bond);
COVERAGE_DEFINE(datapath_drop_invalid_tnl_port);
COVERAGE_DEFINE(datapath_drop_rx_invalid_packet);

void
dp_drop_count(enum dp_drop reason, unsigned int n)
{
    switch (reason) {
    case DP_DROP_METER:
        COVERAGE_ADD(datapath_drop_meter, n);
        return;
    case DP_DROP_UPCALL_ERROR:
        COVERAGE_ADD(datapath_drop_upcall_error, n);
        return;
    case DP_DROP_LOCK_ERROR:
        COVERAGE_ADD(datapath_drop_lock_error, n);
        return;
    case DP_DROP_USERSPACE_ACTION_ERROR:
        COVERAGE_ADD(datapath_drop_userspace_action_error, n);
        return;
    case DP_DROP_TUNNEL_PUSH_ERROR:
        COVERAGE_ADD(datapath_drop_tunnel_push_error, n);
        return;
    case DP_DROP_TUNNEL_POP_ERROR:
        COVERAGE_ADD(datapath_drop_tunnel_pop_error, n);
        return;
    case DP_DROP_RECIRC_ERROR:
        COVERAGE_ADD(datapath_drop_recirc_error, n);
        return;
    case DP_DROP_INVALID_PORT:
        COVERAGE_ADD(datapath_drop_invalid_port, n);
        return;
    case DP_DROP_INVALID_BOND:
        COVERAGE_ADD(datapath_drop_invalid_bond, n);
        return;
    case DP_DROP_INVALID_TNL_PORT:
        COVERAGE_ADD(datapath_drop_invalid_tnl_port, n);
        return;
    case DP_DROP_RX_INVALID_PACKET:
        COVERAGE_ADD(datapath_drop_rx_invalid_packet, n);
        return;
    }
    OVS_NOT_REACHED();
}
