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
    case $mode in
    pthread_exit | exec) continue ;; # The end is that of another image or thread.
    abort) end='killed None 6 SIGABRT' said='killed by SIGABRT' ;;
    segv) end='killed None 11 SIGSEGV' said='killed by SIGSEGV' ;;
    term) end='killed None 15 SIGTERM' said='killed by SIGTERM' ;;
    kill) end='killed None 9 SIGKILL' said='killed by SIGKILL' ;;
    *) end="exited $bare None None" said='' ;;
    esac
    same "$mode: the end in JSON" "$end" "$("$HEAPTAP" report --json $mode.heaptap |
        python3 -c 'import json, sys
end = json.load(sys.stdin)["process"]["end"]
print(*[end.get(key) for key in ("how", "status", "signal", "name")])')"
    same "$mode: the end in the report" "$said" \
        "$("$HEAPTAP" report $mode.heaptap | sed -n '2s/.*\(killed[^·]*[^· ]\) ·.*/\1/p')"
    case $mode in
    abort | segv) next=1 ;;
    *) next=0 ;;
    esac
    same "$mode: the report suggests heaptap core" $next \
        "$("$HEAPTAP" report $mode.heaptap | grep -c '^More: .*; core CORE')"
done

# An abort of malloc comes from a block that was damaged before.
for run in "abort:1" "segv:0" "abort --annotate:0"; do
    read -r mode option <<<"${run%:*}"
    "$HEAPTAP" run --force ${option:+"$option"} -o hint.heaptap -- "$PROG/exits" "$mode" \
        >hint.out 2>hint.err
    same "$run: the summary suggests --annotate" "${run#*:}" \
        "$(grep -c '^hint: if malloc or free aborted, heaptap run --annotate shows' hint.err)"
done

# The kernel kills a program whose control group has no memory left.
group=
for file in /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/cgroup.subtree_control; do
    root=$(dirname $file)/heaptap-test-$$
    if [ -w $file ] && mkdir "$root" 2>/dev/null; then
        for limit in memory.limit_in_bytes memory.max; do
            { echo 62914560 >"$root/$limit"; } 2>/dev/null && group=$root
        done
        [ -n "$group" ] && break
        rmdir "$root"
    fi
done
if [ -z "$group" ]; then
    echo "ok - out of memory # SKIP no control group can be made"
else
    cat >eat.c <<'END'
#include <stdlib.h>
#include <string.h>
int main(void)
{
    for (int i = 0; i < 4096; i++)
        memset(malloc(1 << 20), 1, 1 << 20);
    return 0;
}
END
    gcc -g -O1 -fno-builtin -o eat eat.c
    bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$group" \
        "$HEAPTAP" run -o eat.heaptap -- ./eat >out 2>err
    same "out of memory: exit status" 137 $?
    check "out of memory: the summary names the kernel" \
        grep -q "^heaptap: killed by the kernel, because memory ran out" err
    check "out of memory: the report names it" \
        sh -c '"$1" report eat.heaptap | grep -q "killed: out of memory"' - "$HEAPTAP"
    check "out of memory: also in JSON" \
        sh -c '"$1" report --json eat.heaptap | grep -q "\"how\": \"out-of-memory\""' - "$HEAPTAP"
    rmdir "$group"
fi

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
