"""scopes.py: compare the functions that calls reach bare, as the dynamic linker binds them, and
recorded.

    scopes.py [--root DIR] [--only REGEX] [--table FILE]

Each case is a program of test/prog/scope_*, run twice: bare, which shows the bindings of the
dynamic linker, and recorded. Both must print the same. The profile must have the blocks that the
case makes by construction, at their functions, and no losses. The output names the provider of
operators that each call reached (scope_use.h, scope_provider.h), and providers abort on foreign
blocks. A sampled recording takes other paths, and must print the same as well.

With --root the programs run on the dynamic linker and the libraries of DIR. --table also writes
the table of bindings to FILE."""
import argparse
import collections
import concurrent.futures
import difflib
import os
import re
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
import known  # noqa: E402

PT_INTERP = 3
LOADER = "ld-linux-x86-64.so.2"
TIME_LIMIT_S = 20
WORKERS = 2

# Number of blocks made by the functions of plug-ins and hosts, their bytes, and the number of
# blocks freed.
Work = collections.namedtuple("Work", "blocks bytes ended")
WORK_CXX = {
    "use": Work(10, 478, 10),
    "table": Work(3, 20, 3),
    "leave": Work(3, 3000, 0),
    "tail": Work(1, 100, 1),
    "give": Work(1, 200, 1),
    "internal": Work(10, 300, 9),
    "next": Work(10, 300, 9),
    "handle": Work(10, 300, 9),
    "relatives": Work(5, 260, 5),
    "refused": Work(10, 300, 9),
    "mixed": Work(10, 300, 10),
}
WORK_C = dict(WORK_CXX, use=Work(8, 346, 8))
WORK_ONE = {"use": Work(1, 10, 1)}
WORK = {"libscope_c.so": WORK_C, "libscope_unversioned.so": WORK_ONE}

# The functions that these calls charge their blocks to.
CHARGED = {"tail": "through_tail", "give": "host_makes", "internal": "libc_blocks",
           "next": "libc_blocks", "handle": "libc_blocks"}

NO_LOSS = "losses events=0 unknown_frees=0 double_frees=0 overwritten_blocks=0"


class Case:
    """A program with its arguments. PRELOAD lists libraries to preload after the recorder. CHECKS
    lists further numbers as known.py reads them. If TOLD, blocks may be missing from the profile if
    the report warns of that."""

    def __init__(self, name, command, preload="", checks=(), told=False):
        self.name, self.preload, self.checks = name, preload.split(), list(checks)
        self.told = told
        self.program, *self.arguments = command.split()
        self.binds = self.program != "scope_nested" and any("=" in a or a.startswith("host.")
                                                            for a in self.arguments)


def everything(*names):
    """All actions of a plug-in in C++."""
    return " ".join(f"{n}.{what}" for n in names
                    for what in ("use", "probe", "table", "tail", "use", "leave"))


def calls(name):
    """The same actions, except those through pointers to operators."""
    return everything(name).replace(f"{name}.table ", "")


def in_plain_c(name):
    return " ".join(f"{name}.{what}" for what in ("use", "tail", "leave", "give"))


def cases():
    c, cxx = "scope_host", "scope_hostxx"
    p, one, two = "p=libscope_plain.so", "one=libscope_one.so", "two=libscope_two.so"
    s, t = "s=libscope_static.so", "t=libscope_static_too.so"
    yield from in_c(c, p, one, two, s, t)
    yield from in_cxx(cxx, p, one, two, s, t)
    yield from with_own(p, one)
    yield from by_versions()
    yield from apart(c, cxx, p, one)
    yield from past_us()
    yield from asking(c, cxx)
    yield from in_the_linker(c, cxx)
    yield from errors()
    yield from nested()
    yield from behind()


