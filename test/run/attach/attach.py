"""attach.py: what the tests of heaptap attach share. HEAPTAP and PROG are in the environment."""
import json
import os
import re
import subprocess
import sys
import time

HEAPTAP = os.environ["HEAPTAP"]
PROGRAM = os.path.join(os.environ["PROG"], "attached")


class Program:
    """A running `attached commands`."""

    def __init__(self, *command, **more):
        self.process = subprocess.Popen(command or (PROGRAM, "commands"), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0, **more)
        self.pid = self.process.pid
        self.tell("x")  # It has started when it answers.

    def tell(self, letters):
        self.process.stdin.write(letters.encode())
        for letter in letters:
            assert self.process.stdout.read(1) == letter.encode()

    def end(self):
        """Return the rest of the output and the exit status."""
        self.process.stdin.close()
        rest = self.process.stdout.read().decode()
        return rest, self.process.wait()


def heaptap(*arguments, status=0):
    """Run heaptap and return its messages; its exit status must be STATUS."""
    r = subprocess.run((HEAPTAP, *map(str, arguments)), capture_output=True, text=True, timeout=120)
    if r.returncode != status:
        sys.exit(f"heaptap {' '.join(map(str, arguments))}: status {r.returncode}: {r.stderr}")
    return r.stderr


def report(profile):
    return json.loads(subprocess.check_output((HEAPTAP, "report", "--json", "--no-fold",
                                               str(profile)), stderr=subprocess.DEVNULL))


def read(pid, name):
    with open(f"/proc/{pid}/{name}", "rb") as f:
        return f.read()


def code(pid):
    """Return the code of libc and of all libraries, as it is in memory."""
    found = {}
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) r.x. \S+ \S+ \S+ +(/\S+)", line)
            if m:
                start, end = int(m[1], 16), int(m[2], 16)
                memory.seek(start)
                found[start] = memory.read(end - start)
    return found


def state(pid):
    """Return everything about the process that an attach must leave as it was."""
    status = read(pid, "status").decode()
    kept = {name: re.search(rf"^{name}:.*$", status, re.M)[0]
            for name in ("SigCgt", "SigIgn", "SigBlk", "Threads", "TracerPid", "Seccomp")}
    # The kernel counts pages of a mapping anew; only the ranges and their rights matter.
    maps = [" ".join(line.split()[:3] + line.split()[5:])
            for line in read(pid, "maps").decode().splitlines()]
    return {"status": kept, "maps": maps, "files": sorted(os.listdir(f"/proc/{pid}/fd")),
            "code": code(pid), "directory": os.readlink(f"/proc/{pid}/cwd")}


def compare(before, after):
    """Exit with the differences between two states."""
    for part, value in before.items():
        if value == after[part]:
            continue
        if isinstance(value, list):
            value, after = [x for x in value if x not in after[part]], \
                           {part: [x for x in after[part] if x not in value]}
        sys.exit(f"{part}\nbefore: {value}\nafter: {after[part]}"[:4000])


def await_end(process, seconds):
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    return process.poll()
