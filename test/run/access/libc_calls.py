"""libc_calls.py: run programs that call random functions of libc, bare and recorded.

    libc_calls.py HEAPTAP CC NAME COUNT OPTION...

Builds libc_calls.c by `heaptap cc --cc=CC OPTION...`, and by the plain compiler. For each of COUNT
seeds, it runs the plain program and records the other. Both must print the same and end in the same
way. The profile must have the expected accesses for each 8-byte word of each block: as many reads
and as many writes or, if these are not counted separately, as many accesses. Seeds begin at
$LIBC_SEED, or 1.
"""
import os
import subprocess
import sys

import counters
from telling import finish, tell

AREA = os.path.dirname(os.path.abspath(__file__))
CALLS = "60"  # Calls in each program.
NOT_SHOWN = 5  # Failures beyond this many are only counted.


def compile_all(name, compiler, options):
    """Build the program as NAME and NAME.plain, or return the error."""
    model = ["gcc", "-O1", "-fno-builtin", "-fno-tree-loop-distribute-patterns"]
    static = [o for o in options if o.startswith("-static")]
    level = next((o for o in options if o.startswith("-O")), "-O1")
    flags = ["-D_GNU_SOURCE", level, "-fno-builtin", "-w", "-c", f"{AREA}/libc_calls.c"]
    defines = [o for o in options if o.startswith("-D")]
    for command in ([*model, "-fPIE", "-c", f"{AREA}/libc_model.c", "-o", "model.o"],
                    ["gcc", *defines, *flags, "-o", "plain.o"],
                    ["gcc", "-o", f"{name}.plain", "plain.o", "model.o"],
                    [*compiler, *[o for o in options if o not in static], *flags, "-fPIE",
                     "-o", "counted.o"],
                    [*compiler, *options, "-o", name, "counted.o", "model.o"]):
        r = subprocess.run(command, capture_output=True, text=True, check=False)
        if r.returncode != 0:
            return f"{' '.join(command)}: {r.stderr}"
    return None


def run(program, seed, environment):
    r = subprocess.run([f"./{program}", str(seed), CALLS, f"{program}.expected"],
                       env={**os.environ, **environment}, capture_output=True, check=False)
    return r.returncode, r.stdout, r.stderr


def counted(profile):
    """Return (reads, writes), or (None, accesses) if they are not counted separately, by size of
    block and word."""
    counting, sites = counters.read(profile)
    found = {}
    for s in sites:
        if s["size_bytes"][1] != s["size_bytes"][2]:
            continue
        for word, (accesses, writes, _, _) in s["fields"].items():
            if accesses:
                key = (s["size_bytes"][1], word)
                one = (accesses - writes, writes) if counting["flags"] & 2 else (accesses,)
                found[key] = tuple(map(sum, zip(found.get(key, (0,) * len(one)), one)))
    return bool(counting["flags"] & 2), found


def expected(path, apart):
    with open(path, encoding="ascii") as f:
        rows = [tuple(map(int, line.split())) for line in f]
    return {(size, word): (r, w) if apart else (r + w,) for size, word, r, w in rows}


def judge(name, seed):
    """Return the error in the run of SEED, or None."""
    profile = f"{name}.heaptap"
    if os.path.exists(profile):
        os.remove(profile)
    bare = run(f"{name}.plain", seed, {})
    recorded = run(name, seed, {"HEAPTAP_OUT": profile})
    if bare[0] != 0 or bare != recorded:
        return f"bare {bare[0]}, recorded {recorded[0]}: " + str(
            [x for x in zip(bare[2].splitlines(), recorded[2].splitlines()) if x[0] != x[1]][:3])
    apart, got = counted(profile)
    wanted = expected(f"{name}.expected", apart)
    sizes = {size for size, _ in wanted}
    got = {k: v for k, v in got.items() if 1040 <= k[0] < 4096 and (k[0] in sizes or k[0] < 3500)}
    wrong = {k: (wanted.get(k), got.get(k)) for k in wanted.keys() | got.keys()
             if wanted.get(k) != got.get(k)}
    return wrong or None


def main():
    heaptap, compiler, name, count = sys.argv[1:5]
    problem = compile_all(name, [heaptap, "cc", f"--cc={compiler}"], sys.argv[5:])
    tell(problem is None, f"{name}: can be built", problem)
    if problem:
        finish()
    first, failures = int(os.environ.get("LIBC_SEED", "1")), 0
    for seed in range(first, first + int(count)):
        wrong = judge(name, seed)
        if wrong:
            failures += 1
            if failures <= NOT_SHOWN:
                some = dict(sorted(wrong.items())[:6]) if isinstance(wrong, dict) else wrong
                print(f"# seed {seed}: (size, word): (expected, counted) {some}")
    tell(failures == 0, f"{name}: {count} programs behave as they do bare, and count the truth",
         failures, "failures")
    finish()


main()
