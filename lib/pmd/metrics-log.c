/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/metrics.h"

#include <inttypes.h>

#include "compiler.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/vlog.h"
#include "pmd/perf.h"
#include "unixctl.h"
#include "util.h"

#define this_module pmd_perf_log_module

struct vlog_module pmd_perf_log_module = {
    .list = OVS_LIST_INITIALIZER(&pmd_perf_log_module.list),
    .name = "pmd_perf",
    .levels = { VLL_INFO, VLL_INFO, VLL_INFO },
    .min_level = VLL_INFO,
    .honor_rate_limits = true,
};

OVS_CONSTRUCTOR(pmd_perf_log_register)
{
    vlog_insert_module(&pmd_perf_log_module.list);
}

static struct vlog_rate_limit slow_rl = VLOG_RATE_LIMIT_INIT(600, 600);

enum {
    DEFAULT_NEIGHBORS = 5,      /* Iterations logged on each side. */
    DEFAULT_US = 250,           /* An iteration may take so long. */
    DEFAULT_QLEN = 128,         /* A vhost queue may become so long. */
    MAX_NEIGHBORS = PMD_HISTORY_LEN - 2, /* Of both sides. */

    /* A log of more iterations than this is given once. */
    LARGE_LOG = 100
};

/* What the user wants.  Set by the command (but for the fallback after a large
 * log), read by all threads.  Relaxed: each for itself. */
static atomic_bool log_on = false;
static atomic_bool log_extend = false;
static atomic_uint32_t log_before = DEFAULT_NEIGHBORS;
static atomic_uint32_t log_after = DEFAULT_NEIGHBORS;
static atomic_uint32_t log_us = DEFAULT_US;
static atomic_uint32_t log_qlen = DEFAULT_QLEN;

struct log_settings {
    bool on;
    bool extend;
    uint32_t before;
    uint32_t after;
    uint32_t us;
    uint32_t qlen;
};

static void
log_settings_load(struct log_settings *s)
{
    atomic_read_relaxed(&log_on, &s->on);
    atomic_read_relaxed(&log_extend, &s->extend);
    atomic_read_relaxed(&log_before, &s->before);
    atomic_read_relaxed(&log_after, &s->after);
    atomic_read_relaxed(&log_us, &s->us);
    atomic_read_relaxed(&log_qlen, &s->qlen);
}

static void
log_settings_store(const struct log_settings *s)
{
    atomic_store_relaxed(&log_extend, s->extend);
    atomic_store_relaxed(&log_before, s->before);
    atomic_store_relaxed(&log_after, s->after);
    atomic_store_relaxed(&log_us, s->us);
    atomic_store_relaxed(&log_qlen, s->qlen);
    atomic_store_relaxed(&log_on, s->on);
}

/* Reads the options of the command into 's', which has those in force.
 * Returns false if there is something in them that cannot be understood. */
static bool
log_settings_parse(struct log_settings *s, int argc, const char *argv[])
{
    const struct {
        const char *name;
        bool *flag;
        bool value;
    } flags[] = {
        { "on", &s->on, true },
        { "off", &s->on, false },
        { "-e", &s->extend, true },
        { "-ne", &s->extend, false },
    };
    const struct {
        const char *name;
        uint32_t *number;
    } numbers[] = {
        { "-b", &s->before },
        { "-a", &s->after },
        { "-us", &s->us },
        { "-q", &s->qlen },
    };

    for (int i = 1; i < argc; i++) {
        bool known = false;

        for (size_t j = 0; j < ARRAY_SIZE(flags); j++) {
            if (!strcmp(argv[i], flags[j].name)) {
                *flags[j].flag = flags[j].value;
                known = true;
            }
        }
        for (size_t j = 0; j < ARRAY_SIZE(numbers) && !known; j++) {
            if (!strcmp(argv[i], numbers[j].name) && i + 1 < argc) {
                unsigned int value;

                if (!str_to_uint(argv[++i], 10, &value)) {
                    return false;
                }
                *numbers[j].number = value;
                known = true;
            }
        }
        if (!known) {
            return false;
        }
    }
    s->before = MIN(s->before, MAX_NEIGHBORS);
    s->after = MIN(s->after, MAX_NEIGHBORS - s->before);
    return true;
}

