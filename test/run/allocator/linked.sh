#!/usr/bin/env bash
# linked.sh: the recorder linked into programs instead of preloaded. If it fails, a linked recorder
# counts other things than a preloaded one, disturbs a program when it is not enabled, or cannot be
# linked where docs/guide/linking.md says so.
#
# linked.py builds programs of test/prog in many ways and compares their profiles with the preloaded
# recorder's. Missing compilers and linkers are skipped one by one.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc objcopy

in_python() {
    python3 "$area/linked.py" "$@" || failures=$((failures + 1))
}

# made KIND PROGRAM FILE: build PROGRAM; without the compiler, print a skipped check and return
# false.
made() {
    local why
    why=$(python3 "$area/linked.py" build "$@" 2>"$3.log")
    case $? in
    0) return 0 ;;
    77) echo "ok - $2, $1 # SKIP $why" ;;
    *)
        failed "$2, $1: can be built"
        tail -20 "$3.log" | cut -c1-200 | sed 's/^/#   /'
        ;;
    esac
    return 1
}

# --- The same counts ---

common="article families threads temporary peak_holders frames longjmp recursive handlers flat"
in_python same static $common callbacks newdelete exceptions
in_python same musl $common
for kind in dynamic dynamic-nopie dynamic-clang-lld dynamic-lto static-pie static-sections \
    static-gold static-clang-lld static-lto static-clang-lto; do
    in_python same $kind families threads newdelete exceptions
done
in_python same musl-pie families threads
in_python covers

# --- Beside operators of the program ---

objcopy --wildcard --localize-symbol='_Z*' "$BUILD/libheaptap.a" libheaptap_c.a
check "libheaptap.a without operators can be made" test -s libheaptap_c.a
for linker in bfd gold lld; do
    if ! command -v g++ >/dev/null || ! command -v ld.$linker >/dev/null; then
        echo "ok - own operators, $linker # SKIP needs g++ and ld.$linker"
        continue
    fi
    check "own operators, $linker: can be linked" g++ -std=c++17 -O1 -g -fno-builtin \
        -fuse-ld=$linker -o operators "$SRCDIR/test/prog/own_operators.cc" -Wl,-u,malloc \
        -Wl,--export-dynamic-symbol=heaptap_recorder_v1 -L. -lheaptap_c
    HEAPTAP_OUT=operators.$linker.heaptap ./operators >operators.out
    same "own operators, $linker: output" "new 350 delete 350" "$(cat operators.out)"
    KNOWN_PREFIX="own operators, $linker: " known operators.$linker.heaptap \
        "under:scalar allocations=100 allocated_bytes=400 frees=100" \
        "leaf:scalar allocations=0" \
        "under:array allocations=100 allocated_bytes=1000 frees=100" \
        "under:nothrow allocations=100 allocated_bytes=400 frees=100" \
        "under:pooled allocations=0" "losses events=0 unknown_frees=0"
done

# --- However it ends, and after strip ---

for kind in static static-stripped musl; do
    made $kind exits exits.$kind || continue
    for mode in return _exit quick_exit pthread_exit abort segv kill exec; do
        bash -c '"$@"; exit $?' - "$PWD/exits.$kind" $mode >/dev/null 2>&1
        bare=$?
        record $kind.$mode.heaptap "$PWD/exits.$kind" $mode
        same "$kind, $mode: exit status" "$bare" "$status"
        KNOWN_PREFIX="$kind, $mode: "
        if [ $kind = static-stripped ]; then
            known $kind.$mode.heaptap "total allocations>=200000 allocated_bytes>=4800000" \
                "total frees>=100000" "losses events=0 unknown_frees=0"
        else
            known $kind.$mode.heaptap "leaf:take allocations=200000 allocated_bytes=4800000" \
                "leaf:take frees=100000 freed_bytes=2400000" "losses events=0 unknown_frees=0"
        fi
    done
