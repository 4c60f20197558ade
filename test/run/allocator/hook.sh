#!/usr/bin/env bash
# hook.sh: functions that are recorded under other names than malloc's (`run --hook`). If it fails,
# calls of hooked functions are lost, counted twice or charged to the wrong caller; or hooking names
# changes a program's behaviour, whether the program has these functions or not; or the user does
# not learn which names could not be hooked.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

own=(--hook own_malloc=malloc --hook own_calloc=calloc --hook own_realloc=realloc
     --hook own_aligned=aligned_alloc --hook own_posix=posix_memalign --hook own_strdup=strdup
     --hook own_free=free --hook own_wrap=malloc --hook own_unwrap=free)

# hooked FILE OPTIONS... -- PROGRAM: like `record`, with options of run.
hooked() {
    local file=$1
    shift
    rm -rf "$file" "${file%.heaptap}.processes"
    bash -c '"$@"; exit $?' - "$HEAPTAP" run -o "$file" "$@" >"$file.out" 2>"$file.err" </dev/null
    status=$?
}

# --- All kinds, known numbers --------------------------------------------------------------------

hooked own.heaptap "${own[@]}" -- "$PROG/hooked"
same "output and status" "0 done" "$status $(cat own.heaptap.out)"
own_numbers=(
    "leaf:take allocations=1000 allocated_bytes=50500 frees=1000 freed_bytes=50500"
    "leaf:grow allocations=500 allocated_bytes=500000 reallocations=500 live_bytes=500000"
    "leaf:others allocations=40 allocated_bytes=3830 frees=40 temporary=40 live_blocks=0"
    "leaf:others died_within_16=40 died_within_256=40"
    "leaf:wrapped allocations=100 allocated_bytes=5000 frees=50 live_blocks=50 live_bytes=2500"
    "leaf:own_wrap sites=0"
    "leaf:own_malloc sites=0"
    "losses events=0 unknown_frees=0 overwritten_blocks=0 guessed_frames=0"
)
KNOWN_PREFIX="all kinds: "
known own.heaptap "${own_numbers[@]}"
hooked bare.heaptap -- "$PROG/hooked"
KNOWN_PREFIX="not hooked: "
known bare.heaptap "leaf:take sites=0" "leaf:own_wrap allocations=100 frees=50" \
    "losses events=0 unknown_frees=0"

hooked free.heaptap --hook own_free=free -- "$PROG/hooked"
KNOWN_PREFIX="frees alone: "
known free.heaptap "leaf:take sites=0" "losses events=0 unknown_frees=540"

# --- In other processes, and other ways to get at a function -------------------------------------

