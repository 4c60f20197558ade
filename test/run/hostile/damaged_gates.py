"""damaged_gates.py: truncate and change profiles, and check that no gate passes because of that.

    damaged_gates.py HEAPTAP RAW PACKED [NUMBER]

Every gate must end with status 3 for profiles truncated at each multiple of 4096 bytes and at
NUMBER random lengths, and for packed profiles without their checksum or with NUMBER random changes.
For RAW with such changes, the status is 0, 1 or 3, because its counters have no checksum. Exits
with 1 otherwise. Lengths and bytes come from a fixed seed."""
import random
import subprocess
import sys

STEP, NUMBER = 4096, 25
CHECK = 168  # docs/format.md, 2.


def changed(data, draw):
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 4, 64))):
        # The bytes before this offset identify the file as a profile.
        place = draw.randrange(8, len(data))
        out[place] ^= draw.randrange(1, 256)
    return bytes(out)


def variants(data, draw, number):
    lengths = set(range(0, len(data), STEP)) | {len(data) - 1}
    for length in sorted(lengths | {draw.randrange(len(data)) for _ in range(number)}):
        yield "cut to %d" % length, data[:length]
    yield "change of the check to 0", data[:CHECK] + bytes(8) + data[CHECK + 8:]
    for i in range(number):
        out = changed(data, draw)
        if out != data:
            yield "change %d" % i, out


def main():
    heaptap, whole = sys.argv[1], sys.argv[2]
    number = int(sys.argv[4]) if len(sys.argv) > 4 else NUMBER
    gates = (["leaks", "--fail-over", "1G", "damaged.heaptap"],
             ["leaks", "--fail-over", "0", "damaged.heaptap"],
             ["diff", "--fail-over", "1G", whole, "damaged.heaptap"],
             ["diff", "--fail-over", "1G", "damaged.heaptap", whole])
    bad = runs = 0
    for path in sys.argv[2:4]:
        with open(path, "rb") as f:
            data = f.read()
        for name, damaged in variants(data, random.Random(7), number):
            allowed = (0, 1, 3) if name[:2] == "ch" and path == whole else (3,)
            with open("damaged.heaptap", "wb") as f:
                f.write(damaged)
            for gate in gates:
                run = subprocess.run([heaptap] + gate, capture_output=True, timeout=60, check=False)
                runs += 1
                if run.returncode not in allowed:
                    bad += 1
                    print(f"{path}, {name}: {' '.join(gate)}: {run.returncode} {run.stderr[:200]}")
    print(f"{runs} gates, {bad} wrong")
    sys.exit(bad > 0 or runs < 100)


main()
