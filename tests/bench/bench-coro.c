/* SPDX-License-Identifier: Apache-2.0 */

/* What include/weft/coro.h costs, and what it brings.
 *
 * First table: the time of one resume, which is the way into a coroutine, to
 * its next yield and back, beside what one could have in its place: a call of
 * a function, switches of stacks in assembly, and swapcontext().  All of them
 * do the same work, which is to add 1 to a number in their frame, and all but
 * the call go round four yields.
 *
 * Second table: the time of a random lookup by way of three cache lines, each
 * of which names the next one.  An entry's value follows from its key, so that
 * the sum of all that was found is known beforehand.
 *
 * Usage: bench-coro [--repeats=N]
 *
 * The variants of a table take turns, N times (default 15), and the figures
 * are medians.  The program runs on core 1 if there is one.
 *
 * It is a program of its own, without anything of Open vSwitch. */

#define _GNU_SOURCE 1

#include "weft/coro.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "bench/turns.h"

#define N_ELEMENTS(ARRAY) (sizeof (ARRAY) / sizeof (ARRAY)[0])
#define NOINLINE __attribute__((noinline))
#define CACHE_LINE 64

enum { MAX_REPEATS = 1000 };

static unsigned int n_repeats = 15;

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fputs("bench-coro: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

/* Of the thread's own time: others may want the core, too. */
static double
now_ns(void)
{
    return turns_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Zeroed memory on huge pages, if the kernel has them to give. */
struct huge {
    void *map;
    size_t span;
    char *start;
};

/* Returns false if there is no memory for 'size' bytes. */
static bool
huge_map(struct huge *huge, size_t size)
{
    const size_t page = (size_t) 2 << 20;
    size_t half_of_all = ((size_t) sysconf(_SC_PHYS_PAGES) / 2
                          * (size_t) sysconf(_SC_PAGESIZE));

    huge->span = size + 2 * page;
    if (huge->span > half_of_all) {
        return false;
    }
    huge->map = mmap(NULL, huge->span, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (huge->map == MAP_FAILED) {
        return false;
    }
    madvise(huge->map, huge->span, MADV_HUGEPAGE);
    huge->start = huge->map;
    huge->start += -(uintptr_t) huge->map & (page - 1);
    memset(huge->start, 0, size);
    return true;
}

static void
huge_unmap(struct huge *huge)
{
    munmap(huge->map, huge->span);
}

/* Cost of a resume. */

enum { MAX_FRAMES = 16, STACK_BYTES = 16384 };

/* Adds 1 to '*(P)', in memory.  No two steps with different names are the same
 * code, so that the compiler cannot make one of the four steps between
 * yields. */
#define STEP(NAME, P)                                                   \
    do {                                                                \
        ++*(P);                                                         \
        __asm__ volatile ("# step " NAME : : "r" (P) : "memory");       \
    } while (0)

struct frame {
    struct coro coro;
    uint64_t n;
} __attribute__((aligned(CACHE_LINE)));

static struct frame frames[MAX_FRAMES];

static inline __attribute__((always_inline)) enum coro_state
count_inline(struct frame *frame)
{
    CORO_BEGIN(&frame->coro);
    for (;;) {
        STEP("a", &frame->n);
        CORO_YIELD(&frame->coro);
        STEP("b", &frame->n);
        CORO_YIELD(&frame->coro);
        STEP("c", &frame->n);
        CORO_YIELD(&frame->coro);
        STEP("d", &frame->n);
        CORO_YIELD(&frame->coro);
    }
    CORO_END(&frame->coro);
}

static NOINLINE enum coro_state
count_called(struct frame *frame)
{
    return count_inline(frame);
}

static NOINLINE void
add_called(struct frame *frame)
{
    STEP("a", &frame->n);
}

/* Stacks for the two that need them.  Their tops are at different lines, or
 * they would all be after the same ones of the first-level cache. */
static struct huge stacks;

static void *
stack_of(size_t i)
{
    return stacks.start + i * (STACK_BYTES + 2 * CACHE_LINE);
}

/* A coroutine with a stack that switches by the code below. */

struct fiber {
    void *sp;                   /* Its own, while it does not run. */
    void *resumer_sp;           /* While it does. */
    uint64_t n;
} __attribute__((aligned(CACHE_LINE)));

#ifdef __x86_64__
static struct fiber fibers[MAX_FRAMES];
static struct fiber *fiber_starting;

/* Saves what the ABI has a function preserve, leaves the stack pointer in
 * '*from' and goes on where 'to' was left.  (The control bits of the floating
 * point units, which the ABI counts in as well, stay as they are.) */
void bench_switch_stack(void **from, void *to);

__asm__ (
    ".pushsection .text\n"
    ".p2align 5\n"
    ".globl bench_switch_stack\n"
    ".type bench_switch_stack, @function\n"
    "bench_switch_stack:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    /* A return would never go where the last call came from. */
    "    popq %rax\n"
    "    jmpq *%rax\n"
    ".size bench_switch_stack, . - bench_switch_stack\n"
    ".popsection\n");

static inline void
fiber_yield(struct fiber *fiber)
{
    bench_switch_stack(&fiber->sp, fiber->resumer_sp);
}

static inline void
fiber_resume(struct fiber *fiber)
{
    bench_switch_stack(&fiber->resumer_sp, fiber->sp);
}

static void __attribute__((noreturn))
fiber_main(void)
{
    struct fiber *fiber = fiber_starting;

    for (;;) {
        STEP("a", &fiber->n);
        fiber_yield(fiber);
        STEP("b", &fiber->n);
        fiber_yield(fiber);
        STEP("c", &fiber->n);
        fiber_yield(fiber);
        STEP("d", &fiber->n);
        fiber_yield(fiber);
    }
}

/* Makes the stack look as if it had been left by a switch. */
static void
fiber_init(struct fiber *fiber, void *stack)
{
    void **top = (void **) ((char *) stack + STACK_BYTES);

    memset(top - 8, 0, 8 * sizeof *top);
    top[-2] = (void *) fiber_main;
    fiber->sp = top - 8;
    fiber->n = 0;
}
#endif

/* The same by means of the C library. */

struct context {
    ucontext_t own, resumer;
    uint64_t n;
} __attribute__((aligned(CACHE_LINE)));

static struct context contexts[MAX_FRAMES];
static struct context *context_starting;

static void
context_main(void)
{
    struct context *c = context_starting;

    for (;;) {
        STEP("a", &c->n);
        swapcontext(&c->own, &c->resumer);
        STEP("b", &c->n);
        swapcontext(&c->own, &c->resumer);
        STEP("c", &c->n);
        swapcontext(&c->own, &c->resumer);
        STEP("d", &c->n);
        swapcontext(&c->own, &c->resumer);
    }
}

static void
context_init(struct context *c, void *stack)
{
    getcontext(&c->own);
    c->own.uc_stack.ss_sp = stack;
    c->own.uc_stack.ss_size = STACK_BYTES;
    c->own.uc_link = NULL;
    makecontext(&c->own, context_main, 0);
    c->n = 0;
}

/* The variants.  Each function goes 'n_rounds' times through the first
 * 'n_frames' frames. */

#define FOR_EACH_RESUME                                     \
    for (size_t round = 0; round < n_rounds; round++)       \
        for (size_t i = 0; i < n_frames; i++)

typedef void rounds_func(size_t n_frames, size_t n_rounds);

static NOINLINE void
rounds_add_inline(size_t n_frames, size_t n_rounds)
{
    FOR_EACH_RESUME {
        STEP("a", &frames[i].n);
    }
}

static NOINLINE void
rounds_add_called(size_t n_frames, size_t n_rounds)
{
    FOR_EACH_RESUME {
        add_called(&frames[i]);
    }
}

static NOINLINE void
rounds_coro_inline(size_t n_frames, size_t n_rounds)
{
    FOR_EACH_RESUME {
        count_inline(&frames[i]);
    }
}

static NOINLINE void
rounds_coro_called(size_t n_frames, size_t n_rounds)
{
    FOR_EACH_RESUME {
        count_called(&frames[i]);
    }
}

static uint64_t
read_frame(size_t i)
{
    return frames[i].n;
}

static void
init_frame(size_t i)
{
    coro_init(&frames[i].coro);
    frames[i].n = 0;
}

#ifdef __x86_64__
static NOINLINE void
rounds_fiber(size_t n_frames, size_t n_rounds)
{
    FOR_EACH_RESUME {
        fiber_starting = &fibers[i];
        fiber_resume(&fibers[i]);
    }
}

static uint64_t
read_fiber(size_t i)
{
    return fibers[i].n;
}

static void
init_fiber(size_t i)
{
    fiber_init(&fibers[i], stack_of(i));
}
#endif

static NOINLINE void
rounds_context(size_t n_frames, size_t n_rounds)
{
    FOR_EACH_RESUME {
        context_starting = &contexts[i];
        swapcontext(&contexts[i].resumer, &contexts[i].own);
    }
}

static uint64_t
read_context(size_t i)
{
    return contexts[i].n;
}

static void
init_context(size_t i)
{
    context_init(&contexts[i], stack_of(i));
}

/* One of the ways to do it. */
struct way {
    const char *name;
    rounds_func *rounds;        /* Null: not on this machine. */
    void (*init)(size_t frame);
    uint64_t (*read)(size_t frame);
};

static const struct way ways[] = {
    { "the addition alone", rounds_add_inline, init_frame, read_frame },
    { "call of a function", rounds_add_called, init_frame, read_frame },
    { "weft/coro.h, inlined", rounds_coro_inline, init_frame, read_frame },
    { "weft/coro.h, called", rounds_coro_called, init_frame, read_frame },
#ifdef __x86_64__
    { "two stack switches, assembly", rounds_fiber, init_fiber, read_fiber },
#else
    { "two stack switches, assembly", NULL, NULL, NULL },
#endif
    { "two swapcontext()", rounds_context, init_context, read_context },
};

static const size_t frame_counts[] = { 1, MAX_FRAMES };

enum { N_WAYS = N_ELEMENTS(ways), N_COUNTS = N_ELEMENTS(frame_counts) };

/* Returns the nanoseconds of a resume.  Ends the program if the frames do not
 * show that all of them have happened. */
static double
time_rounds(const struct way *way, size_t n_frames, size_t n_rounds)
{
    double took;

    for (size_t i = 0; i < n_frames; i++) {
        way->init(i);
    }
    /* Starts them, and then leaves them at different yields. */
    for (size_t n = n_frames; n; n--) {
        way->rounds(n, 1);
    }
    took = now_ns();
    way->rounds(n_frames, n_rounds);
    took = now_ns() - took;

    for (size_t i = 0; i < n_frames; i++) {
        if (way->read(i) != n_rounds + n_frames - i) {
            fail("%s: frame %zu has %"PRIu64" in place of %zu",
                 way->name, i, way->read(i), n_rounds + n_frames - i);
        }
    }
    return took / n_rounds / n_frames;
}

/* Returns how many rounds take about 2 ms. */
static size_t
choose_rounds(const struct way *way, size_t n_frames)
{
    double target = 2e6 / n_frames;
    size_t n_rounds = 64;

    while (time_rounds(way, n_frames, n_rounds) * n_rounds < target) {
        n_rounds *= 2;
    }
    return n_rounds;
}

static void
bench_resume(void)
{
    static double times[N_WAYS][N_COUNTS][MAX_REPEATS];
    static size_t n_rounds[N_WAYS][N_COUNTS];

    if (!huge_map(&stacks, MAX_FRAMES * (STACK_BYTES + 2 * CACHE_LINE))) {
        fail("no memory for stacks");
    }
    for (unsigned int i = 0; i < n_repeats; i++) {
        for (size_t w = 0; w < N_WAYS; w++) {
            for (size_t c = 0; ways[w].rounds && c < N_COUNTS; c++) {
                if (!n_rounds[w][c]) {
                    n_rounds[w][c] = choose_rounds(&ways[w], frame_counts[c]);
                }
                times[w][c][i] = time_rounds(&ways[w], frame_counts[c],
                                             n_rounds[w][c]);
            }
        }
    }
    huge_unmap(&stacks);

    printf("Time of a resume, in ns\n%-30s%12s%9zu in turn\n", "", "one alone",
           frame_counts[1]);
    for (size_t w = 0; w < N_WAYS; w++) {
        printf("%-30s", ways[w].name);
        if (!ways[w].rounds) {
            printf("  not available for this processor");
        }
        for (size_t c = 0; ways[w].rounds && c < N_COUNTS; c++) {
            printf(c ? "%17.2f" : "%12.2f",
                   turns_median(times[w][c], n_repeats));
        }
        putchar('\n');
    }
    printf("The way back is in it: a return, or the second of two switches.\n"
           "coro.h jumps through a table; where the processor mistakes the"
           " target, that is\nmost of the time.\n");
}

/* Lookups. */

enum { LOOKUPS = 1 << 17, STAGED = 32 };

struct entry {                  /* Second line. */
    uint64_t key;
    uint32_t data;              /* Index in 'data'. */
} __attribute__((aligned(CACHE_LINE)));

struct data {                   /* Third line. */
    uint64_t value;
} __attribute__((aligned(CACHE_LINE)));

/* Keys are the numbers 0 to 'mask'. */
struct table {
    uint64_t mask;
    unsigned int bits;
    uint64_t *entry_of;         /* First line, with eight of them. */
    struct entry *entries;
    struct data *data;
    struct huge memory;
};

static size_t
table_bytes(unsigned int bits)
{
    return (sizeof(uint64_t) + sizeof(struct entry)
            + sizeof(struct data)) << bits;
}

static inline uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * UINT64_C(0xc2b2ae3d27d4eb4f);
    x = (x ^ (x >> 29)) * UINT64_C(0x9fb21c651e98df25);
    return x ^ (x >> 32);
}

/* A permutation of the numbers of 'bits' bits, one for each 'seed'. */
static uint64_t
permute(uint64_t x, unsigned int bits, uint64_t seed)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1;

    for (int i = 0; i < 3; i++) {
        seed = mix(seed + 1);
        x = (x * (seed | 1) + (seed >> 32)) & mask;
        x ^= x >> (bits / 2);
    }
    return x;
}

static inline uint64_t
slot_of(const struct table *t, uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15) & t->mask;
}

