"""layouts.py: compare the two layouts of every view's JSON.

    layouts.py same HEAPTAP         documents.py turns the tables into the nested layout
    layouts.py small HEAPTAP        shared frames are written once, and rows have the promised order
    layouts.py documented HEAPTAP   each member is in docs/json.md
    layouts.py recipes HEAPTAP      the recipes of docs/json.md, run unchanged

layouts.sh runs it, and has recorded the profiles in the current directory. If it fails, scripts
that read one layout get other numbers, or other stacks, than scripts that read the other layout."""
import glob
import json
import os
import re
import subprocess
import sys

import documents
from telling import finish, tell

VIEWS = (
    ["report"], ["report", "--limit", "3"], ["report", "--no-fold"], ["report", "--fold", "^[a-m]"],
    ["report", "--filter", "main"], ["report", "--filter", "no such function"],
    ["report", "--metric", "count"],
    ["report", "--site", "1"], ["report", "--site", "1", "--between", "start..end"],
    ["report", "--heap", "malloc"], ["report", "--by", "function"],
    ["report", "--by", "thread"], ["report", "--tree"], ["report", "--tree", "--filter", "nothing"],
    ["report", "--invert", "--alloc"], ["leaks"], ["leaks", "--limit", "1"], ["leaks", "--paths"],
    ["leaks", "--filter", "no such function"], ["bins"],
    ["bins", "--at", "end"], ["direct"], ["callgraph"],
    ["source", "main"], ["timeline"], ["timeline", "--limit", "1000", "--by", "calls"],
    ["report", "--at", "end"], ["report", "--between", "start..end"], ["report", "--at", "peak"],
    ["report", "--fold-recursion"], ["leaks", "--fold-recursion", "--no-fold"],
    ["access"], ["access", "--never"], ["access", "--fields"],
)
DIFFS = (["diff"], ["diff", "--by", "function"], ["diff", "--limit", "2"], ["diff", "--no-fold"])


def shown(heaptap, layout, view, *files):
    return subprocess.run([heaptap, *view, layout, *files], capture_output=True, check=False)


def versions(document):
    return {document["version"]} | {one["version"] for one in document.get("profiles", [])}


def compare(heaptap, view, *files):
    """Return the errors in VIEW, or None, and the bytes of both layouts."""
    one, two = (shown(heaptap, "--json" + form, view, *files) for form in ("=nested", ""))
    if one.returncode != two.returncode or one.stderr != two.stderr:
        return f"status {one.returncode} and {two.returncode}", 0
    if one.returncode != 0:
        return None, 0
    wanted, raw, got = json.loads(one.stdout), json.loads(two.stdout), documents.loads(two.stdout)
    if (versions(wanted), versions(raw)) != ({1}, {2}):
        return f"versions {versions(wanted)} and {versions(raw)}", 0
    for document in [wanted, got]:
        for part in [document, *document.get("profiles", [])]:
            del part["version"]
            part.pop("modules", None)  # Members of the nested layout; the other layout has a table.
    if wanted == got:
        return None, 1
    return next(f"{key}: {str(wanted[key])[:200]} and {str(got.get(key))[:200]}"
                for key in wanted if wanted[key] != got.get(key)), 1


def same(heaptap):
    """A document counts if it exists: a profile without a history has no timeline."""
    profiles = sorted(glob.glob("*.heaptap") + glob.glob("*.processes"))
    for view in VIEWS:
        results = [(profile, *compare(heaptap, view, profile)) for profile in profiles]
        wrong = [f"{profile}: {problem}" for profile, problem, _ in results if problem]
        count = sum(good for _, _, good in results)
        tell(not wrong and count > 0, f"the same: {' '.join(view)}", *wrong, f"{count} documents")
    for view in DIFFS:
        problems = [compare(heaptap, view, *pair) for pair in (
            ("recursive.heaptap", "containers.heaptap"), ("arenas.heaptap", "arenas.heaptap"),
            ("containers.heaptap", "merged.heaptap"), ("history.heaptap@start", "history.heaptap"))]
        tell(all(p == (None, 1) for p in problems), f"the same: {' '.join(view)}", problems)
    wrong = shown(heaptap, "--json=flat", ["report"], "containers.heaptap")
    tell(wrong.returncode == 2 and b"'flat' is not one of tables, nested" in wrong.stderr,
         "a layout that there is not", wrong.stderr)
    plain, named = (shown(heaptap, form, ["report"], "containers.heaptap").stdout
                    for form in ("--json", "--json=tables"))
    tell(plain == named, "--json is --json=tables")


