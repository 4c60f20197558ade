#!/usr/bin/env python3
"""accuracy.py: counts for blocks with known accesses, by heaptap and by compiler-rt.

    accuracy.py [--random-bits N] [--flags FLAGS] HEAPTAP [COMPILER...]

One program, test/run/access/truth.c, is built by each available compiler (clang-14, clang-16,
clang-19, clang-22, gcc), once for compiler-rt's run-time library, by -fmemory-profile, and for
each granule by `heaptap cc`. A cell shows the counts for the blocks of one size: the accesses to
one block, on average, least and most; "=" if they match the truth, number of blocks and sum
included. A cell of heaptap's covers granules of 8, 16 and 64 at once.

The truth follows from the source, and is the same with all FLAGS, because the counted memory is
volatile. The loop that vectorises is built with -O3 -mavx2. With granules of 64 a vector is one
access, as it is for compiler-rt, so this row has heaptap's counts for 8 and 16, where `heaptap
cc` leaves vectorisers off. Counts by words come from heaptap, with granules of 8, and from
compiler-rt's histogram, which 22 counts inline and 19 by calls; 14 and 16 have none.

compiler-rt's counts are read by the llvm-profdata of its release for 19 and 22. Those of 14 and
16 show no sites (for such a program), so for these the text that the library itself writes is
used.

With --random-bits N everything runs with N bits of random addresses, if the kernel lets us set
that: 32 is the maximum, and the default of some distributions; and programs start a few hundred
times more. Other programs with a sanitizer may fail to start in the meantime. Exits with 1 if a
cell of heaptap's is wrong."""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRUTH = os.path.join(HERE, "..", "test", "run", "access")
sys.dont_write_bytecode = True
sys.path.insert(0, TRUTH)
import counters  # noqa: E402
import known_accesses  # noqa: E402

COMPILERS = ("clang-14", "clang-16", "clang-19", "clang-22", "gcc")
SHOWN_BY_PROFDATA = ("19", "22")  # By site; these also have histograms.
SOURCE = os.path.join(TRUTH, "truth.c")
COMMON = ["-fno-unroll-loops", "-pthread", "-fno-omit-frame-pointer"]
FOR_READERS = ["-gmlt", "-fdebug-info-for-profiling", "-mno-omit-leaf-frame-pointer",
               "-fno-optimize-sibling-calls", "-Wl,--build-id"]
START_SOURCE, STARTS = os.path.join(TRUTH, "places.c"), 50
PATIENCE_S = 20
LOOP_FLAGS = "-O3 -mavx2"
GRANULES = (8, 16, 64)
LOOP_GRANULES = (8, 16)
RANDOM_BITS = "/proc/sys/vm/mmap_rnd_bits"
LABELS = {192: "list: 100 nodes of 192", 24: "reuse: 50 x 24", 100: "reuse: 50 x 100",
          40: "beside them: 2 of 40", 1 << 20: "1 MiB, live at exit", 4096: "calloc: 2 of 4096",
          80: "malloc of 80, then", 272: "realloc to 272", 1000: "untouched: 1000",
          known_accesses.WORDS_SIZE: "words: 3 of 104", 48: "str*, mem*: 48",
          known_accesses.LOOP_SIZE: "vectorised loop: 528"}
ORDER = tuple(LABELS)
MISSING, FAILED = "missing", "does not start"
LIVES = {336: ("migrated", "same_alloc_cpu", "same_dealloc_cpu"), 352: ("overlaps",)}
LIVES_TRUTH = {336: (7, 9, 8), 352: (3,)}
MIB = {"blocks": "AllocCount", "migrated": "NumMigratedCpu", "overlaps": "NumLifetimeOverlaps",
       "same_alloc_cpu": "NumSameAllocCpu", "same_dealloc_cpu": "NumSameDeallocCpu"}


def run(*command, **env):
    return subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **env})


def ends_well(program, **env):
    """Run PROGRAM. Return true if it exits with status 0 in time. A program with compiler-rt may
    hang if the memory of compiler-rt overlaps the program's."""
    try:
        done = subprocess.run([program], capture_output=True, check=False, timeout=PATIENCE_S,
                              env={**os.environ, **env})
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def checked(*command, **env):
    done = run(*command, **env)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def ours(heaptap, compiler, granule, flags):
    """Return the sites, by size."""
    checked(heaptap, "cc", "--cc=" + compiler, f"--granule={granule}", *flags.split(), *COMMON,
            "-o", "ours", SOURCE)
    checked("./ours", HEAPTAP_OUT="ours.heaptap")
    _, sites = counters.read("ours.heaptap")
    os.remove("ours.heaptap")
    sizes = {s["size_bytes"][1] for s in sites if s["size_bytes"][1] == s["size_bytes"][2]}
    return {size: counters.of_size(sites, size) for size in sizes}


