# SPDX-License-Identifier: Apache-2.0
#
# make check-stress        every test under load, for about a minute
# make check-differential  what our datapath does against what Open vSwitch's
#                          does; DIFFERENTIALFLAGS go to run-differential
# make bench-poll-trace    what a PMD thread asks of locks, heap and kernel, our
#                          datapath's and Open vSwitch's; BENCHFLAGS go to both
# make check-soak          10 minutes under all loads, with bounded memory;
#                          SOAKFLAGS go to soak

stress_tests += tests/stress/stress-datapath
tests_stress_stress_datapath_SOURCES = \
	tests/stress/stress-changes.c \
	tests/stress/stress-datapath.c \
	tests/stress/stress.h \
	$(bench_sources)

# Without options, as in check-stress, it is a short run, and one with a fault.
# The sanitizers keep freed memory, so that it says nothing under them.
if !SANITIZE
stress_tests += tests/stress/soak
tests_stress_soak_SOURCES = \
	tests/bench/control-load.c \
	tests/bench/control-load.h \
	tests/stress/soak.c \
	tests/stress/stall-log.c \
	tests/stress/stall-log.h \
	$(bench_sources)

check-soak: tests/stress/soak
	$(AM_V_at)tests/stress/soak --seconds 600 $(SOAKFLAGS)
endif

# It defines malloc() and the functions of locks, as the sanitizers do: with
# them it does not exist.
poll_trace_sources = \
	tests/bench/control-load.c \
	tests/bench/control-load.h \
	tests/stress/poll-quiet.c \
	tests/stress/poll-trace.c \
	tests/stress/poll-trace.h \
	$(bench_sources)
if !SANITIZE
stress_tests += tests/stress/poll-quiet
EXTRA_PROGRAMS += tests/stress/poll-quiet-upstream
tests_stress_poll_quiet_SOURCES = $(poll_trace_sources)
tests_stress_poll_quiet_upstream_SOURCES = $(poll_trace_sources)
tests_stress_poll_quiet_upstream_LDADD = $(OVS_LIBS)
tests_stress_poll_quiet_upstream_LINK = $(LINK_UPSTREAM)

bench-poll-trace: tests/stress/poll-quiet tests/stress/poll-quiet-upstream
	$(AM_V_at)tests/stress/poll-quiet-upstream --report \
	  --label upstream $(BENCHFLAGS)
	$(AM_V_at)tests/stress/poll-quiet --report --label ours $(BENCHFLAGS)
endif

# One program, linked twice, that must write the same.
differential_programs = \
	tests/stress/differential-ours \
	tests/stress/differential-upstream
EXTRA_PROGRAMS += $(differential_programs)
EXTRA_DIST += tests/stress/run-differential

tests_stress_differential_ours_SOURCES = \
	tests/stress/differential.c \
	tests/stress/flow-registry.c \
	tests/stress/flow-registry.h \
	tests/stress/packet-gen.c \
	tests/stress/packet-gen.h \
	tests/stress/random-flows.c \
	tests/stress/random-flows.h \
	$(bench_sources)

tests_stress_differential_upstream_SOURCES = \
	$(tests_stress_differential_ours_SOURCES)
tests_stress_differential_upstream_LDADD = $(OVS_LIBS)
tests_stress_differential_upstream_LINK = $(LINK_UPSTREAM)

check-differential: $(differential_programs)
	$(AM_V_at)$(PYTHON3) $(srcdir)/tests/stress/run-differential \
	  --ours tests/stress/differential-ours \
	  --upstream tests/stress/differential-upstream \
	  --impls plain interleaved auto $(DIFFERENTIALFLAGS)

.PHONY: bench-poll-trace check-differential check-soak
