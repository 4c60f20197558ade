#!/usr/bin/env bash
# apart.sh: reads and writes apart, of blocks whose accesses are known. If it fails, heaptap says of
# memory that nobody reads it, and it is read; or finds no fault with what is filled for nobody.
#
# With each clang that is there, asked to, and gcc, which does so anyway: apart.py.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/access/compilers.subr"
need python3

with_each_compiler apart.py
finish
