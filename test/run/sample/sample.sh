#!/usr/bin/env bash
# sample.sh: recording samples. If it fails, estimates are wrong or promise too much, a change of
# the recording mode loses or invents blocks, or a program notices that it is sampled.
. "$SRCDIR/test/run/lib.subr"
need python3
sampled=$PROG/sampled
py() {
    python3 "$area/sample.py" "$@" || failures=$((failures + 1))
}

py coverage "$HEAPTAP" "$sampled" 40 --sample 16K
py coverage "$HEAPTAP" "$sampled" 20 --sample-count 10

# The mode changes during the run. The program allocates until it gets a line, so the recorder
# notices each request.
mkfifo tell heard
"$HEAPTAP" run --quiet --no-pack -o phases.heaptap -- "$sampled" phases <tell >heard &
runner=$!
exec 3>tell 4<heard
step() { # step NAME: let the program continue until it has done NAME.
    echo go >&3
    read -r -t 60 line <&4
    same "phases: the program continues to $1" "$1" "$line"
}
until_there() {
    local _
    for _ in $(seq 400); do
        [ -e "$1" ] && return
        sleep 0.05
    done
}
until_there phases.heaptap
control() {
    "$HEAPTAP" control --wait 60 phases.heaptap "$@"
}
snapshot() {
    "$HEAPTAP" snapshot --wait 60 phases.heaptap "$1"
}
step first
check "snapshot" snapshot "after first"
check "control: from exact to a sample" control --sample 4K
same "control: shows the mode in force" "sampled, one block in 4 KiB" \
    "$(control | sed 's/^process [0-9]*: //; s/, since.*//')"
step second
check "control: off" control --off
step third
check "snapshot: while off" snapshot "after third"
check "control: exact again" control --exact
step fourth
wait $runner
same "phases: exit status" 0 $?
exec 3>&- 4<&-
report_json phases.heaptap >phases.json 2>/dev/null
py phases phases.json
check "phases: a packed profile shows the same" "$HEAPTAP" pack -o packed.heaptap phases.heaptap
report_json packed.heaptap 2>/dev/null | sed '/"profile"/d; /"file_bytes"/d; /"memory_bytes"/d' \
    >packed.json
sed '/"profile"/d; /"file_bytes"/d; /"memory_bytes"/d' phases.json >unpacked.json
check "phases: to the byte" cmp packed.json unpacked.json

py damaged "$HEAPTAP" phases.heaptap

"$HEAPTAP" control phases.heaptap --exact >out 2>&1
same "control: the process has ended" 3 $?
"$HEAPTAP" control packed.heaptap --exact >out 2>&1
same "control: a packed profile" 3 $?
for bad in "--sample 100" "--sample 2T" "--sample-count 1" "--sample 4K --off" "--exact --off"; do
    # shellcheck disable=SC2086
    "$HEAPTAP" control phases.heaptap $bad >out 2>&1
    same "control: refuses $bad" 2 $?
done
for bad in "--sample 100" "--sample-count 1" "--sample 4K --sample-count 5" "--delay x" \
    "--duration -1"; do
    # shellcheck disable=SC2086
    "$HEAPTAP" run $bad -- true >out 2>&1
    same "run: refuses $bad" 2 $?
done

# In a program that allocates nothing, the request is pending.
"$HEAPTAP" run --quiet --no-pack -o idle.heaptap -- \
    python3 -c 'import time; open("idle.there", "w").write("x"); time.sleep(600)' &
runner=$!
until_there idle.there
sleep 1
"$HEAPTAP" control idle.heaptap --wait 1 --off >out 2>&1
same "control: a program that allocates nothing" 1 $?
check "control: gives the reason" grep -q "only when it allocates" out
kill -TERM "$(pgrep -P $runner | head -n 1)"
wait $runner 2>/dev/null

# The clock ends or begins recording while the program pumps.
"$HEAPTAP" run --quiet --delay 2 -o delay.heaptap -- "$sampled" clock 3 &
delayed=$!
"$HEAPTAP" run --quiet --duration 2 -o duration.heaptap -- "$sampled" clock 3
same "duration: exit status" 0 $?
wait $delayed
same "delay: exit status" 0 $?
known delay.heaptap "under:early allocations=0" "under:late allocations=1000 live_blocks=1000"
known duration.heaptap "under:early allocations=1000 live_blocks=1000" "under:late allocations=0"

