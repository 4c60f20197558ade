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

"$HEAPTAP" run --quiet --no-pack -o whole.heaptap -- "$PROG/distinct_stacks" $count >out 2>err
for by in site function; do
    "$HEAPTAP" diff --json --metric alloc --by $by whole.heaptap cut.heaptap >$by.json 2>err
    "$HEAPTAP" diff --alloc --by $by whole.heaptap cut.heaptap >$by.text 2>err
    check "diff by $by states the amounts" \
        grep -Eq "^\[truncated stacks\]: 0 B before, [0-9.]+ MiB after$" $by.text
done
check "diff has the root in rows, and the sums of the losses" \
    run_python "$area/truncated_diff.py" report.json site.json function.json
check "a diff by site ends these stacks with it" grep -q "^ *\[truncated stacks\]$" site.text
check "a diff by function marks the column" grep -q "callees ?  function" function.text
"$HEAPTAP" diff --alloc whole.heaptap whole.heaptap >text 2>err
check "a diff without truncated stacks has no mark" sh -c '! grep -q "truncated\|callees ?" text'

# A timeline needs a run that is long enough for a snapshot.
HEAPTAP_NODES=9000 "$HEAPTAP" run --quiet --no-pack -o long.heaptap -- \
    "$PROG/distinct_stacks" 1000000 >out 2>err
for picture in svg flame; do
    "$HEAPTAP" timeline --by allocated --$picture $picture.svg long.heaptap >out 2>err
    check "the timeline's $picture has the root" grep -q "\[truncated stacks\]" $picture.svg
    check "also in a tooltip" sh -c "grep -A40 '<title>' $picture.svg |
        grep -q '^\[truncated stacks\]</title>'"
done
check "and states the lower bounds" grep -q "boxes of other functions show lower bounds" flame.svg
rm svg.svg flame.svg
"$HEAPTAP" run --quiet --no-pack -o long_whole.heaptap -- "$PROG/distinct_stacks" 200000 >out 2>err
"$HEAPTAP" timeline --by allocated --svg svg.svg --flame flame.svg long_whole.heaptap >out 2>err
check "without truncated stacks there is neither" sh -c \
    'test -s svg.svg && test -s flame.svg && ! grep -q "truncated\|lower bounds" svg.svg flame.svg'

"$HEAPTAP" export -f pprof-text -o cut.heap cut.heaptap >out 2>err
check "pprof-text ends these stacks with an address" sh -c \
    'grep -c "^[0-9].* 0x00007fffffffe000$" cut.heap && grep "^[0-9]" cut.heap | grep -vq fffe000'
check "and a warning states the share" grep -Eq \
    "pprof-text has no name for \[truncated stacks\], [0-9.]+ % of the allocated bytes" err
"$HEAPTAP" export -f pprof-text -o whole.heap whole.heaptap >out 2>err
check "without truncated stacks there is neither warning nor address" sh -c \
    'test -s whole.heap && ! test -s err && ! grep -q fffffe000 whole.heap'

"$HEAPTAP" source distinct_stacks.c cut.heaptap >text 2>err
check "annotated source states the lower bounds" grep -q "^\[truncated stacks\]: " text
check "also as JSON" sh -c '"$1" source --json distinct_stacks.c cut.heaptap |
    grep -q "\"inclusive_is_lower_bound\": true"' - "$HEAPTAP"
"$HEAPTAP" source --self distinct_stacks.c cut.heaptap >text 2>err
check "own values are complete" sh -c 'test -s text && ! grep -q "truncated" text'

# Frames that were omitted on request are no loss.
"$HEAPTAP" run --quiet --no-pack --frames 5 -o few.heaptap -- "$PROG/distinct_stacks" $count \
    >out 2>err
"$HEAPTAP" export -f collapsed --metric alloc -o few.collapsed few.heaptap >out 2>err
check "--frames truncates nothing" sh -c 'test -s few.collapsed &&
    ! grep -q "truncated" few.collapsed'
finish
