#!/usr/bin/env bash
# frees.sh: frees that end no live block. If it fails, a double free or a foreign free is not
# counted, is confused with the other, shown with the wrong stack, or not passed on to the
# allocator.
. "$SRCDIR/test/run/lib.subr"
need python3

# An allocator that ignores such frees shows them all.
LD_PRELOAD=$PROG/libbump.so record all.heaptap "$PROG/bad_frees" all
same "the program runs to its end" "0 3" "$status $(cat all.heaptap.out)"
KNOWN_PREFIX="parent: "
known all.heaptap "free:twice,again,make count=10" "free:foreign,outside, count=7" \
    "free:twice,move,make count=1" "under:make allocations=16 frees=11 live_blocks=5" \
    "losses events=0 unknown_frees=18 double_frees=11 inherited_frees=0 overwritten_blocks=0"
KNOWN_PREFIX="child: "
known "$(ls all.processes/heaptap.bad_frees.*.heaptap)" "free:inherited,inherit, count=5" \
    "free:twice,again,make count=10" "under:make allocations=10 frees=10" \
    "losses events=0 unknown_frees=10 double_frees=10 inherited_frees=5"
check "the report names the freeing and the allocating function" python3 - "$HEAPTAP" <<'EOP'
import subprocess, sys
text = subprocess.run([sys.argv[1], "report", "--full", "all.heaptap"], capture_output=True,
                      text=True).stdout
section = text.split("Frees without a live block")[1].split("\n#1")[0]
at = [section.index(word) for word in ("10 frees", "again", "had been allocated by", "make",
                                       "7 frees", "outside")]
assert at == sorted(at), section
EOP

# glibc ends the program at the first such free, bare and recorded alike, and the profile has the
# reason.
for mode in twice foreign moved; do
    bash -c '"$@"; exit $?' - "$PROG/bad_frees" $mode >bare.out 2>bare.err
    bare=$?
    record $mode.heaptap "$PROG/bad_frees" $mode
    same "$mode on glibc: exit status" "$bare" "$status"
    check "$mode on glibc: the allocator's own message" \
        diff <(grep -v Aborted bare.err) <(grep -v Aborted $mode.heaptap.err)
    KNOWN_PREFIX="$mode on glibc: "
    case $mode in
    twice) known $mode.heaptap "free:twice,again,make count=1" "losses unknown_frees=1" ;;
    foreign) known $mode.heaptap "free:foreign,outside, count=1" "losses unknown_frees=1" ;;
    moved) known $mode.heaptap "free:twice,move,make count=1" "losses unknown_frees=1" ;;
    esac
done
# The program overwrites the size in front of a block. If this fails, exabytes are freed.
cat >resized.c <<'C'
#include <malloc.h>
#include <string.h>
int main(void)
{
    char *volatile a = malloc(100), *volatile b = malloc(200);
    memset(a, 0x5a, malloc_usable_size(a) + 8);
    free(b);
    free(a);
    return 0;
}
C
gcc -w -o resized resized.c
record resized.heaptap ./resized
KNOWN_PREFIX="an overwritten size: "
known resized.heaptap \
    "total allocations=2 allocated_bytes=300 frees=1 freed_bytes=200" "total live_blocks=1" \
    "losses lost_sizes=1 events=0"
finish
