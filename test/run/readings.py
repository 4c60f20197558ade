"""readings.py: print the numbers that other tools read in heaptap's exports, beside heaptap's own,
as one table.

    readings.py NAME FILE          show and check the readings of a script in FILE
    readings.add(format, consumer, profile, metric, read, truth)       in Python

A script appends to the file $READINGS, one line per value: format, consumer, profile, metric, value
read, heaptap's value, with tabs between them. When the script ends, the two values of each line
must be equal. The lines are printed, and stored in $BUILD/test/readers/NAME.txt; table.txt there
has the lines of all scripts. If it fails, a consumer sees another number than heaptap reports.
"""
import glob
import os
import sys

sys.dont_write_bytecode = True
from telling import finish, tell  # noqa: E402

COLUMNS = ("format", "consumer", "profile", "metric", "read", "heaptap")


def add(*row):
    assert len(row) == len(COLUMNS), row
    with open(os.environ["READINGS"], "a", encoding="utf-8") as f:
        f.write("\t".join(str(cell) for cell in row) + "\n")


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    for row in rows:
        yield "  ".join(f"{cell:{'>' if i > 3 else '<'}{widths[i]}}"
                        for i, cell in enumerate(row)) + \
            ("" if row is rows[0] else "  equal" if row[-1] == row[-2] else "  DIFFERS")


def main():
    name, path = sys.argv[1:]
    rows = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            rows = [line.rstrip("\n").split("\t") for line in f]
    if not rows:
        print("ok - what consumers read # SKIP no consumer is here")
        return
    for row in rows:
        assert len(row) == len(COLUMNS), row
    lines = list(table([list(COLUMNS)] + rows))
    print("\n".join("# " + line for line in lines))
    tell(all(row[-1] == row[-2] for row in rows), "consumers read heaptap's values")
    folder = os.path.join(os.environ["BUILD"], "test", "readers")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    parts = sorted(set(glob.glob(os.path.join(folder, "*.txt"))) -
                   {os.path.join(folder, "table.txt")})
    texts = []
    for part in parts:
        with open(part, encoding="utf-8") as f:
            texts.append(f.read())
    with open(os.path.join(folder, "table.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(texts))
    finish()


if __name__ == "__main__":
    main()
