#!/usr/bin/env bash
# page_layout.sh: the layout of the page of `heaptap html` in a browser, with the widths of a phone
# and of larger screens, and axe's findings in light and dark. If it fails, the page makes network
# requests, or parts of it are cut or cannot be read.
. "$SRCDIR/test/run/lib.subr"
. "$area/page.subr"
page_tests layout
finish
