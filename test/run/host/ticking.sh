#!/usr/bin/env bash
# ticking.sh: fast ticks of a timer whose handler allocates. If it fails, the recorder takes so long
# in a handler that the next tick is always pending when it returns, and the program makes no
# progress.
#
# The fastest period depends on the machine. The test uses the shortest period below at which the
# bare program makes progress with ticks that take 20 microseconds longer; three recorded
# allocations take less than that. The test only checks that the program finishes, within a hundred
# times its usual time.
. "$SRCDIR/test/run/lib.subr"
need python3

gets_on() {
    timeout 2 "$PROG/ticking" "$1" 20 >bare.out 2>&1
}

period=
for p in 30 40 50 70 100 150 250 400 1000; do
    if gets_on "$p" && gets_on "$p" && gets_on "$p"; then
        period=$p
        break
    fi
done
[ -n "$period" ] || skip_all "ticks of a millisecond are too fast for this machine"

# If the machine was busy with other work for a while, another try may succeed.
for attempt in 1 2 3; do
    rm -f ticking.heaptap
    timeout 20 env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/ticking.heaptap" \
        "$PROG/ticking" "$period" 0 >run.out 2>run.err
    status=$?
    [ "$status" = 124 ] || break
    echo "# attempt $attempt: not finished"
done
same "a tick every $period us: exit status" 0 "$status"
read -r _ ticks <run.out
known ticking.heaptap "leaf:main allocations=1 frees=0" \
    "leaf:on_tick allocations=$((3 * ticks)) frees=0" \
    "leaf:work allocations=400000 frees=400000" \
    "losses events=0 unknown_frees=0 unwind_failures=0 truncated_stacks=0"

# The same from the first instruction. Not every start is interrupted at a critical place. The ticks
# stop after a while, so a start that does not finish has hung. If ticks are too fast for the
# machine, there are fewer.
starts=0 status=0 SECONDS=0
while [ "$status" = 0 ] && [ $starts -lt 100 ] && { [ $starts -lt 5 ] || [ $SECONDS -lt 60 ]; }; do
    timeout 30 env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/start.heaptap" "$PROG/ticking_start" \
        >/dev/null 2>start.err
    status=$?
    starts=$((starts + 1))
done
echo "# $starts starts"
same "ticks while the recorder starts: exit status of each" 0 "$status"
finish
