#!/usr/bin/env bash
# python_filling.sh: a Python program with more stacks than fit into the call tree, which is made
# small. If it fails, later allocations are charged to no function or to a wrong one, or stacks
# differ when the recorder drops the interpreter's functions from them to save room.
. "$SRCDIR/test/run/lib.subr"
need python3
[ -e "${LIBHEAPTAP%/*}/libheaptap_python.so" ] || skip_all "no adapter for Python was built"

"$HEAPTAP" run --quiet -o any.heaptap -- python3 -c pass 2>&1 | grep -q "another version" &&
    skip_all "this version of Python is not known"
# The interpreter itself, not a script that searches for it.
python=$(python3 -c 'import sys; print(sys.executable)')

# fill NAME NODES COUNT THREADS: record python_filling.py with a call tree of NODES nodes
fill() {
    HEAPTAP_NODES=$2 PYTHONHASHSEED=0 "$HEAPTAP" run --quiet --no-pack -o "$1.heaptap" -- \
        "$python" "$area/python_filling.py" "$3" "$4" >out 2>err
    same "$1: exit status" 0 $?
    "$HEAPTAP" report --json --no-fold "$1.heaptap" >"$1.json" 2>err
}
fill whole "" 1500 0
fill scarce 190000 1500 0
check "room for the shown frames: the same stacks" \
    run_python "$area/python_filled.py" same whole.json scarce.json 1500
"$HEAPTAP" report --native scarce.heaptap >text 2>err
check "with --native the report mentions the loss" grep -q "no functions of the interpreter" text
"$HEAPTAP" report scarce.heaptap >text 2>err
check "without it does not" sh -c '! grep -q "no functions of the interpreter" text'
fill full 100000 9000 0
check "too little room: the totals by function" \
    run_python "$area/python_filled.py" full full.json 9000
fill threads 100000 4500 2
check "the same of two threads" run_python "$area/python_filled.py" full threads.json 9000
finish