def in_c(c, p, one, two, s, t):
    """A host in C: no operators in its scope."""
    yield Case("C host, local plug-in", f"{c} {p}:l {everything('p')} p!")
    yield Case("C host, global plug-in", f"{c} {p}:g {everything('p')} p!")
    lazy = "p=libscope_calls.so:z"
    yield Case("C host, plug-in bound lazily", f"{c} {lazy} {calls('p')} p!")
    yield Case("C host, two plug-ins with operators of their own",
               f"{c} {one}:l {two}:l {everything('one', 'two')} one.use two.use one! two.use")
    yield Case("C host, the same the other way round",
               f"{c} {two}:l two.use {one}:l {everything('one', 'two')} two! one.use")
    yield Case("C host, one with operators of its own beside one without",
               f"{c} {p}:l p.use {one}:l {everything('one', 'p')}")
    yield Case("C host, one with libstdc++ inside", f"{c} {s}:l {everything('s')} s!")
    again = " ".join(f"{s}:l s.use s.table s.tail s! {t}:l t.use t.table t.tail t!"
                     for _ in range(3))
    yield Case("C host, one after another with libstdc++ inside", f"{c} {again}")
    again = " ".join(f"{p}:l p.use p! {one}:l one.use one! {two}:l two.use two!" for _ in range(3))
    yield Case("C host, others after one another", f"{c} {again}")
    yield Case("C host, one with a sized delete only",
               f"{c} sized=libscope_sized.so:l {everything('sized')} {p}:l p.use sized!")
    yield Case("C host, a global one with a sized delete only",
               f"{c} sized=libscope_sized.so:g {p}:l {everything('p', 'sized')}")
    yield Case("C host, one that needs a library with operators",
               f"{c} {p}:l needy=libscope_needy.so:l {everything('needy', 'p')} needy! p.use")
    yield Case("C host, operators of another that is global",
               f"{c} {one}:g {p}:l {everything('p', 'one')}")
    yield Case("C host, the first of two that are global",
               f"{c} {one}:g {two}:g {p}:l {everything('p', 'two', 'one')}")
    yield Case("C host, made global afterwards",
               f"{c} {p}:l p.use {one}:l p.use {one.replace('one=', 'again=')}:ng q=./plain.so:l "
               f"{everything('p', 'q', 'one')}")
    yield Case("C host, a global one that goes again",
               f"{c} {p}:l p.use {one}:g q=./plain.so:l q.use q! one! q=./plain.so:l "
               f"{everything('p', 'q')}")
    yield Case("C host, made global before a lazy one calls",
               f"{c} {lazy} {one}:g {calls('p')} {everything('one')}")
    yield Case("C host, a lazy one that has called before",
               f"{c} {lazy} p.leave {one}:g p.leave one.use")
    yield Case("C host, libstdc++ made global",
               f"{c} std=libstdc++.so.6:g {one}:l {two}:l {s}:l {everything('one', 'two', 's')}")
    yield Case("C host, bound to its own operators",
               f"{c} {p}:l b=libscope_symbolic.so:l {everything('b', 'p')}")
    yield Case("C host, its operators are protected",
               f"{c} {p}:l b=libscope_protected.so:l {everything('b', 'p')}")
    yield Case("C host, a plug-in in C that calls operators",
               f"{c} {one}:g u=libscope_unversioned.so:l u.use")
    yield Case("C host, a plug-in in C", f"{c} c=libscope_c.so:l {in_plain_c('c')}")


