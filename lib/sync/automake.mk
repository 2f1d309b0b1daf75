# SPDX-License-Identifier: Apache-2.0

lib_libweft_a_SOURCES += \
	lib/sync/dp-log.c \
	lib/sync/dp-log.h \
	lib/sync/handoff.h \
	lib/sync/ovs-rcu.c \
	lib/sync/rcu-stats.h \
	lib/sync/seq.c \
	lib/sync/sync-point.h
