"""several.py: heaptap attach and detach with several process ids. Each process has a separate
profile, one that fails does not affect the others, and ^C detaches from all."""
import os
import signal
import subprocess
import sys

from attach import HEAPTAP, Program, compare, heaptap, report, state

SECONDS = 60


def check(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: wanted {wanted}, got {got}")


def profile_of(directory, pid):
    return os.path.join(directory, f"heaptap.attached.{pid}.heaptap")


def begin(*arguments, recorded):
    """Start an attach in the foreground, and wait until it has recorded that many processes."""
    command = subprocess.Popen((HEAPTAP, "attach", *map(str, arguments)), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    lines = []
    while sum("is recorded in" in line for line in lines) < recorded:
        lines.append(command.stdout.readline())
        if not lines[-1]:
            sys.exit(f"attach: {lines}")
    return command, lines


def finish(command, status):
    rest, _ = command.communicate(timeout=SECONDS)
    if command.returncode != status:
        sys.exit(f"status {command.returncode}: {rest}")
    return rest


def main():
    programs = [Program() for _ in range(3)]
    pids = [program.pid for program in programs]
    for program in programs:
        program.tell("a")
    before = [state(pid) for pid in pids]

    # The second of four does not exist.
    command, lines = begin("-o", "some/", pids[0], 999999, *pids[1:], recorded=3)
    check("messages", 1, sum("there is no process 999999" in line for line in lines))
    for number, program in enumerate(programs):
        program.tell("a" * (number + 1))
    command.send_signal(signal.SIGINT)
    rest = finish(command, 3)
    check("left", 3, rest.count("is left as it was"))
    for number, pid in enumerate(pids):
        live = report(profile_of("some", pid))["totals"]["live_blocks"]
        check("live blocks", 100 * (number + 1), live)
        compare(before[number], state(pid))

    # One ends meanwhile: its profile is packed at once, the other is recorded further.
    command, _ = begin(pids[0], pids[1], recorded=2)
    programs[0].tell("a")
    programs[0].process.kill()
    programs[0].process.wait()
    line = ""
    while "has ended" not in line:
        line = command.stdout.readline()
    programs[1].tell("aa")
    command.send_signal(signal.SIGTERM)
    finish(command, 0)
    for pid, blocks in zip(pids, (100, 200)):
        check("live blocks", blocks, report(profile_of(".", pid))["totals"]["live_blocks"])
    compare(before[1], state(pids[1]))

    # Without a terminal in between, and with a limit on memory.
    heaptap("attach", "--detached", "--max-memory", "8M", "-o", "more/", *pids[1:])
    if os.path.getsize(profile_of("more", pids[1])) > 8 << 20:
        sys.exit("--max-memory: the profile is too large")
    programs[1].tell("a")
    heaptap("detach", *pids[1:], 999999, status=3)
    check("live blocks", 100, report(profile_of("more", pids[1]))["totals"]["live_blocks"])
    compare(before[1], state(pids[1]))
    heaptap("attach", "--max-memory", "1000", pids[1], status=2)
    heaptap("attach", "-o", "single.heaptap", *pids[1:], status=2)
    for program in programs[1:]:
        check("the program", ("ok\n", 0), program.end())


if __name__ == "__main__":
    main()
