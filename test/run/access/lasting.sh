#!/usr/bin/env bash
# lasting.sh: kill a program, and check its profile's counts for live blocks. If it fails, a server
# that never ends shows nothing about its live blocks, or counts some blocks twice.
#
# Live blocks are merged each second, in steps if there are many; lasting.py checks two programs.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

check "build" "$HEAPTAP" cc --cc=gcc -O1 -pthread -o lasting "$area/lasting.c"
for case in "1000 1 2" "200000 1 2" "200000 2 2" "1000 2 2 $BUILD/libheaptap.so"; do
    run_python "$area/lasting.py" ./lasting $case || failures=$((failures + 1))
done
finish
