#!/usr/bin/env python3
"""hostile_types.py: report a program whose debug information has been damaged.

    hostile_types.py HEAPTAP PROGRAM PROFILE COUNT

Started by hostile_types.sh. COUNT times, the script changes some bytes of the sections that
describe types, variables and their locations; the changes are the same in each run. The profile is
of the undamaged program, which has the same build id. The report must end soon, with the same
totals. Prints the changes that the report did not survive.
"""

import json
import os
import random
import subprocess
import sys

SECTIONS = [".debug_info", ".debug_abbrev", ".debug_loclists", ".debug_str", ".debug_line"]
SECONDS_MAX = 100


def sections(program):
    """Return (offset, size) of the sections that exist."""
    text = subprocess.run(["readelf", "-SW", program], check=True, capture_output=True,
                          text=True).stdout
    rows = [line.replace("[ ", "[").split() for line in text.splitlines()]
    return [(int(row[4], 16), int(row[5], 16)) for row in rows
            if len(row) > 5 and row[1] in SECTIONS]


def damage(intact, places, rng):
    data = bytearray(intact)
    for _ in range(rng.choice([1, 2, 8, 64])):
        offset, size = rng.choice(places)
        # Small numbers are valid forms, tags and sizes more often than others.
        data[offset + rng.randrange(size)] = rng.choice([0, 1, 0xff, rng.randrange(64),
                                                         rng.randrange(256)])
    return data


def main():
    heaptap, program, profile, count = sys.argv[1:]
    with open(program, "rb") as f:
        intact = f.read()
    places, failures = sections(program), 0
    assert len(places) >= 4, places
    command = [heaptap, "report", "--json", "--by", "type", "--alloc", profile]
    wanted = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["totals"]
    for seed in range(int(count)):
        with open(program + ".damaged", "wb") as f:
            f.write(damage(intact, places, random.Random(seed)))
        os.rename(program + ".damaged", program)
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
            good = done.returncode == 0 and json.loads(done.stdout)["totals"] == wanted
            what = done.returncode
        except subprocess.TimeoutExpired:
            good, what = False, "no end"
        if not good:
            print(f"damage {seed}: {what}")
            failures += 1
    with open(program, "wb") as f:
        f.write(intact)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
