#!/usr/bin/env bash
# valgrind_formats.sh: valgrind's tools must read the numbers of heaptap's report in its exports
# (valgrind_formats.py). If it fails, users who view a profile with kcachegrind, ms_print or dh_view
# see other numbers than heaptap recorded.
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