static inline uint64_t
value_of(uint64_t key)
{
    return mix(~key);
}

/* The key of the lookup with some number. */
static inline uint64_t
key_of(const struct table *t, uint64_t lookup)
{
    return mix(lookup) & t->mask;
}

static bool
table_init(struct table *t, unsigned int bits)
{
    size_t n = (size_t) 1 << bits;

    if (!huge_map(&t->memory, table_bytes(bits))) {
        return false;
    }
    t->bits = bits;
    t->mask = n - 1;
    t->entries = (struct entry *) t->memory.start;
    t->data = (struct data *) (t->entries + n);
    t->entry_of = (uint64_t *) (t->data + n);
    for (uint64_t key = 0; key < n; key++) {
        uint64_t entry = permute(key, bits, 1);
        uint32_t data = permute(key, bits, 2);

        t->entry_of[slot_of(t, key)] = entry;
        t->entries[entry] = (struct entry) { .key = key, .data = data };
        t->data[data].value = value_of(key);
    }
    return true;
}

/* Does LOOKUPS lookups, from 'first' on, and returns the sum of the values. */
typedef uint64_t lookups_func(const struct table *, uint64_t first,
                              size_t n_lanes);

static NOINLINE uint64_t
lookups_plain(const struct table *t, uint64_t first,
              size_t n_lanes __attribute__((unused)))
{
    uint64_t sum = 0;

    for (uint64_t i = first; i < first + LOOKUPS; i++) {
        uint64_t key = key_of(t, i);
        const struct entry *e = &t->entries[t->entry_of[slot_of(t, key)]];

        if (e->key == key) {
            sum += t->data[e->data].value;
        }
    }
    return sum;
}

