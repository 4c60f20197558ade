"""access.py: what counting accesses costs, beside the compiler's own run-time library.

    access.py [--cc clang-14,clang-19] [--rounds N] [--sqlite DIRECTORY] HEAPTAP

Three programs: a loop of malloc and free, one in C++, and sqlite3, if DIRECTORY has its
amalgamation (sqlite3.c and sqlite3.h). Each is built without anything, with -fmemory-profile and
the compiler's library, and by `heaptap cc` with each granule; rounds go through all of them in
turn, and of each the least time and the least memory count, so that what else the machine does
troubles all alike.
Prints a table; times are of user and system together, in seconds. """
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "access")
KINDS = ("plain", "compiler-rt", "64", "16", "8")


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


def run(program, directory):
    """Seconds and MiB."""
    profile = os.path.join(directory, "profile.heaptap")
    if os.path.exists(profile):
        os.remove(profile)
    env = {**os.environ, "HEAPTAP_OUT": profile,
           "MEMPROF_OPTIONS": "log_path=" + os.path.join(directory, "raw")}
    with subprocess.Popen([program], env=env, cwd=directory, stdout=subprocess.DEVNULL) as p:
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = status
    if status != 0:
        sys.exit(f"{program} has failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(options, directory, clang, program):
    paths = {}
    for kind in KINDS:
        paths[kind] = os.path.join(directory, f"{clang}.{program}.{kind}")
        build(options, clang, program, kind, paths[kind])
    best = {kind: (float("inf"), float("inf")) for kind in KINDS}
    for _ in range(options.rounds):
        for kind in KINDS:
            best[kind] = tuple(map(min, zip(best[kind], run(paths[kind], directory))))
    plain, theirs = best["plain"], best["compiler-rt"]
    for kind in KINDS:
        seconds, mib = best[kind]
        print(f"{clang:9} {program:10} {kind:12} {seconds:7.3f} s {seconds / plain[0]:6.2f}x "
              f"{seconds / theirs[0]:6.2f}  {mib:6.1f} MiB {mib / plain[1]:5.2f}x "
              f"{mib / theirs[1]:5.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heaptap")
    parser.add_argument("--cc", default="clang")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sqlite")
    options = parser.parse_args()
    programs = ["pairs.c", "objects.cc"] + (["sql.c"] if options.sqlite else [])
    print("compiler  program    built for      time   of plain, of compiler-rt   memory  of plain, "
          "of compiler-rt")
    with tempfile.TemporaryDirectory() as directory:
        for program in programs:
            for clang in options.cc.split(","):
                measure(options, directory, clang, program)


main()
