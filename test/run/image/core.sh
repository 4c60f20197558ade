#!/usr/bin/env bash
# core.sh: `heaptap core` on dumps of programs whose blocks are known. If it fails, the live blocks
# of a dump are shown wrongly or not shown, a crash is explained by the wrong block, or an
# incomplete dump is read as if it were complete.
. "$SRCDIR/test/run/lib.subr"
need python3

part() {
    run_python "$area/core.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" "$@" || failures=$((failures + 1))
}
part moments
part crashes
part refused
part blocks
part growing
part contained
part interpreter
part debugger "$SRCDIR/src/gdb/heaptap-gdb.py"
finish
