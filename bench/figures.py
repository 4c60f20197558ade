"""figures.py: the bars and goals of the project, and what was measured against them.

A bar must hold, a goal is what we want. Each row takes its value from the estimates that the bench
made; a row whose measurements are missing says so and does not count as held. For rows over several
programs, "median of programs" is the median of their medians, of their lower and of their upper
limits, and "worst program" is the row of the one with the largest median.

A verdict is by the measured median: "goal", "ok" (the bar holds) or "miss"; "?" is added where the
bar lies inside the interval, so that another run might say otherwise.
"""
import statistics

LARGE_KIB = 50 * 1024  # Programs below this are too small for a ratio of their memory to matter.


class Figure:
    """A row: `values` are median, low and high, or None; `at_least` if larger is better."""

    def __init__(self, what, bar, goal, values, unit="", at_least=False, note=""):
        self.what, self.bar, self.goal, self.values = what, bar, goal, values
        self.unit, self.at_least, self.note = unit, at_least, note

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

    def holds(self, value, bound):
        return value >= bound if self.at_least else value <= bound

    def as_dict(self):
        return {"what": self.what, "bar": self.bar, "goal": self.goal, "unit": self.unit,
                "at_least": self.at_least, "values": self.values, "verdict": self.verdict(),
                "note": self.note}


def triple(estimate):
    return estimate and (estimate.median, estimate.low, estimate.high)


def across(estimates):
    """The median of programs, from (name, Estimate) pairs."""
    if not estimates:
        return None
    return tuple(statistics.median(getattr(e, part) for _, e in estimates)
                 for part in ("median", "low", "high"))


def worst(estimates, least=False):
    """The values and the name of the program with the largest (or LEAST) median."""
    if not estimates:
        return None, ""
    pick = min if least else max
    name, estimate = pick(estimates, key=lambda pair: pair[1].median)
    return triple(estimate), name


def of_programs(rows, tool, part):
    """(program, Estimate) of every real program that has it."""
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
             Figure("CPU ratio, worst", 1.30, 1.15, most, note=name)]
    for loop, what, bar, goal in (("headline", "50 sites, 20 frames", 22, 12),
                                  ("depth5", "one site, depth 5", 15, 10),
                                  ("depth20", "one site, depth 20", 22, 14),
                                  ("depth60", "one site, depth 60", 35, 22),
                                  ("own-2", "2 threads", 22, 15), ("own-4", "4 threads", 22, 15),
                                  ("cross-2", "2 threads, cross frees", 22, 15),
                                  ("cross-4", "4 threads, cross frees", 22, 15)):
        found.append(Figure(f"added, {what}", bar, goal, of_loop(rows, "heaptap", loop),
                            "ns"))
    found.append(flatness(rows))
    found += [Figure("sampled, added, 50 sites, 20 frames", 2.5, 1.2,
                     of_loop(rows, "heaptap-512K", "headline"), "ns"),
              Figure("sampled, CPU ratio, worst", 1.02, 1.005, sampled,
                     note=sampled_name)]
    return found


def flatness(rows):
    """What is added with 4 threads over what is added with 1: 1 is flat."""
    one, four = (of_loop(rows, "heaptap", f"own-{n}") for n in (1, 4))
    values = None
    if one and four and min(one) > 0:
        values = (four[0] / one[0], four[1] / one[2], four[2] / one[1])
    return Figure("added with 4 threads / with 1", 1.3, 1.1, values)


def peer_figures(rows):
    """Heaptrack's whole pipeline over ours: what each adds to the same program."""
    found = []
    for ours, what in (("heaptap", "ours"), ("heaptap+pack", "ours packed")):
        mine = {name: e for name, e in of_programs(rows, ours, "added_cpu")}
        ratios = [(name, theirs.median / mine[name].median,
                   theirs.low / mine[name].high if mine[name].high > 0 else 0,
                   theirs.high / mine[name].low if mine[name].low > 0 else float("inf"))
                  for name, theirs in of_programs(rows, "heaptrack", "added_cpu")
                  if name in mine and mine[name].median > 0]
        least = min(ratios, key=lambda r: r[1], default=None)
        found.append(Figure(f"heaptrack added / {what}", 5, 12,
                            least and least[1:], at_least=True, note=least[0] if least else ""))
    return found


def memory_figure(rows):
    large = [(row.program.name, row.rss_ratio) for row in rows
             if row.tool.name == "heaptap" and row.rss_ratio and row.native_kib > LARGE_KIB]
    values, name = worst(large)
    return Figure("peak RSS ratio over 50 MB", 1.18, 1.10, values, note=name)


def latency_figures(latency):
    found = []
    for where in ("disk", "tmpfs", "busy disk"):
        ratio, most = latency.get(where, (None, None))
        found.append(Figure(f"malloc p99.99 ratio, {where}", 2, 1.3, triple(ratio)))
        found.append(Figure(f"malloc slowest, {where}", 1, 0.5, triple(most), "ms"))
    return found


def startup_figures(startup):
    found = []
    for what, bar, goal in (("never", 1, 0.1), ("once", 1, 0.1), ("python", 3, 1)):
        for how in ("preload", "run"):
            found.append(Figure(f"start-up added, {what}, {how}", bar, goal,
                                triple(startup.get((what, how))), "ms"))
    return found


def report_figures(report):
    return [Figure("profile of cc1, packed", 4, 1, triple(report.get("packed")), "MB"),
            Figure("report on cc1, symbols cold", 10, 3, triple(report.get("cold")), "s"),
            Figure("report on cc1, symbols cached", 0.5, 0.2, triple(report.get("cached")), "s")]


def lost_figure(rows):
    seen = [row.lost for row in rows if row.tool.ours and row.lost is not None]
    values = (sum(seen),) * 3 if seen else None
    return Figure("events lost", 0, 0, values, note=f"{len(seen)} runs")


def all_figures(rows, latency, startup, report):
    return [*cost_figures(rows), *peer_figures(rows), memory_figure(rows),
            *latency_figures(latency), *report_figures(report), *startup_figures(startup),
            lost_figure(rows)]
