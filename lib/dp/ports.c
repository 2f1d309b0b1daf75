/* SPDX-License-Identifier: Apache-2.0 */

/* Ports of a datapath, as the upper layer adds, removes and lists them.
 * (Their configuration is in port-config.c.)
 *
 * A change of the set of ports takes effect in a reconfiguration
 * (reconfigure.c), which may throw out a port whose device does not work. */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "dp/dp-netdev.h"
#include "netdev.h"
#include "netdev-offload.h"
#include "netdev-vport.h"
#include "odp-util.h"
#include "pmd/port.h"
#include "seq.h"
#include "util.h"

#include "sync/dp-log.h"

/* Finding. */

struct dp_port *
dp_netdev_find_port(const struct dp_netdev *dp, odp_port_t port_no)
{
    struct dp_port *port;

    HMAP_FOR_EACH_WITH_HASH (port, node, dp_port_hash(port_no), &dp->ports) {
        if (port->port_no == port_no) {
            return port;
        }
    }
    return NULL;
}

struct dp_port *
dp_netdev_find_port_by_name(const struct dp_netdev *dp, const char *devname)
{
    struct dp_port *port;

    HMAP_FOR_EACH (port, node, &dp->ports) {
        if (!strcmp(netdev_get_name(port->netdev), devname)) {
            return port;
        }
    }
    return NULL;
}

/* As dp_netdev_find_port(), for numbers that come from outside.  Returns
 * EINVAL for what is no port number, ENODEV if no port has it. */
static int
get_port(const struct dp_netdev *dp, odp_port_t port_no,
         struct dp_port **portp)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    *portp = NULL;
    if (port_no == ODPP_NONE) {
        return EINVAL;
    }
    *portp = dp_netdev_find_port(dp, port_no);
    return *portp ? 0 : ENODEV;
}

/* Tests are easier to write with port numbers that one can guess: in a dummy
 * datapath "p3" wants to be 3 and "br2" 102.  Returns ODPP_NONE for a name
 * without a usable number. */
static odp_port_t
port_no_from_name(const char *name)
{
    const char *digits = name + strcspn(name, "0123456789");
    long int base = strncmp(name, "br", 2) ? 0 : 100;
    uint32_t port_no;

    if (!*digits) {
        return ODPP_NONE;
    }
    port_no = base + strtol(digits, NULL, 10);
    return port_no ? u32_to_odp(port_no) : ODPP_NONE;
}

/* Returns a port number that is free, or ODPP_NONE if none is. */
static odp_port_t
choose_port_no(const struct dp_netdev *dp, const char *devname)
    OVS_REQ_RDLOCK(dp->port_rwlock)
{
    if (dp_netdev_class_is_dummy(dp->class)) {
        odp_port_t wanted = port_no_from_name(devname);

        if (wanted != ODPP_NONE && !dp_netdev_find_port(dp, wanted)) {
            return wanted;
        }
    }

    for (uint32_t i = 1; i <= UINT16_MAX; i++) {
        if (!dp_netdev_find_port(dp, u32_to_odp(i))) {
            return u32_to_odp(i);
        }
    }
    return ODPP_NONE;
}

/* Adding and removing. */

const char *
dp_netdev_port_open_type(const struct dpif_class *class, const char *type)
{
    if (strcmp(type, "internal")) {
        return type;
    }
    return dp_netdev_class_is_dummy(class) ? "dummy-internal" : "tap";
}

/* Opens the device 'devname' for a new port, which is not part of a datapath
 * yet. */
static int
port_open(const char *devname, const char *type, odp_port_t port_no,
          struct dp_port **portp)
{
    enum netdev_flags flags;
    struct netdev *netdev;
    struct dp_port *port;
    int error;

    error = netdev_open(devname, type, &netdev);
    if (error) {
        return error;
    }
    netdev_get_flags(netdev, &flags);
    if (flags & NETDEV_LOOPBACK) {
        VLOG_ERR("%s: cannot add a loopback device", devname);
        netdev_close(netdev);
        return EINVAL;
    }

    port = xzalloc(sizeof *port);
    port->type = xstrdup(type);
    port->port_no = port_no;
    port->netdev = netdev;
    port->txq_mode = TXQ_MODE_STATIC;
    port->need_reconfigure = true;
    port->emc_enabled = true;
    *portp = port;
    return 0;
}

/* No thread uses 'port' any more. */
void
dp_port_destroy(struct dp_port *port)
{
    if (port) {
        netdev_restore_flags(port->saved_flags);
        for (unsigned int i = 0; i < port->n_rxq; i++) {
            netdev_rxq_close(port->rxqs[i].rx);
        }
        netdev_close(port->netdev);
        free(port->txq_used);
        free(port->rxqs);
        free(port->rxq_affinity_list);
        free(port->type);
        free(port);
    }
}

int
dp_netdev_create_port(struct dp_netdev *dp, const char *devname,
                      const char *type, odp_port_t port_no)
{
    struct dp_port *port;
    int error;

    if (dp_netdev_find_port_by_name(dp, devname)) {
        return EEXIST;
    }
    error = port_open(devname, type, port_no, &port);
    if (error) {
        return error;
    }

    hmap_insert(&dp->ports, &port->node, dp_port_hash(port_no));
    seq_change(dp->port_seq);
    dp_netdev_reconfigure(dp);
    if (!dp_netdev_find_port(dp, port_no)) {
        /* The device could not be configured, 'port' is gone. */
        return EINVAL;
    }

    /* Only now that the device works: a change of its flags makes the upper
     * layer look at it again, and if that were to fail, again and again. */
    error = netdev_turn_flags_on(port->netdev, NETDEV_PROMISC,
                                 &port->saved_flags);
    if (error) {
        VLOG_ERR("%s: cannot set promisc flag", devname);
        dp_netdev_remove_port(dp, port);
    }
    return error;
}

