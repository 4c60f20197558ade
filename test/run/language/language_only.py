"""language_only.py: check the sums of views with --language-only.

    language_only.py sums NAME               compare NAME.only with NAME.mixed and NAME.native
    language_only.py known NAME DIRECTORY    check sums of made.py and package in DIRECTORY

NAME.functions is the table by function, NAME.text the same as text.
"""
import re
import sys
from collections import Counter

import documents

COUNTS = ("allocations", "allocated_bytes", "frees", "live_bytes", "peak_bytes")
START = "import at start"


def read(path):
    with open(path, encoding="utf-8") as file:
        return documents.load(file)


def is_importlib(file):
    return bool(re.match(r"<frozen (importlib|zipimport)", file)
                or re.search(r"/importlib/(_bootstrap|_bootstrap_external|__init__)\.py$", file))


def owner(stack):
    """Return function, file and line that a stack with C functions is charged to."""
    named = [frame for frame in stack if frame.get("language")]
    if not named:
        return "native", None, None
    for frame in named:
        if not is_importlib(frame["file"] or ""):
            return frame["function"], frame["file"], frame["line"]
    return START, None, None


def shown(stack):
    """Return the same for a stack without C functions."""
    frame = stack[0]
    if frame["language"] == "native":
        return "native", None, None
    if frame["function"] == START:
        return START, None, None
    return re.sub(r" \(import [^)]*\)$", "", frame["function"]), frame["file"], frame["line"]


def sums(report, key):
    result = Counter()
    for site in report["sites"]:
        for count in COUNTS:
            if site[count]:
                result[key(site["stack"]), count] += site[count]
    return result


def by_function(report):
    result = Counter()
    for row in report["rows"]:
        name = re.sub(r" \((import|no) [^)]*\)$", "", row["function"])
        for count in COUNTS:
            if row["self_" + count]:
                result[name, count] += row["self_" + count]
    return result


def compare(what, one, other):
    for key in sorted(set(one) | set(other), key=str):
        if one[key] != other[key]:
            print(f"{what}: {key}: {one[key]}, not {other[key]}")
    return one == other


def check_sums(name):
    only = sums(read(name + ".only"), shown)
    functions = Counter()
    for ((function, _, _), count), value in only.items():
        functions[function, count] += value
    good = [compare("mixed", only, sums(read(name + ".mixed"), owner)),
            compare("native", only, sums(read(name + ".native"), owner)),
            compare("table", functions, by_function(read(name + ".functions")))]
    with open(name + ".text", encoding="utf-8") as file:
        calls = sum(int(row.group(1).replace(",", "")) for row in
                    re.finditer(r"^ *[\d.]+ \S*B +[\d.]+ % +[\d.]+ \S*B +([\d,]+)  ", file.read(),
                                re.M))
    wanted = sum(value for (_, count), value in only.items() if count == "allocations")
    print(f"{calls} of {wanted} calls in the text; {len(only)} sums")
    return all(good) and calls == wanted and len(only) > 5


def check_known(name, directory):
    """The test allocates blocks of a few million bytes and 3 or 4. The native row also has smaller
    blocks."""
    wanted = Counter({("<module>", f"{directory}/package/__init__.py", 5): 1000003,
                      ("fill", f"{directory}/made.py", 3): 4000007,
                      ("<module>", f"{directory}/made.py", 15): 3000003})
    found, native = Counter(), 0
    for site in read(name + ".only")["sites"]:
        if site["size_min"] > 1000000 and site["size_min"] % 1000000 in (3, 4):
            found[shown(site["stack"])] += site["allocated_bytes"]
        if shown(site["stack"])[0] == "native":
            native = max(native, site["size_max"])
    print(f"largest native block: {native} bytes")
    return compare("known", found, wanted) and native == 5000003


sys.exit(not (check_sums(sys.argv[2]) if sys.argv[1] == "sums"
              else check_known(sys.argv[2], sys.argv[3])))
