#!/usr/bin/env bash
# heaptrack_events.sh: the list of events that `export -f heaptrack` synthesises must add up to
# heaptap's report, stack by stack and moment by moment, according to a reader in
# heaptrack_events.py and to heaptrack_print. If it fails, heaptrack shows another peak, other leaks
# or other calls than heaptap recorded.
. "$SRCDIR/test/run/lib.subr"
need python3

record containers.heaptap "$PROG/containers"
record leak.heaptap "$PROG/slowleak" 20000 20000
record threads.heaptap "$PROG/threads" 4 2000
"$HEAPTAP" run --quiet --sample 8K -o sample.heaptap -- "$PROG/slowleak" 20000 20000 >/dev/null
mkdir session
record session/recursive.heaptap "$PROG/recursive"
cp containers.heaptap session
"$HEAPTAP" merge -o merged.heaptap session >/dev/null 2>&1
python3 "$SRCDIR/test/run/api/tags.py" "$HEAPTAP" make heaps.heaptap
python3 "$SRCDIR/test/run/hostile/hostile.py" "$HEAPTAP" make names hostile.heaptap
export READINGS=$PWD/readings
python3 "$area/heaptrack_events.py" "$HEAPTAP" || failures=$((failures + 1))
run_python "$SRCDIR/test/run/readings.py" heaptrack_events "$READINGS" || failures=$((failures + 1))
finish
