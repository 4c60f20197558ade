#!/usr/bin/env bash
# builds.sh: build and start programs that count accesses in all supported ways. If it fails, a
# program built by heaptap cc does not run, some of its accesses are not counted, or meaningless
# counts are shown.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc
clang=$(command -v clang || ls /usr/bin/clang-[0-9]* 2>/dev/null | tail -1)
[ -n "$clang" ] || skip_all "needs clang"
access=$(dirname "$LIBHEAPTAP")/libheaptap-access

cc() {
    "$HEAPTAP" cc --cc="$clang" "$@"
}

# counts PROFILE SIZE NAME=N...: check the output of count.py.
counts() {
    local profile=$1 size=$2
    shift 2
    names=$(printf '%s\n' "$@" | sed 's/=.*//')
    same "$profile: blocks of $size bytes" "$* " \
        "$(run_python "$area/count.py" "$profile" "$size" $names 2>&1)"
}

# says NAME TEXT COMMAND...: check that COMMAND exits with status 1 before main, and prints TEXT
# alone.
says() {
    local name=$1 text=$2
    shift 2
    rm -f said.heaptap
    HEAPTAP_OUT=$PWD/said.heaptap "$@" >said.out 2>said.err </dev/null
    same "$name: status" 1 $?
    check "$name: gives the reason" grep -q "$text" said.err
    same "$name: in one line" 1 "$(wc -l <said.err)"
    [ ! -e said.heaptap ] || python3 -c 'import sys; d = open("said.heaptap", "rb").read()
sys.exit(d[728] & 1)' || failed "$name: its profile has counts"
}

# --- Kinds of executables ---

check "build for words" cc --granule=8 -O1 -o places.8 "$area/places.c"
check "build for 16 bytes" cc -O1 -o places.16 "$area/places.c"
check "build for 64 bytes" cc --granule=64 -O1 -o places.64 "$area/places.c"
check "build without PIE" cc -O1 -fno-pie -no-pie -o places.nopie "$area/places.c"
check "build without PIE for 64 bytes" \
    cc --granule=64 -O1 -fno-pie -no-pie -o places.nopie64 "$area/places.c"
mkdir written
(cd written && cc -O1 -serialize-diagnostics errors -MJ line -iwithprefix . -c -o user.o \
    "$area/user.c")
same "options with values: status" 0 $?
same "options with values: files" "errors line user.o " "$(ls written | tr '\n' ' ')"
cp "$area/places.c" ./-dashed.c
check "build with -- before the input" cc -O1 -o places.dashes -- "$area/places.c"
check "build an input that begins with a dash" cc -O1 -o places.dashed -- -dashed.c
check "build a static program" cc -O1 -static -o places.static "$area/places.c"
# These are the first and the last addresses that programs, libraries and stacks may have.
far="555555554000 655655555000 6ffffffff000 7ffff0000000"
for p in places.8 places.16 places.64 places.nopie places.nopie64 places.static places.dashes \
    places.dashed; do
    rm -f $p.heaptap
    HEAPTAP_OUT=$PWD/$p.heaptap ./$p $far
    same "$p: status" 0 $?
    counts $p.heaptap 112 counting=1 ended=1 blocks=1 accesses=7 outside_blocks=0
done
# The recorder stores a time after each block. The usable size must end before this time.
check "build usable_sizes" cc --granule=64 -O1 -o usable_sizes "$area/usable_sizes.c"
same "usable sizes end before the padding" 0 "$(HEAPTAP_OUT=$PWD/usable.heaptap ./usable_sizes)"
HEAPTAP_OUT=$PWD/low.heaptap ./places.nopie $far 10000000 100000000
same "low addresses" 0 $?
./places.16
same "not enabled: status" 0 $?
same "not enabled: no profile" 0 "$(ls heaptap.places* 2>/dev/null | wc -l)"

# --- Libraries ---

check "build a library" cc -O1 -shared -fPIC -o libuse.so "$area/libuse.c"
check "build its user" cc -O1 -o user "$area/user.c" -L. -luse -Wl,-rpath,"$PWD"
HEAPTAP_OUT=$PWD/user.heaptap ./user
counts user.heaptap 160 blocks=1 accesses=14
counts user.heaptap 176 blocks=1 accesses=11
check "build a program that loads it" cc -O1 -o loader "$area/user.c"
HEAPTAP_OUT=$PWD/loader.heaptap ./loader ./libuse.so
counts loader.heaptap 160 blocks=1 accesses=14
counts loader.heaptap 176 blocks=1 accesses=11
check "build a program that does not count" gcc -O1 -o plain "$area/user.c" -ldl
HEAPTAP_OUT=$PWD/plain.heaptap LD_PRELOAD=$access.so ./plain ./libuse.so
same "preloaded: status" 0 $?
counts plain.heaptap 160 counting=1 blocks=1 accesses=9
counts plain.heaptap 176 blocks=1 accesses=11
HEAPTAP_OUT=$PWD/none.heaptap LD_PRELOAD=$access.so ls >/dev/null
same "preloaded into a program that counts nothing: status" 0 $?
counts none.heaptap 112 counting=0 blocks=0

# --- Processes and threads ---

HEAPTAP_OUT=$PWD/fork.%n.heaptap ./places.16 fork
same "fork: status" 0 $?
for f in fork.*.heaptap; do
    run_python "$area/count.py" $f 112 blocks accesses
