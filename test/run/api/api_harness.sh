#!/usr/bin/env bash
# api_harness.sh: several threads use heaps, labels, snapshots and heaptap_write at once, under the
# address, undefined and thread sanitizers (test/harness/own_harness.c). If it fails, the recorder
# has undefined behaviour, or counts wrongly when threads act at once.
. "$SRCDIR/test/run/lib.subr"
need python3

for kind in memory thread; do
    program=$BUILD/test/harness/own_$kind
    rm -f ./*.heaptap text
    "$program" "$PWD/own.heaptap" text >out 2>&1
    same "$kind: exit status" 0 $?
    check "$kind: no report" sh -c '! grep -E "WARNING|ERROR|runtime error" out'
    # The expected counts follow from 6 threads with 188 arenas and 375 labels each.
    python3 "$area/api_tables.py" own.heaptap \
        "heap:pool allocations=18000 live=0 live_bytes=0" \
        "heap:arena allocations=5640 allocated_bytes=47376 frees=5640 live=0" \
        "backing:arena allocations=1128 frees=1128" "record:arena made=1128 destroyed=1128" \
        "malloc allocations=2250 frees=2250" "labels:k=8 allocations=450" \
        "losses heap_events=0 reentrant_events=0 no_memory_events=0" >tables 2>&1 ||
        failures=$((failures + 1))
    sed "s/^\(ok\|not ok\) - /&$kind: /" tables
    check "$kind: the text has all of it" \
        grep -q '^heap profile: 0: 0 \[25890: ' text
done
finish
