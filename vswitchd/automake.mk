# SPDX-License-Identifier: Apache-2.0

# Open vSwitch's main() and bridge, over our datapath.  "make install" installs
# it after Open vSwitch's own programs, see build-aux/automake.mk.
noinst_PROGRAMS += vswitchd/ovs-vswitchd
vswitchd_ovs_vswitchd_SOURCES =
vswitchd_ovs_vswitchd_LDADD = $(OVS_VSWITCHD_OBJECTS) $(LDADD)
CLEANFILES += vswitchd/ovs-vswitchd.map
