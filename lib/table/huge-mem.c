/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/huge-mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util.h"

/* LeakSanitizer looks for pointers in what malloc() gives and in the data of
 * programs.  It has to be told of other memory that has them. */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_register_root_region(P, SIZE) ((void) (P), (void) (SIZE))
#define __lsan_unregister_root_region(P, SIZE) ((void) (P), (void) (SIZE))
#endif

/* Maps 'size' bytes, a multiple of HUGE_MEM_PAGE, aligned to such a page. */
static void *
map_aligned(size_t size)
{
    size_t span = size + HUGE_MEM_PAGE;
    char *map = mmap(NULL, span, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        return NULL;
    }

    char *start = (char *) ROUND_UP((uintptr_t) map, HUGE_MEM_PAGE);
    size_t before = start - map;
    size_t after = span - before - size;

    if (before) {
        munmap(map, before);
    }
    if (after) {
        munmap(start + size, after);
    }
    return start;
}

void *
huge_mem_alloc(size_t size)
{
    if (size < HUGE_MEM_PAGE) {
        void *p;

        size = ROUND_UP(size, CACHE_LINE_SIZE);
        if (posix_memalign(&p, CACHE_LINE_SIZE, size)) {
            return NULL;
        }
        return memset(p, 0, size);
    }

    size = ROUND_UP(size, HUGE_MEM_PAGE);

    void *p = map_aligned(size);

    if (p) {
        /* Small pages do as well, only slower: no error. */
        madvise(p, size, MADV_HUGEPAGE);
        __lsan_register_root_region(p, size);
    }
    return p;
}

void
huge_mem_free(void *p, size_t size)
{
    if (!p) {
        return;
    }
    if (size < HUGE_MEM_PAGE) {
        free(p);
    } else {
        size = ROUND_UP(size, HUGE_MEM_PAGE);
        __lsan_unregister_root_region(p, size);
        munmap(p, size);
    }
}
