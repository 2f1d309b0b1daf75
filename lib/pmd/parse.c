/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "pmd/parse.h"

#include <string.h>

#include "dp-packet.h"
#include "flow.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/vlog.h"
#include "ovs-thread.h"
#include "pmd/parse-ip.h"
#include "pmd/pmd.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(dpif_netdev_extract);

static pmd_parse_func parse_autovalidator;
static pmd_parse_func parse_ip;
static pmd_parse_func parse_nothing;

static const struct pmd_parse_impl parse_impls[] = {
    { "autovalidator", parse_autovalidator },
    { "scalar", NULL },
    { "study", pmd_parse_study },
    /* Optimized parsers follow. */
};

enum { N_GENERAL = 3 };
BUILD_ASSERT_DECL(ARRAY_SIZE(parse_impls) >= N_GENERAL);

/* What "scalar" tries first, here for the autovalidator. */
static const struct pmd_parse_impl ip_impl = { "scalar", parse_ip };

/* What a thread goes on with when validation has failed. */
static const struct pmd_parse_impl library_impl = { "library", parse_nothing };

/* What new threads start with.  Relaxed: it points to constants. */
static ATOMIC(const struct pmd_parse_impl *) parse_default = &parse_impls[1];

const struct pmd_parse_impl *
pmd_parse_impl_list(size_t *n)
{
    *n = ARRAY_SIZE(parse_impls);
    return parse_impls;
}

const struct pmd_parse_impl *
pmd_parse_optimized_list(size_t *n)
{
    *n = ARRAY_SIZE(parse_impls) - N_GENERAL;
    return parse_impls + N_GENERAL;
}

const struct pmd_parse_impl *
pmd_parse_impl_by_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(parse_impls); i++) {
        if (!strcmp(parse_impls[i].name, name)) {
            return &parse_impls[i];
        }
    }
    return NULL;
}

const struct pmd_parse_impl *
pmd_parse_impl_default(void)
{
    static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;
    const struct pmd_parse_impl *impl;

    atomic_read_relaxed(&parse_default, &impl);
    if (ovsthread_once_start(&once)) {
        VLOG_INFO("Default MFEX Extract implementation is %s.", impl->name);
        ovsthread_once_done(&once);
    }
    return impl;
}

void
pmd_parse_impl_set_default(const struct pmd_parse_impl *impl)
{
    atomic_store_relaxed(&parse_default, impl);
}

/* Takes nothing, which leaves all packets to the library. */
static uint32_t
parse_nothing(struct pmd_thread *pmd OVS_UNUSED,
              struct dp_packet_batch *batch OVS_UNUSED,
              struct dp_key *keys OVS_UNUSED)
{
    return 0;
}

static uint32_t
parse_ip(struct pmd_thread *pmd, struct dp_packet_batch *batch,
         struct dp_key *keys)
{
    struct dp_packet *packet;
    uint32_t taken = 0;

    if (!pmd->recirc_depth) {
        DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
            taken |= (uint32_t) pmd_parse_ip(packet, &keys[i]) << i;
        }
    }
    return taken;
}

/* Where the headers of a packet are, which parsing finds out as well. */
struct layers {
    uint16_t l2_pad, l2_5, l3, l4;
};

/* Before parsing.  Inner layers, which a packet for a tunnel has, are none of
 * the parsers' business. */
static const struct layers no_layers = {
    0, UINT16_MAX, UINT16_MAX, UINT16_MAX,
};

static struct layers
layers_get(const struct dp_packet *packet)
{
    return (struct layers) {
        .l2_pad = packet->l2_pad_size,
        .l2_5 = packet->l2_5_ofs,
        .l3 = packet->l3_ofs,
        .l4 = packet->l4_ofs,
    };
}

static void
layers_put(struct dp_packet *packet, const struct layers *layers)
{
    packet->l2_pad_size = layers->l2_pad;
    packet->l2_5_ofs = layers->l2_5;
    packet->l3_ofs = layers->l3;
    packet->l4_ofs = layers->l4;
}

