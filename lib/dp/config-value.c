/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>
#include "dp/config-value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "openvswitch/ofp-parse.h"
#include "ovs-numa.h"
#include "smap.h"
#include "sync/dp-log.h"
#include "util.h"

static struct vlog_rate_limit bad_value_rl = VLOG_RATE_LIMIT_INIT(10, 20);

bool
config_bool(const struct smap *config, const char *who, const char *key,
            bool def, bool current)
{
    const char *value = smap_get(config, key);

    if (!value) {
        return def;
    } else if (!strcasecmp(value, "true")) {
        return true;
    } else if (!strcasecmp(value, "false")) {
        return false;
    }

    VLOG_WARN_RL(&bad_value_rl,
                 "%s%s%s: '%s' is neither true nor false; it stays %s",
                 who ? who : "", who ? ": " : "", key, value,
                 current ? "true" : "false");
    return current;
}

/* Unlike the C library, takes no sign for part of a number without one. */
static bool
parse_unsigned(const char *string, int base, uint64_t *value)
{
    unsigned long long n;

    if (string[0] < '0' || string[0] > '9'
        || !str_to_ullong(string, base, &n)) {
        return false;
    }
    *value = n;
    return true;
}

uint64_t
config_number(const struct smap *config, const char *key, uint64_t def,
              uint64_t max, uint64_t fallback, enum vlog_level level)
{
    const char *string = smap_get(config, key);
    uint64_t value;

    if (!string) {
        return def;
    }
    if (parse_unsigned(string, 10, &value) && value <= max) {
        return value;
    }

    VLOG_RL(&bad_value_rl, level,
            "%s: '%s' is not a number from 0 to %"PRIu64"; using %"PRIu64,
            key, string, max, fallback);
    return fallback;
}

bool
config_size_parse(const char *string, uint32_t min, uint32_t max,
                  uint32_t *size)
{
    uint64_t value;

    if (!parse_unsigned(string, 10, &value)
        || (value && (!is_pow2(value) || value < min || value > max))) {
        return false;
    }
    *size = value;
    return true;
}

static void
sleep_list_set(struct sleep_list *list, unsigned core_id, uint64_t us)
{
    struct sleep_list_core *core = list->cores;

    while (core < list->cores + list->n_cores && core->core_id != core_id) {
        core++;
    }
    if (core == list->cores + list->n_cores) {
        list->cores = xrealloc(list->cores,
                               (list->n_cores + 1) * sizeof *list->cores);
        core = &list->cores[list->n_cores++];
        core->core_id = core_id;
    }
    core->us = us;
}

size_t
sleep_list_parse(struct sleep_list *list, const char *string)
{
    char *copy = xstrdup(string ? string : "");
    char *rest = copy, *key, *value;
    size_t n_bad = 0;

    memset(list, 0, sizeof *list);
    while (ofputil_parse_key_value(&rest, &key, &value)) {
        uint64_t core_id, us;

        if (!value[0]) {
            /* A number alone is the time for all that have none. */
            if (parse_unsigned(key, 0, &us)) {
                list->default_us = MIN(us, SLEEP_LIST_MAX_US);
            } else {
                n_bad++;
            }
        } else if (parse_unsigned(key, 0, &core_id) && core_id < UINT_MAX
                   && parse_unsigned(value, 0, &us)) {
            sleep_list_set(list, core_id, MIN(us, SLEEP_LIST_MAX_US));
        } else {
            n_bad++;
        }
    }
    free(copy);
    return n_bad;
}

void
sleep_list_destroy(struct sleep_list *list)
{
    free(list->cores);
}

uint64_t
sleep_list_get(const struct sleep_list *list, unsigned core_id)
{
    for (size_t i = 0; i < list->n_cores; i++) {
        if (list->cores[i].core_id == core_id) {
            return list->cores[i].us;
        }
    }
    return list->default_us;
}

int
rxq_affinity_parse(const char *string, unsigned *cores, size_t n)
{
    char *copy = xstrdup(string ? string : "");
    char *rest = copy, *key, *value;
    int error = 0;

    for (size_t i = 0; i < n; i++) {
        cores[i] = OVS_CORE_UNSPEC;
    }
    while (!error && ofputil_parse_key_value(&rest, &key, &value)) {
        uint64_t queue, core;

        if (!parse_unsigned(key, 0, &queue) || queue > INT_MAX
            || !parse_unsigned(value, 0, &core) || core > INT_MAX) {
            error = EINVAL;
        } else if (queue < n) {
            cores[queue] = core;
        }
    }
    free(copy);
    return error;
}
