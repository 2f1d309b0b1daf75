/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "bench/dp-driver.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "coverage.h"
#include "fatal-signal.h"
#include "flow.h"
#include "jsonrpc.h"
#include "latch.h"
#include "netdev.h"
#include "odp-execute.h"
#include "odp-util.h"
#include "openvswitch/json.h"
#include "openvswitch/ofpbuf.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "ovs-numa.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "bench/synthetic-netdev.h"
#include "bench/turns.h"
#include "timeval.h"
#include "unixctl.h"
#include "util.h"

static const char *
temporary_directory(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && *dir ? dir : "/tmp";
}

void
dp_driver_open(struct dp_driver *d, const char *program)
{
    char *path;
    int error;

    set_program_name(program);
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);
    vlog_set_levels(NULL, VLF_CONSOLE, VLL_WARN);
    if (vlog_module_from_name("timeval")) {
        /* A million flow puts in a row are an "unreasonably long poll". */
        vlog_set_levels(vlog_module_from_name("timeval"), VLF_CONSOLE,
                        VLL_ERR);
    }
    signal(SIGPIPE, SIG_IGN);
    fatal_signal_init();
    coverage_init();
    ovs_numa_init();
    odp_execute_init();
    synthetic_register();

    path = xasprintf("%s/%s.%ld.ctl", temporary_directory(), program_name,
                     (long int) getpid());
    error = unixctl_server_create(path, &d->unixctl);
    if (error) {
        ovs_fatal(error, "%s: cannot create control socket", path);
    }
    free(path);

    error = dpif_create_and_open("bench", "netdev", &d->dpif);
    if (error) {
        ovs_fatal(error, "cannot create a datapath of type netdev");
    }
    smap_init(&d->config);
}

void
dp_driver_close(struct dp_driver *d)
{
    dpif_delete(d->dpif);
    dpif_close(d->dpif);
    unixctl_server_destroy(d->unixctl);
    smap_destroy(&d->config);
    synthetic_drain_pool();
}

void
dp_driver_set(struct dp_driver *d, const char *key, const char *value)
{
    int error;

    if (value) {
        smap_replace(&d->config, key, value);
    } else {
        smap_remove(&d->config, key);
    }
    error = dpif_set_config(d->dpif, &d->config);
    if (error) {
        ovs_fatal(error, "datapath refuses %s=%s", key, value ? value : "");
    }
    dp_driver_run(d, 0);
}

void
dp_driver_configure(struct dp_driver *driver, const char *const config[],
                    size_t n, const char *impl)
{
    for (size_t i = 0; i < n; i++) {
        const char *assign = strchr(config[i], '=');
        char *key = xmemdup0(config[i], assign - config[i]);

        dp_driver_set(driver, key, assign + 1);
        free(key);
    }
    if (impl) {
        const char *argv[] = { "dpif-netdev/dpif-impl-set", impl, NULL };
        char *error, *reply = dp_driver_appctl(driver, argv, &error);

        if (!reply) {
            ovs_fatal(0, "dpif-impl-set %s: %s", impl, error);
        }
        free(reply);
    }
}

void
dp_driver_run(struct dp_driver *d, long long int msec)
{
    long long int end = time_msec() + msec;

    do {
        dpif_run(d->dpif);
        netdev_run();
        unixctl_server_run(d->unixctl);

        if (msec) {
            unixctl_server_wait(d->unixctl);
            poll_timer_wait_until(MIN(end, time_msec() + 100));
        } else {
            poll_immediate_wake();
        }
        poll_block();
    } while (time_msec() < end);
}

odp_port_t
dp_driver_add_port(struct dp_driver *d, struct netdev *netdev)
{
    odp_port_t port_no = ODPP_NONE;
    int error = dpif_port_add(d->dpif, netdev, &port_no);

    if (error) {
        ovs_fatal(error, "%s: cannot add port", netdev_get_name(netdev));
    }
    return port_no;
}

/* ovs-appctl. */

struct appctl_call {
    const char *path;
    const char *const *argv;
    int argc;
    int error;
    struct json *reply, *failure;
    struct latch done;          /* Set by the client's thread at its end. */
};

static void *
appctl_client(void *call_)
{
    struct appctl_call *call = call_;
    struct jsonrpc *client;

    call->error = unixctl_client_create(call->path, &client);
    if (!call->error) {
        char **args = (char **) (call->argv + 1);

        call->error = unixctl_client_transact(client, call->argv[0],
                                              call->argc - 1, args,
                                              &call->reply, &call->failure);
        jsonrpc_close(client);
    }
    latch_set(&call->done);
    return NULL;
}

static char *
json_to_text(const struct json *json)
{
    return (json->type == JSON_STRING ? xstrdup(json_string(json))
            : json_to_string(json, 0));
}

