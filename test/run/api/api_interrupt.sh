#!/usr/bin/env bash
# api_interrupt.sh: run a signal handler that uses the heap at every instruction inside the
# recorder. If it fails, a handler that interrupts an event of heaptap.h breaks the program, or the
# handler's events are lost or recorded wrongly.
#
# test/interrupt/stepper.c sends the signals to test/prog/own_interrupted.c. The table has the
# format of interrupt.sh, and HEAPTAP_EVERY_INSTRUCTION has the same effect as there.
. "$SRCDIR/test/run/lib.subr"
need python3
step=$BUILD/test/interrupt/stepper

# A sandbox may forbid tracing.
"$step" 0 1 "$PROG/own_interrupted" alloc return 1 >probe.out 2>probe.err
[ $? -ne 96 ] || skip_all "needs ptrace"

# try EVENT HANDLER FIRST STRIDE TURNS CHECK…: in a CHECK, [E] is replaced by the value of the
# expression E, where n is the number of turns and s the number of signals.
try() {
    local event=$1 handler=$2 first=$3 stride=$4 turns=$5 dir=$1-$2-$3 name="$1, $2, from $3" sent
    if [ -n "${HEAPTAP_EVERY_INSTRUCTION:-}" ]; then
        turns=$((first + turns * stride)) first=0 stride=1
    fi
    mkdir "$dir"
    STEP_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/$dir/%n.heaptap \
        "$step" "$first" "$stride" "$PROG/own_interrupted" "$event" "$handler" "$turns" \
        >"$dir/out" 2>"$dir/err"
    same "$name: exit status" 0 $?
    read -r _ _ _ sent <"$dir/out"
    same "$name: output" "events $turns signals $sent" "$(cat "$dir/out")"
    check "$name: signals came at all places" test "$sent" -ge $((turns / 3))
    shift 5
    python3 - "$turns" "$sent" "frees unknown=0" \
        "losses heap_events=0 reentrant_events=0 no_memory_events=0" "$@" >checks <<'END'
import re, sys
n, s = int(sys.argv[1]), int(sys.argv[2])
for check in sys.argv[3:]:
    print(re.sub(r"\[([-+*0-9ns ]*)\]", lambda m: str(eval(m[1])), check))
END
    mapfile -t checks <checks
    python3 "$area/api_tables.py" "$dir/1.heaptap" "${checks[@]}" >tables.out 2>&1 ||
        failures=$((failures + 1))
    sed "s/^\(ok\|not ok\) - /&$name: /" tables.out
}

handled="malloc live=0"
try alloc return 0 23 60 "$handled" \
    "heap:heap allocations=[n+2*s] allocated_bytes=[100*n+40*s] live=0 live_bytes=0"
try free return 3 13 60 "$handled" \
    "heap:heap allocations=[n+2*s] allocated_bytes=[100*n+40*s] live=0 live_bytes=0"
try resize return 1 29 60 "$handled" \
    "heap:heap allocations=[2*n+2*s] allocated_bytes=[150*n+40*s] moved=[n] live=0 live_bytes=0"
try reset return 2 11 60 "$handled" \
    "heap:heap allocations=[n+2*s] allocated_bytes=[100*n+40*s] live=0 live_bytes=0"
try arena return 4 37 60 "$handled" "heap:heap allocations=[2*s] live=0" \
    "heap:arena allocations=[n] allocated_bytes=[100*n] live=0 live_bytes=0" \
    "record:arena made=[n] destroyed=[n]"
try backing return 5 31 60 "$handled" "heap:heap allocations=[2*s] live=0" \
    "backing:heap allocations=[n] allocated_bytes=[100*n] live=0 live_bytes=0"
try malloc return 0 3 90 "$handled" "heap:heap allocations=[2*s] live=0 live_bytes=0" \
    "labels:in=handler allocations=[s] frees=[s]" "total allocations=[2*n+3*s] live=0"
try label return 6 53 60 "$handled" "heap:heap allocations=[n+2*s] live=0 live_bytes=0" \
    "labels:in=handler allocations=[s] frees=[s]" "labels:in=event allocations=[n]..[n+2*s]"
# An event that a jump interrupts may be missing, or counted in one place and not in the other.
try alloc jump 7 23 60 "heap:heap allocations=[2*s]..[n+2*s] live=[-n]..[n]"
try reset jump 8 11 60 "heap:heap allocations=[n]..[n+2*s] live=[-n-2*s]..[n+2*s]"
try label jump 9 53 60 "heap:heap allocations=[2*s]..[n+2*s] live=[-n]..[n]" \
    "labels:in=handler allocations=[s]"
try alloc fork 10 47 30 "heap:heap allocations=[n+2*s] live=0 live_bytes=0"
# Interrupt each of the first instructions: the state that they compute is invalid in the child.
try alloc fork 0 1 80 "heap:heap allocations=[n+2*s] live=0 live_bytes=0"
try free fork 0 1 80 "heap:heap allocations=[n+2*s] live=0 live_bytes=0"

# The handler forks while an event is in progress. The child first finishes this event; then its
# recording starts, with the inherited heap, and the child allocates once. If the signal arrived
# before the recorder had begun the interrupted allocation, the child records that one as well.
for dir in *-fork-*/; do
    children=0
    for file in "$dir"*.heaptap; do
        [ "${file#*/}" = 1.heaptap ] && continue
        children=$((children + 1))
        python3 "$area/api_tables.py" "$file" \
            "heap:heap allocations=1..2 live_bytes=40..140" >tables.out 2>&1 ||
            failed "$file: $(cat tables.out)"
    done
    check "${dir%/}: every child has its own profile" test "$children" -ge 10
done
finish