done
for kind in static musl; do
    mkdir -p kill9.$kind
    made $kind counted kill9.$kind/counted || continue
    if PROG=$PWD/kill9.$kind python3 "$SRCDIR/test/run/file/kill9.py" 12 >kill9.log 2>&1; then
        passed "$kind: whole after kill -9"
    else
        failed "$kind: whole after kill -9"
        sed 's/^/#   /' kill9.log
    fi
done

# --- The program does not notice it ---

for kind in static musl; do
    made $kind sigbus sigbus.$kind || continue
    for mode in own sent sigaction signal fork; do
        bash -c '"$@"; exit $?' - ./sigbus.$kind $mode >bare.out 2>/dev/null
        bare=$?
        record sigbus.heaptap ./sigbus.$kind $mode
        same "$kind, SIGBUS $mode: exit status" "$bare" "$status"
        check "$kind, SIGBUS $mode: output" diff bare.out sigbus.heaptap.out
    done
    HEAPTAP_OUT=$PWD/cut.$kind.heaptap ./sigbus.$kind profile 4096 >cut.out 2>cut.err
    same "$kind: continues when its profile is cut" "7 cut 0 done" "$? $(echo $(cat cut.out))"
done
if made static unchanged unchanged.static; then
    ./unchanged.static one two >bare.out 2>&1
    HEAPTAP_OUT=$PWD/unchanged.heaptap ./unchanged.static one two >recorded.out 2>&1
    check "static: does not see the recorder" diff bare.out recorded.out
    check "static: and is recorded" test -s unchanged.heaptap
fi

# --- Children ---