def add(into, size, site):
    there = into.get(size)
    if there:
        a, b = site["accesses"], there["accesses"]
        site["accesses"] = (a[0] + b[0], min(a[1], b[1]), max(a[2], b[2]))
        for name in MIB:
            site[name] += there[name]
    into[size] = site


def main_in(program):
    """Return the address range of main in the file PROGRAM."""
    for line in checked("nm", "-S", program).splitlines():
        words = line.split()
        if words[-1] == "main":
            return int(words[0], 16), int(words[0], 16) + int(words[1], 16)
    sys.exit(f"{program} has no main")


def from_text(text, program):
    """Return the sites in the library's text output. Its means have two digits, so totals are
    rounded."""
    first, end = main_in(program)
    row = re.compile(r"stack id = (\d+)\s+alloc_count (\d+), size \(ave/min/max\) \S+ / (\d+) / "
                     r"(\d+)\s+access_count \(ave/min/max\): (\S+) / (\d+) / (\d+)\s+"
                     r"lifetime.*\s+num migrated: (\d+), num lifetime overlaps: (\d+), "
                     r"num same alloc cpu: (\d+), num same dealloc_cpu: (\d+)")
    stacks = {int(number): [int(at, 16) for at in re.findall(rf"{program}\+0x(\w+)", frames)]
              for number, frames in re.findall(r"Stack for id (\d+):\n((?:    #.*\n)+)", text)}
    found = {}
    for m in row.finditer(text):
        blocks, least, most = (int(m[i]) for i in (2, 3, 4))
        if least == most and any(first <= at <= end for at in stacks.get(int(m[1]), [])):
            names = ("migrated", "overlaps", "same_alloc_cpu", "same_dealloc_cpu")
            add(found, least, {"blocks": blocks,
                               "accesses": (round(float(m[5]) * blocks), int(m[6]), int(m[7])),
                               **{name: int(m[8 + i]) for i, name in enumerate(names)}})
    return found


def from_profdata(text):
    found = {}
    for part in text.split("Callstack:"):
        stack, _, block = part.partition("MemInfoBlock:")
        number = {key: int(value) for key, value in re.findall(r"(\w+): (\d+)\n", block)}
        words = re.search(r"AccessHistogramValues: ([\d ]+)", block)
        if number.get("MinSize", -1) == number.get("MaxSize") and "SymbolName: main\n" in stack:
            add(found, number["MinSize"], {
                "accesses": tuple(number[f"{w}AccessCount"] for w in ("Total", "Min", "Max")),
                **{name: number[key] for name, key in MIB.items()},
                "words": [int(w) for w in words[1].split()] if words else None})
    return found


def left():
    """Return the names of the files that programs have written for compiler-rt."""
    return [name for name in os.listdir(".") if name.startswith("raw.")]


def theirs(compiler, flags, by_words=False):
    """Return the sites that compiler-rt reports, by size. Return None if the program ends before
    main."""
    release = compiler.split("-")[-1]
    more = ["-mllvm", "-memprof-histogram"] if by_words else []
    if by_words and release == "19":  # With inline code, 19 counts only granules of 64.
        more += ["-mllvm", "-memprof-use-callbacks"]
    checked(compiler, "-fmemory-profile", *flags.split(), *COMMON, *FOR_READERS, *more, "-o",
            "theirs", SOURCE)
    is_raw = release in SHOWN_BY_PROFDATA and shutil.which(f"llvm-profdata-{release}")
    options = "log_path=raw" + ("" if is_raw else ":symbolize=0:print_text=true")
    for name in left():
        os.remove(name)
    if not ends_well("./theirs", MEMPROF_OPTIONS=options):
        return None
    name, = left()
    if is_raw:
        found = from_profdata(checked(f"llvm-profdata-{release}", "show", "--memory", name,
                                      "--profiled-binary", "theirs"))
    else:
        with open(name, encoding="utf-8", errors="replace") as f:
            found = from_text(f.read(), "theirs")
    return found


