/* SPDX-License-Identifier: Apache-2.0 */

/* Sizes of the signature caches: the hand-over of a cache to the thread that
 * uses it, what the walk finds in caches of a size, and the sizes of a
 * datapath by command and by configuration.
 *
 * Includes the sources of the hand-over, to hold a thread between two of its
 * steps, and of the mappings, to count them and to let them fail. */

#include <config.h>
#undef NDEBUG

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "stop-point.h"
#include "ovs-atomic.h"
#include "walk-fixture.h"

static atomic_ullong n_mapped;      /* Bytes mapped now. */
static unsigned int mmap_countdown; /* The call that fails; 0: none does. */

static void *
counted_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t off)
{
    unsigned long long orig;
    void *p;

    if (mmap_countdown && !--mmap_countdown) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    p = mmap(addr, size, prot, flags, fd, off);
    if (p != MAP_FAILED) {
        atomic_add(&n_mapped, size, &orig);
    }
    return p;
}

static int
counted_munmap(void *p, size_t size)
{
    unsigned long long orig;

    atomic_sub(&n_mapped, size, &orig);
    return munmap(p, size);
}

#define mmap(...) counted_mmap(__VA_ARGS__)
#define munmap(...) counted_munmap(__VA_ARGS__)
#include "table/huge-mem.c"
#undef mmap
#undef munmap

#include "table/sigcache-handover.c"

#include "dp/dp-netdev.h"
#include "dummy.h"
#include "ovs-numa.h"
#include "random.h"
#include "smap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static unsigned long long
mapped(void)
{
    unsigned long long n;

    atomic_read(&n_mapped, &n);
    return n;
}

/* Not xnanosleep(), after which the thread is active. */
static void
nap(void)
{
    struct timespec ts = { 0, 1000000 };

    nanosleep(&ts, NULL);
}

/* Hand-over. */

static void
offer(struct sigcache_handover *handover, uint32_t n_entries)
{
    struct sigcache_parcel *parcel;
    int error;

    parcel = sigcache_parcel_create(n_entries, OVS_NUMA_UNSPEC, &error);
    CHECK(parcel);
    sigcache_handover_put(handover, parcel);
}

static bool
take(struct sigcache_handover *handover, struct sigcache *cache)
{
    bool pending = sigcache_handover_is_pending(handover);

    if (pending) {
        sigcache_handover_take(handover, cache);
    }
    return pending;
}

static void
test_sizes(void)
{
    unsigned long long before = mapped();
    struct sigcache cache;
    int error = 0;

    CHECK(!sigcache_parcel_create(3000, 0, &error));
    CHECK_INT(error, ==, EINVAL);
    for (uint32_t n = SIGCACHE_MIN_ENTRIES; n <= SIGCACHE_MAX_ENTRIES;
         n *= 2) {
        if (n > 1 << 22 && (SANITIZED || n < SIGCACHE_MAX_ENTRIES)) {
            continue;           /* They take their time. */
        }
        CHECK_INT(sigcache_create(&cache, n, 0), ==, 0);
        CHECK_UINT(sigcache_n_entries(&cache), ==, n);
        CHECK_UINT(sigcache_bytes(n), ==, 8ULL * n);
        CHECK_UINT(mapped() - before, ==, 8ULL * n);
        CHECK_UINT((uintptr_t) cache.buckets % CACHE_LINE_SIZE, ==, 0);
        for (uint32_t i = 0; i < n; i += n / 16) {
            CHECK(!sigcache_bucket(&cache, i)->indexes[0]);
            sigcache_insert(&cache, i, i + 1);
            CHECK_UINT(sigcache_bucket_match(sigcache_bucket(&cache, i), i),
                       !=, 0);
        }
        sigcache_destroy(&cache);
        CHECK_UINT(mapped(), ==, before);
    }

    mmap_countdown = 1;
    CHECK(!sigcache_parcel_create(1 << 20, 0, &error));
    CHECK_INT(error, ==, ENOMEM);
    CHECK_UINT(mapped(), ==, before);
}