def lengths(columns):
    return {len(values) for values in columns.values()}


def small(heaptap):
    """A function that calls itself has a stack at each depth, and each adds one frame to its
    caller's stack. If the stacks were written in full, they would grow with the square of the
    depth."""
    one, two = (shown(heaptap, "--json" + form, ["report", "--no-fold"], "recursive.heaptap").stdout
                for form in ("=nested", ""))
    document = json.loads(two)
    tables = document["tables"]
    frames, stacks, sites = tables["frames"], tables["stacks"], document["sites"]
    tell(lengths(frames) == {len(frames["line"])} and len(lengths(stacks)) == 1 and
         len(lengths(sites)) == 1 and len(lengths(tables["functions"])) == 1,
         "columns of a table have one length")
    tell(stacks["parent"][0] is None and stacks["frame"][0] is None and
         all(parent < i for i, parent in enumerate(stacks["parent"]) if i),
         "callers stand before those they call")
    pairs = list(zip(stacks["parent"], stacks["frame"]))
    tell(len(pairs) == len(set(pairs)), "no stack stands there twice")
    tell(set(stacks["frame"][1:]) == set(range(len(frames["line"]))),
         "no frame is there for nothing")
    tell(max(len(s["stack"]) for s in documents.loads(two)["sites"]) > 10 and
         len(two) < len(one) / 2, "shared frames are written once", len(one), len(two))
    limited = json.loads(shown(heaptap, "--json", ["report", "--limit", "1"],
                               "containers.heaptap").stdout)
    depth = len(documents.nested(json.loads(json.dumps(limited)))["sites"][0]["stack"])
    tell(len(limited["sites"]["stack"]) == 1 and
         len(limited["tables"]["stacks"]["parent"]) == depth + 1,
         "of a part, only what it needs", depth, limited["tables"]["stacks"])
    none = json.loads(shown(heaptap, "--json", ["leaks", "--filter", "no such function"],
                            "containers.heaptap").stdout)
    tell(none["leaks"]["live_bytes"] == [] and none["leaks"]["stack"] == [],
         "an empty table has its columns", none["leaks"])


