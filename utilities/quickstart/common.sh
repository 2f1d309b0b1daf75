# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# What all parts of ./quickstart share: messages, the running of long steps
# and the end of the program.  To be sourced by bash.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
parts=$top/utilities/quickstart
build=$top/build

# Colours only for a person at a terminal.
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m' tty=yes
else
    bold='' red='' green='' plain='' tty=no
fi

# The step that is in progress, for the error message.
step=start

begin() {
    step=$1
    printf '%s==> %s%s\n' "$bold" "$1" "$plain"
}

say() {
    printf '    %s\n' "$*"
}

warn() {
    printf '    %swarning:%s %s\n' "$red" "$plain" "$*" >&2
}

# fail MESSAGE [LOG]...: tells which step failed, shows the last lines of each
# LOG that is there, and ends the program.
fail() {
    local message=$1 log
    shift
    printf '\n%squickstart: step "%s" failed: %s%s\n' \
        "$red" "$step" "$message" "$plain" >&2
    for log in "$@"; do
        [ -s "$log" ] || continue
        printf -- '--- the last lines of %s\n' "$log" >&2
        tail -n "${fail_lines:-25}" "$log" >&2
    done
    exit 1
}

# duration SECONDS: prints "75" as "1 min 15 s".
duration() {
    if [ "$1" -ge 60 ]; then
        printf '%d min %02d s' $(($1 / 60)) $(($1 % 60))
    else
        printf '%d s' "$1"
    fi
}

# Prints how to become root here: nothing when we are, else "sudo".
# Returns 1 when there is no way.
root_command() {
    [ "$(id -u)" -eq 0 ] && return 0
    command -v sudo >/dev/null || return 1
    echo sudo
}

# The session leader that long_step started and that has not ended yet.
child=

# Ends what long_step started, with all that it started in turn, and gives it
# time to clean up: it may be a demonstration with namespaces to remove.
end_child() {
    local pid=$child tries
    [ -n "$pid" ] || return 0
    child=
    kill -TERM -- "-$pid" 2>/dev/null || return 0
    for ((tries = 0; tries < 150; tries++)); do
        kill -0 -- "-$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL -- "-$pid" 2>/dev/null || true
}

# long_step LOG COMMAND...: runs COMMAND with its output in LOG and shows that
# it lives: at a terminal in one line that is written over and over, elsewhere
# in a line each half minute.  Returns what COMMAND returned.
#
# The command gets a session of its own, so that end_child() reaches all of
# its descendants, and no standard input.
long_step() {
    local log=$1 begun=$SECONDS next=30 took last rc
    shift
    mkdir -p "$(dirname "$log")"
    setsid "$@" >"$log" 2>&1 </dev/null &
    child=$!
    sleep 0.2
    while kill -0 "$child" 2>/dev/null; do
        took=$((SECONDS - begun))
        if [ $tty = yes ]; then
            last=$(tail -n 1 "$log" | tr -cd '[:print:]' | cut -c 1-56)
            printf '\r\e[K    %s  %s' "$(duration $took)" "$last"
        elif [ $took -ge $next ]; then
            last=$(tail -n 1 "$log" | tr -cd '[:print:]' | cut -c 1-56)
            say "$(duration $took) ... $last"
            next=$((next + 30))
        fi
        sleep 0.5
    done
    wait "$child" && rc=0 || rc=$?
    # Nothing that the step left behind may outlive it.
    end_child
    [ $tty = no ] || printf '\r\e[K'
    say "took $(duration $((SECONDS - begun)))"
    return $rc
}
