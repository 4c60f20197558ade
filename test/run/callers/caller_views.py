"""caller_views.py: check views of profiles with sampled callers against exact recordings.

    caller_views.py leaks HEAPTAP CALLED     limits of leaks, whose total depends on no caller
    caller_views.py marks HEAPTAP CALLED     marks of estimates by size, in diff and in sessions
    caller_views.py rare HEAPTAP CALLED      callers of sites without any whole stack
    caller_views.py graph HEAPTAP CALLED     intervals in the call graph
    caller_views.py moment HEAPTAP CALLED    estimates at a moment, which have no intervals
    caller_views.py history HEAPTAP CALLED.. changes between snapshots, and the timeline
    caller_views.py script HEAPTAP SCRIPT    functions of a Lua script
    caller_views.py types HEAPTAP CALLED     types that were guessed by size
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from telling import finish, same, tell  # noqa: E402

heaptap = sys.argv[2]


def record(path, callers, command, seed=1):
    if os.path.exists(path):
        os.unlink(path)
    environment = dict(os.environ, HEAPTAP_SEED=str(seed))
    subprocess.run(["setarch", "-R", heaptap, "run", "--quiet", "--force", "-o", path] +
                   (["--callers", callers] if callers else []) + ["--"] + command,
                   env=environment, check=True, stdout=subprocess.DEVNULL)
    return path


def view(*arguments):
    return json.loads(subprocess.run([heaptap] + list(arguments), check=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def status(*arguments):
    return subprocess.run([heaptap] + list(arguments), stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode


def bounds(row, key):
    return [row[key + "_low"], row[key], row[key + "_high"]]


def leaks(called):
    path = record("leaks.heaptap", "1/16", [called, "shares"])
    less = record("less.heaptap", "1/16", [called, "rare"])
    live = view("report", "--json", path)["totals"]["live_bytes"]
    total = view("leaks", "--json", path)["total"]
    suppressed = live - total["live_bytes"]
    same("leaks: the total is exact", [live - suppressed] * 3, bounds(total, "live_bytes"))
    same("leaks: all blocks are exact", [live] * 3,
         bounds(view("leaks", "--json", path)["totals"], "live_bytes"))
    same("leaks: one byte above the limit", 1,
         status("leaks", "--fail-over", str(total["live_bytes"] - 1), path))
    same("leaks: no byte above the limit", 0,
         status("leaks", "--fail-over", str(total["live_bytes"]), path))
    same("diff: leaks above the limit", 1,
         status("diff", "--fail-over", f"leaks={live // 2}", less, path))
    with open("suppressions", "w") as file:
        file.write("leak:caller_3\n")
    total = view("leaks", "--json", "--suppressions", "suppressions", path)["total"]
    low, some, high = bounds(total, "live_bytes")
    tell(low < some < high, "leaks: a suppression by a caller makes the total an estimate",
         [low, some, high])
    with open("suppressions", "w") as file:
        file.write("leak:make_block\n")
    low, some, high = bounds(view("leaks", "--json", "--suppressions", "suppressions",
                                  path)["total"], "live_bytes")
    same("leaks: one by a site does not", [some, some], [low, high])


def text(*arguments):
    return subprocess.run([heaptap] + list(arguments), check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, universal_newlines=True).stdout


def marks(called):
    path = record("marks.heaptap", "1/16", [called, "shares"])
    exact = record("exact.heaptap", None, [called, "shares"])
    for by in "size", "thread":
        tell("Estimates" not in text("report", "--by", by, path), f"by {by} is exact")
    tell("Estimates; how far" in text("report", "--by", "thread", "--filter", "^caller_3$", path),
         "by thread is an estimate if a filter matches callers")
    for sides in (exact, path), (path, exact):
        tell("Recorded differently. " in text("diff", *sides),
             "a diff of exact and sampled callers states both")
    same("diff: a limit of temporary blocks is exact", 0,
         status("diff", "--fail-over", "temporary=0", path, path))
    same("diff: not with a filter", 2,
         status("diff", "--fail-over", "temporary=0", "--filter", "^caller_3$", path, path))
    os.makedirs("both", exist_ok=True)
    for name, seed in ("a", 1), ("b", 2):
        record(f"both/{name}.heaptap", "1/16", [called, "shares"], seed)
    totals = view("report", "--json", "--filter", "^caller_3$", "both")["totals"]
    low, some, high = bounds(totals, "allocations")
    tell(low < some < high, "a session's totals of a caller have an interval", [low, some, high])


def rare(called):
    """Most of the 120 sites have no whole stack, and all are below rare_caller."""
    exact = record("exact.heaptap", None, [called, "rare"])
    for seed in range(1, 9):
        path = record("rare.heaptap", "1/8", [called, "rare"], seed)
        report = view("report", "--by", "function", "--json", path)
        found = {row["function"].split("(")[0]: row for row in report["rows"]}
        low, some, high = bounds(found["rare_caller"], "allocations")
        tell(some < 360 and low < 360 <= high, f"rare {seed}: callers have at most all",
             [low, some, high])
        low, some, high = bounds(found["rare_caller"], "live_bytes")
        tell(low < 3840 <= high, f"rare {seed}: and at most all live bytes", [low, some, high])
        tell(report["losses"]["inclusive_is_lower_bound"], f"rare {seed}: is a lower bound")
        site = [row for name, row in found.items() if name.startswith("void rare_site<")][0]
        same(f"rare {seed}: a site is exact", [3] * 3, bounds(site, "self_allocations"))
        same(f"rare {seed}: no growth where there may be none", 0,
             status("diff", "--filter", "^rare_caller$", "--fail-over", "allocations=0", path,
                    exact))
    modules = view("report", "--by", "module", "--json", path)["rows"]
    module = [row for row in modules if row["module"].endswith("/called")][0]
    low, some, high = bounds(module, "allocations")
    tell(low <= 360 <= high < 370, "rare: the module has all of them", [low, some, high])


def types(called):
    """One caller's blocks have one size, but those of the site do not."""
    path = record("types.heaptap", "1/16", [called, "shares"])
    report = view("report", "--by", "type", "--json", path)
    same("types: all bytes of the site are of unknown type", 1,
         sum(row["allocations"] >= 20000 for row in report["rows"] if row["verdict"] == "unknown"))
    text = subprocess.run([heaptap, "report", "--by", "type", path], stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    tell("one of 0 of" not in text, "types: none is guessed from no type", text)


def line_of(shown, name):
    """The line of function NAME among its callers and callees."""
    return [line for line in shown.splitlines() if line.startswith("[") and name in line][0]


def graph(called):
    """caller_0 allocates 540,000 of the bytes of make_block, which allocates all of them."""
    path = record("graph.heaptap", "1/16", [called, "shares"])
    exact = record("exact.heaptap", None, [called, "shares"])
    found = {row["function"].split("(")[0]: row
             for row in view("callgraph", "--json", path)["callgraph"]}
    bytes_made = found["make_block"]["self_bytes"]
    same("callgraph: a site is exact", [bytes_made] * 3, bounds(found["make_block"], "self_bytes"))
    same("callgraph: with its callees as well", [bytes_made] * 3,
         bounds(found["make_block"], "inclusive_bytes"))
    rows = (("a caller", found["caller_0"], "inclusive_bytes"),
            ("the call from it", [row for row in found["make_block"]["ancestors"]
                                  if row["function"] == "caller_0"][0], "bytes"),
            ("the call to the site", found["caller_0"]["descendants"][0], "bytes"))
    for name, row, key in rows:
        low, some, high = bounds(row, key)
        tell(low < some < high and low <= 540000 <= high, f"callgraph: {name} has an interval",
             [low, some, high])
    shown = text("callgraph", "--function", "caller_0", path)
    tell("±" in line_of(shown, "caller_0"), "callgraph: a caller has its error", shown)
    shown = text("callgraph", "--function", "make_block", path)
    tell("±" not in line_of(shown, "make_block"), "callgraph: a site has none", shown)
    tell(" error " not in text("callgraph", exact), "callgraph: no column in an exact recording")
    same("callgraph: no interval either", [],
         [key for row in view("callgraph", "--json", exact)["callgraph"] for key in row
          if key.endswith("_low")])


def moment(called):
    path = record("moment.heaptap", "1/16", [called, "shares"])
    exact = record("exact.heaptap", None, [called, "shares"])
    for at in "end", "peak":
        found = {row["function"].split("(")[0]: row
                 for row in view("report", "--at", at, "--by", "function", "--json",
                                 path)["rows"]}
        same(f"at {at}: a site is exact", [False, False],
             [found["make_block"][key] for key in ("estimated", "self_estimated")])
        same(f"at {at}: a caller is an estimate", [True, False],
             [found["caller_0"][key] for key in ("estimated", "self_estimated")])
        shown = text("report", "--at", at, "--by", "function", "-n", "50", path)
        marked = {line.split()[-2].split("(")[0] for line in shown.splitlines() if " ~ " in line}
        tell("caller_0" in marked and "main" in marked and "~: an estimate" in shown,
             f"at {at}: estimates have a mark", shown)
        tell("make_block" not in marked, f"at {at}: exact numbers have none", shown)
    site = view("report", "--at", "end", "--json", path)["sites"]
    same("at a moment: stacks are estimates", True, any(site["estimated"]))
    row = [row for row in view("callgraph", "--at", "end", "--json", path)["callgraph"]
           if row["function"] == "caller_0"][0]
    same("at a moment: so is the call graph", [True, False],
         [row["inclusive_estimated"], row["self_estimated"]])
    same("at a moment: and its calls", [True], [arc["estimated"] for arc in row["descendants"]])
    for view_of in ("report", "--tree"), ("report", "--full"), ("leaks",), ("callgraph",):
        tell(" ~" in text(*view_of, "--at", "end", path), f"at a moment: {view_of[-1]} marks them")
    shown = text("report", "--at", "end", "--by", "function", exact)
    tell("~" not in shown and "error" not in shown, "at a moment: an exact recording has no marks")


def history(*command):
    """Parts of a change are counts as well, and add up to the counters of their part."""
    path = record("history.heaptap", "1/8", list(command))
    report = view("html", "--json", path)["report"]
    names = ("allocations", "allocated_bytes", "frees", "freed_bytes")
    changes, parts = report["history"]["changes"], report["parts"]
    same("history: no count is negative", [0] * 4,
         [sum(value < 0 for value in changes[name]) for name in names])
    sums = [[0] * 4 for _ in parts["site"]]
    for part, *amounts in zip(changes["part"], *(changes[name] for name in names)):
        sums[part] = [a + b for a, b in zip(sums[part], amounts)]
    wrong = [(a, b) for a, b in zip(sums, zip(*(parts[name] for name in names)))
             if tuple(a) != b]
    same("history: each part adds up", [], wrong)
    tell(len(set(changes["point"])) > 2, "history: there are snapshots")
    rows = view("timeline", "--json", "-n", "1000", path)["rows"]
    last = [(row["last_low"], row["values"][-1], row["last_high"]) for row in rows]
    same("timeline: estimates are the rows with an interval", [],
         [row for row, (low, _, high) in zip(rows, last) if row["estimated"] != (low < high)])
    same("timeline: intervals hold the estimates", [],
         [each for each in last if not each[0] <= each[1] <= each[2]])
    same("timeline: there are estimates and exact rows", {False, True},
         {row["estimated"] for row in rows})
    for by, kinds in ("live", {"~", "few", None}), ("calls", {"~", None}):
        shown = text("timeline", "--by", by, "-n", "1000", path)
        found = [re.search(r" (~|few|±)( |$)", line) for line in shown.splitlines()
                 if line.startswith("#")]
        tell({each and each.group(1) for each in found} - {"±"} == kinds,
             f"timeline by {by}: estimates have a mark", shown)
        tell("~: an estimate whose" in shown, f"timeline by {by}: and a legend")


def script(path):
    """A script's functions take the place of the interpreter's, which are the sites."""
    def of_functions(name):
        return {(row["function"], row["module"]): row
                for row in view("report", "--by", "function", "--json", name)["rows"]}

    exact = of_functions(record("exact.heaptap", None, ["lua5.4", path]))
    again = of_functions(record("again.heaptap", None, ["lua5.4", path]))
    stable = [key for key, row in exact.items()
              if row["self_allocations"] == again.get(key, {}).get("self_allocations")]
    for seed in range(1, 5):
        found = of_functions(record("script.heaptap", "1/16", ["lua5.4", path], seed))
        ranges = [(key, exact[key]["self_allocations"], bounds(found[key], "self_allocations"))
                  for key in stable if key in found]
        # No error is known of a number 0: no stack of it was recorded.
        wrong = [each for each in ranges
                 if each[2][0] == each[2][2] > 0 and each[1] != each[2][1]]
        held = sum(low <= truth <= high for _, truth, (low, _, high) in ranges)
        same(f"script {seed}: no estimate is shown as exact", [], wrong)
        tell(len(ranges) > 40 and held >= 0.9 * len(ranges),
             f"script {seed}: {held} of {len(ranges)} ranges hold the truth")


globals()[sys.argv[1]](*sys.argv[3:])
finish()
