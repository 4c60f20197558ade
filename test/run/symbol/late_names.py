"""late_names.py: record prog.c stripped, pack the profile, and restore the debug file later; see
late_names.sh. Each command's messages about the packed, the merged and the raw profile must be the
same at each time.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.environ["SRCDIR"] + "/test/run")
from telling import finish, tell  # noqa: E402

HEAPTAP = os.environ["HEAPTAP"]
VIEWS = [["report"], ["report", "--by", "function"], ["report", "--by", "line"],
         ["report", "--by", "type"], ["callgraph"], ["bins"], ["direct"], ["source", "prog.c"],
         ["export", "--format", "collapsed"], ["export", "--format", "pprof-text"]]


def sh(command):
    subprocess.run(command, shell=True, check=True)


def heaptap(*arguments):
    done = subprocess.run([HEAPTAP, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def shown(view, profile):
    """Return the output of VIEW for PROFILE, without the parts that packing and merging change."""
    status, out, _ = heaptap(*view, profile)
    lines = out.splitlines()
    if view[0] != "export":
        lines = [line for line in lines[3:] if " uses " not in line]
    return status, [line.replace(profile, "PROFILE") for line in lines]


def functions(profile):
    """Return the functions of prog in PROFILE: name, bytes and allocations by the function itself.
    """
    _, out, _ = heaptap("report", "--by", "function", "--json", profile)
    return sorted((f["function"], f["self_allocated_bytes"], f["self_allocations"])
                  for f in json.loads(out)["rows"]
                  if (f["module"] or "").endswith("/prog") and f["self_allocations"])


def symbols(profile):
    _, out, _ = heaptap("report", "--json", profile)
    modules = json.loads(out)["tables"]["modules"]
    return {m["path"].rsplit("/")[-1]: m["symbols"] for m in modules}["prog"]


def hints(*command):
    """Return the messages of COMMAND on stderr about names."""
    return [line for line in heaptap(*command)[2].splitlines() if line.startswith("hint: ")]


def one_hint(when, wanted, *command):
    """Check that COMMAND has one hint, with all the texts WANTED, or none if WANTED is empty."""
    got = hints(*command)
    tell(len(got) == bool(wanted) and all(text in got[0] for text in wanted) and
         all(len(text) <= 100 for text in got),
         f"{when}: " + ("one hint" if wanted else "no hint"), *got)


def same_views(when, profile):
    for view in VIEWS:
        of_raw, of_it = shown(view, "raw.heaptap"), shown(view, profile)
        # Without names, no source can be shown.
        told = (0, True) if when != "stripped" or view[0] != "source" else (3, False)
        tell(of_raw == of_it and (of_it[0], bool(of_it[1])) == told,
             f"{when}, {profile}: {' '.join(view)} is as of the raw one", of_raw[0], of_it[0],
             *[f"{a} | {b}" for a, b in zip(of_raw[1], of_it[1]) if a != b])


sh("gcc -g -O1 -Wl,--build-id -o whole prog.c")
sh("objcopy --only-keep-debug whole prog.debug && cp whole prog && strip prog && "
   "objcopy --add-gnu-debuglink=prog.debug prog && mv prog.debug hidden")
status, _, err = heaptap("run", "--quiet", "--no-pack", "-o", "raw.heaptap", "./prog")
tell(status == 0, "recorded", err)
shutil.copy("raw.heaptap", "packed.heaptap")
tell(heaptap("pack", "packed.heaptap")[0] == 0, "packed")
tell(heaptap("merge", "-o", "merged.heaptap", "packed.heaptap")[0] == 0, "merged")

# In a stripped program, a function is one row, named by its start address.
starts = {name: int(address, 16) for address, _, name in
          (line.split() for line in subprocess.run(["nm", "whole"], capture_output=True, text=True)
           .stdout.splitlines() if len(line.split()) == 3)}
expected = sorted((f"prog+{starts[name]:#x}…", size, calls) for name, size, calls in
                  [("make_buffers", 48000, 40), ("make_points", 1200, 50)])
for profile in ("raw.heaptap", "packed.heaptap", "merged.heaptap"):
    tell(functions(profile) == expected, f"stripped, {profile}: functions by their beginning",
         functions(profile), expected)
    tell(symbols(profile) == "exports", f"stripped, {profile}: the source of names",
         symbols(profile))
same_views("stripped", "packed.heaptap")
build_id = re.search(r"Build ID: (\w+)", subprocess.run(
    ["readelf", "-n", "whole"], capture_output=True, text=True).stdout)[1]
digits = build_id[:8]
for command in (["report", "packed.heaptap"], ["report", "--json", "raw.heaptap"],
                ["direct", "merged.heaptap"], ["pack", "-o", "x.heaptap", "packed.heaptap"],
                ["merge", "-o", "y.heaptap", "packed.heaptap"],
                ["diff", "packed.heaptap", "raw.heaptap"],
                ["run", "-o", "run.heaptap", "./prog"]):
    one_hint(f"stripped, {command[0]}",
             [f"prog is stripped (100 % of the bytes, build id {digits}…): use --debug-dir"],
             *command)
lines = heaptap("report", "--by", "line", "--limit", "99", "packed.heaptap")[1]
calls = re.findall(r"(prog\+0x[0-9a-f]+) +prog\+0x[0-9a-f]+…?$", lines, re.M)
tell(len(calls) == len(set(calls)) == 8, "stripped: each call is a line of its own", calls)

# Patterns may use the names that the report shows.
for name, size, count in expected:
    for text in (name, name.rstrip("…")):
        pattern = "^" + text.replace("+", "[+]") + "$"
        _, out, _ = heaptap("report", "--json", "--filter", pattern, "packed.heaptap")
        totals = json.loads(out)["totals"]
        tell((totals["allocated_bytes"], totals["allocations"]) == (size, count),
             f"stripped: --filter {pattern}", totals)
        _, out, _ = heaptap("report", "--by", "function", "--json", "--fold", pattern,
                            "packed.heaptap")
        own = {f["function"]: f["self_allocations"] for f in json.loads(out)["rows"]}
        tell(not own.get(name) and count in own.values(), f"stripped: --fold {pattern}", own)
        with open("known.supp", "w", encoding="utf-8") as f:
            f.write(f"leak:^{text}$\n")
        _, out, _ = heaptap("leaks", "--json", "--suppressions", "known.supp", "packed.heaptap")
        hidden = {s["pattern"]: s["live_blocks"] for s in json.loads(out)["suppressed"]["by"]}
        tell(hidden.get(f"^{text}$") == count, f"stripped: leak:^{text}$", hidden)
moved = shutil.move("prog", "away")
one_hint("missing", ["prog is missing here", digits, "--sysroot"], "report", "packed.heaptap")
tell(functions("packed.heaptap") == expected, "a packed one keeps them",
     functions("packed.heaptap"))

# Another program replaces this one: none of its names are used.
sh("sed 's/make_points/make_others/; s/main(void)/main(int c, char **v)/' prog.c >other.c && "
   "gcc -g -O1 -Wl,--build-id -o prog other.c")
tell(functions("packed.heaptap") == expected, "replaced: its names are not taken",
     functions("packed.heaptap"))
one_hint("replaced", ["prog has changed (100 %", f"build id {digits}…)",
                      "--sysroot"], "report", "packed.heaptap")
shutil.move(moved, "prog")

# The debug file appears.
shutil.move("hidden", "prog.debug")
named = [("make_buffers", 48000, 40), ("make_points", 1200, 50)]
for profile in ("raw.heaptap", "packed.heaptap", "merged.heaptap"):
    tell(functions(profile) == named, f"with the debug file, {profile}: functions by name",
         functions(profile))
    tell(symbols(profile) == "debug", f"with the debug file, {profile}: the source of names",
         symbols(profile))
    if profile != "raw.heaptap":
        same_views("with the debug file", profile)
one_hint("with the debug file", [], "report", "packed.heaptap")
status, out, err = heaptap("diff", "packed.heaptap", "raw.heaptap")
tell(status == 0 and "make_" not in out, "diff of the packed and the raw one: no difference", out,
     err)
tell(heaptap("pack", "-o", "again.heaptap", "packed.heaptap")[0] == 0, "packed again")
tell(heaptap("merge", "-o", "sum.heaptap", "packed.heaptap", "merged.heaptap")[0] == 0,
     "merged again")

# The debug file disappears again: the cached names work for all profiles, packed or not.
os.rename("prog.debug", "hidden")
for profile in ("raw.heaptap", "packed.heaptap", "merged.heaptap"):
    tell(functions(profile) == named, f"without it, but remembered, {profile}: functions by name",
         functions(profile))
os.rename("hidden", "prog.debug")

# The debug file and the cache disappear: files packed or merged with the debug file have kept the
# names.
os.remove("prog.debug")
shutil.rmtree("cache", ignore_errors=True)
tell(functions("packed.heaptap") == expected, "without it, a profile packed before has no names",
     functions("packed.heaptap"))
tell(functions("again.heaptap") == named, "a profile packed again has names",
     functions("again.heaptap"))
twice = [(name, 2 * size, 2 * calls) for name, size, calls in named]
tell(functions("sum.heaptap") == twice, "and so has a merged profile", functions("sum.heaptap"))
status, out, _ = heaptap("report", "--by", "type", "again.heaptap")
tell(re.search(r"\bstruct point|\bpoint\b", out) is not None, "types too", out)

# A user's own program has names, but no lines.
sh("gcc -O1 -Wl,--build-id -o own prog.c")
one_hint("without -g", ["own has no debug information", "-g"], "run", "-o", "own.heaptap", "./own")
finish()
