#!/usr/bin/env bash
# distinct.sh: programs with a known number of distinct stacks, more than 2^20 nodes. If it fails,
# the profile of a program with many stacks lacks their outer callers, or a limit on memory changes
# its sums, or its report states a wrong amount of truncated stacks.
#
# DISTINCT_STACKS=3000000 makes three million stacks instead of 300,000.
. "$SRCDIR/test/run/lib.subr"
need python3

# An even number.
count=${DISTINCT_STACKS:-300000}
# record NAME OPTION…
record() {
    local name=$1
    shift
    "$HEAPTAP" run --quiet --no-pack "$@" -o "$name.heaptap" -- \
        "$PROG/distinct_stacks" "$count" >out 2>err
    same "$name: exit status" 0 $?
    "$HEAPTAP" report --json --no-fold "$name.heaptap" >"$name.json" 2>err
}

record whole --max-memory 4G
record bounded --max-memory 16M
record few --max-memory 4G --frames 5

check "all stacks are whole, or exactly the truncated ones count as such" \
    python3 "$area/distinct.py" "$count" whole.json bounded.json few.json
"$HEAPTAP" report --full bounded.heaptap >text 2>err
check "the report states the limit" \
    grep -q "the recorder's memory was limited to 16.0 MiB; --max-memory" text
finish
