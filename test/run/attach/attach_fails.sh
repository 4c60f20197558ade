#!/usr/bin/env bash
# attach_fails.sh: attaches and detaches that fail, are killed or are refused. If it fails,
# something stays in the process, or the process ends.
#
# ATTACH_KILLS=300 kills that many commands.
. "$SRCDIR/test/run/lib.subr"
need python3
export HEAPTAP PROG PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/test/run/attach"
"$HEAPTAP" attach 1 2>&1 | grep -q "built without Zydis" && skip_all "built without Zydis"

check "each step fails once" python3 "$area/steps.py" "$ORACLE/tool_attach_faults" \
    "$BUILD/libheaptap_attach.so"
check "the command is killed" python3 "$area/killed.py" "${ATTACH_KILLS:-20}"
check "in odd situations" python3 "$area/confined.py"
check "refused" python3 "$area/refused.py"
finish
