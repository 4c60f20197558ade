#!/usr/bin/env bash
# history.sh: check every counter at every snapshot, and the peak among snapshots, to the byte. If
# it fails, a report of a moment or an interval is wrong, or taking a snapshot changes the peak.
#
# test/prog/history_known.c prints the expected values, and history.py compares them. raise(SIGUSR1)
# requests snapshots, so that the program knows their time. In between, the recorder takes further
# snapshots at any time, for the timeline and by growth.
. "$SRCDIR/test/run/lib.subr"
need python3
USR1=$(kill -l USR1)

# recorded DIRECTORY ARGS...: run history_known under the recorder, with its output in
# DIRECTORY/out.
recorded() {
    local dir=$1
    shift
    mkdir "$dir"
    env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$dir/%n.heaptap" HEAPTAP_SNAPSHOT_SIGNAL="$USR1" \
        "$PROG/history_known" "$@" >"$dir/out" 2>"$dir/err"
    status=$?
}

agrees() {
    python3 "$area/history.py" "$1/${3:-1}.heaptap" "$1/out" ${2:+"$2"}
}

# Programs of one thread with several seeds. The interval of snapshots ranges from every event to
# about 100 events.
one_thread() {
    local seed dir every
    for seed in $(seq 12); do
        every=$((1 + seed * seed * seed % 100)) dir=one-$seed
        HEAPTAP_SNAPSHOT_GROWTH=$((seed % 2 * 5000)) \
            recorded "$dir" "$seed" $((1000 + seed * 200)) $every 1 exit
        [ "$status" = 0 ] && agrees "$dir" || return 1
    done
}

several_threads() {
    local seed dir
    for seed in $(seq 8); do
        dir=threads-$seed
        recorded "$dir" "$seed" 3000 $((50 + seed * 31)) $((2 + seed % 6)) exit
        [ "$status" = 0 ] && agrees "$dir" || return 1
    done
}

# tables FILE ARGS...
tables() {
    python3 "$area/history.py" "$@"
}

killed() {
    local seed dir
    for seed in 1 2 3; do
        dir=killed-$seed
        recorded "$dir" "$seed" 2000 $((seed * 7)) 1 kill
        [ "$status" = 137 ] && agrees "$dir" || return 1
    done
}

forked() {
    local seed dir
    for seed in 1 2 3; do
        dir=forked-$seed
        recorded "$dir" "$seed" 2000 $((seed * 7)) 1 fork
        [ "$status" = 0 ] && agrees "$dir" && agrees "$dir" child 2 || return 1
    done
}

storm() {
    local seed dir
    for seed in 1 2 3; do
        dir=storm-$seed
        recorded "$dir" "$seed" 20000 $((50 * seed)) $((seed + 2)) storm
        [ "$status" = 0 ] && agrees "$dir" storm || return 1
    done
}

# The signal comes after every event, so a run of half the length ends at a snapshot of the other.
sampled() {
    local by
    for by in SAMPLE=2048 SAMPLE_COUNT=5; do
        export "HEAPTAP_$by" HEAPTAP_SEED=7
        recorded "short-$by" 5 1000 1 1 exit
        recorded "long-$by" 5 2000 1 1 exit
        unset "HEAPTAP_${by%=*}" HEAPTAP_SEED
        python3 "$area/history.py" "short-$by/1.heaptap" "short-$by/out" until \
            "long-$by/1.heaptap" "long-$by/out" || return 1
    done
}

# The profile is in memory, and the file is a copy, with thousands of records, none of them
# released.
in_memory() {
    HEAPTAP_SELF_CONTAINED=1 recorded in_memory 3 2500 1 1 exit
    [ "$status" = 0 ] && agrees in_memory
}

# HISTORY gets a 16th of the reserve.
full() {
    HEAPTAP_RESERVE=1000000 recorded full 1 4000 30 1 exit
    [ "$status" = 0 ] && tables full/1.heaptap full &&
        "$HEAPTAP" report --json full/1.heaptap >full.json
}

growth() {
    "$HEAPTAP" run --quiet --no-pack --snapshot-growth 20K -o growth.heaptap -- \
        "$PROG/many_stacks" 60000 &&
        # A tick comes after 256 events; one in four writes records, of at most 100 bytes.
        tables growth.heaptap growth 20480 400
}

