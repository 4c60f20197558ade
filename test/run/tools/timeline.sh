#!/usr/bin/env bash
# timeline.sh: views of past moments, and `heaptap timeline`. If it fails, a growing leak is missed,
# or other growth is called a leak, or numbers of one moment are shown for another.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc jq

part() {
    python3 "$area/timeline.py" "$HEAPTAP" "$@" || failures=$((failures + 1))
}
part moments
part thinned
part damaged
part chart
part recorded "$PROG/history_known" "$LIBHEAPTAP"

# A program leaks a cache entry every few thousand requests, among megabytes of churn.
"$HEAPTAP" run --quiet --no-pack -o leak.heaptap -- "$PROG/slowleak" 120000 20000 >leak.out
same "slowleak: the lost entries" "30 lost" "$(cat leak.out)"
"$HEAPTAP" timeline --json leak.heaptap >leak.json 2>leak.err
same "slowleak: the stack that loses entries grows, and it alone" "new_entry look_up" "$(
    run_python -c 'import documents
rows = documents.load(open("leak.json"))["rows"]
print(*(f["function"] for r in rows if r["trend"] == "grows" for f in r["stack"][:2]))')"

# Growing stacks come first. If only one frame would be omitted, the frame replaces the line about
# omitted frames.
frames() {
    "$HEAPTAP" timeline --depth "$1" leak.heaptap 2>depth.err |
        awk '/^#/ { n++ } n == 1 && /slowleak\.c:/ { f++ } n == 1 && /more frame/ { left = $2 }
             END { print f + 0, left + 0 }'
}
same "--depth 1" "1 3" "$(frames 1)"
same "--depth 2" "2 2" "$(frames 2)"
same "--depth 3: all four" "4 0" "$(frames 3)"
same "--depth 12" "4 0" "$(frames 12)"

# In a sample, all numbers are estimates, with unknown errors at a moment.
"$HEAPTAP" run --quiet --no-pack --sample 32K -o sample.heaptap -- "$PROG/slowleak" 20000 20000 \
    >sample.out
"$HEAPTAP" report --at -300ms sample.heaptap >sample.txt 2>sample.err
check "sampled: a moment is marked as an estimate" grep -q \
    "Estimates; error bounds exist for the whole run only" sample.txt
"$HEAPTAP" report --json --at -300ms sample.heaptap >sample.json 2>sample.err
check "sampled: without intervals" run_python -c 'import documents
r = documents.load(open("sample.json"))
assert 4 * 10**6 < r["totals"]["live_bytes"] < 9 * 10**6, r["totals"]
assert "live_bytes_low" not in r["totals"] and "samples" not in r["sites"][0]'

# The second process of a session starts when the first has ended. Times count from the start of the
# first.
mkdir one_after_another
for n in 1 2; do
    "$HEAPTAP" run --quiet --no-pack -o one_after_another/$n.heaptap -- \
        "$PROG/slow_events" 0 5 1000 200
done
session_at() {
    "$HEAPTAP" report --json "$@" one_after_another >session.json && jq -r \
        '[.profiles[] | .process.profile[-9:-8] as $n | (.at // .to) as $at |
          "\($n) \($at.process) \(.totals.allocations > 0) \(.totals.live_blocks > 0) " +
          "\($at.unreached_ns)"] | sort | join(", ")' session.json
}
same "session: the second process has not started" \
    "1 running true true null, 2 not started false false null" "$(session_at --at 500ms)"
same "session: the first process has ended" \
    "1 ended true false null, 2 running true true null" "$(session_at --at -300ms)"
same "session: a time after all" \
    "1 ended true false 3600000000000, 2 running true true 3600000000000" "$(session_at --at 1h)"
same "session: a time between two moments of the first" \
    "1 running true true null, 2 not started false false null" \
    "$(session_at --between 300ms..700ms)"
"$HEAPTAP" report --at 50s one_after_another >session.txt
same "session: the text has both" "At that time: 1 had ended; all ended before 50.00 s" \
    "$(grep '^At that time' session.txt)"
same "one process: a time after the end is stated" "the run did not reach 50.00 s" "$(
    "$HEAPTAP" report --at 50s one_after_another/1.heaptap | sed -n 's/^As it was at .*; //p')"

# Users request snapshots by pid and for a session; some requests are refused.
"$HEAPTAP" run --quiet --no-pack -o asked.heaptap -- bash -c \
    '"$0" 1000000 20000 & echo $! >one; "$0" 1000000 20000 & echo $! >two; wait' \
    "$PROG/slowleak" >/dev/null 2>&1 &
session=$!
for _ in $(seq 400); do
    [ -s two ] && [ "$(ls asked.processes 2>/dev/null | wc -l)" -ge 2 ] && break
    sleep 0.05
done
sleep 1
check "snapshot: by pid" "$HEAPTAP" snapshot --wait 60 "$(cat one)" early
sleep 1
# The shell waits for its children and allocates nothing, so it takes no snapshot.
"$HEAPTAP" snapshot --wait 6 asked.processes both >both.out 2>&1
same "snapshot: of a session, which an idle process does not hold up" "1 2" \
    "$? $(grep -c "snapshot 'both'" both.out)"
