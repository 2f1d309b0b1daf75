/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_HUGE_MEM_H
#define WEFT_TABLE_HUGE_MEM_H 1

/* Memory for tables: zeroed, aligned to a cache line, and on huge pages if it
 * is large enough for them and the kernel has them to give (transparent huge
 * pages, so that nothing is taken from DPDK's).  A random access to a table on
 * small pages costs a TLB miss on top of the cache miss.
 *
 * Thread-safe. */

#include <stddef.h>

#define HUGE_MEM_PAGE ((size_t) 2 << 20)

/* Returns 'size' bytes, or NULL if there is no memory.  To be freed with
 * huge_mem_free() with the same size. */
void *huge_mem_alloc(size_t size);
void huge_mem_free(void *, size_t size);

/* The same for memory that is made by one thread for another which must meet
 * no page fault: a mapping of its own, with all pages in place when it is
 * returned.  They are on NUMA node 'numa_id' as far as the kernel has some
 * there; a number that is no node's (OVS_NUMA_UNSPEC) means anywhere.
 *
 * Takes time in proportion to 'size', as the kernel zeroes each page: of the
 * order of 0.1 s for 256 MB.  LeakSanitizer does not look for pointers in
 * there.  To be freed with huge_mem_unmap() with the same size. */
void *huge_mem_map(size_t size, int numa_id);
void huge_mem_unmap(void *, size_t size);

#endif /* table/huge-mem.h */
