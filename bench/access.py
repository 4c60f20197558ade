"""access.py: the cost of counting accesses, compared with the compiler's run-time library.

    access.py [--cc clang-14,clang-19] [--rounds N] [--only REGEX] [--sqlite DIRECTORY] HEAPTAP

There are three programs: sqlite3, one in C++, and a loop of malloc and free. sqlite3 is the
distribution's source package, which is fetched once, into DIRECTORY (build/bench/sqlite); without
it, or without a compiler, its rows are skipped. Each program is built without counting, with
-fmemory-profile and the compiler's library, and by `heaptap cc` with each granule. Each round runs
all of them in a random order, on one processor. The results are the least time and the least memory
of each, so that other load on the machine disturbs all of them equally.

The output is a table: seconds of user and system time, the largest resident memory, and both as
multiples of the plain program. Then it lists the rows that are within their limits: no more time
than the compiler's library, and at most 1.3 times the program's memory for granules of 64, 1.6
times for 16 and 2.1 times for 8. In a program of a few MiB, most of that is the fixed cost of
counting."""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import sqlite_source

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "access")
KINDS = ("plain", "compiler-rt", "64", "16", "8")
PROGRAMS = {"sql.c": "sqlite3", "objects.cc": "C++", "pairs.c": "malloc, free"}
MEMORY_LIMITS = {"64": 1.3, "16": 1.6, "8": 2.1}
LIMIT_S, LIMIT_MIB = 600, 8192


def build(options, clang, program, kind, out):
    cxx = program.endswith(".cc")
    compiler = clang.replace("clang", "clang++") if cxx else clang
    if kind == "plain":
        line = [compiler]
    elif kind == "compiler-rt":
        line = [compiler, "-fmemory-profile"]
    else:
        line = [options.heaptap, "c++" if cxx else "cc", "--cc=" + compiler, "--granule=" + kind]
    line += ["-O2", "-o", out, os.path.join(SOURCES, program)]
    if program == "sql.c":
        line += ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-I" + options.sqlite,
                 os.path.join(options.sqlite, "sqlite3.c"), "-lm"]
    subprocess.run(line, check=True)


def run(program, directory, cpu):
    """Return seconds and MiB. treecost starts the program, because the peak of resident memory
    survives exec, and Python's would be larger than some programs'."""
    profile, figures = os.path.join(directory, "profile.heaptap"), os.path.join(directory, "cost")
    if os.path.exists(profile):
        os.remove(profile)
    env = {**os.environ, "HEAPTAP_OUT": profile,
           "MEMPROF_OPTIONS": "log_path=" + os.path.join(directory, "raw")}
    subprocess.run([os.path.join(directory, "treecost"), figures, cpu, str(LIMIT_S),
                    str(LIMIT_MIB), os.path.basename(program), program], env=env, cwd=directory,
                   stdout=subprocess.DEVNULL, check=True)
    for name in os.listdir(directory):
        if name.startswith("raw."):
            os.remove(os.path.join(directory, name))
    with open(figures, encoding="ascii") as f:
        cost = dict(line.split() for line in f)
    if cost["status"] != "0":
        sys.exit(f"{program}: status {cost['status']}, ended by {cost['ended']}")
    return int(cost["cpu_ns"]) / 1e9, int(cost["peak_kib"]) / 1024


def measure(options, directory, clang, program):
    """Return the minima of each kind."""
    paths = {}
    for kind in KINDS:
        paths[kind] = os.path.join(directory, f"{clang}.{program}.{kind}")
        build(options, clang, program, kind, paths[kind])
    best = {kind: (float("inf"), float("inf")) for kind in KINDS}
    for _ in range(options.rounds):
        for kind in random.sample(KINDS, len(KINDS)):
            best[kind] = tuple(map(min, zip(best[kind], run(paths[kind], directory, options.cpu))))
    for path in paths.values():
        os.remove(path)
    return best


def show(clang, program, best):
    """Print the rows. Return the limits that do not hold."""
    plain, theirs, over = best["plain"], best["compiler-rt"], []
    for kind in KINDS:
        seconds, mib = best[kind]
        print(f"{PROGRAMS[program]:13} {clang:9} {kind:12} {seconds:7.3f} s "
              f"{seconds / plain[0]:6.2f}x {seconds / theirs[0]:7.2f}  {mib:8.1f} MiB "
              f"{mib / plain[1]:6.2f}x {mib / theirs[1]:7.2f}", flush=True)
        name = f"{PROGRAMS[program]}, {clang}, {kind}"
        if kind in MEMORY_LIMITS and seconds > theirs[0]:
            over.append(f"{name}: {seconds / theirs[0]:.2f} of compiler-rt's time")
        if mib > plain[1] * MEMORY_LIMITS.get(kind, float("inf")):
            over.append(f"{name}: {mib / plain[1]:.2f} times the memory, not "
                        f"{MEMORY_LIMITS[kind]}")
    return over


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heaptap", type=os.path.abspath)
    parser.add_argument("--cc", default="clang-14,clang-19")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", metavar="REGEX", help="of the programs")
    parser.add_argument("--sqlite", default=os.path.join(HERE, "..", "build", "bench", "sqlite"))
    options = parser.parse_args()
    options.cpu = str(max(os.sched_getaffinity(0)))
    programs = [p for p in PROGRAMS if re.search(options.only, p)]
    if "sql.c" in programs:
        options.sqlite, why = sqlite_source.amalgamation(options.sqlite)
        if why:
            print(f"SKIP sqlite3: {why}")
            programs.remove("sql.c")
    compilers = options.cc.split(",")
    for clang in [c for c in compilers if shutil.which(c) is None]:
        print(f"SKIP {clang}: it is not installed")
        compilers.remove(clang)
    print(f"Least of {options.rounds} rounds; load {os.getloadavg()[0]:.1f}\n\n"
          "program       compiler  built for      time  of plain of c.-rt's    memory  of plain "
          "of c.-rt's")
    over = []
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", os.path.join(directory, "treecost"),
                        os.path.join(HERE, "treecost.c")], check=True)
        for program in programs:
            for clang in compilers:
                over += show(clang, program, measure(options, directory, clang, program))
    print("\n" + ("\n".join(["Over their limits:"] + over) if over else "All are within limits."))


main()
