#!/usr/bin/env bash
# containers.sh: processes in other namespaces, with another root and by other users, examined from
# here by their process id in this namespace. If it fails, heaptap on the host of a container
# reports that the process is not recorded, or shows another container's numbers, or no names.
. "$SRCDIR/test/run/lib.subr"
need python3 unshare

export XDG_CACHE_HOME=/dev/null # Names must come from the files of the process.
skipped() {
    echo "ok - $1 # SKIP $2"
}

# until_there FILE: wait up to ten seconds until FILE exists.
until_there() {
    local _
    for _ in $(seq 200); do
        [ -e "$1" ] && return
        sleep 0.05
    done
}

# until_counting FILE: wait until `counted` has counted an event in FILE, so that it is being
# recorded. The file exists before the first allocation.
until_counting() {
    local _
    for _ in $(seq 200); do
        [ "$(od -An -td8 -N8 "$1" 2>/dev/null || echo 0)" -gt 0 ] 2>/dev/null && return
        sleep 0.05
    done
}

# host_pid PROFILE: print our number of the process that maps PROFILE; waits up to ten seconds for
# it. Other tests on this machine may have profiles with the same name in other directories.
host_pid() {
    local _ pid path
    path=$(printf '%s' "$PWD/$1" | sed 's/[]\.*^$[]/\\&/g')
    for _ in $(seq 100); do
        pid=$(grep -ls " rw-s .* $path\$" /proc/[0-9]*/maps | head -n 1 | tr -dc 0-9)
        [ -n "$pid" ] && echo "$pid" && return
        sleep 0.1
    done
}

# told_of NUMBERS: check that the report identifies the process; it may do so in two lines.
told_of() {
    grep -q "^pid $1 " report.txt && grep -q "running for" report.txt
}

# looked_at NAME PID INNER: examine PID in every way. INNER is its number in its namespace, if it
# differs.
looked_at() {
    local name=$1 pid=$2 shown=$2
    [ "$2" = "$3" ] || shown="$2 ($3 in its namespace)"
    "$HEAPTAP" report "$pid" >report.txt 2>report.err
    same "$name: report" 0 $?
    check "$name: report identifies the process" told_of "$shown"
    check "$name: report has names" grep -q count_alloc report.txt
    "$HEAPTAP" report --json "$pid" >report.json 2>report.err
    check "$name: JSON has both numbers" python3 - "$pid" "$3" <<'END'
import json, sys
process = json.load(open("report.json"))["process"]
here, inner = int(sys.argv[1]), int(sys.argv[2])
assert process["pid"] == inner, process
assert process.get("pid_here", inner) == here, process
assert not process["ended"], process
END
    for view in leaks timeline; do
        check "$name: $view" "$HEAPTAP" $view "$pid"
    done
    check "$name: export" "$HEAPTAP" export --format collapsed -o "$PWD/stacks.collapsed" "$pid"
    check "$name: export has names" grep -q count_alloc stacks.collapsed
    rm -f stacks.collapsed copy.heaptap
    check "$name: pack" "$HEAPTAP" pack -o copy.heaptap "$pid"
    check "$name: its names are packed" grep -q count_alloc <("$HEAPTAP" report copy.heaptap)
    same "$name: control" "process $shown: exact" "$("$HEAPTAP" control "$pid" 2>&1 | cut -d, -f1)"
    same "$name: control changes it" "process $shown: from now on exact" \
        "$("$HEAPTAP" control "$pid" --exact 2>&1)"
    same "$name: snapshot" "process $shown: snapshot 'seen'" \
        "$("$HEAPTAP" snapshot "$pid" seen 2>&1)"
    check "$name: at the snapshot" "$HEAPTAP" report --at seen "$pid"
}

# in_container NAME WRAPPER...: record a program inside the container that WRAPPER makes.
in_container() {
    local name=$1 runner pid inner
    shift
    rm -f counts c.heaptap
    LD_PRELOAD='' "$@" env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/c.heaptap" \
        "$PROG/counted" counts 1 2>container.err &
    runner=$!
    until_counting counts
    pid=$(host_pid c.heaptap)
    [ -n "$pid" ] || { failed "$name: it is recorded"; kill -9 $runner; return; }
    inner=$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status")
    looked_at "$name" "$pid" "$inner"
    if [ "$pid" != "$inner" ] && ! grep -q " rw-s .*heaptap" "/proc/$inner/maps" 2>/dev/null; then
        "$HEAPTAP" report "$inner" >inner.txt 2>&1
        same "$name: by the number that it has there" 3 $?
        check "$name: then its number here is shown" \
            grep -Eq "did you mean ([0-9]+(,| or) )*($pid|another)(,| or) .*$inner in" inner.txt
    fi
    kill -9 "$pid"
    wait $runner 2>/dev/null
}

