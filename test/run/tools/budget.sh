#!/usr/bin/env bash
# budget.sh: `heaptap budget` and `run --budget`: rules of a file. If it fails, a build passes over
# its budget or without data, or fails within it.
. "$SRCDIR/test/run/lib.subr"
need python3 jq gcc

PATH=$(dirname "$HEAPTAP"):$PATH
cat >prog.c <<'END'
#include <stdlib.h>
#include <string.h>
static void *inner(size_t n) { return malloc(n); }
static void *outer(int depth) { return depth ? outer(depth - 1) : inner(100); }
static int never(int n) { return n + 1; }
int main(int c, char **v)
{
    int n = c > 1 ? atoi(v[1]) : 10;
    for (int i = 0; i < n; i++)
        free(outer(3));
    void *kept = inner(64);
    return c > 2 ? atoi(v[2]) : never((int)strlen(kept ? "" : "x")) != 1;
}
END
gcc -g -O0 -w -o prog prog.c

# judge STATUS NAME [OPTION...]: check the exit status for the rules on stdin and prog.heaptap.
judge() {
    local wanted=$1 name=$2
    shift 2
    cat >rules
    heaptap budget --wide --budget rules "$@" prog.heaptap >out 2>err
    same "$name: exit status" "$wanted" $?
}

heaptap run --quiet -o prog.heaptap -- ./prog
echo "# limits, to the byte"
judge 0 "within" <<'END'
peak <= 100
allocations == 11
alloc of outer == 1000
allocations of outer == 10
self alloc of outer == 0
self alloc of inner == 1064
alloc of path "main > outer > outer > outer > outer > inner" == 1000
alloc of path "main > inner" == 64
leaks == 64
leaks of outer == 0
short-lived <= 100%
allocations of never == 0
maybe allocations of plugin == 0
[program pro?]
inuse <= 64
END
same "within: results" 14 "$(grep -c "^  [a-z]" out)"
judge 1 "over" <<<'peak <= 99'
check "over: message" grep -q 'over  *peak <= 99: 100 B, more than 99 B; most in inner: 100 B' out
judge 1 "under" <<<'allocations == 12'
judge 1 "misspelt" <<<'allocations of otter == 0'
check "misspelt: message" grep -q 'nothing in the process matches' out
judge 3 "no such program" <<<$'[program x]\npeak <= 1M'
judge 3 "no baseline" <<<'peak <= baseline'
judge 2 "syntax" <<<$'peak <= 1X\nnonsense\npeak <= 1\npeak <= 2'
same "syntax: all errors" "rules:1:9 rules:2:1 rules:4:1" \
    "$(sed 's/heaptap: \([^ ]*\): .*/\1/' err | head -3 | tr '\n' ' ' | sed 's/ $//')"
judge 2 "unknown format" --format xml=f <<<'peak <= 1M'
heaptap budget --budget none prog.heaptap 2>err
same "no budget: exit status" 3 $?
heaptap budget prog.heaptap 2>err
same "budget missing: exit status" 2 $?

echo "# one judge"
for limit in 99 100; do
    heaptap run --quiet --force -o one.heaptap --fail-on "peak=$limit" -- ./prog 2>/dev/null
    on=$?
    echo "peak <= $limit" >rules
    heaptap run --quiet --force -o one.heaptap --budget rules -- ./prog 2>/dev/null
    same "as --fail-on: peak=$limit" "$on" $?
done

echo "# growth"
heaptap run --quiet -o more.heaptap -- ./prog 11
mv prog.heaptap base.heaptap
cp more.heaptap prog.heaptap
judge 1 "one allocation more" --baseline base.heaptap <<<'allocations of outer <= baseline'
check "one allocation more: the function" \
    grep -q 'over.* 11, more than 10; most in inner: 11; before: 10' out
judge 0 "tolerance" --baseline base.heaptap <<<'allocations <= baseline + 5% + 1'
judge 0 "percent" --baseline base.heaptap <<<'allocations <= baseline + 10%'
judge 1 "percent: beyond" --baseline base.heaptap <<<'allocations <= baseline + 9%'

echo "# run"
echo 'peak <= 99' >tight
echo 'peak <= 100' >loose
heaptap run --quiet --force -o r.heaptap --budget tight --format json=r.json -- ./prog 2>err
same "run over: exit status" 99 $?
same "run over: JSON" "over 100 99" \
    "$(jq -r '.results[0] | "\(.outcome) \(.value) \(.allowed)"' r.json)"
heaptap run --quiet --force -o r.heaptap --budget tight --format json=r.json -- ./prog 1 7 2>err
same "the program's failure" 7 $?
same "the program's failure: JSON" over "$(jq -r '.results[0].outcome' r.json)"
heaptap run --quiet --force -o r.heaptap --budget loose -- ./prog 2>err
same "run within: exit status" 0 $?
heaptap run --quiet --force -o r.heaptap --budget loose --format json=r.json -- env -i ./prog 2>err
same "unrecorded: exit status" 99 $?
same "unrecorded: JSON" "unknown" "$(jq -r '.results[-1].outcome' r.json)"
heaptap run --quiet --force -o r.heaptap --budget loose --delay 100 -- ./prog 2>err
same "never recorded: exit status" 99 $?

echo "# damaged and incomplete"
heaptap run --quiet --no-pack --force -o whole.heaptap -- ./prog 100
size=$(stat -c %s whole.heaptap)
head -c $((size / 2)) whole.heaptap >prog.heaptap
judge 3 "cut file" <<<'peak <= 1G'
rm prog.heaptap; echo x >prog.heaptap
judge 3 "no profile" <<<'peak <= 1G'
rm prog.heaptap
heaptap run --quiet --force --sample 64K -o prog.heaptap -- ./prog 1000
judge 0 "sampled: within the interval" <<<'alloc <= 100M'
judge 3 "sampled: no interval" <<<'temporary <= 1M'

echo "# width"
heaptap run --quiet --force -o prog.heaptap -- ./prog
long=a_name_that_is_much_longer_than_any_line_of_eighty_columns_may_be_and_even_more
printf '%s\n' "alloc of $long <= 1" \
    'allocations of path "main > outer > outer > outer > outer > inner" <= 1' >rules
COLUMNS=80 heaptap budget --budget rules prog.heaptap >out
same "longest line" yes "$(awk '{ if (length($0) > 80) n++ } END { print n ? "no" : "yes" }' out)"
finish
