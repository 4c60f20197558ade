#!/usr/bin/env bash
# mprof.sh: the tables of mprof, as text, in the layout of 1988 and as JSON. If it fails, a number
# in them is wrong, or they differ from the guide "Reading mprof's tables".
#
# The tables of the programs widgets and recursive are known by construction. For other programs,
# tables.py adds up every table once more from the sites; for the recursive ones, the sites are
# compared with the oracle's.
. "$SRCDIR/test/run/lib.subr"
need python3

# shows NAME WANTED COMMAND...: check the output of heaptap, except for the header with its times.
shows() {
    local name=$1 wanted=$2
    shift 2
    "$HEAPTAP" "$@" >shown 2>shown.err </dev/null
    same "$name: exit status" 0 $?
    same "$name" "$wanted" "$(sed '/^pid /,/^  Short-lived/d' shown)"
}

# fails NAME STATUS MESSAGE COMMAND...: check COMMAND's exit status and a line of its stderr
fails() {
    local name=$1 wanted=$2 message=$3
    shift 3
    "$HEAPTAP" "$@" >shown 2>shown.err </dev/null
    same "$name: exit status" "$wanted" $?
    check "$name: message" grep -qF -- "$message" shown.err
}

# fits COLUMNS COMMAND...: check that no line of the output is wider or ends in a blank.
fits() {
    local columns=$1
    shift
    "$HEAPTAP" "$@" >shown 2>shown.err </dev/null || return 1
    [ -s shown ] && ! LC_ALL=C.UTF-8 grep -nE ".{$((columns + 1))}|[[:blank:]]$" shown
}

# json NAME EXPRESSION COMMAND...: check a Python expression about COMMAND's document d.
json() {
    local name=$1 expression=$2
    shift 2
    "$HEAPTAP" "$@" --json >shown 2>shown.err </dev/null
    check "$name" python3 -c '
import json, sys
d = json.load(open("shown"))
assert eval("(" + sys.argv[1] + ")"), json.dumps(d, indent=1)' "$expression"
}

record widgets.heaptap "$PROG/widgets"
same "widgets: exit status" 0 "$status"
shows "leaks --paths" "Still live at end: 999.9 KiB in 5,019 blocks, 1 path
Whether anything still points to these blocks has not been checked.

blocks       live        %  path
 5,019  999.9 KiB  100.0 %  || > main > make_red_widget > make_widget
Paths: || is where the program begins, each > a call; the last one allocates" \
    leaks --paths widgets.heaptap
for view in callgraph functions; do
    for layout in --wide --json --classic; do
        "$HEAPTAP" $view --at peak $layout widgets.heaptap >default 2>shown.err
        same "$view --at peak $layout: exit status" 0 $?
        check "$view --at peak $layout: live bytes" cmp default <("$HEAPTAP" $view --at peak \
            --inuse $layout widgets.heaptap)
    done
done
shows "leaks --classic" "  allocs       bytes (%)  path

    5019    1023876 (99)  || > main > make_red_widget > make_widget" \
    leaks --classic widgets.heaptap
json "leaks --paths --json" 'd["format"] == "heaptap-leak-paths" and d["leaks"] == [{"allocs": 5019,
    "bytes": 1023876, "percent": 100, "path": ["main", "make_red_widget", "make_widget"],
    "cut": False, "heap": "malloc"}]' leaks --paths widgets.heaptap
shows "leaks --callers" "Still live at end: 999.9 KiB in 5,019 blocks, 1 path
Whether anything still points to these blocks has not been checked.

blocks       live        %  path
 5,019  999.9 KiB  100.0 %  || > ... > make_red_widget > make_widget
Paths: || is where the program begins, each > a call; the last one allocates" \
    leaks --callers 2 widgets.heaptap
json "leaks --callers --json" \
    'd["leaks"][0]["path"] == ["make_widget"] and d["leaks"][0]["cut"] is True' \
    leaks --callers 1 widgets.heaptap

