# SPDX-License-Identifier: Apache-2.0
#
# Where Open vSwitch's source tree is, and how it is to be configured.

# WEFT_TREE_VERSION(DIR, VARIABLE)
#
# Sets VARIABLE to the version of the Open vSwitch source tree DIR, or to
# nothing if DIR is something else.
AC_DEFUN([WEFT_TREE_VERSION],
  [$2=
   AS_IF([test -f "$1/configure.ac" && test -f "$1/vswitchd/ovs-vswitchd.c"],
     [$2=`sed -n \
        's/^AC@&t@_INIT(@<:@@<:@@:>@*openvswitch@:>@*, *@<:@@<:@@:>@*\(@<:@0-9@:>@@<:@^@:>@, )@:>@*\).*/\1/p' \
        "$1/configure.ac"`])])

# WEFT_CHECK_OPENVSWITCH
#
# Sets OVS_SOURCE to a source tree of the version that we replace parts of.
AC_DEFUN([WEFT_CHECK_OPENVSWITCH],
  [weft_ovs_version=3.5.0
   weft_ovs_get='"utilities/openvswitch-source" prints the path of one, and gets it first where there is none (Debian package: openvswitch-source)'
   AC_ARG_VAR([OVS_SOURCE], [Open vSwitch source tree, where --with-openvswitch is left out])
   AC_ARG_WITH([openvswitch],
     [AS_HELP_STRING([--with-openvswitch=DIR],
        [Open vSwitch 3.5.0 source tree @<:@default: what utilities/openvswitch-source has provided@:>@])],
     [AS_CASE([$withval],
        [yes | no],
          [AC_MSG_ERROR([--with-openvswitch=$withval: it takes the directory of an Open vSwitch $weft_ovs_version source tree])])
      OVS_SOURCE=$withval
      weft_ovs_by=--with-openvswitch],
     [weft_ovs_by=OVS_SOURCE])
   AC_MSG_CHECKING([for Open vSwitch $weft_ovs_version])
   AS_IF([test -z "$OVS_SOURCE"],
     [for weft_tree in openvswitch-source/usr/src/openvswitch \
          "$srcdir/build/openvswitch-source/usr/src/openvswitch" \
          /usr/src/openvswitch; do
        WEFT_TREE_VERSION([$weft_tree], [weft_found])
        AS_IF([test "$weft_found" = $weft_ovs_version],
              [OVS_SOURCE=$weft_tree; break])
      done
      AS_IF([test -z "$OVS_SOURCE"],
        [AC_MSG_RESULT([none])
         AC_MSG_ERROR([no Open vSwitch $weft_ovs_version source tree was found.  Say --with-openvswitch=DIR; $weft_ovs_get])])])
   AS_IF([test ! -d "$OVS_SOURCE"],
     [AC_MSG_RESULT([none])
      AC_MSG_ERROR([$weft_ovs_by: "$OVS_SOURCE" is not a directory, and an Open vSwitch $weft_ovs_version source tree is needed; $weft_ovs_get])])
   OVS_SOURCE=`cd "$OVS_SOURCE" && pwd`
   WEFT_TREE_VERSION([$OVS_SOURCE], [weft_found])
   AC_MSG_RESULT([${weft_found:-something else} in $OVS_SOURCE])
   AS_IF([test -z "$weft_found"],
     [AC_MSG_ERROR([$weft_ovs_by: "$OVS_SOURCE" is not an Open vSwitch source tree (it has no configure.ac that says so), and one of version $weft_ovs_version is needed; $weft_ovs_get])])
   AS_IF([test "$weft_found" != $weft_ovs_version],
     [AC_MSG_ERROR([$weft_ovs_by: "$OVS_SOURCE" is Open vSwitch $weft_found, and $weft_ovs_version is needed; $weft_ovs_get])])
   AS_IF([test ! -x "$OVS_SOURCE/configure"],
     [AC_MSG_ERROR([$weft_ovs_by: "$OVS_SOURCE" has no configure script; run ./boot.sh there])])
   AS_IF([test -f "$OVS_SOURCE/config.status"],
     [AC_MSG_ERROR([$weft_ovs_by: "$OVS_SOURCE" has been configured itself, and then no other directory can be; run "make distclean" there])])
   weft_ovs_package=
   AS_IF([test -f "$OVS_SOURCE/debian/changelog"],
     [weft_ovs_package=`sed 1q "$OVS_SOURCE/debian/changelog"`])
   AC_SUBST([OVS_SOURCE])])

