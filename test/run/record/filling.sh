#!/usr/bin/env bash
# filling.sh: programs with more stacks than fit into the call tree, which is made small. If it
# fails, allocations after the tree is full are charged to no function or to a wrong one, or the
# report does not state that their stacks are shortened.
. "$SRCDIR/test/run/lib.subr"
need python3

# fill NAME NODES COUNT THREADS: record filling.c with a call tree of NODES nodes
fill() {
    local name=$1 each=$(($3 * ($4 ? $4 : 1) / 3)) half=$(($3 * ($4 ? $4 : 1) / 6))
    HEAPTAP_NODES=$2 "$HEAPTAP" run --quiet --no-pack -o "$name.heaptap" -- \
        "$PROG/filling" "$3" "$4" >out 2>err
    same "$name: exit status" 0 $?
    KNOWN_PREFIX="$name: " known "$name.heaptap" \
        "leaf:leaf_small allocations=$each allocated_bytes=$((24 * each)) live_blocks=$half" \
        "leaf:leaf_middle allocations=$each allocated_bytes=$((100 * each)) live_blocks=$half" \
        "leaf:leaf_large allocations=$each allocated_bytes=$((3000 * each)) live_blocks=$half" \
        "leaf:leaf_known allocations=$((3 * each)) live_blocks=$((3 * each))" \
        "losses events=0 other_site_events=0 truncated_stacks=0 unknown_frees=0" \
        "losses shortened_stacks=1000..$((3 * each))"
}
fill alone 9000 12000 0
fill two 9000 12000 2
fill eight 18000 6000 8
fill tiny 4000 12000 1

"$HEAPTAP" report --full alone.heaptap >text 2>err
check "the report states the number" grep -q "allocations with innermost frames only" text
check "and the remedy" grep -q -- "a larger --max-memory" text
check "and the share in calls and bytes" \
    grep -Eq "[0-9.]+ % of the calls, and [0-9.]+ MiB or [0-9.]+ % of the bytes" text
check "and marks each such stack" grep -q "whose callers found no room" text
"$HEAPTAP" pack -o packed.heaptap alone.heaptap >out 2>err
"$HEAPTAP" merge -o merged.heaptap alone.heaptap packed.heaptap >out 2>err
for name in alone merged; do
    "$HEAPTAP" report --json --no-fold $name.heaptap >$name.json 2>err
done
check "also for a packed and a merged profile" python3 - alone.json merged.json <<'EOF'
import json, sys
one, two = (json.load(open(name)) for name in sys.argv[1:])
assert two["losses"]["shortened_stacks"] == 2 * one["losses"]["shortened_stacks"]
assert sum(two["sites"]["shortened"]) == sum(one["sites"]["shortened"]) > 0
EOF
finish
