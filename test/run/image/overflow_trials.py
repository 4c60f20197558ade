"""overflow_trials.py: find the block whose owner wrote out of bounds, in random trials with
test/prog/overflows.c.

    overflow_trials.py HEAPTAP PROGRAMS LIBRARY [TRIALS]

In each trial, a program has 64 blocks. The owner of a block writes 1, 8 or 64 bytes past its end,
before its beginning, past its end where the next block has been freed, or over the next block and
into the block after that. Then the program dies, and `heaptap core --check` reads the dump. The
trial succeeds if the first reported damage names the function that allocated the block. With TRIALS
(200 for the table in docs/guide/overflows.md), the script prints the table of all kinds of
overflows; without it, it runs and checks a few of each kind. If it fails, the wrong function is
blamed.
"""
import json
import os
import subprocess
import sys
import tempfile

import documents
import dumps
from telling import finish, tell

heaptap, programs, library = sys.argv[1:4]
trials = int(sys.argv[4]) if len(sys.argv) > 4 else 0
PROGRAM = os.path.join(programs, "overflows")
KINDS = ["end", "start", "freed", "across"]
SIZES = [1, 8, 64]
MODES = {"annotation and guards": {"HEAPTAP_ANNOTATE": "15", "HEAPTAP_GUARD": "8"},
         "annotation": {"HEAPTAP_ANNOTATE": "15"},
         "without": {}}


def blamed(document):
    """Return the function named in the first damage."""
    for damage in document["check"]["damaged"]:
        block = damage["block"]
        if damage["neighbour"] is not None and damage["neighbour"]["address"] == damage["culprit"]:
            block = damage["neighbour"]
        names = [f["function"] for f in documents.Tables(document["tables"]).stack(block["stack"])]
        return next((n for n in names if n and n.startswith("owner_")), None)
    return None


def trial(directory, options, kind, size, seed):
    for name in os.listdir(directory):
        os.unlink(os.path.join(directory, name))
    environment = dict(os.environ, LD_PRELOAD=library, **options,
                       HEAPTAP_OUT=os.path.join(directory, "p.heaptap"))
    run = subprocess.run([PROGRAM, str(seed), kind, str(size), "crash"], cwd=directory, text=True,
                         capture_output=True, preexec_fn=dumps.allow_dumps, env=environment)
    core = next(n for n in os.listdir(directory) if n.startswith("core"))
    got = subprocess.run([heaptap, "core", "--check", "--json", core], cwd=directory,
                         capture_output=True, text=True)
    return blamed(json.loads(got.stdout)) == run.stdout.strip()


def won(options, kind, size, count):
    with tempfile.TemporaryDirectory() as directory:
        return sum(trial(directory, options, kind, size, seed) for seed in range(1, count + 1))


if not dumps.kernel_dumps():
    print("ok - overflows # SKIP the kernel puts cores elsewhere")
    finish()
for kind in KINDS:
    for size in SIZES:
        if not trials:
            n = won(MODES["annotation and guards"], kind, size, 3)
            tell(n == 3, "the culprit is named: %s, %d bytes" % (kind, size), n)
if trials:
    table = {(kind, size): [] for kind in KINDS for size in SIZES}
    for options in MODES.values():
        for (kind, size), row in table.items():
            row.append(won(options, kind, size, trials))
            print("#", kind, size, row, flush=True)
    print("| written | bytes | " + " | ".join(MODES) + " |")
    for (kind, size), row in table.items():
        print("| %s | %d | %s |" % (kind, size, " | ".join(map(str, row))))
finish()
