/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/drops.h"

#include "compiler.h"
#include "coverage.h"
#include "ovs-atomic.h"
#include "util.h"

/* Packets dropped since a thread has last told the coverage counters.  Any
 * thread adds, and whichever comes to clear its coverage counters first takes
 * all; relaxed, each a number for itself.
 *
 * COVERAGE_DEFINE would keep the counts in the thread, and lose what a thread
 * has counted in the last second before it ends. */
static atomic_uint32_t n_dropped[DP_N_DROPS];

static unsigned int
take_count(enum dp_drop reason)
{
    uint32_t n;

    /* Exchanged only where there is something: most often there is not. */
    atomic_read_relaxed(&n_dropped[reason], &n);
    return (n ? atomic_exchange_explicit(&n_dropped[reason], 0,
                                         memory_order_relaxed)
            : 0);
}

#define DEFINE_DROP_COUNTER(NAME, REASON)                               \
    static unsigned int                                                 \
    NAME##_take(void)                                                   \
    {                                                                   \
        return take_count(REASON);                                      \
    }                                                                   \
    extern struct coverage_counter counter_##NAME; /* As elsewhere. */  \
    struct coverage_counter counter_##NAME = {                          \
        .name = #NAME, .count = NAME##_take,                            \
    };                                                                  \
    OVS_CONSTRUCTOR(NAME##_register)                                    \
    {                                                                   \
        coverage_counter_register(&counter_##NAME);                     \
    }

DEFINE_DROP_COUNTER(datapath_drop_meter, DP_DROP_METER)
DEFINE_DROP_COUNTER(datapath_drop_upcall_error, DP_DROP_UPCALL_ERROR)
DEFINE_DROP_COUNTER(datapath_drop_lock_error, DP_DROP_LOCK_ERROR)
DEFINE_DROP_COUNTER(datapath_drop_userspace_action_error,
                    DP_DROP_USERSPACE_ACTION_ERROR)
DEFINE_DROP_COUNTER(datapath_drop_tunnel_push_error,
                    DP_DROP_TUNNEL_PUSH_ERROR)
DEFINE_DROP_COUNTER(datapath_drop_tunnel_pop_error, DP_DROP_TUNNEL_POP_ERROR)
DEFINE_DROP_COUNTER(datapath_drop_recirc_error, DP_DROP_RECIRC_ERROR)
DEFINE_DROP_COUNTER(datapath_drop_invalid_port, DP_DROP_INVALID_PORT)
DEFINE_DROP_COUNTER(datapath_drop_invalid_bond, DP_DROP_INVALID_BOND)
DEFINE_DROP_COUNTER(datapath_drop_invalid_tnl_port, DP_DROP_INVALID_TNL_PORT)
DEFINE_DROP_COUNTER(datapath_drop_rx_invalid_packet,
                    DP_DROP_RX_INVALID_PACKET)

void
dp_drop_count(enum dp_drop reason, unsigned int n)
{
    uint32_t old;

    atomic_add_relaxed(&n_dropped[reason], n, &old);
}
