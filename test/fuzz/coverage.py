#!/usr/bin/env python3
"""coverage.py: measure the fuzz corpora's coverage of the parsers.

    coverage.py --programs DIR --llvm-cov PROGRAM --llvm-profdata PROGRAM NAME...

Started by `make fuzz-coverage`. Each target names near its top the sources that it tests (`/*
covers: FILE... */`). DIR/cover_NAME is the target built with coverage counters, and runs its
corpus. For each source, the table shows the number of lines with code and the number of executed
ones. The other lines need further inputs, or the target cannot reach them (opening the file).
"""
import argparse
import json
import os
import re
import subprocess

source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def covered_files(name):
    with open(f"{source}/test/fuzz/fuzz_{name}.c", encoding="utf-8") as f:
        found = re.findall(r"^/\* covers: (.*) \*/$", f.read(), re.MULTILINE)
    if not found:
        raise SystemExit(f"fuzz_{name}.c does not say what it covers")
    return " ".join(found).split()


def run(options, name):
    """Replay the corpus of target NAME; return llvm-cov's data for its files, by name."""
    program, raw = f"{options.programs}/cover_{name}", f"{options.programs}/cover_{name}.profraw"
    subprocess.run([program, f"{source}/test/fuzz/corpus/{name}"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "LLVM_PROFILE_FILE": raw})
    subprocess.run([options.llvm_profdata, "merge", "-o", f"{program}.profdata", raw], check=True)
    text = subprocess.run([options.llvm_cov, "export", "--summary-only",
                           f"--instr-profile={program}.profdata", program],
                          check=True, capture_output=True).stdout
    return {os.path.basename(f["filename"]): f["summary"]
            for f in json.loads(text)["data"][0]["files"]}


def main():
    parser = argparse.ArgumentParser(description="coverage of the parsers by the fuzz corpora")
    parser.add_argument("--programs", required=True)
    parser.add_argument("--llvm-cov", required=True)
    parser.add_argument("--llvm-profdata", required=True)
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    print(f"{'target':10} {'inputs':>6}  {'file':30} {'lines':>6} {'covered':>8} {'branches':>9}")
    for name in options.names:
        summaries = run(options, name)
        inputs = len(os.listdir(f"{source}/test/fuzz/corpus/{name}"))
        for file in covered_files(name):
            lines, branches = summaries[file]["lines"], summaries[file]["branches"]
            print(f"{name:10} {inputs:6}  {file:30} {lines['count']:6} {lines['percent']:7.1f}% "
                  f"{branches['percent']:8.1f}%")


if __name__ == "__main__":
    main()
