"""rss.py: the checks of rss.sh, on test/prog/fragmented.c and others.

    rss.py HEAPTAP PROGRAMS LIBRARY
"""
import glob
import json
import os
import subprocess
import sys

import dumps
from telling import finish, tell

heaptap, programs, library = sys.argv[1:4]
MIB = 1 << 20
THREADS = 3
# Live in each arena: every 4,000th block and the kept ones.
LIVE = (THREADS + 1) * (5 * 2000 + 40 * 1200) + MIB


def rss(process, *options, **environment):
    return subprocess.run([heaptap, "rss", *options, str(process)], capture_output=True, text=True,
                          env=dict(os.environ, **environment))


def fits(process):
    """Check that no line of the text for PROCESS is wider than the terminal."""
    for width in 60, 80, 120:
        text = rss(process, COLUMNS=str(width)).stdout
        wide = [line for line in text.splitlines() if len(line) > width]
        tell("Resident memory" in text and not wide, "no line exceeds %d columns" % width, wide)


def near(value, truth, share):
    return abs(value - truth) <= share * truth


def examined(program):
    """Return the member "resident" for PROGRAM, and check what holds of every process."""
    with open("/proc/%d/statm" % program.pid) as statm: # Reading pages of files adds them to it.
        whole = int(statm.read().split()[1]) * 4096
    got = rss(program.pid, "--json")
    tell(got.returncode == 0 and dumps.without_hints(got.stderr) == "", "rss succeeds",
         got.returncode, got.stderr)
    resident = json.loads(got.stdout)["resident"]
    parts = {part["name"]: part["bytes"] for part in resident["parts"]}
    tell(sum(parts.values()) == resident["rss_bytes"], "the parts add up to the whole", resident)
    tell(parts["unknown"] == 0, "no part is unknown", parts)
    tell(near(resident["rss_bytes"], whole, 0.01), "the whole is the kernel's", resident, whole)
    return resident, parts


def of_arenas(resident):
    return sum(arena["resident_bytes"] for arena in resident["arenas"])


def by_rows(process, parts):
    """Rows of live blocks add up to their part."""
    for by, key in ("site", "stack"), ("type", "name"):
        got = json.loads(rss(process, "--by", by, "--json").stdout)
        rows = got["resident"]["rows"]
        tell(near(sum(row["resident_bytes"] for row in rows), parts["live"] + parts["heaps"], 0.01)
             and all(row["resident_bytes"] <= row["bytes"] for row in rows),
             "rows by %s add up to the live blocks" % by, rows, parts)
        tell(len({str(row[key]) for row in rows}) == len(rows), "each %s has one row" % by, rows)
        # The threads' blocks and main's are from two stacks.
        kept = [row for row in rows if row["bytes"] == row["blocks"] * 1200]
        tell(sum(row["blocks"] for row in kept) == (THREADS + 1) * 40, "the kept blocks are rows",
             rows)
        text = rss(process, "--by", by).stdout
        tell("Live blocks" in text and all(len(line) <= 80 for line in text.splitlines()),
             "rows by %s in text" % by, text)


