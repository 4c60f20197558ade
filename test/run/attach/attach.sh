#!/usr/bin/env bash
# attach.sh: heaptap attach and detach. If it fails, an attach counts wrong, changes the process, or
# leaves something in it.
#
# ATTACH_ROUNDS=50 attaches that often to each program that churns.
. "$SRCDIR/test/run/lib.subr"
need python3
export HEAPTAP PROG PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/test/run/attach"
"$HEAPTAP" attach 1 2>&1 | grep -q "built without Zydis" && skip_all "built without Zydis"

check "exact" python3 "$area/exact.py"
for library in jemalloc.so.2 tcmalloc.so.4 mimalloc.so.2 mimalloc.so.3; do
    if ldconfig -p | grep -qF "lib$library "; then
        rm -f exact.heaptap
        check "exact with ${library%%.*}" python3 "$area/exact.py" "lib$library"
    else
        echo "skip - exact with $library: not installed"
    fi
done
check "rounds" python3 "$area/rounds.py" "${ATTACH_ROUNDS:-10}"
check "exceptions" python3 "$area/throws.py"
check "traps" python3 "$area/traps.py"
check "system calls that wait" python3 "$area/waits.py" 10
check "in the foreground" python3 "$area/foreground.py"
check "blocks from before" python3 "$area/earlier.py"
check "forked children" python3 "$area/children.py"
check "several processes" python3 "$area/several.py"
finish
