"""same_names.py: check that views keep functions of equal name separate.

    same_names.py PROFILE

same_names.sh runs it, and has recorded the profile. If it fails, see there."""
import json
import os
import subprocess
import sys

from telling import finish, same

HEAPTAP, PROFILE = os.environ["HEAPTAP"], sys.argv[1]
# Allocated bytes by function and file; for scripts in whole megabytes, without small objects.
C = {("fill", "m1.c"): 1000000, ("fill", "m2.c"): 2000000, ("shared", "common.h"): 10000000,
     ("(anonymous namespace)::store::put(int)", "m3.cc"): 30000000,
     ("(anonymous namespace)::store::put(int)", "m4.cc"): 40000000}
SCRIPT = {"python3": "py", "lua5.4": "lua"}
KIND = PROFILE.removesuffix(".heaptap")
WANTED = C if KIND not in SCRIPT else {
    # Lua copies the string out of a buffer of equal size.
    ("fill", f"{KIND[0]}{i}.{SCRIPT[KIND]}"): i * (2 if KIND == "lua5.4" else 1) for i in (1, 3)}
NAMES = {name for name, _ in WANTED}


def output(*arguments):
    return subprocess.run([HEAPTAP, *arguments, PROFILE], capture_output=True, check=True,
                          text=True).stdout


def view(*arguments):
    return json.loads(output(*arguments, "--json"))


def amount(number):
    return number if KIND not in SCRIPT else number // 1000000


def named(rows, column):
    """Return the amounts in COLUMN of the rows of wanted names, as a sorted list."""
    return sorted(((r["function"], os.path.basename(r["file"] or "")), amount(r[column]))
                  for r in rows if r["function"] in NAMES)


def of_page():
    """Return inclusive amounts by function of the page's data."""
    report = view("html")["report"]
    tables, sites, sums = report["tables"], report["sites"], {}
    stacks, frames, functions = tables["stacks"], tables["frames"], tables["functions"]
    for stack, allocated in zip(sites["stack"], sites["allocated_bytes"]):
        on_stack = set()
        while stack:
            on_stack.add(frames["function"][stacks["frame"][stack]])
            stack = stacks["parent"][stack]
        for function in on_stack - {None}:
            sums[function] = sums.get(function, 0) + allocated
    return sorted(((functions["name"][i], os.path.basename(tables["files"][functions["file"][i]])),
                   amount(number)) for i, number in sums.items() if functions["name"][i] in NAMES)


def missing(text):
    """Return the labels that TEXT lacks. Only names that several functions share have labels."""
    labels = {label_of(function) for function in WANTED} - NAMES
    return {label for label in labels if label not in text}


def of_collapsed():
    """Return inclusive amounts by label of the lines of collapsed stacks."""
    sums = {}
    for line in output("export", "-f", "collapsed", "--metric", "alloc").splitlines():
        stack, _, allocated = line.rpartition(" ")
        for label in set(stack.split(";")):
            sums[label] = sums.get(label, 0) + int(allocated)
    return sorted((function, amount(sums.get(label_of(function), 0))) for function in WANTED)


def label_of(function):
    name, file = function
    return f"{name} ({file})" if sum(other == name for other, _ in WANTED) > 1 else name


wanted = sorted(WANTED.items())
same("report --by function", wanted,
     named(view("report", "--by", "function")["rows"], "allocated_bytes"))
same("callgraph", wanted,
     named(view("callgraph", "--metric", "alloc")["callgraph"], "inclusive_bytes"))
LANGUAGE = {"python3": {"Python"}, "lua5.4": {"Lua"}}.get(KIND, {os.path.abspath("app")})
for arguments, rows in (("report", "--by", "function"), "rows"), (("callgraph",), "callgraph"):
    same(f"module, {arguments[0]}", LANGUAGE,
         {r["module"] for r in view(*arguments)[rows] if r["function"] in NAMES})
same("page", wanted, of_page())
same("text of callgraph", set(), missing(output("callgraph", "--wide", "--limit", "10000")))
for option in "--tree", "--invert":
    same(f"text of report {option}", set(),
         missing(output("report", option, "--alloc", "--wide", "--limit", "100000")))
same("collapsed stacks", wanted, of_collapsed())
for export in "csv", "speedscope", "chrome", "flamegraph":
    same(f"labels of {export}", set(),
         missing(output("export", "-f", export, "--metric", "alloc", "-o", "-")))
lines = [line.split() for line in output("report", "--by", "function", "--metric", "alloc",
                                         "--limit", "1000").splitlines()]
same("text of report --by function", sorted(file for name, file in WANTED if " " not in name),
     sorted(os.path.basename(words[-1]) for words in lines if NAMES & set(words)))
if KIND == "python3": # In narrow columns a module keeps the part that distinguishes it.
    narrow = subprocess.run([HEAPTAP, "callgraph", "--alloc", "--limit", "1000", PROFILE],
                            env={**os.environ, "COLUMNS": "70", "LC_ALL": "C.UTF-8"},
                            capture_output=True, check=True, text=True).stdout
    same("narrow names of modules", [], [line for line in narrow.splitlines()
                                         if "<module> (…)" in line or "<modul…" in line])
if KIND in SCRIPT: # The stacks begin with functions of the script, not with an interpreter's main.
    # Libraries of the interpreter may have constructors, which are outside main.
    rows = view("callgraph", "--metric", "alloc")["callgraph"]
    outside = sum(r["inclusive_bytes"] for r in rows if r["function"] == "(outside main)")
    same("outside main", True, outside * 20 <= max(r["inclusive_bytes"] for r in rows))
if KIND not in SCRIPT:
    direct = view("functions")["direct"]
    same("functions", wanted, named(direct, "bytes"))
    same("text of functions", set(), missing(output("functions", "--wide")))
    same("text of leaks --paths", set(), missing(output("leaks", "--paths", "--wide")))
    same("leaks --paths", {"fill (m1.c)": 1000000, "fill (m2.c)": 2000000},
         {leak["path"][-1]: leak["bytes"] for leak in view("leaks", "--paths")["leaks"]
          if leak["path"][-1].startswith("fill")})
    same("code in two files", [700000], [r["bytes"] for r in direct if r["function"] == "both"])
finish()
