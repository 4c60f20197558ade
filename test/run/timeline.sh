#!/usr/bin/env bash
# timeline.sh: views of moments that are past, and `heaptap timeline`. If it fails, a leak that
# grows is not seen, or one is seen that is none, or numbers of one moment are shown for another.
. "$SRCDIR/test/run/lib.subr"
need python3

part() {
    python3 "$SRCDIR/test/run/timeline.py" "$HEAPTAP" "$@" || failures=$((failures + 1))
}
part moments
finish
