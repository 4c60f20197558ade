#!/usr/bin/env bash
# faults.sh: check that failures around the recorder never harm the program. If it fails, a program
# on a machine that lacks resources crashes, hangs or behaves differently because it is recorded, or
# the user gets no message about missing data.
#
# The failures are system calls that fail one by one (test/fault/faults.py), limits, sandboxes,
# descriptors that were reused for another file, and files that others removed. FAULTS=all tries
# every call instead of a selection.
. "$SRCDIR/test/run/lib.subr"
need python3

# messages WHAT COUNT: check that stderr has COUNT lines, all of them heaptap's.
messages() {
    same "$1: messages" "$2 of $2" "$(grep -c '^heaptap: ' err) of $(wc -l <err)"
}

# field FILE KEY...: print a value of the report.
field() {
    report_json "$1" | python3 -c '
import json, sys
v = json.load(sys.stdin)
for key in sys.argv[1:]:
    v = v[key]
print(str(v).lower())' "${@:2}"
}

# lost FILE: succeeds if FILE's report states that data is missing.
lost() {
    [ "$(field "$1" losses file_failed)" = true ] || [ "$(field "$1" losses events)" -gt 0 ]
}

# --- Every call ----------------------------------------------------------------------------------

if [ "${FAULTS:-}" = all ]; then
    python3 "$SRCDIR/test/fault/faults.py" --all
else
    python3 "$SRCDIR/test/fault/faults.py"
fi
case $? in
0) ;;
77) echo "ok - failing calls # SKIP tracing is not possible here" ;;
*) failures=$((failures + 1)) ;;
esac

# --- No memory -----------------------------------------------------------------------------------

# After a failed start, no event may cost a system call, even if there was no memory to record that
# failure.
"$PROG/grow" >bare.out 2>/dev/null
bare=$?
HEAPTAP_OUT=$PWD/none.heaptap "$BUILD/test/fault/inject" --call rt_sigprocmask --errno ENOMEM \
    --also mmap --count calls --preload "$LIBHEAPTAP" -- "$PROG/grow" >out 2>err
status=$?
if [ $status = 77 ]; then
    echo "ok - no memory # SKIP tracing is not possible here"
else
    same "no memory: exit status" $bare $status
    check "no memory: output" diff bare.out out
    messages "no memory" 1
    check "no memory: no profile" test ! -e none.heaptap
    check "no memory: events cost no system call" test "$(cat calls)" -le 20
fi

# --- Limits --------------------------------------------------------------------------------------

# whole_or_lost FILE COUNT: succeeds if FILE has COUNT allocations, or states that data is missing.
whole_or_lost() {
    local got
    got=$(field "$1" totals allocations) || return 1
    echo "$got allocations, $2 without the limit"
    [ "$got" -ge "$2" ] || lost "$1"
}

# limited NAME LIMITS: run the program under LIMITS, bare and recorded, and compare.
limited() {
    local name=$1 limits=$2 bare what="not recorded"
    bash -c "$limits"' || exit 99; exec "$1"' - "$PROG/meddle" >bare.out 2>/dev/null
    bare=$?
    if [ "$bare" != 7 ]; then
        echo "# $name: does not run without the recorder either"
        return
    fi
    rm -f limit*.heaptap
    bash -c "$limits"' || exit 99
        export LD_PRELOAD=$2 HEAPTAP_OUT=$3; exec "$1"' - \
        "$PROG/meddle" "$LIBHEAPTAP" "$PWD/limit.heaptap" >out 2>err
    same "$name: exit status" 7 $?
    check "$name: output" diff bare.out out
    check "$name: at most one message" test "$(wc -l <err)" -le 1
    check "$name: messages are ours" test "$(grep -vc '^heaptap: ' err)" -eq 0
    if [ -e limit.heaptap ]; then
        what="recorded"
        check "$name: readable" field limit.heaptap totals allocations
        if [ -s err ]; then
            check "$name: the loss is shown" lost limit.heaptap
            what="recorded, loss shown"
        else
            check "$name: whole, or the loss is shown" whole_or_lost limit.heaptap "$unlimited"
        fi
    else
        check "$name: a message gives the reason" test -s err
    fi
    echo "# $name: $what$(sed 's/^heaptap: \(.*\): .*/ (\1)/' err)"
}

LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/unlimited.heaptap "$PROG/meddle" >/dev/null 2>err
unlimited=$(field unlimited.heaptap totals allocations)
check "without a limit: recorded" test "$unlimited" -gt 500
for kib in 3000 8000 20000 50000 100000 200000 240000 300000 500000 1000000; do
    limited "address space of $kib KiB" "ulimit -s 256; ulimit -v $kib"
done
for kib in 1000 20000 100000 200000 300000 500000; do
    limited "data of $kib KiB" "ulimit -s 256; ulimit -d $kib"
done
for kib in 1 16 64 160 200 256 300 1024; do
    limited "files of $kib KiB" "ulimit -f $kib"
done
limited "locked memory of 64 KiB" "ulimit -l 64"

# --- Programs that do something unkind -----------------------------------------------------------

# unkind NAME MESSAGES ARGUMENTS...: check that meddle's actions harm the recorder alone.
unkind() {
    local name=$1 count=$2
    shift 2
    rm -rf unkind unkind2 && mkdir unkind
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/unkind/p.heaptap "$PROG/meddle" "$@" \
        >out 2>err </dev/null
    same "$name: exit status" 7 $?
    same "$name: output" "$wanted" "$(cat out)"
    messages "$name" "$count"
}

wanted=$("$PROG/meddle" none)
file=$PWD/unkind/p.heaptap
unkind "nothing" 0 none
same "nothing: nothing lost" false "$(field unkind/p.heaptap losses file_failed)"
unkind "all descriptors in use" 1 descriptors
check "all descriptors in use: the loss is shown" lost unkind/p.heaptap
unkind "profile removed" 1 remove "$file"
unkind "profile renamed" 1 rename "$file" "$PWD/unkind/q.heaptap"
check "profile renamed: the loss is shown" lost unkind/q.heaptap
unkind "directory renamed" 1 rename "$PWD/unkind" "$PWD/unkind2"
check "directory renamed: the loss is shown" lost unkind2/p.heaptap
unkind "another file in its place" 1 file "$file"
same "another file in its place: untouched" mine "$(cat unkind/p.heaptap)"
echo mine >precious
unkind "a symbolic link in its place" 1 symlink "$file" "$PWD/precious"
same "a symbolic link in its place: untouched" mine "$(cat precious)"
unkind "a FIFO in its place" 1 fifo "$file"
"$PROG/meddle" lock 2 locked.bare >/dev/null 2>&1
if [ -s locked.bare ]; then
    unkind "future memory locked" 0 lock 2 "$PWD/locked"
    same "future memory locked: nothing lost" 0 "$(field unkind/p.heaptap losses events)"
    check "future memory locked: little of ours is resident" \
        test "$(cat locked)" -lt $(($(cat locked.bare) + 16384))
else
    echo "ok - future memory locked # SKIP the limit on locked memory forbids it"
fi

# --- Descriptor 2 --------------------------------------------------------------------------------

# The directory is removed, so a message is due; but stderr is the program's data by then.
rm -rf gone gone2 && mkdir gone
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/gone/p.heaptap bash -c '
    exec 2>data; mv gone gone2; for i in {1..3000}; do eval "a$i=$i"; done; echo done' >out 2>err
