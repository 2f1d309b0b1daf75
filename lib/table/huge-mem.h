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

#endif /* table/huge-mem.h */
