"""tags.py: check heaps, labels and backing in profiles that this script writes byte by byte
(docs/format.md 4.3).

    tags.py HEAPTAP views         every view of a small profile, number by number
    tags.py HEAPTAP exports       the exports for other tools, and the results of pack and diff
    tags.py HEAPTAP real PROGRAM  a profile of test/prog/two_arenas.c
    tags.py HEAPTAP agree PROGRAM profiles of test/prog/own_heaps.c, against the raw tables
    tags.py HEAPTAP damage        tags in wrong places, with dangling references, without end
    tags.py HEAPTAP make FILE     write the small profile

The profile has two stacks. The blocks of main > handle > parse belong to malloc and to two heaps,
with and without labels; the blocks of the other stack back the heaps. If this fails, bytes are
counted for the wrong heap or tenant, twice, or never; or a hostile file is trusted.
"""
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
from api_tables import Profile  # noqa: E402
from maker import (COUNTERS, EVIL, HEAPS, LABELS, MEMORY_BYTES, NODES, THREADS,  # noqa: E402
                   Checks, Maker, is_clean, run)

TAG, ROOT, OTHER = 4, 0, 1
TAG_LABELS, TAG_HEAP, TAG_BACKING = 0xfffd << 48, 0xfffe << 48, 0xffff << 48
MODULE = 1 << 48
MAIN, HANDLE, PARSE, GROW = (MODULE | 0x401000 + 16 * i for i in range(4))


class Tags(Maker):
    """Builds a profile with tags."""

    def __init__(self, packed=True):
        super().__init__(packed)
        self.incompatible, self.rows, self.sites = 1, [], {}

    def node(self, parent, frame, site=0, flags=0):
        """Add a node with SITE for its blocks of up to 32 bytes; return its id."""
        self.rows.append(struct.pack("<QII4I", frame, parent, flags, site, 0, 0, 0))
        return len(self.rows) + 3

    def tag(self, parent, frame, site=0):
        return self.node(parent, frame, site, TAG)

    def heaps(self, rows):
        """Add heaps, from id 1 on: ROWS of (name, made, destroyed, resets)."""
        table = bytearray(64)
        for i, (name, made, destroyed, resets) in enumerate(rows):
            table += struct.pack("<II2IQQQQ16x", i + 1, 0, *self.string(name), 7, made, destroyed,
                                 resets)
        self.segment(HEAPS, bytes(table))

    def label_sets(self, rows):
        """Add label sets, from id 2 on: ROWS of bytes. Set 1 represents all sets that found no
        room."""
        table = bytearray(32) + struct.pack("<II2I16x", 1, 0, 0, 0)
        for i, text in enumerate(rows):
            table += struct.pack("<II2I16x", i + 2, 0, *self.string(text))
        self.segment(LABELS, bytes(table))

    def count(self, site, allocations, size, frees=0):
        self.sites[site] = struct.pack(
            "<QQQQQqqQQQQQQ24x", allocations, allocations * size, frees, frees * size, 1,
            (allocations - frees) * size, allocations - frees, 0, 0, 0, 0, size, size)

    def finish(self):
        self.segment(NODES, bytes(4 * 32) + b"".join(self.rows))
        self.segment(THREADS, bytes(256) + struct.pack("<IIII16s224x", 1, 1, 1, 0, b"main"))
        table = bytearray()
        for first in range(0, max(self.sites) + 1, 16):
            table += struct.pack("<II120x", 1, first)
            table += b"".join(self.sites.get(first + i, bytes(128)) for i in range(16))
        self.segment(COUNTERS, bytes(table))


def names(m):
    m.module("/usr/bin/server")
    m.executable = m.string("/usr/bin/server")
    m.command = m.string("server")
    functions = [m.string(f) for f in ("main", "handle", "parse", "grow")]
    m.symbols([(f, m.string("server.c"), 10 + i) for i, f in enumerate(functions)],
              [(0x401000 + 16 * i, i, 1) for i in range(4)])


def small(swapped=False, packed=True):
    """Return the small profile. SWAPPED exchanges the ids of heaps and of labels."""
    m = Tags(packed)
    names(m)
    heaps = [("parser arena", 2, 1, 3), ("session pool", 1, 0, 0), ("unused arena", 1, 0, 0)]
    sets = [b"kind\0get\0tenant\0acme\0", b"tenant\0globex\0"]
    m.heaps(heaps[::-1] if swapped else heaps)
    m.label_sets(sets[::-1] if swapped else sets)
    arena, pool, get, other = (3, 2, 3, 2) if swapped else (1, 2, 2, 3)
    parse = m.node(m.node(m.node(ROOT, MAIN), HANDLE), PARSE, 5)
    grow = m.node(parse, GROW)
    acme, globex = m.tag(parse, TAG_LABELS | get), m.tag(parse, TAG_LABELS | other)
    m.tag(acme, TAG_HEAP | arena, 6)
    m.tag(globex, TAG_HEAP | arena, 7)
    m.tag(parse, TAG_HEAP | pool, 8)
    m.tag(parse, TAG_HEAP | pool, 9)  # The same tag twice, as after a race.
    m.tag(grow, TAG_BACKING | arena, 10)
    m.tag(m.tag(grow, TAG_HEAP | arena), TAG_BACKING | pool, 11)
    m.node(parse, GROW, 12)
    m.tag(OTHER, TAG_HEAP | pool, 13)
    m.tag(globex, TAG_HEAP | pool, 14)
    m.count(5, 10, 20, 4)     # malloc
    m.count(6, 100, 10, 40)   # parser arena, acme
    m.count(7, 50, 8)         # parser arena, globex
    m.count(8, 3, 30, 1)      # session pool
    m.count(9, 5, 30)
    m.count(10, 2, 1000)      # backs the parser arena
    m.count(11, 1, 700)       # backs the session pool
    m.count(12, 1, 16, 1)     # malloc
    m.count(13, 2, 5)         # session pool, from "other"
    m.count(14, 1, 4)         # session pool, globex
    m.finish()
    return m


