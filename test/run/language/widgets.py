"""widgets.py: compare the tables of a profile of widgets.lisp with the program's counts.

    widgets.py REPORT TRUTH compiled|interpreted LEAKS FUNCTIONS CALLGRAPH

All files but TRUTH are JSON; the last three come from `leaks --paths`, `functions` and `callgraph`.
The script compares all objects that PRODUCE made, by class. The number of objects made is exact,
and so is the number of live structures. More conses and floats may be live than belong to live
widgets, because the collector keeps every object that a stale word seems to reference. A stale word
on the C stack may keep a list that the interpreter made for a call, and a widget has 43 conses.

ECL's interpreter makes two conses for each variable that a call binds. Its arithmetic functions
begin with 0 or 1, so two floats make two products, and a bignum and another number make two sums.
These objects are expected as well.
"""
import collections
import json
import sys

import documents

LENIENT = 60
CLASSES = {"lisp cons": "c", "lisp double-float": "f", "lisp structure": "s",
           "lisp weak-pointer": "o", "lisp bignum": "o"}
# Number of variables that a call binds: its parameters, and three for INCF on a list's element, or
# one for INCF on a variable. In PRODUCE, count and the variables of DOTIMES, and one in each round.
BINDS = {"MAKE-ONE": 2 + 3, "MAKE-COLOR": 1 + 3, "MAKE-PARTS": 1 + 3, "WEIGH": 1 + 3,
         "MAKE-WIDGET": 3, "CONSUME": 1 + 3, "ROUND": 1, "RED": 3, "BIG": 1, "PRODUCE": 4,
         "F": 1 + 3}
CONS_BYTES = 16

wrong = 0


def compare(what, found, right, more=0):
    global wrong
    good = right <= found <= right + more
    print(f"{'' if good else 'WRONG '}{what}: {found} of {right}")
    wrong += not good


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def rows(path, table, name):
    return {row[name]: row for row in load(path)[table]}


def counts_under(report, function):
    """Return objects made and live by class, and by color and class, of stacks with FUNCTION."""
    made, live = collections.Counter(), collections.Counter()
    for site in report["sites"]:
        names = [frame["function"] for frame in site["stack"] if frame.get("language")]
        if function not in names:
            continue
        keys = [CLASSES.get(site["heap"], site["heap"])]
        keys += [f"{keys[0]} of {color}" for color in ("red", "blue")
                 if f"WIDGETS::MAKE-{color.upper()}-WIDGET" in names]
        for key in keys:
            made[key] += site["allocations"]
            live[key] += site["live_blocks"]
    return made, live


def compare_classes(report, red, blue, left_blue, big, binds):
    made, live = counts_under(report, "WIDGETS::PRODUCE")
    each = {"c": 3 + binds["MAKE-COLOR"] + binds["MAKE-ONE"] + binds["MAKE-WIDGET"] +
            binds["MAKE-PARTS"] + binds["WEIGH"], "f": 2 if any(binds.values()) else 1, "s": 1}
    right = {"c": (each["c"] + 1 + binds["ROUND"]) * (red + blue) + (1 + binds["RED"]) * red +
             binds["CONSUME"] * blue + binds["BIG"] * big + binds["PRODUCE"],
             "f": each["f"] * (red + blue), "s": red + blue,
             "o": red + blue + (3 if any(binds.values()) else 2) * big}
    kept = {"c": 3 * (red + left_blue) + red + red + blue, "f": red + left_blue,
            "s": red + left_blue, "o": red + blue}
    for letter, count in right.items():
        compare(f"{letter} made", made[letter], count)
        compare(f"{letter} kept", live[letter], kept[letter], 0 if letter == "s" else LENIENT)
    for color, count, left in ("red", red, red), ("blue", blue, left_blue):
        for letter, held in ("c", 3), ("f", 1), ("s", 1):
            compare(f"{letter} of {color} made", made[f"{letter} of {color}"],
                    each[letter] * count)
            compare(f"{letter} of {color} kept", live[f"{letter} of {color}"], held * left,
                    0 if letter == "s" else LENIENT)
    # There are no objects of another class.
    compare("other", sum(count for key, count in made.items() if key[0] not in CLASSES.values()),
            0)
    return each


