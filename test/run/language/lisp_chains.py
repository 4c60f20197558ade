"""lisp_chains.py: compare the chains of Lisp functions in a report with those of a Lisp program.

    lisp_chains.py REPORT TRUTH HEAP PACKAGE NAME...

REPORT is JSON. A line of TRUTH is a count and names of functions from the innermost out. Of the
report, objects of HEAP count, and of their stacks the functions NAME of PACKAGE, and LAMBDA.
"""
import collections
import sys

import documents


def chain(stack, package, names):
    found = []
    for frame in stack:
        name = frame["function"] or ""
        short = name[len(package) + 2:] if name.startswith(package + "::") else name
        if frame.get("language") and short in names and (short != name or short in LOCAL):
            found.append(short)
    return " ".join(found)


# What no package is known of in compiled code.
LOCAL = {"LAMBDA", "INNER", "OUTER"}


def main():
    package, names = sys.argv[4], set(sys.argv[5:])
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found, right = collections.Counter(), collections.Counter()
    for site in report["sites"]:
        if site.get("heap") == sys.argv[3]:
            found[chain(site["stack"], package, names)] += site["allocations"]
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            count, _, text = line.strip().partition(" ")
            right[text] += int(count)
    wrong = [text for text in found.keys() | right.keys() if found[text] != right[text]]
    for text in sorted(wrong)[:10]:
        print(f"{found[text]} instead of {right[text]}: {text}")
    total = sum(right.values())
    print(f"{len(right)} chains, {total} allocations, {len(wrong)} chains differ")
    sys.exit(bool(wrong) or total == 0)


if __name__ == "__main__":
    main()