rm -f child*.heaptap
hooked child.heaptap "${own[@]}" -- sh -c "'$PROG/hooked'; exec '$PROG/hooked'"
same "two processes" "done done" "$(tr '\n' ' ' <child.heaptap.out | sed 's/ $//')"
own_profiles=0
for file in child*.heaptap child.processes/*.heaptap; do
    if "$HEAPTAP" report --json "$file" 2>/dev/null | grep -q '"take"'; then
        KNOWN_PREFIX="child $own_profiles: "
        known "$file" "${own_numbers[@]}"
        own_profiles=$((own_profiles + 1))
    fi
done
same "both children are hooked" 2 "$own_profiles"

cat >open.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static void *(*get)(size_t);
static void (*put)(void *);
__attribute__((noinline)) static void use(int count)
{
    for (int i = 0; i < count; i++) {
        void *p = get(100);
        if (i % 2)
            put(p);
    }
    __asm__ volatile("");
}
int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void (*plugged)(int) = library ? dlsym(library, "plugged") : NULL;
    int status = 0;
    if (!plugged)
        return printf("%s\n", dlerror());
    plugged(70);
    if (argc > 2) { // The function itself, by its name in the global scope.
        get = dlsym(RTLD_DEFAULT, "own_malloc");
        put = dlsym(RTLD_DEFAULT, "own_free");
        if (!get || !put)
            return 3;
        use(50);
        if (fork() == 0) {
            use(30);
            _exit(0);
        }
        wait(&status);
    }
    return status != 0;
}
END
cat >plugin.c <<'END'
#include <stddef.h>
void *own_malloc(size_t);
void own_free(void *);
void plugged(int count)
{
    for (int i = 0; i < count; i++) {
        void *p = own_malloc(10);
        if (i % 2)
            own_free(p);
    }
    __asm__ volatile("");
}
END
gcc -O1 -g -o open open.c -ldl
gcc -O1 -g -fPIC -shared -o plugin.so plugin.c -L"$PROG" -lown "-Wl,-rpath,$PROG"
hooked open.heaptap "${own[@]:0:2}" --hook own_free=free -- ./open ./plugin.so
same "a plug-in with an allocator that only it sees: status" 0 "$status"
KNOWN_PREFIX="plug-in: "
known open.heaptap "leaf:plugged allocations=70 allocated_bytes=700 frees=35" \
    "losses events=0 unknown_frees=0"
hooked open.heaptap "${own[@]:0:2}" --hook own_free=free -- ./open ./plugin.so dlsym
same "a function found by dlsym, in a fork: status" 0 "$status"
KNOWN_PREFIX="dlsym: "
known open.heaptap "leaf:use allocations=50 allocated_bytes=5000 frees=25" \
    "losses events=0 unknown_frees=0"
known "$(ls open.processes/* | head -n 1)" "leaf:use allocations=30 frees=15" \
    "losses events=0 unknown_frees=0"

# A library is loaded, unloaded, and loaded again at another address.
cat >again.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    void *first = NULL;
    for (int i = 0; i < 5; i++) {
        void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
        void (*plugged)(int) = library ? dlsym(library, "plugged") : NULL;
        if (!plugged)
            return 3;
        plugged(10);
        if (i == 0)
            first = dlsym(library, "own_malloc");
        dlclose(library);
        // Another mapping takes its place.
        if (i == 0 && mmap((void *)((unsigned long)first & -4096ul), 4096, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
            return 4;
    }
    return 0;
}
END
gcc -O1 -g -D_GNU_SOURCE -o again again.c -ldl
hooked again.heaptap "${own[@]:0:2}" --hook own_free=free -- ./again ./plugin.so
same "a library that is loaded again: status" 0 "$status"
KNOWN_PREFIX="loaded again: "
# The recorder ends a block that was never freed at the latest when its address is reused.
known again.heaptap "leaf:plugged allocations=50 allocated_bytes=500 frees>=25" \
    "losses events=0 unknown_frees=0"

hooked reserved.heaptap --reserve 16M "${own[@]}" -- "$PROG/hooked"
KNOWN_PREFIX="with a reserve: "
known reserved.heaptap "${own_numbers[@]}"
check "with a reserve: no message about hooks" \
    bash -c '! grep -- "--hook" reserved.heaptap.err'

# --- Exceptions, signals, threads, sampling ------------------------------------------------------

if command -v g++ >/dev/null; then
    cat >libthrow.cc <<'END'
#include <csignal>
#include <cstdlib>
#include <new>
extern "C" void *make(size_t size)
{
    void *p = std::malloc(size);
    if (!p || size > 1000) {
        std::free(p);
        throw std::bad_alloc();
    }
    return p;
}
extern "C" void *remake(void *p, size_t size)
{
    if (size > 1000)
        throw std::bad_alloc();
    return std::realloc(p, size);
}
extern "C" void *make_interrupted(size_t size)
{
    std::raise(SIGUSR1);
    return std::malloc(size);
}
extern "C" void *remake_interrupted(void *p, size_t size)
{
    std::raise(SIGUSR2);
    return std::realloc(p, size);
}
extern "C" void unmake(void *p) { std::free(p); }
END
    cat >throw.cc <<'END'
#include <csignal>
#include <cstdlib>
#include <new>
extern "C" void *make(size_t);
extern "C" void *make_interrupted(size_t);
extern "C" void *remake_interrupted(void *, size_t);
extern "C" void *remake(void *, size_t);
extern "C" void unmake(void *);
__attribute__((noinline)) static int resize(void)
{
    void *p = make(50);
    try {
        remake(p, 3000);
    } catch (const std::bad_alloc &) {
        unmake(p);
    }
    unmake(remake(make(50), 100));
    return 0;
}
__attribute__((noinline)) static int attempt(size_t size)
{
    try {
        unmake(make(size));
        return 0;
    } catch (const std::bad_alloc &) {
        return 1;
    }
}
__attribute__((noinline)) static void after(void)
{
    for (int i = 0; i < 10; i++)
        std::free(std::malloc(77));
    __asm__ volatile("");
}
static void *held;
static int thrown;
static void on_make(int)
{
    try {
        make(2000);
    } catch (const std::bad_alloc &) {
        thrown++;
    }
}
static void on_remake(int)
{
    try {
        remake(held, 3000);
    } catch (const std::bad_alloc &) {
        thrown++;
    }
}
__attribute__((noinline)) static int interrupted(void)
{
    std::signal(SIGUSR1, on_make);
    std::signal(SIGUSR2, on_remake);
    held = make(50);
    for (int i = 0; i < 10; i++)
        unmake(remake_interrupted(make_interrupted(60), 600));
    unmake(held);
    return thrown - 20;
}
int main()
{
    int caught = 0;
    for (int i = 0; i < 20; i++)
        caught += attempt(i % 2 ? 2000 : 200);
    after();
    return caught + resize() + interrupted();
}
END
    g++ -O1 -g -fno-builtin -fPIC -shared -o libthrow.so libthrow.cc
    g++ -O1 -g -fno-builtin -o throw throw.cc -L. -lthrow -Wl,-rpath,.
    hooked throw.heaptap --hook make=malloc --hook remake=realloc --hook unmake=free \
        --hook make_interrupted=malloc --hook remake_interrupted=realloc -- ./throw
    same "exceptions pass through a hooked function" 10 "$status"
    KNOWN_PREFIX="exceptions: "
    # The exceptions are allocated inside the library and freed outside it.
    known throw.heaptap "leaf:attempt allocations=10 allocated_bytes=2000 frees=10" \
        "leaf:after allocations=10 allocated_bytes=770 frees=10" \
        "leaf:resize allocations=3 allocated_bytes=200 frees=3 reallocations=1 live_blocks=0" \
        "leaf:interrupted allocations=21 allocated_bytes=6650 frees=21 reallocations=10" \
        "leaf:make_interrupted sites=0" "leaf:remake_interrupted sites=0" \
        "losses events=0 unknown_frees=0"
else
    echo "ok - exceptions # SKIP no g++"
fi

# Handlers interrupt stubs, the recorder and hooked functions, and call malloc.
cat >signals.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
void *own_malloc(size_t);
void own_free(void *);
static volatile sig_atomic_t signals;
__attribute__((noinline)) static void handle(int number)
{
    free(malloc(33));
    signals += number == SIGALRM;
}
__attribute__((noinline)) static int work(void)
{
    int calls = 0;
    while (signals < 2000 && calls < 1500000) {
        own_free(own_malloc(8));
        calls++;
    }
    return calls;
}
int main(void)
{
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handle};
    int calls;
    free(malloc(33)); /* The first call of malloc holds a lock. */
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    calls = work();
    setitimer(ITIMER_REAL, &never, NULL);
    fprintf(stderr, "%d %d\n", calls, (int)signals);
    return 0;
}
END
gcc -O1 -g -fno-builtin -o signals signals.c -L"$PROG" -lown "-Wl,-rpath,$PROG"
hooked signals.heaptap "${own[@]:0:2}" --hook own_free=free -- ./signals
read -r calls signals < <(grep -E '^[0-9]+ [0-9]+$' signals.heaptap.err)
KNOWN_PREFIX="signal handlers: "
known signals.heaptap "leaf:work allocations=$calls frees=$calls temporary>=1" \
    "leaf:handle allocations=$signals allocated_bytes=$((signals * 33)) frees=$signals" \
    "losses events=0 unknown_frees=0 guessed_frames=0 unwind_failures=0"
