"""html_document.py: compare document and page of `heaptap html` with the views.

    html_document.py data HEAPTAP          its numbers equal the views' and the program's
    html_document.py sources HEAPTAP FILE  --source includes permitted files, FILE as an example
    html_document.py pages HEAPTAP         the page contains the document; files written and refused

html.sh runs it, and has recorded the profiles in the current directory. If it fails, a page shows
numbers that no other view has, or a foreign file was replaced."""
import base64
import glob
import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import documents
from telling import finish, tell

AMOUNTS = ("allocations", "allocated_bytes", "frees", "freed_bytes")
MARK = b"<!doctype html>\n<html"  # A page begins with it, and so does the template in the command.


def run(*command, **more):
    return subprocess.run(command, capture_output=True, check=False, **more)


def page_of(*arguments):
    done = run(HEAPTAP, "html", "--json", *arguments)
    return json.loads(done.stdout) if done.returncode == 0 else None


def view(*arguments):
    return json.loads(run(HEAPTAP, *arguments).stdout)


def written_out(report):
    """Return the sites of a report with their stacks, in the report's order."""
    return documents.nested(json.loads(json.dumps(report)))["sites"]


def read_as(site):
    """Return the key of a site, which is the same in two documents of one profile."""
    return (site["heap"], json.dumps(site["labels"]), site["other"],
            tuple((f["function"], f["file"], f["line"], f["module"], f["inlined"],
                   None if f["function"] or f["file"] else f["address"]) for f in site["stack"]))


def columns(table):
    return [dict(zip(table, row)) for row in zip(*table.values())]


def sums_agree(report):
    """Return the sums of a site's parts, and of a part's changes."""
    sites, parts, wrong = report["sites"], report["parts"], []
    for key in (k for k in parts if k in sites and k not in ("size_min", "size_max")):
        sums = [0 if value is not None else None for value in sites[key]]
        for site, value in zip(parts["site"], parts[key]):
            sums[site] = None if value is None else sums[site] + value
        if sums != sites[key]:
            wrong.append(f"parts: {key}")
    if report["history"] is None:
        return wrong
    points, changes = report["history"]["points"], report["history"]["changes"]
    for key in AMOUNTS:
        sums = [0] * len(parts["site"])
        for part, value in zip(changes["part"], changes[key]):
            sums[part] += value
        if sums != parts[key]:
            wrong.append(f"history: {key}")
    times = [point["elapsed_ns"] for point in points]
    if times != sorted(times) or changes["point"] != sorted(changes["point"]):
        wrong.append("history: not in the order of time")
    if any(not 0 < point < len(points) for point in changes["point"]):
        wrong.append("history: a change at no point")
    return wrong


def at_point(report, last):
    """Return the amounts of each site until the point LAST."""
    sums = {}
    changes, site_of = report["history"]["changes"], report["parts"]["site"]
    for row in columns(changes):
        if row["point"] <= last:
            amounts = sums.setdefault(site_of[row["part"]], dict.fromkeys(AMOUNTS, 0))
            for key in AMOUNTS:
                amounts[key] += row[key]
    return sums


def moments(name, *what):
    """Check that a moment of the page equals --at, for every site."""
    report, wrong, count = page_of(*what)["report"], [], 0
    sites = written_out(report)
    for index, point in enumerate(report["history"]["points"]):
        if point["name"] is None:
            continue
        wanted = {}
        for site in documents.nested(view("report", "--json", "--no-fold", "--at", point["name"],
                                          *what))["sites"]:
            if any(site[key] for key in AMOUNTS):
                wanted[read_as(site)] = [site[key] for key in AMOUNTS]
        got = {read_as(sites[i]): [amounts[key] for key in AMOUNTS]
               for i, amounts in at_point(report, index).items() if any(amounts.values())}
        count += 1
        if got != wanted:
            wrong.append(point["name"])
    tell(count > 5 and not wrong, f"{name}: moments are those of --at", count, wrong)


