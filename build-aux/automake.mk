# SPDX-License-Identifier: Apache-2.0
#
# Open vSwitch, our dependency, in openvswitch/ below the build directory.
#
# openvswitch.options      what it is configured with, from our configure
# openvswitch.configured   its headers, also the generated ones, are there
# openvswitch.libs         its libraries and the objects of its ovs-vswitchd
# openvswitch.all          all of its programs
# openvswitch-ours.done    a copy of that build, made of symbolic links, in
#                          which all programs are linked again with our objects
#
# Each is a file whose time says when that was last done.

EXTRA_DIST = \
	boot.sh \
	build-aux/check-link-map \
	build-aux/check-sanitizer \
	build-aux/configure-openvswitch \
	build-aux/openvswitch-targets.mk \
	build-aux/relink-openvswitch \
	build-aux/run-tests \
	build-aux/run-testsuite \
	build-aux/testsuite.py \
	tests/tsan-suppressions

OVS_MAKE = $(MAKE) -C openvswitch V=0
OVS_TARGETS_MK = $(abs_srcdir)/build-aux/openvswitch-targets.mk

# In the order of Open vSwitch's own link.
OVS_LIBS = \
	openvswitch/ofproto/libofproto.la \
	openvswitch/lib/libsflow.la \
	openvswitch/lib/libopenvswitch.la
OVS_VSWITCHD_OBJECTS = \
	openvswitch/vswitchd/bridge.o \
	openvswitch/vswitchd/ovs-vswitchd.o \
	openvswitch/vswitchd/system-stats.o

BUILT_SOURCES += openvswitch.configured

openvswitch.options:
	$(AM_V_at)$(SHELL) ./config.status $@

if NEED_DPDK_SHIM
openvswitch_shim = lib/libweft-dpdk.a
else
openvswitch_shim =
endif

openvswitch.configured: openvswitch.options | $(openvswitch_shim)
	$(AM_V_GEN)$(SHELL) $(srcdir)/build-aux/configure-openvswitch \
	  openvswitch openvswitch.options
	+$(AM_V_at)$(OVS_MAKE) -f $(OVS_TARGETS_MK) weft-sources
	$(AM_V_at)touch $@

openvswitch.libs: openvswitch.configured
	+$(AM_V_at)$(OVS_MAKE) $(OVS_LIBS:openvswitch/%=%) \
	  $(OVS_VSWITCHD_OBJECTS:openvswitch/%=%)
	$(AM_V_at)touch $@

$(OVS_LIBS) $(OVS_VSWITCHD_OBJECTS): | openvswitch.libs

openvswitch.all: openvswitch.libs
	+$(AM_V_at)$(OVS_MAKE) all
	$(AM_V_at)touch $@

openvswitch-ours.done: openvswitch.all lib/libweft.a vswitchd/ovs-vswitchd \
	build-aux/relink-openvswitch
	+$(AM_V_GEN)MAKE='$(MAKE)' $(SHELL) \
	  $(srcdir)/build-aux/relink-openvswitch $(OVS_TARGETS_MK)
	$(AM_V_at)touch $@

# Open vSwitch's build survives "make clean": it takes minutes, and nothing of
# ours goes into it.
clean-local: clean-openvswitch-ours
clean-openvswitch-ours:
	rm -rf openvswitch-ours openvswitch-ours.done
distclean-local: distclean-openvswitch
distclean-openvswitch:
	rm -rf openvswitch openvswitch.options openvswitch.configured \
	  openvswitch.libs openvswitch.all

if !SANITIZE
ALL += openvswitch.all
endif

# Open vSwitch's programs, schema, manual pages and control scripts, then our
# switch over its own.
install-exec-local: install-openvswitch
install-openvswitch: openvswitch.all vswitchd/ovs-vswitchd
	+$(OVS_MAKE) install
	$(MKDIR_P) '$(DESTDIR)$(sbindir)'
	$(INSTALL_PROGRAM) vswitchd/ovs-vswitchd \
	  '$(DESTDIR)$(sbindir)/ovs-vswitchd'
uninstall-local: uninstall-openvswitch
uninstall-openvswitch:
	+$(OVS_MAKE) uninstall

.PHONY: clean-openvswitch-ours distclean-openvswitch install-openvswitch \
	uninstall-openvswitch