kill "$(cat one)" "$(cat two)"
wait $session
"$HEAPTAP" report --json --at early --only slowleak asked.processes >early.json 2>early.err
same "snapshot: one process has the first, and the other is left out" "1 1 $(cat one)" "$(
    jq -r '"\(.profiles | length) \(.left_out) \(.profiles[0].process.pid)"' early.json)"
"$HEAPTAP" report --json --between both..end --only slowleak asked.processes >both.json 2>both.err
check "snapshot: both have the second" python3 -c 'import json
d = json.load(open("both.json"))
assert len(d["profiles"]) == 2, d
assert all(p["from"]["name"] == "both" and p["totals"]["allocations"] > 100 for p in d["profiles"])'
"$HEAPTAP" diff --only slowleak asked.processes@both asked.processes@end >view.out 2>view.err
same "diff: all processes have the second" 0 $?
"$HEAPTAP" diff --only slowleak asked.processes@early asked.processes@end >view.out 2>view.err
same "diff: one lacks the first" "3 1" \
    "$? $(grep -c "the sum needs the moment 'early' of each process" view.err)"
refuses() {
    local status=$1 what=$2
    shift 2
    "$HEAPTAP" snapshot "$@" >refused.out 2>&1
    same "snapshot: $what" "$status" $?
}
refuses 2 "a name of 33 bytes" asked.heaptap "$(printf '%033d' 0)"
refuses 2 "no name" asked.heaptap ""
refuses 2 "a wait of a day" --wait 86400 asked.heaptap name
refuses 3 "a process that has ended" asked.heaptap name
refuses 3 "no such file" nothing.heaptap name

# The memory of a program at rest: 110 MiB of blocks, 60.6 MiB left, then no events for a second.
cat >rests.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *blocks[11264];
static void pass(void)
{
    for (int i = 0; i < 1024; i++) {
        void *volatile p = malloc(8);
        free(p);
    }
}
int main(int count, char **words)
{
    for (int i = 0; i < 11264; i++)
        blocks[i] = malloc(10240);
    usleep(50000);
    pass();
    for (int i = 0; i < 5060; i++)
        free(blocks[i]);
    usleep(count > 1 && *words[1] == 'l' ? 5000000 : 1000000);
    if (count > 1 && *words[1] == 's')
        raise(SIGUSR2);
    usleep(100000);
    if (count > 1 && *words[1] != 'l')
        pass();
    return 0;
}
C
gcc -g -O1 -o rests rests.c
# rested NAME WHAT: check that live bytes in the curve of WHAT stay constant from 0.4 s after the
# peak on.
rested() {
    "$HEAPTAP" timeline --json "$2" >rested.json 2>rested.err
    check "$1" run_python -c 'import documents
t = documents.load(open("rested.json"))
points, values = t["points"], t["total"]["values"]
peak = values.index(max(values))
then = points[peak]["elapsed_ns"] + 4 * 10**8
assert points[-1]["elapsed_ns"] > then, points
shown = [v for p, v in zip(points, values) if p["elapsed_ns"] <= then][-1]
assert values[peak] > 109 << 20 and shown < 61 << 20, (values, points)'
}
record rests.heaptap ./rests
rested "a rest at the end" rests.heaptap
"$HEAPTAP" run --quiet -o passed.heaptap -- ./rests pass
rested "a rest before other events" passed.heaptap
"$HEAPTAP" run --quiet --no-pack --snapshot-signal USR2 -o signalled.heaptap -- ./rests signal
rested "a snapshot during a rest" signalled.heaptap
check "a snapshot during a rest: times rise with ids" \
    run_python "$SRCDIR/test/run/record/history.py" signalled.heaptap order
"$HEAPTAP" run --quiet -o resting.heaptap -- ./rests long &
run=$!
for _ in $(seq 200); do
    resting=$(pgrep -P $run) && [ -n "$resting" ] && break
    sleep 0.05
done
sleep 2
rested "a rest that lasts" "$resting"
wait $run

