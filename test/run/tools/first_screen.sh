#!/usr/bin/env bash
# first_screen.sh: the rows of the report's first screen, which add up all lines of a function. If
# it fails, the memory of a whole function is attributed to one line, and a reader changes the wrong
# line.
. "$SRCDIR/test/run/lib.subr"

cat >lines.c <<'END'
#include <stdlib.h>
void *volatile kept[8];
__attribute__((noinline)) static void *give(size_t size) {
    void *p = malloc(size); __asm__ volatile("" ::: "memory"); return p; }
__attribute__((noinline)) static void several(void) {
    kept[0] = malloc(1 << 20);
    kept[1] = malloc(2 << 20);
    kept[2] = malloc(3 << 20);
    free(malloc(100)); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) static void one(int n) {
    kept[n] = malloc(1 << 20); __asm__ volatile("" ::: "memory"); }
int main(void) { several(); one(3); one(4); kept[5] = give(1 << 20); return 0; }
END
cc -g -O1 -o lines lines.c
record lines.heaptap ./lines

row() { # FUNCTION: print the row of FUNCTION, without the directory
    "$HEAPTAP" report --wide lines.heaptap | sed 's|/[^ ]*/||; s/  */ /g' | grep -F " $1 "
}
same "a row of three lines shows the largest and counts two" \
    " 6.0 MiB 66.7 % several lines.c:8 and 2 more lines" "$(row several)"
same "a row of one line and two calls shows it" \
    " 2.0 MiB 22.2 % one lines.c:11" "$(row one)"

for columns in 80 60; do
    COLUMNS=$columns "$HEAPTAP" report lines.heaptap >screen
    check "$columns columns: the row counts its lines" \
        grep -Eq 'several .*(and 2 more lines|\+2)$' screen
    check "$columns columns: no row is wider" test "$(wc -L <screen)" -le "$columns"
done

check "run names the largest line and counts two" bash -c '
    "$1" run -o again.heaptap -- ./lines 2>&1 |
        grep -F "held by several (lines.c:8 and 2 more lines): 6.0 MiB"' - "$HEAPTAP"

# Static constructors of libraries: the row names the library, and not functions of the loader.
cat >constructor.cc <<'END'
#include <cstdlib>
void *volatile block = malloc(1 << 20);
int use() { return block == nullptr; }
END
echo 'int use(); int main() { return use(); }' >constructed.cc
c++ -g -O1 -shared -fPIC -o libmade.so constructor.cc
c++ -g -O1 -o constructed constructed.cc ./libmade.so
record constructed.heaptap ./constructed
"$HEAPTAP" report --wide constructed.heaptap >screen
check "a constructor's row names its library" \
    grep -Eq '(_GLOBAL__sub_I|__static_init).* in libmade\.so' screen
check "a constructor's callers end in the loader" grep -Eq 'from .*the loader$' screen
same "the loader's functions are in no row" "" "$(grep -E '_dl_init|call_init' screen)"

# Blocks that a library allocates: a row names its function, and states if only some blocks come
# through it.
cat >through.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *volatile kept[8];
__attribute__((noinline)) static void opens(void) {
    kept[0] = fopen("/dev/null", "r"); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) static void mixes(void) {
    kept[1] = fopen("/dev/null", "r");
    kept[2] = malloc(50);
    __asm__ volatile("" ::: "memory"); }
int main(void) { opens(); mixes(); return 0; }
END
cc -g -O1 -o through through.c
record through.heaptap ./through
"$HEAPTAP" report --wide through.heaptap >screen
check "a row names the function that all its stacks call" \
    grep -Eq 'opens .*through.c:6, by .*fopen' screen
check "a row marks a function that only most of its stacks call" \
    grep -Eq 'mixes .*through.c:8 .*, mostly by .*fopen' screen

# Blocks of containers: a row names the program's function, the line below it the container, with
# and without inlining.
cat >containers.cc <<'END'
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <vector>
template <class T> struct Pool {
    using value_type = T;
    Pool() = default;
    template <class U> Pool(const Pool<U> &) {}
    __attribute__((noinline)) T *allocate(std::size_t n) {
        T *p = static_cast<T *>(std::malloc(n * sizeof(T))); __asm__ volatile(""); return p; }
    void deallocate(T *p, std::size_t) { std::free(p); }
    bool operator==(const Pool &) const { return true; }
    bool operator!=(const Pool &) const { return false; }
};
static std::vector<long> *numbers;
static std::multimap<int, long, std::less<int>, Pool<std::pair<const int, long>>> *pooled;
__attribute__((noinline)) static void append() {
    numbers = new std::vector<long>;
    for (long i = 0; i < 3000; i++) numbers->push_back(i);
    __asm__ volatile(""); }
__attribute__((noinline)) static void insert() {
    pooled = new std::multimap<int, long, std::less<int>, Pool<std::pair<const int, long>>>;
    for (int i = 0; i < 300; i++) pooled->emplace(i, i);
    __asm__ volatile(""); }
__attribute__((noinline)) static void fill() {
    auto *words = new std::vector<double>;
    auto *index = new std::map<int, double>;
    for (int i = 0; i < 200; i++) {
        words->push_back(i);
        (*index)[i] = i;
    }
    __asm__ volatile(""); }
