#!/usr/bin/env bash
# api_matrix.sh: heaptap.h in every kind of program, recorded and not. If it fails, a program of
# that kind does not build with the header, or its events are not recorded, or a call without a
# recorder costs more than a test of a pointer.
. "$SRCDIR/test/run/lib.subr"
need python3 objdump
export LC_ALL=C
header=$SRCDIR/include

# built NAME COMPILER FLAGS…: build own_matrix.c and libown_plugin.c, in C or C++.
built() {
    local name=$1 compiler=$2
    shift 2
    $compiler "$@" -Wall -Wextra -Werror -I"$header" -DLINKED "$SRCDIR/test/prog/own_matrix.c" \
        "$SRCDIR/test/prog/libown_plugin.c" -o "$name" -ldl
}

seen() { # seen NAME PROGRAM…: check that the profile has both heaps
    local name=$1
    shift
    rm -f "$name.heaptap"
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/$name.heaptap "$@" >out 2>err || return 1
    cat err
    [ "$(cat out)" = recorded ] &&
        python3 "$area/api_tables.py" "$name.heaptap" \
            "heap:matrix allocations=7 allocated_bytes=21" \
            "heap:plug-in allocations=5 allocated_bytes=55" "losses heap_events=0"
}

bare() { # bare PROGRAM…: check that nothing is written, whatever the environment says
    HEAPTAP_OUT=$PWD/bare.heaptap "$@" >out 2>err && [ "$(cat out)" = bare ] && [ ! -s err ] &&
        [ ! -e bare.heaptap ]
}

