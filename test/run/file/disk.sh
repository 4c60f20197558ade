#!/usr/bin/env bash
# disk.sh: file systems that are full or read-only, systems without /proc, and memory that runs out.
# If it fails, a full disk or a small container crashes or changes a recorded program, or the
# profile of a program killed by the kernel is missing.
#
# The script mounts file systems in a separate mount namespace; without root, in a user namespace as
# well. A check that needs more rights is skipped with its reason.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/namespace.subr"

# recorded NAME COUNT: check output, stderr and status of `meddle`.
judged() {
    same "$1: exit status" 7 "$status"
    same "$1: output" "$wanted" "$(cat out)"
    same "$1: messages" "$2 of $2" "$(grep -c '^heaptap: ' err) of $(wc -l <err)"
}

# shows FILE EXPRESSION: check that EXPRESSION is true for the report `r` of FILE.
shows() {
    report_json "$1" >report.json || return 1
    run_python -c '
import documents, sys
r = documents.load(open("report.json"))
print(r["totals"], r["losses"])
sys.exit(not eval(sys.argv[1]))' "$2"
}

wanted=$("$PROG/meddle" none)
inside 'mount -t tmpfs none "$1"' 2>why || skip_all "cannot mount here: $(tail -n 1 why)"

# --- A full disk ---------------------------------------------------------------------------------

# The profile could not grow, but counting continued in the existing tables. This is true if the
# profile has the free of the block that `meddle` allocates first and frees last.
went_on='r["losses"]["file_failed"] and any(
    s["size_max"] == 1000 and s["frees"] == 1 for s in r["sites"])'

# Run `meddle none` on a file system of $2 KiB, which it may fill up, and copy the profile out.
small_disk='mount -t tmpfs -o size=$2k none "$1" || exit 90
    (export LD_PRELOAD=$4 HEAPTAP_OUT=$1/p.heaptap; exec "$3" none)
    status=$?
    cp "$1"/p.heaptap copy.heaptap 2>/dev/null
    exit $status'
# A gate gives no verdict on incomplete data.
gate='mount -t tmpfs -o size=210k none "$1" || exit 90
    "$2" run --quiet --no-pack -o "$1/p.heaptap" --fail-on peak=1G -- "$3" -c "import json"'
python=$(python3 -c 'import sys; print(sys.executable)')
inside "$gate" "$HEAPTAP" "$python" >out 2>err
same "run --fail-on with a full disk" 99 $?
check "run --fail-on with a full disk: the reason" \
    grep -q "judge it: its profile could not grow" err

for kib in 8 16 64 100; do
    rm -f copy.heaptap
    inside "$small_disk" "$kib" "$PROG/meddle" "$LIBHEAPTAP" >out 2>err
    status=$?
    judged "disk of $kib KiB, full at the start" 1
    check "disk of $kib KiB: the message" grep -q 'disk full' err
    check "disk of $kib KiB: no profile" test ! -e copy.heaptap
done
for kib in 210 220 240 280; do
    rm -f copy.heaptap
    inside "$small_disk" "$kib" "$PROG/meddle" "$LIBHEAPTAP" >out 2>err
    status=$?
    judged "disk of $kib KiB, full in the middle" 1
    check "disk of $kib KiB: the message" grep -q 'disk full' err
    check "disk of $kib KiB: the loss is shown, the rest is counted" shows copy.heaptap "$went_on"
done

# Test the same on a file system with a different block size.
rm -f copy.heaptap image
ext4='mount -o loop image "$1" || exit 90
    dd if=/dev/zero of="$1/filler" bs=1k count="$2" 2>/dev/null
    (export LD_PRELOAD=$4 HEAPTAP_OUT=$1/p.heaptap; exec "$3" none)
    status=$?
    cp "$1"/p.heaptap copy.heaptap 2>/dev/null
    exit $status'
if command -v mkfs.ext4 >/dev/null && truncate -s 1M image &&
    mkfs.ext4 -q -b 1024 -m 0 -O ^has_journal image 2>/dev/null; then
    for filler in 600 2000; do
        rm -f copy.heaptap
        inside "$ext4" "$filler" "$PROG/meddle" "$LIBHEAPTAP" >out 2>err
        status=$?
        if [ $status = 90 ]; then
            skipped "ext4 with $filler KiB in use" "$(head -n 1 err)"
            continue
        fi
        judged "ext4 with $filler KiB in use" 1
        check "ext4 with $filler KiB in use: the message" grep -q 'disk full' err
        if [ -e copy.heaptap ]; then
            check "ext4 with $filler KiB in use: the loss is shown, the rest is counted" \
                shows copy.heaptap "$went_on"
        fi
    done
else
    skipped "ext4" "needs mkfs.ext4"
fi

# --- Directories that cannot be written ----------------------------------------------------------

inside 'mount -t tmpfs -o ro none "$1" || exit 90
    export LD_PRELOAD=$3 HEAPTAP_OUT=$1/p.heaptap; exec "$2" none' \
    "$PROG/meddle" "$LIBHEAPTAP" >out 2>err
status=$?
judged "read-only file system" 1
check "read-only file system: the message" grep -q 'read-only file system' err

rm -rf closed && mkdir closed && chmod 555 closed
drop=()
[ "$(id -u)" = 0 ] && drop=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 . 2>/dev/null # Let another user enter this directory.
if "${drop[@]}" test -x "$PROG/meddle" -a -x . 2>/dev/null; then
    "${drop[@]}" bash -c 'export LD_PRELOAD=$2 HEAPTAP_OUT=$3/closed/p.heaptap; exec "$1" none' - \
        "$PROG/meddle" "$LIBHEAPTAP" "$PWD" >out 2>err
    status=$?
    judged "read-only directory" 1
    check "read-only directory: the message" grep -q 'permission denied' err
