"""chain_counts.py: read chains of frames and their counts, from a report and from the counts of a
program. Imported, not run.
"""
import collections
import sys

SHOWN = 10


def read(path, separator):
    """Return a Counter of the chains in the file at PATH, whose lines are a count and a chain."""
    right = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            count, _, text = line.rstrip("\n").partition(separator)
            right[text] += int(count)
    return right


def judge(found, right):
    """Print the chains that differ, and exit: with 1 if any differ, or if there are no chains."""
    wrong = [text for text in found.keys() | right.keys() if found[text] != right[text]]
    for text in sorted(wrong)[:SHOWN]:
        print(f"{found[text]} instead of {right[text]}: {text[:400]}")
    total = sum(right.values())
    print(f"{len(right)} chains, {total} times, {len(wrong)} chains differ")
    sys.exit(bool(wrong) or total == 0)
