# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += utilities/openvswitch-source

# A UDP source and sink.  It has nothing of Open vSwitch or DPDK in it: neither
# their headers and options, nor build-aux/link-weft.
bin_PROGRAMS = utilities/ovs-udp-load
utilities_ovs_udp_load_SOURCES = \
	utilities/udp-load/counter.h \
	utilities/udp-load/histogram.c \
	utilities/udp-load/histogram.h \
	utilities/udp-load/main.c \
	utilities/udp-load/net.c \
	utilities/udp-load/net.h \
	utilities/udp-load/options.c \
	utilities/udp-load/options.h \
	utilities/udp-load/pace.c \
	utilities/udp-load/pace.h \
	utilities/udp-load/receive.c \
	utilities/udp-load/report.c \
	utilities/udp-load/report.h \
	utilities/udp-load/run.c \
	utilities/udp-load/run.h \
	utilities/udp-load/sequence.c \
	utilities/udp-load/sequence.h \
	utilities/udp-load/sink.c \
	utilities/udp-load/sink.h \
	utilities/udp-load/source.c \
	utilities/udp-load/streams.c \
	utilities/udp-load/streams.h \
	utilities/udp-load/usage.c \
	utilities/udp-load/usage.h \
	utilities/udp-load/wire.c \
	utilities/udp-load/wire.h
utilities_ovs_udp_load_CPPFLAGS = -D_GNU_SOURCE \
	-DWEFT_VERSION='"$(PACKAGE_VERSION)"'
utilities_ovs_udp_load_CFLAGS = $(WARNING_CFLAGS) $(SANITIZE_CFLAGS) -pthread
utilities_ovs_udp_load_LDADD = -lm
utilities_ovs_udp_load_LINK = $(CC) $(utilities_ovs_udp_load_CFLAGS) \
	$(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -o $@

check-weft: utilities/ovs-udp-load
