"""tables.py: compare the tables of mprof with the sites of the same profile, added up once more.

    tables.py HEAPTAP PROFILE METRIC

`heaptap report --json` prints every stack with its counters, which test/run/record/oracle_real.sh
and oracle_random.sh prove right. This script adds up the stacks to the expected leaks --paths,
direct and callgraph: each stack once per function, per call and per cycle. It prints any
difference, and then exits with 1. The report has no size classes, so the script only checks that
their sum equals the bytes; test/unit/test_tables.c tests the rest."""
import collections
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

START = {"_start", "_dl_start_user", "__libc_start_main", "__libc_start_main_impl",
         "__libc_start_call_main", "start_thread", "clone", "clone3", "__clone", "__clone3",
         "__GI___clone3", "__clone_internal"}
FIELD = {"inuse": "live_bytes", "peak": "peak_bytes", "alloc": "allocated_bytes",
         "temporary": "died_within_16", "count": "allocations"}
OUTSIDE, UNKNOWN, OTHER = "(outside main)", "(unknown callers)", "[other stacks]"
problems = 0


def same(what, wanted, got):
    global problems
    if wanted != got:
        print(f"{what}: wanted {wanted}, got {got}")
        problems += 1


def view(heaptap, profile, *options):
    r = subprocess.run([heaptap, *options, "--json", "--no-fold", profile], check=True,
                       capture_output=True, text=True)
    return documents.loads(r.stdout)


def base(frame):
    return os.path.basename(frame["module"] or "")


def is_start(frame):
    if frame["function"] is None:
        return base(frame).startswith("libc.so.")
    return frame["function"] in START


def useful(stack, executable):
    """Return the frames worth showing, and whether the stack begins where the process does."""
    depth = len(stack)
    last = stack[-1]
    if depth > 2 and last["function"] is None and is_start(stack[-2]):
        depth -= 1
    while depth > 1 and is_start(stack[depth - 1]):
        depth -= 1
    begins = base(last).startswith(("ld-linux", "ld.so")) or last["function"] == "_start" or \
        (depth < len(stack) and last["function"] is None and last["module"] == executable)
    return stack[:depth], begins


def is_main(frame, executable):
    if frame["function"] is None:
        return frame["module"] == executable
    return frame["function"].split("(")[0].split(".")[0].split(" ")[0] == "main"


def replaces_main(stack, i):
    """Return true if frame I, called by start-up code, is there because main has ended by a tail
    call."""
    if len(stack) < i + 3 or stack[i]["function"] in ("exit", "__GI_exit",
                                                      "__nptl_deallocate_tsd"):
        return False
    if stack[i]["function"] is None and base(stack[i]).startswith("libc.so."):
        return False
    if stack[i + 1]["function"] is not None:
        return stack[i + 1]["function"] == "__libc_start_call_main"
    return base(stack[i + 1]).startswith("libc.so.") and \
        stack[i + 2]["function"] == "__libc_start_main"


def name(frame):
    """Return a function's identity: its name and module."""
    if frame["function"] is not None:
        return frame["function"], frame["module"]
    if "function_offset" in frame:
        return f"{base(frame)}+{frame['function_offset']}…", frame["module"]
    return f"{base(frame)}+0x{int(frame['offset'], 16) - 1:x}", frame["module"]


def functions(site, executable):
    """Return the functions of a stack, outermost first."""
    stack = site["stack"]
    if not stack:
        return [(OTHER, None)]
    if site["truncated"] or site["broken"]:
        return [(UNKNOWN, None)] + [name(f) for f in reversed(stack)]
    frames, begins = useful(stack, executable)
    outside = []
    if begins:
        while len(frames) > 1 and base(frames[-1]).startswith(("ld-linux", "ld.so")):
            frames = frames[:-1]
        if not is_main(frames[-1], executable) and not replaces_main(stack, len(frames) - 1):
            outside = [(OUTSIDE, None)]
    return outside + [name(f) for f in reversed(frames)]


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for target in graph[todo.pop()]:
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen


def components(nodes, arcs):
    """Return the sets of at least two functions that reach each other."""
    out, back = collections.defaultdict(set), collections.defaultdict(set)
    for caller, callee in arcs:
        out[caller].add(callee)
        back[callee].add(caller)
    found, done = [], set()
    for node in nodes:
        if node not in done:
            cycle = (reachable(out, node) & reachable(back, node)) | {node}
            done |= cycle
            if len(cycle) > 1:
                found.append(frozenset(cycle))
    return found


class Sums:
    """The expected values of one table row."""

    def __init__(self):
        self.self = self.inclusive = self.calls = self.recursive = 0


def check_direct(table, sites, field, executable):
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for site in sites:
        row = rows[functions(site, executable)[-1]]
        for i, member in enumerate((field, "live_bytes", "allocations")):
            row[i] += site[member]
    wanted = {key: row for key, row in rows.items() if row[0] > 0 or row[1] > 0}
    got = {(r["function"], r["module"]): [r["bytes"], r["kept_bytes"], r["calls"]]
           for r in table["direct"]}
    same("direct", wanted, got)
    same("direct, total", [sum(row[i] for row in rows.values()) for i in range(3)],
         [table["total"][m] for m in ("bytes", "kept_bytes", "calls")])
    for r in table["direct"]:
        same(f"classes of {r['function']}", (r["bytes"], r["kept_bytes"]),
             (sum(r["bytes_by_class"].values()), sum(r["kept_by_class"].values())))
    order = [r["bytes"] for r in table["direct"]]
    same("direct, order", sorted(order, reverse=True), order)


