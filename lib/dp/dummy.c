/* SPDX-License-Identifier: Apache-2.0 */

/* The dummy datapath: this datapath under other names, for tests.  Port
 * numbers follow port names and internal ports are no devices of the
 * system. */

#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "dp/dp-netdev.h"
#include "dpif-netdev.h"
#include "dummy.h"
#include "odp-util.h"
#include "sset.h"
#include "unixctl.h"
#include "util.h"

/* Registers a dummy class for datapaths of 'type'. */
static void
register_type(const char *type)
{
    struct dpif_class *class = xmemdup(&dpif_netdev_class, sizeof *class);

    class->type = xstrdup(type);

    /* Tests expect a datapath that says nothing of caches. */
    class->cache_get_supported_levels = NULL;
    class->cache_get_name = NULL;
    class->cache_get_size = NULL;
    class->cache_set_size = NULL;

    dp_register_provider(class);
}

/* Puts a dummy class in the place of the class of 'type', which need not exist
 * (EAFNOSUPPORT). */
static void
override_type(const char *type)
{
    int error = dp_unregister_provider(type);

    if (!error || error == EAFNOSUPPORT) {
        register_type(type);
    }
}

static void
override_all_types(void)
{
    struct sset types = SSET_INITIALIZER(&types);
    const char *type;

    dp_enumerate_types(&types);
    SSET_FOR_EACH (type, &types) {
        override_type(type);
    }
    sset_destroy(&types);
}

/* Moves port 'devname' of 'dp' to the number that 'port_no_string' says.
 * Returns null, or what is wrong with that. */
static const char *
renumber_port(struct dp_netdev *dp, const char *devname,
              const char *port_no_string)
{
    odp_port_t port_no = u32_to_odp(atoi(port_no_string));
    const char *problem = NULL;
    struct dp_port *port;

    ovs_rwlock_wrlock(&dp->port_rwlock);
    port = dp_netdev_find_port_by_name(dp, devname);
    if (!port) {
        problem = "unknown port";
    } else if (port_no == ODPP_LOCAL || port_no == ODPP_NONE) {
        problem = "bad port number";
    } else if (dp_netdev_find_port(dp, port_no)) {
        problem = "port number already in use";
    } else {
        dp_netdev_renumber_port(dp, port, port_no);
    }
    ovs_rwlock_unlock(&dp->port_rwlock);

    return problem;
}

static void
change_port_number_cmd(struct unixctl_conn *conn, int argc OVS_UNUSED,
                       const char *argv[], void *aux OVS_UNUSED)
{
    const char *problem = "unknown datapath or not a dummy";
    struct dp_netdev *dp;

    ovs_mutex_lock(&dp_netdev_mutex);
    dp = dp_netdev_find(argv[1]);
    if (dp && dp_netdev_class_is_dummy(dp->class)) {
        ovs_refcount_ref(&dp->ref_cnt);
    } else {
        dp = NULL;
    }
    ovs_mutex_unlock(&dp_netdev_mutex);

    if (dp) {
        problem = renumber_port(dp, argv[2], argv[3]);

        ovs_mutex_lock(&dp_netdev_mutex);
        dp_netdev_unref(dp);
        ovs_mutex_unlock(&dp_netdev_mutex);
    }

    if (problem) {
        unixctl_command_reply_error(conn, problem);
    } else {
        unixctl_command_reply(conn, NULL);
    }
}

void
dp_netdev_register_dummy_commands(void)
{
    unixctl_command_register("dpif-dummy/change-port-number",
                             "dp port new-number", 3, 3,
                             change_port_number_cmd, NULL);
}

void
dpif_dummy_register(enum dummy_level level)
{
    if (level == DUMMY_OVERRIDE_ALL) {
        override_all_types();
    } else if (level == DUMMY_OVERRIDE_SYSTEM) {
        override_type("system");
    }
    register_type("dummy");
    dp_netdev_register_dummy_commands();
}
