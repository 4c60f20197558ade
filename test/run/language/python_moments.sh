#!/usr/bin/env bash
# python_moments.sh: run random programs with each installed version of CPython: recursion,
# generators, coroutines, exceptions, callbacks through C, code that is created and freed,
# sub-interpreters, threads. At random moments, the stack in the profile must equal the
# interpreter's own. If it fails, stacks show functions that did not run, or at a wrong line.
#
# PYTHON_MOMENTS=N is the number of moments for each version, 600 by default. From 1,000 on, there
# are N / 1,000 programs with 1,000 moments each, then one program with all N. PYTHONS="python3.9
# ..." selects versions.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/language/pythons.subr"
adapter=${LIBHEAPTAP%/*}/libheaptap_python.so
count=${PYTHON_MOMENTS:-600}

# moments NAME PYTHON SEED MOMENTS [THREADS]: record python_moments.py, and compare the stacks
moments() {
    local name=$1 python=$2
    shift 2
    LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/moments.heaptap \
        "$python" -S -E "$area/python_moments.py" "$1" "$2" truth "${@:3}" >out 2>err
    same "$name: exit status" 0 $?
    same "$name: output" "" "$(cat out err)"
    "$HEAPTAP" report --json --no-fold moments.heaptap >json 2>report.err
    check "$name: chains" run_python "$area/python_chains.py" json truth
    [ -z "${PYTHON_MOMENTS:-}" ] || sed 's/^/#   /' check.log
    rm -f moments.heaptap json
}

for python in $pythons; do
    label=$(label_of "$python")
    for seed in $(seq $(((count + 999) / 1000))); do
        moments "$label, program $seed" "$python" "$seed" $((count < 1000 ? count : 1000))
    done
    [ "$count" -lt 1000 ] || moments "$label, one program" "$python" 1 "$count"
    moments "$label, threads" "$python" 101 100 4
done
finish
