#!/usr/bin/env python3
"""truncated.py: check the root of truncated stacks in documents and collapsed stacks of one
profile.

truncated.py COUNT REPORT.json TREE.json INVERTED.json BYTES.collapsed CALLS.collapsed
"""
import json
import sys

ROOT = "[truncated stacks]"
count = int(sys.argv[1])
documents = []
for path in sys.argv[2:5]:
    with open(path, encoding="utf-8") as f:
        documents.append(json.load(f))
report, tree, inverted = documents
losses = report["losses"]
calls, size = losses["shortened_stacks"], losses["shortened_bytes"]

assert 0 < calls < count, losses
assert 24 * calls < size < 100 * calls + 3000, losses
assert losses["inclusive_is_lower_bound"] is True
assert losses["other_site_events"] == losses["truncated_stacks"] == 0, losses

# Top-down, "truncated" is one node, a root; bottom-up, it is above several stacks.
for nodes, depth in ((tree["tree"], 0), (inverted["tree"], None)):
    rows = [i for i, root in enumerate(nodes["root"]) if root is not None]
    assert {nodes["root"][i] for i in rows} == {ROOT}
    assert depth is None or [nodes["depth"][i] for i in rows] == [depth]
    assert all(nodes["frame"][i] is None for i in rows)
    assert sum(nodes["allocations"][i] for i in rows) == calls
    assert sum(nodes["allocated_bytes"][i] for i in rows) == size

for path, expected, total in ((sys.argv[5], size, report["totals"]["allocated_bytes"]),
                              (sys.argv[6], calls, report["totals"]["allocations"])):
    cut = whole = 0
    with open(path, encoding="utf-8") as f:
        for line in f:
            stack, value = line.rsplit(" ", 1)
            if stack.startswith(ROOT + ";"):
                cut += int(value)
            else:
                whole += int(value)
    assert (cut, cut + whole) == (expected, total), (path, cut, whole)
