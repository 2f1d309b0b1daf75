/* SPDX-License-Identifier: Apache-2.0 */

/* Tests lib/sync/handoff.h. */

#include <config.h>

#include "sync/handoff.h"

#include "ovs-thread.h"
#include "unit.h"
#include "util.h"

struct item {
    struct handoff_node node;
    unsigned int producer;
    unsigned int number;
};

static struct item *
item_create(unsigned int producer, unsigned int number)
{
    struct item *item = xmalloc(sizeof *item);

    item->producer = producer;
    item->number = number;
    return item;
}

static void
test_empty(void)
{
    struct handoff box;

    handoff_init(&box);
    CHECK(handoff_is_empty(&box));
    CHECK(!handoff_take(&box));
    CHECK(!handoff_take_newest_first(&box));
    CHECK(handoff_is_empty(&box));
}

static void
test_order(void)
{
    static struct handoff box = HANDOFF_INITIALIZER;
    struct item items[5];
    struct handoff_node *node;

    for (int i = 0; i < ARRAY_SIZE(items); i++) {
        CHECK(handoff_put(&box, &items[i].node) == (i == 0));
        CHECK(!handoff_is_empty(&box));
    }
    node = handoff_take(&box);
    CHECK(handoff_is_empty(&box));
    for (int i = 0; i < ARRAY_SIZE(items); i++) {
        CHECK(node == &items[i].node);
        node = node->next;
    }
    CHECK(!node);

    for (int i = 0; i < ARRAY_SIZE(items); i++) {
        CHECK(handoff_put(&box, &items[i].node) == (i == 0));
    }
    node = handoff_take_newest_first(&box);
    for (int i = ARRAY_SIZE(items) - 1; i >= 0; i--) {
        CHECK(node == &items[i].node);
        node = node->next;
    }
    CHECK(!node);
    CHECK(handoff_is_empty(&box));
}

/* Several threads put, several take and put half of it back as it is, so that
 * nodes come back while others are in the middle of putting.  With one
 * collector the order of each producer is kept, too. */
#define N_PRODUCERS 3
#define N_ITEMS 50000

static struct handoff shared = HANDOFF_INITIALIZER;
static atomic_uint n_taken;
static bool seen[N_PRODUCERS][N_ITEMS];

static unsigned int
taken(void)
{
    unsigned int n;

    atomic_read_explicit(&n_taken, &n, memory_order_acquire);
    return n;
}

static void *
producer_main(void *number)
{
    for (unsigned int i = 0; i < N_ITEMS; i++) {
        struct item *item = item_create(*(unsigned int *) number, i);

        handoff_put(&shared, &item->node);
    }
    return NULL;
}

static void
start_producers(pthread_t threads[], unsigned int numbers[])
{
    atomic_store_relaxed(&n_taken, 0);
    memset(seen, 0, sizeof seen);
    for (unsigned int i = 0; i < N_PRODUCERS; i++) {
        numbers[i] = i;
        threads[i] = ovs_thread_create("producer", producer_main,
                                       &numbers[i]);
    }
}

static void
test_one_collector(void)
{
    unsigned int next[N_PRODUCERS] = { 0 };
    unsigned int numbers[N_PRODUCERS];
    pthread_t threads[N_PRODUCERS];
    unsigned int n = 0;

    start_producers(threads, numbers);
    while (n < N_PRODUCERS * N_ITEMS) {
        struct handoff_node *node, *next_node;

        for (node = handoff_take(&shared); node; node = next_node) {
            struct item *item = CONTAINER_OF(node, struct item, node);

            next_node = node->next;
            CHECK_UINT(item->number, ==, next[item->producer]);
            next[item->producer]++;
            free(item);
            n++;
        }
    }
    for (int i = 0; i < N_PRODUCERS; i++) {
        xpthread_join(threads[i], NULL);
    }
    CHECK(handoff_is_empty(&shared));
}

static void *
collector_main(void *aux OVS_UNUSED)
{
    bool put_back = true;

    while (taken() < N_PRODUCERS * N_ITEMS) {
        struct handoff_node *node, *next;

        for (node = handoff_take_newest_first(&shared); node; node = next) {
            struct item *item = CONTAINER_OF(node, struct item, node);

            next = node->next;
            put_back = !put_back;
            if (put_back) {
                handoff_put(&shared, &item->node);
            } else {
                unsigned int n;

                CHECK(!seen[item->producer][item->number]);
                seen[item->producer][item->number] = true;
                free(item);
                atomic_add_explicit(&n_taken, 1, &n, memory_order_release);
            }
        }
    }
    return NULL;
}

static void
test_many_collectors(void)
{
    pthread_t threads[N_PRODUCERS], collectors[2];
    unsigned int numbers[N_PRODUCERS];

    start_producers(threads, numbers);
    for (int i = 0; i < ARRAY_SIZE(collectors); i++) {
        collectors[i] = ovs_thread_create("collector", collector_main, NULL);
    }
    for (int i = 0; i < N_PRODUCERS; i++) {
        xpthread_join(threads[i], NULL);
    }
    for (int i = 0; i < ARRAY_SIZE(collectors); i++) {
        xpthread_join(collectors[i], NULL);
    }
    CHECK(handoff_is_empty(&shared));
    CHECK_UINT(taken(), ==, N_PRODUCERS * N_ITEMS);
    for (int i = 0; i < N_PRODUCERS; i++) {
        for (int j = 0; j < N_ITEMS; j++) {
            CHECK_MSG(seen[i][j], "%d of producer %d", j, i);
        }
    }
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);

    RUN_TEST(test_empty);
    RUN_TEST(test_order);
    RUN_TEST(test_one_collector);
    RUN_TEST(test_many_collectors);
    return 0;
}
