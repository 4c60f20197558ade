"""stopped.py: the checks of stopped.sh, on test/prog/long_calls.c.

    stopped.py HEAPTAP PROGRAMS LIBRARY
"""
import os
import signal
import subprocess
import sys
import time

import dumps
from telling import finish, tell

heaptap, programs, library = sys.argv[1:4]
PROGRAM = os.path.join(programs, "long_calls")
LEAKS = ["core", "--leaks", "--pid"]
WHOLE = {"recv": "2000 0", "write": "1048576 0", "send": "1048576 0", "readv": "1000 0",
         "ring": "0 0"}
# This program seizes a process without stopping it.
TRACER = """
import ctypes, sys
sys.exit(1) if ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), 0, 0) else print("traces")
sys.stdout.flush()
sys.stdin.readline()
"""


def look(command, process):
    return subprocess.run([heaptap, *command, str(process)], capture_output=True, text=True)


def outcome(kind, command, *alone):
    """Return the result of a call of KIND during which COMMAND examined the process; None if there
    is no such kind here."""
    try:
        program = dumps.Waiting(library, "%s_%s.heaptap" % (kind, command[0]),
                                [PROGRAM, kind, *alone])
    except AssertionError:
        return None
    program.asleep()
    got = look(command, program.pid)
    if not alone:
        program.go_on()
    result = program.process.stdout.readline().strip()
    program.end()
    tell(got.returncode == 0 and got.stderr == "", "%s during %s succeeds" % (command[0], kind),
         got.returncode, got.stderr)
    return result


def calls():
    for kind, whole in WHOLE.items():
        for command in (["check"], LEAKS):
            # A search for leaks needs the registers, so it waits for these calls to end.
            alone = ["alone"] if command == LEAKS and kind in ("recv", "write", "send") else []
            got = outcome(kind, command, *alone)
            if got is None:
                print("ok - %s during %s # SKIP io_uring is forbidden" % (command[0], kind))
            else:
                tell(got == whole, "%s does not change the result of %s" % (command[0], kind), got)


def traced():
    program = dumps.Waiting(library, "traced.heaptap", [PROGRAM, "readv"])
    program.asleep()
    tracer = subprocess.Popen([sys.executable, "-c", TRACER, str(program.pid)], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    tell(tracer.stdout.readline() == "traces\n", "a process is traced")
    with open("/proc/%d/comm" % tracer.pid) as comm:
        words = "while process %d (%s) traces it; detach that first: " % (tracer.pid,
                                                                          comm.read().strip())
    for command in (["check"], LEAKS, ["core", "--find-pointers", "0x1000", "--pid"]):
        got = look(command, program.pid)
        tell(got.returncode == 0 and got.stderr.count("\n") == 1 and words in got.stderr,
             "%s names the tracer" % " ".join(command[:2]), got.returncode, got.stderr)
    tracer.communicate("\n")
    got = look(["check"], program.pid)
    tell(got.returncode == 0 and got.stderr == "", "without a tracer there is no warning",
         got.stderr)
    program.go_on()
    program.end()


def wait_until(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.005)


def first_ended():
    """Examine a process whose first thread has ended; then stop it by a signal."""
    environment = dict(os.environ, LD_PRELOAD=library, HEAPTAP_OUT=os.path.abspath("first.heaptap"))
    process = subprocess.Popen([os.path.join(programs, "first_ends"), "begun"], env=environment)
    wait_until(lambda: os.path.exists("begun"))
    for command in (["check"], LEAKS, ["core", "-o", "dumped.heaptap", "--pid"],
                    ["core", "--find-pointers", "0x1000", "--pid"]):
        got = look(command, process.pid)
        tell(got.returncode == 0 and got.stderr == "",
             "%s examines a process whose first thread has ended" % " ".join(command[:2]),
             got.returncode, got.stderr)
    got = look(["report"], "dumped.heaptap")
    tell(got.returncode == 0, "the live blocks of such a process are a profile", got.stderr)
    got = look(["core", "--pid"], process.pid)
    tell("process %d, which runs\n" % process.pid in got.stdout, "core states that it runs",
         got.stdout, got.stderr)
    process.send_signal(signal.SIGSTOP)
    tell(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]), "the signal stops it")
    got = look(["core", "--pid"], process.pid)
    tell("process %d, which is stopped\n" % process.pid in got.stdout,
         "core states that it is stopped", got.stdout, got.stderr)
    process.kill()
    process.wait()


calls()
traced()
first_ended()
finish()
