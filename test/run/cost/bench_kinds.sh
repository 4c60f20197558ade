#!/usr/bin/env bash
# bench_kinds.sh: `make bench` turns runs into rows, kinds and verdicts (bench/kinds.py,
# bench/figures.py, bench/sections.py, bench/checks.py). If it fails, its tables show unmeasured
# numbers, or an exceeded limit counts as kept.
. "$SRCDIR/test/run/lib.subr"
need python3
run_python - "$SRCDIR/bench" <<'END' || failures=1
import os
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import bench
import checks
import figures
import kinds
import peers
import programs
import runner
import sections
import tables
from telling import finish, same


def run(cpu_s, mib=100):
    made = runner.Result()
    made.cpu_ns, made.program_kib, made.wall_ns = cpu_s * 1e9, mib * 1024, cpu_s * 1e9
    return made


def row(kind, program, tool, times, native_mib=100, mib=100):
    """A row of a program that takes one second bare."""
    made = bench.Row(programs.Program(program, None, kind=kind), peers.Tool(tool))
    made.pairs = [(run(1, native_mib), run(1 + t, mib)) for t in times]
    made.conclude()
    return made


def rounded(triple):
    return triple and tuple(round(x, 6) for x in triple)


rows = [row("stacks", "a", "heaptap", [.1, .2, .3], 100, 110),
        row("stacks", "a", "heaptap+pack", [.2, .3, .4]),
        row("stacks", "a", "heaptrack", [3, 3, 3]),
        row("stacks", "b", "heaptap", [.5, .5, .5], 100, 130),
        row("stacks", "b", "heaptap+pack", [.5, .5, .5]),
        row("stacks", "b", "heaptrack", [2, 4, 9]),
        row("stacks", "c", "heaptap", [.1, .1, .1], 49, 490),
        row("short", "d", "heaptap", [-.1, .1, .2]),
        row("short", "d", "heaptap+pack", [-.1, .1, .2]),
        row("short", "d", "heaptrack", [9, 9, 9])]
made = kinds.summary(kinds.gathered(rows)["stacks"])
same("the median of a kind is that of its programs' medians, the worst has a name",
     (1.2, 1.5, "b"), made["alone"])
same("a program without packed runs is not in that column", (1.4, 1.5, "b"), made["packed"])
same("memory counts for programs over 50 MB only", (1.2, 1.3, "b"),
     (round(made["rss"][0], 9), *made["rss"][1:]))
a, b, d = (kinds.gathered(rows)[kind][name] for kind, name in
           (("stacks", "a"), ("stacks", "b"), ("short", "d")))
same("what heaptrack adds over what we add, with the limits of both", (10, 7.5, 15),
     rounded(kinds.times_ours(a)))
same("the same over recording alone", (15, 10, 30), rounded(kinds.times_ours(a, "heaptap")))
same("its range is kept", (8, 4, 18), rounded(kinds.times_ours(b)))
same("where ours may be nothing there is no multiple", None, kinds.times_ours(d))
lines, values = kinds.table(rows)
same("no line of the table is wider than a terminal", True, max(map(len, lines)) <= 80)
same("each program has a line, each kind and all have two", 1 + 4 + 6 + 2, len(lines))
same("kinds say of how many programs they are", [3, 1, 4],
     [values[kind]["programs"] for kind in ("stacks", "short", "all")])
same("without rows there is no table", ([], {}), kinds.table([]))

both = rows + [row("stacks", "a", "before", [.4, .4, .4], 100, 150),
               row("stacks", "a", "before+pack", [.7, .7, .7]),
               row("short", "d", "before", [1, 1, 1])]
table = kinds.before_table(both)
same("two builds: each program, then the median and the worst of both",
     ["a 1.40 -> 1.20 1.70 -> 1.30 1.50 -> 1.10",
      "stacks, median 1.40 -> 1.20 1.70 -> 1.40 1.50 -> 1.20",
      "worst 1.40 -> 1.50 1.70 -> 1.50 1.50 -> 1.30"],
     [" ".join(line.split()) for line in table[1:4]])
same("no line is wider than a terminal", True, max(map(len, table)) <= 80)
same("with one build there is no such table", [], kinds.before_table(rows))
same("the build before is in no figure of this one", [f.values for f in figures.row_figures(rows)],
     [f.values for f in figures.row_figures(both)])
same("but each says what it was", [1.7, 1.7, None],
     [round(f.before, 6) if f.before else f.before for f in figures.row_figures(both)
      if f.what in ("CPU ratio, median of programs", "packed, CPU ratio, worst",
                    "sampled, CPU ratio, worst")])

