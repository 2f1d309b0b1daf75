/* SPDX-License-Identifier: Apache-2.0 */

/* How the C library's allocator gets memory from the kernel and gives it back.
 *
 * It does so in small steps: with flows coming and going, the top of its heaps
 * is given back and asked for again many times a second.  Each time that pages
 * go, the kernel interrupts every processor that runs a thread of the process,
 * those that poll included, to have it forget their addresses.  So freed
 * memory stays with the process up to a bound, and is used again.
 *
 * Whoever has set one of these by the environment knows better. */

#include <config.h>
#include "dp/dp-netdev.h"

#include <malloc.h>
#include <stdlib.h>

#ifdef __GLIBC__
enum {
    MB = 1024 * 1024,

    KEPT_FREE = 64 * MB,        /* Per heap. */
    GROWTH = 16 * MB,           /* Addresses, not memory. */
    MAPPED_FROM = 32 * MB       /* Larger blocks are mapped by themselves. */
};

static void
tune(int parameter, int value, const char *variable)
{
    if (!getenv(variable)) {
        mallopt(parameter, value);
    }
}

void
dp_netdev_tune_malloc(void)
{
    if (!getenv("GLIBC_TUNABLES")) {
        tune(M_TRIM_THRESHOLD, KEPT_FREE, "MALLOC_TRIM_THRESHOLD_");
        tune(M_TOP_PAD, GROWTH, "MALLOC_TOP_PAD_");
        tune(M_MMAP_THRESHOLD, MAPPED_FROM, "MALLOC_MMAP_THRESHOLD_");
    }
}
#else
void
dp_netdev_tune_malloc(void)
{
}
#endif
