/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "dp/commands.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#if defined(HAVE_UNWIND) && (defined(__x86_64__) || defined(__aarch64__))
#define STALL_STACKS 1
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

#include "dp/dp-netdev.h"
#include "hash.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/hmap.h"
#include "ovs-numa.h"
#include "pmd/stall.h"
#include "timeval.h"
#include "util.h"

/* Names of addresses.  The library looks through the whole symbol table of a
 * file for each, and one stack is much like another, hence the cache. */
struct symbol {
    struct hmap_node node;
    uintptr_t ip;
    char *name;
};

/* Puts function and offset of 'ip' into 'ds'.  Returns false if it is not
 * known, or no more than the function that comes next in what is left of a
 * stripped file's symbols: where a function begins the unwind tables know
 * better. */
static bool
format_function(struct ds *ds, uintptr_t ip)
{
#ifdef STALL_STACKS
    unw_context_t context;
    unw_proc_info_t info;
    unw_cursor_t cursor;
    unw_word_t offset;
    char name[128];

    if (!unw_getcontext(&context)
        && !unw_init_local2(&cursor, &context, UNW_INIT_SIGNAL_FRAME)
        && !unw_set_reg(&cursor, UNW_REG_IP, ip)
        && !unw_get_proc_name(&cursor, name, sizeof name, &offset)
        && !unw_get_proc_info(&cursor, &info)
        && info.start_ip == ip - offset) {
        ds_put_format(ds, "%s+0x%"PRIx64, name, (uint64_t) offset);
        return true;
    }
#endif
    return false;
}

static void
format_address(struct ds *ds, uintptr_t ip)
{
    Dl_info info;

    if (format_function(ds, ip)) {
        return;
    }
    if (dladdr((void *) ip, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');

        ds_put_format(ds, "%s+0x%"PRIxPTR,
                      slash ? slash + 1 : info.dli_fname,
                      ip - (uintptr_t) info.dli_fbase);
    } else {
        ds_put_format(ds, "0x%"PRIxPTR, ip);
    }
}

static const char *
symbol_name(struct hmap *symbols, uintptr_t ip)
{
    uint32_t hash = hash_uint64(ip);
    struct ds ds = DS_EMPTY_INITIALIZER;
    struct symbol *symbol;

    HMAP_FOR_EACH_WITH_HASH (symbol, node, hash, symbols) {
        if (symbol->ip == ip) {
            return symbol->name;
        }
    }
    format_address(&ds, ip);
    symbol = xmalloc(sizeof *symbol);
    symbol->ip = ip;
    symbol->name = ds_steal_cstr(&ds);
    hmap_insert(symbols, &symbol->node, hash);
    return symbol->name;
}

static void
free_symbols(struct hmap *symbols)
{
    struct symbol *symbol;

    HMAP_FOR_EACH_POP (symbol, node, symbols) {
        free(symbol->name);
        free(symbol);
    }
    hmap_destroy(symbols);
}

/* pmd-stall-show. */

static void
show_header(struct ds *reply, const struct dp_netdev *dp)
{
    if (dp->stall_threshold) {
        ds_put_format(reply, "Stall recorder: on, threshold %"PRIu64" us%s\n",
                      dp->stall_threshold,
                      (pmd_stall_has_stacks() ? ""
                       : "; stacks need a build with libunwind"));
    } else {
        ds_put_cstr(reply, "Stall recorder: off; "
                    "other_config:pmd-stall-threshold=MICROSECONDS switches "
                    "it on\n");
    }
}

static void
format_figures(struct ds *reply, const struct pmd_stall_report *report)
{
    bool any = false;

    for (size_t i = 0; i < ARRAY_SIZE(report->stages); i++) {
        const struct pmd_stall_figures *f = &report->stages[i];

        if (!f->count) {
            continue;
        }
        if (!any) {
            ds_put_format(reply, "  %-12s %10s %14s %12s\n", "stage", "count",
                          "total us", "longest us");
        }
        any = true;
        ds_put_format(reply, "  %-12s %10"PRIu64" %14"PRIu64" %12"PRIu64"\n",
                      pmd_stage_name(i), f->count, f->total_us,
                      f->longest_us);
    }
    if (report->n_lost) {
        ds_put_format(reply, "  lost         %10"PRIu64"\n", report->n_lost);
    }
    if (!any) {
        ds_put_cstr(reply, "  no stalls\n");
    }
}

/* What the thread did instead, if it was not busy. */
static void
format_state(struct ds *reply, const struct pmd_stall_record *record)
{
    if (record->state != 'R' && record->state != '?') {
        ds_put_format(reply, ", blocked (state %c)", record->state);
    }
    if (record->waited_us > 0) {
        ds_put_format(reply, ", off the processor for %"PRId64" us",
                      record->waited_us);
    }
}

static void
format_record(struct ds *reply, const struct pmd_stall_record *record,
              struct hmap *symbols)
{
    const struct pmd_stall_stack *stack = &record->stack;
    char *time = xastrftime_msec("%Y-%m-%d %H:%M:%S.###", record->started,
                                 true);

    ds_put_format(reply, "  %s %s: %"PRIu64" us%s", time,
                  pmd_stage_name(record->stage), record->us,
                  record->ended ? "" : " and still stuck");
    format_state(reply, record);
    ds_put_char(reply, '\n');
    for (size_t i = 0; i < stack->n; i++) {
        /* A return address may be that of the next function: what counts is
         * the call before it. */
        uintptr_t ip = stack->ip[i] - (i > 0);

        ds_put_format(reply, "    %s\n", symbol_name(symbols, ip));
    }
    if (!stack->n && record->ended && pmd_stall_has_stacks()) {
        ds_put_cstr(reply, "    (over before its stack could be recorded)\n");
    }
    free(time);
}

static void
show_stalls(struct ds *reply, struct pmd_thread *pmd)
{
    struct hmap symbols = HMAP_INITIALIZER(&symbols);
    struct pmd_stall_report *report;

    if (pmd->core_id == NON_PMD_CORE_ID) {
        return;
    }
    report = xmalloc(sizeof *report);
    pmd_stall_read(pmd, report);
    dp_cmd_format_heading(reply, pmd);
    format_figures(reply, report);
    for (size_t i = 0; i < report->n_records; i++) {
        format_record(reply, &report->records[i], &symbols);
    }
    free(report);
    free_symbols(&symbols);
}

void
dp_cmd_pmd_stall_show(struct unixctl_conn *conn, int argc,
                      const char *argv[], void *aux OVS_UNUSED)
{
    dp_cmd_for_each_pmd(conn, argc, argv, show_header, show_stalls);
}

static void
clear_stalls(struct ds *reply OVS_UNUSED, struct pmd_thread *pmd)
{
    pmd_stall_clear(pmd);
}

void
dp_cmd_pmd_stall_clear(struct unixctl_conn *conn, int argc,
                       const char *argv[], void *aux OVS_UNUSED)
{
    dp_cmd_for_each_pmd(conn, argc, argv, NULL, clear_stalls);
}
