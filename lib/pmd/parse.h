/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_PMD_PARSE_H
#define WEFT_PMD_PARSE_H 1

/* What the general parsers ("autovalidator", "study") share: the list of the
 * optimized ones, which they try out.
 *
 * Thread-safe. */

#include <stddef.h>

#include "pmd/impl.h"

/* Returns the optimized parsers that this machine can run and stores their
 * number, which may be zero, to '*n'. */
const struct pmd_parse_impl *pmd_parse_optimized_list(size_t *n);

#endif /* pmd/parse.h */
