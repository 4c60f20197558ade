#!/usr/bin/env bash
# heap_info.sh: every member of the proposal's Heap Info Block, as `access --json` shows it, of a
# program that forces each: it moves between cpus, lets lives overlap, and reads the clock itself.
# If it fails, people read that blocks migrate, overlap or last as they do not.
. "$SRCDIR/test/run/lib.subr"
need python3

for compiler in clang clang-14 clang-16 clang-19 clang-22 gcc; do
    if ! command -v $compiler >/dev/null; then
        echo "ok - $compiler # SKIP it is not installed"
        continue
    fi
    for granule in 8 16 64; do
        run_python "$area/heap_info.py" "$HEAPTAP" $compiler $granule || failures=$((failures + 1))
    done
done
finish
