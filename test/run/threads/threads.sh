#!/usr/bin/env bash
# threads.sh: threads in large numbers, threads that end in every way, and libraries that are loaded
# and unloaded meanwhile. If it fails, an event of a thread is lost or counted twice, or a thread's
# end breaks the program. The head comments of test/prog/manythreads.c, threadends.c and dlmany.c
# have the expected numbers.
. "$SRCDIR/test/run/lib.subr"
need python3

# run NAME PROGRAM ARGS...: record PROGRAM into NAME.heaptap; check that the status is as bare.
run() {
    local name=$1 bare
    shift
    timeout 100 "$@" >bare.out 2>bare.err
    bare=$?
    rm -f "$name.heaptap"
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$name.heaptap "$@" >"$name.out" 2>"$name.err"
    same "$name: exit status" "$bare" $?
    KNOWN_PREFIX="$name: "
}

# many NAME THREADS ALIVE STACK_KIB: record manythreads.c, and check its numbers
many() {
    run "$1" "$PROG/manythreads" "$2" "$3" "$4"
    check "$1: output" cmp bare.out "$1.out"
    known "$1.heaptap" \
        "whole:work,run allocations=$((3 * $2)) allocated_bytes=$((30 * $2)) frees=$((2 * $2))" \
        "leaf:at_thread_end allocations=$2 frees=$2 allocated_bytes=$((5 * $2))" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0 unwind_failures=0"
}
many "one after the other" 3000 1 64
many "the smallest stacks" 3000 100 16
many "a thousand at once" 2000 1000 16