def fragmented():
    program = dumps.Waiting(library, "fragmented.heaptap",
                            [os.path.join(programs, "fragmented"), str(THREADS)], lines=1)
    program.asleep()
    resident, parts = examined(program)
    free = parts["free"] + parts["top"] + parts["cached"]
    fits(program.pid)
    # The large block has live bytes only where it was touched.
    tell(LIVE <= parts["live"] <= LIVE + 64 * 1024, "live bytes are as known", parts["live"], LIVE)
    tell(near(free, (THREADS + 1) * 20000 * 2016, 0.02), "freed bytes are as known", free)
    tell(5 * MIB <= parts["mapped"] <= 5 * MIB + 200 * 1024,
         "mapped bytes are as known, without pages of zeros", parts["mapped"])
    tell(len(resident["arenas"]) >= THREADS + 1, "each thread has an arena", resident["arenas"])
    tell(sum(arena["main"] for arena in resident["arenas"]) == 1, "one arena is the main one",
         resident["arenas"])
    tell(resident["mappings"][0]["resident_bytes"] >= 5 * MIB, "the mapping comes first",
         resident["mappings"][0])
    text = rss(program.pid)
    tell("Resident memory" in text.stdout and "malloc_trim(0) would return" in text.stdout and
         all(len(line) <= 80 for line in text.stdout.splitlines()), "text has the parts and advice",
         text.stdout, text.stderr)
    by_rows(program.pid, parts)
    program.go_on()
    returned = int(program.process.stdout.readline())
    program.asleep()
    tell(near(resident["trim_bytes"], returned, 0.01), "malloc_trim returns what was predicted",
         resident["trim_bytes"], returned)
    # The threads have one stack of kept blocks, main() has another.
    pins = resident["pins"][:2]
    tell([pin["blocks"] for pin in pins] == [THREADS * 40, 40] and
         all(pin["bytes"] == pin["blocks"] * 1200 for pin in pins), "the kept blocks keep most",
         resident["pins"])
    before = of_arenas(examined(program)[0])
    program.go_on()
    program.process.stdout.readline()
    program.asleep()
    # The frees cost the recorder some pages, so only the arenas show the effect.
    more = before - of_arenas(examined(program)[0])
    predicted = sum(pin["returned_bytes"] for pin in pins)
    tell(near(predicted, more, 0.02), "without them as much goes back as predicted", predicted,
         more)
    program.go_on()
    program.process.stdin.close()
    tell(program.process.wait() == 0, "the program ends as ever")


def of_python():
    script = ("import sys\nkept = [str(i) * 9 for i in range(100000)]\n"
              "print('ready', flush=True)\nsys.stdin.readline()\n")
    program = dumps.Waiting(library, "python.heaptap", [sys.executable, "-c", script])
    program.asleep()
    resident, parts = examined(program)
    tell(parts["live"] > 0 and parts["code"] > MIB, "an interpreter has blocks and code", parts)
    for heap in resident["heaps"]:
        tell(0 < heap["object_bytes"] <= heap["backing_bytes"], "heap %s is partly full" %
             heap["name"], heap)
    program.go_on()
    program.end()


def of_other_allocator():
    found = glob.glob("/usr/lib/*/libjemalloc.so.2")
    if not found:
        print("ok - jemalloc # SKIP it is not installed")
        return
    program = dumps.Waiting(library + " " + found[0], "jemalloc.heaptap",
                            [os.path.join(programs, "fragmented"), "0"], lines=1)
    program.asleep()
    resident, parts = examined(program)
    live = 5 * 2000 + 40 * 1200 + MIB
    tell(live <= parts["live"] <= live + 64 * 1024, "live bytes of jemalloc are as known", parts)
    tell(parts["allocator"] > MIB and parts["free"] < MIB,
         "the rest around blocks is the allocator's", parts)
    program.go_on()
    program.end()


def unrecorded():
    program = dumps.Waiting("", "none.heaptap",
                            [os.path.join(programs, "fragmented"), str(THREADS)], lines=1)
    program.asleep()
    resident, parts = examined(program)
    tell(not resident["recorded"] and parts["live"] == 0 and parts["recorder"] == 0 and
         near(parts["unrecorded"], LIVE, 0.03), "blocks in use are known without a recording",
         parts)
    fits(program.pid)
    text = rss(program.pid)
    tell("It is not recorded" in text.stdout and "fragmented 3" in text.stdout.splitlines()[0],
         "text states that nothing was recorded", text.stdout)
    program.go_on()
    returned = int(program.process.stdout.readline())
    tell(near(resident["trim_bytes"], returned, 0.01), "malloc_trim returns what was predicted",
         resident["trim_bytes"], returned)
    program.go_on()
    program.process.stdout.readline()
    program.go_on()
    program.end()


def refused():
    got = rss("12x")
    tell(got.returncode == 2 and "is no process id" in got.stderr, "a word is no process",
         got.returncode, got.stderr)
    ended = subprocess.Popen(["true"])
    ended.wait()
    got = rss(ended.pid)
    tell(got.returncode == 3 and "there is no process" in got.stderr,
         "a process that has ended is refused", got.returncode, got.stderr)


fragmented()
of_python()
of_other_allocator()
unrecorded()
refused()
finish()
