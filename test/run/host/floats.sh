#!/usr/bin/env bash
# floats.sh: the program's floating-point state. If it fails, the recorder's arithmetic kills a
# program that traps exceptions, or shows a program exceptions that did not happen; or a function of
# the recorder computes with doubles in the program's state, which other tests may not notice.
. "$SRCDIR/test/run/lib.subr"
need python3 objdump

run_python "$area/floats.py" "$BUILD"/libheaptap*.so "$BUILD"/libheaptap*.a \
    "$BUILD"/musl/libheaptap_static.a || failures=$((failures + 1))

# alike NAME PROGRAM OPTION…: check that the program prints the same alone and recorded.
alike() {
    local name=$1 program=$2 state
    shift 2
    for state in flags trap upward; do
        "$program" $state >bare.out
        rm -f floats.heaptap
        bash -c '"$@"; exit $?' - "$HEAPTAP" run --quiet "$@" -o floats.heaptap -- \
            "$program" $state >run.out 2>run.err
        same "$name, $state: exit status" 0 $?
        check "$name, $state: exceptions and control words" diff bare.out run.out
        check "$name, $state: recorded" test -s floats.heaptap
    done
}

alike "exact" "$PROG/floats"
alike "samples by bytes" "$PROG/floats" --sample 4K
alike "samples by count" "$PROG/floats" --sample-count 7
alike "annotated" "$PROG/floats" --annotate
alike "with a reserve" "$PROG/floats" --reserve 8M
if command -v clang >/dev/null; then
    check "build by heaptap cc" "$HEAPTAP" cc -D_GNU_SOURCE -O1 -o counting \
        "$SRCDIR/test/prog/floats.c" -lm
    alike "accesses" ./counting
    alike "accesses, samples" ./counting --sample 4K
else
    echo "ok - accesses # SKIP clang is not installed"
fi
finish
