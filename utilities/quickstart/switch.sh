# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# A private switch for a demonstration: daemons, database, sockets and logs in
# one directory, and everything that the kernel sees of it in network
# namespaces that belong to it.  To be sourced after common.sh; needs root.
#
# A switch is known by its directory, $runs/ID, from before anything else of
# it exists.  In there, "owner" has the process that answers for it, until
# "kept" says that it shall stay without one.  Its namespaces are called
# weft-ID-*.  So whatever is left of a switch whose owner was killed can be
# found and removed later.
#
# The switch itself runs in weft-ID-switch: the tap devices that stand for its
# internal ports are made there and go with it, and meet no other switch's.

runs=/run/weft

# Seconds after which a command that a daemon does not answer gives up.
patience=30

new_switch() {
    id=$(printf '%05x' $((($$ ^ SECONDS ^ RANDOM << 5) & 0xfffff)))
    mkdir -p -m 755 "$runs"
    mkdir -m 700 "$runs/$id" || fail "$runs/$id exists already"
    use_switch "$id"
    echo $$ >"$dir/owner"
}

use_switch() {
    id=$1
    dir=$runs/$id
    export OVS_RUNDIR=$dir OVS_LOGDIR=$dir OVS_DBDIR=$dir OVS_SYSCONFDIR=$dir
}

# in_ns NAME COMMAND...: without the descriptors for our messages, which a
# daemon would keep open.
in_ns() {
    local name=$1
    shift
    ip netns exec "weft-$id-$name" "$@" 3>&- 4>&-
}

add_ns() {
    ip netns add "weft-$id-$1" || fail "cannot make a network namespace"
    # Neighbour discovery would only blur the counters.
    in_ns "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
        net.ipv6.conf.default.disable_ipv6=1 2>/dev/null || true
    in_ns "$1" ip link set lo up
}

# find_programs DIR...: sets the variables named like the programs, with "_"
# for "-", to the first DIR's that has it, in the places of a build tree.
find_programs() {
    local program place base found
    for program in vswitchd/ovs-vswitchd ovsdb/ovsdb-server ovsdb/ovsdb-tool \
                   utilities/ovs-vsctl utilities/ovs-ofctl \
                   utilities/ovs-appctl; do
        found=
        for base in "$@"; do
            for place in "$base/$program" "$base/${program##*/}"; do
                if [ -z "$found" ] && [ -x "$place" ] && [ -f "$place" ]; then
                    found=$place
                fi
            done
        done
        [ -n "$found" ] || fail "no ${program##*/} in $*"
        program=${program##*/}
        printf -v "${program//-/_}" %s "$found"
    done
}

vsctl() {
    "$ovs_vsctl" --db="unix:$dir/db.sock" -t $patience "$@"
}

ofctl() {
    "$ovs_ofctl" -t $patience -O OpenFlow15 "$@"
}

appctl() {
    "$ovs_appctl" -T $patience "$@"
}

# start_database SCHEMA
start_database() {
    "$ovsdb_tool" create "$dir/conf.db" "$1" 2>"$dir/ovsdb-tool.log" \
        || fail "no database could be made" "$dir/ovsdb-tool.log"
    in_ns switch "$ovsdb_server" "$dir/conf.db" --detach --no-chdir \
        --remote="punix:$dir/db.sock" --pidfile="$dir/ovsdb-server.pid" \
        --log-file="$dir/ovsdb-server.log" \
        >"$dir/ovsdb-server.out" 2>&1 </dev/null \
        || fail "ovsdb-server did not start" \
            "$dir/ovsdb-server.out" "$dir/ovsdb-server.log"
    vsctl --no-wait init || fail "the database does not answer" \
        "$dir/ovsdb-server.log"
}

start_switch() {
    in_ns switch "$ovs_vswitchd" "unix:$dir/db.sock" --detach --no-chdir \
        --pidfile="$dir/ovs-vswitchd.pid" \
        --log-file="$dir/ovs-vswitchd.log" \
        >"$dir/ovs-vswitchd.out" 2>&1 </dev/null \
        || fail "ovs-vswitchd did not start" \
            "$dir/ovs-vswitchd.out" "$dir/ovs-vswitchd.log"
}

# stop_daemon PIDFILE: asks, waits, insists.
stop_daemon() {
    local pid tries
    pid=$(cat "$1" 2>/dev/null) || return 0
    # A process identifier that the system has given to another is not ours.
    case $(cat "/proc/$pid/comm" 2>/dev/null) in
        ovs*) ;;
        *) return 0 ;;
    esac
    kill -TERM "$pid" 2>/dev/null
    for ((tries = 0; tries < 50; tries++)); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null
    sleep 0.2
}

# Removes all that there is of the switch in use.  May be called at any time
# and more than once.
remove_switch() {
    local ns pids tries
    [ -n "${dir:-}" ] && [ -d "$dir" ] || return 0
    stop_daemon "$dir/ovs-vswitchd.pid"
    stop_daemon "$dir/ovsdb-server.pid"
    for ns in $(ip netns list 2>/dev/null | awk '{ print $1 }' \
                | grep "^weft-$id-"); do
        for ((tries = 0; tries < 20; tries++)); do
            pids=$(ip netns pids "$ns" 2>/dev/null)
            [ -n "$pids" ] || break
            # shellcheck disable=SC2086
            kill -KILL $pids 2>/dev/null
            sleep 0.1
        done
        ip netns delete "$ns"
    done
    # Of DPDK's, named after the switch by --file-prefix.
    rm -rf "/run/dpdk/weft-$id" "/var/run/dpdk/weft-$id"
    rm -rf "$dir"
    rmdir "$runs" 2>/dev/null || true
}

# owner_alive: whether the process that made the switch in use still runs.
owner_alive() {
    local pid
    pid=$(cat "$dir/owner" 2>/dev/null) || return 1
    [ -r "/proc/$pid/cmdline" ] || return 1
    tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q quickstart
}

# Calls remove_switch for each switch whose owner is gone; with "kept" for
# those that were meant to stay, too.  Prints the directory of each.
remove_others() (
    for dir in "$runs"/*/; do
        [ -d "$dir" ] || continue
        use_switch "$(basename "$dir")"
        if [ -e "$dir/kept" ]; then
            [ "${1:-}" = kept ] || continue
        elif owner_alive; then
            continue
        fi
        remove_switch
        echo "$dir"
    done
)
