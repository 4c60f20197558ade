#!/usr/bin/env bash
# api.sh: heaptap.h. If it fails, the heaps that a program reports are recorded wrongly, or the
# program behaves differently without a recorder. api_tables.py reads the numbers from the raw file;
# other tests cover the tools' views. The cases are in test/prog/own_heaps.c.
. "$SRCDIR/test/run/lib.subr"
need python3

tables() { # tables PREFIX FILE CHECK…: check FILE's raw tables
    local prefix=$1
    shift
    python3 "$area/api_tables.py" "$@" >tables.out 2>tables.err ||
        failures=$((failures + 1))
    sed "s/^\(ok\|not ok\) - /&$prefix: /" tables.out
    [ ! -s tables.err ] || { failed "$prefix: the tables can be read"; sed 's/^/#   /' tables.err; }
}

preload() { # preload FILE PROGRAM…: record PROGRAM into FILE
    rm -f "$1" "${1%.heaptap}".*.heaptap
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/$1 "${@:2}" >out 2>err
}

# own CASE CHECK…: run CASE of own_heaps.c, also without a recorder, and check its profile.
own() {
    local name=$1
    shift
    "$PROG/own_heaps" "$name" >bare.out 2>bare.err
    same "$name, bare: exit status" 0 $?
    preload "$name.heaptap" "$PROG/own_heaps" "$name"
    same "$name: exit status" 0 $?
    [ ! -s err ] || { failed "$name: no message"; cat err; }
    tables "$name" "$name.heaptap" "$@"
}

quiet="losses heap_events=0 reentrant_events=0 no_memory_events=0"
own events "heap:events allocations=15 allocated_bytes=1650 frees=3 freed_bytes=300" \
    "heap:events moved=1 reallocations=1 grown_bytes=200" "frees unknown=1" \
    "malloc allocations=0" "$quiet"
own lives "heap:lives allocations=150 frees=150 temporary=0 ended_16=94 ended_256=30" "$quiet"
own lasting "heap:lasting allocations=4 allocated_bytes=450 frees=4 freed_bytes=450 moved=1" \
    "record:lasting made=1 destroyed=1 resets=0" "heap:after allocations=1 frees=1" \
    "frees unknown=0" "losses heap_events=1 reentrant_events=0 no_memory_events=0"
own mixed "frees unknown=0" "$quiet"
tables mixed mixed.heaptap "heap:mixed $(cat mixed.sums)" "heap:that lasts $(cat lasts.sums)"
own second "heap:second allocations=40 frees=39 live=1 live_bytes=10" "frees unknown=0" "$quiet"
own reset "heap:million allocations=1000010 frees=1000000 live=10 live_bytes=80" \
    "heap:million peak=1000000 peak_bytes=16000000" "record:million resets=1" "$quiet"
# The limit is far above the usual microseconds: only a walk over a million blocks takes that long.
check "reset of a million live blocks takes less than 5 ms of the processor" \
    test "$(cat reset.ns)" -lt 5000000
echo "# reset of 1,000,000 live blocks: $(cat reset.ns) ns"
own round "heap:round allocations=280001 frees=280000 live=1 live_bytes=30" \
    "heap:round temporary=0" "frees unknown=1" "$quiet"
own requests "heap:request arena allocations=500000 frees=499988 live=12 nodes=1" \
    "record:request arena made=100000 destroyed=99997" "$quiet"
own names "total allocations=3000 live=3000" "heap:other heaps allocations=1900..2100" \
    "heap:name 0 allocations=1" "$quiet"
own skip "heap:skip allocations=2 nodes=2" "heap:skip all allocations=2 nodes=1"
own nested "total allocations=13 live=1 live_bytes=500000 peak=13 peak_bytes=1700000" \
    "heap:nested allocated_bytes=1200000 frees=12 peak_bytes=1200000" \
    "backing:nested allocations=2 allocated_bytes=2000000 frees=1 live_bytes=1000000" \
    "malloc allocations=1 allocated_bytes=500000 peak_bytes=500000 frees=0" "$quiet"
own below "total peak=2 peak_bytes=2000000 live_bytes=1700000" \
    "malloc peak_bytes=2000000 allocations=3" "heap:below peak_bytes=0" \
    "backing:below live_bytes=1500000"
own backing "total allocations=2 live_bytes=4000" "frees unknown=0" \
    "backing:backing allocations=5 allocated_bytes=18296 frees=4 live_bytes=4096 moved=1" \
    "losses heap_events=1"
own labels "labels:tenant=acme allocations=7 frees=3" "labels: allocations=10" \
    "labels:kind=upload,tenant=acme allocations=4 allocated_bytes=1310" \
    "labels:kind=upload,tenant=other one allocations=3" "heap:labelled allocations=7" \
    "losses label_sets=0"
