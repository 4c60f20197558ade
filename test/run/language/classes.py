"""classes.py: compare the classes of Lisp objects of two runs of widgets.lisp, compiled.

    classes.py FEWER TRUTH MORE TRUTH

FEWER and MORE are JSON of `bins --classes`. The start of ECL allocates the same in both, so the
difference is due to the additional widgets. Each widget has three conses, a float and a structure,
a cons in the list of weak pointers, and a weak pointer, whose class is "others". A red widget has
another cons in the list of red ones. A random number that needs bignums has two. A cons has no
further bytes.
"""
import json
import sys


def classes(name):
    with open(name, encoding="utf-8") as file:
        rows = json.load(file)["classes"]
    found = {}
    for row in rows:
        found.setdefault(row["class"], row)
    return found


def truth(name):
    with open(name, encoding="utf-8") as file:
        return {line.split()[0]: int(line.split()[1]) for line in file}  # Objects made.


def main():
    fewer, more = classes(sys.argv[1]), classes(sys.argv[3])
    small, large = truth(sys.argv[2]), truth(sys.argv[4])
    red = large["red"] - small["red"]
    widgets = red + large["blue"] - small["blue"]
    wanted = {"c": 4 * widgets + red, "f": widgets, "s": widgets,
              "o": widgets + 2 * (large["big"] - small["big"])}
    found = {letter: more[letter]["allocs"] - fewer[letter]["allocs"] for letter in wanted}
    conses = more["c"]
    print(f"{found}, by construction {wanted}; {conses['allocs']} conses, {conses['bytes']} bytes")
    sys.exit(found != wanted or conses["bytes"] != 16 * conses["allocs"])


if __name__ == "__main__":
    main()