static void
test_handover(void)
{
    unsigned long long before = mapped();
    struct sigcache_handover handover;
    struct sigcache cache;

    sigcache_handover_init(&handover);
    sigcache_init(&cache);
    CHECK(!take(&handover, &cache));
    CHECK_UINT(sigcache_handover_collect(&handover), ==, 0);

    offer(&handover, 2048);
    CHECK_UINT(handover.n_entries, ==, 2048);
    CHECK_UINT(sigcache_handover_collect(&handover), ==, 1);
    CHECK(!sigcache_is_enabled(&cache));
    CHECK(take(&handover, &cache));
    CHECK(!take(&handover, &cache));
    CHECK_UINT(sigcache_n_entries(&cache), ==, 2048);
    CHECK_UINT(sigcache_handover_collect(&handover), ==, 0);

    /* The old cache is the owner's until then, and is freed by the control
     * side. */
    offer(&handover, 4096);
    CHECK_UINT(mapped() - before, ==, 8 * (2048 + 4096));
    CHECK_UINT(sigcache_n_entries(&cache), ==, 2048);
    CHECK(take(&handover, &cache));
    CHECK_UINT(sigcache_n_entries(&cache), ==, 4096);
    CHECK_UINT(mapped() - before, ==, 8 * (2048 + 4096));
    CHECK_UINT(sigcache_handover_collect(&handover), ==, 0);
    CHECK_UINT(mapped() - before, ==, 8 * 4096);

    /* An offer that nobody took is replaced. */
    for (uint32_t n = 1024; n <= 65536; n *= 2) {
        offer(&handover, n);
        CHECK_UINT(mapped() - before, ==, 8 * (4096 + n));
        CHECK_UINT(sigcache_handover_collect(&handover), ==, 1);
    }

    /* What comes back is collected with the next offer at the latest. */
    CHECK(take(&handover, &cache));
    CHECK_UINT(sigcache_n_entries(&cache), ==, 65536);
    offer(&handover, 0);
    CHECK_UINT(mapped() - before, ==, 8 * 65536);
    CHECK(take(&handover, &cache));
    CHECK(!sigcache_is_enabled(&cache));

    /* At the end, wherever it is. */
    offer(&handover, 1024);
    sigcache_handover_destroy(&handover);
    sigcache_destroy(&cache);
    CHECK_UINT(mapped(), ==, before);
}

/* A thread that takes one offer and is held on the way. */
struct taker {
    struct sigcache_handover handover;
    struct sigcache cache;
    struct stop stop;
};

static void *
taker_main(void *taker_)
{
    struct taker *taker = taker_;

    CHECK(sigcache_handover_is_pending(&taker->handover));
    stop_here(&taker->stop);
    sigcache_handover_take(&taker->handover, &taker->cache);
    return NULL;
}

static pthread_t
start_taker(struct taker *taker, const char *point)
{
    pthread_t thread;

    sigcache_handover_init(&taker->handover);
    CHECK_INT(sigcache_create(&taker->cache, 1024, 0), ==, 0);
    offer(&taker->handover, 2048);
    stop_init(&taker->stop, point);
    thread = ovs_thread_create("taker", taker_main, taker);
    stop_await(&taker->stop);
    return thread;
}

static void
test_overtaken_before_taking(void)
{
    unsigned long long before = mapped();
    struct taker taker;
    pthread_t thread = start_taker(&taker, "cache-offer-seen");

    /* What it has seen is gone; it gets what there is now. */
    offer(&taker.handover, 4096);
    CHECK_UINT(mapped() - before, ==, 8 * (1024 + 4096));
    stop_release(&taker.stop);
    xpthread_join(thread, NULL);
    CHECK_UINT(sigcache_n_entries(&taker.cache), ==, 4096);
    CHECK(!sigcache_handover_is_pending(&taker.handover));
    CHECK_UINT(sigcache_handover_collect(&taker.handover), ==, 0);

    sigcache_handover_destroy(&taker.handover);
    sigcache_destroy(&taker.cache);
    stop_destroy(&taker.stop);
    CHECK_UINT(mapped(), ==, before);
}

