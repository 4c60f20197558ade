"""python_suite.py: run test files of the standard library alone and recorded, and compare.

    python_suite.py HEAPTAP PYTHON MODULE...

Each file is run by `python -m test -v`, bare and by `heaptap run`. The status and each line of
stdout and stderr must be the same, except for times, process ids, addresses and names of temporary
files, which are blurred, and for lines that begin with "heaptap: ", which are shown. The script
prints a row for each file, and the lines that differ.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
import time

import telling

SHOWN = 12
LIMIT_S = 900
# Parts that differ between two equal runs.
DIFFERENT = [
    (re.compile(r"^(== |0:\d\d:\d\d |Total duration|Using random seed|Raised RLIMIT).*\n", re.M),
     ""),
    (re.compile(r"^test_\w+ passed in .*\n", re.M), ""),  # Printed only by tests that take 30 s.
    (re.compile(r"(\d+(\.\d+)? ?(s|sec|ms|seconds|min)\b ?)+"), "TIME"),
    (re.compile(r"0x[0-9a-fA-F]+"), "ADDRESS"),
    (re.compile(r"/tmp/[\w.\-æ/]+"), "FILE"),
    (re.compile(r"(test_python_|@test_|@test|pid[ =]|\bpid )\d+\w*æ?"), "NUMBER"),
    (re.compile(r"\b(Thread-|process )\d+"), "NUMBER"),
]
OURS = re.compile(r"^(.*)heaptap: .*\n", re.M)


def blurred(text):
    for pattern, with_what in DIFFERENT:
        text = pattern.sub(with_what, text)
    return text


def run(command, directory):
    """Return the test's status and output, and the number of heaptap's lines in it."""
    own = os.path.join(directory, "work")
    os.makedirs(own, exist_ok=True)
    began = time.monotonic()
    done = subprocess.run(command, cwd=own, stdin=subprocess.DEVNULL, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace",
                          timeout=LIMIT_S, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    stderr, ours = OURS.subn(r"\1", done.stderr)
    return done.returncode, blurred(done.stdout), blurred(stderr), ours, time.monotonic() - began


def difference(alone, recorded):
    return [line.rstrip("\n") for one, other in zip(alone[1:3], recorded[1:3])
            for line in difflib.unified_diff(one.splitlines(), other.splitlines(), n=0, lineterm="")
            if not line.startswith(("---", "+++", "@@"))]


def main():
    heaptap, python, modules = sys.argv[1], sys.argv[2], sys.argv[3:]
    for module in modules:
        command = [python, "-m", "test", "-v", module]
        with tempfile.TemporaryDirectory() as directory:
            alone = run(command, directory)
            recorded = run([heaptap, "run", "--quiet", "--no-pack", "-o",
                            os.path.join(directory, "profile"), "--", *command], directory)
        lines = difference(alone, recorded)
        if lines and alone[0] == recorded[0]:  # Some tests differ between equal runs.
            with tempfile.TemporaryDirectory() as directory:
                again = run(command, directory)
            own = set(difference(alone, again))
            lines = [line for line in lines if line not in own]
        telling.tell(alone[0] == recorded[0] and not lines,
                     f"{module}: status {alone[0]} and {recorded[0]}, {len(lines)} lines differ, "
                     f"{recorded[3]} are ours", *lines[:SHOWN])
        print(f"#   {len(alone[1].splitlines())} lines, {alone[4]:.1f} s alone, "
              f"{recorded[4]:.1f} s recorded", flush=True)
    telling.finish()


main()
