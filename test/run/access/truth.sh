#!/usr/bin/env bash
# truth.sh: what is counted of blocks whose accesses are known. If it fails, heaptap tells people
# that memory is cold which is hot, or that a field is unused which is not.
#
# With each clang that is there, and gcc, for granules of 8, 16 and 64 bytes: truth.py.
. "$SRCDIR/test/run/lib.subr"
need python3

for compiler in clang clang-14 clang-16 clang-19 clang-22 gcc; do
    if ! command -v $compiler >/dev/null; then
        echo "ok - $compiler # SKIP it is not installed"
        continue
    fi
    run_python "$area/truth.py" "$HEAPTAP" $compiler || failures=$((failures + 1))
done
finish
