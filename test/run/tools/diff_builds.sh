#!/usr/bin/env bash
# diff_builds.sh: diff of two builds of a program in different directories, and the rows of a limit
# that was exceeded. If it fails, a gate in CI finds every stack gone and every stack new, or shows
# rows that do not explain its failure.
. "$SRCDIR/test/run/lib.subr"
need python3

mkdir -p one/src two/deeper/src
cat >one/src/app.c <<'END'
#include <stdlib.h>
#include <string.h>
void *volatile kept[4];
__attribute__((noinline)) static void load(size_t size) {
    kept[0] = malloc(size); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) static void sort(size_t size) {
    kept[1] = malloc(size); free(kept[1]); __asm__ volatile("" ::: "memory"); }
int main(int argc, char **argv) {
    load(1 << 20); sort(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000); return 0; }
END
cp one/src/app.c two/deeper/src/
cp one/src/app.c two/deeper/src/helper.c # A file with other functions keeps its own name.
(cd one/src && cc -g -O1 -o app "$PWD/app.c")
(cd two/deeper/src && cc -g -O1 -o app "$PWD/app.c")
record one.heaptap one/src/app
record two.heaptap two/deeper/src/app
record more.heaptap two/deeper/src/app 500000

for by in site function; do
    "$HEAPTAP" diff --json --by "$by" one.heaptap two.heaptap >same.json
    same "by $by: another directory changes nothing" "0 True" "$(python3 -c "
import json
d = json.load(open('same.json'))
print(len(d['rows']), d['unchanged_rows'] >= 2)")"
done
cp one.heaptap one/app.heaptap
cp two.heaptap two/app.heaptap
"$HEAPTAP" diff --flamegraph two.svg one/app.heaptap two/app.heaptap >text
check "a picture of files of one name: their directories" \
    grep -q "From one/app.heaptap to two/app.heaptap" two.svg
"$HEAPTAP" diff --flamegraph two.svg one.heaptap two/app.heaptap >text
check "a picture of other files: their names" grep -q "From one.heaptap to app.heaptap" two.svg
"$HEAPTAP" diff --peak one.heaptap more.heaptap >text
check "growth in another directory is one row" grep -q '^peak: 1 of ' text
check "and its place is that after" grep -q 'src/app.c:7' text

"$HEAPTAP" diff --fail-over peak=1% one.heaptap more.heaptap >text 2>err
same "the peak fails" 1 $?
check "rows explain the peak" grep -q '^peak: 1 of ' text
check "by the stack that grew" grep -q 'sort ' text
"$HEAPTAP" diff --inuse --fail-over peak=1% one.heaptap more.heaptap >text 2>err
same "the peak fails where another metric is asked for" 1 $?
check "and that is shown" grep -q '^in use: 0 of ' text
same "JSON has the metric of its rows" peak "$("$HEAPTAP" diff --json --fail-over peak=1% \
    one.heaptap more.heaptap 2>/dev/null | python3 -c 'import json, sys
print(json.load(sys.stdin)["metric"])')"
finish
