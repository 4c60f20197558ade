#!/usr/bin/env bash
# lua_threads.sh: states of Lua in threads, each with coroutines. If it fails, the script of one
# thread is charged with the allocations of another thread, or is shown with the frames of another
# state.
. "$SRCDIR/test/run/lib.subr"
need python3
tried=0

for lua in lua5.4 lua5.3 lua5.2 lua5.1; do
    cc -O1 -g -I"/usr/include/$lua" -o "$lua" "$area/lua_threads.c" -Wl,-E "-l:lib$lua.a" -lm -ldl \
        -lpthread 2>cc.err || continue
    tried=$((tried + 1))
    record "$lua.heaptap" "./$lua" "$area/lua_threads.lua"
    same "$lua: exit status" 0 "$status"
    "$HEAPTAP" report --json --no-fold "$lua.heaptap" >"$lua.json" 2>/dev/null
    "$HEAPTAP" report --json --no-fold --native "$lua.heaptap" >"$lua.native" 2>/dev/null
    check "$lua: sums of four states" run_python "$area/lua_threads.py" "$lua.json" \
        "$lua.native" "$lua.heaptap.out"
done
[ $tried -gt 0 ] || skip_all "needs liblua5.4-dev, 5.3, 5.2 or 5.1"
finish
