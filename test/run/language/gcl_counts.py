"""gcl_counts.py: compare the classes of Lisp objects of two runs of gcl_widgets.lisp.

    gcl_counts.py compiled|interpreted FEWER TRUTH MORE TRUTH

FEWER and MORE are JSON of `bins --classes`, a TRUTH is how many widgets were red and blue. What
starting takes is the same in both, so what the second has more is what its widgets take: three
conses of each and one in the list of red ones, one float, one structure; red ones live. The
interpreter makes conses for variables, too; those it does not keep.
"""
import json
import sys


def classes(name):
    found = {}
    with open(name, encoding="utf-8") as file:
        for row in json.load(file)["classes"]:
            found.setdefault(row["class"], row)
    return found


def truth(name):
    with open(name, encoding="utf-8") as file:
        red, blue = file.read().split()[-2:]
    return int(red), int(blue)


def main():
    fewer, more = classes(sys.argv[2]), classes(sys.argv[4])
    small, large = truth(sys.argv[3]), truth(sys.argv[5])
    red, blue = large[0] - small[0], large[1] - small[1]
    made = {"c": 4 * red + 3 * blue, "f": red + blue, "s": red + blue}
    kept = {"c": 4 * red, "f": red, "s": red}
    wrong = 0
    for letter in "cfs":
        allocs, live = (more[letter][what] - fewer[letter][what]
                        for what in ("allocs", "kept_objects"))
        good = allocs == made[letter] or (letter == "c" and sys.argv[1] == "interpreted"
                                          and allocs > made[letter])
        good = good and live == kept[letter]
        print(f"{'' if good else 'WRONG '}{letter}: made {allocs} of {made[letter]}, "
              f"kept {live} of {kept[letter]}")
        wrong += not good
    sys.exit(bool(wrong) or red + blue == 0)


if __name__ == "__main__":
    main()
