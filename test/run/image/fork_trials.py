"""fork_trials.py: find a forked child's inherited blocks, in random trials with
test/prog/fork_core.c.

    fork_trials.py HEAPTAP PROGRAMS LIBRARY [FIRST]

Each trial is a program that allocates, forks up to three times and continues in the last child.
`heaptap core` reads the child's memory from a dump, or from the running process. The program has
recorded its live and its lost blocks. A trial fails if a block is missing, is listed too often, has
a wrong size or is smaller than an inherited block must be, or if the number of lost blocks differs.
Some trials use annotations or jemalloc, whose inherited blocks are unknown: no block that these
keep may be reported as lost. Some dumps are self-contained: there, the totals count inherited
blocks as well. FORK_TRIALS is the number of trials, from seed FIRST on.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import dumps
from telling import finish, tell

heaptap, programs, library = sys.argv[1:4]
first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
trials = int(os.environ.get("FORK_TRIALS", "24"))
PROGRAM = os.path.join(programs, "fork_core")
THREAD_BLOCKS = 2  # Sizes of blocks that libc allocates for a thread.
# Size of a thread's cache; while empty, only registers distinguish it from a block.
CACHE_BYTES = 648


def document(*arguments):
    got = subprocess.run([heaptap, "core", "--json", *arguments], text=True,
                         capture_output=True)
    assert got.returncode == 0, got.stderr
    return json.loads(got.stdout)


def read_truth(path):
    """Return {address: (size, depth, kept)}, and the numbers at the end."""
    blocks, numbers = {}, {}
    for line in open(path):
        words = line.split()
        if len(words) == 4:
            blocks[int(words[0], 16)] = int(words[1]), int(words[2]), words[3] == "kept"
        else:
            numbers[words[0]] = int(words[1])
    return blocks, numbers


def wrong_blocks(truth, numbers, got, allocator):
    """Return the errors in the list of blocks, as text."""
    seen = set()
    extra = 0
    for block in got:
        address = int(block["address"], 16)
        if address in seen:
            return "twice: %#x" % address
        seen.add(address)
        if address not in truth:
            extra += numbers["stopped"] or block["size"] != CACHE_BYTES
            continue
        size, depth, _ = truth[address]
        if block["inherited"] != (depth != numbers["own"]):
            return "inherited or not: %#x of depth %d" % (address, depth)
        if allocator != "glibc" and block["size"] is None:
            continue
        if (allocator == "annotated" or not block["inherited"] and allocator == "glibc") and \
                block["size"] != size:
            return "%#x has %s bytes, not %d" % (address, block["size"], size)
        if block["inherited"] and not size <= block["size"] <= 2 * size + 8192:
            return "%#x has up to %s bytes, not %d" % (address, block["size"], size)
    missing = {a for a in truth if allocator != "jemalloc" or truth[a][1] == numbers["own"]} - seen
    if missing:
        return "%d of %d blocks missing: %s" % (len(missing), len(truth),
                                                [hex(a) for a in missing][:4])
    if extra > THREAD_BLOCKS * numbers["threads"]:
        return "%d blocks too many" % extra
    return None


def wrong_totals(got):
    """Check that the totals and the sites count every block of the list."""
    count = len(got["blocks"])
    sums = got["totals"]["live_blocks"], got["memory"]["blocks"]
    return None if sums == (count, count) else "%d blocks, but in total %s" % (count, sums)


def wrong_reach(truth, numbers, got, allocator):
    """Check that there are never more lost blocks than expected. There may be fewer: the stack of
    an ended thread, which libc keeps, may have remains of an address, and an unreadable heap may
    have any address."""
    lost = sum(not kept for _, _, kept in truth.values())
    count = got["lost"]["blocks"] + got["lost_through_others"]["blocks"]
    least = lost - (got["reached_from_mapped_memory"]["blocks"] if numbers["threads"] else 0)
    if allocator != "glibc":
        least = 0
    return None if least <= count <= lost else "%d blocks lost, not %d" % (count, lost)


def read(directory, what, process):
    """Return the trial's two documents, of a dump or of the process."""
    if what == "dump":
        process.wait()
        core = next(n for n in os.listdir(directory) if n.startswith("core"))
        source = [os.path.join(directory, core)]
    else:
        path = os.path.join(directory, "truth")
        for _ in range(6000):
            if os.path.exists(path):
                break
            time.sleep(0.01)
        source = ["--pid", str(read_truth(path)[1]["pid"])]
    return document("--blocks", *source), document("--leaks", *source)


