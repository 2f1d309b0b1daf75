/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_DP_CONFIG_VALUE_H
#define WEFT_DP_CONFIG_VALUE_H 1

/* Reading configuration values.
 *
 * A value that cannot be taken must not change anything, and must not pass
 * silently either: the readers here say in the log which key has which value,
 * and return what the caller names as the state in force.  A key that is
 * absent means its default.
 *
 * A configuration is read again at every change of the database, so that the
 * messages are rate limited.
 *
 * Thread-safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openvswitch/vlog.h"

struct smap;

/* "true" or "false".  'who' is put in front of the key in the log: the name of
 * a port, or null. */
bool config_bool(const struct smap *, const char *who, const char *key,
                 bool def, bool current);

/* A decimal number from 0 to 'max'.  Returns 'fallback' for anything else, and
 * logs that at 'level'. */
uint64_t config_number(const struct smap *, const char *key, uint64_t def,
                       uint64_t max, uint64_t fallback,
                       enum vlog_level level);

/* The size of a table: stores to '*size' what 'string' says, which is 0 or a
 * power of two from 'min' to 'max' in decimal.  Returns false, and leaves
 * '*size' alone, if it says anything else. */
bool config_size_parse(const char *string, uint32_t min, uint32_t max,
                       uint32_t *size);

/* "pmd-sleep-max": how long threads may sleep in an iteration, in us.
 *
 *     "50"            every thread: 50
 *     "50,3:300,5:0"  core 3: 300, core 5: none, all others: 50 */
struct sleep_list {
    uint64_t default_us;
    struct sleep_list_core {
        unsigned core_id;
        uint64_t us;
    } *cores;
    size_t n_cores;
};

/* The longest sleep there is; what is longer is cut. */
enum { SLEEP_LIST_MAX_US = 10000 };

/* Reads 'string', which may be null.  Elements that make no sense are left
 * out, and of several for the same core the last one counts.  Returns the
 * number of elements left out.  The caller destroys 'list'. */
size_t sleep_list_parse(struct sleep_list *list, const char *string);
void sleep_list_destroy(struct sleep_list *list);
uint64_t sleep_list_get(const struct sleep_list *list, unsigned core_id);

/* "pmd-rxq-affinity": "queue:core,...".  Stores to cores[i] the core of queue
 * i, OVS_CORE_UNSPEC if it has none, for i < n.  'string' may be null, queues
 * from n on are ignored.  Returns 0, or EINVAL if 'string' cannot be read, in
 * which case 'cores' is of no meaning. */
int rxq_affinity_parse(const char *string, unsigned *cores, size_t n);

#endif /* dp/config-value.h */
