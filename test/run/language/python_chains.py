"""python_chains.py: compare the stacks in a report with those that python_moments.py has counted.

    python_chains.py REPORT TRUTH

REPORT is JSON. The script compares the Python frames, innermost first, of all blocks of 400,000
bytes plus an object's header.
"""
import collections
import sys

import chain_counts
import documents


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found = collections.Counter()
    for site in report["sites"]:
        if site["size_min"] >= 400_000 and site["size_max"] < 400_100:
            found["\t".join(f"{frame['function']}:{frame['line']}:{frame['file']}"
                            for frame in site["stack"] if frame.get("language") == "Python")] += \
                site["allocations"]
    for loss, events in report["losses"].items():
        if events and loss in ("other_site_events", "events"):
            print(f"{events} events lost: {loss}")
    chain_counts.judge(found, chain_counts.read(sys.argv[2], "\t"))


if __name__ == "__main__":
    main()
