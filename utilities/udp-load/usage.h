/* SPDX-License-Identifier: Apache-2.0 */

#ifndef UDP_LOAD_USAGE_H
#define UDP_LOAD_USAGE_H 1

void usage_print(void);

#endif /* utilities/udp-load/usage.h */
