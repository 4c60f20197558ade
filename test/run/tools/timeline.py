#!/usr/bin/env python3
"""timeline.py: compare views of past moments with the truth.

    timeline.py HEAPTAP moments   report at and between snapshots, for a profile made here
    timeline.py HEAPTAP thinned   the same after packing, which removes snapshots
    timeline.py HEAPTAP damaged   the tables of the history at values that they must not have
    timeline.py HEAPTAP chart     `heaptap timeline` for stacks that grow, rest and churn
    timeline.py HEAPTAP recorded KNOWN RECORDER
                                  report at and timeline for test/prog/history_known.c

past.py writes the profiles byte by byte, so each number is known. If a check fails, a view shows
wrong data for a moment, or a hostile file crashes its reader.
"""
import gzip
import os
import random
import re
import signal
import struct
import subprocess
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
import maker  # noqa: E402
import past  # noqa: E402
from past import ALLOCATED, ALLOCATIONS, FREED, FREES  # noqa: E402
from telling import finish, tell  # noqa: E402

HEAPTAP = sys.argv[1]


def view(*arguments):
    done = subprocess.run([HEAPTAP, *arguments], capture_output=True, text=True, timeout=100,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def report(*arguments):
    status, out, err = view("report", "--json", *arguments)
    assert status == 0, (arguments, status, err)
    return documents.loads(out)


def members(site):
    return [site[m] for m in ("allocations", "allocated_bytes", "frees", "freed_bytes")]


def by_function(document):
    """Return the values of each site, by its innermost function; sites that are all zero are
    dropped."""
    return {s["stack"][0]["function"]: members(s) for s in document["sites"] if any(members(s))}


def busy_past(seed, snapshots, seconds=1):
    """Three threads use a dozen sites; most counters are unchanged at most snapshots."""
    rng, p = random.Random(seed), past.Past()
    sites = [p.site([f"site_{i}", f"caller_{i % 3}", "main"]) for i in range(12)]
    held = []
    for i in range(snapshots):
        for _ in range(rng.choice([0, 1, 5, 20])):
            site, thread, size = rng.choice(sites), rng.randrange(3), rng.choice([8, 100, 5000])
            if held and rng.random() < 0.4:
                site, size = held.pop(rng.randrange(len(held)))
                p.free(thread, site, 1, size)
            else:
                p.allocate(thread, site, 1, size)
                held.append((site, size))
        p.wait(seconds)
        name = {3: "first", 7: "again", 11: "again", 20: "loading", 30: "serving"}.get(i, "")
        kind = past.PHASE if name.endswith("ing") else past.ASKED if name else past.TIMED
        p.snapshot(name, kind)
    p.allocate(1, sites[0], 7, 70)
    p.wait(seconds)
    return p


def sums_at(p, n):
    """Return the sums of the first N snapshots, by function, without those that are zero."""
    sums = {} if n == 0 else p.sums() if n > len(p.truth) else p.truth[n - 1]
    return {f"site_{s}": list(v) for s, v in sums.items() if any(v)}


def difference(p, a, b):
    before, after = sums_at(p, a), sums_at(p, b)
    gained = {f: [x - y for x, y in zip(v, before.get(f, [0] * 4))] for f, v in after.items()}
    return {f: v for f, v in gained.items() if any(v)}


def check_totals(document, name):
    sums = [0] * 4
    for values in by_function(document).values():
        sums = [a + b for a, b in zip(sums, values)]
    total = document["totals"]
    threads = [sum(column) for column in zip(*(members(t) for t in document["threads"]))]
    tell(members(total) == sums == threads, f"{name}: sites and threads add up to the totals",
         members(total), sums, threads)
    tell(total["live_bytes"] == sums[ALLOCATED] - sums[FREED] and
         total["live_blocks"] == sums[ALLOCATIONS] - sums[FREES] and
         all(total[m] is None for m in ("peak_bytes", "peak_blocks", "temporary", "size_min",
                                        "size_max", "reallocations", "peak_elapsed_ns")),
         f"{name}: unknown values are null", total)


def moments():
    p = busy_past(1, 40)
    p.write("moments.heaptap")
    wrong = [n for n in range(42)
             if by_function(report("--at", f"{n}.5s", "moments.heaptap")) != sums_at(p, n)]
    tell(not wrong, "each moment is exact", wrong)
    for when, n in (("first", 4), ("again", 12), ("again#1", 8), ("again#2", 12), ("start", 0),
                    ("end", 41), ("-1s", 40), ("-30s", 11), ("7s", 7), ("7000ms", 7),
                    ("0.1m", 6), ("0.5min5s", 35), ("1h", 41)):
        document = report("--at", when, "moments.heaptap")
        tell(by_function(document) == sums_at(p, n) and
             document["at"]["elapsed_ns"] == n * 10 ** 9, f"at {when}", document["at"])
    check_totals(report("--at", "again", "moments.heaptap"), "at")
    for span, a, b in (("first..again", 4, 12), ("..first", 0, 4), ("loading..", 21, 41),
                       ("loading", 21, 31), ("serving", 31, 41), ("10s..30.9s", 10, 30),
                       ("-10s..-5s", 31, 36), ("start..end", 0, 41)):
        document = report("--between", span, "moments.heaptap")
        tell(by_function(document) == difference(p, a, b) and
             (document["from"]["elapsed_ns"], document["to"]["elapsed_ns"]) ==
             (a * 10 ** 9, b * 10 ** 9), f"between {span}", document["from"], document["to"])
    check_totals(report("--between", "first..again", "moments.heaptap"), "between")
    named = [(s["name"], s["kind"], s["elapsed_ns"], s["live_bytes"])
             for s in report("moments.heaptap")["snapshots"]]
    wanted = [(name, "phase" if kind == past.PHASE else "asked", ns,
               sum(v[ALLOCATED] - v[FREED] for v in p.truth[i].values()))
              for i, (ns, name, kind) in enumerate(p.snapshots) if name]
    tell(named == wanted, "the named snapshots with their totals", named, wanted)
    shrunk(p)
    other_views(p)
    refused()


def shrunk(p):
    """If some stacks shrank in an interval, its tables have their rows, sorted by absolute amount.
    """
    growth = {f: v[ALLOCATED] - v[FREED] for f, v in difference(p, 31, 41).items()}
    wanted = {f: n for f, n in growth.items() if n != 0}
    total = sum(wanted.values())
    span = ["--between", "31s..end", "moments.heaptap"]
    tell(min(wanted.values()) < 0 < max(wanted.values()), "some shrank and some grew", wanted)
    _, out, _ = view("functions", "--inuse", "--json", *span)
    rows = [(r["function"], r["bytes"]) for r in documents.loads(out)["direct"]]
    tell(dict(rows) == wanted and
         [n for _, n in rows] == sorted(wanted.values(), key=lambda n: (-abs(n), -n)),
         "functions: each that changed, by its amount", rows, wanted)
    _, out, _ = view("callgraph", "--inuse", "--json", *span)
    entries = {e["function"]: e["self_bytes"] for e in documents.loads(out)["callgraph"]
               if e.get("self_bytes")}
    tell(entries == wanted, "callgraph: each that changed", entries, wanted)
    _, out, _ = view("report", "--tree", "--inuse", *span)
    lacks = [f for f, n in wanted.items() if abs(n) * 200 >= abs(total) and
             not re.search(rf"\b{f}$", out, re.MULTILINE)]
    tell(not lacks, "report --tree: each that changed much", lacks, out)


def other_views(p):
    status, out, _ = view("diff", "--json", "moments.heaptap@first", "moments.heaptap@again")
    growth = documents.loads(out)["growth"] if status == 0 else out
    gained = [sum(v[i] for v in difference(p, 4, 12).values()) for i in range(4)]
    tell(status == 0 and growth == {"inuse": gained[ALLOCATED] - gained[FREED], "peak": None,
                                    "alloc": gained[ALLOCATED], "temporary": None,
                                    "died_within_16": None,
                                    "count": gained[ALLOCATIONS]}, "diff of two moments", growth)
    q = past.Past()
    q.allocate(0, q.site(["f"]), 1, 64)
    q.snapshot("x@y", past.ASKED)
    q.write("a@b.heaptap")
    status, out, err = view("diff", "--json", "a@b.heaptap@x@y", "a@b.heaptap@x@y")
    tell(status == 0 and documents.loads(out)["growth"]["inuse"] == 0,
         "a snapshot and a file may have @ in their names", status, err)
    live = sum(v[ALLOCATED] - v[FREED] for v in sums_at(p, 12).values())
    _, out, _ = view("leaks", "--json", "--at", "again", "moments.heaptap")
    tell(documents.loads(out)["total"]["live_bytes"] == live, "leaks at a moment", out[:300])
    _, out, _ = view("export", "--at", "again", "-f", "collapsed", "moments.heaptap")
    tell(sum(int(line.split()[-1]) for line in out.splitlines()) == live,
         "collapsed stacks at a moment", out[:300])
    _, out, _ = view("export", "--at", "again", "-f", "flamegraph", "moments.heaptap")
    names = re.findall(r'"(\w+)"\]', re.search(r"metrics: \[(.*)\],", out).group(1))
    tell(names == ["inuse", "alloc", "count"] and "as at 12.0 s" in out,
         "a flame graph of a moment has no peak", names)
    view("export", "--at", "again", "-f", "pprof", "-o", "at.pb.gz", "moments.heaptap")
    with gzip.open("at.pb.gz") as f:
        strings = f.read()
    tell(b"inuse_space" in strings and b"peak_space" not in strings, "nor has one for pprof")
    for arguments in (["report"], ["report", "--by", "function"], ["report", "--by", "thread"],
                      ["report", "--tree"], ["leaks", "--paths"], ["direct"], ["callgraph"]):
        for option in (["--at", "again"], ["--between", "first..again"]):
            status, out, err = view(*arguments, *option, "moments.heaptap")
            tell(status == 0 and out and "Peak" not in out and "lived" not in out,
                 f"{' '.join(arguments + option)}: no peak", status, out, err)
    status, out, _ = view("report", "--at", "again", "moments.heaptap")
    tell("As it was at 12.00 s (again)" in out, "the view names the moment", out)
    status, out, _ = view("report", "--between", "loading", "moments.heaptap")
    tell("Events from 21.00 s (loading) to 31.00 s (serving)" in out,
         "and between which", out)


def refused():
    for arguments, status, word in (
            (["--at", "never"], 3, "its snapshots are first, again, loading, serving"),
            (["--at", "again#3"], 3, "no moment"), (["--at", "5"], 3, "no moment"),
            (["--at", "-"], 3, "no moment"), (["--at", "5s5"], 3, "no moment"),
            (["--between", "again"], 2, "A..B"),
            (["--between", "end..start"], 2, "'end' is after 'start'"),
            (["--between", "again..again"], 2, "no snapshot"),
            (["--between", "3.1s..3.2s"], 2, "no snapshot"),
            (["--at", "first", "--between", "first.."], 2, "exclude"),
            (["--at", "first", "--peak"], 2, "whole run"),
            (["--between", "first..", "--temporary"], 2, "whole run"),
            (["--at", "first", "--by", "size"], 2, "whole run")):
        got, _, err = view("report", *arguments, "moments.heaptap")
        tell(got == status and word in err, f"refused: {' '.join(arguments)}", got, err)


def thinned():
    p = busy_past(2, 3000, seconds=0.5)
    p.write("long.heaptap")
    status, _, err = view("pack", "-o", "thin.heaptap", "long.heaptap")
    tell(status == 0, "a long history packs", err)
    moments_of = {}
    for name in ("long", "thin"):
        _, out, err = view("timeline", "--json", f"{name}.heaptap")
        moments_of[name] = [s["elapsed_ns"] for s in documents.loads(out)["points"]]
    left = moments_of["thin"]
    tell(len(moments_of["long"]) == 3002, "all snapshots are there before", len(moments_of["long"]))
    tell(200 < len(left) <= 256 + 5 + 2, "256 and those with names after", len(left))
    gaps = [b - a for a, b in zip(left, left[1:])]
    tell(max(gaps) <= 3 * 1500 * 10 ** 9 / 256, "evenly spread", max(gaps))
    ids = [round(ns / (5 * 10 ** 8)) for ns in left[1:-1]]
    wrong = [n for n in random.Random(3).sample(ids, 40) + [4, 8, 12, 21, 31]
             if by_function(report("--at", f"{n * 0.5 + 0.01}s", "thin.heaptap")) != sums_at(p, n)]
    tell(not wrong, "values at the remaining snapshots are as before", wrong)
    whole = by_function(report("thin.heaptap"))
    tell(whole == sums_at(p, 3001), "so is the end", whole)
    small = os.path.getsize("thin.heaptap")
    tell(small < os.path.getsize("long.heaptap") / 8, "and it is small", small)
    view("pack", "-o", "again.heaptap", "thin.heaptap")
    broad()
    first, second = (view("report", "--json", "--at", "100s", f"{name}.heaptap")[1].splitlines()
                     for name in ("thin", "again"))
    changed = [a for a, b in zip(first, second)
               if a != b and not re.search('"(profile|file_bytes|memory_bytes)"', a)]
    tell(not changed and len(first) == len(second), "packing twice changes nothing", changed)


def broad():
    """There are so many stacks that fewer snapshots must suffice."""
    rng, p = random.Random(6), past.Past()
    sites = [p.site([f"site_{i}", "main"]) for i in range(320)]
    for _ in range(250):
        for site in sites:
            p.allocate(0, site, rng.randrange(1, 5), 64)
        p.wait(1)
        p.snapshot()
    p.write("broad.heaptap")
    view("pack", "-o", "narrow.heaptap", "broad.heaptap")
    _, out, _ = view("timeline", "--json", "narrow.heaptap")
    left = [round(q["elapsed_ns"] / 10 ** 9) for q in documents.loads(out)["points"]][1:-1]
    tell(64 <= len(left) <= 128, "many stacks: fewer snapshots", len(left))
    wrong = [n for n in rng.sample(left, 10)
             if by_function(report("--at", f"{n}s", "narrow.heaptap")) != sums_at(p, n)]
    tell(not wrong, "many stacks: values at the remaining snapshots are as before", wrong)


BAD = [0, 1, 255, 4096, 1 << 31, (1 << 32) - 1, 1 << 47, 1 << 63, (1 << 64) - 1]


def damaged():
    p = busy_past(4, 40)
    p.write("whole.heaptap")
    with open("whole.heaptap", "rb") as f:
        intact = f.read()
    tables = {}
    for at in range(4096, 16384, 48):
        kind, _, off, size = struct.unpack_from("<IIQQ", intact, at)
        if kind in (maker.COUNTERS, past.SNAPSHOTS, past.HISTORY):
            tables[kind] = (off, size)
    bad, rng = [], random.Random(5)
    for _ in range(int(os.environ.get("HOSTILE_HISTORIES", "60"))):
        data = bytearray(intact)
        for _ in range(rng.choice([1, 3, 30])):
            off, size = tables[rng.choice([past.SNAPSHOTS, past.HISTORY, past.HISTORY,
                                           maker.COUNTERS])]
            at, value = off + 4 * rng.randrange(size // 4 - 2), rng.choice(BAD)
            struct.pack_into(*(("<Q", data, at, value) if rng.random() < 0.5 else
                               ("<I", data, at, value & 0xffffffff)))
        with open("damaged.heaptap", "wb") as f:
            f.write(data)
        for arguments in (["report", "--at", "20s"], ["report", "--json", "--between", "3s..30s"],
                          ["timeline"], ["timeline", "--json"],
                          ["timeline", "--svg", "t.svg", "--flame", "f.svg"],
                          ["pack", "-o", "packed.heaptap"]):
            status, _, err = view(*arguments, "damaged.heaptap")
            if status not in (0, 2, 3):
                bad.append((arguments, status, err))
    tell(not bad, "damaged histories are shown or refused", bad)


# For each stack: the number of its live blocks, of SIZE bytes each, after T of SECONDS seconds.
SECONDS, SIZE = 64, 100
SHAPES = {
    "grows": lambda t: 10 + t,
    "leaks_under_churn": lambda t: 400 + 2 * t + 40 * (t % 2) + 15 * (t % 3),
    "slow_steps": lambda t: 1 + t // 8,
    "rests": lambda t: 3000,
    "grew": lambda t: 20 * min(t, 25),
    "falls": lambda t: 2000 - 25 * t,
    "varies": lambda t: 900 if t % 16 < 8 else 100,
    "jumps": lambda t: 0 if t < 40 else 700,
    "ended": lambda t: 500 if t < 10 else 0,
}
TRENDS = {"grows": "grows", "leaks_under_churn": "grows", "slow_steps": "grows", "rests": "rests",
          "grew": "grew", "falls": "falls", "varies": "varies", "jumps": "varies",
          "ended": "rests"}


def shapes_past():
    p, live = past.Past(), dict.fromkeys(SHAPES, 0)
    sites = {name: p.site([name, "handle", "main"]) for name in SHAPES}
    for t in range(SECONDS + 1):
        for i, (name, shape) in enumerate(SHAPES.items()):
            change, live[name] = shape(t) - live[name], shape(t)
            if change > 0:
                p.allocate(i % 2, sites[name], change, SIZE)
            elif change < 0:
                p.free(i % 3, sites[name], -change, SIZE)
        if t == SECONDS:
            break
        p.snapshot("" if t != 16 else "warm", past.TIMED if t != 16 else past.ASKED)
        p.wait(1)
    return p


def timeline(*arguments):
    status, out, err = view("timeline", "--json", "--limit", "100", *arguments)
    assert status == 0, err
    return documents.loads(out)


def by_name(document):
    return {r["stack"][0]["function"]: r for r in document["rows"]}


def chart():
    shapes_past().write("chart.heaptap")
    document = timeline("chart.heaptap")
    rows = by_name(document)
    tell([q["elapsed_ns"] for q in document["points"]] ==
         [0, 1] + [t * 10 ** 9 for t in range(1, SECONDS + 1)], "points are start, snapshots, end",
         document["points"])
    tell({q["kind"] for q in document["points"]} == {"start", "timed", "asked", "end"} and
         [q["name"] for q in document["points"] if q["name"]] == ["warm"], "with kinds and names",
         document["points"])
    wrong = [n for n, shape in SHAPES.items() if rows[n]["values"] !=
             [0] + [SIZE * shape(t) for t in range(SECONDS + 1)]]
    tell(not wrong, "every value of every stack", wrong)
    sums = [sum(column) for column in zip(*(r["values"] for r in rows.values()))]
    tell(document["total"]["values"] == sums, "the total is their sum")
    trends = {name: r["trend"] for name, r in rows.items()}
    tell(trends == TRENDS, "which grow, fall, rest", trends)
    tell(abs(rows["grows"]["per_minute"] - 60 * SIZE) < 1, "by how much in a minute",
         rows["grows"]["per_minute"])
    tell(list(rows)[:3] == ["leaks_under_churn", "grows", "slow_steps"] and
         document["growing"] == 3 and document["stacks"] == len(SHAPES),
         "what grows comes first, the fastest first", list(rows), document["growing"])
    few = timeline("--limit", "2", "chart.heaptap")
    rest = [a - b for a, b in zip(sums, map(sum, zip(*(r["values"] for r in few["rows"]))))]
    tell(len(few["rows"]) == 2 and few["rest"]["values"] == rest, "the rest is the rest")
    windows(rows)
    charts_of_text()
    pictures()
    spikes()


def windows(whole):
    rows = by_name(timeline("--between", "warm..50s", "--by", "growth", "chart.heaptap"))
    tell(rows["grows"]["values"] == [SIZE * t for t in range(35)], "growth since a snapshot",
         rows["grows"]["values"])
    rows = by_name(timeline("--between", "warm..50s", "chart.heaptap"))
    tell(rows["grows"]["values"] == whole["grows"]["values"][17:52], "a stretch of time",
         rows["grows"]["values"])
    rows = by_name(timeline("--by", "calls", "--between", "warm..", "chart.heaptap"))
    tell(rows["varies"]["values"][-1] == 800 * 3 and "falls" not in rows and
         rows["grows"]["values"][-1] == SECONDS - 16, "calls", rows["varies"]["values"])
    rows = by_name(timeline("--by", "allocated", "--filter", "grows", "chart.heaptap"))
    tell(list(rows) == ["grows"] and rows["grows"]["values"][-1] == SIZE * (10 + SECONDS),
         "bytes allocated, of the filtered stacks", list(rows))


def charts_of_text():
    status, out, _ = view("timeline", "--filter", "^grows$", "chart.heaptap")
    lines = out.splitlines()
    tell(status == 0 and max(map(len, lines)) <= 80, "no line is wider than 80 columns", out)
    numbers = [line.split()[0] for line in lines if line.startswith("#")]
    tell(numbers and "#0" not in numbers, "stacks have their numbers", numbers)
    begin = next(i for i, line in enumerate(lines) if "\u2524" in line)
    tell([line[:9] for line in lines[begin:begin + 9:4]] == ["   7.2K \u2524", "   3.6K \u2524",
                                                            "      0 \u2514"], "the scale", out)
    bars = [line[9:].ljust(70) for line in lines[begin:begin + 8]]
    heights = [sum(0 if bar[x] == " " else ord(bar[x]) - 0x2580 for bar in bars)
               for x in range(70)]
    tell(heights == sorted(heights) and heights[-1] == 64 and 7 <= heights[0] <= 10,
         "a steady growth is a straight line", heights)
    tell(all(abs(h - 64 * (10 + SECONDS * (x + 1) / 70) / (10 + SECONDS)) < 2
             for x, h in enumerate(heights)), "of the right height in each column", heights)
    tell(lines[begin + 9].split()[0] == "0" and lines[begin + 9].endswith("1m04s"),
         "times below it", lines[begin + 9])
    column = lines[begin + 10].index("\u2191 warm") - 9
    tell(abs(column - 70 * 16 / 64) < 1, "and the snapshot", lines[begin + 10])
    tell("1 of 1 grows steadily" in out and "+5.9 KiB/min" in out, "and its slope", out)
    _, out, _ = view("timeline", "chart.heaptap")
    tell("3 of 9 grow steadily" in out, "three of nine", out)
    _, out, _ = view("timeline", "--between", "10s..12s", "chart.heaptap")
    tell("Too few snapshots" in out, "three moments give no trend", out)
    tell("growth is not known; from" in out and "none grows" not in out,
         "nor the verdict that nothing grows", out)


def pictures():
    status, _, err = view("timeline", "--svg", "stack.svg", "--flame", "flame.svg",
                          "chart.heaptap")
    tell(status == 0, "pictures", err)
    for name in ("stack.svg", "flame.svg"):
        root = xml.etree.ElementTree.parse(name).getroot()
        text = "".join(root.itertext())
        tell(root.tag.endswith("svg") and all(n in text for n in ("grows", "varies", "warm"))
             and "script" not in {e.tag.split("}")[1] for e in root.iter()},
             f"{name}: well-formed, complete, without scripts", text[:300])
    with open("stack.svg") as f:
        red = re.findall(r'<path class="area g\d".*?<title>.*?\n(\w+)', f.read(), re.S)
    tell(red == ["leaks_under_churn", "grows", "slow_steps"], "what grows lies lowest, in red", red)
    with open("flame.svg") as f:
        amounts = re.findall(r'class="code end[^"]*">([^<]*)<', f.read())
    with open("flame.svg") as f:
        tell("left out" not in f.read(), "flame.svg: nothing is left out")
    most = max(sum(SIZE * s(t) for s in SHAPES.values()) for t in range(SECONDS + 1))
    # The first screen has one row for all, main and handle, and a row for each callee.
    tell(amounts[:2] == [f"{most / 1024:.1f} KiB"] * 2 and len(amounts) == 2 + len(SHAPES),
         "flame.svg: callers hold what all they call does", amounts, most)
    status, _, err = view("timeline", "--svg", "chart.heaptap", "chart.heaptap")
    tell(status == 2 and "is the profile" in err, "a profile is never overwritten", status, err)


# Bytes that the stack "spiky" holds for a moment, between two snapshots with 10 bytes each.
SPIKES = [2 ** 20, 2 ** 21, 3 * 2 ** 20, 2 ** 22, 6 * 2 ** 20, 2 ** 23]


def spikes():
    """Return a profile with live bytes that only one snapshot has; another snapshot follows a
    moment later."""
    p = past.Past()
    spiky, once, steady = p.site(["spiky", "main"]), p.site(["once", "main"]), p.site(["steady"])
    p.allocate(0, spiky, 1, 10)
    p.allocate(0, steady, 1, 1000)
    for t in range(120):
        p.wait(1)
        bursts = {70: (once, 2 ** 20), **{20 * i + 7: (spiky, s) for i, s in enumerate(SPIKES)}}
        for site, size in [bursts[t]] if t in bursts else []:
            p.allocate(0, site, 1, size)
            p.snapshot()
            p.wait(0.001)
            p.free(0, site, 1, size)
        p.snapshot()
    p.wait(1)
    p.write("spikes.heaptap")
    most = SPIKES[-1] + 1010
    trends = {name: r["trend"] for name, r in by_name(timeline("spikes.heaptap")).items()}
    tell(trends == {"spiky": "varies", "once": "varies", "steady": "rests"},
         "a stack does not rest if it holds a lot for a moment", trends)
    for width in (60, 70, 80, 90, 100, 131, 200):
        done = subprocess.run([HEAPTAP, "timeline", "spikes.heaptap"], capture_output=True,
                              text=True, check=False,
                              env={**os.environ, "COLUMNS": str(width)})
        lines = done.stdout.splitlines()
        begin = next(i for i, line in enumerate(lines) if "\u2524" in line)
        bars = [line[9:].ljust(width - 10) for line in lines[begin:begin + 8]]
        heights = [sum(0 if bar[x] == " " else ord(bar[x]) - 0x2580 for bar in bars)
                   for x in range(width - 10)]
        tell(lines[begin].startswith("   8.0M") and
             sorted(heights)[-7:] == [8, 8, 16, 24, 32, 48, 64] and sorted(heights)[-8] == 1,
             f"text of {width} columns: each spike has its height", heights)
        shown = [line.split()[1] for line in lines if line.startswith("#")]
        tell(shown == ["varies", "varies", "rests"] and
             all(re.search("[\u2581-\u2588]", line) for line in lines if line.startswith("#")),
             f"text of {width} columns: no stack is missing", done.stdout)
    tell("10 B \u2192 10 B" in done.stdout and "at most 8.0 MiB" in done.stdout,
         "the amounts are those at the ends, and the largest", done.stdout)
    view("timeline", "--svg", "spikes.svg", "--flame", "spiked.svg", "spikes.heaptap")
    with open("spikes.svg") as f:
        total = re.search('class="total" d="([^"]*)"', f.read()).group(1)
    heights = sorted({452 - float(y) for y in re.findall(r"L[\d.]+ ([\d.]+)", total)})
    tell([round(h * most * 1.02 / 340 / 2 ** 20) for h in heights] == [0, 1, 2, 3, 4, 6, 8],
         "the curve of the total reaches each", heights)
    with open("spiked.svg") as f:
        amounts = re.findall(r'class="code end[^"]*">([^<]*)<', f.read())
    tell(amounts[:4] == ["8.0 MiB", "8.0 MiB", "8.0 MiB", "1.0 MiB"],
         "so do the boxes of the flame chart", amounts)


def recorded():
    """Check the recording of test/prog/history_known.c, which prints the expected numbers. Its
    events take no time, so if several signals have the same time, that time selects the last one.
    """
    known = sys.argv[3]
    usr1 = str(int(signal.SIGUSR1))
    for end in ("exit", "kill"):
        for seed in ("1", "2"):
            path = f"{end}{seed}.heaptap"
            out = subprocess.run([known, seed, "3000", "40", "1", end], capture_output=True,
                                 text=True, check=False, env={
                                     **os.environ, "LD_PRELOAD": sys.argv[4], "HEAPTAP_OUT": path,
                                     "HEAPTAP_SNAPSHOT_SIGNAL": usr1}).stdout
            snaps = [list(map(int, line.split()[1:])) for line in out.splitlines()
                     if line.startswith("snap")]
            signals(f"{end}, seed {seed}", path, snaps)


def signals(name, path, snaps):
    wrong = []
    for number, snap in enumerate(snaps, 1):
        if number % 7 != 1:
            continue
        truth = {f"allocate_{i}": snap[4 * i:4 * i + 4] for i in range(12)
                 if any(snap[4 * i:4 * i + 4])}
        got = {}
        for site in report("--no-fold", "--at", f"signal {number}", path)["sites"]:
            function = site["stack"][0]["function"]
            if function.startswith("allocate_") and any(members(site)):
                got[function] = [a + b for a, b in zip(got.get(function, [0] * 4), members(site))]
        if got != truth:
            wrong.append((number, got, truth))
    tell(len(snaps) > 20 and not wrong, f"{name}: reports at signals are exact", *wrong)
    values = {}
    document = timeline("--no-fold", path)
    kinds = [q["kind"] for q in document["points"]]
    for row in document["rows"]:
        function = row["stack"][0]["function"]
        known = values.get(function, [0] * len(kinds))
        values[function] = [a + b for a, b in zip(known, row["values"])]
    live = [[snap[4 * i + 1] - snap[4 * i + 3] for snap in snaps] for i in range(12)]
    got = [[v for v, kind in zip(values.get(f"allocate_{i}", [0] * len(kinds)), kinds)
            if kind == "signal"] for i in range(12)]
    tell(got == live, f"{name}: so is the timeline")


if sys.argv[2] == "recorded":
    recorded()
else:
    {"moments": moments, "thinned": thinned, "damaged": damaged, "chart": chart}[sys.argv[2]]()
finish()
