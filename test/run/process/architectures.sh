#!/usr/bin/env bash
# architectures.sh: children that cannot load the recorder: 32-bit ones, and those with musl as
# their C library. If it fails, recording a program adds lines to the stderr of such a child, or the
# child does not start.
. "$SRCDIR/test/run/lib.subr"
need gcc readelf

# --- The paths in LD_PRELOAD ---------------------------------------------------------------------

preload=$(dirname "$HEAPTAP")/preload
for name in x86_64 haswell xeon_phi; do
    check "$name: the recorder" test "$preload/$name/libheaptap.so" -ef "$LIBHEAPTAP"
done
for name in i386 i486 i586 i686; do
    same "$name: a library of 32 bits" "ELF32 DYN" "$(readelf -h "$preload/$name/libheaptap.so" |
        awk '/Class:/ { c = $2 } /Type:/ { print c, $2 }')"
done
same "readelf has no objections" "" "$(readelf -aW "$preload/i686/libheaptap.so" 2>&1 >/dev/null)"
record entry.heaptap sh -c 'echo "${LD_PRELOAD##*/preload/}"'
same "LD_PRELOAD" '$PLATFORM/libheaptap.so' "$(cat entry.heaptap.out)"

# An installation without that directory has only the recorder.
mkdir alone && cp "$HEAPTAP" "$LIBHEAPTAP" alone
HEAPTAP=$PWD/alone/heaptap record alone.heaptap sh -c 'echo "${LD_PRELOAD##*/}"'
same "without the directory" "0 libheaptap.so" "$status $(cat alone.heaptap.out)"
check "without the directory: recorded" test -s alone.heaptap

# --- 32 bits -------------------------------------------------------------------------------------

cat >small.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    void *volatile p = malloc(10);
    free(p);
    printf("%d bits\n", (int)sizeof p * 8);
    fflush(stdout);
    return argc > 2 ? system(argv[2]) : 0;
}
END
if gcc -m32 -o small32 small.c 2>/dev/null && [ "$(./small32)" = "32 bits" ]; then
    PATH=$PWD:$PATH "$PROG/exec_ways" "$PWD/small32" >bare.out 2>bare.err
    same "bare: status" 0 $?
    same "bare: 10 ways" 10 "$(grep -c '32 bits' bare.out)"
    PATH=$PWD:$PATH record ways.heaptap "$PROG/exec_ways" "$PWD/small32"
    same "each way to exec: status" 0 "$status"
    same "each way to exec: output" "$(cat bare.out)" "$(cat ways.heaptap.out)"
    same "each way to exec: stderr" "" "$(cat ways.heaptap.err)"

    printf '#!%s\n' "$PWD/small32" >script && chmod +x script
    ./script >bare.out 2>bare.err
    record script.heaptap sh -c "./script; :"
    same "a script with an interpreter of 32 bits: stderr" "$(cat bare.err)" \
        "$(cat script.heaptap.err)"

    mkdir tmp
    PATH=$PWD:$PATH TMPDIR=$PWD/tmp "$HEAPTAP" run --quiet -o hooked.heaptap \
        --hook own_malloc=malloc -- "$PROG/exec_ways" "$PWD/small32" >hooked.out 2>hooked.err
    same "--hook: status" 0 $?
    same "--hook: output" "$(cat ways.heaptap.out)" "$(cat hooked.out)"
    same "--hook: stderr" "" "$(cat hooked.err)"
    same "--hook: no file is left" "" "$(ls tmp)"
    check "--hook: recorded" test -s hooked.heaptap

    "$HEAPTAP" run --quiet -o adapters.heaptap --force --language lua --language python -- \
        sh -c './small32; :' >out 2>err
    same "adapters: stderr" "32 bits " "$(cat out) $(cat err)"

    mkdir grand
    "$HEAPTAP" run --quiet -o grand/ -- sh -c "./small32 run '\"$PROG/exec_ways\" /bin/true'; :" \
        >out 2>err
    same "a child of a child of 32 bits: stderr" "" "$(cat err)"
    same "a child of a child of 32 bits is recorded" 1 "$(ls grand | grep -c '\.exec_ways\.')"

    "$HEAPTAP" run -o own.heaptap -- ./small32 >out 2>err
    same "a program of 32 bits itself: status" 3 $?
    same "a program of 32 bits itself: one sentence" 1 \
        "$(grep -c 'cannot be recorded: it is built for another architecture' err)"
    same "a program of 32 bits itself: nothing else" 1 "$(wc -l <err)"

    gcc -m32 -O1 -fno-builtin -o swollen32 "$SRCDIR/test/prog/swollen.c" &&
        "$HEAPTAP" run -o swollen.heaptap -- sh -c './swollen32 malloc; :' >out 2>err
    check "a large child of 32 bits: noted" grep -q 'memory of .*swollen32 was not recorded' err
    check "a large child of 32 bits: the reason" \
        grep -q 'swollen32 cannot be recorded: it is built for another architecture' err
else
    echo "ok - children of 32 bits # SKIP gcc -m32 makes no program that runs (libc6-dev-i386)"
fi

# --- musl ----------------------------------------------------------------------------------------

if command -v musl-gcc >/dev/null && musl-gcc -o small_musl small.c && ./small_musl >/dev/null; then
    record musl.heaptap sh -c './small_musl; :'
    same "a child with musl: runs as alone" "0 64 bits " \
        "$status $(cat musl.heaptap.out) $(cat musl.heaptap.err)"
else
    echo "ok - a child with musl # SKIP needs musl-gcc"
fi
finish
