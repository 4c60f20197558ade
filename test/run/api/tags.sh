#!/usr/bin/env bash
# tags.sh: heaps of the program's own, labels, and what backs a heap. If it fails, bytes are shown
# under the wrong heap or label, twice or not at all, or a damaged file is believed.
. "$SRCDIR/test/run/lib.subr"
need python3

tags() {
    python3 "$area/tags.py" "$HEAPTAP" "$@" || failures=$((failures + 1))
}

tags views
tags exports
tags real "$PROG/two_arenas"
tags agree "$PROG/own_heaps"
tags damage
finish
