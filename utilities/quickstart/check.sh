# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# "./quickstart check": builds, runs every suite even when an earlier one
# failed, and closes with one line that has the sums.  To be sourced after
# setup.sh.

passed=0
failed=0
failed_stages=()

# count_tests LOG: sets "good" and "bad" to how many tests LOG reports as
# passed and as failed.
#
# Our runners end with "N passed, N failed, N skipped", which then is all that
# counts, since they know which failures went away when run again; a log may
# have several such lines.  Else it is Autotest's, with one line a test: "12:
# title   ok" or "12: title   FAILED (file:line)".
count_tests() {
    local counts
    counts=$(awk '
        /^[0-9]+ passed, [0-9]+ failed/ { sums = 1; p += $1; f += $3 }
        /^ *[0-9]+: .* (ok|expected failure) *$/ { ok++ }
        /^ *[0-9]+: .* (FAILED|UNEXPECTED PASS)/ { no++ }
        END { print sums ? p : ok + 0, sums ? f : no + 0 }
    ' "$1")
    good=${counts% *}
    bad=${counts#* }
}

# Ends what a suite has left running: daemons that detached themselves, mostly.
# They are known by a variable of their environment, which they inherited.
end_strays() {
    local file pid
    for file in /proc/[0-9]*/environ; do
        pid=${file//[!0-9]/}
        if [ "$pid" -ne $$ ] && [ "$pid" -ne "$BASHPID" ] \
            && grep -qsz "^WEFT_CHECK=$$\$" "$file"; then
            warn "process $pid was left running: $(cut -c 1-160 \
                "/proc/$pid/cmdline" 2>/dev/null | tr '\0' ' ')"
            kill -KILL "$pid" 2>/dev/null
        fi
    done
}

# stage KIND NAME TITLE COMMAND...: runs COMMAND and remembers what came of it.
# KIND is "tests" for a suite, in which no test at all is a failure, and "step"
# for what counts as one test itself.
stage() {
    local kind=$1 name=$2 title=$3 log=$logs/check-$2.log rc good bad
    shift 3
    begin "$title"
    long_step "$log" env WEFT_CHECK=$$ "$@" && rc=0 || rc=$?
    end_strays
    good=0 bad=0
    if [ "$kind" = tests ]; then
        count_tests "$log"
    elif [ $rc -eq 0 ]; then
        good=1
    fi
    if [ "$bad" -eq 0 ] && { [ $rc -ne 0 ] || [ "$good" -eq 0 ]; }; then
        bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    if [ $rc -eq 0 ] && [ "$bad" -eq 0 ]; then
        say "${green}passed${plain}: $good"
    else
        failed_stages+=("$name")
        say "${red}FAILED${plain}: $bad failed, $good passed, exit $rc;" \
            "the last lines of $log:"
        tail -n 40 "$log" | cut -c 1-300
    fi
}

# However it ends, the last line has the sums; an end before all stages were
# done is a failure.
closing() {
    local rc=$?
    [ -n "$complete" ] || failed=$((failed + 1))
    echo "$passed passed, $failed failed"
    exit $rc
}

check() {
    local begun=$SECONDS jobs

    complete=
    trap closing EXIT
    install_packages all dpdk demo check
    find_openvswitch
    configure_tree "$build"
    build_tree "$build"
    jobs=$(nproc)

    stage tests unit "Unit tests" make -C "$build" -j"$jobs" check-unit
    stage tests weft "Our Autotest suite" \
        make -C "$build" -j"$jobs" check-weft TESTSUITEFLAGS="-j$jobs"
    stage tests stress "Changes of everything under traffic, for a minute" \
        make -C "$build" -j"$jobs" check-stress
    stage step differential "The same packets through both datapaths" \
        make -C "$build" -j"$jobs" check-differential
    stage step models "The models of the lock-free algorithms" \
        "$top/tests/models/run"
    stage step docs "The documentation, without a warning" \
        make -C "$build" docs
    stage tests asan "Unit and stress tests under ASan and UBSan" \
        make -C "$build" -j"$jobs" check-asan
    stage tests tsan "Unit and stress tests under TSan" \
        make -C "$build" -j"$jobs" check-tsan
    stage step bench "The comparisons of datapaths, shortened" \
        make -C "$build" bench-datapath-quick bench-latency-quick
    stage tests openvswitch "Open vSwitch's tests of what is replaced" \
        make -C "$build" -j"$jobs" check-openvswitch-part
    stage step demo "The demonstration" "$top/quickstart" --seconds 2

    begin "All stages, in $(duration $((SECONDS - begun)))"
    if [ ${#failed_stages[@]} -gt 0 ]; then
        say "failed: ${failed_stages[*]}"
        say "logs: $logs/check-*.log"
    fi
    complete=yes
    [ ${#failed_stages[@]} -eq 0 ]
}