def amounts(site):
    """Return blocks, and accesses: total, minimum, maximum."""
    return None if site is None else (site["blocks"], site["accesses"])


def in_words(amount, truth):
    if amount is None:
        return MISSING
    blocks, (total, least, most) = amount
    text = f"{total / blocks:.7g}"
    if not total / blocks == least == most:
        text += f", {least}..{most}"
    return text if blocks == truth[0] else f"{blocks} blocks: {text}"


def near(got, truth, is_rounded):
    if is_rounded and got and got[0] == truth[0] and got[1][1:] == truth[1][1:]:
        return abs(got[1][0] - truth[1][0]) <= truth[0]
    return got == truth


class Table:
    def __init__(self, options, compilers):
        self.heaptap, self.flags = options.heaptap, options.flags
        self.compilers, self.wrong = compilers, 0
        self.rivals = [c for c in compilers if c != "gcc"]

    def collect(self):
        known = known_accesses.wanted(8)
        each = known_accesses.LOOP_EACH * known_accesses.LOOP_SIZE // 8
        self.truth = {size: (row[0], row[1]) for size, row in known.items()}
        self.truth[known_accesses.LOOP_SIZE] = (1, (each, each, each))
        self.ours, self.theirs, self.by_words = {}, {}, {}
        for compiler in self.compilers:
            for granule in GRANULES:
                sites = ours(self.heaptap, compiler, granule, self.flags)
                loop = ours(self.heaptap, compiler, granule, LOOP_FLAGS)
                self.ours[compiler, granule] = self.joined(sites, loop)
        for compiler in self.rivals:
            self.theirs[compiler] = self.joined(theirs(compiler, self.flags),
                                                theirs(compiler, LOOP_FLAGS))
            release = compiler.split("-")[-1]
            if release in SHOWN_BY_PROFDATA and shutil.which(f"llvm-profdata-{release}"):
                self.by_words[compiler] = self.joined(theirs(compiler, self.flags, True),
                                                      theirs(compiler, LOOP_FLAGS, True))

    @staticmethod
    def joined(sites, loop):
        if sites is None or loop is None:
            return None
        return {**sites, known_accesses.LOOP_SIZE: loop.get(known_accesses.LOOP_SIZE)}

    def cell_of_ours(self, compiler, judge, for_granules=GRANULES):
        """"=" if JUDGE finds no error with any granule, else its findings."""
        for granule in for_granules:
            wrong = judge(self.ours[compiler, granule])
            if wrong is not None:
                self.wrong += 1
                return f"{granule}: {wrong}"
        return "="

    def head(self, title, first):
        print(f"\n{title}\n")
        rivals = "".join(f" {'rt ' + c.split('-')[-1]:>17}" for c in self.rivals)
        print(f"{'':24} {first:>17}  {self.names():24}{rivals}")

    def names(self):
        return "ours " + " ".join(f"{c.split('-')[-1]:>3}" for c in self.compilers)

    def line(self, label, truth, cells, rivals):
        mine = "     " + " ".join(f"{c:>3}" for c in cells)
        print(f"{label:24} {truth:>17}  {mine:24}" + "".join(f" {r:>17}" for r in rivals))

    def show_accesses(self):
        self.head(f"Accesses to a block, {self.flags} ({LOOP_FLAGS} for the loop)", "truth")
        for size in ORDER:
            truth = self.truth[size]
            cells = [self.cell_of_ours(c, lambda sites, t=truth, s=size:
                                       None if amounts(sites.get(s)) == t
                                       else in_words(amounts(sites.get(s)), t),
                                       LOOP_GRANULES if size == known_accesses.LOOP_SIZE
                                       else GRANULES)
                     for c in self.compilers]
            rivals = []
            for c in self.rivals:
                got = amounts((self.theirs[c] or {}).get(size))
                is_rounded = c.split("-")[-1] not in SHOWN_BY_PROFDATA
                rivals.append(FAILED if self.theirs[c] is None else
                              "=" if near(got, truth, is_rounded) else in_words(got, truth))
            self.line(LABELS[size], in_words(truth, truth), cells, rivals)

    def show_lives(self):
        for size, names in LIVES.items():
            for name, truth in zip(names, LIVES_TRUTH[size]):
                cells = [self.cell_of_ours(c, lambda sites, n=name, t=truth, s=size:
                                           None if sites.get(s, {}).get(n) == t
                                           else sites.get(s, {}).get(n)) for c in self.compilers]
                rivals = [FAILED if self.theirs[c] is None else
                          self.theirs[c].get(size, {}).get(name, MISSING) for c in self.rivals]
                self.line(f"{size}: {name}", str(truth), cells,
                          ["=" if r == truth else str(r) for r in rivals])

    def show_words(self):
        print("\nAccesses to each word of the blocks of a site\n")
        for size in (known_accesses.WORDS_SIZE, known_accesses.LOOP_SIZE):
            truth = known_accesses.words(size)
            print(f"  {LABELS[size]}, truth:   {shortened(truth)}")
            for c in self.compilers:
                fields = self.ours[c, 8].get(size, {}).get("fields", {})
                got = [fields.get(i, (None,))[0] for i in range(size // 8)]
                self.wrong += got != truth
                print(f"    ours, {c + ':':10} {'=' if got == truth else shortened(got)}")
            for c in self.rivals:
                site = (self.by_words.get(c) or {}).get(size)
                got = site["words"] if site else None
                text = "no counts by word" if c not in self.by_words else \
                    FAILED if self.by_words[c] is None else shortened(got)
                print(f"    compiler-rt {c.split('-')[-1]}: {'=' if got == truth else text}")


def starts(options, compilers):
    """Print how many starts of a program succeed, over random placements by the kernel.

    Return the number of our builds with a failed start.
    """
    print(f"\nStarts that went well, of {STARTS}\n")
    wrong = 0
    for compiler in compilers:
        commands = {f"ours {granule}": [options.heaptap, "cc", "--cc=" + compiler,
                                        f"--granule={granule}"] for granule in GRANULES}
        if compiler != "gcc":
            commands["compiler-rt"] = [compiler, "-fmemory-profile"]
        counts = []
        for name, command in commands.items():
            checked(*command, "-o", "started", START_SOURCE)
            good = sum(ends_well("./started", HEAPTAP_OUT="ours.heaptap",
                                 MEMPROF_OPTIONS="log_path=raw") for _ in range(STARTS))
            wrong += name != "compiler-rt" and good < STARTS
            counts.append(f"{name}: {good}")
        print(f"  {compiler:9} " + ", ".join(counts))
    return wrong


def shortened(words):
    """Merge consecutive equal numbers."""
    if not words:
        return MISSING
    parts, i = [], 0
    while i < len(words):
        k = i
        while k < len(words) and words[k] == words[i]:
            k += 1
        parts.append(f"{k - i} x {words[i]}" if k - i > 2 else " ".join([str(words[i])] * (k - i)))
        i = k
    return ", ".join(parts[:12]) + (" ..." if len(parts) > 12 else "")


class RandomBits:
    """Context manager that sets ASLR to COUNT random bits and restores the previous number at the
    end. None changes nothing."""

    def __init__(self, count):
        self.count, self.before = count, None

    def write(self, value):
        with open(RANDOM_BITS, "w", encoding="ascii") as f:
            f.write(value)

    def __enter__(self):
        if self.count is None:
            return
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        try:
            with open(RANDOM_BITS, encoding="ascii") as f:
                before = f.read()
            self.write(str(self.count))
            self.before = before
        except OSError as e:
            print(f"SKIP {self.count} random bits: {e}")
            sys.exit(77)
        print(f"with {self.count} bits of random addresses, not {before.strip()}")

    def __exit__(self, *_):
        if self.before is not None:
            self.write(self.before)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random-bits", type=int)
    parser.add_argument("--flags", default="-O1")
    parser.add_argument("heaptap", type=os.path.abspath)
    parser.add_argument("compilers", nargs="*", default=COMPILERS)
    options = parser.parse_args()
    present = [c for c in options.compilers if shutil.which(c)]
    for compiler in sorted(set(options.compilers) - set(present)):
        print(f"SKIP {compiler}: it is not installed")
    table = Table(options, present)
    with tempfile.TemporaryDirectory() as directory, RandomBits(options.random_bits):
        os.chdir(directory)
        table.collect()
        if options.random_bits is not None:
            table.wrong += starts(options, present)
        os.chdir(HERE)
    table.show_accesses()
    table.show_lives()
    table.show_words()
    print(f"\n= is the truth. What is wrong with ours: {table.wrong} cells")
    return 1 if table.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
