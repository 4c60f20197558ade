#!/usr/bin/env bash
# annotating.sh: `heaptap run --annotate`: programs behave as without it, each block has the facts
# of the profile, and damage is reported with its culprit. If it fails, the option breaks programs,
# or names the wrong culprit.
. "$SRCDIR/test/run/lib.subr"
need python3

part() {
    run_python "$area/annotating.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" "$@" ||
        failures=$((failures + 1))
}
part same
part dumps
part refused
part found
run_python "$area/overflow_trials.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" || failures=$((failures + 1))
finish