static void
test_overtaken_after_taking(void)
{
    unsigned long long before = mapped();
    struct taker taker;
    pthread_t thread = start_taker(&taker, "cache-offer-taken");

    /* Neither what it is about to take nor what it has is touched; the next
     * offer waits for the next round. */
    offer(&taker.handover, 4096);
    CHECK_UINT(sigcache_handover_collect(&taker.handover), ==, 2);
    CHECK_UINT(mapped() - before, ==, 8 * (1024 + 2048 + 4096));
    stop_release(&taker.stop);
    xpthread_join(thread, NULL);
    CHECK_UINT(sigcache_n_entries(&taker.cache), ==, 2048);
    CHECK_UINT(sigcache_handover_collect(&taker.handover), ==, 1);
    CHECK_UINT(mapped() - before, ==, 8 * (2048 + 4096));
    CHECK(take(&taker.handover, &taker.cache));
    CHECK_UINT(sigcache_n_entries(&taker.cache), ==, 4096);

    sigcache_handover_destroy(&taker.handover);
    sigcache_destroy(&taker.cache);
    stop_destroy(&taker.stop);
    CHECK_UINT(mapped(), ==, before);
}

/* The thread that takes a cache finds all of its pages in place. */
static void
test_no_page_faults(void)
{
    enum { N = 1 << 22 };
    struct sigcache_handover handover;
    struct rusage before, after;
    struct sigcache cache;

    sigcache_handover_init(&handover);
    sigcache_init(&cache);
    for (int round = 0; round < 2; round++) {
        /* The first round touches everything else. */
        offer(&handover, N);
        getrusage(RUSAGE_THREAD, &before);
        CHECK(take(&handover, &cache));
        for (uint32_t i = 0; i < N; i += SIGCACHE_WAYS) {
            sigcache_insert(&cache, i / SIGCACHE_WAYS, 1);
        }
        getrusage(RUSAGE_THREAD, &after);
    }
    /* It would be 16 of huge pages, 8192 of small ones. */
    CHECK(SANITIZED || after.ru_minflt - before.ru_minflt < 3);
    CHECK_INT(after.ru_majflt, ==, before.ru_majflt);
    sigcache_handover_destroy(&handover);
    sigcache_destroy(&cache);
}

/* One thread uses a cache all the time, another one resizes it. */

enum { N_RESIZES = 400 };

static struct {
    struct sigcache_handover handover;
    atomic_bool stop;
    atomic_count n_bursts;
} shared;

static void *
user_main(void *arg OVS_UNUSED)
{
    struct sigcache cache;
    unsigned int n_taken = 0;
    bool stop;

    sigcache_init(&cache);
    do {
        n_taken += take(&shared.handover, &cache);
        for (int i = 0; i < 32 && sigcache_is_enabled(&cache); i++) {
            uint32_t hash = random_uint32();
            const struct sigcache_bucket *b = sigcache_bucket(&cache, hash);
            unsigned int match;

            sigcache_insert(&cache, hash, ~hash | 1);
            match = sigcache_bucket_match(b, hash);
            CHECK_UINT(match, !=, 0);
            CHECK_HEX(b->indexes[raw_ctz(match)], ==, ~hash | 1);
        }
        atomic_count_inc(&shared.n_bursts);
        atomic_read_relaxed(&shared.stop, &stop);
    } while (!stop);
    CHECK_UINT(n_taken, >, N_RESIZES / 10);
    sigcache_destroy(&cache);
    return NULL;
}

static void
test_resize_under_use(void)
{
    unsigned long long before = mapped();
    pthread_t user;

    sigcache_handover_init(&shared.handover);
    atomic_init(&shared.stop, false);
    atomic_count_init(&shared.n_bursts, 0);
    user = ovs_thread_create("user", user_main, NULL);
    for (int i = 0; i < N_RESIZES; i++) {
        unsigned int burst = atomic_count_get(&shared.n_bursts);

        offer(&shared.handover,
              random_range(8) ? SIGCACHE_MIN_ENTRIES << random_range(9) : 0);
        /* Now and then without a chance for the user to take it. */
        while (random_range(4)
               && atomic_count_get(&shared.n_bursts) - burst < 3) {
            sched_yield();
        }
    }
    atomic_store_relaxed(&shared.stop, true);
    xpthread_join(user, NULL);
    sigcache_handover_destroy(&shared.handover);
    CHECK_UINT(mapped(), ==, before);
}

