"""readers.py: read each format of other tools, and compare with the report.

    readers.py HEAPTAP         in a directory with the profiles that readers.sh makes

`heaptap report --json` has the expected numbers, which each format must repeat, stack by stack. A
reader returns its stacks as {metric: {names, outermost first: value}}. If this fails, an export has
other stacks or other numbers than the report, under some option that it should honour.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
import past  # noqa: E402
from telling import finish, tell  # noqa: E402

HEAPTAP = sys.argv[1]
FIELD = {"inuse": "live_bytes", "peak": "peak_bytes", "alloc": "allocated_bytes",
         "temporary": "died_within_16", "count": "allocations"}
TITLE = {"bytes in use": "inuse", "bytes at the peak": "peak", "bytes allocated": "alloc",
         "short-lived blocks": "temporary", "temporary blocks": "temporary",
         "allocation calls": "count"}
MOMENT = re.compile(r" at [0-9.]+ s$|(?<= in use) at the peak$")
ODD = ["a b;c", 'say "hi", twice', "line\nbreak\tand tab", "=1+1", "-x", "@y", "naïve 名前 🙂",
       "\\back/slash", "l" * 2000, "'quoted'"]


def heaptap(*arguments):
    return subprocess.run([HEAPTAP, *arguments], capture_output=True, timeout=100, check=False)


def add(sums, key, value):
    if value:
        sums[key] = sums.get(key, 0) + value


def name(frame):
    """heaptap chooses the name of a frame without a function."""
    if frame["function"] is not None:
        return frame["function"]
    base = os.path.basename(frame["module"] or "")
    if "function_offset" in frame:
        return f"{base}+{frame['function_offset']}…"
    return f"{base}+0x{int(frame['offset'], 16) - 1:x}"


def wanted(profile, options):
    done = heaptap("report", "--json", "--no-fold", *options, profile)
    assert done.returncode == 0, done.stderr
    sites = documents.loads(done.stdout)["sites"]
    found = {}
    for metric, field in FIELD.items():
        if metric == "temporary" and sites and sites[0][field] is None:
            field = "temporary"  # How long blocks of a sample lived is not known.
        if sites and sites[0][field] is None or metric != "inuse" and "peak" in options:
            continue  # Some metrics are unknown at a moment, and all but the live ones at the peak.
        found[metric] = {}
        for site in sites:
            key = tuple(name(f) for f in reversed(site["stack"])) or ("[other stacks]",)
            add(found[metric], key, site[field])
    return found


def above(values):
    """Return the part of VALUES that a format without negative values keeps."""
    return {metric: {key: value for key, value in sums.items() if value > 0}
            for metric, sums in values.items()}


def in_a_row(values):
    """Return the same for CSV, where ';' separates frames and a row is a line."""
    return {metric: {tuple(re.sub("[\n\t]", " ", name).replace(";", ":") for name in key): value
                     for key, value in sums.items()} for metric, sums in values.items()}


def read_speedscope(data):
    document = json.loads(data)
    frames = document["shared"]["frames"]
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    text = [(f["name"], f.get("file")) for f in frames if "\ufffd" not in f["name"]]
    assert len(set(text)) == len(text)
    found, names = {}, [profile["name"].split(",")[0] for profile in document["profiles"]]
    for title, profile in zip(names, document["profiles"]):
        sums = found[TITLE[MOMENT.sub("", title)]] = {}
        assert profile["type"] == "sampled" and profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"]
        for sample, weight in zip(profile["samples"], profile["weights"]):
            assert weight > 0
            add(sums, tuple(frames[i]["name"] for i in sample), weight)
    found["active"] = list(found)[document["activeProfileIndex"]]
    return found


def plain(cell):
    """Return a text as it was before it was escaped against evaluation as a formula."""
    assert not cell or cell[0] not in "=+-@\t\r", cell
    return cell[1:] if cell.startswith("'") else cell


def read_csv(data):
    table = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    found = {}
    columns = {**FIELD, "temporary": "died_within_16"}
    if table and not table[0]["died_within_16"] and table[0]["temporary"]:
        columns["temporary"] = "temporary"
    for metric, column in columns.items():
        if table and not table[0][column]:
            continue
        found[metric] = {}
        for row in table:
            assert None not in row and None not in row.values(), row
            key = plain(row["stack"]).split(";")
            own = re.sub(";", ":", plain(row["function"]))
            assert own in key, (own, key)
            add(found[metric], tuple(key), int(row[column]))
    return found


def read_chrome(data):
    """The tree is deeper than json's recursion limit, and its values have one metric."""
    sys.setrecursionlimit(100000)
    document = json.loads(data)
    metric = TITLE[MOMENT.sub("", document["title"].split(",")[0])]
    sums, sizes, ids, scripts = {}, {}, set(), {}
    todo = [((), document["head"])]
    while todo:
        above_it, node = todo.pop()
        frame = node["callFrame"]
        assert node["id"] not in ids and node["selfSize"] >= 0 and frame["columnNumber"] == -1
        assert frame["lineNumber"] >= -1
        assert scripts.setdefault(frame["scriptId"], frame["url"]) == frame["url"]
        ids.add(node["id"])
        key = above_it + (frame["functionName"],)
        add(sums, key[1:], node["selfSize"])
        add(sizes, node["id"], node["selfSize"])
        todo += [(key, child) for child in node["children"]]
    assert document["head"]["callFrame"]["functionName"] == "(root)"
    assert {s["nodeId"]: s["size"] for s in document["samples"]} == sizes
    return {metric: sums}


