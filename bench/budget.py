#!/usr/bin/env python3
"""budget.py: the cost of an event in a real program, by stage.

    bench.py … --only 'budget|cc1'       (make bench ONLY='^(budget|cc1)$')

A ratio of processor times shows that a program is slower, but not the cause. Here callgrind runs
the program bare and recorded, with its models of caches and of branch prediction. The counts in the
recorder's code are divided by the program's events and summed by stage (breakdown.py). The counts
of the program and its libraries rise as well, because the recorder displaces their cache lines;
this is a separate stage. The kernel's part, page faults and system time, comes from ordinary runs.

The last column has cycles by callgrind's usual rule: an instruction 1, a miss of the first level
10, of the last level 100, a mispredicted branch 10. The models have no prefetching, no memory-level
parallelism and no TLB, so this column only ranks the stages and does not measure time.
"""
import collections
import json
import os
import subprocess
import tempfile

import breakdown
import intervals
import peers
import runner

# Callgrind's options, and the columns computed from its counts.
OPTIONS = ["--cache-sim=yes", "--branch-sim=yes"]
COLUMNS = {"instructions": ("Ir",), "first-level misses": ("I1mr", "D1mr", "D1mw"),
           "last-level misses": ("ILmr", "DLmr", "DLmw"), "wrong branches": ("Bcm", "Bim")}
CYCLES = {"instructions": 1, "first-level misses": 10, "last-level misses": 100,
          "wrong branches": 10}
LIMIT_S = 1500
PROGRAM = "the program itself"


def counted(program, settings, library):
    """Return {stage: Counter of COLUMNS} of one run; all counts outside of the recorder are
    PROGRAM."""
    functions, found = breakdown.Functions(), collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory(prefix="budget-") as directory:
        text = breakdown.run(program.words(settings.scale), library, directory, OPTIONS,
                             program.env, LIMIT_S)
        names = next(line for line in text.split("\n") if line.startswith("events:")).split()[1:]
        for place, file, line, counts in breakdown.cost_lines(text):
            stage = PROGRAM
            if library and os.path.basename(place) == os.path.basename(library):
                stage = breakdown.stage_of(functions.place(file), functions.name(file, line))
            by_name = dict(zip(names, counts))
            for column, parts in COLUMNS.items():
                found[stage][column] += sum(by_name.get(part, 0) for part in parts)
        return found, events_in(settings, directory) if library else 0


def events_in(settings, directory):
    """Return the number of allocations and frees in the profiles below DIRECTORY."""
    return sum(events_of(settings, path) for path in runner.profiles_in(directory))


def events_of(settings, path):
    done = subprocess.run([settings.heaptap, "report", "--json", "--limit", "1", path],
                          capture_output=True, check=True, env=runner.environment(settings, {}))
    totals = json.loads(done.stdout)["totals"]
    return totals["allocations"] + totals["frees"]


def by_stage(program, settings):
    """Return ({stage: {column: increase per event}}, events)."""
    bare, _ = counted(program, settings, None)
    recorded, events = counted(program, settings, settings.library)
    if events == 0:
        raise breakdown.Failure("nothing was recorded")
    for column in COLUMNS:
        recorded[PROGRAM][column] -= bare[PROGRAM][column]
    return {stage: {column: counts[column] / events for column in COLUMNS}
            for stage, counts in recorded.items()}, events


def cycles(counts):
    return sum(counts[column] * weight for column, weight in CYCLES.items())


def kernel_line(program, settings, rounds, events):
    """Return the kernel's additional work in ordinary runs: medians of the differences."""
    tool = peers.heaptap_tools(settings.heaptap)[0]
    pairs = [(runner.run(settings, program, peers.NATIVE), runner.run(settings, program, tool))
             for _ in range(rounds)]
    why = next((r.why for pair in pairs for r in pair if r.why), None)
    if why:
        return f"    kernel: NOT MEASURED: {why}"
    faults = intervals.estimate([t.faults - n.faults for n, t in pairs]).median
    system_ms = intervals.estimate([(t.system_ns - n.system_ns) / 1e6 for n, t in pairs]).median
    bare = intervals.estimate([n.faults for n, _ in pairs]).median
    return (f"    kernel: {faults:+.0f} page faults to {bare:.0f}, {system_ms:+.1f} ms of system"
            f" time ({system_ms * 1e6 / events:.1f} ns an event)")


def section(settings, chosen, rounds, told):
    """{program: {"events", "stages": {stage: {column: for an event}}}}."""
    told.section("what an event costs where (callgrind's models; added, for each event)")
    told.line(f"    {'stage':<20} {'instr':>8} {'L1 miss':>8} {'LL miss':>8} {'branch':>8}"
              f" {'cycles':>8}")
    found = {}
    for program in chosen:
        try:
            stages, events = by_stage(program, settings)
        except breakdown.Failure as error:
            told.line(f"{program.name}: NOT COUNTED: {error}")
            continue
        found[program.name] = {"events": events, "stages": stages}
        told.line(f"{program.name}, {events} events")
        total = {column: sum(s[column] for s in stages.values()) for column in COLUMNS}
        ranked = sorted(stages.items(), key=lambda item: -cycles(item[1]))
        for stage, counts in [*ranked, ("all", total)]:
            if stage == "all" or abs(cycles(counts)) >= 0.5:
                told.line(f"    {stage:<20}" + "".join(f" {counts[c]:8.2f}" for c in COLUMNS)
                          + f" {cycles(counts):8.1f}")
        told.line(kernel_line(program, settings, rounds, events))
    return found