def trial(seed, what, allocator, contained):
    directory = tempfile.mkdtemp(dir=".")
    truth = os.path.join(directory, "truth")
    environment = dict(os.environ, LD_PRELOAD=library,
                       HEAPTAP_OUT=os.path.abspath(directory) + "/%p.heaptap")
    if allocator == "annotated":
        environment["HEAPTAP_ANNOTATE"] = "15"
    if contained:
        environment["HEAPTAP_SELF_CONTAINED"] = "1"
    if allocator == "jemalloc":
        environment["LD_PRELOAD"] += ":" + JEMALLOC
    process = subprocess.Popen([PROGRAM, str(seed), "truth", what], cwd=directory, env=environment,
                               preexec_fn=dumps.allow_dumps)
    numbers = {}
    try:
        largest, leaks = read(directory, what, process)
        blocks, numbers = read_truth(truth)
        numbers["stopped"] = what == "dump"
        inherited = leaks["memory"]["inherited"]
        # If a parent has allocated nothing, its child inherits no block.
        if inherited is None and any(depth != numbers["own"] for _, depth, _ in blocks.values()):
            return "no child"
        if inherited is not None and inherited["complete"] != (allocator != "jemalloc"):
            return "complete or not: " + str(inherited)
        return (wrong_blocks(blocks, numbers, largest["blocks"], allocator) or
                wrong_totals(largest) or
                wrong_reach(blocks, numbers, leaks["reachability"], allocator))
    except AssertionError as failed:
        return str(failed)
    finally:
        if what == "wait" and os.path.exists(truth):
            os.kill(read_truth(truth)[1]["pid"], 9)
        process.wait()
        shutil.rmtree(directory)


def sampled(seed, way):
    """No inherited block is listed, or the child's unsampled blocks would count twice."""
    directory = tempfile.mkdtemp(dir=".")
    dump = dumps.crash(library, os.path.join(directory, "dump"), directory + "/%p.heaptap",
                       [PROGRAM, str(seed), "truth", "dump"], way)
    got = document(dump)
    profile = "%s/%d.heaptap" % (directory, got["process"]["pid"])
    report = subprocess.run([heaptap, "report", "--json", profile], capture_output=True, text=True)
    live = json.loads(report.stdout)["totals"]["live_blocks"]
    inherited = got["memory"]["inherited"]
    tell((inherited["blocks"], inherited["complete"]) == (0, False) and
         got["totals"]["live_blocks"] == live and live > 0,
         "%s, seed %d: the child's own blocks, once" % (way, seed), inherited,
         got["totals"]["live_blocks"], live)
    text = subprocess.run([heaptap, "core", dump], capture_output=True, text=True).stdout
    tell(text.count("allocated before the fork") == 1 and
         "Blocks allocated before the fork are left out" in text,
         "%s, seed %d: one line notes that the others are left out" % (way, seed), text)
    shutil.rmtree(directory)


JEMALLOC = "libjemalloc.so.2"
allocators = ["glibc"] * 8 + ["annotated", "jemalloc"]
if JEMALLOC not in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout:
    allocators[-1] = "glibc"
    print("ok - forks with jemalloc # SKIP it is not installed")
ways = ["dump", "wait"] if dumps.kernel_dumps() else ["wait"]
for number in range(first, first + trials):
    way = ways[number % len(ways)]
    kind = allocators[number // 2 % len(allocators)]
    alone = way == "dump" and number % 3 == 0
    wrong = trial(number, way, kind, alone)
    tell(wrong is None, "forks of seed %d with %s, read by %s%s" %
         (number, kind, way, ", self-contained" if alone else ""), wrong)
if "dump" in ways:
    sampled(1, {"HEAPTAP_SAMPLE": "4096"})
    sampled(3, {"HEAPTAP_SAMPLE_COUNT": "3"})
else:
    print("ok - dumps of forks # SKIP the kernel writes dumps elsewhere")
finish()