with tempfile.TemporaryDirectory() as directory:
    out = os.path.join(directory, "out")
    for text in ("first", "second"):
        with open(os.path.join(runner.fresh(out), text), "w", encoding="utf-8") as file:
            file.write(text)
    kept = os.path.join(directory, "out.used", "0", "first")
    same("a run begins without the files of the one before", ["second"], os.listdir(out))
    same("but their inodes are in use", 0, os.stat(kept).st_size)

slow = row("deep", "e", "heaptap", [29, 29])
same("a slow row ends after two pairs", (True, False), (slow.slow(5), slow.slow(15)))
same("but not after one", False, row("deep", "e", "heaptap", [99]).slow(5))

full = {t.name: t for t in peers.others()}
same("heaptrack is not asked for processes that a program starts", [True, False, False],
     [full[tool].blind_to(programs.Program("x", None, kind=kind)) is not None
      for tool, kind in (("heaptrack", "short"), ("heaptrack", "deep"), ("tcmalloc-hp", "short"))])


def loop(name, native_ns, recorded_ns, tool="heaptap"):
    """A row of a loop that was run as often as there are times."""
    made = bench.Row(programs.Program(name, None, pairs=1), peers.Tool(tool))
    for native, recorded in zip(native_ns, recorded_ns):
        pair = run(1), run(1)
        pair[0].printed, pair[1].printed = {"ns_per_pair": native}, {"ns_per_pair": recorded}
        made.pairs.append(pair)
    made.conclude()
    return made


loops = [loop("own-1", [20, 20, 20], [30, 40, 50]), loop("own-4", [20, 20, 20], [60, 60, 60]),
         loop("cross-4", [20, 30, 40], [70, 80, 90]), loop("headline", [5, 5, 5], [9, 9, 9])]
table = sections.threads_table(loops)
same("threads: ratio, what is added, and that over one thread's and over own frees",
     [["own-1", "3", "20.0", "40.0", "2.00", "20.0", "1.00", "1.00"],
      ["own-4", "3", "20.0", "60.0", "3.00", "40.0", "2.00", "1.00"],
      ["cross-4", "3", "30.0", "80.0", "2.67", "50.0", "2.50", "1.25"]],
     [line.split() for line in table[1:]])
same("no line is wider than a terminal", True, max(map(len, table)) <= 80)
same("without loops of threads there is no table", [], sections.threads_table(loops[3:]))

found = {f.what: f for f in figures.all_figures(rows + loops, {}, {}, {}, {"stacks": (0, 9)})}


def held(what):
    f = found[what]
    return (f.values and round(f.values[0], 3), f.verdict().rstrip("?"), round(f.missed_by(), 3))


same("the median of all programs, from their medians", (1.15, "ok", 0),
     held("CPU ratio, median of programs"))
same("the worst is missed by what it is above the bar", (1.5, "miss", .2), held("CPU ratio, worst"))
same("packing counts where both were measured", (0, "goal", 0),
     held("packing adds to ratio, median"))
same("least and median of heaptrack's multiples, larger is better",
     [(8, "ok", 0), (9, "miss", 3)],
     [held("heaptrack / ours packed, least"), held("heaptrack / ours packed, median")])
same("frees of others, over own frees", (1.25, "miss", .1), held("4 threads, cross / own frees"))
same("what was not measured is not held", (None, "not measured", 0),
     held("heaptap.h events by address"))
same("a table of verdicts says by how much a bar was missed", True,
     tables.verdict_line(found["CPU ratio, worst"]).rstrip().endswith(" 0.20"))
same("no line of it is wider than 90 columns", True,
     max(len(tables.verdict_line(f)) for f in found.values()) <= 90)

same("stackdiff's line: what differs, and walks that fail", (5, 100667), checks.differing(
    "events 100667  frames 9  differences: equal 301905 end-of-stack 0 no-table 51 signal-pc 0"
    " rsp-rule 45 REAL 3  bad walks 2  steps for full 1"))
same("no line, no figure", None, checks.differing("killed"))
same("the dearest event that has an address", 91.8, checks.dearest(
    "alloc + free                     91.8 ns\nalloc + free, 1000 live          76.2 ns\n"
    "the same without addresses      132.2 ns\nheap_create + heap_destroy      162.7 ns\n"))
same("a program that printed nothing has none", None, checks.dearest(""))
finish()
END
finish
