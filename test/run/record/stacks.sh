#!/usr/bin/env bash
# stacks.sh: stacks of every kind, and code made at run time. If it fails, the recorder walks a
# stack that it should not, loses one that it could walk, or breaks a program with unusual stacks.
# The head comments of test/prog/oddstacks.c and jit.c have the expected numbers.
. "$SRCDIR/test/run/lib.subr"
need python3

# try KIND CHECK...: check that the program's status and output are as bare, and check the numbers.
try() {
    local kind=$1 bare
    timeout 60 "$PROG/oddstacks" "$kind" >bare.out 2>bare.err
    bare=$?
    rm -rf "$kind"
    mkdir "$kind"
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/$kind/%n.heaptap "$PROG/oddstacks" "$kind" \
        >run.out 2>run.err
    same "$kind: exit status" "$bare" $?
    check "$kind: output" cmp bare.out run.out
    KNOWN_PREFIX="$kind: "
    known "$kind/1.heaptap" "${@:2}" "losses events=0 unknown_frees=0 guessed_frames=0"
}

try arena "leaf:co_step allocations=15000 sites=1" "stack:co_step,coroutine allocations=15000" \
    "losses unwind_failures=0"
try overflow "leaf:on_overflow allocations=20 depth=1024 sites=1" \
    "whole:go_on,overflows,main allocations=20 sites=1" \
    "losses truncated_stacks=20 unwind_failures=0"
# The handler must not change how a program dies.
try dies "whole:dies,main allocations=1"
try switched "leaf:elsewhere allocations=100 sites=1" "losses unwind_failures=0"
try raised "leaf:bottom allocations=100" "losses truncated_stacks=100 unwind_failures=0"
KNOWN_PREFIX="raised, child: "
known raised/2.heaptap "whole:in_thread allocations=100 sites=1" \
    "losses events=0 unwind_failures=0"
try crossing "leaf:co_cross allocations=100 sites=1" "losses unwind_failures=0"
try pieces "whole:on_piece allocations=400 sites=1" \
    "leaf:on_other_piece allocations=400 sites=1" "losses unwind_failures=0"
try inside "whole:plain,inside,main allocations=100 sites=1" \
    "leaf:on_usr1 allocations=100 sites=1" "losses unwind_failures=0"
if bash -c 'ulimit -s unlimited && "$1" raised' - "$PROG/oddstacks" >/dev/null 2>&1; then
    bash -c 'ulimit -s unlimited; LD_PRELOAD=$2 HEAPTAP_OUT=endless.%n.heaptap "$1" raised' - \
        "$PROG/oddstacks" "$LIBHEAPTAP"
    same "an unlimited stack: exit status" 0 $?
    KNOWN_PREFIX="an unlimited stack: "
    known endless.1.heaptap "leaf:bottom allocations=100" "losses events=0 unwind_failures=0"
    known endless.2.heaptap "whole:in_thread allocations=100 sites=1" "losses unwind_failures=0"
else
    echo "ok - an unlimited stack # SKIP not permitted here"
fi

record deep.heaptap "$PROG/deep" 100000
same "100,000 frames: exit status" 0 "$status"
KNOWN_PREFIX="100,000 frames: "
known deep.heaptap "total allocations=3 allocated_bytes=30" "losses truncated_stacks=3 events=0"

record no_tables.heaptap "$PROG/no_tables"
same "no unwind tables: exit status" 0 "$status"
KNOWN_PREFIX="no unwind tables: "
known no_tables.heaptap "stack:bottom,call_without_table allocations=100 depth=2 sites=1" \
    "leaf:in_context allocations=5 depth=2 sites=1" "whole:in_thread allocations=3 sites=1" \
    "losses unwind_failures=100 ends_without_table=100 broken_bytes=1000 guessed_frames=0"
"$HEAPTAP" report --full no_tables.heaptap >no_tables.txt
check "no unwind tables: the report has their number" \
    grep -q '^  100 of them at a frame without unwind tables$' no_tables.txt
check "no unwind tables: the report has the file" \
    grep -q '^    in .*/no_tables (100): ' no_tables.txt
check "no unwind tables: their stacks end with the reason" \
    grep -q '^  *… whose callers are unknown: this code has no unwind tables$' no_tables.txt
same "no unwind tables: JSON has the file" "['$PROG/no_tables'] True" "$(python3 -c '
import json
report = json.load(open("no_tables.heaptap.json"))
print(report["files_without_tables"], report["losses"]["inclusive_is_lower_bound"])')"
"$HEAPTAP" export --format collapsed -o no_tables.txt no_tables.heaptap
check "no unwind tables: an export has the root of truncated stacks" \
    grep -q '^\[truncated stacks\];call_without_table' no_tables.txt
record no_tables.2.heaptap "$PROG/no_tables"
"$HEAPTAP" merge -o no_tables.sum.heaptap no_tables.heaptap no_tables.2.heaptap >merge.log 2>&1
KNOWN_PREFIX="no unwind tables, merged: "
known no_tables.sum.heaptap "losses unwind_failures=200 ends_without_table=200 broken_bytes=2000"

# jit KIND NAME...: check that the counts are the same whatever the map of names contains. A frame
# is found if code keeps a frame pointer; otherwise, the stack is marked as doubtful.
jit() {
    local kind=$1 name=$2
    rm -f /tmp/perf-"${map_of:-0}".map
    record jit.heaptap "$PROG/jit" "$kind"
    same "jit, $kind: exit status" 0 "$status"
    KNOWN_PREFIX="jit, $kind: "
    known jit.heaptap "leaf:get allocations=400 doubtful=3" \
        "leaf:again allocations=100 doubtful=1" \
        "losses events=0 guessed_frames=200 ends_without_table=300" "${@:3}"
    map_of=$(python3 -c 'import json; print(json.load(open("jit.heaptap.json"))["process"]["pid"])')
    if [ -n "$name" ]; then
        known jit.heaptap "stack:get,jit_framed,call,run,main allocations=100 sites=1" \
            "stack:get,jit_bare allocations=100" "stack:get,jit_lying allocations=200" \
            "stack:again,jit_framed,call,main allocations=100"
    else
        known jit.heaptap "under:jit_framed allocations=0" \
            "stack:get,?,call,run,main allocations=100"
    fi
}
jit good named
jit twice named "under:jit_old allocations=0"
jit garbage named "under:jit_wrong allocations=0"
jit huge named "under:jit_other_1 allocations=0"
jit link ""
jit none ""
# A map that another user wrote is rejected.
if [ "$(id -u)" = 0 ]; then
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=other.heaptap "$PROG/jit" good
    "$HEAPTAP" report --json other.heaptap >other.json
    pid=$(python3 -c 'import json; print(json.load(open("other.json"))["process"]["pid"])')
    check "a map of our own" grep -q jit_framed other.json
    chown 65534 "/tmp/perf-$pid.map"
    "$HEAPTAP" report --json --no-fold other.heaptap >other.json
    check "a map of another user" bash -c '! grep -q jit_framed other.json'
    rm -f "/tmp/perf-$pid.map"
else
    echo "ok - a map of another user # SKIP needs root"
fi
rm -f /tmp/perf-"$map_of".map
finish
