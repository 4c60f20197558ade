"""kinds.py: the table of programs by kind: the cost of recording alone, its cost with packing, its
memory, and the comparison with heaptrack; and with another build, the same for both.

From rows that the bench has measured already; nothing runs here. "worst" and "median" of a kind
are taken over the medians of its programs. A kind that lacks programs shows their number.
"""
import copy
import statistics

import peers

ALONE, PACKED, PEER = "heaptap", "heaptap+pack", "heaptrack"
LARGE_KIB = 50 * 1024  # For smaller programs, the ratio of memory does not matter.
HEADING = (f"{'program':<10} {'n':>2} {'native':>6} {'alone':>6} {'[low, high]':>14} {'packed':>6}"
           f" {'[low, high]':>14} {'RSS':>6} {'peer':>6}")


def gathered(rows):
    """Return {kind: {program: {tool: row}}} of the rows of real programs, in order."""
    found = {}
    for row in rows:
        if row.program.kind:
            of_kind = found.setdefault(row.program.kind, {})
            of_kind.setdefault(row.program.name, {})[row.tool.name] = row
    return found


def as_now(rows):
    """Return the rows of the earlier build, as if they belonged to this one."""
    found = []
    for row in rows:
        name = row.tool.name.removeprefix(peers.BEFORE)
        if name != row.tool.name:
            row = copy.copy(row)
            row.tool = copy.copy(row.tool)
            row.tool.name = ALONE + name
            found.append(row)
    return found


def measured(of_tool, tool, part):
    row = of_tool.get(tool)
    return getattr(row, part) if row else None


def times_ours(of_tool, ours=PACKED):
    """Return heaptrack's added cost as a multiple of heaptap's: (median, low, high). Return None if
    either is unknown or heaptap's is indistinguishable from zero."""
    theirs, mine = measured(of_tool, PEER, "added_cpu"), measured(of_tool, ours, "added_cpu")
    if not theirs or not mine or mine.median <= 0 or mine.low <= 0:
        return None
    return theirs.median / mine.median, theirs.low / mine.high, theirs.high / mine.low


def ratio_text(estimate):
    if not estimate:
        return f"{'-':>6} {'':>14}"
    return f"{estimate.median:6.2f} {f'[{estimate.low:.2f}, {estimate.high:.2f}]':>14}"


def native_seconds(of_tool):
    times = [native.cpu_ns for row in of_tool.values() for native, _ in row.pairs]
    return statistics.median(times) / 1e9 if times else None


def memory_text(of_tool):
    rss = measured(of_tool, ALONE, "rss_ratio")
    if not rss:
        return "-"
    small = measured(of_tool, ALONE, "native_kib") <= LARGE_KIB
    return f"({rss.median:.2f})" if small else f"{rss.median:.2f}"


def program_line(name, of_tool):
    alone, packed = (measured(of_tool, tool, "cpu_ratio") for tool in (ALONE, PACKED))
    times, native = times_ours(of_tool), native_seconds(of_tool)
    return (f"{name:<10} {alone.count if alone else 0:>2}"
            f" {f'{native:.2f}' if native else '-':>6} {ratio_text(alone)} {ratio_text(packed)}"
            f" {memory_text(of_tool):>6} {f'{times[0]:.1f}' if times else '-':>6}")


def summary(programs):
    """Return {column: (median, worst, its program)} of {program: {tool: row}}."""
    def column(values):
        known = {name: value for name, value in values.items() if value is not None}
        if not known:
            return None
        worst = max(known, key=known.get)
        return statistics.median(known.values()), known[worst], worst

    def of(tool, part):
        found = {name: measured(of_tool, tool, part) for name, of_tool in programs.items()}
        return {name: e and e.median for name, e in found.items()}

    memory = {name: ratio for name, ratio in of(ALONE, "rss_ratio").items()
              if ratio and measured(programs[name], ALONE, "native_kib") > LARGE_KIB}
    return {"alone": column(of(ALONE, "cpu_ratio")), "packed": column(of(PACKED, "cpu_ratio")),
            "rss": column(memory)}


def summary_lines(name, programs):
    """Return two lines: the median of the programs, and the worst value with its program."""
    columns = summary(programs)
    medians = [columns[c] and f"{columns[c][0]:.2f}" or "-" for c in ("alone", "packed", "rss")]
    worst = [columns[c] and f"{columns[c][1]:.2f}" or "-" for c in ("alone", "packed", "rss")]
    names = [columns[c] and columns[c][2] or "" for c in ("alone", "packed")]
    peers = [t[0] for t in map(times_ours, programs.values()) if t]
    peer = (f"{statistics.median(peers):.1f}", f"{min(peers):.1f}") if peers else ("-", "-")
    return [f"  {name + ', median':<18} {medians[0]:>6} {'':>14} {medians[1]:>6} {'':>14}"
            f" {medians[2]:>6} {peer[0]:>6}",
            f"  {'worst':<18} {worst[0]:>6} {names[0]:>14} {worst[1]:>6} {names[1]:>14}"
            f" {worst[2]:>6} {peer[1]:>6}"]


def table(rows):
    """Return the lines of the table, and the same values for bench.json."""
    kinds = gathered(rows)
    if not kinds:
        return [], {}
    lines, everything, values = [HEADING], {}, {}
    for kind, programs in kinds.items():
        lines += [program_line(name, of_tool) for name, of_tool in programs.items()]
        lines += summary_lines(kind, programs)
        values[kind] = {**summary(programs), "programs": len(programs)}
        everything.update(programs)
    lines += summary_lines("all", everything)
    values["all"] = {**summary(everything), "programs": len(everything)}
    lines += ["native: s; alone, packed: processor time over native; RSS in (): below 50 MB",
              "peer: what heaptrack adds over what we add, packing included; worst: the least"]
    return lines, values


def both_texts(before, now):
    return f"{before and f'{before:.2f}' or '-':>8} -> {now and f'{now:.2f}' or '-':<6}"


def before_lines(name, before, now):
    """Return two lines about programs {program: {tool: row}} of both builds."""
    columns = ("alone", "packed", "rss")
    then, since = summary(before), summary(now)
    return [f"  {name:<18}" + "".join(both_texts(then[c] and then[c][part],
                                                 since[c] and since[c][part]) for c in columns)
            for part, name in ((0, f"{name}, median"), (1, "worst"))]


def before_table(rows):
    """Return the lines of the table of both builds; none without an earlier build."""
    before, now, everything = gathered(as_now(rows)), gathered(rows), ({}, {})
    if not before:
        return []
    lines = [f"{'program':<20}{'alone':>12} {'packed':>17} {'RSS':>17}"]
    for kind, programs in before.items():
        for name, of_tool in programs.items():
            lines.append(f"{name:<20}" + "".join(
                both_texts(*(estimate and estimate.median for estimate in
                             (measured(which, tool, part) for which in (of_tool, now[kind][name]))))
                for tool, part in ((ALONE, "cpu_ratio"), (PACKED, "cpu_ratio"),
                                   (ALONE, "rss_ratio"))))
        lines += before_lines(kind, programs, now[kind])
        everything[0].update(programs)
        everything[1].update(now[kind])
    return lines + before_lines("all", *everything)