def firefox_stacks(thread):
    names, functions = thread["stringArray"], thread["funcTable"]["name"]
    table, frames = thread["stackTable"], thread["frameTable"]["func"]
    for key in ("stackTable", "frameTable", "funcTable", "nativeAllocations", "samples"):
        for column, values in thread[key].items():
            assert not isinstance(values, list) or len(values) == thread[key]["length"], column
    stacks = []
    for prefix, frame in zip(table["prefix"], table["frame"]):
        stacks.append((stacks[prefix] if prefix is not None else ()) +
                      (names[functions[frames[frame]]],))
    return stacks


def firefox_live(thread, until=None):
    """Return the blocks that the viewer considers live: those that no negative entry has removed as
    a whole."""
    stacks, n = firefox_stacks(thread), thread["nativeAllocations"]
    live, alloc = {}, {}
    assert n["time"] == sorted(n["time"])
    for time, weight, stack, address in zip(n["time"], n["weight"], n["stack"],
                                            n["memoryAddress"]):
        if until is not None and time > until:
            break
        if weight > 0:
            assert address not in live
            live[address] = (stacks[stack], weight)
            add(alloc, stacks[stack], weight)
        else:
            assert live.pop(address) == (stacks[stack], -weight)
    sums = {}
    for stack, weight in live.values():
        add(sums, stack, weight)
    return sums, alloc


def read_firefox(data):
    thread = json.loads(data)["threads"][0]
    return dict(zip(("inuse", "alloc"), firefox_live(thread)))


def firefox_in_time():
    """Return the live blocks at each snapshot."""
    thread = json.loads(exported("firefox", [], "odd.heaptap"))["threads"][0]
    for moment, ms in (("early", 1000), ("late", 2000), ("end", 3000)):
        sums, alloc = firefox_live(thread, ms)
        truth = above(wanted("odd.heaptap", ["--at", moment]))
        tell((sums, alloc) == (truth["inuse"], truth["alloc"]), f"firefox: live at {moment}")
    for options in (["--at", "early"], ["--between", "early..late"], ["--peak"]):
        done = heaptap("export", "-f", "firefox", *options, "odd.heaptap")
        tell((done.returncode, done.stdout) == (2, b""), f"firefox: refuses {options}", done.stderr)


READERS = {"speedscope": read_speedscope, "csv": read_csv, "chrome": read_chrome,
           "firefox": read_firefox}
VIEWED = {"speedscope": above, "csv": in_a_row, "chrome": above, "firefox": above}
FEW_METRICS = {"chrome": ["temporary", "count"], "firefox": ["peak", "temporary", "count"]}
# Options under which exports are compared stack by stack.
KEEP = {"chrome": ["--no-fold-recursion"]}


def exported(form, options, profile):
    options = [*options, *KEEP.get(form, [])]
    done = heaptap("export", "-f", form, "--no-fold", *options, profile)
    again = heaptap("export", "-f", form, "--no-fold", *options, profile)
    tell(done.returncode == 0 and done.stdout == again.stdout,
         f"{form} {' '.join(options)} {profile}: the same bytes twice", done.stderr)
    return done.stdout


def compare(form, profile, options=()):
    truth = VIEWED[form](wanted(profile, options))
    got = READERS[form](exported(form, options, profile))
    if form in FEW_METRICS:
        truth = {metric: truth[metric] for metric in got}
    active = got.pop("active", "inuse")
    differ = [(m, key, truth[m].get(key), got[m].get(key)) for m in got
              for key in {*truth[m], *got[m]} if truth[m].get(key) != got[m].get(key)]
    tell(not differ and set(got) == set(truth) and active == "inuse",
         f"{form} {' '.join(options)} {profile}: each stack has its values", *differ[:5],
         set(got) ^ set(truth))


