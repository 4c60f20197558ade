"""walked.py: the checks of walked.sh, on test/prog/walked.cc and others.

    walked.py HEAPTAP PROGRAMS LIBRARY

The program "stripped" is a copy of walked without symbols."""
import glob
import json
import os
import subprocess
import sys

import dumps
from telling import finish, tell

heaptap, programs, library = sys.argv[1:4]
WALKED = os.path.join(programs, "walked")
TIMES = 4
# Lost blocks that nothing points to, by class or size.
LOST = {"[489 to 504 bytes]": 123 * TIMES, "[Cache<double>]": 77 * TIMES,
        "[shop::Book]": 11 * TIMES}
CLASSES = {"[shop::Item]": 500, "[shop::Book]": 500 + 11 * TIMES}


def run(*arguments):
    return subprocess.run([heaptap, *arguments], capture_output=True, text=True)


def document(*arguments):
    got = run(*arguments, "--json")
    tell(got.returncode == 0, "%s succeeds" % " ".join(arguments[:2]), got.returncode, got.stderr)
    return json.loads(got.stdout)


def frame_names(found):
    """Return the name of the one frame of each stack of FOUND, by the stack's index."""
    tables = found["tables"]
    return [tables["functions"]["name"][tables["frames"]["function"][frame]]
            if frame is not None else None for frame in tables["stacks"]["frame"]]


def lost_of(found):
    names = frame_names(found)
    return {names[stack["stack"]]: stack["lost"]["blocks"]
            for stack in found["reachability"]["stacks"] if stack["lost"]["blocks"] > 0}


def live_of(found):
    names = frame_names(found)
    return {names[stack]: blocks
            for stack, blocks in zip(found["sites"]["stack"], found["sites"]["live_blocks"])}


def check(what, *where):
    found = document("core", "--leaks", *where)
    tell(not found["memory"]["recorded"], "%s: nothing was recorded" % what, found["memory"])
    lost = lost_of(found)
    # Remains in the stack of an ended thread may point to the last block of a thread.
    tell(lost.keys() == LOST.keys() and
         all(0 <= LOST[name] - lost[name] < TIMES for name in LOST), "%s: the lost blocks" % what,
         lost)
    sums = found["reachability"]
    tell(sums["lost_through_others"]["blocks"] == 11 * TIMES, "%s: lost with others" % what, sums)
    classes = live_of(document("core", *where))
    tell({k: v for k, v in classes.items() if k.startswith("[shop")} == CLASSES,
         "%s: the classes of live blocks" % what, classes)
    text = run("core", "--leaks", *where).stdout
    tell("not recorded, so stacks" in text and "[shop::Book]" in text, "%s: text" % what, text)


def living():
    for program in WALKED, "./stripped":
        process = dumps.Waiting("", "none.heaptap", [program])
        process.asleep()
        check("%s, running" % os.path.basename(program), "--pid", str(process.pid))
        address = hex(largest(document("core", "--blocks", "--pid", str(process.pid))))
        found = document("core", "--block", address, "--pid", str(process.pid))
        tell(found["memory"]["recorded"] is False, "a block is shown", found["memory"])
        got = run("check", str(process.pid))
        tell(got.returncode == 0 and "Damaged blocks  0 of" in got.stdout, "check succeeds",
             got.stdout)
        if dumps.have_gcore():
            check("%s, dumped by gdb" % os.path.basename(program),
                  dumps.gcore(process.pid, os.path.basename(program)))
        else:
            print("ok - a dump by gdb # SKIP needs gcore")
        process.go_on()
        process.end()


def largest(found):
    return int(found["blocks"][0]["address"], 16)


def dead():
    if not dumps.kernel_dumps():
        print("ok - a dump # SKIP the kernel writes dumps elsewhere")
        return
    for program in WALKED, os.path.abspath("stripped"):
        name = os.path.basename(program)
        dump = dumps.crash("", "in_" + name, "", [program, "die"])
        check("%s, dead" % name, dump)
        text = run("core", dump).stdout
        tell("SIGABRT" in text, "%s: the cause of the end" % name, text)


def saved():
    process = dumps.Waiting("", "none.heaptap", [WALKED])
    process.asleep()
    got = run("core", "-o", "saved.heaptap", "--pid", str(process.pid))
    tell(got.returncode == 0, "the moment is saved", got.stderr)
    tell(live_of(document("report", "saved.heaptap"))["[Cache<double>]"] == 77 * TIMES,
         "the saved profile has the classes")
    process.go_on()
    process.end()


def foreign_sbrk():
    """The parts of a heap on both sides of memory that the program took by sbrk are walked."""
    process = dumps.Waiting("", "none.heaptap", [os.path.join(programs, "foreign_sbrk")])
    process.asleep()
    where = ["--pid", str(process.pid)]
    found = live_of(document("core", *where))
    tell(found.get("[697 to 712 bytes]") == 300, "the blocks of all parts are found", found)
    got = run("core", "--leaks", "--json", *where)
    tell(got.returncode == 0 and got.stderr == "", "the heap is whole", got.stderr)
    found = json.loads(got.stdout)
    tell(lost_of(found) == {"[889 to 904 bytes]": 7}, "lost blocks behind the gap are found",
         lost_of(found))
    tell(run("core", "--leaks", "--fail-over", "20000", *where).returncode == 0,
         "a whole walk is judged")
    process.go_on()
    process.end()


def full_bins():
    process = dumps.Waiting("", "none.heaptap", [os.path.join(programs, "full_bins")], lines=1)
    process.asleep()
    found = live_of(document("core", "--pid", str(process.pid)))
    tell(found.get("[697 to 712 bytes]") == int(process.lines[0]),
         "a heap without empty bins is walked", process.lines, found)
    process.go_on()
    process.end()


def other_allocator():
    library = glob.glob("/usr/lib/x86_64-linux-gnu/libjemalloc.so.*")
    if not library:
        print("ok - another allocator # SKIP needs libjemalloc")
        return
    process = dumps.Waiting(library[0], "none.heaptap", [WALKED])
    got = run("core", "--leaks", "--pid", str(process.pid))
    # The loader may have allocated with glibc before.
    tell("uses libjemalloc" in got.stderr if got.returncode == 0 else
         "has no heap of glibc's malloc" in got.stderr, "another allocator is announced",
         got.stderr)
    process.go_on()
    process.end()


living()
dead()
saved()
full_bins()
foreign_sbrk()
other_allocator()
finish()
