#!/usr/bin/env bash
# environment.sh: check that the settings of a run reach the recorder when libc does not provide
# them: before libc is initialised, and after the program has cleared its environment. If it fails,
# the profile is not where -o says, or options of the run are ignored. linked.sh tests the same for
# a linked recorder.
. "$SRCDIR/test/run/lib.subr"
need python3 readelf

# one NAME FILE SPEC...: check that FILE is the only profile in this directory and beside it, and
# matches SPEC.
one() {
    local name=$1 file=$2
    shift 2
    same "$name: at the requested place, and no other" "$file" "$(ls ./*.heaptap | sed 's|^./||')"
    KNOWN_PREFIX="$name: " known "$file" "$@" "losses events=0 unknown_frees=0"
}

# With an auditor, the dynamic linker allocates before libc is initialised.
mkdir audited && cd audited || exit 1
LD_AUDIT=$PROG/libauditor.so LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=audited.heaptap \
    HEAPTAP_FRAMES=1 "$PROG/cleared"
same "audited: exit status" 0 $?
one audited audited.heaptap "leaf:work allocations=100 allocated_bytes=2000" \
    "under:main allocations=0"
cd ..

# If a loader is started by hand, it shifts the program's arguments. Functions have no names then.
loader=$(readelf -l "$PROG/cleared" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
mkdir by_hand && cd by_hand || exit 1
HEAPTAP_OUT=by_hand.heaptap "$loader" --audit "$PROG/libauditor.so" --preload "$LIBHEAPTAP" \
    "$PROG/cleared"
same "loader by hand: exit status" 0 $?
one "loader by hand" by_hand.heaptap "total allocations>=100 allocated_bytes>=2000"
cd ..

for when in early late; do
    mkdir $when && cd $when || exit 1
    record $when.heaptap "$PROG/cleared" $when
    same "cleared $when: exit status" 0 "$status"
    one "cleared $when" $when.heaptap "under:work allocations=100 allocated_bytes=2000" \
        "under:child allocations=0"
    mv $when.processes/*.heaptap child
    same "cleared $when: one child" "" "$(ls $when.processes)"
    KNOWN_PREFIX="cleared $when, child: " known child \
        "under:child allocations=50 allocated_bytes=1000" "under:work allocations=0"
    cd ..
done
finish
