#! /bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every source file is in an automake.mk, so that none is left out of the build
# or of the checks unnoticed.

set -u
cd "${weft_srcdir:?}" || exit 1
status=0
for file in $(find lib include tests utilities vswitchd \
        \( -name '*.c' -o -name '*.h' -o -name '*.at' \) | LC_ALL=C sort); do
    grep -qsF -- "$file" Makefile.am build-aux/automake.mk */automake.mk \
            lib/*/automake.mk tests/*/automake.mk || {
        echo "$file is in no automake.mk"
        status=1
    }
done
[ $status -ne 0 ] || echo "ok every source file is listed"
exit $status
