#!/usr/bin/env bash
# bins.sh: the allocation bins of programs whose sizes are known. If it fails, `heaptap bins` counts
# wrongly, shows rows that it should not, or says other things in text than in JSON.
. "$SRCDIR/test/run/lib.subr"
need python3

record bins.heaptap "$PROG/binned"
same "exit status" 0 "$status"
python3 "$SRCDIR/test/run/bins.py" "$HEAPTAP" bins.heaptap || failures=$((failures + 1))
finish
