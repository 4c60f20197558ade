#!/usr/bin/env bash
# interposed.sh: programs and libraries that define functions under names of libc. If it fails, the
# recorder calls them: program and recorder may wait for each other forever, or the recording
# depends on the program's functions.
. "$SRCDIR/test/run/lib.subr"
need python3

# interposed NAME FUNCTIONS COMMAND...: run COMMAND bare and under heaptap, and compare.
interposed() {
    local name=$1 functions=$2 file=${1//[ ,]/_}.heaptap
    shift 2
    timeout 20 "$@" >bare.out 2>bare.err
    same "$name: bare" 9 $?
    rm -f "$file"
    timeout 20 "$HEAPTAP" run --quiet -o "$file" -- "$@" >out 2>err
    same "$name: exit status" 9 $?
    check "$name: output" diff bare.out out
    check "$name: no message" diff bare.err err
    KNOWN_PREFIX="$name: " known "$file" \
        "leaf:interposed_enter allocations>=$((2000 * functions))" \
        "losses events=0 unknown_frees=0 unwind_failures=0"
}

functions=$("$PROG/interposed" | wc -l)
for mode in "" fail; do
    interposed "a program's own${mode:+ that }$mode" "$functions" "$PROG/interposed" $mode
done
for kind in dynamic dynamic-nopie static musl; do
    python3 "$area/linked.py" build $kind interposed interposed.$kind >build.log 2>&1
    case $? in
    0) interposed "$kind" "$(./interposed.$kind | wc -l)" ./interposed.$kind ;;
    77) echo "ok - $kind # SKIP $(tail -n 1 build.log)" ;;
    *)
        failed "$kind: can be built"
        tail -n 20 build.log | cut -c1-200 | sed 's/^/#   /'
        ;;
    esac
done

# The functions are in a library that is preloaded after the recorder, then before it. Some of them
# throw.
library=$PROG/libinterposed.so
LD_PRELOAD=$library "$PROG/families" >bare.out 2>bare.err
for order in "$LIBHEAPTAP $library" "$library $LIBHEAPTAP"; do
    rm -f library.heaptap
    timeout 20 env LD_PRELOAD="$order" HEAPTAP_OUT="$PWD/library.heaptap" \
        "$PROG/families" >out 2>err
    same "a library's, $(basename "${order##* }") last: exit status" 0 $?
    check "a library's, $(basename "${order##* }") last: output" diff bare.out out
    check "a library's, $(basename "${order##* }") last: who else called" diff bare.err err
    known library.heaptap "leaf:do_malloc allocations>=1" "losses events=0 unknown_frees=0"
done
"$PROG/interposed_throws" >bare.out 2>bare.err
timeout 20 "$HEAPTAP" run --quiet -o throws.heaptap -- "$PROG/interposed_throws" >out 2>err
same "functions that throw: exit status" 9 $?
check "functions that throw: output" diff bare.out out
check "functions that throw: no other caller" diff bare.err err
known throws.heaptap "leaf:work allocations=2000 frees=2000" "losses events=0 unknown_frees=0"

# This dlclose calls the next one, which dlsym has found.
for order in "$LIBHEAPTAP $PROG/libcloses.so" "$PROG/libcloses.so $LIBHEAPTAP"; do
    rm -f closes.heaptap
    timeout 20 env LD_PRELOAD="$order" HEAPTAP_OUT="$PWD/closes.heaptap" "$PROG/dlclose" >out 2>err
    same "a dlclose in front of the next, $(basename "${order##* }") last" 0 $?
    known closes.heaptap "total allocations>=1" "losses events=0 unknown_frees=0"
done

# --- A kernel without a vDSO ---------------------------------------------------------------------

# Without the vDSO, the clock is a system call; with a reserve, it does not advance.
for reserve in "" 4000000; do
    LD_PRELOAD="$LIBHEAPTAP $PROG/libnovdso.so" HEAPTAP_OUT="$PWD/novdso$reserve.heaptap" \
        HEAPTAP_RESERVE=$reserve "$PROG/sandbox" ${reserve:+strict} >out 2>err
    status=$?
    if [ $status = 77 ]; then
        echo "ok - no vdso, sandbox # SKIP seccomp does not work here"
        continue
    fi
    same "no vdso${reserve:+, sandbox}: exit status" 9 $status
    known "novdso$reserve.heaptap" "total allocations>=641" "losses events=0 unknown_frees=0"
done
finish
