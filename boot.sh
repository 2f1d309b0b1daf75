#! /bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Generates configure and Makefile.in.  Needs autoconf 2.71 and automake 1.16
# (Debian: autoconf, automake).
set -e
cd "$(dirname "$0")"
exec autoreconf --install --force --warnings=all
