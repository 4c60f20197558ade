"""chains.py: compare the chains of frames in a report with those that a program has counted.

    chains.py REPORT TRUTH FIRST NAME...

REPORT is JSON. A line of TRUTH is a count and the frames from the innermost outwards: function:line
of a frame of the language, and the C functions that the program records. The script compares the
report's stacks with a C function whose name begins with toy_leaf, by their frames of the language
and the functions NAME. FIRST is the number of frames to compare, from the innermost on, because a
profile truncates deep stacks; 0 means all.
"""
import collections
import sys

import chain_counts
import documents


def chain(stack, names, first):
    kept = []
    for frame in stack:
        if frame.get("language"):
            kept.append(f"{frame['function']}:{frame['line']}")
        elif frame["function"] == "toy_leaf_deep" and kept:
            continue  # The function is recursive.
        elif frame["function"] in names:
            kept.append(frame["function"])
    return " ".join(kept[:first])


def main():
    first, names = int(sys.argv[3]) or None, set(sys.argv[4:])
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found = collections.Counter()
    for site in report["sites"]:
        if any(frame["function"].startswith("toy_leaf") for frame in site["stack"]):
            found[chain(site["stack"], names, first)] += site["allocations"]
    right = collections.Counter()
    for text, count in chain_counts.read(sys.argv[2], " ").items():
        right[" ".join(text.split()[:first])] += count
    chain_counts.judge(found, right)


if __name__ == "__main__":
    main()
