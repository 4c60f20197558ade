#!/usr/bin/env bash
# history.sh: what every counter was at every snapshot, and the peak among snapshots, to the byte.
# If it fails, a report of a moment or an interval is wrong, or taking a snapshot changes the peak.
#
# test/prog/history_known.c says what is right, test/run/history.py compares. Snapshots are asked
# for by raise(SIGUSR1), so that the program knows when they are; those of the timeline and of
# growth come in between where they like.
. "$SRCDIR/test/run/lib.subr"
need python3
USR1=$(kill -l USR1)

# recorded DIRECTORY ARGS...: history_known under the recorder, its words in DIRECTORY/out.
recorded() {
    local dir=$1
    shift
    mkdir "$dir"
    env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$dir/%n.heaptap" HEAPTAP_SNAPSHOT_SIGNAL="$USR1" \
        "$PROG/history_known" "$@" >"$dir/out" 2>"$dir/err"
    status=$?
}

agrees() {
    python3 "$SRCDIR/test/run/history.py" "$1/${3:-1}.heaptap" "$1/out" ${2:+"$2"}
}

# SEED and how seldom a snapshot is taken: from after each event to once in a while.
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

check "one thread: all counters at all snapshots, and the peak" one_thread
check "several threads that free one another's blocks" several_threads
check "killed" killed
check "parent and forked child, each its own" forked
finish
