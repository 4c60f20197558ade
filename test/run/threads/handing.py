"""handing.py: check the allocated and the live blocks of each thread of test/prog/handing.c.

    handing.py HEAPTAP PROFILE PACKED

The program's head comment has the expected numbers. PACKED is the same profile, packed."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SRCDIR"], "test", "run"))
from telling import finish, tell  # pylint: disable=wrong-import-position

# By name: allocations, bytes; live blocks, bytes; freed for others: blocks, bytes.
WANTED = {"maker": (1000, 1000000, 100, 100000, 0, 0), "taker": (20, 1000, 20, 1000, 900, 900000),
          "sweeper": (0, 0, 0, 0, 700, 70000), "worker": (50, 3200, 10, 640, 0, 0),
          "left": (600, 60000, 180, 18000, 0, 0), "right": (400, 40000, 120, 12000, 0, 0)}
FIELDS = ("allocations", "allocated_bytes", "live_blocks", "live_bytes", "frees_for_others",
          "freed_bytes_for_others")
SUMS = ("allocations", "allocated_bytes", "frees", "freed_bytes", "live_blocks", "live_bytes",
        "peak_blocks", "peak_bytes")


def report(heaptap, profile, *options):
    out = subprocess.run([heaptap, "report", *options, profile], check=True, capture_output=True,
                         text=True).stdout
    return json.loads(out) if "--json" in options else out


def judge(what, name, rows, totals):
    got = {row[name]: tuple(row[f] for f in FIELDS) for row in rows if row[name] in WANTED}
    tell(got == WANTED, f"{what}: each thread has the blocks that it allocated", got)
    sums = {f: sum(row[f] for row in rows) for f in SUMS}
    tell(sums == {f: totals[f] for f in SUMS}, f"{what}: the rows add up", sums, totals)
    tell(all(row[f] >= 0 for row in rows for f in SUMS), f"{what}: nothing is negative", rows)


def main():
    heaptap, profile, packed = sys.argv[1:]
    for what, path in (("recorded", profile), ("packed", packed)):
        p = report(heaptap, path, "--json")
        judge(f"{what}, the threads", "name", p["threads"], p["totals"])
        for metric in ("inuse", "peak", "alloc"):
            p = report(heaptap, path, "--json", "--by", "thread", "--metric", metric)
            judge(f"{what}, by thread, {metric}", "thread", p["rows"], p["totals"])
    p = report(heaptap, profile, "--json", "--by", "thread", "--filter", "^make$")
    judged = {row["thread"]: tuple(row[f] for f in FIELDS) for row in p["rows"]}
    tell(judged == {"maker": WANTED["maker"], "taker": (0, 0, 0, 0, 900, 900000)},
         "with a filter", judged)
    peak = {row["thread"]: row["peak_bytes"] for row in
            report(heaptap, profile, "--json", "--by", "thread")["rows"]}
    tell(peak["maker"] == 1000000 and peak["taker"] == peak["left"] == 0, "at the peak", peak)
    text = report(heaptap, profile, "--by", "thread", "--inuse")
    tell("sweeper  68.4 KiB in 700 blocks" in text and "freed for others" in text and
         "-" not in text.split("freed for others")[1], "as text", text)
    tell("shared in proportion" in text, "left and right are marked as shared", text)
    tell("shared in proportion" not in report(heaptap, profile, "--by", "thread", "--inuse",
                                              "--filter", "^(make|labour)$"), "and only then")
    p = report(heaptap, profile, "--json", "--by", "thread", "--between", "start..end")
    tell(all(row["frees_for_others"] is None for row in p["rows"]),
         "between two moments the frees for others are unknown", p["rows"])
    finish()


main()
