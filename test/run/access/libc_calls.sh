#!/usr/bin/env bash
# libc_calls.sh: random programs make calls of libc with known accesses to blocks (libc_calls.py).
# If it fails, libc's accesses to a block are counted wrongly, so a block in use is called unused,
# or a program behaves differently when it is recorded.
#
# LIBC_PROGRAMS is the number of programs for each build (default 10), LIBC_SEED the first seed.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc
programs=${LIBC_PROGRAMS:-10}

# programs NAME CC OPTION...
programs() {
    local name=$1 compiler=$2
    shift 2
    if ! command -v "$compiler" >/dev/null; then
        echo "ok - $name # SKIP $compiler is not installed"
        return
    fi
    run_python "$area/libc_calls.py" "$HEAPTAP" "$compiler" "$name" "$programs" "$@" ||
        failures=$((failures + 1))
}

programs gcc gcc --granule=8
programs apart clang --granule=8 --reads-writes
programs together clang --granule=8
programs static clang --granule=8 --reads-writes -static-pie
programs fortified gcc --granule=8 -DFORTIFIED
# `heaptap cc` undefines the level for gcc, and leaves it to clang.
level=(-O2 -D_FORTIFY_SOURCE=3)
if [ "$(gcc -dumpversion | cut -d. -f1)" -ge 12 ]; then
    programs level3 gcc --granule=8 "${level[@]}"
    programs level3-apart clang --granule=8 --reads-writes "${level[@]}"
else
    echo "ok - level3 # SKIP gcc before 12 has no such level"
fi
finish
