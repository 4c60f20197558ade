"""own.py: attach to programs with their own allocator.

    own.py FORM            counts exactly; FORM is a key of FORMS
    own.py churn ROUNDS    attaches to busy programs and detaches, again and again

Exits with 1 and a sentence on failure."""
import os
import re
import subprocess
import sys
import time

from attach import Program, code, compare, heaptap, read, report, state

SOURCE = os.path.join(os.environ["SRCDIR"], "test/run/attach/own_allocator.c")
BLOCKS, BYTES = 100, sum(range(10, 110))
THREAD_BLOCKS, THREAD_BYTES = 50, 50 * 32
FUNCTION_BYTES = 3 * 7 + 30 + 1000

POOL = tuple(word for name in ("malloc", "free", "calloc", "realloc", "aligned_alloc")
             for word in ("--hook", f"pool_{name}={name}"))

# The compiler's flags, and the options of attach.
FORMS = {
    "exported": ((), ()),
    "fixed": (("-no-pie",), ()),
    "ibt": (("-fcf-protection=full",), ()),
    "hidden": (("-DHIDDEN",), ()),
    "local": (("-DPREFIX=pool_", "-fcf-protection=full"), POOL),
    "debug": (("-DPREFIX=pool_",), POOL),
}
SEPARATE = "debug"  # Its symbols are in another file.


def build(form):
    flags, hooks = FORMS[form]
    subprocess.check_call(("gcc", "-O2", "-g", "-fno-builtin", "-pthread", *flags, "-o", form,
                           SOURCE))
    if form == SEPARATE:
        subprocess.check_call(("objcopy", "--only-keep-debug", form, f"{form}.debug"))
        subprocess.check_call(("objcopy", "--strip-all", f"--add-gnu-debuglink={form}.debug",
                               form))
    return f"./{form}", hooks


def own_sums(document):
    """Return the sums of all sites except libc's own."""
    names, frames = document["tables"]["functions"]["name"], document["tables"]["frames"]
    parents, innermost = (document["tables"]["stacks"][part] for part in ("parent", "frame"))
    sums = {"allocations": 0, "allocated_bytes": 0, "live_blocks": 0}
    for index, stack in enumerate(document["sites"]["stack"]):
        functions = []
        while stack is not None:
            if innermost[stack] is not None:
                functions.append(names[frames["function"][innermost[stack]]])
            stack = parents[stack]
        if not any("pthread_create" in name for name in functions):
            for part in sums:
                sums[part] += document["sites"][part][index]
    return sums


def expect(what, expected, actual):
    if expected != actual:
        sys.exit(f"{what}: expected {expected}, got {actual}")


def check_endbr(before, during):
    """Each changed function still begins with endbr64, and has the jump behind it."""
    jumps = 0
    for start, old in before.items():
        new = during[start]
        for i in range(len(old) - 5):
            if old[i] != new[i] == 0xe9 and i >= 4 and old[i - 4:i] == b"\xf3\x0f\x1e\xfa":
                expect("endbr64", old[i - 4:i], new[i - 4:i])
                jumps += 1
    if jumps < 5:
        sys.exit(f"only {jumps} functions with endbr64 were patched")


def count_exactly(form):
    command, hooks = build(form)
    program = Program(command, "commands")
    program.tell("attcs")
    before = state(program.pid)
    heaptap("attach", "--detached", "-o", f"{form}.heaptap", *hooks, program.pid)
    if form == "ibt":
        check_endbr(before["code"], code(program.pid))
    strings = 2
    program.tell("aaftatcc" + "s" * strings + "a")
    heaptap("detach", "--no-pack", program.pid)
    compare(before, state(program.pid))
    program.tell("aftcs")
    document = report(f"{form}.heaptap")
    sums, losses = own_sums(document), document["losses"]
    expect("allocations", 4 * BLOCKS + 2 * THREAD_BLOCKS + 2 * 3 + strings, sums["allocations"])
    expect("bytes", 4 * BYTES + 2 * THREAD_BYTES + 2 * FUNCTION_BYTES + strings * 13,
           sums["allocated_bytes"])
    expect("live blocks", 2 * BLOCKS, sums["live_blocks"])
    expect("frees of blocks from before", BLOCKS, losses["unrecorded_frees"])
    expect("errors", [], document["unknown_frees"])
    expect("losses", 0, losses["events"])
    expect("the program", ("ok\n", 0), program.end())


def churn(form, count):
    command, hooks = build(form)
    program = subprocess.Popen((command, "churn", "3"), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    before = None
    for i in range(count):
        profile = f"{form}.heaptap"
        if os.path.exists(profile):
            os.unlink(profile)
        heaptap("attach", "--detached", "-o", profile, *hooks, program.pid)
        while report(profile)["totals"]["allocations"] == 0:  # The machine may be busy.
            time.sleep(0.01)
        heaptap("detach", "--no-pack", program.pid)
        document = report(profile)
        if document["unknown_frees"] or document["losses"]["events"]:
            sys.exit(f"{form}: {document['totals']} {document['losses']}")
        if before is not None and before != code(program.pid):
            sys.exit(f"{form}: the code has changed")
        before = code(program.pid)
    if re.search(rb"\.heaptap|anon:heaptap", read(program.pid, "maps")):
        sys.exit(f"{form}: something is left")
    output, _ = program.communicate(timeout=60)
    expect(form, ("ok\n", 0), (output, program.returncode))


def main():
    if sys.argv[1] == "churn":
        for form in ("exported", "hidden", "local"):
            churn(form, int(sys.argv[2]))
    else:
        count_exactly(sys.argv[1])


if __name__ == "__main__":
    main()
