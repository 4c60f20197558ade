#!/usr/bin/env bash
# python_scribble.sh: Python programs whose frames are damaged while they allocate, with each
# installed version. If it fails, recording crashes a program whose extension has overwritten the
# interpreter's memory, or whose signal handler interrupts the construction of a frame; or the
# allocations made meanwhile are lost.
. "$SRCDIR/test/run/lib.subr"
need python3
adapter=${LIBHEAPTAP%/*}/libheaptap_python.so
tried=0

for python in python3 python3.9 python3.10 python3.11 python3.12 python3.13; do
    real=$("$python" -c 'import ctypes, sys; print(sys.executable)
sys.exit(not (3, 9) <= sys.version_info < (3, 14))' 2>/dev/null) || continue
    tried=$((tried + 1))
    "$real" "$area/python_scribble.py" "$PROG/libscribble.so" >bare.out 2>&1
    same "$python: bare" 0 $?
    rm -f it.heaptap
    LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/it.heaptap \
        "$real" "$area/python_scribble.py" "$PROG/libscribble.so" >it.out 2>&1
    same "$python: status" 0 $?
    check "$python: output" cmp bare.out it.out
    "$HEAPTAP" report --json --no-fold it.heaptap >it.json 2>/dev/null
    check "$python: each block is there, and damage is shown" \
        run_python - it.json "$(cat bare.out)" <<'END'
import sys

import documents

with open(sys.argv[1], encoding="utf-8") as file:
    sites = documents.load(file)["sites"]
made = [site for site in sites if site["size_min"] <= 300_000 <= site["size_max"]
        and any(frame["function"] == "scribble" for frame in site["stack"])]
count = sum(site["allocations"] for site in made)
damaged = sum(site["allocations"] for site in made
              if any(frame["function"] == "[damaged frames]" for frame in site["stack"]))
print(f"{count} blocks, {damaged} of them with damaged frames")
sys.exit(count != int(sys.argv[2]) or not count / 5 < damaged < count)
END
done
[ $tried -gt 0 ] || skip_all "needs CPython 3.9 to 3.13"
finish
