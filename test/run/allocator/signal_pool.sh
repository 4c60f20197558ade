#!/usr/bin/env bash
# signal_pool.sh: events of signal handlers in a thread other than the first, with a reserve and
# without. If it fails, events are missing from both totals and losses, or threads are listed that
# the program does not have.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

gcc -O1 -DPOOL -shared -fPIC -o libsignal_pool.so "$area/signal_pool.c"
gcc -g -O1 -D_GNU_SOURCE -pthread -o signal_pool "$area/signal_pool.c" -L. -lsignal_pool \
    -Wl,-rpath,"$PWD"

# sums PROFILE ALLOCATIONS FREES: check that the events in the profile and those counted as lost add
# up to these.
sums() {
    "$HEAPTAP" report --json "$1" | python3 -c '
import json, sys
d, called = json.load(sys.stdin), sum(map(int, sys.argv[1:]))
broken = "unwind_failures", "broken_bytes", "inclusive_is_lower_bound"
losses = {name: n for name, n in d["losses"].items() if n and name not in broken}
# There are two more blocks: pthread_create allocates one, and printf a buffer.
found = d["totals"]["allocations"] + d["totals"]["frees"] - 2
lost = losses.pop("reentrant_events", 0)
losses.pop("events", 0)
print("called", called, "found", found, "lost", lost, "others", losses)
print("threads", [(t["tid"], t["allocations"]) for t in d["threads"]])
sys.exit(called != found + lost or losses != {} or lost > called // 1000 or
         len({t["tid"] for t in d["threads"]}) != 2)' "$2" "$3"
}

for run in 1 2 3; do
    for reserve in "" "--reserve 100M"; do
        "$HEAPTAP" run --quiet --force $reserve --hook pool_get=malloc --hook pool_put=free \
            -o pool.heaptap -- ./signal_pool >out 2>err
        same "run $run ${reserve:-without a reserve}: exit status" 0 $?
        check "run $run ${reserve:-without a reserve}: each event is found or counted as lost" \
            sums pool.heaptap $(cat out)
    done
done
finish
