#!/usr/bin/env bash
# python_layout.sh: the adapter's offsets in CPython's structures, compared with the headers of each
# installed version. If it fails, stacks of Python programs have wrong names, or none.
. "$SRCDIR/test/run/lib.subr"
need python3

found=0
for python in python3 python3.9 python3.10 python3.11 python3.12 python3.13; do
    headers=$("$python" -c 'import sys, sysconfig; print(sysconfig.get_paths()["include"])
sys.exit(not (3, 9) <= sys.version_info < (3, 14))' 2>/dev/null) || continue
    [ -f "$headers/internal/pycore_frame.h" ] || [ -f "$headers/cpython/frameobject.h" ] || continue
    found=$((found + 1))
    ${CC:-gcc} -w -I"$headers" -I"$headers/internal" -I"$SRCDIR/src/recorder" -o offsets \
        "$area/python_offsets.c" "$SRCDIR/src/recorder/language/python_layout.c"
    same "$python: compiled" 0 $?
    same "$python" "" "$(./offsets)"
done
[ $found -gt 0 ] || skip_all "no headers of CPython 3.9 to 3.13 (python3-dev)"
finish
