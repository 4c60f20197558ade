"""linked.py: build programs with the recorder linked in, and check their recordings; see linked.sh.

    linked.py same KIND PROGRAM...       as a preloaded recorder sees the same program
    linked.py covers                     which calls of linkage.c each way of linking sees
    linked.py build KIND PROGRAM FILE    just build it

A KIND is a compiler with the options that link the recorder, from the table below; the exit status
is 77 if the compiler is missing. Two recordings are compared by the program's functions: for each
function, the sums of all counters over all sites whose innermost frame is that function. libc's own
allocations depend on the libc and on how it is linked, so they are shown as a comment and not
compared; linkage.c covers libc functions that call malloc for their callers."""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

BUILD, PROG, SOURCE = os.environ["BUILD"], os.environ["PROG"], os.environ["SRCDIR"] + "/test/prog"
HEAPTAP, LIBHEAPTAP = os.environ["HEAPTAP"], os.environ["LIBHEAPTAP"]

DYNAMIC = ["-Wl,-u,malloc", f"-L{BUILD}", "-l:libheaptap.a"]
STATIC = [f"-Wl,@{BUILD}/libheaptap_static.opt", f"-L{BUILD}", "-lheaptap_static"]
MUSL = [f"-Wl,@{BUILD}/libheaptap_static.opt", f"-L{BUILD}/musl", "-lheaptap_static"]
CPLUSPLUS = ["-Wl,-u,__wrap__Znwm"]
# musl-gcc has no -static-pie.
MUSL_LIBRARIES = "/usr/lib/x86_64-linux-musl"
STATIC_PIE = ["-fPIE", "-static", "-nostartfiles", "-Wl,-pie,--no-dynamic-linker",
              f"{MUSL_LIBRARIES}/rcrt1.o", f"{MUSL_LIBRARIES}/crti.o"]
SECTIONS = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]

# name: compiler, options, the recorder's options, other tools that it needs
KINDS = {
    "bare": ("gcc", [], [], []),
    "bare-static": ("gcc", ["-static"], [], []),
    "bare-clang-lld": ("clang", ["-fuse-ld=lld"], [], ["ld.lld"]),
    "bare-musl": ("musl-gcc", ["-static"], [], []),
    "bare-lto": ("gcc", ["-flto"], [], []),
    "bare-static-lto": ("gcc", ["-static", "-flto"], [], []),
    "dynamic": ("gcc", [], DYNAMIC, []),
    "dynamic-nopie": ("gcc", ["-no-pie"], DYNAMIC, []),
    "dynamic-clang-lld": ("clang", ["-fuse-ld=lld"], DYNAMIC, ["ld.lld"]),
    "dynamic-lto": ("gcc", ["-flto"], DYNAMIC, []),
    "dynamic-clang-lto": ("clang", ["-flto", "-fuse-ld=lld"], DYNAMIC, ["ld.lld"]),
    "dynamic-wrap": ("gcc", [], STATIC, []),
    "static": ("gcc", ["-static"], STATIC, []),
    "static-pie": ("gcc", ["-static-pie"], STATIC, []),
    "static-stripped": ("gcc", ["-static", "-s"], STATIC, []),
    "static-sections": ("gcc", ["-static"] + SECTIONS, STATIC, []),
    "static-gold": ("gcc", ["-static", "-fuse-ld=gold"], STATIC, ["ld.gold"]),
    "static-clang": ("clang", ["-static"], STATIC, []),
    "static-clang-lld": ("clang", ["-static", "-fuse-ld=lld"], STATIC, ["ld.lld"]),
    "static-lto": ("gcc", ["-static", "-flto"], STATIC, []),
    "static-clang-lto": ("clang", ["-static", "-flto", "-fuse-ld=lld"], STATIC, ["ld.lld"]),
    "musl": ("musl-gcc", ["-static"], MUSL, []),
    "musl-pie": ("musl-gcc", STATIC_PIE, MUSL + [f"{MUSL_LIBRARIES}/crtn.o"], []),
    "musl-lto": ("musl-gcc", ["-static", "-flto"], MUSL, []),
    "musl-dynamic": ("musl-gcc", [], MUSL, []),
}
COUNTERS = ["allocations", "allocated_bytes", "frees", "freed_bytes", "reallocations",
            "temporary", "live_blocks", "live_bytes"]
ARGUMENTS = {"flat": ["events", "20000"]}
# Legitimate differences of musl, which determine how a program is compared. musl's realloc(p, 0)
# returns a block. musl's printf allocates no block; with glibc, such a block keeps the block before
# it from being temporary. musl's raise has no unwind table, so stacks of handlers end there, and
# only innermost frames are compared.
MUSL_LEAVES_OUT = {"families": "do_realloc_zero"}
MUSL_COUNTS_OTHERS = {"flat": "temporary"}
MUSL_BY_LEAF = {"handlers"}
# The processor's entry point, in place of a function of the program.
NOT_OURS = {"_start"}


class Skip(Exception):
    """A required tool is missing."""


