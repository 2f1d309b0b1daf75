# SPDX-License-Identifier: Apache-2.0

unit_tests += tests/unit/test-bit-vector
tests_unit_test_bit_vector_SOURCES = \
	tests/unit/bit-vector-fixture.h \
	tests/unit/test-bit-vector.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-bond
tests_unit_test_bond_SOURCES = \
	tests/unit/test-bond.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-caches
tests_unit_test_caches_SOURCES = \
	tests/unit/test-caches.c \
	tests/unit/stop-point.h \
	tests/unit/walk-fixture.h

unit_tests += tests/unit/test-classifier
tests_unit_test_classifier_SOURCES = \
	tests/unit/table-fixture.h \
	tests/unit/test-classifier.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-config-value
tests_unit_test_config_value_SOURCES = \
	tests/unit/test-config-value.c \
	tests/unit/unit.h

# Without anything of Open vSwitch.
unit_tests += tests/unit/test-coro
tests_unit_test_coro_SOURCES = \
	tests/unit/test-coro.c \
	tests/unit/unit.h
tests_unit_test_coro_LDADD =
tests_unit_test_coro_LINK = $(CC) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) \
	$(LDFLAGS) -o $@

unit_tests += tests/unit/test-dp
tests_unit_test_dp_SOURCES = \
	tests/unit/test-dp.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-emc-use
tests_unit_test_emc_use_SOURCES = \
	tests/unit/test-emc-use.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-forward
tests_unit_test_forward_SOURCES = \
	tests/unit/test-forward.c \
	tests/unit/walk-fixture.h

unit_tests += tests/unit/test-handoff
tests_unit_test_handoff_SOURCES = \
	tests/unit/test-handoff.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-housekeeping
tests_unit_test_housekeeping_SOURCES = \
	tests/unit/test-housekeeping.c \
	tests/unit/walk-fixture.h

unit_tests += tests/unit/test-lookup
tests_unit_test_lookup_SOURCES = \
	tests/unit/table-fixture.h \
	tests/unit/test-lookup.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-malloc
tests_unit_test_malloc_SOURCES = \
	tests/unit/test-malloc.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-meter
tests_unit_test_meter_SOURCES = \
	tests/unit/test-meter.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-offload
tests_unit_test_offload_SOURCES = \
	tests/unit/test-offload.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-parse
tests_unit_test_parse_SOURCES = \
	tests/stress/packet-gen.c \
	tests/stress/packet-gen.h \
	tests/unit/test-parse.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-pass-choice
tests_unit_test_pass_choice_SOURCES = \
	tests/unit/test-pass-choice.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-perf
tests_unit_test_perf_SOURCES = \
	tests/unit/test-perf.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-rcu-stress
tests_unit_test_rcu_stress_SOURCES = \
	tests/unit/test-rcu-stress.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-rcu
tests_unit_test_rcu_SOURCES = \
	tests/unit/test-rcu.c \
	tests/unit/stop-point.h \
	tests/unit/unit.h

unit_tests += tests/unit/test-rxq-plan
tests_unit_test_rxq_plan_SOURCES = \
	tests/unit/test-rxq-plan.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-seq
tests_unit_test_seq_SOURCES = \
	tests/unit/test-seq.c \
	tests/unit/stop-point.h \
	tests/unit/unit.h

# Without inlining: it looks for functions in stacks.
unit_tests += tests/unit/test-stall
tests_unit_test_stall_SOURCES = \
	tests/unit/test-stall.c \
	tests/unit/unit.h
tests_unit_test_stall_CFLAGS = $(AM_CFLAGS) -fno-inline \
	-fno-optimize-sibling-calls
$(tests_unit_test_stall_OBJECTS): | openvswitch.configured

unit_tests += tests/unit/test-table
tests_unit_test_table_SOURCES = \
	tests/unit/table-fixture.h \
	tests/unit/test-table.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-txq
tests_unit_test_txq_SOURCES = \
	tests/unit/test-txq.c \
	tests/unit/walk-fixture.h

# Without anything of Open vSwitch, like the program itself.
unit_tests += tests/unit/test-udp-load
tests_unit_test_udp_load_SOURCES = \
	tests/unit/test-udp-load.c \
	tests/unit/unit.h \
	utilities/udp-load/histogram.c \
	utilities/udp-load/pace.c \
	utilities/udp-load/sequence.c \
	utilities/udp-load/streams.c \
	utilities/udp-load/wire.c
tests_unit_test_udp_load_CPPFLAGS = $(utilities_ovs_udp_load_CPPFLAGS) \
	-I$(srcdir) -I$(srcdir)/tests/unit
tests_unit_test_udp_load_CFLAGS = $(utilities_ovs_udp_load_CFLAGS)
tests_unit_test_udp_load_LDADD =
tests_unit_test_udp_load_LINK = $(utilities_ovs_udp_load_LINK)

unit_tests += tests/unit/test-walk
tests_unit_test_walk_SOURCES = \
	tests/unit/test-walk.c \
	tests/unit/walk-fixture.h