# A child continues in its parent's mode.
HEAPTAP_SEED=5 "$HEAPTAP" run --quiet --no-pack --sample 4K -o forks/ -- "$sampled" forks
same "forks: exit status" 0 $?
for f in forks/*.heaptap; do
    report_json "$f" >"$f.json" 2>/dev/null
    if grep -q '"forked": true' "$f.json"; then
        py in "$f.json" in_child 20000 2000000
    else
        py in "$f.json" small 40000 1920000
    fi
done
same "forks: two profiles" 2 "$(ls forks/*.heaptap | wc -l)"
"$HEAPTAP" report forks >out 2>&1
same "forks: the session adds up" 0 $?
check "forks: its sum has an error" grep -q "±" out

# The operators' inner malloc requests about the mean distance between two samples. The inner call
# is charged first. That charge must be undone, whatever the distance to the next sample.
HEAPTAP_SEED=5 "$HEAPTAP" run --quiet --no-pack --sample 512K -o middle.heaptap -- "$sampled" middle
same "middle: exit status" 0 $?
report_json middle.heaptap >middle.json 2>/dev/null
py near middle.json middle 20000 4000000000

# While the heap only grows, the live blocks are the peak, so both have the same error.
HEAPTAP_SEED=5 "$HEAPTAP" run --quiet --no-pack --sample 4K -o builds.heaptap -- "$sampled" builds
same "builds: exit status" 0 $?
check "builds: the peak has the samples of the live blocks" python3 - "$HEAPTAP" <<'EOP'
import json, subprocess, sys
report = subprocess.run([sys.argv[1], "report", "--json", "builds.heaptap"], capture_output=True)
totals = json.loads(report.stdout)["totals"]
assert totals["live_samples"] > 300, totals
for what in "samples", "bytes_low", "bytes_high", "blocks_low", "blocks_high":
    assert totals["peak_" + what] == totals["live_" + what], (what, totals)
EOP

# Each view marks its numbers as estimates, and also marks those that are too uncertain.
HEAPTAP_SEED=5 "$HEAPTAP" run --quiet --sample 16K -o views.heaptap -- "$sampled" sites
"$HEAPTAP" run --quiet -o exact.heaptap -- "$sampled" sites
HEAPTAP_SEED=6 "$HEAPTAP" run --quiet --sample-count 50 -o calls.heaptap -- "$sampled" sites
for view in "report" "report --by function --alloc" "report --by site --alloc" \
    "report --by line --alloc" "report --by file --alloc" "report --by module --alloc" \
    "report --tree --alloc" "report --invert --alloc" "leaks" "source sampled.cc"; do
    # shellcheck disable=SC2086
    "$HEAPTAP" $view views.heaptap >out 2>err
    same "views: $view" 0 $(($? > 1))
    check "views: $view shows errors" grep -q "±\|few: " out
    # shellcheck disable=SC2086
    "$HEAPTAP" $view exact.heaptap >out 2>err
    check "views: $view shows none for exact numbers" sh -c "! grep -q '±\|few' out"
done
"$HEAPTAP" report --alloc --limit 100 views.heaptap >out
check "views: report marks rare samples" grep -q "(few: " out
for by in function site tree; do
    option="--by $by"
    [ $by = tree ] && option=--tree
    # shellcheck disable=SC2086
    "$HEAPTAP" report --alloc $option --limit 100 views.heaptap >out
    check "views: by $by marks rare samples" grep -q "\<few\>" out
done
"$HEAPTAP" report --by thread views.heaptap >out
check "views: by thread notes that errors are unknown" grep -q "is not known by thread" out
"$HEAPTAP" report calls.heaptap >out
check "views: by calls, bytes are marked as unreliable" grep -q "bytes are not to be trusted" out
check "views: rows in JSON" run_python - "$HEAPTAP" <<'EOP'
import documents, subprocess, sys
def rows(*options):
    out = subprocess.run([sys.argv[1], *options, "--json", "views.heaptap"], capture_output=True)
    return documents.loads(out.stdout)
lists = [rows("report", "--by", by)["rows"] for by in ("function", "line", "file", "module")]
lists += [rows("report", "--tree")["tree"], rows("source", "sampled.cc")["files"][0]["lines"]]
for found in lists:
    for row in found:
        for key in ("allocations", "allocated_bytes", "live_bytes", "peak_bytes"):
            for part in ("", "self_"):
                value = row[part + key]
                assert row[part + key + "_low"] <= value <= row[part + key + "_high"], (key, row)
        assert row["samples"] >= row["self_samples"], row
assert rows("leaks")["total"]["live_bytes_high"] > 480000
EOP

# A recording without any sample must not claim that nothing was allocated.
"$HEAPTAP" run --quiet --sample 1G -o none.heaptap -- "$PROG/article"
report_json none.heaptap >none.json 2>/dev/null
check "no sample: the total has an upper limit" python3 - <<'EOP'
import json
totals = json.load(open("none.json"))["totals"]
assert totals["samples"] == 0 and totals["allocated_bytes"] == 0, totals
assert totals["allocated_bytes_low"] == 0 and totals["live_bytes_low"] == 0, totals
for key in ("allocated_bytes_high", "live_bytes_high", "peak_bytes_high"):
    assert 3.6 * 2 ** 30 < totals[key] < 3.7 * 2 ** 30, (key, totals)
EOP
"$HEAPTAP" report none.heaptap >out
check "no sample: and states it" grep -q "Allocations .*(few: 0 B–3.7 GiB)" out

# A comparison distinguishes growth from noise.
HEAPTAP_SEED=7 "$HEAPTAP" run --quiet --sample 16K -o again.heaptap -- "$sampled" sites
HEAPTAP_SEED=7 "$HEAPTAP" run --quiet --sample 16K -o more.heaptap -- "$sampled" builds
"$HEAPTAP" diff --alloc views.heaptap again.heaptap >out
check "diff: states how both were recorded" grep -q "^Both sampled, one block in 16 KiB" out
check "diff: noise" grep -q "within noise" out
"$HEAPTAP" diff --alloc exact.heaptap again.heaptap >out
check "diff: states that they were recorded differently" grep -q "^Recorded differently" out
"$HEAPTAP" diff --by function --alloc views.heaptap again.heaptap >out
check "diff: noise by function" grep -q "both  *[a-z_]*$" out
"$HEAPTAP" diff exact.heaptap exact.heaptap >out
check "diff: no mention of it when both are exact" sh -c "! grep -q 'noise\|stimate' out"
"$HEAPTAP" diff --alloc --fail-over 1 more.heaptap again.heaptap >out 2>err
same "diff: a growth beyond noise fails" 1 $?
"$HEAPTAP" diff --inuse --fail-over 1 views.heaptap views.heaptap >out 2>err
same "diff: none does not" 0 $?
"$HEAPTAP" leaks --json views.heaptap >leaks.json
low=$(python3 -c 'import json; t = json.load(open("leaks.json"))["total"]
assert 1 < t["live_bytes_low"] < t["live_bytes"]; print(t["live_bytes_low"])')
"$HEAPTAP" leaks --fail-over $((low + 1)) views.heaptap >out 2>err
same "leaks: an amount within the error does not fail" 0 $?
check "leaks: and states it" grep -q "are still live.*so this is no failure" err
"$HEAPTAP" leaks --fail-over $((low - 1)) views.heaptap >out 2>err
same "leaks: more than that fails" 1 $?
"$HEAPTAP" diff --json --alloc views.heaptap again.heaptap >diff.json
check "diff: in JSON" python3 - <<'EOP'
import json
d = json.load(open("diff.json"))
assert d["estimate"] and d["before"]["totals"]["samples"] > 100
for part in [d] + d["rows"]:
    for metric in ("inuse", "peak", "alloc", "count"):
        assert part["growth_low"][metric] <= part["growth"][metric] <= part["growth_high"][metric]
noise = [r for r in d["rows"] if r["growth_low"]["alloc"] <= 0 <= r["growth_high"]["alloc"]]
assert len(noise) >= len(d["rows"]) / 2, (len(noise), len(d["rows"]))
EOP

# Other formats can state this only in comments, or not.
for format in svg pprof; do
    "$HEAPTAP" export -o out.$format views.heaptap
    "$HEAPTAP" export -o exact.$format exact.heaptap
done
check "export: the picture says that it shows estimates" \
    grep -q "<desc>Estimates from [0-9]* samples" out.svg
check "export: and not when it shows none" sh -c "! grep -q stimate exact.svg"
check "export: so does pprof" sh -c "gunzip -c <out.pprof | grep -q 'Estimates from [0-9]* samples'"
check "export: and not without" sh -c "! gunzip -c <exact.pprof | grep -q 'Estimates from'"

# A sample is freed twice, with an allocator that ignores the second free.
HEAPTAP_SEED=1 HEAPTAP_SAMPLE_COUNT=2 HEAPTAP_OUT=$PWD/twice.heaptap \
    LD_PRELOAD="$LIBHEAPTAP $PROG/libbump.so" "$PROG/bad_frees" twice >out 2>&1
known twice.heaptap "free:twice,again,make count=1..10" \
    "losses unknown_frees=1..10 double_frees=1..10"

# No message of the recorder reaches a program with other streams.
HEAPTAP_SAMPLE=garbage HEAPTAP_DELAY=-5 HEAPTAP_SAMPLE_COUNT=99999999999999999999 \
    HEAPTAP_OUT=$PWD/garbage.heaptap LD_PRELOAD=$LIBHEAPTAP "$PROG/article"
same "garbage in the environment: exit status" 0 $?
known garbage.heaptap "total allocations=5 allocated_bytes=11"
finish
