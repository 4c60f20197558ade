"""needs.py: list the make targets of a job, for `make test ONLY=REGEX`.

A unit test, a fuzz target's replay and the comparison of unwinders need only themselves. A script
needs the products and the programs whose names occur in its text, in the helpers that it names, or
in the sources of programs that it needs. A word that ends in "_" means every name that begins with
it. The list may be too long, because a name in a comment counts.
"""
import glob
import os
import re

WORD = re.compile(r"\w+")

# Directories of the programs of test.mk, and the phony target that builds all programs of a kind,
# for kinds that scripts address by a variable instead of a name.
KINDS = {"ORACLE": "oracle-programs", "harness": "harness-programs", "counter": "counter-programs",
         "bench": "bench-programs"}


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


class Needs:
    """Return the make targets of jobs. SOURCE is the source tree; OUT and BUILD are make's
    variables."""

    def __init__(self, source, out, build):
        self.source, self.out, self.build = source, out, build
        self.texts = {}
        self.programs = {stem(path): path for pattern in
                         ("prog/*.c", "prog/*.cc", "fault/*.c", "interrupt/*.c")
                         for path in self.find("test", pattern)}
        self.programs.update({stem(path): path for path in self.find("examples", "*.c")})

    def find(self, *parts):
        return sorted(glob.glob(os.path.join(self.source, *parts)))

    def words(self, path):
        if path not in self.texts:
            self.texts[path] = set(WORD.findall(read(path)))
        return self.texts[path]

    def target(self, program):
        """Return the file that the build makes from the source PROGRAM."""
        place = os.path.relpath(os.path.splitext(program)[0], self.source)
        library = place.startswith("test/prog/lib")
        return f"{self.build}/{place}{'.so' if library else ''}"

    def named(self, words):
        """Return the sources of the programs that WORDS name."""
        prefixes = tuple(word for word in words if word.endswith("_") and word.strip("_"))
        return {path for name, path in self.programs.items()
                if name in words or name.startswith(prefixes)}

    def helpers(self, script):
        """Return SCRIPT and all helpers that it names, directly or through other helpers, from its
        area and from test/run."""
        beside = [path for place in ("", os.path.basename(os.path.dirname(script)))
                  for path in self.find("test/run", place, "*")
                  if path.endswith((".py", ".subr", ".sh", ".mjs"))]
        found, new = [], [script]
        while new:
            found += new
            named = set().union(*map(self.words, new))
            new = [path for path in beside if stem(path) in named and path not in found]
        return found

    def of_script(self, script):
        words = set().union(*map(self.words, self.helpers(script)))
        sources, new = set(), self.named(words)
        while new:
            sources |= new
            new = self.named(set().union(*map(self.words, new))) - sources
        kinds = {target for word, target in KINDS.items() if word in words}
        return {"all"} | kinds | set(map(self.target, sources))

    def of(self, job):
        kind, name = job.name.split("/") if "/" in job.name else (job.name, "")
        if kind == "unit":
            return {f"{self.out}/test/unit/test_{name}"}
        if kind == "fuzz":
            return {f"{self.build}/test/fuzz/replay_{name}"}
        if kind == "unwind":
            return {f"{self.build}/test/unwind/{name}"}
        return self.of_script(job.command[-1]) if kind == "run" else {"all"}
