#!/usr/bin/env bash
# lost_blocks.sh: `heaptap core --leaks` as a gate: blocks that only stacks keep, suppressions,
# limits and repeated readings, on a program with known leaks. If it fails, a gate passes although
# blocks are lost, fails although none is, or a leak hides behind words that are left on a stack.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/lost_blocks.py" "$HEAPTAP" "$PROG/stale_words" "$LIBHEAPTAP" ||
    failures=$((failures + 1))
finish
