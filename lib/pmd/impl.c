/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/impl.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/vlog.h"
#include "ovs-thread.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(dpif_netdev_impl);

/* Lookup passes. */

static const struct pmd_input_impl input_impls[] = {
    { "auto", NULL },
    { "plain", lookup_pass_plain },
    { "interleaved", lookup_pass_interleaved },
    { "dpif_scalar", lookup_pass_plain }, /* As Open vSwitch calls its own. */
};

/* What new threads start with.  Relaxed: it points to constants. */
static ATOMIC(const struct pmd_input_impl *) input_default = &input_impls[0];

const struct pmd_input_impl *
pmd_input_impl_list(size_t *n)
{
    *n = ARRAY_SIZE(input_impls);
    return input_impls;
}

const struct pmd_input_impl *
pmd_input_impl_by_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(input_impls); i++) {
        if (!strcmp(input_impls[i].name, name)) {
            return &input_impls[i];
        }
    }
    return NULL;
}

/* Returns what WEFT_DPIF_IMPL asks for, or null. */
static const struct pmd_input_impl *
input_impl_from_environment(void)
{
    const char *name = getenv("WEFT_DPIF_IMPL");
    const struct pmd_input_impl *impl = NULL;

    if (name && name[0]) {
        impl = pmd_input_impl_by_name(name);
        if (!impl) {
            VLOG_WARN("WEFT_DPIF_IMPL: '%s' is not a DPIF implementation, "
                      "ignored", name);
        }
    }
    return impl;
}

const struct pmd_input_impl *
pmd_input_impl_default(void)
{
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;
    const struct pmd_input_impl *impl;

    if (ovsthread_once_start(&once)) {
        impl = input_impl_from_environment();
        if (impl) {
            pmd_input_impl_set_default(impl);
        }
        atomic_read_relaxed(&input_default, &impl);
        VLOG_INFO("Default DPIF implementation is %s.", impl->name);
        ovsthread_once_done(&once);
    }
    atomic_read_relaxed(&input_default, &impl);
    return impl;
}

void
pmd_input_impl_set_default(const struct pmd_input_impl *impl)
{
    atomic_store_relaxed(&input_default, impl);
}

/* Subtable lookups. */

static struct pmd_subtable_impl subtable_impls[] = {
    { .name = "autovalidator", .validate = true, .prio = 0 },
    { .name = "generic", .validate = false, .prio = 1 },
};

struct pmd_subtable_impl *
pmd_subtable_impl_list(size_t *n)
{
    *n = ARRAY_SIZE(subtable_impls);
    return subtable_impls;
}

struct pmd_subtable_impl *
pmd_subtable_impl_by_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(subtable_impls); i++) {
        if (!strcmp(subtable_impls[i].name, name)) {
            return &subtable_impls[i];
        }
    }
    return NULL;
}

const struct pmd_subtable_impl *
pmd_subtable_impl_in_use(void)
{
    const struct pmd_subtable_impl *best = NULL;
    int best_prio = -1;

    for (size_t i = 0; i < ARRAY_SIZE(subtable_impls); i++) {
        uint8_t prio;

        atomic_read_relaxed(&subtable_impls[i].prio, &prio);
        if (prio > best_prio) {
            best_prio = prio;
            best = &subtable_impls[i];
        }
    }
    return best;
}
