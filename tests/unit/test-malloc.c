/* SPDX-License-Identifier: Apache-2.0 */

/* That freed memory stays with the process, unless the environment says
 * otherwise. */

#include <config.h>
#undef NDEBUG

#include "dp/dp-netdev.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* Sanitizers have an allocator of their own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) \
    && !defined(__SANITIZE_THREAD__)
enum { BLOCK = 8 * 1024 * 1024 };

/* Allocates a block and frees it again.  Returns true if it came from the heap
 * and the heap kept it. */
static bool
block_is_kept(void)
{
    size_t n_mapped = mallinfo2().hblks;
    volatile char *block = malloc(BLOCK);
    size_t heap = mallinfo2().arena;
    bool mapped;

    CHECK(block != NULL);
    block[0] = block[BLOCK - 1] = 1;
    mapped = mallinfo2().hblks > n_mapped;
    free((void *) block);
    return !mapped && mallinfo2().arena == heap && heap >= BLOCK;
}

/* Runs in a process of its own, since neither tuning nor what the allocator
 * learns from a block can be undone. */
static bool
is_kept(bool tuned, const char *variable, const char *value)
{
    int status;
    pid_t pid = fork();

    CHECK_INT(pid, >=, 0);
    if (!pid) {
        if (variable) {
            setenv(variable, value, true);
        }
        if (tuned) {
            dp_netdev_tune_malloc();
        }
        _exit(block_is_kept());
    }
    CHECK_INT(waitpid(pid, &status, 0), ==, pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void
test_freed_memory_is_kept(void)
{
    CHECK(!is_kept(false, NULL, NULL));
    CHECK(is_kept(true, NULL, NULL));
}

static void
test_environment_wins(void)
{
    CHECK(!is_kept(true, "MALLOC_MMAP_THRESHOLD_", "131072"));
    CHECK(!is_kept(true, "MALLOC_TRIM_THRESHOLD_", "131072"));
    CHECK(!is_kept(true, "GLIBC_TUNABLES", "glibc.malloc.top_pad=0"));
    CHECK(is_kept(true, "MALLOC_TOP_PAD_", "131072"));
}

int
main(void)
{
    RUN_TEST(test_freed_memory_is_kept);
    RUN_TEST(test_environment_wins);
    return 0;
}
#else
int
main(void)
{
    return 77;
}
#endif
