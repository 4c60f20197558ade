#!/usr/bin/env bash
# apart.sh: reads and writes apart, of blocks whose accesses are known. If it fails, heaptap says of
# memory that nobody reads it, and it is read; or finds no fault with what is filled for nobody.
#
# With each clang that is there, asked to, and gcc, which does so anyway: apart.py.
. "$SRCDIR/test/run/lib.subr"
need python3

for compiler in clang clang-14 clang-16 clang-19 clang-22 gcc; do
    if ! command -v $compiler >/dev/null; then
        echo "ok - $compiler # SKIP it is not installed"
        continue
    fi
    run_python "$area/apart.py" "$HEAPTAP" $compiler || failures=$((failures + 1))
done
finish