check "signal handlers ran" test "$signals" -gt 20

hooked sampled.heaptap --sample-count 5 "${own[@]}" -- "$PROG/hooked"
KNOWN_PREFIX="sampled: "
known sampled.heaptap "leaf:take allocations=500..1500" "leaf:wrapped allocations=20..300" \
    "losses events=0 unknown_frees=0"

# --- Names that do not exist ---------------------------------------------------------------------

cat >probe.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
__attribute__((weak)) void *mallocx(unsigned long, int);
__attribute__((weak)) void mi_free(void *);
static void (*volatile kept)(void *) = mi_free;
int main(void)
{
    printf("%d %d %d\n", mallocx != NULL, kept != NULL, dlsym(RTLD_DEFAULT, "je_malloc") != NULL);
    return 0;
}
END
for flags in "-fPIE -pie" "-fPIE -pie -Wl,-z,now" "-fno-pie -no-pie"; do
    # shellcheck disable=SC2086
    gcc -O1 $flags -o probe probe.c -ldl
    hooked probe.heaptap --hook jemalloc --hook mimalloc --hook glib -- ./probe
    same "a program that asks for names ($flags)" "0 $(./probe)" "$status $(cat probe.heaptap.out)"
done

# --- Well-known allocators -----------------------------------------------------------------------