if unshare --kill-child -pf true 2>/dev/null; then
    in_container "a pid namespace" unshare --kill-child -pf
else
    skipped "a pid namespace" "it cannot be made here"
fi
if unshare --kill-child -pmf --mount-proc true 2>/dev/null; then
    in_container "pid and mount namespaces" unshare --kill-child -pmf --mount-proc
else
    skipped "pid and mount namespaces" "they cannot be made here"
fi
if unshare --kill-child -Urpmf --mount-proc true 2>/dev/null; then
    in_container "a user namespace too" unshare --kill-child -Urpmf --mount-proc
else
    skipped "a user namespace too" "it cannot be made here"
fi

# Two processes that are started together have the same numbers and may have the same start time.
if unshare --kill-child -pf true 2>/dev/null; then
    rm -f one two
    for which in one two; do
        LD_PRELOAD='' unshare --kill-child -pf env LD_PRELOAD="$LIBHEAPTAP" \
            HEAPTAP_OUT="$PWD/$which.heaptap" \
            "$PROG/counted" $which 1 &
    done
    until_there one
    until_there two
    # An unrelated process on this machine may have the same number.
    first=$(host_pid one.heaptap)
    second=$(host_pid two.heaptap)
    inner=$(awk '/^NSpid:/ { print $NF }' "/proc/$first/status")
    "$HEAPTAP" report "$inner" >inner.txt 2>&1
    check "two containers: by the number that both have there, both are listed" \
        grep -Eq "did you mean .*($first.*$second|$second.*$first|another).*, which are $inner in" \
        inner.txt
    for which in one two; do
        pid=$(host_pid $which.heaptap)
        check "two containers: the report of $which is of $which" \
            grep -q "^pid $pid (" <("$HEAPTAP" report "$pid")
        check "two containers: so is that of its file" \
            grep -q "^pid $pid (" <("$HEAPTAP" report $which.heaptap)
        "$HEAPTAP" snapshot "$pid" "of-$which" >/dev/null
        check "two containers: a snapshot is in the right one" "$HEAPTAP" report --at "of-$which" \
            $which.heaptap
        [ -n "$pid" ] && kill -9 "$pid"
    done
    kill $(jobs -p) 2>/dev/null
    wait 2>/dev/null
    "$HEAPTAP" report --at of-one two.heaptap >/dev/null 2>&1
    same "two containers: and not in the other" 3 $?
else
    skipped "two containers" "they cannot be made here"
fi

# A separate root has only the program, the recorder and their libraries, and lacks even /proc. The
# profile's path does not exist here, or names another file.
jail=$PWD/jail
mkdir -p "$jail/bin" "$jail/tmp"
cp "$PROG/counted" "$jail/bin/only_there"
cp "$LIBHEAPTAP" "$jail/bin/"
cp "$(command -v env)" "$jail/bin/"
for file in $(ldd "$PROG/counted" "$LIBHEAPTAP" "$jail/bin/env" | grep -o '/[^ :()]*\.so[^ :()]*' |
    sort -u); do
    case $file in "$LIBHEAPTAP") continue ;; esac
    mkdir -p "$jail$(dirname "$file")"
    cp -L "$file" "$jail$file"
done

# links_stay_inside NAME PID: check that a link in place of PID's program leads to a file below its
# root, although another file has that path here.
links_stay_inside() {
    local name=$1 pid=$2 outside=$PWD/outside
    if ! python3 - <<'END'
import ctypes, sys
how = (ctypes.c_uint64 * 3)(0o10000000, 0, 0x10)  # O_PATH, RESOLVE_IN_ROOT.
sys.exit(ctypes.CDLL(None).syscall(437, -100, b"/", how, 24) < 0)
END
    then
        skipped "$name: links" "needs openat2 of Linux 5.6"
        return
    fi
    mkdir -p "$outside" "$jail$outside"
    LC_ALL=C sed 's/count_alloc/other_names/g' "$PROG/counted" >"$outside/only_there"
    cp "$PROG/counted" "$jail$outside/only_there"
    mv "$jail/bin/only_there" "$jail/bin/kept"
    ln -s "$outside/only_there" "$jail/bin/only_there"
    "$HEAPTAP" report "$pid" >report.txt 2>report.err
    check "$name: a link leads where it leads there" grep -q count_alloc report.txt
    check "$name: and not out" bash -c '! grep -q other_names report.txt'
    mv "$jail/bin/kept" "$jail/bin/only_there"
}

