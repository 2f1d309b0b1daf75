# SPDX-License-Identifier: Apache-2.0

lib_libweft_a_SOURCES += \
	lib/dp/balance.c \
	lib/dp/bonds.c \
	lib/dp/caches.c \
	lib/dp/callbacks.c \
	lib/dp/commands-housekeeping.c \
	lib/dp/commands-impl.c \
	lib/dp/commands-pmd.c \
	lib/dp/commands-stall.c \
	lib/dp/commands.c \
	lib/dp/commands.h \
	lib/dp/config-value.c \
	lib/dp/config-value.h \
	lib/dp/config.c \
	lib/dp/ct.c \
	lib/dp/ct.h \
	lib/dp/datapath.c \
	lib/dp/dp-netdev.h \
	lib/dp/dummy.c \
	lib/dp/execute.c \
	lib/dp/flow-convert.c \
	lib/dp/flow-convert.h \
	lib/dp/flow-dump.c \
	lib/dp/flows.c \
	lib/dp/malloc.c \
	lib/dp/offload-mark.c \
	lib/dp/offload-mark.h \
	lib/dp/offload-queue.c \
	lib/dp/offload-queue.h \
	lib/dp/offload.c \
	lib/dp/port-config.c \
	lib/dp/ports.c \
	lib/dp/reconfigure.c \
	lib/dp/run.c \
	lib/dp/rxq-plan.c \
	lib/dp/rxq-plan.h \
	lib/dp/sched.c \
	lib/dp/sleep.c \
	lib/dp/stall.c \
	lib/dp/threads.c