void
dp_netdev_remove_port(struct dp_netdev *dp, struct dp_port *port)
{
    hmap_remove(&dp->ports, &port->node);
    seq_change(dp->port_seq);
    dp_netdev_reconfigure(dp);

    /* From here on no thread polls 'port' or sends to it, so none can ask for
     * another offload on it. */
    dp_netdev_offload_flush(dp, port);
    netdev_uninit_flow_api(port->netdev);

    dp_port_destroy(port);
}

void
dp_netdev_renumber_port(struct dp_netdev *dp, struct dp_port *port,
                        odp_port_t port_no)
{
    /* Threads know ports by number, so one port goes and another one comes. */
    hmap_remove(&dp->ports, &port->node);
    dp_netdev_reconfigure(dp);

    port->port_no = port_no;
    hmap_insert(&dp->ports, &port->node, dp_port_hash(port_no));
    dp_netdev_reconfigure(dp);

    seq_change(dp->port_seq);
}

int
dp_netdev_port_add(struct dpif *dpif, struct netdev *netdev,
                   odp_port_t *port_nop)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    char namebuf[NETDEV_VPORT_NAME_BUFSIZE];
    const char *devname;
    int error = 0;

    devname = netdev_vport_get_dpif_port(netdev, namebuf, sizeof namebuf);

    ovs_rwlock_wrlock(&dp->port_rwlock);
    if (*port_nop == ODPP_NONE) {
        odp_port_t port_no = choose_port_no(dp, devname);

        if (port_no == ODPP_NONE) {
            error = EFBIG;
        } else {
            *port_nop = port_no;
        }
    } else if (dp_netdev_find_port(dp, *port_nop)) {
        error = EBUSY;
    }
    if (!error) {
        error = dp_netdev_create_port(dp, devname, netdev_get_type(netdev),
                                      *port_nop);
    }
    ovs_rwlock_unlock(&dp->port_rwlock);

    return error;
}

int
dp_netdev_port_del(struct dpif *dpif, odp_port_t port_no)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct dp_port *port;
    int error;

    if (port_no == ODPP_LOCAL) {
        return EINVAL;
    }

    ovs_rwlock_wrlock(&dp->port_rwlock);
    error = get_port(dp, port_no, &port);
    if (!error) {
        dp_netdev_remove_port(dp, port);
    }
    ovs_rwlock_unlock(&dp->port_rwlock);

    return error;
}

/* Queries and dumps. */

static void
describe_port(const struct dp_port *port, struct dpif_port *out)
{
    if (out) {
        out->port_no = port->port_no;
        out->name = xstrdup(netdev_get_name(port->netdev));
        out->type = xstrdup(port->type);
    }
}

int
dp_netdev_port_query_by_number(const struct dpif *dpif, odp_port_t port_no,
                               struct dpif_port *out)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct dp_port *port;
    int error;

    ovs_rwlock_rdlock(&dp->port_rwlock);
    error = get_port(dp, port_no, &port);
    if (!error) {
        describe_port(port, out);
    }
    ovs_rwlock_unlock(&dp->port_rwlock);

    return error;
}

int
dp_netdev_port_query_by_name(const struct dpif *dpif, const char *devname,
                             struct dpif_port *out)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    const struct dp_port *port;

    ovs_rwlock_rdlock(&dp->port_rwlock);
    port = dp_netdev_find_port_by_name(dp, devname);
    if (port) {
        describe_port(port, out);
    }
    ovs_rwlock_unlock(&dp->port_rwlock);

    return port ? 0 : ENODEV;
}

/* State of a dump.  What was returned last stays valid until the next call,
 * even if the port is removed. */
struct port_dump {
    struct hmap_position pos;
    struct dpif_port last;
};

int
dp_netdev_port_dump_start(const struct dpif *dpif OVS_UNUSED, void **statep)
{
    struct port_dump *dump = xzalloc(sizeof *dump);

    *statep = dump;
    return 0;
}

int
dp_netdev_port_dump_next(const struct dpif *dpif, void *state,
                         struct dpif_port *out)
{
    struct dp_netdev *dp = dp_netdev_from_dpif(dpif);
    struct port_dump *dump = state;
    struct hmap_node *node;

    dpif_port_destroy(&dump->last);
    dump->last.name = dump->last.type = NULL;

    ovs_rwlock_rdlock(&dp->port_rwlock);
    node = hmap_at_position(&dp->ports, &dump->pos);
    if (node) {
        describe_port(CONTAINER_OF(node, struct dp_port, node), &dump->last);
    }
    ovs_rwlock_unlock(&dp->port_rwlock);

    *out = dump->last;
    return node ? 0 : EOF;
}

int
dp_netdev_port_dump_done(const struct dpif *dpif OVS_UNUSED, void *state)
{
    struct port_dump *dump = state;

    dpif_port_destroy(&dump->last);
    free(dump);
    return 0;
}

/* There is no record of what changed, so a change makes the caller look at
 * everything (ENOBUFS). */
int
dp_netdev_port_poll(const struct dpif *dpif, char **devnamep OVS_UNUSED)
{
    struct dpif_netdev *handle = dpif_netdev_cast(dpif);
    uint64_t seq = seq_read(handle->dp->port_seq);

    if (seq == handle->last_port_seq) {
        return EAGAIN;
    }
    handle->last_port_seq = seq;
    return ENOBUFS;
}

void
dp_netdev_port_poll_wait(const struct dpif *dpif)
{
    const struct dpif_netdev *handle = dpif_netdev_cast(dpif);

    seq_wait(handle->dp->port_seq, handle->last_port_seq);
}
