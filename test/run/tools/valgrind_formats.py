#!/usr/bin/env python3
"""valgrind_formats.py: let valgrind's tools read exports in their formats.

    valgrind_formats.py HEAPTAP PROFILE...

In addition to PROFILEs, it checks a profile with a history and names of all kinds, written byte by
byte, and an empty one. Every total that a reader prints, and every inclusive value of every
function, must equal `heaptap report --json`, to the byte. If it fails, the readers see other
numbers.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
import past  # noqa: E402
import readings  # noqa: E402
from telling import finish, tell  # noqa: E402

HEAPTAP = sys.argv[1]
FIELD = {"InuseBytes": "live_bytes", "InuseObjs": "live_blocks", "AllocBytes": "allocated_bytes",
         "AllocObjs": "allocations", "PeakBytes": "peak_bytes", "PeakObjs": "peak_blocks",
         "TemporaryObjs": "temporary"}
NAMES = ["operator new(unsigned long)", "say \"it\" 'so'; <b>&amp;", "two\nlines", "gr\u00fc\u00df",
         "\x1b[2Jdrives", "back\\slash\\", "x" * 2000, "(12) n1: 5 0x0: f (a.c:1)"]


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=100, check=False)
    return done.returncode, done.stdout.decode(errors="surrogateescape"), \
        done.stderr.decode(errors="surrogateescape")


def export(name, *arguments):
    status, out, err = run(HEAPTAP, "export", "-f", name, "--no-fold", *arguments)
    again = run(HEAPTAP, "export", "-f", name, "--no-fold", *arguments)
    tell(status == 0 and again[1] == out, f"{name} {arguments}: written, and the same twice", err)
    with open("export." + name, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(out)
    return out


def report(*arguments):
    status, out, err = run(HEAPTAP, "report", "--json", "--no-fold", *arguments)
    assert status == 0, err
    return documents.loads(out)


def made():
    """Write a profile with a history and awkward names. The functions form one stack, and each
    allocates in turn; another stack has the same functions twice."""
    p = past.Past()
    sites = [p.site(NAMES[i:] + ["main"]) for i in range(len(NAMES))]
    sites.append(p.site(["leaf", "b", "a", "b", "a", "main"]))
    for turn in range(30):
        for i, site in enumerate(sites):
            p.allocate(i % 2, site, turn + 1, 10 + i)
        p.wait(1)
        p.snapshot("half" if turn == 15 else "")
        for i, site in enumerate(sites):
            p.free(i % 2, site, max(turn + 3 * (i > 3 and turn > 20) - i % 2, 0), 10 + i)
    p.wait(1)
    p.write("made.heaptap")
    past.Past().write("empty.heaptap")


def cleaned(text):
    """Return a name as line_text writes it and its reader splits it."""
    return re.sub(r"\s+", " ", re.sub("[\x00-\x08\x0e-\x1f\x7f]", "?", text)).strip()


def annotated(*options):
    """Return callgrind_annotate's events, totals, and a row per function."""
    status, out, err = run("callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no",
                           *options, "export.callgrind")
    tell(status == 0 and not err, "callgrind_annotate reads it", err, out)
    events = re.search(r"^Events recorded:\s+(.*)$", out, re.M)[1].split()
    rows, totals = {}, None
    for line in out.splitlines():
        found = re.match(r"\s*((?:[\d,]+|\.)(?:\s+(?:[\d,]+|\.))*)\s\s(\S.*)$", line)
        if not found:
            continue
        values = [0 if v == "." else int(v.replace(",", "")) for v in found[1].split()]
        values = dict(zip(events, values))
        if found[2].startswith("PROGRAM TOTALS"):
            totals = values
        elif not found[2].startswith(("file:", "line")):
            rows[re.sub(r" \[[^\]]*\]$", "", found[2])] = values
    return events, totals, rows


def of_function(document, inclusive):
    """Return {"file:function": the sums of the sites that have it on the stack or, if not
    INCLUSIVE, as innermost frame}."""
    sums = {}
    for site in document["sites"]:
        frames = site["stack"] if inclusive else site["stack"][:1]
        for name in {cleaned(f"{f['file'] or '???'}:{f['function']}") for f in frames
                     if f["function"] is not None}:
            row = sums.setdefault(name, dict.fromkeys(FIELD, 0))
            for event, field in FIELD.items():
                row[event] += max(site[field] or 0, 0)
    return sums


def total(document, field):
    """Return the sum over all sites, with negative values as 0, because the consumers' numbers are
    unsigned."""
    return sum(max(site[field] or 0, 0) for site in document["sites"])