/* The walk. */

/* Flows beyond 16 bits' worth are cached like any other. */
static void
test_large_index(void)
{
    enum { N = 100000 };
    static const uint16_t ports[] = { 100, 101, 102 };
    struct dp_flow **slots = xcalloc(N, sizeof *slots);
    struct dp_slab *slab = pmd->flows.slab;
    struct dp_flow_info *info;
    size_t n = 0;

    fixture_reset();
    do {
        slots[n] = dp_slab_alloc(slab);
        CHECK(slots[n]);
    } while (slots[n++]->index <= UINT16_MAX);

    pmd->smc_enabled = true;
    for (int i = 0; i < 3; i++) {
        walk(1, ports, ARRAY_SIZE(ports));
    }
    CMAP_FOR_EACH (info, ufid_node, &pmd->flows.by_ufid) {
        CHECK_UINT(info->slot->index, >, UINT16_MAX);
    }
    CHECK_UINT(n_upcalls, ==, 3);
    CHECK_UINT(counted(PMD_COUNT_SMC_HIT), ==, 6);

    pmd->emc_insert_min = UINT32_MAX;
    walk(1, ports, ARRAY_SIZE(ports));
    walk(1, ports, ARRAY_SIZE(ports));
    CHECK_UINT(counted(PMD_COUNT_EMC_HIT), ==, 3);
    CHECK_UINT(counted(PMD_COUNT_SMC_HIT), ==, 3);

    while (n > 0) {
        dp_slab_free(slab, slots[--n]);
    }
    free(slots);
}

/* One packet in so many gets into the EMC, and each into the SMC. */
static void
test_insertion_probability(void)
{
    enum { N = 4000, INVERSE = 4 };
    static const uint16_t flow[] = { 100 };
    uint64_t n_hits;

    fixture_reset();
    install_output(1, 0, 100, 2);
    pmd->emc_insert_min = UINT32_MAX / INVERSE;
    for (int i = 0; i < N; i++) {
        CHECK_INT(sigcache_resize(&pmd->emc, SIGCACHE_MIN_ENTRIES), ==, 0);
        /* One packet in eight hits, which is about when the gate shuts. */
        memset(&pmd->emc_gate, 0, sizeof pmd->emc_gate);
        walk(1, flow, 1);
        walk(1, flow, 1);
    }
    n_hits = counted(PMD_COUNT_EMC_HIT);

    /* Within six standard deviations. */
    CHECK_UINT(n_hits, >, N / INVERSE - 165);
    CHECK_UINT(n_hits, <, N / INVERSE + 165);
    CHECK_UINT(counted(PMD_COUNT_MASKED_HIT), ==, 2 * N - n_hits);

    pmd->smc_enabled = true;
    pmd->emc_insert_min = 1;
    CHECK_INT(sigcache_resize(&pmd->emc, SIGCACHE_MIN_ENTRIES), ==, 0);
    for (int i = 0; i < 100; i++) {
        CHECK_INT(sigcache_resize(&pmd->smc, SIGCACHE_MIN_ENTRIES), ==, 0);
        walk(1, flow, 1);
        walk(1, flow, 1);
    }
    CHECK_UINT(counted(PMD_COUNT_SMC_HIT), ==, 100);
}

/* The datapath. */

static struct dpif *dpif;
static struct dp_netdev *dp;

static odp_port_t
add_pmd_port(void)
{
    odp_port_t port_no = ODPP_NONE;
    struct netdev *netdev;

    CHECK_INT(netdev_open("p1", "dummy-pmd", &netdev), ==, 0);
    CHECK_INT(dpif_port_add(dpif, netdev, &port_no), ==, 0);
    netdev_close(netdev);
    return port_no;
}

static void
configure(const char *emc_size, const char *smc_size, const char *smc_enable)
{
    struct smap config = SMAP_INITIALIZER(&config);

    smap_add(&config, "pmd-cpu-mask", "7");
    if (emc_size) {
        smap_add(&config, "emc-size", emc_size);
    }
    if (smc_size) {
        smap_add(&config, "smc-size", smc_size);
    }
    if (smc_enable) {
        smap_add(&config, "smc-enable", smc_enable);
    }
    CHECK_INT(dpif_set_config(dpif, &config), ==, 0);
    smap_destroy(&config);
}

