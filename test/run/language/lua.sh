#!/usr/bin/env bash
# lua.sh: the functions of Lua in stacks, compared at random moments with Lua's own list of calls:
# in a thousand coroutines, through metamethods, callbacks from C, errors and tail calls. If it
# fails, people see functions of their scripts that did not run, or at another line, or scripts with
# deep calls crash when they are recorded. In a program with Lua inside, functions of one state are
# shown for another, or sums differ from the allocator's.
. "$SRCDIR/test/run/lib.subr"
need python3
adapter=$BUILD/libheaptap_lua.so
tried=0

# moments LUA SEED COUNT: record moments.lua, and compare the profile's chains with those that the
# script wrote.
moments() {
    local lua=$1 seed=$2 count=$3 dir=$1-$2
    mkdir "$dir"
    LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/$dir/%n.heaptap \
        "$lua" "$area/moments.lua" "$seed" "$count" "$dir/truth" >"$dir/out" 2>&1
    same "$dir: exit status" 0 $?
    same "$dir: output" "" "$(cat "$dir/out")"
    "$HEAPTAP" report --json --no-fold "$dir/1.heaptap" >"$dir/json" 2>"$dir/report.err"
    check "$dir: chains" run_python "$area/moments.py" "$dir/json" "$dir/truth" string.rep
}

# deep LUA: check the output and the status of deep.lua.
deep() {
    LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/deep-$1.heaptap "$1" "$area/deep.lua" 2>&1 |
        tr '\n' ' '
    echo "${PIPESTATUS[0]}"
}

# types LUA: check the recorded types of objects. Lua 5.1 does not pass them to the allocator.
types() {
    local lua=$1 dir=types-$1
    mkdir "$dir"
    "$lua" "$area/lua_types.lua" >"$dir/bare"
    HEAPTAP_LUA_TYPES=1 record "$dir/profile" "$lua" "$area/lua_types.lua"
    same "$lua, types: exit status" 0 "$status"
    check "$lua, types: output" cmp "$dir/bare" "$dir/profile.out"
    "$HEAPTAP" report --json --no-fold "$dir/profile" >"$dir/json" 2>/dev/null
    if [ "$lua" = lua5.1 ]; then
        same "$lua, types: none" 0 "$(grep -c '"lua":' "$dir/json")"
    else
        check "$lua, types: objects" run_python "$area/lua_types.py" "$dir/json" "$dir/bare"
        same "$lua, types: no stack has the adapter" 0 "$(grep -c 'libheaptap_lua' "$dir/json")"
        HEAPTAP_LUA_TYPES=1 "$HEAPTAP" run -q --callers 1/8 -o "$dir/short" -- \
            "$lua" "$area/lua_types.lua" >"$dir/out" 2>&1
        "$HEAPTAP" report --json --no-fold "$dir/short" >"$dir/json" 2>/dev/null
        same "$lua, types: no site is in the adapter" 0 "$(grep -c '"typed"' "$dir/json")"
    fi
    record "$dir/without" "$lua" "$area/lua_types.lua"
    "$HEAPTAP" report --json "$dir/without" >"$dir/json" 2>/dev/null
    same "$lua, types: only if asked for" 0 "$(grep -c '"lua":' "$dir/json")"
}

# host VERSION: record a program with Lua linked in, and compare with the sums of its allocator.
host() {
    local lua=$1 dir=host-$1
    mkdir "$dir"
    # The object that is linked first has static functions before its public ones.
    ar p "$(cc -print-file-name="lib$lua.a")" lauxlib.o >"$dir/lauxlib.o" 2>"$dir/ar.err"
    if ! cc -O1 -g -I"/usr/include/$lua" -o "$dir/host" "$area/lua_host.c" "$dir/lauxlib.o" \
        -Wl,-E "-l:lib$lua.a" -lm -ldl 2>"$dir/cc.err"; then
        echo "ok - $lua in a program # SKIP needs lib$lua-dev"
        return
    fi
    record "$dir/profile" "$dir/host" "$area/lua_host.lua"
    same "$lua in a program: exit status" 0 "$status"
    "$HEAPTAP" report --json --no-fold "$dir/profile" >"$dir/json" 2>/dev/null
    "$HEAPTAP" report --json --no-fold --native "$dir/profile" >"$dir/native" 2>/dev/null
    check "$lua in a program: sums and stacks of three states" \
        run_python "$area/lua_host.py" "$dir/json" "$dir/native" "$dir/profile.out"
}

# chunks PROGRAM VERSION: record a program in which functions of Lua get the addresses of earlier
# ones. PROGRAM is pool if Lua's allocator is a private pool, or shared if another thread has loaded
# the functions.
chunks() {
    local program=$1 lua=$2 dir=$1-$2
    mkdir "$dir"
    if ! cc -O1 -g -I"/usr/include/$lua" -o "$dir/$program" "$area/lua_$program.c" \
        -Wl,-E "-l:lib$lua.a" -lm -ldl -lpthread 2>"$dir/cc.err"; then
        echo "ok - $lua, $program # SKIP needs lib$lua-dev"
        return
    fi
    record "$dir/profile" "$dir/$program"
    same "$lua, $program: exit status" 0 "$status"
    "$HEAPTAP" report --json --no-fold "$dir/profile" >"$dir/json" 2>/dev/null
    check "$lua, $program: chunks" run_python "$area/lua_pool.py" "$dir/json"
}

# moves VERSION: run deep.lua in a program whose allocator moves blocks differently from realloc.
moves() {
    local lua=$1 dir=moves-$1 how
    mkdir "$dir"
    if ! cc -O1 -g -I"/usr/include/$lua" -o "$dir/moves" "$area/lua_moves.c" -Wl,-E \
        "-l:lib$lua.a" -lm -ldl 2>"$dir/cc.err"; then
        echo "ok - $lua, moves # SKIP needs lib$lua-dev"
        return
    fi
    for how in head copy; do
        record "$dir/$how" "$dir/moves" "$area/deep.lua" $how
        same "$lua, $how: exit status" 0 "$status"
        same "$lua, $how: where its stack moves" 3001 "$(cat "$dir/$how.out")"
    done
}

for lua in lua5.4 lua5.3 lua5.2 lua5.1; do
    command -v $lua >/dev/null || { echo "ok - $lua # SKIP it is not installed"; continue; }
    tried=$((tried + 1))
    same "$lua: where its stack moves" "3001 0" "$(deep $lua)"
    moves $lua
    host $lua
    chunks pool $lua
    chunks shared $lua
    types $lua
    moments $lua 1 3000
    moments $lua 7 10000
done
[ $tried -gt 0 ] || skip_all "needs lua5.4, lua5.3, lua5.2 or lua5.1"
finish