# Usable sizes of aligned blocks, which 4 threads allocate and free. Fails if one changes: mimalloc
# 2.2 and 3.0 change them, and then no recorder can know the size of a freed block.
cat >usable.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
size_t USABLE(void *);
enum { SLOTS = 4096 };
static pthread_mutex_t locks[SLOTS];
static struct { void *block; size_t usable; } slots[SLOTS];
static int changed;
static void *churn(void *seed)
{
    uint64_t x = (uintptr_t)seed;
    for (int i = 0; i < 400000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        unsigned k = x >> 32 & (SLOTS - 1);
        size_t align = (size_t)16 << (x >> 60);
        pthread_mutex_lock(&locks[k]);
        if (slots[k].block != NULL) {
            if (USABLE(slots[k].block) != slots[k].usable)
                __atomic_store_n(&changed, 1, __ATOMIC_RELAXED);
            free(slots[k].block);
            slots[k].block = NULL;
        } else if (align <= 4096) {
            slots[k].block = aligned_alloc(align, align * (1 + (x >> 50) % 8));
            slots[k].usable = USABLE(slots[k].block);
        }
        pthread_mutex_unlock(&locks[k]);
    }
    return NULL;
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < SLOTS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return changed;
}
END

# preset NAME LIBRARY PREFIX USABLE: run foreign.c and random_mt.c with the library's names instead
# of malloc's. USABLE is the name of its malloc_usable_size, without the prefix.
preset() {
    local name=$1 library=$2 prefix=$3 usable=$4
    {
        echo '#include <malloc.h>'
        echo '#include <stdlib.h>'
        for f in malloc calloc realloc free aligned_alloc memalign posix_memalign; do
            [ "$f" = aligned_alloc ] && [ "$prefix" = tc_ ] && continue
            case $f in
            free) echo "void ${prefix}free(void *);" ;;
            realloc) echo "void *${prefix}realloc(void *, size_t);" ;;
            posix_memalign) echo "int ${prefix}posix_memalign(void **, size_t, size_t);" ;;
            malloc) echo "void *${prefix}malloc(size_t);" ;;
            *) echo "void *${prefix}$f(size_t, size_t);" ;;
            esac
            echo "#define $f ${prefix}$f"
        done
        [ "$prefix" = tc_ ] && echo "#define aligned_alloc ${prefix}memalign"
    } >"$name.h"
    set -- -O2 -g -fno-builtin -fno-optimize-sibling-calls -D_GNU_SOURCE -DNO_USABLE_SIZE \
        -include "$name.h"
    if ! gcc "$@" -o "foreign_$name" "$SRCDIR/test/prog/foreign.c" "-l$library" \
        2>gcc.err; then
        echo "ok - $name # SKIP lib$library is not installed"
        return
    fi
    hooked "$name.heaptap" --hook "$name" -- "./foreign_$name"
    same "$name: exit status" 0 "$status"
    KNOWN_PREFIX="$name: "
    known "$name.heaptap" \
        "leaf:take allocations=1000 allocated_bytes=50500 frees=400 freed_bytes=8200" \
        "leaf:turn allocations=500 allocated_bytes=32000 frees=500 temporary=500" \
        "leaf:resize allocations=400 allocated_bytes=1002000 reallocations=200" \
        "leaf:resize live_blocks=200 live_bytes=1000000" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0 guessed_frames=0"
    if ! gcc "$@" -o "storm_$name" "$SRCDIR/test/prog/random_mt.c" "-l$library" -lpthread 2>gcc.err
    then
        failed "$name, 4 threads: built"
        sed 's/^/#   /' gcc.err
        return
    fi
    if ! gcc "$@" "-DUSABLE=${prefix}$usable" -o "usable_$name" usable.c "-l$library" -lpthread \
        2>gcc.err; then
        failed "$name, usable sizes: built"
        sed 's/^/#   /' gcc.err
        return
    fi
    if ! "./usable_$name"; then
        echo "ok - $name, 4 threads # SKIP this version changes usable sizes of live blocks"
        return
    fi
    hooked storm.heaptap --hook "$name" -- "./storm_$name" 11 4 20000
    KNOWN_PREFIX="$name, 4 threads: "
    known storm.heaptap "under:via $(sed -E 's/([a-z_]+) ([0-9]+)/\1=\2/g' storm.heaptap.out)" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0"
}

