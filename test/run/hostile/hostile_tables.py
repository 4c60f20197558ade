#!/usr/bin/env python3
"""hostile_tables.py: run a program with a library whose unwind tables have been damaged.

    hostile_tables.py LIBRARY PROGRAM RECORDER COUNT

Started by hostile_tables.sh. COUNT times, the script changes a few words or bytes of .eh_frame_hdr
and .eh_frame to values that lead just outside, far away or backwards; the changes are the same in
each run. The program must print and exit as it does without the recorder. Prints the changes that
the program did not survive.
"""
import os
import random
import struct
import subprocess
import sys

VALUES = [0, 1, -1, 8, -0x1000, 0x100000, 0x180000, 0x1fe000, 0x7fffffff, -0x80000000]


def tables(library):
    """Return (offset, size) of the two sections."""
    text = subprocess.run(["readelf", "-SW", library], check=True, capture_output=True,
                          text=True).stdout
    rows = [line.replace("[ ", "[").split() for line in text.splitlines()]
    found = [(int(row[4], 16), int(row[5], 16)) for row in rows
             if len(row) > 5 and row[1] in (".eh_frame", ".eh_frame_hdr")]
    assert len(found) == 2, found
    return found


def damage(intact, sections, rng):
    data = bytearray(intact)
    for _ in range(rng.choice([1, 1, 2, 4])):
        offset, size = rng.choice(sections)
        if rng.random() < 0.5:
            data[offset + rng.randrange(size)] = rng.randrange(256)
        else:
            value = rng.choice(VALUES + [rng.randrange(-0x600000, 0x600000)])
            struct.pack_into("<i", data, offset + rng.randrange(size // 4) * 4, value)
    return data


def outcome(program, directory, recorder):
    env = {"LD_LIBRARY_PATH": directory, "PATH": os.environ["PATH"]}
    if recorder:
        env.update(LD_PRELOAD=recorder, HEAPTAP_OUT=f"{directory}/%p.%n.heaptap")
    done = subprocess.run([program], env=env, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def main():
    library, program, recorder, count = sys.argv[1:]
    with open(library, "rb") as f:
        intact = f.read()
    sections, directory, failures, profiles = tables(library), "damaged", 0, 0
    os.makedirs(directory, exist_ok=True)
    wanted = outcome(program, os.getcwd(), None)
    for seed in range(int(count)):
        with open(f"{directory}/{os.path.basename(library)}", "wb") as f:
            f.write(damage(intact, sections, random.Random(seed)))
        got = outcome(program, directory, recorder)
        if got != wanted:
            print(f"damage {seed}: {got} instead of {wanted}")
            failures += 1
        for name in os.listdir(directory):
            if name.endswith(".heaptap"):
                os.unlink(f"{directory}/{name}")
                profiles += 1
    if profiles != int(count):
        print(f"{profiles} profiles of {count} runs")
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
