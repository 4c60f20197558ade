"""symptoms.py: run the commands of a guide page, and compare their output with the page.

    symptoms.py PAGE    in a directory where the commands may write

A block ```sh has commands, and the block ```text after it, if any, its output. A line "…" of the
output is skipped.
"""
import os
import re
import subprocess
import sys

EXACT_LINE = re.compile(r"examples/service\.c:\d+|cache\.py:\d+")
MINIMUM = 14  # Number of blocks with output, so that a page that has none does not pass.


def plain(line):
    """Return LINE without whatever differs between two runs."""
    line = re.sub(r"\S*/(?=examples/|cache\.py)", "", line)
    places = EXACT_LINE.findall(line)
    line = EXACT_LINE.sub("PLACE", line)
    line = re.sub(r"[▁-█]+", "CURVE", line)
    line = re.sub(r"0x[0-9a-f]+", "N", line)
    line = re.sub(r"\d[\d,.]*( (B|KiB|MiB|GiB|ms|s|kB))?\b", "N", line)
    # A time follows the peak unless it rounds to 0, and another shell has another name.
    line = re.sub(r" after N$", "", line)
    return " ".join(line.split()).replace("dash", "sh").replace("bash", "sh") + " ".join(places)


def missing(wanted, got):
    """Return the first line of WANTED that GOT does not have after the previous line, or None."""
    rest = iter([plain(line) for line in got.splitlines()])
    for line in wanted.splitlines():
        if line not in ("", "…") and plain(line) not in rest:
            return line
    return None


def dumps_are_here():
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as f:
        return f.read()[:1] not in "|/"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        blocks = re.findall(r"```(sh|text)\n(.*?)```|^## (.*?)$", f.read(), re.DOTALL | re.M)
    compared = failed = 0
    title = "the program"
    for (kind, commands, heading), (following, wanted, _) in zip(blocks, blocks[1:] + [("",) * 3]):
        title = heading or title
        if kind != "sh" or "core core*" in commands and not dumps_are_here():
            continue
        done = subprocess.run(["bash", "-c", commands], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
        line = missing(wanted, done.stdout) if following == "text" else None
        compared += following == "text"
        failed += line is not None
        print(f"{'not ok' if line else 'ok'} - {title}")
        if line:
            print(f"#   not printed: {line}\n" + re.sub("^", "#   ", done.stdout, flags=re.M))
    enough = compared >= MINIMUM - (not dumps_are_here())
    print(f"{'ok' if enough else 'not ok'} - {compared} outputs compared")
    sys.exit(failed > 0 or not enough)


os.environ["LC_ALL"] = "C.UTF-8"
main()
