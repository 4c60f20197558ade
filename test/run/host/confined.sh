#!/usr/bin/env bash
# confined.sh: programs that lock their memory without the right to lock much, limit their address
# space, or change their root. If it fails, their behaviour differs from a bare run, or
# docs/internals/failures.md is wrong about their recordings.
. "$SRCDIR/test/run/lib.subr"
need python3

# confined NAME STATUS MESSAGES COMMAND...: check that output and status match the bare run.
confined() {
    local name=$1 wanted=$2 messages=$3
    shift 3
    rm -f confined*.heaptap
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/confined.heaptap "$@" >out 2>err
    same "$name: exit status" "$wanted" $?
    same "$name: output" done "$(cat out)"
    same "$name: messages" "$messages of $messages" \
        "$(grep -c '^heaptap: not recording: ' err) of $(wc -l <err)"
}

# Locked memory counts against the limit, also for the bare program.
for kib in 300 8000; do
    "$PROG/locked" $((kib << 10)) late >out 2>err
    status=$?
    if [ $status != 8 ]; then
        echo "ok - $kib KiB may be locked # SKIP not even the bare program can: status $status"
        continue
    fi
    confined "$kib KiB may be locked, after the first event" 8 0 \
        "$PROG/locked" $((kib << 10)) late
    KNOWN_PREFIX="$kib KiB: " known confined.heaptap "under:descend allocations=16384 frees=16384" \
        "losses events=0 unknown_frees=0"
    confined "$kib KiB may be locked, before it" 8 1 "$PROG/locked" $((kib << 10)) early
    check "$kib KiB may be locked, before it: no profile" [ ! -e confined.heaptap ]
done

# The recorder's reservations must not use up a limit that the program sets itself.
for how in setrlimit setrlimit64 prlimit prlimit64 vfork; do
    confined "512 MiB of address space, by $how" 7 0 "$PROG/limits_itself" $how 512
    KNOWN_PREFIX="$how: " known confined.heaptap "leaf:main allocations>=65 frees=1" \
        "leaf:descend allocations=1 frees=1" "losses events=0 unknown_frees=0"
done
for _ in 1 2 3; do
    confined "8 GiB, while threads allocate" 7 0 "$PROG/limits_itself" threads 8192
    KNOWN_PREFIX="threads: " known confined.heaptap "losses events=0 unknown_frees=0"
done

mkdir empty
"$PROG/chrooted" empty early >out 2>err
if [ $? = 77 ]; then
    echo "ok - another root # SKIP not allowed to"
else
    confined "another root, before the first event" 4 1 "$PROG/chrooted" empty early
    check "another root, before the first event: nothing is left there" [ -z "$(ls empty)" ]
    check "another root, before the first event: no profile" [ ! -e confined.heaptap ]
    confined "another root, after it" 4 0 "$PROG/chrooted" empty late
    KNOWN_PREFIX="another root, after it: " known confined.heaptap \
        "under:work allocations=2000 frees=2000" "losses events=0 unknown_frees=0"
fi
finish
