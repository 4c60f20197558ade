"""exact.py: attach to a program whose allocations are known, and detach.

    exact.py [LIBRARY]

With LIBRARY, the program has that allocator. Exits with 1 if a number differs, or if the process is
not as before."""
import os
import subprocess
import sys

from attach import HEAPTAP, Program, compare, heaptap, report, state

BLOCKS, BYTES = 100, sum(range(10, 110))
# calloc, realloc, posix_memalign, aligned_alloc, memalign, valloc, pvalloc, reallocarray
FUNCTION_BYTES = [21, 100, 30, 64, 20, 10, 11, 30]
GLIBCS = 2  # The last two are glibc's only.
THREAD_BLOCKS, THREAD_BYTES = 50, 32


def check(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: wanted {wanted}, got {got}")


def main():
    environment = dict(os.environ)
    functions = FUNCTION_BYTES
    if len(sys.argv) > 1:
        functions = functions[:-GLIBCS]
        environment["LD_PRELOAD"] = sys.argv[1]
    program = Program(env=environment)
    program.tell("actt")  # Let all functions be bound and all arenas be made.
    before = state(program.pid)

    heaptap("attach", "--detached", "-o", "exact.heaptap", program.pid)
    program.tell("aactttk")
    live = report(program.pid)
    check("live blocks while it runs", 2 * BLOCKS, live["totals"]["live_blocks"])
    rounds = 0
    program.tell("f")  # Frees 200 recorded blocks and 100 from before.
    with subprocess.Popen((HEAPTAP, "snapshot", str(program.pid), "freed"),
                          stdout=subprocess.DEVNULL) as snapshot:
        while snapshot.poll() is None:  # The recorder looks for requests every 256 events.
            program.tell("af")
            rounds += 1
    check("snapshot", 0, snapshot.returncode)
    program.tell("a")
    heaptap("detach", program.pid)

    document = report("exact.heaptap")
    totals, losses = document["totals"], document["losses"]
    others = library_sums(document)
    check("attached", True, document["process"]["attached"])
    check("allocations", (3 + rounds) * BLOCKS + len(functions) + 3 * THREAD_BLOCKS,
          totals["allocations"] - others["allocations"])
    check("bytes", (3 + rounds) * BYTES + sum(functions) +
          3 * THREAD_BLOCKS * THREAD_BYTES, totals["allocated_bytes"] - others["allocated_bytes"])
    check("live bytes", BYTES, totals["live_bytes"])
    check("live blocks", BLOCKS, totals["live_blocks"])
    check("frees of blocks from before", BLOCKS, losses["unrecorded_frees"])
    check("errors", [], document["unknown_frees"])
    check("losses", 0, losses["events"])
    check("snapshots", ["freed"], [s["name"] for s in document["snapshots"] if s["name"]])

    after = state(program.pid)
    compare(before, after)
    check("the program", ("ok\n", 0), program.end())


def library_sums(document):
    """Return the sums of the sites below pthread_create: libc's, for new threads."""
    names, frames = document["tables"]["functions"]["name"], document["tables"]["frames"]
    parents, innermost = (document["tables"]["stacks"][part] for part in ("parent", "frame"))
    sums = {"allocations": 0, "allocated_bytes": 0}
    for index, stack in enumerate(document["sites"]["stack"]):
        functions = []
        while stack is not None:
            if innermost[stack] is not None:
                functions.append(names[frames["function"][innermost[stack]]])
            stack = parents[stack]
        if any("pthread_create" in name for name in functions):
            for part in sums:
                sums[part] += document["sites"][part][index]
    return sums


if __name__ == "__main__":
    main()
