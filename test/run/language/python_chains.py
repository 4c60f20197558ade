"""python_chains.py: compare the stacks in a report with those that python_moments.py has counted.

    python_chains.py REPORT TRUTH

REPORT is JSON. Of it, blocks of 400,000 bytes and a head count: their frames of Python, innermost
first.
"""
import collections
import json
import sys

import documents


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found, right = collections.Counter(), collections.Counter()
    for site in report["sites"]:
        if site["size_min"] >= 400_000 and site["size_max"] < 400_100:
            found["\t".join(f"{frame['function']}:{frame['line']}:{frame['file']}"
                            for frame in site["stack"] if frame.get("language") == "Python")] += \
                site["allocations"]
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            count, text = line.rstrip("\n").split("\t", 1)
            right[text] += int(count)
    wrong = [text for text in found.keys() | right.keys() if found[text] != right[text]]
    for text in sorted(wrong)[:6]:
        print(f"{found[text]} instead of {right[text]}: {text[:400]}")
    total = sum(right.values())
    print(f"{len(right)} chains, {total} moments, {len(wrong)} chains differ")
    sys.exit(bool(wrong) or total == 0)


if __name__ == "__main__":
    main()