preset mimalloc mimalloc mi_ usable_size
preset tcmalloc tcmalloc_minimal tc_ malloc_size

# jemalloc exports malloc and, beside it, its own functions; either may free a block of the other.
cat >mallocx.c <<'END'
#include <stdlib.h>
void *mallocx(size_t, int);
void *rallocx(void *, size_t, int);
void dallocx(void *, int);
void sdallocx(void *, size_t, int);
__attribute__((noinline)) static void extended(void)
{
    for (int i = 0; i < 100; i++) {
        void *p = mallocx(24, 0);
        p = rallocx(p, 48, 0);
        if (i < 50)
            sdallocx(p, 48, 0);
        else if (i < 80)
            free(p);
    }
    __asm__ volatile("");
}
__attribute__((noinline)) static void usual(void)
{
    for (int i = 0; i < 100; i++)
        dallocx(malloc(8), 0);
    __asm__ volatile("");
}
__attribute__((noinline)) static void crossed(void)
{
    for (int i = 0; i < 5000; i++) {
        free(mallocx(40, 0));
        dallocx(malloc(40), 0);
    }
    __asm__ volatile("");
}
int main(void)
{
    extended();
    usual();
    crossed();
    return 0;
}
END
if gcc -O1 -g -fno-builtin -o mallocx mallocx.c -ljemalloc 2>gcc.err; then
    hooked mallocx.heaptap --hook jemalloc -- ./mallocx
    KNOWN_PREFIX="jemalloc: "
    known mallocx.heaptap "leaf:extended allocations=200 allocated_bytes=7200 reallocations=100" \
        "leaf:extended frees=180 live_blocks=20 live_bytes=960" \
        "leaf:usual allocations=100 allocated_bytes=800 frees=100 live_blocks=0" \
        "leaf:crossed allocations=10000 frees=10000" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0"
    hooked mallocx.heaptap --sample-count 10 --hook jemalloc -- ./mallocx
    KNOWN_PREFIX="jemalloc, sampled: "
    known mallocx.heaptap "leaf:crossed allocations=7000..13000 live_blocks=0" \
        "losses events=0 unknown_frees=0 overwritten_blocks=0"
else
    echo "ok - jemalloc # SKIP libjemalloc is not installed"
fi

# The allocator's malloc and free call hooked functions, also if the recorder's malloc comes first.
cat >libinside.c <<'END'
#include <string.h>
static _Alignas(16) char room[8 << 20];
static size_t used;
void *inside_get(size_t size)
{
    char *p = room + used;
    size_t whole = (size + 31) & ~(size_t)15;
    if (size > sizeof room || whole > sizeof room - used)
        return NULL;
    used += whole;
    *(size_t *)p = size;
    return p + 16;
}
void inside_put(void *p) { (void)p; }
void *malloc(size_t size) { return inside_get(size); }
void free(void *p) { inside_put(p); }
void *calloc(size_t count, size_t each) { return inside_get(count * each); }
void *realloc(void *p, size_t size)
{
    size_t old = p ? *(size_t *)((char *)p - 16) : 0;
    void *q = inside_get(size);
    return q && p ? memcpy(q, p, old < size ? old : size) : q;
}
END
cat >inside.c <<'END'
#include <stdlib.h>
void *inside_get(size_t);
void inside_put(void *);
__attribute__((noinline)) static void outside(void)
{
    for (int i = 0; i < 100; i++)
        free(malloc(40));
    __asm__ volatile("");
}
__attribute__((noinline)) static void directly(void)
{
    for (int i = 0; i < 10; i++)
        inside_put(inside_get(30));
    __asm__ volatile("");
}
int main(void)
{
    directly();
    outside();
    return 0;
}
END
gcc -O1 -g -fno-builtin -fPIC -shared -o libinside.so libinside.c
gcc -O1 -g -fno-builtin -o inside inside.c -L. -linside -Wl,-rpath,.
for how in "" --annotate; do
    # shellcheck disable=SC2086
    hooked inside.heaptap $how --hook inside_get=malloc --hook inside_put=free -- ./inside
    same "malloc made of hooked functions${how:+, $how}: status" 0 "$status"
    KNOWN_PREFIX="malloc made of hooked functions${how:+, $how}: "
    known inside.heaptap "leaf:outside allocations=100 allocated_bytes=4000 frees=100" \
        "leaf:directly allocations=10 allocated_bytes=300 frees=10" \
        "leaf:malloc sites=0" "losses events=0 unknown_frees=0 overwritten_blocks=0"
