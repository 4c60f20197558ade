#!/usr/bin/env bash
# interrupt.sh: run a signal handler that allocates at every instruction inside the recorder. If it
# fails, a handler that interrupts the recorder breaks the program, or the handler's events are lost
# or recorded wrongly.
#
# test/interrupt/stepper.c sends the signals to test/prog/interrupted.c. Each line of the table is
# one run: turn number i is interrupted after FIRST + i * STRIDE instructions, so a run covers the
# whole path. With HEAPTAP_EVERY_INSTRUCTION=1, every instruction is tried, which takes about an
# hour.
. "$SRCDIR/test/run/lib.subr"
need python3
step=$BUILD/test/interrupt/stepper

# A sandbox may forbid tracing.
"$step" 0 1 "$PROG/interrupted" malloc return 1 >probe.out 2>probe.err
[ $? -ne 96 ] || skip_all "needs ptrace"

# try EVENT HANDLER FIRST STRIDE TURNS CHECK...: in a CHECK, {n} is the number of turns, and {2n} is
# twice that.
try() {
    local event=$1 handler=$2 first=$3 stride=$4 turns=$5 dir=$1-$2-$3 sent inner
    local name="$1, $2, from $3"
    if [ -n "${HEAPTAP_EVERY_INSTRUCTION:-}" ]; then
        turns=$((first + turns * stride)) first=0 stride=1
    fi
    local checks=("${@:6}")
    checks=("${checks[@]//"{n}"/$turns}")
    checks=("${checks[@]//"{2n}"/$((2 * turns))}")
    mkdir "$dir"
    STEP_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$dir/%n.heaptap \
        "$step" "$first" "$stride" "$PROG/interrupted" "$event" "$handler" "$turns" \
        >"$dir/out" 2>"$dir/err"
    same "$name: exit status" 0 $?
    read -r _ _ _ sent _ inner <"$dir/out"
    same "$name: output" "events $turns signals $sent inner $inner" "$(cat "$dir/out")"
    KNOWN_PREFIX="$name: "
    [ "$event" = fork ] || [ "$sent" -gt 0 ] || failed "$name: no signal was sent"
    known "$dir/1.heaptap" \
        "leaf:on_signal allocations=$((2 * sent + inner)) frees=$sent" \
        "leaf:on_inner_signal allocations=$((2 * inner)) frees=$inner" \
        "stack:turn,main allocations=$turns frees=0 allocated_bytes=$((turns * 100))" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0" \
        "${checks[@]}"
}

# Each event of event_NAME counts once, at its whole stack; an event that a jump interrupts may be
# missing.
whole() {
    echo "whole:event_$1,turn,main allocations=$2 frees=$3 sites=1"
}

try malloc return 0 9 120 "$(whole malloc {n} 0)"
try malloc stack 1 9 120 "$(whole malloc {n} 0)"
try malloc nested 2 9 120 "$(whole malloc {n} 0)"
try malloc thread 3 10 110 "$(whole malloc {n} 0)" "leaf:other_thread allocations>=1"
try malloc fork 6 37 30 "$(whole malloc {n} 0)"
try malloc jump 4 9 120 "leaf:event_malloc allocations=0..{n} frees=0"
try free return 0 3 100 "$(whole free {n} {n})"
try free fork 1 19 15 "$(whole free {n} {n})"
# The signals arrive where the thread reads the published state again, as it does after a fork.
try free fork 88 0 12 "$(whole free {n} {n})"
try free jump 1 3 100 "leaf:event_free allocations={n} frees=0..{n}"
try realloc return 0 12 90 "stack:event_realloc,turn,main allocations={2n} frees={n}"
try realloc jump 3 12 90 "stack:event_realloc,turn,main allocations={n}..{2n} frees=0..{n}"
try new return 0 12 90 "$(whole new {n} 0)"
try new stack 3 12 90 "$(whole new {n} 0)"
try new jump 5 12 90 "leaf:event_new allocations=0..{n}"
try delete return 0 6 60 "$(whole delete {n} {n})"
try dlclose return 0 121 40 "leaf:one_inner allocations={n} frees={n}"
try dlclose jump 17 61 40 "leaf:one_inner allocations={n} frees={n}"
try thread return 0 263 25 "leaf:event_malloc allocations={n} frees=0"
try thread nested 50 263 25 "leaf:event_malloc allocations={n} frees=0"
try thread jump 90 263 25 "leaf:event_malloc allocations=0..{n} frees=0"
try fork return 0 1907 12
try fork jump 400 1907 12

# These runs interrupt the first event of forked children. Each child has a separate profile, which
# contains its events after the signal.
children_are_whole() {
    local file children=0 bad=0
    for file in fork-return-0/*.heaptap; do
        [ "$file" = fork-return-0/1.heaptap ] && continue
        children=$((children + 1))
        "$HEAPTAP" report --json --no-fold "$file" >child.json 2>child.err || return 1
        KNOWN_PREFIX="" python3 "$SRCDIR/test/run/known.py" child.json "$file: " \
            "leaf:on_signal allocations=2 frees=1" "leaf:event_malloc allocations=1" \
            "leaf:event_fork allocations=1" "losses events=0" || bad=1
    done
    echo "$children profiles of children"
    [ "$children" -ge 10 ] || bad=1
    return $bad
}
check "fork, return: every child's profile" children_are_whole
# A child that a handler has forked finishes the interrupted event; then its own recording starts.
# It allocates once in the handler and once after it. %n has 1,000 values, and the parent's is 1.
forked_children_are_whole() {
    local file sent wanted children=0 bad=0
    read -r _ _ _ sent _ <"$1/out"
    for file in "$1"/*.heaptap; do
        [ "${file#*/}" = 1.heaptap ] && continue
        children=$((children + 1))
        "$HEAPTAP" report --json --no-fold "$file" >child.json 2>child.err || return 1
        run_python - child.json "$file" <<'END' || bad=1
import documents, sys
with open(sys.argv[1], encoding="utf-8") as f:
    report = documents.load(f)
made = {}
for site in report["sites"]:
    name = site["stack"][0]["function"]
    made[name] = made.get(name, 0) + site["allocations"]
handler = made.get("on_signal", 0) + report["losses"]["events"]
if made.get("turn", 0) != 1 or handler != 1:
    sys.exit(f"{sys.argv[2]}: {made} {report['losses']}")
END
    done
    echo "$children profiles of $sent children"
    wanted=$((sent < 1000 ? sent : 999))
    [ "$children" -eq "$wanted" ] && [ "$sent" -ge 10 ] || bad=1
    return $bad
}
for dir in malloc-fork-6 free-fork-1 free-fork-88; do
    check "$dir: every child's profile" forked_children_are_whole "$dir"
done
finish
