# SPDX-License-Identifier: Apache-2.0
#
# make check-stress        every test under load, for about a minute
# make check-differential  what our datapath does against what Open vSwitch's
#                          does; DIFFERENTIALFLAGS go to run-differential

stress_tests += tests/stress/stress-datapath
tests_stress_stress_datapath_SOURCES = \
	tests/stress/stress-changes.c \
	tests/stress/stress-datapath.c \
	tests/stress/stress.h \
	$(bench_sources)

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

.PHONY: check-differential
