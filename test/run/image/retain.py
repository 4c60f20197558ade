"""retain.py: the checks of retain.sh, on test/prog/retained.c and others.

    retain.py HEAPTAP PROGRAMS LIBRARY
"""
import json
import os
import re
import subprocess
import sys

import documents
import dumps
from telling import finish, tell

heaptap, programs, library = sys.argv[1:4]
# By root: bytes and blocks that it alone keeps.
ROOTS = {
    "list in retained": (100 * 32 + 100 * 100, 200),
    "tree in retained": (127 * 48, 127),
    "registry in retained": (24 + 64 * 8 + 64 * 56, 66),
    "ring in retained": (10 * 32, 10),
    "several roots of retained": (5000, 1),
    "local, thread-local in 2 threads": (7000 + 7100, 2),
    "hold on the stacks of 2 threads": (6000 + 6100, 2),
    "memory that the program has mapped itself": (9000, 1),
    "nothing: lost": (3 * 32 + 3 * 100 + 2 * 32, 8),
}
# By type: bytes that its blocks keep, the bytes of these blocks, and their number.
TYPES = {
    "node": (103 * 132 + 10 * 32 + 2 * 32, 115 * 32, 115),
    "tree": (127 * 48, 127 * 48, 127),
    "table": (24 + 64 * 8 + 64 * 56, 24, 1),
    "entry *[]": (64 * 8 + 64 * 56, 64 * 8, 1),
    "entry": (64 * 56, 64 * 56, 64),
}

# The path to the block "entry".
ENTRY = ["registry.map in retained", "buckets", "[3]", "chain"]


def run(*arguments, **environment):
    return subprocess.run([heaptap, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, **environment))


def retained(where, *options):
    got = run("retain", "--json", *options, where)
    assert got.returncode == 0 and dumps.without_hints(got.stderr) == "", got.stderr
    return documents.loads(got.stdout)["retained"]


def by_root(where):
    """Return the rows by root, and check that they add up."""
    got = retained(where)
    rows = {row["name"]: (row["retained"]["bytes"], row["retained"]["blocks"])
            for row in got["rows"]}
    total = got["total"]
    tell((sum(row[0] for row in rows.values()), sum(row[1] for row in rows.values())) ==
         (total["bytes"], total["blocks"]), "rows by root add up to all", rows, total)
    return rows, total


def agrees_with_leaks(where, rows, total):
    """Compare sums with `core --leaks`."""
    pid = ["--pid", where] if where.isdigit() else [where]
    got = run("core", "--leaks", "--json", *pid)
    sums = documents.loads(got.stdout)["reachability"]
    lost = sums["lost"]["bytes"] + sums["lost_through_others"]["bytes"]
    mapped = sums["reached_from_mapped_memory"]["bytes"]
    tell(rows.get("nothing: lost", (0, 0))[0] == lost and
         rows.get("memory that the program has mapped itself", (0, 0))[0] == mapped and
         total["bytes"] == sum(sums[key]["bytes"] for key in
                               ("lost", "lost_through_others", "reached_from_mapped_memory",
                                "reached_from_stacks", "reached", "others")),
         "lost, mapped and all bytes are those of core --leaks", rows, sums)


def tables(where):
    rows, total = by_root(where)
    tell({name: rows.get(name) for name in ROOTS} == ROOTS, "each root keeps its blocks", rows)
    agrees_with_leaks(where, rows, total)
    types = {row["name"]: (row["retained"]["bytes"], row["own"]["bytes"], row["own"]["blocks"])
             for row in retained(where, "--by", "type")["rows"]}
    tell({name: types.get(name) for name in TYPES} == TYPES, "each type keeps its blocks", types)
    sites = [(row["stack"][0]["function"], row["retained"]["bytes"], row["own"]["blocks"])
             for row in retained(where, "--by", "site")["rows"]]
    tell(("fill_map", 24 + 64 * 8 + 64 * 56, 1) in sites and ("hold", 6000, 1) in sites,
         "each site keeps its blocks", sites)
    # The filter selects the blocks that count, not the roots.
    only = retained(where, "--filter", "^fill_map$")
    tell(only["total"] == {"blocks": 66, "bytes": 24 + 64 * 8 + 64 * 56} and
         [row["name"] for row in only["rows"]] == ["registry in retained"],
         "a filter selects blocks", only)


def path(where, address):
    got = retained(where, "--block", address)
    holders = [re.sub(r"thread \d+.*", "thread", step["holder"]) for step in got["path"]]
    return got["root"], holders, (got["bytes"], got["blocks"]), got["path"]


