#!/usr/bin/env bash
# same_names.sh: functions of equal name in different files: static ones of C and C++, and those of
# scripts. Every view must sum them separately, and name each one's file. If it fails, a view adds
# up unrelated functions, or charges one function's memory to the file of another.
. "$SRCDIR/test/run/lib.subr"
need cc c++ python3

# The static functions of m1.c and m2.c are two, the one of common.h is one, and so is `both`, whose
# code is in two files.
cat >common.h <<'END'
#include <stdlib.h>
extern void *volatile kept[16];
__attribute__((noinline)) static void shared(int i) { kept[i] = malloc(5000000); }
END
cat >m1.c <<'END'
#include "common.h"
__attribute__((noinline)) static void fill(int i) { kept[i] = malloc(1000000); }
void go1(void) { fill(1); shared(2); }
END
cat >m2.c <<'END'
#include "common.h"
__attribute__((noinline)) static void fill(int i) { kept[i] = malloc(2000000); }
void go2(void) { fill(3); shared(4); }
END
cat >body.h <<'END'
    kept[5] = malloc(300000);
END
cat >main.c <<'END'
#include "common.h"
void *volatile kept[16];
void go1(void), go2(void), go3(void), go4(void);
__attribute__((noinline)) void both(void)
{
#include "body.h"
    kept[6] = malloc(400000);
}
int main(void) { go1(); go2(); both(); go3(); go4(); return 0; }
END
for i in 3 4; do
    cat >m$i.cc <<END
#include <cstdlib>
extern "C" void *volatile kept[16];
namespace {
struct store { __attribute__((noinline)) void put(int i) { kept[i] = malloc(${i}0000000); } };
}
extern "C" void go$i() { store s; s.put(4 + $i); }
END
    c++ -g -O0 -c m$i.cc
done
cc -g -O0 -c main.c m1.c m2.c
c++ -o app main.o m1.o m2.o m3.o m4.o
record c.heaptap ./app
"$HEAPTAP" run --quiet --fail-on leaks=1 -o judged.heaptap -- ./app 2>judged.err
check "a gate names one function, and the file" grep -qF "(m4.cc): 38.1 MiB" judged.err
echo 'void *malloc(unsigned long); void *volatile kept; int main(void) { kept = malloc(1); }' >one.c
cc -w -o one one.c
record one.heaptap ./one
COLUMNS=80 "$HEAPTAP" diff --by function one.heaptap c.heaptap >diff.txt 2>diff.err
same "diff: functions of one name have files" "fill  m1.c,fill  m2.c" \
    "$(grep -oE 'fill +m[0-9].*' diff.txt | sort | paste -sd,)"
same "diff: one that is alone has none" "shared" "$(grep -oE 'shared.*' diff.txt)"
same "diff: in 80 columns" "" "$(sed 1,2d diff.txt | grep -E '.{81}')"
"$HEAPTAP" merge -o merged.heaptap c.heaptap >/dev/null 2>&1

for i in 1 3; do
    printf 'kept = []\ndef fill(n):\n    kept.append(bytearray(n))\nfill(%d000000)\n' $i >p$i.py
    printf 'local kept = {}\nlocal function fill(n) kept[1] = ("x"):rep(n) end\nfill(%d000000)\n' \
        $i >l$i.lua
done
echo 'import p1, p3' >main.py
echo 'dofile("l1.lua") dofile("l3.lua")' >main.lua
export HEAPTAP
for profile in c merged; do
    check "$profile" run_python "$area/same_names.py" $profile.heaptap
done
for host in "python3 main.py" "lua5.4 main.lua"; do
    if command -v "${host% *}" >/dev/null; then
        record "${host% *}.heaptap" $host
        check "$host" run_python "$area/same_names.py" "${host% *}.heaptap"
    else
        echo "ok - $host # SKIP ${host% *} is not installed"
    fi
done
finish
