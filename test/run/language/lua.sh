#!/usr/bin/env bash
# lua.sh: the functions of Lua in stacks, at random moments against what Lua itself says of its
# calls: in a thousand coroutines, through metamethods, callbacks from C, errors and tail calls. If
# it fails, people see functions of their scripts that did not run, or at another line.
. "$SRCDIR/test/run/lib.subr"
need python3
adapter=$BUILD/libheaptap_lua.so
tried=0

# moments LUA SEED COUNT: the profile and what is right, in a directory.
moments() {
    local lua=$1 seed=$2 count=$3 dir=$1-$2
    mkdir "$dir"
    LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/$dir/%n.heaptap \
        "$lua" "$area/moments.lua" "$seed" "$count" "$dir/truth" >"$dir/out" 2>&1
    same "$dir: exit status" 0 $?
    same "$dir: output" "" "$(cat "$dir/out")"
    "$HEAPTAP" report --json --no-fold "$dir/1.heaptap" >"$dir/json" 2>"$dir/report.err"
    check "$dir: chains" run_python "$area/moments.py" "$dir/json" "$dir/truth"
}

for lua in lua5.4 lua5.3; do
    command -v $lua >/dev/null || continue
    tried=$((tried + 1))
    moments $lua 1 3000
    moments $lua 7 10000
done
[ $tried -gt 0 ] || skip_all "needs lua5.4 or lua5.3"
finish