done

# --- Variables -----------------------------------------------------------------------------------

cat >libdata.c <<'END'
#include <string.h>
int data_count = 41;
const int data_constant = 5;
int *data_pointer = &data_count;
__thread int data_thread = 3;
__attribute__((weak)) int data_weak = 9;
int data_one = 1, data_two = 2;
__asm__(".symver data_one,data_versioned@DATA_1\n.symver data_two,data_versioned@@DATA_2");
int je_malloc = 6; // Has the name of a preset's function.
void *data_get(size_t size) { return strdup("") + 0 * size; }
int data_sum(void)
{
    return data_count + data_constant + *data_pointer + data_thread + data_weak + je_malloc;
}
END
cat >data.c <<'END'
#include <stddef.h>
#include <stdio.h>
extern int data_count, *data_pointer, data_weak, je_malloc;
extern const int data_constant;
void *data_get(size_t size);
int data_sum(void);
int main(void)
{
    data_get(5);
    data_count++;
    *data_pointer += data_weak++;
    printf("%d %d %d %d\n", data_count, data_constant, data_sum(), je_malloc);
    return data_pointer != &data_count;
}
END
echo 'DATA_1 {}; DATA_2 {};' >libdata.map
gcc -O1 -g -fPIC -shared -Wl,--version-script=libdata.map -o libdata.so libdata.c
for flags in "-fPIE -pie" "-fPIC -pie -Wl,-z,nocopyreloc" "-fno-pie -no-pie"; do
    # shellcheck disable=SC2086
    gcc -O1 -g $flags -o data data.c -L. -ldata -Wl,-rpath,.
    for name in data_count data_constant data_pointer data_thread data_weak data_versioned \
        stdout __environ stdin; do
        rm -f data.heaptap
        "$HEAPTAP" run -o data.heaptap --hook $name=malloc -- ./data >out 2>err
        same "hook of the variable $name ($flags): refused, and nothing was run" "2 no" \
            "$? $([ -e data.heaptap ] || echo no)$(cat out)"
        same "hook of the variable $name ($flags): one sentence says why" "1 1" \
            "$(wc -l <err) $(grep -cE "$name is (a variable in|no function of)" err)"
    done
    for name in data_count data_constant data_pointer data_weak; do
        hooked data.heaptap --hook $name=malloc --hook data_get=malloc -- sh -c ./data
        same "the variable $name in a program that is started ($flags)" "0 $(./data)" \
            "$status $(cat data.heaptap.out)"
        check "the variable $name in a program that is started ($flags): the loader is silent" \
            bash -c '! grep Symbol data.heaptap.err'
        KNOWN_PREFIX="hooked beside the variable $name ($flags): "
        known data.heaptap "leaf:main allocations=1 allocated_bytes=5"
    done
    hooked data.heaptap --hook jemalloc -- ./data
    same "a preset with the name of a variable ($flags)" "0 $(./data)" \
        "$status $(cat data.heaptap.out)"
done

cat >late.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_GLOBAL);
    int *count = library ? dlsym(library, "late_count") : NULL;
    int (*sum)(void) = library ? dlsym(library, "late_sum") : NULL;
    if (!sum)
        return printf("%s\n", dlerror());
    printf("%d %d %d\n", sum(), *count, dlsym(RTLD_DEFAULT, "late_count") == count);
    return 0;
}
END
cat >late_plugin.c <<'END'
int late_count = 7, *late_pointer = &late_count;
__attribute__((constructor)) static void begin(void) { late_count++; }
int late_sum(void) { return late_count + *late_pointer; }
END
gcc -O1 -g -o late late.c -ldl
gcc -O1 -g -fPIC -shared -o late.so late_plugin.c
hooked late.heaptap --hook late_count=malloc -- ./late ./late.so
same "a variable that a library brings later" "0 16 8 1" "$status $(cat late.heaptap.out)"

# --- Messages ------------------------------------------------------------------------------------

