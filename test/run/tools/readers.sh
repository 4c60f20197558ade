#!/usr/bin/env bash
# readers.sh: read the exports of `heaptap export` again, by a reader of each format that was
# written for this test, and by the tools themselves if `tools/setup readers` has installed them. If
# it fails, users open a profile in a tool and see other numbers than heaptap's, or an error.
. "$SRCDIR/test/run/lib.subr"
need python3

record leak.heaptap "$PROG/slowleak" 20000 20000
"$HEAPTAP" run --quiet --sample 8K -o sample.heaptap -- "$PROG/slowleak" 20000 20000 >/dev/null
python3 "$SRCDIR/test/run/api/tags.py" "$HEAPTAP" make heaps.heaptap
python3 "$SRCDIR/test/run/hostile/hostile.py" "$HEAPTAP" make names hostile.heaptap
export READINGS=$PWD/readings
python3 "$area/readers.py" "$HEAPTAP" || failures=$((failures + 1))

# reading FORMAT CONSUMER PROFILE METRIC VALUE: record a consumer's reading (readings.py).
reading() {
    printf '%s\t' "$1" "$2" "$3" "$4" "$5" >>"$READINGS"
    report_json "$3.heaptap" 2>/dev/null | jq ".totals.$4" >>"$READINGS"
}

# These are 64-bit numbers, and texts with all characters that a row may have.
if command -v sqlite3 >/dev/null && command -v jq >/dev/null; then
    for profile in leak sample odd hostile empty heaps; do
        "$HEAPTAP" export --no-fold -o $profile.csv $profile.heaptap 2>/dev/null
        for column in live_bytes peak_bytes allocated_bytes allocations temporary; do
            reading csv sqlite3 $profile $column "$(sqlite3 :memory: ".mode csv" \
                ".import $profile.csv t" "select coalesce(sum($column), 0) from t" | tr -d '\r')"
        done
    done
else
    echo "ok - sqlite3 .import # SKIP needs sqlite3 and jq"
fi

# One name for each tool, so that skipped ones are listed one by one.
consumer() {
    local name=$1
    shift
    if [ ! -d "$BUILD/readers/node_modules" ]; then
        echo "ok - $name # SKIP tools/setup readers brings it"
    elif ! command -v node >/dev/null || ! command -v chromium >/dev/null; then
        echo "ok - $name # SKIP needs node and chromium"
    else
        check "$name" env NODE_PATH="$BUILD/readers/node_modules" timeout 300 \
            node "$area/readers.js" "$HEAPTAP" "$@"
    fi
}
consumer "speedscope opens our files" speedscope leak.heaptap sample.heaptap hostile.heaptap \
    odd.heaptap empty.heaptap
consumer "DevTools open our files" devtools leak.heaptap sample.heaptap odd.heaptap \
    hostile.heaptap empty.heaptap
consumer "Chromium shows our flame graphs" flamegraph leak.heaptap sample.heaptap odd.heaptap \
    hostile.heaptap empty.heaptap

# The loader of the Firefox Profiler, as a command with its own server, which is stopped at the end.
# The self sizes of all functions add up to the live bytes.
profiler=$BUILD/readers/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
firefox() {
    timeout 60 node "$profiler" "$@" </dev/null
}
# The loader waits half a second for its server, which may be ready later on a busy machine.
load_in_firefox() {
    local attempt
    firefox load "$1.firefox.json" --session "$1" && return
    for attempt in 1 2 3 4 5 6 7 8; do
        sleep 2
        echo "attempt $attempt"
        firefox status --session "$1" && return
    done
    return 1
}
if [ ! -e "$profiler" ] || ! command -v node >/dev/null || ! command -v jq >/dev/null; then
    echo "ok - the Firefox Profiler loads our files # SKIP tools/setup readers brings it"
else
    for profile in leak sample odd hostile empty; do
        "$HEAPTAP" export --no-fold -o $profile.firefox.json $profile.heaptap 2>/dev/null
        check "the Firefox Profiler loads $profile" load_in_firefox $profile
        for strategy in retained-allocations:live_bytes allocations:allocated_bytes; do
            firefox strategy "native-${strategy%:*}" --session $profile >firefox.log 2>&1
            reading firefox "Firefox Profiler" $profile "${strategy#*:}" \
                "$(firefox thread functions --json --session $profile 2>>firefox.log |
                    jq '[.functions[].selfSamples] | add // 0')"
        done
        firefox stop --all >>firefox.log 2>&1
    done
fi
run_python "$SRCDIR/test/run/readings.py" readers "$READINGS" || failures=$((failures + 1))
finish
