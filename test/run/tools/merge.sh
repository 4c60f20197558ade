#!/usr/bin/env bash
# merge.sh: many profiles as one. If it fails, a sum is not the sum of its parts, one program's
# stacks are split because it was loaded at other addresses, the result depends on the order of the
# inputs, memory grows with their number, or a wrong input is not reported or destroys an existing
# file.
. "$SRCDIR/test/run/lib.subr"
need python3

sums() {
    python3 "$area/merge_sums.py" "$HEAPTAP" "$@" || failures=$((failures + 1))
}

# is NAME STATUS WORDS COMMAND...: check that COMMAND exits with STATUS and prints WORDS.
is() {
    local name=$1 status=$2 words=$3
    shift 3
    "$@" >out 2>err </dev/null
    same "$name: exit status" "$status" $?
    check "$name: gives the reason" grep -qF -- "$words" err
}

merge() {
    "$HEAPTAP" merge "$@"
}

# Record programs of every kind: exact and sampled, packed and not, with threads, with recursion,
# with generated code, with foreign frees, with types, with several processes.
mkdir in
record in/binned1.heaptap "$PROG/binned"
record in/binned2.heaptap "$PROG/binned"
record in/article.heaptap "$PROG/article"
record in/threads.heaptap "$PROG/threads"
record in/deep.heaptap "$PROG/deep" 5 100 2000
record in/bad_frees.heaptap "$PROG/bad_frees"
record in/typed.heaptap "$PROG/typed"
record in/widgets.heaptap "$PROG/widgets"
record in/jit1.heaptap "$PROG/jit" good
record in/jit2.heaptap "$PROG/jit" good
record in/containers.heaptap "$PROG/containers"
record in/heaps1.heaptap "$BUILD/examples/pool"
record in/heaps2.heaptap "$BUILD/examples/article_arena"
record in/heaps3.heaptap "$BUILD/examples/pool"
# This runs without a shell, which some installations use.
python=$(python3 -c 'import sys; print(sys.executable)')
record in/python.heaptap "$python" -c 'import json; print(len(json.dumps(list(range(10000)))))'
"$HEAPTAP" run --quiet --no-pack -o in/unpacked.heaptap -- "$PROG/peak_holders" >/dev/null 2>&1
"$HEAPTAP" run --quiet --sample 4K -o in/sampled.heaptap -- "$PROG/sampled" >/dev/null 2>&1
mkdir session
"$HEAPTAP" run --quiet -o session/ -- "$PROG/family" fork >/dev/null 2>&1
find in -name '*.heaptap' | LC_ALL=C sort >list
mapfile -t inputs <list
check "there is something to merge" test "${#inputs[@]}" -ge 14

echo "# the sum"
check "merge" merge -o all.heaptap "${inputs[@]}" session
cp check.log said
sums sums all.heaptap "${inputs[@]}" session
check "names the written file" \
    grep -q '^all.heaptap: .*, merged from [0-9]* processes of [0-9]* programs$' said
same "no descriptor or file is left" "all.heaptap" "$(ls -d all.heap*)"

echo "# the same code is one place"
merge -o twice.heaptap in/binned1.heaptap in/binned2.heaptap >/dev/null
sums sums twice.heaptap in/binned1.heaptap in/binned2.heaptap
sites() {
    report_json "$1" 2>/dev/null | run_python -c '
import documents, sys
d = documents.load(sys.stdin)
print(len(d["sites"]), len({f["module"] for s in d["sites"] for f in s["stack"]}))'
}
same "two runs have the stacks and modules of one" "$(sites in/binned1.heaptap)" \
    "$(sites twice.heaptap)"
merge -o jit.heaptap in/jit1.heaptap in/jit2.heaptap >/dev/null
same "code made at run time is one by its name" "$(sites in/jit1.heaptap)" "$(sites jit.heaptap)"

echo "# what is not packed gets types"
for i in 1 2; do
    "$HEAPTAP" run --quiet --no-pack -o "raw$i.heaptap" -- "$PROG/widgets" >/dev/null 2>&1
done
check "not packed: merge" merge -o typed.heaptap raw1.heaptap raw2.heaptap
sums sums typed.heaptap raw1.heaptap raw2.heaptap
same "not packed: certainly widgets" "widget certain 20000" \
    "$("$HEAPTAP" bins --json typed.heaptap 2>/dev/null | python3 -c '
import json, sys
known = json.load(sys.stdin)["bins"][0]["known"][0]
print(known["type"], known["verdict"], known["allocs"])')"

