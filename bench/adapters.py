"""adapters.py: the cost of Python and Lua functions in stacks.

A program of ten nested functions allocates and frees blocks, always on the same line. It runs
alone, with the recorder (stacks of C frames), and with the recorder and the adapter for its
language. The difference between the last two is the adapter's cost: reading the ten functions, and
finding them unchanged. It is printed per pair of malloc and free, in nanoseconds of processor time
and in instructions. Instructions are also printed by function of the recorder and of the adapter.

Both runs must record the same blocks: the Python program allocates blocks of 1000 bytes, which come
from malloc, and no other objects. The profile has the number of pairs.
"""
import collections
import json
import os
import random
import shutil
import subprocess
import tempfile

import breakdown
import intervals
import programs
import runner

FRAMES = 10
PAIRS = 200_000
COUNTED_PAIRS = 4000
BOUND_NS = 60
SHOWN = 8

PYTHON = """
import sys, time
from itertools import repeat

def loop(pairs):
    began = time.process_time_ns()
    for _ in repeat(None, pairs):
        bytes(1000)
    return time.process_time_ns() - began

def deeper(frames, pairs):
    return deeper(frames - 1, pairs) if frames > 0 else loop(pairs)

print("ns", deeper(int(sys.argv[1]) - 3, int(sys.argv[2])))
"""

LUA = """
local function loop(pairs)
    local began = os.clock()
    for i = 1, pairs do string.rep("x", 1000) end
    return (os.clock() - began) * 1e9
end

local function deeper(frames, pairs)
    local ns
    if frames > 0 then ns = deeper(frames - 1, pairs) else ns = loop(pairs) end
    return ns
end

print("ns", deeper(tonumber(arg[1]) - 4, tonumber(arg[2])))
"""

LANGUAGES = {"python": (["python3", "-S", "-E"], PYTHON),
             "lua": (["lua5.4"], LUA)}


class Program:
    """One of the languages, measured in the three ways."""

    def __init__(self, name, settings, directory):
        words, text = LANGUAGES[name]
        self.directory = directory
        self.script = os.path.join(directory, "script")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(text)
        self.words = [shutil.which(words[0], path=programs.PATH), *words[1:], self.script]
        adapter = os.path.join(os.path.dirname(settings.library), f"libheaptap_{name}.so")
        self.libraries = {"native": None, "C frames": settings.library,
                          "adapter": f"{settings.library} {adapter}"}
        self.settings, self.profile = settings, os.path.join(directory, "profile.heaptap")

    def with_pairs(self, pairs):
        return [*self.words, str(FRAMES), str(pairs)]

    def ns(self, way, pairs):
        if os.path.exists(self.profile):
            os.unlink(self.profile)
        env = runner.environment(self.settings, {})
        if self.libraries[way]:
            env.update(LD_PRELOAD=self.libraries[way], HEAPTAP_OUT=self.profile)
        one = {int(self.settings.one_cpu)}
        done = subprocess.run(self.with_pairs(pairs), env=env, capture_output=True, text=True,
                              check=True, stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: os.sched_setaffinity(0, one))
        return float(done.stdout.split()[1])

    def blocks(self):
        """Return the number of blocks in the last run."""
        done = subprocess.run([self.settings.heaptap, "report", "--json", "--limit", "1",
                               self.profile], capture_output=True, check=True,
                              env=runner.environment(self.settings, {}))
        totals = json.loads(done.stdout)["totals"]
        return totals["allocations"]

    def recorded_pairs(self, way, pairs):
        """Return the number of blocks in a loop of PAIRS."""
        found = []
        for count in pairs, 2 * pairs:
            self.ns(way, count)
            found.append(self.blocks())
        return found[1] - found[0]

    def instructions(self, way, pairs):
        """Return the instructions of a loop of PAIRS: all, and the recorder's and adapter's by
        function."""
        totals, by_function = [], collections.Counter()
        functions = breakdown.Functions()
        for count, sign in (pairs, -1), (2 * pairs, 1):
            total = 0
            text = breakdown.run(self.with_pairs(count), self.libraries[way], self.directory)
            for name, file, line, counts in breakdown.cost_lines(text):
                total += counts[0]
                if "libheaptap" in name:
                    by_function[functions.name(file, line),
                                functions.place(file)] += sign * counts[0]
            totals.append(total)
        return totals[1] - totals[0], by_function


def row(program, rounds, told, name):
    pairs = program.recorded_pairs("C frames", PAIRS)
    with_adapter = program.recorded_pairs("adapter", PAIRS)
    if abs(with_adapter - pairs) > pairs / 100:
        raise breakdown.Failure(f"{with_adapter} blocks with the adapter, {pairs} without")
    more = []
    for _ in range(rounds):
        took = {}
        for way in random.sample(["C frames", "adapter"], 2):
            took[way] = program.ns(way, PAIRS)
        more.append((took["adapter"] - took["C frames"]) / pairs)
    e = intervals.estimate(more)
    told.line(f"{name:<8}{e.median:8.1f} ns [{e.low:.1f}, {e.high:.1f}]; "
              f"at most {BOUND_NS}: {'held' if e.median <= BOUND_NS else 'NOT HELD'}")
    counted = COUNTED_PAIRS * pairs / PAIRS
    without, at_without = program.instructions("C frames", COUNTED_PAIRS)
    total, at = program.instructions("adapter", COUNTED_PAIRS)
    at.subtract(at_without)
    told.line(f"        {(total - without) / counted:8.1f} instructions: " + ", ".join(
        f"{function} ({os.path.basename(file)}) {cost / counted:.1f}"
        for (function, file), cost in at.most_common(SHOWN)))
    return {"ns": e.as_dict(), "instructions": (total - without) / counted}


def section(settings, rounds, told):
    """Return {language: the additional cost of a pair with its adapter}."""
    told.section(f"adapters: more than C frames for a pair, at {FRAMES} functions of the language")
    found = {}
    for name in LANGUAGES:
        with tempfile.TemporaryDirectory(prefix="heaptap-adapters-") as directory:
            program = Program(name, settings, directory)
            if program.words[0] is None:
                told.line(f"{name}: NOT MEASURED: {LANGUAGES[name][0][0]} is not installed")
                continue
            try:
                found[name] = row(program, rounds, told, name)
            except (breakdown.Failure, subprocess.CalledProcessError) as error:
                told.line(f"{name}: FAILED: {error}")
    return found
