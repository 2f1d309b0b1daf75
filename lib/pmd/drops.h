/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_DROPS_H
#define WEFT_PMD_DROPS_H 1

/* Every reason for which the datapath itself drops a packet, counted under the
 * coverage counter "datapath_drop_..." that operators know it by.  (Actions
 * that Open vSwitch's library executes count their own drops.)
 *
 * A coverage counter belongs to the file that defines it, so all of them are
 * defined in drops.c and counted through here.  What a thread has counted is
 * not lost when it ends.
 *
 * Thread-safe: an atomic addition a call. */

enum dp_drop {
    DP_DROP_METER,                  /* datapath_drop_meter */
    DP_DROP_UPCALL_ERROR,           /* datapath_drop_upcall_error */
    DP_DROP_LOCK_ERROR,             /* datapath_drop_lock_error */
    DP_DROP_USERSPACE_ACTION_ERROR, /* datapath_drop_userspace_action_error */
    DP_DROP_TUNNEL_PUSH_ERROR,      /* datapath_drop_tunnel_push_error */
    DP_DROP_TUNNEL_POP_ERROR,       /* datapath_drop_tunnel_pop_error */
    DP_DROP_RECIRC_ERROR,           /* datapath_drop_recirc_error */
    DP_DROP_INVALID_PORT,           /* datapath_drop_invalid_port */
    DP_DROP_INVALID_BOND,           /* datapath_drop_invalid_bond */
    DP_DROP_INVALID_TNL_PORT,       /* datapath_drop_invalid_tnl_port */
    DP_DROP_RX_INVALID_PACKET,      /* datapath_drop_rx_invalid_packet */
    DP_N_DROPS
};

/* Counts 'n' packets as dropped for 'reason'.  Does not free them. */
void dp_drop_count(enum dp_drop reason, unsigned int n);

#endif /* pmd/drops.h */
