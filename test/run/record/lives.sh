#!/usr/bin/env bash
# lives.sh: the lives of blocks, for programs that determine the life of every block. They run with
# glibc's size word in front of a block, and with an unknown allocator, which needs another ledger.
# If it fails, "died within 16 allocations" is wrong: churn is overlooked, or long-lived blocks are
# counted as churn.
. "$SRCDIR/test/run/lib.subr"
need python3

# lives WHERE BLOCKS BEFORE_1 WITHIN_16 WITHIN_256: print the check of a function's numbers
lives() {
    echo "$1 allocations=$2 temporary=$3 died_within_16=$4 died_within_256=$5"
}

all() {
    lives under:lifo 100 100 100 100
    lives under:nested 100 50 100 100
    lives under:queue_1 1000 0 999 999
    lives under:queue_15 1000 0 985 985
    lives under:queue_16 1000 0 0 984
    lives under:queue_17 1000 0 0 983
    lives under:queue_255 1000 0 0 745
    lives under:queue_256 1000 0 0 0
    lives under:queue_257 1000 0 0 0
    for kind in by_{calloc,realloc,{,posix_}memalign,aligned_alloc,new{,_array,_aligned},valloc} \
        of_{nothing,a_mebibyte,pages}; do
        lives under:$kind 50 0 47 47
    done
    lives under:grown 400 100 100 100
    lives under:moved_on 100 0 0 0
    lives under:moves 100 0 0 0
    lives under:given_away 100 0 0 0
    lives under:inherited 10 0 0 0
    lives leaf:handled 100 100 100 100
    lives leaf:around 100 0 100 100
    echo "losses events=0 unknown_frees=0 overwritten_blocks=0"
}
mapfile -t checks < <(all)

for allocator in glibc any none; do
    HEAPTAP_ALLOCATOR=$allocator record $allocator.heaptap "$PROG/lives"
    same "$allocator: exit status" 0 "$status"
    KNOWN_PREFIX="$allocator: " known $allocator.heaptap "${checks[@]}"
done

"$HEAPTAP" pack -o packed.heaptap glibc.heaptap
KNOWN_PREFIX="packed: " known packed.heaptap "${checks[@]}"

mkdir forked
"$HEAPTAP" run --quiet -o forked/ -- "$PROG/lives" fork
for file in forked/*.heaptap; do
    report_json "$file" | grep -q '"forked": true' && mv "$file" child.heaptap
done
KNOWN_PREFIX="in a child: " known child.heaptap \
    "under:child allocations=20 temporary=0 died_within_16=19 died_within_256=19" \
    "total allocations=20 died_within_256=19" "losses events=0 inherited_frees=10"

# A sample has no count of the events in between.
"$HEAPTAP" run --quiet --sample 1k -o sampled.heaptap -- "$PROG/lives"
report_json sampled.heaptap >sampled.json
check "a sample does not know how long blocks lived" \
    grep -q '"died_within_16": null' sampled.json
finish