static NOINLINE uint64_t
lookups_staged(const struct table *t, uint64_t first,
               size_t n_lanes __attribute__((unused)))
{
    uint64_t sum = 0;

    for (uint64_t i = first; i < first + LOOKUPS; i += STAGED) {
        const uint64_t *refs[STAGED];
        const struct entry *entries[STAGED];
        const struct data *data[STAGED];
        uint64_t keys[STAGED];

        for (unsigned int j = 0; j < STAGED; j++) {
            keys[j] = key_of(t, i + j);
            refs[j] = &t->entry_of[slot_of(t, keys[j])];
            __builtin_prefetch(refs[j]);
        }
        for (unsigned int j = 0; j < STAGED; j++) {
            entries[j] = &t->entries[*refs[j]];
            __builtin_prefetch(entries[j]);
        }
        for (unsigned int j = 0; j < STAGED; j++) {
            data[j] = NULL;
            if (entries[j]->key == keys[j]) {
                data[j] = &t->data[entries[j]->data];
                __builtin_prefetch(data[j]);
            }
        }
        for (unsigned int j = 0; j < STAGED; j++) {
            if (data[j]) {
                sum += data[j]->value;
            }
        }
    }
    return sum;
}

/* The same as a coroutine. */

struct lookup {
    struct coro coro;
    uint64_t key;
    union {
        const uint64_t *ref;
        const struct entry *entry;
        const struct data *data;
    };
};

