"""chains.py: compare the chains of frames in a report with those that a program has counted.

    chains.py REPORT TRUTH NAME...

REPORT is JSON. A line of TRUTH is a count and the frames from the innermost out: function:line of a
named one, and the C functions that the program tells of. Of the report, stacks with a C function
whose name begins with toy_leaf count, and of these the named frames and the functions NAME.
"""
import collections
import sys

import chain_counts
import documents


def chain(stack, names):
    kept = []
    for frame in stack:
        if frame.get("language"):
            kept.append(f"{frame['function']}:{frame['line']}")
        elif frame["function"] == "toy_leaf_deep" and kept:
            continue  # It calls itself.
        elif frame["function"] in names:
            kept.append(frame["function"])
    return " ".join(kept)


def main():
    names = set(sys.argv[3:])
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found = collections.Counter()
    for site in report["sites"]:
        if any(frame["function"].startswith("toy_leaf") for frame in site["stack"]):
            found[chain(site["stack"], names)] += site["allocations"]
    chain_counts.judge(found, chain_counts.read(sys.argv[2], " "))


if __name__ == "__main__":
    main()
