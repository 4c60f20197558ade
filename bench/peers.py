"""peers.py: the profilers that the bench runs, including heaptap.

A tool has the words for running a command, and its requirements. `{out}` in the words becomes an
empty directory for the profile. `rounds` is the fraction of the bench's rounds that a tool runs.
Slow tools run fewer, because `make bench` would otherwise take a day. A tool whose program or
library is not installed is missing, and a tool that leaves no profile has failed. Both are
reported, and neither is an error.

These rows are deliberately separate:
    heaptap        the recording alone (--no-pack), as in the table of goals
    heaptap+pack   with symbols looked up and compressed afterwards, in the same command; this is
                   what heaptrack does too, whose second process looks up symbols while it records
    before…        the same tools from another build of heaptap, for the changes since then
    jemalloc, tcmalloc   replace the allocator, so their rows include its gains and losses;
                   their plain rows, without profiling, show how much that is
"""
import os
import shutil
import subprocess

SAMPLED = "512K"
BEFORE = "before"


class Tool:
    def __init__(self, name, prefix=(), env=None, rounds=1.0, command=None, library=None,
                 ours=False, leaves_profile=True, processes=1, full_only=False, blind=None,
                 follows=True):
        self.name, self.prefix, self.env, self.rounds = name, list(prefix), env or {}, rounds
        self.command, self.library, self.ours = command, library, ours
        self.leaves_profile, self.processes, self.full_only = leaves_profile, processes, full_only
        self.blind = blind or {}  # Programs that it does not record, with reasons.
        self.follows = follows  # It records the processes that a program starts.

    def blind_to(self, program):
        """Return the reason why it does not record PROGRAM, or None."""
        if program.kind == "short" and not self.follows:
            return "it records no processes that a program starts"
        return self.blind.get(program.name)

    def words(self, command, out):
        return [word.replace("{out}", out) for word in self.prefix] + list(command)

    def environment(self, out):
        return {key: value.replace("{out}", out) for key, value in self.env.items()}


NATIVE = Tool("native", leaves_profile=False)


def heaptap_tools(heaptap, name="heaptap"):
    record = [heaptap, "run", "--quiet", "-o", "{out}/"]
    # Two builds may have different formats of cache files. With a shared cache, each would replace
    # the other's entries.
    cache = os.path.join(os.path.dirname(os.path.abspath(heaptap)), "bench-cache")
    return [
        Tool(name, [*record, "--no-pack", "--"], ours=True),
        Tool(f"{name}-512K", [*record, "--no-pack", "--sample", SAMPLED, "--"], ours=True),
        Tool(f"{name}-5f", [*record, "--no-pack", "--frames", "5", "--"], ours=True, rounds=0.4,
             full_only=True),
        Tool(f"{name}+pack", [*record, "--"], ours=True, processes=2,
             env={"XDG_CACHE_HOME": cache})]


def jemalloc(name, settings, rounds, **more):
    return Tool(name, env={"LD_PRELOAD": "libjemalloc.so.2", "MALLOC_CONF": settings},
                library="libjemalloc.so.2", rounds=rounds, **more)


def tcmalloc(name, env, **more):
    return Tool(name, env={"LD_PRELOAD": "libtcmalloc.so.4", **env}, library="libtcmalloc.so.4",
                rounds=0.2, **more)


def others():
    profile = "prof:true,prof_final:true,prof_prefix:{out}/je,lg_prof_sample:"
    return [
        Tool("heaptrack", ["heaptrack", "-o", "{out}/h"], command="heaptrack", rounds=0.34,
             processes=2, follows=False),
        Tool("heaptrack-r", ["heaptrack", "-r", "-o", "{out}/h"], command="heaptrack", rounds=0.34,
             processes=2, follows=False, full_only=True),
        jemalloc("jemalloc", "", 0.2, leaves_profile=False, full_only=True),
        jemalloc("jemalloc-0", profile + "0", 0.2, full_only=True),
        jemalloc("jemalloc-19", profile + "19", 0.4, full_only=True),
        tcmalloc("tcmalloc", {}, leaves_profile=False, full_only=True),
        tcmalloc("tcmalloc-hp", {"HEAPPROFILE": "{out}/hp"}, full_only=True, blind={
            "bash": "bash answers getenv() itself, so the profiler is never switched on"}),
        Tool("massif", ["valgrind", "--tool=massif", "--massif-out-file={out}/massif.%p"],
             command="valgrind", rounds=0.14, full_only=True, follows=False),
        Tool("dhat", ["valgrind", "--tool=dhat", "--dhat-out-file={out}/dhat.%p"],
             command="valgrind", rounds=0.07, full_only=True, follows=False)]


def libraries():
    """Return ldconfig's list of the libraries the loader finds by name; "" without ldconfig."""
    path = os.environ.get("PATH", "") + ":/sbin:/usr/sbin"
    ldconfig = shutil.which("ldconfig", path=path)
    return subprocess.run([ldconfig, "-p"], capture_output=True, text=True,
                          check=False).stdout if ldconfig else ""


def can_sample(heaptap):
    done = subprocess.run([heaptap, "run", "--help"], capture_output=True, text=True, check=False)
    return "--sample " in done.stdout


def available(heaptap, path, full, before=None):
    """Return the tools that can run on this machine, and the reasons for the others: (tools, {name:
    why}). BEFORE is the command of another build."""
    known, found, missing = libraries(), [], {}
    of_before = heaptap_tools(before, BEFORE) if before else []
    for tool in heaptap_tools(heaptap) + of_before + others():
        if tool.name.endswith("-512K") and not can_sample(tool.prefix[0]):
            missing[tool.name] = "this heaptap has no option --sample"
        elif tool.command and not shutil.which(tool.command, path=path):
            missing[tool.name] = f"{tool.command} is not installed"
        elif tool.library and tool.library not in known:
            missing[tool.name] = f"{tool.library} is not installed"
        elif tool.full_only and not full:
            missing[tool.name] = "only with BENCH=full or when TOOLS is given"
        else:
            found.append(tool)
    return found, missing