check "stderr became a file: nothing of ours in it" test ! -s data
same "stderr became a file: the program continues" done "$(cat out)"
unkind "stderr became a data file" 0 stderr "$PWD/unkind.data"
check "stderr became a data file: it is empty" test ! -s unkind.data
# A pipe whose reader is gone, and a full one: there must be no SIGPIPE and no waiting.
python3 - "$PROG/meddle" "$LIBHEAPTAP" "$PWD" "$wanted" <<'END' || failures=$((failures + 1))
import os, subprocess, sys
program, library, directory, wanted = sys.argv[1:]
bad = 0
for name in "closed", "full":
    path = f"{directory}/pipe.heaptap"
    if os.path.exists(path):
        os.unlink(path)
    r, w = os.pipe()
    if name == "closed":
        os.close(r)
    else:
        os.set_blocking(w, False)
        try:
            while True:
                os.write(w, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(w, True)
    done = subprocess.run([program, "remove", path], stdout=subprocess.PIPE, stderr=w, text=True,
                          env=dict(os.environ, LD_PRELOAD=library, HEAPTAP_OUT=path), timeout=100,
                          restore_signals=True)
    ok = done.returncode == 7 and done.stdout.strip() == wanted
    bad += not ok
    print(f"{'ok' if ok else 'not ok'} - stderr is a {name} pipe: the program goes on"
          + ("" if ok else f"\n#   {done}"))
    os.close(w)
sys.exit(bad > 0)
END

# --- Sandboxes -----------------------------------------------------------------------------------

# sandbox NAME MODE RESERVE: check a program that forbids system calls
sandbox() {
    "$PROG/sandbox" "$2" >bare.out 2>/dev/null
    if [ $? != 9 ]; then
        echo "ok - $1 # SKIP seccomp does not work here"
        return
    fi
    rm -f box*.heaptap
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_RESERVE=$3 HEAPTAP_OUT=$PWD/box.heaptap \
        "$PROG/sandbox" "$2" >out 2>err
    same "$1: exit status" 9 $?
    check "$1: output" diff bare.out out
    messages "$1" 0
}

sandbox "seccomp strict, with a reserve" strict 4000000
same "seccomp strict, with a reserve: every event" "641 0" \
    "$(field box.heaptap totals allocations) $(field box.heaptap losses events)"
sandbox "a filter that kills, with a reserve" kill 4000000
same "a filter that kills, with a reserve: every event" "742 0" \
    "$(field box.heaptap totals allocations) $(field box.heaptap losses events)"
same "a filter that kills, with a reserve: each has a site" "0 []" \
    "$(field box.heaptap losses other_site_events) $(field box.heaptap notes)"
sandbox "a filter that kills, in a child, with a reserve" fork 4000000
sandbox "a filter that refuses, with a reserve" errno 4000000
same "a filter that refuses, with a reserve: nothing lost" 0 "$(field box.heaptap losses events)"
sandbox "a filter that refuses, without" errno ""
check "a filter that refuses, without: the loss is shown" lost box.heaptap

# With a reserve, the recorder completes a relative path with the working directory of the start.
cp "$PROG/liblinkage.so" plugin.so
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_RESERVE=4000000 HEAPTAP_OUT=$PWD/plugin.heaptap \
    "$PROG/linkage" ./plugin.so >out 2>err
same "a relative plug-in, with a reserve: exit status" 0 $?
KNOWN_PREFIX="a relative plug-in, with a reserve: " known plugin.heaptap \
    "module:plugin.so,library_alloc allocations=14 allocated_bytes=196"

# The reserve is too small: later stacks are shortened, and the file does not grow.
rm -f small*.heaptap
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_RESERVE=100000 HEAPTAP_OUT=$PWD/small.heaptap \
    "$PROG/grow" 11 20 >out 2>err
same "a reserve that is used up: exit status" 7 $?
check "a reserve that is used up: output" diff <("$PROG/grow" 11 20) out
messages "a reserve that is used up" 0
check "a reserve that is used up: the file did not grow" \
    test "$(stat -c %s small.heaptap)" -lt 300000
check "a reserve that is used up: counted" python3 - <<END
import json, subprocess
shown = json.loads(subprocess.run(["$HEAPTAP", "report", "--json", "--no-fold", "small.heaptap"],
                                  capture_output=True, check=True).stdout)
losses = shown["losses"]
assert losses["shortened_stacks"] > 0 and losses["other_site_events"] == 0, losses
assert not losses["file_failed"], losses
END

# --- Core dumps ----------------------------------------------------------------------------------

pattern=$(cat /proc/sys/kernel/core_pattern 2>/dev/null)
case $pattern in
'' | '|'* | /*) echo "ok - size of a core dump # SKIP kernel.core_pattern is '$pattern'" ;;
*)
    mkdir -p bare recorded
    bash -c 'cd bare && ulimit -c unlimited && "$1" abort; :' - "$PROG/meddle" >/dev/null 2>&1
    bash -c 'cd recorded && ulimit -c unlimited &&
        LD_PRELOAD=$2 HEAPTAP_OUT=$PWD/p.heaptap "$1" abort; :' - \
        "$PROG/meddle" "$LIBHEAPTAP" >/dev/null 2>&1
    if [ -n "$(find bare -name 'core*')" ]; then
        check "a core dump grows by less than 1 MiB" python3 -c '
import glob, os, sys
def stored(directory):
    return sum(os.stat(f).st_blocks * 512 for f in glob.glob(directory + "/core*"))
bare, recorded = stored("bare"), stored("recorded")
print(bare, recorded)
sys.exit(not bare < recorded < bare + 1048576)'
    else
        echo "ok - size of a core dump # SKIP this system writes none"
    fi
    ;;
esac
finish
