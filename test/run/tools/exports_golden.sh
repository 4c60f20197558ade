#!/usr/bin/env bash
# exports_golden.sh: compare a small profile in each format, byte for byte, with the file in
# exported/ beside this script (exports_golden.py). If it fails, the exports have changed for their
# readers. If that is intended, review the difference, run the script in an empty directory, without
# the runner, and copy its files:
#
#     export SRCDIR=... HEAPTAP=... ORACLE=; $SRCDIR/test/run/tools/exports_golden.sh
#     cp small.* $SRCDIR/test/run/tools/exported
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/exports_golden.py" "$HEAPTAP" small || exit 1
for format in $("$HEAPTAP" export --list | sed 's/ .*//'); do
    [ "$format" != perfetto ] || continue
    profile=profile.heaptap
    [ "$format" != memprof ] || profile=accesses.heaptap
    "$HEAPTAP" export -f "$format" --no-fold -o out $profile 2>export.log || exit 1
    python3 "$area/exports_golden.py" "$HEAPTAP" text "$format" <out >"small.$format"
    check "$format: as it was" diff -u "$area/exported/small.$format" "small.$format"
done
same "all formats are there" "$(cd "$area/exported" && echo small.*)" "$(echo small.*)"
finish
