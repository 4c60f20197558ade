"""widgets.py: compare a report of widgets.lisp with what the program says.

    widgets.py REPORT TRUTH compiled|interpreted

Of each color: how many of each type were made, and how many are live. What was made is exact, and
so are live structures. The collector keeps what looks pointed to, which can be a cons or a float of
a widget that is gone, so of these some more may be live than belong to live widgets.

The interpreter makes eight conses in a call of make-parts, for its variables, and two floats for a
product of two numbers; so these have to be there, too.
"""
import collections
import sys

import documents

LENIENT = 20
# Function, and how many of them a widget takes, of these how many it holds.
TYPES = {
    "compiled": {"lisp structure": ("WIDGETS::MAKE-WIDGET", 1, 1),
                 "lisp cons": ("WIDGETS::MAKE-PARTS", 3, 3),
                 "lisp double-float": ("WIDGETS::WEIGH", 1, 1)},
    "interpreted": {"lisp structure": ("WIDGETS::MAKE-WIDGET", 1, 1),
                    "lisp cons": ("WIDGETS::MAKE-PARTS", 3 + 8, 3),
                    "lisp double-float": ("WIDGETS::WEIGH", 2, 1)},
}


def main():
    types = TYPES[sys.argv[3]]
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    made, live = collections.Counter(), collections.Counter()
    for site in report["sites"]:
        names = [frame["function"] for frame in site["stack"] if frame.get("language")]
        heap = site.get("heap")
        for color in ("red", "blue"):
            if heap in types and types[heap][0] in names and \
                    f"WIDGETS::MAKE-{color.upper()}-WIDGET" in names:
                made[color, heap] += site["allocations"]
                live[color, heap] += site["live_blocks"]
    wrong = 0
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            color, count, left = line.split()[0], int(line.split()[1]), int(line.split()[2])
            for heap, (_, each, holds) in types.items():
                more = live[color, heap] - holds * left
                good = made[color, heap] == each * count and \
                    0 <= more <= (LENIENT if heap != "lisp structure" else 0)
                print(f"{'' if good else 'WRONG '}{color} {heap}: made {made[color, heap]} of "
                      f"{each * count}, live {live[color, heap]} of {holds * left}")
                wrong += not good
    sys.exit(bool(wrong) or not made)


if __name__ == "__main__":
    main()
