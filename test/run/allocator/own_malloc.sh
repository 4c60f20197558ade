#!/usr/bin/env bash
# own_malloc.sh: programs with their own allocator, which the recorder can see or not. If it fails,
# `heaptap run` does not report a heap that it could not see, suggests a remedy that does not work,
# or raises a false alarm; or the numbers of real programs with a private allocator are wrong.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

# ran FILE OPTIONS... -- PROGRAM: run PROGRAM, with its messages in FILE.err.
ran() {
    local file=$1
    shift
    rm -rf "$file" "${file%.heaptap}".*
    bash -c '"$@"; exit $?' - "$HEAPTAP" run -o "$file" "$@" >"$file.out" 2>"$file.err" </dev/null
    status=$?
}

says() {
    check "$1" grep -E -- "$2" "$3.err"
}

silent() {
    check "$1" bash -c '! grep -E "$2" "$1"' - "$2.err" \
        "did not come through malloc|was not recorded|link it|record it"
}

# --- No false alarm ------------------------------------------------------------------------------

for kind in malloc small file stack; do
    ran quiet.heaptap -- "$PROG/swollen" $kind
    same "$kind: output and status" "0 done" "$status $(cat quiet.heaptap.out)"
    silent "$kind: no warning" quiet.heaptap
done
cat >forks.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    char *p = malloc(48 << 20);
    memset(p, 1, 48 << 20);
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) { // Shares its parent's memory, and copies some of it.
            memset(p, 2, 24 << 20);
            if (i == 1)
                free(malloc(10));
            usleep(300000);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        continue;
    return p[0] - 1;
}
END
gcc -O1 -fno-builtin -o forks forks.c
ran forks.heaptap -- ./forks
silent "children made by fork: no warning" forks.heaptap
cat >late_exec.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char *p;
    if (argc > 1)
        return free(malloc(10)), 0;
    p = malloc(48 << 20);
    memset(p, 1, 48 << 20);
    if (fork() == 0) {
        usleep(300000); // Samples of its memory count its parent's.
        return execl(argv[0], argv[0], "again", NULL);
    }
    wait(NULL);
    return p[0] - 1;
}
END
gcc -O1 -fno-builtin -o late_exec late_exec.c
ran late_exec.heaptap -- ./late_exec
check "a child that calls exec after a while is recorded" test -s late_exec.processes/*.heaptap
silent "a child that calls exec after a while: no warning" late_exec.heaptap
ran late.heaptap --delay 60 -- "$PROG/swollen"
silent "recording that has not begun: no warning" late.heaptap

# --- Memory that the program maps ----------------------------------------------------------------

strange='about [4-9][0-9]\.[0-9] MiB of the memory of .*swollen.* did not come through malloc'
ran map.heaptap -- "$PROG/swollen" map
same "map: output and status" "0 done" "$status $(cat map.heaptap.out)"
unseen='about [4-9][0-9]\.[0-9] MiB of the memory of .*swollen.* was not recorded'
says "map: the warning" "$unseen" map.heaptap
says "map: the remedy" "no allocator known by name .*heaptap\.h" map.heaptap
ran map.heaptap --quiet -- "$PROG/swollen" map
same "map: --quiet" "" "$(cat map.heaptap.err)"
ran map.heaptap -- sh -c "'$PROG/swollen' map; true"
says "map: in a child of a shell" "$unseen" map.heaptap

# --- A library that is preloaded in front of the recorder ----------------------------------------

cat >front.c <<'END'
#include <stddef.h>
#include <string.h>
static char pool[1 << 28];
static size_t used;
void *malloc(size_t size) { used += (size + 31) & ~(size_t)15; return pool + used; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *p, size_t size)
{
    void *grown = malloc(size);
    return p != NULL ? memcpy(grown, p, size) : grown;
}
void free(void *p) { }
void *mallocx(size_t size, int flags) { return malloc(size); } // As jemalloc has.
END
check "build a library" gcc -w -O1 -fno-builtin -shared -fPIC -o libfront.so.2 front.c
ln -s libfront.so.2 libfront.so
swollen="'$PROG/swollen' malloc; true"
for library in libfront.so.2 libfront.so; do
    ran front.heaptap -- sh -c "LD_PRELOAD=$PWD/$library:\$LD_PRELOAD $swollen"
    says "$library in front: the warning" 'memory of .*swollen.* did not come through malloc' \
        front.heaptap
    says "$library in front: the remedy" \
        "the malloc of .*/libfront.so.2 precedes.*behind.*LD_PRELOAD=\\\$LD_PRELOAD:libfront" \
        front.heaptap
    check "$library in front: no other remedy" \
        sh -c '! grep -- "--hook\|libheaptap.a" front.heaptap.err'