def callgrind(profile, *options):
    export("callgrind", profile, *options)
    document = report(profile, *options)
    what = " ".join(["callgrind", profile, *options])
    label = profile.replace(".heaptap", "") + "".join(" " + option for option in options)
    for event, value in annotated("--inclusive=no")[1].items():
        # callgrind_annotate shows 0 for negative numbers.
        if event in FIELD and "--between" not in options:
            readings.add("callgrind", "callgrind_annotate", label, FIELD[event], value,
                         document["totals"][FIELD[event]])
    for inclusive in (False, True):
        events, totals, rows = annotated(f"--inclusive={'yes' if inclusive else 'no'}")
        known = [e for e in events if e in FIELD]
        tell(known and all(totals[e] == total(document, FIELD[e]) for e in known),
             f"{what}: totals", totals, document["totals"])
        tell("--between" in options or
             all(totals[e] == document["totals"][FIELD[e]] for e in known),
             f"{what}: they are the report's", totals, document["totals"])
        wanted = of_function(document, inclusive)
        got = {cleaned(name): row for name, row in rows.items()}
        wrong = {name[:80]: (got.get(name), row) for name, row in wanted.items()
                 if any(got.get(name, {}).get(e, 0) != row[e] for e in known)}
        tell(not wrong and (wanted or "empty" in profile),
             f"{what}: {'inclusive' if inclusive else 'self'}, of {len(wanted)} functions", wrong)


def printed():
    """Return the output of ms_print: a list of (time, total, tree or None, is peak); a tree has the
    bytes of the allocating functions."""
    status, out, err = run("ms_print", "--threshold=0", "export.massif")
    tell(status == 0 and not err, "ms_print reads it", err, out)
    peak = re.search(r"(\d+) \(peak\)", out)
    snapshots = []
    for line in out.splitlines():
        row = re.match(r"\s*(\d+)\s+([\d,]+)\s+([\d,]+)\s+([\d,]+)\s+0\s+0$", line)
        leaf = re.match(r"->[\d.]+% \(([\d,]+)B\) (?:0x[0-9A-F]+: (.*) \(.*?\)|in \d+ place.*)$",
                        line)
        if row:
            n, ms, total = (int(row[i].replace(",", "")) for i in (1, 2, 3))
            snapshots.append([ms, total, None, peak is not None and n == int(peak[1])])
        elif line.startswith("100.00%") or line.startswith("00.00%"):
            snapshots[-1][2] = {}
        elif leaf:
            name = cleaned(leaf[2] or "")
            tree = snapshots[-1][2]
            tree[name] = tree.get(name, 0) + int(leaf[1].replace(",", ""))
    return snapshots


def tree_is(tree, total, document, field):
    """Return true if TREE agrees with DOCUMENT. ms_print sums up small functions in one row without
    a name, and functions without a name have other labels than in DOCUMENT, so neither are
    compared."""
    sums = {}
    for site in document["sites"]:
        name = cleaned(site["stack"][0]["function"] or "" if site["stack"] else "")
        sums[name] = sums.get(name, 0) + max(site[field], 0)
    return sum(tree.values()) == total and \
        all(value == sums[name] or value * 50 < total or sums[name] * 50 < total
            for name, value in tree.items() if name in sums and name)


def massif(profile, *options):
    export("massif", profile, *options)
    what = " ".join(["massif", profile, *options])
    snapshots = printed()
    document = report(profile, *options)
    totals = document["totals"]
    ms, total, tree, _ = snapshots[-1]
    tell(total == totals["live_bytes"] and tree_is(tree, total, document, "live_bytes"),
         f"{what}: the end", snapshots[-1], totals)
    peaks = [s for s in snapshots if s[3]]
    label = profile.replace(".heaptap", "") + "".join(" " + option for option in options)
    readings.add("massif", "ms_print", label, "live_bytes", total, totals["live_bytes"])
    if totals["peak_bytes"] is not None and peaks:
        readings.add("massif", "ms_print", label, "peak_bytes", peaks[0][1], totals["peak_bytes"])
    if totals["peak_bytes"] is not None:
        tell(len(peaks) == 1 and peaks[0][1] == totals["peak_bytes"] and
             tree_is(peaks[0][2], peaks[0][1], document, "peak_bytes"), f"{what}: the peak", peaks)
    else:
        tell(len(peaks) == 1 and peaks[0][1] == max(s[1] for s in snapshots),
             f"{what}: the largest is called the peak", peaks)
    times = [s[0] for s in snapshots]
    tell(times == sorted(times), f"{what}: times rise", times)
    return snapshots