# WEFT_PASS_DIR(NAME)
AC_DEFUN([WEFT_PASS_DIR],
  [AC_ARG_WITH([$1],
     [AS_HELP_STRING([--with-$1=DIR],
        [as with Open vSwitch's own configure script])],
     [weft_ovs_with="$weft_ovs_with --with-$1=$withval"])])

# WEFT_OPENVSWITCH_OPTIONS
#
# Writes to openvswitch.options what Open vSwitch is to be configured with, one
# shell-quoted word a line, and leaves the file alone where nothing changed:
# make throws Open vSwitch's build away and begins again when it does.
AC_DEFUN([WEFT_OPENVSWITCH_OPTIONS],
  [weft_ovs_with=
   WEFT_PASS_DIR([rundir])
   WEFT_PASS_DIR([logdir])
   WEFT_PASS_DIR([dbdir])
   WEFT_PASS_DIR([pkidir])
   weft_dpdk_shared=no
   AS_IF([test $weft_dpdk = yes], [weft_dpdk_shared=shared])
   AC_CONFIG_COMMANDS([openvswitch.options],
     [{
        echo "# $weft_ovs_package"
        for weft_option in "$weft_ovs_source/configure" \
            "--prefix=$weft_prefix" "--exec-prefix=$weft_exec_prefix" \
            "--bindir=$weft_bindir" "--sbindir=$weft_sbindir" \
            "--libdir=$weft_libdir" "--includedir=$weft_includedir" \
            "--sysconfdir=$weft_sysconfdir" "--datarootdir=$weft_datarootdir" \
            "--datadir=$weft_datadir" "--mandir=$weft_mandir" \
            "--localstatedir=$weft_localstatedir" \
            $weft_ovs_with $weft_ovs_afxdp \
            --disable-shared --enable-silent-rules --enable-ssl \
            --enable-libcapng "--with-dpdk=$weft_dpdk_shared" \
            "CC=$weft_cc" "CFLAGS=$weft_cflags" "CPPFLAGS=$weft_cppflags" \
            "LDFLAGS=$weft_ldflags" "LIBS=$weft_libs" \
            "PYTHON3=$weft_python3"; do
          printf '%s\n' "$weft_option" | sed "s/'/'\\\\''/g; s/^/'/; s/\$/'/"
        done
      } > openvswitch.options.new
      if cmp -s openvswitch.options.new openvswitch.options; then
        rm -f openvswitch.options.new
      else
        mv openvswitch.options.new openvswitch.options
      fi],
     [weft_ovs_package='$weft_ovs_package'
      weft_ovs_source='$OVS_SOURCE'
      weft_prefix='$prefix'
      weft_exec_prefix='$exec_prefix'
      weft_bindir='$bindir'
      weft_sbindir='$sbindir'
      weft_libdir='$libdir'
      weft_includedir='$includedir'
      weft_sysconfdir='$sysconfdir'
      weft_datarootdir='$datarootdir'
      weft_datadir='$datadir'
      weft_mandir='$mandir'
      weft_localstatedir='$localstatedir'
      weft_ovs_with='$weft_ovs_with'
      weft_ovs_afxdp='$WEFT_AFXDP_OPTION'
      weft_dpdk_shared='$weft_dpdk_shared'
      weft_cc='$CC'
      weft_cflags='$CFLAGS $SANITIZE_CFLAGS'
      weft_cppflags='$CPPFLAGS'
      weft_ldflags='$LDFLAGS'
      weft_libs='$WEFT_SHIM_LIBS $LIBS'
      weft_python3='$PYTHON3'])])

# WEFT_SUMMARY
AC_DEFUN([WEFT_SUMMARY],
  [AC_MSG_NOTICE([
  Open vSwitch:  $weft_found in $OVS_SOURCE
  DPDK:          $weft_dpdk_summary
  AF_XDP:        $weft_afxdp_summary
  libunwind:     $weft_libunwind
  libunbound:    $weft_libunbound
  compiler:      $CC $CFLAGS $SANITIZE_CFLAGS])])
