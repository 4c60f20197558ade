"""steps.py: let each step of an attach and of a detach fail once. The process must continue, and
nothing must be left in it.

    steps.py TOOL LIBRARY

TOOL is tool_attach_faults, which attaches with LIBRARY and lets one step fail. After a failed
attach the process must be as before. After a failed detach, the next one must make it so."""
import os
import subprocess
import sys

from attach import Program, compare, state

# Numbers of system calls on x86-64, and if their failure lets an attach fail.
CALLS = {9: ("mmap", True), 10: ("mprotect", True), 53: ("socketpair", True),
         47: ("recvmsg", True), 157: ("prctl", False), 3: ("close", False), 11: ("munmap", False)}
PROFILE = os.path.abspath("steps.heaptap")
ERROR = "Cannot allocate memory"
TRIED = 12  # One by one, then each eighth: the patches are alike, and so are the last calls.


def step(action, pid, kind, number):
    """Return the failed step, None if there are fewer, and the result and message."""
    r = subprocess.run((sys.argv[1], action, sys.argv[2], str(pid), PROFILE, kind, str(number)),
                       capture_output=True, text=True, timeout=120)
    if r.returncode != 0:
        sys.exit(f"{action} {kind} {number}: status {r.returncode}: {r.stderr}")
    failed, result, message = r.stdout.splitlines()
    return None if failed == "none" else int(failed), int(result), message


def judge(action, kind, number, failed, result, message):
    """Check the message about step NUMBER."""
    what = f"{action} {kind} {number} ({failed}): {result}: {message}"
    if kind == "call":
        name, is_fatal = CALLS[failed]
        if is_fatal != (result != 0):
            sys.exit(what)
        if is_fatal and (f"({name})" not in message or ERROR not in message):
            sys.exit(what)
    if kind == "function" and (result == 0 or "signal 11" not in message):
        sys.exit(what)
    if result != 0 and not message:
        sys.exit(what)


def attempt(program, before, action, kind, number):
    """Let one step fail. Return false if there are fewer."""
    if action == "detach":
        assert step("attach", program.pid, "none", 0)[1] == 0
        program.tell("ac")
    failed, result, message = step(action, program.pid, kind, number)
    program.tell("acf")
    if failed is not None:
        judge(action, kind, number, failed, result, message)
    if (action == "attach") == (result == 0):
        failed_again, result, message = step("detach", program.pid, "none", 0)
        if result != 0:
            sys.exit(f"detach after {action} {kind} {number}: {result}: {message}")
    try:
        compare(before, state(program.pid))
    except SystemExit as difference:
        sys.exit(f"{action} {kind} {number} ({failed}): {difference}")
    program.tell("acftk")
    return failed is not None


def main():
    # The heap must not grow between two comparisons.
    program = Program(env=dict(os.environ, MALLOC_TOP_PAD_=str(16 << 20)))
    program.tell("acftk")
    before = state(program.pid)
    tried = []
    for action in "attach", "detach":
        for kind in "call", "function", "write", "recorder":
            number = 1
            while attempt(program, before, action, kind, number):
                number += 8 if (kind == "write" or action == "detach") and number >= TRIED else 1
            tried.append(f"{action} {kind} {number - 1}")
    print("# " + ", ".join(tried))
    if program.end() != ("ok\n", 0):
        sys.exit("the program fails")


if __name__ == "__main__":
    main()
