/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "stress/stall-log.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/dp-driver.h"
#include "ovs-thread.h"
#include "timeval.h"
#include "util.h"

enum { STALL_US = 2000, LOOK_US = 500 };        /* As pmd/stall-watch.c. */

static void OVS_PRINTF_FORMAT(2, 3)
fail(struct stall_log *log, const char *format, ...)
{
    va_list args;

    log->n_errors++;
    va_start(args, format);
    ovs_error_valist(0, format, args);
    va_end(args);
}

static void *
witness_main(void *log_)
{
    struct sched_param param = {
        .sched_priority = sched_get_priority_min(SCHED_FIFO)
    };
    struct stall_log *log = log_;
    bool stop;

    /* Without the right to do this the watcher has none either. */
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
    set_timer_resolution(1000);
    do {
        long long int begin = time_usec(), late;
        uint64_t most;

        xnanosleep(LOOK_US * 1000);
        late = time_usec() - begin - LOOK_US;
        atomic_read_relaxed(&log->late_us, &most);
        while (late > 0 && late > most
               && !atomic_compare_exchange_weak_explicit(
                   &log->late_us, &most, late, memory_order_relaxed,
                   memory_order_relaxed)) {
            continue;
        }
        atomic_read_relaxed(&log->stop, &stop);
    } while (!stop);
    return NULL;
}

/* Fills 'stage' and 'f' from a line of dpif-netdev/pmd-stall-show.  Returns
 * false if it has no figures of a stage. */
static bool
parse_figures(const char *line, size_t *stage, struct pmd_stall_figures *f)
{
    for (size_t i = 0; i <= PMD_N_STAGES; i++) {
        const char *name = pmd_stage_name(i);
        size_t len = strlen(name);

        if (!strncmp(line, "  ", 2) && !strncmp(line + 2, name, len)
            && ovs_scan(line + 2 + len, " %"SCNu64" %"SCNu64" %"SCNu64,
                        &f->count, &f->total_us, &f->longest_us)) {
            *stage = i;
            return true;
        }
    }
    return false;
}

/* Judges stalls that have no name.  The watcher looks every LOOK_US, and so
 * sees each of them more than once while it lasts, unless it is kept from
 * looking for the better part of one. */
static void
judge_unnamed(struct stall_log *log, const struct pmd_stall_figures *f,
              uint64_t late_us)
{
    if (!f->count) {
        return;
    }
    if (late_us >= STALL_US - 2 * LOOK_US) {
        log->n_excused += f->count;
    } else {
        fail(log, "%"PRIu64" stalls of up to %"PRIu64" us have no name, while "
             "the watcher was at most %"PRIu64" us late", f->count,
             f->longest_us, late_us);
    }
}

void
stall_log_collect(struct stall_log *log)
{
    const char *show[] = { "dpif-netdev/pmd-stall-show", NULL };
    const char *clear[] = { "dpif-netdev/pmd-stall-clear", NULL };
    char *text = dp_driver_appctl(log->driver, show, NULL);
    char *reply = dp_driver_appctl(log->driver, clear, NULL);
    char *rest = text, *line;
    uint64_t late, n;

    late = atomic_exchange_explicit(&log->late_us, 0, memory_order_relaxed);
    log->longest_late_us = MAX(log->longest_late_us, late);
    if (!text || !reply || !strstr(text, "Stall recorder: on")) {
        fail(log, "no answer of the stall recorder: %s", text ? text : "none");
    } else if (log->verbose && strstr(text, " us")) {
        puts(text);
    }
    while (rest && (line = strsep(&rest, "\n")) != NULL) {
        struct pmd_stall_figures f;
        size_t stage;

        if (parse_figures(line, &stage, &f)) {
            struct pmd_stall_figures *sum = &log->stages[stage];

            sum->count += f.count;
            sum->total_us += f.total_us;
            sum->longest_us = MAX(sum->longest_us, f.longest_us);
            if (stage == PMD_STALL_NOT_CAUGHT) {
                judge_unnamed(log, &f, late);
            }
        } else if (ovs_scan(line, "  lost %"SCNu64, &n)) {
            log->n_lost += n;
        }
    }
    free(text);
    free(reply);
}

static void
report(struct stall_log *log)
{
    const struct pmd_stall_figures *unnamed
        = &log->stages[PMD_STALL_NOT_CAUGHT];
    uint64_t count = 0;

    printf("stalls of more than %d us:\n  %-12s %10s %14s %12s\n", STALL_US,
           "stage", "count", "total us", "longest us");
    for (size_t i = 0; i <= PMD_N_STAGES; i++) {
        const struct pmd_stall_figures *f = &log->stages[i];

        count += f->count;
        if (f->count) {
            printf("  %-12s %10"PRIu64" %14"PRIu64" %12"PRIu64"\n",
                   pmd_stage_name(i), f->count, f->total_us, f->longest_us);
        }
    }
    printf("%"PRIu64" in all, %"PRIu64" of them (%.2f %%) without a name, "
           "%"PRIu64" of these while the machine stood still for %d us or "
           "more; the witness was at most %"PRIu64" us late\n",
           count, unnamed->count, count ? 100.0 * unnamed->count / count : 0,
           log->n_excused, STALL_US - 2 * LOOK_US, log->longest_late_us);
    if (log->n_lost) {
        fail(log, "the stall recorder lost %"PRIu64" stalls", log->n_lost);
    }
}

void
stall_log_start(struct stall_log *log, struct dp_driver *driver,
                bool verbose)
{
    char value[16];

    memset(log, 0, sizeof *log);
    log->driver = driver;
    log->verbose = verbose;
    atomic_init(&log->stop, false);
    atomic_init(&log->late_us, 0);
    snprintf(value, sizeof value, "%d", STALL_US);
    dp_driver_set(driver, "pmd-stall-threshold", value);
    log->witness = ovs_thread_create("witness", witness_main, log);
}

unsigned int
stall_log_stop(struct stall_log *log)
{
    stall_log_collect(log);
    atomic_store_relaxed(&log->stop, true);
    xpthread_join(log->witness, NULL);
    report(log);
    return log->n_errors;
}
