#!/usr/bin/env bash
# attach_hook.sh: heaptap attach and allocators that are a part of the program. If it fails, an
# attach counts their blocks wrong, changes the process, or leaves something in it.
#
# ATTACH_ROUNDS=50 attaches that often to each program that churns.
. "$SRCDIR/test/run/lib.subr"
need python3
need gcc
export HEAPTAP PROG SRCDIR PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/test/run/attach"
"$HEAPTAP" attach 1 2>&1 | grep -q "built without Zydis" && skip_all "built without Zydis"

check "malloc in the program" python3 "$area/own.py" exported
check "malloc in a program at a fixed address" python3 "$area/own.py" fixed
check "malloc in a program with IBT" python3 "$area/own.py" ibt
for name in jemalloc tcmalloc_minimal mimalloc; do
    archive=$(gcc -print-file-name="lib$name.a")
    for form in static renamed; do
        [ "$form" = static ] || [ "$name" = jemalloc ] || continue
        if [ -f "$archive" ]; then
            rm -f exact.heaptap
            check "$name, $form" python3 "$area/exact.py" "$form" "$archive"
        else
            echo "skip - $name, $form: there is no lib$name.a"
        fi
    done
done
check "hidden malloc in the program" python3 "$area/own.py" hidden
check "local functions of other names" python3 "$area/own.py" local
check "names in a separate debug file" python3 "$area/own.py" debug
check "refused hooks" python3 "$area/hooks_refused.py"
check "a hooked library is unloaded" python3 "$area/unloaded.py"
check "busy" python3 "$area/own.py" churn "${ATTACH_ROUNDS:-20}"
finish
