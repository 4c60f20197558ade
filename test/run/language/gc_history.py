"""gc_history.py: compare views of collections with the program's counts.

    gc_history.py REPORT TIMELINE TEXT TRUTH
    gc_history.py --sum REPORT TRUTH...

REPORT and TIMELINE are JSON, TEXT is the report for people. TRUTH has a line "collections N".
"""
import json
import re
import sys

HEAPS = ("libgc", "libgc lists")


def counted(path):
    with open(path, encoding="utf-8") as file:
        return int(re.search(r"^collections (\d+)$", file.read(), re.MULTILINE)[1])


def document(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def heaps_of(report):
    return {heap["heap"]: heap for heap in report["heaps"]}


def compare(report, timeline, text, right):
    wrong = []
    heaps = heaps_of(report)
    if any(not heaps[name]["collected"] for name in HEAPS) or heaps["malloc"]["collected"]:
        wrong.append("which heaps are collected")
    if heaps["libgc"]["collections"] != right:
        wrong.append(f"{heaps['libgc']['collections']} collections instead of {right}")
    last_ns = heaps["libgc"]["collected_ns"]
    marks = [point for point in timeline["points"] if (point["name"] or "").startswith("coll")]
    numbers = [point["collections"] for point in timeline["points"]]
    if numbers != sorted(numbers) or numbers[0] != 0 or numbers[-1] != right:
        wrong.append(f"numbers at points: {numbers}")
    if any(point["name"] != f"collection {point['collections']}" for point in marks) or not marks:
        wrong.append("names of points")
    if marks[-1]["elapsed_ns"] < last_ns - 10**9 or last_ns > timeline["points"][-1]["elapsed_ns"]:
        wrong.append(f"the last collection after {last_ns} ns")
    line = re.search(r"Collections +([\d,]+) .*the last after", text)
    if not line or int(line[1].replace(",", "")) != right or "not yet reclaimed" not in text:
        wrong.append("the header for people")
    return wrong


def main():
    if sys.argv[1] == "--sum":
        right = sum(map(counted, sys.argv[3:]))
        found = heaps_of(document(sys.argv[2]))["libgc"]["collections"]
        wrong = [] if found == right else [f"{found} instead of {right}"]
    else:
        right = counted(sys.argv[4])
        with open(sys.argv[3], encoding="utf-8") as file:
            wrong = compare(document(sys.argv[1]), document(sys.argv[2]), file.read(), right)
    print(f"{right} collections", *wrong)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