json "--callers means --paths, its default too" \
    'd["format"] == "heaptap-leak-paths" and len(d["leaks"][0]["path"]) == 3' \
    leaks --callers 5 widgets.heaptap
fails "the gate holds for paths" 1 "999.9 KiB are still live" \
    leaks --paths --fail-over 1K widgets.heaptap

shows "direct --classic" \
"  % mem       bytes | % mem(size) |  bytes kept | % all kept  |     calls  name
----------------------s--m--l--x-----------------s--m--l--x-------------------
            2040000 |    99       |     1023876 |    99       |     10000  <TOTAL>
  100.0     2040000 |    99       |     1023876 |    99       |     10000  make_widget" \
    direct --classic widgets.heaptap
shows "direct" "$PROG/widgets

    %  allocated               kept             calls  function
100.0       1.9M  mmmmmmmm   999.9K  mmmmmmmm  10,000  total
100.0       1.9M  mmmmmmmm   999.9K  mmmmmmmm  10,000  make_widget
Bars: the % by size of block: s to 32 B, m to 256, l to 2048, x above" direct widgets.heaptap
json "direct --json" 'd["format"] == "heaptap-direct" and d["metric"] == "alloc" and [
    {k: v for k, v in row.items() if k not in ("module", "file")} for row in d["direct"]] == [{
    "function": "make_widget", "bytes": 2040000, "kept_bytes": 1023876, "calls": 10000,
    "bytes_by_class": {"s": 0, "m": 2040000, "l": 0, "x": 0},
    "kept_by_class": {"s": 0, "m": 1023876, "l": 0, "x": 0}}]' direct widgets.heaptap
json "direct --inuse" '[(r["bytes"], r["calls"]) for r in d["direct"]] == [(1023876, 10000)]' \
    direct --inuse widgets.heaptap

rule=------------------------------------s--m--l--x----s--m--l--x------------------------------
shows "callgraph --classic" \
"index   self          self (%)  |  size-ances |  frac-ances | called/total    ancestors
           +                     |  size-func  |             | called+recur  name [index]
        desc                     |  size-desc  |  frac-desc  | called/total    descendants
$rule
[0]     100.0            0 (0)   |             | ----------- |            0  main [0]
                   1023876 (50)  |    99       |    50       |    5019/5019    make_red_widget [2]
                   1016124 (49)  |    99       |    49       |    4981/4981    make_blue_widget [3]
          all      2040000       |    99       |             |
$rule
          all      2040000       |    99       |             |
                   1023876 (50)  |    99       |    50       |    5019/5019    make_red_widget [2]
                   1016124 (49)  |    99       |    49       |    4981/4981    make_blue_widget [3]
[1]     100.0      2040000 (100) |    99       | ----------- |        10000  make_widget [1]
$rule
                   1023876 (100) |    99       |    99       |   5019/10000    main [0]
[2]      50.2            0 (0)   |             | ----------- |         5019  make_red_widget [2]
                   1023876 (100) |    99       |    99       |   5019/10000    make_widget [1]
$rule
                   1016124 (100) |    99       |    99       |   4981/10000    main [0]
[3]      49.8            0 (0)   |             | ----------- |         4981  make_blue_widget [3]
                   1016124 (100) |    99       |    99       |   4981/10000    make_widget [1]
$rule" \
    callgraph --classic widgets.heaptap
shows "callgraph --function" "index  allocated      %  sizes           called  function

          999.9K  100.0  mmmmmmmm  5,019/10,000    main [0]
[2]       999.9K   50.2  mmmm             5,019  make_red_widget
          999.9K  100.0  mmmmmmmm  5,019/10,000    make_widget [1]

[1] is a function: callers above, callees below; called 3/9: 3 of 9 allocations
% of the total on a function's own line, of the function above and below it
Bars: the % by size of block: s to 32 B, m to 256, l to 2048, x above" \
    callgraph --function make_red widgets.heaptap
