#!/usr/bin/env bash
# pidns.sh: a recorded process in another pid namespace, as in a container. If it fails, such a
# process is considered ended: it gets no requests, and packing its profile removes the file that it
# still records into, so that later events are lost.
. "$SRCDIR/test/run/lib.subr"
need python3 unshare

apart="unshare -pf --mount-proc"
$apart true 2>/dev/null || apart="unshare -Urpf --mount-proc"
$apart true 2>/dev/null || skip_all "pid namespaces cannot be made here"

# Print the program's id in our namespace.
host_pid() {
    local status
    for status in /proc/[0-9]*/status; do
        if grep -q "^Name:[[:space:]]*counted$" "$status" 2>/dev/null &&
            grep -q "$PWD/live.heaptap" "${status%status}maps" 2>/dev/null; then
            echo "$status" | tr -dc 0-9
            return
        fi
    done
}

LD_PRELOAD='' $apart bash -c "LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/live.heaptap \
    $PROG/counted counts 2 & wait" &
runner=$!
pid=
for _ in $(seq 200); do
    pid=$(host_pid)
    [ -n "$pid" ] && [ -e counts ] && break
    sleep 0.05
done
[ -n "$pid" ] || skip_all "the program in the namespace cannot be seen"
inner=$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status")

"$HEAPTAP" report "$pid" >report.txt 2>&1
check "report by the id it has here: with both ids" \
    grep -q "^pid $pid ($inner in its namespace) " report.txt
"$HEAPTAP" report live.heaptap >report.txt 2>&1
check "report of its file: the same" \
    grep -q "^pid $pid ($inner in its namespace) " report.txt
check "control by the id it has here" "$HEAPTAP" control "$pid"
check "snapshot by the id it has here" "$HEAPTAP" snapshot "$pid" seen
check "snapshot by its file" "$HEAPTAP" snapshot live.heaptap again
check "control of it takes effect" "$HEAPTAP" control "$pid" --exact
inode=$(stat -c %i live.heaptap)
"$HEAPTAP" pack live.heaptap >pack.txt 2>&1
same "pack in place is refused" 3 $?
check "and names the writing process" grep -q "process $pid still writes" pack.txt
$apart "$HEAPTAP" pack live.heaptap >pack.txt 2>&1
same "from a third namespace, which sees nobody: refused" 3 $?
check "a copy can be packed" "$HEAPTAP" pack -o copy.heaptap "$pid"
same "the file is the same one" "$inode" "$(stat -c %i live.heaptap)"
before=$("$HEAPTAP" report --json live.heaptap | grep -m1 '"allocations"' | tr -dc 0-9)
sleep 0.2
kill -9 "$pid"
wait $runner 2>/dev/null
known live.heaptap "losses events=0" "total allocations>=$((before + 1))"
check "when it has ended it can be packed" "$HEAPTAP" pack live.heaptap
check "in place" [ "$inode" != "$(stat -c %i live.heaptap)" ]
check "and is whole" "$HEAPTAP" report --at again live.heaptap

# The program is on a file system that only its namespace has: names come from there.
cat >own.sh <<END
mount -t tmpfs none own || exit 77
cp $PROG/counted own/only_here
cd own
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/own/x.heaptap ./only_here counts 1 & wait
END
mkdir own
$apart -m bash own.sh 2>/dev/null &
runner=$!
pid=
for _ in $(seq 100); do
    pid=$(pgrep -x only_here) && [ -e "/proc/$pid/root$PWD/own/counts" ] && break
    kill -0 $runner 2>/dev/null || break
    sleep 0.05
done
if [ -n "$pid" ]; then
    XDG_CACHE_HOME=/dev/null "$HEAPTAP" report --json "$pid" >own.json 2>own.err
    check "names from a separate mount namespace" grep -q '"count_alloc"' own.json
    check "snapshot there" "$HEAPTAP" snapshot "$pid" there
    kill "$pid"
else
    echo "ok - a separate mount namespace # SKIP it cannot be made here"
fi
wait $runner 2>/dev/null

# On an overlay, the kernel does not know the writers of a file, and in a container we do not see
# all processes. The last process of the profile was killed, so its file does not record an end
# either.
cat >inside.sh <<END
mkdir -p lower upper work merged
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged || exit 77
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/merged/x.heaptap bash -c 'kill -9 \$\$'
"$HEAPTAP" pack merged/x.heaptap >overlay.txt 2>&1 && ls merged >overlay.names
umount merged
END
mkdir -p merged
if $apart -m bash inside.sh 2>/dev/null; then
    check "on an overlay it is packed beside" grep -q '^x.packed.heaptap$' overlay.names
    check "the original stays" grep -q '^x.heaptap$' overlay.names
    check "and a message reports it" grep -q "cannot determine from here" overlay.txt
else
    echo "ok - on an overlay # SKIP it cannot be mounted here"
fi
finish
