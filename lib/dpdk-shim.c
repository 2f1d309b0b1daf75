/* SPDX-License-Identifier: Apache-2.0 */

/* What DPDK 22.11 lacks of the functions that Open vSwitch 3.5.0 calls.
 *
 * This goes into a library of its own, which stands last on the command line
 * of every program that Open vSwitch's build links.  configure leaves it out
 * where DPDK has the function. */

#include <stdint.h>

int rte_vhost_driver_set_max_queue_num(const char *path,
                                       uint32_t max_queue_pairs);

/* Limits the queue pairs of a VDUSE device, the only kind that Open vSwitch
 * calls it for.  A library without this function has no VDUSE devices either,
 * so the answer is DPDK's for a path that it does not know: -1.  The caller
 * logs it with the name of the port, which then does not come up. */
int
rte_vhost_driver_set_max_queue_num(const char *path, uint32_t max_queue_pairs)
{
    (void) path;
    (void) max_queue_pairs;
    return -1;
}
