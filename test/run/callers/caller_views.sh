#!/usr/bin/env bash
# caller_views.sh: views and limits of profiles with sampled callers. If it fails, a limit passes
# although it is exceeded, or a number that depends on callers is shown as exact.
. "$SRCDIR/test/run/lib.subr"
need python3 setarch
called=$PROG/called
py() {
    python3 "$area/caller_views.py" "$@" || failures=$((failures + 1))
}

py leaks "$HEAPTAP" "$called"
py marks "$HEAPTAP" "$called"
py rare "$HEAPTAP" "$called"
py types "$HEAPTAP" "$called"
finish
