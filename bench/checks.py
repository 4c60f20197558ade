"""checks.py: bars that are not ratios of programs: stacks compared with other unwinders, and the
cost of an event of heaptap.h.

    stacks   test/unwind/stackdiff.c, which walks at least 100,000 real stacks in five ways. `make
             programs` builds it, because it needs libunwind; without it the bar is not measured
    events   heap_events.c under `heaptap run`: the costliest pair of events with an address
"""
import os
import re
import shutil
import subprocess

import intervals
import runner

BY_ADDRESS = re.compile(r"^(alloc \+ free|alloc \+ free, 1000 live|alloc, reset each 1000)"
                        r" +([0-9.]+) ns$", re.MULTILINE)
COMPARED = re.compile(r"^events (\d+) .*\bREAL (\d+)\b.*\bbad walks (\d+)", re.MULTILINE)
LIMIT_S = 600


def output(words, env=None):
    """Return a command's output, or None if it fails."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, env=env)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout


def differing(text):
    """Return (stacks that differ or could not be walked, stacks) from the output of stackdiff, or
    None."""
    found = COMPARED.search(text or "")
    return found and (int(found[2]) + int(found[3]), int(found[1]))


def dearest(text):
    """Return the highest cost of a pair of events by address, in ns, from the output of
    heap_events."""
    found = [float(ns) for _, ns in BY_ADDRESS.findall(text or "")]
    return max(found) if found else None


def stacks(build, told):
    program = os.path.join(build, "test", "unwind", "stackdiff")
    if not os.path.exists(program):
        told.line("stacks: NOT MEASURED: make programs builds stackdiff")
        return None
    found = differing(output([program]))
    told.line("stacks: NOT MEASURED: stackdiff failed" if found is None else
              f"stacks differing from other unwinders: {found[0]} of {found[1]}")
    return found


def events(settings, rounds, told):
    out, taken = os.path.join(settings.work, "out"), []
    for _ in range(rounds):
        words = ["taskset", "-c", settings.one_cpu, settings.heaptap, "run", "--quiet", "--no-pack",
                 "-o", f"{runner.empty(out)}/", "--", f"{settings.binaries}/heap_events"]
        ns = dearest(output(words, runner.environment(settings, {})))
        if ns is None:
            told.line("events of heaptap.h: NOT MEASURED: heap_events failed")
            return None
        taken.append(ns)
    shutil.rmtree(out, ignore_errors=True)
    e = intervals.estimate(taken)
    told.line(f"events of heaptap.h by address: {e.median:.1f} ns a pair"
              f" [{e.low:.1f}, {e.high:.1f}]")
    return e


def section(settings, build, rounds, told):
    """{"stacks": (differing, all) or None, "events": Estimate or None}."""
    told.section("what else there are bars for")
    return {"stacks": stacks(build, told), "events": events(settings, rounds, told)}
