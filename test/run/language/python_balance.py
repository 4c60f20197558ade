"""python_balance.py: compare live objects at snapshots with the interpreter's counter.

    python_balance.py HEAPTAP PROFILE BLOCKS

BLOCKS is the output of python_blocks.py on stderr: for each snapshot, its name and the tables of
the allocator. Only the table by size class is compared, for objects in arenas.
"""
import json
import subprocess
import sys


def main():
    wrong = 0
    rows = {}
    with open(sys.argv[3], encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["snapshot"]:
                name = words[1]
                rows[name] = 0
            elif len(words) == 5 and all(word.isdigit() for word in words):
                rows[name] += int(words[3])
    for name, right in rows.items():
        report = json.loads(subprocess.run(
            [sys.argv[1], "report", "--json", "--at", name, sys.argv[2]], check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
        found = sum(heap["live_blocks"] for heap in report["heaps"]
                    if heap["heap"] == "Python objects")
        lost = sum(report["losses"].values()) if isinstance(report["losses"], dict) else 0
        unknown = len(report["unknown_frees"])
        print(f"{name}: {found} objects, {right} by the interpreter, {unknown} unknown frees")
        wrong += found != right or unknown != 0 or lost != 0
    sys.exit(wrong != 0 or len(rows) != 5)


if __name__ == "__main__":
    main()
