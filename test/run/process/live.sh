#!/usr/bin/env bash
# live.sh: looking at a process while it runs. If it fails, a live report is inconsistent, refused,
# or stops or disturbs the process it looks at.
. "$SRCDIR/test/run/lib.subr"
need python3

# child_of PID: the program that `heaptap run` has started.
child_of() {
    pgrep -P "$1" | head -n 1
}

# until_there FILE: wait up to ten seconds.
until_there() {
    local _
    for _ in $(seq 200); do
        [ -e "$1" ] && return
        sleep 0.05
    done
}

# Four threads that do nothing but allocate and free.
"$HEAPTAP" run --quiet -o counted.heaptap -- "$PROG/counted" counts 4 &
runner=$!
until_there counts
pid=$(child_of $runner)
python3 "$area/live.py" "four busy threads" "$pid" 40 || failures=$((failures + 1))
# Nothing takes the file away from the process that writes it.
for out in counted.heaptap ./counted.heaptap "$PWD/counted.heaptap"; do
    "$HEAPTAP" pack -o "$out" "$pid" >pack.out 2>&1
    same "pack over the profile of a process that lives" 3 $?
    check "and says so" grep -q 'still writes' pack.out
done
"$HEAPTAP" pack -o copy.heaptap "$pid" >pack.out 2>&1
same "pack beside it" 0 $?
kill -TERM "$pid"
wait $runner 2>/dev/null
same "four busy threads: ended by the signal, not by us" 143 $?
known counted.heaptap "losses events=0" "under:count_alloc allocations>=100000"

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
# Of a session, those that live are asked at once, and those that have ended are no mistake.
rm -f counts
"$HEAPTAP" run --quiet --no-pack -o session.heaptap -- bash -c \
    'ls >listed; exec "$1" counts 4' - "$PROG/counted" &
runner=$!
until_there counts
pid=$(child_of $runner)
"$HEAPTAP" record --wait 60 session.processes --off >asked 2>asked.err
same "record of a session" 0 $?
same "the one that lives has taken it" 1 "$(grep -c 'from now on' asked)"
same "and nothing is said of the others" "" "$(cat asked.err)"
kill -TERM "$pid"
wait $runner 2>/dev/null
finish
