"""moments.py: compare the chains in a profile of moments.lua with Lua's own list of calls.

    moments.py REPORT TRUTH

REPORT is JSON. The script compares all stacks whose innermost frame of Lua is string.rep. Each call
of string.rep makes the same blocks and no others, because the collector does not run then.
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
        if named and named[0]["function"] == "string.rep":
            found[" ".join(map(place, named))] += site["allocated_bytes"]
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
