#! /bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The models of tests/models hold, and each fault seeded into them is caught.

exec "${weft_srcdir:?}/tests/models/run"
