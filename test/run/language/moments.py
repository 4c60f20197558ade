"""moments.py: compare the chains in a profile of moments.lua, .php or .rb with the language's own
list of calls.

    moments.py REPORT TRUTH FUNCTION [LEFT_OUT]

REPORT is JSON. The script compares all stacks whose innermost named frame is FUNCTION. Each call of
this function makes the same blocks and no others. Outer frames with the place LEFT_OUT, such as
"[C]", are not compared.
"""
import collections
import json
import sys

import documents


def place(frame):
    return "[C]" if frame["file"] == "[C]" else f"{frame['file']}:{frame['line']}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found, right = collections.Counter(), collections.Counter()
    for site in report["sites"]:
        named = [frame for frame in site["stack"] if frame.get("language")]
        if named and named[0]["function"] == sys.argv[3]:
            places = [place(named[0])]
            places += [p for p in map(place, named[1:]) if p not in sys.argv[4:]]
            found[" ".join(places)] += site["allocated_bytes"]
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            count, text = line.rstrip("\n").split(" ", 1)
            right[text] += int(count)
    each = min(found[text] // right[text] for text in right)
    wrong = [text for text in found.keys() | right.keys()
             if found[text] != each * right[text]]
    for text in sorted(wrong)[:10]:
        print(f"{found[text] / max(each, 1):.2f} instead of {right[text]}: {text}")
    print(f"{sum(right.values())} moments, {len(right)} chains, {len(wrong)} differ")
    sys.exit(bool(wrong) or each < 5000)


if __name__ == "__main__":
    main()