done | grep -c "blocks=1 accesses=7" >children
same "fork: the child has its accesses" 1 "$(cat children)"
"$HEAPTAP" run --quiet -o run.heaptap -- ./places.16
same "heaptap run: status" 0 $?
check "heaptap run: a profile" "$HEAPTAP" report run.heaptap
same "heaptap run: no more than one" 1 "$(ls run*.heaptap | wc -l)"
check "build for exact threads" cc --exact-threads -O1 -pthread -o exact "$area/truth.c"
HEAPTAP_OUT=$PWD/exact.heaptap ./exact threads
counts exact.heaptap 400 counting=1 atomic=1 blocks=1 accesses=2000000
check "build a program that resets counts" cc -O1 -o reset "$area/reset.c"
HEAPTAP_OUT=$PWD/reset.heaptap ./reset
counts reset.heaptap 112 resets=1 ended=1 blocks=1 accesses=2 touched_granules=2
check "build a program that backs a heap" cc -O1 -I"$SRCDIR/include" -o backing "$area/backed.c"
HEAPTAP_OUT=$PWD/backing.heaptap ./backing
same "backing: status" 0 $?
counts backing.heaptap 464 blocks=1 accesses=1
counts backing.heaptap 448 blocks=1 accesses=3
check "build for a directory" cc -fmemory-profile=chosen -O1 -o chosen.prog "$area/places.c"
./chosen.prog
same "-fmemory-profile=DIR: a profile there" 1 "$(ls chosen/*.heaptap | wc -l)"
counts "$(ls chosen/*.heaptap)" 112 counting=1 blocks=1 accesses=7

# --- Live blocks that the recorder must not read ---

check "build an allocator" gcc -O1 -fPIC -shared -fno-builtin -o libsized.so "$area/sized.c"
check "build a program with another thread" cc -O1 -pthread -o others "$area/others.c" -ldl
HEAPTAP_OUT=$PWD/sized.heaptap LD_PRELOAD=$PWD/libsized.so ./others sized
same "another allocator, another thread: status" 0 $?
counts sized.heaptap 112 counting=1 ended=0 merge=0 blocks=1 accesses=7
counts sized.heaptap 96 blocks=1 dated=1
check "build a library that calls libc" cc -O1 -shared -fPIC -o libpast.so "$area/past.c" -ldl
HEAPTAP_OUT=$PWD/past.heaptap LD_PRELOAD="$access.so $PWD/libsized.so" ./plain ./libpast.so
same "blocks from libc past another allocator: status" 0 $?
counts past.heaptap 160 blocks=1 accesses=3
counts past.heaptap 80 blocks=2 ended=1 dated=0 accesses=10
counts past.heaptap 144 blocks=1 dated=0 accesses=9
counts past.heaptap 208 blocks=1 dated=0 accesses=2
HEAPTAP_RESERVE=4000000 HEAPTAP_OUT=$PWD/quiet.heaptap ./others quiet
status=$?
if [ $status = 77 ]; then
    echo "ok - a reserve, another thread # SKIP no filter for system calls can be set"
else
    same "a reserve, another thread: status" 0 $status
    counts quiet.heaptap 112 counting=1 ended=0 merge=0 blocks=1 accesses=7
fi

# --- Alignments ---

check "build without counting" gcc -O1 -o aligns.plain "$area/aligns.c"
./aligns.plain >aligns.wanted
for granule in 8 16 64; do
    check "build for $granule bytes" cc --granule=$granule -O1 -o aligns.$granule "$area/aligns.c"
    HEAPTAP_OUT=$PWD/aligns.heaptap ./aligns.$granule >aligns.out
    check "granules of $granule: results of alignments" diff aligns.wanted aligns.out
done

# --- Combinations that are refused ---

check "words without PIE: build" cc --granule=8 -O1 -fno-pie -no-pie -o bad "$area/places.c"
says "words without PIE" "link it with -pie, or use --granule=16" ./bad
says "no address space" "ulimit -v unlimited" bash -c 'ulimit -v 4000000; exec ./places.16'
says "from below" "laid out from below" bash -c 'ulimit -s unlimited; exec ./places.16'
cc -O1 -c -o mixed.o "$area/libuse.c" && cc --granule=64 -O1 -o mixed "$area/user.c" mixed.o
says "mixed sizes" "different --granule sizes" ./mixed
cc --reads-writes -O1 -c -o apart.o "$area/libuse.c" && cc -O1 -o mixed3 "$area/user.c" apart.o
says "some count reads and writes apart" "heaptap cc --reads-writes" ./mixed3
"$HEAPTAP" cc --cc=gcc -O1 -c -o gcc.o "$area/libuse.c" && cc -O1 -o mixed4 "$area/user.c" gcc.o
says "some are gcc's" "heaptap cc --reads-writes" ./mixed4
cc --reads-writes -O1 -o both "$area/user.c" gcc.o
HEAPTAP_OUT=$PWD/both.heaptap ./both
counts both.heaptap 160 apart=1 blocks=1 accesses=14 writes=14 write_only=1
counts both.heaptap 176 apart=1 blocks=1 accesses=11 writes=11 write_only=1
"$clang" -fmemory-profile -O1 -c -o stock.o "$area/libuse.c"
cc -O1 -o mixed2 "$area/user.c" stock.o
says "one file without heaptap cc" "different --granule sizes" ./mixed2
"$clang" -fmemory-profile -fno-sanitize-link-runtime -O1 -o stock "$area/places.c" \
    -Wl,-u,malloc -Wl,--export-dynamic-symbol='__memprof_*' $access.a
rm -f stock.heaptap
HEAPTAP_OUT=$PWD/stock.heaptap ./stock
counts stock.heaptap 112 granule_bytes=64 blocks=1 accesses=7
check "gcc, static, in one step: gives the reason" bash -c '! "$1" cc --cc=gcc -static -o x "$2" \
    2>static.err && grep -q "compile with -c" static.err' - "$HEAPTAP" "$area/places.c"
finish
