"""truth.py: build truth.c by `heaptap cc` and compare the counts with the true accesses.

    truth.py HEAPTAP CLANG

It creates programs and profiles in the current directory."""
import mmap
import os
import struct
import subprocess
import sys
import time

import counters
from known_accesses import WORDS, WORDS_SIZE, granules, wanted
from telling import finish, tell

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "truth.c")
FLAGS = {8: ["-O1", "-O3 -mavx2"], 16: ["-O0", "-O1", "-O2"], 64: ["-O1"]}


def fraction(touched, whole):
    return touched * 10000 // whole


def build(heaptap, clang, granule, flags, out):
    return subprocess.run([heaptap, "cc", f"--cc={clang}", f"--granule={granule}", *flags.split(),
                           "-Wall", "-Werror", "-pthread", "-fno-unroll-loops", "-o", out, SOURCE],
                          capture_output=True, text=True, check=False)


def run(program, profile, *arguments):
    if os.path.exists(profile):
        os.remove(profile)
    return subprocess.run(["./" + program, *arguments], env={**os.environ, "HEAPTAP_OUT": profile},
                          capture_output=True, text=True, check=False)


def judge_table(what, granule, sites):
    for size, (blocks, accesses, touched) in wanted(granule).items():
        s = counters.of_size(sites, size)
        all_granules = granules(size, granule)
        got = (s.get("blocks"), s.get("accesses"), s.get("touched_granules"), s.get("granules"),
               s.get("utilised", (0, 0, 0))[1:])
        part = fraction(touched, all_granules)
        tell(got == (blocks, accesses, blocks * touched, blocks * all_granules, (part, part)),
             f"{what}: {size} bytes", "got", got)
        untouched = s.get("untouched_bytes", -1) // blocks
        least = size - touched * granule
        tell(max(least, 0) <= untouched <= least + granule, f"{what}: {size} bytes, not touched",
             untouched)


def judge_fields(what, granule, sites):
    truth = {}
    for word, n in WORDS.items():
        truth[word * 8 // granule] = truth.get(word * 8 // granule, 0) + n
    fields = counters.of_size(sites, WORDS_SIZE).get("fields", {})
    got = {i: f for i, f in fields.items() if f[0]}
    tell({i: (f[0], *f[2:]) for i, f in got.items()} == {i: (3 * n, 3, 3)
                                                         for i, n in truth.items()} and
         len(fields) == granules(WORDS_SIZE, granule), f"{what}: each field has its accesses",
         fields)
    fields = counters.of_size(sites, 528).get("fields", {})
    whole = granule // 8 * 2
    last = 528 % granule // 8 * 2 or whole
    if granule < 64:
        tell([f[0] for _, f in sorted(fields.items())] == [whole] * (len(fields) - 1) + [last] and
             len(fields) == granules(528, granule), f"{what}: loops that vectorise", fields)


def judge_lives(what, sites, run_us):
    s = counters.of_size(sites, 352)
    tell((s.get("blocks"), s.get("overlaps"), s.get("dated")) == (9, 3, 9), f"{what}: overlaps", s)
    s = counters.of_size(sites, 368)
    total, least, most = s.get("lifetime_us", (0, 0, 0))
    tell(30000 <= least <= most and 60000 <= most and total == least + most <= run_us,
         f"{what}: lifetimes", s, f"the program ran for {run_us} µs")
    if len(os.sched_getaffinity(0)) < 2:
        print(f"ok - {what}: migrated # SKIP needs two processors")
        return
    s = counters.of_size(sites, 336)
    tell((s.get("blocks"), s.get("migrated"), s.get("same_alloc_cpu"),
          s.get("same_dealloc_cpu")) == (10, 7, 9, 8), f"{what}: migrated", s)


def judge_densities(what, sites):
    s = counters.of_size(sites, 192)
    tell(s.get("density") == (100 * 2085, 2085, 2085), f"{what}: density", s)
    s = counters.of_size(sites, 1 << 20)
    tell(s.get("density") == (0, 0, 0) and s.get("never") == 0, f"{what}: density of the large", s)
    s = counters.of_size(sites, 1000)
    tell(s.get("never") == 1 and s.get("untouched_bytes") == 1000, f"{what}: never accessed", s)


def judge_merges(what, program):
    """After the kill, there are a block live at merge 1, another in its state at that time although
    it was freed since, and an unknown one. After the end, one block was freed and two are live."""
    run(program, "killed.heaptap", "killed")
    counting, sites = counters.read("killed.heaptap")
    s = counters.of_size(sites, 416)
    tell((counting["merge"], s.get("blocks"), s.get("accesses")) == (1, 2, (2, 1, 1)),
         f"{what}: killed", counting, s)
    r = run(program, "merges.heaptap", "merges")
    counting, sites = counters.read("merges.heaptap")
    s = counters.of_size(sites, 416)
    tell((r.returncode, counting["merge"], counting["flags"] & 8, s.get("blocks"),
          s.get("accesses")) == (0, 3, 8, 3, (3, 0, 2)), f"{what}: merged", counting, s)


def ask(profile, wish, least):
    """Send the recorder a request like a tool (docs/format.md, 2.6), and wait for its answer."""
    with open(profile, "r+b") as f:
        data = mmap.mmap(f.fileno(), 4096)
        generation = struct.unpack_from("<Q", data, 640)[0] + 1
        struct.pack_into("<2Q", data, 648, 3, wish)
        struct.pack_into("<Q", data, 640, generation)
        for _ in range(1000):
            if struct.unpack_from("<Q", data, 704)[0] == generation:
                return struct.unpack_from("<Q", data, 712)[0] >= least
            time.sleep(0.01)
    return False


def judge_request(what, program):
    profile = "asked.heaptap"
    if os.path.exists(profile):
        os.remove(profile)
    with subprocess.Popen(["./" + program, "stays"],
                          env={**os.environ, "HEAPTAP_OUT": profile},
                          stdout=subprocess.PIPE) as p:
        p.stdout.readline()
        tell(ask(profile, 1, 1), f"{what}: a merge on request")
        p.kill()
    counting, sites = counters.read(profile)
    s = counters.of_size(sites, 432)
    tell((counting["merge"] > 0, s.get("blocks"), s.get("accesses")) == (True, 1, (3, 3, 3)),
         f"{what}: what lived then, after a kill", counting, s)


def main():
    heaptap, clang = sys.argv[1:]
    for granule, all_flags in FLAGS.items():
        for flags in all_flags:
            what = f"{clang} {flags}, granules of {granule}"
            r = build(heaptap, clang, granule, flags, "truth")
            tell(r.returncode == 0, f"{what}: can be built", r.stderr)
            if r.returncode != 0:
                continue
            before = time.monotonic()
            r = run("truth", "truth.heaptap")
            run_us = (time.monotonic() - before) * 1e6
            tell(r.returncode == 0 and r.stderr == "", f"{what}: runs", r)
            counting, sites = counters.read("truth.heaptap")
            tell(counting["granule_bytes"] == granule and counting["flags"] & ~18 == 9 and
                 not any(v for k, v in counting.items() if k.endswith("_blocks")),
                 f"{what}: nothing is lost", counting)
            judge_table(what, granule, sites)
            judge_fields(what, granule, sites)
            judge_lives(what, sites, run_us)
            judge_densities(what, sites)
        judge_merges(what, "truth")
        judge_request(what, "truth")
    finish()


main()
