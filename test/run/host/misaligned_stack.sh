#!/usr/bin/env bash
# misaligned_stack.sh: a program that calls allocation functions with a misaligned stack pointer, as
# glibc permits. If it fails, the recorder stores 16 bytes at once on the stack, and such a program
# dies of SIGSEGV when it is recorded.
. "$SRCDIR/test/run/lib.subr"
need python3 objdump

# runs NAME [VARIABLE=VALUE]: the program behaves as alone.
runs() {
    rm -f misaligned.heaptap
    env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/misaligned.heaptap" ${2:+"$2"} \
        "$PROG/misaligned_stack" 3000 >out 2>err
    same "$1: exit status" 5 $?
    same "$1: output" done "$(cat out)"
    check "$1: no message" diff /dev/null err
    KNOWN_PREFIX="$1: " known misaligned.heaptap "losses events=0 unknown_frees=0"
}

"$PROG/misaligned_stack" 3000 >out
same "alone: exit status" 5 $?
for setting in "exact" "annotated HEAPTAP_ANNOTATE=255" "12 frames HEAPTAP_FRAMES=12"; do
    name=${setting% HEAP*} variable=
    [ "$name" = "$setting" ] || variable=${setting##* }
    runs "$name" $variable
    KNOWN_PREFIX="$name: " known misaligned.heaptap \
        "under:misaligned_call allocations=24000 frees=24000 live_bytes=0" \
        "stack:misaligned_call,one_of_each,main allocations=24000"
done
runs "sampled" HEAPTAP_SAMPLE=1024
runs "a reserve" HEAPTAP_RESERVE=33554432

# The program above does not reach every function of the recorder.
objdump -d --no-show-raw-insn "$LIBHEAPTAP" |
    grep -E 'mov(aps|apd|dqa|ntdq|ntps).*\(%r[sb]p' >aligned
check "the recorder's code accesses no 16 bytes of the stack at once" diff /dev/null aligned
finish