else
    skipped "read-only directory" "another user cannot get at the test programs"
fi

# --- Programs that give up rights ----------------------------------------------------------------

# Without the rights, the file cannot be opened again, so it must have its final size from the
# start.
if [ "$(id -u)" = 0 ]; then
    cat >gives_up.py <<'END'
import os
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
kept = [[bytes(1000) for i in range(9)] for k in range(100)]
import json
END
    "$HEAPTAP" run -o rights.heaptap -- "$python" gives_up.py >out 2>err
    check "rights given up: the message" grep -q 'cannot grow.*permission denied, as after' err
    check "rights given up: the remedy" grep -q 'try --reserve' err
    check "rights given up: the loss is shown" shows rights.heaptap 'r["losses"]["file_failed"]'
    cat >children.py <<'END'
import os
kept = bytes(1000)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
if os.fork() == 0:
    kept = bytes(1000)
    os._exit(0)
os.wait()
END
    "$HEAPTAP" run -q --no-language -o children.heaptap -- "$python" children.py >out 2>err
    check "rights given up: a child names the cause" \
        grep -q 'not recording: permission denied; choose another place with -o: .*/children.p' err
    "$HEAPTAP" report rights.heaptap >shown 2>err
    check "rights given up: a report names the cause" grep -q 'or the program had dropped' shown
    "$HEAPTAP" run --self-contained-core -o lag.heaptap -- "$python" gives_up.py >out 2>err
    check "rights given up, a copy: the summary has a lower bound" \
        grep -q '^heaptap: at least [0-9,]* allocations' err
    check "rights given up, a copy: the note is no damage" shows lag.heaptap \
        'r["damage"] is None and "incomplete-file" in [n["kind"] for n in r["notes"]]'
    "$HEAPTAP" report lag.heaptap >shown 2>err
    check "rights given up, a copy: a report says so" grep -q ' incomplete$' shown
    check "rights given up, a copy: a report explains it" grep -q '^Incomplete: a copy of' shown
    "$HEAPTAP" run --reserve 64M -o reserve.heaptap -- "$python" gives_up.py >out 2>err
    check "rights given up, with a reserve: whole" shows reserve.heaptap \
        'not r["losses"]["file_failed"] and r["losses"]["events"] == 0'
else
    skipped "rights given up" "needs root"
fi

# --- Without /proc -------------------------------------------------------------------------------

rm -f proc*.heaptap
inside 'mount -t tmpfs none /proc || exit 90
    export LD_PRELOAD=$3 HEAPTAP_OUT=$4/proc.heaptap; exec "$2" none' \
    "$PROG/meddle" "$LIBHEAPTAP" "$PWD" >out 2>err
status=$?
if [ $status = 90 ]; then
    skipped "no /proc" "$(head -n 1 err)"
else
    judged "no /proc" 0
    check "no /proc: recorded whole" shows proc.heaptap \
        'r["losses"]["events"] == 0 and r["totals"]["allocations"] > 500'
    check "no /proc: functions have names" shows proc.heaptap \
        'any(f["function"] == "leaf" for s in r["sites"] for f in s["stack"])'
fi

rm -f chroot*.heaptap
inside 'mount -t tmpfs none "$1" || exit 90
    for d in /lib /lib64 /usr; do
        [ -e $d ] && mkdir -p "$1$d" && { mount --rbind $d "$1$d" || exit 90; }
    done
    cp "$2" "$3" "$1" || exit 90
    (export LD_PRELOAD=/libheaptap.so HEAPTAP_OUT=/p.heaptap; exec chroot "$1" /meddle none)
    status=$?
    cp "$1/p.heaptap" chroot.heaptap
    exit $status' "$PROG/meddle" "$LIBHEAPTAP" >out 2>err
status=$?
if [ $status = 90 ]; then
    skipped "chroot" "$(head -n 1 err)"
else
    same "chroot: exit status" 7 $status
    same "chroot: output" "$wanted" "$(cat out)"
    check "chroot: recorded whole" shows chroot.heaptap \
        'r["losses"]["events"] == 0 and r["totals"]["allocations"] > 500'
fi

# --- Out of memory -------------------------------------------------------------------------------

# Print the directory of a new cgroup with a limit of 96 MiB, of either version of cgroups.
memory_group() {
    local group=/sys/fs/cgroup/memory/heaptap-test-$$
    if [ -d /sys/fs/cgroup/memory ]; then
        mkdir "$group" && echo 100663296 >"$group/memory.limit_in_bytes" && echo "$group"
    else
        group=/sys/fs/cgroup/heaptap-test-$$
        mkdir "$group" && echo 100663296 >"$group/memory.max" && echo "$group" &&
            { echo 0 >"$group/memory.swap.max" || true; }
    fi
}

group=$(memory_group 2>why)
if [ -n "$group" ]; then
    rm -f oom*.heaptap
    bash -c 'echo $$ >"$4/cgroup.procs" || exit 90
        export LD_PRELOAD=$2 HEAPTAP_OUT=$3/oom.heaptap; exec "$1" eat 400' - \
        "$PROG/meddle" "$LIBHEAPTAP" "$PWD" "$group" >out 2>err
    status=$?
    rmdir "$group"
    if [ $status = 90 ]; then
        skipped "killed for memory" "a process cannot join the memory cgroup"
    else
        same "killed for memory: by SIGKILL" 137 $status
        check "killed for memory: the profile is whole" shows oom.heaptap \
            'r["losses"]["events"] == 0 and 40 < r["totals"]["live_bytes"] >> 20 < 100'
    fi
else
    skipped "killed for memory" "no memory cgroup can be made here"
fi
finish
