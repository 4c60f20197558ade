"""killed.py: kill the commands attach and detach while they work. The process must not notice, and
a later detach must leave nothing.

    killed.py COMMANDS

Kills that many commands, attach and detach in turn, at random moments of the time that an unkilled
command takes. Commands that have ended before do not count. The seed is fixed. Prints how often
each case occurred."""
import collections
import os
import random
import signal
import subprocess
import sys
import time

from attach import HEAPTAP, PROGRAM, code, heaptap

SECONDS = 60
SEED = 1


def later(what, condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(what)
        time.sleep(0.005)


def start(*arguments):
    return subprocess.Popen((HEAPTAP, *map(str, arguments)), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def duration(*arguments):
    """Return the seconds that a command takes which nobody kills."""
    began = time.monotonic()
    heaptap(*arguments)
    return time.monotonic() - began


def kill_after(seconds, *arguments):
    """Return true if the command was killed, false if it had ended."""
    command = start(*arguments)
    time.sleep(seconds)
    command.kill()
    return command.wait() == -signal.SIGKILL


def has_guardian(pid):
    """Return true if a command on PID is still working; its child has the same arguments."""
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as f:
                words = f.read().split(b"\0")[:-1]
            if words and words[0] == HEAPTAP.encode() and words[-1] == str(pid).encode():
                return True
        except (FileNotFoundError, NotADirectoryError, ProcessLookupError, PermissionError):
            pass
    return False


def is_attached(pid):
    with open(f"/proc/{pid}/maps") as f:
        return "heaptap" in f.read()


def main():
    count = int(sys.argv[1])
    random.seed(SEED)
    ended = collections.Counter()
    program = subprocess.Popen((PROGRAM, "churn", "3", "0"), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    later("it does not start", lambda: len(os.listdir(f"/proc/{program.pid}/task")) > 2)
    time.sleep(0.2)
    seconds = {"attach": duration("attach", "--detached", "-o", "first.heaptap", program.pid),
               "detach": duration("detach", "--no-pack", program.pid)}
    before = {start: text for start, text in code(program.pid).items()}
    i = 0
    while sum(number for (_, killed, _), number in ended.items() if killed) < count:
        i += 1
        action = "attach" if i % 2 else "detach"
        arguments = {"attach": ("--detached", "-o", f"killed{i}.heaptap"), "detach": ("--no-pack",)}
        if action == "detach" and not is_attached(program.pid):
            heaptap("attach", "--detached", "-o", f"killed{i}.heaptap", program.pid)
        was_killed = kill_after(random.uniform(0, seconds[action]), action, *arguments[action],
                                program.pid)
        later(f"the guardian of {action} does not end", lambda: not has_guardian(program.pid))
        if program.poll() is not None:
            sys.exit(f"round {i}, {action}: the program ended with {program.returncode}")
        ended[action, was_killed, is_attached(program.pid)] += 1
    if is_attached(program.pid):
        heaptap("detach", "--no-pack", program.pid)
    if is_attached(program.pid):
        sys.exit("detach leaves something")
    after = code(program.pid)
    if any(after.get(start, text) != text for start, text in before.items()):
        sys.exit("the code is not as before")
    output, _ = program.communicate()
    if output != b"ok\n" or program.returncode != 0:
        sys.exit(f"the program: {output}, status {program.returncode}")
    for (action, was_killed, attached), number in sorted(ended.items()):
        print(f"# {action} {'killed' if was_killed else 'ended before'}, then "
              f"{'' if attached else 'not '}recorded: {number}")


if __name__ == "__main__":
    main()
