"""lisp_chains.py: compare the chains of Lisp functions in a report with those of a Lisp program.

    lisp_chains.py REPORT TRUTH HEAP PACKAGE NAME...

REPORT is JSON. A line of TRUTH is a count and names of functions from the innermost outwards. The
script compares the stacks of the report's objects of HEAP, by the functions NAME of PACKAGE, and
LAMBDA; the function (SETF X) is SETF-X.
"""
import collections
import sys

import chain_counts
import documents


def chain(stack, package, names):
    found = []
    for frame in stack:
        name = frame["function"] or ""
        if name.startswith("(SETF "):
            name = f"{package}::SETF-{name[6:-1].split('::')[-1]}"
        short = name[len(package) + 2:] if name.startswith(package + "::") else name
        if frame.get("language") and short in names and (short != name or short in LOCAL):
            found.append(short)
    return " ".join(found)


# Names without a known package occur in compiled code.
LOCAL = {"LAMBDA", "INNER", "OUTER", "SIDE"}


def main():
    package, names = sys.argv[4], set(sys.argv[5:])
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found = collections.Counter()
    for site in report["sites"]:
        if site.get("heap") == sys.argv[3]:
            found[chain(site["stack"], package, names)] += site["allocations"]
    chain_counts.judge(found, chain_counts.read(sys.argv[2], " "))


if __name__ == "__main__":
    main()
