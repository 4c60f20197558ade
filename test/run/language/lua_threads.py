"""lua_threads.py: compare the allocations of threads' states of Lua with their allocators' sums.

    lua_threads.py REPORT NATIVE SUMS

REPORT is JSON, and NATIVE the same report with the frames of Lua's C functions.
"""
import collections
import sys

import documents


def sites_of(path):
    with open(path, encoding="utf-8") as file:
        for site in documents.load(file)["sites"]:
            names = [frame["function"] for frame in site["stack"]]
            yield site, names, [name for name in names if name.startswith("thread_")]


def main():
    found, turns, states, wrong = collections.Counter(), collections.Counter(), 0, []
    for site, names, threads in sites_of(sys.argv[2]):
        if "sum_alloc" in names:
            found[threads[0], "calls"] += site["allocations"]
            found[threads[0], "bytes"] += site["allocated_bytes"]
    for site, names, threads in sites_of(sys.argv[1]):
        at = names.index("coroutine.resume") if "coroutine.resume" in names else 0
        # A function that runs in a coroutine has no name, only its place.
        if at > 0 and names[at - 1].endswith(":3") and names[at + 1] == "main-chunk":
            turns[threads[0]] += site["allocations"]
    with open(sys.argv[3], encoding="utf-8") as file:
        for name, calls, size in map(str.split, file):
            states += 1
            right = (int(calls), int(size))
            got = (found[name, "calls"], found[name, "bytes"])
            print(f"{name}: {got}, its allocator says {right}; {turns[name]} in coroutines")
            if got != right or turns[name] < 4000:
                wrong.append(name)
    sys.exit(bool(wrong) or states != 4)


if __name__ == "__main__":
    main()
