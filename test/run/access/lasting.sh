#!/usr/bin/env bash
# lasting.sh: a program that is killed, and what its profile has of the blocks that lived. If it
# fails, a server that never ends says nothing of what it keeps, or counts some of it twice.
#
# Blocks are merged each second, in steps if there are many: lasting.py looks at two of that kind.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

check "build" "$HEAPTAP" cc --cc=gcc -O1 -pthread -o lasting "$area/lasting.c"
for case in "1000 1 2" "200000 1 2" "200000 2 2"; do
    run_python "$area/lasting.py" ./lasting $case || failures=$((failures + 1))
done
finish