# Periodic snapshots of a program would soon have filled HISTORY.
cat >churns.c <<'C'
#include <stdlib.h>
#include <unistd.h>
static __attribute__((noinline)) void *deep(unsigned way, int depth, size_t size)
{
    void *volatile p;
    if (depth == 0)
        return malloc(size);
    if (way & 1) {
        p = deep(way >> 1, depth - 1, size);
        return p;
    }
    p = deep(way >> 1, depth - 1, size);
    __asm__ volatile("");
    return p;
}
int main(void)
{
    static void *held[4096];
    unsigned r = 1;
    for (int i = 0; i < 400000; i++) {
        r = r * 1664525 + 1013904223;
        free(held[r >> 10 & 4095]);
        held[r >> 10 & 4095] = deep(r >> 20, (int)(r >> 8) % 12 & 15, 16 + (r >> 16) % 2000);
        if (i % 2000 == 0)
            usleep(10000);
    }
    return 0;
}
C
gcc -g -O1 -o churns churns.c
"$HEAPTAP" run --quiet --reserve 64M --snapshot-every 0.05 -o churns.heaptap -- ./churns
"$HEAPTAP" timeline --json churns.heaptap >churns.json
"$HEAPTAP" report --json churns.heaptap >churns_report.json 2>churns.err
check "periodic snapshots thin out before HISTORY is full" run_python -c 'import documents
t, r = documents.load(open("churns.json")), documents.load(open("churns_report.json"))
points = t["points"]
assert r["losses"]["history_records"] == 0, r["losses"]
assert max(t["total"]["values"]) <= t["totals"]["peak_bytes"], t
assert len([p for p in points if p["kind"] == "period"]) > 1, points
assert points[-2]["elapsed_ns"] > t["process"]["elapsed_ns"] / 8, points'

# The run time of a killed process, which runs no exit handler. `run` waits for the first process
# (also after its exec), so that run time is exact; it does not wait for others, so their run time
# is a lower bound.
naps='use POSIX; my @kept = (1 .. 1000); select(undef, undef, undef, 0.6);'
killed='kill 9, $$;'
# elapsed OF...: print "ran" or "at least", and whether the time matches the nap's.
elapsed() {
    "$HEAPTAP" report --json ended.heaptap 2>ended.err | python3 -c 'import json, sys
process = json.load(sys.stdin)["process"]
print("at least" if process["elapsed_is_least"] else "ran", process["elapsed_ns"] >= 6e8)'
}
for packed in "" --no-pack; do
    # shellcheck disable=SC2086 # An option or nothing.
    "$HEAPTAP" run --quiet --force --no-children $packed -o ended.heaptap -- \
        perl -e "$naps $killed" 2>ended.err
    same "killed $packed: its end is known" "ran True" "$(elapsed)"
    # shellcheck disable=SC2086
    "$HEAPTAP" run --quiet --force --no-children $packed -o ended.heaptap -- \
        sh -c 'exec perl -e "$0 POSIX::_exit(0);"' "$naps"
    same "ended by _exit after exec $packed: its end is known" "ran True" "$(elapsed)"
    # shellcheck disable=SC2086
    "$HEAPTAP" run --quiet --force --only perl $packed -o ended.heaptap -- \
        sh -c 'perl -e "$0"; :' "$naps $killed" 2>ended.err
    same "killed $packed: nobody waited for the child of a child" "at least False" "$(elapsed)"
    same "killed $packed: also in text" 1 "$("$HEAPTAP" report ended.heaptap 2>ended.err |
        grep -c 'ran at least ')"
done
same "one that ended itself did not" 0 "$("$HEAPTAP" report rests.heaptap | grep -c 'at least')"

# If the process is killed, the timeline is equally complete.
"$HEAPTAP" run --quiet --no-pack -o killed.heaptap -- bash -c \
    'exec "$0" 10000000 20000 & sleep 4; kill -9 $!; wait' "$PROG/slowleak" >/dev/null 2>&1
"$HEAPTAP" timeline --only slowleak --json killed.processes >killed.json 2>killed.err
check "killed: the timeline continues to the end" run_python -c 'import documents
t = documents.load(open("killed.json"))
points, total = t["points"], t["total"]["values"]
assert len(points) > 100 and points[-1]["elapsed_ns"] - points[-2]["elapsed_ns"] < 2 * 10**9, points
assert total[-1] == t["totals"]["live_bytes"] and min(total[20:]) > 10**6, total
assert [r["stack"][1]["function"] for r in t["rows"] if r["trend"] == "grows"] == ["look_up"]'
check "killed: and packs" "$HEAPTAP" pack killed.processes

# The summary of a run and the report mention growth, from ten seconds on. If all of it was freed at
# the end, both say so.
"$HEAPTAP" run --force -o kept.heaptap -- "$PROG/grown" keep 2>kept.err &
"$HEAPTAP" run --force -o freed.heaptap -- "$PROG/grown" free 2>freed.err
wait
growth() { # growth NAME: print the line of the summary, and the line of the report
    sed -n 's/^heaptap: \(gr[a-z ]*: grow (grown.c:15), \).*/\1/p' "$1.err"
    "$HEAPTAP" report "$1.heaptap" 2>report.err |
        sed -n '/^Growing to the end/,$s/^ *+.*min *#1  grow  .*grown.c:15\(.*\)/report\1/p'
}
same "grown: what is still live" \
    "growing to the end: grow (grown.c:15), report" "$(growth kept | tr -d '\n')"
same "grown: what was freed" \
    "grew until freed at the end: grow (grown.c:15), report, freed at the end" \
    "$(growth freed | tr -d '\n')"
check "grown: the lines fit into 60 columns" \
    test "$(COLUMNS=60 "$HEAPTAP" report freed.heaptap 2>/dev/null | wc -L)" -le 60
finish