def in_cxx(cxx, p, one, two, s, t):
    """A host in C++: libstdc++ is in the program's scope, so its operators come first for all
    objects."""
    for host, what in (cxx, "C++ host"), ("scope_nopie", "C++ host at a fixed address"):
        yield Case(f"{what}, plug-in", f"{host} {everything('host')} {p}:l {everything('p')} p!")
        yield Case(f"{what}, plug-ins with operators of their own",
                   f"{host} {one}:l {two}:g {everything('one', 'two', 'host')}")
    yield Case("C++ host, one with libstdc++ inside",
               f"{cxx} {s}:l {everything('s')} s! {t}:l {everything('t', 'host')}")
    yield Case("C++ host, one with a sized delete only",
               f"{cxx} sized=libscope_sized.so:l {everything('sized', 'host')}")
    yield Case("C++ host, one that needs a library with operators",
               f"{cxx} needy=libscope_needy.so:l {everything('needy')}")
    yield Case("C++ host, one bound to its own operators",
               f"{cxx} b=libscope_symbolic.so:l {everything('b', 'host')} {p}:l p.use")
    yield Case("C++ host, one whose operators are protected",
               f"{cxx} b=libscope_protected.so:l {everything('b', 'host')} {p}:l p.use")
    yield Case("C++ host, a plug-in ends the host's blocks", f"{cxx} {p}:l p.give {one}:l one.give")
    yield Case("C++ host, a plug-in in C that calls operators",
               f"{cxx} u=libscope_unversioned.so:l u.use")


def with_own(p, one):
    """Programs that define operators, or have libraries in their scope that do."""
    for host, what in (("scope_own", "operators in the program"),
                       ("scope_hidden", "hidden operators in the program"),
                       ("scope_inside", "libstdc++ inside the program"),
                       ("scope_exported", "libstdc++ inside the program, for all"),
                       ("scope_first", "operators in a library before libstdc++"),
                       ("scope_binds", "operators in a library that is bound to its own"),
                       ("scope_protects", "protected operators in a library")):
        yield Case(what, f"{host} {everything('host')} {p}:l {everything('p')} "
                         f"two=libscope_two.so:l {everything('two')}")
    yield Case("operators in a preloaded library",
               f"scope_hostxx {everything('host')} {p}:l {everything('p')}", "libscope_one.so")
    yield Case("operators in a preloaded library, C host", f"scope_host {p}:l {everything('p')}",
               "libscope_one.so")
    yield Case("a sized delete in a preloaded library",
               f"scope_hostxx {everything('host')} {p}:l {everything('p')}", "libscope_sized.so")
    yield Case("a sized delete in a preloaded library, C host",
               f"scope_host {p}:l {everything('p')} {one}:l one.leave", "libscope_sized.so")


def by_versions():
    yield Case("a library with versions of its own before libstdc++",
               f"scope_hostxx {everything('host')} v=libscope_version.so:l {everything('v')} "
               f"u=libscope_unversioned.so:l u.use", "libscope_versioned.so")
    yield Case("the same, C host",
               f"scope_host p=libscope_plain.so:l {everything('p')} v=libscope_version.so:l "
               f"{everything('v')} u=libscope_unversioned.so:l u.use", "libscope_versioned.so")
    yield Case("a plug-in that needs such a library",
               f"scope_hostxx v=libscope_version.so:l {everything('v', 'host')}")
    yield Case("the same, C host", f"scope_host v=libscope_version.so:l {everything('v')}")


def apart(c, cxx, p, one):
    """RTLD_DEEPBIND and dlmopen."""
    for host, what in (c, "C host"), (cxx, "C++ host"):
        yield Case(f"{what}, deep plug-in in C", f"{host} c=libscope_c.so:ld " + (
            in_plain_c("c") if host == c else "c.use c.tail c.leave"))
        yield Case(f"{what}, deep plug-in in C++", f"{host} {p}:ld {everything('p')}")
        yield Case(f"{what}, deep plug-in with operators of its own",
                   f"{host} {p}:l {one}:ld {everything('one', 'p')}")
        yield Case(f"{what}, deep plug-in with libstdc++ inside",
                   f"{host} s=libscope_static.so:ld {everything('s')} s!")
        yield Case(f"{what}, plug-in in C in a namespace of its own",
                   f"{host} c=libscope_c.so:m c.use c.tail c.leave c!", told=True)
        yield Case(f"{what}, plug-in in C++ in a namespace of its own",
                   f"{host} {p}:m {everything('p')} {one}:m {everything('one')} p! one!",
                   told=True)


