"""figures.py: the bars and goals of the project, and the measurements for them.

A bar must hold, a goal is an aim. Each row takes its value from the estimates that the bench
made; a row whose measurements are missing says so and does not count as held. For rows over
several programs, "median of programs" is the median of their medians, of their lower and of
their upper limits, and "worst program" is the row of the one with the largest median.

A verdict is by the measured median: "goal", "ok" (the bar holds) or "miss", with the amount by
which the bar was missed; "?" is added where the bar lies inside the interval, so that another
run might decide otherwise. Where another build was measured in the same run, rows about programs
and loops also have its median.
"""
import statistics

import kinds
import peers
from kinds import LARGE_KIB


class Figure:
    """A row: `values` are median, low and high, or None; `at_least` if larger is better."""

    def __init__(self, what, bar, goal, values, unit="", at_least=False, note=""):
        self.what, self.bar, self.goal, self.values = what, bar, goal, values
        self.unit, self.at_least, self.note = unit, at_least, note
        self.before = None  # Median of the earlier build.

    def title(self):
        what = f"{self.what}: {self.note}" if self.note else self.what
        return f"{what}, {self.unit}" if self.unit else what

    def verdict(self):
        if self.values is None:
            return "not measured"
        median, low, high = self.values
        unsure = "?" if low <= self.bar <= high and low != high else ""
        if self.holds(median, self.goal):
            return "goal" + unsure
        return ("ok" if self.holds(median, self.bar) else "miss") + unsure

    def missed_by(self):
        """Return the distance of the measured median from the bar; 0 if the bar holds or the median
        is unknown."""
        if self.values is None or self.holds(self.values[0], self.bar):
            return 0
        return abs(self.values[0] - self.bar)

    def holds(self, value, bound):
        return value >= bound if self.at_least else value <= bound

    def as_dict(self):
        return {"what": self.what, "bar": self.bar, "goal": self.goal, "unit": self.unit,
                "at_least": self.at_least, "values": self.values, "verdict": self.verdict(),
                "missed_by": self.missed_by(), "note": self.note, "before": self.before}


def triple(estimate):
    return estimate and (estimate.median, estimate.low, estimate.high)


def across(estimates):
    """Return the median of programs, from (name, Estimate) pairs."""
    if not estimates:
        return None
    return tuple(statistics.median(getattr(e, part) for _, e in estimates)
                 for part in ("median", "low", "high"))


def worst(estimates, least=False):
    """Return the values and the name of the program with the largest (or LEAST) median."""
    if not estimates:
        return None, ""
    pick = min if least else max
    name, estimate = pick(estimates, key=lambda pair: pair[1].median)
    return triple(estimate), name


def of_programs(rows, tool, part):
    """Return (program, Estimate) of every real program that has one."""
    return [(row.program.name, getattr(row, part)) for row in rows
            if row.tool.name == tool and not row.program.pairs and getattr(row, part)]


def of_loop(rows, tool, loop):
    return next((triple(row.added_ns) for row in rows if row.tool.name == tool
                 and row.program.name == loop and row.added_ns), None)


def cost_figures(rows):
    ratios = of_programs(rows, "heaptap", "cpu_ratio")
    most, name = worst(ratios)
    sampled, sampled_name = worst(of_programs(rows, "heaptap-512K", "cpu_ratio"))
    found = [Figure("CPU ratio, median of programs", 1.15, 1.08, across(ratios)),
             Figure("CPU ratio, worst", 1.30, 1.15, most, note=name),
             *packed_figures(rows, dict(ratios))]
    for loop, what, bar, goal in (("headline", "50 sites, 20 frames", 22, 12),
                                  ("depth5", "one site, depth 5", 15, 10),
                                  ("depth20", "one site, depth 20", 22, 14),
                                  ("depth60", "one site, depth 60", 35, 22),
                                  ("own-2", "2 threads", 22, 15), ("own-4", "4 threads", 22, 15),
                                  ("cross-2", "2 threads, cross frees", 22, 15),
                                  ("cross-4", "4 threads, cross frees", 22, 15)):
        found.append(Figure(f"added, {what}", bar, goal, of_loop(rows, "heaptap", loop),
                            "ns"))
    found += [flatness(rows), *cross_figures(rows)]
    dearest, loop = worst([(row.program.name, row.added_ns) for row in rows
                           if row.tool.name == "heaptap-512K" and row.added_ns])
    found += [Figure("sampled, added, 50 sites, 20 frames", 2.5, 1.2,
                     of_loop(rows, "heaptap-512K", "headline"), "ns"),
              Figure("sampled, added, worst loop", 2.5, 2, dearest, "ns", note=loop),
              Figure("sampled, CPU ratio, worst", 1.02, 1.005, sampled,
                     note=sampled_name)]
    return found


def flatness(rows):
    """Return the added cost with 4 threads over the added cost with 1; 1 is perfect scaling."""
    one, four = (of_loop(rows, "heaptap", f"own-{n}") for n in (1, 4))
    values = None
    if one and four and min(one) > 0:
        values = (four[0] / one[0], four[1] / one[2], four[2] / one[1])
    return Figure("added with 4 threads / with 1", 1.3, 1.1, values)


