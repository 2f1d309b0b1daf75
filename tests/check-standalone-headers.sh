#! /bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The headers of include/weft need nothing of Open vSwitch: a file that
# includes one and nothing else compiles, with every compiler that is there,
# and without a warning.

set -u
cd "${weft_srcdir:?}/include" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0
n=0

# compile HEADER COMPILER OPTION...
compile()
{
    header=$1
    shift
    n=$((n + 1))
    "$@" -Wall -Wextra -Wpedantic -Werror -I. -c -o "$work/alone.o" \
            "$work/alone.c" > "$work/output" 2>&1 || {
        echo "FAILED: $header with $*"
        tail -n 20 "$work/output" | sed 's/^/    /'
        status=1
    }
}

for header in weft/*.h; do
    # The second time, the header has nothing to say.
    printf '#include "%s"\n#include "%s"\nint alone;\n' "$header" "$header" \
        > "$work/alone.c"
    for cc in "${CC:-cc}" gcc clang; do
        # CC may have options in it.
        command -v ${cc%% *} > /dev/null 2>&1 || continue
        for options in "-std=c11 -O2" "-std=gnu11 -O0" "-std=gnu17 -O3"; do
            compile "$header" $cc $options
        done
    done
done
[ $n -gt 0 ] || { echo "no header was compiled"; exit 1; }
[ $status -ne 0 ] || echo "ok every header of include/weft stands alone"
exit $status
