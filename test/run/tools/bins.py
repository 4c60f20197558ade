"""bins.py: check `heaptap sizes` for test/prog/binned.c.

The expected numbers deliberately repeat the table in that program. If a check fails, the bins are
miscounted or misprinted.
"""

import json
import subprocess
import sys

HEAPTAP, PROFILE = sys.argv[1:]

# Size (None: larger than 1024), blocks, bytes, frees, bytes kept.
WANTED = [
    (0, 3, 0, 1, 0),
    (1, 5, 5, 0, 5),
    (24, 300, 7200, 299, 24),
    (204, 100, 20400, 49, 51 * 204),
    (1024, 7, 7168, 7, 0),
    (None, 6, 2 * 1025 + 4 * 70000, 3, 1025 + 2 * 70000),
]
TOTAL_BYTES = sum(row[2] for row in WANTED)

failures = 0


def check(name, wanted, got):
    global failures
    if wanted == got:
        print(f"ok - {name}")
    else:
        failures += 1
        print(f"not ok - {name}\n#   wanted: {wanted}\n#   got:    {got}")


def run(*options):
    return subprocess.run([HEAPTAP, "bins", *options, PROFILE], capture_output=True, text=True,
                          check=True).stdout


def rows(*options):
    document = json.loads(run("--json", *options))
    assert document["format"] == "heaptap-bins"
    return [(b["size"], b["allocs"], b["bytes"], b["frees"], b["kept_bytes"])
            for b in document["bins"]]


def table(text):
    """Return the first two cells of each row under the titles, up to the total."""
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("  size"))
    rows = [line.replace("> ", ">").split()[:2] for line in lines[start + 1:] if line.strip()]
    return rows[:rows.index(next(r for r in rows if r[0] == "total")) + 1]


by_bytes = sorted(WANTED, key=lambda row: -row[2])
check("all bins in JSON, by size", WANTED, rows())
report = json.loads(subprocess.run([HEAPTAP, "report", "--by", "size", "--json", PROFILE],
                                   capture_output=True, text=True, check=True).stdout)["rows"]
check("report --by size: the known numbers", {row[1:4] for row in WANTED[:5]},
      {(row["allocations"], row["allocated_bytes"], row["frees"]) for row in report
       if row["size_max"] <= 1024})
for member in ("peak_blocks", "peak_bytes", "temporary", "died_within_16", "died_within_256",
               "reallocations"):
    check("report --by size: " + member + " is not known", {None},
          {row[member] for row in report})
check("--top: the largest first", by_bytes[:2], rows("--top", "2"))
check("--top with --all is all", WANTED, rows("--top", "2", "--all"))
check("text: a row per size, larger, total",
      [["0", "3"], ["1", "5"], ["24", "300"], ["204", "100"], ["1024", "7"], [">1024", "6"],
       ["total", "421"]], table(run()))
cut = run("--top", "1")
check("text: --top 1 and the rest", [[">1024", "6"], ["total", "421"]],
      table(cut)[:2])
rest = 100 * (TOTAL_BYTES - by_bytes[0][2]) / TOTAL_BYTES
check("text: the rest is counted", True, f"5 more sizes with {rest:.1f} % of the bytes" in cut)
classic = run("--classic").split("\n")
check("classic: titles", ["size:", "allocs", "bytes", "(%)", "frees", "kept", "(%)", "types"],
      classic[0].split())
check("classic: whole percentages, blank below one",
      [["0", "3", "0", "1", "0"], ["24", "300", "7200", "(", "2)", "299", "24"],
       [">1024", "6", "282050", "(89)", "3", "141025", "(93)"],
       ["<TOTAL>", "421", str(TOTAL_BYTES), "359", str(sum(row[4] for row in WANTED))]],
      [line.replace("> ", ">").split()[:7] for line in classic
       if line.split() and line.split()[0] in ("0", "24", ">", "<TOTAL>")])
check("text: no line is wider than 80", [], [l for l in run("--all").split("\n") if len(l) > 80])
sys.exit(failures > 0)
