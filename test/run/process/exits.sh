#!/usr/bin/env bash
# exits.sh: end processes in every way. If it fails, a profile depends on how a process ends, or
# `heaptap run` does not end like the program.
. "$SRCDIR/test/run/lib.subr"
need python3

for mode in return exit _exit quick_exit pthread_exit abort segv term kill exec; do
    bash -c '"$@"; exit $?' - "$PROG/exits" $mode >/dev/null 2>&1
    bare=$?
    record $mode.heaptap "$PROG/exits" $mode
    same "$mode: exit status" "$bare" "$status"
    # On return, the C library may free its blocks; on exec, the image is another one.
    KNOWN_PREFIX="$mode: "
    known $mode.heaptap "leaf:take allocations=200000 allocated_bytes=4800000" \
        "leaf:take frees=100000 freed_bytes=2400000" \
        "losses events=0 unknown_frees=0"
done

# returncode COMMAND...: print the status that the parent gets, which a shell would hide.
returncode() {
    python3 -c 'import subprocess, sys
print(subprocess.run(sys.argv[1:]).returncode)' "$@" 2>/dev/null
}

# A signal that ends the program also ends `heaptap run`: it dies by the signal, instead of exiting
# with 128 + n.
for mode in abort segv term kill; do
    bare=$(returncode "$PROG/exits" $mode)
    run=$(returncode "$HEAPTAP" run --quiet -o signal.$mode.heaptap -- "$PROG/exits" $mode)
    same "$mode: the signal itself" "$bare" "$run"
done

# A signal to `heaptap run` reaches the program.
"$HEAPTAP" run --quiet -o sleep.heaptap -- sh -c 'echo ready; exec sleep 60' >ready &
pid=$!
for _ in $(seq 100); do
    grep -q ready ready && break
    sleep 0.1
done
kill -TERM $pid
wait $pid 2>/dev/null
same "a signal sent to heaptap is passed on" 143 $?
finish