bool
pmd_metrics_log_set(int argc, const char *argv[])
{
    struct log_settings s;

    log_settings_load(&s);
    if (!log_settings_parse(&s, argc, argv)) {
        return false;
    }
    log_settings_store(&s);
    VLOG_INFO("pmd-perf-log-set: %s, before=%"PRIu32", after=%"PRIu32", "
              "extend=%s, us_thr=%"PRIu32", q_thr=%"PRIu32"\n",
              s.on ? "on" : "off", s.before, s.after,
              s.extend ? "true" : "false", s.us, s.qlen);
    return true;
}

void
pmd_metrics_log_command(struct unixctl_conn *conn, int argc,
                        const char *argv[], void *aux OVS_UNUSED)
{
    if (pmd_metrics_log_set(argc, argv)) {
        unixctl_command_reply(conn, "");
    } else {
        unixctl_command_reply_error(
            conn, "Usage: ovs-appctl dpif-netdev/pmd-perf-log-set "
            "[on|off] [-b before] [-a after] [-e|-ne] [-us usec] [-q qlen]");
    }
}

/* Position in the history that the running iteration will have. */
static uint64_t
next_position(const struct pmd_metrics *m)
{
    uint64_t n;

    atomic_read_relaxed(&CONST_CAST(struct pmd_metrics *, m)->iterations.n,
                        &n);
    return n;
}

static void
log_iteration(const struct pmd_metrics *m)
{
    const struct pmd_slow_log *slow = &m->slow_log;
    struct pmd_sample sample;

    pmd_history_get(&m->iterations, next_position(m) - slow->pos, &sample);
    VLOG_WARN_RL(&slow_rl, "Suspicious iteration (%s): iter=%"PRIu64
                 " duration=%"PRIu64" us\n", slow->reason,
                 sample.v[PMD_SAMPLE_STAMP],
                 1000000 * sample.v[PMD_SAMPLE_CYCLES] / pmd_perf_tsc_hz());
}

static void
log_neighborhood(struct pmd_metrics *m)
{
    uint64_t n = m->slow_log.end - m->slow_log.begin;
    struct ds ds = DS_EMPTY_INITIALIZER;

    log_iteration(m);
    pmd_metrics_format_iterations(&ds, m, n);
    VLOG_WARN_RL(&slow_rl, "Neighborhood of suspicious iteration:\n%s",
                 ds_cstr(&ds));
    ds_destroy(&ds);
    m->slow_log.reason = NULL;

    if (n > LARGE_LOG) {
        /* Writing that much makes slow iterations by itself.  Do not go on
         * in this way. */
        atomic_store_relaxed(&log_before, DEFAULT_NEIGHBORS);
        atomic_store_relaxed(&log_after, DEFAULT_NEIGHBORS);
        atomic_store_relaxed(&log_extend, false);
    }
}

/* Takes note of the running iteration.  It is logged later, when those that
 * follow it are known and the log does not disturb them any more.  Returns
 * true if an earlier one had to be logged first. */
static bool
schedule_log(struct pmd_metrics *m, const struct log_settings *s,
             const char *reason)
{
    struct pmd_slow_log *slow = &m->slow_log;
    uint64_t pos = next_position(m);
    bool logged = false;

    if (!slow->reason) {
        slow->begin = pos - MIN(pos, s->before);
        slow->end = pos + s->after + 1;
    } else if (s->extend) {
        log_iteration(m);
        logged = true;
        slow->end = MIN(pos + s->after + 1, slow->begin + PMD_HISTORY_LEN);
    } else {
        return false;
    }
    slow->reason = reason;
    slow->pos = pos;
    return logged;
}

bool
pmd_metrics_log_run(struct pmd_metrics *m)
{
    const char *reason = NULL;
    struct log_settings s;
    bool logged = false;

    atomic_read_relaxed(&log_on, &s.on);
    if (OVS_LIKELY(!s.on)) {
        return false;
    }
    log_settings_load(&s);

    if (m->slow_log.reason && next_position(m) >= m->slow_log.end) {
        log_neighborhood(m);
        logged = true;
    }
    if (m->current.v[PMD_SAMPLE_CYCLES]
        > s.us * pmd_perf_tsc_hz() / 1000000) {
        reason = "Excessive total cycles";
    } else if (m->current.v[PMD_SAMPLE_VHOST_FILL] >= s.qlen) {
        reason = "Vhost RX queue full";
    }
    if (reason) {
        logged |= schedule_log(m, &s, reason);
    }
    return logged;
}
