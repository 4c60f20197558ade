#!/usr/bin/env bash
# foreign.sh: the short form of `make foreign`: libraries preloaded before and after the recorder,
# including other allocators, and a C host with a plug-in in C++. If it fails, heaptap changes their
# behaviour, or misses calls that a counter behind it counts; test/torture/torture.py explains the
# table.
. "$SRCDIR/test/run/lib.subr"
need python3
python3 "$SRCDIR/test/torture/torture.py" --group foreign --out "$(dirname "$HEAPTAP")" \
    --build "$BUILD" --short --jobs 2