def paths(where, at):
    root, holders, keeps, steps = path(where, at["tail"])
    tell((root, holders) == ("variable", ["list in retained"] + ["next"] * 99 + ["text"]),
         "a path through a list", root, holders)
    tell(all(step["on_every_path"] for step in steps) and steps[0]["type"] == "node" and
         steps[-1]["block"]["address"] == at["tail"] and keeps == (100, 1),
         "no path leads around a list", steps[-1])
    got = path(where, at["entry"])
    tell(got[:2] == ("variable", ENTRY),
         "a path through members and arrays of pointers", got[:2])
    got = path(where, steps[90]["block"]["address"])
    tell(got[2] == (10 * 132, 20), "a node keeps the rest of its list", got[2])
    for name, root, holder in (("shared", "variable", "first_user in retained"),
                               ("local", "thread_local", "local, thread-local in thread"),
                               ("held", "frame", "hold on the stack of thread"),
                               ("other_held", "frame", "hold on the stack of thread"),
                               ("mapped", "mapped", None)):
        got = path(where, at[name])
        tell(got[0] == root and got[1] in ([holder], [got[1][0] if holder is None else ""]),
             "the root of %s" % name, got[:2])
    got = path(where, at["lost"])
    tell(got[:3] == (None, [], (3 * 32 + 3 * 100, 6)), "a lost block keeps what it led to", got)
    inside = hex(int(at["lost"], 16) + 20)
    tell(path(where, inside)[2] == (3 * 32 + 3 * 100, 6), "an address inside of a block")


def refusals(where, at):
    got = run("retain", "--block", at["freed"], where)
    tell(got.returncode == 3 and "freed" in got.stderr and "before it is at 0x" in got.stderr and
         got.stdout == "", "a freed block is refused, its neighbours are named", got.stderr)
    got = run("retain", "--block", "0x10", where)
    tell(got.returncode == 3 and "close to zero" in got.stderr, "no block is there", got.stderr)
    got = run("retain", "--block", "1234", where)
    tell(got.returncode == 2 and "is no address" in got.stderr, "no address", got.stderr)
    got = run("retain", "--block", at["held"], "--by", "type", where)
    tell(got.returncode == 2 and "exclude each other" in got.stderr, "two questions", got.stderr)
    with open("retained.heaptap", "rb") as profile:
        before = profile.read(4096)
    got = run("retain", "-o", "retained.heaptap", where)
    with open("retained.heaptap", "rb") as profile:
        tell(got.returncode == 2 and profile.read(4096) == before, "no profile is overwritten",
             got.stderr)


