#!/usr/bin/env bash
# few_frames.sh: record only the innermost frames of stacks. If it fails, such a profile differs
# from a whole one whose stacks are truncated.
. "$SRCDIR/test/run/lib.subr"
need python3

# same_as_cut N PROGRAM ARGUMENT…: compare recordings of PROGRAM with N frames and with all frames
same_as_cut() {
    local n=$1
    shift
    rm -f whole.heaptap few.heaptap
    "$HEAPTAP" run --quiet --no-pack -o whole.heaptap -- "$@" >out 2>err &&
        "$HEAPTAP" run --quiet --no-pack --frames "$n" -o few.heaptap -- "$@" >few.out 2>err &&
        cmp out few.out || return 1
    "$HEAPTAP" report --json --no-fold whole.heaptap >whole.json 2>err || return 1
    "$HEAPTAP" report --json --no-fold few.heaptap >few.json 2>err || return 1
    python3 "$area/few_frames.py" "$n" whole.json few.json
}
for n in 1 2 5; do
    check "$n frames of widgets" same_as_cut $n "$PROG/widgets" 2000
    check "$n frames of recursive functions" same_as_cut $n "$PROG/recursive"
    check "$n frames of C++ containers" same_as_cut $n "$PROG/containers"
done
check "2 frames on other stacks" same_as_cut 2 "$PROG/coroutine"
# 16 frames are more than an alternate stack's checks cover.
check "16 frames of a deep stack" same_as_cut 16 "$PROG/deep" 300
"$HEAPTAP" report few.heaptap >text 2>err
check "the report states the number of frames" grep -q "stacks are cut to 16 innermost frames" text
"$HEAPTAP" pack -o packed.heaptap few.heaptap >out 2>err
check "also for a packed profile" sh -c \
    '"$1" report packed.heaptap 2>err | grep -q "stacks are cut to 16 inner"' - "$HEAPTAP"
"$HEAPTAP" run --frames 1025 -- true >out 2>err
same "too many: exit status" 2 $?
check "too many: the remedy" grep -q "option '--frames': at most 1024 frames" err
finish
