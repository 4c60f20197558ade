"""foreground.py: heaptap attach without --detached: ends at ^C, after --duration, and when the
process ends; the profile is packed then."""
import os
import signal
import subprocess
import sys

from attach import HEAPTAP, Program, report

SECONDS = 20


def attach(pid, profile, *options):
    command = subprocess.Popen((HEAPTAP, "attach", "-o", profile, *options, str(pid)),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = command.stdout.readline()  # Printed when the process is recorded.
    if "is recorded in" not in line:
        sys.exit(f"attach: {line}")
    return command


def is_attached(pid):
    with open(f"/proc/{pid}/maps") as f:
        return any(".heaptap" in line for line in f)


def finished(command, profile, blocks):
    output, _ = command.communicate(timeout=SECONDS)
    if command.returncode != 0:
        sys.exit(f"status {command.returncode}: {output}")
    if os.path.getsize(profile) > 1 << 20:
        sys.exit(f"{profile} is not packed")
    live = report(profile)["totals"]["live_blocks"]
    if live != blocks:
        sys.exit(f"{live} instead of {blocks} live blocks")


def main():
    program = Program()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        profile = f"signal{number}.heaptap"
        command = attach(program.pid, profile)
        program.tell("a")
        command.send_signal(number)
        finished(command, profile, 100)
        if is_attached(program.pid):
            sys.exit("the recorder is still there")
    command = attach(program.pid, "duration.heaptap", "--duration", "1")
    program.tell("aa")
    finished(command, "duration.heaptap", 200)

    command = attach(program.pid, "executed.heaptap")
    program.tell("aex")
    command.send_signal(signal.SIGINT)
    finished(command, "executed.heaptap", 100)

    command = attach(program.pid, "end.heaptap")
    program.tell("aaa")
    program.process.kill()
    program.process.wait()
    finished(command, "end.heaptap", 300)


if __name__ == "__main__":
    main()
