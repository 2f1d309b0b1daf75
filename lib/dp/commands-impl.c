/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "dp/commands.h"

#include <inttypes.h>

#include "dp/dp-netdev.h"
#include "dpdk.h"
#include "openvswitch/dynamic-string.h"
#include "pmd/impl.h"
#include "sync/dp-log.h"
#include "table/dp-classifier.h"
#include "unixctl.h"
#include "util.h"

/* Logs 'reply', as an error if 'ok' is false, and replies with it. */
static void
reply_and_log(struct unixctl_conn *conn, struct ds *reply, bool ok)
{
    VLOG(ok ? VLL_INFO : VLL_ERR, "%s", ds_cstr(reply));
    dp_cmd_reply(conn, reply, ok);
}

/* Calls 'visit' for every thread of every datapath but those with the core id
 * NON_PMD_CORE_ID, in the order of their cores.  'core_id' selects one core,
 * NON_PMD_CORE_ID all.  Returns the number of threads. */
static size_t
visit_pmds(unsigned int core_id,
           void (*visit)(struct pmd_thread *, const void *aux),
           const void *aux)
{
    struct shash_node *node;
    size_t n_visited = 0;

    ovs_mutex_lock(&dp_netdev_mutex);
    SHASH_FOR_EACH (node, &dp_netdevs) {
        size_t n;
        struct pmd_thread **pmds = dp_netdev_sorted_pmds(node->data, &n);

        for (size_t i = 0; i < n; i++) {
            if (pmds[i]->core_id != NON_PMD_CORE_ID
                && (core_id == NON_PMD_CORE_ID
                    || core_id == pmds[i]->core_id)) {
                visit(pmds[i], aux);
                n_visited++;
            }
        }
        free(pmds);
    }
    ovs_mutex_unlock(&dp_netdev_mutex);
    return n_visited;
}

/* Puts the cores of those threads of 'pmds' that use the implementation
 * 'impl', according to 'uses'. */
static void
put_cores(struct ds *reply, struct pmd_thread **pmds, size_t n,
          bool (*uses)(struct pmd_thread *, const void *impl),
          const void *impl)
{
    const char *separator = "";

    ds_put_cstr(reply, "pmds: ");
    for (size_t i = 0; i < n; i++) {
        if (pmds[i]->core_id != NON_PMD_CORE_ID && uses(pmds[i], impl)) {
            ds_put_format(reply, "%s%u", separator, pmds[i]->core_id);
            separator = ",";
        }
    }
    ds_put_format(reply, "%s)\n", *separator ? "" : "none");
}

/* Replies with what 'put_list' says about the threads of each datapath. */
static void
reply_for_each_dp(struct unixctl_conn *conn,
                  void (*put_list)(struct ds *, struct pmd_thread **pmds,
                                   size_t n))
{
    struct ds reply = DS_EMPTY_INITIALIZER;
    struct shash_node *node;

    ovs_mutex_lock(&dp_netdev_mutex);
    SHASH_FOR_EACH (node, &dp_netdevs) {
        size_t n;
        struct pmd_thread **pmds = dp_netdev_sorted_pmds(node->data, &n);

        put_list(&reply, pmds, n);
        free(pmds);
    }
    ovs_mutex_unlock(&dp_netdev_mutex);
    dp_cmd_reply(conn, &reply, true);
}

/* dpif-impl-get, dpif-impl-set. */

static bool
uses_input_impl(struct pmd_thread *pmd, const void *impl)
{
    const struct pmd_input_impl *used;

    atomic_read_relaxed(&pmd->input_impl, &used);
    return used == impl;
}

/* Puts what "auto" has chosen for each of 'pmds' that uses it. */
static void
put_auto_choices(struct ds *reply, struct pmd_thread **pmds, size_t n)
{
    const struct pmd_input_impl *impl = pmd_input_impl_by_name("auto");

    for (size_t i = 0; i < n; i++) {
        struct pass_choice_facts facts;

        if (pmds[i]->core_id == NON_PMD_CORE_ID
            || !uses_input_impl(pmds[i], impl)) {
            continue;
        }
        pass_choice_read(&pmds[i]->pass_choice, &facts);
        ds_put_format(reply, "    core %u: %s", pmds[i]->core_id,
                      facts.in_use == PASS_PLAIN ? "plain" : "interleaved");
        if (facts.costs[PASS_PLAIN]) {
            ds_put_format(reply, " (cycles per packet when tried last: "
                          "plain %.1f, interleaved %.1f)",
                          facts.costs[PASS_PLAIN],
                          facts.costs[PASS_INTERLEAVED]);
        }
        ds_put_char(reply, '\n');
    }
}

static void
put_input_impls(struct ds *reply, struct pmd_thread **pmds, size_t n_pmds)
{
    size_t n;
    const struct pmd_input_impl *impls = pmd_input_impl_list(&n);

    ds_put_cstr(reply, "Available DPIF implementations:\n");
    for (size_t i = 0; i < n; i++) {
        ds_put_format(reply, "  %s (", impls[i].name);
        put_cores(reply, pmds, n_pmds, uses_input_impl, &impls[i]);
        if (!impls[i].pass) {
            put_auto_choices(reply, pmds, n_pmds);
        }
    }
}

