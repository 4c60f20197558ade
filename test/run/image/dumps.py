"""dumps.py: run programs and dump them. Imported, not run."""
import glob
import os
import resource
import shutil
import subprocess
import sys
import time

SKIPPED = 77


def kernel_dumps():
    """Return true if the kernel writes dumps into the directory of the process."""
    try:
        pattern = open("/proc/sys/kernel/core_pattern").read().strip()
    except OSError:
        return False
    return bool(pattern) and pattern[0] not in "|/"


def without_hints(messages):
    """Return MESSAGES without hints, such as the one on a stripped interpreter."""
    return "".join(line for line in messages.splitlines(True) if not line.startswith("hint: "))


def allow_dumps():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def crash(library, directory, profile, command, options=()):
    """Run COMMAND, recorded into PROFILE, in a new DIRECTORY. Return the path of the dump."""
    os.makedirs(directory)
    environment = dict(os.environ, LD_PRELOAD=library, HEAPTAP_OUT=os.path.abspath(profile))
    environment.update(options)
    if not profile:
        del environment["LD_PRELOAD"]
    subprocess.run(command, cwd=directory, env=environment, preexec_fn=allow_dumps,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = glob.glob(directory + "/core*")
    return found[0] if found else None


class Waiting:
    """A recorded program that gets ASKS as input, prints LINES other lines and "ready", and then
    waits for a line."""

    def __init__(self, library, profile, command, options=(), lines=0, asks=""):
        environment = dict(os.environ, LD_PRELOAD=library, HEAPTAP_OUT=os.path.abspath(profile))
        environment.update(options)
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.process.stdin.write(asks)
        self.process.stdin.flush()
        self.lines = [self.process.stdout.readline() for _ in range(lines)]
        self.ready()

    def ready(self):
        assert self.process.stdout.readline() == "ready\n"

    def asleep(self):
        """Wait until the program blocks: before, registers may have any value."""
        for _ in range(1000):
            with open("/proc/%d/stat" % self.pid) as stat:
                if stat.read().rpartition(")")[2].split()[0] == "S":
                    return
            time.sleep(0.01)

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def have_gcore():
    return shutil.which("gcore") is not None


def gcore(pid, name):
    """Dump the process PID, which continues to run. Return the dump's path."""
    subprocess.run(["gcore", "-o", name, str(pid)], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    return "%s.%d" % (name, pid)


def skip(why):
    print(why)
    sys.exit(SKIPPED)
