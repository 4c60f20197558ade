#!/usr/bin/env python3
"""distinct.py: the stacks of test/prog/distinct_stacks.c, recorded with and without a limit.

    distinct.py COUNT WHOLE.json BOUNDED.json FEW.json

WHOLE has COUNT + 1 stacks of 27 functions. In BOUNDED, some are truncated: their bytes and calls
are the losses, and whole stacks have the rest. FEW has the 5 innermost frames of each stack.
"""
import json
import sys

LIMIT = 16 << 20
LEAVES = 2  # Number of functions that most stacks end in.
CALLS = 2   # Number of call sites in descend.


class Report:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            document = json.load(f)
        self.losses, self.sites = document["losses"], document["sites"]
        self.recorder, self.totals = document["recorder"], document["totals"]
        stacks, names = document["tables"]["stacks"], document["tables"]["functions"]["name"]
        functions = document["tables"]["frames"]["function"]
        self.leaves = [names[functions[stacks["frame"][i]]] for i in self.sites["stack"]]
        self.depths = [0] * len(stacks["parent"])
        in_program = ("leaf_small", "leaf_middle", "leaf_last", "descend", "main")
        for i in range(1, len(self.depths)):
            function = functions[stacks["frame"][i]]
            known = function is not None and names[function] in in_program
            # A parent is the stack without its innermost frame.
            self.depths[i] = self.depths[stacks["parent"][i]] + known

    def depth(self, i):
        return self.depths[self.sites["stack"][i]]

    def sum_of_cut(self, key):
        return sum(n for n, cut in zip(self.sites[key], self.sites["shortened"]) if cut)

    def leaf(self, name):
        """Return calls, bytes and live blocks of a function."""
        return tuple(sum(n for n, leaf in zip(self.sites[key], self.leaves) if leaf == name)
                     for key in ("allocations", "allocated_bytes", "live_blocks"))


count = int(sys.argv[1])
whole, bounded, few = map(Report, sys.argv[2:])

for report in whole, bounded, few:
    half = count // 2
    assert report.leaf("leaf_small") == (half, 24 * half, 0), report.leaf("leaf_small")
    assert report.leaf("leaf_middle") == (half, 100 * half, 0), report.leaf("leaf_middle")
    assert report.leaf("leaf_last") == (1, 3000, 1), report.leaf("leaf_last")
    assert report.totals["allocated_bytes"] == 124 * half + 3000
    assert report.totals["allocations"] == count + 1
    for loss in "events", "other_site_events", "truncated_stacks", "unknown_frees":
        assert report.losses[loss] == 0, report.losses

assert whole.losses["shortened_stacks"] == whole.losses["shortened_bytes"] == 0, whole.losses
assert len(whole.sites["stack"]) == count + 1, len(whole.sites["stack"])
assert {whole.depth(i) for i in range(count + 1)} == {27}

lost = bounded.losses
assert 0 < lost["shortened_stacks"] < count, lost
assert bounded.sum_of_cut("allocations") == lost["shortened_stacks"]
assert bounded.sum_of_cut("allocated_bytes") == lost["shortened_bytes"]
kept = [i for i, cut in enumerate(bounded.sites["shortened"]) if not cut]
assert {bounded.depth(i) for i in kept} == {27}
assert sum(bounded.sites["allocated_bytes"][i] for i in kept) + lost["shortened_bytes"] == \
    bounded.totals["allocated_bytes"]
assert bounded.recorder["limit_bytes"] == LIMIT, bounded.recorder
# The rest of the limit is for known stacks.
assert LIMIT / 2 < bounded.recorder["memory_bytes"] <= LIMIT, bounded.recorder

assert few.losses["shortened_stacks"] == few.losses["truncated_stacks"] == 0, few.losses
assert not any(few.sites["shortened"])
assert {few.depth(i) for i in range(len(few.sites["stack"]))} == {5}
# The 5 frames are a leaf, its only call, a call that depends on the leaf, and two calls with two
# possible sites each; in addition, there is leaf_last.
assert len(few.sites["stack"]) == LEAVES * CALLS ** 2 + 1, len(few.sites["stack"])