int main() { append(); insert(); fill(); return 0; }
END
for level in 0 2; do
    g++ -g -O$level -o containers containers.cc
    record containers.heaptap ./containers
    "$HEAPTAP" report --wide containers.heaptap >screen
    check "-O$level: a vector is named below the function that fills it" \
        sh -c 'grep -A1 " append " screen | grep -q "    via vector::push_back, from main$"'
    check "-O$level: a map is named below the program's allocator" \
        sh -c 'grep -A1 "Pool<.*>::allocate " screen |
            grep -q "    via multimap::emplace, from insert ← main$"'
    check "-O$level: two containers are named below the function that fills both" \
        sh -c 'grep -A1 " fill " screen |
            grep -q "    via map::operator\[\] and vector::push_back, from main$"'
    check "-O$level: no caller is in std" sh -c '! grep -q "← std::\|from std::" screen'
done

# Stacks that --frames truncates beyond their beginning give the same paths.
cat >deep.c <<'END'
#include <stdlib.h>
void *volatile kept[8];
#define NEXT(f, call) __attribute__((noinline)) static void f(int n) { call; __asm__(""); }
NEXT(inner, kept[n] = malloc(100))
NEXT(middle, inner(n))
NEXT(outer, middle(n))
NEXT(beyond, outer(n))
int main(void) { inner(0); middle(1); outer(2); beyond(3); return 0; }
END
cc -g -O1 -o deep deep.c
paths() { "$HEAPTAP" leaks --paths --wide "$1" | grep -o '|| > .*'; }
record whole.heaptap ./deep
"$HEAPTAP" run --quiet --frames 5 -o five.heaptap -- ./deep
"$HEAPTAP" run --quiet --frames 3 -o three.heaptap -- ./deep
same "--frames 5 gives the same paths" "$(paths whole.heaptap)" "$(paths five.heaptap)"
same "--frames 3 marks those that it cuts" \
    "|| > ... > outer > middle > inner" "$(paths three.heaptap | grep '\.\.\.')"
check "leaks states the number of frames" \
    bash -c '"$1" leaks --paths three.heaptap | grep -qx "stacks are cut to 3 innermost frames"' \
    - "$HEAPTAP"
# A nameless function is shown by its file, whose name may have parentheses.
cat >paren.c <<'END'
#include <stdlib.h>
int main(void) { return !malloc(100); }
END
gcc -O1 -fno-builtin -s -o 'prog (1)' paren.c
record paren.heaptap './prog (1)'
check "a file's name with parentheses is whole" \
    sh -c '"$1" report paren.heaptap 2>/dev/null | grep -q " prog (1)+0x"' - "$HEAPTAP"

# In a stripped program, the callers of two rows differ only further out. The report begins with the
# remedy.
cat >bare.c <<'END'
#include <stdlib.h>
void *volatile kept[8];
#define NEXT(f, call) __attribute__((noinline)) static void f(int n) { call; __asm__(""); }
NEXT(takes, kept[n] = malloc(n ? 2000 : 1000))
NEXT(leads, takes(n))
NEXT(one, leads(n))
NEXT(two, leads(n))
int main(void) { one(0); two(1); return 0; }
END
gcc -O1 -fno-builtin -s -o bare bare.c
record bare.heaptap ./bare
"$HEAPTAP" report bare.heaptap >bare.txt 2>&1
check "the callers of a nameless function are listed, the file once" \
    grep -Eq 'from \+0x[0-9a-f]+… ← \+0x[0-9a-f]+…' bare.txt
check "no ellipsis hides callers if none has a name" sh -c '! grep -q "← …" bare.txt'
check "the hint on names is above the report" \
    grep -q "^hint: .*bare is stripped" <(head -1 bare.txt)

# A library whose functions are in no row has no hint, however much it allocated.
cat >gone.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void churn(void) { free(malloc(1 << 20)); __asm__(""); }
void gone(void) { for (int i = 0; i < 50; i++) churn(); }
END
cat >kept.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void *take(void) { void *p = malloc(9000); __asm__(""); return p; }
__attribute__((noinline)) static void *keep(void) { void *p = take(); __asm__(""); return p; }
void *kept(void) { void *p = keep(); __asm__(""); return p; }
END
for name in gone kept; do
    gcc -O1 -fno-builtin -s -shared -fPIC -o lib$name-of-a-long-name-that-leaves-no-room.so $name.c
done
cat >both.c <<'END'
#include <stdlib.h>
void gone(void), *kept(void);
void *volatile all[2];
int main(void) { gone(); all[0] = kept(); all[1] = malloc(3 << 20); return 0; }
END
gcc -O1 -g -fno-builtin -o both both.c ./libgone*.so ./libkept*.so
record both.heaptap ./both
"$HEAPTAP" report both.heaptap 2>hints >screen
check "a module without a row has no hint" test ! -s hints
"$HEAPTAP" report --filter kept both.heaptap 2>hints >screen
check "a module with a row has a hint" grep -q "^hint: .*libkept" hints
finish
