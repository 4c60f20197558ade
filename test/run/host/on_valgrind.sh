#!/usr/bin/env bash
# on_valgrind.sh: a recorded program under valgrind. If it fails, valgrind reports system calls of
# the recorder among the program's errors, or the recorder loses stacks there.
#
# Memcheck replaces malloc, so the recorder has no events there; the tool `none` replaces nothing.
. "$SRCDIR/test/run/lib.subr"
need python3 valgrind

# The first probes are made when the recorder learns about the process, others on stacks of
# coroutines and signal handlers.
for kind in arena inside; do
    "$HEAPTAP" run --quiet --only oddstacks -o $kind.heaptap -- \
        valgrind -q --tool=none "$PROG/oddstacks" $kind >out 2>err
    same "$kind, none: exit status" 0 $?
    same "$kind, none: stderr" "" "$(cat err)"
done
KNOWN_PREFIX="arena, none: "
known arena.heaptap "leaf:co_step allocations=15000 sites=1" \
    "stack:co_step,coroutine allocations=15000" "losses events=0 unwind_failures=0"
KNOWN_PREFIX="inside, none: "
known inside.heaptap "whole:plain,inside,main allocations=100 sites=1" \
    "leaf:on_usr1 allocations=100 sites=1" "losses events=0 unwind_failures=0"

"$HEAPTAP" run --quiet -o memcheck.heaptap -- \
    valgrind -q --tool=memcheck "$PROG/oddstacks" inside >out 2>err
same "memcheck: exit status" 0 $?
same "memcheck: stderr" "" "$(cat err)"
finish
