"""programs.py: the bench's workloads: real programs, and the loops of micro.c.

A real program is measured by the processor time of its whole run, a loop by its own timing
("ns_per_pair"), both next to the same program bare. The lists state the purpose of each; none
was chosen because it looks good, and gawk, lua, bash, git, g++ and node were added when the
recorder was done, as programs that it was not tuned for.

Programs come in kinds, because a recorder's speed depends on a program's behaviour: five
programs of each of

    stacks   compilers, which meet new stacks all the time
    growing  big heaps that grow until the end
    deep     interpreters whose scripts make them recurse in C
    short    scripts of many short processes, each recorded by itself
    steady   servers and filters, whose heap stays as it is

and "others", which were measured before there were kinds: interpreters that allocate for every
value, and a compressor that hardly allocates.
"""
import os
import shutil
import subprocess

import inputs

PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"


class Program:
    """`words(scale)` is its command; `executable` the name of its process."""

    def __init__(self, name, words, executable=None, env=None, threads=1, pairs=0, kind=None):
        self.name, self.words, self.executable = name, words, executable
        self.env, self.threads, self.pairs, self.kind = env or {}, threads, pairs, kind


def inner(driver, name):
    """Return the path of a compiler's inner program, or None."""
    if not shutil.which(driver, path=PATH):
        return None
    done = subprocess.run([driver, f"-print-prog-name={name}"], capture_output=True, text=True,
                          check=False)
    path = done.stdout.strip()
    return path if os.path.isabs(path) and os.path.exists(path) else None


class Finder:
    """Make programs from the installed commands, with inputs from DIRECTORY."""

    def __init__(self, directory):
        self.directory, self.kind = directory, "others"
        self.found, self.absent = [], []

    def on(self, kind, part=""):
        return lambda scale: inputs.make(kind, self.directory, scale) + part

    def add(self, name, executable, *words, env=None):
        path = executable and (executable if os.path.isabs(executable)
                               else shutil.which(executable, path=PATH))
        if not path:
            self.absent.append(name)
            return

        def filled(scale):
            return [path] + [w(scale) if callable(w) else w for w in words]
        self.found.append(Program(name, filled, os.path.basename(os.path.realpath(path)), env,
                                  kind=self.kind))


def compilers(f):
    """Obstacks, pools and hash tables, half a million small blocks, and passes over them."""
    quiet = ("-quiet", "-w", "-O1")
    f.kind = "stacks"
    f.add("cc1", inner("gcc", "cc1"), "-quiet", "-fpreprocessed", "-O1", f.on("c"), "-o",
          "/dev/null")
    f.add("cc1plus", inner("g++", "cc1plus"), "-quiet", "-fpreprocessed", "-O1", f.on("cxx"), "-o",
          "/dev/null")
    f.add("clang", shutil.which("clang++", path=PATH) and "clang", "-x", "c++-cpp-output", "-w",
          "-O1", "-S", "-o", "/dev/null", f.on("clang"))
    f.add("f951", inner("gfortran", "f951"), *quiet, "-ffree-form", f.on("fortran"), "-o",
          "/dev/null", "-J", f.directory)
    f.add("lto1", inner("gcc", "lto1"), *quiet, f.on("lto"), "-o", "/dev/null")


def growing(f):
    """A database in memory, tables of words, values of a document, its tree, and symbols."""
    f.kind = "growing"
    f.add("sqlite", "sqlite3", ":memory:", lambda scale: ".read " + f.on("sql")(scale))
    f.add("gawk", "gawk", "{ n[$2] += $3; s[$2] = s[$2] $4; for (i = 1; i <= NF; i++) w[$i]++ }"
          " END { for (k in n) c += length(s[k]); print c, length(w) }", f.on("table"))
    f.add("jq", "jq", "-n", "-c", "[inputs] | group_by(.customer) | map({c: .[0].customer,"
          " n: length, sum: (map(.items[].price) | add)}) | length", f.on("json"))
    f.add("xml-tree", "xmllint", "--noout", f.on("xml"))
    f.add("ld", "ld", "-e", "0", "-o", "/dev/null", f.on("objects", "/0.o"),
          f.on("objects", "/1.o"))


