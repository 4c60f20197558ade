#!/usr/bin/env python3
"""breakdown.py: how many instructions the recorder adds to a pair of malloc and free, and where.

    breakdown.py --library LIBHEAPTAP --micro MICRO KIND...       one line "KIND X" for each
    breakdown.py --stages ...                                     and where they are spent

Instructions do not depend on the load of the machine, so this is the only measurement of the
bench that can be a test (instructions.sh). Valgrind's callgrind counts them for a loop of
micro.c with N and with 2 N pairs: the difference is N pairs, without start-up and without
one-time work such as filling caches. The added instructions are that figure with the recorder
minus that without it. Instructions are not time: misses of caches and mispredicted branches do
not show here.

The breakdown covers the recorder's own instructions. Callgrind gives each a file and line, also
inside inlined functions; it is charged to the function whose text contains the line, so inlined
helpers keep their names. Functions are added up in stages by file (STAGES), functions of
counters by name. Functions in no stage are "other", and are listed, so that nothing is hidden.
The recorder needs its line tables for this, but not for the sum.
"""
import argparse
import bisect
import collections
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
FUNCTION = re.compile(r"^([a-z_]\w*)\(")
LIMIT_S = 200
SHOWN = 16

# Number of pairs by kind. The recorder does some work each time the number of events doubles; with
# few pairs, that would be charged to them.
PAIRS = {"deep": 4000, "coroutine900": 4000, "churn": 5000, "live": 100000, "cross": 40000}
USUAL_PAIRS = 20000
KINDS = ["headline", "depth5", "depth20", "depth60", "paths", "live", "deep", "handler",
         "coroutine5", "coroutine60", "coroutine900", "heap64", "heap256", "heap32000", "churn",
         "own-2", "cross-2"]

STAGES = [("shim", r"^recorder/entry/"), ("gate", r".*/(gate|way|filter|request)\.[ch]$"),
          ("clock and timeline", r".*/(tick|mem)\.[ch]$"), ("threads", r".*/(thread|join)\.[ch]$"),
          ("event", r"^recorder/event/|.*/arch_x86_64\.h$"),
          ("walk and verify", r"^recorder/stack/"), ("unwinder", r"^common/unwind/"),
          ("interning", r".*/nodes\.[ch]$"), ("ledger", r".*/ledger\w*\.[ch]$"),
          ("peak", r".*/(peak|epoch)\.[ch]$")]
COUNTERS = re.compile(r"count|^bin_")


class Failure(Exception):
    """Callgrind could not run, or the program failed under it."""


def run(words, library, directory, options=(), environment=None, limit_s=LIMIT_S):
    """Run WORDS under callgrind. Return the text of its output."""
    out = os.path.join(directory, "callgrind")
    env = {k: v for k, v in os.environ.items() if not k.startswith("HEAPTAP")}
    env.pop("LD_PRELOAD", None)
    env.update(environment or {})
    if library:
        env.update(LD_PRELOAD=library, HEAPTAP_OUT=os.path.join(directory, "%p.%n.heaptap"))
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-line=yes",
               "--compress-strings=no", "--compress-pos=no", *options, *words]
    try:
        done = subprocess.run(command, env=env, capture_output=True, timeout=limit_s, check=False,
                              stdin=subprocess.DEVNULL, cwd=directory)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(str(error)) from error
    if done.returncode:
        raise Failure(f"status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    with open(out, encoding="utf-8", errors="replace") as f:
        return f.read()


def cost_lines(text):
    """Yield (object, file, line, counts) of every line that is not the cost of a call."""
    place, skip = {"ob": "", "fl": ""}, False
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if equals and key in ("ob", "fl", "fi", "fe"):
            place["ob" if key == "ob" else "fl"] = value
        elif equals and key == "calls":
            skip = True
        elif line[:1].isdigit():
            if not skip:
                number, *counts = map(int, line.split())
                yield place["ob"], place["fl"], number, counts
            skip = False


class Functions:
    """Maps a file and a line to the function that contains it."""

    def __init__(self):
        self.paths = {name: os.path.join(directory, name)
                      for directory, _, names in os.walk(SOURCE) for name in names}
        self.starts = {}

    def name(self, file, line):
        base = os.path.basename(file)
        if base not in self.starts:
            self.starts[base] = self.read(base)
        numbers, names = self.starts[base]
        i = bisect.bisect_right(numbers, line) - 1
        return names[i] if i >= 0 else "?"

    def place(self, file):
        """Return FILE's path below src/."""
        return os.path.relpath(self.paths.get(os.path.basename(file), file), SOURCE)

    def read(self, base):
        numbers, names = [], []
        if base in self.paths:
            with open(self.paths[base], encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    match = FUNCTION.match(line)
                    if match:
                        numbers.append(number)
                        names.append(match[1])
        return numbers, names


def stage_of(file, function):
    if COUNTERS.search(function):
        return "counters"
    return next((stage for stage, pattern in STAGES if re.match(pattern, file)), "other")


def count(words, library):
    """Return the sum of all instructions, and the recorder's by (file, function)."""
    functions, total, ours = Functions(), 0, collections.Counter()
    with tempfile.TemporaryDirectory(prefix="breakdown-") as directory:
        for name, file, line, counts in cost_lines(run(words, library, directory)):
            total += counts[0]
            if library and os.path.basename(name) == os.path.basename(library):
                ours[functions.place(file), functions.name(file, line)] += counts[0]
    return total, ours


def per_pair(micro, kind, library):
    """Return the instructions of one pair: all, and the recorder's by function."""
    name, _, threads = kind.partition("-")
    pairs = PAIRS.get(name, USUAL_PAIRS)
    more = [threads] if threads else []
    once, ours_once = count([micro, name, str(pairs), *more], library)
    twice, ours_twice = count([micro, name, str(2 * pairs), *more], library)
    functions = {key: (cost - ours_once[key]) / pairs for key, cost in ours_twice.items()}
    return (twice - once) / pairs, functions


def added(micro, kind, library):
    """Return the instructions that the recorder adds to a pair, and its own by function."""
    bare, _ = per_pair(micro, kind, None)
    recorded, functions = per_pair(micro, kind, library)
    return recorded - bare, functions


def by_stage(functions):
    stages = collections.Counter()
    for (file, function), cost in functions.items():
        stages[stage_of(file, function)] += cost
    return stages


def tell_stages(functions):
    for stage, cost in by_stage(functions).most_common():
        if abs(cost) >= 0.05:
            print(f"    {cost:9.1f}  {stage}")
    ranked = sorted(functions.items(), key=lambda item: -item[1])
    for (file, function), cost in ranked[:SHOWN]:
        if cost >= 0.5:
            print(f"        {cost:9.1f}  {function} ({file})")


def main():
    parser = argparse.ArgumentParser(prog="breakdown.py")
    parser.add_argument("--library", required=True)
    parser.add_argument("--micro", required=True)
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("kinds", nargs="*", default=KINDS)
    options = parser.parse_args()
    for kind in options.kinds:
        try:
            extra, functions = added(options.micro, kind, os.path.abspath(options.library))
        except Failure as error:
            sys.exit(f"breakdown.py: {kind}: {error}")
        print(f"{kind} {extra:.1f}", flush=True)
        if options.stages:
            tell_stages(functions)


if __name__ == "__main__":
    main()
