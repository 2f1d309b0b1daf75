/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/stall.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "ovs-thread.h"
#include "pmd/perf.h"
#include "sync/dp-log.h"
#include "util.h"

enum {
    LOOKS_PER_THRESHOLD = 4,
    MIN_PAUSE_US = 50,
    MAX_PAUSE_US = 10000,

    WATCH_RESOLUTION_NS = 1000
};

struct pmd_stall_watch {
    const struct cmap *pmds;    /* Constant. */
    pthread_t thread;           /* Constant. */
    atomic_uint64_t pause_us;   /* From look to look.  Control side writes,
                                 * the thread reads; relaxed. */
    atomic_bool stop;           /* Likewise. */
};

/* Looks whether 'pmd' is stuck.
 *
 * The order of the reads is that in which an error is harmless: the owner
 * stores 'start' before it clears 'slept', and 'slept' before it leaves the
 * stage of sleep.  So whoever reads the clock first and then the three in the
 * opposite order finds an iteration too young at worst. */
static void
look_at(struct pmd_thread *pmd)
{
    struct pmd_mark *mark = &pmd->mark;
    struct pmd_perf clock;
    uint64_t now = pmd_perf_now(&clock);
    uint64_t start, slept, limit;
    uint8_t stage;

    pmd_stall_collect(pmd);

    atomic_read_relaxed(&mark->limit, &limit);
    /* Acquires pair with the releases in pmd_stall_begin() and _slept(). */
    atomic_read_explicit(&mark->stage, &stage, memory_order_acquire);
    atomic_read_explicit(&mark->slept, &slept, memory_order_acquire);
    atomic_read_explicit(&mark->start, &start, memory_order_acquire);

    if (!start || stage == PMD_STAGE_SLEEP) {
        return;
    }
    pmd_stall_glimpse(pmd, start, now, stage);
    /* 'start' may be later than 'now'. */
    if (now > start && now - start > slept && now - start - slept > limit) {
        pmd_stall_capture(pmd, start, stage);
    }
}

static void
look_at_all(const struct pmd_stall_watch *watch)
{
    struct pmd_thread *pmd;

    /* Whoever leaves the map is freed after a grace period, so not before the
     * watcher sleeps. */
    CMAP_FOR_EACH (pmd, node, watch->pmds) {
        if (pmd->core_id != NON_PMD_CORE_ID) {
            look_at(pmd);
        }
    }
}

/* A watcher that waits for its turn behind others finds stalls too late. */
static void
raise_priority(void)
{
    struct sched_param param = {
        .sched_priority = sched_get_priority_min(SCHED_FIFO)
    };
    int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);

    if (error) {
        VLOG_INFO("stall recorder: no real-time priority (%s); short stalls "
                  "may end before they are seen", ovs_strerror(error));
    }
}

static void *
watch_main(void *watch_)
{
    struct pmd_stall_watch *watch = watch_;
    uint64_t pause_us;
    bool stop;

    raise_priority();
    set_timer_resolution(WATCH_RESOLUTION_NS);
    do {
        look_at_all(watch);
        atomic_read_relaxed(&watch->pause_us, &pause_us);
        xnanosleep(pause_us * 1000); /* Quiesces. */
        atomic_read_relaxed(&watch->stop, &stop);
    } while (!stop);
    return NULL;
}

static uint64_t
pause_for(uint64_t us)
{
    return MAX(MIN_PAUSE_US, MIN(us / LOOKS_PER_THRESHOLD, MAX_PAUSE_US));
}

struct pmd_stall_watch *
pmd_stall_watch_start(const struct cmap *pmds, uint64_t us)
{
    struct pmd_stall_watch *watch = xzalloc(sizeof *watch);

    pmd_stall_prepare();
    watch->pmds = pmds;
    atomic_init(&watch->pause_us, pause_for(us));
    atomic_init(&watch->stop, false);
    watch->thread = ovs_thread_create("pmd_stall", watch_main, watch);
    return watch;
}

void
pmd_stall_watch_set(struct pmd_stall_watch *watch, uint64_t us)
{
    atomic_store_relaxed(&watch->pause_us, pause_for(us));
}

void
pmd_stall_watch_stop(struct pmd_stall_watch *watch)
{
    struct pmd_thread *pmd;

    atomic_store_relaxed(&watch->stop, true);
    xpthread_join(watch->thread, NULL);

    /* What came since its last look. */
    CMAP_FOR_EACH (pmd, node, watch->pmds) {
        pmd_stall_collect(pmd);
    }
    free(watch);
}