# New threads reuse the rows of ended ones: there are as many rows as threads that exist at once.
rows=$("$HEAPTAP" report --json "one after the other.heaptap" | python3 -c '
import json, sys
print(len(json.load(sys.stdin).get("threads", [])))')
check "one after the other: rows are reused" test "$rows" -le 8

run cancelled "$PROG/threadends" cancel
known cancelled.heaptap "leaf:at_end allocations=50" "leaf:afterwards allocations=50 sites=1" \
    "whole:endless allocations>=1 sites=1" "losses events=0 unwind_failures=0"
run deferred "$PROG/threadends" deferred
known deferred.heaptap "leaf:clean_up allocations=50" "whole:until_asked allocations>=50 sites=1" \
    "losses events=0 unknown_frees=0"
run leave "$PROG/threadends" leave
known leave.heaptap "leaf:last allocations=100 sites=1" "leaf:at_end allocations=1" \
    "losses events=0 other_site_events=0 unwind_failures=0"
run clone "$PROG/threadends" clone
known clone.heaptap "leaf:in_clone allocations=100" "leaf:afterwards allocations=100" \
    "losses events=0"

# A handler runs at a high rate in four threads: no event is lost, though the handler often
# interrupts the recorder.
rm -f timers.heaptap
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=timers.heaptap "$PROG/threadends" timers >timers.out
same "timers: exit status" 0 $?
read -r _ by_loop _ by_handler <timers.out
KNOWN_PREFIX="timers: "
known timers.heaptap "leaf:grow allocations=$by_loop frees=$by_loop" \
    "leaf:on_timer allocations=$((3 * by_handler)) frees=$by_handler" \
    "losses events=0 unknown_frees=0 overwritten_blocks=0 unwind_failures=0"

# Handlers allocate and jump out: each leaves an event half done, and none of the handlers' events
# is lost.
run jumps "$PROG/jumps"
jumps=$(cut -d' ' -f2 jumps.out)
check "jumps: there were some" test "$jumps" -ge 3000
known jumps.heaptap "leaf:handle allocations=$jumps allocated_bytes=$((48 * jumps)) frees=$jumps" \
    "losses events=0 reentrant_events=0 overwritten_blocks=0 unknown_frees=0"

run loop "$PROG/dlmany" loop 2000
known loop.heaptap "whole:one_inner,plugin,turn,loop,main allocations=2000 frees=2000 sites=1" \
    "losses events=0 guessed_frames=0 unwind_failures=0"
check "loop: the profile does not grow" test "$(stat -c %s loop.heaptap)" -lt 300000
run moving "$PROG/dlmany" moving 500
known moving.heaptap "module:libplugin_one.so,one_inner allocations=500 frees=500 sites>=400" \
    "losses events=0 guessed_frames=0 unwind_failures=0"
# More modules are loaded than the table has room for: the remaining frames are counted.
run modules "$PROG/dlmany" moving 9000
known modules.heaptap "total allocations>=9000" \
    "losses events=0 frames_without_module>=800 guessed_frames=0 unwind_failures=0"
run namespace "$PROG/dlmany" namespace 100
known namespace.heaptap "leaf:one_inner allocations=100" \
    "whole:beside,namespace,main allocations=100 sites=1" "losses events=0 unknown_frees=0"
# By functions of older versions, found in libc.
run old_namespace "$PROG/dlmany" namespace 100 old
known old_namespace.heaptap "leaf:one_inner allocations=100" \
    "whole:beside,namespace,main allocations=100 sites=1" "losses events=0 unknown_frees=0"
for how in "" old raw; do
    run swap$how "$PROG/dlmany" swap 500 $how
    known swap$how.heaptap \
        "stack:one_inner,plugin,turn,swap allocations=500 allocated_bytes=5000 frees=500" \
        "stack:two_innermost,two_inner,plugin,turn,swap allocations=500 allocated_bytes=10000" \
        "losses events=0 guessed_frames=0 unwind_failures=0"
done
# One thread maps a library where another one has just unmapped one.
mkdir copies
cp "$PROG/dlmany" copies
for i in 1 2 3; do
    cp "$PROG/libplugin_one.so" copies/one$i.so
    cp "$PROG/libplugin_two.so" copies/two$i.so
done
run races copies/dlmany races 300
known races.heaptap "losses events=0 guessed_frames=0 unwind_failures=0"
for i in 1 2 3; do
    known races.heaptap "module:one$i.so,one_inner allocations=1200 allocated_bytes=12000" \
        "module:two$i.so,two_innermost allocations=1200 allocated_bytes=24000"
done
run beside "$PROG/dlmany" beside 20000
turns=$(cut -d' ' -f2 beside.out)
known beside.heaptap \
    "whole:one_inner,plugin,both,main allocations=20000 frees=20000" \
    "stack:two_innermost,two_inner,plugin,turn allocations=$turns frees=$turns" \
    "losses events=0 guessed_frames=0 unwind_failures=0"

# A forked child whose first event is made by another thread than the one that forked.
for mode in shared limited unrecorded; do
    rm -rf forked.heaptap forked.processes
    "$HEAPTAP" run --quiet --no-pack -o forked.heaptap -- "$PROG/forked_worker" $mode 2>forked.err
    same "a child begins in a thread, $mode: exit status" 0 $?
    [ $mode = unrecorded ] && continue
    same "a child begins in a thread, $mode: allocations by thread" "300000 300001" \
        "$(for profile in forked.heaptap forked.processes/*; do
            "$HEAPTAP" report --json "$profile"
        done | python3 -c '
import json, re, sys
for text in re.split(r"(?<=})\n(?={)", sys.stdin.read()):
    profile = json.loads(text)
    if profile["process"]["forked"]:
        print(*sorted(t["allocations"] for t in profile["threads"]))')"
done

# Several threads of a forked child make their first events at once. One thread starts recording,
# and the others wait. The wait is bounded, so a busy machine may lose events in some of the runs.
for _ in {1..12}; do
    rm -rf once.heaptap once.processes
    "$HEAPTAP" run --quiet --no-pack -o once.heaptap -- "$PROG/forked_at_once" || echo failed
    "$HEAPTAP" report --json once.processes/* | python3 -c '
import json, sys
profile = json.load(sys.stdin)
print(profile["losses"]["early_events"], profile["totals"]["allocations"])'
done >once.out
check "a child begins in several threads: 10 of 12 children lose no event" \
    test "$(grep -cx '0 12000' once.out)" -ge 10
finish
