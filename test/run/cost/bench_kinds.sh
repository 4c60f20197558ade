#!/usr/bin/env bash
# bench_kinds.sh: how `make bench` gets from runs to rows and kinds (bench/kinds.py,
# bench/bench.py). If it fails, its table of kinds says what nobody measured.
. "$SRCDIR/test/run/lib.subr"
need python3
PYTHONDONTWRITEBYTECODE=1 python3 - "$SRCDIR/bench" <<'END' || failures=1
import sys

sys.path.insert(0, sys.argv[1])
import bench
import kinds
import peers
import programs
import runner

failures = 0


def same(name, wanted, got):
    global failures
    print(f"{'ok' if wanted == got else 'not ok'} - {name}")
    if wanted != got:
        print(f"#   wanted {wanted}, got {got}")
        failures += 1


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

slow = row("deep", "e", "heaptap", [29, 29])
same("a slow row ends after two pairs", (True, False), (slow.slow(5), slow.slow(15)))
same("but not after one", False, row("deep", "e", "heaptap", [99]).slow(5))

full = {t.name: t for t in peers.others()}
same("heaptrack is not asked for processes that a program starts", [True, False, False],
     [full[tool].blind_to(programs.Program("x", None, kind=kind)) is not None
      for tool, kind in (("heaptrack", "short"), ("heaptrack", "deep"), ("tcmalloc-hp", "short"))])
sys.exit(failures > 0)
END
finish
