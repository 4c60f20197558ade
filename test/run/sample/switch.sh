#!/usr/bin/env bash
# switch.sh: changes of the recording mode in programs at full load. If it fails, a change loses
# blocks or counts them twice, estimates get into exact numbers, or the free of a block is lost
# because the mode has changed since its allocation.
. "$SRCDIR/test/run/lib.subr"
need python3
py() {
    python3 "$area/switch.py" "$@" || failures=$((failures + 1))
}

for threads in 1 3; do
    py check "$HEAPTAP" "$PROG/switched" $threads
    py callers "$HEAPTAP" "$PROG/switched" $threads
done
if command -v sqlite3 >/dev/null; then
    py sqlite "$HEAPTAP" sqlite3
else
    echo "ok - a database under load # SKIP needs sqlite3"
fi
finish