# says NAME PATTERN OPTIONS... [PROGRAM]: check stderr; on a usage error, the program does not run.
says() {
    local name=$1 pattern=$2
    shift 2
    hooked said.heaptap "$@"
    check "$name" grep -E -- "$pattern" said.heaptap.err
}
says "no such kind" "no kind of function 'maloc' \(did you mean malloc\?\)" \
    --hook x=maloc -- "$PROG/hooked"
same "no such kind: status" 2 "$status"
says "no such preset" "no preset 'jemaloc' \(did you mean jemalloc\?\)" \
    --hook jemaloc -- "$PROG/hooked"
says "no symbol" "'a b' is no symbol" --hook 'a b=malloc' -- "$PROG/hooked"
says "malloc needs no hook" "free is recorded without being hooked" \
    --hook free=free -- "$PROG/hooked"
says "an argument is missing" "an argument is missing" --hook jemalloc
says "a name that nobody has" "--hook no_such_name: never called by its dynamic name" \
    --hook no_such_name=malloc -- "$PROG/hooked"
says "a name that is hidden" "--hook take: it is inside .*, but no dynamic symbol" \
    --hook take=malloc -- "$PROG/hooked"
says "an idle preset" "--hook rpmalloc: its functions were never called by their" \
    --hook rpmalloc -- "$PROG/hooked"
hooked said.heaptap --quiet --hook no_such_name=malloc -- "$PROG/hooked"
same "quiet" "" "$(cat said.heaptap.err)"
hooked said.heaptap --hook own_malloc=malloc -- "$PROG/hooked"
check "no message about a hook that was called" bash -c '! grep -- "--hook" said.heaptap.err'
"$HEAPTAP" run --hook list >list.out 2>list.err
same "--hook list: status" 0 $?
check "--hook list shows kinds and presets" grep -E '^  jemalloc .*mallocx' list.out
check "--hook list shows the kinds" grep -E '\(block, size, …\) +realloc, rallocx' list.out

# The library of stubs is well-formed.
hooked stubs.heaptap "${own[@]}" -- sh -c 'p=${LD_PRELOAD%%:*}; cp "${p%.*}" stubs.so'
same "readelf has no objections" "" "$(readelf -aW stubs.so 2>&1 >/dev/null)"
same "its symbols" 9 "$(readelf -DsW stubs.so | grep -c 'FUNC *GLOBAL DEFAULT .* own_')"

# No file is left behind, in any directory.
mkdir -p tmp 'tmp with blanks'
TMPDIR=$PWD/tmp hooked tmp.heaptap "${own[@]}" -- sh -c 'ls "$TMPDIR"'
check "the library of stubs is in TMPDIR" grep heaptap-hooks tmp.heaptap.out
same "and is removed" "" "$(ls tmp)"
TMPDIR="$PWD/tmp with blanks" hooked tmp.heaptap "${own[@]}" -- "$PROG/hooked"
KNOWN_PREFIX="a TMPDIR that cannot be preloaded from: "
known tmp.heaptap "leaf:take allocations=1000"
# --- Names of other functions --------------------------------------------------------------------

for name in __libc_start_main main _start dlopen dl_iterate_phdr pthread_create _Unwind_Resume \
    __cxa_throw setjmp printf memcpy write heaptap_snapshot __tls_get_addr; do
    "$HEAPTAP" run --quiet -o impossible.heaptap --hook $name=malloc -- true >out 2>err
    same "hook of $name: refused" 2 $?
    check "hook of $name: gives the reason" grep -q "$name is no function of an allocator" err
done
# A function with five arguments that returns -1 instead of a block.
for name in mmap mmap64 mremap munmap brk sbrk shmat shmdt __mmap __munmap __sbrk; do
    "$HEAPTAP" run --quiet -o impossible.heaptap --hook $name=memalign -- true >out 2>err
    same "hook of $name: refused" 2 $?
    same "hook of $name: one sentence says why" "1 1" \
        "$(wc -l <err) $(grep -c "$name maps pages and fits no kind" err)"
done
check "and nothing was run" [ ! -e impossible.heaptap ]
for name in dlmalloc=malloc strdup=strdup __libc_malloc=malloc \
    __cxa_allocate_exception=malloc; do
    rm -f possible.heaptap
    "$HEAPTAP" run --quiet -o possible.heaptap --hook $name -- sh -c 'echo fine' >out 2>err
    same "hook of ${name%=*}: the program runs" "0 fine" "$? $(cat out)"
done
finish
