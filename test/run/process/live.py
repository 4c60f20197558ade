"""live.py: report a live process many times.

    live.py NAME PID LOOKS

Each report must succeed, and its sites and threads must add up to its totals. Counters must never
fall from report to report, and must rise over all. No thread of the process may be stopped or
traced, while a report is made or between two."""
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

GROWING = ("allocations", "allocated_bytes", "frees", "freed_bytes")
heaptap = os.environ["HEAPTAP"]


def look(pid, wrong):
    """Return a report of process PID, or None if it fails. Watch the threads meanwhile, and append
    errors to WRONG."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        report = subprocess.Popen([heaptap, "report", "--json", "--no-fold", str(pid)],
                                  stdout=out, stderr=err)
        found = disturbed(pid)
        while report.poll() is None:
            found = found or disturbed(pid)
            time.sleep(0.001)
        found = found or disturbed(pid)
        out.seek(0)
        err.seek(0)
        wrong += found[:1]
        if report.returncode != 0:
            wrong.append(f"report fails with {report.returncode}: {err.read().strip()}")
            return None
        return documents.loads(out.read())


def disagreements(report):
    for part in ("sites", "threads", "sizes"):
        for key in GROWING:
            total = sum(row[key] for row in report[part])
            if part != "sizes" and total != report["totals"][key]:
                yield f"{part} add up to {total} {key}, totals say {report['totals'][key]}"
            # The size bins are separate counters, which are read at another moment.
            if part == "sizes" and abs(total - report["totals"][key]) > max(1 << 20, total // 10):
                yield f"{part} add up to {total} {key}, totals say {report['totals'][key]}"
    if report["totals"]["peak_bytes"] < report["totals"]["live_bytes"]:
        yield "live is more than the peak"
    if report["process"]["ended"]:
        yield "reported as ended"


def disturbed(pid):
    """Return the threads of the process that are stopped or traced at this moment."""
    found = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8", errors="replace") as f:
                fields = dict(line.split(":\t", 1) for line in f if ":\t" in line)
        except (FileNotFoundError, ProcessLookupError):
            continue # The thread has ended.
        letter, tracer = fields["State"][0], fields["TracerPid"].strip()
        if letter in "Tt" or tracer != "0":
            found.append(f"thread {tid} is in state {letter}, traced by {tracer}")
    return found


def main():
    name, pid, looks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wrong, first, before = [], None, None
    for _ in range(looks):
        report = look(pid, wrong)
        if report is None:
            continue
        wrong += disagreements(report)
        for key in GROWING:
            if before and report["totals"][key] < before["totals"][key]:
                wrong.append(f"{key} fell from {before['totals'][key]} to {report['totals'][key]}")
        before = report
        first = first or report
        time.sleep(0.1)
    if not first or before["totals"]["frees"] <= first["totals"]["frees"]:
        wrong.append("the process made no progress")
    print(f"{'not ok' if wrong else 'ok'} - {name}: {looks} looks at the live process")
    for line in wrong[:10]:
        print(f"#   {line}")
    sys.exit(bool(wrong))


main()
