/* SPDX-License-Identifier: Apache-2.0 */

#ifndef STRESS_POLL_TRACE_H
#define STRESS_POLL_TRACE_H 1

/* What one thread asks of locks, of the heap and of the kernel
 * ============================================================
 *
 * Problem: a PMD thread is not to wait, to allocate, or to enter the kernel.
 * A tracer from outside sees only the last of these and slows everything down;
 * a profile sees only what is frequent.  Here the program traces one of its
 * own threads, and sees every single event:
 *
 *   - locks that may wait, tries of locks, and the heap, since this program
 *     itself defines the functions of the C library for them
 *     (pthread_mutex_lock(), malloc(), ...) and passes calls on.  What is
 *     linked statically calls these, and so do shared libraries.  What the C
 *     library does inside of itself is not seen, but for its calls of
 *     malloc(); its locks are, where they are contended: as system calls;
 *
 *   - system calls, by the kernel's "syscall user dispatch": the thread gets a
 *     SIGSYS in place of each, whose handler notes it and makes the call.
 *     Reading the clock by the vDSO is none.  (Linux 5.11 and x86-64.)
 *
 * Events are told apart by what was called and by the stack of callers
 * (libunwind).
 *
 * The traced thread says when it is on.  Time that belongs to the program, not
 * to what it examines, is left out: pause, then resume.
 *
 *     poll_trace_want(true);       any thread
 *     poll_trace_pause();          the traced thread, again and again, at...
 *     ...
 *     poll_trace_resume();         ...the same depth of its stack
 *     poll_trace_want(false);      and wait until !poll_trace_is_on()
 *
 * Limits: one thread in a process, once.  All signals but SIGSYS are blocked
 * in the thread meanwhile.  It must not end or make a thread or a process.
 * There is nothing of this under the sanitizers, which define malloc() and the
 * locks' functions as well.
 *
 * Thread safety: pause and resume belong to the traced thread; results may be
 * read by whoever has seen that the trace is no longer on. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POLL_TRACE_DEPTH = 8 };

enum poll_trace_kind {
    POLL_TRACE_LOCK,            /* That may wait. */
    POLL_TRACE_TRY,
    POLL_TRACE_HEAP,            /* Allocating and freeing. */
    POLL_TRACE_SYSCALL,
};
enum { POLL_TRACE_N_KINDS = POLL_TRACE_SYSCALL + 1 };

/* Events that are alike. */
struct poll_trace_event {
    enum poll_trace_kind kind;
    const char *function;       /* What was called.  NULL: a system call... */
    long int number;            /* ...and which. */
    long int operation;         /* Of SYS_futex, without flags; else 0. */
    void *stack[POLL_TRACE_DEPTH];  /* Callers, innermost first, then NULL. */
    uint64_t n;
    uint64_t n_failed;          /* Tries. */
};

/* False if this build cannot trace at all. */
bool poll_trace_works(void);

void poll_trace_want(bool);
bool poll_trace_is_on(void);

void poll_trace_pause(void);
void poll_trace_resume(void);

/* Results.  poll_trace_next() returns the event after 'prev' (NULL: the first
 * one), or NULL; the events are in no order.  poll_trace_n_lost() is the
 * number of those for which there was no room. */
const struct poll_trace_event *
poll_trace_next(const struct poll_trace_event *prev);
uint64_t poll_trace_n_lost(void);
bool poll_trace_saw_syscalls(void); /* False if the kernel lacks that. */
uint64_t poll_trace_n_polls(void);  /* Resumptions. */
double poll_trace_seconds(void);

/* Returns the function of a stack's 'ip' and the offset in it, "name+0x12", or
 * the file and the offset in that.  The caller must free it. */
char *poll_trace_symbol(const void *ip);

#endif /* stress/poll-trace.h */
