"""tags.py: heaps, labels and backing in profiles written here byte by byte (docs/format.md 4.3).

    tags.py HEAPTAP views         what every view says of a small profile, number by number
    tags.py HEAPTAP damage        tags where none can be, of what is not there, without end
    tags.py HEAPTAP make FILE     write the small profile

The profile has one stack, main > handle > parse, whose blocks are malloc's and of two heaps, with
and without labels, and one whose blocks back the heaps. If this fails, bytes are counted
for the wrong heap or tenant, twice, or not at all; or a file from someone else is believed.
"""
import json
import struct
import subprocess
import sys

from hostile import COUNTERS, HEAPS, LABELS, NODES, THREADS, Checks, Maker, run

TAG, ROOT, OTHER = 4, 0, 1
TAG_LABELS, TAG_HEAP, TAG_BACKING = 0xfffd << 48, 0xfffe << 48, 0xffff << 48
MODULE = 1 << 48
MAIN, HANDLE, PARSE, GROW = (MODULE | 0x401000 + 16 * i for i in range(4))


class Tags(Maker):
    """A profile with tags in the making."""

    def __init__(self, packed=True):
        super().__init__(packed)
        self.incompatible, self.rows, self.sites = 1, [], {}

    def node(self, parent, frame, site=0, flags=0):
        """Add a node with SITE for its blocks of up to 32 bytes; returns its id."""
        self.rows.append(struct.pack("<QII4I", frame, parent, flags, site, 0, 0, 0))
        return len(self.rows) + 3

    def tag(self, parent, frame, site=0):
        return self.node(parent, frame, site, TAG)

    def heaps(self, rows):
        """ROWS of (name, made, destroyed, resets), from heap 1 on."""
        table = bytearray(64)
        for i, (name, made, destroyed, resets) in enumerate(rows):
            table += struct.pack("<II2IQQQQ16x", i + 1, 0, *self.string(name), 7, made, destroyed,
                                 resets)
        self.segment(HEAPS, bytes(table))

    def label_sets(self, rows):
        """ROWS of bytes, from set 2 on; set 1 is that of those that found no room."""
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


def small():
    m = Tags()
    names(m)
    m.heaps([("parser arena", 2, 1, 3), ("session pool", 1, 0, 0), ("unused arena", 1, 0, 0)])
    m.label_sets([b"kind\0get\0tenant\0acme\0", b"tenant\0globex\0"])
    parse = m.node(m.node(m.node(ROOT, MAIN), HANDLE), PARSE, 5)
    grow = m.node(parse, GROW)
    acme, globex = m.tag(parse, TAG_LABELS | 2), m.tag(parse, TAG_LABELS | 3)
    m.tag(acme, TAG_HEAP | 1, 6)
    m.tag(globex, TAG_HEAP | 1, 7)
    m.tag(parse, TAG_HEAP | 2, 8)
    m.tag(parse, TAG_HEAP | 2, 9)  # A race: the same tag twice.
    m.tag(grow, TAG_BACKING | 1, 10)
    m.tag(m.tag(grow, TAG_HEAP | 1), TAG_BACKING | 2, 11)
    m.node(parse, GROW, 12)
    m.tag(OTHER, TAG_HEAP | 2, 13)
    m.tag(m.rows and globex, TAG_HEAP | 2, 14)
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
    return json.loads(out)


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
    checks.say("an unknown heap is said with those there are",
               status == 0 and "there is malloc, parser arena, session pool" in err, f"{err!r}")
    status, _, err = view(heaptap, "report", "--by", "size", "--heap", "malloc")
    checks.say("--by size cannot be filtered by heap", status == 2, f"{status} {err!r}")


def check_text(heaptap, checks):
    status, out, err = view(heaptap, "report")
    wanted = [" parser arena \u00b7 50.0 % of 2.0 KiB", "session pool \u00b7 32.0 % of 700 B",
              "[heap parser arena]  with different labels", "kind=get, tenant=acme"]
    missing = [w for w in wanted if w not in out]
    checks.say("report shows heaps, how full they are, and labels",
               status == 0 and not missing, f"{missing} {err!r}\n{out}")
    status, out, err = view(heaptap, "bins")
    checks.say("bins says what it has not",
               status == 0 and "own heaps are not counted by size: 161 calls" in out,
               f"{status} {err!r} {out!r}")
    status, out, err = view(heaptap, "leaks")
    checks.say("leaks marks blocks of heaps", status == 0 and "[heap session pool]" in out,
               f"{status} {err!r} {out!r}")


def views(heaptap, checks):
    small().write("small.heaptap")
    check_report(heaptap, checks)
    check_groups(heaptap, checks)
    check_filters(heaptap, checks)
    check_text(heaptap, checks)


def main():
    heaptap, what, checks = sys.argv[1], sys.argv[2], Checks()
    if what == "make":
        small().write(sys.argv[3])
    else:
        {"views": views}[what](heaptap, checks)
    sys.exit(checks.failed > 0)


main()
