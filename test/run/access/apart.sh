#!/usr/bin/env bash
# apart.sh: separate counts of reads and writes, for blocks with known accesses. If it fails,
# heaptap reports memory as never read that is read, or misses memory that is filled but never read.
#
# apart.py runs with each available clang, with the option, and with gcc, which always counts them
# separately.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/access/compilers.subr"
need python3

with_each_compiler apart.py
finish
