#!/usr/bin/env bash
# copied.sh: searches that read a copy of a process's memory, which the process has forked. If it
# fails, the copy differs from the memory, the program notices it, or a killed command leaves
# something behind in the process.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/copied.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" || failures=$((failures + 1))
finish
