#!/usr/bin/env bash
# retain.sh: `heaptap retain` on programs whose pointers are known. If it fails, a block is said to
# be kept by the wrong variable, or memory by roots does not add up to all live memory.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/retain.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" || failures=$((failures + 1))
finish
