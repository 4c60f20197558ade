#!/usr/bin/env bash
# truth.sh: what is counted of blocks whose accesses are known. If it fails, heaptap tells people
# that memory is cold which is hot, or that a field is unused which is not.
#
# With each clang that is there, for granules of 8, 16 and 64 bytes: truth.py.
. "$SRCDIR/test/run/lib.subr"
need python3

found=0
for clang in clang clang-14 clang-16 clang-19 clang-22; do
    if ! command -v $clang >/dev/null; then
        echo "ok - $clang # SKIP it is not installed"
        continue
    fi
    found=1
    run_python "$area/truth.py" "$HEAPTAP" $clang || failures=$((failures + 1))
done
[ $found = 1 ] || skip_all "needs clang"
finish