def members(value):
    """Return the names of all members; keys of labels belong to the program."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from members(member if key != "labels" else [])
    elif isinstance(value, list):
        for member in value:
            yield from members(member)


def page_text():
    with open(os.path.join(os.environ["SRCDIR"], "docs", "json.md"), encoding="utf-8") as f:
        return f.read()


def documented(heaptap):
    """The names that begin with self_ and end in _low and _high are explained together."""
    page = page_text()
    known = set(re.findall(r"[`\"](\w+)[`\"]", page))
    for view in [*VIEWS, ["report", "--by", "type"], ["report", "--by", "heap"],
                 ["report", "--by", "label"], ["report", "--by", "size"], ["html", "--source"]]:
        found = set()
        for profile in sorted(glob.glob("*.heaptap") + glob.glob("*.processes")):
            done = shown(heaptap, "--json", view, profile)
            found |= set(members(json.loads(done.stdout))) if done.returncode == 0 else set()
        unknown = {key for key in found - known
                   if re.sub("^self_|_(low|high)$", "", key) not in known}
        tell(found and not unknown, f"documented: {' '.join(view)}", sorted(unknown))


def name(frame):
    path = os.path.basename(frame["module"] or "?")
    return frame["function"] or f"{path}+{frame['offset']}"


def added(pairs):
    """Return the sums of pairs of a key and a number, as a recipe prints them, largest first."""
    sums = {}
    for key, number in pairs:
        sums[key] = sums.get(key, 0) + number
    return sums


def by_function(sites, field, functions):
    return added((f, s[field]) for s in sites for f in functions(s["stack"]))


def pairs(lines):
    """Return lines of a text and a number, in any order."""
    return {line.rpartition("\t")[0]: int(float(line.rpartition("\t")[2])) for line in lines}


def right_answers(heaptap):
    """Return {first words of the text above a recipe: a check of the recipe's output by the nested
    layout}."""
    def view(*options):
        return json.loads(shown(heaptap, "--json=nested", options).stdout)
    d, grown = view("report", "app.heaptap"), view("diff", "base.heaptap", "app.heaptap")
    session = view("report", "session.processes")
    rows = view("report", "--by", "function", "--peak", "app.heaptap")["rows"]
    sites, own = d["sites"], d["process"]["executable"]
    growing = view("timeline", "app.heaptap")["rows"]
    inclusive = by_function(sites, "live_bytes", lambda stack: {f["function"] for f in stack})
    leaves = by_function([s for s in sites if s["live_bytes"]], "live_bytes",
                         lambda stack: [name(f) for f in stack[:1]])
    return {
        "Live memory, and": lambda out: json.loads(out[0]) == {
            key: d["totals"][key] for key in ("live_blocks", "live_bytes", "peak_bytes")},
        "Is the recording": lambda out: out == ["all"],
        "The three largest sites": lambda out: out == [
            f"{s['live_bytes']}\t{' < '.join(map(name, s['stack']))}" for s in sites[:3]],
        "The peak by function": lambda out: out == [
            f"{r['function']}\t{r['peak_bytes']}\t{r['self_peak_bytes']}" for r in rows[:10]],
        "Live bytes allocated": lambda out: int(out[0]) == sum(
            s["live_bytes"] for s in sites if s["stack"] and s["stack"][0]["module"] == own) > 0,
        "The same by innermost": lambda out: pairs(out) == leaves,
        "Collapsed stacks": lambda out: out == [
            f"{';'.join(map(name, reversed(s['stack'])))} {s['allocated_bytes']}" for s in sites],
        "Threads by": lambda out: pairs(out).popitem()[1] == d["totals"]["allocated_bytes"],
        "Live bytes of each": lambda out: pairs(out) == {"{}": d["totals"]["live_bytes"],
                                                         "malloc": d["totals"]["live_bytes"]},
        "Live bytes over time": lambda out: [int(line.split("\t")[1]) for line in out] == [
            point["live_bytes"] for point in [*d["timeline"], d["totals"]]],
        "Growing stacks": lambda out: [line.split("\t")[::2] for line in out] == [
            [r["trend"], " < ".join(map(name, r["stack"][:3]))] for r in growing],
        "Growth between": lambda out: pairs(out).pop("total") == grown["growth"]["inuse"] and
        len(out) == 1 + sum(r["growth"]["inuse"] > 0 for r in grown["rows"]) > 1,
        "All processes of": lambda out: [line.split("\t")[0] for line in out] == [
            str(p["process"]["pid"]) for p in session["profiles"]] and len(out) > 1,
        "Inclusive live bytes": lambda out: sorted(int(line.split()[0]) for line in out) == sorted(
            sorted(inclusive.values())[-10:]),
    }


def recipes(heaptap):
    text = page_text().partition("\n## Recipes\n")[2]
    with open("heaptap.jq", "w", encoding="utf-8") as f:
        f.write(re.search(r"```jq\n(.*?)```", text, re.DOTALL)[1])
    os.environ["PATH"] = os.path.dirname(heaptap) + ":" + os.environ["PATH"]
    answers = right_answers(heaptap)
    blocks = re.findall(r"([^\n]+)\n\n```(sh|python)\n(.*?)```", text, re.DOTALL)
    for above, language, code in blocks:
        command = {"sh": ["bash", "-e", "-o", "pipefail", "-c", code],
                   "python": ["python3", "-c", code]}[language]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        out = done.stdout.splitlines()
        right = next((answers.pop(key) for key in list(answers) if above.startswith(key)), None)
        # The shell of a session may be stripped, which leads to a hint.
        complaints = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
        good = done.returncode == 0 and not complaints and (
            right(out) if right else above.startswith("Most of"))
        tell(good, f"recipe: {above[:60]}", done.returncode, done.stderr, *out[:9])
    tell(not answers, "each recipe is there", list(answers))


def main():
    os.environ["LC_ALL"] = "C.UTF-8"
    {"same": same, "small": small, "documented": documented,
     "recipes": recipes}[sys.argv[1]](sys.argv[2])
    finish()


if __name__ == "__main__":
    main()
