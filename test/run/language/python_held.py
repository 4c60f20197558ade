"""python_held.py: check the bytes that a line of a Python program holds.

    python_held.py REPORT FILE LINE BYTES

REPORT is JSON, of a snapshot or of a whole run; for a whole run, the bytes at the peak are checked.
"""
import sys

import documents


def main():
    name, line, wanted = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    held = 0
    for site in report["sites"]:
        innermost = next((frame for frame in site["stack"] if frame.get("language")), None)
        if innermost and (innermost["file"], innermost["line"]) == (name, line):
            held += site.get("peak_bytes") or site["live_bytes"]
    print(f"{held} bytes")
    sys.exit(held < wanted)


main()
