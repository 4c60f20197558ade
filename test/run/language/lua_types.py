"""lua_types.py: compare the types of objects in a report with the script's objects.

    lua_types.py REPORT MADE

REPORT is JSON. A line of MADE is a function, a type, and the number of its objects that the
function made, directly or by a function of Lua's library.
"""
import collections
import sys

import documents


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found = collections.Counter()
    for site in report["sites"]:
        kind = (site["labels"] or {}).get("lua")
        for name in {frame["function"] for frame in site["stack"]}:
            found[name, kind] += site["allocations"]
    lines = wrong = 0
    with open(sys.argv[2], encoding="utf-8") as file:
        for name, kind, count in map(str.split, file):
            right = found[name, kind] == int(count)
            lines += 1
            wrong += not right
            print(f"{name}: {found[name, kind]} of type {kind}, made {count}")
    sys.exit(bool(wrong) or lines == 0)


if __name__ == "__main__":
    main()