# Per heap: calls, allocated bytes, live bytes.
WANTED = {"malloc": (11, 216, 120), "parser arena": (150, 1400, 1000),
          "session pool": (11, 254, 224)}


def view(heaptap, *arguments):
    done = subprocess.run([heaptap, *arguments, "small.heaptap"], capture_output=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def document(heaptap, *arguments):
    status, out, err = view(heaptap, *arguments, "--json")
    if status != 0:
        raise AssertionError(f"{arguments}: status {status}: {err}")
    return documents.loads(out)


def three(row):
    return row["allocations"], row["allocated_bytes"], row["live_bytes"]


def check_report(heaptap, checks):
    d = document(heaptap, "report")
    heaps = {h["heap"]: h for h in d["heaps"]}
    checks.say("report: a heap is the sum of its sites",
               {n: three(h) for n, h in heaps.items() if n != "unused arena"} == WANTED,
               f"{[(n, three(h)) for n, h in heaps.items()]}")
    total = tuple(sum(w[i] for w in WANTED.values()) for i in range(3))
    checks.say("report: the heaps are the totals", three(d["totals"]) == total,
               f"{three(d['totals'])} instead of {total}")
    sites = [0, 0, 0]
    for s in d["sites"]:
        sites = [a + b for a, b in zip(sites, three(s))]
    checks.say("report: the sites are the totals", tuple(sites) == total, f"{sites}")
    checks.say("report: what backs a heap is beside the totals",
               (heaps["parser arena"]["backing"]["live_bytes"],
                heaps["session pool"]["backing"]["live_bytes"],
                heaps["malloc"]["backing"]["live_bytes"]) == (2000, 700, 0),
               f"{heaps['parser arena']['backing']}")
    checks.say("report: heaps have their numbers",
               (heaps["parser arena"]["made"], heaps["parser arena"]["destroyed"],
                heaps["parser arena"]["resets"]) == (2, 1, 3), f"{heaps['parser arena']}")
    backings = [(b["heap"], b["live_bytes"], [f["function"] for f in b["stack"]])
                for b in d["backings"]]
    grow = ["grow", "parse", "handle", "main"]
    checks.say("report: the stacks of what backs heaps", backings == [
        ("parser arena", 2000, grow), ("session pool", 700, grow)], f"{backings}")
    labels = [(r["labels"], three(r)) for r in d["labels"]]
    checks.say("report: label sets",
               labels == [({}, (21, 466, 340)),
                          ({"kind": "get", "tenant": "acme"}, (100, 1000, 600)),
                          ({"tenant": "globex"}, (51, 404, 404))], f"{labels}")
    parse = sorted((s["heap"], sorted(s["labels"].items()), s["live_bytes"]) for s in d["sites"]
                   if s["stack"] and s["stack"][0]["function"] == "parse")
    checks.say("report: equal stacks of different heaps and labels are sites of their own",
               parse == [("malloc", [], 120),
                         ("parser arena", [("kind", "get"), ("tenant", "acme")], 600),
                         ("parser arena", [("tenant", "globex")], 400),
                         ("session pool", [], 210), ("session pool", [("tenant", "globex")], 4)],
               f"{parse}")
    checks.say("report: no note, no loss", d["notes"] == [] and d["losses"]["events"] == 0,
               f"{d['notes']} {d['losses']}")


def check_groups(heaptap, checks):
    rows = {r["heap"]: r for r in document(heaptap, "report", "--by", "heap")["rows"]}
    checks.say("report --by heap",
               {n: three(r) for n, r in rows.items()} ==
               {**WANTED, "unused arena": (0, 0, 0)} and
               rows["parser arena"]["backing_live_bytes"] == 2000, f"{rows}")
    rows = {r["labels"]: three(r) for r in document(heaptap, "report", "--by", "label")["rows"]}
    checks.say("report --by label",
               rows == {"": (21, 466, 340), "kind=get, tenant=acme": (100, 1000, 600),
                        "tenant=globex": (51, 404, 404)}, f"{rows}")
    rows = {r["value"]: three(r)
            for r in document(heaptap, "report", "--by", "label=tenant")["rows"]}
    checks.say("report --by label=tenant",
               rows == {None: (21, 466, 340), "acme": (100, 1000, 600),
                        "globex": (51, 404, 404)}, f"{rows}")
    rows = {r["value"]: three(r) for r in document(heaptap, "report", "--by", "label=kind")["rows"]}
    checks.say("report --by label=kind", rows == {None: (72, 870, 744), "get": (100, 1000, 600)},
               f"{rows}")


def check_filters(heaptap, checks):
    for options, wanted in (
            (("--heap", "parser arena"), WANTED["parser arena"]),
            (("--heap", "malloc"), WANTED["malloc"]),
            (("--heap", "*a*e*"), WANTED["parser arena"]),
            (("--label", "tenant"), (151, 1404, 1004)),
            (("--label", "tenant=a*"), (100, 1000, 600)),
            (("--label", "tenant=globex", "--heap", "parser*"), (50, 400, 400)),
            (("--label", "tenant=nobody"), (0, 0, 0))):
        got = three(document(heaptap, "report", *options)["totals"])
        checks.say(f"report {' '.join(options)}", got == wanted, f"{got} instead of {wanted}")
    d = document(heaptap, "leaks", "--heap", "parser arena")
    got = d["total"]["live_bytes"], {leak["heap"] for leak in d["leaks"]}
    checks.say("leaks --heap", got == (1000, {"parser arena"}), f"{got}")
    for arguments, wanted in ((("direct",), 1400), (("leaks", "--paths"), 1000)):
        d = document(heaptap, *arguments, "--heap", "parser arena")
        got = d["total"].get("bytes", d["total"].get("live_bytes"))
        checks.say(f"{' '.join(arguments)} --heap", got == wanted, f"{d['total']}")
    d = document(heaptap, "callgraph", "--heap", "parser arena")
    got = {r["function"]: r["inclusive_bytes"] for r in d["callgraph"]}
    checks.say("callgraph --heap", got == {f: 1400 for f in ("main", "handle", "parse")}, f"{got}")
    status, out, _ = view(heaptap, "export", "-f", "collapsed", "--heap", "session pool")
    checks.say("export --heap", (status, out) == (0, "[other stacks] 10\nmain;handle;parse 214\n"),
               f"{status} {out!r}")
    status, _, err = view(heaptap, "report", "--heap", "no such")
    checks.say("an unknown heap: the message lists the heaps",
               status == 0 and "there is malloc, parser arena, session pool" in err, f"{err!r}")
    status, _, err = view(heaptap, "report", "--by", "size", "--heap", "malloc")
    checks.say("--by size cannot be filtered by heap", status == 2, f"{status} {err!r}")


def check_text(heaptap, checks):
    status, out, err = view(heaptap, "report", "--full")
    wanted = [" parser arena \u00b7 50.0 % of 2.0 KiB", "session pool \u00b7 32.0 % of 700 B",
              "[heap parser arena]  with different labels", "kind=get, tenant=acme"]
    missing = [w for w in wanted if w not in out]
    checks.say("report shows heaps, how full they are, and labels",
               status == 0 and not missing, f"{missing} {err!r}\n{out}")
    status, out, err = view(heaptap, "report", "--heap", "session pool")
    checks.say("report --heap shows the backing", status == 0 and
               "700 B   1 block of 1 call, for session pool" in out and
               "session pool \u00b7 32.0 % of 700 B" in out and
               "for parser arena" not in out, f"{status} {err!r} {out!r}")
    status, out, err = view(heaptap, "bins")
    checks.say("bins states the calls that it lacks",
               status == 0 and "Without 161 calls of the program's own heaps" in out,
               f"{status} {err!r} {out!r}")
    status, out, err = view(heaptap, "report", "--by", "size")
    checks.say("report --by size states the calls that it lacks",
               status == 0 and "Without 161 calls of the program's own heaps" in out,
               f"{status} {err!r} {out!r}")
    calls = document(heaptap, "report", "--by", "size").get("calls_of_heaps")
    checks.say("report --by size --json states the calls that it lacks", calls == 161, calls)
    status, out, err = view(heaptap, "leaks")
    checks.say("leaks marks blocks of heaps", status == 0 and "[heap session pool]" in out,
               f"{status} {err!r} {out!r}")


def check_losses(heaptap, checks):
    data = bytearray(small().bytes())
    struct.pack_into("<7Q", data, 576, 0, 0, 0, 0, 31, 17, 23)
    with open("small.heaptap", "wb") as f:
        f.write(data)
    losses = document(heaptap, "report")["losses"]
    checks.say("losses of heaps, labels and snapshots",
               (losses["events"], losses["heap_events"], losses["label_sets"],
                losses["history_records"]) == (23, 23, 17, 31), f"{losses}")
    _, out, _ = view(heaptap, "report", "--full")
    wanted = ["23 events lost", "23 lost of heaps of the program's own",
              "17 sets of labels that found no room", "31 values at a snapshot"]
    checks.say("the report shows them", all(w in out for w in wanted), out)


def views(heaptap, checks):
    small().write("small.heaptap")
    check_report(heaptap, checks)
    check_groups(heaptap, checks)
    check_filters(heaptap, checks)
    check_text(heaptap, checks)
    check_losses(heaptap, checks)


# --- exports -------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Yield (number, value) of a protocol buffer's fields; a value is a number or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def pprof_samples(path):
    """Return (labels, values) of each sample of a profile.proto."""
    with gzip.open(path) as f:
        top = list(fields(f.read()))
    strings, samples = [v.decode() for n, v in top if n == 6], []
    for number, sample in top:
        if number != 2:
            continue
        labels, values = [], []
        for n, v in fields(sample):
            if n == 3:
                label = dict(fields(v))
                labels.append((strings[label[1]], strings[label[2]]))
            elif n == 2:
                at = 0
                while at < len(v):
                    value, at = varint(v, at)
                    values.append(value)
        samples.append((sorted(labels), values))
    return samples


def check_pprof(heaptap, checks):
    status, _, err = view(heaptap, "export", "-o", "small.pb.gz")
    got = sorted((labels, values[1], values[3]) for labels, values in pprof_samples("small.pb.gz"))
    arena, pool = ("heap", "parser arena"), ("heap", "session pool")
    acme = [("kind", "get"), ("tenant", "acme")]
    wanted = sorted([([("heap", "malloc")], 16, 0), ([("heap", "malloc")], 200, 120),
                     (sorted([arena, *acme]), 1000, 600), ([arena, ("tenant", "globex")], 400, 400),
                     ([pool], 10, 10), ([pool], 240, 210), ([pool, ("tenant", "globex")], 4, 4)])
    checks.say("pprof: samples have their heap and labels", (status, got) == (0, wanted),
               f"{status} {err!r} {got}")
    if shutil.which("go") is None:
        print("ok - go tool pprof # SKIP needs go")
        return
    go = ["go", "tool", "pprof", "-unit=B"]
    tags = subprocess.run([*go, "-tags", "small.pb.gz"], capture_output=True, text=True,
                          timeout=300, check=False).stdout
    tags = re.sub(" +", " ", tags)
    checks.say("go tool pprof -tags distinguishes the arenas and the tenants",
               all(line in tags for line in
                   ("1000.0B (74.40%): parser arena", "224.0B (16.67%): session pool",
                    "120.0B ( 8.93%): malloc", "600.0B (59.76%): acme",
                    "404.0B (40.24%): globex")), tags)
    for focus, wanted_line in (("heap=parser arena", "1000B"), ("tenant=globex", "404B")):
        top = subprocess.run([*go, "-top", f"-tagfocus={focus}", "small.pb.gz"], text=True,
                             capture_output=True, timeout=300, check=False).stdout
        checks.say(f"go tool pprof -tagfocus={focus}",
                   f"Showing nodes accounting for {wanted_line}," in top, top)


def check_roots(heaptap, checks):
    for root, wanted in (
            (None, "[other stacks] 10\nmain;handle;parse 1334\n"),
            ("heap", "[heap parser arena];main;handle;parse 1000\n"
                     "[heap session pool];[other stacks] 10\n"
                     "[heap session pool];main;handle;parse 214\n"
                     "[malloc];main;handle;parse 120\n"),
            ("label=tenant", "[tenant=acme];main;handle;parse 600\n"
                             "[tenant=globex];main;handle;parse 404\n"
                             "[without tenant];[other stacks] 10\n"
                             "[without tenant];main;handle;parse 330\n"),
            ("label", "[kind=get, tenant=acme];main;handle;parse 600\n"
                      "[tenant=globex];main;handle;parse 404\n"
                      "[without labels];[other stacks] 10\n"
                      "[without labels];main;handle;parse 330\n")):
        options = ["--root-by", root] if root else []
        status, out, err = view(heaptap, "export", "-f", "collapsed", *options)
        checks.say(f"collapsed {' '.join(options)}", (status, out) == (0, wanted),
                   f"{status} {err!r} {out!r}")
    _, out, _ = view(heaptap, "export", "-f", "flamegraph", "--root-by", "heap")
    checks.say("flame graph --root-by heap", all(f'"[{box}]"' in out for box in (
        "malloc", "heap parser arena", "heap session pool")), out[-2000:])
    status, _, err = view(heaptap, "export", "-f", "pprof-text", "--root-by", "heap")
    checks.say("pprof-text has no room for roots", status == 2 and "collapsed" in err, err)


def check_pprof_text(heaptap, checks):
    _, out, _ = view(heaptap, "export", "-f", "pprof-text")
    head = out.splitlines()[0]
    rows = sorted(re.match(r" *(\d+): (\d+) \[(\d+): (\d+)\] @", line).groups()
                  for line in out.split("\n\n")[0].splitlines()[1:])
    checks.say("pprof-text: one row for a stack, and right sums",
               head == "heap profile: 126: 1344 [172: 1870] @ heapprofile" and rows == [
                   ("0", "0", "1", "16"), ("124", "1334", "169", "1844"), ("2", "10", "2", "10")],
               f"{head} {rows}")


def check_pack(heaptap, checks):
    before = document(heaptap, "report")
    small(packed=False).write("small.heaptap")
    subprocess.run([heaptap, "pack", "-o", "packed.heaptap", "small.heaptap"], check=True,
                   capture_output=True, timeout=60)
    done = subprocess.run([heaptap, "report", "--json", "packed.heaptap"], check=True,
                          capture_output=True, timeout=60)
    after = documents.loads(done.stdout)
    checks.say("pack keeps heaps, labels and backing",
               all(before[part] == after[part] for part in ("heaps", "labels", "totals")),
               f"{after['heaps']} {after['labels']}")


def check_diff(heaptap, checks):
    small(swapped=True).write("swapped.heaptap")
    d = document(heaptap, "diff", "swapped.heaptap")
    checks.say("diff: heaps and labels are the same by name, whatever their numbers",
               d["rows"] == [] and d["unchanged_rows"] == 7, f"{d['rows']}")
    grown = small()
    grown.segments = [s for s in grown.segments if s[0] not in (COUNTERS, NODES, THREADS)]
    grown.count(7, 60, 8)
    grown.finish()
    grown.write("grown.heaptap")
    done = subprocess.run([heaptap, "diff", "--json", "small.heaptap", "grown.heaptap"],
                          check=True, capture_output=True, timeout=60)
    rows = [(r["heap"], r["labels"], r["growth"]["inuse"])
            for r in documents.loads(done.stdout)["rows"]]
    checks.say("diff: a stack that grows in one heap for one tenant",
               rows == [("parser arena", {"tenant": "globex"}, 80)], f"{rows}")
    done = subprocess.run([heaptap, "diff", "small.heaptap", "grown.heaptap"], text=True,
                          check=True, capture_output=True, timeout=60)
    checks.say("diff: the same in text", "[heap parser arena]  tenant=globex" in done.stdout,
               done.stdout)


def exports(heaptap, checks):
    small().write("small.heaptap")
    check_pprof(heaptap, checks)
    check_roots(heaptap, checks)
    check_pprof_text(heaptap, checks)
    check_diff(heaptap, checks)
    check_pack(heaptap, checks)


# --- a real program ------------------------------------------------------------------------------

def counted(row, *more):
    return three(row) + tuple(row[m] for m in more)


def check_arenas(heaptap, checks):
    d = document(heaptap, "report")
    heaps = {h["heap"]: counted(h, "peak_bytes", "resets") for h in d["heaps"]}
    checks.say("two arenas: calls, bytes, live, at the peak, resets", heaps == {
        "malloc": (51, 510, 510, 500, 0), "request arena": (51, 3264, 64, 1280, 2),
        "session arena": (51, 5100, 5100, 5000, 0)}, f"{heaps}")
    checks.say("two arenas: no byte twice",
               counted(d["totals"], "peak_bytes") == (153, 8874, 5674, 6780), f"{d['totals']}")
    backing = {h["heap"]: counted(h["backing"], "live_blocks") for h in d["heaps"]}
    checks.say("two arenas: backing", backing == {
        "malloc": (0, 0, 0, 0), "request arena": (1, 65536, 65536, 1),
        "session arena": (1, 65536, 65536, 1)}, f"{backing}")
    labels = {json.dumps(r["labels"]): three(r) for r in d["labels"]}
    checks.say("two arenas: labels", labels == {
        "{}": (3, 174, 174), '{"kind": "get", "tenant": "acme"}': (90, 5220, 3300),
        '{"kind": "get", "tenant": "globex"}': (60, 3480, 2200)}, f"{labels}")
    made = {(s["heap"], s["labels"].get("tenant")): s["allocated_bytes"] for s in d["sites"]
            if [f["function"] for f in s["stack"]][:2] == ["make", "answer"]}
    checks.say("two arenas: equal stacks are separate, without the allocator's frame", made == {
        ("request arena", "acme"): 1920, ("request arena", "globex"): 1280,
        ("request arena", None): 64, ("session arena", "acme"): 3000,
        ("session arena", "globex"): 2000, ("session arena", None): 100}, f"{made}")
    checks.say("two arenas: nothing lost", d["losses"]["events"] == 0 and d["notes"] == [],
               f"{d['losses']}")
    _, out, _ = view(heaptap, "report")
    checks.say("two arenas: how full", "session arena \u00b7 7.8 % of 64.0 KiB" in out, out)


def check_consumers(heaptap, checks, program):
    view(heaptap, "export", "-o", "two.pb.gz")
    view(heaptap, "export", "-o", "two.heap")
    if shutil.which("go") is None:
        print("ok - two arenas: go tool pprof # SKIP needs go")
    else:
        go = ["go", "tool", "pprof", "-unit=B"]
        out = subprocess.run([*go, "-tags", "two.pb.gz"], capture_output=True, text=True,
                             timeout=300, check=False).stdout
        out = re.sub(" +", " ", out)
        checks.say("two arenas: go tool pprof -tags", all(line in out for line in (
            "5100.0B (89.88%): session arena", "510.0B ( 8.99%): malloc",
            "64.0B ( 1.13%): request arena", "3300.0B (60.00%): acme",
            "2200.0B (40.00%): globex")), out)
        out = subprocess.run([*go, "-top", "-tagfocus=heap=session arena", "two.pb.gz"], text=True,
                             capture_output=True, timeout=300, check=False).stdout
        checks.say("two arenas: go tool pprof -tagfocus", re.search(
            r"5100B 89\.88% +89\.88% +5100B 89\.88% +make", out) is not None, out)
    if shutil.which("google-pprof") is None:
        print("ok - two arenas: google-pprof # SKIP needs google-pprof")
        return
    out = subprocess.run(["google-pprof", "--text", "--show_bytes", program, "two.heap"],
                         capture_output=True, text=True, timeout=300, check=False).stdout
    rows = {line.split()[5]: line.split()[:5] for line in out.splitlines()
            if len(line.split()) == 6}
    checks.say("two arenas: google-pprof", "Total: 5674 B" in out and
               rows.get("make", [])[0:2] == ["5164", "91.0%"] and
               rows.get("main", [])[3:5] == ["5674", "100.0%"], out)


def real(heaptap, checks):
    program = sys.argv[3]
    if os.path.exists("small.heaptap"):
        os.unlink("small.heaptap")
    subprocess.run([heaptap, "run", "--quiet", "-o", "small.heaptap", "--", program], check=True,
                   timeout=120)
    check_arenas(heaptap, checks)
    check_consumers(heaptap, checks, program)


# The short cases of test/prog/own_heaps.c; one fills the table of names, another the table of
# labels.
CASES = ("events", "lives", "skip", "nested", "below", "backing", "labels", "many_labels", "names",
         "threads", "arenas", "stop", "nonsense", "full", "limited")
SUMS = ("allocations", "allocated_bytes", "frees", "freed_bytes", "temporary", "reallocations")


def disagreements(raw, d):
    """Return the differences between the document D of a report and api_tables.py's reading of the
    tables."""
    pairs = [("total", d["totals"])]
    for h in d["heaps"]:
        name = "" if h["heap"] == "(unnamed heap)" else h["heap"]
        pairs.append(("malloc" if name == "malloc" else f"heap:{name}", h))
        if name != "malloc":
            pairs.append((f"backing:{name}", h["backing"]))
    for r in d["labels"]:
        text = "other" if r["labels"] is None else ",".join(
            f"{k}={v}" for k, v in r["labels"].items())
        pairs.append((f"labels:{text}", r))
    bad = [(what, field, raw.value(what, field), row[field]) for what, row in pairs
           for field in SUMS if raw.value(what, field) != row[field]]
    known = {what for what, _ in pairs}
    for h in raw.heaps.values():
        for what in (f"heap:{h['name']}", f"backing:{h['name']}"):
            if what not in known and raw.value(what, "allocations"):
                bad.append((what, "missing", 0, 0))
    return bad


def agree(heaptap, checks):
    for case in CASES:
        if os.path.exists("small.heaptap"):
            os.unlink("small.heaptap")
        # `heaptap run` would pack the profile, but the tables must be as the recorder wrote them.
        env = {**os.environ, "LD_PRELOAD": os.environ["LIBHEAPTAP"],
               "HEAPTAP_OUT": f"{os.getcwd()}/small.heaptap"}
        subprocess.run([sys.argv[3], case], check=False, capture_output=True, timeout=300, env=env)
        raw, d = Profile("small.heaptap"), document(heaptap, "report")
        # With thousands of names or sets, the comparison takes too long, because each is compared
        # by a walk over all counters.
        few = len(d["heaps"]) + len(d["labels"]) < 100
        bad = disagreements(raw, d) if few else [
            (field, raw.value("total", field), d["totals"][field]) for field in SUMS
            if raw.value("total", field) != d["totals"][field]]
        checks.say(f"{case}: the report matches the tables", not bad, f"{bad[:5]}")


# --- damage --------------------------------------------------------------------------------------

def stack_and(*tags, incompatible=1, heaps=1, sets=1):
    """Return a profile of a stack with a site of 64 bytes. Below that, it has a node of 100 bytes
    for each of TAGS: a tag or, for 0, a frame."""
    m = Tags()
    names(m)
    m.incompatible = incompatible
    m.heaps([("arena", 1, 0, 0)] * heaps)
    m.label_sets([b"k\0v\0"] * sets)
    at = m.node(ROOT, MAIN, 5)
    m.count(5, 2, 32)
    for i, tag in enumerate(tags):
        parent = at if not isinstance(tag, tuple) else tag[0]
        frame = tag[1] if isinstance(tag, tuple) else tag
        at = m.tag(parent, frame, 6 + i) if frame else m.node(parent, PARSE, 6 + i)
        m.count(6 + i, 5, 20)
    m.finish()
    return m


WRONG = "misplaced tag"
FRAME_BELOW = "without a valid parent"
UNKNOWN = "shown as unknown"
# {damage: (tags, live bytes by heap, note)}
DAMAGE = {
    "a heap of a number that is none": ((TAG_HEAP | 9,), {"malloc": 64, "(unknown heap)": 100},
                                        UNKNOWN),
    "heap number 0": ((TAG_HEAP,), {"malloc": 64, "(unknown heap)": 100},
                                        UNKNOWN),
    "a huge heap number": ((TAG_HEAP | (1 << 48) - 1,),
        {"malloc": 64, "(unknown heap)": 100}, UNKNOWN),
    "labels of a number that is none": ((TAG_LABELS | 77,), {"malloc": 164},
                                        UNKNOWN),
    "labels number 0": ((TAG_LABELS,), {"malloc": 164},
                                        UNKNOWN),
    "backing of a heap that is none": ((TAG_BACKING | 9,), {"malloc": 64, "(unknown heap)": 0},
                                        UNKNOWN),
    "a frame below a heap": ((TAG_HEAP | 1, 0), {"malloc": 164, "arena": 100}, FRAME_BELOW),
    "a frame below backing": ((TAG_BACKING | 1, 0), {"malloc": 164}, FRAME_BELOW),
    "a frame below labels": ((TAG_LABELS | 2, 0), {"malloc": 264}, FRAME_BELOW),
    "labels below a heap": ((TAG_HEAP | 1, TAG_LABELS | 2), {"malloc": 164, "arena": 100}, WRONG),
    "labels below labels": ((TAG_LABELS | 2, TAG_LABELS | 2), {"malloc": 264}, WRONG),
    "labels below backing": ((TAG_BACKING | 1, TAG_LABELS | 2), {"malloc": 164}, WRONG),
    "a heap below a heap": ((TAG_HEAP | 1, TAG_HEAP | 1), {"malloc": 164, "arena": 100}, WRONG),
    "a heap below backing": ((TAG_BACKING | 1, TAG_HEAP | 1), {"malloc": 164}, WRONG),
    "backing below backing": ((TAG_BACKING | 1, TAG_BACKING | 1), {"malloc": 164},
                              WRONG),
    "a tag below nothing": (((ROOT, TAG_HEAP | 1),), {"malloc": 164}, WRONG),
    "a tag below itself": (((5, TAG_HEAP | 1),), {"malloc": 164}, WRONG),
    "a tag below what comes later": (((900, TAG_HEAP | 1),), {"malloc": 164}, WRONG),
    "a tag below the mark of a cut stack": (((2, TAG_HEAP | 1),), {"malloc": 164}, WRONG),
    "a tag that is a frame": ((MODULE | 0x401000,), {"malloc": 164}, WRONG),
    "a tag of another kind": ((0xfffc << 48 | 1,), {"malloc": 164}, WRONG),
    "a tag below a tag that is none": ((0xfffc << 48, TAG_HEAP | 1), {"malloc": 264}, WRONG),
}


def check_damaged(heaptap, checks, name, m, wanted, said):
    m.write("small.heaptap")
    try:
        d = document(heaptap, "report")
    except (AssertionError, ValueError) as e:
        checks.say(name, False, str(e))
        return
    wanted = {"arena": 0, **wanted}
    got = {h["heap"]: h["live_bytes"] for h in d["heaps"]}
    notes = " ".join(note["text"] for note in d["notes"])
    good = got == wanted and sum(got.values()) == d["totals"]["live_bytes"] and \
        sum(s["live_bytes"] for s in d["sites"]) == d["totals"]["live_bytes"]
    checks.say(name, good and (said in notes if said else not notes),
               f"{got} {d['totals']} {notes}")


def check_label_texts(heaptap, checks):
    for name, text, wanted in (
            ("no NUL at the end", b"a\0b", {"a": "b"}), ("a key alone", b"a", {"a": ""}),
            ("an empty value", b"a\0\0", {"a": ""}), ("an empty key", b"\0b\0c\0d\0", {"c": "d"}),
            ("nothing but NULs", bytes(4000), None), ("no byte", b"", None),
            ("far too long", b"a\0" + b"b" * 9000, None),
            ("too many", b"".join(b"k%d\0v\0" % i for i in range(70)),
             {f"k{i}": "v" for i in range(64)})):
        m = stack_and(TAG_LABELS | 2, sets=0)
        m.segments = [s for s in m.segments if s[0] != LABELS]
        m.label_sets([text])
        m.write("small.heaptap")
        got = [s["labels"] for s in document(heaptap, "report")["sites"] if s["labels"] != {}]
        checks.say(f"labels: {name}", got == [wanted], f"{got}")


def evil_tags():
    m = Tags()
    names(m)
    m.heaps([(b"heap" + e, 1, 0, 0) for e in EVIL])
    m.label_sets([b"key" + e.replace(b"\0", b"") + b"\0value" + e + b"\0" for e in EVIL])
    main = m.node(ROOT, MAIN)
    for i in range(len(EVIL)):
        labels = m.tag(main, TAG_LABELS | 2 + i)
        m.tag(labels, TAG_HEAP | 1 + i, 5 + i)
        m.count(5 + i, 10, 20)
        m.tag(main, TAG_BACKING | 1 + i, 100 + i)
        m.count(100 + i, 10, 20)
    m.finish()
    return m


def check_evil(heaptap, checks):
    evil_tags().write("small.heaptap")
    for arguments in (["report"], ["report", "--wide"], ["report", "--by", "heap"],
                      ["report", "--by", "label"], ["report", "--by", "label=key"], ["leaks"],
                      ["leaks", "--paths"], ["leaks", "--classic"], ["diff", "small.heaptap"],
                      ["report", "--json"], ["export", "-f", "collapsed", "--root-by", "heap"],
                      ["export", "-f", "collapsed", "--root-by", "label"],
                      ["report", "--heap", EVIL[0]]):
        status, out, err, _ = run(heaptap, [*arguments, "small.heaptap"])
        bad = [line for line in (out + err).split(b"\n") if not is_clean(line)]
        checks.say(f"names that drive terminals: {arguments}", status == 0 and not bad,
                   f"status {status}: {bad[:2]!r}")
    out = run(heaptap, ["export", "-f", "flamegraph", "--root-by", "label", "small.heaptap"])[1]
    checks.say("names that drive browsers: flame graph",
               out.count(b"<script") == 1 and out.count(b"</script") == 1 and
               out.count(b"]]>") == 1 and b"<img" not in out, f"{out[-500:]!r}")


def many_heaps():
    """All heaps and sets have names as long as the table of strings."""
    m, count = Tags(), 60000
    names(m)
    off, size = m.string("a" * (1 << 20))
    m.segment(HEAPS, b"".join(struct.pack("<II2I4Q16x", i, 0, off + i, size - i, 0, 1, 0, 0)
                              for i in range(count)))
    m.segment(LABELS, b"".join(struct.pack("<II2I16x", i, 0, off + i, min(4096, size - i))
                               for i in range(count)))
    main = m.node(ROOT, MAIN, 5)
    m.count(5, 1, 10)
    for i in range(20000):
        m.tag(m.tag(main, TAG_LABELS | i), TAG_HEAP | i, 6 + i)
        m.count(6 + i, 1, 10)
    m.finish()
    return m


def deep_tags():
    """A deep stack has a site for each of many sets of labels."""
    m, at = Tags(), ROOT
    for i in range(1000):
        at = m.node(at, MODULE | 0x401000 + i)
    m.label_sets([b"k\0%d\0" % i for i in range(4000)])
    for i in range(200000):
        m.tag(m.tag(at, TAG_LABELS | 2 + i % 4000), TAG_HEAP | 1, 5 + i)
        m.count(5 + i, 1, 10)
    m.finish()
    return m


def damage(heaptap, checks):
    for name, (tags, wanted, said) in DAMAGE.items():
        check_damaged(heaptap, checks, name, stack_and(*tags), wanted, said)
    # A live process may set the flag after the header was copied.
    check_damaged(heaptap, checks, "tags without the header's flag are tags",
                  stack_and(TAG_HEAP | 1, incompatible=0), {"malloc": 64, "arena": 100}, "")
    for kind in (TAG_LABELS, TAG_HEAP, TAG_BACKING):
        m = stack_and()
        m.segments = [s for s in m.segments if s[0] not in (NODES, THREADS, COUNTERS)]
        m.node(4, kind | 1, 6)
        m.count(6, 5, 20)
        m.finish()
        check_damaged(heaptap, checks, f"module {kind >> 48:#x} without the tag's flag is a frame",
                      m, {"malloc": 164}, "")
    m = stack_and()
    m.incompatible = 128
    m.write("small.heaptap")
    status, _, err = view(heaptap, "report")
    checks.say("an incompatible flag of the future is refused", status == 3 and "0x80" in err, err)
    check_label_texts(heaptap, checks)
    check_evil(heaptap, checks)
    for name, make in (("many heaps", many_heaps), ("deep tags", deep_tags)):
        make().write("small.heaptap")
        for arguments in (["report"], ["report", "--json"], ["leaks"], ["report", "--by", "label"],
                          ["export", "-o", "many.pb.gz"], ["diff", "small.heaptap"]):
            status, _, err, memory = run(heaptap, [*arguments, "small.heaptap"])
            checks.say(f"{name}: {' '.join(arguments)}: within seconds and a gigabyte",
                       status in (0, 3) and memory < MEMORY_BYTES,
                       f"status {status}, {memory >> 20} MiB, {err[:200]!r}")


def main():
    heaptap, what, checks = sys.argv[1], sys.argv[2], Checks()
    if what == "make":
        small().write(sys.argv[3])
    else:
        {"views": views, "exports": exports, "real": real, "agree": agree,
         "damage": damage}[what](heaptap, checks)
    sys.exit(checks.failed > 0)


main()