def truth(name):
    """Check the counts of each function at each signal, which history_known has printed."""
    with open("known.out", encoding="ascii") as f:
        snaps = [list(map(int, line.split()[1:])) for line in f if line.startswith("snap")]
    report, wrong = page_of("known.heaptap")["report"], []
    sites = written_out(report)
    signals = [i for i, point in enumerate(report["history"]["points"])
               if point["kind"] == "signal"]
    for number, point in enumerate(signals):
        wanted = {f"allocate_{i}": snaps[number][4 * i:4 * i + 4] for i in range(12)
                  if any(snaps[number][4 * i:4 * i + 4])}
        got = {}
        for site, amounts in at_point(report, point).items():
            function = sites[site]["stack"][0]["function"] if sites[site]["stack"] else None
            if (function or "").startswith("allocate_") and any(amounts.values()):
                known = got.get(function, [0] * 4)
                got[function] = [a + amounts[key] for a, key in zip(known, AMOUNTS)]
        if got != wanted:
            wrong.append((number, got, wanted))
    tell(len(signals) == len(snaps) > 20 and not wrong, name, len(signals), len(snaps), *wrong[:1])


def own_frames(report):
    """Check that the frame of a site's user code belongs to the site's stack."""
    tables, wrong = report["tables"], 0
    for stack, own in zip(report["sites"]["stack"], report["sites"]["own"]):
        frames = []
        while stack:
            frames.append(tables["stacks"]["frame"][stack])
            stack = tables["stacks"]["parent"][stack]
        wrong += own not in frames if frames else own is not None
    return wrong


def in_text(name, profile):
    """Check that the number of a stack equals the number in the text, with the same bytes and
    blocks."""
    text = run(HEAPTAP, "report", "--no-fold", "--alloc", "--limit", "100000", "--depth", "1000",
               profile).stdout.decode()
    shown = sorted(int(number) for number in re.findall(r"^#(\d+) ", text, re.MULTILINE))
    report = page_of(profile)["report"]
    numbers = sorted(n for n, calls in zip(report["sites"]["number"],
                                           report["sites"]["allocations"]) if calls)
    tell(shown == numbers and len(shown) > 5, f"{name}: numbers are those of text", shown, numbers)
    first = min(columns(report["sites"]), key=lambda site: site["number"])
    brief = run(HEAPTAP, "report", profile).stdout.decode()
    tables = report["tables"]
    row = tables["functions"]["name"][tables["frames"]["function"][first["own"]]]
    row = row.partition("(")[0]
    found = re.search(rf"^ .* {re.escape(row)}  .*\n .*#1\b", brief, re.MULTILINE)
    tell(found, f"{name}: its own code is where the first screen has it", row, brief)


def types(name):
    """Check that the sums of parts by type equal --by type."""
    report = page_of("typed.heaptap")["report"]
    sums = {}
    for part in columns(report["parts"]):
        kind = None if part["type"] is None else report["tables"]["types"][part["type"]]
        size = part["size_min"] if part["verdict"] == "same size" else 0
        key = (kind, part["verdict"], size)
        sums[key] = sums.get(key, 0) + part["allocated_bytes"]
    rows = view("report", "--by", "type", "--json", "typed.heaptap")["rows"]
    wanted = {}
    for row in rows:
        size = row["size_min"] if row["verdict"] == "same size" else 0
        key = (row["type"], row["verdict"], size)
        wanted[key] = wanted.get(key, 0) + row["allocated_bytes"]
    tell(sorted(sums.values()) == sorted(wanted.values()) and
         {k: v for k, v in sums.items() if k[1] in ("certain", "likely")} ==
         {k: v for k, v in wanted.items() if k[1] in ("certain", "likely")} and len(sums) > 5,
         name, sums, wanted)


