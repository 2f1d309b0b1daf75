/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/dp-netdev.h"

#include <inttypes.h>
#include <stdlib.h>

#include "dp/config-value.h"
#include "smap.h"
#include "sync/dp-log.h"

static void
log_sleep(const struct pmd_thread *pmd)
{
    if (pmd->core_id != NON_PMD_CORE_ID) {
        uint64_t us;

        atomic_read_relaxed(&CONST_CAST(struct pmd_thread *, pmd)->max_sleep,
                            &us);
        VLOG_INFO("PMD thread on numa_id: %d, core id: %2u, "
                  "max sleep: %4"PRIu64" us.",
                  pmd->numa_id, pmd->core_id, us);
    }
}

static void
log_all_sleeps(struct dp_netdev *dp)
{
    struct pmd_thread **pmds;
    size_t n;

    VLOG_INFO("Default PMD thread max sleep: %4"PRIu64" us.",
              dp->max_sleep_default);
    pmds = dp_netdev_sorted_pmds(dp, &n);
    for (size_t i = 0; i < n; i++) {
        log_sleep(pmds[i]);
    }
    free(pmds);
}

/* Reads the list that is in force.  The caller destroys it. */
static void
read_list(const struct dp_netdev *dp, struct sleep_list *list)
{
    sleep_list_parse(list, dp->max_sleep_list);
    list->default_us = dp->max_sleep_default;
}

void
dp_netdev_init_pmd_sleep(struct dp_netdev *dp, struct pmd_thread *pmd)
{
    struct sleep_list list;

    read_list(dp, &list);
    atomic_init(&pmd->max_sleep, sleep_list_get(&list, pmd->core_id));
    sleep_list_destroy(&list);
    log_sleep(pmd);
}

/* Tells the threads their times.  Returns true if that changes any. */
static bool
apply_list(struct dp_netdev *dp)
{
    struct pmd_thread *pmd;
    struct sleep_list list;
    bool changed = false;

    read_list(dp, &list);
    CMAP_FOR_EACH (pmd, node, &dp->poll_threads) {
        uint64_t old, new = sleep_list_get(&list, pmd->core_id);

        if (pmd->core_id == NON_PMD_CORE_ID) {
            continue;
        }
        atomic_read_relaxed(&pmd->max_sleep, &old);
        if (old != new) {
            atomic_store_relaxed(&pmd->max_sleep, new);
            changed = true;
        }
    }
    sleep_list_destroy(&list);
    return changed;
}

/* The default time that 'config', in which the list is 'list_string', asks
 * for. */
static uint64_t
configured_default(const struct smap *config, const char *list_string)
{
    struct sleep_list list;
    uint64_t us;

    if (!list_string) {
        us = smap_get_ullong(config, "pmd-maxsleep", UINT64_MAX);
        if (us == UINT64_MAX) {
            return 0;
        }
        VLOG_WARN_ONCE("pmd-maxsleep is deprecated. "
                       "Please use pmd-sleep-max instead.");
        return MIN(us, SLEEP_LIST_MAX_US);
    }

    size_t n_bad = sleep_list_parse(&list, list_string);

    if (n_bad) {
        VLOG_INFO("pmd-sleep-max: '%s' has %"PRIuSIZE" elements that are "
                  "neither a time nor a core and a time; they are ignored.",
                  list_string, n_bad);
    }
    us = list.default_us;
    sleep_list_destroy(&list);
    return us;
}

void
dp_netdev_set_sleep_config(struct dp_netdev *dp, const struct smap *config)
{
    const char *list_string = smap_get(config, "pmd-sleep-max");
    bool same_list = nullable_string_is_equal(list_string,
                                              dp->max_sleep_list);
    bool changed = false;

    if (!same_list || !list_string) {
        uint64_t us = configured_default(config, list_string);

        if (!same_list) {
            free(dp->max_sleep_list);
            dp->max_sleep_list = nullable_xstrdup(list_string);
        }
        changed = us != dp->max_sleep_default;
        dp->max_sleep_default = us;
        changed |= apply_list(dp);
    }
    if (changed || !dp->configured) {
        log_all_sleeps(dp);
    }
}