def packed_figures(rows, alone):
    """The ratio with packing, which may add 0.03."""
    packed = of_programs(rows, "heaptap+pack", "cpu_ratio")
    most, name = worst(packed)
    more = sorted(e.median - alone[program].median for program, e in packed if program in alone)
    middle = statistics.median(more) if more else None
    return [Figure("packed, CPU ratio, median of programs", 1.18, 1.11, across(packed)),
            Figure("packed, CPU ratio, worst", 1.33, 1.18, most, note=name),
            Figure("packing adds to ratio, median", 0.03, 0.03,
                   (middle, more[0], more[-1]) if more else None)]


def cross_figures(rows):
    """Return the added cost for threads that free each other's blocks, over the added cost for as
    many threads that free their own."""
    found = []
    for threads in (2, 4):
        own, cross = (of_loop(rows, "heaptap", f"{loop}-{threads}") for loop in ("own", "cross"))
        values = None
        if own and cross and min(own) > 0:
            values = (cross[0] / own[0], cross[1] / own[2], cross[2] / own[1])
        found.append(Figure(f"{threads} threads, cross / own frees", 1.15, 1.15, values))
    return found


def peer_figures(rows):
    """The cost of heaptrack's whole pipeline over heaptap's, for all programs where heaptap's cost
    is distinguishable from zero."""
    found = []
    for ours, what in (("heaptap", "ours"), ("heaptap+pack", "ours packed")):
        times = [(name, kinds.times_ours(of_tool, ours))
                 for programs in kinds.gathered(rows).values()
                 for name, of_tool in programs.items()]
        times = [(name, values) for name, values in times if values]
        least, of = min(times, key=lambda t: t[1][0], default=(None, ""))[::-1]
        found.append(Figure(f"heaptrack / {what}, least", 5, 12, least or None, at_least=True,
                            note=of or ""))
        middle = tuple(statistics.median(values[i] for _, values in times)
                       for i in range(3)) if times else None
        found.append(Figure(f"heaptrack / {what}, median", 12, 12, middle, at_least=True))
    return found


def memory_figures(rows):
    large = [(row.program.name, row.rss_ratio) for row in rows
             if row.tool.name == "heaptap" and row.rss_ratio and row.native_kib > LARGE_KIB]
    values, name = worst(large)
    return [Figure("peak RSS ratio over 50 MB, median", 1.10, 1.10, across(large)),
            Figure("peak RSS ratio over 50 MB", 1.18, 1.10, values, note=name)]


def latency_figures(latency):
    found = []
    for where in ("disk", "tmpfs", "busy disk"):
        ratio, most = latency.get(where, (None, None))
        found.append(Figure(f"malloc p99.99 ratio, {where}", 2, 1.3, triple(ratio)))
        found.append(Figure(f"malloc slowest, {where}", 1, 0.5, triple(most), "ms"))
    # With more threads than processors, the slowest call waits for a processor, recorded or not.
    for where in ("2 threads", "4 threads"):
        ratio, _ = latency.get(where, (None, None))
        found.append(Figure(f"malloc p99.99 ratio, {where}", 2, 1.3, triple(ratio)))
    return found


def startup_figures(startup):
    found = []
    for what, bar, goal in (("never", 1, 0.1), ("once", 1, 0.1), ("python", 3, 1)):
        for how in ("preload", "run"):
            found.append(Figure(f"start-up added, {what}, {how}", bar, goal,
                                triple(startup.get((what, how))), "ms"))
    return found + [Figure("start-up added, true, packed", 3, 3,
                           triple(startup.get(("true", "packed"))), "ms")]


def report_figures(report):
    return [Figure("profile of cc1, packed", 4, 1, triple(report.get("packed")), "MB"),
            Figure("report on cc1, symbols cold", 10, 3, triple(report.get("cold")), "s"),
            Figure("report on cc1, symbols cached", 0.5, 0.2, triple(report.get("cached")), "s")]


def lost_figure(rows):
    seen = [row.lost for row in rows if row.tool.ours and row.lost is not None
            and not row.tool.name.startswith(peers.BEFORE)]
    values = (sum(seen),) * 3 if seen else None
    return Figure("events lost", 0, 0, values, note=f"{len(seen)} runs")


def check_figures(checks):
    stacks = checks.get("stacks")
    return [Figure("stacks differing from others", 0, 0, stacks and (stacks[0],) * 3,
                   note=f"of {stacks[1]}" if stacks else ""),
            Figure("heaptap.h events by address", 30, 30, triple(checks.get("events")), "ns")]


def row_figures(rows):
    """Return the rows about programs and loops, with their earlier values."""
    def of(some):
        return [*cost_figures(some), *peer_figures(some), *memory_figures(some)]

    found = of(rows)
    theirs = [row for row in rows if row.tool.name == kinds.PEER]
    before = kinds.as_now(rows)
    for now, then in zip(found, of(before + theirs)) if before else []:
        now.before = then.values and then.values[0]
    return found


def all_figures(rows, latency, startup, report, checks):
    return [*row_figures(rows),
            *latency_figures(latency), *report_figures(report), *startup_figures(startup),
            lost_figure(rows), *check_figures(checks)]
