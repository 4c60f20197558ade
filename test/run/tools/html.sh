#!/usr/bin/env bash
# html.sh: `heaptap html`: the contents of a page, and the refusals. If it fails, a page shows other
# numbers than the views, cannot be read, or has replaced a user's file.
#
# page.sh tests the page in a browser.
. "$SRCDIR/test/run/lib.subr"
need python3 make pgrep

record containers.heaptap "$PROG/containers"
record arenas.heaptap "$PROG/two_arenas"
record typed.heaptap "$PROG/typed"
record recursive.heaptap "$PROG/recursive"
record workers.heaptap "$PROG/workers"
"$HEAPTAP" run --quiet -o python.heaptap -- python3 -c 'print([str(i) for i in range(9999)])' \
    >/dev/null
"$HEAPTAP" run --quiet --no-pack -o leak.heaptap -- "$PROG/slowleak" 120000 20000 >leak.out
"$HEAPTAP" run --quiet --no-pack -o before.heaptap -- "$PROG/slowleak" 30000 20000 >before.out
"$HEAPTAP" run --quiet --sample 4K -o sampled.heaptap -- "$PROG/sampled" >/dev/null 2>&1
"$HEAPTAP" run --quiet --sample 1T -o none.heaptap -- "$PROG/recursive" >/dev/null 2>&1
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=known.heaptap HEAPTAP_SNAPSHOT_SIGNAL=$(kill -l USR1) \
    "$PROG/history_known" 1 3000 40 1 exit >known.out

run_python "$area/html_document.py" data "$HEAPTAP" || failures=$((failures + 1))

# Make a page of a running process, whose profile is written while it is read.
"$HEAPTAP" run --quiet --no-pack -o live.heaptap -- "$PROG/slowleak" 1000000 20000 >live.out 2>&1 &
runner=$!
for _ in $(seq 400); do
    pid=$(pgrep -P $runner slowleak) && [ -s live.heaptap ] && break
    sleep 0.05
done
sleep 1
"$HEAPTAP" html --json "$pid" >live.json 2>live.err
same "a running process: status" 0 $?
check "a running process: its page is of now" python3 -c 'import json
report = json.load(open("live.json"))["report"]
assert not report["process"]["ended"] and report["totals"]["allocations"] > 1000, report["totals"]
assert report["history"]["points"][-1]["kind"] == "end", report["history"]["points"][-1]'
kill "$pid"
wait $runner

# A source that only its owner may read is never included, and neither is a source that is too
# large.
mkdir -p moved/prog
cp "$SRCDIR/test/prog/typed.c" moved/prog/
run_python "$area/html_document.py" sources "$HEAPTAP" "$SRCDIR/test/prog/typed.c" ||
    failures=$((failures + 1))

# The build had no node, or lacked the page's packages.
make -C "$SRCDIR" BUILD="$PWD/built" PAGE_DIR="$PWD/nothing" "$PWD/built/gen/page.html" \
    >make.out 2>make.err
same "without node: the build continues, and names the missing program" "0 1" \
    "$? $(grep -c 'heaptap html will have no page: tools/setup build' make.err)"
same "without node: the page is empty" "0" "$(stat -c %s built/gen/page.html)"

run_python "$area/html_document.py" pages "$HEAPTAP" || failures=$((failures + 1))
finish
