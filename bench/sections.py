"""sections.py: measurements other than ratios of processor times.

    latency       durations of single calls of malloc (latency.c), with the profile on a disk, in
                  memory (tmpfs), and on a disk that another process writes to as fast as it can;
                  and with several threads
    threads       the loops of several threads as ratios, from rows that were measured
    startup       the added time for a process that does nothing (startup.c)
    report        size of cc1's profile, and the time of a report on it, with no symbol looked up
                  before ("cold") and with all of them known ("cached")
    instructions  callgrind's counts for each loop, by function (breakdown.py)

They follow the same rule: all compared runs belong to the same round, in random order.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import intervals
import peers
import programs
import runner

# Writes and flushes all the time, until it is killed.
DISTURBER = """
import os, sys
block = os.urandom(1 << 20)
with open(sys.argv[1], "wb", buffering=0) as f:
    while True:
        f.seek(0)
        for _ in range(64):
            f.write(block)
        os.fsync(f.fileno())
"""
MEMORY_FILES = "/dev/shm"
START_BATCH = 20
WALL, CPU = 0, 1  # Columns of startup.c's output.


# --- Latency -------------------------------------------------------------------------------------

class Disturbed:
    """Another process that writes to the disk meanwhile; ended by its process id."""

    def __init__(self, settings, active):
        self.settings, self.active, self.process = settings, active, None
        self.path = os.path.join(settings.work, "disturber")

    def __enter__(self):
        if self.active:
            self.process = subprocess.Popen([sys.executable, "-c", DISTURBER, self.path])
            time.sleep(0.3)

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
            os.unlink(self.path)


def latency_program(settings, threads):
    return programs.Program("latency", lambda scale: [f"{settings.binaries}/latency",
                                                      str(1000000 * scale), str(threads)],
                            "latency", threads=threads)


def latency_runs(settings, rounds, where, out, threads):
    """Return pairs of values that native and recorded runs print."""
    program, pairs = latency_program(settings, threads), []
    ours = peers.Tool("heaptap", [settings.heaptap, "run", "--quiet", "--no-pack", "-o", "{out}/",
                                  "--"], ours=True)
    with Disturbed(settings, where == "busy disk"):
        for _ in range(rounds):
            got = {}
            for tool in random.sample([peers.NATIVE, ours], 2):
                got[tool.name] = runner.run(settings, program, tool, out)
            native, recorded = got["native"], got["heaptap"]
            if native.why or recorded.why:
                return pairs, native.why or recorded.why
            pairs.append((native.printed, recorded.printed))
    return pairs, None


def latency(settings, rounds, told):
    """Return {where: (Estimate of the ratio of p99.99, Estimate of the slowest in ms)}."""
    found, memory = {}, None
    told.section("latency of malloc, ns (median of the rounds; exact / native)")
    if os.access(MEMORY_FILES, os.W_OK):
        memory = tempfile.mkdtemp(prefix="heaptap-bench-", dir=MEMORY_FILES)
    disk = os.path.join(settings.work, "out")
    for where, out, threads in (("disk", disk, 1), ("tmpfs", memory and f"{memory}/out", 1),
                                ("busy disk", disk, 1), ("2 threads", disk, 2),
                                ("4 threads", disk, 4)):
        pairs, why = latency_runs(settings, rounds, where, out, threads) if out \
            else ([], "no tmpfs")
        if why or not pairs:
            told.line(f"{where}: NOT MEASURED: {why}")
            continue
        for name in ("p50_ns", "p99_ns", "p999_ns", "own999_ns", "p9999_ns", "own9999_ns",
                     "max_ns"):
            told.line(latency_line(where, name, pairs))
        found[where] = (ratio(pairs, "own9999_ns"),
                        intervals.estimate([r["max_ns"] / 1e6 for _, r in pairs]))
    if memory:
        shutil.rmtree(memory, ignore_errors=True)
    return found


def ratio(pairs, name):
    return intervals.estimate([r[name] / n[name] for n, r in pairs])


def latency_line(where, name, pairs):
    native = intervals.estimate([n[name] for n, _ in pairs]).median
    recorded = intervals.estimate([r[name] for _, r in pairs]).median
    e = ratio(pairs, name)
    return (f"{where:<10}{name[:-3]:>8} {native:>10.0f} {recorded:>10.0f}"
            f"   x{e.median:.2f} [{e.low:.2f}, {e.high:.2f}]")


# --- Threads -------------------------------------------------------------------------------------

THREADS_HEADING = (f"{'loop':<10} {'n':>2} {'native':>8} {'recorded':>8} {'ratio':>6} {'added':>7}"
                   f" {'of own-1':>8} {'of own':>7}")


def of_pairs(rows, tool, part):
    """Return {loop: median} of the loops of several threads."""
    return {row.program.name: intervals.estimate([part(n, t) for n, t in row.pairs]).median
            for row in rows if row.program.pairs and row.tool.name == tool and row.pairs
            and row.program.name.partition("-")[0] in programs.TEAMS}


def threads_table(rows, tool="heaptap"):
    """Lines: processor time of a pair, and its added cost as a multiple of the added cost with one
    thread ("of own-1"), and with as many threads that free their own blocks ("of own")."""
    name = "ns_per_pair"
    native = of_pairs(rows, tool, lambda n, t: n.printed[name])
    recorded = of_pairs(rows, tool, lambda n, t: t.printed[name])
    added = of_pairs(rows, tool, lambda n, t: t.printed[name] - n.printed[name])
    counts = {row.program.name: len(row.pairs) for row in rows if row.tool.name == tool}
    lines = []
    for loop, ns in added.items():
        own = f"own-{loop.partition('-')[2]}"
        multiples = [f"{ns / added[of]:.2f}" if added.get(of, 0) > 0 else "-"
                     for of in ("own-1", own)]
        lines.append(f"{loop:<10} {counts[loop]:>2} {native[loop]:>8.1f} {recorded[loop]:>8.1f}"
                     f" {recorded[loop] / native[loop]:>6.2f} {ns:>7.1f} {multiples[0]:>8}"
                     f" {multiples[1]:>7}")
    return [THREADS_HEADING, *lines] if lines else []


# --- Start-up ------------------------------------------------------------------------------------

def start_times(settings, command, how):
    """Return (wall, processor) times of a batch in ms, or None."""
    out = runner.empty(os.path.join(settings.work, "out"))
    env = runner.environment(settings, {})
    if how == "preload":
        command = ["env", f"LD_PRELOAD={settings.library}", f"HEAPTAP_OUT={out}/%p.%n.heaptap",
                   *command]
    elif how in ("run", "packed"):
        command = [settings.heaptap, "run", "--quiet", *["--no-pack"] * (how == "run"), "-o",
                   f"{out}/", "--", *command]
    if how == "native":
        command = ["env", *command]
    done = subprocess.run(["taskset", "-c", settings.one_cpu, f"{settings.binaries}/startup",
                           str(START_BATCH), *command], env=env, capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        return None
    return [[int(word) / 1e6 for word in line.split()] for line in done.stdout.split("\n") if line]


def startup(settings, full, told):
    """Return {(command, how): Estimate of the added time, in ms}."""
    told.section("start-up, ms (200 runs or more; what is added: median of batches' medians)")
    batches, found = (20 if full else 10), {}
    commands = {"never": [f"{settings.binaries}/never"], "once": [f"{settings.binaries}/once"],
                "python": [shutil.which("python3", path=programs.PATH) or "python3", "-S", "-c",
                           "pass"],
                "true": [shutil.which("true", path=programs.PATH) or "true"]}
    hows = ("native", "preload", "run", "packed")
    for name, command in commands.items():
        taken = {how: [] for how in hows}
        for _ in range(batches):
            for how in random.sample(sorted(taken), len(taken)):
                taken[how].append(start_times(settings, command, how))
        for how in hows:
            if None in taken[how] or None in taken["native"]:
                told.line(f"{name}, {how}: FAILED")
                continue
            found[name, how] = added_start(taken["native"], taken[how], WALL)
            told.line(start_line(name, how, taken))
    return found


def medians(batches, which):
    return [intervals.estimate([run[which] for run in batch]).median for batch in batches]


def added_start(native, other, which):
    """Return the excess of a batch's median over the native one in the same round."""
    return intervals.estimate([o - n for n, o in zip(medians(native, which),
                                                     medians(other, which))])