json "callgraph --json" '[[r[m] for m in ("function", "index", "self_bytes", "inclusive_bytes",
    "calls", "recursive_calls", "cycle")] for r in d["callgraph"]] == [
    ["main", 0, 0, 2040000, 0, 0, None], ["make_widget", 1, 2040000, 2040000, 10000, 0, None],
    ["make_red_widget", 2, 0, 1023876, 5019, 0, None],
    ["make_blue_widget", 3, 0, 1016124, 4981, 0, None]]' callgraph widgets.heaptap
json "an index is a name, too" '[r["function"] for r in d["callgraph"]] == ["make_widget"]' \
    callgraph --function '[1]' widgets.heaptap
json "a whole name before parts of names" \
    '[r["function"] for r in d["callgraph"]] == ["make_widget"]' \
    callgraph --function make_widget widgets.heaptap

record more.heaptap "$PROG/widgets" 100000
json "100,000 widgets" '[[r["bytes"], r["kept_bytes"], r["calls"]] for r in d["direct"]] == [
    [20400000, 10200816, 100000]]' direct more.heaptap

# The paper's figure 7, and further stacks; the program's head comment has the expected numbers.
record recursive.heaptap "$PROG/recursive"
same "recursive: exit status" 0 "$status"
json "recursion" '{r["function"]: [r[m] for m in ("self_bytes", "inclusive_bytes", "calls",
    "recursive_calls", "cycle")] for r in d["callgraph"]} == {
    "main": [0, 446, 0, 0, None], "F": [0, 10, 1, 1, 3], "G": [10, 10, 1, 1, 3],
    "one": [12, 28, 7, 5, 2], "two": [9, 21, 6, 3, 2], "three": [7, 15, 5, 2, 2],
    "apply": [0, 400, 4, 6, 1], "step": [400, 400, 4, 6, 1], "down": [8, 8, 1, 4, None]}' \
    callgraph recursive.heaptap
json "recursion, calls" 'sorted([r["function"], a["function"], a["bytes"], a["calls"]]
    for r in d["callgraph"] for a in r["descendants"]) == [
    ["F", "G", 10, 1], ["G", "F", 10, 1], ["apply", "step", 400, 4], ["main", "F", 10, 1],
    ["main", "apply", 400, 4], ["main", "down", 8, 1], ["main", "one", 28, 7],
    ["one", "two", 21, 6], ["step", "apply", 300, 3], ["three", "one", 10, 4],
    ["two", "three", 15, 5]]' callgraph recursive.heaptap
json "recursion, cycles" '[[r[m] for m in ("cycle", "self_bytes", "inclusive_bytes", "calls",
    "functions")] for r in d["cycles"]] == [[1, 400, 400, 4, ["apply", "step"]],
    [2, 28, 28, 7, ["one", "two", "three"]], [3, 10, 10, 1, ["F", "G"]]]' \
    callgraph recursive.heaptap
shows "a cycle as a whole" "index  allocated      %  sizes     called  function

              28  100.0  ssssssss    7/13    main [0]
[4]           28    6.3  s           7+15  <cycle 2 as a whole>
              28  100.0  ssssssss            (itself)
              28  100.0  ssssssss     7+5    one <cycle 2> [5]
              21   75.0  ssssss       6+3    two <cycle 2> [6]
              15   53.6  ssss         5+2    three <cycle 2> [7]

[1] is a function: callers above, callees below; called 3/9: 3 of 9 allocations
% of the total on a function's own line, of the function above and below it
Bars: the % by size of block: s to 32 B, m to 256, l to 2048, x above" \
    callgraph --function '[4]' recursive.heaptap
check "recursion is written once in a path" grep -qF "|| > main > (apply > step) x 4" <(
    "$HEAPTAP" leaks --callers 0 --limit 99 recursive.heaptap)
if [ -e "$ORACLE/liboracle.so" ] && ldconfig -p | grep -q 'libunwind\.so\.8'; then
    both oracle "$PROG/recursive"
    compare_all "recursion against the oracle" oracle
else
    echo "ok - recursion against the oracle # SKIP the oracle or libunwind.so.8 is not there"
