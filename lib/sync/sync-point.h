/* SPDX-License-Identifier: Apache-2.0 */

#ifndef SYNC_SYNC_POINT_H
#define SYNC_SYNC_POINT_H 1

/* Places where a test may stop a thread
 * =====================================
 *
 * Lock-free code goes wrong when a thread is overtaken between two of its
 * steps, which almost never happens by itself.  SYNC_POINT("name") marks such
 * a place.  It is nothing in the product.  A unit test that wants to hold a
 * thread there defines SYNC_POINT before it includes the source file, so that
 * the points call a function of its own. */

#ifndef SYNC_POINT
#define SYNC_POINT(NAME) ((void) 0)
#endif

#endif /* sync/sync-point.h */
