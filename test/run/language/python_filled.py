#!/usr/bin/env python3
"""python_filled.py: compare the totals of python_filling.py with those known by construction.

    python_filled.py same WHOLE.json SCARCE.json COUNT   also require equal stacks in both
    python_filled.py full REPORT.json COUNT              also require shortened stacks
"""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

SIZES = {"leaf_a": 5000, "leaf_b": 6000, "leaf_c": 7000}


def stacks_of(report):
    """Return the number of arrays by stack, a tuple of (function, line), innermost first."""
    stacks = collections.Counter()
    for site in report["sites"]:
        names = [(f["function"], f["line"]) for f in site["stack"]]
        if names and names[0][0] in SIZES and site["size_min"] >= 5000:
            size = SIZES[names[0][0]]
            assert size <= site["size_min"] <= site["size_max"] <= size + 64, site["size_max"]
            stacks[tuple(names)] += site["allocations"]
    return stacks


def load(path, count):
    with open(path, encoding="utf-8") as f:
        report = documents.load(f)
    sums = collections.Counter()
    stacks = stacks_of(report)
    for stack, number in stacks.items():
        sums[stack[0][0]] += number
    assert sums == {name: count // 3 for name in SIZES}, f"{path}: {sums}"
    assert report["losses"]["events"] == report["losses"]["other_site_events"] == 0
    return report, stacks


count = int(sys.argv[-1])
if sys.argv[1] == "same":
    whole, stacks = load(sys.argv[2], count)
    scarce, fewer = load(sys.argv[3], count)
    assert stacks == fewer, (stacks - fewer).most_common(2) + (fewer - stacks).most_common(2)
    assert len(stacks) > count // 2
    assert not whole["recorder"]["runtime_left_out"] and scarce["recorder"]["runtime_left_out"]
    assert scarce["losses"]["shortened_stacks"] == 0, scarce["losses"]["shortened_stacks"]
else:
    full, _ = load(sys.argv[2], count)
    assert full["losses"]["shortened_stacks"] > count // 4, full["losses"]["shortened_stacks"]
    assert full["recorder"]["runtime_left_out"]
