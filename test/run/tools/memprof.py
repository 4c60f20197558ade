"""memprof.py: check `export -f memprof` as LLVM's tools read it.

    memprof.py HEAPTAP CLANG SOURCE

The script compiles SOURCE as LLVM requires, and writes a profile of its calls of operator new, with
known numbers.
"""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import access_made  # noqa: E402
import maker  # noqa: E402
import readings  # noqa: E402
from telling import finish, tell  # noqa: E402

FLAGS = ["-O2", "-gmlt", "-fdebug-info-for-profiling", "-fno-omit-frame-pointer",
         "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls", "-fno-pie"]
# The reader's users choose its thresholds; these values are on both sides of the defaults.
USE = ["-mllvm", "-memprof-ave-lifetime-cold-threshold=0", "-mllvm",
       "-memprof-lifetime-access-density-cold-threshold=1"]
HOT = ["-mllvm",
       "-memprof-min-ave-lifetime-access-density-hot-threshold=1"]
BLOCKS = 100
SITES = {"make_hot": access_made.row(5, BLOCKS, 32, 4004, 2002, 300000, 4, 8, migrated=7,
                                     overlaps=99, same_alloc_cpu=80, same_dealloc_cpu=70,
                                     alloc_us=12000, dealloc_us=312000, alloc_cpu=1, dealloc_cpu=2),
         "make_cold": access_made.row(6, BLOCKS, 512, 0, 0, 900000, 0, 8, dealloc_us=900000)}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def call_in(binary, function, target):
    """Return the return address of the call of TARGET in FUNCTION."""
    lines = run("objdump", "-d", "--no-show-raw-insn", binary).stdout.splitlines()
    inside = called = False
    for line in lines:
        if re.match(r"[0-9a-f]+ <", line):
            inside = f"<{function}>" in line
        elif called and inside:
            return int(line.split(":")[0], 16)
        called = inside and "call" in line and target in line
    raise SystemExit(f"no call of {target} in {function}")


def make(binary):
    m = maker.Maker()
    m.executable = m.command = m.string(binary)
    m.module(binary, access_made.build_id_of(binary), 0x400000, 0x410000)
    names = [("make_hot", "_Z8make_hotv"), ("make_cold", "_Z9make_coldv")]
    rows = [(0, call_in(binary, "main", mangled), 0) for _, mangled in names]
    rows += [(4 + i, call_in(binary, mangled, "_Znwm"), 5 + i)
             for i, (_, mangled) in enumerate(names)]
    m.nodes(rows)
    m.counters(6)
    m.count_accesses(8)
    m.access(SITES.values())
    m.write("new.heaptap")


def records(text):
    """Return the output of `llvm-profdata show` for each allocating function."""
    found = {}
    for part in text.split("AllocSites:")[1:]:
        name = re.search(r"SymbolName: _Z\d+(\w+)v", part)
        numbers = dict(re.findall(r"(\w+): (\d+)", part.split("MemInfoBlock:")[1]))
        found[name.group(1)] = {key: int(value) for key, value in numbers.items()}
    return found


def wanted(row):
    spreads = {"AccessCount": (row["accesses"], 1), "Size": (row["size_bytes"], 1),
               "Lifetime": (row["lifetime_us"], 1000), "AccessDensity": (row["density"], 1),
               "LifetimeAccessDensity": (row["lifetime_density"], 1)}
    values = {prefix + name: number // unit
              for name, (spread, unit) in spreads.items()
              for prefix, number in zip(("Total", "Min", "Max"), spread)}
    values.update(AllocCount=row["blocks"], AllocTimestamp=row.get("alloc_us", 0) // 1000,
                  DeallocTimestamp=row["dealloc_us"] // 1000, AllocCpuId=row.get("alloc_cpu", 0),
                  DeallocCpuId=row.get("dealloc_cpu", 0), NumMigratedCpu=row.get("migrated", 0),
                  NumLifetimeOverlaps=row.get("overlaps", 0),
                  NumSameAllocCpu=row.get("same_alloc_cpu", 0),
                  NumSameDeallocCpu=row.get("same_dealloc_cpu", 0))
    return values


def show(version):
    tool = f"llvm-profdata-{version}"
    if shutil.which(tool) is None:
        print(f"ok - {tool} shows it # SKIP {tool} is not installed")
        return
    done = run(tool, "show", "--memory", "new.memprof", "--profiled-binary", "alloc")
    found = records(done.stdout)
    for function, row in SITES.items():
        for key, value in wanted(row).items():
            readings.add("memprof", tool, function, key, found.get(function, {}).get(key), value)
    tell(set(found) == set(SITES), f"{tool} shows both functions", done.stderr, done.stdout)
    options = ["--memprof-version=3"] if int(version) >= 20 else []
    done = run(tool, "merge", "new.memprof", "--profiled-binary", "alloc", *options, "-o",
               f"{version}.memprofdata")
    tell(done.returncode == 0, f"{tool} merges it", done.stderr)


def attributes(clang, source, profile, *options):
    """Return the mark of each function's call of operator new."""
    done = run(clang, *FLAGS, f"-fmemory-profile-use={profile}", *USE, *options, "-S",
               "-emit-llvm", source, "-o", "-")
    kinds = dict(re.findall(r'attributes #(\d+) = .*"memprof"="(\w+)"', done.stdout))
    found = {}
    for function, body in re.findall(r"define [^@]*@_Z\d+(make_\w+?)v\(.*?\{(.*?)\n\}", done.stdout,
                                     re.S):
        number = re.search(r"@_Znwm\(.*?\) #(\d+)", body)
        found[function] = kinds.get(number.group(1)) if number else None
    return found, done.stderr


def main(heaptap, clang, source):
    version = clang.split("-")[-1]
    done = run(clang, *FLAGS, "-no-pie", "-Wl,--build-id", "-Wl,-z,separate-code", source, "-o",
               "alloc")
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    make(os.path.abspath("alloc"))
    done = run(heaptap, "export", "-o", "new.memprof", "new.heaptap")
    tell(done.returncode == 0, "export by the name's end", done.stderr)
    for other in sorted({version, "19", "22"}):
        show(other)
    found, errors = attributes(clang, source, f"{version}.memprofdata")
    tell(found == {"make_hot": "notcold", "make_cold": "cold"}, f"{clang} marks cold calls",
         found, errors)
    found, errors = attributes(clang, source, f"{version}.memprofdata", *HOT)
    tell(found == {"make_hot": "hot", "make_cold": "cold"}, f"{clang} marks hot calls", found,
         errors)
    finish()


main(*sys.argv[1:])
