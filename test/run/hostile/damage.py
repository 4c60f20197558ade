"""damage.py: truncate and change profiles, and check that the command survives.

    damage.py HEAPTAP PROFILE...

Exits with 1 if `report` ends with another status than 0 (shown as far as it is valid) or 3 (refused
with a message) for any damaged profile. Bytes and lengths come from a fixed seed."""
import random
import subprocess
import sys

CUTS, CHANGES = 25, 60


def used_part(data):
    """Offsets of the bytes where changes matter: all that are not zero."""
    return [i for i, byte in enumerate(data) if byte] or [0]


def variants(data, draw):
    for _ in range(CUTS):
        yield "cut", data[:draw.randrange(len(data))]
    places = used_part(data)
    for _ in range(CHANGES):
        changed = bytearray(data)
        for _ in range(draw.choice((1, 1, 4, 64))):
            byte = draw.choice((0, 1, 0x7f, 0x80, 0xff, draw.randrange(256)))
            changed[draw.choice(places)] = byte
        yield "changed", bytes(changed)


def main():
    heaptap, bad = sys.argv[1], 0
    for path in sys.argv[2:]:
        with open(path, "rb") as f:
            data = f.read()
        for number, (kind, damaged) in enumerate(variants(data, random.Random(5))):
            with open("damaged.heaptap", "wb") as f:
                f.write(damaged)
            run = subprocess.run([heaptap, "report", "--json", "damaged.heaptap"],
                                 capture_output=True, timeout=60)
            silent = run.returncode == 3 and not run.stderr.startswith(b"heaptap: ")
            if run.returncode in (0, 3) and not silent:
                continue
            bad += 1
            print(f"{path}, {kind} {number}: exit status {run.returncode}, {run.stderr[:200]!r}")
            with open(f"{path}.bad{number}", "wb") as f:
                f.write(damaged)
    sys.exit(bad > 0)


main()
