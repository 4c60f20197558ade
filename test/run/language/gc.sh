#!/usr/bin/env bash
# gc.sh: a program on the collector libgc, whose objects end by calls and by collections, also in
# threads, with a collector that works in steps, and after a fork. If it fails, the live, freed or
# allocated numbers of a collected heap are wrong, or are charged to a wrong function; the program
# has lost its own hook for collections, or has fewer collections when it is recorded; or views give
# a wrong moment, or none, for the last known live numbers; or a program with a private libgc in a
# plug-in crashes.
. "$SRCDIR/test/run/lib.subr"
need python3
[ -f /usr/include/gc/gc.h ] || skip_all "libgc-dev is not installed"

${CC:-cc} -O2 -g -o collected "$area/collected.c" -lgc -lpthread 2>cc.err ||
    { cat cc.err; exit 1; }

# rows NAME PROFILE TRUTH: compare the allocations of functions, and the collections.
rows() {
    "$HEAPTAP" report --json --no-fold "$2" >"$1.json"
    check "$1: objects" run_python "$area/rows.py" "$1.json" "$3"
}

# try NAME OBJECTS THREADS [MODE]: record ./collected, and compare the profile with its rows
try() {
    mkdir "$1"
    LD_PRELOAD=$LIBHEAPTAP:$BUILD/libheaptap_gc.so HEAPTAP_OUT=$PWD/$1/%n.heaptap \
        ./collected "$2" "$3" "${4:-plain}" >"$1.truth" 2>"$1.err"
    same "$1: exit status" 0 $?
    same "$1: errors" "" "$(cat "$1.err")"
    same "$1: the program's own hook" "hook 1" "$(tail -1 "$1.truth")"
    # The more memory the collector has to scan, the less often it works.
    same "$1: data that is scanned" "filter 1" "$(tail -2 "$1.truth" | head -1)"
    rows "$1" "$1/1.heaptap" "$1.truth"
    "$HEAPTAP" timeline --json "$1/1.heaptap" >"$1.timeline"
    "$HEAPTAP" report "$1/1.heaptap" >"$1.report"
    check "$1: collections" run_python "$area/gc_history.py" "$1.json" "$1.timeline" "$1.report" \
        "$1.truth"
}

# The program selects the adapter.
record run.heaptap ./collected 2000 0
rows run run.heaptap run.heaptap.out
try one 8000 0
try threads 4000 4
try incremental 8000 0 incremental
try steps 4000 4 incremental
try forked 4000 0 fork
rows child forked/2.heaptap child

# A plug-in opened with RTLD_LOCAL has its own libgc, which RTLD_NEXT does not find. A plug-in with
# ECL is recorded as a program on libgc, because the adapter searches for ECL only at start-up.
# local_plugin NAME ADAPTER DEFINE LIBRARY
local_plugin() {
    local name=$1 adapter=$2
    ${CC:-cc} -O1 -g -fPIC -shared -D"$3" -o "$name.so" "$area/local_host.c" "$4" 2>cc.err ||
        { echo "ok - $name # SKIP $(head -1 cc.err)" && return; }
    LD_PRELOAD=$LIBHEAPTAP:$BUILD/libheaptap_$adapter.so HEAPTAP_OUT=$PWD/$name.heaptap \
        ./local_host "./$name.so" >"$name.out" 2>"$name.err"
    same "$name: exit status" 0 $?
    same "$name: errors" "" "$(cat "$name.err")"
}
${CC:-cc} -O1 -g -o local_host "$area/local_host.c" -ldl 2>cc.err || { cat cc.err; exit 1; }
for adapter in gc ecl; do
    if ! [ -e "$BUILD/libheaptap_$adapter.so" ]; then
        echo "ok - local-$adapter # SKIP libheaptap_$adapter.so was not built"
        continue
    fi
    local_plugin local-$adapter $adapter PLUGIN -lgc
    "$HEAPTAP" report --json --heap libgc local-$adapter.heaptap >local.json
    same "local-$adapter: sums" "[1000, 100000, 500, 50000]" "$(python3 -c 'import json
totals = json.load(open("local.json"))["totals"]
print([totals[k] for k in ("allocations", "allocated_bytes", "frees", "freed_bytes")])')"
    local_plugin local-list-$adapter $adapter PLUGIN_ECL -lecl
    [ ! -e local-list-$adapter.out ] || same "local-list-$adapter: works" 1000 \
        "$(cat local-list-$adapter.out)"
done

# Pictures and charts show the collections, also for merged and packed files.
"$HEAPTAP" timeline one/1.heaptap >one.text
check "timeline: a line of collections" grep -Eq '^ +gc +[1-9+ ]+$' one.text
same "timeline: no names of collections" 0 "$(grep -c '↑ collection' one.text)"
"$HEAPTAP" timeline --svg one.svg one/1.heaptap >/dev/null
check "timeline: marks in the picture" grep -q 'class="gc"' one.svg
"$HEAPTAP" pack -o packed.heaptap one/1.heaptap
"$HEAPTAP" report --json packed.heaptap | grep -o '"collections": [0-9]*' >packed.txt
"$HEAPTAP" report --json one/1.heaptap | grep -o '"collections": [0-9]*' >whole.txt
check "packed: collections" cmp packed.txt whole.txt
"$HEAPTAP" merge -o merged.heaptap one/1.heaptap threads/1.heaptap >/dev/null
"$HEAPTAP" report --json merged.heaptap >merged.json
check "merged: collections" run_python "$area/gc_history.py" --sum merged.json one.truth \
    threads.truth
finish