static bool
layers_equal(const struct layers *a, const struct layers *b)
{
    return (a->l2_pad == b->l2_pad && a->l2_5 == b->l2_5
            && a->l3 == b->l3 && a->l4 == b->l4);
}

/* Says in the log how 'impl' went wrong with packet 'i' of a batch. */
static void
log_difference(const struct pmd_parse_impl *impl, size_t i,
               const struct dp_key *good, const struct dp_key *bad,
               const struct layers *good_layers,
               const struct layers *bad_layers)
{
    const struct dp_key *keys[] = { good, bad };
    const struct layers *layers[] = { good_layers, bad_layers };
    const char *titles[] = { "expected", "actual" };
    struct ds s = DS_EMPTY_INITIALIZER;

    for (size_t j = 0; j < ARRAY_SIZE(keys); j++) {
        size_t n_words = miniflow_n_values(&keys[j]->mf);

        ds_put_format(&s, "%s: l2_pad_size %"PRIu16", l2_5_ofs %"PRIu16", "
                      "l3_ofs %"PRIu16", l4_ofs %"PRIu16", words:\n",
                      titles[j], layers[j]->l2_pad, layers[j]->l2_5,
                      layers[j]->l3, layers[j]->l4);
        ds_put_hex_dump(&s, keys[j]->words, n_words * sizeof *keys[j]->words,
                        0, false);
    }
    VLOG_ERR("Autovalidation for %s failed in pkt %"PRIuSIZE", disabling.\n%s",
             impl->name, i, ds_cstr(&s));
    ds_destroy(&s);
}

/* Has 'impl' parse 'batch' and returns true if that gave 'keys' and 'layers'
 * for each packet that it took. */
static bool
validate(const struct pmd_parse_impl *impl, struct pmd_thread *pmd,
         struct dp_packet_batch *batch, const struct dp_key *keys,
         const struct layers *layers, struct dp_key *scratch)
{
    struct dp_packet *packet;
    bool ok = true;
    uint32_t taken;
    size_t i;

    DP_PACKET_BATCH_FOR_EACH (j, packet, batch) {
        layers_put(packet, &no_layers);
    }
    taken = impl->parse(pmd, batch, scratch);
    ULLONG_FOR_EACH_1 (i, taken) {
        struct layers got = layers_get(batch->packets[i]);

        if (!miniflow_equal(&keys[i].mf, &scratch[i].mf)
            || !layers_equal(&layers[i], &got)) {
            log_difference(impl, i, &keys[i], &scratch[i], &layers[i], &got);
            ok = false;
        }
    }
    return ok;
}

/* Takes no packet, so that all of them are parsed by the library and the
 * statistics do not depend on what was compared. */
static uint32_t
parse_autovalidator(struct pmd_thread *pmd, struct dp_packet_batch *batch,
                    struct dp_key *keys)
{
    struct layers layers[NETDEV_MAX_BURST];
    const struct pmd_parse_impl *optimized;
    struct dp_packet *packet;
    struct dp_key *scratch;
    bool ok;
    size_t n;

    optimized = pmd_parse_optimized_list(&n);
    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        miniflow_extract(packet, &keys[i].mf);
        layers[i] = layers_get(packet);
    }

    scratch = xmalloc(NETDEV_MAX_BURST * sizeof *scratch);
    ok = validate(&ip_impl, pmd, batch, keys, layers, scratch);
    for (size_t i = 0; i < n; i++) {
        ok &= validate(&optimized[i], pmd, batch, keys, layers, scratch);
    }
    free(scratch);

    DP_PACKET_BATCH_FOR_EACH (i, packet, batch) {
        layers_put(packet, &layers[i]);
    }
    if (!ok) {
        atomic_store_relaxed(&pmd->parse_impl, &library_impl);
    }
    return 0;
}
