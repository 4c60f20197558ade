#!/usr/bin/env bash
# page.sh: the page of `heaptap html` in a browser, as a recipient opens it: every view of profiles
# of all kinds, with numbers, links, keys, themes, and hostile names. If it fails, the page shows
# wrong numbers or nothing, or cannot be used on paper or without a mouse. page_layout.sh tests what
# the page looks like.
. "$SRCDIR/test/run/lib.subr"
need node

node --test --test-reporter="$SRCDIR/test/page/reporter.mjs" "$SRCDIR/test/page/view.test.mjs" ||
    failures=$((failures + 1))
[ $failures -eq 0 ] || finish
. "$area/page.subr"
page_tests content
finish
