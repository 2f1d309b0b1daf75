# SPDX-License-Identifier: Apache-2.0

lib_libweft_a_SOURCES += \
	lib/pmd/batch.c \
	lib/pmd/batch.h \
	lib/pmd/bond.c \
	lib/pmd/bond.h \
	lib/pmd/ct-action.c \
	lib/pmd/ct-action.h \
	lib/pmd/drops.c \
	lib/pmd/drops.h \
	lib/pmd/execute.c \
	lib/pmd/execute.h \
	lib/pmd/flow-install.c \
	lib/pmd/flow-install.h \
	lib/pmd/flow-log.c \
	lib/pmd/flow-log.h \
	lib/pmd/housekeeping.c \
	lib/pmd/housekeeping.h \
	lib/pmd/impl.c \
	lib/pmd/impl.h \
	lib/pmd/input.c \
	lib/pmd/input.h \
	lib/pmd/loop.c \
	lib/pmd/loop.h \
	lib/pmd/meter.c \
	lib/pmd/meter.h \
	lib/pmd/metrics-log.c \
	lib/pmd/metrics-show.c \
	lib/pmd/metrics.c \
	lib/pmd/metrics.h \
	lib/pmd/parse-study.c \
	lib/pmd/parse.c \
	lib/pmd/parse.h \
	lib/pmd/perf.c \
	lib/pmd/perf.h \
	lib/pmd/pmd.c \
	lib/pmd/pmd.h \
	lib/pmd/port.h \
	lib/pmd/run.h \
	lib/pmd/rxq.c \
	lib/pmd/txq.c \
	lib/pmd/txq.h \
	lib/pmd/upcall.c \
	lib/pmd/upcall.h
