#!/usr/bin/env bash
# hostile_types.sh: programs whose debug information is damaged at random. If it fails, a foreign
# file crashes heaptap, or keeps it busy forever, while it looks for types.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc g++ readelf

# Without a cache, each report reads all of the debug information.
export XDG_CACHE_HOME=/dev/null/none
gcc -g -O2 "$SRCDIR/test/prog/typed.c" -o c
g++ -g -O1 "$SRCDIR/test/prog/typed_classes.cc" -o cc
for program in c cc; do
    "$HEAPTAP" run --quiet --no-pack -o "$program.heaptap" -- "./$program"
    check "$program: damaged debug information" python3 "$area/hostile_types.py" \
        "$HEAPTAP" "$program" "$program.heaptap" "${HOSTILE_TYPES:-60}"
done
finish
