#!/usr/bin/env python3
"""builds.py: the time from the start to the end of a short command, recorded by each of several
builds.

    python3 bench/builds.py [--rounds N] [--batch N] BUILD BUILD... [-- COMMAND...]

The default command is `python3 -c pass`. A BUILD is a directory with libheaptap.so and, after `make
bench-programs`, bench/bin/startup. The first build is the baseline. In each round, every build and
a run without recorder have a batch of starts, in a random order, on one processor. A line has the
median of the batches' medians in ms, the excess over the baseline in the same round with its 95 %
interval, and the same for the processor time.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

import intervals

BARE = "no recorder"
WALL, CPU = 0, 1  # Columns of startup's output.


def batch(options, build, directory):
    """Return the medians (wall, processor) of a batch, in ms."""
    command = ["env"]  # For all builds, because startup must not preload the library.
    if build != BARE:
        library = os.path.abspath(f"{build}/libheaptap.so")
        command += [f"LD_PRELOAD={library}", f"HEAPTAP_OUT={directory}/%p.%n.heaptap"]
    done = subprocess.run([options.startup, str(options.batch), *command, *options.command],
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=True)
    times = [[int(word) / 1e6 for word in line.split()] for line in done.stdout.splitlines()]
    for name in os.listdir(directory):
        os.unlink(os.path.join(directory, name))
    return [intervals.estimate([run[which] for run in times]).median for which in (WALL, CPU)]


def line(build, taken, first):
    text = f"{build:<30}"
    for which, name in (WALL, "wall"), (CPU, "CPU"):
        median = intervals.estimate([b[which] for b in taken[build]]).median
        text += f" {name} {median:7.3f}"
        if build != first:
            e = intervals.estimate([b[which] - f[which]
                                    for b, f in zip(taken[build], taken[first])])
            text += f" {e.median:+.3f} [{e.low:+.3f}, {e.high:+.3f}]"
    return text


def main():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description="compare the start-up of builds")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--batch", type=int, default=20, help="starts in a row")
    parser.add_argument("builds", nargs="+")
    options = parser.parse_args(words[:at])
    options.command = words[at + 1:] or ["python3", "-c", "pass"]
    found = [f"{b}/bench/bin/startup" for b in options.builds]
    options.startup = next((f for f in found if os.path.exists(f)), None)
    if options.startup is None:
        sys.exit("builds.py: no bench/bin/startup in any of them; make bench-programs")
    os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    taken = {build: [] for build in [*options.builds, BARE]}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(options.rounds):
            for build in random.sample(sorted(taken), len(taken)):
                taken[build].append(batch(options, build, directory))
    for build in taken:
        print(line(build, taken, options.builds[0]))


if __name__ == "__main__":
    main()
