#!/usr/bin/env bash
# toy.sh: frames of a made-up language among C frames, each chain compared with the interpreter's
# own. If it fails, stacks show functions of the program's language that did not run, in a wrong
# order, at a wrong line, or inside of the wrong C function.
. "$SRCDIR/test/run/lib.subr"
need python3

# try NAME SEED STEPS THREADS [DEPTH [FIRST]]: record a run, and check profile number 1, or number 2
# if DEPTH is "fork". FIRST is the number of frames to compare; 0 = all.
try() {
    local name=$1 seed=$2 steps=$3 threads=$4 how=${5:-} first=${6:-0} number=1
    [ "$how" = fork ] && number=2
    rm -rf "$name"
    mkdir "$name"
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/$name/%n.heaptap HEAPTAP_FRAMES=${frames:-} \
        "$PROG/toy" "$seed" "$steps" "$threads" "$name/truth" $how ${adapter:-} ${flat:-} \
        2>"$name/err"
    same "$name: exit status" 0 $?
    same "$name: errors" "" "$(cat "$name/err")"
    "$HEAPTAP" report --json --no-fold --native "$name/$number.heaptap" >"$name/json"
    check "$name: chains" run_python "$area/chains.py" "$name/json" "$name/truth" "$first" \
        toy_eval toy_calls_back toy_leaf_small toy_leaf_deep toy_leaf_grows
}

try short 1 2000 0
try long 2 400000 0
try threads 3 60000 4
try child 4 60000 0 fork
# These stacks are deep. If a stack has more frames than a profile records, the inner frames are
# compared.
try deep 5 40000 0 120
try deep_threads 6 15000 2 120
frames=100 try cut 7 20000 0 120 50
frames=1024 try too_deep 8 40000 0 400 150
# This adapter needs the C frames to place its frames.
adapter=placed try placed 9 200000 0 6
adapter=placed try placed_deep 10 40000 0 120
adapter=placed try placed_threads 11 15000 2 120
adapter=placed frames=1024 try placed_too_deep 12 40000 0 400 150
# This adapter returns the number of unchanged outer frames.
adapter=again try again 13 200000 0 6
adapter=again try again_deep 14 40000 0 120
adapter=again try again_threads 15 15000 2 120
adapter=again frames=1024 try again_too_deep 16 40000 0 400 150
# This adapter does both.
adapter=placed_again try placed_again 17 200000 0 6
adapter=placed_again try placed_again_deep 18 40000 0 120
adapter=placed_again try placed_again_threads 19 15000 2 120
adapter=placed_again frames=1024 try placed_again_too_deep 20 40000 0 400 150
# Hundreds of functions share a C frame, which allocates at several places.
for adapter in again placed_again; do
    flat=800 try "${adapter}_flat" 21 30000 0 14
    flat=800 try "${adapter}_flat_threads" 22 10000 2 14
    flat=1590 frames=1024 try "${adapter}_flat_too_deep" 23 30000 0 14 150
done
finish
