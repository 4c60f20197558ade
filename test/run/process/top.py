"""top.py: readings of `heaptap top --json`, compared with known numbers and with reports."""
import atexit
import hashlib
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import telling  # noqa: E402
from live_program import Program, heaptap, report  # noqa: E402

GROUPINGS = ("function", "line", "module", "thread", "heap", "label", "type")


def top(*arguments):
    viewer = subprocess.Popen([heaptap, "top", "--json", *map(str, arguments)],
                              stdout=subprocess.PIPE, text=True)
    atexit.register(viewer.kill)
    return viewer


def one_reading(what, *arguments):
    """Return the first reading of WHAT."""
    out = subprocess.run([heaptap, "top", "--json", "-n", "1", "--limit", "10000", *arguments,
                          str(what)], check=True, stdout=subprocess.PIPE, timeout=60).stdout
    return json.loads(out)


def row(reading, name):
    found = [r for r in reading["rows"] if r["name"] == name]
    return found[0] if len(found) == 1 else {}


def follow(program):
    """A known growth between readings."""
    viewer = top("--interval", "0.2", program.pid)
    first = json.loads(viewer.stdout.readline())
    telling.same("live bytes at first", 10000, first["live_bytes"])
    telling.same("no change at first", None, row(first, "grows")["change_bytes"])
    program.ask("grow 50")
    while (reading := json.loads(viewer.stdout.readline()))["live_blocks"] != 150:
        pass
    telling.same("live bytes of a function", 15000, row(reading, "grows")["live_bytes"])
    telling.same("its change", 5000, row(reading, "grows")["change_bytes"])
    telling.same("new bytes", 5000, reading["new_live_bytes"])
    rate = row(reading, "grows")["allocated_bytes_per_second"]
    telling.tell(abs(rate * reading["seconds"] - 5000) < 5, "its rate", rate, reading["seconds"])
    program.ask("shrink 80")
    while (reading := json.loads(viewer.stdout.readline()))["live_blocks"] != 70:
        pass
    telling.same("a change below zero", -3000, row(reading, "grows")["change_bytes"])
    telling.same("a negative growth", -8000, reading["new_live_bytes"])
    telling.same("a sum of parts", 7000, sum(r["self_live_bytes"] for r in reading["rows"]))
    program.ask("grow 30")
    program.ask("hold")
    return viewer




def compare_groupings(pid):
    for by in GROUPINGS:
        whole = report("--by", by, "--fold", "^$", pid)
        reading = one_reading(pid, "--by", by)
        wanted = sorted((r["live_bytes"], r["allocated_bytes"], r["allocations"], r["peak_bytes"])
                        for r in whole["rows"] if not start_up(r))
        got = sorted((r["live_bytes"], r["allocated_bytes"], r["allocations"], r["peak_bytes"])
                     for r in reading["rows"])
        telling.same(f"by {by}: the rows of the report", wanted, got)
        telling.tell(len(got) > 0, f"by {by}: there are rows")
        telling.same(f"by {by}: the totals of the report", whole["totals"]["live_bytes"],
                     reading["live_bytes"])
    sites = one_reading(pid, "--by", "site")["rows"]
    telling.same("by site: the live bytes", [10000, 10000, 0], [r["live_bytes"] for r in sites])


def start_up(r):
    return r.get("function") in ("__libc_start_call_main", "__libc_start_main_impl", "_start",
                                 "__libc_start_main")


def sampled():
    program = Program("sampled.heaptap", "--sample", "4K")
    program.ask("grow 5000")
    program.stop()
    wanted = [r for r in report("--by", "function", program.pid)["rows"]
              if r["function"] == "grows"][0]
    got = row(one_reading(program.pid), "grows")
    for key in ("live_bytes", "live_bytes_low", "live_bytes_high"):
        telling.same(f"samples: {key}", wanted[key], got[key])
    telling.tell(got["live_bytes_low"] < got["live_bytes_high"], "samples have an interval")
    program.end()


def self_contained():
    program = Program("contained.heaptap", "--self-contained-core")
    program.ask("grow 7")
    program.stop()
    reading = one_reading(program.pid)
    telling.same("a self-contained process is read in its memory", 700, reading["live_bytes"])
    copy = one_reading("contained.heaptap")
    telling.same("its file is a copy", True, copy["copy"])
    program.end()


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def main():
    program = Program("a.heaptap")
    program.ask("grow 100")
    viewer = follow(program)
    program.stop()
    before = digest("a.heaptap")
    compare_groupings(program.pid)
    telling.same("no byte of the profile has changed", before, digest("a.heaptap"))
    filtered = one_reading(program.pid, "--filter", "holds")
    telling.same("a filter", [10000, 10000], [r["live_bytes"] for r in filtered["rows"]])
    program.end()
    last = json.loads(viewer.stdout.read().strip().splitlines()[-1])
    telling.same("the last reading: ended", True, last["ended"])
    telling.same("the last reading: live blocks", 110, last["live_blocks"])
    telling.same("exit status", 0, viewer.wait(30))
    sampled()
    self_contained()
    os.makedirs("several", exist_ok=True)
    for i in range(3):
        with open("a.heaptap", "rb") as f, open(f"several/{i}.heaptap", "wb") as g:
            g.write(f.read())
    several = one_reading("several")
    telling.same("copies of one recording are one process", 1, len(several["processes"]))
    telling.same("its live bytes", 20000, several["processes"][0]["live_bytes"])
    telling.finish()


main()