PYTHON = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}
PERL = {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}


def deep(f):
    """inputs_deep.py explains their recursion."""
    f.kind = "deep"
    f.add("py-deep", "python3", "-S", f.on("python-deep"), env=PYTHON)
    f.add("perl-deep", "perl", f.on("perl-deep"), env=PERL)
    f.add("lua-deep", "lua5.4", f.on("lua-deep"))
    f.add("bash-deep", "bash", f.on("bash-deep"))
    f.add("ruby-deep", "ruby", "--disable-gems", f.on("ruby-deep"))


def short(f):
    """The whole script is measured. Its commands exist on every system with a compiler, except for
    interpreters; the script's status reports a missing one."""
    f.kind = "short"
    f.add("configure", "sh", f.on("configure"))
    f.add("true", "sh", f.on("true"))
    f.add("make", "make", "-s", "-f", f.on("makefile"))
    f.add("cc", shutil.which("gcc", path=PATH) and "sh", f.on("small"))
    f.add("starts", all(shutil.which(n, path=PATH) for n in ("python3", "perl", "gawk")) and "sh",
          f.on("starts"))


def steady(f, binaries):
    """Documents passed through jq and an XML parser, SQL statements, requests, and file
    differences."""
    f.kind = "steady"
    f.add("jq-pass", "jq", "-c", "select(.open) | {id, n: (.note | ascii_upcase), sum: (.items"
          " | map(.price * .count) | add)}", f.on("json"), f.on("json"))
    f.add("xml-pass", "xmllint", "--stream", "--noout", f.on("xml"))
    f.add("queries", "sqlite3", ":memory:", lambda scale: ".read " + f.on("queries")(scale))
    f.add("kv", f"{binaries}/kv_server", "replay", f.on("requests"), "6")
    f.add("git", "git", lambda scale: "--git-dir=" + f.on("git")(scale), "--no-pager", "log", "-p",
          "--stat", "main")


def others(f):
    f.kind = "others"
    f.add("python", "python3", "-S", f.on("python"), env=PYTHON)
    f.add("perl", "perl", f.on("perl"), env=PERL)
    f.add("lua", "lua5.4", f.on("lua"))
    f.add("bash", "bash", f.on("bash"))
    f.add("node", "node", f.on("node"))
    f.add("zstd", "zstd", "-q", "-9", "--single-thread", "-c", f.on("table"))


def real_programs(build):
    """Return the installed programs, and the names of the missing ones. BUILD has heaptap's own
    programs, and the inputs."""
    f = Finder(os.path.join(build, "bench", "inputs"))
    compilers(f)
    growing(f)
    deep(f)
    short(f)
    steady(f, os.path.join(build, "bench", "bin"))
    others(f)
    return f.found, f.absent


TEAMS = ("own", "cross", "swarm", "churn")  # Loops about threads.

# Kind, threads, pairs in the quick scope: about a third of a second each.
LOOPS = [("headline", 0, 6000000), ("depth5", 0, 12000000), ("depth20", 0, 12000000),
         ("depth60", 0, 12000000), ("paths", 0, 3000000), ("live", 0, 2000000), ("deep", 0, 150000),
         ("handler", 0, 600000), ("coroutine5", 0, 6000000), ("coroutine60", 0, 6000000),
         ("coroutine900", 0, 150000), ("churn", 0, 500000),
         *(("own", threads, 8000000) for threads in (1, 2, 3, 4)),
         *(("cross", threads, 6000000) for threads in (1, 2, 3, 4)), ("swarm", 64, 4000000)]


def loops(binaries):
    return [Program(f"{kind}-{threads}" if threads else kind,
                    lambda scale, kind=kind, threads=threads, pairs=pairs:
                    [f"{binaries}/micro", kind, str(pairs * scale)]
                    + [str(threads)] * (threads > 0),
                    "micro", threads=max(1, threads), pairs=pairs)
            for kind, threads, pairs in LOOPS]
