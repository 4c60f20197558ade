#!/usr/bin/env python3
"""bench.py: the cost of recording, next to other profilers, on one machine in one run.

    bench.py --out DIR --build DIR [--scope quick|full] [--only REGEX] [--tools REGEX] [--rounds N]
             [--before DIR]

Started by `make bench`. The sections are programs by kind and loops (programs.py) under every
tool (peers.py), latency of malloc, a server under load (server_load.py), start-up, the report,
the instructions by function, adapters for languages (adapters.py), the other bars (checks.py),
and profiles after kill -9 (survival.py). ONLY picks programs and loops by name, programs by
their kind ("stacks"), and sections: "kinds" (all programs), "loops", "threads" (loops of several),
"latency", "server", "startup", "report", "instructions", "adapters", "checks", "survival". The
section "budget" (budget.py) takes minutes for each program and must be asked for. BEFORE is the
build directory of another commit: programs and loops are measured with both, in the same rounds.

How a cost is measured. A machine is slower at one moment than at another, so a tool is never
compared with a native run from another time. Every run of a tool has a separate native run right
before or right after it, by the toss of a coin, and the ratio (or difference) of such a pair
counts. The pairs of all tools are shuffled within a round. From N pairs come the median and its
interval (intervals.py). Programs of one thread are pinned to one processor together with all
processes of the tool, others to none; processor time includes all processes that were needed.

The terminal gets a line for each row as it is known, then the figures against the bars of
figures.py. The same, with every single measurement and the facts of the machine, goes to
build/bench/bench.md and bench.json. docs/internals/performance.md explains how to read it.

A bench is not a test: its exit status shows whether it ran, not whether a bar held.
"""
import argparse
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import time

import adapters
import breakdown
import budget
import checks
import figures
import inputs
import intervals
import kinds
import peers
import programs
import runner
import sections
import server_load
import survival
import tables

SCOPES = {"quick": {"rounds": 5, "scale": 1, "limit_s": 120},
          "full": {"rounds": 15, "scale": 3, "limit_s": 900}}
GIVE_UP_AFTER = 2  # Number of failures of one tool on one program, after which the row ends.
# Limit of seconds per requested round. A slow row ends early, but not before two pairs of runs.
# Otherwise a slow row could take as long as all others together.
SLOW_S = 6


class Row:
    """A tool on a program, with its pairs of runs and the estimates from them."""

    def __init__(self, program, tool):
        self.program, self.tool, self.pairs, self.failures = program, tool, [], []
        self.lost = None
        self.cpu_ratio = self.added_cpu = self.added_ns = self.rss_ratio = self.tool_kib = None
        self.profile_bytes = self.helper_ns = self.native_kib = self.least_ratio = None

    def failed(self):
        return len(self.failures) >= GIVE_UP_AFTER or (self.failures and not self.pairs)

    def slow(self, rounds):
        spent = sum(run.wall_ns for pair in self.pairs for run in pair) / 1e9
        return len(self.pairs) >= 2 and spent > SLOW_S * rounds

    def conclude(self):
        pairs, guess = self.pairs, intervals.estimate
        if not pairs:
            return
        self.cpu_ratio = guess([t.cpu_ns / max(1, n.cpu_ns) for n, t in pairs])
        self.added_cpu = guess([t.cpu_ns - n.cpu_ns for n, t in pairs])
        self.least_ratio = min(t.cpu_ns for _, t in pairs) / min(n.cpu_ns for n, _ in pairs)
        self.rss_ratio = guess([t.program_kib / max(1, n.program_kib) for n, t in pairs])
        self.tool_kib = guess([t.tool_kib for _, t in pairs])
        self.native_kib = guess([n.program_kib for n, _ in pairs]).median
        self.profile_bytes = guess([t.profile_bytes for _, t in pairs])
        self.helper_ns = guess([t.helper_ns for _, t in pairs])
        if self.program.pairs:
            name = "ns_per_pair"
            self.added_ns = guess([t.printed[name] - n.printed[name] for n, t in pairs])

    def as_dict(self):
        estimates = {name: value.as_dict() for name, value in vars(self).items()
                     if isinstance(value, intervals.Estimate)}
        runs = [[{**vars(n)}, {**vars(t)}] for n, t in self.pairs]
        return {"program": self.program.name, "kind": self.program.kind, "tool": self.tool.name,
                **estimates, "lost": self.lost, "failures": self.failures, "runs": runs}


def one_pair(settings, row):
    """Run the program natively and under the tool, next to each other."""
    results = {}
    for tool in random.sample([peers.NATIVE, row.tool], 2):
        results[tool] = runner.run(settings, row.program, tool)
        if tool is row.tool and tool.ours and row.lost is None and not results[tool].why:
            row.lost = lost_in(settings)
    native, tool = results[peers.NATIVE], results[row.tool]
    for result, name in ((native, "native: "), (tool, "")):
        if result.why:
            row.failures.append(name + result.why)
            return
    row.pairs.append((native, tool))


def lost_in(settings):
    profiles = runner.profiles_in(os.path.join(settings.work, "out"))
    return sum(runner.events_lost(settings, path) for path in profiles[:runner.LOOKED_AT])


def measure(settings, program, tools, rounds):
    """Return the rows of one program."""
    rows = [Row(program, tool) for tool in tools]
    for row in rows:
        why = row.tool.blind_to(program)
        if why:
            row.failures.append(why)
    for i in range(rounds):
        now = [row for row in rows if i < max(1, round(rounds * row.tool.rounds))]
        for row in random.sample(now, len(now)):
            if not row.failed() and not row.slow(rounds):
                one_pair(settings, row)
    for row in rows:
        row.conclude()
    return rows


