"""kill9.py: kill a program at random moments, for kill9.sh.

    kill9.py KILLS

A profile may be ahead of the program's count by one call per thread, which has not returned to the
program yet. It is never behind, because the recorder counts an allocation when the allocator has
returned. Bytes may also differ by one event per thread, which was half recorded. The random moments
come from a fixed seed, but the machine's timing decides where a kill hits."""
import os
import random
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

BYTES_MAX = 500  # Largest block.


def own_counts(path, threads):
    with open(path, "rb") as f:
        data = f.read(64 * threads)
    return [struct.unpack_from("<4q", data, 64 * i) for i in range(threads)]


def counted_sites(report):
    return [s for s in report["sites"] if any(f["function"] == "count_alloc" for f in s["stack"])]


def one_kill(number, threads, delay):
    profile, counts = f"k{number}.heaptap", f"k{number}.counts"
    env = dict(os.environ, LD_PRELOAD=os.environ["LIBHEAPTAP"],
               HEAPTAP_OUT=os.path.abspath(profile))
    process = subprocess.Popen([os.environ["PROG"] + "/counted", counts, str(threads)], env=env)
    while not (os.path.exists(counts) and os.path.getsize(counts)):
        time.sleep(0.0005)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()
    own = own_counts(counts, threads)
    if not os.path.exists(profile) and not any(any(row) for row in own):
        return [], 0  # The program died before the first allocation had returned.
    shown = subprocess.run([os.environ["HEAPTAP"], "report", "--json", "--no-fold", profile],
                           capture_output=True, text=True)
    if shown.returncode != 0:
        return [f"report fails: {shown.stderr.strip()}"], 0
    problems, calls = judge(documents.loads(shown.stdout), own, threads)
    os.unlink(profile)
    os.unlink(counts)
    return problems, calls


def judge(report, counts, threads):
    own = [sum(column) for column in zip(*counts)]
    sites = counted_sites(report)
    keys = ("allocations", "frees", "allocated_bytes", "freed_bytes")
    seen = [sum(s[key] for s in sites) for key in keys]
    slack = [threads, threads, threads * BYTES_MAX, threads * BYTES_MAX]
    problems = [f"{name}: the program counts {o}, the profile {s}"
                for name, o, s, allowed in zip(keys, own, seen, slack) if abs(o - s) > allowed]
    problems += [f"note: {note['text']}" for note in report["notes"]]
    for key in keys:
        total = sum(s[key] for s in report["sites"])
        if total != report["totals"][key]:
            problems.append(f"sites add up to {total} {key}, totals say {report['totals'][key]}")
    if report["losses"]["events"]:
        problems.append(f"{report['losses']['events']} events lost")
    return problems, own[0]


def main():
    kills = int(sys.argv[1])
    draw = random.Random(9)
    bad, calls = 0, 0
    for number in range(kills):
        threads = (1, 2, 4, 8)[number % 4]
        delay = draw.choice((0, 0.0003, 0.001, 0.003, 0.01, 0.05, 0.1)) * (0.5 + draw.random())
        problems, count = one_kill(number, threads, delay)
        calls += count
        if problems:
            bad += 1
            print(f"not ok - kill {number}: {threads} threads after {delay * 1000:.2f} ms")
            for problem in problems:
                print(f"#   {problem}")
    print(f"# {kills} kills, {calls} allocations seen")
    if not bad:
        print(f"ok - {kills} kills, at most one call per thread missing")
    sys.exit(bad > 0)


main()
