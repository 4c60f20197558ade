"""core.py: the checks of core.sh. If one fails, `heaptap core` misreads a dump.

The programs' blocks are known by construction (test/prog/core_blocks.c).
"""
import gzip
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import time

import documents
import dumps
from telling import finish, tell

heaptap, programs, library, part = sys.argv[1:5]
BLOCKS = os.path.join(programs, "core_blocks")
BIG = 128 << 10


def run(*arguments, path=None):
    environment = dict(os.environ)
    if path is not None:
        environment["PATH"] = path
    return subprocess.run([heaptap, *arguments], capture_output=True, text=True, env=environment)


def shown(*arguments, **more):
    got = run("core", *arguments, **more)
    return got.stdout if got.returncode == 0 else "failed: " + got.stderr


def document(*arguments):
    """Return the JSON of the dump, with its stacks written out."""
    got = run("core", "--json", "--no-fold", *arguments)
    assert got.returncode == 0, got.stderr
    return documents.loads(got.stdout)


def sites(*arguments):
    """Map each innermost function to its live blocks and live bytes."""
    got = {}
    for site in document(*arguments)["sites"]:
        name = site["stack"][0]["function"]
        blocks, bytes_ = got.get(name, (0, 0))
        got[name] = blocks + site["live_blocks"], bytes_ + site["live_bytes"]
    return got


def compressed(dump):
    with open(dump, "rb") as source, gzip.open(dump + ".gz", "wb", 1) as target:
        shutil.copyfileobj(source, target)
    yield dump + ".gz"
    if shutil.which("zstd"):
        subprocess.run(["zstd", "-q", "-1", dump], check=True)
        yield dump + ".zst"