done
ran front.heaptap -- sh -c "LD_PRELOAD=\$LD_PRELOAD:$PWD/libfront.so.2 $swollen"
silent "a library behind: no warning" front.heaptap

# --- Programs that left no profile ---------------------------------------------------------------

gcc -O1 -fno-builtin -static -o swollen_static "$SRCDIR/test/prog/swollen.c" 2>/dev/null &&
    ran static.heaptap -- sh -c "./swollen_static malloc; true" &&
    says "static child: the warning" "memory of .*swollen_static was not recorded" static.heaptap &&
    says "static child: the remedy" "statically linked.*link it with libheaptap_static.a" \
        static.heaptap
rm -rf full && mkdir full
bash -c 'ulimit -f 8; exec "$@"' - "$HEAPTAP" run -o full/p.heaptap -- "$PROG/swollen" malloc \
    >full.heaptap.out 2>full.heaptap.err </dev/null
says "not recording: the recorder's message" "not recording: the limit on file size" full.heaptap
says "not recording: the size" "memory of .*swollen was not recorded" full.heaptap
says "not recording: the hint" "left no profile. If a message above says" \
    full.heaptap

cat >both.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    char *p = mmap(NULL, 48 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *volatile q = malloc(1000);
    memset(p, 1, 48 << 20);
    usleep(400000);
    return q == NULL;
}
END
gcc -O1 -o both both.c
ran both.heaptap -- ./both
says "both: the warning" 'memory of .*both did not come through malloc' both.heaptap
says "both: the blocks, apart from the recorder's own memory" \
    'it had 4[89]\.[0-9] MiB, 1\.0 KiB in recorded blocks and [0-9.]* KiB of the recorder itself' \
    both.heaptap
check "both: no holder is named for the few known bytes" \
    bash -c '! grep "held by" both.heaptap.err'

# --- Allocators linked statically ----------------------------------------------------------------

# inside NAME PATTERN LINK-FLAGS...: link the allocator NAME statically; check the warning, and that
# its remedy matches PATTERN.
inside() {
    local name=$1 pattern=$2
    shift 2
    if ! gcc -O1 -g -fno-builtin -o "swollen_$name" "$SRCDIR/test/prog/swollen.c" "$@" \
        2>gcc.err; then
        echo "ok - $name, static # SKIP no static library to link with"
        return
    fi
    ran static.heaptap -- "./swollen_$name"
    same "$name, static: output and status" "0 done" "$status $(cat static.heaptap.out)"
    says "$name, static: the warning" "$strange" static.heaptap
    says "$name, static: the remedy" "$pattern" static.heaptap
    ran static.heaptap --hook "${name%_*}" -- "./swollen_$name"
    says "$name, static: no hook helps" "$strange" static.heaptap
    strip -o "stripped_$name" "swollen_$name"
    ran static.heaptap -- "./stripped_$name"
    says "$name, stripped: the warning" "${strange/swollen/stripped}" static.heaptap
    says "$name, stripped: the remedy" "has $name inside.*uses the system's malloc" static.heaptap
}

inside jemalloc 'has jemalloc inside as its malloc.*libheaptap\.a in front of.*MALLOC=libc' \
    -Wl,-Bstatic -ljemalloc -Wl,-Bdynamic -lstdc++ -lm -lpthread
inside tcmalloc 'has tcmalloc inside as its malloc.*libheaptap\.a' \
    -Wl,-Bstatic -ltcmalloc_minimal -Wl,-Bdynamic -lstdc++ -lm -lpthread
