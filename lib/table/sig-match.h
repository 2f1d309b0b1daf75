/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_TABLE_SIG_MATCH_H
#define WEFT_TABLE_SIG_MATCH_H 1

/* Which of the eight 32-bit signatures in half a cache line are the wanted
 * one: the question that signature caches and subtables ask of their buckets.
 *
 * SIG_MATCH_VECTOR is defined where vector instructions answer it.  Each
 * aligned 32-bit lane of their loads is as atomic as a load of its own, but
 * nothing tells ThreadSanitizer so; who shares the signatures among threads
 * has to ask them one by one where it is not defined. */

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>

#define SIG_MATCH_VECTOR 1

/* Returns a bitmap of those of the eight words at 'sigs', which is aligned to
 * 16 bytes, that are equal to 'sig'.  No branches: where an entry is in its
 * bucket cannot be foretold. */
static inline unsigned int
sig_match_vector(const void *sigs, uint32_t sig)
{
    const __m128i *halves = sigs;
    __m128i wanted = _mm_set1_epi32(sig);
    __m128i low = _mm_cmpeq_epi32(_mm_load_si128(&halves[0]), wanted);
    __m128i high = _mm_cmpeq_epi32(_mm_load_si128(&halves[1]), wanted);
    __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(low, high),
                                    _mm_setzero_si128());

    return _mm_movemask_epi8(bytes);
}
#endif

#endif /* table/sig-match.h */
