/* SPDX-License-Identifier: Apache-2.0 */

/* Tests include/weft/coro.h, which stands first here, and without anything of
 * Open vSwitch, because it has to work that way. */

#include "weft/coro.h"

#include "unit.h"

#define N_ELEMENTS(ARRAY) (sizeof (ARRAY) / sizeof (ARRAY)[0])

static uint64_t random_state;

/* Returns a number below 'n'. */
static unsigned int
random_below(unsigned int n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1;
    return (random_state >> 33) % n;
}

/* One coroutine. */

/* Gives a number at each yield, in 'value'. */
struct generator {
    struct coro coro;
    int value;
    int i, j, n;
};

typedef enum coro_state generator_func(struct generator *);

/* Resumes 'resume' until it finishes, and compares what it gave to 'expected'
 * (zero ends it) and what it left to 'last'. */
static void
check_generator(generator_func *resume, struct generator *g,
                const int *expected, int last)
{
    coro_init(&g->coro);
    for (; *expected; expected++) {
        CHECK_INT(resume(g), ==, CORO_YIELDED);
        CHECK_INT(g->value, ==, *expected);
    }
    CHECK_INT(resume(g), ==, CORO_FINISHED);
    CHECK_INT(g->value, ==, last);
}

/* Yields i * j for 1 <= i <= n, 1 <= j <= i, save that a row ends at 6. */
static enum coro_state
products(struct generator *g)
{
    CORO_BEGIN(&g->coro);
    for (g->i = 1; g->i <= g->n; g->i++) {
        for (g->j = 1; g->j <= g->i; g->j++) {
            if (g->i * g->j == 6) {
                break;
            }
            g->value = g->i * g->j;
            CORO_YIELD(&g->coro);
        }
    }
    g->value = -1;
    CORO_END(&g->coro);
}

static void
test_loops(void)
{
    static const int none[] = { 0 };
    static const int four[] = { 1, 2, 4, 3, 4, 8, 12, 16, 0 };
    struct generator g = { .n = 0 };

    check_generator(products, &g, none, -1);
    g.n = 4;
    check_generator(products, &g, four, -1);
    check_generator(products, &g, four, -1);
}

/* Yields from both branches of conditions, from an unbraced one, from both
 * ends of a do-while loop and between them. */
static enum coro_state
blocks(struct generator *g)
{
    CORO_BEGIN(&g->coro);
    g->i = 0;
    do {
        g->value = 10 * g->i + 1;
        CORO_YIELD(&g->coro);
        if (g->i % 2) {
            int twice = 2 * g->i;

            g->value = 100 + twice;
            {
                CORO_YIELD(&g->coro);
            }
        } else if (g->i) {
            g->value = 200 + g->i;
            CORO_YIELD(&g->coro);
            while (g->value < 203) {
                g->value++;
                CORO_YIELD(&g->coro);
            }
        } else
            CORO_YIELD(&g->coro);
        g->value = 10 * g->i + 9;
        CORO_YIELD(&g->coro);
    } while (++g->i < g->n);
    CORO_END(&g->coro);
}

static void
test_blocks(void)
{
    static const int expected[] = {
        1, 1, 9, 11, 102, 19, 21, 202, 203, 29, 31, 106, 39, 0,
    };
    struct generator g = { .n = 4 };

    check_generator(blocks, &g, expected, 39);
}

/* Ends from within two loops, or behind its only yield. */
static enum coro_state
search(struct generator *g)
{
    CORO_BEGIN(&g->coro);
    for (g->i = 1; g->i < 10; g->i++) {
        for (g->j = g->i; g->j < 10; g->j++) {
            g->value = 10 * g->i + g->j;
            if (g->i * g->j == g->n) {
                CORO_FINISH(&g->coro);
            }
            if (g->i + g->j == 10) {
                CORO_YIELD(&g->coro);
            }
        }
    }
    g->value = -1;
    CORO_END(&g->coro);
}

static void
test_finish(void)
{
    static const int none[] = { 0 };
    static const int two[] = { 19, 28, 0 };
    static const int all[] = { 19, 28, 37, 46, 55, 0 };
    struct generator g = { .n = 1 };

    check_generator(search, &g, none, 11);
    g.n = 15;
    check_generator(search, &g, two, 35);
    g.n = 13;
    check_generator(search, &g, all, -1);
}