void
dp_cmd_dpif_impl_get(struct unixctl_conn *conn, int argc OVS_UNUSED,
                     const char *argv[] OVS_UNUSED, void *aux OVS_UNUSED)
{
    reply_for_each_dp(conn, put_input_impls);
}

static void
set_input_impl(struct pmd_thread *pmd, const void *impl_)
{
    const struct pmd_input_impl *impl = impl_;

    atomic_store_relaxed(&pmd->input_impl, impl);
}

void
dp_cmd_dpif_impl_set(struct unixctl_conn *conn, int argc OVS_UNUSED,
                     const char *argv[], void *aux OVS_UNUSED)
{
    const struct pmd_input_impl *impl = pmd_input_impl_by_name(argv[1]);
    struct ds reply = DS_EMPTY_INITIALIZER;

    if (impl) {
        pmd_input_impl_set_default(impl);
        visit_pmds(NON_PMD_CORE_ID, set_input_impl, impl);
        ds_put_format(&reply, "DPIF implementation set to %s.\n", argv[1]);
    } else {
        ds_put_format(&reply, "DPIF implementation not available: "
                      "Unknown DPIF implementation %s.\n", argv[1]);
    }
    reply_and_log(conn, &reply, impl != NULL);
}

/* miniflow-parser-get, miniflow-parser-set. */

static bool
uses_parse_impl(struct pmd_thread *pmd, const void *impl)
{
    const struct pmd_parse_impl *used;

    atomic_read_relaxed(&pmd->parse_impl, &used);
    return used == impl;
}

static void
put_parse_impls(struct ds *reply, struct pmd_thread **pmds, size_t n_pmds)
{
    size_t n;
    const struct pmd_parse_impl *impls = pmd_parse_impl_list(&n);

    ds_put_cstr(reply, "Available MFEX implementations:\n");
    for (size_t i = 0; i < n; i++) {
        ds_put_format(reply, "  %s (available: True ", impls[i].name);
        put_cores(reply, pmds, n_pmds, uses_parse_impl, &impls[i]);
    }
}

void
dp_cmd_parser_get(struct unixctl_conn *conn, int argc OVS_UNUSED,
                  const char *argv[] OVS_UNUSED, void *aux OVS_UNUSED)
{
    reply_for_each_dp(conn, put_parse_impls);
}

static void
set_parse_impl(struct pmd_thread *pmd, const void *impl_)
{
    const struct pmd_parse_impl *impl = impl_;

    atomic_store_relaxed(&pmd->parse_impl, impl);
}

/* Arguments of miniflow-parser-set. */
struct parser_args {
    const char *name;
    unsigned int core_id;       /* NON_PMD_CORE_ID: all. */
    unsigned int n_study;       /* 0: 'name' is not "study". */
};

/* Returns null if the arguments are good, or an error message that the caller
 * frees. */
static char *
parser_args_parse(struct parser_args *args, int argc, const char *argv[])
{
    *args = (struct parser_args) { .core_id = NON_PMD_CORE_ID };

    for (int i = 1; i < argc; i++) {
        if (!args->name && !strcmp(argv[i], "-pmd")) {
            if (++i >= argc) {
                return xstrdup("-pmd option requires a thread id "
                               "argument.\n");
            }
            if (!str_to_uint(argv[i], 10, &args->core_id)
                || args->core_id == NON_PMD_CORE_ID) {
                return xasprintf("miniflow extract parser not changed, PMD "
                                 "thread passed is not valid: '%s'. Pass a "
                                 "valid pmd thread ID.\n", argv[i]);
            }
        } else if (!args->name) {
            args->name = argv[i];
            if (!strcmp(args->name, "study")) {
                args->n_study = PMD_STUDY_DEFAULT_PACKETS;
            }
        } else if (args->n_study) {
            if (!str_to_uint(argv[i], 10, &args->n_study) || !args->n_study) {
                return xasprintf("invalid study_pkt_cnt value: %s.\n",
                                 argv[i]);
            }
        } else {
            return xasprintf("unknown argument %s.\n", argv[i]);
        }
    }
    if (!args->name) {
        return xstrdup("no miniflow extract name provided. Output of "
                       "miniflow-parser-get shows implementation list.\n");
    }
    return NULL;
}

/* Does what 'args' say.  Returns null or an error message that the caller
 * frees. */
static char *
parser_set(const struct parser_args *args)
{
    const struct pmd_parse_impl *impl = pmd_parse_impl_by_name(args->name);
    bool all = args->core_id == NON_PMD_CORE_ID;

    if (!impl) {
        return xasprintf("unknown miniflow extract implementation %s.",
                         args->name);
    }
    if (args->n_study) {
        pmd_parse_study_set_packets(args->n_study);
    }
    if (all) {
        pmd_parse_impl_set_default(impl);
    }
    if (!visit_pmds(args->core_id, set_parse_impl, impl) && !all) {
        return xasprintf("miniflow extract parser not changed, PMD thread %u "
                         "not in use, pass a valid pmd thread ID.\n",
                         args->core_id);
    }
    return NULL;
}

