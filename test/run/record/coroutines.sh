#!/usr/bin/env bash
# coroutines.sh: blocks allocated on stacks of coroutines, which take turns, grow, and lose their
# outer pages. If it fails, these blocks have wrong stacks, each event there walks the whole stack
# again, or the recorder reads a page that has gone and kills the program.
. "$SRCDIR/test/run/lib.subr"
need python3

# coroutines NAME ARGUMENT…: the program behaves as alone, and nothing is lost.
coroutines() {
    rm -f coroutines.heaptap
    env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/coroutines.heaptap" ${setting:+"$setting"} \
        "$PROG/coroutine_turns" "${@:2}" >out 2>err
    same "$1: exit status" 5 $?
    same "$1: output" done "$(cat out)"
    check "$1: no message" diff /dev/null err
    KNOWN_PREFIX="$1: " known coroutines.heaptap "losses events=0 unknown_frees=0"
}

# walks NAME BOUND: the whole stack was walked at most so many times.
walks() {
    local count

    "$HEAPTAP" report --json coroutines.heaptap >report.json
    count=$(python3 -c '
import json, sys
print(json.load(open("report.json"))["recorder"]["full_unwinds"])')
    check "$1: $count walks of whole stacks, at most $2" [ "$count" -le "$2" ]
}

coroutines "turns" turns 1000
KNOWN_PREFIX="turns: " known coroutines.heaptap \
    "under:shallow_turns allocations=1000 allocated_bytes=50000 frees=1000" \
    "under:middle_turns allocations=1000 allocated_bytes=60000 frees=1000" \
    "under:deep_turns allocations=1000 allocated_bytes=70000 frees=1000" \
    "stack:take,near,deep_turns,below allocations=500 depth=905" \
    "stack:take,near,far,deep_turns,below allocations=500 depth=906" \
    "under:middle allocations=1000 depth=44 doubtful=0" \
    "under:shallow allocations=1000 depth=7 doubtful=0" \
    "under:deep allocations=1000 depth=906 doubtful=0"
walks "turns" 40
setting=HEAPTAP_FRAMES=20 coroutines "turns, 20 frames" turns 1000
KNOWN_PREFIX="turns, 20 frames: " known coroutines.heaptap \
    "under:shallow allocations=1000 depth=7" \
    "under:deep_turns allocations=1000 depth=20" "under:middle_turns allocations=1000 depth=20"
setting=HEAPTAP_RESERVE=33554432 coroutines "turns, a reserve" turns 1000
KNOWN_PREFIX="turns, a reserve: " known coroutines.heaptap \
    "under:deep_turns allocations=1000" "under:middle_turns allocations=1000"

coroutines "many" many 100
KNOWN_PREFIX="many: " known coroutines.heaptap \
    "under:shallow allocations=2000 allocated_bytes=100000 frees=2000 depth=7 doubtful=0" \
    "under:middle allocations=2000 allocated_bytes=120000 frees=2000 depth=44 doubtful=0"

coroutines "grow" grow 50
KNOWN_PREFIX="grow: " known coroutines.heaptap \
    "under:grow allocations=15000 sites=300 depth=303 doubtful=0"
walks "grow" 60

for how in unmap protect; do
    for frames in 5 400; do
        coroutines "$how, $frames frames" cut $how $frames
        KNOWN_PREFIX="$how, $frames frames: " known coroutines.heaptap \
            "under:cut_off allocations=20 allocated_bytes=1600 doubtful=0" \
            "under:cut_turns allocations=40 allocated_bytes=3400" \
            "under:middle_turns allocations=20"
    done
done
finish
