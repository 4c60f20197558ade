"""count.py: print a profile's values for blocks of one size, for scripts.

    count.py PROFILE SIZE NAME...

A NAME is a field of a site or a flag. If the field has a total, minimum and maximum, the total is
printed."""
import sys

import counters

FLAGS = {"counting": 1, "apart": 2, "atomic": 4, "ended": 8}


def main():
    counting, sites = counters.read(sys.argv[1])
    site = counters.of_size(sites, int(sys.argv[2]))
    for name in sys.argv[3:]:
        if name in FLAGS:
            value = int(counting["flags"] & FLAGS[name] != 0)
        else:
            value = counting.get(name, site.get(name, 0))
        print(f"{name}={value[0] if isinstance(value, tuple) else value}", end=" ")
    print()


main()
