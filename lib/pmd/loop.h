/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_LOOP_H
#define WEFT_PMD_LOOP_H 1

/* The poll loop of a PMD thread, and its housekeeping.
 *
 * An iteration polls each queue once, sends what is due, sleeps if the load
 * allows it and the user wants it ("pmd-sleep-max"), and then does its share
 * of housekeeping (pmd/housekeeping.h).  Between two reloads it takes no mutex
 * but those that it only tries.
 *
 * pmd_poll_rxq() is also how the main thread polls ports that are no PMD
 * ports, as NON_PMD_CORE_ID. */

#include <stdbool.h>

#include "openvswitch/types.h"

struct dp_rxq;
struct pmd_thread;

/* Thread's main function; 'pmd_' is a struct pmd_thread. */
void *pmd_thread_main(void *pmd_);

/* Polls 'rxq' of port 'port_no' once and forwards what it gave.  Returns the
 * number of packets.  Sends what is due if there were any. */
int pmd_poll_rxq(struct pmd_thread *, struct dp_rxq *rxq, odp_port_t port_no);

#endif /* pmd/loop.h */