own many_labels "total allocations=10001" "labels:request=17 allocations=1 allocated_bytes=8" \
    "labels:other allocations=5900..5910" "labels: allocations=1 allocated_bytes=5" \
    "losses label_sets=5900..10000"
own fork "heap:inherited allocations=1 live=1" "labels:who=me allocations=1"
tables "fork, the child" "$(ls fork.own_heaps.*.heaptap)" \
    "heap:inherited allocations=2 allocated_bytes=30 frees=2" \
    "heap:of the child allocations=1 allocated_bytes=3 live=1" "labels:who=me allocations=3" \
    "frees inherited=1 unknown=0" "record:inherited made=0 destroyed=1 resets=1" "$quiet"
own handler
n=$(cat interruptions)
tables "handler" handler.heaptap "heap:interrupted live=$n live_bytes=$((2 * n))" \
    "labels:in=handler allocations=$n frees=$n" "malloc live=0" "frees unknown=0" "$quiet"
own threads "heap:pool allocations=400000 allocated_bytes=4000000" "frees unknown=0" "$quiet"
tables "threads" threads.heaptap "heap:pool live=$(cat left)"
own race "heap:race allocations=150000 live=0 live_bytes=0"
# Four threads turn blocks of 1 MiB into arenas at the same time: at most one block of each thread
# counts in the peak.
own arenas "total peak_bytes=2934464..7263840" "heap:big arena allocations=160000 live=0" \
    "backing:big arena allocations=16000 frees=16000" "$quiet"
# The chunks do not count as malloc's, but a large block of the same thread does.
own large "total peak_bytes=104857600..106000000" "$quiet"
own large_alone "total peak=1 peak_bytes=104857600 live=0" "malloc peak_bytes=104857600" \
    "backing:alone live_bytes=1048576" "$quiet"
own large_after "total peak=1 peak_bytes=104857600 live=0" "malloc peak_bytes=104857600" \
    "backing:after live_bytes=1048576" "$quiet"
own chunks "heap:chunks allocations=100" "backing:chunks allocations=100 frees=100" \
    "malloc allocations=0 allocated_bytes=0" "total peak_bytes=100" "$quiet"
own stop "heap:stopped allocations=2 live=1 live_bytes=10 frees=1" "malloc allocations=2 live=1" \
    "frees unknown=0"
own phases "snapshot:loading of_kind_3=1" "snapshot:loaded of_kind_2=1" \
    "snapshot:a phase with a name of more than of_kind_3=1" "snapshot: of_kind_2=1"

own grown "heap:grown allocations=0 allocated_bytes=732 live_bytes=732" "$quiet"
between() { # between FROM TO: print the bytes allocated from one snapshot to the other
    "$HEAPTAP" report --json --between "$1..$2" grown.heaptap 2>/dev/null |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["allocated_bytes"])'
}
same "bytes without a call: between snapshots" "700 30 2" \
    "$(between start first) $(between first second) $(between second end)"
own nonsense "losses heap_events=4" "malloc allocations=1 live_bytes=11"
own full "total allocations=32768 live=32768" "heap:crowded allocations=16384 live_bytes=163840"
own limited "total allocations=32768 live=32768" "malloc allocations=16384" \
    "heap:crowded allocations=16384 live_bytes=163840"
check "limited: the file has at most 2 MiB, and less than without a limit" \
    sh -c '[ $(stat -c %s limited.heaptap) -le 2097152 ] &&
           [ $(stat -c %s full.heaptap) -gt 2097152 ]'
# Its creation, 1,000 allocations, a free, a reset and its end are lost.
own late "malloc allocations=16384" "losses heap_events=0 no_memory_events=1004"
# The tree is full: the heap's only node is below "other".
export HEAPTAP_RESERVE=300000
own full "total allocations=32768 live=32768" "heap:crowded allocations=16384 live_bytes=163840" \
    "malloc allocations=16384"
HEAPTAP_RESERVE=1000000
own names "total allocations=3000 live=3000" "heap:other heaps allocations=2900..2999" "$quiet"
unset HEAPTAP_RESERVE
HEAPTAP_SAMPLE=1048576 own events "heap:events allocations=15 allocated_bytes=1650 frees=3" "$quiet"
HEAPTAP_SAMPLE=4096 own chunks "heap:chunks allocations=100" \
    "backing:chunks allocations=100 frees=100" "malloc allocations=0 allocated_bytes=0" \
    "total peak_bytes=100"
HEAPTAP_SAMPLE=4096 own nested "heap:nested allocated_bytes=1200000 frees=12" \
    "backing:nested allocations=2 allocated_bytes=2000000 frees=1" "malloc live_bytes=0..2000000"
finish
