#!/usr/bin/env bash
# live.sh: reports of a running process. If it fails, a live report is inconsistent or refused, or
# stops or disturbs its process.
. "$SRCDIR/test/run/lib.subr"
need python3 jq gcc

# child_of PID: print the pid of the program that `heaptap run` has started.
child_of() {
    pgrep -P "$1" | head -n 1
}

# until_there FILE: wait up to ten seconds until FILE exists.
until_there() {
    local _
    for _ in $(seq 200); do
        [ -e "$1" ] && return
        sleep 0.05
    done
}

# looked_at_often NAME COMMAND...: check that threads waiting in system calls do not notice that
# COMMAND PID stops them, and that a timeout of 200 ms expires although COMMAND stops them more
# often than that.
looked_at_often() {
    local name=$1 _
    shift
    rm -f waiting timed waits.heaptap
    mkfifo waits.in
    "$HEAPTAP" run --quiet -o waits.heaptap -- "$PROG/waits" waiting timed <waits.in >waits.out &
    runner=$!
    exec 9>waits.in
    until_there waiting
    for _ in 1 2 3 4 5 6; do
        "$HEAPTAP" "$@" "$(child_of $runner)" >look.out 2>&1 || cat look.out
    done
    echo >&9
    for _ in $(seq 40); do
        "$HEAPTAP" "$@" "$(child_of $runner)" >look.out 2>&1 || cat look.out
        [ ! -e timed ] || break
    done
    check "$name: a timeout passes" [ -e timed ]
    exec 9>&-
    wait $runner
    same "$name: no call is interrupted" "interrupted 0" "$(cat waits.out)"
    rm waits.in
}
looked_at_often "check PID" check
looked_at_often "core --leaks" core --leaks --pid

# A recorded process that has not allocated has no profile yet.
cat >idle.c <<'C'
#include <unistd.h>
int main(void)
{
    pause();
    return 0;
}
C
gcc -o idle idle.c
"$HEAPTAP" run --quiet -o idle.heaptap -- ./idle 2>idle.err &
runner=$!
for _ in $(seq 200); do
    pid=$(child_of $runner) && [ "$(cat "/proc/$pid/comm")" = idle ] && break
    sleep 0.05
done
sleep 0.2 # Wait until the program's libraries are loaded.
for view in report "html -o idle.html" "snapshot --wait 1"; do
    [[ $view != html* ]] || [ -s "$BUILD/gen/page.html" ] || {
        echo "ok - html of a process without allocations # SKIP heaptap was built without the page"
        continue
    }
    # shellcheck disable=SC2086
    "$HEAPTAP" $view "$pid" $([[ $view != snapshot* ]] || echo name) >idle.out 2>idle.err
    same "${view%% *} of a process without allocations: exit status" 3 $?
    check "${view%% *} of a process without allocations: the message" \
        grep -q "process $pid has recorded nothing yet" idle.err
done
kill "$pid"
wait $runner

# If a process ends while a snapshot waits, its profile is packed nevertheless.
rm -f ending.heaptap
"$HEAPTAP" run -o ending.heaptap -- "$PROG/slow_events" 0 1 100 2000 2>ending.err &
runner=$!
until_there ending.heaptap
sleep 0.2
"$HEAPTAP" snapshot --wait 20 "$(child_of $runner)" name >idle.out 2>idle.err &
asker=$!
wait $runner
check "a snapshot that waits: the profile is packed" \
    bash -c '! grep "still being" ending.err && [ "$(od -An -tu4 -j32 -N4 ending.heaptap)" -eq 3 ]'
wait $asker

# Four threads allocate and free all the time.
"$HEAPTAP" run --quiet -o counted.heaptap -- "$PROG/counted" counts 4 &
runner=$!
until_there counts
pid=$(child_of $runner)
python3 "$area/live.py" "four busy threads" "$pid" 40 || failures=$((failures + 1))
# No command removes the file of a process that writes to it.
for out in counted.heaptap ./counted.heaptap "$PWD/counted.heaptap"; do
    "$HEAPTAP" pack -o "$out" "$pid" >pack.out 2>&1
    same "pack over the profile of a running process" 3 $?
    check "and says so" grep -q 'still writes' pack.out