void
dp_cmd_parser_set(struct unixctl_conn *conn, int argc, const char *argv[],
                  void *aux OVS_UNUSED)
{
    struct ds reply = DS_EMPTY_INITIALIZER;
    struct parser_args args;
    char *error;

    error = parser_args_parse(&args, argc, argv);
    if (!error) {
        error = parser_set(&args);
    }
    if (error) {
        ds_put_format(&reply, "Error: %s", error);
        free(error);
        reply_and_log(conn, &reply, false);
        return;
    }

    ds_put_format(&reply, "Miniflow extract implementation set to %s",
                  args.name);
    if (args.core_id != NON_PMD_CORE_ID) {
        ds_put_format(&reply, ", on pmd thread %u", args.core_id);
    }
    if (args.n_study) {
        ds_put_format(&reply, ", studying %u packets", args.n_study);
    }
    ds_put_cstr(&reply, ".\n");
    reply_and_log(conn, &reply, true);
}

/* subtable-lookup-prio-get, -info-get, -prio-set. */

struct subtable_count {
    unsigned int n_classifiers; /* That have subtables. */
    unsigned int n_subtables;
};

static void
count_subtables(struct pmd_thread *pmd, struct subtable_count *count)
{
    struct dp_classifier *cls;

    ovs_mutex_lock(&pmd->flows.mutex);
    CMAP_FOR_EACH (cls, node, &pmd->flows.classifiers) {
        size_t n = pvector_count(&cls->ranked);

        count->n_classifiers += n > 0;
        count->n_subtables += n;
    }
    dp_flow_table_unlock(&pmd->flows);
}

/* Counts the subtables of all threads; of those that poll, with 'pmd_only'. */
static struct subtable_count
count_all_subtables(bool pmd_only)
{
    struct subtable_count count = { 0, 0 };
    struct shash_node *node;

    ovs_mutex_lock(&dp_netdev_mutex);
    SHASH_FOR_EACH (node, &dp_netdevs) {
        size_t n;
        struct pmd_thread **pmds = dp_netdev_sorted_pmds(node->data, &n);

        for (size_t i = 0; i < n; i++) {
            if (!pmd_only || pmds[i]->core_id != NON_PMD_CORE_ID) {
                count_subtables(pmds[i], &count);
            }
        }
        free(pmds);
    }
    ovs_mutex_unlock(&dp_netdev_mutex);
    return count;
}

void
dp_cmd_subtable_get(struct unixctl_conn *conn, int argc OVS_UNUSED,
                    const char *argv[] OVS_UNUSED, void *aux OVS_UNUSED)
{
    size_t n;
    struct pmd_subtable_impl *impls = pmd_subtable_impl_list(&n);
    unsigned int n_subtables = count_all_subtables(false).n_subtables;
    struct ds reply = DS_EMPTY_INITIALIZER;

    ds_put_cstr(&reply, "Available dpcls implementations:\n");
    for (size_t i = 0; i < n; i++) {
        bool in_use = &impls[i] == pmd_subtable_impl_in_use();
        uint8_t prio;

        atomic_read_relaxed(&impls[i].prio, &prio);
        ds_put_format(&reply, "  %s (Use count: %u, Priority: %"PRIu8")\n",
                      impls[i].name, in_use ? n_subtables : 0, prio);
    }
    dp_cmd_reply(conn, &reply, true);
}

void
dp_cmd_subtable_set(struct unixctl_conn *conn, int argc OVS_UNUSED,
                    const char *argv[], void *aux OVS_UNUSED)
{
    const struct pmd_subtable_impl *before = pmd_subtable_impl_in_use();
    struct subtable_count changed = { 0, 0 };
    struct ds reply = DS_EMPTY_INITIALIZER;
    struct pmd_subtable_impl *impl;
    unsigned int prio;

    if (!str_to_uint(argv[2], 10, &prio) || prio > UINT8_MAX) {
        unixctl_command_reply_error(conn, "error converting priority, use "
                                    "integer in range 0-255\n");
        return;
    }
    impl = pmd_subtable_impl_by_name(argv[1]);
    if (!impl) {
        unixctl_command_reply_error(conn, "error, subtable lookup function "
                                    "not found\n");
        return;
    }

    atomic_store_relaxed(&impl->prio, (uint8_t) prio);
    if (pmd_subtable_impl_in_use() != before) {
        changed = count_all_subtables(true);
    }
    ds_put_format(&reply, "Lookup priority change affected %u dpcls ports "
                  "and %u subtables.\n", changed.n_classifiers,
                  changed.n_subtables);
    reply_and_log(conn, &reply, true);
}
