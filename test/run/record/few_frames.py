#!/usr/bin/env python3
"""few_frames.py: check that a recording of N frames equals a whole one whose stacks are truncated.

    few_frames.py N WHOLE.json FEW.json      two reports of the same program, --no-fold

A frame is a physical frame, with its inlined functions. Sites whose innermost N frames are the same
are one site in the recording of N frames, with the sums of their counters.
"""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

KEYS = ("allocations", "allocated_bytes", "frees", "freed_bytes", "reallocations", "live_bytes")


def sites_of(report, depth):
    sites = collections.defaultdict(lambda: [0] * len(KEYS))
    deepest = 0
    for site in report["sites"]:
        stack = [(f["module"], f["offset"]) for f in site["stack"] if not f["inlined"]]
        deepest = max(deepest, len(stack))
        counts = sites[tuple(stack[:depth])]
        for i, key in enumerate(KEYS):
            counts[i] += site[key]
    return dict(sites), deepest


depth = int(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as f:
    whole = documents.load(f)
with open(sys.argv[3], encoding="utf-8") as f:
    few = documents.load(f)
expected, whole_deepest = sites_of(whole, depth)
got, few_deepest = sites_of(few, depth)
if few_deepest > depth or few["process"]["frames_kept"] != depth:
    sys.exit(f"{few_deepest} frames where {depth} were asked for")
if whole_deepest <= depth:
    sys.exit(f"no stack is deeper than {depth} frames, so this shows nothing")
if few["losses"]["truncated_stacks"]:
    sys.exit("the requested cut counts as a loss")
for stack in expected.keys() | got.keys():
    if expected.get(stack) != got.get(stack):
        sys.exit(f"{stack}: {got.get(stack)} instead of {expected.get(stack)}")
