#!/usr/bin/env python3
"""truncated_diff.py: check the root of truncated stacks in comparisons of a profile without such
stacks and one with them.

truncated_diff.py REPORT.json BY_SITE.json BY_FUNCTION.json

REPORT is the report of the second profile.
"""
import sys

import documents

ROOT = "[truncated stacks]"


def read(path):
    with open(path, encoding="utf-8") as f:
        return documents.load(f)


report, by_site, by_function = (read(path) for path in sys.argv[1:4])
losses = report["losses"]
calls, size = losses["shortened_stacks"], losses["shortened_bytes"]
assert calls > 0, losses

for document in (by_site, by_function):
    assert document["inclusive_is_lower_bound"] is True
    assert document["truncated_before"]["allocations"] == 0
    assert document["truncated_after"]["allocations"] == calls
    assert document["truncated_after"]["allocated_bytes"] == size

rows = [row for row in by_site["rows"] if row["stack"][-1]["function"] == ROOT]
assert sum(row["after"]["allocations"] for row in rows) == calls
assert sum(row["before"]["allocations"] for row in rows) == 0, rows
assert not any(f["function"] == ROOT for row in by_site["rows"] for f in row["stack"][:-1])

(row,) = [row for row in by_function["rows"] if row["function"] == ROOT]
assert row["after"]["allocations"] == 0
assert row["inclusive_after"]["allocated_bytes"] == size
assert row["inclusive_growth"]["alloc"] == size