def cut_short(dump):
    """Test a dump by gdb, with its notes at the end. If it is cut anywhere, it is reported as
    truncated, whether the rest has the recorder's memory or not."""
    with open(dump, "rb") as source:
        data = source.read()
    for percent in range(5, 100, 15):
        with open("cut", "wb") as target:
            target.write(data[:len(data) * percent // 100])
        for name in ("cut", *compressed("cut")):
            got = run("core", name)
            tell(got.returncode in (0, 3) and "is truncated" in got.stderr and
                 "not recorded" not in got.stderr, "%d %% of a dump: %s" % (percent, name),
                 got.returncode, got.stderr)
            if name != "cut":
                os.remove(name)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def check_outputs(dump):
    """An output never replaces an input, whatever its name, or a recorded profile."""
    os.symlink(dump, "dump.link")
    os.link("eight.heaptap", "hard.heaptap")
    shutil.copy("eight.heaptap", "other.heaptap")
    inputs = [(dump, dump, "is the core dump"), (dump, "dump.link", "is the core dump"),
              (dump, "eight.heaptap", "is the profile that is being read"),
              (dump, "./hard.heaptap", "is the profile that is being read"),
              (dump, "other.heaptap", "is a recorded profile")]
    shutil.copy(dump, "zipped")
    inputs += [(name, name, "is the core dump") for name in compressed("zipped")]
    for core_, output, words in inputs:
        before = digest(output)
        got = run("core", "--profile", "eight.heaptap", "-o", output, core_)
        tell(got.returncode == 2 and words in got.stderr and before == digest(output),
             "core -o %s" % output, got.returncode, got.stderr)
    before = digest("other.heaptap")
    got = run("pack", "-o", "other.heaptap", "eight.heaptap")
    tell(got.returncode == 2 and "is a recorded profile" in got.stderr and
         before == digest("other.heaptap"), "pack -o a recorded profile", got.stderr)
    got = run("pack", "-o", "./other.heaptap", "other.heaptap")
    tell(got.returncode == 0 and before != digest("other.heaptap"), "pack in place", got.stderr)
    got = run("core", "--profile", "eight.heaptap", "-o", "other.heaptap", dump)
    tell(got.returncode == 0, "core -o a packed profile", got.stderr)


def moments():
    eight = {"grow": (8, 8 * BIG), "main": (1, 48)}
    nine = dict(eight, add_one=(1, 1 << 20))
    program = dumps.Waiting(library, "eight.heaptap", [BLOCKS, "eight"])
    live = sites("--pid", str(program.pid))
    tell(live == eight, "a running process: the blocks of its first moment", live)
    if dumps.have_gcore():
        one = dumps.gcore(program.pid, "one")
        program.go_on()
        program.ready()
        two = dumps.gcore(program.pid, "two")
        program.end()
        tell(sites(one) == eight, "two moments: the first, with the profile of a later one",
             sites(one))
        tell(sites(two) == nine, "two moments: the second", sites(two))
        text = shown(one, path=os.path.abspath("missing"))
        tell("sizes: 131071 x4, 131073 x4\n" in text and "core_blocks.c:" in text,
             "sizes of blocks and lines of source, without gdb and addr2line", text)
        for name in compressed(one):
            tell(sites(name) == eight, "a dump compressed as " + name.split(".")[-1], sites(name))
        cut_short(one)
        for name, dump in ("a", one), ("b", two):
            made = run("core", "-o", name + ".heaptap", dump)
            tell(made.returncode == 0, "a profile of the moment: " + name, made.stderr)
        check_outputs(one)
        diff = json.loads(run("diff", "--json", "a.heaptap", "b.heaptap").stdout)
        growth = diff["growth"]["inuse"]
        tell(growth == 1 << 20, "two moments: the growth in diff", growth)
        report = documents.loads(run("report", "--json", "--no-fold", "b.heaptap").stdout)
        tell(report["totals"]["live_bytes"] == 8 * BIG + (1 << 20) + 48 and
             report["totals"]["frees"] == 0, "report of the moment's profile", report["totals"])
        wrong = run("core", "--profile", "a.heaptap", one)
        tell(wrong.returncode == 0, "a profile of the moment has the stacks, too", wrong.stderr)
    else:
        program.go_on()
        program.ready()
        program.end()
        print("ok - two moments # SKIP there is no gcore")


def aborts():
    """Check that the block at which malloc aborts is named, or none; no case names another block.
    """
    if not os.confstr("CS_GNU_LIBC_VERSION"):
        print("ok - aborts of malloc # SKIP the C library is not glibc")
        return
    aborting = os.path.join(programs, "core_aborts")
    wanted = {
        "large overflow": ("free(): invalid next size", "overflowed"),
        "small word": ("free(): invalid size", "overwritten"),
        "large word": ("free(): invalid size", "overwritten"),
        "small zeroed": ("free(): invalid pointer", "overwritten"),
        "large zeroed": ("free(): invalid pointer", "overwritten"),
        "small ones": ("munmap_chunk(): invalid pointer", "overwritten"),
        "large ones": ("munmap_chunk(): invalid pointer", "overwritten"),
        "large beyond": ("double free or corruption (out)", "overwritten"),
        "large unused": ("double free or corruption (!prev)", "freed_twice_or_overflowed"),
        "large twice": ("double free or corruption (!prev)", "freed_twice_or_overflowed"),
        "small twice": ("free(): double free detected", "freed_twice"),
        "fast twice": ("double free or corruption (fasttop)", "freed_twice"),
        "large realloc beyond": ("realloc(): invalid old size", "overwritten"),
        "large realloc overflow": ("realloc(): invalid next size", "overflowed"),
        "top": ("malloc(): corrupted top size", "overflowed"),
        "small inside": ("free(): invalid pointer", None),
        "itself": None,
    }
    for way, expected in wanted.items():
        name = "abort_" + way.replace(" ", "_")
        dump = dumps.crash(library, "dump_" + name, name + ".heaptap", [aborting, way])
        died = memory("--blocks", dump)["memory"]["signal"]
        got = died["abort"]
        if died["name"] != "SIGABRT":
            # glibc 2.41 copies from a block with such a size without checking it.
            print("ok - %s # SKIP this C library dies of %s there" % (way, died["name"]))
            continue
        if expected is None:
            tell(got is None, "abort() itself is no damage", got)
            continue
        message, kind = expected
        tell(got is not None and got["message"].startswith(message) and got["kind"] == kind,
             "%s: the message of malloc, and what follows" % way, got)
        functions = [got[k] and got[k]["allocated"][0]["function"] for k in ("block", "front")]
        tell(functions == [kind and "culprit", "neighbour" if kind == "overwritten" else None],
             "%s: the block" % way, got)
        tell(not any("libheaptap" in (f["module"] or "") for f in died["stack"]) and
             any(f["function"] == "main" for f in died["stack"]),
             "%s: the stack of the abort is without the recorder's frames" % way, died["stack"])
    name = "annotated_twice"
    dump = dumps.crash(library, "dump_" + name, name + ".heaptap", [aborting, "small twice"],
                       {"HEAPTAP_ANNOTATE": "15"})
    got = memory("--blocks", dump)["memory"]["signal"]["abort"]
    tell(got is not None and got["kind"] == "freed_twice" and
         got["block"]["allocated"][0]["function"] == "culprit",
         "an annotated block freed twice: the block", got)
    check_names_freed()
    text = shown("dump_abort_large_overflow/" + os.listdir("dump_abort_large_overflow")[0])
    tell("    malloc's message: free(): invalid next size" in text and
         " was being freed and most likely overflowed\n" in text and
         " was allocated by\n      culprit " in text and "neighbour" not in text[:text.find("#1")],
         "the block being freed, in words", text)
    text = shown("dump_abort_small_inside/" + os.listdir("dump_abort_small_inside")[0])
    tell("the message does not show which block was damaged" in text, "an unknown block, in words",
         text)


def check_names_freed():
    """--check blames the freed block that overflowed, and so does the cause of the abort."""
    dump = "dump_abort_large_overflow/" + os.listdir("dump_abort_large_overflow")[0]
    got = run("core", "--check", "--json=nested", "--no-fold", dump)
    found = json.loads(got.stdout)
    culprit = found["memory"]["signal"]["abort"]["block"]["address"]
    damaged = found["check"]["damaged"]
    tell(got.returncode == 1 and [(d["culprit"], d["neighbour_freed"]) for d in damaged] ==
         [(culprit, True)], "--check: the freed block overflowed", culprit, damaged)
    text = run("core", "--check", dump).stdout
    tell("  A freed block at %s has most likely been written past its end" % culprit in text,
         "--check: the freed block, in words", text)


ALLOCATORS = ["libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc.so.4",
              "libtcmalloc_minimal.so.4"]


def allocator(name):
    """Return the path of the library NAME, or None."""
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
    return next((line.split()[-1] for line in known.split("\n") if line.split()[:1] == [name]),
                None)


def sizes():
    """Test blocks of allocators whose sizes a dump does not have: the sums of stacks are exact, and
    so are the sizes that follow from them. No block reaches into the next one."""
    truth = {"small": [1, 24], "large": [3000, 4001, 5000], "single": [5001], "equal": [777] * 5}
    for name in ALLOCATORS:
        path = allocator(name)
        if path is None:
            print("ok - sizes with %s # SKIP it is not installed" % name)
            continue
        dump = dumps.crash(library + ":" + path, "dump_" + name, name + ".heaptap",
                           [BLOCKS, "sizes"])
        listed = [b for b in memory("--blocks", dump)["blocks"] if b["stack"]]
        for function, wanted in truth.items():
            own = [b for b in listed if b["stack"][0]["function"] == function]
            tell(len(own) == len(wanted) and sum(b["size"] for b in own) == sum(wanted),
                 "%s: the sum of %s" % (name, function), own)
            if len(set(wanted)) == 1:
                tell(all(b["size_is_exact"] and b["size"] == wanted[0] for b in own),
                     "%s: exact sizes of %s" % (name, function), own)
            else:
                tell(all(not b["size_is_exact"] or b["size"] in wanted for b in own),
                     "%s: sizes of %s" % (name, function), own)
        listed.sort(key=lambda b: int(b["address"], 16))
        across = [(a, b) for a, b in zip(listed, listed[1:])
                  if int(a["address"], 16) + a["size"] > int(b["address"], 16)]
        tell(not across, "%s: no block reaches into the next one" % name, across[:1])
        totals = [json.loads(run(*view).stdout)["totals"] for view in (
            ("core", "--json", dump), ("report", "--json", name + ".heaptap"))]
        tell(totals[0]["live_bytes"] == totals[1]["live_bytes"],
             "%s: as many live bytes as in the profile" % name,
             *[t["live_bytes"] for t in totals])


def chunks():
    """Test the sums of lost and reached blocks in a program whose heaps are inside blocks of
    malloc."""
    dump = dumps.crash(library, "dump_chunks", "chunks.heaptap", [BLOCKS, "chunks"])
    found = json.loads(run("core", "--json", "--leaks", dump).stdout)
    reached = found["reachability"]
    tell((reached["others"], reached["reached"]["blocks"], reached["lost"]["blocks"]) ==
         ({"blocks": 3, "bytes": 3000}, found["totals"]["live_blocks"], 0) and
         found["memory"]["blocks"] == 3 + reached["reached"]["blocks"],
         "chunks of the program's heaps are no blocks that can be reached", reached)
    tell("2.9 KiB in 3 chunks in which the program's heaps are" in shown("--leaks", dump),
         "chunks of the program's heaps, in text", shown("--leaks", dump))


def crashes():
    if not dumps.kernel_dumps():
        print("ok - crashes # SKIP the kernel writes dumps elsewhere")
        return
    sizes()
    chunks()
    aborts()
    wanted = {
        "null": ["Killed by SIGSEGV: it touched 0x10\n", "      main ", "a null pointer"],
        "freed": ["is the beginning of a block that was freed\n",
                  "was allocated by\n      use_freed "],
        "behind": ["behind the end of a block of 132,072 bytes\n", "\n      read_behind "],
        "unmapped": [" is 2,097,152 bytes past the start of a freed, unmapped block\n",
                     "was allocated by\n      unmapped "],
        "trimmed": [" is the start of a freed, unmapped block\n",
                    "was allocated by\n      trimmed "],
        "illegal": ["Killed by SIGILL at the instruction 0x", " is in "],
        "divide": ["Killed by SIGFPE at the instruction 0x", "      fault "],
        "trap": ["Killed by SIGTRAP, or dumped by a debugger, at a breakpoint\n"],
        "step": ["Killed by SIGTRAP at the instruction 0x", "      fault "],
        "overflow": ["Ended itself by SIGABRT", "word in front of 1 block has been written over",
                     "of 24 bytes, which ends 8 bytes before it, allocated by\n      overflow "],
        "call": ["Killed by SIGSEGV: it touched 0x40\n      0x40\n      jump "],
        "recursion": ["      recursion ", "frame above, ", " times more\n", "the stack overflowed"],
        "threads": ["\n      first ", "\n      second ", "sizes: 1 x1024"],
    }
    crash_stacks = {"null": ["main"], "freed": ["use_freed", "main"], "call": ["jump", "main"],
                    "illegal": ["fault", "main"], "divide": ["fault", "main"],
                    "overflow": ["overflow", "main"]}
    ended_by = {"overflow": "SIGABRT", "threads": "SIGABRT", "illegal": "SIGILL",
                "divide": "SIGFPE", "step": "SIGTRAP", "trap": "SIGTRAP"}
    for what, texts in wanted.items():
        dump = dumps.crash(library, "dump_" + what, what + ".heaptap", [BLOCKS, what])
        text = shown(dump, path=os.path.abspath("missing"))
        signal = document(dump)["memory"]["signal"]
        tell(signal["name"] == ended_by.get(what, "SIGSEGV"), what + ": the signal, in JSON",
             signal)
        if what in crash_stacks:
            own = [f["function"] for f in signal["stack"]
                   if (f["file"] or "").endswith("core_blocks.c")]
            tell(own == crash_stacks[what], what + ": the stack of the thread that died", own)
        for part_ in texts:
            tell(part_ in text, "%s: says '%s'" % (what, part_.strip()), text)
    dump = "dump_freed/" + os.listdir("dump_freed")[0]
    freed = json.loads(run("core", "--json", dump).stdout)["memory"]["signal"]["place"]
    text = shown("--block", freed["address"], dump)
    tell("the block: " not in text and "\n  the live block before it: 0x" in text,
         "a freed block is not described as its neighbour", text)
    got = memory("--block", freed["address"], dump)
    near = [b and (b["size"], b["stack"][0]["function"]) for b in (got["before"], got["behind"])]
    tell(got["place"]["kind"] == "ended" and got["birth"] is None and
         near == [(48, "main"), (64, "use_freed")], "the live blocks around a freed one, in JSON",
         near)
    dump = dumps.crash(library, "dump_pool", "pool.heaptap", [BLOCKS, "pool"])
    text = shown(dump)
    tell("Objects of its own heaps are not among them." in text and
         "\n    heaptap report %s/pool.heaptap\n" % os.getcwd() in text,
         "a dump notes that it lacks objects of the program's heaps", text)
    found = json.loads(run("core", "--json", "--leaks", dump).stdout)
    reached = found["reachability"]
    blocks = sum(reached[key]["blocks"] for key in ("reached", "reached_from_mapped_memory",
                                                    "lost", "lost_through_others"))
    tell(blocks == found["memory"]["blocks"] - reached["others"]["blocks"] and
         blocks == document(dump)["totals"]["live_blocks"],
         "the sums by reachability are those of the live blocks", reached,
         found["memory"]["blocks"])
    text = shown("dump_null/" + os.listdir("dump_null")[0])
    tell("Objects of its own heaps" not in text, "nothing of heaps without heaps", text)
    for way in ({"HEAPTAP_RESERVE": "4000000"}, {"HEAPTAP_SAMPLE_COUNT": "3"},
                {"HEAPTAP_SAMPLE": "64"}):
        name = "_".join(*way.items())
        dump = dumps.crash(library, "dump_" + name, name + ".heaptap", [BLOCKS, "threads"], way)
        keys = "live_blocks", "live_bytes"
        totals = [[d["totals"][k] for k in keys] for d in (
            document(dump), json.loads(run("report", "--json", name + ".heaptap").stdout))]
        tell(totals[0] == totals[1] and totals[0][0] > 0,
             name + ": as many live blocks as in the profile", totals)
    got = sites("dump_threads/" + os.listdir("dump_threads")[0])
    tell(got["first"] == got["second"] == (1024, 1024), "threads: 1024 blocks of 1 byte each", got)


def first_memory(data):
    """Return the end of a dump's first piece of memory, which is the program itself."""
    at, = struct.unpack_from("<Q", data, 32)
    each, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, at + i * each)
        if kind == 1 and length > 0: # PT_LOAD
            return offset + length
    raise ValueError("a dump without memory")


def refused():
    if not dumps.kernel_dumps():
        print("ok - refused input # SKIP the kernel writes dumps elsewhere")
        return
    bare = dumps.crash(library, "bare", "", [BLOCKS, "overflow"])
    dump = dumps.crash(library, "whole", "whole.heaptap", [BLOCKS, "overflow"])
    size = os.path.getsize(dump)
    with open(dump, "rb") as source:
        data = source.read()
    for name, length in (("short", first_memory(data)), ("half", size // 2), ("head", 100),
                         ("tail", size - 5000)):
        with open(name, "wb") as target:
            target.write(data[:length])
    open("empty", "w").close()

    def says(name, texts, *arguments):
        got = run("core", *arguments)
        text = got.stdout + got.stderr
        tell(got.returncode == 3 and all(t in text for t in texts), name, got.returncode, text)

    got = run("core", bare)
    tell(got.returncode == 0 and "It was not recorded, so stacks" in got.stdout and
         "SIGABRT" in got.stdout, "a process that was not recorded", got.returncode, got.stdout)
    says("no dump at all", ["no core dump, but a program"], BLOCKS)
    says("some other file", ["no core dump: it does not begin"], sys.argv[0])
    says("an empty file", ["empty", "ulimit -c"], "empty")
    says("a dump without memory", ["truncated before any memory"], "head")
    says("a dump with the first piece of memory only", ["is truncated, and"], "short")
    lines = run("core", "short").stderr.splitlines()
    tell(len(lines) == 2 and "; make a complete dump (ulimit -c unlimited" in lines[0] and
         lines[1].startswith("heaptap: short: Ended itself by SIGABRT"),
         "its remedy, and its end", lines)
    with open("tiny", "wb") as target:
        target.write(data[:30])
    says("a dump of 30 bytes", ["tiny is truncated within its first header; a limit (ulimit"],
         "tiny")
    says("a profile", ["is no core dump, but a profile; heaptap report whole.heaptap shows it"],
         "whole.heaptap")
    says("a directory", [". is a directory; name the file of a core dump"], ".")
    says("a missing file", ["there is no file missing; /proc/sys/kernel/core_pattern shows"],
         "missing")
    with open("unreadable", "wb") as target:
        target.write(data)
    os.chmod("unreadable", 0)
    if os.access("unreadable", os.R_OK):
        tell(True, "an unreadable file # SKIP needs a user without privileges")
    else:
        says("an unreadable file", ["may not be read: permission denied; run heaptap as the owner"],
             "unreadable")
    object_file = bytearray(data[:64])
    object_file[16] = 1
    with open("object", "wb") as target:
        target.write(object_file)
    says("another ELF file", ["is no core dump, but another kind of ELF file; make a dump"],
         "object")
    foreign = bytearray(open(bare, "rb").read())
    foreign[18] = 183
    with open("foreign", "wb") as target:
        target.write(foreign)
    says("another architecture", ["was not recorded by heaptap: it has another architecture than"],
         "foreign")
    with open("dies.c", "w") as source:
        source.write("#include <stdlib.h>\nint main(void) { abort(); }\n")
    # The program itself allocates nothing. Its C library may.
    for flag, text in (("-static", "it is statically linked; link it with libheaptap_static.a"),
                       ("-static-pie", "it is statically linked; link it with"),
                       ("-pie", "record the next one with `heaptap run`")):
        subprocess.run(["gcc", flag, "-o", "dies" + flag, "dies.c"], check=True)
        dies = dumps.crash(library, "dump_dies" + flag, "", [os.path.abspath("dies" + flag)])
        got = run("core", dies)
        tell(got.returncode == 3 and "has no heap of glibc's malloc" in got.stderr and
             "was not recorded by heaptap" in got.stderr and text in got.stderr or
             got.returncode == 0 and "was not recorded, so" in got.stdout and
             (flag == "-pie" or "libheaptap_static.a" in got.stderr),
             "a program linked with %s" % flag, got.returncode, got.stdout, got.stderr)
    # The loader decides whether the recorder's memory is in the first half or the second.
    half = run("core", "half")
    tell(half.returncode == 3 and "is truncated, and" in half.stderr or
         half.returncode == 0 and "is truncated: " in half.stderr, "a dump cut in half",
         half.returncode, half.stderr)
    says("a process that does not live", ["there is no process"], "--pid", "4194301")
    parent = dumps.Waiting(library, "parent.heaptap", [BLOCKS, "child"])
    with open("/proc/%d/task/%d/children" % (parent.pid, parent.pid)) as children:
        child = children.read().strip()
    got = sites("--pid", child)
    # Only registers distinguish the thread's empty cache from a block, and no registers are read
    # here.
    tell(got == {"[allocated before the fork]": (2, 56 + 648)},
         "a child that has allocated nothing", got)
    parent.end()
    tail = run("core", "tail")
    tell("is truncated: " in tail.stderr, "a dump cut short by little is reported", tail.stderr)
    other = run("core", "/bin/true", dump)
    tell("does not seem to be a dump of /bin/true" in other.stderr, "a dump of another program",
         other.stderr)

    dumps.crash(library, "other", "other.heaptap", [BLOCKS, "overflow"])
    says("the profile of another run", ["is not the profile of"], "--profile", "other.heaptap",
         dump)
    os.rename("whole.heaptap", "renamed.heaptap")
    tell(run("core", dump).returncode == 0, "a profile that was renamed is found")
    os.rename("renamed.heaptap", "renamed.away")
    says("a profile that is gone", ["is gone", "--profile", "--self-contained-core"], dump)
    tell(run("core", "--profile", "renamed.away", dump).returncode == 0,
         "a profile that was named is taken")
    carried()


def carried():
    """Remove the profile of an annotated dump: all queries have the same answers, except for the
    stacks of freed blocks and the names of threads. The output of -o is never taken for the
    profile."""
    dump = dumps.crash(library, "dump_carried", "carried.heaptap", [BLOCKS, "freed"],
                       {"HEAPTAP_ANNOTATE": "15"})
    freed = json.loads(run("core", "--json", dump).stdout)["memory"]["signal"]["place"]
    block = memory("--blocks", dump)["blocks"][0]["address"]
    questions = ([], ["--blocks"], ["--leaks"], ["--block", block], ["--find-pointers", block],
                 ["--check"])

    def answers():
        found = []
        for question in questions:
            text = shown(*question, dump)
            found.append([line for line in text.partition(" blocks live ")[2].split("\n")
                          if "  allocated: by thread " not in line])
        return found
    whole = answers()
    tell(all(len(lines) > 2 for lines in whole), "an annotated dump", whole)
    os.remove("carried.heaptap")
    run("core", "-o", "moment_of_carried.heaptap", dump)
    for with_, without, question in zip(whole, answers(), questions):
        tell(without == with_, "without the profile: the same answer to %s" % question, with_,
             without)
    said = run("core", "--json", "--block", freed["freed_address"], dump)
    got = json.loads(said.stdout) if said.returncode == 0 else {"memory": {}}
    tell(got["memory"].get("stacks_from_annotations") and "allocated" not in got["place"] and
         said.stderr.count("\n") == 1, "without the profile: JSON has it", got["memory"],
         said.stderr)
    report = run("report", "--json", "moment_of_carried.heaptap")
    made = documents.loads(report.stdout)["sites"] if report.returncode == 0 else []
    functions = sorted(s["stack"][0]["function"] for s in made)
    tell(functions == ["main", "use_freed"], "without the profile: a profile by -o", functions)


def memory(*arguments):
    """Return the document heaptap-memory, with its stacks written out."""
    got = run("core", "--json=nested", "--no-fold", *arguments)
    assert got.returncode == 0, got.stderr
    found = json.loads(got.stdout)
    assert found["format"] == "heaptap-memory", found["format"]
    return found


def sum_of(leaks, kind):
    return leaks[kind]["blocks"], leaks[kind]["bytes"]


def check_leaks(what, where, reached=13, on_stack=0):
    leaks = memory("--leaks", *where)["reachability"]
    got = {kind: sum_of(leaks, kind) for kind in leaks if isinstance(leaks[kind], dict)}
    # A list of 5, a ring of 2, and a block of 1000 bytes are lost. Reachable are a list of 10, a
    # block by a thread-local variable, a block by an interior pointer, and main's block.
    tell(got["lost"] == (3, 32 + 32 + 1000), what + ": nothing points to them", got)
    tell(got["lost_through_others"] == (5, 4 * 32 + 32), what + ": lost with others", got)
    tell(got["reached"][0] == reached and got["reached_from_stacks"][0] == on_stack,
         what + ": reached", got)
    by_function = {}
    for one in leaks["stacks"]:
        name = one["stack"][1 if one["stack"][0]["function"] == "add_node" else 0]["function"]
        blocks = one["lost"]["blocks"] + one["lost_through_others"]["blocks"]
        by_function[name] = by_function.get(name, 0) + blocks
    tell(by_function == {"lose_list": 5, "lose_ring": 2, "lose_one": 1}, what + ": whose they are",
         by_function)


def coroutine():
    """If a coroutine's stack is a block, memory after it counts as heap; main's stack still counts
    as stack."""
    program = dumps.Waiting(library, "coroutine.heaptap", [BLOCKS, "coroutine"])
    program.asleep()
    where = ["--pid", str(program.pid)]
    check_leaks("a coroutine", where, reached=14, on_stack=1)
    if dumps.have_gcore():
        where = [dumps.gcore(program.pid, "coroutine")]
        check_leaks("a coroutine's dump", where, reached=14, on_stack=1)
    own = [b["address"] for b in memory("--blocks", *where)["blocks"] if b["size"] == 72]
    kinds = [p["kind"] for p in memory("--find-pointers", own[0], *where)["pointers"]]
    tell("stack" in kinds, "a coroutine: the pointer to main's block", kinds)
    program.end()


def check_vectors(what, names, where):
    """Check that each block that a vector register points to is reached, and that the register is
    named."""
    leaks = memory("--leaks", *where)["reachability"]
    tell(sum_of(leaks, "lost") == (1, 399), what + ": only the lost block is lost", leaks)
    at = {b["size"]: b["address"] for b in memory("--blocks", *where)["blocks"]}
    for i, name in enumerate(names):
        found = memory("--find-pointers", at[300 + i], *where)["pointers"]
        tell([(p["kind"], p["holder"].split(" of ")[0]) for p in found] ==
             [("register", "a vector register" if name[0] == "z" else name)],
             "%s: the pointer to the block in %s" % (what, name), found)


def vectors():
    command = [os.path.join(programs, "vectors")]
    program = dumps.Waiting(library, "vectors.heaptap", command, lines=1)
    names = program.lines[0].split()
    check_vectors("vector registers", names, ["--pid", str(program.pid)])
    if dumps.have_gcore():
        check_vectors("vector registers in a dump by gdb", names,
                      [dumps.gcore(program.pid, "vectors")])
    program.process.kill()
    program.end()
    if dumps.kernel_dumps():
        dump = dumps.crash(library, "in_vectors", "died.heaptap", command + ["die"])
        check_vectors("vector registers in a dump", names, [dump])
    for name in ("ymm10", "zmm20"):
        if name not in names:
            print("ok - vector registers # SKIP the processor has no " + name)


def check_sealed(what, where, lost, mapped, missing):
    found = memory("--leaks", *where)
    leaks = found["reachability"]
    got = {kind: sum_of(leaks, kind) for kind in leaks if isinstance(leaks[kind], dict)}
    tell(got["lost"] == lost, what + ": the lost blocks", got)
    tell(got["reached_from_mapped_memory"] == mapped, what + ": kept by mapped memory", got)
    tell(got["reached"] == (1, 201), what + ": kept by the sealed variable", got)
    tell(found["memory"]["excluded_bytes"] == missing, what + ": memory that the dump lacks",
         found["memory"])
    text = shown("--leaks", *where)
    tell(("perhaps lost: nothing in the rest of the dump" in text) == (missing > 0),
         what + ": a pointer may be in memory that the dump lacks", text)


def sealed():
    """Pointers in memory without write access or without any access keep blocks; memory excluded
    from dumps may."""
    command = [os.path.join(programs, "sealed")]
    program = dumps.Waiting(library, "sealed.heaptap", command)
    where = ["--pid", str(program.pid)]
    check_sealed("sealed memory of a process", where, (1, 206), (3, 202 + 203 + 204), 0)
    at = {b["size"]: b["address"] for b in memory("--blocks", *where)["blocks"]}
    for size, kind in (201, "variable"), (202, "mapped"), (203, "mapped"), (204, "mapped"):
        kinds = [p["kind"] for p in memory("--find-pointers", at[size], *where)["pointers"]]
        tell(kinds == [kind], "the pointer to the block of %d bytes" % size, kinds)
    program.end()
    program = dumps.Waiting(library, "excluded.heaptap", command + ["excluded"])
    check_sealed("excluded memory of a process", ["--pid", str(program.pid)], (1, 206),
                 (4, 202 + 203 + 204 + 205), 0)
    program.end()
    if not dumps.kernel_dumps():
        print("ok - sealed memory in a dump # SKIP the kernel writes dumps elsewhere")
        return
    dump = dumps.crash(library, "in_sealed", "sealed_died.heaptap", command + ["die"])
    check_sealed("sealed memory in a dump", [dump], (1, 206), (3, 202 + 203 + 204), 0)
    contained = {"HEAPTAP_SELF_CONTAINED": "1"}
    dump = dumps.crash(library, "in_contained", "contained_died.heaptap", command + ["die"],
                       contained)
    check_sealed("sealed memory in a dump with its profile", [dump], (1, 206),
                 (3, 202 + 203 + 204), 0)
    dump = dumps.crash(library, "in_excluded", "excluded_died.heaptap",
                       command + ["excluded", "die"])
    check_sealed("excluded memory in a dump", [dump], (2, 205 + 206), (3, 202 + 203 + 204), 4096)
    said = run("core", "--leaks", dump).stderr
    tell("lacks 4.0 KiB of writable memory" in said, "excluded memory is mentioned", said)


def held():
    """A thread blocked in the kernel does not delay the others, and no signal is lost."""
    program = dumps.Waiting(library, "held.heaptap", [BLOCKS, "held"])
    took = []
    for _ in range(20):
        before = time.monotonic()
        found = memory("--leaks", "--pid", str(program.pid))
        took.append(time.monotonic() - before)
    tell(max(took) < 5, "a thread in vfork: it is not waited for", took)
    tell(found["memory"]["threads"] == 2 and found["memory"]["threads_held"] == 1 and
         found["memory"]["threads_running"] == 0, "a thread in vfork is seen", found["memory"])
    said = run("core", "--leaks", "--pid", str(program.pid)).stderr
    tell("the kernel holds 1 thread of process" in said, "a thread in vfork: its registers", said)
    program.go_on()
    count = program.process.stdout.readline().split()
    tell(count[0] == count[2] and int(count[0]) > 1000, "signals while it was stopped", count)
    program.end()


def births():
    """Check the thread and the time of a block's allocation, as precisely as a ledger with five
    bytes a block can record them."""
    program = dumps.Waiting(library, "births.heaptap", [BLOCKS, "births"], lines=4)
    places = [["--pid", str(program.pid)]]
    if dumps.have_gcore():
        places.append([dumps.gcore(program.pid, "births")])
    for where in places:
        windows = {}
        for line in program.lines:
            who, address, tid, before, after = line.split()
            got = memory("--block", address, *where)
            birth, start = got["birth"], got["process"]["start_unix_ns"]
            name = "%s, %s: " % ("a dump" if len(where) == 1 else "a process", who)
            tids = [t["tid"] for t in birth["threads"]]
            tell(tids == [int(tid)], name + "its thread", birth, tid)
            low = birth["from_ns"]
            high = birth["to_ns"] if birth["to_ns"] is not None else float("inf")
            slack = 30000000 # Tolerance between two clocks, of which one advances in ticks.
            before, after = int(before) - start, int(after) - start
            tell(low <= after + slack and before - slack <= high, name + "its time", birth, before,
                 after)
            windows[who] = low, high
            later = birth["later_blocks"]
            tell(later == (7 if who == "late" else None), name + "the number of later blocks",
                 birth)
        # A second passes between the two allocations.
        tell(windows["early"][1] <= windows["middle"][0], "their times are distinct", windows)
        text = shown("--block", program.lines[3].split()[1], *where)
        tell("which has allocated 7 blocks since\n" in text, "its thread in words", text)
    program.end()


def rebuilt():
    """A variable gets its name from the dumped program, and from no other."""
    if not dumps.have_gcore():
        print("ok - a program built anew # SKIP there is no gcore")
        return
    shutil.copy(BLOCKS, "core_blocks")
    program = dumps.Waiting(library, "rebuilt.heaptap", [os.path.abspath("core_blocks"), "leaks"])
    program.asleep()
    dump = dumps.gcore(program.pid, "rebuilt")
    inside = memory("--blocks", dump)["blocks"][1]["address"]

    def holders():
        return [p["holder"] for p in memory("--find-pointers", inside, dump)["pointers"]]
    tell("kept + 8 in core_blocks" in holders(), "a program as it was", holders())
    with open("core_blocks", "rb") as file:
        data = bytearray(file.read())
    note = data.find(b"\3\0\0\0GNU\0") # Offset of the build id.
    if note >= 0:
        data[note + 8] ^= 1
        with open("built", "wb") as file:
            file.write(data)
        os.replace("built", "core_blocks")
        names = [name for name in holders() if name.endswith(" in core_blocks")]
        tell(not names and any(name.startswith("core_blocks + 0x") for name in holders()),
             "a program built anew", holders())
    else:
        print("ok - a program built anew # SKIP programs have no build id")
    program.end()


def blocks():
    births()
    rebuilt()
    coroutine()
    vectors()
    sealed()
    held()
    program = dumps.Waiting(library, "leaks.heaptap", [BLOCKS, "leaks"])
    program.asleep()
    where = ["--pid", str(program.pid)]
    check_leaks("a running process", where)
    if dumps.have_gcore():
        where = [dumps.gcore(program.pid, "leaks")]
        check_leaks("a dump", where)
    largest = memory("--blocks", *where)["blocks"]
    tell([b["size"] for b in largest[:3]] == [1000, 500, 48] and len(largest) == 21,
         "the largest blocks", largest[:3], len(largest))
    inside = largest[1]["address"]
    shown_at = memory("--block", hex(int(inside, 16) + 100), *where)
    place = shown_at["place"]
    tell(place["kind"] == "block" and place["offset"] == 100 and
         place["block"]["address"] == inside and place["block"]["size"] == 500 and
         place["block"]["stack"][0]["function"] == "leaks", "the block at an address", place)
    tell(shown_at["before"]["size"] == shown_at["behind"]["size"] == 32, "its neighbours",
         shown_at["before"], shown_at["behind"])
    holders = [p["holder"] for p in memory("--find-pointers", inside, *where)["pointers"]]
    tell("kept + 8 in core_blocks" in holders, "the pointer to it: a variable by its name", holders)
    heads = [b for b in largest if b["size"] == 32 and
             [f["function"] for f in b["stack"][:2]] == ["add_node", "leaks"]]
    first = min(heads, key=lambda b: int(b["address"], 16))
    found = memory("--find-pointers", first["address"], *where)["pointers"]
    tell([p["holder"] for p in found if p["kind"] == "block"] ==
         ["byte 0 of a block of 32 bytes, allocated by add_node"],
         "the pointer to it: another block", found)
    text = shown("--block", inside, *where)
    tell("is the beginning of a block of 500 bytes\n" in text and
         "behind it: 0x" in text, "a block in words", text)
    text = shown("--leaks", *where)
    tell("lost: nothing points there" in text and "\n      lose_one " in text, "leaks in words",
         text)
    both = run("core", "--leaks", "--blocks", *where)
    tell(both.returncode == 2 and "exclude each other" in both.stderr, "two questions at once",
         both.stderr)
    for text in ("seven", "-1", " 5", "5", "1e3", "abc", "0x", "0x ", "0x-1", "0x1g",
                 "0x10000000000000000"):
        wrong = run("core", "--block=" + text, *where)
        tell(wrong.returncode == 2 and "no address" in wrong.stderr, "no address: %r" % text,
             wrong.stderr)
    program.end()
    sampled = dumps.Waiting(library, "sampled.heaptap", [BLOCKS, "leaks"],
                            {"HEAPTAP_SAMPLE_COUNT": "2"})
    part_ = run("core", "--leaks", "--pid", str(sampled.pid))
    tell(part_.returncode == 2 and "every block" in part_.stderr, "leaks of a sample are refused",
         part_.stderr)
    sampled.end()


def growing():
    """Dump a process that makes new stacks all the time: each of its blocks has the right stack,
    and its profile is not called damaged because it changes while it is read."""
    program = dumps.Waiting(library, "growing.heaptap", [BLOCKS, "growing"])
    others, said = [], []
    for i in range(5):
        got = document("--pid", str(program.pid))
        others += [s for s in got["sites"] if s["other"]]
        report = run("report", "--json", str(program.pid))
        run("core", "--pid", str(program.pid), "-o", f"moment{i}.heaptap")
        moment = run("report", "--json", f"moment{i}.heaptap")
        for note in (got["notes"] + json.loads(report.stdout)["notes"] +
                     json.loads(moment.stdout)["notes"]):
            said += [note["text"]] if note["kind"] == "damaged-file" else []
    tell(not others, "a process that makes new stacks: each block has one", len(others), others[:1])
    tell(not said, "a process that makes new stacks: nothing is damaged", said)
    program.go_on()
    program.end()


def seen(name, least):
    """Return the number of allocations in the copy in file NAME, once that is at least LEAST."""
    while True:
        report = run("report", "--json", name)
        count = json.loads(report.stdout)["totals"]["allocations"] if report.returncode == 0 else 0
        if count >= least:
            return count
        time.sleep(0.02)


def in_pieces():
    """A large profile in memory is copied in pieces: no call takes long, and if the program is
    killed at any time, the remaining file is complete."""
    alone = {"HEAPTAP_SELF_CONTAINED": "1", "LD_PRELOAD": library}
    longest = []
    # On a busy machine, any single call may be slow; a slow recorder is slow each time.
    while len(longest) < 4 and min(longest, default=15000) >= 15000:
        got = subprocess.run([BLOCKS, "calls"], capture_output=True, text=True,
                             env=dict(os.environ, HEAPTAP_OUT="calls.heaptap", **alone))
        longest.append(int(got.stdout))
        size = os.path.getsize("calls.heaptap")
    tell(size > 8 << 20 and min(longest) < 15000, "a profile of %d MiB: the longest call" %
         (size >> 20), longest)
    for wait in 0.1, 0.4, 0.7:
        name = "killed%d.heaptap" % (10 * wait)
        environment = dict(os.environ, HEAPTAP_OUT=os.path.abspath(name), **alone)
        program = subprocess.Popen([BLOCKS, "calls", "300"], stdout=subprocess.DEVNULL,
                                   env=environment)
        before = seen(name, 1000)
        time.sleep(wait)
        program.kill()
        program.wait()
        report = run("report", "--json", name)
        totals = json.loads(report.stdout)["totals"] if report.returncode == 0 else {}
        # Whenever a piece is copied, one block is live, at another stack each time.
        tell(totals.get("allocations", 0) >= before and "skipped" not in report.stderr and
             0 <= totals["live_blocks"] < 1000,
             "killed %s s after a copy was seen: the file is whole" % wait, totals, before,
             report.stderr)


def lost():
    """A file that cannot be opened for a while gets the rest later."""
    program = subprocess.Popen(
        [BLOCKS, "stacks"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=dict(os.environ, HEAPTAP_OUT=os.path.abspath("lost.heaptap"), LD_PRELOAD=library,
                 HEAPTAP_SELF_CONTAINED="1"))
    while not os.path.exists("lost.heaptap"):
        time.sleep(0.001)
    os.rename("lost.heaptap", "away")
    time.sleep(0.1)
    os.rename("away", "lost.heaptap")
    least = int(program.communicate()[0])
    report = run("report", "--json", "lost.heaptap")
    totals = json.loads(report.stdout)["totals"] if report.returncode == 0 else {}
    tell(totals.get("allocations", 0) >= least > 1000 and "copy of memory" not in report.stderr,
         "a file that was away for a while is whole in the end", least, totals, report.stderr)


def counters_of(document_):
    """Map each stack, as function and line of each frame, to its counters."""
    got = {}
    for site in document_["sites"]:
        stack = tuple((f["function"], f["line"]) for f in site["stack"])
        numbers = {k: v for k, v in site.items() if isinstance(v, int) or v is None}
        assert stack not in got, stack
        got[stack] = numbers
    return got


def grown():
    """Copies are made while tables grow because of other threads; the last copy is complete."""
    for i in range(4):
        got = run("run", "--self-contained-core", "-o", "grown%d.heaptap" % i, BLOCKS, "stacks")
        report = run("report", "--json", "grown%d.heaptap" % i)
        totals = documents.loads(report.stdout)["totals"] if report.returncode == 0 else {}
        least = int(got.stdout)
        tell(totals.get("allocations", 0) >= least > 1000 and "truncated" not in got.stderr and
             "copy of memory" not in report.stderr, "tables that grow: the last copy has all",
             least, totals, got.stderr, report.stderr)


def by_stack(document_):
    """Map each stack, as module, offset and function of each frame, to its counters."""
    got = {}
    for site in document_["sites"]:
        stack = tuple((f["module"], f["offset"], f["function"]) for f in site["stack"])
        got[stack] = {k: v for k, v in site.items() if isinstance(v, int) or v is None}
    assert len(got) == len(document_["sites"])
    return got


PYTHON_WORK = """
import ast, json, re, sys
kept = []
for module in (ast, json, re):
    with open(module.__file__) as source:
        kept.append(ast.parse(source.read()))
        json.dumps(ast.dump(kept[-1]))
print("ready", flush=True)
sys.stdin.readline()
"""
SQLITE_WORK = """create table t (a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
insert into t select i, hex(i * i) from n;
create index s on t (b);
select 'ready' from (select b from t order by length(b), b desc) limit 1;
"""


def foreign():
    """Run other projects' programs, each once with a file and once without. The file of the one run
    and the dump of the other have equal counters for each stack."""
    # Isolated mode keeps it from searching this directory for modules.
    programs_ = {"python3": [os.path.realpath(sys.executable), "-S", "-I", "-c", PYTHON_WORK]}
    if shutil.which("sqlite3"):
        programs_["sqlite3"] = ["sqlite3", "-batch", "-init", "/dev/null", ":memory:"]
    for name, command in programs_.items():
        found = []
        for alone in "0", "1":
            profile = "%s%s.heaptap" % (name, alone)
            program = dumps.Waiting(library, profile, command,
                                    {"HEAPTAP_SELF_CONTAINED": alone, "PYTHONHASHSEED": "0"},
                                    asks=SQLITE_WORK if name == "sqlite3" else "")
            program.asleep()
            if alone == "0":
                where = "report", "--json", "--no-fold", str(program.pid)
            elif dumps.have_gcore():
                where = "core", "--json", "--no-fold", dumps.gcore(program.pid, name)
                os.remove(profile)
            else:
                where = "core", "--json", "--no-fold", "--pid", str(program.pid)
            found.append(documents.loads(run(*where).stdout))
            program.end()
        file, dump = (by_stack(d) for d in found)
        differ = {s: (file.get(s), dump.get(s)) for s in set(file) | set(dump)
                  if file.get(s) != dump.get(s)}
        tell(not differ and len(file) > 100, "%s from the dump alone: all counters of %d stacks" %
             (name, len(file)), list(differ.items())[:2], len(differ))
        for document_ in found:
            del document_["totals"]["peak_elapsed_ns"]
        tell(found[0]["totals"] == found[1]["totals"], name + " from the dump alone: the totals",
             found[0]["totals"], found[1]["totals"])


def contained():
    grown()
    in_pieces()
    lost()
    foreign()
    alone = {"HEAPTAP_SELF_CONTAINED": "1"}
    ordinary = dumps.Waiting(library, "ordinary.heaptap", [BLOCKS, "leaks"])
    truth = documents.loads(run("report", "--json", "--no-fold", str(ordinary.pid)).stdout)
    ordinary.end()
    program = dumps.Waiting(library, "alone.heaptap", [BLOCKS, "leaks"], alone)
    where = ["--pid", str(program.pid)]
    if dumps.have_gcore():
        where = [dumps.gcore(program.pid, "alone")]
    copy = documents.loads(run("report", "--json", "--no-fold", "alone.heaptap").stdout)
    tell(copy["process"]["pid"] == program.pid and not copy["process"]["ended"],
         "the copy of a running process is a profile", copy["process"])
    program.end()
    whole = documents.loads(run("report", "--json", "--no-fold", "alone.heaptap").stdout)
    tell(whole["totals"]["allocations"] == truth["totals"]["allocations"] and
         not whole["notes"], "the file is whole when the process has ended", whole["totals"],
         whole["notes"])
    os.remove("alone.heaptap")
    if len(where) == 1:
        got = document(*where)
        tell(counters_of(got) == counters_of(truth),
             "from the dump alone: all counters of all stacks", counters_of(got),
             counters_of(truth))
        keys = "allocations", "allocated_bytes", "frees", "freed_bytes", "live_bytes", "peak_bytes"
        tell([got["totals"][k] for k in keys] == [truth["totals"][k] for k in keys],
             "from the dump alone: the totals", got["totals"], truth["totals"])
        made = run("core", "-o", "made.heaptap", *where)
        tell(made.returncode == 0, "a profile made of the dump alone", made.stderr)
    else:
        print("ok - from the dump alone # SKIP there is no gcore")

    jemalloc = [p for p in ("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
                            "/usr/lib64/libjemalloc.so.2") if os.path.exists(p)]
    for name, preload in [("glibc", library)] + [("jemalloc", library + ":" + p)
                                                 for p in jemalloc]:
        program = dumps.Waiting(preload, name + ".heaptap", [BLOCKS, "many"], alone)
        where = ["--pid", str(program.pid)]
        if dumps.have_gcore():
            where = [dumps.gcore(program.pid, name)]
        os.remove(name + ".heaptap")
        got = document(*where)
        tell(not got["losses"]["file_failed"], "16 threads with %s: nothing is missing" % name,
             got["losses"])
        site = [s for s in got["sites"] if s["stack"][0]["function"] == "work"]
        keys = ("allocations", "allocated_bytes", "frees", "freed_bytes", "reallocations",
                "live_blocks", "live_bytes", "size_min", "size_max")
        got = [[s[k] for k in keys] for s in site]
        tell(got == [[16000, 640000, 8000, 320000, 0, 8000, 320000, 40, 40]],
             "16 threads with %s: counters" % name, got)
        listed = [b for b in memory("--blocks", *where)["blocks"]
                  if b["stack"][0]["function"] == "work"]
        tell(len(listed) == 8000 and all(b["size"] == 40 for b in listed),
             "16 threads with %s: blocks of the ledger" % name, len(listed), listed[:1])
        program.end()
    if dumps.kernel_dumps():
        dump = dumps.crash(library, "dump_alone", "crash.heaptap", [BLOCKS, "overflow"], alone)
        os.remove("crash.heaptap")
        text = shown(dump)
        tell("\n      overflow " in text and "has been written over" in text,
             "a crash, from the dump alone", text)
        dumps.crash(library, "dump_killed", "killed.heaptap", [BLOCKS, "null"], alone)
        killed = run("report", "killed.heaptap")
        tell("may lack the latest events" in killed.stderr, "the file of a killed process notes it",
             killed.stderr)
    ended = run("run", "--self-contained-core", "-o", "ended.heaptap", "sh", "-c", "kill -9 $$")
    tell("core dump: heaptap core" not in ended.stderr, "no dump is promised that there is not",
         ended.stderr)
    both = run("run", "--self-contained-core", "--reserve", "4M", "true")
    tell(both.returncode == 2, "a reserve beside it is refused", both.stderr)


def in_gdb(program, *commands):
    """Return gdb's output for COMMANDS about PROGRAM, a list whose last element may be a dump."""
    lines = ["-ex", "source " + sys.argv[5]]
    for command in commands:
        lines += ["-ex", command]
    environment = dict(os.environ, HEAPTAP=heaptap, DEBUGINFOD_URLS="")
    got = subprocess.run(["gdb", "-nx", "-batch", *lines, *program], capture_output=True, text=True,
                         env=environment, stdin=subprocess.DEVNULL)
    return got.stdout + got.stderr


def debugger():
    if not shutil.which("gdb") or "yes" not in in_gdb([], "python print('y' + 'es')"):
        print("ok - inside gdb # SKIP there is no gdb with Python")
        return
    if dumps.kernel_dumps():
        dump = dumps.crash(library, "dump_gdb", "gdb.heaptap", [BLOCKS, "behind"])
        text = in_gdb([BLOCKS, dump], "heaptap block p + 100", "heaptap sites --limit 1",
                      "heaptap block")
        tell("is byte 100 of a block of 132,072 bytes\n" in text, "gdb on a dump: a block", text)
        tell("sizes: 132072\n" in text, "gdb on a dump: the stacks", text)
        tell("heaptap block takes an address" in text, "gdb: a block of nothing", text)
    text = in_gdb(["--args", BLOCKS, "leaks"], "set startup-with-shell off",
                  "set environment LD_PRELOAD " + library,
                  "set environment HEAPTAP_OUT " + os.path.abspath("gdb_live.heaptap"),
                  "break wait_for_line", "run", "up", "heaptap block inside + 1",
                  "heaptap pointers list", "heaptap leaks", "heaptap retain list->next", "kill")
    if "\n#1 " not in text:
        print("ok - inside gdb # SKIP it cannot run a program here")
        return
    tell("is byte 1 of a block of 500 bytes\n" in text, "gdb on a live process: a block", text)
    tell("list in core_blocks" in text, "gdb on a live process: the pointer to it", text)
    tell("lose_list" in text and "lost: nothing points there" in text,
         "gdb on a live process: the lost blocks", text)
    tell("A shortest path to it  2 blocks" in text and "      next\n" in text,
         "gdb on a live process: the path to a block", text)


CRASHING_WORK = """
import ast, asyncio, decimal, dis, hashlib, json, logging.config, os, signal, sqlite3, zlib
kept = []
for name in "argparse", "ast", "dis", "inspect", "pickle", "tarfile", "typing":
    with open(os.path.join(os.path.dirname(ast.__file__), name + ".py")) as source:
        text = source.read()
    kept += [ast.parse(text), list(dis.get_instructions(compile(text, name, "exec"))),
             json.dumps(text), hashlib.sha256(text.encode()), zlib.compress(text.encode())]
db = sqlite3.connect(":memory:")
db.execute("create table t (a, b)")
db.executemany("insert into t values (?, ?)", [(i, str(i)) for i in range(1000)])
kept.append(db.execute("select * from t order by b").fetchall())
os.kill(os.getpid(), signal.SIGSEGV)
"""


def interpreter():
    """Kill Python with all its blocks from malloc: thousands of stacks have names, without gdb and
    addr2line."""
    if not dumps.kernel_dumps():
        print("ok - python3 # SKIP the kernel writes dumps elsewhere")
        return
    command = [os.path.realpath(sys.executable), "-c", CRASHING_WORK]
    dump = dumps.crash(library, "dump_python", "python.heaptap", command,
                       {"PYTHONMALLOC": "malloc"})
    before = time.monotonic()
    got = run("core", "--json", "--no-fold", dump, path=os.path.abspath("missing"))
    took = time.monotonic() - before
    sites_ = documents.loads(got.stdout)["sites"] if got.returncode == 0 else []
    program = library_ = 0
    for site in sites_:
        stack = [(f["function"], ".so" in (f["module"] or "")) for f in site["stack"]]
        program += any(function and not shared for function, shared in stack)
        # The stacks without their common beginning.
        library_ += any(function and shared for function, shared in stack[:-3])
    numbers = {"stacks": len(sites_), "program": program, "library": library_, "seconds": took}
    print("# python3 killed by SIGSEGV:", numbers)
    tell(program > 2000 and library_ > 500, "python3: thousands of stacks with names", numbers,
         got.stderr)
    text = shown(dump, path=os.path.abspath("missing"))
    tell("\n  Killed by SIGSEGV, which was sent to it\n" in text, "python3: what killed it",
         text[:500])


{"moments": moments, "crashes": crashes, "refused": refused, "blocks": blocks,
 "growing": growing, "contained": contained, "interpreter": interpreter,
 "debugger": debugger}[part]()
finish()
