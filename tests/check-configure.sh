#! /bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# configure and utilities/openvswitch-source say what was found, what is needed
# and where it comes from, before anything is built.

set -u
: "${weft_srcdir:?}" "${OVS_SOURCE:?}"
ovs=$OVS_SOURCE
unset OVS_SOURCE
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# refused WHAT COMMAND PATTERN...: COMMAND has to fail, with messages that match
# all PATTERNs.
refused()
{
    what=$1
    command=$2
    shift 2
    if (cd "$work" && eval "$command") > "$work/output" 2>&1 < /dev/null; then
        echo "FAILED: $what: passed"
        exit 1
    fi
    for pattern do
        grep -q -e "$pattern" "$work/output" || {
            echo "FAILED: $what: no \"$pattern\" in"
            tail -n 5 "$work/output" | sed 's/^/    /'
            exit 1
        }
    done
    echo "ok $what"
}

# tree DIR VERSION: makes what looks like a source tree of Open vSwitch.
tree()
{
    mkdir -p "$1/vswitchd"
    : > "$1/vswitchd/ovs-vswitchd.c"
    echo "AC_INIT(openvswitch, $2, bugs@openvswitch.org)" > "$1/configure.ac"
}

configure=$weft_srcdir/configure
mkdir "$work/empty"
tree "$work/older" 3.1.0
tree "$work/unbooted" 3.5.0
tree "$work/configured" 3.5.0
printf '#! /bin/sh\n' > "$work/configured/configure"
chmod +x "$work/configured/configure"
: > "$work/configured/config.status"

refused "no such directory" "'$configure' --with-openvswitch=$work/none" \
    "error: .*$work/none.* is not a directory" '3\.5\.0 source tree is needed' \
    'Debian package: openvswitch-source'
refused "another directory" "'$configure' --with-openvswitch=$work/empty" \
    "error: .*$work/empty.* is not an Open vSwitch source tree" \
    'Debian package: openvswitch-source'
refused "another version" "'$configure' --with-openvswitch=$work/older" \
    "error: .*$work/older.* is Open vSwitch 3\.1\.0, and 3\.5\.0 is needed" \
    'Debian package: openvswitch-source'
refused "another version in OVS_SOURCE" \
    "OVS_SOURCE=$work/older '$configure'" \
    'error: OVS_SOURCE: .* is Open vSwitch 3\.1\.0, and 3\.5\.0 is needed'
refused "a tree without configure" \
    "'$configure' --with-openvswitch=$work/unbooted" \
    'has no configure script; run ./boot.sh there'
refused "a tree that was configured" \
    "'$configure' --with-openvswitch=$work/configured" \
    'has been configured itself'
refused "no value" "'$configure' --without-openvswitch" \
    '--with-openvswitch=no: it takes the directory'
refused "two sanitizers" \
    "'$configure' --enable-asan --enable-tsan --with-openvswitch=$ovs" \
    '--enable-asan and --enable-tsan exclude each other'
refused "no DPDK" \
    "PKG_CONFIG_LIBDIR=$work PKG_CONFIG_PATH= '$configure' \
        --with-openvswitch=$ovs" \
    'error: DPDK 22\.11 or later is needed' 'Debian package: libdpdk-dev'
printf '%s\n' 'Name: dpdk' 'Description: old' 'Version: 21.11.2' \
    > "$work/libdpdk.pc"
refused "an older DPDK" \
    "PKG_CONFIG_LIBDIR=$work PKG_CONFIG_PATH= '$configure' \
        --with-openvswitch=$ovs" \
    'DPDK 22\.11 or later is needed, and pkg-config finds 21\.11\.2'
refused "a missing library" \
    "ac_cv_lib_cap_ng_capng_clear=no '$configure' \
        --without-dpdk --with-openvswitch=$ovs" \
    'error: libcap-ng is needed' 'Debian package: libcap-ng-dev'
refused "an old Python" "PYTHON3=/bin/false '$configure'" \
    'error: Python 3\.7 or later is needed' 'Debian package: python3'

get=$weft_srcdir/utilities/openvswitch-source
refused "openvswitch-source: another version" \
    "OVS_SOURCE=$work/older '$get' $work/get" \
    'OVS_SOURCE: .* is Open vSwitch 3\.1\.0, and 3\.5\.0 is needed'
refused "openvswitch-source: another directory" \
    "OVS_SOURCE=$work/empty '$get' $work/get" \
    'is not an Open vSwitch source tree'
found=$(OVS_SOURCE=$ovs "$get" "$work/get") && [ "$found" = "$ovs" ] || {
    echo "FAILED: openvswitch-source: $found, not $ovs"
    exit 1
}
echo "ok openvswitch-source: the one that is there"
