/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_SINK_H
#define UDP_LOAD_SINK_H 1

#include "run.h"

void receive_worker(const struct run *, unsigned int worker);

#endif /* utilities/udp-load/sink.h */
