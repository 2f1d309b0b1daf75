# SPDX-License-Identifier: Apache-2.0
#
# make bench-datapath        our datapath against Open vSwitch's, in one run
# make bench-datapath-quick  the same in short; BENCHFLAGS go to both
# make bench-sync            our seq and RCU against Open vSwitch's
#
# Each is one program, linked twice.

bench_sources = \
	tests/bench/dp-driver.c \
	tests/bench/dp-driver.h \
	tests/bench/flow-put.c \
	tests/bench/flow-put.h \
	tests/bench/flow-set.c \
	tests/bench/flow-set.h \
	tests/bench/synthetic-netdev.c \
	tests/bench/synthetic-netdev.h
bench_programs = \
	tests/bench-datapath-ours \
	tests/bench-datapath-upstream
bench_sync_programs = \
	tests/bench-sync-ours \
	tests/bench-sync-upstream
EXTRA_PROGRAMS += $(bench_programs) $(bench_sync_programs)
EXTRA_DIST += tests/run-bench-datapath tests/run-bench-sync

tests_bench_datapath_ours_SOURCES = \
	tests/bench/bench-datapath.c $(bench_sources)

tests_bench_datapath_upstream_SOURCES = $(tests_bench_datapath_ours_SOURCES)
tests_bench_datapath_upstream_LDADD = $(OVS_LIBS)
tests_bench_datapath_upstream_LINK = $(LINK_UPSTREAM)

RUN_BENCH_DATAPATH = $(PYTHON3) $(srcdir)/tests/run-bench-datapath \
	--ours tests/bench-datapath-ours \
	--upstream tests/bench-datapath-upstream
bench-datapath bench-datapath-quick: $(bench_programs)
	$(AM_V_at)case $@ in *-quick) quick=--quick ;; *) quick= ;; esac; \
	  $(RUN_BENCH_DATAPATH) $$quick $(BENCHFLAGS)

tests_bench_sync_ours_SOURCES = tests/bench/bench-sync.c

tests_bench_sync_upstream_SOURCES = $(tests_bench_sync_ours_SOURCES)
tests_bench_sync_upstream_LDADD = $(OVS_LIBS)
tests_bench_sync_upstream_LINK = $(LINK_UPSTREAM)

bench-sync: $(bench_sync_programs)
	$(AM_V_at)$(PYTHON3) $(srcdir)/tests/run-bench-sync $(BENCHFLAGS) \
	  tests/bench-sync-upstream tests/bench-sync-ours

.PHONY: bench-datapath bench-datapath-quick bench-sync
