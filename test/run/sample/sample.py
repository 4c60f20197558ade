"""sample.py: check estimates against the known numbers of test/prog/sampled.cc.

    sample.py coverage HEAPTAP PROGRAM RUNS OPTION...   record `sampled sites` many times: how
                                                        often is the truth in the interval?
    sample.py phases REPORT.json                        the recording that sample.sh has steered
    sample.py in REPORT.json FUNCTION ALLOCATIONS BYTES the truth lies in one interval
    sample.py near ...                                  the same arguments: the estimates are off by
                                                        7 % at most
    sample.py damaged HEAPTAP PROFILE                   every field of the tables of phases, errors
                                                        and snapshots, at values it must not have

Seeds are fixed, so a recording draws the same numbers each time. The bounds are wide enough for
all but one draw in many thousands, because the C library's allocations before main shift the
draws from one system to the next.
"""
import math
import os
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
from telling import finish, tell  # noqa: E402

# function: allocations, bytes, live bytes
TRUTH = {
    "small": (40000, 1920000, 480000), "zeroed": (5000, 1500000, 0), "aligned": (3000, 960000, 0),
    "created": (20000, 2000000, 0), "created_odd": (4000, 800000, 0), "grown": (1800, 1890000, 0),
    "large": (20, 20 << 20, 0), "rare": (5, 320, 320), "in_thread": (20000, 5120000, 0),
}

KEYS = ("allocations", "allocated_bytes", "live_bytes")
# These functions have many samples.
FREQUENT = ("small", "zeroed", "created", "created_odd", "in_thread")


def site_of(report, function):
    """Return the only site with FUNCTION on its stack, or None."""
    found = [s for s in report["sites"] if function in [f["function"] for f in s["stack"]]]
    assert len(found) <= 1, "%s: %d sites" % (function, len(found))
    return found[0] if found else None


def holds(site, key, truth):
    # Without a sample, the report only states a bound, which is checked elsewhere.
    return site is None or site[key + "_low"] <= truth <= site[key + "_high"]


def width(site, truth):
    """Return the width of the interval of allocations, in standard deviations of as many equal
    samples. For a normal distribution, it would be four."""
    if site is None:
        return 0
    return ((site["allocations_high"] - site["allocations_low"]) / truth *
            math.sqrt(max(site["samples"], 1)))


