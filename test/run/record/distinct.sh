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

# More than 2^18 sites do not fit into the ledger's short entries. The program frees 31 in 32
# blocks, and each free must find its site.
"$HEAPTAP" run --quiet --no-pack --max-memory 4G -o freed.heaptap -- "$PROG/many_stacks" \
    "$count" >out 2>err
same "many sites: exit status" 0 $?
"$HEAPTAP" report --json --no-fold freed.heaptap >freed.json 2>err
check "many sites: every free is charged to its site" run_python -c '
import documents, sys
count = int(sys.argv[1])
r = documents.load(open("freed.json"))
t, left = r["totals"], (count + 31) // 32
wanted = {"allocations": 2 * count, "live_blocks": 2 * left, "live_bytes": 110 * left}
print({k: t[k] for k in wanted}, wanted, len(r["sites"]), r["losses"])
live = [s["live_blocks"] for s in r["sites"] if s["size_max"] == 100]
sys.exit(any(t[k] != v for k, v in wanted.items()) or len(live) != count
         or set(live) != {0, 1} or sum(live) != left or r["losses"]["unknown_frees"] != 0)' "$count"
finish