inside mimalloc 'has mimalloc inside' -Wl,-Bstatic -lmimalloc -Wl,-Bdynamic -lpthread

# Try the remedies of these hints: if a program is linked as they suggest, it is recorded.
helps() {
    local name=$1
    ran helped.heaptap -- "./$name"
    same "$name: output and status" "0 done" "$status $(cat helped.heaptap.out)"
    silent "$name: no warning" helped.heaptap
    KNOWN_PREFIX="$name: "
    known helped.heaptap "leaf:take allocations=48000 allocated_bytes=48000000 frees=24000" \
        "losses events=0 unknown_frees=0"
}
recorder=(-Wl,-u,malloc -Wl,--export-dynamic-symbol=heaptap_recorder_v1 "-L$BUILD" -lheaptap)
rest=(-lstdc++ -lm -lpthread)
archive=$(gcc -print-file-name=libjemalloc.a)
if [ -e "$archive" ]; then
    gcc -O1 -g -fno-builtin -o plain_in_front "$SRCDIR/test/prog/swollen.c" "${recorder[@]}" \
        "$archive" "${rest[@]}"
    helps plain_in_front

    # Like redis: names with the prefix je_. The linked recorder sees no call of malloc.
    renamed=()
    for name in malloc calloc realloc free posix_memalign aligned_alloc memalign valloc; do
        renamed+=(--redefine-sym "$name=je_$name")
    done
    objcopy "${renamed[@]}" "$archive" libje.a
    redis=(gcc -O1 -g -fno-builtin -Dmalloc=je_malloc -Dfree=je_free "-I$SRCDIR/include")
    "${redis[@]}" -o prefixed "$SRCDIR/test/prog/swollen.c" libje.a "${rest[@]}" 2>gcc.err
    ran prefixed.heaptap -- ./prefixed
    says "prefixed: the warning" 'memory of .*prefixed did not come through malloc' prefixed.heaptap
    says "prefixed: the remedy" 'directly, as je_malloc.*MALLOC=libc.*--wrap=je_malloc' \
        prefixed.heaptap
    "${redis[@]}" -o prefixed_archive "$SRCDIR/test/prog/swollen.c" libje.a "${recorder[@]}" \
        "${rest[@]}" 2>gcc.err
    ran prefixed.heaptap -- ./prefixed_archive
    says "prefixed: no archive helps" 'did not come through malloc' prefixed.heaptap
    gcc -O1 -g -fno-builtin -o system_malloc "$SRCDIR/test/prog/swollen.c" # MALLOC=libc
    helps system_malloc
    cat >wrap.c <<'END'
#include <heaptap/wrap.h>
HEAPTAP_WRAP_HEAP(je, "jemalloc")
HEAPTAP_WRAP_MALLOC(je, je_malloc)
HEAPTAP_WRAP_FREE(je, je_free)
END
    "${redis[@]}" -c "$SRCDIR/test/prog/swollen.c" 2>gcc.err
    gcc -O1 "-I$SRCDIR/include" -c wrap.c
    gcc -o prefixed_wrapped swollen.o wrap.o -Wl,--wrap=je_malloc,--wrap=je_free libje.a \
        "${rest[@]}"
    helps prefixed_wrapped

    # The warning is in the profile, packed or not, and in the sum of a session.
    for option in --quiet --no-pack ""; do
        ran noted.heaptap $option -- sh -c './prefixed; true'
        "$HEAPTAP" report noted.heaptap >noted.txt 2>/dev/null
        if [ "$option" = --quiet ]; then
            check "a note: none without a check" bash -c '! grep Note: noted.txt'
            continue
        fi
        check "a note: report has it $option" grep -q 'Note: about 4[0-9]\.. MiB' noted.txt
        check "a note: and the remedy $option" grep -q -- '--wrap=je_malloc' noted.txt
        check "a note: in JSON $option" python3 -c '
