# SPDX-License-Identifier: Apache-2.0

# Headers that stand alone, without Open vSwitch.
EXTRA_DIST += \
	include/weft/coro.h