def start_line(name, how, taken):
    least = {h: min(run[WALL] for batch in taken[h] for run in batch) for h in (how, "native")}
    text = f"{name:<7}{how:<8} min {least[how]:6.2f} median " \
           f"{intervals.estimate(medians(taken[how], WALL)).median:6.2f}"
    if how == "native":
        return text
    e, cpu = (added_start(taken["native"], taken[how], which) for which in (WALL, CPU))
    return text + (f" added: min {least[how] - least['native']:.2f} median {e.median:.2f}"
                   f" [{e.low:.2f}, {e.high:.2f}] CPU {cpu.median:.2f}")


# --- Report --------------------------------------------------------------------------------------

def timed(settings, words, cache):
    began = time.monotonic()
    done = subprocess.run(words, env=runner.environment(settings, {"XDG_CACHE_HOME": cache}),
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip()[-200:])
    return time.monotonic() - began


def report(settings, inputs, options, told):
    """Estimates of cc1's profile: "packed" in MB, "cold" and "cached" in s."""
    told.section("the profile of cc1")
    real, _ = programs.real_programs(options.build)
    cc1 = next((p for p in real if p.name == "cc1"), None)
    tool = peers.heaptap_tools(settings.heaptap)[0]
    out = os.path.join(settings.work, "report")
    result = runner.run(settings, cc1, tool, out) if cc1 else None
    if result is None or result.why:
        told.line(f"NOT MEASURED: {result.why if result else 'cc1 is not installed'}")
        return {}
    profile = runner.profiles_in(out)[0]
    raw = intervals.estimate([os.stat(profile).st_blocks * 512 / 1e6])
    try:
        found = {"raw": raw, **report_times(settings, profile, options.rounds)}
    except ValueError as error:
        told.line(f"FAILED: {error}")
        return {}
    for name, unit in (("raw", "MB"), ("packed", "MB"), ("packing", "s"), ("cold", "s"),
                       ("cached", "s")):
        e = found[name]
        told.line(f"{name:<10}{e.median:9.3f} {unit}  [{e.low:.3f}, {e.high:.3f}]")
    return found


