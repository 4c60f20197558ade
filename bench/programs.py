"""programs.py: what the bench runs: real programs, and the loops of micro.c.

A real program is judged by the processor time of its whole run, a loop by the time it takes itself
("ns_per_pair"), both next to the same program bare. The lists say what each one is there for; none
was chosen because it looks good, and gawk, lua, bash, git, g++ and node were added when the
recorder was done, so that there is something that nobody tuned for.
"""
import os
import shutil
import subprocess

import inputs

PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"


class Program:
    """`words(scale)` is its command; `executable` the name under which its process is seen."""

    def __init__(self, name, words, executable=None, env=None, threads=1, pairs=0):
        self.name, self.words, self.executable = name, words, executable
        self.env, self.threads, self.pairs = env or {}, threads, pairs


def inner(driver, name):
    """The path of a compiler's inner program, or None."""
    if not shutil.which(driver, path=PATH):
        return None
    done = subprocess.run([driver, f"-print-prog-name={name}"], capture_output=True, text=True,
                          check=False)
    path = done.stdout.strip()
    return path if os.path.isabs(path) and os.path.exists(path) else None


def real_programs(directory):
    """Those that are installed, and the names of those that are not."""
    def on(kind):
        return lambda scale: inputs.make(kind, directory, scale)

    def command(executable, *words, env=None, name=None):
        path = executable and (executable if os.path.isabs(executable)
                               else shutil.which(executable, path=PATH))
        label = name or os.path.basename(executable or "?")
        filled = (lambda scale: [path] + [w(scale) if callable(w) else w for w in words])
        return label, path and Program(label, filled, os.path.basename(os.path.realpath(path)), env)

    compile_words = ("-quiet", "-fpreprocessed", "-O1")
    found = [
        # A compiler: obstacks, pools and hash tables, and half a million small blocks.
        command(inner("gcc", "cc1"), *compile_words, on("c"), "-o", "/dev/null", name="cc1"),
        command(inner("g++", "cc1plus"), *compile_words, on("cxx"), "-o", "/dev/null",
                name="cc1plus"),
        # Interpreters, which allocate for every value.
        command("python3", "-S", on("python"), name="python",
                env={"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}),
        command("perl", on("perl"), env={"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}),
        command("gawk", "{ n[$2] += $3; s[$2] = s[$2] $4; for (i = 1; i <= NF; i++) w[$i]++ }"
                " END { for (k in n) c += length(s[k]); print c, length(w) }", on("table")),
        command("lua5.4", on("lua"), name="lua"),
        command("bash", on("bash")),
        command("node", on("node")),
        # A database in memory, a query over values, a version control system, a compressor.
        command("sqlite3", ":memory:", lambda scale: ".read " + on("sql")(scale), name="sqlite"),
        command("jq", "-n", "-c", "[inputs] | group_by(.customer) | map({c: .[0].customer,"
                " n: length, sum: (map(.items[].price) | add)}) | length", on("json")),
        command("git", lambda scale: "--git-dir=" + on("git")(scale), "--no-pager", "log", "-p",
                "--stat", "main"),
        command("zstd", "-q", "-9", "--single-thread", "-c", on("table"))]
    return ([program for _, program in found if program],
            [label for label, program in found if not program])


# Kind, threads, pairs in the quick scope: about a third of a second each.
LOOPS = [("headline", 0, 6000000), ("depth5", 0, 12000000), ("depth20", 0, 12000000),
         ("depth60", 0, 12000000), ("paths", 0, 3000000), ("live", 0, 2000000), ("deep", 0, 150000),
         ("handler", 0, 600000), ("churn", 0, 500000), ("own", 1, 8000000), ("own", 2, 8000000),
         ("own", 4, 8000000), ("cross", 2, 6000000), ("cross", 4, 6000000)]


def loops(binaries):
    return [Program(f"{kind}-{threads}" if threads else kind,
                    lambda scale, kind=kind, threads=threads, pairs=pairs:
                    [f"{binaries}/micro", kind, str(pairs * scale)]
                    + [str(threads)] * (threads > 0),
                    "micro", threads=max(1, threads), pairs=pairs)
            for kind, threads, pairs in LOOPS]
