"""switch.py: change the recording mode while threads allocate at full speed.

    switch.py check HEAPTAP PROGRAM THREADS       one run with everything checked
    switch.py table HEAPTAP PROGRAM THREADS RUNS  many runs, by hand: the last one in full, and how
                                                  often the truth lay in the interval
    switch.py callers HEAPTAP PROGRAM THREADS     changes of the share of callers: all stretches are
                                                  exact
    switch.py sqlite HEAPTAP SQLITE3              the same with a database at work; its truth is
                                                  an exact recording of the same work

PROGRAM is test/prog/switched.c, which counts the true numbers. A stretch of its work has one
recording mode, or the mode changes during the stretch. Exact stretches must equal the truth to the
byte, and so must the frees of their blocks, whenever they come. (There is still an upper limit,
because the recorder cannot know that the site had no events while the mode was sampling.) Estimates
must be within 2.5 times their interval, which a right estimate leaves once in a million times;
threads decide the draws, so no seed makes two runs equal. The same holds if a stretch changes from
exact to a sample: each block must be recorded in exactly one mode.

In two stretches, the mode changes all the time and the program is slow, so that any loss at a
change is a large part of the result: with one thread, even one sample lost at each change would be
noticed.
"""
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
from telling import finish, tell  # noqa: E402

EXACT, SAMPLED, LESS = "exact", "sampled", "less"
# The number of repetitions, and the modes in turn. All changes in a run fit into the file.
FLUTTERS = {"exact and sample": (10, ["--sample", "256K"], ["--exact"]),
            "two samples": (240, ["--sample", "256K"], ["--sample", "255K"])}
# The request during the stretch, and the expected result.
STRETCHES = [
    ("exact", None, EXACT), ("to a sample by bytes", ["--sample", "64K"], SAMPLED),
    ("by bytes", None, SAMPLED), ("to off", ["--off"], LESS), ("off", None, LESS),
    ("to exact", ["--exact"], LESS), ("exact", None, EXACT),
    ("to a sample by calls", ["--sample-count", "200"], SAMPLED), ("by calls", None, SAMPLED),
    ("to exact", ["--exact"], SAMPLED), ("exact", None, EXACT),
    ("to and fro", "exact and sample", SAMPLED), ("to and fro", "two samples", SAMPLED),
    ("to exact", ["--exact"], SAMPLED), ("exact", None, EXACT),
]
# The same for shares of callers, which leave sites exact.
FLUTTERS["callers"] = (20, ["--callers", "1/4"], ["--callers", "1/64"], ["--exact"])
CALLERS = [("exact", None), ("to callers", ["--callers", "1/16"]), ("callers", None),
           ("to more callers", ["--callers", "1/2"]), ("to few callers", ["--callers", "1/100000"]),
           ("to exact", ["--exact"]), ("exact", None), ("to and fro", "callers")]
METRICS = ("allocations", "allocated_bytes", "live_blocks", "live_bytes")


