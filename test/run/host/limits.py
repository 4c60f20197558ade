"""limits.py: run programs that limit themselves at random, bare and recorded (limits_random.c).

    limits.py COUNT FIRST DIRECTORY     runs COUNT programs, from seed FIRST on

The recorded run must print the same lines, end with the same status or signal and lose no bytes of
stderr. Only lines "pieces" may differ: the program may get less memory, by at most SLACK_MIB plus
the recorder's mappings at that moment, which the program measures. SPARE_MIB of the mappings are
for tables to grow, and docs/internals/failures.md bounds the rest.
"""
import os, random, re, subprocess, sys

SPARE_MIB = 16
SLACK_MIB = 8  # For the library, a piece of at most 1 MiB, growth of the heap, and rounding.
THREAD_MIB = 2.6
# Each "threads" line starts as many threads; their rows are free only when the kernel has released
# the threads.
THREADS = 3
MODES = {
    # name: (options, MiB of top levels, MiB of a leaf, MiB of other tables)
    "exact": ([], 64, 2.5, 20),
    "sample": (["--sample", "64K"], 64, 2.5, 20),
    "reserve": (["--reserve", "2M"], 64, 2.5, 20),
    "annotate": (["--annotate"], 64, 5.3, 20),
}


# Freed blocks merge at once, as limits_random.c explains.
ENVIRONMENT = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}


def run(command):
    p = subprocess.run(command, capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
                       env=ENVIRONMENT)
    noise = [line for line in p.stderr.decode().splitlines() if not line.startswith("heaptap: ")]
    return p.returncode, p.stdout.decode().splitlines(), noise


def pieces(line):
    m = re.fullmatch(r"pieces (\d+) (AS -?\d+ DATA -?\d+(?: unseen)?) "
                     r"spans (\d+) tables (\d+) spare (\d+) data (\d+)", line)
    return m and (int(m[1]), m[2], *map(int, m.groups()[2:]))


def differs(bare, recorded, mode, outer_mib, threads):
    """Return true if two lines differ by more than is allowed.

    OUTER_MIB is the limit from the start, THREADS the number of threads so far.
    """
    before, after = pieces(bare), pieces(recorded)
    if not before or not after or before[1] != after[1]:
        return bare != recorded
    _, top, leaf, others = MODES[mode]
    _, limits, spans, tables, spare, data = after
    space = int(limits.split()[1])
    lost = before[0] - after[0]
    if lost <= 0:  # A heap that could not grow by brk keeps its memory, and serves later pieces.
        return False
    if space == -1:
        return lost > data + SLACK_MIB
    # Small blocks are in glibc's heap, and so in other leaves than large ones.
    tables_most = top + others + THREAD_MIB * threads + leaf * (spans + 2)
    # The memory that the ledger of a heap under that limit needs is mapped once.
    if mode == "reserve":
        tables_most += space / 6
    spare_most = max(SPARE_MIB, space / 64)
    if mode in ("sample", "reserve") and space == outer_mib:
        # The recorder keeps the memory of the start, because no failing allocation is repeated.
        tables_most = max(tables_most, space / 2)
        spare_most = space / 2
    return lost > tables + SLACK_MIB or spare > spare_most or tables - spare > tables_most


def judge(program, seed, mode, directory):
    # No call reports these limits to the recorder, so it cannot handle them:
    # docs/internals/failures.md.
    command = [program, str(seed)] + ["seen"] * (mode in ("sample", "reserve"))
    outer_mib = None
    if random.Random(seed).random() < 0.2:  # These have a limit from the start.
        which, mib = random.Random(seed).choice([("v", 700), ("d", 300), ("v", 4000), ("d", 60)])
        outer_mib = mib if which == "v" else None
        command = ["sh", "-c", f'ulimit -{which} {mib << 10}; exec "$@"', "sh", *command]
    bare = run(command)
    profile = os.path.join(directory, "limits.heaptap")
    recorded = run([os.environ["HEAPTAP"], "run", "--quiet", "--no-pack", "--force",
                    *MODES[mode][0], "-o", profile, "--", *command])
    if bare[0] != recorded[0] or bare[2] != recorded[2]:
        return f"ended with {bare[0]} {bare[2]}, recorded with {recorded[0]} {recorded[2]}"
    if len(bare[1]) != len(recorded[1]):
        return f"{len(bare[1])} lines, recorded {len(recorded[1])}"
    threads = 1
    for a, b in zip(bare[1], recorded[1]):
        threads += THREADS * a.startswith("threads ")
        if differs(a, b, mode, outer_mib, threads):
            return f"'{a}', recorded '{b}'"
    return None


def main():
    count, first, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    program = os.path.join(os.environ["PROG"], "limits_random")
    failures = 0
    for seed in range(first, first + count):
        mode = list(MODES)[seed % len(MODES)]
        why = judge(program, seed, mode, directory)
        if why:
            failures += 1
            print(f"seed {seed}, {mode}: {why}", flush=True)
    print(f"{count} programs, {failures} failures")
    return failures != 0


sys.exit(main())