char *
dp_driver_appctl(struct dp_driver *d, const char *const argv[], char **error)
{
    struct appctl_call call = {
        .path = unixctl_server_get_path(d->unixctl),
        .argv = argv,
    };
    char *reply = NULL, *failure = NULL;
    pthread_t thread;

    while (argv[call.argc]) {
        call.argc++;
    }
    latch_init(&call.done);

    thread = ovs_thread_create("appctl", appctl_client, &call);
    while (!latch_is_set(&call.done)) {
        unixctl_server_run(d->unixctl);
        unixctl_server_wait(d->unixctl);
        latch_wait(&call.done);
        poll_block();
    }
    xpthread_join(thread, NULL);
    latch_destroy(&call.done);
    unixctl_server_run(d->unixctl);

    if (call.error) {
        failure = xasprintf("%s: %s", argv[0], ovs_strerror(call.error));
    } else if (call.failure) {
        failure = json_to_text(call.failure);
    } else if (call.reply) {
        reply = json_to_text(call.reply);
    }
    json_destroy(call.reply);
    json_destroy(call.failure);

    if (error) {
        *error = failure;
    } else {
        free(failure);
    }
    return reply;
}

double
dp_driver_stat(const char *stats, unsigned int core, const char *label)
{
    char *thread = xasprintf("core_id %u:", core);
    const char *part = stats ? strstr(stats, thread) : NULL;
    double value = -1;

    if (part) {
        const char *next = strstr(part + 1, "\npmd thread");
        const char *main_part = strstr(part + 1, "\nmain thread");
        const char *found = strstr(part, label);

        if (main_part && (!next || main_part < next)) {
            next = main_part;
        }
        if (found && (!next || found < next)) {
            value = strtod(found + strlen(label), NULL);
        }
    }
    free(thread);
    return value;
}

/* Other things. */

char *
dp_driver_coverage(struct dp_driver *d)
{
    const char *argv[] = { "coverage/show", NULL };

    return dp_driver_appctl(d, argv, NULL);
}

uint64_t
dp_driver_coverage_sum(const char *text, const char *prefix)
{
    uint64_t sum = 0;

    for (const char *line = text; line; ) {
        const char *end = strchr(line, '\n');
        const char *total = strstr(line, "total:");

        if (!strncmp(line, prefix, strlen(prefix))
            && total && (!end || total < end)) {
            sum += strtoull(total + strlen("total:"), NULL, 10);
        }
        line = end ? end + 1 : NULL;
    }
    return sum;
}

void
dp_driver_encode(const struct flow *flow, const struct flow_wildcards *wc,
                 struct ofpbuf *key, struct ofpbuf *mask)
{
    struct odp_flow_key_parms parms = {
        .flow = flow,
        .mask = &wc->masks,
        .support = {
            .max_vlan_headers = FLOW_MAX_VLAN_HEADERS,
            .max_mpls_depth = FLOW_MAX_MPLS_LABELS,
            .recirc = true,
            .ct_state = true,
            .ct_zone = true,
            .ct_mark = true,
            .ct_label = true,
            .ct_state_nat = true,
            .ct_orig_tuple = true,
            .ct_orig_tuple6 = true,
        },
    };

    odp_flow_key_from_flow(&parms, key);
    parms.key_buf = key;
    odp_flow_key_from_mask(&parms, mask);
}

uint64_t
dp_driver_memory(void)
{
    uint64_t total = 0;
    char line[256];
    FILE *f;

    malloc_trim(0);
    f = fopen("/proc/self/smaps_rollup", "r");
    if (!f) {
        ovs_fatal(errno, "/proc/self/smaps_rollup: cannot open");
    }
    while (fgets(line, sizeof line, f)) {
        uint64_t kb;

        if (ovs_scan(line, "Rss: %"SCNu64, &kb)
            || ovs_scan(line, "Private_Hugetlb: %"SCNu64, &kb)
            || ovs_scan(line, "Shared_Hugetlb: %"SCNu64, &kb)) {
            total += kb * 1024;
        }
    }
    fclose(f);
    return total;
}

/* Returns whether the thread in /proc/self/task/'tid' has 'prefix' as the
 * beginning of its name. */
static bool
thread_is_named(const char *tid, const char *prefix)
{
    char *path = xasprintf("/proc/self/task/%s/comm", tid);
    char name[32] = "";
    FILE *f = fopen(path, "r");

    free(path);
    if (f) {
        ignore(fgets(name, sizeof name, f));
        fclose(f);
    }
    return !strncmp(name, prefix, strlen(prefix));
}

double
dp_driver_pmd_cpu(unsigned int core)
{
    char prefix[16];
    double seconds = -1;
    struct dirent *de;
    DIR *dir;

    snprintf(prefix, sizeof prefix, "pmd-c%02u/", core);
    dir = opendir("/proc/self/task");
    while (dir && (de = readdir(dir)) != NULL) {
        if (thread_is_named(de->d_name, prefix)) {
            char *path = xasprintf("/proc/self/task/%s/schedstat",
                                   de->d_name);
            FILE *f = fopen(path, "r");
            uint64_t ns;

            if (f && fscanf(f, "%"SCNu64, &ns) == 1) {
                seconds = ns * 1e-9;
            }
            if (f) {
                fclose(f);
            }
            free(path);
            break;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return seconds;
}

bool
dp_driver_pin(unsigned int core)
{
    return turns_pin(core);
}
