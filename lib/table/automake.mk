# SPDX-License-Identifier: Apache-2.0

lib_libweft_a_SOURCES += \
	lib/table/bit-vector-order.c \
	lib/table/bit-vector-private.h \
	lib/table/bit-vector.c \
	lib/table/bit-vector.h \
	lib/table/dp-classifier.c \
	lib/table/dp-classifier.h \
	lib/table/dp-flow.c \
	lib/table/dp-flow.h \
	lib/table/dp-key.c \
	lib/table/dp-key.h \
	lib/table/flow-table.c \
	lib/table/flow-table.h \
	lib/table/huge-mem.c \
	lib/table/huge-mem.h \
	lib/table/lookup-interleaved.c \
	lib/table/lookup.c \
	lib/table/lookup.h \
	lib/table/sig-match.h \
	lib/table/sigcache-handover.c \
	lib/table/sigcache-handover.h \
	lib/table/sigcache.c \
	lib/table/sigcache.h \
	lib/table/subtable.c \
	lib/table/subtable.h