/* Where a coroutine stands is a small number, whatever else counts. */
static enum coro_state
numbered(struct generator *g)
{
    CORO_BEGIN(&g->coro);
    CORO_YIELD(&g->coro);
    CORO_YIELD(&g->coro);
    g->value = __COUNTER__;
    CORO_YIELD(&g->coro);
    CORO_END(&g->coro);
}

static void
test_numbers(void)
{
    struct generator g;

    coro_init(&g.coro);
    for (unsigned int i = 0; i < 4; i++) {
        CHECK_UINT(g.coro.at, ==, i == 3 ? 4 : i);
        CHECK_INT(numbered(&g), ==, i == 3 ? CORO_FINISHED : CORO_YIELDED);
    }
}

/* Two runs of one coroutine do not know of each other. */
static void
test_two_frames(void)
{
    static const int expected[] = { 1, 2, 4, 3, 0 };
    struct generator a = { .n = 4 }, b = { .n = 4 };

    coro_init(&a.coro);
    coro_init(&b.coro);
    CHECK_INT(products(&a), ==, CORO_YIELDED);
    for (const int *e = expected; *e; e++) {
        CHECK_INT(products(&b), ==, CORO_YIELDED);
        CHECK_INT(b.value, ==, *e);
        CHECK_INT(a.value, ==, e == expected ? 1 : e[0]);
        if (e[1]) {
            CHECK_INT(products(&a), ==, CORO_YIELDED);
            CHECK_INT(a.value, ==, e[1]);
        }
    }
}

/* The interleaver. */

enum { MAX_PIECES = 500, MAX_EVENTS = 32 * MAX_PIECES };

/* A piece of work: it yields 'length' times. */
struct piece {
    unsigned int length;
    uint64_t seed;
    uint64_t result;
    unsigned int n_started;
    unsigned int n_finished;
};

enum what { START, RESUME, FINISH, REFUSE };

struct event {
    enum what what;
    unsigned int lane;
    unsigned int piece;
};

struct lane {
    struct coro coro;
    unsigned int piece;
    unsigned int i;
    uint64_t x;
};

/* Frames lie in something larger, that has to stay as it is. */
struct berth {
    uint64_t before;
    struct lane lane;
    uint64_t after;
};

#define GUARD UINT64_C(0x5ca1ab1edeadbea7)

struct work {
    struct piece pieces[MAX_PIECES];
    unsigned int n_pieces;
    unsigned int n_started;
    unsigned int n_refused;
    unsigned int n_under_way;
    unsigned int max_under_way;
    struct event events[MAX_EVENTS];
    size_t n_events;
    struct berth berths[CORO_MAX_LANES];
};

static struct work work;

static uint64_t
scramble(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0x7fb5d329728ea185);
    return x ^ (x >> 27);
}

static void
record(struct work *w, enum what what, const struct lane *lane,
       unsigned int piece)
{
    struct berth *berth = (struct berth *) ((char *) lane
                                            - offsetof(struct berth, lane));

    CHECK_UINT(w->n_events, <, MAX_EVENTS);
    w->events[w->n_events++]
        = (struct event) { what, berth - w->berths, piece };
}

static bool
lane_start(void *lane_, void *work_)
{
    struct lane *lane = lane_;
    struct work *w = work_;

    if (w->n_started == w->n_pieces) {
        w->n_refused++;
        record(w, REFUSE, lane, 0);
        return false;
    }
    coro_init(&lane->coro);
    lane->piece = w->n_started++;
    lane->x = w->pieces[lane->piece].seed;
    w->pieces[lane->piece].n_started++;
    record(w, START, lane, lane->piece);
    w->n_under_way++;
    if (w->n_under_way > w->max_under_way) {
        w->max_under_way = w->n_under_way;
    }
    return true;
}

static enum coro_state
lane_resume(void *lane_, void *work_)
{
    struct lane *lane = lane_;
    struct work *w = work_;
    struct piece *piece = &w->pieces[lane->piece];

    CHECK_UINT(piece->n_started, ==, 1);
    CHECK_UINT(piece->n_finished, ==, 0);
    record(w, RESUME, lane, lane->piece);

    CORO_BEGIN(&lane->coro);
    for (lane->i = 0; lane->i < piece->length; lane->i++) {
        lane->x = scramble(lane->x);
        CORO_YIELD(&lane->coro);
    }
    piece->result = lane->x;
    piece->n_finished++;
    w->n_under_way--;
    record(w, FINISH, lane, lane->piece);
    CORO_END(&lane->coro);
}

