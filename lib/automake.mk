# SPDX-License-Identifier: Apache-2.0

# All objects of ours.  Each room adds its files.
noinst_LIBRARIES += lib/libweft.a
lib_libweft_a_SOURCES = lib/dpif-netdev.c
include lib/sync/automake.mk
include lib/table/automake.mk
include lib/pmd/automake.mk
include lib/dp/automake.mk

$(lib_libweft_a_OBJECTS): | openvswitch.configured

if NEED_DPDK_SHIM
noinst_LIBRARIES += lib/libweft-dpdk.a
lib_libweft_dpdk_a_SOURCES = lib/dpdk-shim.c
endif
