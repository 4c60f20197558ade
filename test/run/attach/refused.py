"""refused.py: processes that attach refuses, each with a sentence, within a second. They are left
as they were."""
import os
import subprocess
import sys
import time

from attach import HEAPTAP, PROGRAM, Program, compare, heaptap, state


def refused(what, pid, words, status=3):
    began = time.monotonic()
    r = subprocess.run((HEAPTAP, "attach", "--detached", "-o", "refused.heaptap", str(pid)),
                       capture_output=True, text=True, timeout=60)
    if r.returncode != status or words not in r.stderr or r.stderr.count("\n") > 3:
        sys.exit(f"{what}: status {r.returncode}: {r.stderr}")
    if time.monotonic() - began > 5:  # The machine may be busy.
        sys.exit(f"{what}: {time.monotonic() - began} s")
    if os.path.exists("refused.heaptap"):
        sys.exit(f"{what}: a profile is left")


def build(name, source, *flags):
    with open(f"{name}.c", "w") as f:
        f.write(source)
    return subprocess.run(("gcc", "-o", name, f"{name}.c", *flags),
                          stderr=subprocess.DEVNULL).returncode == 0


def main():
    program = Program()
    before = state(program.pid)
    refused("no number", "abc", "is not a process id", 2)
    refused("no process", 999999, "there is no process 999999")
    if os.geteuid() == 0:
        refused("a kernel thread", 2, "process 2")
    heaptap("attach", "--detached", "-o", "once.heaptap", program.pid)
    refused("attached already", program.pid, "is being recorded already, in ")
    heaptap("detach", program.pid)
    heaptap("detach", program.pid, status=3)
    compare(before, state(program.pid))
    program.end()

    recorded = Program(HEAPTAP, "run", "--quiet", "-o", "run.heaptap", "--", PROGRAM, "commands")
    child = int(subprocess.check_output(("pgrep", "-P", str(recorded.pid))))
    refused("recorded by run", child, "has a recorder already")
    recorded.end()

    sleeper = "#include <unistd.h>\nint main(void) { return (int)sleep(60); }\n"
    for name, words, flags in (("static", "runs a static program", ("-static",)),
                               ("sanitized", "sanitizer", ("-fsanitize=address",)),
                               ("narrow", "32-bit", ("-m32",))):
        if not build(name, sleeper, *flags):
            print(f"skip - {name}: cannot be built here")
            continue
        with subprocess.Popen((f"./{name}",)) as process:
            time.sleep(0.2)
            refused(name, process.pid, words)
            if process.poll() is not None:
                sys.exit(f"{name}: it has ended")
            process.kill()


if __name__ == "__main__":
    main()
