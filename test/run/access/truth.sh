#!/usr/bin/env bash
# truth.sh: the counts for blocks with known accesses. If it fails, heaptap reports hot memory as
# cold, or a used field as unused.
#
# truth.py runs with each available clang, and gcc, for granules of 8, 16 and 64 bytes.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/access/compilers.subr"
need python3

with_each_compiler truth.py
finish
