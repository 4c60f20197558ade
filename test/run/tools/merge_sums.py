"""merge_sums.py: check that a merged profile is the sum of others.

    merge_sums.py HEAPTAP sums OUT INPUT...     OUT is the sum of the INPUTs
    merge_sums.py HEAPTAP totals OUT INPUT...   only the totals and losses are sums
    merge_sums.py HEAPTAP same A B              two merges have the same contents

The script adds up reports a second time, deliberately by another method: by the names of functions
and places in modules instead of ids. If it fails, `heaptap merge` loses, invents or confuses
counts. If "same" fails, the result depends on the order or the grouping of the inputs.
"""
import collections
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

COUNTS = ("allocations", "allocated_bytes", "frees", "freed_bytes", "reallocations", "live_blocks",
          "live_bytes", "peak_blocks", "peak_bytes", "temporary")
ESTIMATES = ("samples", "live_samples", "peak_samples")
# Members that a merge cannot know, or that are no sums.
NO_SUM = ("file_bytes",)

heaptap, mode, *profiles = sys.argv[1:]
failures = 0


def check(name, wanted, got):
    global failures
    if wanted == got:
        print(f"ok - {name}")
        return
    failures += 1
    print(f"not ok - {name}")
    if isinstance(wanted, dict) and isinstance(got, dict):
        keys = [k for k in {**wanted, **got} if wanted.get(k) != got.get(k)]
        for key in keys[:5]:
            print(f"#   {str(key)[:300]}: wanted {wanted.get(key)}, got {got.get(key)}")
        print(f"#   {len(keys)} differ")
    else:
        print(f"#   wanted: {wanted}\n#   got:    {got}")


def read(profile, *options):
    """Return the reports of PROFILE: of each process, if it is a session."""
    out = subprocess.run([heaptap, "report", "--json", "--no-fold", *options, profile],
                         capture_output=True, text=True, check=True).stdout
    document = documents.loads(out)
    return document["profiles"] if document["format"] == "heaptap-session" else [document]


def code(frame):
    """Return the key of a frame as views distinguish stacks, independent of the module's address:
    the name and line of the function, or else the place in the module."""
    if frame["function"] is not None:
        return frame["module"], frame["function"], frame["file"], frame["line"]
    place = int(frame["offset"], 16)
    return frame["module"], place if frame["module"] else place & ~(1 << 47)


def stack_of(site):
    flags = tuple(site[f] for f in ("other", "truncated", "guessed", "broken"))
    tags = site["heap"], tuple(site["labels"].items())
    return flags, tags, tuple(code(f) for f in site["stack"])


def add(table, key, row, fields):
    old = table.get(key, (0,) * len(fields))
    table[key] = tuple(a + row.get(f, 0) for a, f in zip(old, fields))


def nonzero(table):
    return {k: v for k, v in table.items() if any(v)}


def tables_of(reports):
    """Return all members that are sums, by their keys."""
    t = collections.defaultdict(dict)
    for r in reports:
        add(t["totals"], "all", r["totals"], COUNTS + ESTIMATES)
        losses = {k: v for k, v in r["losses"].items() if not isinstance(v, bool)}
        add(t["losses"], "all", losses, sorted(losses))
        recorder = {k: v for k, v in r["recorder"].items() if k not in NO_SUM}
        # A merged profile has the lowest of several limits.
        add(t["recorder"], "all", recorder, sorted(recorder.keys() - {"limit_bytes"}))
        for s in r["sites"]:
            add(t["sites"], stack_of(s), s, COUNTS + ESTIMATES)
        for s in r["threads"]:
            add(t["threads"], s["name"], s, COUNTS + ("uses",))
        for s in r["sizes"]:
            add(t["sizes"], s["size_min"], s, COUNTS)
        for h in r["heaps"]:
            add(t["heaps"], h["heap"], h, COUNTS + ("made", "destroyed", "resets"))
        for b in r["backings"]:
            key = b["heap"], tuple(code(f) for f in b["stack"])
            add(t["what backs heaps"], key, b, COUNTS)
        for s in r["labels"]:
            add(t["labels"], tuple(s["labels"].items()), s, COUNTS)
        for f in r["unknown_frees"]:
            key = f["kind"], *(tuple(code(x) for x in f[k]) for k in ("stack", "allocated"))
            add(t["unknown frees"], key, f, ("count",))
    return {name: nonzero(table) for name, table in t.items()}