def directive(name, source):
    with open(source, encoding="utf-8") as f:
        lines = f.readlines()[:8]
    found = [re.match(rf"/\* {name}: (.*) \*/$", line) for line in lines]
    return " ".join(match[1] for match in found if match).split()


def compiler_of(kind, source):
    name = KINDS[kind][0]
    if source.endswith(".cc"):
        name = {"gcc": "g++", "clang": "clang++"}.get(name, name)
    for tool in [name] + KINDS[kind][3]:
        if shutil.which(tool) is None:
            raise Skip(f"{kind} needs {tool}")
    if name in ("gcc", "g++") and "-static" in " ".join(KINDS[kind][1]):
        library = "libc.a" if name == "gcc" else "libstdc++.a"
        found = subprocess.run([name, f"-print-file-name={library}"], capture_output=True,
                               text=True)
        if not os.path.isabs(found.stdout.strip()):
            raise Skip(f"{kind} needs {library}")
    if kind == "musl-pie" and not os.path.exists(MUSL_LIBRARIES + "/rcrt1.o"):
        raise Skip(f"{kind} needs rcrt1.o in {MUSL_LIBRARIES}")
    if name == "musl-gcc" and source.endswith(".cc"):
        raise Skip("musl-gcc knows no C++")
    return name


def build(kind, program, output):
    """Build PROGRAM of test/prog as OUTPUT. If it is linked statically, its library is linked as an
    object."""
    source = f"{SOURCE}/{program}.c"
    if not os.path.exists(source):
        source += "c"
    compiler = compiler_of(kind, source)
    _, options, recorder, _ = KINDS[kind]
    static = any(o.startswith("-static") for o in options)
    libs = directive("libs", source)
    own = [f"{SOURCE}/lib{lib[2:]}.c" for lib in libs if os.path.exists(f"{SOURCE}/lib{lib[2:]}.c")]
    if static:
        libs = [lib for lib in libs if lib in ("-lpthread", "-lm") or "--wrap" in lib]
        options = options + ["-DSTATIC"]
    else:
        libs = [lib.replace("-Lbuild/test/prog", f"-L{PROG}").replace("$ORIGIN", PROG)
                for lib in libs]
        own = []
    command = [compiler, "-w", "-O2", "-g", "-fomit-frame-pointer", "-D_GNU_SOURCE",
               f"-I{SOURCE}/../../src", f"-I{SOURCE}/../../include"]
    command += options + directive("cflags", source) + [source] + own + ["-o", output]
    command += recorder + libs
    if source.endswith(".cc") and static:
        command += CPLUSPLUS
    if compiler == "clang++":
        command += ["-fsized-deallocation"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{made.stderr}")


def record(path, profile, arguments, preload):
    env = dict(os.environ, HEAPTAP_OUT=os.path.abspath(profile))
    if preload:
        env["LD_PRELOAD"] = LIBHEAPTAP
    if os.path.exists(profile):
        os.unlink(profile)
    done = subprocess.run([os.path.abspath(path)] + arguments, env=env, capture_output=True,
                          text=True, timeout=300)
    if not os.path.exists(profile):
        return done.returncode, {"sites": [], "totals": {}, "losses": {}}
    shown = subprocess.run([HEAPTAP, "report", "--json", "--no-fold", profile], check=True,
                           capture_output=True, text=True)
    return done.returncode, documents.loads(shown.stdout)


def plain(frame):
    return re.sub(r"\(.*", "", frame["function"] or "?")


def own_functions(report, program):
    """Return the functions of the program, by module; the module separates them from libc's only in
    a dynamic executable."""
    return {plain(frame) for site in report["sites"] for frame in site["stack"]
            if os.path.basename(frame["module"] or "") == program} - NOT_OURS - {"?"}


def rows(report, own, by_leaf, counters):
    found = {}
    for site in report["sites"]:
        names = [plain(frame) for frame in site["stack"]]
        if names and names[0] in own:
            stack = tuple(n for n in names if n in own)[:1 if by_leaf else None]
            row = found.setdefault(stack, dict.fromkeys(counters, 0))
            for counter in counters:
                row[counter] += site[counter]
    return found


def comparable(kind, program, reports):
    """Return the rows of each of REPORTS that a recording by KIND must equal."""
    musl = kind.startswith("musl")
    own = own_functions(reports[0], program)
    counters = [c for c in COUNTERS if not musl or c != MUSL_COUNTS_OTHERS.get(program)]
    if musl:
        own -= {MUSL_LEAVES_OUT.get(program)}
    return [rows(report, own, musl and program in MUSL_BY_LEAF, counters) for report in reports]


def result(good, name, details=()):
    print(f"{'ok' if good else 'not ok'} - {name}")
    for line in details:
        print(f"#   {line}")
    return good


def compare(kind, program):
    name = f"{program}, {kind}: as the preloaded recorder counts it"
    bare, linked = program, f"{program}.{kind}"
    arguments = ARGUMENTS.get(program, [])
    try:
        build(kind, program, linked)
    except Skip as why:
        print(f"ok - {name} # SKIP {why}")
        return True
    if not os.path.exists(bare):
        build("bare", program, bare)
    status, wanted = record(bare, f"{bare}.heaptap", arguments, True)
    linked_status, got = record(linked, f"{linked}.heaptap", arguments, False)
    a, b = comparable(kind, program, [wanted, got])
    problems = [f"{' < '.join(stack)}: preloaded {a.get(stack)}, linked {b.get(stack)}"
                for stack in sorted(set(a) | set(b)) if a.get(stack) != b.get(stack)]
    if status != linked_status:
        problems.append(f"exit status {status}, linked {linked_status}")
    lost = got["losses"].get("events"), got["losses"].get("unknown_frees")
    if lost != (0, 0):
        problems.append(f"lost events and unknown frees: {lost}")
    if not a:
        problems.append("the program has no sites to compare")
    totals = [r["totals"].get(c, 0) - sum(row[c] for row in t.values())
              for r, t in ((wanted, a), (got, b)) for c in ("allocations", "allocated_bytes")]
    details = [f"{len(a)} stacks; libc's and others' blocks: {totals[0]} of {totals[1]} bytes "
               f"preloaded, {totals[2]} of {totals[3]} linked"]
    return result(not problems, name, details + [p[:300] for p in problems[:5]])


# The calls of linkage.c, and those that each way of linking records. A static executable has no
# dlsym.
WAYS = {"by_call": 10, "by_pointer": 11, "by_library": 12, "by_libc": 13, "by_plugin": 14,
        "by_lookup": 15, "by_array": 16, "by_alignment": 17, "by_zeroes": 18}
ALL = set(WAYS)
NO_LOADING = ALL - {"by_plugin", "by_lookup"}
# Only the executable is wrapped: calls from libraries are not recorded, and a plug-in or dlsym
# finds libc's malloc.
WRAPPED = ALL - {"by_library", "by_libc", "by_plugin", "by_lookup"}
SEEN = {  # The results are printed as a table, which is in docs/guide/linking.md.
    "bare": ALL, "dynamic": ALL, "dynamic-nopie": ALL, "dynamic-clang-lld": ALL,
    "dynamic-lto": ALL, "dynamic-clang-lto": ALL, "dynamic-wrap": WRAPPED, "static": NO_LOADING,
    "static-pie": NO_LOADING, "static-sections": NO_LOADING, "static-gold": NO_LOADING,
    "static-clang": NO_LOADING, "static-clang-lld": NO_LOADING, "static-lto": NO_LOADING,
    "static-clang-lto": NO_LOADING, "musl": NO_LOADING, "musl-pie": NO_LOADING,
    "musl-lto": NO_LOADING, "musl-dynamic": WRAPPED,
}


def counts(report):
    """Return blocks, bytes and frees for each function of linkage.c. musl has no unwind tables, so
    a stack that begins in musl may lack callers: strdup's is recognised by its innermost function.
    """
    seen = {}
    for site in report["sites"]:
        names = [plain(frame) for frame in site["stack"]]
        way = next((w for w in WAYS if w in names), "by_libc" if "strdup" in names[:1] else None)
        if way:
            old = seen.get(way, (0, 0, 0))
            seen[way] = (old[0] + site["allocations"], old[1] + site["allocated_bytes"],
                         old[2] + site["frees"])
    return seen


def way_is_seen(seen, way):
    """Return True if all calls were recorded, None if none, False if some. Loading a plug-in
    allocates as well."""
    count, n = seen.get(way, (0, 0, 0)), WAYS[way]
    if way == "by_plugin":
        return True if count[0] >= n and count[1] >= n * n else None
    if count == (0, 0, 0):
        return None
    return count == (n, n * n, n)


def cover(kind):
    name = f"linkage, {kind}: sees the calls that it should, all of each"
    path = f"linkage.{kind}"
    try:
        build(kind, "linkage", path)
    except Skip as why:
        print(f"ok - {name} # SKIP {why}")
        return True
    status, report = record(path, f"{path}.heaptap", [f"{PROG}/liblinkage.so"], kind == "bare")
    seen = counts(report)
    marks = {way: way_is_seen(seen, way) for way in WAYS}
    print(f"#   {kind:18} " + "  ".join(
        f"{way[3:]} {'yes' if mark else 'no' if mark is None else '?'}"
        for way, mark in marks.items()))
    problems = [f"{way}: {seen.get(way, (0, 0, 0))} blocks, bytes, frees; to be "
                f"{'seen' if way in SEEN[kind] else 'missed'}"
                for way, mark in marks.items() if mark is not (True if way in SEEN[kind] else None)]
    if status != 0:
        problems.append(f"exit status {status}")
    return result(not problems, name, problems)


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "build":
        try:
            build(*arguments)
        except Skip as why:
            print(why)
            return 77
        return 0
    if what == "covers":
        return 0 if all([cover(kind) for kind in SEEN]) else 1
    return 0 if all([compare(arguments[0], p) for p in arguments[1:]]) else 1


if __name__ == "__main__":
    sys.exit(main())