def snapshot(where, total):
    """Read a heap snapshot as DevTools does. By root, it keeps the same bytes as in the table."""
    got = run("retain", "-o", "made.heapsnapshot", where)
    assert got.returncode == 0, got.stderr
    with open("made.heapsnapshot") as source:
        made = json.load(source)
    meta, nodes, edges = made["snapshot"]["meta"], made["nodes"], made["edges"]
    width, count = len(meta["node_fields"]), made["snapshot"]["node_count"]
    types, names, _, sizes, edge_counts = (nodes[i::width] for i in range(5))
    tell(len(nodes) == count * width and len(set(nodes[2::width])) == count and
         len(edges) == made["snapshot"]["edge_count"] * len(meta["edge_fields"]) ==
         sum(edge_counts) * len(meta["edge_fields"]), "counts of a heap snapshot", where)
    tell(sum(sizes) == total["bytes"] and sum(kind == 3 for kind in types) == total["blocks"],
         "a heap snapshot has all blocks", sum(sizes), total)
    targets, follow = [to // width for to in edges[2::3]], []
    for number in edge_counts:
        follow.append(targets[:number])
        del targets[:number]

    def reached(without):
        seen, left = {0}, [0]
        while left:
            for to in follow[left.pop()]:
                if to not in seen and to != without:
                    seen.add(to)
                    left.append(to)
        return seen
    every = reached(None)
    tell(len(every) == count, "every node of a heap snapshot can be reached", count, len(every))
    strings = made["strings"]
    for name, expected in ROOTS.items():
        named = [i for i in range(count) if types[i] == 9 and
                 strings[names[i]] == {"nothing: lost": "(lost)"}.get(name, name)]
        if not name.startswith("several"):
            kept = sum(sizes[i] for i in every - reached(named[0]))
            tell(kept == expected[0], "a heap snapshot: " + name, kept)


def cut_short(core, at):
    """Without a part of the memory, no block is certainly lost."""
    with open(core, "rb") as source:
        data = source.read()
    # The notes of gdb's dump are at its end, and the last loaded range is the stack.
    with open("cut", "wb") as target:
        target.write(data[:len(data) * 99 // 100])
    got = run("retain", "--block", at["lost"], "cut")
    tell(got.returncode in (0, 3) and "is truncated" in got.stderr, "a truncated dump", got.stderr)
    tell(got.returncode == 3 or "is perhaps lost" in got.stdout,
         "a block is perhaps lost in a truncated dump", got.stdout)


def texts(where, at):
    for width in 60, 80, 120:
        for options in [], ["--by", "site"], ["--by", "type"], ["--block", at["tail"]]:
            text = run("retain", *options, where, COLUMNS=str(width)).stdout
            wide = [line for line in text.splitlines() if len(line) > width]
            tell(text and not wide, "no line exceeds %d columns" % width, options, wide)
    text = run("retain", "--block", at["tail"], where).stdout
    tell("list in retained" in text and "98 blocks more like it" in text and
         len(text.splitlines()) < 30, "steps that look the same are one line", text)
    text = run("retain", "-n", "2", where).stdout
    tell("local, thread-local in 2 threads" in text and "tree in retained" not in text and
         "more rows" in text, "--limit limits the rows", text)


def known():
    program = dumps.Waiting(library, "retained.heaptap", [os.path.join(programs, "retained")],
                            lines=9)
    at = dict(line.split() for line in program.lines)
    program.asleep()
    pid = str(program.pid)
    tables(pid)
    paths(pid, at)
    refusals(pid, at)
    texts(pid, at)
    snapshot(pid, retained(pid)["total"])
    found = documents.loads(run("core", "--json", "--find-pointers", at["local"], "--pid",
                                pid).stdout)["pointers"]
    tell([pointer["kind"] for pointer in found] == ["stack"],
         "a thread-local variable of main is one pointer", found)
    if dumps.have_gcore():
        core = dumps.gcore(program.pid, "core")
        tables(core)
        paths(core, at)
        refusals(core, at)
        cut_short(core, at)
        snapshot(core, retained(core)["total"])
    else:
        print("ok - a dump # SKIP gdb is not installed")
    program.go_on()
    program.end()
    tell(program.process.returncode == 0, "the program ends as ever", program.process.returncode)
    got = run("retain", pid)
    tell(got.returncode == 3 and "there is no process" in got.stderr,
         "a process that has ended is refused", got.stderr)


def of_python():
    """Objects of Python are in memory that it maps; sums must agree for them as well."""
    script = ("import sys\nkept = [bytes(1000) for i in range(1000)]\n"
              "print('ready', flush=True)\nsys.stdin.readline()\n")
    program = dumps.Waiting(library, "python.heaptap", [sys.executable, "-c", script])
    program.asleep()
    rows, total = by_root(str(program.pid))
    agrees_with_leaks(str(program.pid), rows, total)
    program.go_on()
    program.end()


def attached(program):
    """Earlier blocks are not known after an attach, so a warning qualifies the answer."""
    got = run("attach", "--detached", "-o", "attached.heaptap", str(program.pid))
    if got.returncode != 0:
        print("ok - an attached process # SKIP " + got.stderr.strip())
        return
    for arguments in ["retain", str(program.pid)], ["core", "--leaks", "--pid", str(program.pid)]:
        got = run(*arguments)
        tell(got.returncode == 0 and "earlier blocks are not known" in got.stderr,
             "after an attach there is a warning", arguments, got.stderr)
    run("detach", str(program.pid))


def unrecorded(program):
    """Blocks are glibc's, so their sizes are rounded, but their roots are known."""
    where = str(program.pid)
    rows, total = by_root(where)
    tell({name: rows[name][1] for name in ROOTS if name in rows} ==
         {name: row[1] for name, row in ROOTS.items()},
         "each root keeps its blocks without a recording", rows)
    agrees_with_leaks(where, rows, total)
    at = dict(line.split() for line in program.lines)
    tell(path(where, at["entry"])[1] == ["registry.map in retained", "byte 8", "byte 24", "byte 8"],
         "a path without a recording")


def others():
    program = dumps.Waiting("", "none.heaptap", [os.path.join(programs, "retained")], lines=9)
    program.asleep()
    unrecorded(program)
    attached(program)
    program.go_on()
    program.end()
    program = dumps.Waiting(library, "sampled.heaptap", [os.path.join(programs, "retained")],
                            options={"HEAPTAP_SAMPLE": "4096"}, lines=9)
    got = run("retain", str(program.pid))
    tell(got.returncode == 2 and "recorded in part" in got.stderr, "samples are refused",
         got.stderr)
    program.go_on()
    program.end()
    program = dumps.Waiting(library, "annotated.heaptap", [os.path.join(programs, "retained")],
                            options={"HEAPTAP_ANNOTATE": "1"}, lines=9)
    program.asleep()
    at = dict(line.split() for line in program.lines)
    tell(path(str(program.pid), at["entry"])[1] == ENTRY, "a path through annotated blocks")
    program.go_on()
    program.end()
    got = run("retain", "missing")
    tell(got.returncode == 3 and "missing" in got.stderr, "a missing file is refused", got.stderr)


known()
of_python()
others()
finish()
