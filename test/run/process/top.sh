#!/usr/bin/env bash
# top.sh: `heaptap top` in lines, as text and JSON: a program whose numbers are known at each
# reading, each grouping against `report --json`, samples, ended and damaged profiles, and wrong
# arguments. If it fails, top shows numbers that the profile does not have, or lacks an error.
. "$SRCDIR/test/run/lib.subr"
need python3
export HEAPTAP PROG LIBHEAPTAP
run_python "$area/top.py" || failures=1

wrong() {
    local name=$1 code=$2 text=$3
    shift 3
    "$HEAPTAP" top "$@" >out.txt 2>err.txt </dev/null
    same "$name: exit status" "$code" $?
    check "$name: message" grep -qF -e "$text" err.txt
    check "$name: no output" test ! -s out.txt
}
for interval in 0 -1 x 1x 3601 nan; do
    wrong "interval $interval" 2 "'$interval' is no number of seconds" \
        --interval=$interval a.heaptap
done
wrong "no terminal" 2 "no terminal; use --batch" a.heaptap
wrong "a filter that is no expression" 2 "--filter" --batch --filter '(' a.heaptap
wrong "a missing file" 3 "missing.heaptap" --batch missing.heaptap
wrong "no such process" 3 "no process 4194304" --batch 4194304
sleep 100 &
sleeper=$!
wrong "a process that is not recorded" 3 "heaptap attach $sleeper" --batch $sleeper
kill $sleeper
head -c 5000 a.heaptap >short.heaptap
wrong "a file that is cut short" 3 "short.heaptap is cut short" --batch short.heaptap
head -c -300 a.heaptap >cut.heaptap
"$HEAPTAP" top --batch cut.heaptap >out.txt 2>err.txt
check "a damaged profile is shown as such" grep -q "^cut.heaptap is cut short" out.txt
check "lines fit into 80 columns" awk 'length > 80 { exit 1 }' out.txt
COLUMNS=60 "$HEAPTAP" top --batch a.heaptap >narrow.txt
check "lines fit into 60 columns" awk 'length > 60 { exit 1 }' narrow.txt
HEAPTAP_ASCII=1 COLUMNS=200 "$HEAPTAP" top --batch a.heaptap >ascii.txt
check "ASCII if it is wanted" bash -c "! LC_ALL=C grep -q '[^ -~]' ascii.txt"
finish
