/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "table/huge-mem.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

/* LeakSanitizer looks for pointers in what malloc() gives and in the data of
 * programs.  It has to be told of other memory that has them. */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_register_root_region(P, SIZE) ((void) (P), (void) (SIZE))
#define __lsan_unregister_root_region(P, SIZE) ((void) (P), (void) (SIZE))
#endif

/* Linux 5.14; its number is the same on all architectures but Alpha and
 * PA-RISC, where the headers have it if the kernel does. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
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

/* Mappings for other threads. */

/* Of a mapping of 'size' bytes. */
static size_t
map_size(size_t size)
{
    return ROUND_UP(size, size < HUGE_MEM_PAGE ? get_page_size()
                                               : HUGE_MEM_PAGE);
}

/* Asks for the pages of 'p' to come from 'numa_id'.  It is a wish: nothing is
 * wrong if there is no such node, or if a sandbox does not let us say so.  The
 * system call itself, since its wrapper is in a library of its own. */
static void
prefer_node(void *p, size_t size, int numa_id)
{
#ifdef SYS_mbind
    enum {
        PREFERRED = 1,          /* MPOL_PREFERRED of <linux/mempolicy.h>. */
        MAX_NODES = 1024,
        WORD_BITS = sizeof(unsigned long int) * CHAR_BIT
    };
    unsigned long int nodes[MAX_NODES / WORD_BITS] = { 0 };

    if (numa_id >= 0 && numa_id < MAX_NODES) {
        nodes[numa_id / WORD_BITS] = 1UL << (numa_id % WORD_BITS);
        syscall(SYS_mbind, p, size, PREFERRED, nodes, MAX_NODES + 1UL, 0);
    }
#endif
}

/* Puts all pages of 'p' in place.  Returns false if there is no memory. */
static bool
fault_in(void *p, size_t size)
{
    if (!madvise(p, size, MADV_POPULATE_WRITE)) {
        return true;
    }
    if (errno != EINVAL) {
        return false;
    }

    /* An older kernel.  It ends a process that it has no page for. */
    for (size_t i = 0; i < size; i += get_page_size()) {
        ((volatile char *) p)[i] = 0;
    }
    return true;
}

void *
huge_mem_map(size_t size, int numa_id)
{
    size_t mapped = map_size(size);
    void *p;

    if (size < HUGE_MEM_PAGE) {
        p = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) {
            return NULL;
        }
    } else {
        p = map_aligned(mapped);
        if (!p) {
            return NULL;
        }
        madvise(p, mapped, MADV_HUGEPAGE);
    }

    prefer_node(p, mapped, numa_id);
    if (!fault_in(p, mapped)) {
        munmap(p, mapped);
        return NULL;
    }
    return p;
}

void
huge_mem_unmap(void *p, size_t size)
{
    if (p) {
        munmap(p, map_size(size));
    }
}