fi

# Return the line, or the offset that addr2line accepts where no line is known.
record article.heaptap "$PROG/article"
json "leaks --call-sites" '[[r["path"], r["call_sites"], r["bytes"]] for r in d["leaks"]] == [
    [["main", "a"], ["article.c:34", "article.c:26"], 4],
    [["main", "a", "b"], ["article.c:34", "article.c:27", "article.c:20"], 4],
    [["main", "b"], ["article.c:35", "article.c:20"], 3]]' leaks --call-sites article.heaptap
objcopy --strip-debug "$PROG/article" bare
record bare.heaptap ./bare
json "leaks --call-sites without lines" '[r["path"] for r in d["leaks"]] == [["main", "a"],
    ["main", "a", "b"], ["main", "b"]] and all(s.startswith("bare+0x") for r in d["leaks"]
    for s in r["call_sites"])' leaks --call-sites bare.heaptap

# Real programs: C++, threads, exceptions, callbacks, truncated stacks, and the allocations of
# libraries before main.
record containers.heaptap "$PROG/containers"
json "start-up is separate" '[a["function"] for r in d["callgraph"] for a in r["descendants"]
    if r["function"] == "(outside main)"] and [r["calls"] for r in d["callgraph"]
    if r["function"] in ("main", "(outside main)")] == [0, 0]' callgraph containers.heaptap
json "leaks shows the blocks that start-up keeps" \
    '[r["path"][0] for r in d["leaks"] if r["bytes"] > 65536] == [
    "(outside main)"]' leaks --paths --no-builtin-suppressions containers.heaptap

# A main that ends with a tail call, and all that runs outside of it. A copy of the C library
# without build id has no debug information.
cat >tail.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#define APART __attribute__((noinline))
void *volatile kept;
APART int work(int size) { kept = malloc(size); return 0; }
APART int app(int count) { for (int i = 0; i < 9; i++) work(1000); return count - 1; }
__attribute__((constructor)) static APART void before(void) { kept = malloc(10); }
__attribute__((destructor)) static APART void after(void) { kept = malloc(20); }
static void handler(void) { kept = malloc(30); }
static void *thread(void *arg) { kept = malloc(40); return arg; }
APART int start(int count)
{
    pthread_t t;
    atexit(handler);
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    return app(count);
}
int main(int count, char **arguments) { (void)arguments; return start(count); }
C
gcc -g -O2 -o tail tail.c -pthread
record tail.heaptap ./tail
mkdir bare_libc
libc=$(ldd ./tail | sed -n 's/.*libc\.so\.6 => \(.*\) (.*/\1/p')
cp "$libc" bare_libc/libc.so.6
objcopy --strip-all --remove-section .gnu_debuglink --remove-section .note.gnu.build-id \
    bare_libc/libc.so.6
record bare_tail.heaptap env LD_LIBRARY_PATH="$PWD/bare_libc" ./tail
for program in tail bare_tail; do
    json "$program: roots" '{tuple(r["path"][i] for i in (0, -1)): r["bytes"]
        for r in d["leaks"]} == {("start", "work"): 9000,
        ("(outside main)", "before"): 10, ("(outside main)", "after"): 20,
        ("(outside main)", "handler"): 30, ("thread", "thread"): 40}' \
        leaks --paths --callers 0 $program.heaptap
done

record deep.heaptap "$PROG/deep" 3 2000
json "callers that were not recorded" '[r["recursive_calls"] > 0 for r in d["callgraph"]
    if r["function"] == "down"] == [True] and [[a["function"], a["calls"]] for r in d["callgraph"]
    for a in r["ancestors"] if a["function"] == "(unknown callers)"] == [
    ["(unknown callers)", 3]]' callgraph deep.heaptap
record random.heaptap "$PROG/random_mt" 1 1 3000
record threads.heaptap "$PROG/threads"
record callbacks.heaptap "$PROG/callbacks"
record exceptions.heaptap "$PROG/exceptions"
# C functions, which tables.py distinguishes by their modules.
"$HEAPTAP" run --quiet --no-language -o python.heaptap -- python3 -c \
    'import json; json.dumps([[1, [2, {"a": [3]}]]] * 9)' </dev/null