def report_times(settings, profile, rounds):
    times, cache = {"cold": [], "cached": [], "packing": []}, os.path.join(settings.work, "symbols")
    words = [settings.heaptap, "report", profile]
    packed = profile + ".packed.heaptap"
    for _ in range(rounds):
        times["cold"].append(timed(settings, words, runner.empty(cache)))
        times["cached"].append(timed(settings, words, cache))
        shutil.rmtree(packed, ignore_errors=True)
        if os.path.exists(packed):
            os.unlink(packed)
        times["packing"].append(timed(settings, [settings.heaptap, "pack", "-o", packed, profile],
                                      runner.empty(cache)))
    size = os.stat(packed).st_size / 1e6
    return {**{name: intervals.estimate(v) for name, v in times.items()},
            "packed": intervals.estimate([size])}


# --- Instructions --------------------------------------------------------------------------------

def instructions(settings, breakdown, told):
    """Return {loop: (added, {stage: instructions})}."""
    told.section("instructions added to a pair of malloc and free, by stage (callgrind)")
    found = {}
    for kind in breakdown.KINDS:
        try:
            added, functions = breakdown.added(f"{settings.binaries}/micro", kind,
                                               settings.library)
        except breakdown.Failure as error:
            told.line(f"{kind}: NOT COUNTED: {error}")
            continue
        stages = breakdown.by_stage(functions)
        found[kind] = {"added": added, "stages": dict(stages),
                       "functions": {f"{function} ({file})": cost
                                     for (file, function), cost in functions.items() if cost}}
        told.line(f"{kind:<10}{added:8.1f}  " + ", ".join(
            f"{stage} {cost:.0f}" for stage, cost in stages.most_common() if cost >= 0.5))
    return found
