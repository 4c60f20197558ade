#!/usr/bin/env bash
# deep_stacks.sh: the number of instructions for one event on a deep stack of Lua or Python, counted
# by callgrind: at the inner end of a recursion, and while it grows. If it fails, the cost of an
# event grows with the depth of the recursion, and recording deep recursions takes minutes.
. "$SRCDIR/test/run/lib.subr"
need valgrind lua5.4
case $(uname -m) in x86_64) ;; *) skip_all "the bounds are for x86-64" ;; esac
python="/usr/bin/python3 -S"
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1

# instructions LANGUAGE COMMAND…: count the instructions of COMMAND when it is recorded
instructions() {
    LD_PRELOAD="$LIBHEAPTAP $BUILD/libheaptap_$1.so" HEAPTAP_OUT=$PWD/deep.heaptap \
        HEAPTAP_FRAMES=${frames:-} valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "${@:2}" 2>&1 | sed -n 's/.*Collected : //p'
    rm -f deep.heaptap
}

# within NAME COUNT BOUND: check that COUNT is at most BOUND
within() {
    check "$1: $2 instructions, at most $3" test "$2" -gt 0 -a "$2" -le "$3"
}

# costs NAME LANGUAGE DEPTH BOUND COMMAND…: check the costs of one event at the end of DEPTH calls,
# and of one more call
costs() {
    local name=$1 language=$2 depth=$3 bound=$4 events=1000 none end call
    shift 4
    none=$(instructions "$language" "$@" "$depth" 0)
    end=$((($(instructions "$language" "$@" "$depth" $events) - none) / events))
    call=$((($(instructions "$language" "$@" $((depth + events)) 0) - none) / events))
    within "$name, an event" "$end" "$bound"
    within "$name, a call" "$call" "$bound"
}

costs "Lua, 500 calls" lua 500 40000 lua5.4 "$area/deep_events.lua"
costs "Lua, 2,000 calls" lua 2000 48000 lua5.4 "$area/deep_events.lua"
costs "Lua, 20,000 calls" lua 20000 48000 lua5.4 "$area/deep_events.lua"
frames=12 costs "Lua, 2,000, 12 frames" lua 2000 9500 lua5.4 "$area/deep_events.lua"
if [ -x /usr/bin/python3 ]; then
    # Before 3.11, an event compares all frames that a profile can contain.
    times=$($python -c 'import sys; print(3 if sys.version_info < (3, 11) else 1)')
    for depth in 500 2000 6000; do
        costs "Python, $depth calls" python $depth $((times * 26000)) $python \
            "$area/deep_events.py"
    done
    frames=12 costs "Python, 2000, 12 frames" python 2000 $((times * 35000)) $python \
        "$area/deep_events.py"
else
    echo "ok - Python # SKIP needs /usr/bin/python3"
fi
finish