def for_loops(tools, full):
    """Return the tools that run loops. Loops measure the recorder, so other profilers run them
    only in the full scope, and "+pack" never does."""
    wanted = [t for t in tools if t.ours and not t.name.endswith("+pack")]
    return wanted + [t for t in tools if full and t.name in ("heaptrack", "jemalloc-0",
                                                            "jemalloc-19", "tcmalloc-hp")]


def facts(options):
    def said(*command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return (done.stdout.strip().split("\n") or [""])[0]
        except OSError:
            return "unknown"

    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"^model name\s*: (.*)$", f.read(), re.MULTILINE)
    here = os.path.dirname(os.path.abspath(__file__))
    return {"processor": model[1] if model else "unknown",
            "processors": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
            "libc": " ".join(platform.libc_ver()),
            "compiler": said(*options.compiler.split(), "--version"),
            "commit": said("git", "-C", here, "describe", "--always", "--dirty", "--abbrev=12"),
            "load_before": os.getloadavg()[0], "scope": options.scope, "rounds": options.rounds,
            "began": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())}


def build_directory(path):
    """Return PATH as an absolute path if it has a built command."""
    if path and not os.access(os.path.join(path, "heaptap"), os.X_OK):
        raise argparse.ArgumentTypeError(f"{path} has no command heaptap; give a build directory")
    return path and os.path.abspath(path)


def arguments():
    parser = argparse.ArgumentParser(prog="bench.py")
    parser.add_argument("--out", required=True, help="where the command is")
    parser.add_argument("--build", required=True, help="where the recorder and our programs are")
    parser.add_argument("--scope", default="quick", choices=sorted(SCOPES))
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--tools", default="", metavar="REGEX")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--before", default="", metavar="DIR", type=build_directory)
    parser.add_argument("--compiler", default="cc")
    parsed = parser.parse_args()
    parsed.rounds = parsed.rounds or SCOPES[parsed.scope]["rounds"]
    parsed.out, parsed.build = os.path.abspath(parsed.out), os.path.abspath(parsed.build)
    return parsed


def groups_of(program):
    """Return the names that select PROGRAM with --only, besides its own."""
    if not program.pairs:
        return ["kinds", program.kind]
    return ["loops"] + ["threads"] * (program.name.partition("-")[0] in programs.TEAMS)


def chosen_of(options, group):
    return [p for p in group
            if any(re.search(options.only, name) for name in [p.name, *groups_of(p)])]


def costs(options, settings, told):
    """Run programs and loops under every tool."""
    full = options.scope == "full" or bool(options.tools)
    before = options.before and os.path.join(options.before, "heaptap")
    tools, missing = peers.available(settings.heaptap, programs.PATH, full, before)
    tools = [t for t in tools if re.search(options.tools, t.name)]
    missing = {n: why for n, why in missing.items() if re.search(options.tools, n)}
    told.missing(missing)
    real, absent = programs.real_programs(options.build)
    told.missing({name: "not installed" for name in absent if re.search(options.only, name)})
    rows = []
    for group, chosen in ((real, tools), (programs.loops(settings.binaries),
                                          for_loops(tools, full))):
        wanted = chosen_of(options, group)
        if wanted and chosen:
            told.heading(bool(group is not real))
        for program in wanted if chosen else []:
            some = measure(settings, program, chosen, options.rounds)
            for row in some:
                told.row(row)
            rows += some
    return rows


def main():
    options = arguments()
    scope, where = SCOPES[options.scope], os.path.join(options.build, "bench")
    settings = runner.Settings(f"{options.out}/heaptap", f"{options.build}/libheaptap.so",
                               f"{where}/bin", runner.empty(f"{where}/work"), scope["scale"],
                               scope["limit_s"])
    told = tables.Tables(where, facts(options))
    wanted = lambda name: re.search(options.only, name)  # noqa: E731
    rows = costs(options, settings, told)
    by_kind, kind_values = kinds.table(rows)
    if by_kind:
        told.table("programs by kind", by_kind)
    since = kinds.before_table(rows)
    if since:
        told.table("programs by kind: before -> now", since)
    of_threads = sections.threads_table(rows)
    if of_threads:
        told.table("threads, heaptap: ns of a pair, and what is added by number of threads",
                   of_threads)
    ours = re.search(options.tools, "heaptap")
    latency, server, startup, report, counted, budgets, others = {}, {}, {}, {}, {}, {}, {}
    if ours and wanted("latency"):
        latency = sections.latency(settings, options.rounds, told)
    if ours and wanted("server"):
        server = server_load.section(settings, options.rounds, programs.PATH, told)
    if ours and wanted("startup"):
        startup = sections.startup(settings, options.scope == "full", told)
    if ours and wanted("report"):
        report = sections.report(settings, inputs, options, told)
    if ours and wanted("instructions"):
        counted = sections.instructions(settings, breakdown, told)
    if ours and wanted("adapters"):
        adapters.section(settings, options.rounds, told)
    if ours and wanted("checks"):
        others = checks.section(settings, options.build, options.rounds, told)
    if wanted("survival"):
        survival.section(settings, options.tools, told)
    if ours and options.only and wanted("budget"):
        real, _ = programs.real_programs(options.build)
        chosen = [p for p in real if wanted(p.name)] or real
        budgets = budget.section(settings, chosen, options.rounds, told)
    told.verdicts(figures.all_figures(rows, latency, startup, report, others))
    told.write(rows, kinds=kind_values, server=server, instructions=counted, budgets=budgets)
    shutil.rmtree(settings.work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