import json, sys
[n] = json.load(sys.stdin)["notes"]
assert n["kind"] == "memory-not-through-malloc" and "--wrap=je_malloc" in n["advice"]
assert n["anonymous_bytes"] - n["recorded_bytes"] > 40 << 20' \
            < <("$HEAPTAP" report --json noted.heaptap)
        check "a note: the numbers are there $option" grep -q 'Allocations ' noted.txt
        "$HEAPTAP" pack -o noted2.heaptap noted.heaptap >pack.out
        check "a note: pack keeps it $option" grep -q 'Note: about' \
            <("$HEAPTAP" report noted2.heaptap)
        rm -f noted2.heaptap
    done
    rm -f sum.heaptap
    "$HEAPTAP" merge -o sum.heaptap noted.heaptap >merge.out 2>&1
    check "a note: merge names the process" grep -Eq 'Note: .*\(pid [0-9]+\): about' \
        <("$HEAPTAP" report sum.heaptap)
    ran hooked.heaptap --hook no_such=malloc -- "$PROG/swollen"
    check "a note: a hook that was never called" grep -q 'Note: --hook no_such: never called' \
        <("$HEAPTAP" report hooked.heaptap)
else
    echo "ok - remedies for jemalloc inside # SKIP needs libjemalloc.a"
fi

# A private malloc whose name is in no list.
cat >own.c <<'END'
#include <stddef.h>
static unsigned char room[64 << 20];
static size_t used;
void *malloc(size_t size)
{
    void *p = room + used;
    used += (size + 15) & ~(size_t)15;
    return p;
}
void free(void *p) { (void)p; }
END
gcc -O1 -fno-builtin -o swollen_own "$SRCDIR/test/prog/swollen.c" own.c
ran own.heaptap -- ./swollen_own
says "a private malloc: the warning" "$strange" own.heaptap
says "a private malloc: the remedy" "has its own malloc linked in" own.heaptap

# --- Shared allocators under other names ---------------------------------------------------------

if echo 'int main(void) { return 0; }' | gcc -x c -o probe - -lmimalloc 2>/dev/null; then
    gcc -O1 -g -fno-builtin -Dmalloc=mi_malloc -Dfree=mi_free -o swollen_mi \
        "$SRCDIR/test/prog/swollen.c" -lmimalloc
    ran mi.heaptap -- ./swollen_mi
    says "libmimalloc: the warning" "$strange" mi.heaptap
    says "libmimalloc: the remedy" "libmimalloc.* is mimalloc .*record it with --hook mimalloc" \
        mi.heaptap
    ran mi.heaptap --hook mimalloc -- ./swollen_mi
    silent "libmimalloc: the remedy helps" mi.heaptap
    KNOWN_PREFIX="libmimalloc: "
    known mi.heaptap "leaf:take allocations=48000 allocated_bytes=48000000 frees=24000" \
        "losses events=0 unknown_frees=0"
else
    echo "ok - libmimalloc # SKIP not installed"
fi

# The usual names of such libraries are recorded without a hook; a hook does not count them twice.
for library in jemalloc mimalloc tcmalloc_minimal; do
    if ! gcc -O2 -g -fno-builtin -D_GNU_SOURCE -o "foreign_$library" \
        "$SRCDIR/test/prog/foreign.c" -Wl,--no-as-needed "-l$library" 2>gcc.err; then
        echo "ok - $library by its usual names # SKIP not installed"
        continue
    fi
    ran usual.heaptap --hook jemalloc --hook mimalloc --hook tcmalloc -- "./foreign_$library"
    same "$library by its usual names: status" 0 "$status"
    KNOWN_PREFIX="$library by its usual names: "
    known usual.heaptap \
        "leaf:take allocations=1000 allocated_bytes=50500 frees=400 freed_bytes=8200" \
        "leaf:turn allocations=500 allocated_bytes=32000 frees=500 temporary=500" \
        "leaf:resize allocations=400 allocated_bytes=1002000 reallocations=200" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0"
done

# --- Rust ----------------------------------------------------------------------------------------

