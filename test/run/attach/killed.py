"""killed.py: kill the commands attach and detach while they work. The process must not notice, and
a later detach must leave nothing.

    killed.py COMMANDS"""
import os
import random
import subprocess
import sys
import time

from attach import HEAPTAP, PROGRAM

SECONDS = 60


def later(what, condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(what)
        time.sleep(0.01)


def kill_soon(*arguments):
    command = subprocess.Popen((HEAPTAP, *map(str, arguments)), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0.001, 0.03))
    command.kill()
    command.wait()


def is_free(pid):
    """Return true if nobody traces a thread of the process: the guardian has ended."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/status") as f:
                if "TracerPid:\t0\n" not in f.read():
                    return False
        except (FileNotFoundError, ProcessLookupError):
            pass  # A thread that has ended.
    return subprocess.run(("pgrep", "-f", f"{HEAPTAP} .*tach .*{pid}$"),
                          stdout=subprocess.DEVNULL).returncode != 0


def is_clean(pid):
    with open(f"/proc/{pid}/maps") as f:
        return "heaptap" not in f.read()


def detached(pid):
    subprocess.run((HEAPTAP, "detach", "--no-pack", str(pid)), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return is_clean(pid)


def main():
    count = int(sys.argv[1])
    random.seed(1)
    program = subprocess.Popen((PROGRAM, "churn", "3", "600000"), stdout=subprocess.PIPE)
    time.sleep(0.2)
    for i in range(count):
        profile = f"killed{i}.heaptap"
        kill_soon("attach", "--detached", "-o", profile, program.pid)
        later("the guardian of attach does not end", lambda: is_free(program.pid))
        if i % 2:
            kill_soon("detach", "--no-pack", program.pid)
            later("the guardian of detach does not end", lambda: is_free(program.pid))
        later("detach leaves something", lambda: detached(program.pid))
        if program.poll() is not None:
            sys.exit(f"the program ended with {program.returncode}")
        if os.path.exists(profile):
            os.unlink(profile)
    program.kill()
    program.wait()


if __name__ == "__main__":
    main()
