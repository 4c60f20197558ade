"""lua_host.py: compare a profile of lua_host with its allocator's sums.

    lua_host.py REPORT NATIVE SUMS

REPORT is JSON, and NATIVE the same report with the frames of Lua's C functions.
"""
import collections
import sys

import documents

# Stack of the block that spawn makes in the innermost state, from the outermost function inwards.
BIG = ["main", "host_second", "run", "main-chunk", "host_inner", "run", "main-chunk", "host_spawn",
       ":35", "string.rep"]
TURNS = 5000
# Lines or names, from the innermost outwards.
INSIDE = ["string.rep", "14", "coroutine.resume", "23"]
MADES = 100
MADE = ["41", "42", "44"]  # Followed by host_spawn.
# Static functions of the object that is linked first, before its public ones.
STATIC = {"pushfuncname", "pushglobalfuncname", "findfield", "resizebox", "getS", "getF"}
LUA = ("lua_", "luaV_", "luaD_", "luaL_", "luaM_", "luaH_", "luaC_", "host_alloc")


def names(site):
    return [frame["function"] for frame in site["stack"]]


def owner(stack, owners):
    """Return the innermost function of the program that has a state."""
    return next((name for name in stack if name in owners), None)


def is_big(stack):
    start = stack.index("main") if "main" in stack else 0
    return len(stack) - start == len(BIG) and all(map(str.endswith, stack[start:], BIG))


def place(frame):
    """Return the line. Lua 5.1 has no line where a function first makes a table; then return the
    line where the function is defined, which is in its name."""
    return str(frame["line"] or frame["function"].rpartition(":")[2])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        native = documents.load(file)
    with open(sys.argv[3], encoding="utf-8") as file:
        right = {name: tuple(map(int, rest)) for name, *rest in map(str.split, file)}
    found = collections.Counter()
    wrong = []
    for site in native["sites"]:
        who = owner(names(site), right)
        if who and "host_alloc" in names(site):
            found[who, 0] += site["allocations"]
            found[who, 1] += site["allocated_bytes"]
            found[who, 2] += site["freed_bytes"]
    for who, sums in right.items():
        got = tuple(found[who, i] for i in range(3))
        print(f"{who}: {got}, its allocator says {sums}")
        if got != sums:
            wrong.append(who)
    big = [site for site in report["sites"]
           if site["allocated_bytes"] >= 100000 and "host_spawn" in names(site)]
    if not any(is_big(names(site)[::-1]) for site in big):
        wrong.append("the stack of the block that spawn makes")
    for site in report["sites"]:
        if "main-chunk" in names(site) and any(name.startswith(LUA) for name in names(site)):
            wrong.append(f"Lua's own functions in {names(site)}")
    statics = sum(not STATIC.isdisjoint(names(site)) for site in native["sites"])
    if any(not STATIC.isdisjoint(names(site)) for site in report["sites"]):
        wrong.append("static functions of Lua's")
    print(f"{statics} stacks with static functions of Lua's first object")
    turns = sum(site["allocations"] for site in report["sites"]
                if [place(frame) for frame in site["stack"]][:4] == INSIDE)
    print(f"{turns} strings in coroutines, below what resumed them")
    if turns < TURNS * len(right):  # Some versions need a buffer, and the collector may run.
        wrong.append("coroutines")
    made = sum(site["allocations"] for site in report["sites"]
               if [place(frame) for frame in site["stack"]][:3] == MADE
               and names(site)[3] == "host_spawn")
    print(f"{made} tables of a function that Lua calls after C has")
    if made != MADES * (len(right) + 1):  # One state is not in the sums.
        wrong.append("a function that Lua calls after C has")
    if wrong:
        print("wrong:", *wrong)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
