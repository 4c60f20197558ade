#!/usr/bin/env bash
# rss.sh: `heaptap rss` on programs whose use of memory is known. If it fails, the parts of the
# resident memory do not add up, or the memory that malloc_trim would return is wrong.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/rss.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" || failures=$((failures + 1))
finish
