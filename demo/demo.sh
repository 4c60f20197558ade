#!/bin/sh
# demo.sh: record jq grouping 5 MB of JSON and show the report. `make demo` runs it.
#
# HEAPTAP is the command. The profile stays in a temporary directory, which the last lines print.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
heaptap=$(realpath "${HEAPTAP:-$here/../build/heaptap}")
work=$(mktemp -d "${TMPDIR:-/tmp}/heaptap-demo.XXXXXX")
filter='group_by(.customer) | map({customer: .[0].customer, orders: length}) | length'

command -v jq >/dev/null || { echo "demo: jq is missing; run tools/setup demo" >&2; exit 1; }
cd "$work"
sh "$here/make_json.sh" >orders.json
bytes=$(wc -c <orders.json)

echo "jq, the JSON processor of this system, groups $bytes bytes of generated orders by customer."
echo "heaptap records every allocation with its call stack. The commands:"
echo
echo "    heaptap run -o jq.heaptap -- jq '$filter' orders.json"
echo "    heaptap report jq.heaptap"
echo
customers=$("$heaptap" run --quiet -o jq.heaptap -- jq "$filter" orders.json)
echo "Output of jq: $customers customers. The report:"
echo
"$heaptap" report jq.heaptap
echo
echo "Peak is the most memory that jq held at one time. Each row shows a function that allocated"
echo "part of it, with its callers beneath. #1 is the number of that stack in every view. jq is"
echo "stripped, so a function without a name is shown by its address (libjq.so.1+0x1bd40…)."
echo
echo "The profile is $work/jq.heaptap ($(wc -c <jq.heaptap) bytes). Try:"
echo "    $heaptap report --full $work/jq.heaptap"
echo "    $heaptap export --peak -o jq.svg $work/jq.heaptap"
# Without node the build makes no page, and reports that.
if "$heaptap" html -o jq.html jq.heaptap >/dev/null 2>&1; then
    echo
    echo "All views in one page, for a browser: $work/jq.html"
fi