for program in widgets recursive containers deep random threads callbacks exceptions python \
    tail bare_tail; do
    check "$program: the tables add up" timeout 300 python3 "$area/tables.py" \
        "$HEAPTAP" $program.heaptap alloc
done
for metric in inuse peak temporary count; do
    check "containers: the tables add up by $metric" python3 "$area/tables.py" \
        "$HEAPTAP" containers.heaptap $metric
done

# A view that shows stacks numbers them; #0 would be an unassigned number.
for view in report "report --full" "report --full --by function" "report --alloc" \
    "report --by site" leaks; do
    # shellcheck disable=SC2086
    check "numbers of stacks: $view" awk '/#[1-9]/ { found = 1 } /#0/ { exit wrong = 1 }
        END { exit wrong || !found }' <("$HEAPTAP" $view recursive.heaptap)
done

# A name and a call site that together are wider than the line.
cat >a_source_file_of_a_long_name.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) void *a_function_with_a_name_that_fills_most_of_the_line(void)
{
    return malloc(10);
}
int main(void)
{
    return a_function_with_a_name_that_fills_most_of_the_line() == NULL;
}
C
gcc -g -O0 -o long_names a_source_file_of_a_long_name.c
record long_names.heaptap ./long_names

for program in widgets recursive containers random python long_names; do
    check "$program: leaks --paths fits" fits 80 leaks --paths --callers 0 $program.heaptap
    check "$program: leaks --call-sites fits" fits 80 leaks --call-sites $program.heaptap
    check "$program: leaks --classic fits" fits 80 leaks --classic $program.heaptap
    check "$program: direct fits" fits 80 direct -n 99 $program.heaptap
    check "$program: callgraph fits" fits 80 callgraph -n 99 $program.heaptap
    check "$program: direct --classic fits" fits 100 direct --classic -n 99 $program.heaptap
    check "$program: callgraph --classic fits" fits 105 callgraph --classic $program.heaptap
done
check "a whole name with --wide" grep -q 'std::allocator<char> > >' <(
    "$HEAPTAP" direct --wide --no-fold -n 99 containers.heaptap)

# Graphviz reads the output.
for options in "" "--function step" "--inuse -n 3"; do
    # shellcheck disable=SC2086
    "$HEAPTAP" callgraph --dot $options recursive.heaptap >graph.dot
    if command -v dot >/dev/null; then
        check "callgraph --dot $options" dot -Tplain -o graph.plain graph.dot
    else
        echo "ok - callgraph --dot $options # SKIP no dot (package graphviz)"
    fi
done
same "dot: functions and calls around one" "2 2" "$("$HEAPTAP" callgraph --dot --function step \
    recursive.heaptap | awk '/->/ { calls++ } /label=.*fillcolor/ { functions++ }
    END { print functions, calls }')"

fails "a function that is not there" 3 "no function of the call graph matches 'nothing'" \
    callgraph --function nothing widgets.heaptap
fails "two forms at once" 2 "choose one" callgraph --dot --json widgets.heaptap
mkdir session
"$HEAPTAP" run --quiet -o session/ -- sh -c "\"$PROG/widgets\"; \"$PROG/recursive\"; exit 0"
check "a picture of a session is of its processes together" grep -q 'label="make_widget' <(
    "$HEAPTAP" callgraph --dot --only widgets,recursive session)
check "a picture of one of them" grep -q 'label="step' <(
    "$HEAPTAP" callgraph --dot --only recursive session)
json "a function of a session" '[[r["function"] for r in p["callgraph"]] for p in d["profiles"]] ==
    [["make_widget"]]' callgraph --function make_widget --only widgets,recursive session
check "the tables of a session" test "$("$HEAPTAP" direct session | grep -c 'total$')" -ge 2
finish
