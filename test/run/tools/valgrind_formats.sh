#!/usr/bin/env bash
# valgrind_formats.sh: what valgrind's own tools read in our exports is what heaptap reports, number
# by number (valgrind_formats.py). If it fails, somebody who looks at a profile with kcachegrind,
# ms_print or dh_view sees other numbers than we recorded.
. "$SRCDIR/test/run/lib.subr"
need python3 callgrind_annotate ms_print

record recursive.heaptap "$PROG/recursive"
record containers.heaptap "$PROG/containers"
"$HEAPTAP" run --quiet --sample-count 3 -o sampled.heaptap -- "$PROG/containers" >/dev/null 2>&1
export READINGS=$PWD/readings
python3 "$area/valgrind_formats.py" "$HEAPTAP" recursive.heaptap containers.heaptap \
    sampled.heaptap || failures=$((failures + 1))
run_python "$SRCDIR/test/run/readings.py" valgrind_formats "$READINGS" || failures=$((failures + 1))
finish