static void
open_datapath(void)
{
    CHECK_INT(dpif_create("dp-under-test", "dummy", &dpif), ==, 0);
    dp = dp_netdev_from_dpif(dpif);
    configure(NULL, NULL, NULL);
}

/* Frees the datapath and what it had postponed. */
static void
close_datapath(void)
{
    CHECK_INT(dpif_delete(dpif), ==, 0);
    dpif_close(dpif);
    ovsrcu_barrier();
}

/* Waits until the threads that poll have taken all they were offered.  The
 * others may be asleep. */
static void
settle(void)
{
    unsigned int n_polling = 0;
    struct pmd_thread *p;

    CMAP_FOR_EACH (p, node, &dp->poll_threads) {
        bool polls;

        ovs_mutex_lock(&p->port_mutex);
        polls = !hmap_is_empty(&p->poll_list);
        ovs_mutex_unlock(&p->port_mutex);
        n_polling += polls;
        while (polls && (p->emc_next.n_out || p->smc_next.n_out)) {
            nap();
            dp_netdev_run(dpif);
        }
    }
    CHECK_UINT(n_polling, ==, 1);
}

/* Checks that 'dp' says, and that each of its threads has or is going to have,
 * this many entries. */
static void
check_sizes(uint32_t emc, uint32_t smc, bool smc_enabled)
{
    struct pmd_thread *p;
    uint32_t size;

    CHECK_INT(dp_netdev_cache_get_size(dpif, DP_CACHE_EMC, &size), ==, 0);
    CHECK_UINT(size, ==, emc);
    CHECK_INT(dp_netdev_cache_get_size(dpif, DP_CACHE_SMC, &size), ==, 0);
    CHECK_UINT(size, ==, smc);
    CMAP_FOR_EACH (p, node, &dp->poll_threads) {
        CHECK_UINT(p->emc_next.n_entries, ==, emc);
        CHECK_UINT(p->smc_next.n_entries, ==, smc_enabled ? smc : 0);
        if (p->core_id == NON_PMD_CORE_ID) {
            CHECK_UINT(sigcache_n_entries(&p->emc), ==, emc);
            CHECK_UINT(sigcache_n_entries(&p->smc), ==,
                       smc_enabled ? smc : 0);
            CHECK(p->smc_enabled == (smc_enabled && smc));
        }
    }
}

static void
test_config(void)
{
    static const char *const bad[] = {
        "", "x", "-1", "512", "1000", "1025", "67108864", "33554431",
        "0x400", "1024 ", "1k", "18446744073709552640",
    };

    open_datapath();
    add_pmd_port();
    check_sizes(SIGCACHE_EMC_ENTRIES, SIGCACHE_SMC_ENTRIES, false);

    configure("1024", "4096", NULL);
    check_sizes(1024, 4096, false);
    configure("1024", "4096", "true");
    check_sizes(1024, 4096, true);
    configure("2048", "8192", "true");
    check_sizes(2048, 8192, true);
    configure("0", "0", "true");
    check_sizes(0, 0, true);
    configure(NULL, "16384", "true");
    check_sizes(SIGCACHE_EMC_ENTRIES, 16384, true);
    configure("1024", "16384", "false");
    check_sizes(1024, 16384, false);
    configure("1024", "2048", "true");
    check_sizes(1024, 2048, true);

    /* What it cannot be leaves it as it is. */
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        configure(bad[i], bad[i], "true");
        check_sizes(1024, 2048, true);
    }
    configure("4096", "2048", "true");
    check_sizes(4096, 2048, true);

    /* The last one who speaks is right, and a configuration that is read again
     * says nothing new. */
    CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_EMC, 65536), ==, 0);
    check_sizes(65536, 2048, true);
    configure("4096", "2048", "true");
    check_sizes(65536, 2048, true);
    configure("4096", "4096", "true");
    check_sizes(65536, 4096, true);
    configure("8192", "4096", "true");
    check_sizes(8192, 4096, true);
    CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_EMC, 0), ==, 0);
    configure("nonsense", "4096", "true");
    check_sizes(0, 4096, true);
    configure(NULL, NULL, NULL);
    check_sizes(SIGCACHE_EMC_ENTRIES, SIGCACHE_SMC_ENTRIES, false);
    CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_EMC, 1024), ==, 0);
    configure(NULL, NULL, NULL);
    check_sizes(1024, SIGCACHE_SMC_ENTRIES, false);
    close_datapath();
}

