#!/usr/bin/env bash
# forked.sh: `heaptap core` on children made by fork, with random heaps whose blocks are known. If
# it fails, blocks that a child inherits from its parent are missing, or seem lost though they are
# not. FORK_TRIALS=2000 makes a long run.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/fork_trials.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" || failures=$((failures + 1))
finish
