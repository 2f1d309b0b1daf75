/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "sync/dp-log.h"

#include "compiler.h"

struct vlog_module dp_log_module = {
    .list = OVS_LIST_INITIALIZER(&dp_log_module.list),
    .name = "dpif_netdev",
    .levels = { VLL_INFO, VLL_INFO, VLL_INFO },
    .min_level = VLL_INFO,
    .honor_rate_limits = true,
};

OVS_CONSTRUCTOR(dp_log_register)
{
    vlog_insert_module(&dp_log_module.list);
}
