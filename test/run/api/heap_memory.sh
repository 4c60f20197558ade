#!/usr/bin/env bash
# heap_memory.sh: the recorder's memory for objects in a program's heaps. If it fails, a program
# with many small objects grows without bound, a limit on memory does not hold, or objects that lie
# close to one another are confused.
. "$SRCDIR/test/run/lib.subr"
need python3

count=200000
slack=$((1024 * 1024)) # Pages of the finest to the coarsest tier, and initial tables.

# number FILE MEMBER: print a number of the report's totals or losses, or of the process.
number() {
    "$HEAPTAP" report --json "$1" | python3 -c '
import json, sys
def find(of):
    if isinstance(of, dict):
        if sys.argv[1] in of and isinstance(of[sys.argv[1]], (int, float)):
            return of[sys.argv[1]]
        of = list(of.values())
    for inner in of if isinstance(of, list) else []:
        found = find(inner)
        if found is not None:
            return found
print(find(json.load(sys.stdin)))' "$2"
}

at_most() { # at_most VALUE BOUND
    echo "$1, bound $2"
    [ "$1" -le "$2" ]
}

for size in 1 2 3 4 8 16 24 48 64 100 128 512 1024 4096; do
    record small.heaptap "$PROG/heap_memory" $size $count
    same "with objects of $size bytes the program runs" 0 "$status"
    check "an object of $size bytes takes at most 16 bytes" \
        at_most "$(cat small.heaptap.out)" $((16 * count + slack))
    same "of objects of $size bytes, half are live" $((count / 2 * size)) \
        "$(number small.heaptap live_bytes)"
done

# Objects with gaps between them: SIZE STRIDE RUN GAP.
while read -r size stride run gap; do
    kind="of $size bytes each $stride bytes, $run by $run with gaps of $gap bytes,"
    record apart.heaptap "$PROG/heap_memory" "$size" $count "$stride" "$run" "$gap"
    same "with objects $kind the program runs" 0 "$status"
    check "an object $kind takes at most 16 bytes" \
        at_most "$(cat apart.heaptap.out)" $((16 * count + slack))
    same "of objects $kind half are live" $((count / 2 * size)) \
        "$(number apart.heaptap live_bytes)"
done <<'END'
16 100000 1000000 0
3 17 300 100000
16 16 1000 1600000
1 1 300 300000
32000 32000 300 20000000
8 24 150 300000000
END

limit=$((8 << 20))
# Each line is SIZE COUNT [STRIDE RUN GAP].
for size in '3 3000000' '16 3000000' '64 3000000' '16 2000000 20000' \
    '16 2000000 16 300 1000000'; do
    rm -f limited.heaptap
    # shellcheck disable=SC2086 # Several arguments.
    "$HEAPTAP" run --quiet --max-memory 8M -o limited.heaptap -- "$PROG/heap_memory" $size \
        >limited.out
    used=$(($(number limited.heaptap memory_bytes) + $(stat -c %s limited.heaptap)))
    check "with objects ($size) the limit holds" at_most "$used" $limit
    check "the process grows by no more than the limit" at_most "$(cat limited.out)" $limit
    check "objects beyond it are counted as losses" \
        [ "$(number limited.heaptap ledger_events)" -gt 1000000 ]
    "$HEAPTAP" report limited.heaptap >limited.text
    check "the report mentions the losses" \
        grep -q 'blocks whose free could not be followed' limited.text
done

# Heaps that get no memory because of the limit: the report names the limit, not the number of
# heaps.
cat >many_heaps.c <<'END'
#include <heaptap/heaptap.h>
int main(void)
{
    for (int i = 0; i < 200000; i++)
        heaptap_alloc(heaptap_heap_create("request", 0), 0, 1, 3);
    return 0;
}
END
if gcc -O1 -g -I"$SRCDIR/include" -o many_heaps many_heaps.c 2>gcc.err; then
    "$HEAPTAP" run -o many.heaptap --max-memory 4M -- ./many_heaps 2>many.err
    same "heaps beyond the limit: status" 0 $?
    check "heaps beyond the limit are lost" [ "$(number many.heaptap no_memory_events)" -gt 1000 ]
    same "for want of memory alone" 0 "$(number many.heaptap heap_events)"
    "$HEAPTAP" report many.heaptap >many.text
    check "the report names the limit" grep -q 'lost because .* --max-memory$' many.text
    check "and so does the summary of the run" grep -q 'not recorded: .*--max-memory' many.err
else
    echo "ok - heaps beyond the limit # SKIP no gcc"
fi
finish