bare_linked() { # the same for a program with a linked recorder that is not enabled
    rm -f ./*.heaptap
    "$@" >out 2>err && [ "$(cat out)" = bare ] && [ ! -s err ] && ! ls ./*.heaptap 2>/dev/null
}

# one NAME COMPILER FLAGS…: build, and check bare and recorded
one() {
    local name=$1
    if ! built program "${@:2}" >build.log 2>&1; then
        # If this machine lacks a library or a linker, its case is skipped; the basic ones are
        # required.
        case "$*" in
        *-static* | *-fuse-ld=* | *-flto*)
            echo "ok - $name # SKIP does not build here: $(head -1 build.log)"
            return
            ;;
        esac
        failed "$name builds"
        sed 's/^/#   /' build.log
        return
    fi
    check "$name, bare" bare ./program
    # No recorder can be preloaded into a static program; one can be linked in.
    case "$*" in
    *-static*)
        built program "${@:2}" "-Wl,@$BUILD/libheaptap_static.opt" "-L$BUILD" -lheaptap_static \
            >build.log 2>&1 || cat build.log
        check "$name, linked, not enabled" bare_linked ./program
        ;;
    esac
    check "$name, recorded" seen matrix ./program
}

for compiler in gcc clang; do
    command -v $compiler >/dev/null || { echo "ok - $compiler # SKIP not installed"; continue; }
    cxx=$([ $compiler = gcc ] && echo g++ || echo clang++)
    for kind in "-fPIE -pie" "-fno-pie -no-pie" "-static" "-static-pie"; do
        one "$compiler $kind" "$compiler" -O2 $kind
        one "$compiler $kind -std=c89 -pedantic" "$compiler" -O0 -std=c89 -pedantic $kind
        one "$compiler $kind -flto" "$compiler" -O2 -flto $kind
        one "$compiler $kind, unused sections discarded" "$compiler" -O2 $kind \
            -ffunction-sections -fdata-sections -fvisibility=hidden -Wl,--gc-sections
        command -v $cxx >/dev/null || { echo "ok - $cxx # SKIP not installed"; continue; }
        one "$cxx $kind" "$cxx" -Wno-deprecated -x c++ -O2 $kind
    done
    one "$compiler, weak symbols resolved by the linker" "$compiler" -fPIE -pie \
        -Wl,-z,nodynamic-undefined-weak
    for linker in gold lld; do
        one "$compiler, $linker" "$compiler" -fno-pie -no-pie -fuse-ld=$linker -Wl,--gc-sections
    done
done

# A plug-in uses the header, in a program that uses it as well.
plugin=$PROG/libown_plugin.so
check "plug-in, bare" bare "$PROG/own_matrix" "$plugin"
check "plug-in, recorded" seen plugin "$PROG/own_matrix" "$plugin"

# The headers alone add nothing to a program, and no other object sees the recorder's pointer.
check "a program needs nothing to be linked" sh -c \
    '! nm "$1" | grep -i heaptap | grep -qv " [VvwdDbBt] "' - "$PROG/own_matrix"

# --- The cost of a call --------------------------------------------------------------------------

cat >calls.c <<'END'
#include "heaptap/heaptap.h"
extern heaptap_heap *heap;
extern void *p;
void call_alloc(heaptap_heap *h, void *q, size_t n) { heaptap_alloc(h, q, 1, n); }
void call_free(heaptap_heap *h, void *q) { heaptap_free(h, q); }
void call_resize(heaptap_heap *h, void *q, void *r, size_t n) { heaptap_resize(h, q, r, n); }
void call_reset(heaptap_heap *h) { heaptap_reset(h); }
void call_destroy(heaptap_heap *h) { heaptap_heap_destroy(h); }
void call_backing(heaptap_heap *h, void *q, size_t n) { heaptap_backing(h, q, n); }
void call_backing_end(heaptap_heap *h, void *q) { heaptap_backing_end(h, q); }
heaptap_heap *call_create(const char *name) { return heaptap_heap_create(name, 1); }
void call_label(const char *k, const char *v) { heaptap_label(k, v); }
heaptap_labels call_labels_get(void) { return heaptap_labels_get(); }
void call_labels_set(heaptap_labels l) { heaptap_labels_set(l); }
void call_phase(const char *name) { heaptap_phase(name); }
void call_snapshot(const char *name) { heaptap_snapshot(name); }
void call_start(void) { heaptap_start(); }
void call_stop(void) { heaptap_stop(); }
void call_max_memory(size_t n) { heaptap_max_memory(n); }
int call_write(int fd) { return heaptap_write(fd, "pprof"); }
END

# Print each call_ function with its instructions up to the first return, which is the path where
# the pointer is 0: jumps on that path must be conditional ones that are not taken.
lengths() {
    objdump -d --no-show-raw-insn calls.o | awk '
        /^[0-9a-f]+ <call_[a-z_]*>:/ { name = $2; n = 0; bad = 0; next }
        name != "" && /^ / {
            if ($2 == "call" || $2 == "jmp") bad = 1
            n++
            if ($2 ~ /^ret/) { print name, n - 1, bad; name = "" }
        }'
}

at_most_5() { # 17 functions, each of at most 5 instructions before it returns, without a call
    "$1" -O2 -std=c99 -fcf-protection=none -I"$header" -c calls.c -o calls.o || return 1
    lengths | tee lengths | awk '$2 > 5 || $3 { bad = 1 } END { exit bad || NR != 17 }' ||
        { cat lengths; return 1; }
}

# Where no recorder can exist, the same calls compile to nothing: no symbol, no instruction.
elsewhere() {
    "$@" -O2 -std=c99 -ffreestanding -Wall -Wextra -Werror -I"$header" -c calls.c -o other.o &&
        ! nm other.o | grep heaptap
}
if command -v clang >/dev/null; then
    check "another processor" elsewhere clang --target=aarch64-linux-gnu
    check "another system" elsewhere clang --target=x86_64-apple-macos
fi
check "32 bits" elsewhere gcc -m32 -nostdinc -isystem "$(gcc -print-file-name=include)"

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    check "$compiler: 17 calls of at most 5 instructions each without a recorder" \
        at_most_5 $compiler
    echo "# $compiler: $(awk '{ print $2 }' lengths | sort -n | uniq -c | tr -s ' \n' ' ')"
done
finish