def past_us():
    """libc's functions, called by other names or through pointers."""
    for what in "internal", "relatives", "refused", "mixed", "handle":
        yield Case(f"libc's allocator, {what}", f"scope_libc host.{what}")
        yield Case(f"libc's allocator in a plug-in, {what}",
                   f"scope_host l=libscope_libc.so:l l.{what}")
        if what != "mixed":
            yield Case(f"libc's allocator beside another, {what}", f"scope_libc host.{what}",
                       "libscope_asks.so")
    yield Case("the next malloc behind a plug-in", "scope_host l=libscope_libc.so:l l.next")
    yield Case("the next malloc behind a preloaded library",
               "scope_host l=libscope_libc.so:l l.next", "libscope_libc.so")
    yield Case("libc's allocator in a deep plug-in",
               "scope_host l=libscope_libc.so:ld l.internal l.handle l.next")
    yield Case("a block that another name of free ends", "scope_libc c=libscope_c.so:l c.give")


def asking(c, cxx):
    """Code that tests whether operators exist."""
    asked = ["under:call_found allocations=1 frees=1"]
    weak = ["under:weak allocations=1 allocated_bytes=24 frees=1"]
    for host, what in ("scope_weak", "weak references"), ("scope_weak_fixed",
                                                          "weak references at a fixed address"):
        yield Case(what, f"{host} host.weak w=libscope_weak.so:l w.weak",
                   checks=["under:weak allocations=0"])
        yield Case(f"{what}, operators come later",
                   f"{host} one=libscope_one.so:g host.weak w=libscope_weak.so:l w.weak",
                   checks=weak)
    yield Case("weak references, C++ host", f"{cxx} w=libscope_weak.so:l w.weak", checks=weak)
    names = "?_Znwm ?_ZdlPv ?_ZdaPvm ?free_sized ?free_aligned_sized"
    yield Case("dlsym(RTLD_DEFAULT), C host", f"{c} {names} p=libscope_plain.so:l {names}",
               checks=["under:call_found allocations=0"])
    yield Case("dlsym(RTLD_DEFAULT), C host, operators come later",
               f"{c} ?_Znwm one=libscope_one.so:g ?_Znwm", checks=asked)
    yield Case("dlsym(RTLD_DEFAULT), C++ host", f"{cxx} {names}", checks=asked)
    yield Case("dlsym of a plug-in, C host", f"{c} p=libscope_plain.so:l p?_Znwm", checks=asked)
    yield Case("dlsym of a plug-in with operators, C++ host",
               f"{cxx} one=libscope_one.so:l one?_Znwm", checks=asked)


def in_the_linker(c, cxx):
    """Constructors and destructors that wait for threads, while the linker holds its lock."""
    for host, what in (c, "C host"), (cxx, "C++ host"):
        yield Case(f"{what}, a constructor and a destructor wait for threads",
                   f"{host} a=libscope_starts.so:l a.use a!",
                   checks=["under:worked allocations=20 allocated_bytes=880 frees=20"])
        yield Case(f"{what}, a destructor ends a thread",
                   f"{host} a=libscope_pool_thread.so:l a!",
                   checks=["under:worked allocations=10 allocated_bytes=440 frees=10"])


def errors():
    for how in "start", "events", "fork", "signal", "thread":
        yield Case(f"dlerror() is kept, {how}", f"scope_dlerror {how}")
    for how in "new", "array", "nothrow", "aligned", "sized", "throw":
        yield Case(f"dlerror() is kept in C++, {how}", f"scope_dlerrorxx {how}")


