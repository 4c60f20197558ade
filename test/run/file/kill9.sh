#!/usr/bin/env bash
# kill9.sh: SIGKILL at random moments. If it fails, the profile is not complete at every instant.
#
# The program counts its events in another file (counted.c). After each kill, the profile must agree
# with that count up to one call per thread, must load without a note, and must add up. KILLS=1000
# makes a long run.
. "$SRCDIR/test/run/lib.subr"
need python3
python3 "$area/kill9.py" "${KILLS:-50}"