# Record a week by the fast clock of libfastclock.c, which only the recorder reads.
long_run() {
    env LD_PRELOAD="$LIBHEAPTAP $PROG/libfastclock.so" HEAPTAP_OUT="long-$1.heaptap" \
        "$PROG/history_long" 604800 "$1" >long.out
    tables "long-$1.heaptap" long 604800 "$(sed 's/events //' long.out)"
}

check "one thread: all counters at all snapshots, and the peak" one_thread
check "several threads that free one another's blocks" several_threads
check "killed" killed
check "parent and forked child, each its own" forked
check "threads that take snapshots at once" storm
check "estimates" sampled
check "in memory that core dumps hold" in_memory
check "no room: counted" full
check "by growth" growth
check "a week, few stacks" long_run 30
check "a week, many stacks" long_run 3000

# slow BURST EVENTS BYTES PAUSE_MS GROWN PERIODS: check that a program of few events gets snapshots
# in time. GROWN of its events grow live bytes past the bound; the period passes at least PERIODS
# times.
slow() {
    "$HEAPTAP" run --quiet --no-pack --force --snapshot-growth "$3" --snapshot-every 0.1 \
        -o slow.heaptap -- "$PROG/slow_events" "${@:1:4}" &&
        tables slow.heaptap kinds "4=$5" "6=$6..1000" "1=1..1000" &&
        "$HEAPTAP" timeline --json slow.heaptap >slow.json &&
        run_python - "$2" "$3" "$5" <<'END'
import sys
import documents
events, size, grown = sys.argv[1:]
totals = documents.load(open("slow.json"))
values = {value for point, value in zip(totals["points"], totals["total"]["values"])
          if point["kind"] == "growth"}
wanted = {n * int(size) for n in range(1, int(events) + 1)}
least = int(grown.split("..")[0])
assert values <= wanted and len(values) >= least, (sorted(values), sorted(wanted))
END
}
check "few events: one of 10 MiB" slow 0 1 10485760 200 1 0
check "few events: 5 of 10 MiB" slow 0 5 10485760 150 5 3
check "few events: 50 of 10 MiB" slow 0 50 10485760 20 50 5
check "few events: 5 of 10 MiB, after a burst" slow 5000 5 10485760 150 5 3
# In a program with more events, a tick may come more than one event late.
check "few events: 50 of 100 bytes" slow 0 50 100 20 40..50 5
check "few events: 300 of 100 bytes" slow 0 300 100 8 150..300 10

# rested BURST MISSING: check that no event after a rest is shown during the rest, and that at most
# MISSING events before it are missing.
rested() {
    "$HEAPTAP" run --quiet --no-pack --force -o rests.heaptap -- "$PROG/rests" "$1" 1000 &&
        "$HEAPTAP" report --json --at 0.6s rests.heaptap >first.json &&
        "$HEAPTAP" report --json --at 1.6s rests.heaptap >second.json &&
        run_python - "$1" "$2" <<'END'
import sys
import documents
burst, missing = map(int, sys.argv[1:])
for name, frees in ("first.json", burst), ("second.json", burst + 90):
    totals = documents.load(open(name))["totals"]
    got = totals["allocations"], totals["frees"]
    lacks = burst + 90 - got[0] + frees - got[1]
    assert got[0] <= burst + 90 and got[1] <= frees and 0 <= lacks <= missing, (name, got)
END
}
for _ in 1 2 3; do
    check "rests: 90 events at a time" rested 0 0
    check "rests: after a burst of 40 events" rested 20 0
done

# A copy of a profile in memory has at least all events but the last two.
killed_at_rest() {
    local runner _
    env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/rest.heaptap" HEAPTAP_SELF_CONTAINED=1 \
        "$PROG/slow_events" 0 5 10485760 400 &
    runner=$!
    sleep 1.9
    kill -9 $runner
    wait $runner
    report_json rest.heaptap >rest.json && python3 -c 'import json
blocks = json.load(open("rest.json"))["totals"]["live_blocks"]
assert 3 <= blocks <= 5, blocks'
}
check "few events: a killed program leaves a copy" killed_at_rest