def nested():
    """Events inside operators."""
    exceptions = "under:__cxa_allocate_exception allocations=1000"
    yield Case("operators of libstdc++", "scope_nested objects arrays", checks=[
        "leaf:objects allocations=1000 allocated_bytes=100000 frees=500 live_bytes=50000",
        "leaf:arrays allocations=100 allocated_bytes=30000 frees=100"])
    yield Case("new makes other blocks", "scope_nested objects arrays", "libscope_registry.so", [
        "leaf:objects allocations=1000 allocated_bytes=100000 frees=500 live_bytes=50000",
        "leaf:arrays allocations=100 allocated_bytes=30000 frees=100",
        "leaf:remember allocations=1100 allocated_bytes=26400 frees=600 live_blocks=500",
        "under:main allocations=2200 live_blocks=1000"])
    yield Case("delete ends other blocks", "scope_nested deferred", "libscope_registry.so", [
        "leaf:makes_deferred allocations=64 allocated_bytes=6400000 frees=64 live_bytes=0",
        "leaf:deferred allocations=1 frees=1", "leaf:remember allocations=1 frees=1"])
    yield Case("a refused alignment, exceptions dropped", "scope_nested refused", checks=[
        f"{exceptions} frees=1000 live_blocks=0"])
    yield Case("a refused alignment, exceptions kept", "scope_nested kept_all", checks=[
        f"{exceptions} frees=0 live_blocks=1000"])
    once = ["under:objects allocations=1000 allocated_bytes=100000 frees=500 live_bytes=50000",
            "under:arrays allocations=100 allocated_bytes=30000 frees=100 live_bytes=0"]
    yield Case("a header in front of each block", "scope_nested objects arrays",
               "libscope_header.so", once)
    yield Case("blocks carved out of larger ones", "scope_nested objects arrays",
               "libscope_carved.so", once)
    yield Case("operators made of libc's allocator, beside another", "scope_nested objects arrays",
               "libscope_past.so libscope_asks.so", [
        "leaf:objects allocations=1000 allocated_bytes=100000 frees=500 live_bytes=50000",
        "leaf:arrays allocations=100 allocated_bytes=30000 frees=100 live_bytes=0",
        "leaf:note allocations=1100 allocated_bytes=26400 frees=600 live_bytes=12000",
        "leaf:look allocations=2200 frees=2200"])


def behind():
    """Allocators preloaded after the recorder."""
    yield Case("a malloc that calls its own memalign", "scope_mallocs", "libscope_aligns.so", [
        "leaf:mallocs allocations=1000 allocated_bytes=100000 frees=1000",
        "leaf:malloc allocations=0", "under:main allocations=1000 frees=1000 live_blocks=0"])
    for which in "malloc", "calloc", "realloc":
        yield Case(f"a {which} that throws", f"scope_throws {which}", "libscope_throws.so", [
            "leaf:rounds allocations=1000 allocated_bytes=10000 frees=1000 live_blocks=0",
            "under:__cxa_allocate_exception allocations=1000 frees=1000"])


# --- Running them ---------------------------------------------------------------------------------


class Libc:
    """The C library to run on: the system's, or the C library in a directory."""

    def __init__(self, root):
        self.loader, self.folders = None, []
        self.version = os.confstr("CS_GNU_LIBC_VERSION").split()[1]
        if root is None:
            return
        # Some distributions' packages still have a lib beside usr/lib.
        folders = [os.path.abspath(f"{root}/{f}/x86_64-linux-gnu") for f in ("lib", "usr/lib")]
        self.folders = [f for f in folders if os.path.isdir(f)]
        self.loader = next(f"{f}/{LOADER}" for f in folders if os.path.exists(f"{f}/{LOADER}"))
        told = subprocess.run([self.loader, "--version"], capture_output=True, text=True,
                              check=True)
        self.version = re.search(r"version (\d+\.\d+)", told.stdout)[1]

    def program(self, path, directory):
        """Return PATH, or a copy of it in DIRECTORY that uses the chosen dynamic linker. The kernel
        reads the linker's name at any offset that the program header gives, so the copy has it at
        the end. (To run a program as an argument of the linker would be different: /proc/self/exe
        would not be the program.)"""
        if self.loader is None:
            return path
        with open(path, "rb") as f:
            image = bytearray(f.read())
        headers, = struct.unpack_from("<Q", image, 32)
        each, count = struct.unpack_from("<HH", image, 54)
        name = os.fsencode(self.loader) + b"\0"
        for at in range(headers, headers + each * count, each):
            if struct.unpack_from("<I", image, at)[0] == PT_INTERP:
                struct.pack_into("<Q", image, at + 8, len(image))
                struct.pack_into("<Q", image, at + 32, len(name))
        copy = os.path.join(directory, os.path.basename(path))
        with open(copy, "wb") as f:
            f.write(image + name)
        os.chmod(copy, 0o755)
        return copy