struct lookups {
    const struct table *table;
    uint64_t next, end;
    uint64_t sum;
};

static inline bool
lookup_start(void *lookup_, void *lookups_)
{
    struct lookup *l = lookup_;
    struct lookups *all = lookups_;

    if (all->next == all->end) {
        return false;
    }
    coro_init(&l->coro);
    l->key = key_of(all->table, all->next++);
    return true;
}

static inline enum coro_state
lookup_resume(void *lookup_, void *lookups_)
{
    struct lookup *l = lookup_;
    struct lookups *all = lookups_;
    const struct table *t = all->table;

    CORO_BEGIN(&l->coro);
    l->ref = &t->entry_of[slot_of(t, l->key)];
    __builtin_prefetch(l->ref);
    CORO_YIELD(&l->coro);
    l->entry = &t->entries[*l->ref];
    __builtin_prefetch(l->entry);
    CORO_YIELD(&l->coro);
    if (l->entry->key == l->key) {
        l->data = &t->data[l->entry->data];
        __builtin_prefetch(l->data);
        CORO_YIELD(&l->coro);
        all->sum += l->data->value;
    }
    CORO_END(&l->coro);
}

static NOINLINE uint64_t
lookups_interleaved(const struct table *t, uint64_t first, size_t n_lanes)
{
    struct lookups all = { t, first, first + LOOKUPS, 0 };
    struct lookup lanes[CORO_MAX_LANES];

    coro_interleave(lanes, sizeof lanes[0], n_lanes, lookup_start,
                    lookup_resume, &all);
    return all.sum;
}

