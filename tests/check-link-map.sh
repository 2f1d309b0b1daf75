#! /bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# build-aux/check-link-map has to pass the map of our switch and to fail for
# all else: this links programs that are wrong on purpose.

set -u
: "${weft_srcdir:?}" "${weft_builddir:?}" "${CC:?}"
check=$weft_srcdir/build-aux/check-link-map
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "FAILED: $*"
    [ ! -s "$work/errors" ] || sed 's/^/    /' "$work/errors"
    exit 1
}

# refused WHAT PATTERN...: the last map must have been refused, with messages
# that match all PATTERNs.
refused()
{
    what=$1
    shift
    if sh "$check" "$work/map" 2> "$work/errors"; then
        fail "$what: passed"
    fi
    for pattern do
        grep -q "$pattern" "$work/errors" || fail "$what: no \"$pattern\" in"
    done
    echo "ok $what"
}

sh "$check" "$weft_builddir/vswitchd/ovs-vswitchd.map" 2> "$work/errors" \
    || fail "the map of our own switch was refused"
echo "ok our own switch"

# Open vSwitch's own switch has all of them.
cd "$weft_builddir/openvswitch" || exit 1
link="sh ./libtool --silent --tag=CC --mode=link $CC -g"
objects="vswitchd/bridge.o vswitchd/ovs-vswitchd.o vswitchd/system-stats.o"
sanitize=$(sed -n 's/^CFLAGS = //p' Makefile)
$link $sanitize -Wl,-Map="$work/map" -o "$work/upstream" $objects \
    ofproto/libofproto.la lib/libsflow.la lib/libopenvswitch.la \
    > "$work/link.log" 2>&1 || fail "$(cat "$work/link.log")"
refused "Open vSwitch's own switch" 'own libopenvswitch.a(seq.o)' \
    'own libopenvswitch.a(ovs-rcu.o)' 'own libopenvswitch.a(dpif-netdev.o)' \
    'libopenvswitch.a(dpif-netdev-perf.o) was linked, for .*(.*)' \
    'nothing of libweft.a'

# Ours in front, and one symbol that it forgot: here, all but what defines
# seq_read().
printf '%s\n' 'void seq_create(void) {}' > "$work/part.c"
printf '%s\n' 'void seq_read(void); int main(void) { seq_read(); return 0; }' \
    > "$work/main.c"
$CC -c -o "$work/part.o" "$work/part.c" && $CC -c -o "$work/main.o" \
    "$work/main.c" && ar cq "$work/libweft.a" "$work/part.o" || exit 1
# The link itself fails on the symbol that both define; the map is there.
$link $sanitize -Wl,-Map="$work/map" -Wl,--noinhibit-exec \
    -Wl,--allow-multiple-definition \
    -Wl,--whole-archive,"$work/libweft.a",--no-whole-archive \
    -o "$work/forgot" "$work/main.o" lib/libopenvswitch.la \
    > "$work/link.log" 2>&1 || fail "$(cat "$work/link.log")"
refused "a forgotten symbol" \
    'own libopenvswitch.a(seq.o) was linked, for .*(seq_read)'
if grep -q 'nothing of libweft.a' "$work/errors"; then
    fail "a forgotten symbol: ours was not seen"
fi

echo 'not a map' > "$work/map"
refused "something else" 'not a link map'
rm "$work/map"
refused "no map" 'no such link map'
