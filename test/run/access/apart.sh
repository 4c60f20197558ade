#!/usr/bin/env bash
# apart.sh: separate counts of reads and writes, for blocks with known accesses. If it fails,
# heaptap reports memory as never read that is read, or misses memory that is filled but never read.
#
# With each available clang, with the option, and gcc, which always separates them: apart.py.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/access/compilers.subr"
need python3

with_each_compiler apart.py
finish
