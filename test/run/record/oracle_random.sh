#!/usr/bin/env bash
# oracle_random.sh: random programs under heaptap and the oracle at once. If it fails, some counter
# of some stack, or the comparison, is wrong. Seeds are fixed, so a failure repeats (with one thread
# exactly).
#
# The runs cover both unwinders, and both sources of a block's size: usually glibc's size word,
# otherwise the next allocator's malloc_usable_size.
. "$SRCDIR/test/run/lib.subr"
need python3
need_oracle

# Compare the program's own statistics with the profile.
own_books() {
    local fields
    fields=$(sed -E 's/([a-z_]+) ([0-9]+)/\1=\2/g' "$1/out")
    KNOWN_PREFIX="$2, its own books: "
    if [ "$3" = 1 ]; then
        known "$1/p.heaptap" "total $fields"
    else
        known "$1/p.heaptap" "under:via $fields" \
            "losses events=0 unknown_frees=0 overwritten_blocks=0"
    fi
}

try() {
    local name="seed $1, $2 threads, $3 operations, $4, $5"
    export HEAPTAP_ALLOCATOR=$4 ORACLE_UNWINDER=$5
    both run "$PROG/random_mt" "$1" "$2" "$3"
    same "$name: exit status" 0 "$status"
    if [ "$2" = 1 ]; then
        compare_all "$name" run
    else
        compare_all "$name" run --threads
    fi
    own_books run "$name" "$2"
}

try 1 1 30000 glibc libunwind
try 2 1 30000 any libunwind
try 3 1 30000 glibc libgcc
try 4 2 8000 glibc libunwind
try 5 4 5000 any libgcc
try 6 16 1500 glibc libgcc
try 7 48 300 glibc libunwind

# Programs with numbers known by construction are compared as well.
programs="article families newdelete peak_holders callbacks frames handlers longjmp exceptions
    coroutine dlclose forks"
for unwinder in libunwind libgcc; do
    export ORACLE_UNWINDER=$unwinder HEAPTAP_ALLOCATOR=glibc
    for program in $programs; do
        both run "$PROG/$program"
        compare_all "$program, $unwinder" run
    done
done
both run "$PROG/deep" 100 511 513 2000 100 700 3 1500 1020
compare_all "deep, stacks beyond the limit" run --marked=40 # 9 of 27 stacks are marked.
both run "$PROG/threads"
compare_all "threads" run --threads
both run "$PROG/temporary"
compare_all "temporary" run --threads

# Check that the comparison can fail.
both run "$PROG/random_mt" 1 1 2000
both other "$PROG/random_mt" 2 1 2000
if "$compare" run/p.heaptap other/o.* >/dev/null; then
    failed "the comparison distinguishes two runs"
else
    passed "the comparison distinguishes two runs"
fi
finish
