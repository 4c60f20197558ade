"""rows.py: compare the allocations by function in a report with the program's own counts.

    rows.py REPORT TRUTH

REPORT is JSON; its objects in libgc's heaps are compared. A line of TRUTH is a function, the number
and bytes of the objects, and the number and bytes of live ones. Other lines are ignored.
"""
import sys

import documents


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found, right = {}, {}
    for site in report["sites"]:
        if not site["heap"].startswith("libgc"):
            continue
        row = found.setdefault(site["stack"][0]["function"], [0, 0, 0, 0])
        for i, name in enumerate(("allocations", "allocated_bytes", "live_blocks", "live_bytes")):
            row[i] += site[name]
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) == 5:
                right[words[0]] = [int(word) for word in words[1:]]
    wrong = [name for name in found.keys() | right.keys() if found.get(name) != right.get(name)]
    for name in sorted(wrong):
        print(f"{name}: {found.get(name)} instead of {right.get(name)}")
    print(f"{len(right)} functions, {sum(row[0] for row in right.values())} objects, "
          f"{len(wrong)} functions differ")
    sys.exit(bool(wrong) or not right)


if __name__ == "__main__":
    main()