def inside(name, profile):
    """Check that the document equals the output of the views."""
    page = page_of(profile)
    report = view("report", "--json", profile)
    metric = page["report"]["metric"]
    more = {key: page["report"].pop(key) for key in ("parts", "growing", "history")}
    got = sorted(map(json.dumps, written_out(page["report"])))
    wanted = sorted(map(json.dumps, written_out(report)))
    same = {key for key in report if key not in ("sites", "tables", "metric")
            if page["report"].get(key) != report[key]}
    tell(got == wanted and not same and set(page["report"]) == set(report) and more,
         f"{name}: the report is that of report --json", same)
    tell(metric in ("inuse", "peak"), f"{name}: the first metric", metric)
    tell(page["sizes"] == view("sizes", "--json", profile), f"{name}: sizes")
    tell(page["leaks"] == view("leaks", "--paths", "--json", profile), f"{name}: leaks")


def meanings(report, table):
    """Return by stack: its number, and the text of its user frame."""
    sites = documents.nested(json.loads(json.dumps(report)))[table]
    frames = report["tables"]["frames"]
    names = report["tables"]["functions"]["name"]
    return {read_as(site): (number, own is not None and
                            (documents.at(names, frames["function"][own]), frames["line"][own]))
            for site, number, own in zip(sites, report[table]["number"], report[table]["own"])}


def in_leaks(name, profile):
    """A stack has the same number and the same user frame in the table of leaks."""
    report = meanings(view("report", "--json", profile), "sites")
    leaks = meanings(view("leaks", "--json", profile), "leaks")
    tell(leaks and all(report[key] == value for key, value in leaks.items()),
         f"{name}: leaks have the numbers of the report", leaks)


def growing():
    page = page_of("leak.heaptap")["report"]
    sites = written_out(page)
    entry = page["growing"][0]
    shown = view("timeline", "--json", "--limit", "2000", "leak.heaptap")["rows"]
    rates = [row["per_minute"] for row in shown if row["trend"] == "grows"]
    functions = [f["function"] for f in sites[entry["site"]]["stack"][:2]]
    tell([g["per_minute"] for g in page["growing"]] == rates and len(rates) == 1 and
         functions == ["new_entry", "look_up"] and entry["site"] in entry["sites"] and
         entry["number"] == page["sites"]["number"][entry["site"]],
         "the growing stacks match timeline", page["growing"], rates, functions)


def roles():
    tables = page_of("containers.heaptap")["report"]["tables"]
    role = dict(zip(tables["functions"]["name"], tables["functions"]["role"]))
    library = {role[name] for name in role if name.startswith("std::")}
    tell(role["main"] is None and role["words"] is None and role["_start"] == "startup" and
         library == {"wrapper"}, "roles of functions", role)
    kinds = {os.path.basename(m["path"]): (m["kind"], m["program"]) for m in tables["modules"]}
    tell(kinds["containers"] == ("own", True) and kinds["libstdc++.so.6"][0] == "runtime" and
         [program for _, program in kinds.values()].count(True) == 1 and
         not any(m["interpreter"] for m in tables["modules"]), "kinds of modules", kinds)
    tables = page_of("python.heaptap")["report"]["tables"]
    if not any(tables["frames"]["language"]):
        print("ok - the module of an interpreter # SKIP no adapter reads this python3's frames")
        return
    marked = [os.path.basename(m["path"]) for m in tables["modules"] if m["interpreter"]]
    tell(len(marked) == 1 and re.match("(lib)?python3", marked[0]),
         "the module of an interpreter", marked)


def filtered():
    part, whole = page_of("--filter", "look_up", "leak.heaptap"), page_of("leak.heaptap")
    named = [[f["function"] for f in site["stack"]] for site in written_out(part["report"])]
    tell(named and all("look_up" in names for names in named) and
         len(named) < len(whole["report"]["sites"]["stack"]) and
         not sums_agree(part["report"]), "a page of a part", named)
    empty = page_of("--filter", "no such function", "leak.heaptap")["report"]
    tell(empty["sites"]["stack"] == [] and empty["parts"]["site"] == [] and
         empty["history"]["changes"]["part"] == [] and empty["growing"] == [],
         "a page of nothing has its columns")
    made = page_of("--filter", "look_up", "--heap", "malloc", "--label", "a=b", "leak.heaptap")
    tell(whole["filter"] is None and part["filter"] == {
        "stacks": "look_up", "heap": None, "label": None} and made["filter"] == {
        "stacks": "look_up", "heap": "malloc", "label": "a=b"},
         "a page of a part names the part", whole["filter"], part["filter"], made["filter"])


