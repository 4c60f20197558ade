#!/usr/bin/env bash
# lua_idle.sh: a program that embeds Lua and rarely runs it. If it fails, stacks without Lua have
# frames of a script, or stacks of a script have none, or programs pay for an interpreter that is
# idle.
. "$SRCDIR/test/run/lib.subr"
need python3 valgrind
adapter=$BUILD/libheaptap_lua.so
for lua in lua5.4 lua5.3; do
    cc -O1 -g -I"/usr/include/$lua" -o idle "$area/lua_idle.c" "-l$lua" 2>cc.err && break
done
[ -e idle ] || skip_all "needs liblua5.4-dev or liblua5.3-dev"

record profile ./idle 1000
same "exit status" 0 "$status"
known profile "whole:idle_make,idle_work,main allocations=1000 frees=1000" \
    "stack:idle_make,from_script allocations=50 frees=50"
"$HEAPTAP" report --json --no-fold profile >json 2>err
check "the script's function is in the stacks of its 50 calls, and in no others" run_python - json \
    <<'END'
import documents, sys
with open(sys.argv[1], encoding="utf-8") as f:
    report = documents.load(f)
made = {}
for site in report["sites"]:
    names = [frame["function"] for frame in site["stack"]]
    if names[0] == "idle_make":
        has_script = "main-chunk" in names
        made[has_script] = made.get(has_script, 0) + site["allocations"]
if made != {True: 50, False: 1000}:
    sys.exit(str(made))
END

# instructions LIBRARIES N: the number of instructions of the program with N pairs.
instructions() {
    LD_PRELOAD=$1 HEAPTAP_OUT=$PWD/counted.heaptap HEAPTAP_FORCE=1 \
        valgrind --tool=callgrind --callgrind-out-file=/dev/null ./idle "$2" 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}

# per_pair LIBRARIES: the number of instructions of a pair.
per_pair() {
    local few many
    few=$(instructions "$1" 1000) many=$(instructions "$1" 21000)
    echo $(((many - few) / 20000))
}

without=$(per_pair "$LIBHEAPTAP")
with=$(per_pair "$LIBHEAPTAP $adapter")
echo "a pair takes $without instructions without the adapter, $with with it"
check "an idle Lua adds at most five instructions to a pair" \
    test "$without" -gt 50 -a "$with" -gt 50 -a "$with" -le $((without + 5))
finish