class Program:
    """The program under heaptap, and the means to control both."""

    def __init__(self, heaptap, program, threads, path):
        self.heaptap, self.path = heaptap, path
        self.process = subprocess.Popen(
            [heaptap, "run", "--quiet", "--no-pack", "-o", path, "--", program, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stretch(self, number):
        self.say(str(number))
        line = self.process.stdout.readline()
        assert line == "%d\n" % number, line

    def control(self, options):
        subprocess.run([self.heaptap, "control", "--wait", "100", self.path] + options, check=True,
                       stdout=subprocess.DEVNULL)

    def snapshot(self, name):
        subprocess.run([self.heaptap, "snapshot", "--wait", "100", self.path, name], check=True,
                       stdout=subprocess.DEVNULL)

    def end(self):
        """Return the truth: for each stretch (allocations, bytes, live blocks, live bytes)."""
        self.say("end")
        lines = [[int(word) for word in line.split()] for line in self.process.stdout]
        assert self.process.wait() == 0, self.process.returncode
        return {s: (n, size, n - freed, size - freed_size)
                for s, n, size, freed, freed_size in lines}


def change(program, what):
    if isinstance(what, list):
        program.control(what)
        return
    times, *ways = FLUTTERS[what]
    program.say("slow")
    for _ in range(times):
        for options in ways:
            program.control(options)
    program.say("fast")


def steer(heaptap, program, threads, path, stretches):
    """Run everything; return the report and the truth."""
    p = Program(heaptap, program, threads, path)
    for number, (_, what, *_) in enumerate(stretches):
        p.stretch(number)
        if what is not None:
            change(p, what)
            p.snapshot("in %d" % number)
            p.stretch(number)  # Wait until all threads have polled.
    truth = p.end()
    out = subprocess.run([heaptap, "report", "--json", "--no-fold", path], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    os.unlink(path)
    return documents.loads(out), truth


KEYS = [m + end for m in METRICS for end in ("", "_low", "_high")] + ["samples"]


def recorded(report):
    """Return by stretch, over all its sites: the sums of METRICS and of their limits. The limits of
    a sum are closer together than the sums of limits, so the results are a little too generous."""
    found = {s: {key: 0 for key in KEYS} for s in range(len(STRETCHES))}
    for site in report["sites"]:
        for frame in site["stack"]:
            if (frame["function"] or "").startswith("stretch_"):
                sums = found[int(frame["function"][len("stretch_"):])]
                for key in KEYS:
                    sums[key] += site[key]
    return found


def near(got, key, truth, times):
    value, low, high = got[key], got[key + "_low"], got[key + "_high"]
    return value - times * (value - low) <= truth <= value + times * (high - value)


def check_stretch(number, got, truth):
    name, _, kind = STRETCHES[number]
    name = "stretch %d, %s" % (number, name)
    if kind == EXACT:
        values = tuple(got[m] for m in METRICS)
        lows = tuple(got[m + "_low"] for m in METRICS)
        tell(lows == truth and got["samples"] == 0, name + ": no estimate is in it", got)
        highs = [got[m + "_high"] > t for m, t in zip(METRICS, truth)]
        tell(all(highs), name + ": the bound of missed blocks is shown", got)
        return
    for m, t in zip(METRICS, truth):
        if kind == SAMPLED:
            tell(near(got, m, t, 2.5), "%s: %s" % (name, m), got, truth)
        else:
            tell(got[m] - 2.5 * (got[m] - got[m + "_low"]) <= t, "%s: no more %s than there were" %
                 (name, m), got, truth)


def check_whole(report, truth):
    found = recorded(report)
    ways = [(p["mode"], p["period"]) for p in report["phases"]]
    wanted = [("exact", 0), ("bytes", 65536), ("off", 0), ("exact", 0), ("count", 200),
              ("exact", 0)]
    wanted += [("bytes", 256 << 10), ("exact", 0)] * 10
    wanted += [("bytes", 256 << 10), ("bytes", 255 << 10)] * 240 + [("exact", 0)]
    tell(ways == wanted, "every change is in the report", len(ways), ways[:8])
    times = [p["elapsed_ns"] for p in report["phases"]]
    tell(times == sorted(times), "in order of time", times)
    named = [s["allocated_bytes"] for s in report["snapshots"]]
    tell(len(named) == 8 and named == sorted(named), "snapshots only rise", named)
    for m in METRICS:
        tell(sum(s[m] for s in report["sites"]) == report["totals"][m], "sites sum up: " + m)
    for key in ("events", "unknown_frees", "double_frees", "overwritten_blocks"):
        tell(report["losses"][key] == 0, "losses: %s" % key, report["losses"])
    tell(found[4]["allocations"] == 0, "nothing is recorded while off", found[4])
    left_out = sum(truth[s][0] for s in range(len(STRETCHES)) if STRETCHES[s][2] != EXACT)
    tell(0 < report["losses"]["unrecorded_frees"] <= left_out,
         "frees of blocks left out are separate from mistakes", report["losses"], left_out)


def check(heaptap, program, threads):
    report, truth = steer(heaptap, program, threads, "switch.heaptap", STRETCHES)
    check_whole(report, truth)
    found = recorded(report)
    for number in range(len(STRETCHES)):
        check_stretch(number, found[number], truth[number])


def check_callers(heaptap, program, threads):
    report, truth = steer(heaptap, program, threads, "callers.heaptap", CALLERS)
    found = recorded(report)
    for number, (name, _) in enumerate(CALLERS):
        name = "stretch %d, %s" % (number, name)
        values, highs = (tuple(found[number][m + end] for m in METRICS) for end in ("", "_high"))
        tell(values == truth[number], name + ": exact", found[number], truth[number])
        # A lower end lacks the blocks of callers that may have been missed. An upper end has the
        # blocks whose callers are unknown once more, because any stack may have allocated them.
        tell(all(high >= t for high, t in zip(highs, truth[number])), name + ": upper ends",
             found[number], truth[number])
        if CALLERS[number][0] == "exact":
            tell(highs == truth[number], name + ": exact upper ends", found[number], truth[number])
    shares = [p.get("callers_period", 0) for p in report["phases"]]
    tell(shares == [0, 16, 2, 100000, 0] + [4, 64, 0] * 20, "every change is in the report", shares)
    tell(report["process"]["callers_period"] == 100000, "the largest share is shown")
    for m in METRICS:
        tell(sum(s[m] for s in report["sites"]) == report["totals"][m], "sites sum up: " + m)
    for key in ("events", "unknown_frees", "double_frees", "overwritten_blocks"):
        tell(report["losses"][key] == 0, "losses: %s" % key, report["losses"])


def table(heaptap, program, threads, runs):
    inside = {}
    for _ in range(runs):
        report, truth = steer(heaptap, program, threads, "switch.heaptap", STRETCHES)
        found = recorded(report)
        for number, (_, _, kind) in enumerate(STRETCHES):
            for m, t in zip(METRICS, truth[number]):
                share = inside.setdefault((number, m), [0, 0, 0])
                share[0] += near(found[number], m, t, 1)
                share[1] += 1
                share[2] += found[number][m] / max(t, 1)
    print("stretch                    metric                  truth       estimate"
          "        from          to  in  of all runs, mean of estimate / truth")
    for number, (name, _, _) in enumerate(STRETCHES):
        for m, t in zip(METRICS, truth[number]):
            got = found[number]
            hits, all_runs, ratios = inside[number, m]
            print("%2d %-23s %-16s %12d %14d %11d %11d  %-3s %d/%d  %.3f" % (
                number, name, m, t, got[m], got[m + "_low"], got[m + "_high"],
                "yes" if near(got, m, t, 1) else "no", hits, all_runs, ratios / all_runs))


# Each step fills a separate table, and drops the table of two steps before.
WORK = """
create table t%(n)d(a integer primary key, b text);
with recursive c(x) as (values(1) union all select x + 1 from c where x < 6000)
    insert into t%(n)d select x, printf('%%.*c', 20 + x * 37 %% 300, 'x') from c;
create index i%(n)d on t%(n)d(b);
select count(*), length(group_concat(b)) from t%(n)d;
drop table if exists t%(before)d;
.output done.%(n)d
select 'done';
.output
"""
WAYS = [None, ["--sample", "16K"], None, ["--sample-count", "20"], None, ["--exact"], None]


def wait_for(path, process):
    until = time.monotonic() + 100
    while not (os.path.exists(path) and os.path.getsize(path) > 0):
        assert process.poll() is None and time.monotonic() < until, path
        time.sleep(0.005)
    os.unlink(path)


def work(heaptap, sqlite3, ways):
    """Return the report of a database that performs one step after the other, while its mode
    changes."""
    path = "work.heaptap"
    process = subprocess.Popen([heaptap, "run", "--quiet", "--no-pack", "-o", path, "--", sqlite3,
                                "-init", "/dev/null", ":memory:"],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for n, way in enumerate(ways):
        request = None
        if way is not None:  # The recorder notices the request during the step at the latest.
            request = subprocess.Popen([heaptap, "control", "--wait", "100", path] + way,
                                       stdout=subprocess.DEVNULL)
        process.stdin.write(WORK % {"n": n, "before": max(n - 2, 0)})
        process.stdin.flush()
        wait_for("done.%d" % n, process)
        assert request is None or request.wait() == 0
    process.stdin.close()
    assert process.wait() == 0
    out = subprocess.run([heaptap, "report", "--json", "--no-fold", path], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    os.unlink(path)
    return documents.loads(out)


def by_stack(report):
    return {tuple((f["module"], f["offset"]) for f in s["stack"]): s for s in report["sites"]}


def database(heaptap, sqlite3):
    exact = work(heaptap, sqlite3, [None] * len(WAYS))
    report = work(heaptap, sqlite3, WAYS)
    truth, got = exact["totals"], report["totals"]
    tell([p["mode"] for p in report["phases"]] == ["exact", "bytes", "count", "exact"],
         "database: the changes", report["phases"])
    for m in METRICS + ("peak_bytes",):
        tell(near(got, m, truth[m], 2.5), "database: %s" % m, got, truth)
    tell(got["samples"] > 1000 and got["allocations"] - got["allocations_low"] > 100,
         "database: a good part is estimated", got)
    tell(report["losses"]["events"] == report["losses"]["unknown_frees"] ==
         report["losses"]["overwritten_blocks"] == 0, "database: nothing lost", report["losses"])
    found = by_stack(report)
    top = sorted(by_stack(exact).items(), key=lambda item: -item[1]["allocated_bytes"])[:20]
    bad = [(m, site[m], found.get(stack)) for stack, site in top for m in METRICS
           if stack not in found or not near(found[stack], m, site[m], 2.5)]
    tell(not bad, "database: the twenty largest sites", *bad)


if sys.argv[1] == "check":
    check(sys.argv[2], sys.argv[3], int(sys.argv[4]))
elif sys.argv[1] == "callers":
    check_callers(sys.argv[2], sys.argv[3], int(sys.argv[4]))
elif sys.argv[1] == "sqlite":
    database(sys.argv[2], sys.argv[3])
else:
    table(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
finish()