echo "# order and grouping"
third=$((${#inputs[@]} / 3))
merge -o part1.heaptap "${inputs[@]:0:third}" >/dev/null
merge -o part2.heaptap "${inputs[@]:third}" >/dev/null
merge -o parts.heaptap session part2.heaptap part1.heaptap >/dev/null
sums same all.heaptap parts.heaptap
LC_ALL=C sort -r list | merge -o reversed.heaptap @- session >/dev/null
sums same all.heaptap reversed.heaptap
merge -o again.heaptap all.heaptap >/dev/null
sums same all.heaptap again.heaptap
"$HEAPTAP" pack -o packed.heaptap all.heaptap >/dev/null
sums same all.heaptap packed.heaptap

echo "# one input"
merge -o one.heaptap in/article.heaptap >/dev/null
sums sums one.heaptap in/article.heaptap
check "one: one process" grep -q 'merged from 1 process of ' <("$HEAPTAP" report one.heaptap)

echo "# every view"
for view in "report" "report --tree" "report --by thread" "report --by type" "leaks" "bins" \
    "direct" "callgraph" "leaks --paths" "source main" "export --format collapsed" \
    "export --format pprof-text" "export --format flamegraph" "export --format pprof"; do
    # shellcheck disable=SC2086
    if "$HEAPTAP" $view all.heaptap >view.out 2>view.err && [ -s view.out ]; then
        passed "view: $view"
    else
        failed "view: $view"
        sed 's/^/#   /' view.err
    fi
done
check "diff with one of its inputs" "$HEAPTAP" diff in/article.heaptap all.heaptap
"$HEAPTAP" report all.heaptap >report.out 2>/dev/null
check "report: a merged profile" \
    grep -qE '^merged from [0-9]+ processes of [0-9]+ programs$' report.out
check "report: the meaning of its peak" grep -q "each process's own, added up" report.out
check "report: exact and sampled" grep -q 'some sampled, one block in 4 KiB' report.out
check "report: an estimate" grep -q 'Estimates: ' report.out

merge -o of_session.heaptap session >/dev/null
"$HEAPTAP" report --full of_session.heaptap >full.out 2>/dev/null
check "report --full of a merged profile has all sections" [ "$(grep -c ' sites$' full.out)" -ge 2 ]
same "report --full of a session: of the sum" "$(cat full.out)" \
    "$("$HEAPTAP" report --full session 2>/dev/null)"

echo "# many"
mkdir many
for i in $(seq 0 499); do
    cp "${inputs[i % ${#inputs[@]}]}" "many/$i.heaptap"
done
check "500 profiles take less than 200 MB" python3 - "$HEAPTAP" <<'END'
import glob, json, resource, subprocess, sys
subprocess.run([sys.argv[1], "merge", "-o", "many.heaptap", *glob.glob("many/*")], check=True,
               timeout=600)
kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(kib, "KiB")
assert kib < 200 * 1000
END
merge -o copies.heaptap many >/dev/null
same "in a directory equal copies count once" ${#inputs[@]} "$(
    "$HEAPTAP" report --json --limit 1 copies.heaptap |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["merged"]["processes"])')"
for i in "${!inputs[@]}"; do
    echo "$(((499 - i) / ${#inputs[@]} + 1)) ${inputs[i]}"
done >weights
check "500 profiles: totals" python3 - "$HEAPTAP" weights many.heaptap <<'END'
import json, subprocess, sys
def totals(path):
    out = subprocess.run([sys.argv[1], "report", "--json", "--limit", "1", path], check=True,
                         capture_output=True).stdout
    d = json.loads(out)
    return d["totals"], d.get("merged")
wanted = {}
lines = open(sys.argv[2]).read().split("\n")[:-1]
keys = ("allocations", "allocated_bytes", "frees", "freed_bytes", "live_bytes", "peak_bytes",
        "peak_blocks", "temporary", "reallocations")
for line in lines:
    weight, path = line.split()
    t, _ = totals(path)
    for key in keys:
        wanted[key] = wanted.get(key, 0) + int(weight) * t[key]
got, merged = totals(sys.argv[3])
assert merged["processes"] == 500, merged
assert wanted == {k: got[k] for k in keys}, (wanted, got)
END

echo "# wrong inputs"
echo nonsense >bad.heaptap
head -c 17000 in/article.heaptap >cut.heaptap
: >empty.heaptap
a=in/article.heaptap b=in/binned1.heaptap
is "no output" 2 "option '-o' is missing" merge $a $b
is "no input" 2 "an argument is missing" merge -o none.heaptap
is "an empty list" 2 "no profile to merge" merge -o none.heaptap @empty.heaptap
is "a missing input" 3 "missing.heaptap" merge -o none.heaptap $a missing.heaptap
is "a missing list" 3 "missing.list" merge -o none.heaptap @missing.list
is "no profile" 3 "bad.heaptap is not a heaptap profile" merge -o none.heaptap $a bad.heaptap $b
check "no profile: the remedy" grep -qF -- --skip-bad err
mkdir void
is "an empty directory" 3 "has no heaptap profile in it" merge -o none.heaptap void
is "all bad" 3 "none of the 2 profiles could be read" \
    merge --skip-bad -o none.heaptap bad.heaptap empty.heaptap
is "output is an input" 2 "is an input of the merge" merge -o $b $a $b
ln $b link.heaptap
is "output is an input by another name" 2 "is an input of the merge" \
    merge -o link.heaptap $a $b
is "output is a recording" 2 "is a recorded profile" merge -o in/deep.heaptap $a $b
is "output is a device" 2 "is not a regular file" merge -o /dev/null $a $b
check "output is a device: it still is one" test -c /dev/null
is "output has no directory" 3 "cannot write none/none.heaptap" merge -o none/none.heaptap $a $b
check "nothing was written" test ! -e none.heaptap
cp all.heaptap old.heaptap
is "a failed merge leaves the old result" 3 "bad.heaptap" merge -o old.heaptap $a bad.heaptap
check "the old result is as it was" cmp all.heaptap old.heaptap
check "a merged profile is replaced" merge -o old.heaptap $a $b

is "--skip-bad" 0 "2 of 4 profiles could not be read" \
    merge --skip-bad -o skipped.heaptap $a bad.heaptap empty.heaptap $b
sums sums skipped.heaptap $a $b
check "--skip-bad: the report mentions it" \
    grep -q 'lacks 2 profiles that could not be read' <("$HEAPTAP" report skipped.heaptap)
merge -o skipped2.heaptap skipped.heaptap in/deep.heaptap >/dev/null
check "--skip-bad: and so does a merge of it" \
    grep -q 'lacks 2 profiles that could not be read' <("$HEAPTAP" report skipped2.heaptap)
echo "# what is left out of a directory"
mkdir lacking
cp $a $b lacking
head -c 9000 $b >lacking/cut.heaptap
# left_out COMMAND...: print the number of processes in COMMAND's document, and of missing ones.
left_out() {
    "$HEAPTAP" "$@" 2>/dev/null | python3 -c '
import json, sys
d = json.load(sys.stdin)
merged = d.get("after", d.get("report", d))["merged"]
print(merged["processes"], merged["left_out"])'
}
same "left out: diff --json" "2 1" "$(left_out diff --json $a lacking)"
same "left out: timeline --json" "2 1" "$(left_out timeline --json lacking)"
same "left out: html --json" "2 1" "$(left_out html --json lacking)"
check "left out: timeline" \
    grep -q '^Damaged: lacking lacks 1 profile that could not be read' \
    <("$HEAPTAP" timeline lacking 2>/dev/null)
rm lacking/binned1.heaptap
same "left out: all but one" "1 1" "$(left_out diff --json $a lacking)"

is "damaged" 0 "cut.heaptap is cut short: " merge -o damaged.heaptap cut.heaptap $b
sums totals damaged.heaptap cut.heaptap $b
check "damaged: the report mentions it" \
    grep -q '^Damaged: damaged.heaptap has 1 damaged profile in it' \
    <("$HEAPTAP" report damaged.heaptap)
is "named twice" 0 "is named twice; it counts once" merge -o named.heaptap $a $a $b in/../$b
sums sums named.heaptap $a $b
printf '%s\n\n%s\n' $a "$b" >some.list
check "a list" merge -o listed.heaptap @some.list
sums same named.heaptap listed.heaptap

echo "# where there is no room"
cp all.heaptap full.heaptap
small() {
    (trap "" XFSZ && ulimit -f 8 && merge -o full.heaptap "${inputs[@]}")
}
is "no room" 3 "cannot write full.heaptap: " small
check "no room: the old result is as it was" cmp all.heaptap full.heaptap
same "no room: nothing else is left" full.heaptap "$(ls -d full.heap*)"

echo "# a process that still runs"
"$HEAPTAP" run --quiet --no-pack -o running.heaptap -- "$python" -c '
import os
while not os.path.exists("stop"):
    kept = [bytes(2000) for _ in range(100)]' >/dev/null 2>&1 &
runner=$!
named() { # Before its header is complete, the profile cannot be queried.
    local _
    for _ in $(seq 600); do
        "$HEAPTAP" snapshot --wait 120 running.heaptap here && return
        sleep 0.1
    done
    return 1
}
check "running: a snapshot" named
check "running: merge" merge -o now.heaptap running.heaptap $a
check "running: the report mentions it" grep -q '^  Live now ' <("$HEAPTAP" report now.heaptap)
touch stop
wait $runner
same "running: the exit status of the program" 0 $?
check "the recording has a snapshot" grep -q '"name": "here"' <(report_json running.heaptap)
merge -o ended.heaptap running.heaptap $a >/dev/null 2>&1
sums sums ended.heaptap running.heaptap $a

echo "# on a terminal"
check "progress is shown, and gone in the end" python3 - "$HEAPTAP" <<'END'
import glob, os, pty, re, subprocess, sys
leader, follower = pty.openpty()
process = subprocess.Popen([sys.argv[1], "merge", "-o", "shown.heaptap", *glob.glob("many/*")],
                           stdout=subprocess.DEVNULL, stderr=follower)
os.close(follower)
shown = b""
while True:
    try:
        part = os.read(leader, 4096)
    except OSError:  # The other end is closed.
        break
    if not part:
        break
    shown += part
assert process.wait() == 0
assert b"merging, 250 of 500" in shown, shown[-300:]
# Only hints may follow, such as a hint about a program without names.
assert re.search(rb" of \d+\x1b\[K\r\x1b\[K(?!.* of \d)", shown, re.DOTALL), shown[-300:]
END
finish