# signalled NAME STATUS OUTPUT SNAPSHOTS [OPTION]: run history_signal NAME, with snapshots by its
# signal.
signalled() {
    "$HEAPTAP" run --quiet --no-pack --snapshot-signal USR2 ${5:+"$5"} -o "$1$5.heaptap" -- \
        "$PROG/history_signal" "$1" >"$1.out" 2>"$1.err"
    same "signal, $1 $5: exit status" "$2" $?
    same "signal, $1 $5: what the program sees" "$3" "$(paste -sd, "$1.out")"
    check "signal, $1 $5: snapshots" tables "$1$5.heaptap" kinds "5=$4"
}
as_default="default flags 0"
usr2=$(kill -l USR2)
signalled default 0 "$as_default,$as_default" 3 ""
signalled own 0 "$as_default,before: default,own flags 14000000,caught 1" 0 ""
signalled reset $((128 + usr2)) "$as_default,before: default" 0 ""
signalled child 0 "$as_default,child 0" 0 ""
check "signal, child: its own profile has its snapshot" tables child.processes/*.heaptap kinds 5=1
signalled child 0 "$as_default,child $usr2" 0 --no-children
signalled before 0 "$as_default,child 0" 0 ""
signalled before 0 "$as_default,child $usr2" 0 --no-children
signalled before 0 "$as_default,child $usr2" 0 --reserve=1M
(trap '' USR2 && exec "$HEAPTAP" run --quiet --no-pack --snapshot-signal SIGUSR2 \
    -o ignored.heaptap -- "$PROG/history_signal" default >ignored.out)
same "signal, ignored from the start: stays so" "ignored flags 0,ignored flags 0" \
    "$(paste -sd, ignored.out)"
check "signal, ignored from the start: no snapshot" tables ignored.heaptap kinds 5=0
for name in KILL SEGV 9 0 HUP+1 RTMIN+99 ""; do
    "$HEAPTAP" run --snapshot-signal "$name" -- true >out 2>err
    same "signal '$name' is refused" 2 $?
done
for name in usr1 SIGHUP 34 RTMIN+2 RTMAX; do
    "$HEAPTAP" run --quiet --snapshot-signal "$name" -- true >out 2>err
    same "signal '$name' is taken" "0 " "$? $(cat err)"
done

# `heaptap run` requests snapshots periodically, from all running processes.
"$HEAPTAP" run --quiet --no-pack --snapshot-every 0.1 -o every.heaptap -- \
    sh -c '"$1" one 1 & "$1" two 1 & wait' sh "$PROG/counted" &
runner=$!
asked_twice() {
    local file n=0
    for file in every.processes/*counted*; do
        tables "$file" kinds 6=2..1000 && n=$((n + 1))
    done
    [ $n = 2 ]
}
for _ in $(seq 300); do
    asked_twice >/dev/null 2>&1 && break
    sleep 0.1
done
check "periodically: both processes have snapshots" asked_twice
kill $(pgrep -P "$(pgrep -P $runner)")
wait $runner
same "periodically: exit status" 0 $?

# --- A limit on memory ---------------------------------------------------------------------------

# bounded SIZE: record 40,000 stacks under a limit; `taken` gets the profile's size and the
# recorder's memory, in bytes.
bounded() {
    rm -f bounded.heaptap
    "$HEAPTAP" run --quiet --no-pack ${1:+--max-memory "$1"} -o bounded.heaptap -- \
        "$PROG/many_stacks" 40000
    same "limit '$1': exit status" 0 $?
    "$HEAPTAP" report --json --no-fold bounded.heaptap >bounded.json 2>bounded.err
    taken=$(python3 -c 'import json
print(json.load(open("bounded.json"))["recorder"]["memory_bytes"])')
    known bounded.heaptap "total allocations=80000 allocated_bytes=4400000" \
        "total live_blocks=2500 live_bytes=137500" "leaf:known allocations=40000" \
        "losses events=0 unknown_frees=0"
}
bounded ""
check "without a limit it takes more than 16 MiB" test "$taken" -gt 16777216
for mib in 2 4 16; do
    bounded ${mib}M
    check "limit of $mib MiB: it takes less" test "$taken" -le $((mib << 20))
    check "limit of $mib MiB: and uses most of it" test "$taken" -ge $((mib << 19))
    known bounded.heaptap "losses shortened_stacks=1000..39999 other_site_events=0" \
        "leaf:descend allocations=40000 allocated_bytes=4000000"
done
"$HEAPTAP" run --max-memory 100K -- true >out 2>err
same "a limit below what the recorder needs is refused" 2 $?
finish
