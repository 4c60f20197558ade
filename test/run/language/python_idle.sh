#!/usr/bin/env bash
# python_idle.sh: a program that embeds CPython and rarely runs it. If it fails, stacks without
# Python have frames of a script, or stacks of a script have none, or programs pay for an
# interpreter that is idle.
. "$SRCDIR/test/run/lib.subr"
need python3 valgrind
adapter=$BUILD/libheaptap_python.so

for python in /usr/bin/python3 python3 python3.9 python3.10 python3.11 python3.12 python3.13; do
    described=$("$python" -c '
import ctypes, os, sys, sysconfig
library = os.path.join(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))
sys.exit(not (3, 9) <= sys.version_info < (3, 14) or not os.path.exists(library)
         or ".so" not in library or print(library, sys.base_prefix))' 2>/dev/null) || continue
    read -r library home <<<"$described"
    ${CC:-gcc} -O1 -g -rdynamic -o idle "$area/python_idle.c" "$library" \
        "-Wl,-rpath,${library%/*}" 2>cc.err && break
done
[ -e idle ] || skip_all "no shared library of CPython 3.9 to 3.13 with ctypes (libpython3-dev)"

PYTHONHOME=$home record profile ./idle 1000
same "exit status" 0 "$status"
"$HEAPTAP" report --json --no-fold profile >json 2>err
check "the script is in the stacks of its 100 calls, and in no others" run_python - json <<'END'
import documents, sys
with open(sys.argv[1], encoding="utf-8") as f:
    report = documents.load(f)
made = {}
for site in report["sites"]:
    names = [frame["function"] for frame in site["stack"]]
    if names[0] in ("idle_make", "idle_move"):
        key = names[0], "from_script" in names
        made[key] = made.get(key, 0) + site["allocations"]
if made != {("idle_make", False): 3000, ("idle_make", True): 100, ("idle_move", False): 1000}:
    sys.exit(str(made))
END

# instructions LIBRARIES N KIND: the number of instructions of the program with N pairs.
instructions() {
    LD_PRELOAD=$1 HEAPTAP_OUT=$PWD/counted.heaptap HEAPTAP_FORCE=1 \
        valgrind --tool=callgrind --callgrind-out-file=/dev/null ./idle "$2" "$3" 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}

# per_pair LIBRARIES KIND: the number of instructions of a pair.
per_pair() {
    local few many
    few=$(instructions "$1" 1000 "$2") many=$(instructions "$1" 21000 "$2")
    echo $(((many - few) / 20000))
}

# costs KIND MORE: an idle Python adds at most MORE instructions.
costs() {
    local without with
    without=$(per_pair "$LIBHEAPTAP" "$1")
    with=$(per_pair "$LIBHEAPTAP $adapter" "$1")
    echo "$1: $without instructions without the adapter, $with with it"
    test "$without" -gt 50 -a "$with" -gt 50 -a "$with" -le $((without + $2))
}

check "an idle Python adds at most five instructions to a pair" costs pairs 5
# Two stacks in turn fill the history of stacks, so one event in fourteen walks its stack again.
check "an idle Python adds little to a realloc" costs moves 400
finish
