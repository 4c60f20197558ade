#!/usr/bin/env bash
# intervals.sh: the arithmetic of the bench's confidence limits (bench/intervals.py). If it fails,
# the ranges that `make bench` prints are wrong.
. "$SRCDIR/test/run/lib.subr"
need python3
run_python - "$SRCDIR/bench" <<'END' || failures=1
import random
import sys

sys.path.insert(0, sys.argv[1])
import intervals
from telling import finish, same

# Ranks and levels match published tables for the sign test at 95 %.
same("5 values have no interval at 95 %: all of them, with their level", (1, 0.9375),
     intervals.rank(5))
same("6 values: the smallest and the largest", (1, 0.96875), intervals.rank(6))
same("9 values: the second from each end", (2, 0.9609375), intervals.rank(9))
same("15 values: the fourth from each end", (4, 0.965), (intervals.rank(15)[0],
                                                         round(intervals.rank(15)[1], 3)))
same("one value encloses nothing", (1, 0.0), intervals.rank(1))
same("no values, no estimate", None, intervals.estimate([]))
e = intervals.estimate([9, 1, 8, 2, 7, 3, 6, 4, 5])
same("median, limits and minimum of 1 to 9", (5, 2, 8, 1, 9),
     (e.median, e.low, e.high, e.minimum, e.count))

# 4,000 samples of a skewed distribution with a known median: the level must be as announced.
r = random.Random(1)
for n in (6, 15, 30):
    hits = 0
    for _ in range(4000):
        e = intervals.estimate([2 ** r.gauss(0, 3) for _ in range(n)])
        hits += e.low <= 1 <= e.high
    same(f"{n} values enclose the true median as often as announced", True,
         abs(hits / 4000 - e.level) < 0.02)
finish()
END
finish
