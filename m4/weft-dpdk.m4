# SPDX-License-Identifier: Apache-2.0

# WEFT_CHECK_DPDK
#
# Sets DPDK_LIBS, and DPDK_CFLAGS as Open vSwitch's own configure script derives
# them from pkg-config's: both must compile the inline functions of DPDK's and
# of Open vSwitch's headers for the same instructions, or the two halves of one
# program hash the same bytes to different values.
#
# Sets NEED_DPDK_SHIM and WEFT_SHIM_LIBS where the library lacks a function
# that Open vSwitch 3.5.0 calls.
AC_DEFUN([WEFT_CHECK_DPDK],
  [AC_ARG_WITH([dpdk],
     [AS_HELP_STRING([--without-dpdk],
        [build without DPDK @<:@default: with it, shared, found by pkg-config@:>@])],
     [], [with_dpdk=yes])
   weft_dpdk=yes
   AS_CASE([$with_dpdk],
     [yes | shared], [],
     [no], [weft_dpdk=no],
     [AC_MSG_ERROR([--with-dpdk=$with_dpdk: it takes no value; PKG_CONFIG_PATH says where a DPDK is that is not in the usual place])])
   weft_dpdk_shim=no
   weft_dpdk_summary="no (--without-dpdk)"
   DPDK_CFLAGS=
   DPDK_LIBS=
   WEFT_SHIM_LIBS=
   AS_IF([test $weft_dpdk = yes],
     [AC_MSG_CHECKING([for DPDK 22.11 or later])
      AS_IF([$PKG_CONFIG --exists libdpdk],
        [weft_dpdk_version=`$PKG_CONFIG --modversion libdpdk`],
        [AC_MSG_RESULT([none])
         AC_MSG_ERROR([DPDK 22.11 or later is needed, and pkg-config finds no libdpdk (Debian package: libdpdk-dev; --without-dpdk builds without)])])
      AC_MSG_RESULT([$weft_dpdk_version])
      AS_IF([$PKG_CONFIG --atleast-version=22.11 libdpdk], [],
        [AC_MSG_ERROR([DPDK 22.11 or later is needed, and pkg-config finds $weft_dpdk_version (Debian package: libdpdk-dev; --without-dpdk builds without)])])
      DPDK_CFLAGS=`$PKG_CONFIG --cflags libdpdk |
        sed 's/-march=@<:@^ @:>@*//g; s/-mno-avx512f//g'`
      DPDK_CFLAGS="$DPDK_CFLAGS -D_FILE_OFFSET_BITS=64"
      AS_CASE([$host_cpu], [x86_64 | i?86], [DPDK_CFLAGS="$DPDK_CFLAGS -mssse3"])

      DPDK_LIBS=`$PKG_CONFIG --libs libdpdk`

      weft_save_CFLAGS=$CFLAGS
      weft_save_LIBS=$LIBS
      CFLAGS="$CFLAGS $DPDK_CFLAGS"
      LIBS="$DPDK_LIBS $LIBS"
      AC_MSG_CHECKING([whether linking with DPDK works])
      AC_LINK_IFELSE(
        [AC_LANG_PROGRAM([@%:@include <rte_eal.h>],
                         [return rte_eal_init(0, (char **) 0);])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([a program that calls rte_eal_init() does not compile or link with DPDK $weft_dpdk_version; see config.log (Debian package: libdpdk-dev; --without-dpdk builds without)])])
      AC_CACHE_CHECK([whether DPDK has rte_vhost_driver_set_max_queue_num],
        [weft_cv_dpdk_vhost_max_queue_num],
        [AC_LINK_IFELSE(
           [AC_LANG_CALL([], [rte_vhost_driver_set_max_queue_num])],
           [weft_cv_dpdk_vhost_max_queue_num=yes],
           [weft_cv_dpdk_vhost_max_queue_num=no])])
      CFLAGS=$weft_save_CFLAGS
      LIBS=$weft_save_LIBS

      weft_dpdk_summary=$weft_dpdk_version
      AS_IF([test $weft_cv_dpdk_vhost_max_queue_num = no],
        [weft_dpdk_shim=yes
         WEFT_SHIM_LIBS="-L`pwd`/lib -lweft-dpdk"
         weft_dpdk_summary="$weft_dpdk_version, without VDUSE queue limits"])])
   AM_CONDITIONAL([NEED_DPDK_SHIM], [test $weft_dpdk_shim = yes])
   AM_CONDITIONAL([WITH_DPDK], [test $weft_dpdk = yes])
   weft_dpdk_option=--with-dpdk
   AS_IF([test $weft_dpdk = no], [weft_dpdk_option=--without-dpdk])
   AC_SUBST([WEFT_DPDK_OPTION], [$weft_dpdk_option])
   AC_SUBST([DPDK_CFLAGS])
   AC_SUBST([DPDK_LIBS])
   AC_SUBST([WEFT_SHIM_LIBS])])
