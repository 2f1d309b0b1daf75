/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <string.h>

#include "dp-packet.h"
#include "openvswitch/vlog.h"
#include "ovs-thread.h"
#include "pmd/impl.h"
#include "pmd/parse.h"
#include "pmd/pmd.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(dpif_mfex_extract_study);

enum { MAX_STUDIED = 16 };

/* What a thread has seen since it began to study. */
struct study {
    uint32_t n_packets;
    uint32_t hits[MAX_STUDIED]; /* Packets that each optimized parser took. */
};

DEFINE_STATIC_PER_THREAD_DATA(struct study, study, { 0, { 0 } });

/* Commands write, all read; relaxed. */
static atomic_uint32_t study_packets = PMD_STUDY_DEFAULT_PACKETS;

void
pmd_parse_study_set_packets(uint32_t n_packets)
{
    atomic_store_relaxed(&study_packets, n_packets);
}

/* Ends the study: 'pmd' goes on with the parser that took most packets, if
 * that was at least half of 'wanted'. */
static void
study_conclude(struct pmd_thread *pmd, struct study *study, uint32_t wanted)
{
    const struct pmd_parse_impl *best = pmd_parse_impl_by_name("scalar");
    const struct pmd_parse_impl *optimized;
    uint32_t most = 0;
    size_t n;

    optimized = pmd_parse_optimized_list(&n);
    for (size_t i = 0; i < MIN(n, MAX_STUDIED); i++) {
        VLOG_DBG("MFEX study results for implementation %s: "
                 "(hits %"PRIu32"/%"PRIu32" pkts)",
                 optimized[i].name, study->hits[i], study->n_packets);
        if (study->hits[i] > most) {
            most = study->hits[i];
            best = &optimized[i];
        }
    }

    if (most && most >= wanted / 2) {
        VLOG_INFO("MFEX study chose impl %s: (hits %"PRIu32"/%"PRIu32" pkts)",
                  best->name, most, study->n_packets);
    } else {
        VLOG_INFO("Not enough packets matched (%"PRIu32"/%"PRIu32"), "
                  "disabling optimized MFEX.", most, study->n_packets);
        best = pmd_parse_impl_by_name("scalar");
    }
    atomic_store_relaxed(&pmd->parse_impl, best);
    memset(study, 0, sizeof *study);
}

uint32_t
pmd_parse_study(struct pmd_thread *pmd, struct dp_packet_batch *batch,
                struct dp_key *keys)
{
    const struct pmd_parse_impl *optimized;
    struct study *study = study_get();
    uint32_t taken = 0;
    uint32_t wanted;
    size_t n;

    /* A parser writes to the keys of the packets that it takes only, so that
     * what an earlier one took stays valid. */
    optimized = pmd_parse_optimized_list(&n);
    for (size_t i = 0; i < MIN(n, MAX_STUDIED); i++) {
        uint32_t hits = optimized[i].parse(pmd, batch, keys);

        study->hits[i] += count_1bits(hits);
        taken |= hits;
    }
    study->n_packets += dp_packet_batch_size(batch);

    atomic_read_relaxed(&study_packets, &wanted);
    if (study->n_packets >= wanted) {
        study_conclude(pmd, study, wanted);
    }
    return taken;
}
