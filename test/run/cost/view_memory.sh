#!/usr/bin/env bash
# view_memory.sh: the memory of views of a profile with 100,000 stacks, which may not rise. If it
# fails, a view of a large program's profile, with some million stacks, takes more memory than most
# machines have.
. "$SRCDIR/test/run/lib.subr"
need python3
if grep -qa '__asan_init\|__tsan_init' "$HEAPTAP"; then
    skip_all "needs a command without sanitizers, which take memory themselves"
fi

for count in 1000 100000; do
    "$HEAPTAP" run --quiet --no-pack -o $count.heaptap -- "$PROG/distinct_stacks" $count \
        >out 2>err
    same "$count stacks: exit status" 0 $?
done
run_python "$area/view_memory.py" "$HEAPTAP" 1000.heaptap 100000.heaptap 99000
failures=$((failures + $?))
finish
