"""apart.py: build apart.c by `heaptap cc` and compare the counted reads and writes with the true
numbers.

    apart.py HEAPTAP COMPILER

It creates programs and profiles in the current directory."""
import json
import os
import subprocess
import sys

import counters
from telling import finish, tell

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "apart.c")
FLAGS = {8: ["-O1", "-O3"], 16: ["-O0", "-O2 -D_FORTIFY_SOURCE=2"], 64: ["-O1"]}

# By size: the sums of blocks, reads, writes, and write-only blocks. A block whose data survives in
# a realloc is not write-only; if the result has the same stack, it is in REGROWN.
TRUTH = {
    192: (10, 10 * 4009, 10 * 11, 0),
    1000: (3, 0, 375, 3),
    1008: (1, 126, 0, 0),
    # 17 of the accesses are atomic changes, which clang counts as a write alone.
    424: (1, 3 + 17, 21, 0),
    56: (1, 6, 6, 0),
    72: (1, 16, 0, 0),
    88: (1, 8, 8, 0),
    48: (1, 3 + 3 + 2, 6 + 3 + 1 + 2, 0),
    104: (1, 13, 0, 0),
    120: (1, 0, 13, 1),
    136: (1, 0, 2, 1),
    80: (1, 0, 5, 0),
    272: (1, 3, 7, 0),
    728: (1, 0, 1, 1),
    23: (1, 0, 1, 0),
    151: (1, 0, 1, 0),
    1217: (1, 0, 1, 0),
    4863: (1, 0, 1, 1),
    416: (1, 1, 2, 0),
}
REGROWN = (23, 151, 1217)


def run(*command, **environment):
    profile = environment.get("HEAPTAP_OUT")
    if profile and os.path.exists(profile):
        os.remove(profile)
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True,
                          text=True, check=False)


def build(heaptap, compiler, out, granule, flags):
    wish = [] if compiler == "gcc" else ["--reads-writes"]
    return run(heaptap, "cc", f"--cc={compiler}", f"--granule={granule}", *wish, *flags.split(),
               "-Wall", "-Werror", "-pthread", "-fno-unroll-loops", "-o", out, SOURCE)


def of_site(sites, size):
    s = counters.of_size(sites, size)
    writes = s.get("writes", (0, 0, 0))[0]
    return (s.get("blocks"), s.get("accesses", (0, 0, 0))[0] - writes, writes,
            s.get("write_only"))


def judge_fields(what, granule, sites):
    """Compare for the ten nodes: accesses, writes, blocks, and blocks large enough."""
    truth = {}
    for word, (reads, writes) in {**{i: (1000, 1) for i in range(4)}, 10: (0, 7),
                                  20: (9, 0)}.items():
        there = truth.get(word * 8 // granule, (0, 0))
        truth[word * 8 // granule] = (there[0] + reads + writes, there[1] + writes)
    fields = counters.of_size(sites, 192).get("fields", {})
    tell({i: f for i, f in fields.items() if f[0]} ==
         {i: (10 * all_, 10 * writes, 10, 10) for i, (all_, writes) in truth.items()},
         f"{what}: each field has its reads and its writes", fields)


def judge(compiler, what, granule, profile, losses=()):
    counting, sites = counters.read(profile)
    tell(counting["granule_bytes"] == granule and counting["flags"] & 2 and
         not any(v for k, v in counting.items() if k.endswith("_blocks") and k not in losses),
         f"{what}: reads and writes apart, and nothing lost", counting)
    truth = TRUTH if compiler == "gcc" else {**TRUTH, 424: (1, 3, 21, 0)}
    for size, wanted in truth.items():
        got = of_site(sites, size)
        tell(got == wanted, f"{what}: {size} bytes", "got", got, "wanted", wanted)
    regrown = {size for size in truth if counters.of_size(sites, size).get("regrown")}
    tell(regrown == set(REGROWN), f"{what}: sizes that have regrown", regrown)
    judge_fields(what, granule, sites)
    return counting, sites


def judge_threads(heaptap, compiler):
    what = f"{compiler}: threads, exactly"
    r = build(heaptap, compiler, "exact", 16, "--exact-threads -O1")
    tell(r.returncode == 0, f"{what}: can be built", r.stderr)
    run("./exact", "threads", HEAPTAP_OUT="exact.heaptap")
    counting, sites = judge(compiler, what, 16, "exact.heaptap")
    tell(counting["flags"] & 4, f"{what}: none is lost", counting)
    tell(of_site(sites, 400) == (1, 1200000, 600000, 0), f"{what}: 400 bytes", of_site(sites, 400))


def judge_static(heaptap, compiler):
    """libc may allocate before the recorder has started: the age of these blocks is unknown."""
    for kind, granule in ("-static", 16), ("-static-pie", 8):
        what = f"{compiler} {kind}"
        if compiler == "gcc":
            flags = ["-fPIE"] if granule == 8 else []
            run(heaptap, "cc", "--cc=gcc", f"--granule={granule}", "-O1", *flags, "-c", "-o",
                "apart.o", SOURCE)
            r = run(heaptap, "cc", "--cc=gcc", f"--granule={granule}", kind, "-pthread", "-o",
                    "static", "apart.o")
        else:
            r = build(heaptap, compiler, "static", granule, f"-O1 {kind}")
        tell(r.returncode == 0 and r.stderr == "", f"{what}: can be built", r.stderr)
        r = run("./static", HEAPTAP_OUT="static.heaptap")
        tell(r.returncode == 0 and r.stderr == "", f"{what}: runs", r)
        judge(compiler, what, granule, "static.heaptap", ("undated_blocks",))


def judge_view(heaptap, compiler, profile):
    document = json.loads(run(heaptap, "access", "--json", profile).stdout)
    tell(document["counting"]["reads_and_writes"] is True, f"{compiler}: JSON has both")
    sites = document["sites"]
    verdicts = dict(zip((s["max"] if s else 0 for s in sites["size_bytes"]), sites["verdict"]))
    # clang's atomic operations and all code of gcc may read without being counted.
    tell(verdicts.get(1000) == "not-seen-read", f"{compiler}: written and not seen read", verdicts)


def main():
    heaptap, compiler = sys.argv[1:]
    for granule, all_flags in FLAGS.items():
        for flags in all_flags:
            what = f"{compiler} {flags}, granules of {granule}"
            r = build(heaptap, compiler, "apart", granule, flags)
            tell(r.returncode == 0, f"{what}: can be built", r.stderr)
            if r.returncode != 0:
                continue
            r = run("./apart", HEAPTAP_OUT="apart.heaptap")
            tell(r.returncode == 0 and r.stderr == "", f"{what}: runs", r)
            judge(compiler, what, granule, "apart.heaptap")
    judge_threads(heaptap, compiler)
    judge_static(heaptap, compiler)
    judge_view(heaptap, compiler, "apart.heaptap")
    finish()


main()