def odd_past():
    p = past.Past()
    sites = [p.site([odd, "main"]) for odd in ODD]
    sites.append(p.site(["deep"] * 2000 + ["main"]))
    for i, site in enumerate(sites):
        p.allocate(0, site, i + 1, 10)
    p.wait(1)
    p.snapshot("early")
    for i, site in enumerate(sites[:4]):
        p.free(0, site, i + 1, 10)
        p.allocate(1, sites[i + 4], 3, 100)
    p.wait(1)
    p.snapshot("late")
    p.free(1, sites[5], 2, 100)
    p.wait(1)
    p.write("odd.heaptap")
    past_of_nothing = past.Past()
    past_of_nothing.allocate(0, past_of_nothing.site(["f", "main"]), 0, 0)
    past_of_nothing.write("empty.heaptap")


def metrics(form):
    """The requested metric is shown first."""
    for metric in FIELD:
        if metric in FEW_METRICS.get(form, []):
            done = heaptap("export", "-f", form, "--metric", metric, "leak.heaptap")
            tell((done.returncode, done.stdout) == (2, b""), f"{form}: refuses {metric}",
                 done.stderr)
            continue
        got = READERS[form](exported(form, ["--metric", metric], "leak.heaptap"))
        if "active" in got:
            tell(got["active"] == metric, f"{form}: --metric {metric} comes first", got["active"])
        tell(got[metric] == wanted("leak.heaptap", [])[metric], f"{form}: --metric {metric}")
        if form == "csv":
            values = [int(row[FIELD[metric]]) for row in csv.DictReader(
                io.StringIO(exported(form, ["--metric", metric], "leak.heaptap").decode()))]
            tell(values == sorted(values, reverse=True), f"csv: --metric {metric} sorts", values)


def csv_as_json():
    """Check that each column of CSV equals the member of that name in JSON."""
    for profile in ("leak.heaptap", "sample.heaptap", "heaps.heaptap"):
        document = documents.loads(heaptap("report", "--json", "--no-fold", profile).stdout)
        sites = sorted(({**site, "stack": [name(f) for f in site["stack"][::-1]] or
                         ["[other stacks]"]} for site in document["sites"]), key=str)
        rows = list(csv.DictReader(io.StringIO(exported("csv", [], profile).decode())))
        texts = {"heap", "labels", "function", "file", "line", "module", "stack"}
        names = [column for column in rows[0] if column not in texts]
        found = sorted(([row[c] for c in names], row["stack"].split(";")) for row in rows)
        truth = sorted((["" if site[c] is None else str(site[c]) for c in names], site["stack"])
                       for site in sites)
        tell(found == truth, f"csv {profile}: columns are those of JSON", found[:2], truth[:2])
    tagged = {(row["heap"], row["labels"], int(row["live_bytes"])) for row in rows}
    tell(tagged == {("parser arena", "kind=get, tenant=acme", 600), ("malloc", "", 120),
                    ("parser arena", "tenant=globex", 400), ("session pool", "", 210),
                    ("session pool", "", 10), ("session pool", "tenant=globex", 4),
                    ("malloc", "", 0)},
         "csv: heaps and labels are columns", tagged)
    done = heaptap("export", "-f", "csv", "--root-by", "heap", "heaps.heaptap")
    tell(done.returncode == 2, "csv: needs no --root-by", done.stderr)


def roots(form):
    for by, roots_wanted in (("heap", {"[malloc]", "[heap parser arena]", "[heap session pool]"}),
                             ("label=tenant", {"[tenant=acme]", "[tenant=globex]",
                                               "[without tenant]"})):
        got = READERS[form](exported(form, ["--root-by", by], "heaps.heaptap"))["inuse"]
        flat = {}
        for key, value in got.items():
            add(flat, key[1:], value)
        tell({key[0] for key in got} == roots_wanted and
             flat == wanted("heaps.heaptap", [])["inuse"], f"{form}: --root-by {by}", got)


def main():
    odd_past()
    for form in READERS:
        for profile in ("leak.heaptap", "sample.heaptap", "odd.heaptap", "empty.heaptap",
                        "hostile.heaptap", "heaps.heaptap"):
            # Its names are not valid text, so the test only requires that they can be read.
            if profile == "hostile.heaptap":
                READERS[form](exported(form, [], profile))
                continue
            compare(form, profile)
        for options in (["--at", "early"], ["--between", "early..late"], ["--at", "peak"],
                        ["--filter", "hi"]):
            if form != "firefox" or "--filter" in options:
                compare(form, "odd.heaptap", options)
        for options in (["--heap", "session pool"], ["--label", "tenant=acme"],
                        ["--heap", "none*"]):
            compare(form, "heaps.heaptap", options)
        metrics(form)
        if form != "csv":
            roots(form)
    csv_as_json()
    firefox_in_time()


main()
finish()