# From version 13 on, libgcc in a static program allocates two tables and frees them at the end.
for kind in dynamic static musl; do
    made $kind forks forks.$kind || continue
    mkdir $kind.dir
    HEAPTAP_OUT=$PWD/$kind.dir ./forks.$kind
    same "$kind, forks: exit status" 0 $?
    for file in "$kind.dir"/*; do
        who=$(report_json "$file" | python3 -c '
import json, sys
print("child" if json.load(sys.stdin)["process"]["forked"] else "parent")')
        mv "$file" "$kind.$who.heaptap"
    done
    KNOWN_PREFIX="$kind, parent: "
    known $kind.parent.heaptap "leaf:before allocations=1000 allocated_bytes=10000 frees=0" \
        "leaf:later allocations=100 allocated_bytes=3000 frees=0" "under:inside allocations=0" \
        "losses events=0"
    KNOWN_PREFIX="$kind, child: "
    known $kind.child.heaptap "leaf:inside allocations=500 allocated_bytes=10000 frees=200" \
        "under:before allocations=0" "losses inherited_frees=300..302 unknown_frees=0"
done
KNOWN_PREFIX=

# --- Enabled or not ---

files() {
    find . -newer mark -name '*.heaptap' | wc -l
}

for kind in dynamic static musl; do
    made $kind families asked.$kind || continue
    mkdir asked.$kind.d && cd asked.$kind.d || exit 1
    touch mark
    sleep 0.01
    HEAPTAP='' ../asked.$kind
    HEAPTAP=0 ../asked.$kind
    same "$kind: does nothing unless it is enabled" "0 0" "$? $(files)"
    HEAPTAP=1 ../asked.$kind
    same "$kind: HEAPTAP=1 requests a profile" "0 1" "$? $(files)"
    "$HEAPTAP" run --quiet -o run.heaptap -- ../asked.$kind
    same "$kind: run requests a profile, and gets it" "0 2" "$? $(files)"
    cd ..
done

# The recorder is enabled by an environment that libc has not initialised yet, or that the program
# has cleared.
if made dynamic cleared cleared.dynamic; then
    LD_AUDIT=$PROG/libauditor.so HEAPTAP_OUT=audited.heaptap ./cleared.dynamic
    same "dynamic, audited: exit status" 0 $?
    KNOWN_PREFIX="dynamic, audited: " known audited.heaptap \
        "under:work allocations=100 allocated_bytes=2000" "losses events=0 unknown_frees=0"
fi
for kind in dynamic static musl; do
    made $kind cleared cleared.$kind || continue
    for when in early late; do
        HEAPTAP_OUT=cleared.$kind.$when.heaptap ./cleared.$kind $when
        same "$kind, cleared $when: exit status" 0 $?
        KNOWN_PREFIX="$kind, cleared $when: " known cleared.$kind.$when.heaptap \
            "under:work allocations=100 allocated_bytes=2000" "losses events=0 unknown_frees=0"
    done
done

# The program has a second recorder.
if made dynamic threads twice; then
    mkdir twice.d
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/twice.d/ ./twice
    same "a preloaded recorder gives way to a linked one" "0 1" "$? $(ls twice.d | wc -l)"
    KNOWN_PREFIX="preloaded and linked: "
    known twice.d/* "leaf:produce allocations=20000 allocated_bytes=960000 frees=20000" \
        "losses events=0 unknown_frees=0"
    KNOWN_PREFIX=
fi

# run distinguishes a static program with a recorder from one without.
if made static article article.static && made static-stripped article article.stripped; then
    gcc -static -o article.plain "$SRCDIR/test/prog/article.c" 2>/dev/null
    "$HEAPTAP" run ./article.plain >refused.out 2>&1
    same "run refuses a static program without a recorder" 3 $?
    check "and gives a remedy" grep -q 'statically linked.*link it with libheaptap_static.a' \
        refused.out
    if gcc -static-pie -o article.pie "$SRCDIR/test/prog/article.c" 2>/dev/null; then
        "$HEAPTAP" run ./article.pie >refused.out 2>&1
        same "also a static program at any address" 3 $?
    fi
    gcc -o article.dynamic "$SRCDIR/test/prog/article.c"
    loader=$(readelf -p .interp article.dynamic | grep -o '/.*')
    "$HEAPTAP" run -o loader.heaptap "$loader" ./article.dynamic >loader.out 2>&1
    same "but not a dynamic linker, which can preload" 0 $?
    check "what it runs is recorded" test -s loader.heaptap
    record stripped.heaptap ./article.stripped
    same "strip leaves run its note" 0 "$status"
    KNOWN_PREFIX="stripped: "
    known stripped.heaptap "total frees=0..2" "losses events=0" # libgcc's allocations, as above.
    record named.heaptap ./article.static
    KNOWN_PREFIX="static, names: "
    known named.heaptap "whole:b,a,main allocations=2 allocated_bytes=4 sites=1" \
        "whole:b,main allocations=1 allocated_bytes=3 sites=1"
    KNOWN_PREFIX=
fi

if made musl-dynamic article article.musl; then
    "$HEAPTAP" run ./article.musl >refused.out 2>&1
    same "run refuses a dynamic program of musl, which it would break" 3 $?
    check "and gives the reason" grep -q 'its C library is musl' refused.out
fi

# Measure the cost of a linked recorder that is not enabled, in instructions for a pair of malloc
# and free.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}
if command -v valgrind >/dev/null && made bare flat flat.bare && made dynamic flat flat.dynamic &&
    made static flat flat.static; then
    bare=$(instructions ./flat.bare events 100000)
    for kind in dynamic static; do
        linked=$(instructions ./flat.$kind events 100000)
        echo "#   $kind, not asked: $(((linked - bare) / 100000)) instructions more for a pair"
        check "$kind: not enabled, a pair of calls costs at most 40 instructions more" \
            test "$linked" -gt 0 -a $(((linked - bare) / 100000)) -le 40
    done
else
    echo "ok - cost when it is not enabled # SKIP needs valgrind"
fi

# --- Programs with a private malloc ---

# A linker that treats a weak reference to __real_aligned_alloc as strong links libc's allocator,
# which has a second malloc.
cat >weak.c <<'END'
#include <stddef.h>
void *__real_aligned_alloc(size_t, size_t) __attribute__((weak));
void *__wrap_aligned_alloc(size_t a, size_t b)
{
    return __real_aligned_alloc ? __real_aligned_alloc(a, b) : NULL;
}
int main(void) { return 0; }
END
weak() {
    clang -w -static -fuse-ld=lld -fno-builtin -o weak weak.c "$SRCDIR/test/prog/libreplaced.c" \
        "$@" 2>weak.err
}
for kind in bare dynamic static static-clang-lld musl; do
    if [ $kind = static-clang-lld ] && weak && ! weak -Wl,--wrap=aligned_alloc; then
        echo "ok - own malloc, $kind # SKIP this lld links libc's malloc for a weak __real_ symbol"
        continue
    fi
    made $kind replaced replaced.$kind || continue
    record replaced.$kind.heaptap "$PWD/replaced.$kind"
    KNOWN_PREFIX="own malloc, $kind: "
    same "${KNOWN_PREFIX}exit status" 0 "$status"
    known replaced.$kind.heaptap "leaf:work allocations=100 allocated_bytes=2000 frees=50" \
        "leaf:grow allocations=2 allocated_bytes=40 frees=1 reallocations=1" \
        "leaf:zero allocations=5 allocated_bytes=100" "under:malloc allocations=0" \
        "losses overwritten_blocks=0" "under:main allocations=107" "losses events=0 unknown_frees=0"
done
KNOWN_PREFIX=

# --- Allocators under other names ---

# Test the header alone, with the recorder in wrapped.c. lld wraps calls in the object that defines
# the function, other linkers do not. The header warns of link-time optimisation of the allocator
# together with its callers. This loop prints the result of such a build, but expects no numbers.
others="heaps 1 allocations 20 bytes 305 resizes 1 bytes 70 frees 13"
for kind in bare bare-lto bare-static bare-musl bare-clang-lld; do
    made $kind wrapped wrapped.$kind || continue
    wanted=$others
    [ $kind != bare-clang-lld ] ||
        wanted="heaps 1 allocations 24 bytes 341 resizes 1 bytes 70 frees 13"
    same "wrap.h, $kind: reports each call once" "$wanted" "$(./wrapped.$kind)"
done
if [ -e wrapped.bare-static ]; then
    "$HEAPTAP" run ./wrapped.bare-static >refused.out 2>&1
    same "the note of heaptap.h is not taken for a recorder's" 3 $?
fi
if made bare-static-lto wrapped wrapped.lto; then
    echo "#   wrap.h, allocator and callers optimised together: $(./wrapped.lto)"
fi
check "wrap.h is C89" gcc -std=c89 -pedantic-errors -Wall -Wextra -Werror -I"$SRCDIR/include" \
    -fsyntax-only -x c - <<'END'
#include <heaptap/wrap.h>
HEAPTAP_WRAP_HEAP(pool, "pool")
HEAPTAP_WRAP_MALLOC(pool, pool_alloc)
HEAPTAP_WRAP_CALLOC(pool, pool_calloc)
HEAPTAP_WRAP_REALLOC(pool, pool_realloc)
HEAPTAP_WRAP_MEMALIGN(pool, pool_memalign)
HEAPTAP_WRAP_FREE(pool, pool_free)
END

# --- Installed: pkg-config and cmake ---

# sum PROFILE FUNCTION: print the allocations of stacks with FUNCTION.
sum() {
    report_json "$1" 2>/dev/null | run_python -c '
import documents, sys
print(sum(site["allocations"] for site in documents.load(sys.stdin)["sites"]
          if any((f["function"] or "").startswith(sys.argv[1]) for f in site["stack"])))' "$2"
}

# compiled NAME MODULE COMPILER SOURCE FUNCTION WANTED OPTIONS...: build with the flags of
# pkg-config, and check the recording.
compiled() {
    local name=$1 module=$2 compiler=$3 source=$SRCDIR/examples/cmake/$4 function=$5 wanted=$6
    shift 6
    command -v "$compiler" >/dev/null || {
        echo "ok - pkg-config $module, $name # SKIP needs $compiler"
        return
    }
    # shellcheck disable=SC2046
    check "pkg-config $module, $name: links" "$compiler" -g -O1 "$@" \
        $(pkg-config --cflags "$module") -o "installed.$name" "$source" \
        $(pkg-config --libs "$module")
    HEAPTAP_OUT=installed.$name.heaptap "./installed.$name" >/dev/null
    same "pkg-config $module, $name: records" "$wanted" \
        "$(sum "installed.$name.heaptap" "$function")"
}

if [ -x "$BUILD/heaptap" ] && [ -w "$BUILD" ] && command -v pkg-config >/dev/null; then
    # make gets the BUILD of this build; otherwise, it would relink files that other tests are
    # using.
    check "make install" make -C "$SRCDIR" BUILD="$(realpath --relative-to="$SRCDIR" "$BUILD")" \
        SAN= install PREFIX="$PWD/installed"
    export PKG_CONFIG_PATH=$PWD/installed/lib/pkgconfig
    compiled c heaptap gcc order.c take_order 100
    compiled c-static heaptap-static gcc order.c take_order 100 -static
    compiled c-musl heaptap-musl musl-gcc order.c take_order 100 -static
    compiled c++ heaptap g++ lines.cc make_line 200
    compiled c++-static heaptap-static-c++ g++ lines.cc make_line 200 -static
else
    echo "ok - pkg-config # SKIP needs pkg-config and a build of ours without sanitizers"
fi
if [ -d installed ] && command -v cmake >/dev/null && command -v g++ >/dev/null; then
    check "cmake finds it and builds" bash -c '
        cmake -S "$0/examples/cmake" -B cmake -DCMAKE_BUILD_TYPE=Debug && cmake --build cmake' \
        "$SRCDIR"
    for name in order order_static lines lines_static; do
        case $name in order*) function=take_order ;; *) function=make_line ;; esac
        HEAPTAP_OUT=cmake.$name.heaptap cmake/$name >/dev/null
        check "cmake: $name is recorded" test "$(sum cmake.$name.heaptap $function)" -ge 100
    done
else
    echo "ok - cmake # SKIP needs cmake, g++ and what make install gives"
fi

# --- Names in the archives ---

# In the linked program, all other names belong to the user.
defined() {
    nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }'
}
check "libheaptap.a defines the intercepted functions and nothing else" bash -c '
    diff <(grep -v "^#" "$0" | sort) <(sort -u)' "$SRCDIR/test/abi/exported.txt" \
    < <(defined "$BUILD/libheaptap.a")
for archive in libheaptap_static.a musl/libheaptap_static.a; do
    check "$archive defines nothing outside its own names" bash -c '! grep -qvE "$0"' \
        '^(__wrap_|heaptap_|__restore(_rt)?$)' < <(defined "$BUILD/$archive")
done
# The archive's objects are for glibc and for musl, so they may import only names that both have.
# Only libc knows the address of errno: a static program that defines this name would define it for
# libc as well.
asked_for() {
    nm -u "$1" | awk 'NF == 2 { print $2 }'
}
check "libheaptap_static.a imports no more than the preloaded recorder, and errno" bash -c '
    ! grep -vxFf <(grep -v "^#" "$0"; echo _GLOBAL_OFFSET_TABLE_) |
    grep -vE "^(__real_|__wrap_|heaptap_)" |
    grep -vxE "__libc_(pv|m)alloc|__gxx_personality_v0|__errno_location"' \
    "$SRCDIR/test/abi/undefined.txt" < <(asked_for "$BUILD/libheaptap_static.a")
check "and nothing of the dynamic linker" bash -c '! grep -E "^(dl|_dl_)"' \
    < <(asked_for "$BUILD/libheaptap_static.a")
finish
