#!/usr/bin/env bash
# readers.sh: what `heaptap export` writes for other tools, read again: by a reader of each format
# that was written for this test, and by the tools themselves where `tools/setup readers` has
# brought them. If it fails, somebody opens a profile in the tool of their choice and sees other
# numbers than heaptap's, or an error.
. "$SRCDIR/test/run/lib.subr"
need python3

record leak.heaptap "$PROG/slowleak" 20000 20000
"$HEAPTAP" run --quiet --sample 8K -o sample.heaptap -- "$PROG/slowleak" 20000 20000 >/dev/null
python3 "$SRCDIR/test/run/api/tags.py" "$HEAPTAP" make heaps.heaptap
python3 "$SRCDIR/test/run/hostile/hostile.py" "$HEAPTAP" make names hostile.heaptap
python3 "$area/readers.py" "$HEAPTAP" || failures=$((failures + 1))

# Numbers of 64 bits, and texts with everything in them that a row may have.
if command -v sqlite3 >/dev/null && command -v jq >/dev/null; then
    for profile in leak odd; do
        "$HEAPTAP" export -o $profile.csv $profile.heaptap
        sqlite3 :memory: ".mode csv" ".import $profile.csv t" \
            "select sum(live_bytes), sum(peak_bytes), sum(allocations) from t" |
            tr -d '\r' >$profile.sums
        same "sqlite3 .import: the totals of $profile" "$(report_json $profile.heaptap |
            jq -r '.totals | "\(.live_bytes),\(.peak_bytes),\(.allocations)"')" \
            "$(cat $profile.sums)"
    done
else
    echo "ok - sqlite3 .import # SKIP needs sqlite3 and jq"
fi

# One name for each tool, so that what was skipped is told one by one.
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
consumer "speedscope shows our totals" speedscope leak.heaptap sample.heaptap hostile.heaptap
consumer "DevTools show our totals" devtools leak.heaptap sample.heaptap odd.heaptap

# The loader of the Firefox Profiler, as a command with a server of its own, which is stopped. What
# its functions hold themselves adds up to what is live.
profiler=$BUILD/readers/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
firefox() {
    timeout 60 node "$profiler" "$@" </dev/null
}
if [ ! -e "$profiler" ] || ! command -v node >/dev/null || ! command -v jq >/dev/null; then
    echo "ok - the Firefox Profiler shows our totals # SKIP tools/setup readers brings it"
else
    for profile in leak sample; do
        "$HEAPTAP" export -o $profile.firefox.json $profile.heaptap
        firefox load $profile.firefox.json >firefox.log 2>&1
        for strategy in retained-allocations:live_bytes allocations:allocated_bytes; do
            firefox strategy "native-${strategy%:*}" >>firefox.log 2>&1
            same "the Firefox Profiler, $profile: ${strategy%:*}" \
                "$(report_json $profile.heaptap | jq ".totals.${strategy#*:}")" \
                "$(firefox thread functions --json 2>>firefox.log |
                    jq '[.functions[].selfSamples] | add')"
        done
        firefox stop --all >>firefox.log 2>&1
    done
fi
finish