def record(heaptap, program, seed, options):
    path = "sample-%d.heaptap" % seed  # Without options, everything is recorded.
    if os.path.exists(path):
        os.unlink(path)
    environment = dict(os.environ, HEAPTAP_SEED=str(seed))
    subprocess.run([heaptap, "run", "--quiet", "--no-pack", "-o", path] + options +
                   ["--", program, "sites"], env=environment, check=True)
    out = subprocess.run([heaptap, "report", "--json", "--no-fold", path], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    os.unlink(path)
    return documents.loads(out)


def coverage(heaptap, program, runs, options):
    hits = {name: [0, 0, 0] for name in TRUTH}
    sums = {name: 0 for name in TRUTH}
    widths = {name: 0 for name in FREQUENT}
    exact = record(heaptap, program, 0, [])["totals"]
    total_hits, quiet = [0] * len(KEYS), 0
    for seed in range(1, runs + 1):
        report = record(heaptap, program, seed, options)
        for name, truth in TRUTH.items():
            site = site_of(report, name)
            sums[name] += site["allocated_bytes"] if site else 0
            for i, key in enumerate(KEYS):
                hits[name][i] += holds(site, key, truth[i])
        for name in FREQUENT:
            widths[name] += width(site_of(report, name), TRUTH[name][0]) / runs
        quiet += report["losses"]["unknown_frees"] == 0 and report["losses"]["events"] == 0
        for i, key in enumerate(KEYS):
            total_hits[i] += holds(report["totals"], key, exact[key])
    label = " ".join(options)
    for name in TRUTH:
        tell(min(hits[name]) >= runs * 0.78, "%s: %s: the truth lies in the interval" %
             (label, name), "in %s of %d runs" % (hits[name], runs))
    share = sum(map(sum, hits.values())) / (3 * len(TRUTH) * runs)
    tell(0.91 <= share <= 1, "%s: over all sites in 95 of 100 recordings" % label, share)
    for name in FREQUENT:
        mean = sums[name] / runs / TRUTH[name][1]
        tell(0.85 <= mean <= 1.15, "%s: %s: right on average" % (label, name), mean)
        tell(0 < widths[name] <= 6, "%s: %s: intervals are not far too wide" % (label, name),
             widths[name])
    tell(quiet == runs, "%s: no free is taken for a mistake" % label, quiet)
    for i, key in enumerate(KEYS):
        # When sampling by calls, nothing is known about the large blocks of a site without a
        # sample.
        least = 0.5 if key == "allocated_bytes" and "--sample-count" in options else 0.65
        tell(total_hits[i] >= runs * least, "%s: totals: the truth lies in the interval of %s" %
             (label, key), "%d in %d of %d runs" % (exact[key], total_hits[i], runs))


def phases(path):
    with open(path) as f:
        report = documents.load(f)
    modes = [(p["mode"], p["period"]) for p in report["phases"]]
    wanted = [("exact", 0), ("bytes", 4096), ("off", 0), ("exact", 0)]
    tell(modes == wanted, "phases: the report has the modes", modes)
    times = [p["elapsed_ns"] for p in report["phases"]]
    tell(times == sorted(times), "phases: in order of time", times)
    for name in ("first", "fourth"):
        s = site_of(report, name)
        got = s and (s["allocations"], s["allocated_bytes"], s["frees"], s["live_bytes"],
                     s["allocations_low"], s["samples"])
        tell(got == (1000, 100000, 1000, 0, 1000, 0), "phases: %s is exact" % name, got)
        missed = s["allocated_bytes_high"] - 100000  # The bound is 4 KiB times ln 40 at 95 %.
        tell(15000 < missed < 15200, "phases: %s may have been missed by samples" % name, missed)
    s = site_of(report, "second")
    # The interval covers the truth 95 times in 100; the estimate is never off by six standard
    # deviations.
    tell(14000 < s["allocations"] < 26000 and
         s["allocations_low"] < s["allocations"] < s["allocations_high"],
         "phases: second is estimated", s)
    tell(s["frees"] == s["allocations"] and s["live_bytes"] == 0,
         "phases: samples are followed to their frees", s["frees"], s["allocations"])
    tell(site_of(report, "third") is None, "phases: third is not recorded")
    unrecorded = report["losses"]["unrecorded_frees"]
    tell(20000 + 3000 - 1000 < unrecorded <= 23000 and report["losses"]["unknown_frees"] == 0,
         "phases: frees of blocks left out are counted separately", unrecorded)
    named = [(s["name"], s["allocations"] >= 1000) for s in report["snapshots"]]
    tell(named == [("after first", True), ("after third", True)], "phases: snapshots", named)
    live = [s["live_bytes"] for s in report["snapshots"]]
    tell(len(live) == 2 and live[0] >= 100000 and live[1] > live[0] + 1000000,
         "phases: live bytes at the snapshots", live)


def inside(path, function, allocations, size_bytes):
    with open(path) as f:
        site = site_of(documents.load(f), function)
    tell(site is not None and holds(site, "allocations", allocations) and
         holds(site, "allocated_bytes", size_bytes),
         "%s: the truth lies in the interval" % function, site)


def near(path, function, allocations, size_bytes):
    with open(path) as f:
        site = site_of(documents.load(f), function)
    tell(site is not None and 0.93 < site["allocations"] / allocations < 1.07 and
         0.93 < site["allocated_bytes"] / size_bytes < 1.07,
         "%s: near the truth" % function, site)
    tell(site is not None and site["live_bytes"] == 0, "%s: all has ended" % function, site)


DIRECTORY, SEGMENT = 4096, struct.Struct("<IIQQQQII")
# By kind: bytes of a record, and offset and width of the fields.
TABLES = {
    "phases": (11, 32, [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8)]),
    "errors": (12, 160, [(at, 8) for at in range(0, 160, 8)]),
    "snapshots": (13, 80, [(at, 8) for at in range(0, 80, 8)]),
    "history": (16, 40, [(0, 4), (4, 4), *((at, 8) for at in range(8, 40, 8))]),
}
BAD = [0, 1, 255, 1 << 31, (1 << 32) - 1, 1 << 47, 1 << 63, (1 << 64) - 1,
       *(struct.unpack("<Q", struct.pack("<d", x))[0]
         for x in (float("nan"), float("inf"), -1.0, 1e-300, 1e59, 1e300))]


def tables_of(data):
    """By kind: the offset of the first record."""
    found = {}
    at = DIRECTORY
    while data[at:at + 4] != bytes(4):
        kind, _, off, _, _, table_off, _, _ = SEGMENT.unpack_from(data, at)
        if table_off == 0:
            found[kind] = off
        at += SEGMENT.size
    return found


def limits_hold(found):
    """Return true if each member with an interval lies in that interval, in all objects."""
    if isinstance(found, list):
        return all(map(limits_hold, found))
    if not isinstance(found, dict):
        return True
    return all(map(limits_hold, found.values())) and all(
        found[key] <= found[key[:-4]] <= found[key[:-4] + "_high"] for key in found
        if key.endswith("_low"))


def damaged(heaptap, path):
    with open(path, "rb") as f:
        intact = f.read()
    offsets = tables_of(intact)
    for name, (kind, size, fields) in TABLES.items():
        bad = []
        for record, (at, width), value in ((r, f, v) for r in (0, 1) for f in fields for v in BAD):
            data = bytearray(intact)
            where = offsets[kind] + record * size + at
            data[where:where + width] = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
            with open("damaged.heaptap", "wb") as f:
                f.write(data)
            for options in (["report", "--json"], ["report"], ["diff", path]):
                done = subprocess.run([heaptap] + options + ["damaged.heaptap"],
                                      capture_output=True, timeout=60)
                if done.returncode != 0 or (options[-1] == "--json" and
                                            not limits_hold(documents.loads(done.stdout))):
                    bad.append((record, at, value, options, done.returncode, done.stderr[-200:]))
        tell(not bad, "damaged: every field of %s" % name, *bad[:5])


if sys.argv[1] == "coverage":
    coverage(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
elif sys.argv[1] == "phases":
    phases(sys.argv[2])
elif sys.argv[1] == "damaged":
    damaged(sys.argv[2], sys.argv[3])
elif sys.argv[1] == "near":
    near(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
else:
    inside(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
finish()
