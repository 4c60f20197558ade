"""live.py: look at a live process again and again.

    live.py NAME PID LOOKS

Each report must succeed, its sites and threads must add up to its totals, counters never fall from
look to look but rise over all, and the process must never be found stopped or traced. """
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

GROWING = ("allocations", "allocated_bytes", "frees", "freed_bytes")
heaptap = os.environ["HEAPTAP"]


def look(pid):
    shown = subprocess.run([heaptap, "report", "--json", "--no-fold", str(pid)],
                           capture_output=True, text=True)
    if shown.returncode != 0:
        raise RuntimeError(f"report fails with {shown.returncode}: {shown.stderr.strip()}")
    return documents.loads(shown.stdout)


def disagreements(report):
    for part in ("sites", "threads", "sizes"):
        for key in GROWING:
            total = sum(row[key] for row in report[part])
            if part != "sizes" and total != report["totals"][key]:
                yield f"{part} add up to {total} {key}, totals say {report['totals'][key]}"
            # The size bins are counters of their own, and are read at another moment.
            if part == "sizes" and abs(total - report["totals"][key]) > max(1 << 20, total // 10):
                yield f"{part} add up to {total} {key}, totals say {report['totals'][key]}"
    if report["totals"]["peak_bytes"] < report["totals"]["live_bytes"]:
        yield "live is more than the peak"
    if report["process"]["ended"]:
        yield "said to have ended"


def state(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        fields = dict(line.split(":\t", 1) for line in f if ":\t" in line)
    return fields["State"][0], fields["TracerPid"].strip()


def main():
    name, pid, looks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wrong, first, before = [], None, None
    for _ in range(looks):
        try:
            report = look(pid)
        except RuntimeError as error:
            wrong.append(str(error))
            continue
        wrong += disagreements(report)
        for key in GROWING:
            if before and report["totals"][key] < before["totals"][key]:
                wrong.append(f"{key} fell from {before['totals'][key]} to {report['totals'][key]}")
        before = report
        first = first or report
        letter, tracer = state(pid)
        if letter in "Tt" or tracer != "0":
            wrong.append(f"the process is in state {letter}, traced by {tracer}")
        time.sleep(0.1)
    if not first or before["totals"]["frees"] <= first["totals"]["frees"]:
        wrong.append("the process made no progress")
    print(f"{'not ok' if wrong else 'ok'} - {name}: {looks} looks at the live process")
    for line in wrong[:10]:
        print(f"#   {line}")
    sys.exit(bool(wrong))


main()
