#!/usr/bin/env bash
# verdicts.sh: the verdicts of `access` on blocks without visible accesses. If it fails, heaptap
# calls a block unused that a library or a function of libc uses, and people delete the code that
# fills it; or it never calls any block unused; or gcc's accesses are not counted as access-build.md
# describes.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

# verdicts NAME UNCOUNTED NEVER FILLED [ARGUMENT]: check the list of code that may use blocks
# uncounted, and the two verdicts.
verdicts() {
    local name=$1 uncounted=$2 never=$3 filled=$4
    shift 4
    rm -f "$name.heaptap"
    HEAPTAP_OUT=$PWD/$name.heaptap "./$name" "$@" </dev/zero >/dev/null
    same "$name: status" 0 $?
    "$HEAPTAP" pack -o "$name.packed" "$name.heaptap" >/dev/null 2>&1
    "$HEAPTAP" merge -o "$name.merged" "$name.heaptap" "$name.packed" >/dev/null 2>&1
    for profile in "$name.heaptap" "$name.packed" "$name.merged"; do
        same "$profile" "$uncounted $never $filled" "$("$HEAPTAP" access --json "$profile" |
            run_python -c '
import json, sys
d = json.load(sys.stdin)
rows = d["sites"]
by_size = {s["max"]: v for s, v in zip(rows["size_bytes"], rows["verdict"])}
known = d["counting"]["uncounted_known"]
print(d["counting"]["uncounted"] if known else "unknown", by_size[5008], by_size[6000])')"
    done
}

counting() {
    "$HEAPTAP" cc "$@"
}

for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null; then
        echo "ok - $compiler # SKIP it is not installed"
        continue
    fi
    # gcc may copy structures unseen.
    if [ $compiler = gcc ]; then
        apart= always="structures by value" named="$always, " never=not-seen filled=not-seen-read
    else
        apart=--reads-writes always=None named= never=never filled=write-only
    fi
    check "$compiler: build" counting --cc=$compiler $apart -O1 -o $compiler.all "$area/unseen.c"
    "$HEAPTAP" run --quiet --force -o $compiler.run.heaptap -- ./$compiler.all >out 2>err
    same "$compiler: with run the recorder is no user of blocks" "$always" \
        "$("$HEAPTAP" access --json $compiler.run.heaptap |
            python3 -c 'import json, sys; print(json.load(sys.stdin)["counting"]["uncounted"])')"
    verdicts $compiler.all "$always" $never $filled
    check "$compiler: build a program that calls iconv" \
        counting --cc=$compiler $apart -O1 -DUSES -o $compiler.iconv "$area/unseen.c"
    verdicts $compiler.iconv "${named}iconv, iconv_open" not-seen not-seen
    check "$compiler: build a program with threads" \
        counting --cc=$compiler $apart -O1 -pthread -o $compiler.locks "$area/locks.c"
    verdicts $compiler.locks "$always" $never $filled
    # Expected accesses: words of the object, times calls by both threads, plus the initialisation.
    for use in 4000:285 4016:174 4032:399 4048:116 4064:4 4080:20; do
        same "$compiler.locks: block of ${use%:*}" "accesses=${use#*:} " \
            "$(run_python "$area/count.py" $compiler.locks.heaptap "${use%:*}" accesses)"
    done
    # Accesses by libc count, or the verdict is withheld.
    for use in "1:$always:touched-once:mostly-unused" \
        "2:${named}_setjmp, longjmp:not-seen:not-seen-read" \
        "3:${named}fegetenv, fesetenv:not-seen:not-seen-read" \
        "5:${named}environ:not-seen:not-seen-read" \
        "10:$always:touched-once:touched-once"; do
        IFS=: read -r number uncounted first second <<<"$use"
        check "$compiler: build use $number" counting --cc=$compiler $apart -O1 -D_GNU_SOURCE -w \
            -DUSES=$number -o $compiler.use$number "$area/uses.c" -lm
        verdicts $compiler.use$number "$uncounted" "$first" "$second" 2>/dev/null
    done
done
for use in 4:dlsym 6:"a format of printf or scanf" 7:"structures by value" 8:"atomic operations" \
    9:"assembler code"; do
    command -v clang >/dev/null || continue
    check "clang: build use ${use%:*}" counting --reads-writes -O1 -D_GNU_SOURCE -w \
        -DUSES="${use%:*}" -o clang.use "$area/uses.c" -lm
    verdicts clang.use "${use#*:}" not-seen not-seen-read 2>/dev/null
done
if command -v clang >/dev/null; then
    # A source that is read from standard input cannot be examined first.
    check "clang: build a source from a pipe" bash -c "'$HEAPTAP' cc --reads-writes -O1 \
        -o clang.pipe -x c - <'$area/unseen.c'"
    verdicts clang.pipe "structures by value, atomic operations, assembler code" \
        not-seen not-seen-read
    check "clang: build two sources at once" counting --reads-writes -O1 -MD -DUSES=7 -w \
        -D_GNU_SOURCE -o clang.two "$area/uses.c" "$area/libuse.c"
    verdicts clang.two "structures by value" not-seen not-seen-read
    counting --cc=clang --reads-writes -O1 -static-libstdc++ -o clang.cxx "$area/unseen.c"
    verdicts clang.cxx "the static C++ library" not-seen not-seen-read
    check "clang: examining leaves no file" test ! -e ./-.d
fi
run_python "$area/pointers.py" "$SRCDIR" || failures=$((failures + 1))
check "build a library that does not count" gcc -O1 -shared -fPIC -o libplain.so "$area/libuse.c"
cp gcc.all gcc.closed
verdicts gcc.closed "structures by value, libplain.so" not-seen not-seen-read ./libplain.so
check "build a library that counts" \
    counting --cc=gcc -O1 -shared -fPIC -o libcounts.so "$area/libuse.c"
cp gcc.all gcc.both
verdicts gcc.both "structures by value" not-seen not-seen-read ./libcounts.so
check "build an object" counting --cc=gcc -O1 -c -o unseen.o "$area/unseen.c"
check "build a static program" counting --cc=gcc -static -o gcc.static unseen.o
verdicts gcc.static unknown not-seen not-seen-read

# widths COMPILER SIZE WANTED: check the number of accesses to the block of SIZE.
widths() {
    same "$1: block of $2" "accesses=$3 " \
        "$(run_python "$area/count.py" "widths.$1.heaptap" "$2" accesses)"
}

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    check "$compiler: build widths" "$HEAPTAP" c++ --cc=$compiler --granule=8 -O1 -mavx2 \
        -o widths.$compiler "$area/widths.cc"
    rm -f widths.$compiler.heaptap
    HEAPTAP_OUT=$PWD/widths.$compiler.heaptap ./widths.$compiler
    same "widths.$compiler: status" 0 $?
    widths $compiler 88 2
    widths $compiler 112 1
done
# clang reads and writes a bit-field, gcc writes it; then it is read. A vector is one access with
# clang, and one for each word with gcc.
[ ! -e widths.clang ] || { widths clang 48 3 && widths clang 320 1; }
widths gcc 48 2
widths gcc 320 4
finish
