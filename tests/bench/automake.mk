# SPDX-License-Identifier: Apache-2.0
#
# make bench-datapath        our datapath against Open vSwitch's, in one run
# make bench-datapath-quick  the same in short, as a test that it works
# make bench-datapath-plot   ns per packet against flows: bench-datapath.png
# make bench-latency         how evenly both work beside control threads
# make bench-latency-quick   the same in short, as a test that it works
# make bench-latency-plot    the distributions: bench-latency.png
# make bench-ports           both switches with real ports; takes root
# make bench-ports-quick     the same in short, as a test that it works
# make bench-sync            our seq and RCU against Open vSwitch's
# make bench-coro            what coroutines cost and what interleaving brings
# make bench-flow-table      what the flow table's concurrency costs
#
# bench-datapath, bench-latency and bench-sync are one program each, linked
# twice.  BENCHFLAGS go to all; "tests/run-bench-datapath --help" and
# "tests/run-bench-latency --help" list what these two can measure.

bench_sources = \
	tests/bench/dp-driver.c \
	tests/bench/dp-driver.h \
	tests/bench/flow-put.c \
	tests/bench/flow-put.h \
	tests/bench/flow-set.c \
	tests/bench/flow-set.h \
	tests/bench/options.h \
	tests/bench/synthetic-netdev.c \
	tests/bench/synthetic-netdev.h \
	tests/bench/turns.h
bench_programs = \
	tests/bench-datapath-ours \
	tests/bench-datapath-upstream
bench_latency_programs = \
	tests/bench-latency-ours \
	tests/bench-latency-upstream
bench_sync_programs = \
	tests/bench-sync-ours \
	tests/bench-sync-upstream
EXTRA_PROGRAMS += $(bench_programs) $(bench_latency_programs) \
	$(bench_sync_programs)
EXTRA_DIST += tests/plot-bench-datapath tests/run-bench-datapath \
	tests/plot-bench-latency tests/run-bench-latency \
	tests/run-bench-sync

tests_bench_datapath_ours_SOURCES = \
	tests/bench/bench-datapath.c $(bench_sources)

tests_bench_datapath_upstream_SOURCES = $(tests_bench_datapath_ours_SOURCES)
tests_bench_datapath_upstream_LDADD = $(OVS_LIBS)
tests_bench_datapath_upstream_LINK = $(LINK_UPSTREAM)

RUN_BENCH_DATAPATH = $(PYTHON3) $(srcdir)/tests/run-bench-datapath \
	--ours tests/bench-datapath-ours \
	--upstream tests/bench-datapath-upstream
bench-datapath bench-datapath-plot bench-datapath-quick: $(bench_programs)
	$(AM_V_at)case $@ in \
	    *-plot) set -- --plot bench-datapath.png ;; \
	    *-quick) set -- --quick ;; \
	    *) set -- ;; \
	  esac; \
	  $(RUN_BENCH_DATAPATH) "$$@" $(BENCHFLAGS)

tests_bench_latency_ours_SOURCES = \
	tests/bench/bench-latency.c \
	tests/bench/control-load.c \
	tests/bench/control-load.h \
	tests/bench/latency-histogram.c \
	tests/bench/latency-histogram.h \
	$(bench_sources)

tests_bench_latency_upstream_SOURCES = $(tests_bench_latency_ours_SOURCES)
tests_bench_latency_upstream_LDADD = $(OVS_LIBS)
tests_bench_latency_upstream_LINK = $(LINK_UPSTREAM)

RUN_BENCH_LATENCY = $(PYTHON3) $(srcdir)/tests/run-bench-latency \
	--ours tests/bench-latency-ours \
	--upstream tests/bench-latency-upstream
bench-latency bench-latency-plot bench-latency-quick: $(bench_latency_programs)
	$(AM_V_at)case $@ in \
	    *-plot) set -- --plot bench-latency.png ;; \
	    *-quick) set -- --quick ;; \
	    *) set -- ;; \
	  esac; \
	  $(RUN_BENCH_LATENCY) "$$@" $(BENCHFLAGS)

tests_bench_sync_ours_SOURCES = tests/bench/bench-sync.c

tests_bench_sync_upstream_SOURCES = $(tests_bench_sync_ours_SOURCES)
tests_bench_sync_upstream_LDADD = $(OVS_LIBS)
tests_bench_sync_upstream_LINK = $(LINK_UPSTREAM)

bench-sync: $(bench_sync_programs)
	$(AM_V_at)$(PYTHON3) $(srcdir)/tests/run-bench-sync $(BENCHFLAGS) \
	  tests/bench-sync-upstream tests/bench-sync-ours

# The programs themselves, in namespaces and with huge pages of their own.
bench_ports_scripts = \
	tests/bench/ports_scenarios.py \
	tests/bench/private_switch.py \
	tests/run-bench-ports
EXTRA_DIST += $(bench_ports_scripts)
bench-ports bench-ports-quick: openvswitch-ours.done tests/system/dpdk-peer \
		utilities/ovs-udp-load
	$(AM_V_at)case $@ in \
	    *-quick) set -- --quick ;; \
	    *) set -- ;; \
	  esac; \
	  $(srcdir)/tests/system/isolated --huge-pages 2560 \
	    $(PYTHON3) $(srcdir)/tests/run-bench-ports \
	    --ours openvswitch-ours --upstream openvswitch \
	    --peer tests/system/dpdk-peer --udp-load utilities/ovs-udp-load \
	    --schema $(OVS_SOURCE)/vswitchd/vswitch.ovsschema \
	    "$$@" $(BENCHFLAGS)

# Without anything of Open vSwitch.
EXTRA_PROGRAMS += tests/bench-coro
tests_bench_coro_SOURCES = \
	tests/bench/bench-coro.c \
	tests/bench/turns.h
tests_bench_coro_LDADD =
tests_bench_coro_LINK = $(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) \
	$(LDFLAGS) -o $@

bench-coro: tests/bench-coro
	$(AM_V_at)tests/bench-coro $(BENCHFLAGS)

EXTRA_PROGRAMS += tests/bench-flow-table
tests_bench_flow_table_SOURCES = \
	tests/bench/bench-flow-table.c \
	tests/bench/subtable-plain.c \
	tests/bench/subtable-plain.h \
	tests/bench/turns.h

bench-flow-table: tests/bench-flow-table
	$(AM_V_at)tests/bench-flow-table $(BENCHFLAGS)

.PHONY: bench-datapath bench-datapath-plot bench-datapath-quick
.PHONY: bench-latency bench-latency-plot bench-latency-quick
.PHONY: bench-ports bench-ports-quick
.PHONY: bench-sync bench-coro bench-flow-table
