/* SPDX-License-Identifier: Apache-2.0 */

#ifndef WEFT_UNIT_H
#define WEFT_UNIT_H 1

/* The frame of our unit tests.
 *
 * A unit test is a program of its own: main() calls one function per case
 * through RUN_TEST() and returns 0.  Each case that comes through prints
 * "ok NAME"; the first check that fails prints its place and values to stderr
 * and ends the program with status 1, so a passing run prints exactly one
 * line per case and nothing else.
 *
 *     static void
 *     test_answer(void)
 *     {
 *         CHECK_INT(answer(), ==, 42);
 *     }
 *
 *     int
 *     main(void)
 *     {
 *         RUN_TEST(test_answer);
 *         return 0;
 *     }
 *
 * The checks may be used in any thread.  They are never compiled out. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program unless COND holds. */
#define CHECK(COND)                                                     \
    do {                                                                \
        if (!(COND)) {                                                  \
            fprintf(stderr, "%s:%d: %s: failed: %s\n",                  \
                    __FILE__, __LINE__, __func__, #COND);               \
            unit_fail();                                                \
        }                                                               \
    } while (0)

/* Same, with a printf() style explanation. */
#define CHECK_MSG(COND, ...)                                            \
    do {                                                                \
        if (!(COND)) {                                                  \
            fprintf(stderr, "%s:%d: %s: failed: %s: ",                  \
                    __FILE__, __LINE__, __func__, #COND);               \
            fprintf(stderr, __VA_ARGS__);                               \
            fputc('\n', stderr);                                        \
            unit_fail();                                                \
        }                                                               \
    } while (0)

#define UNIT_COMPARE__(TYPE, FORMAT, A, OP, B)                          \
    do {                                                                \
        TYPE unit_a_ = (A);                                             \
        TYPE unit_b_ = (B);                                             \
                                                                        \
        if (!(unit_a_ OP unit_b_)) {                                    \
            fprintf(stderr, "%s:%d: %s: failed: %s %s %s: "             \
                    "%" FORMAT " against %" FORMAT "\n",                \
                    __FILE__, __LINE__, __func__, #A, #OP, #B,          \
                    unit_a_, unit_b_);                                  \
            unit_fail();                                                \
        }                                                               \
    } while (0)

/* Compare two integers, e.g. CHECK_INT(n, <=, 5), and print both when the
 * comparison does not hold. */
#define CHECK_INT(A, OP, B) UNIT_COMPARE__(int64_t, PRId64, A, OP, B)
#define CHECK_UINT(A, OP, B) UNIT_COMPARE__(uint64_t, PRIu64, A, OP, B)
#define CHECK_HEX(A, OP, B) UNIT_COMPARE__(uint64_t, PRIx64, A, OP, B)

#define CHECK_STR(A, B)                                                 \
    do {                                                                \
        const char *unit_a_ = (A);                                      \
        const char *unit_b_ = (B);                                      \
                                                                        \
        if (strcmp(unit_a_, unit_b_)) {                                 \
            fprintf(stderr, "%s:%d: %s: failed: %s is\n%s\nnot\n%s\n",  \
                    __FILE__, __LINE__, __func__, #A,                   \
                    unit_a_, unit_b_);                                  \
            unit_fail();                                                \
        }                                                               \
    } while (0)

/* Compares SIZE bytes. */
#define CHECK_MEM(A, B, SIZE)                                           \
    do {                                                                \
        const unsigned char *unit_a_ = (const void *) (A);              \
        const unsigned char *unit_b_ = (const void *) (B);              \
        size_t unit_n_ = (SIZE);                                        \
                                                                        \
        for (size_t unit_i_ = 0; unit_i_ < unit_n_; unit_i_++) {        \
            if (unit_a_[unit_i_] != unit_b_[unit_i_]) {                 \
                fprintf(stderr, "%s:%d: %s: failed: %s and %s differ "  \
                        "at byte %zu of %zu: %02x against %02x\n",      \
                        __FILE__, __LINE__, __func__, #A, #B, unit_i_,  \
                        unit_n_, unit_a_[unit_i_], unit_b_[unit_i_]);   \
                unit_fail();                                            \
            }                                                           \
        }                                                               \
    } while (0)

/* Runs the case FUNCTION, void (*)(void), and reports it. */
#define RUN_TEST(FUNCTION)                                              \
    do {                                                                \
        FUNCTION();                                                     \
        unit_ok(#FUNCTION);                                             \
    } while (0)

static inline void __attribute__((noreturn))
unit_fail(void)
{
    fflush(NULL);
    _Exit(1);
}

/* 'name' is the case's name, with or without a leading "test_". */
static inline void
unit_ok(const char *name)
{
    printf("ok %s\n", strncmp(name, "test_", 5) ? name : name + 5);
    fflush(stdout);
}

#endif /* tests/unit/unit.h */
