#!/usr/bin/env bash
# unloads.sh: programs that count their accesses and call dlclose in several threads at once. If it
# fails, such a program hardly advances or dies of SIGSEGV, recorded or not; or a library that was
# unloaded is missing from the list of code that may use blocks without counting.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

printf 'int zero;\n' >plug.c
plugins=
for i in 1 2 3 4; do
    gcc -shared -fPIC -o plug$i.so plug.c
    plugins="$plugins ./plug$i.so"
done
check "build" "$HEAPTAP" cc --cc=gcc -O1 -pthread -o unloads "$area/unloads.c"

# Without counting, 1,600 turns take 0.1 s. When threads waited for each other, they took 40 s; then
# the thread that waited longest read an object that was being unmapped.
for run in 1 2 3; do
    timeout 20 ./unloads 400 $plugins
    same "run $run, not recorded: exit status" 0 $?
done
rm -f unloads.heaptap
timeout 40 "$HEAPTAP" run --quiet -o unloads.heaptap -- ./unloads 400 $plugins
same "recorded: exit status" 0 $?
uncounted() { # Print the code that may use blocks without counting, sorted.
    "$HEAPTAP" access --json unloads.heaptap | python3 -c '
import json, sys
print(*sorted(json.load(sys.stdin)["counting"]["uncounted"].split(", ")), sep=", ")'
}
same "recorded: each library was examined" \
    "plug1.so, plug2.so, plug3.so, plug4.so, structures by value" "$(uncounted)"
finish
