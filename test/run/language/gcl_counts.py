"""gcl_counts.py: compare the tables of two runs of gcl_widgets.lisp with the program's objects.

    gcl_counts.py compiled|interpreted FEWER TRUTH MORE TRUTH LEAKS FUNCTIONS CALLGRAPH

FEWER and MORE are JSON of `bins --classes`. A TRUTH has the numbers of red and blue widgets, and of
the random numbers that needed objects in GCL. The other files are JSON of the larger run. The start
of GCL allocates the same in both, so the difference is due to the additional widgets. Each widget
has three conses, a float, a structure and a symbol; a red widget is live and has another cons in
the list of red ones.

GCL's interpreter makes four conses and an object for each call and each LET, and three conses
for each variable in it. None of them is kept, except for LENIENT objects, which stale words on
the C stack still reach when the collector looks, in either run.
"""
import json
import sys

# Number of variables of each call: for a widget, for a red one, for a blue one, and of LET in the
# producer.
CALLS = {"MAKE-ONE": 2, "MAKE-PARTS": 1, "WEIGH": 1, "MAKE-WIDGET": 4, "MAKE-COLOR": 1}
CONS_BYTES = 16
LENIENT = 20

wrong = 0


def compare(what, found, right, off=0):
    global wrong
    good = found == right if off == 0 else abs(found - right) <= off
    print(f"{'' if good else 'WRONG '}{what}: {found} of {right}")
    wrong += not good


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def classes(name):
    found = {}
    for row in load(name)["classes"]:
        found.setdefault(row["class"], row)
    return found


def truth(name):
    with open(name, encoding="utf-8") as file:
        return [int(word) for word in file.read().split()[-3:]]


def compare_classes(fewer, more, red, blue, big, interpreted):
    both = red + blue
    made = {"c": 4 * red + 3 * blue, "f": both, "s": both, "o": both + 2 * big}
    if interpreted:
        made["c"] += sum(4 + 3 * count for count in CALLS.values()) * both + 7 * blue + 3 * both
        made["o"] += len(CALLS) * both + blue + both
    kept = {"c": 4 * red, "f": red, "s": red, "o": red}
    for letter, count in made.items():
        allocs, live = (more[letter][what] - fewer[letter][what]
                        for what in ("allocs", "kept_objects"))
        compare(f"{letter} made", allocs, count)
        compare(f"{letter} kept", live, kept[letter], LENIENT)


def compare_tables(leaks, functions, graph, red, blue, interpreted):
    for color, left in ("RED", red), ("BLUE", 0):
        compare(f"leaks, {color} structures", sum(
            row["allocs"] for row in load(leaks)["leaks"] if row["heap"] == "lisp structure" and
            f"MAKE-{color}-WIDGET" in row["path"]), left)
    direct = {row["function"]: row["calls"] for row in load(functions)["direct"]}
    for name, each in (("MAKE-PARTS", 4 + 3 + 1), ("WEIGH", 4 + 3 + 1)) if interpreted else (
            ("MAKE-PARTS", 3), ("WEIGH", 1), ("MAKE-WIDGET", 1), ("MAKE-ONE", 1)):
        compare(f"direct, {name}", direct[name], each * (red + blue))
    rows = {row["function"]: row for row in load(graph)["callgraph"]}
    parts = {row["function"]: row["calls"] for row in rows["MAKE-PARTS"]["ancestors"]}
    compare("call graph, callers of MAKE-PARTS", parts,
            {"MAKE-ONE": (3 + (8 if interpreted else 0)) * (red + blue)})
    callers = {row["function"] for row in rows["MAKE-ONE"]["ancestors"]}
    compare("call graph, callers of MAKE-ONE", sorted(callers),
            ["MAKE-BLUE-WIDGET", "MAKE-RED-WIDGET"])
    # The paper's figure 7: RECUR F G F G, and the last one makes a cons.
    own = 8 if interpreted else 0
    compare("recursion, G itself", rows["G"]["self_bytes"] if not interpreted else CONS_BYTES,
            CONS_BYTES)
    for name, calls, again in ("F", 4 * own + 1, 2 * own + 1), ("G", 3 * own + 1, own + 1):
        compare(f"recursion, {name} called", rows[name]["calls"], calls)
        compare(f"recursion, {name} again", rows[name]["recursive_calls"], again)


def main():
    interpreted = sys.argv[1] == "interpreted"
    small, large = truth(sys.argv[3]), truth(sys.argv[5])
    red, blue, big = (more - less for less, more in zip(small, large))
    compare_classes(classes(sys.argv[2]), classes(sys.argv[4]), red, blue, big, interpreted)
    compare_tables(*sys.argv[6:9], large[0], large[1], interpreted)
    sys.exit(bool(wrong) or red + blue == 0)


if __name__ == "__main__":
    main()
