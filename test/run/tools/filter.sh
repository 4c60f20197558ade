#!/usr/bin/env bash
# filter.sh: the messages of --filter when nothing matches, and the expressions that it refuses. If
# it fails, a mistyped filter looks like a program that allocates nothing, or a short one uses all
# memory.
. "$SRCDIR/test/run/lib.subr"
need python3 jq

record app.heaptap "$PROG/containers"
"$HEAPTAP" run --quiet -o session.heaptap -- \
    sh -c "$PROG/containers >/dev/null; $PROG/recursive >/dev/null; true"
warning="--filter 'no_such_name' matches none of"

for view in report "report --json" "report --by function" "report --tree" leaks "leaks --paths" \
    "leaks --json" "export -f collapsed" direct callgraph "html --json" \
    "diff app.heaptap"; do
    read -ra words <<<"$view"
    "$HEAPTAP" "${words[@]}" --filter no_such_name app.heaptap >out 2>err
    same "$view without a match: 0" 0 $?
    same "$view without a match: one warning" 1 "$(grep -c -- "$warning [0-9]* stacks\$" err)"
    "$HEAPTAP" "${words[@]}" --filter main app.heaptap >out 2>err
    same "$view with a match: no warning" 0 "$(grep -c -- "--filter" err)"
done

# Only one process of the session has this function.
"$HEAPTAP" leaks --filter recursive session.processes >out 2>err
same "a match in one process of a session: no warning" 0 "$(grep -c -- "--filter" err)"
"$HEAPTAP" leaks --filter no_such_name session.processes >out 2>err
same "no match in a session: one warning" 1 "$(grep -c -- "$warning" err)"

# Only one process has these heaps and labels.
"$HEAPTAP" run --quiet -o tagged.heaptap -- \
    sh -c "$PROG/two_arenas; $PROG/recursive >/dev/null; true"
# tagged WARNINGS OPTIONS...: check the number of warnings about heaps and labels in a session.
tagged() {
    local wanted=$1
    shift
    "$HEAPTAP" leaks "$@" tagged.processes >out 2>err
    same "leaks $* of a session: warnings" "$wanted" "$(grep -c "no process has the" err)"
    same "leaks $* of a session: and no others" "$wanted" "$(grep -c warning err)"
}
tagged 0 --label tenant=acme
tagged 0 --heap "session arena"
tagged 1 --label tenant=nobody
tagged 1 --heap pool
same "the heaps of all processes are listed" "there is malloc, request arena, session arena" \
    "$(sed -n 's/.*; \(there is .*\)/\1/p' err)"
tagged 2 --heap pool --label tenant=nobody
"$HEAPTAP" leaks --label tenant=nobody app.heaptap >out 2>err
check "of one process" grep -q "process [0-9]* has no label 'tenant=nobody' or any other" err

# The totals of every document are of the stacks that pass, suppressed stacks included: app.heaptap
# has the pool of the C++ library, which leaks suppresses. Four numbers are known by construction.
totals() {
    jq -S "${2:-.totals} | del(.peak_error_bytes, .peak_elapsed_ns)" "$1"
}
"$HEAPTAP" run --quiet --sample 4K -o sampled.heaptap -- "$PROG/containers" >/dev/null
record arenas.heaptap "$PROG/two_arenas"
for file in app sampled arenas; do
    for picked in --no-fold --filter=main "--filter=libstdc" --heap=malloc --label=tenant=acme; do
        "$HEAPTAP" report --json "$picked" $file.heaptap 2>err >picked.json
        totals picked.json >wanted
        check "report --json $picked of $file: has totals" test -s wanted
        for view in leaks "leaks --paths" functions callgraph; do
            # shellcheck disable=SC2086 # Words of a command.
            "$HEAPTAP" $view --json "$picked" $file.heaptap 2>err >picked.json
            check "$view --json $picked of $file: the totals of the report" \
                diff wanted <(totals picked.json)
        done
        [ "$picked" = --no-fold ] && continue
        "$HEAPTAP" html --json "$picked" $file.heaptap 2>err >picked.json
        check "html --json $picked of $file: the totals of the report" \
            diff wanted <(totals picked.json .report.totals)
        check "html --json $picked of $file: the totals of its leaks" \
            diff wanted <(totals picked.json .leaks.totals)
    done
done
same "leaks --json: the filtered totals" "90 5220 30 1920 3300" "$("$HEAPTAP" leaks --json \
    --label tenant=acme arenas.heaptap | jq -r '.totals |
        "\(.allocations) \(.allocated_bytes) \(.frees) \(.freed_bytes) \(.live_bytes)"')"

# Of the session's three processes, only two_arenas has the label: 30 requests of 64 + 100 + 10
# bytes; 100 + 10 of these stay live. The table and the totals are of these blocks.
for view in report "report --by function" leaks "leaks --paths" functions callgraph; do
    for picked in --label=tenant=acme --filter=answer; do
        # shellcheck disable=SC2086 # Words of a command.
        "$HEAPTAP" $view --json "$picked" --label=tenant=acme tagged.processes >picked.json 2>err
        same "$view --json $picked of a session: its totals and its table" "90 5220 3300 0 90" \
            "$(jq -r '"\(.totals | "\(.allocations) \(.allocated_bytes) \(.live_bytes)") \(
                [.processes[].allocations] | sort | "\(.[0]) \(.[-1])")"' picked.json)"
    done
done
for view in report "report --tree" "report --by heap"; do
    # shellcheck disable=SC2086
    "$HEAPTAP" $view --label tenant=acme tagged.processes >out 2>err
    same "$view of a session: the filter, the totals, the process that has all comes first" \
        "Only blocks with the label tenant=acme 90 90" \
        "$(head -n 1 out) $(sed -n 's/^3 processes: \([0-9]*\) allocations, 5.1 KiB in all$/\1/p' \
            out) $(awk '/^pid / {getline; print $3; exit}' out)"
done
"$HEAPTAP" report --full --label tenant=acme tagged.processes >out 2>err
check "report --full of a session: the sum, of the stacks that pass" \
    grep -q "^  Allocations  *90 " out
"$HEAPTAP" report --filter no_such_name session.processes >out 2>err
same "report of a session without a match: one warning" 1 "$(grep -c -- "$warning" err)"
"$HEAPTAP" report --filter '(' session.processes >out 2>err
same "report of a session with a bad expression: refused" 2 $?

for option in --filter --fold; do
    check "$option with 16 million repetitions: refused within 512 MB" bash -c "
        ulimit -v 524288
        '$HEAPTAP' report $option '((a{1,255}){1,255}){1,255}' app.heaptap >out 2>err
        [ \$? = 2 ] && grep -q -- '$option: the regular expression is too large' err"
done

# The bound is far above the time for one pattern, and far below the time for matching this one.
refers_back() {
    timeout 20 "$HEAPTAP" report "$@" app.heaptap >out 2>err
    [ $? = 2 ] && grep -q "has a back-reference" err
}
check "--filter with a back-reference: refused" refers_back --filter '(.*)(.*)(.*)(.*)\4\3\2\1x'
check "--fold with a back-reference: refused" refers_back --fold '(a)[]b]\1'
"$HEAPTAP" report --filter '[\1]|main\\1|main' app.heaptap >out 2>err
same "a bracket and an escaped backslash are no back-references" 0 $?
finish
