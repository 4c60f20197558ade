"""copied.py: the checks of copied.sh, on test/prog/copied.c.

    copied.py HEAPTAP PROGRAMS LIBRARY
"""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import dumps
from telling import finish, tell

heaptap, programs, library = sys.argv[1:4]
ROUNDS = 20
LEAKS = ["core", "--leaks", "--pid"]


def started(name, *arguments):
    program = dumps.Waiting(library, "%s.heaptap" % name,
                            [os.path.join(programs, "copied"), *arguments])
    if arguments != ("busy",):
        program.asleep()
    return program


def look(program, *options, before=()):
    return subprocess.run([*before, heaptap, *LEAKS, str(program.pid), "--json", *options],
                          capture_output=True, text=True)


def children(program):
    found = []
    for path in glob.glob("/proc/%d/task/*/children" % program.pid):
        with open(path) as names:
            found += names.read().split()
    return found


def traces(program):
    """Return all that a search might change in PROGRAM: mappings with their advice, descriptors,
    children, and the states of threads."""
    with open("/proc/%d/smaps" % program.pid) as smaps:
        maps = re.findall(r"^[0-9a-f]+-[0-9a-f]+ .*|^VmFlags:.*", smaps.read(), re.M)
    states = []
    for path in glob.glob("/proc/%d/task/*/status" % program.pid):
        with open(path) as status:
            states.append(re.findall(r"^(?:TracerPid|SigBlk|SigCgt|SigIgn|NoNewPrivs):.*",
                                     status.read(), re.M))
    return maps, os.listdir("/proc/%d/fd" % program.pid), children(program), states


def answer(got):
    document = json.loads(got.stdout)
    stop = {name: document["memory"].pop(name) for name in ("stopped_ns", "copied")}
    # This time is the command's.
    document["process"].pop("duration_ns", None)
    return document, stop


def reached(document):
    """Return true if nothing is lost, and only mapped memory reaches two of the blocks."""
    sums = document["reachability"]
    return sums["lost"]["blocks"] == 0 and \
        sums["reached_from_mapped_memory"] == {"blocks": 2, "bytes": 2000}


def equal():
    program = started("equal")
    before = traces(program)
    copied, stopped = look(program), look(program, "--no-fork")
    tell(copied.returncode == 0 and copied.stderr == "", "a copy is searched", copied.stderr)
    of_copy, stop = answer(copied)
    of_process, long_stop = answer(stopped)
    tell(stop["copied"] and stop["stopped_ns"] > 0, "the process was copied", stop)
    tell(not long_stop["copied"], "--no-fork makes no copy", long_stop)
    tell(of_copy == of_process, "both searches have the same answer", of_copy, of_process)
    tell(reached(of_copy), "memory that children do not get is searched, too", of_copy["memory"])
    tell(traces(program) == before, "nothing remains in the process", before, traces(program))
    checks = [subprocess.run([heaptap, "check", str(program.pid), *options], text=True,
                             capture_output=True) for options in ([], ["--no-fork"])]
    tell([c.returncode for c in checks] == [0, 0], "check reads either", checks)
    program.go_on()
    program.end()


def filtered():
    """A process with a seccomp filter, searched without the right to suspend it."""
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        print("ok - a seccomp filter # SKIP needs setpriv")
        return
    drop = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
    program = started("filtered", "filter")
    got = look(program, before=drop if os.geteuid() == 0 else [])
    document, stop = answer(got)
    tell(got.returncode == 0 and not stop["copied"], "a filtered process is stopped instead",
         got.stderr)
    text = subprocess.run([*(drop if os.geteuid() == 0 else []), heaptap, *LEAKS,
                           str(program.pid)], capture_output=True, text=True).stdout
    tell("its memory could not be copied: it has a seccomp filter" in
         " ".join(text.split()), "text gives the reason", text)
    tell(reached(document), "and the answer is the same", document)
    program.go_on()
    program.end()


def busy():
    program = started("busy", "busy")
    results = [look(program) for _ in range(ROUNDS)]
    tell(all(r.returncode == 0 for r in results), "a busy process is searched",
         [(r.returncode, r.stderr) for r in results])
    copied = sum(json.loads(r.stdout)["memory"]["copied"] for r in results)
    tell(copied == ROUNDS, "each time in a copy", copied)
    tell(not any("zombie" in r.stderr for r in results), "no zombie remains",
         [r.stderr for r in results])
    together = [subprocess.Popen([heaptap, *LEAKS, str(program.pid), "--json"], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(4)]
    said = [command.communicate() for command in together]
    tell(all(json.loads(out)["memory"]["copied"] and "stopped" not in err for out, err in said),
         "commands wait for one another", said)
    program.go_on()
    result = program.process.stdout.readline().strip()
    tell(result.isdigit() and int(result) > 0, "the program notices nothing", result)
    program.end()


def killed_child():
    """The child that does the work is killed at some moment. Only zombies of copies may remain."""
    moments = random.Random(2)
    for arguments in ("busy",), ():
        program = started("child%d" % len(arguments), *arguments)
        before = time.monotonic()
        look(program)
        whole = time.monotonic() - before
        for _ in range(ROUNDS):
            command = subprocess.Popen([heaptap, *LEAKS, str(program.pid)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.random() * whole)
            for child in children(command):
                try:
                    os.kill(int(child), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            command.wait()
        tell(program.process.poll() is None, "the process lives when the child is killed",
             arguments, program.process.poll())
        for _ in range(1000):
            # The kernel kills the copies a moment later.
            rest = [state_of(child) for child in children(program)]
            if arguments or set(rest) <= {"Z"}:
                break
            time.sleep(0.01)
        with open("/proc/%d/status" % program.pid) as status:
            blocked = re.search(r"^SigBlk:\s*(.*)", status.read(), re.M).group(1)
        tell(int(blocked, 16) == 0, "no signal stays blocked", blocked)
        if not arguments:
            tell(set(rest) <= {"Z"}, "no copy runs", rest)
        program.go_on()
        program.process.wait()
        tell(program.process.returncode == 0, "and the process ends as before",
             program.process.returncode)
        program.end()


def state_of(process):
    try:
        with open("/proc/%s/stat" % process) as stat:
            return stat.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def killed():
    """The command is killed at some moment. Its child completes the work."""
    moments = random.Random(1)
    program = started("killed", "busy")
    before = time.monotonic()
    look(program)
    whole = time.monotonic() - before
    for _ in range(ROUNDS):
        command = subprocess.Popen([heaptap, *LEAKS, str(program.pid)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(moments.random() * whole)
        command.kill()
        command.wait()
    program.go_on()
    result = program.process.stdout.readline().strip()
    tell(result.isdigit() and int(result) > 0, "a killed command does no harm", result)
    program.end()
    program = started("left", "filter")
    kept = traces(program)
    for _ in range(ROUNDS):
        command = subprocess.Popen([heaptap, *LEAKS, str(program.pid)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(moments.random() * whole)
        command.kill()
        command.wait()
    for _ in range(1000):
        now = traces(program)
        if now == kept:
            break
        time.sleep(0.01)
    tell(now == kept, "a killed command leaves nothing behind", kept, now)
    program.go_on()
    program.end()


equal()
filtered()
busy()
killed()
killed_child()
finish()
