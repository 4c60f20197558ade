"""overhead.py: record a program at full load with a limit for the cost.

    overhead.py exact HEAPTAP PROFILE      of a run below its limit of 100 %: all is exact
    overhead.py sampled HEAPTAP PROGRAM    a limit that is always exceeded: the share falls
    overhead.py record HEAPTAP PROGRAM     a request replaces the choice

PROGRAM is test/prog/switched.c, which counts the true numbers by itself."""
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
from telling import finish, same, tell  # noqa: E402

PERIODS = [0, 16, 64, 256, 1024, 4096]


def run(heaptap, program, limit, between=lambda path: None):
    """Return the report of a run of about a second, and the true allocations and bytes."""
    path = "overhead.heaptap"
    process = subprocess.Popen(
        [heaptap, "run", "--quiet", "--force", "-o", path, "--max-overhead", limit, "--", program,
         "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + 1
    while time.monotonic() < until:
        process.stdin.write("0\n")
        process.stdin.flush()
        process.stdout.readline()
    between(path)
    out, _ = process.communicate("0\nend\n")
    truth = [line.split() for line in out.splitlines() if len(line.split()) == 5]
    same("the program ends well", 0, process.returncode)
    report = subprocess.run([heaptap, "report", "--json", path], check=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return documents.loads(report), [sum(int(row[i]) for row in truth) for i in (1, 2)]


def site_sums(report):
    return [sum(site[key] for site in report["sites"]) for key in
            ("allocations", "allocated_bytes")]


def check(report, truth, limit):
    periods = [phase.get("callers_period", 0) for phase in report["phases"]]
    totals = [report["totals"][key] for key in ("allocations", "allocated_bytes")]
    same("sites sum up", totals, site_sums(report))
    # The C library allocates a few blocks for threads and streams.
    tell(0 <= totals[0] - truth[0] < 20, "all is counted", totals, truth)
    same("nothing is lost", 0, report["losses"]["events"])
    same("the modes are exact", {"exact"}, {phase["mode"] for phase in report["phases"]})
    same("recording begins exactly", 0, periods[0])
    same("the limit is shown", limit, report["recorder"]["overhead"]["limit_percent"])
    return periods


def exact(heaptap, path):
    out = subprocess.run([heaptap, "report", "--json", path], check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout
    report = documents.loads(out)
    cost = report["recorder"]["overhead"]
    tell(0 < cost["recorder_ns"] < cost["program_ns"], "the cost is measured", cost)
    same("the limit is shown", 100, cost["limit_percent"])
    same("no caller is left out", [0], [phase.get("callers_period", 0) for phase in
                                        report["phases"]])


def sampled(heaptap, program):
    report, truth = run(heaptap, program, "0.1%")
    periods = check(report, truth, 0.1)
    tell(len(periods) > 1 and set(periods) <= set(PERIODS), "the share falls", periods)
    tell(max(periods) >= 64, "it falls further", periods)


def record(heaptap, program):
    def ask(path):
        subprocess.run([heaptap, "record", "--wait", "100", path, "--callers", "1/100"], check=True,
                       stdout=subprocess.DEVNULL)
    report, truth = run(heaptap, program, "0.1%", ask)
    same("a request lasts", 100, check(report, truth, 0.1)[-1])


{"exact": exact, "sampled": sampled, "record": record}[sys.argv[1]](*sys.argv[2:])
finish()
