# SPDX-License-Identifier: Apache-2.0

unit_tests += tests/unit/test-bond
tests_unit_test_bond_SOURCES = \
	tests/unit/test-bond.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-config-value
tests_unit_test_config_value_SOURCES = \
	tests/unit/test-config-value.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-dp
tests_unit_test_dp_SOURCES = \
	tests/unit/test-dp.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-handoff
tests_unit_test_handoff_SOURCES = \
	tests/unit/test-handoff.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-meter
tests_unit_test_meter_SOURCES = \
	tests/unit/test-meter.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-offload
tests_unit_test_offload_SOURCES = \
	tests/unit/test-offload.c \
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

unit_tests += tests/unit/test-table
tests_unit_test_table_SOURCES = \
	tests/unit/test-table.c \
	tests/unit/unit.h

unit_tests += tests/unit/test-txq
tests_unit_test_txq_SOURCES = \
	tests/unit/test-txq.c \
	tests/unit/walk-fixture.h

unit_tests += tests/unit/test-walk
tests_unit_test_walk_SOURCES = \
	tests/unit/test-walk.c \
	tests/unit/walk-fixture.h
