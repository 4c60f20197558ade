"""runner.py: run a program once under a tool, and collect the results.

Each run has an empty directory, the same environment, and limits of time and memory that end the
tool and all its processes. bench/treecost.c measures the run. A run that fails is a result as well,
with the reason in `why`: a tool that fails on a program has a row in the table.
"""
import json
import os
import shutil
import subprocess

import programs

MEMORY_SHARE = 0.6  # Share of the machine's memory that a run may use.
LOOKED_AT = 40  # Profiles of a run whose losses are read; a run with more has small ones.


class Settings:
    """Paths, and the limits that the scope sets."""

    def __init__(self, heaptap, library, binaries, work, scale, limit_s):
        self.heaptap, self.library, self.binaries = heaptap, library, binaries
        self.work, self.scale, self.limit_s = work, scale, limit_s
        usable = sorted(os.sched_getaffinity(0))
        self.one_cpu, self.all_cpus = str(usable[-1]), ",".join(map(str, usable))
        pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        self.limit_mib = int(pages * page * MEMORY_SHARE) >> 20


class Result:
    """Result of one run. `why` is None if it succeeded."""

    def __init__(self, why=None):
        self.why = why
        self.cpu_ns = self.wall_ns = self.helper_ns = self.system_ns = self.faults = 0
        self.program_kib = self.tool_kib = self.profile_bytes = 0
        self.printed = {}  # The program's own figures, from lines "name number".
        self.lost = None


def environment(settings, more):
    env = {"PATH": programs.PATH, "HOME": settings.work, "TMPDIR": settings.work, "TZ": "UTC",
           "LC_ALL": "C", "XDG_CACHE_HOME": os.path.join(settings.work, "cache"),
           "GIT_CONFIG_NOSYSTEM": "1"}
    return {**env, **more}


def empty(directory):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    return directory


def fresh(directory):
    """Return DIRECTORY, emptied. The old contents stay beside it, truncated: ext4 does not reuse an
    inode within a minute after its removal, and skips each such inode. If the thousand files of a
    run were removed, creating the files of the next run would be slower."""
    used = directory + ".used"
    os.makedirs(used, exist_ok=True)
    if os.path.isdir(directory):
        for where, _, names in os.walk(directory):
            for path in (os.path.join(where, name) for name in names):
                if os.path.isfile(path) and not os.path.islink(path):
                    os.truncate(path, 0)
        os.rename(directory, os.path.join(used, str(len(os.listdir(used)))))
    os.makedirs(directory)
    return directory


def size_on_disk(directory):
    return sum(os.stat(os.path.join(where, name)).st_blocks * 512
               for where, _, names in os.walk(directory) for name in names)


def profiles_in(directory):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(directory)
                  for name in names if name.endswith(".heaptap"))


def numbers(path, limit=4096):
    """Lines "name number" of a file; other lines belong to the program."""
    found = {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f.read(limit).split("\n"):
            name, _, value = line.partition(" ")
            try:
                found[name] = float(value)
            except ValueError:
                pass
    return found


def events_lost(settings, profile):
    done = subprocess.run([settings.heaptap, "report", "--json", "--limit", "1", profile],
                          capture_output=True, check=False, env=environment(settings, {}))
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip()[-200:])
    losses = json.loads(done.stdout)["losses"]
    return losses["events"] + (1 if losses["file_failed"] else 0)


def run(settings, program, tool, out=None):
    """Run PROGRAM under TOOL; the profile stays in OUT until the next run."""
    out = fresh(out or os.path.join(settings.work, "out"))
    figures, stdout, stderr = (os.path.join(settings.work, name)
                               for name in ("figures", "stdout", "stderr"))
    treecost = [f"{settings.binaries}/treecost", figures,
              settings.one_cpu if program.threads == 1 else settings.all_cpus,
              str(settings.limit_s), str(settings.limit_mib), program.executable]
    words = tool.words(program.words(settings.scale), out)
    env = environment(settings, program.env)
    # Only the command gets the preloaded library; treecost does not.
    own = [f"{key}={value}" for key, value in tool.environment(out).items()]
    prefix = ["env", *own] if own else []
    with open(stdout, "wb") as o, open(stderr, "wb") as e:
        done = subprocess.run([*treecost, *prefix, *words], env=env, cwd=settings.work, stdout=o,
                              stderr=e, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        return Result(f"treecost failed: {tail(stderr)}")
    return read_result(program, tool, out, figures, stdout, stderr)


def read_result(program, tool, out, figures, stdout, stderr):
    seen, result = numbers(figures), Result()
    with open(figures, encoding="utf-8") as f:
        ended = f.read().split()[-1]
    result.cpu_ns, result.wall_ns = seen["cpu_ns"], seen["wall_ns"]
    result.system_ns, result.faults = seen["system_ns"], seen["faults"]
    result.profile_bytes, result.printed = size_on_disk(out), numbers(stdout)
    # With one process, the kernel's own figure is exact; otherwise only the data from /proc is
    # available.
    alone = tool.processes == 1
    result.program_kib = seen["peak_kib"] if alone else seen["program_kib"]
    result.tool_kib = max(seen["peak_kib"], 0 if alone else seen["tree_kib"])
    result.helper_ns = 0 if alone else seen["helper_cpu_ns"]
    if ended != "no":
        result.why = f"ended for its {ended}, after {seen['wall_ns'] / 1e9:.0f} s"
    elif seen["status"]:
        result.why = f"{program.name} ended with {seen['status']:.0f}: {tail(stderr)}"
    elif tool.leaves_profile and not result.profile_bytes:
        result.why = f"no profile was written: {tail(stderr)}"
    return result


def tail(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = f.read()[-400:].strip().split("\n")
    return lines[-1][:120] or "no message"
