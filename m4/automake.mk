# SPDX-License-Identifier: Apache-2.0

EXTRA_DIST += \
	m4/weft-compiler.m4 \
	m4/weft-dpdk.m4 \
	m4/weft-libraries.m4 \
	m4/weft-openvswitch.m4