def data():
    profiles = sorted(glob.glob("*.heaptap")) + ["workers.processes"]
    for profile in profiles:
        page = page_of(profile)
        reports = [page["report"]] if page else []
        wrong = [problem for report in reports for problem in sums_agree(report)]
        tell(page and not wrong and own_frames(page["report"]) == 0 and page["before"] is None,
             f"{profile}: parts and history sum up", wrong)
    two = page_of("before.heaptap", "leak.heaptap")
    tell(two["before"]["totals"] == view("report", "--json", "before.heaptap")["totals"] and
         two["report"]["totals"] == view("report", "--json", "leak.heaptap")["totals"] and
         not sums_agree(two["before"]) and two["before"]["history"],
         "of two profiles the first is before")
    session = page_of("workers.processes")["report"]
    tell(session["merged"]["processes"] == 5 and session["history"],
         "a session is a sum over time", session.get("merged"))
    tell("samples" in page_of("sampled.heaptap")["report"]["sites"], "a sample has its intervals")
    for name in ("containers", "arenas", "typed", "recursive", "leak", "sampled", "none"):
        inside(name, f"{name}.heaptap")
    for name in ("containers", "recursive"):
        in_text(name, f"{name}.heaptap")
    for name in ("typed", "recursive"):
        in_leaks(name, f"{name}.heaptap")
    moments("signals", "known.heaptap")
    truth("the history matches the program")
    types("types of parts")
    growing()
    roles()
    filtered()


def texts(*arguments):
    """Return the sources of a page by the name of their file, and the messages."""
    done = run(HEAPTAP, "html", "--json", *arguments)
    page = json.loads(done.stdout)
    files = page["report"]["tables"]["files"]
    return {os.path.basename(files[s["file"]]): s["text"] for s in page["sources"]}, \
        done.stderr.decode()


def sources(path):
    with open(path, encoding="utf-8") as f:
        wanted = f.read()
    tell(texts("typed.heaptap")[0] == {}, "sources: only if they are asked for")
    found, said = texts("--source", "typed.heaptap")
    tell(found.get("typed.c") == wanted, "sources: where the compiler found them", said)
    moved = os.path.join("moved", "prog", "typed.c")
    os.chmod(moved, 0o600)
    with open(moved, "a", encoding="utf-8") as f:
        f.write("// moved\n")
    found, said = texts("--source-dir", "moved", "typed.heaptap")
    tell(found.get("typed.c") == wanted + "// moved\n",
         "sources: in the user's directory, readable by all or not", said)
    with open(moved, "a", encoding="utf-8") as f:
        f.write(" " * (2 << 20))
    found, said = texts("--source-dir", "moved", "typed.heaptap")
    tell("typed.c" not in found and "1 source file was left out: the page" in said,
         "sources: no large ones", said)


def unpacked(page):
    """Return the document in a page."""
    found = re.findall(rb'<script type="application/octet-stream" id="data">(.*?)</script>', page,
                       re.DOTALL)
    assert len(found) == 1, f"{len(found)} elements with data"
    return gzip.decompress(base64.b64decode(found[0]))


def refused(name, status, words, *arguments, **more):
    done = run(HEAPTAP, "html", *arguments, **more)
    tell(done.returncode == status and words in done.stderr.decode() and not done.stdout,
         f"refused: {name}", done.returncode, done.stderr)