def add_up(sites, field, executable):
    rows, arcs = collections.defaultdict(Sums), collections.defaultdict(lambda: [0, 0])
    for site in sites:
        stack, value, calls = functions(site, executable), site[field], site["allocations"]
        rows[stack[-1]].self += value
        called = set()
        for function in set(stack):
            rows[function].inclusive += value
            rows[function].recursive += (stack.count(function) - 1) * calls
        for arc in set(zip(stack, stack[1:])):
            if arc[0] != arc[1]:
                arcs[arc][0] += value
                arcs[arc][1] += calls
                called.add(arc[1])
        for function in called:
            rows[function].calls += calls
    return rows, {arc: sums for arc, sums in arcs.items() if sums[0] > 0}


def check_cycles(table, sites, field, executable, rows, arcs):
    cycles = components([n for n, r in rows.items() if r.inclusive > 0], arcs)
    got = {frozenset(c["functions"]): c for c in table["cycles"]}
    same("cycles", {frozenset(n[0] for n in c) for c in cycles}, set(got))
    for cycle in cycles:
        wanted, entered = Sums(), collections.defaultdict(lambda: [0, 0])
        c = got.get(frozenset(n[0] for n in cycle))
        if c is None:
            continue
        for site in sites:
            stack, value, calls = functions(site, executable), site[field], site["allocations"]
            if not cycle & set(stack):
                continue
            wanted.inclusive += value
            wanted.self += value if stack[-1] in cycle else 0
            callers = {a for a, b in zip(stack, stack[1:]) if b in cycle and a not in cycle}
            wanted.calls += calls if callers else 0
            for caller in callers:
                entered[caller][0] += value
                entered[caller][1] += calls
        wanted.recursive = sum(s[1] for a, s in arcs.items() if a[0] in cycle and a[1] in cycle)
        same(f"cycle {c['cycle']}",
             [wanted.self, wanted.inclusive, wanted.calls, wanted.recursive],
             [c[m] for m in ("self_bytes", "inclusive_bytes", "calls", "recursive_calls")])
        same(f"callers of cycle {c['cycle']}",
             sorted([n[0], *s] for n, s in entered.items() if s[0] > 0),
             sorted([a["function"], a["bytes"], a["calls"]] for a in c["ancestors"]))


def check_callgraph(table, sites, field, executable):
    rows, arcs = add_up(sites, field, executable)
    got = {(r["function"], r["module"]): r for r in table["callgraph"]}
    same("callgraph, functions", {n for n, r in rows.items() if r.inclusive > 0}, set(got))
    for key, r in got.items():
        same(f"entry of {key}",
             [rows[key].self, rows[key].inclusive, rows[key].calls, rows[key].recursive],
             [r[m] for m in ("self_bytes", "inclusive_bytes", "calls", "recursive_calls")])
        same(f"classes of {key}", (r["self_bytes"], r["inclusive_bytes"]),
             (sum(r["self_by_class"].values()), sum(r["inclusive_by_class"].values())))
        for member, mine, other in (("ancestors", 1, 0), ("descendants", 0, 1)):
            same(f"{member} of {key}",
                 sorted([arc[other][0], *s] for arc, s in arcs.items() if arc[mine] == key),
                 sorted([a["function"], a["bytes"], a["calls"]] for a in r[member]))
            order = [a["bytes"] for a in r[member]]
            same(f"{member} of {key}, order", sorted(order, reverse=True), order)
    entries = sorted(table["callgraph"] + table["cycles"], key=lambda r: r["index"])
    order = [r["inclusive_bytes"] for r in entries]
    same("callgraph, order", sorted(order, reverse=True), order)
    same("callgraph, indices", list(range(len(entries))), [r["index"] for r in entries])
    check_cycles(table, sites, field, executable, rows, arcs)


def check_paths(table, sites, callers, executable):
    rows = collections.defaultdict(lambda: [0, 0])
    for site in sites:
        if site["live_bytes"] <= 0 and site["live_blocks"] <= 0:
            continue
        path = functions(site, executable)
        cut = path[0][0] == UNKNOWN
        path = path[1:] if cut else path
        if callers and len(path) > callers:
            cut, path = True, path[-callers:]
        row = rows[tuple(path), cut]
        row[0] += site["live_blocks"]
        row[1] += site["live_bytes"]
    same(f"paths of {callers}",
         sorted([[n[0] for n in path], cut, *row] for (path, cut), row in rows.items()),
         sorted([r["path"], r["cut"], r["allocs"], r["bytes"]] for r in table["leaks"]))
    whole = sum(row[1] for row in rows.values())
    for r in table["leaks"]:
        percent = 100 * r["bytes"] / whole if whole > 0 else 0
        same("percent", True, abs(r["percent"] - percent) < 0.001)


def main():
    heaptap, profile, metric = sys.argv[1:]
    report = view(heaptap, profile, "report")
    sites, executable = report["sites"], report["process"]["executable"]
    check_direct(view(heaptap, profile, "direct", "--metric", metric), sites, FIELD[metric],
                 executable)
    check_callgraph(view(heaptap, profile, "callgraph", "--metric", metric), sites, FIELD[metric],
                    executable)
    for callers in (1, 5, 0):
        check_paths(view(heaptap, profile, "leaks", "--no-builtin-suppressions", "--paths",
                         "--callers", str(callers)), sites, callers, executable)
    print(f"{len(sites)} sites")
    sys.exit(problems > 0)


main()
