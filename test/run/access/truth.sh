#!/usr/bin/env bash
# truth.sh: what is counted of blocks whose accesses are known. If it fails, heaptap tells people
# that memory is cold which is hot, or that a field is unused which is not.
#
# With each clang that is there, and gcc, for granules of 8, 16 and 64 bytes: truth.py.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/access/compilers.subr"
need python3

with_each_compiler truth.py
finish