done
"$HEAPTAP" pack -o copy.heaptap "$pid" >pack.out 2>&1
same "pack beside it" 0 $?
kill -TERM "$pid"
wait $runner 2>/dev/null
same "four busy threads: ended by the signal, not by us" 143 $?
known counted.heaptap "losses events=0" "under:count_alloc allocations>=100000"

# A copy beside the profile is an earlier state of the process, not another process. Without the
# original, it is a profile like any other.
mkdir beside
# beside PROGRAM...: run PROGRAM so that it has children or none, and copy the profile while it
# runs.
beside() {
    rm -rf counts beside/*
    (cd beside && exec "$HEAPTAP" run -o l.heaptap -- "$@" 2>../summary) &
    runner=$!
    until_there counts
    pid=$(pgrep -n -x counted)
    (
        cd beside || exit
        for name in now later; do
            "$HEAPTAP" pack -o $name.heaptap "$pid"
        done
        "$HEAPTAP" core --pid "$pid" -o moment.heaptap
    ) >copies.log 2>&1
    same "copies beside it are made" 3 "$(cd beside && ls now.heaptap later.heaptap moment.heaptap |
        wc -l)"
}
# listed DIRECTORY: print the number of processes in its report.
listed() {
    "$HEAPTAP" report --json "$1" 2>/dev/null | python3 -c '
import json, sys
print(len(json.load(sys.stdin).get("profiles", [0])))'
}
beside "$PROG/counted" "$PWD/counts" 4
same "copies of a running process do not count" 1 "$(listed beside)"
kill -TERM "$pid"
wait $runner 2>/dev/null
check "the summary is of the profile" \
    grep -q '^heaptap: profile l.heaptap ' summary
check "and of nothing else" bash -c '! grep "other\|together\|still being" summary'
same "copies of one that has ended do not count" 1 "$(listed beside)"
"$HEAPTAP" report beside >view.out 2>view.err
check "the session shows the profile" \
    cmp <(sed 1,2d view.out) <("$HEAPTAP" report beside/l.heaptap 2>/dev/null | sed 1,2d)
rm beside/l.heaptap
same "without it the later copy is shown" 1 "$(listed beside)"
check "as a running process" grep -q 'running for' <("$HEAPTAP" report beside 2>/dev/null)
rm beside/now.heaptap beside/later.heaptap
same "a moment alone is shown" 1 "$(listed beside)"
beside bash -c '"$0" "$@"; :' "$PROG/counted" "$PWD/counts" 4
kill -TERM "$pid"
wait $runner 2>/dev/null
others=$(ls beside/l.processes | wc -l)
same "each image counts once" $((others + 1)) "$(listed beside/l.processes)"
check "the summary has each once" grep -q "^heaptap: $others others\? in l.processes: bash " summary
same "files of other processes stay in place" 3 \
    "$(cd beside && ls now.heaptap later.heaptap moment.heaptap | wc -l)"

# heaptap treats a profile that the program has written itself like any file.
mkdir written
(cd written && "$HEAPTAP" run -o l.heaptap -- bash -c 'exec "$0" heaptap >own.heaptap 2>own.log' \
    "$PROG/own_writer") 2>summary
same "a profile that the program has written stays" "l.heaptap own.heaptap" \
    "$(cd written && echo *.heaptap)"
check "and the summary is of the other" grep -q '^heaptap: profile l.heaptap ' summary
same "which alone counts" 1 "$(listed written)"

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
    "$HEAPTAP" run --quiet -o redis.heaptap -- redis-server --port 0 \
        --unixsocket "$PWD/r.sock" --save "" --appendonly no >redis.log 2>&1 &
    runner=$!
    until_there r.sock
    pid=$(child_of $runner)
    redis-benchmark -s r.sock -q -n 100000000 -r 5000 -t set,lpush,lpop,hset >benchmark.log 2>&1 &
    benchmark=$!
    python3 "$area/live.py" "redis-server" "$pid" 15 || failures=$((failures + 1))
    kill $benchmark
    wait $benchmark 2>/dev/null
    same "redis-server still answers" PONG "$(redis-cli -s r.sock ping)"
    redis-cli -s r.sock shutdown nosave
    wait $runner
    same "redis-server: exit status" 0 $?
    known redis.heaptap "losses events=0" "total allocations>=10000"
else
    echo "ok - redis-server # SKIP not installed"
fi
# In a session, all running processes get the request, and ended ones are not an error.
rm -f counts
"$HEAPTAP" run --quiet --no-pack -o session.heaptap -- bash -c \
    'ls >listed; exec "$1" counts 4' - "$PROG/counted" &
runner=$!
until_there counts
pid=$(child_of $runner)
"$HEAPTAP" record --wait 60 session.processes --off >asked 2>asked.err
same "record of a session" 0 $?
same "the running one has taken it" 1 "$(grep -c 'from now on' asked)"
same "and the others are not mentioned" "" "$(cat asked.err)"
kill -TERM "$pid"
wait $runner 2>/dev/null
# A process that keeps its profile in memory maps no file. It is found nevertheless, with all its
# data; the copy in the file would be empty after so few events.
cat >holds.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
main(void)
{
    char *volatile p = malloc(12345);

    rename("holds.starts", "holds.there");
    read(0, p, 1);
    return 0;
}
END
gcc -w -g -O0 -o holds holds.c
gcc -w -g -O0 -static -o holds_static holds.c -Wl,@"$BUILD/libheaptap_static.opt" -L"$BUILD" \
    -lheaptap_static
for program in holds holds_static; do
    rm -f holds.there holds.in
    : >holds.starts
    mkfifo holds.in
    "$HEAPTAP" run --quiet --force --self-contained-core -o holds.heaptap -- ./$program <holds.in &
    runner=$!
    exec 9>holds.in
    until_there holds.there
    pid=$(child_of $runner)
    "$HEAPTAP" report --json "$pid" >holds.json 2>holds.err
    same "$program: report PID of a profile in memory" "true false null [] $pid" "$(jq -r \
        '"\(.totals.live_bytes >= 12345) \(.process.ended) \(.damage) \(.notes)",
        .process.pid' holds.json | paste -sd' ')"
    same "$program: no message" "" "$(cat holds.err)"
    same "$program: leaks PID" 12345 "$("$HEAPTAP" leaks --json "$pid" |
        jq '.leaks.live_bytes[0]')"
    check "$program: html PID" "$HEAPTAP" html --json "$pid"
    "$HEAPTAP" leaks "$pid" >holds.txt
    check "$program: leaks PID names the command that searches for pointers" \
        grep -q "^.heaptap core --pid $pid --leaks. checks it" holds.txt
    exec 9>&-
    wait $runner
    same "$program: leaks of an ended process do not" 0 \
        "$("$HEAPTAP" leaks holds.heaptap | grep -c "core --pid")"
done

# A process with a mapping of 64 MiB, and one without.
cat >maps.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    size_t size = (size_t)atoi(argv[1]) << 20;
    char *mapped =
        mmap(NULL, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *volatile block = malloc(100000), byte;
    memset(mapped, 1, size + 1);
    close(creat("maps.there", 0600));
    return read(0, &byte, 1) > 1 || block == NULL;
}
END
gcc -w -g -O0 -o maps maps.c
for size in 64 0; do
    rm -f maps.there maps.in
    mkfifo maps.in
    "$HEAPTAP" run --quiet --force -o maps.heaptap -- ./maps $size <maps.in &
    runner=$!
    exec 9>maps.in
    until_there maps.there
    pid=$(child_of $runner)
    "$HEAPTAP" report "$pid" >maps.out 2>maps.err
    same "$size MiB mapped: the hint at rss" "$((size > 0))" \
        "$(grep -c "^hint: .* RSS are not in live blocks: heaptap rss $pid divides" maps.err)"
    exec 9>&-
    wait $runner
    same "$size MiB mapped: none after the end" "" \
        "$("$HEAPTAP" report maps.heaptap 2>&1 >maps.out | grep rss)"
done
finish
