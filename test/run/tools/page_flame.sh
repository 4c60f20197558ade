#!/usr/bin/env bash
# page_flame.sh: the flame graph on the page of `heaptap html` in a browser. The frames that keys
# select, the labels and the drawing are compared with the command's tree. If it fails, the picture
# is wrong, or only users with sight and a mouse can use it.
. "$SRCDIR/test/run/lib.subr"
need python3 node chromium
[ -d "$BUILD/readers/node_modules/playwright-core" ] || skip_all "tools/setup readers brings it"
[ -s "$BUILD/gen/page.html" ] || skip_all "tools/setup build brings what the page is made of"
record leak.heaptap "$PROG/slowleak" 120000 20000
check "a page" "$HEAPTAP" html -o leak.html leak.heaptap
record before.heaptap "$PROG/slowleak" 20000 20000
record recursive.heaptap "$PROG/recursive"
record containers.heaptap "$PROG/containers"
python3 "$SRCDIR/test/run/hostile/hostile.py" "$HEAPTAP" make names hostile.heaptap

NODE_PATH=$BUILD/readers/node_modules timeout 250 node "$area/page_flame.js" "$HEAPTAP" ||
    failures=$((failures + 1))
finish
