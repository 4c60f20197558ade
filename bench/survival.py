"""survival.py: the part of a recording that survives `kill -9`.

A program allocates BLOCKS blocks and is then killed. The profile is read with the tool's own
reader, which states the number of recorded allocations. A tool that leaves no file has recorded
nothing that a user can read.
"""
import json
import os
import re
import signal
import subprocess

import peers
import programs
import runner

BLOCKS = 100_000
WAIT_S = 120


def files_in(directory):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(directory)
                  for name in names if os.path.getsize(os.path.join(where, name)))


def recorded_in(settings, tool, files, env):
    """Return the number of allocations that the profile has, or None if nobody reads it here."""
    if tool.ours:
        words = [settings.heaptap, "report", "--json", "--limit", "1", files[0]]
        done = subprocess.run(words, capture_output=True, env=env, check=True)
        return json.loads(done.stdout)["totals"]["allocations"]
    if tool.name == "heaptrack":
        done = subprocess.run(["heaptrack_print", files[0]], capture_output=True, env=env,
                              text=True, check=False)
        found = re.search(r"^calls to allocation functions: (\d+)", done.stdout, re.M)
        return int(found[1]) if found else 0
    return None


def outcome(settings, tool):
    """Return a sentence about the profile after the kill."""
    out = runner.fresh(os.path.join(settings.work, "survival"))
    env = runner.environment(settings, {})
    words = tool.words([f"{settings.binaries}/killed", str(BLOCKS)], out)
    own = [f"{key}={value}" for key, value in tool.environment(out).items()]
    with subprocess.Popen(["env", *own, *words] if own else words, env=env, cwd=settings.work,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        pid = next((int(line) for line in started.stdout if line.strip().isdigit()), None)
        if pid is None:
            return "FAILED: the program did not start"
        os.kill(pid, signal.SIGKILL)
        started.stdout.read()
        started.wait(timeout=WAIT_S)
    files = files_in(out)
    if not files:
        return "no profile"
    count = recorded_in(settings, tool, files, env)
    if count is None:
        return "not read"
    if peers.SAMPLED in tool.name:
        return f"{count:,} allocations, estimated from samples"
    # The C library allocates a few blocks too, so a whole profile has slightly more.
    return f"{min(count, BLOCKS):,} of {BLOCKS:,} allocations"


def section(settings, chosen, told):
    """Print a line for each tool that CHOSEN, a pattern, matches."""
    told.section(f"after kill -9, of a program that had allocated {BLOCKS:,} blocks")
    tools, missing = peers.available(settings.heaptap, programs.PATH, True)
    told.missing({name: why for name, why in missing.items() if re.search(chosen, name)})
    for tool in tools:
        if tool.leaves_profile and re.search(chosen, tool.name):
            told.line(f"{tool.name:<14}{outcome(settings, tool)}")
