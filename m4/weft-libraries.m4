# SPDX-License-Identifier: Apache-2.0
#
# The libraries and tools that Open vSwitch and we need.  Open vSwitch's own
# configure script decides what it uses; here each is looked for ahead of it,
# so that a missing one is found in the first second and named with the Debian
# package that has it.

# WEFT_NEED_LIBRARY(NAME, HEADER, LIBRARY, FUNCTION, PACKAGE, WHY)
AC_DEFUN([WEFT_NEED_LIBRARY],
  [AC_CHECK_HEADER([$2], [],
     [AC_MSG_ERROR([$1 is needed $6, and its header $2 was not found (Debian package: $5)])])
   AC_CHECK_LIB([$3], [$4], [:],
     [AC_MSG_ERROR([$1 is needed $6, and its library -l$3 was not found or does not link; see config.log (Debian package: $5)])])])

# WEFT_WANT_LIBRARY(NAME, HEADER, LIBRARY, FUNCTION, PACKAGE, WITHOUT, VARIABLE)
AC_DEFUN([WEFT_WANT_LIBRARY],
  [$7=no
   AC_CHECK_HEADER([$2], [AC_CHECK_LIB([$3], [$4], [$7=yes])])
   AS_IF([test $$7 = no],
     [AC_MSG_WARN([$1 was not found, so $6 (Debian package: $5)])])])

AC_DEFUN([WEFT_CHECK_LIBRARIES],
  [AS_IF([test $weft_dpdk = yes],
     [WEFT_NEED_LIBRARY([libnuma], [numa.h], [numa], [numa_available],
        [libnuma-dev], [with DPDK])
      WEFT_NEED_LIBRARY([libpcap], [pcap.h], [pcap], [pcap_dump_close],
        [libpcap-dev], [with DPDK])])
   WEFT_NEED_LIBRARY([OpenSSL], [openssl/ssl.h], [crypto], [SHA1_Init],
     [libssl-dev], [for TLS connections])
   WEFT_NEED_LIBRARY([libcap-ng], [cap-ng.h], [cap-ng], [capng_clear],
     [libcap-ng-dev], [to drop privileges])
   WEFT_WANT_LIBRARY([libunwind], [libunwind.h], [unwind], [unw_backtrace],
     [libunwind-dev], [crashes and monitored restarts log no backtrace],
     [weft_libunwind])
   WEFT_WANT_LIBRARY([libunbound], [unbound.h], [unbound], [ub_ctx_create],
     [libunbound-dev], [host names cannot be used for remotes],
     [weft_libunbound])])

# WEFT_CHECK_PYTHON
#
# Open vSwitch generates part of its sources with Python, our tests use it.
AC_DEFUN([WEFT_CHECK_PYTHON],
  [AC_ARG_VAR([PYTHON3], [Python 3.7 or later])
   AC_PATH_PROGS([PYTHON3], [python3 python], [none])
   AC_MSG_CHECKING([whether $PYTHON3 is Python 3.7 or later])
   weft_python=`"$PYTHON3" -c 'import sys; print("%d.%d" % sys.version_info@<:@:2@:>@); sys.exit(sys.version_info < (3, 7))' 2>/dev/null`
   AS_IF([test $? = 0 && test -n "$weft_python"],
     [AC_MSG_RESULT([$weft_python])],
     [AC_MSG_RESULT([no])
      AC_MSG_ERROR([Python 3.7 or later is needed, and $PYTHON3 is ${weft_python:-not Python} (Debian package: python3; PYTHON3=PATH names another)])])])

AC_DEFUN([WEFT_CHECK_PKG_CONFIG],
  [AC_ARG_VAR([PKG_CONFIG], [pkg-config])
   AC_ARG_VAR([PKG_CONFIG_PATH], [where else pkg-config looks])
   AC_PATH_PROGS([PKG_CONFIG], [pkg-config pkgconf], [none])
   AS_IF([test "$PKG_CONFIG" = none],
     [AC_MSG_ERROR([pkg-config is needed and was not found (Debian package: pkgconf)])])])

# WEFT_CHECK_LINKER
#
# The check of what came out of which archive reads the link map, in the form
# that GNU ld writes.
AC_DEFUN([WEFT_CHECK_LINKER],
  [AC_MSG_CHECKING([whether $CC links with GNU ld])
   weft_linker=`$CC $CFLAGS $LDFLAGS -Wl,--version 2>/dev/null | sed 1q`
   AS_CASE([$weft_linker],
     [*"GNU ld"*], [AC_MSG_RESULT([yes])],
     [AC_MSG_RESULT([${weft_linker:-no}])
      AC_MSG_ERROR([$CC links with "${weft_linker:-something unknown}", and GNU ld is needed for the check of the link map (Debian package: binutils; for clang, LDFLAGS=-fuse-ld=bfd)])])])

# WEFT_CHECK_AFXDP
#
# Ports of type afxdp.  Open vSwitch's configure script looks for the libraries
# by itself.  It is told where it is to do without, so that it is built anew
# when they come.
AC_DEFUN([WEFT_CHECK_AFXDP],
  [AC_ARG_ENABLE([afxdp],
     [AS_HELP_STRING([--disable-afxdp],
        [build without ports of type afxdp @<:@default: with them, if libbpf and libxdp are there@:>@])],
     [AS_CASE([$enableval],
        [yes | no | auto], [],
        [AC_MSG_ERROR([--enable-afxdp=$enableval: it takes yes, no or auto])])],
     [enable_afxdp=auto])
   weft_afxdp_needs=
   AS_IF([test "$enable_afxdp" != no],
     [AC_CHECK_HEADER([linux/if_xdp.h], [],
        [weft_afxdp_needs="linux/if_xdp.h (Debian package: linux-libc-dev)"])
      AC_CHECK_LIB([numa], [numa_alloc_onnode], [:],
        [weft_afxdp_needs="libnuma (Debian package: libnuma-dev)"])
      AC_CHECK_LIB([xdp], [libxdp_strerror], [:],
        [weft_afxdp_needs="libxdp (Debian package: libxdp-dev)"], [-lbpf])
      AC_CHECK_LIB([bpf], [bpf_xdp_detach], [:],
        [weft_afxdp_needs="libbpf 0.7 or later (Debian package: libbpf-dev)"])
      AC_CHECK_HEADER([xdp/xsk.h], [],
        [weft_afxdp_needs="xdp/xsk.h (Debian package: libxdp-dev)"])
      AC_CHECK_HEADER([bpf/libbpf.h], [],
        [weft_afxdp_needs="bpf/libbpf.h (Debian package: libbpf-dev)"])])
   WEFT_AFXDP_OPTION=
   AS_IF([test "$enable_afxdp" = no],
       [WEFT_AFXDP_OPTION=--disable-afxdp
        weft_afxdp_summary="no (--disable-afxdp)"],
     [test -z "$weft_afxdp_needs"],
       [AS_IF([test "$enable_afxdp" = yes],
          [WEFT_AFXDP_OPTION=--enable-afxdp])
        weft_afxdp_summary=yes],
     [test "$enable_afxdp" = yes],
       [AC_MSG_ERROR([--enable-afxdp takes $weft_afxdp_needs, which was not found; see config.log])],
     [WEFT_AFXDP_OPTION=--disable-afxdp
      weft_afxdp_summary="no, for want of $weft_afxdp_needs"
      AC_MSG_WARN([there will be no ports of type afxdp, for want of $weft_afxdp_needs; --disable-afxdp says that this is meant])])
   AC_SUBST([WEFT_AFXDP_OPTION])])
