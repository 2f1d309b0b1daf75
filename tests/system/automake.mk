# SPDX-License-Identifier: Apache-2.0
#
# make check-system-weft         our system tests; TESTSUITEFLAGS go to them
#
# They take root, and run in namespaces and with huge pages of their own.

system_testsuite_at = \
	tests/system/dpdk-macros.at \
	tests/system/dpdk-ports.at \
	tests/system/dpdk-vhost.at \
	tests/system/macros.at \
	tests/system/meters.at \
	tests/system/testsuite.at \
	tests/system/traffic.at
system_scripts = \
	tests/system/frames.py \
	tests/system/isolated \
	tests/system/tcp-transfer.py \
	tests/system/udp-flow.py
EXTRA_DIST += $(system_testsuite_at) $(system_scripts)
CLEANFILES += tests/weft-system-testsuite

# The other end of a DPDK port is linked with DPDK alone.
system_programs =
if WITH_DPDK
system_programs += tests/system/dpdk-peer
tests_system_dpdk_peer_SOURCES = \
	tests/system/dpdk-peer.c \
	tests/system/dpdk-peer.h \
	tests/system/dpdk-peer-answer.c \
	tests/system/dpdk-peer-device.c \
	tests/system/dpdk-peer-packet.c
tests_system_dpdk_peer_CPPFLAGS =
tests_system_dpdk_peer_LDADD = $(DPDK_LIBS)
tests_system_dpdk_peer_LINK = $(CC) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@
endif
check_PROGRAMS += $(system_programs)

tests/weft-system-testsuite: $(system_testsuite_at) tests/package.m4
	$(AM_V_GEN)$(AUTOM4TE) --language=autotest -I tests -I $(srcdir) \
	  -I $(OVS_SOURCE) -o $@.tmp $(srcdir)/tests/system/testsuite.at
	$(AM_V_at)mv $@.tmp $@

SYSTEM_HUGE_PAGES = 2048
ISOLATED = $(srcdir)/tests/system/isolated --huge-pages $(SYSTEM_HUGE_PAGES)

check-system-weft: tests/weft-system-testsuite openvswitch-ours.done \
		$(system_programs)
	$(AM_V_at)$(ISOLATED) $(RUN_TESTSUITE) \
	  --suite tests/weft-system-testsuite -- $(or $(TESTSUITEFLAGS),-j1)

.PHONY: check-system-weft
