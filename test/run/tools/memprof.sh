#!/usr/bin/env bash
# memprof.sh: llvm-profdata reads heaptap's numbers in `export -f memprof`, and clang uses them to
# mark hot and cold allocations. If it fails, LLVM's optimiser gets wrong data, or refuses the file.
. "$SRCDIR/test/run/lib.subr"
need python3 objdump
record plain.heaptap "$PROG/containers"
"$HEAPTAP" export -f memprof -o out.memprof plain.heaptap 2>refused
same "a profile without accesses: exit status" 2 $?
check "a profile without accesses: the message" \
    grep -qF 'build the program with CC="heaptap cc"' refused

compiler=
for name in clang++-19 clang++-22 clang++-18 clang++-17; do
    command -v "$name" >/dev/null && command -v "llvm-profdata-${name##*-}" >/dev/null &&
        compiler=$name && break
done
if [ -z "$compiler" ]; then
    echo "ok - llvm-profdata reads it # SKIP needs clang++ and llvm-profdata, 17 or newer"
    finish
fi
export READINGS=$PWD/readings
run_python "$area/memprof.py" "$HEAPTAP" "$compiler" "$area/memprof_alloc.cc" ||
    failures=$((failures + 1))
run_python "$SRCDIR/test/run/readings.py" memprof "$READINGS" || failures=$((failures + 1))
finish
