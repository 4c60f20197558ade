"""tables.py: write the output of the bench, 80 columns wide, and its two files.

The terminal shows each line as soon as it is known. bench.md has the same lines after the facts
about the machine. bench.json has every single measurement, for further computations.
"""
import json
import os
import textwrap

HEADING = (f"{'program':<9} {'tool':<12} {'n':>2} {'CPU x':>6} {'[low, high]':>15} {'min x':>6}"
           f" {'RSS x':>6} {'tool':>6} {'profile':>7}\n"
           f"{'':<9} {'':<12} {'':>2} {'':>6} {'':>15} {'':>6} {'':>6} {'MB':>6} {'MB':>7}")
LOOP_HEADING = (f"{'loop':<9} {'tool':<12} {'n':>2} {'native':>8} {'added':>8} {'[low, high]':>19}"
                f" {'least':>7}   ns per pair")


def number(value, digits=2):
    """Format a number in at most 6 characters."""
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.{max(0, digits - (abs(value) >= 100))}f}"


def program_line(row):
    ratio = row.cpu_ratio
    limits = f"[{number(ratio.low)}, {number(ratio.high)}]"
    profile = number(row.profile_bytes.median / 1e6) if row.profile_bytes.median else "-"
    return (f"{row.program.name:<9} {row.tool.name:<12} {ratio.count:>2} {number(ratio.median):>6}"
            f" {limits:>15} {number(row.least_ratio):>6} {number(row.rss_ratio.median):>6}"
            f" {number(row.tool_kib.median * 1024 / 1e6, 1):>6} {profile:>7}")


def loop_line(row):
    added = row.added_ns
    native = sorted(n.printed["ns_per_pair"] for n, _ in row.pairs)[len(row.pairs) // 2]
    limits = f"[{number(added.low, 1)}, {number(added.high, 1)}]"
    least = min(t.printed["ns_per_pair"] for _, t in row.pairs) - \
        min(n.printed["ns_per_pair"] for n, _ in row.pairs)
    return (f"{row.program.name:<9} {row.tool.name:<12} {added.count:>2} {number(native, 1):>8}"
            f" {number(added.median, 1):>8} {limits:>19} {number(least, 1):>7}")


class Tables:
    def __init__(self, directory, facts):
        self.directory, self.facts, self.lines, self.figures = directory, facts, [], []
        for name, value in facts.items():
            self.line(f"{name:<12} {value}")
        self.line("")

    def line(self, text):
        self.lines.append(text)
        print(text, flush=True)

    def section(self, title):
        self.line("")
        self.line(f"== {title}")

    def missing(self, reasons):
        for name, why in sorted(reasons.items()):
            self.line(f"MISSING ROW {name}: {why}")

    def heading(self, loops):
        self.section("loops of malloc and free" if loops else "programs, tool / native")
        self.line(LOOP_HEADING if loops else HEADING)

    def table(self, title, lines):
        self.section(title)
        for line in lines:
            self.line(line)

    def row(self, row):
        if not row.pairs:
            why = row.failures[-1] if row.failures else "no run"
            self.line(f"{row.program.name:<9} {row.tool.name:<12} FAILED: {why}"[:300])
            return
        self.line(loop_line(row) if row.program.pairs else program_line(row))
        if row.helper_ns.median:
            self.line(f"{'':<9} {'':<12} of this, its helper processes: "
                      f"{row.helper_ns.median / 1e9:.2f} s of "
                      f"{row.helper_ns.median / 1e9 + own_seconds(row):.2f} s")
        if row.lost:
            self.line(f"{'':<9} {'':<12} EVENTS LOST: {row.lost}")
        if row.failures:
            failed = f"FAILED {len(row.failures)} times: {row.failures[-1]}"
            self.line(f"{'':<9} {'':<12} {failed}"[:300])

    def verdicts(self, figures):
        self.figures = figures
        held = sum(f.verdict().rstrip("?") in ("ok", "goal") for f in figures)
        goals = sum(f.verdict().rstrip("?") == "goal" for f in figures)
        missed = sum(f.verdict().startswith("miss") for f in figures)
        absent = sum(f.values is None for f in figures)
        self.section(f"verdicts: {held} bars of {len(figures)} held, {goals} with their goal; "
                     f"{missed} missed, {absent} not measured")
        self.line(f"{'figure':<39} {'goal':>5} {'bar':>5} {'measured [low, high]':>21} miss by"
                  + (", was" if any(f.before is not None for f in figures) else ""))
        for f in figures:
            self.line(verdict_line(f))

    def write(self, rows, **parts):
        os.makedirs(self.directory, exist_ok=True)
        verdict_at = next(i for i, line in enumerate(self.lines) if line.startswith("== verdicts"))
        ordered = self.lines[verdict_at:] + [""] + self.lines[:verdict_at - 1]
        with open(f"{self.directory}/bench.md", "w", encoding="utf-8") as f:
            f.write("# heaptap bench\n\n" + textwrap.dedent(
                """\
                What the columns and rows mean: docs/internals/performance.md.
                """) + "\n```\n" + "\n".join(ordered) + "\n```\n")
        with open(f"{self.directory}/bench.json", "w", encoding="utf-8") as f:
            json.dump({"machine": self.facts, "figures": [x.as_dict() for x in self.figures],
                       "rows": [row.as_dict() for row in rows], **parts}, f, indent=1)
        print(f"\nwritten: {self.directory}/bench.md and bench.json")


def own_seconds(row):
    cpu = sorted(t.cpu_ns for _, t in row.pairs)[len(row.pairs) // 2]
    return max(0, cpu - row.helper_ns.median) / 1e9


def verdict_line(figure):
    sign = ">=" if figure.at_least else ""
    head = f"{figure.title():<39} {sign + str(figure.goal):>5} {sign + str(figure.bar):>5}"
    if figure.values is None:
        return f"{head} {'not measured':>21}"
    median, low, high = map(number, figure.values)
    by = f" {number(figure.missed_by())}" if figure.missed_by() else ""
    was = f", {number(figure.before)}" if figure.before is not None else ""
    return f"{head} {f'{median} [{low}, {high}]':>21} {figure.verdict()}{by}{was}"
