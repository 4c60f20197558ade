"""live_program.py: a recorded program that allocates on request, test/prog/live_rows.c. Imported,
not run."""
import atexit
import json
import os
import signal
import subprocess
import time

heaptap = os.environ["HEAPTAP"]
WAIT_S = 30


class Program:
    """The program, recorded into PATH."""

    def __init__(self, path, *options, env=None):
        self.path, self.pid = path, 0
        self.run = subprocess.Popen(
            [heaptap, "run", "--quiet", *options, "-o", path, "--",
             os.path.join(os.environ["PROG"], "live_rows")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=env)
        atexit.register(self.kill)
        self.ask("churn 1")
        with open(f"/proc/{self.run.pid}/task/{self.run.pid}/children", encoding="ascii") as f:
            children = f.read().split()
        self.pid = int(children[0]) if children else self.run.pid

    def ask(self, command):
        self.run.stdin.write(command + "\n")
        self.run.stdin.flush()
        if command not in ("end", "abort"):
            assert self.run.stdout.readline() == "done\n", command

    def kill(self):
        """End the program if a failed check has left it."""
        if self.run.poll() is None:
            os.kill(self.pid or self.run.pid, signal.SIGKILL)
            self.run.wait(WAIT_S)

    def stop(self):
        """Stop the program, so that a viewer and a report see the same."""
        os.kill(self.pid, signal.SIGSTOP)
        until(lambda: state(self.pid) == "T")

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)

    def end(self):
        self.resume()
        self.ask("end")
        self.run.wait(WAIT_S)


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rpartition(")")[2].split()[0]


def until(condition):
    """Wait for CONDITION. Return whether it came true."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def report(*arguments):
    """Return the document of `heaptap report`."""
    out = subprocess.run([heaptap, "report", "--json", *map(str, arguments)], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    return json.loads(out.stdout)
