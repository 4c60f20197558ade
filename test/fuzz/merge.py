#!/usr/bin/env python3
"""merge.py: add a fuzzer's new inputs to the corpus, as few as cover the same code.

    merge.py --fuzzer PROGRAM --found DIR --corpus DIR

Started by `make fuzz-merge`. Files in the corpus stay: seeds and findings have descriptive names.
The script adds the inputs in --found that execute code which the corpus does not, the smallest
first. It stops when the corpus has FILES_MAX files or BYTES_MAX bytes, because the corpus is in the
repository and every `make test` runs it.
"""
import argparse
import os
import shutil
import subprocess
import tempfile

FILES_MAX, BYTES_MAX = 100, 300_000


def sized(directory):
    """Return (size, path) of the files in DIRECTORY, the smallest first."""
    return sorted((entry.stat().st_size, entry.path) for entry in os.scandir(directory))


def main():
    parser = argparse.ArgumentParser(description="add found inputs to a corpus")
    parser.add_argument("--fuzzer", required=True)
    parser.add_argument("--found", required=True)
    parser.add_argument("--corpus", required=True)
    options = parser.parse_args()
    before = sized(options.corpus)
    files, size = len(before), sum(s for s, _ in before)
    with tempfile.TemporaryDirectory() as merged:
        for _, path in before:
            shutil.copy(path, merged)
        # Consider edges without their counts, which gives few inputs instead of hundreds.
        subprocess.run([options.fuzzer, "-set_cover_merge=1", "-use_counters=0", "-timeout=60",
                        "-rss_limit_mb=4096", merged, options.found], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kept = {os.path.basename(path) for _, path in before}
        new = [(s, path) for s, path in sized(merged) if os.path.basename(path) not in kept]
        for input_size, path in new:
            if files == FILES_MAX or size + input_size > BYTES_MAX:
                break
            shutil.copy(path, os.path.join(options.corpus, "found_" + os.path.basename(path)[:12]))
            files, size = files + 1, size + input_size
    print(f"{options.corpus}: {len(before)} inputs, now {files}, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
