#!/usr/bin/env bash
# python.sh: Python programs under the adapter for CPython, with each installed version: the
# recorded objects must match the interpreter's counter. If it fails, objects are missing or counted
# twice, or the program behaves differently.
. "$SRCDIR/test/run/lib.subr"
need python3
. "$SRCDIR/test/run/language/pythons.subr"
adapter=${LIBHEAPTAP%/*}/libheaptap_python.so

# recorded NAME COMMAND...: run COMMAND with the adapter; the profile is NAME.heaptap.
recorded() {
    local name=$1
    shift
    LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/$name.heaptap "$@"
}

# balance NAME PYTHON [MALLOC]: check that live objects at snapshots match the interpreter's count.
balance() {
    local name=$1 python=$2
    PYTHONMALLOC=${3:-} recorded "$name" "$python" "$area/python_blocks.py" "$PROG/libblocks.so" \
        2>"$name.blocks"
    same "$name: exit status" 0 $?
    check "$name: blocks" run_python "$area/python_balance.py" "$HEAPTAP" "$name.heaptap" \
        "$name.blocks"
}

# early NAME PYTHON [MALLOC]: record a program while tracemalloc is active from before the
# interpreter's start.
early() {
    PYTHONMALLOC=${3:-} recorded "$1" "$2" -X tracemalloc=25 -c '
import tracemalloc
def fill():
    return [str(i) + "x" for i in range(20000)]
kept = fill()
print(tracemalloc.get_traced_memory()[0] > 20000 * 50)' >"$1.out" 2>&1
    same "$1: a program that is traced" True "$(cat "$1.out")"
    "$HEAPTAP" report --json --no-fold "$1.heaptap" >"$1.json"
    check "$1: its objects" run_python "$area/python_held.py" "$1.json" "<string>" 4 1000000
}

# told NAME PYTHON: check that the output of sys._debugmallocstats has the same lines with the
# recorder, except for their numbers.
told() {
    local call='import sys; sys._debugmallocstats()'
    "$2" -c "$call" 2>&1 | tr -d '0-9 ,' >"$1.alone"
    recorded "$1" "$2" -c "$call" 2>&1 | tr -d '0-9 ,' >"$1.told"
    check "$1: tables of the allocator" diff <(sort -u "$1.alone") <(sort -u "$1.told")
    check "$1: there are some" grep -q bytesinallocatedblocks "$1.told"
}

for python in $pythons; do
    label=$(label_of "$python")
    balance "$label-blocks" "$python"
    early "$label-early" "$python"
    told "$label-told" "$python"
done
early debug-early python3 debug
early malloc-early python3 malloc
balance debug python3 debug
balance malloc python3 malloc
"$HEAPTAP" run -o chosen.heaptap "$(python3 -c 'import sys; print(sys.executable)')" \
    -c 'x = [str(i) for i in range(1000)]' 2>chosen.err
same "chosen: exit status" 0 $?
"$HEAPTAP" report --full chosen.heaptap >chosen.text 2>&1
check "chosen: a function of the program" grep -q '<string>:1' chosen.text
finish
