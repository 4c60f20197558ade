#!/usr/bin/env bash
# page.sh: the page of `heaptap html` in a browser, as a recipient opens it: every view of profiles
# of all kinds, with numbers, links, keys, themes, and hostile names. If it fails, the page shows
# wrong numbers or nothing, makes network requests, or cannot be used on a phone, on paper or
# without a mouse.
. "$SRCDIR/test/run/lib.subr"
need python3 node

node --test --test-reporter="$SRCDIR/test/page/reporter.mjs" "$SRCDIR/test/page/view.test.mjs" ||
    failures=$((failures + 1))
[ $failures -eq 0 ] || finish
need chromium
[ -d "$BUILD/readers/node_modules/axe-core" ] || skip_all "tools/setup readers brings what it needs"
"$HEAPTAP" html -o none.html --help >/dev/null 2>&1 || skip_all "there is no heaptap html"

record leak.heaptap "$PROG/slowleak" 20000 20000
[ -s "$BUILD/gen/page.html" ] || skip_all "tools/setup build brings what the page is made of"
record before.heaptap "$PROG/slowleak" 5000 20000
cp "$SRCDIR/test/golden/v1/packed.heaptap" past.heaptap
record many.heaptap "$PROG/containers"
"$HEAPTAP" run --quiet --sample 8K -o sample.heaptap -- "$PROG/slowleak" 20000 20000 >/dev/null
"$HEAPTAP" run --quiet --sample 1K -o handed.heaptap -- "$PROG/containers" >/dev/null
"$HEAPTAP" run --quiet --sample 1G -o empty.heaptap -- "$PROG/containers" >/dev/null
"$HEAPTAP" run --quiet -o session.heaptap -- sh -c "$PROG/containers; $PROG/recursive; true" \
    >/dev/null
"$HEAPTAP" merge -o merged.heaptap leak.heaptap before.heaptap >/dev/null
HEAPTAP_NODES=9000 "$HEAPTAP" run --quiet --no-pack -o truncated.heaptap -- \
    "$PROG/distinct_stacks" 20000 >/dev/null
"$HEAPTAP" run --quiet --callers 1/64 -o callers.heaptap -- "$PROG/containers" >/dev/null
# Make a page of a directory with one unreadable profile.
mkdir lacking
cp leak.heaptap before.heaptap lacking
head -c 9000 leak.heaptap >lacking/cut.heaptap
"$HEAPTAP" html -o lacking.html lacking >/dev/null 2>&1
"$HEAPTAP" run --quiet --no-pack -o whole.heaptap -- "$PROG/slowleak" 20000 20000 >/dev/null
head -c 60000 whole.heaptap >cut.heaptap
# Make a page of a running process.
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=live.heaptap "$PROG/slowleak" 1000000 20000 >/dev/null &
for _ in $(seq 400); do
    [ -s live.heaptap ] && break
    sleep 0.05
done
sleep 0.5
"$HEAPTAP" html -o running.html live.heaptap >/dev/null
kill $!
wait
python3 "$SRCDIR/test/run/api/tags.py" "$HEAPTAP" make heaps.heaptap
python3 "$SRCDIR/test/run/hostile/hostile.py" "$HEAPTAP" make names hostile.heaptap

NODE_PATH=$BUILD/readers/node_modules timeout 900 node "$area/page.js" "$HEAPTAP" ||
    failures=$((failures + 1))
finish
