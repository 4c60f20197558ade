#!/usr/bin/env bash
# handing.sh: threads that free each other's blocks. If it fails, a table by thread has negative
# rows, or blocks are charged to threads that never had them.
. "$SRCDIR/test/run/lib.subr"
need python3

# There must be a snapshot, so that there is an interval.
"$HEAPTAP" run --quiet --snapshot-growth 100K -o handing.heaptap -- "$PROG/handing"
same "exit status" 0 $?
check "pack" "$HEAPTAP" pack -o packed.heaptap handing.heaptap
python3 "$area/handing.py" "$HEAPTAP" handing.heaptap packed.heaptap || failures=$((failures + 1))
finish