static void
work_init(unsigned int n_pieces)
{
    memset(&work, 0, sizeof work);
    work.n_pieces = n_pieces;
    for (unsigned int i = 0; i < n_pieces; i++) {
        work.pieces[i].seed = scramble(i + 1);
    }
    for (unsigned int i = 0; i < CORO_MAX_LANES; i++) {
        struct berth *berth = &work.berths[i];

        memset(berth, 0xa5, sizeof *berth);
        berth->before = berth->after = GUARD;
    }
}

/* Does the work, and checks its results. */
static void
work_run(unsigned int n_lanes)
{
    coro_interleave(&work.berths[0].lane, sizeof work.berths[0], n_lanes,
                    lane_start, lane_resume, &work);

    CHECK_UINT(work.n_started, ==, work.n_pieces);
    CHECK_UINT(work.n_under_way, ==, 0);
    for (unsigned int i = 0; i < work.n_pieces; i++) {
        struct piece *piece = &work.pieces[i];
        uint64_t x = piece->seed;

        for (unsigned int j = 0; j < piece->length; j++) {
            x = scramble(x);
        }
        CHECK_UINT(piece->n_started, ==, 1);
        CHECK_UINT(piece->n_finished, ==, 1);
        CHECK_HEX(piece->result, ==, x);
    }

    struct lane untouched;

    memset(&untouched, 0xa5, sizeof untouched);
    for (unsigned int i = 0; i < CORO_MAX_LANES; i++) {
        CHECK_HEX(work.berths[i].before, ==, GUARD);
        CHECK_HEX(work.berths[i].after, ==, GUARD);
        if (i >= n_lanes) {
            CHECK_MEM(&work.berths[i].lane, &untouched, sizeof untouched);
        }
    }
}

/* Returns the lane that has something under way and whose turn it is behind
 * 'lane', or 'n_lanes' if there is none. */
static unsigned int
next_lane(const unsigned int occupant[], unsigned int n_lanes,
          unsigned int lane)
{
    for (unsigned int i = 1; i <= n_lanes; i++) {
        unsigned int next = (lane + i) % n_lanes;

        if (occupant[next]) {
            return next;
        }
    }
    return n_lanes;
}

/* Checks the order of events:
 *
 * - Pieces start in order: the first ones in one lane after the other, the
 *   rest each in the lane where a piece has just finished, to be resumed at
 *   once.
 * - The lanes are resumed in turn, and none of them is idle as long as there
 *   is work. */
static void
check_order(unsigned int n_lanes)
{
    unsigned int occupant[CORO_MAX_LANES] = { 0 }; /* Piece + 1, or 0. */
    unsigned int n_occupied = 0, n_used = 0, n_started = 0;
    struct event last = { REFUSE, 0, 0 };
    bool refused = false, refilled = false;
    unsigned int turn = n_lanes - 1;

    for (size_t i = 0; i < work.n_events; i++) {
        const struct event e = work.events[i];
        bool ended = i && last.what == FINISH;

        CHECK_UINT(e.lane, <, n_lanes);
        CHECK(!ended || refused || e.what == START || e.what == REFUSE);
        CHECK(!refilled || e.what == RESUME);
        switch (e.what) {
        case START:
            CHECK(!refused);
            CHECK_UINT(e.piece, ==, n_started);
            CHECK_UINT(e.lane, ==, ended ? last.lane : n_used);
            n_used += !ended;
            refilled = ended;
            occupant[e.lane] = ++n_started;
            n_occupied++;
            break;

        case RESUME:
            if (refilled) {
                CHECK_UINT(e.lane, ==, turn);
                refilled = false;
            } else {
                turn = next_lane(occupant, n_lanes, turn);
                CHECK_UINT(e.lane, ==, turn);
                CHECK(refused || n_occupied == n_lanes);
            }
            CHECK_UINT(e.piece + 1, ==, occupant[e.lane]);
            break;

        case FINISH:
            CHECK_UINT(e.lane, ==, last.lane);
            occupant[e.lane] = 0;
            n_occupied--;
            break;

        case REFUSE:
            CHECK_UINT(e.lane, ==, ended ? last.lane : n_used);
            refused = true;
            break;
        }
        last = e;
    }
    CHECK(refused);
    CHECK_UINT(work.n_refused, <=, n_lanes);
}

