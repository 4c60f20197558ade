#!/usr/bin/env bash
# sample.sh: recording a part. If it fails, estimates are wrong or promise more than they hold, a
# change of the way of recording loses or invents blocks, or a program notices.
. "$SRCDIR/test/run/lib.subr"
need python3
sampled=$PROG/sampled
py() {
    python3 "$SRCDIR/test/run/sample.py" "$@" || failures=$((failures + 1))
}

py coverage "$HEAPTAP" "$sampled" 40 --sample 16K
py coverage "$HEAPTAP" "$sampled" 20 --sample-count 10

# Changes while it runs. The program allocates until it gets a line, so each request is taken.
mkfifo tell heard
"$HEAPTAP" run --quiet --no-pack -o phases.heaptap -- "$sampled" phases <tell >heard &
runner=$!
exec 3>tell 4<heard
step() { # step NAME: let the program go on, until it has done NAME.
    echo go >&3
    read -r -t 60 line <&4
    same "phases: the program goes on to $1" "$1" "$line"
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
step first
check "control: a mark" control --mark "after first"
check "control: from exact to a sample" control --sample 4K
same "control: tells what is in force" "sampled, one block in 4 KiB" \
    "$(control | sed 's/^process [0-9]*: //; s/, since.*//')"
step second
check "control: off" control --off
step third
check "control: a mark while off" control --mark "after third"
check "control: exact again" control --exact
step fourth
wait $runner
same "phases: exit status" 0 $?
exec 3>&- 4<&-
report_json phases.heaptap >phases.json 2>/dev/null
py phases phases.json
check "phases: a packed profile says the same" "$HEAPTAP" pack -o packed.heaptap phases.heaptap
report_json packed.heaptap 2>/dev/null | sed '/"profile"/d; /"file_bytes"/d; /"memory_bytes"/d' \
    >packed.json
sed '/"profile"/d; /"file_bytes"/d; /"memory_bytes"/d' phases.json >unpacked.json
check "phases: to the byte" cmp packed.json unpacked.json

"$HEAPTAP" control phases.heaptap --exact >out 2>&1
same "control: the process has ended" 3 $?
"$HEAPTAP" control packed.heaptap --exact >out 2>&1
same "control: a packed profile" 3 $?
for bad in "--sample 100" "--sample 2T" "--sample-count 1" "--sample 4K --off" "--exact --off" \
    "--mark="; do
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

# A program that allocates nothing cannot take a request; it stays.
"$HEAPTAP" run --quiet --no-pack -o idle.heaptap -- python3 -c 'import time; time.sleep(600)' &
runner=$!
until_there idle.heaptap
sleep 1
"$HEAPTAP" control idle.heaptap --wait 1 --off >out 2>&1
same "control: a program that allocates nothing" 1 $?
check "control: says why" grep -q "only when it allocates" out
kill -TERM "$(pgrep -P $runner | head -n 1)"
wait $runner 2>/dev/null

# The clock. What is recorded must end or begin while the program pumps.
"$HEAPTAP" run --quiet --delay 2 -o delay.heaptap -- "$sampled" clock 3 &
delayed=$!
"$HEAPTAP" run --quiet --duration 2 -o duration.heaptap -- "$sampled" clock 3
same "duration: exit status" 0 $?
wait $delayed
same "delay: exit status" 0 $?
known delay.heaptap "under:early allocations=0" "under:late allocations=1000 live_blocks=1000"
known duration.heaptap "under:early allocations=1000 live_blocks=1000" "under:late allocations=0"

# A child goes on as its parent did.
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

# While the program only builds up, all that lives is the peak, and so is what both may be off by.
HEAPTAP_SEED=5 "$HEAPTAP" run --quiet --no-pack --sample 4K -o builds.heaptap -- "$sampled" builds
same "builds: exit status" 0 $?
check "builds: the peak has the samples of what lives" python3 - "$HEAPTAP" <<'EOP'
import json, subprocess, sys
report = subprocess.run([sys.argv[1], "report", "--json", "builds.heaptap"], capture_output=True)
totals = json.loads(report.stdout)["totals"]
assert totals["live_samples"] > 300, totals
for what in "samples", "bytes_low", "bytes_high", "blocks_low", "blocks_high":
    assert totals["peak_" + what] == totals["live_" + what], (what, totals)
EOP

# A second free of a sample, on an allocator that shrugs it off.
HEAPTAP_SEED=1 HEAPTAP_SAMPLE_COUNT=2 HEAPTAP_OUT=$PWD/twice.heaptap \
    LD_PRELOAD="$LIBHEAPTAP $PROG/libbump.so" "$PROG/bad_frees" twice >out 2>&1
known twice.heaptap "free:twice,again,make count=1..10" \
    "losses unknown_frees=1..10 double_frees=1..10"

# None of it reaches a program with other things on its mind.
HEAPTAP_SAMPLE=garbage HEAPTAP_DELAY=-5 HEAPTAP_SAMPLE_COUNT=99999999999999999999 \
    HEAPTAP_OUT=$PWD/garbage.heaptap LD_PRELOAD=$LIBHEAPTAP "$PROG/article"
same "garbage in the environment: exit status" 0 $?
known garbage.heaptap "total allocations=5 allocated_bytes=11"
finish
