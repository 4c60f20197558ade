#!/usr/bin/env bash
# small_stack.sh: coroutines on stacks of a page. If it fails, the recorder needs so much of the
# stack below malloc that programs with small stacks crash.
. "$SRCDIR/test/run/lib.subr"
need python3

# small NAME BYTES MODE: check that no event is lost, and that the program behaves as alone.
small() {
    rm -f small*.heaptap
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/small.heaptap "$PROG/small_stack" "$2" "$3" >out 2>err
    same "$1: exit status" 5 $?
    same "$1: output" done "$(cat out)"
    check "$1: no message" diff /dev/null err
    for file in small*.heaptap; do
        KNOWN_PREFIX="$1: " known "$file" "losses events=0 unknown_frees=0"
    done
}

for bytes in 8192 4096 3072; do
    small "$bytes bytes" $bytes later
    small "$bytes bytes, a child's first event" $bytes child
    small "$bytes bytes, the first event" $bytes first
done
small "what is counted" 4096 later
known small.heaptap "under:work allocations=4096 frees=4096"

# The profile cannot grow. The message contains the path, which may be long, but must not be built
# on the stack.
rm -f small*.heaptap
(
    ulimit -f 210
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/small.heaptap exec "$PROG/small_stack" 4096 later
) >out 2>err
same "the profile cannot grow: exit status" 5 $?
same "the profile cannot grow: output" done "$(cat out)"
same "the profile cannot grow: one message" 1 "$(grep -c "^heaptap: the profile cannot grow" err)"

# Blocks are annotated, with the maximum number of frames.
for bytes in 4096 3072; do
    HEAPTAP_ANNOTATE=255 small "$bytes bytes, annotated" $bytes later
done

# docs/internals/failures.md states the same size.
bare=$("$PROG/small_stack" 65536 paint 2>&1 >/dev/null)

# uses NAME BYTES_MAX [VARIABLE=VALUE]: check that the recorder uses at most BYTES_MAX bytes of the
# stack.
uses() {
    local used

    rm -f small*.heaptap
    used=$(env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/small.heaptap" ${3:+"$3"} \
        "$PROG/small_stack" 65536 paint 2>&1 >/dev/null)
    echo "# $1: the program alone uses $bare bytes, with the recorder $used"
    check "$1: below malloc it takes less than $2 bytes" [ "$used" -lt $((bare + $2)) ]
}

uses plain 2560
uses annotated 2662 HEAPTAP_ANNOTATE=255
finish