/* Runs 'n_pieces' whose lengths the caller has set. */
static void
check_work(unsigned int n_lanes)
{
    unsigned int n_longer = 0;

    work_run(n_lanes);
    check_order(n_lanes);
    for (unsigned int i = 0; i < work.n_pieces; i++) {
        n_longer += work.pieces[i].length > 0;
    }
    CHECK_UINT(work.max_under_way, <=, n_lanes);
    if (n_longer == work.n_pieces) {
        CHECK_UINT(work.max_under_way, ==,
                   n_longer < n_lanes ? n_longer : n_lanes);
    }
}

static const unsigned int lane_counts[] = {
    1, 2, 3, 7, 8, 31, 32, CORO_MAX_LANES - 1, CORO_MAX_LANES,
};

#define FOR_EACH_LANE_COUNT(N)                                          \
    for (const unsigned int *N = lane_counts;                           \
         N < lane_counts + N_ELEMENTS(lane_counts); N++)

/* Writes which pieces were resumed, in order. */
static const char *
trace(void)
{
    static char s[256];
    size_t n = 0;

    for (size_t i = 0; i < work.n_events; i++) {
        const struct event *e = &work.events[i];

        CHECK_UINT(n, <, sizeof s - 1);
        if (e->what == RESUME) {
            s[n++] = 'a' + e->piece;
        }
    }
    s[n] = '\0';
    return s;
}

static void
test_schedule(void)
{
    static const unsigned int lengths[] = { 2, 0, 1, 3, 0, 1 };
    static const struct {
        unsigned int n_lanes;
        const char *expected;
    } runs[] = {
        { 1, "aaabccddddeff" },
        { 2, "abcacdaefdfdd" },
        { 3, "abdcadcefadfd" },
        { 4, "abefcdafcdadd" },
        { 5, "abfcdeafcdadd" },
        { 6, "abcdefacdfadd" },
        { 7, "abcdefacdfadd" },
    };

    for (size_t i = 0; i < N_ELEMENTS(runs); i++) {
        work_init(N_ELEMENTS(lengths));
        for (size_t j = 0; j < N_ELEMENTS(lengths); j++) {
            work.pieces[j].length = lengths[j];
        }
        check_work(runs[i].n_lanes);
        CHECK_STR(trace(), runs[i].expected);
    }
}

static void
test_no_work(void)
{
    FOR_EACH_LANE_COUNT (n_lanes) {
        work_init(0);
        check_work(*n_lanes);
        CHECK_UINT(work.n_events, ==, work.n_refused);
    }
}

static void
test_no_yield(void)
{
    FOR_EACH_LANE_COUNT (n_lanes) {
        work_init(MAX_PIECES);
        check_work(*n_lanes);
        CHECK_UINT(work.n_events, ==, 3 * MAX_PIECES + work.n_refused);
    }
}

static void
test_little_work(void)
{
    FOR_EACH_LANE_COUNT (n_lanes) {
        for (unsigned int n = 1; n <= *n_lanes + 1; n++) {
            work_init(n);
            for (unsigned int i = 0; i < n; i++) {
                work.pieces[i].length = 1 + i % 3;
            }
            check_work(*n_lanes);
        }
    }
}

static void
test_equal_lengths(void)
{
    FOR_EACH_LANE_COUNT (n_lanes) {
        work_init(MAX_PIECES);
        for (unsigned int i = 0; i < MAX_PIECES; i++) {
            work.pieces[i].length = 3;
        }
        check_work(*n_lanes);
        CHECK_UINT(work.max_under_way, ==, *n_lanes);
    }
}

static void
test_random_lengths(void)
{
    random_state = 1;
    for (unsigned int round = 0; round < 20; round++) {
        FOR_EACH_LANE_COUNT (n_lanes) {
            unsigned int longest = 1 + random_below(20);

            work_init(random_below(MAX_PIECES + 1));
            for (unsigned int i = 0; i < work.n_pieces; i++) {
                work.pieces[i].length = (random_below(4)
                                         ? random_below(longest) : 0);
            }
            check_work(*n_lanes);
        }
    }
}

int
main(void)
{
    RUN_TEST(test_loops);
    RUN_TEST(test_blocks);
    RUN_TEST(test_finish);
    RUN_TEST(test_numbers);
    RUN_TEST(test_two_frames);
    RUN_TEST(test_schedule);
    RUN_TEST(test_no_work);
    RUN_TEST(test_no_yield);
    RUN_TEST(test_little_work);
    RUN_TEST(test_equal_lengths);
    RUN_TEST(test_random_lengths);
    return 0;
}
