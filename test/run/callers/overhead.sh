#!/usr/bin/env bash
# overhead.sh: a limit for the cost of recording. If it fails, the share of callers does not follow
# the cost, sums become wrong when it changes, or a report hides the cost.
. "$SRCDIR/test/run/lib.subr"
need python3
py() {
    python3 "$area/overhead.py" "$@" || failures=$((failures + 1))
}

"$HEAPTAP" run --quiet --max-overhead 100% -o cheap.heaptap -- perl -e \
    'for my $i (1 .. 5000000) { $x ^= $i } @a = map { "x$_" } 1 .. 20000' >/dev/null
py exact "$HEAPTAP" cheap.heaptap
py sampled "$HEAPTAP" "$PROG/switched"
py record "$HEAPTAP" "$PROG/switched"
for bad in 5 0% 0.01% 1001% x% -5% 5%x %; do
    "$HEAPTAP" run --max-overhead "$bad" -- true >out 2>&1
    same "run: refuses --max-overhead $bad" 2 $?
done
for other in --callers=1/8 --sample=4K --sample-count=9 --reserve=1G; do
    "$HEAPTAP" run --max-overhead 5% "$other" -- true >out 2>&1
    same "run: refuses --max-overhead with $other" 2 $?
done
"$HEAPTAP" run --max-overhead 5% -o short.heaptap -- sort /dev/null >out 2>&1
check "the summary shows the limit" grep -q 'recorded exact.*; cost .*5 %' out
"$HEAPTAP" report short.heaptap >out 2>&1
check "a report shows the limit" grep -q '^cost .*5 %' out
finish
