#!/bin/sh
# picture.sh: draw docs/guide/img/page.png, the page of the demo's profile in a browser.
#
#     demo/picture.sh [FILE]
#
# HEAPTAP is the command, CHROMIUM the browser. A build without node has no page to draw.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
heaptap=$(realpath "${HEAPTAP:-$here/../build/heaptap}")
file=$(realpath "${1:-$here/../docs/guide/img/page.png}")
work=$(mktemp -d "${TMPDIR:-/tmp}/heaptap-picture.XXXXXX")
trap 'rm -rf "$work"' EXIT
filter='group_by(.customer) | map({customer: .[0].customer, orders: length}) | length'

cd "$work"
sh "$here/make_json.sh" >orders.json
"$heaptap" run --quiet -o jq.heaptap -- jq "$filter" orders.json >jq.out 2>&1
"$heaptap" html -o jq.html jq.heaptap >html.out 2>&1
# The scripts of the page run in virtual time, so the picture is complete.
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$work/browser" --window-size=1200,720 --virtual-time-budget=5000 \
    --screenshot="$work/page.png" "file://$work/jq.html" >chromium.out 2>&1 ||
    { cat chromium.out >&2; exit 1; }
mv page.png "$file"