# in_jail NAME WRAPPER...: the same in a separate root, which WRAPPER changes to.
in_jail() {
    local name=$1 runner pid
    shift
    rm -f "$jail/counts" "$jail/tmp/j.heaptap"
    "$@" /bin/env LD_PRELOAD=/bin/libheaptap.so HEAPTAP_OUT=/tmp/j.heaptap \
        /bin/only_there /counts 1 2>jail.err &
    runner=$!
    until_counting "$jail/counts"
    pid=$(host_pid jail/tmp/j.heaptap)
    [ -n "$pid" ] || { failed "$name: it is recorded"; kill -9 $runner; return; }
    looked_at "$name" "$pid" "$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status")"
    links_stay_inside "$name" "$pid"
    rm "$jail/tmp/j.heaptap"
    if stat -L "/proc/$pid/map_files"/* >map_files.txt 2>&1; then
        check "$name: report of a profile that was deleted" "$HEAPTAP" report "$pid"
        check "$name: control of one" "$HEAPTAP" control "$pid"
    else
        "$HEAPTAP" report "$pid" >deleted.txt 2>&1
        check "$name: a deleted profile is reported as such" grep -q "even when it has been" \
            deleted.txt
        skipped "$name: report of a profile that was deleted" "map_files cannot be followed here"
    fi
    kill -9 "$pid"
    wait $runner 2>/dev/null
}

if chroot "$jail" /bin/env true 2>chroot.err || ! grep -q 'not permitted' chroot.err; then
    in_jail "a separate root" chroot "$jail"
    if unshare --kill-child -pmf true 2>/dev/null; then
        in_jail "a separate root and namespaces" unshare --kill-child -pmf chroot "$jail"
    else
        skipped "a separate root and namespaces" "unshare is not permitted here"
    fi
else
    skipped "a separate root" "chroot is not permitted here"
fi

# Only the mount namespace differs, and it contains the program: its process id is the same, its
# files are not. Another file has the program's path here.
mkdir private
printf 'not this one' >private/only_private
cat >private.sh <<END
mount -t tmpfs none private || exit 77
cp "$PROG/counted" private/only_private
objcopy --remove-section=.note.gnu.build-id private/only_private
LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/private/p.heaptap" exec private/only_private \
    private/counts 1
END
unshare -m bash private.sh 2>private.err &
runner=$!
for _ in $(seq 100); do
    [ -e "/proc/$runner/root$PWD/private/counts" ] && break
    kill -0 $runner 2>/dev/null || break
    sleep 0.05
done
until_counting "/proc/$runner/root$PWD/private/counts"
if kill -0 $runner 2>/dev/null; then
    looked_at "a mount namespace" $runner $runner
    kill -9 $runner
else
    skipped "a mount namespace" "it cannot be made here"
fi
wait $runner 2>/dev/null

# Another user's process is examined, and another user examines this process.
other="setpriv --reuid 65534 --clear-groups"
others=$(mktemp -d -p /tmp)
chmod 777 "$others"
if [ "$(id -u)" != 0 ] || ! $other test -x "$HEAPTAP" -a -x "$PROG/counted" -a -w "$others"; then
    skipped "another user's process" "that user cannot be, or cannot come here"
else
    LD_PRELOAD='' $other env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$others/o.heaptap" \
        "$PROG/counted" "$others/counts" 1 &
    runner=$!
    until_counting "$others/counts"
    if cat /proc/$runner/maps >maps.txt 2>&1; then
        looked_at "another user's process" $runner $runner
    else
        skipped "another user's process" "root may not look into it here"
    fi
    kill -9 $runner
    wait $runner 2>/dev/null
    LD_PRELOAD='' $other env LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$others/p.heaptap" \
        "$PROG/jit" good "$others/begun" &
    runner=$!
    until_there "$others/begun"
    if cat /proc/$runner/maps >maps.txt 2>&1; then
        check "another user's process: names of its compiler" \
            grep -q jit_framed <("$HEAPTAP" report --no-fold $runner)
    else
        skipped "another user's process: names of its compiler" "root may not look into it here"
    fi
    kill -9 $runner
    wait $runner 2>/dev/null
    rm -f counts "/tmp/perf-$runner.map"
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/root.heaptap "$PROG/counted" counts 1 &
    pid=$!
    until_counting counts
    for command in report control "snapshot:x"; do
        $other "$HEAPTAP" ${command%:*} $pid ${command#"${command%:*}"} >refused.txt 2>&1
        same "a process of root's: ${command%:*} is refused to others" 3 $?
        check "a process of root's: ${command%:*} gives a remedy" \
            grep -q "cannot look into process $pid (Permission denied): run heaptap as root" \
            refused.txt
    done
    kill -9 $pid
    wait $pid 2>/dev/null
fi

rm -rf "$others"

# If its first thread has ended, a process looks dead to readers of that thread alone.
rm -f begun
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/first.heaptap "$PROG/first_ends" begun &
pid=$!
until_there begun
"$HEAPTAP" report --full $pid >report.txt 2>&1
check "its first thread has ended: it runs" told_of "$pid"
check "its first thread has ended: names" grep -q second_alloc report.txt
check "its first thread has ended: snapshot" "$HEAPTAP" snapshot $pid after
kill -9 $pid
wait $pid 2>/dev/null
finish
