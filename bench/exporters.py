#!/usr/bin/env python3
"""exporters.py: the cost of exporting a large profile, and of opening the export in its viewer.

    bench/exporters.py --build build [--nodes 500000] [--viewers] [--only REGEX]

The profile is generated: a call tree of NODES nodes, about half of them with allocations, 20
snapshots with the live blocks at each, 20,000 functions. For each format there is a line with the
seconds, the peak memory and the size of `heaptap export`; with --viewers the available viewers open
the file as well. There is no verdict: machines differ. The memory must grow linearly with the
profile on all of them; twice the nodes should take twice the time.
"""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(root, "test", "run"), os.path.join(root, "test", "run", "tools")]
import maker  # noqa: E402
import past  # noqa: E402

FUNCTIONS, SNAPSHOTS, SEED, LIMIT_S = 20000, 20, 1, 600
FORMATS = {"collapsed": "collapsed", "flamegraph": "svg", "pprof": "pb.gz", "pprof-text": "heap",
           "speedscope": "speedscope.json", "chrome": "heapprofile", "firefox": "firefox.json",
           "heaptrack": "heaptrack.gz", "callgrind": "callgrind", "massif": "massif",
           "dhat": "dhat", "csv": "csv"}
PRINT = ["-p0", "-a0", "-T0"]
VIEWERS = {"pprof": ["go", "tool", "pprof", "-symbolize=none", "-top", "-nodecount=10", "FILE"],
           "pprof-text": ["google-pprof", "--text", "/bin/true", "FILE"],
           "heaptrack": ["heaptrack_print", *PRINT, "FILE"],
           "callgrind": ["callgrind_annotate", "--auto=no", "FILE"],
           "massif": ["ms_print", "FILE"],
           "csv": ["sqlite3", ":memory:", ".mode csv", ".import FILE t",
                   "select count(*), sum(live_bytes) from t"]}
IN_BROWSER = ("speedscope", "chrome", "flamegraph", "dhat")


class Large(past.Past):
    """A history with a given call tree: ROWS of [parent, address, site or 0]."""

    def __init__(self, count):
        super().__init__()
        rng = random.Random(SEED)
        self.rows, depths = [], []
        for i in range(count):
            # Callers are among the latest nodes, so that stacks have some dozens of frames.
            parent = 0 if i == 0 else max(0, i - 1 - int(rng.expovariate(1 / 40)))
            if i > 0 and depths[parent] > 60:
                parent = rng.randrange(min(i, 200))
            depths.append(depths[parent] + 1 if i else 1)
            self.rows.append([parent + 4 if i else 0, 0x401000 + 16 * rng.randrange(FUNCTIONS), 0])
        allocating = [i for i in range(count) if rng.random() < 0.5]
        for site, i in enumerate(allocating):
            self.rows[i][2] = site + 5
        self.stacks = allocating
        for n in range(SNAPSHOTS):
            share = allocating if n == 0 else rng.sample(range(len(allocating)),
                                                         len(allocating) // 10)
            for site in range(len(allocating)) if n == 0 else share:
                self.allocate(0, site, rng.randrange(1, 20), 16 * (1 + site % 40))
                if rng.random() < 0.7:
                    values = self.counters[0, site].values
                    blocks = (values[0] - values[2]) // 2
                    self.free(0, site, blocks, 16 * (1 + site % 40))
            self.wait(1)
            self.snapshot()

    def sums(self):
        """The true values at each snapshot would be larger than the profile, and are not needed."""
        return None

    def nodes(self):
        self.maker.nodes(self.rows)
        names = [f"library{i % 97}::component{i % 1013}::function_{i}(int, char const*)"
                 for i in range(FUNCTIONS)]
        self.maker.symbols([(self.maker.string(name), self.maker.string(f"src/file{i % 700}.cc"),
                             i % 900 + 1) for i, name in enumerate(names)],
                           [(0x401000 + 16 * i, i, 1) for i in range(FUNCTIONS)])


def measured(command, path=None):
    """Return seconds, peak MiB and exit status of COMMAND."""
    started = time.monotonic()
    with open(path or os.devnull, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except KeyboardInterrupt:
            process.kill()
            raise
    process.returncode = status
    return time.monotonic() - started, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def opened(options, form, path):
    """Return the time that the viewer of FORM takes with PATH, or the reason for a failure."""
    if form in VIEWERS:
        command = [word.replace("FILE", path) for word in VIEWERS[form]]
        if shutil.which(command[0]) is None:
            return f"{command[0]} is not here"
        seconds, mib, status = measured(["timeout", str(LIMIT_S), *command])
        return f"{command[0]}: {seconds:.1f} s" + (f", exit status {status}" if status else "")
    if form not in IN_BROWSER:
        return ""
    modules = os.path.join(options.build, "readers", "node_modules")
    if not os.path.isdir(modules) or shutil.which("node") is None:
        return "tools/setup readers brings it"
    done = subprocess.run(["node", os.path.join(root, "bench", "exporters.js"), form, path],
                          env={**os.environ, "NODE_PATH": os.path.abspath(modules)},
                          capture_output=True, timeout=LIMIT_S, check=False, text=True)
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[:200]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--nodes", type=int, default=500000)
    parser.add_argument("--viewers", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        Large(options.nodes).write(options.make)
        return
    heaptap = os.path.abspath(os.path.join(options.build, "heaptap"))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="heaptap-exporters-") as folder:
        profile = os.path.join(folder, "large.heaptap")
        # A separate process, because the peak memory of a child starts at its parent's.
        subprocess.run([sys.executable, __file__, "--make", profile, "--nodes",
                        str(options.nodes)], check=True)
        seconds, mib, _ = measured([heaptap, "report", "--no-fold", profile])
        print(f"{options.nodes} nodes, {os.path.getsize(profile) >> 20} MiB; "
              f"report: {seconds:.1f} s, {mib:.0f} MiB")
        for form, extension in FORMATS.items():
            path = os.path.join(folder, "large." + extension)
            if not re.search(options.only, form):
                continue
            seconds, mib, status = measured([heaptap, "export", "-f", form, "--no-fold", "-o", path,
                                             profile])
            size = os.path.getsize(path) / (1 << 20) if os.path.exists(path) else 0
            print(f"{form:12} {seconds:6.1f} s {mib:6.0f} MiB {size:8.1f} MiB of file"
                  f"{'' if status == 0 else f'  exit status {status}'}  "
                  f"{opened(options, form, path) if options.viewers and status == 0 else ''}",
                  flush=True)
            os.unlink(path)


if __name__ == "__main__":
    main()
