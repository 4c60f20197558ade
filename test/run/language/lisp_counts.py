"""lisp_counts.py: compare the number of objects of a Lisp type that each function made with a
report.

    lisp_counts.py REPORT HEAP FUNCTION=COUNT...

REPORT is JSON. A function is charged with all objects made while it ran.
"""
import sys

import documents


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    wrong = 0
    for what in sys.argv[3:]:
        name, _, count = what.rpartition("=")
        made = sum(site["allocations"] for site in report["sites"]
                   if site.get("heap") == sys.argv[2] and
                   any(frame["function"] == name for frame in site["stack"]))
        print(f"{name} made {made} of {count}")
        wrong += made != int(count)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