Run = collections.namedtuple("Run", "status output errors")


def run(command, directory, more):
    """Run COMMAND with the variables MORE."""
    try:
        done = subprocess.run(command, cwd=directory, env={**os.environ, **more},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired as late:
        said = [b.decode(errors="replace") if b else "" for b in (late.stdout, late.stderr)]
        return Run(f"still running after {TIME_LIMIT_S} s", *said)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Run(status, done.stdout, done.stderr)


def numbers(case):
    """Return the expected blocks of the case, from the actions of its functions."""
    files, total = {}, collections.Counter()
    for argument in case.arguments:
        name, _, file = argument.partition("=")
        if file:
            files[name] = WORK.get(file.split(":")[0], WORK_CXX)
        name, _, function = argument.partition(".")
        work = files.get(name, WORK_CXX).get(function)
        if work is not None:
            total[CHARGED.get(function, function), "allocations"] += work.blocks
            total[CHARGED.get(function, function), "allocated_bytes"] += work.bytes
            total[CHARGED.get(function, function), "frees"] += work.ended
    found = collections.defaultdict(list)
    for (function, field), value in total.items():
        found[function].append(f"{field}={value}")
    return [f"under:{function} {' '.join(terms)}" for function, terms in found.items()]


def wrong_numbers(report, checks):
    return [f"{check.split()[0]} {w}" for check in checks for w in
            (known.mismatch(report, check.split()[0], term) for term in check.split()[1:]) if w]


def is_told(report):
    """Return true if the report warns that blocks are missing."""
    return report["losses"]["events"] > 0 or bool(report["notes"])


def profile_complaints(case, file, heaptap):
    done = subprocess.run([heaptap, "report", "--json", "--no-fold", file], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        return [f"no report: {done.stderr.strip()}"]
    report = documents.loads(done.stdout)
    # The dynamic linker also allocates, even when a function is called for the first time.
    report["sites"] = [site for site in report["sites"] if not any(
        os.path.basename(frame["module"] or "") == LOADER for frame in site["stack"])]
    if case.told and is_told(report):
        return []
    return wrong_numbers(report, [*numbers(case), *case.checks, NO_LOSS])


Result = collections.namedtuple("Result", "case bare recorded different numbers")


def difference(bare, recorded, how):
    if bare == recorded:
        return []
    lines = [f"status {bare.status} bare, {recorded.status} {how}"]
    for a, b in (bare.output, recorded.output), (bare.errors, recorded.errors):
        lines += list(difflib.unified_diff(a.splitlines(), b.splitlines(), "bare", how,
                                           lineterm="", n=1))
    return lines


class Runner:
    def __init__(self, libc):
        self.libc = libc
        self.heaptap, self.built = os.environ["HEAPTAP"], os.environ["PROG"]
        self.directory = os.path.abspath(f"scopes-{libc.version}")
        shutil.rmtree(self.directory, ignore_errors=True)
        os.mkdir(self.directory)
        # To load the same library twice, a second file is needed.
        shutil.copy(f"{self.built}/libscope_plain.so", f"{self.directory}/plain.so")
        self.programs = {name: libc.program(f"{self.built}/{name}", self.directory)
                         for name in os.listdir(self.built) if re.fullmatch(r"scope_\w+", name)}

    def __call__(self, job):
        number, case = job
        file = f"{self.directory}/{number}.heaptap"
        command = [self.programs[case.program], *case.arguments]
        preload = [f"{self.built}/{library}" for library in case.preload]
        bare = run(command, self.directory, self.variables(preload))
        recorded = self.record(file, None, command, preload)
        different = difference(bare, recorded, "recorded")
        if not different and case.binds:
            sampled = self.record(f"{file}.sampled", "3", command, preload)
            different = difference(bare, sampled, "sampled")
        return Result(case, bare, recorded, different,
                      profile_complaints(case, file, self.heaptap))

    def variables(self, preload):
        found = {"LD_PRELOAD": ":".join(preload)} if preload else {}
        if self.libc.loader is not None:
            # The copies are in another directory than the libraries.
            found["LD_LIBRARY_PATH"] = ":".join([*self.libc.folders, self.built])
        return found

    def record(self, file, sample, command, preload):
        if self.libc.loader is None:
            options = ["--sample-count", sample] if sample else []
            return run([self.heaptap, "run", "--quiet", *options, "-o", file, "--", *command],
                       self.directory, self.variables(preload))
        # heaptap itself would not start with another linker's libraries.
        more = self.variables([os.environ["LIBHEAPTAP"], *preload])
        more["HEAPTAP_OUT"] = file
        if sample:
            more["HEAPTAP_SAMPLE_COUNT"] = sample
        return run(command, self.directory, more)


# --- Printing ------------------------------------------------------------------------------------


def providers(output):
    """Return the provider that each part of the program has reached: "host: one; p:
    libstdc++.so.6"."""
    found = {}
    part = "?"
    for line in output.splitlines():
        match = re.match(r"(\w+): (?!open|close)\w+$", line)
        part = match[1] if match else "dlsym" if line.startswith("  _Z") else part
        for name in re.findall(r"<([^>]*)>", line):
            found.setdefault(part, []).append(name)
    return "; ".join(f"{part}: {', '.join(dict.fromkeys(names))}" for part, names in found.items())


def called(result):
    if not result.different:
        return "the same"
    if isinstance(result.recorded.status, str):
        return result.recorded.status
    if result.recorded == result.bare:
        return "another when it is sampled"
    if result.recorded.status != result.bare.status:
        return f"status {result.recorded.status}"
    return providers(result.recorded.output) or "other"


def tell(result, libc):
    name = result.case.name
    complaints = {"calls reach the bound functions": list(result.different),
                  "blocks": list(result.numbers)}
    if result.bare.status != 0:
        complaints["calls reach the bound functions"] = [
            f"the program fails without a recorder: {result.bare.status}",
            *result.bare.output.splitlines()[-3:], *result.bare.errors.splitlines()[-3:]]
    version = re.search(r"done with glibc (.*)", result.bare.output)
    if version and version[1] != libc.version:
        complaints["blocks"].append(f"it ran on glibc {version[1]}, not {libc.version}")
    on = f"glibc {libc.version}, " if libc.loader is not None else ""
    for what, lines in complaints.items():
        print(f"{'not ok' if lines else 'ok'} - {on}{name}: {what}")
        for line in lines[:30]:
            print(f"#   {line}")
    return any(complaints.values())


def table(results, libc):
    rows = [("case", f"ld.so binds, glibc {libc.version}", "called")]
    rows += [(r.case.name, providers(r.bare.output) or "-", called(r)) for r in results
             if r.case.binds]
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    return [f"{row[0]:{widths[0]}} | {row[1]:{widths[1]}} | {row[2]}" for row in rows]


def main():
    parser = argparse.ArgumentParser(description="whose function is called")
    parser.add_argument("--root", help="run on the C library in this directory")
    parser.add_argument("--only", default="", help="regular expression")
    parser.add_argument("--table", help="write the table to this file, too")
    options = parser.parse_args()
    libc = Libc(options.root)
    chosen = [case for case in cases() if re.search(options.only, case.name)]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(Runner(libc), enumerate(chosen)))
    wrong = sum([tell(result, libc) for result in results])
    lines = [*table(results, libc),
             f"glibc {libc.version}: {len(results)} cases, {wrong} wrong"]
    print(*(f"# {line}" for line in lines), sep="\n")
    if options.table:
        with open(options.table, "w", encoding="utf-8") as f:
            print(*lines, sep="\n", file=f)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
