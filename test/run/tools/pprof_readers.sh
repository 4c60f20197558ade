#!/usr/bin/env bash
# pprof_readers.sh: go tool pprof, google-pprof and jeprof must read the numbers of heaptap's report
# in its exports (pprof_readers.py). If it fails, users who view a profile with these tools, or send
# it to a server, see other numbers or another time than heaptap recorded.
. "$SRCDIR/test/run/lib.subr"
need python3

record containers.heaptap "$PROG/containers"
record leak.heaptap "$PROG/slowleak" 20000 20000
"$HEAPTAP" run --quiet --sample 8K -o sample.heaptap -- "$PROG/slowleak" 20000 20000 >/dev/null
python3 "$SRCDIR/test/run/hostile/hostile.py" "$HEAPTAP" make names hostile.heaptap
export READINGS=$PWD/readings
python3 "$area/pprof_readers.py" "$HEAPTAP" "$PROG" || failures=$((failures + 1))
run_python "$SRCDIR/test/run/readings.py" pprof_readers "$READINGS" || failures=$((failures + 1))
finish
