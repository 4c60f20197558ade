#!/usr/bin/env bash
# allocators.sh: programs with their own allocator, in C and C++. If it fails, recording replaces
# the allocator that a program was linked with, or misses its calls, or counts them twice.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

# what_happened NAME PROGRAM: check the numbers of foreign.c, and that the usable size equals the
# bare run's.
what_happened() {
    local bare
    bare=$("$2")
    record own.heaptap "$2"
    same "$1: exit status" 0 "$status"
    same "$1: its own allocator ($bare)" "$bare" "$(cat own.heaptap.out)"
    KNOWN_PREFIX="$1: "
    known own.heaptap \
        "leaf:take allocations=1000 allocated_bytes=50500 frees=400 freed_bytes=8200" \
        "leaf:turn allocations=500 allocated_bytes=32000 frees=500 temporary=500" \
        "leaf:resize allocations=400 allocated_bytes=1002000 reallocations=200" \
        "leaf:resize live_blocks=200 live_bytes=1000000" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0 guessed_frames=0"
}

# try NAME LINK-FLAGS...: test in C, in C++, and with the library preloaded instead of linked.
try() {
    local name=$1 c=foreign_$1 cxx=foreignxx_$1
    shift
    if ! echo 'int main(void) { return 0; }' | gcc -x c -o probe - "$@" 2>/dev/null; then
        echo "ok - $name # SKIP not installed"
        return
    fi
    set -- -O2 -g -fno-builtin -D_GNU_SOURCE "$SRCDIR/test/prog/foreign.c" -Wl,--no-as-needed "$@"
    gcc -o "$c" "$@"
    g++ -x c++ -o "$cxx" "$@"
    what_happened "$name, C" "./$c"
    what_happened "$name, C++" "./$cxx"
}

try glibc
try jemalloc -ljemalloc
try tcmalloc -ltcmalloc
try tcmalloc_minimal -ltcmalloc_minimal
try mimalloc -lmimalloc
try bump -DNO_USABLE_SIZE -L"$PROG" -lbump -Wl,-rpath,"$PROG"

# The user preloads these after the recorder.
for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
    path=$(ldconfig -p | sed -n "s/.*$library .*=> //p" | head -n 1)
    [ -n "$path" ] || { echo "ok - preloaded $library # SKIP not installed"; continue; }
    rm -f own.heaptap
    bare=$(LD_PRELOAD=$path ./foreign_glibc)
    LD_PRELOAD=$path "$HEAPTAP" run --quiet -o own.heaptap -- ./foreign_glibc >own.out 2>own.err
    same "preloaded $library stays the allocator" "$bare" "$(cat own.out)"
    KNOWN_PREFIX="preloaded $library: "
    known own.heaptap "leaf:take allocations=1000 frees=400" \
        "leaf:resize allocations=400 reallocations=200" \
        "losses events=0 unknown_frees=0"
done

# Run many threads on allocators whose blocks are 8 or 16 bytes apart. (A program that is statically
# linked with its allocator is not recorded, and `heaptap run` reports that.)
for library in jemalloc tcmalloc_minimal mimalloc; do
    gcc -O2 -g -fno-builtin -fno-optimize-sibling-calls -D_GNU_SOURCE -o storm_$library \
        "$SRCDIR/test/prog/random_mt.c" -Wl,--no-as-needed -l$library -lpthread 2>/dev/null ||
        { echo "ok - $library, 4 threads # SKIP not installed"; continue; }
    record storm.heaptap ./storm_$library 11 4 20000
    same "$library, 4 threads: exit status" 0 "$status"
    KNOWN_PREFIX="$library, 4 threads: "
    books=$(sed -E 's/([a-z_]+) ([0-9]+)/\1=\2/g' storm.heaptap.out)
    if grep 'blocks changed their usable size' storm.heaptap.err >changed; then
        echo "ok - $library, 4 threads: bytes freed # SKIP $(cat changed)"
        books=$(echo "$books" | sed 's/freed_bytes=[0-9]*//')
    fi
    known storm.heaptap "under:via $books" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0"
done
finish