struct search {
    const char *name;
    lookups_func *lookups;
    size_t n_lanes;
};

static const struct search searches[] = {
    { "loop", lookups_plain, 0 },
    { "staged", lookups_staged, 0 },
    { "4 lanes", lookups_interleaved, 4 },
    { "8 lanes", lookups_interleaved, 8 },
    { "16 lanes", lookups_interleaved, 16 },
    { "32 lanes", lookups_interleaved, 32 },
};

static const unsigned int table_bits[] = { 12, 16, 20, 23 };

enum { N_SEARCHES = N_ELEMENTS(searches) };

/* Returns the nanoseconds of a lookup. */
static double
time_search(const struct search *search, const struct table *t,
            uint64_t first)
{
    uint64_t sum, expected = 0;
    double took;

    took = now_ns();
    sum = search->lookups(t, first, search->n_lanes);
    took = now_ns() - took;

    for (uint64_t i = first; i < first + LOOKUPS; i++) {
        expected += value_of(key_of(t, i));
    }
    if (sum != expected) {
        fail("%s, 2^%u entries: the sum is %#"PRIx64" in place of %#"PRIx64,
             search->name, t->bits, sum, expected);
    }
    return took / LOOKUPS;
}

static void
bench_lookups_of(unsigned int bits)
{
    static double times[N_SEARCHES][MAX_REPEATS];
    struct table table;
    uint64_t first = 0;

    printf("2^%-6u%6.1f MB", bits, table_bytes(bits) / 1048576.0);
    if (!table_init(&table, bits)) {
        printf("  left out: needs more than half of the memory\n");
        return;
    }
    /* No lookups are repeated: nothing is in a cache but by its size.  The
     * first ones warm up. */
    for (size_t s = 0; s < N_SEARCHES; s++, first += LOOKUPS) {
        time_search(&searches[s], &table, first);
    }
    for (unsigned int i = 0; i < n_repeats; i++) {
        for (size_t s = 0; s < N_SEARCHES; s++, first += LOOKUPS) {
            times[s][i] = time_search(&searches[s], &table, first);
        }
    }
    huge_unmap(&table.memory);

    for (size_t s = 0; s < N_SEARCHES; s++) {
        printf("%10.1f", turns_median(times[s], n_repeats));
    }
    putchar('\n');
}

static void
bench_lookups(void)
{
    printf("\nTime of a random lookup of three dependent cache lines, in ns\n"
           "%-8s%9s", "entries", "memory");
    for (size_t s = 0; s < N_SEARCHES; s++) {
        printf("%10s", searches[s].name);
    }
    putchar('\n');
    for (size_t i = 0; i < N_ELEMENTS(table_bits); i++) {
        bench_lookups_of(table_bits[i]);
        fflush(stdout);
    }
    printf("\nloop: one after the other, as far as the processor leaves it at"
           " that\nstaged: %d at a time, in four loops that prefetch for the"
           " next one\nlanes: coro_interleave()\n", STAGED);
}

int
main(int argc, char *argv[])
{
    turns_parse_options(argc, argv, MAX_REPEATS, &n_repeats);
    printf("%s; medians of %u turns\n\n",
           turns_pin(1) ? "On core 1" : "On any core", n_repeats);
    bench_resume();
    fflush(stdout);
    bench_lookups();
    return 0;
}
