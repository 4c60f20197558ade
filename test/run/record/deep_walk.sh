#!/usr/bin/env bash
# deep_walk.sh: stacks around the depth that the recorder follows, in random order. If it fails,
# a stack of at most 1,024 frames lacks some after a deeper one, a deeper one has fewer than 1,024,
# or a stack has frames of another one.
. "$SRCDIR/test/run/lib.subr"
need python3

# walk NAME LOW HIGH STEPS SEED
walk() {
    local name=$1
    shift
    record walk.heaptap "$PROG/deep_walk" "$@"
    "$HEAPTAP" report --json --no-fold walk.heaptap >walk.json
    run_python "$area/deep_walk.py" "$name" walk.heaptap.out walk.json || failures=$((failures + 1))
}
walk "900 to 1,300 frames, seed 1" 900 1300 6000 1
walk "900 to 1,300 frames, seed 2" 900 1300 6000 2
walk "1 to 3,000 frames" 1 3000 6000 3
walk "1,400 to 2,200 frames" 1400 2200 6000 4
finish
