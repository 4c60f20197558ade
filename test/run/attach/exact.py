"""exact.py: attach to a program whose allocations are known, and detach.

    exact.py [LIBRARY]           with LIBRARY, the program has that allocator
    exact.py static ARCHIVE      the allocator is linked into the program
    exact.py renamed ARCHIVE     the same, but its functions are called je_malloc and so on

Exits with 1 if a number differs, or if the process is not as before; with 2 if the program cannot
be linked."""
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


def link(archive, renamed):
    """Link the program with the allocator in ARCHIVE. Return the path, and attach's options."""
    flags, options = [], ()
    if renamed:
        names = ("malloc", "free", "calloc", "realloc", "posix_memalign", "aligned_alloc",
                 "memalign", "valloc")
        flags = [f"-D{name}=je_{name}" for name in names]
        options = ("--hook", "jemalloc")
        subprocess.check_call(("objcopy", *(f"--redefine-sym={name}=je_{name}" for name in names),
                               archive, "renamed.a"))
        archive = "renamed.a"
    r = subprocess.run(("gcc", "-O1", "-g", "-fno-builtin", "-pthread", *flags, "-o", "linked",
                        os.path.join(os.environ["SRCDIR"], "test/prog/attached.c"),
                        archive, "-lstdc++", "-lm"), stderr=subprocess.DEVNULL)
    if r.returncode != 0:
        sys.exit(2)
    return "./linked", options


def main():
    environment = dict(os.environ)
    functions = FUNCTION_BYTES
    command, options = (), ()
    if len(sys.argv) > 1:
        functions = functions[:-GLIBCS]
        environment["LD_PRELOAD"] = sys.argv[1] if len(sys.argv) == 2 else ""
    if len(sys.argv) > 2:
        path, options = link(sys.argv[2], sys.argv[1] == "renamed")
        command = (path, "commands")
    program = Program(*command, env=environment)
    program.tell("actt")  # Let all functions be bound and all arenas be made.
    before = state(program.pid)

    heaptap("attach", "--detached", "-o", "exact.heaptap", *options, program.pid)
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