def in_pages():
    for arguments in (["containers.heaptap"], ["workers.processes"], ["sampled.heaptap"],
                      ["none.heaptap"], ["before.heaptap", "leak.heaptap"]):
        wanted = run(HEAPTAP, "html", "--json", *arguments).stdout
        done = run(HEAPTAP, "html", "-o", "-", *arguments)
        tell(done.stdout.startswith(MARK) and unpacked(done.stdout) == wanted and
             b"@DATA@" not in done.stdout, f"the document is in the page: {' '.join(arguments)}")
        tell(run(HEAPTAP, "html", "-o", "-", *arguments).stdout == done.stdout,
             f"the same each time: {' '.join(arguments)}")


def written():
    done = run(HEAPTAP, "html", "--source", "-o", "source.html", "typed.heaptap")
    said = re.fullmatch(r"source\.html: [\d.]+ KiB, with (\d+) of (\d+) source files\n",
                        done.stdout.decode())
    with open("source.html", "rb") as f:
        page = json.loads(unpacked(f.read()))
    tell(said and int(said[1]) == len(page["sources"]) > 0 and
         int(said[2]) == len(page["report"]["tables"]["files"]),
         "the number of included sources is printed", done.stdout, done.stderr)
    for arguments, name in ((["containers.heaptap"], "containers.html"),
                            (["./workers.processes/"], "workers.html"),
                            (["before.heaptap", "leak.heaptap"], "before-leak.html")):
        first, again = (run(HEAPTAP, "html", *arguments) for _ in range(2))
        with open(name, "rb") as f:
            page = f.read()
        tell(first.stdout == again.stdout and
             re.fullmatch(rf"{re.escape(name)}: [\d.]+ [KM]iB\n", first.stdout.decode()) and
             unpacked(page), f"written, and written again: {name}", first.stdout, first.stderr)
    done = run(HEAPTAP, "html", "-o", "out.json", "--json", "arenas.heaptap")
    with open("out.json", encoding="utf-8") as f:
        tell(json.load(f)["format"] == "heaptap-page" and done.returncode == 0,
             "--json to a file", done.stdout, done.stderr)


def forced():
    with open("sampled.html", "w", encoding="ascii") as f:
        f.write("<!doctype html>\nmine\n")
    done = run(HEAPTAP, "html", "--force", "sampled.heaptap")
    with open("sampled.html", "rb") as f:
        tell(done.returncode == 0 and unpacked(f.read()), "--force replaces a file", done.stderr)


def opened():
    """Open a page with browsers that write their arguments down, and then do not end."""
    os.mkdir("bin")
    for name in ("xdg-open", "mybrowser"):
        with open(f"bin/{name}", "w", encoding="ascii") as f:
            f.write('#!/bin/sh\nprintf "%s\\n" $$ "$0" "$@" >"$OUT.part"; mv "$OUT.part" "$OUT"\n'
                    'exec sleep 60\n')
        os.chmod(f"bin/{name}", 0o755)
    page, path = os.path.realpath("arenas & 'co.html"), os.path.abspath("bin")
    for i, (browser, wanted) in enumerate((
            (None, ["xdg-open", page]), ("", ["xdg-open", page]),
            ("mybrowser", ["mybrowser", page]),
            ("no-such:mybrowser -a --page=%s -b", ["mybrowser", "-a", f"--page={page}", "-b"]),
            ("no-such", ["xdg-open", page]))):
        env = {**os.environ, "PATH": f"{path}:/usr/bin:/bin", "OUT": os.path.abspath(f"opened{i}")}
        env.pop("BROWSER", None)
        env.update({} if browser is None else {"BROWSER": browser})
        began = time.monotonic()
        done = run(HEAPTAP, "html", "--open", "-o", page, "arenas.heaptap", env=env)
        took = time.monotonic() - began
        while not os.path.exists(env["OUT"]) and time.monotonic() < began + 30:
            time.sleep(0.02)
        with open(env["OUT"], encoding="utf-8") as f:
            pid, program, *got = f.read().split("\n")[:-1]
        os.kill(int(pid), signal.SIGKILL)
        got.insert(0, os.path.basename(program))
        tell(got == wanted and done.returncode == 0 and took < 30,
             f"opened, without waiting, with BROWSER={browser}", got, wanted, took, done.stderr)
    done = run(HEAPTAP, "html", "--open", "arenas.heaptap",
               env={"PATH": os.path.abspath("none"), "BROWSER": "no-such"})
    tell(done.returncode == 3 and os.path.exists("arenas.html") and
         b"no browser can open arenas.html: install xdg-open, or set BROWSER" in done.stderr,
         "without a browser that is an error, and the page is written", done.stderr)


