# SPDX-License-Identifier: Apache-2.0
#
# What Open vSwitch's Makefile has no target of its own for.  To be read in its
# build directory: make -f .../openvswitch-targets.mk TARGET

include Makefile

# Generated sources; building a library alone does not make them first.
weft-sources: $(BUILT_SOURCES)

# What its test suite needs beside its programs.
weft-check-data: $(check_DATA) $(check_SCRIPTS)

# Into a file, since make may have something to say on its output.
weft-list-programs:
	printf '%s\n' $(bin_PROGRAMS) $(sbin_PROGRAMS) $(noinst_PROGRAMS) \
	  > weft-programs

.PHONY: weft-sources weft-check-data weft-list-programs