# rust NAME PRESET FLAGS...: record a Rust program, and again with --hook PRESET. Its allocator is
# linked dynamically, so the preset records everything.
rust() {
    local name=$1 preset=$2
    shift 2
    if ! rustc -O -g -o "rust_$name" "$SRCDIR/test/prog/global_allocator.rs" "$@" \
        2>rustc.err; then
        echo "ok - Rust, $name # SKIP cannot be built: $(grep -m 1 -i error rustc.err)"
        return 1
    fi
    ran rust.heaptap -- "./rust_$name"
    same "Rust, $name: output and status" "0 40000 50000" "$status $(cat rust.heaptap.out)"
    says "Rust, $name: the warning" \
        'about [34][0-9]\.[0-9] MiB of the memory of .*rust_' rust.heaptap
    cp rust.heaptap.err "rust_$name.err"
    ran rust.heaptap --hook "$preset" -- "./rust_$name"
    same "Rust, $name, hooked: output and status" "0 40000 50000" "$status $(cat rust.heaptap.out)"
}
rust_numbers=(
    "under:fill allocations=40001 allocated_bytes=40320000 frees=0"
    "under:churn allocations=500 allocated_bytes=50000 frees=500"
    "losses events=0 unknown_frees=0 overwritten_blocks=0"
)
if rustc --version >/dev/null 2>&1; then
    if rust mimalloc mimalloc -l mimalloc; then
        says "Rust, mimalloc: the remedy" "record it with --hook mimalloc" rust_mimalloc
        silent "Rust, mimalloc: the remedy helps" rust.heaptap
        KNOWN_PREFIX="Rust, mimalloc: "
        known rust.heaptap "${rust_numbers[@]}"
    fi
    if rust jemalloc jemalloc --cfg jemalloc -l jemalloc; then
        says "Rust, jemalloc: the remedy" "record it with --hook jemalloc" rust_jemalloc
        silent "Rust, jemalloc: the remedy helps" rust.heaptap
        KNOWN_PREFIX="Rust, jemalloc: "
        known rust.heaptap "${rust_numbers[@]}"
    fi
    if rust static jemalloc --cfg jemalloc -l static:+verbatim=libjemalloc_pic.a -l dylib=stdc++ \
        -l m -L "$(dirname "$(gcc -print-file-name=libjemalloc_pic.a)")"; then
        says "Rust, jemalloc inside: the remedy" \
            "has jemalloc inside.*Rust: no #.global_allocator" rust_static
        says "Rust, jemalloc inside: no hook helps" "did not come through malloc" rust.heaptap
    fi
else
    echo "ok - Rust # SKIP needs rustc"
fi

# --- redis ---------------------------------------------------------------------------------------

# redis' own count, by the usable sizes of its blocks, is the reference.
cat >redis.py <<'END'
import json
import socket
import subprocess
import sys
import time

run = subprocess.Popen(sys.argv[1:] + ["--port", "0", "--unixsocket", "redis.sock", "--save", "",
                                       "--appendonly", "no"], stdout=subprocess.DEVNULL)
s = socket.socket(socket.AF_UNIX)
for _ in range(600):
    try:
        s.connect("redis.sock")
        break
    except OSError:
        time.sleep(0.1)
f = s.makefile("rb")
value = b"x" * 1000
for start in range(0, 20000, 1000):
    s.sendall(b"".join(b"*3\r\n$3\r\nSET\r\n$10\r\nkey:%06d\r\n$1000\r\n%s\r\n" % (i, value)
                       for i in range(start, start + 1000)))
    for i in range(1000):
        assert f.readline() == b"+OK\r\n"
s.sendall(b"INFO memory\r\n")
info = f.read(int(f.readline()[1:]) + 2).decode()
s.sendall(b"SHUTDOWN NOSAVE\r\n")
told = dict(line.split(":", 1) for line in info.split("\r\n") if ":" in line)
print(told["used_memory"], told["mem_allocator"], run.wait())
END
if command -v redis-server >/dev/null; then
    for hook in none jemalloc; do
        rm -f redis.heaptap
        options=()
        [ $hook = none ] || options=(--hook $hook)
        timeout 120 python3 redis.py "$HEAPTAP" run -o redis.heaptap "${options[@]}" -- \
            redis-server >redis.out 2>redis.heaptap.err
        read -r used allocator status <redis.out
        same "redis ($allocator), hook $hook: status" 0 "$status"
        silent "redis, hook $hook: no warning" redis.heaptap
        KNOWN_PREFIX="redis, hook $hook: "
        known redis.heaptap "total live_bytes=$((used * 8 / 10))..$used" \
            "losses events=0 unknown_frees=0 overwritten_blocks=0"
    done