def functions_of(reports):
    """Return rows by function. A stack counts once for a function, so rows of several profiles add
    up."""
    rows = {}
    for r in reports:
        for row in r["rows"]:
            fields = [f for f in row if f.endswith(COUNTS)]
            key = row["function"], row["module"]
            if row["function"] is None:
                key = ("?", row["module"], row.get("offset"))
            add(rows, key, row, fields)
    return nonzero(rows)


def limits(reports):
    """Members that are a minimum or a maximum."""
    totals = [r["totals"] for r in reports if r["totals"]["allocations"]]
    return min((t["size_min"] for t in totals), default=0), \
        max((t["size_max"] for t in totals), default=0)


def time_span(reports):
    ends = [r["process"]["start_unix_ns"] + r["process"]["elapsed_ns"] for r in reports]
    start = min(r["process"]["start_unix_ns"] for r in reports)
    return start, max(ends) - start


def programs_of(reports):
    count = collections.Counter(r["process"]["executable"] for r in reports)
    return dict(count)


def check_timeline(out, inputs):
    """Check that the timeline is sorted and bounded, begins with 0, and includes all events."""
    points = out["timeline"]
    check("timeline: at most 1024 points", True, 0 < len(points) <= 1024)
    times = [p["elapsed_ns"] for p in points]
    check("timeline: by time", sorted(set(times)), times)
    check("timeline: all events", sum(r["totals"]["allocations"] + r["totals"]["frees"]
                                      for r in inputs), points[-1]["events"])
    last = max(r["process"]["start_unix_ns"] + r["process"]["elapsed_ns"] for r in inputs)
    at_last = sum(r["totals"]["live_bytes"] for r in inputs
                  if r["process"]["start_unix_ns"] + r["process"]["elapsed_ns"] == last)
    check("timeline: ends with the live bytes of the last process", True,
          points[-1]["live_bytes"] >= at_last)
    check("timeline: no more than all peaks together", True,
          max(p["live_bytes"] for p in points) <= sum(
              max([r["totals"]["peak_bytes"]] + [p["live_bytes"] for p in r["timeline"]])
              for r in inputs))


def sums():
    out_path, *input_paths = profiles
    out, = read(out_path)
    inputs = [r for path in input_paths for r in read(path)]
    wanted, got = tables_of(inputs), tables_of([out])
    for name, table in wanted.items():
        check(f"{name} add up ({len(table)})", table, got.get(name, {}))
    rows = [r for path in input_paths for r in read(path, "--by", "function")]
    check("functions add up", functions_of(rows),
          functions_of(read(out_path, "--by", "function")))
    check("smallest and largest size", limits(inputs), limits([out]))
    check("from the first start to the last end", time_span(inputs), time_span([out]))
    check("processes and programs", (len(inputs), programs_of(inputs)),
          (out["merged"]["processes"],
           {p["executable"]: p["processes"] for p in out["merged"]["programs"]}))
    check("no snapshot", [], out["snapshots"])
    check_timeline(out, inputs)


def totals():
    wanted = tables_of(r for path in profiles[1:] for r in read(path))
    got = tables_of(read(profiles[0]))
    for name in ("totals", "losses", "threads", "sizes"):
        check(f"{name} add up ({len(wanted[name])})", wanted[name], got[name])


def same():
    a, b = (read(p)[0] for p in profiles)
    for name in ("totals", "losses", "merged", "phases"):
        check(f"the same {name}", a[name], b[name])
    tables = [tables_of([x]) for x in (a, b)]
    for name, table in tables[0].items():
        check(f"the same {name} ({len(table)})", table, tables[1][name])
    rows = [functions_of(read(p, "--by", "function")) for p in profiles]
    check(f"the same functions ({len(rows[0])})", rows[0], rows[1])
    check("the same span", time_span([a]), time_span([b]))
    check("the same end", a["timeline"][-1], b["timeline"][-1])


{"sums": sums, "totals": totals, "same": same}[mode]()
sys.exit(failures > 0)
