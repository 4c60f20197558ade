#!/usr/bin/env bash
# site_number.sh: `report --site N` shows the stack that other views call #N. If it fails, the
# number leads to another stack or other amounts, or is an error although it exists.
. "$SRCDIR/test/run/lib.subr"
need python3 jq

record widgets.heaptap "$PROG/widgets" 10000
record containers.heaptap "$PROG/containers"
record history.heaptap "$PROG/slowleak" 30000 20000
record arenas.heaptap "$PROG/two_arenas"
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/toy.heaptap "$PROG/toy" 1 300 0 truth
"$HEAPTAP" run --quiet -o session.heaptap -- sh -c '"$1" 10000; "$2"; true' - \
    "$PROG/widgets" "$PROG/containers" >/dev/null 2>&1

# amounts FILE OPTIONS...: print the four rows of amounts.
amounts() {
    COLUMNS=${WIDTH:-} "$HEAPTAP" report --site "${@:2}" "$1" 2>err |
        sed -n '/^Stack #/,$s/^  \(Allocated\|Freed\|At the peak\|Still live at end\) /&/p' |
        tr -s ' '
}
same "a stack of the widgets" " Allocated 5,019 999.9 KiB 50.2 %
 Freed 0 0 B 0.0 %
 At the peak 5,019 999.9 KiB 50.2 %
 Still live at end 5,019 999.9 KiB 100.0 %" "$(amounts widgets.heaptap 1)"
"$HEAPTAP" report --site 2 widgets.heaptap >text 2>err
same "its place among the stacks" "Stack #2  of 2" "$(grep '^Stack' text)"
same "its sizes" 1 "$(grep -cx ' *4,981  992.3 KiB  100.0 %  204 B' text)"
same "its type" 1 "$(grep -cx ' *4,981  992.3 KiB  100.0 %  ✓widget' text)"
same "its frames" "make_widget make_blue_widget main" \
    "$(sed -n 's/^      \([a-z_]*\)  .*widgets\.c:[0-9]*$/\1/p' text | xargs)"
check "its module" grep -qx "      in $(realpath "$PROG/widgets")" text
same "a part of the run: sizes are of the whole" 1 \
    "$("$HEAPTAP" report --site 1 --between start..end history.heaptap 2>err |
        grep -c 'sizes in the whole run$')"

# The numbers of other views, with the same options.
for options in "" "--filter main" "--no-fold" "--fold-recursion" "--depth 2"; do
    check "numbers of containers $options" run_python "$area/site_number.py" "$HEAPTAP" \
        containers.heaptap $options
done
for options in "--between start..end" "--at end" "--at peak"; do
    check "numbers of history $options" run_python "$area/site_number.py" "$HEAPTAP" \
        history.heaptap $options
done
check "numbers of arenas" run_python "$area/site_number.py" "$HEAPTAP" arenas.heaptap \
    --heap "session arena"
for options in --language-only --no-language-only --native; do
    check "numbers of toy $options" run_python "$area/site_number.py" "$HEAPTAP" toy.heaptap \
        $options
done

# JSON has the same stack, with the number.
"$HEAPTAP" report --json --site 2 widgets.heaptap >site.json 2>err
same "JSON" '{"number":2,"highest":2,"live_blocks":0,"allocations":4981,"sizes":[[204,204,4981]],
"types":[["widget","certain",4981]],"sites":[2]}' \
    "$(jq -c '{numbered: .numbered} | .numbered | {number, highest, live_blocks, allocations,
         sizes: [.by_size[] | [.size_min, .size_max, .allocations]],
         types: [.by_type[] | [.type, .verdict, .allocations]]}' site.json |
       sed 's/}$//; s/,"types"/,\n"types"/'
       )$(jq -c '.sites.number' site.json | sed 's/^/,"sites":/; s/$/}/')"

# refused STATUS MESSAGE ARGS...: check that report ARGS fails with MESSAGE and prints nothing else.
refused() {
    "$HEAPTAP" report "${@:3}" >out 2>err
    same "${*:3}: status" "$1" $?
    same "${*:3}: message" "heaptap: $2" "$(head -1 err)"
    same "${*:3}: no output" "" "$(cat out)"
}
for json in "" --json; do
    refused 2 "there is no stack #3: the numbers are 1 to 2" --site 3 $json widgets.heaptap
    refused 2 "there is no stack #9999999999: the numbers are 1 to 2" --site 9999999999 $json \
        widgets.heaptap
    refused 2 "stack #2 is not shown with these options, which leave it out or merge it with a \
smaller number; the numbers are 1 to 2" --site 2 --filter red $json widgets.heaptap
done
refused 2 "--site shows one stack and excludes --by, --tree and --invert" --site 1 --by function \
    widgets.heaptap
check "zero is no number" eval '! "$HEAPTAP" report --site 0 widgets.heaptap >out 2>err'

# In a session, each process has its own numbers; --full adds up the processes.
"$HEAPTAP" report --site 1 session.processes >text 2>err
check "a session: the stack of each process" [ "$(grep -c '^Stack #1 ' text)" -ge 2 ]
same "a sum: one stack" 1 \
    "$("$HEAPTAP" report --full --site 1 session.processes 2>err | grep -c '^Stack #1 ')"

# The first screen mentions the option where it has room.
same "the first screen" 1 \
    "$(COLUMNS=80 "$HEAPTAP" report widgets.heaptap 2>err | grep -c '^More: .*, --site N,')"
finish
