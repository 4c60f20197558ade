#!/usr/bin/env bash
# walked.sh: blocks and leaks of programs that were not recorded, in processes and in dumps, with
# and without symbols. If it fails, a leak is missing or wrong, or the class of a block.
. "$SRCDIR/test/run/lib.subr"
need python3 strip

cp "$PROG/walked" stripped
strip stripped
run_python "$area/walked.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" || failures=$((failures + 1))
finish