else
    echo "ok - redis # SKIP not installed"
fi
# --- An allocator whose functions are spread over several libraries -------------------------------

check "build the program" gcc -g -O1 -fno-builtin -o layered "$area/layered.c"
layer() {
    local library=$1
    shift
    check "build $library" gcc -O1 -fno-builtin -shared -fPIC -o "$library" "${@/#/-DLAYER_}" \
        "$area/layer.c" -ldl
}
# layered NAME LIBRARIES OPTIONS...: check that each block is counted once.
layered() {
    local name=$1 libraries=$2
    shift 2
    LD_PRELOAD=$libraries ./layered
    same "$name: bare" 6 $?
    LD_PRELOAD=$libraries timeout 20 "$HEAPTAP" run --quiet --force -o layered.heaptap "$@" \
        ./layered >out 2>err
    same "$name: status" 6 $?
    same "$name: messages" "" "$(cat err)"
    KNOWN_PREFIX="$name: " known layered.heaptap \
        "leaf:by_malloc allocations=100 frees=100 allocated_bytes=1000" \
        "leaf:by_calloc allocations=100 frees=100 allocated_bytes=4000" \
        "leaf:by_realloc allocations=100 frees=100 allocated_bytes=5050" \
        "leaf:by_memalign allocations=100 frees=100 allocated_bytes=3000" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0"
}
for libc in "" LIBC; do
    for some in MALLOC FREE CALLOC REALLOC MEMALIGN; do
        layer "lib$some.so" $some $libc
        layered "$some${libc:+ by }$libc" "$PWD/lib$some.so"
    done
    for some in FREE CALLOC REALLOC MEMALIGN; do
        layered "MALLOC in one and $some in another${libc:+ by }$libc" \
            "$PWD/libMALLOC.so $PWD/lib$some.so"
    done
done
layered "annotated, each in a separate library" \
    "$PWD/libMALLOC.so $PWD/libFREE.so $PWD/libCALLOC.so $PWD/libREALLOC.so" --annotate
for some in FREE CALLOC; do
    layered "annotated, $some" "$PWD/lib$some.so" --annotate
    check "build one with libheaptap.a and $some" gcc -g -O1 -fno-builtin -rdynamic -o linked.own \
        "$area/layered.c" -Wl,-u,malloc -Wl,--export-dynamic-symbol=heaptap_recorder_v1 \
        "$BUILD/libheaptap.a" -ldl
    LD_PRELOAD=$PWD/lib$some.so ./linked.own
    same "libheaptap.a and $some, not recorded: status" 6 $?
    LD_PRELOAD=$PWD/lib$some.so HEAPTAP_OUT=$PWD/linked.own.heaptap ./linked.own
    same "libheaptap.a and $some: status" 6 $?
    KNOWN_PREFIX="libheaptap.a and $some: " known linked.own.heaptap \
        "leaf:by_calloc allocations=100 frees=100 allocated_bytes=4000" \
        "losses events=0 unknown_frees=0"
done
# The latest copy of a profile in memory lacks the blocks that come after it, so their memory proves
# nothing.
cat >late.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 3000; i++) { /* 0.4 s: the first copy is written. */
        free(malloc(1000));
        usleep(100);
    }
    for (int i = 0; i < 2000; i++)
        memset(malloc(50000), 1, 50000);
    usleep(500000);
    kill(getpid(), SIGKILL);
}
END
gcc -g -O1 -fno-builtin -o late late.c
"$HEAPTAP" run --self-contained-core -o late.heaptap -- ./late >out 2>err
same "a copy of memory that is late: no warning of another allocator" 0 \
    "$(grep -c 'did not come through malloc' err)"

finish