def compare_leaks(path, red, left_blue):
    for color, left in ("RED", red), ("BLUE", left_blue):
        compare(f"leaks, {color} structures", sum(
            row["allocs"] for row in load(path)["leaks"] if row["heap"] == "lisp structure" and
            f"WIDGETS::MAKE-{color}-WIDGET" in row["path"]), left)


def compare_graph(path, red, blue, each, binds):
    graph = rows(path, "callgraph", "function")
    one = sum(each.values()) - binds["MAKE-COLOR"]
    callers = {row["function"]: row["calls"] for row in
               graph["WIDGETS::MAKE-ONE"]["ancestors"]}
    compare("call graph, callers of MAKE-ONE", len(callers), 2)
    compare("call graph, by MAKE-RED-WIDGET", callers["WIDGETS::MAKE-RED-WIDGET"], one * red)
    compare("call graph, by MAKE-BLUE-WIDGET", callers["WIDGETS::MAKE-BLUE-WIDGET"], one * blue)
    # The paper's figure 7: RECUR F G F G, and the last one makes a cons.
    own = binds["F"]
    for name, self, inclusive, calls, again in (
            ("F", 2 * own, 4 * own + 1, 4 * own + 1, 2 * own + 1),
            ("G", 2 * own + 1, 3 * own + 1, 3 * own + 1, own + 1)):
        row = graph["WIDGETS::" + name]
        compare(f"recursion, {name} itself", row["self_bytes"], self * CONS_BYTES)
        compare(f"recursion, {name} and below", row["inclusive_bytes"], inclusive * CONS_BYTES)
        compare(f"recursion, {name} called", row["calls"], calls)
        compare(f"recursion, {name} again", row["recursive_calls"], again)


def compare_functions(path, red, blue, each, binds):
    direct = rows(path, "direct", "function")
    wanted = {"WIDGETS::WEIGH": each["f"] * CONS_BYTES if not binds["WEIGH"] else
              binds["WEIGH"] * CONS_BYTES,
              "WIDGETS::MAKE-ONE": binds["MAKE-ONE"] * CONS_BYTES}
    for name, right in wanted.items():
        compare(f"direct, bytes of {name}", direct.get(name, {"bytes": 0})["bytes"],
                right * (red + blue))
    if binds["WEIGH"]:
        return
    # Compiled code: ECL's function of the same object may be the innermost one, but not for floats.
    for letter, right in (("c", 0), ("f", each["f"] * CONS_BYTES * (red + blue)), ("s", 0),
                          ("o", 0)):
        compare(f"direct, {letter} of WEIGH", direct["WIDGETS::WEIGH"]["bytes_by_class"][letter],
                right)


def compare_graph_classes(path, red, blue, each, binds):
    """A compiled MAKE-ONE has only the widget's objects below it."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    compare("call graph by types", document["classes_of"] == "types", True)
    if binds["WEIGH"]:
        return
    row = next(row for row in document["callgraph"] if row["function"] == "WIDGETS::MAKE-ONE")
    found, all_bytes = row["inclusive_by_class"], row["inclusive_bytes"]
    compare("call graph, c of MAKE-ONE", found["c"], each["c"] * CONS_BYTES * (red + blue))
    compare("call graph, f of MAKE-ONE", found["f"], each["f"] * CONS_BYTES * (red + blue))
    compare("call graph, o of MAKE-ONE", found["o"], 0)
    compare("call graph, s of MAKE-ONE", found["s"],
            all_bytes - (each["c"] + each["f"]) * CONS_BYTES * (red + blue))
    compare("call graph, all of MAKE-ONE", found["s"] > 0, True)


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        truth = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in file}
    (red, left_red), (blue, left_blue), (big,) = truth["red"], truth["blue"], truth["big"]
    compare("red ones kept", left_red, red)
    binds = {name: 2 * count if sys.argv[3] == "interpreted" else 0
             for name, count in BINDS.items()}
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    each = compare_classes(report, red, blue, left_blue, big, binds)
    compare_leaks(sys.argv[4], red, left_blue)
    compare_functions(sys.argv[5], red, blue, each, binds)
    compare_graph(sys.argv[6], red, blue, each, binds)
    compare_graph_classes(sys.argv[6], red, blue, each, binds)
    sys.exit(bool(wrong) or red + blue == 0)


if __name__ == "__main__":
    main()
