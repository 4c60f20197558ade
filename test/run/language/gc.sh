#!/usr/bin/env bash
# gc.sh: a program on the collector libgc, whose objects end by calls and by collections. If it
# fails, what is live, freed or allocated in a collected heap is wrong, counts at a wrong function,
# or the program's own hook for collections is gone.
. "$SRCDIR/test/run/lib.subr"
need python3
[ -f /usr/include/gc/gc.h ] || skip_all "libgc-dev is not installed"

${CC:-cc} -O2 -g -o collected "$area/collected.c" -lgc -lpthread 2>cc.err ||
    { cat cc.err; exit 1; }

# try NAME OBJECTS THREADS
try() {
    rm -f "$1.heaptap"
    LD_PRELOAD=$LIBHEAPTAP:$BUILD/libheaptap_gc.so HEAPTAP_OUT=$PWD/$1.heaptap \
        ./collected "$2" "$3" >"$1.truth" 2>"$1.err"
    same "$1: exit status" 0 $?
    same "$1: errors" "" "$(cat "$1.err")"
    same "$1: the program's own hook" "collections 1" "$(tail -1 "$1.truth")"
    "$HEAPTAP" report --json --no-fold --heap libgc "$1.heaptap" >"$1.json"
    check "$1: objects" run_python "$area/rows.py" "$1.json" "$1.truth"
    "$HEAPTAP" timeline --json "$1.heaptap" >"$1.timeline"
    check "$1: collections are moments" grep -q '"collection 1"' "$1.timeline"
}

# Chosen for what the program is.
record run.heaptap ./collected 2000 0
"$HEAPTAP" report --json --no-fold --heap libgc run.heaptap >run.json
check "run: objects" run_python "$area/rows.py" run.json run.heaptap.out
try one 20000 0
try threads 10000 4
finish
