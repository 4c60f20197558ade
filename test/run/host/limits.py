"""limits.py: programs that limit themselves at random, bare and recorded (limits_random.c).

    limits.py COUNT FIRST DIRECTORY     runs COUNT programs, from seed FIRST on

The recorded run must print the same lines, end with the same status or signal and lose no bytes of
stderr. Only "pieces" may differ: what the program gets less must be at most SPARE_MIB, plus the
recorder's tables in use. These are, in address space, the top levels of address maps (64 MiB each),
the library and the first tables; and a leaf of the ledger for each span of addresses. Only leaves
and the rows of threads are charged to RLIMIT_DATA.
"""
import os, random, re, subprocess, sys

SPARE_MIB = 16
MODES = {
    # name: (options, fixed MiB in address space, MiB of a leaf)
    "exact": ([], 90, 2.5),
    "sample": (["--sample", "64K"], 90, 2.5),
    "reserve": (["--reserve", "2M"], 98, 2.5),
    "annotate": (["--annotate"], 218, 5.5),
}
FIXED_DATA_MIB = 28


def run(command):
    p = subprocess.run(command, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    noise = [line for line in p.stderr.decode().splitlines() if not line.startswith("heaptap: ")]
    return p.returncode, p.stdout.decode().splitlines(), noise


def pieces(line):
    m = re.fullmatch(r"pieces (\d+) AS (-?\d+) DATA (-?\d+)( unseen)? spans (\d+)", line)
    return m and (int(m[1]), int(m[2]), int(m[3]), bool(m[4]), int(m[5]))


def differs(bare, recorded, mode):
    """Whether two lines differ by more than is allowed."""
    if bare == recorded:
        return False
    before, after = pieces(bare), pieces(recorded)
    if not before or not after or before[1:4] != after[1:4]:
        return True
    _, fixed, leaf = MODES[mode]
    if before[1] == -1:
        fixed = FIXED_DATA_MIB
    return abs(before[0] - after[0]) > SPARE_MIB + fixed + leaf * after[4]


def judge(program, seed, mode, directory):
    # Where nothing can be done about a limit that nobody reports: docs/internals/failures.md.
    command = [program, str(seed)] + ["seen"] * (mode in ("sample", "reserve"))
    if random.Random(seed).random() < 0.2:  # Under a limit from the start.
        which, mib = random.Random(seed).choice([("v", 700), ("d", 300), ("v", 4000), ("d", 60)])
        command = ["sh", "-c", f'ulimit -{which} {mib << 10}; exec "$@"', "sh", *command]
    bare = run(command)
    profile = os.path.join(directory, "limits.heaptap")
    recorded = run([os.environ["HEAPTAP"], "run", "--quiet", "--no-pack", "--force",
                    *MODES[mode][0], "-o", profile, "--", *command])
    if bare[0] != recorded[0] or bare[2] != recorded[2]:
        return f"ended with {bare[0]} {bare[2]}, recorded with {recorded[0]} {recorded[2]}"
    if len(bare[1]) != len(recorded[1]):
        return f"{len(bare[1])} lines, recorded {len(recorded[1])}"
    for a, b in zip(bare[1], recorded[1]):
        if differs(a, b, mode):
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
