#!/usr/bin/env bash
# truncated.sh: stacks that a limit of the recorder has truncated, in trees, tables and exports. If
# it fails, a picture hides how much belongs to unknown callers, or an inclusive value looks
# complete.
. "$SRCDIR/test/run/lib.subr"
need python3

count=20000
HEAPTAP_NODES=9000 "$HEAPTAP" run --quiet --no-pack -o cut.heaptap -- \
    "$PROG/distinct_stacks" $count >out 2>err
same "exit status" 0 $?
"$HEAPTAP" report --json --no-fold cut.heaptap >report.json 2>err
"$HEAPTAP" report --json --tree --metric alloc cut.heaptap >tree.json 2>err
"$HEAPTAP" report --json --invert --metric alloc cut.heaptap >inverted.json 2>err
for metric in alloc count; do
    "$HEAPTAP" export -f collapsed --metric $metric -o $metric.collapsed cut.heaptap >out 2>err
done
check "trees and collapsed stacks have a root with the bytes and calls of the losses" \
    python3 "$area/truncated.py" $count report.json tree.json inverted.json alloc.collapsed \
    count.collapsed

for format in callgrind dhat speedscope massif csv chrome heaptrack firefox flamegraph; do
    "$HEAPTAP" export -f $format -o cut.$format cut.heaptap >out 2>err
    check "$format has the root" grep -q "\[truncated stacks\]" cut.$format
done
"$HEAPTAP" export -f pprof -o cut.pb.gz cut.heaptap >out 2>err
check "pprof has the root" sh -c 'zcat cut.pb.gz | grep -aq "\[truncated stacks\]"'

"$HEAPTAP" report --tree --metric alloc cut.heaptap >text 2>err
check "the tree has it" grep -Eq "^ +[0-9.]+ % +[0-9.]+ MiB +\[truncated stacks\]$" text
"$HEAPTAP" report --by function cut.heaptap >text 2>err
check "a table marks its inclusive column" grep -q "inclusive ≥" text
check "and states the share" grep -Eq \
    "^\[truncated stacks\]: [0-9,]+ or [0-9.]+ % of the calls, [0-9.]+ MiB or [0-9.]+ % of" text
"$HEAPTAP" report --by function --metric count "$SRCDIR/test/golden/v1/"*.heaptap >text 2>err
check "without truncated stacks there is no mark" sh -c '! grep -q "≥\|truncated" text'

# Frames that were omitted on request are no loss.
"$HEAPTAP" run --quiet --no-pack --frames 5 -o few.heaptap -- "$PROG/distinct_stacks" $count \
    >out 2>err
"$HEAPTAP" export -f collapsed --metric alloc -o few.collapsed few.heaptap >out 2>err
check "--frames truncates nothing" sh -c 'test -s few.collapsed &&
    ! grep -q "truncated" few.collapsed'
finish