/* Every way to be short of memory leaves every thread as it was. */
static void
test_all_or_none(void)
{
    enum { N_THREADS = 4 };     /* Three PMD threads and the shared one. */
    unsigned long long before;

    open_datapath();
    add_pmd_port();
    configure("1024", "2048", "true");
    CHECK_UINT(cmap_count(&dp->poll_threads), ==, N_THREADS);
    settle();
    before = mapped();

    for (unsigned int i = 1; i <= N_THREADS; i++) {
        mmap_countdown = i;
        CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_EMC, 1 << 20), ==,
                  ENOMEM);
        CHECK_UINT(mmap_countdown, ==, 0);
        check_sizes(1024, 2048, true);
        CHECK_UINT(mapped(), ==, before);

        mmap_countdown = i;
        configure("1024", "1048576", "true");
        CHECK_UINT(mmap_countdown, ==, 0);
        check_sizes(1024, 2048, true);
        CHECK_UINT(mapped(), ==, before);
        configure("1024", "2048", "true");
    }

    /* The SMC stays off if it cannot be on for all, until it can be. */
    configure("1024", "2048", "false");
    check_sizes(1024, 2048, false);
    mmap_countdown = N_THREADS;
    configure("1024", "2048", "true");
    CHECK_UINT(mmap_countdown, ==, 0);
    check_sizes(1024, 2048, false);
    configure("1024", "2048", "true");
    check_sizes(1024, 2048, true);

    /* A size that could not be had does not count as said for ever. */
    CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_EMC, 1 << 20), ==, 0);
    check_sizes(1 << 20, 2048, true);
    close_datapath();
}

/* Threads take their caches in their rounds, also under a storm of resizes,
 * and nothing is left of threads that go with offers they have not taken. */
static void
test_threads(void)
{
    unsigned long long before = mapped();
    odp_port_t port_no;

    open_datapath();
    for (int round = 0; round < 3; round++) {
        configure(NULL, NULL, NULL);
        configure("1024", "2048", round & 1 ? "false" : "true");
        port_no = add_pmd_port();
        check_sizes(1024, 2048, !(round & 1));
        for (int i = 0; i < 50; i++) {
            uint32_t size = SIGCACHE_MIN_ENTRIES << random_range(6);

            CHECK_INT(dp_netdev_cache_set_size(dpif, i & 1, size), ==, 0);
            if (random_range(2)) {
                dp_netdev_run(dpif);
            }
        }

        CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_EMC, 4096), ==, 0);
        settle();
        CHECK_INT(dpif_port_del(dpif, port_no, false), ==, 0);
        CHECK_UINT(cmap_count(&dp->poll_threads), ==, 1);
        CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_EMC, 0), ==, 0);
        CHECK_INT(dp_netdev_cache_set_size(dpif, DP_CACHE_SMC, 0), ==, 0);
        CHECK_UINT(mapped(), ==, before);
    }
    close_datapath();
    CHECK_UINT(mapped(), ==, before);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    ovs_numa_set_dummy("0,0,0");
    ovs_numa_init();

    RUN_TEST(test_sizes);
    RUN_TEST(test_handover);
    RUN_TEST(test_overtaken_before_taking);
    RUN_TEST(test_overtaken_after_taking);
    RUN_TEST(test_no_page_faults);
    RUN_TEST(test_resize_under_use);

    fixture_init();
    RUN_TEST(test_large_index);
    RUN_TEST(test_insertion_probability);

    netdev_dummy_register(DUMMY_OVERRIDE_NONE);
    dpif_dummy_register(DUMMY_OVERRIDE_NONE);
    RUN_TEST(test_config);
    RUN_TEST(test_all_or_none);
    RUN_TEST(test_threads);
    ovsrcu_exit();
    return 0;
}