def massif_past():
    """Check that each snapshot equals the profile at that moment."""
    snapshots = [s for s in massif("made.heaptap") if not s[3]]
    tell([s[0] for s in snapshots] == [1000 * n for n in range(32)], "massif: all moments",
         snapshots)
    wrong = [n for n, (_, total, tree, _) in enumerate(snapshots)
             for document in [report("--at", f"{n}.5s", "made.heaptap")]
             if total != document["totals"]["live_bytes"] or
             tree is not None and not tree_is(tree, total, document, "live_bytes")]
    trees = sum(s[2] is not None for s in snapshots)
    tell(not wrong and 10 < trees < 20 and snapshots[16][2], "massif: each moment", wrong, trees)
    half = massif("made.heaptap", "--at", "half")
    tell([h[:2] for h in half] == [s[:2] for s in snapshots[:17]],
         "massif: --at ends there", half)
    export("massif", "made.heaptap", "--between", "half..20s")
    tell([s[:2] for s in printed()] == [s[:2] for s in snapshots[16:21]],
         "massif: --between is that stretch of time")
    export("massif", "made.heaptap", "--at", "peak")
    tell([s[1] for s in printed() if s[3]] == [report("made.heaptap")["totals"]["peak_bytes"]],
         "massif: --at peak is one snapshot")
    refuses("no room for the metric 'alloc'", "-f", "massif", "--alloc", "made.heaptap")


VIEWER = next((path for path in ("/usr/libexec/valgrind/dh_view.js",
                                 "/usr/lib/valgrind/dh_view.js") if os.path.exists(path)), None)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
PAGE = """<!DOCTYPE html><html><head><meta charset="UTF-8">
<script src="file://%s"></script><script src="data.js"></script></head><body><script>
onLoad();
tryFunc(() => { gFilename = "export"; gData = DATA; buildTree(); displayTree(0, 0, 0); });
</script></body></html>
"""


def viewed(text):
    """Return the text that dh_view shows in a browser."""
    with open("data.js", "w", encoding="utf-8") as f:
        f.write("const DATA = " + text)
    with open("view.html", "w", encoding="utf-8") as f:
        f.write(PAGE % VIEWER)
    status, out, err = run(BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
                           "--allow-file-access-from-files",
                           "--user-data-dir=" + os.path.abspath("browser"), "--dump-dom",
                           "file://" + os.path.abspath("view.html"))
    tell(status == 0, "the browser shows dh_view", err)
    out = re.sub(r"<script.*?</script>", "", out, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"</?div[^>]*>", "\n", out)))


def dhat(profile, *options):
    text = export("dhat", profile, *options)
    what = " ".join(["dhat", profile, *options])
    totals, points = report(profile, *options)["totals"], json.loads(text)["pps"]
    wanted = {"tb": "allocated_bytes", "tbk": "allocations", "gb": "peak_bytes",
              "gbk": "peak_blocks", "eb": "live_bytes", "ebk": "live_blocks"}
    tell(all(sum(p[k] for p in points) == totals[v] for k, v in wanted.items()),
         f"{what}: stacks add up", totals)
    tell(all(p["mb"] >= max(p["gb"], p["eb"]) for p in points) and
         len({tuple(p["fs"]) for p in points}) == len(points), f"{what}: each stack comes once")
    if VIEWER is None or BROWSER is None:
        print(f"ok - {what}: in the viewer # SKIP needs chromium and valgrind's dh_view")
        return
    shown = viewed(text)
    got = [tuple(int(n.replace(",", "")) for n in found) for found in
           re.findall(r"(?:Total|At t-gmax|At t-end): +([\d,]+) bytes .*? in ([\d,]+) blocks",
                      shown)[:3]]
    names = list(wanted.values())
    label = profile.replace(".heaptap", "") + "".join(" " + option for option in options)
    for pair, fields in zip(got, zip(names[::2], names[1::2])):
        for value, field in zip(pair, fields):
            readings.add("dhat", "dh_view", label, field, value, totals[field])
    tell(got == [(totals[a], totals[b]) for a, b in zip(names[::2], names[1::2])],
         f"{what}: the viewer's totals", got, totals, shown[:2000])


def refuses(what, *arguments):
    status, out, err = run(HEAPTAP, "export", *arguments)
    tell(status == 2 and not out and what in err, f"refused: {' '.join(arguments)}", status, err)


def main():
    made()
    for profile in sys.argv[2:] + ["made.heaptap", "empty.heaptap"]:
        callgrind(profile)
        massif(profile)
        dhat(profile)
    callgrind("made.heaptap", "--at", "half")
    callgrind("made.heaptap", "--at", "peak")
    callgrind("made.heaptap", "--between", "half..end")
    callgrind("containers.heaptap", "--filter", "vector")
    callgrind("containers.heaptap", "--alloc")
    massif("containers.heaptap", "--filter", "vector")
    massif_past()
    dhat("containers.heaptap", "--filter", "vector")
    refuses("needs a whole run", "-f", "dhat", "--at", "half", "made.heaptap")
    refuses("no room for the metric 'temporary'", "-f", "dhat", "--temporary", "made.heaptap")
    finish()


if __name__ == "__main__":
    main()
