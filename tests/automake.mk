# SPDX-License-Identifier: Apache-2.0
#
# make check             the unit tests, the scripts and our Autotest suite
# make check-unit        the unit tests and scripts alone
# make check-weft        the Autotest suite alone; TESTSUITEFLAGS go to it
# make check-sanitizers  the unit and stress tests with ASan+UBSan, with TSan
# make check-stress, check-differential, check-soak  the stress tests
# make check-system-weft our system tests, with real ports; takes root
# make check-openvswitch[-part]  Open vSwitch's own test suite over our objects
# make bench-datapath, bench-latency, bench-sync  ours against Open vSwitch's
# make bench-poll-trace  locks, heap and system calls of a PMD thread, likewise
# make bench-coro        the price of coroutines and of interleaving
# make bench-flow-table  the price of the flow table's concurrency
#
# A unit test is one program, tests/unit/test-NAME.c, linked with libweft.a and
# Open vSwitch's libraries: add it to unit_tests and give it its _SOURCES, in
# tests/unit/automake.mk.  A stress test is the same in tests/stress and
# stress_tests; it is not part of "make check", since it takes its time.

AM_CPPFLAGS += -I$(srcdir)/tests

unit_tests =
stress_tests =
check_scripts =
include tests/bench/automake.mk
include tests/unit/automake.mk
include tests/stress/automake.mk

# Open vSwitch's headers come first.
$(patsubst $(srcdir)/%.c,%.o,$(wildcard $(srcdir)/tests/*/*.c)): | \
	openvswitch.configured

check_PROGRAMS += $(unit_tests)
EXTRA_PROGRAMS += $(stress_tests)
EXTRA_DIST += $(check_scripts)

check_scripts += tests/check-configure.sh
check_scripts += tests/check-link-map.sh
check_scripts += tests/check-source-lists.sh
check_scripts += tests/check-standalone-headers.sh

CHECKS += check-unit check-weft
TEST_ENVIRONMENT = weft_srcdir='$(abs_srcdir)' \
	weft_builddir='$(abs_builddir)' \
	CC='$(CC)' OVS_SOURCE='$(OVS_SOURCE)'

check-unit: $(unit_tests) vswitchd/ovs-vswitchd
	$(AM_V_at)env $(TEST_ENVIRONMENT) $(SHELL) \
	  $(srcdir)/build-aux/run-tests tests/logs $(unit_tests) \
	  $(check_scripts:%=$(srcdir)/%)

check-stress: $(stress_tests)
	$(AM_V_at)env $(TEST_ENVIRONMENT) $(SHELL) \
	  $(srcdir)/build-aux/run-tests tests/logs $(stress_tests)

# Sanitizers: in build directories of their own, since Open vSwitch's libraries
# must be built with the same one.
SANITIZER_OPTIONS = --with-openvswitch='$(OVS_SOURCE)' $(WEFT_DPDK_OPTION) \
	$(WEFT_AFXDP_OPTION) CC='$(CC)' CFLAGS='-O1 -g' PYTHON3='$(PYTHON3)'
CHECK_SANITIZER = MAKE='$(MAKE)' $(SHELL) $(srcdir)/build-aux/check-sanitizer
check-sanitizers: check-asan check-tsan
check-asan:
	+$(AM_V_at)$(CHECK_SANITIZER) build-asan 'check-unit check-stress' \
	  $(abs_srcdir)/configure --enable-asan --enable-ubsan \
	  $(SANITIZER_OPTIONS)
check-tsan:
	+$(AM_V_at)$(CHECK_SANITIZER) build-tsan 'check-unit check-stress' \
	  $(abs_srcdir)/configure --enable-tsan $(SANITIZER_OPTIONS)
distclean-local: distclean-sanitizers
distclean-sanitizers:
	rm -rf build-asan build-tsan

# Our Autotest suite runs in the copy of Open vSwitch's build that has our
# programs, with Open vSwitch's macros.
weft_testsuite_at = \
	tests/weft-config.at \
	tests/weft-housekeeping.at \
	tests/weft-impl.at \
	tests/weft-programs.at \
	tests/weft-stall.at \
	tests/weft-testsuite.at \
	tests/weft-udp-load.at
EXTRA_DIST += $(weft_testsuite_at)
CLEANFILES += tests/weft-testsuite tests/package.m4

tests/package.m4: config.status
	$(AM_V_GEN){ \
	  echo 'm4_define([AT_PACKAGE_NAME], [$(PACKAGE_NAME)])'; \
	  echo 'm4_define([AT_PACKAGE_TARNAME], [$(PACKAGE_TARNAME)])'; \
	  echo 'm4_define([AT_PACKAGE_VERSION], [$(PACKAGE_VERSION)])'; \
	  echo 'm4_define([AT_PACKAGE_STRING], [$(PACKAGE_STRING)])'; \
	  echo 'm4_define([AT_PACKAGE_BUGREPORT], [$(PACKAGE_BUGREPORT)])'; \
	} > $@
tests/weft-testsuite: $(weft_testsuite_at) tests/package.m4
	$(AM_V_GEN)$(AUTOM4TE) --language=autotest -I tests -I $(srcdir) \
	  -I $(OVS_SOURCE) -o $@.tmp $(srcdir)/tests/weft-testsuite.at
	$(AM_V_at)mv $@.tmp $@

# Tests of Open vSwitch's checkpatch ask git where the sources begin: not in
# the repository that this build directory may be in.
AUTOTEST_PATH = utilities:vswitchd:ovsdb:vtep:tests:ipsec
RUN_TESTSUITE = env $(TEST_ENVIRONMENT) \
	GIT_CEILING_DIRECTORIES='$(abs_builddir)' $(PYTHON3) \
	$(srcdir)/build-aux/run-testsuite --dir openvswitch-ours \
	--path '$(AUTOTEST_PATH)'
check-weft: tests/weft-testsuite openvswitch-ours.done
	$(AM_V_at)$(RUN_TESTSUITE) --suite tests/weft-testsuite \
	  -- $(TESTSUITEFLAGS)

CHECK_OPENVSWITCH = $(RUN_TESTSUITE) --retry \
	--suite $(OVS_SOURCE)/tests/testsuite \
	--exempt $(srcdir)/tests/openvswitch-exempt \
	--baseline $(srcdir)/tests/openvswitch-baseline
EXTRA_DIST += tests/openvswitch-exempt tests/openvswitch-baseline \
	tests/openvswitch-part
check-openvswitch: openvswitch-ours.done
	$(AM_V_at)$(CHECK_OPENVSWITCH) -- $(TESTSUITEFLAGS)
check-openvswitch-part: openvswitch-ours.done
	$(AM_V_at)$(CHECK_OPENVSWITCH) \
	  --part $(srcdir)/tests/openvswitch-part -- $(TESTSUITEFLAGS)

include tests/system/automake.mk

.PHONY: check-unit check-stress check-sanitizers check-asan check-tsan \
	distclean-sanitizers check-weft check-openvswitch \
	check-openvswitch-part