def refusals():
    with open("typed.html", "w", encoding="ascii") as f:
        f.write("<!doctype html>\nmine\n")
    refused("a file of that name", 2, "typed.html exists and is no page of heaptap",
            "typed.heaptap")
    with open("typed.html", encoding="ascii") as f:
        tell(f.read().endswith("mine\n"), "and it is left alone")
    os.symlink("elsewhere", "recursive.html")
    for force in ([], ["--force"]):
        refused("a link of that name that leads nowhere", 2, "recursive.html exists",
                "recursive.heaptap", *force)
    tell(not os.path.exists("elsewhere"), "and nothing is written where it leads")
    shutil.copy("arenas.heaptap", "typed.html")
    refused("a profile of that name, with --force", 2, "typed.html is a profile", "--force",
            "typed.heaptap")
    refused("to open what is no file", 2, "--open needs a page in a file", "--open", "--json",
            "arenas.heaptap")
    refused("to open stdout", 2, "leave out -o -", "--open", "-o", "-", "arenas.heaptap")
    refused("a profile as output", 2, "is the profile that is being read", "-o", "arenas.heaptap",
            "arenas.heaptap")
    refused("the other profile as output", 2, "is the profile that is being read", "-o",
            "before.heaptap", "before.heaptap", "leak.heaptap")
    refused("any profile as output", 2, "is a profile; choose another name", "-o", "leak.heaptap",
            "arenas.heaptap")
    refused("a full disk", 3, "No space left on device", "-o", "/dev/full", "arenas.heaptap")
    refused("a directory that is not there", 2, "cannot be written", "-o", "none/page.html",
            "arenas.heaptap")
    refused("a moment", 2, "--at", "--at", "end", "arenas.heaptap")
    refused("a file that is no profile", 3, "html_document.py", __file__)
    refused("three profiles", 2, "", *["arenas.heaptap"] * 3)
    limited = run(HEAPTAP, "html", "-o", "short.html", "containers.heaptap", preexec_fn=lambda:
                  resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)), restore_signals=False)
    tell(limited.returncode != 0 and not os.path.exists("short.html"),
         "a page that is cut short is removed", limited.returncode, limited.stderr)


def without_template():
    """Make a command that differs only in the template: its first byte ends the template."""
    with open(HEAPTAP, "rb") as f:
        binary = f.read()
    tell(binary.count(MARK) == 1, "the template is in the command once")
    with open("pageless", "wb") as f:
        f.write(binary.replace(MARK, b"\0" + MARK[1:]))
    os.chmod("pageless", 0o755)
    done = run("./pageless", "html", "containers.heaptap")
    tell(done.returncode == 2 and b"built without the page: run tools/setup build and make again"
         in done.stderr and not done.stdout, "without a template: the message", done.stderr)
    tell(run("./pageless", "html", "--json", "arenas.heaptap").stdout ==
         run(HEAPTAP, "html", "--json", "arenas.heaptap").stdout, "and the data is there")


def pages():
    if b"built without the page" in run(HEAPTAP, "html", "arenas.heaptap").stderr:
        print("ok - pages # SKIP this heaptap was built without the page: tools/setup build")
        return
    in_pages()
    written()
    forced()
    opened()
    refusals()
    without_template()


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C.UTF-8"
    HEAPTAP = os.path.abspath(sys.argv[2])
    {"data": data, "sources": lambda: sources(sys.argv[3]), "pages": pages}[sys.argv[1]]()
    finish()
