"""pprof_readers.py: read exports for pprof by go tool pprof, google-pprof and jeprof.

    pprof_readers.py HEAPTAP PROG     in a directory with the profiles that pprof_readers.sh makes

It also checks a profile with names of all kinds, and an empty one. If it fails, a total or a
function in a pprof differs from `heaptap report --json`.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402
import past  # noqa: E402
import readings  # noqa: E402
from telling import finish, tell  # noqa: E402

HEAPTAP, PROG = sys.argv[1:]
TYPES = {"alloc_objects": "allocations", "alloc_space": "allocated_bytes",
         "inuse_objects": "live_blocks", "inuse_space": "live_bytes", "peak_objects": "peak_blocks",
         "peak_space": "peak_bytes", "temporary_objects": "temporary",
         "short_lived_objects": "died_within_16"}
NAMES = ["a b;c", 'say "hi"', "line\nbreak", "na\u00efve \u540d\u524d", "l" * 2000, "<b>&amp;",
         "operator new(unsigned long)"]


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=100, check=False)
    return done.returncode, done.stdout.decode(errors="surrogateescape"), \
        done.stderr.decode(errors="surrogateescape")


def export(form, profile, *options):
    path = f"{profile}.{form}.pb.gz" if form == "pprof" else f"{profile}.{form}"
    status, _, err = run(HEAPTAP, "export", "-f", form, "-o", path, "--no-fold", *options,
                         profile + ".heaptap")
    assert status == 0, err
    return path


def report(profile, *options):
    status, out, err = run(HEAPTAP, "report", "--json", "--no-fold", *options,
                           profile + ".heaptap")
    assert status == 0, err
    return documents.loads(out)


def go_pprof(*arguments):
    status, out, err = run("go", "tool", "pprof", "-symbolize=none", *arguments)
    tell(status == 0, f"go tool pprof {' '.join(arguments)}", err)
    return out


def raw_sums(out):
    """Return the sums of the samples in the output of -raw, by type."""
    head, _, samples = out.split("\nSamples:\n")[1].split("Locations\n")[0].partition("\n")
    types = [column.split("/")[0] for column in head.split()]
    sums = dict.fromkeys(types, 0)
    for row in re.findall(r"^ *([-\d ]+): [\d ]*$", samples, re.M):
        for name, value in zip(types, row.split()):
            sums[name] += int(value)
    return sums


def read_by_go(profile):
    totals = report(profile)["totals"]
    sums = raw_sums(go_pprof("-raw", export("pprof", profile)))
    for name, field in TYPES.items():
        # Lifetimes are unknown.
        if totals[field] is not None and (name in sums or totals["allocations"] > 0):
            readings.add("pprof", "go tool pprof", profile, field, sums.get(name), totals[field])
    text = raw_sums(go_pprof("-raw", export("pprof-text", profile)))
    for name, field in list(TYPES.items())[:4]:
        # For an empty profile, and one without frees, go shows only memory in use.
        if name in text:
            readings.add("pprof-text", "go tool pprof", profile, field, text[name], totals[field])
    tell("inuse_space" in text or "space" in text or not any(totals.values()),
         f"go tool pprof reads {profile} as text", text)


def functions_of_go():
    """Check each function by its full name, however odd."""
    out = go_pprof("-raw", "-sample_index=alloc_space", export("pprof", "odd"))
    wrong = [name[:40] for name in NAMES if name.split("\n")[0] not in out]
    tell(not wrong, "go tool pprof: names are whole", wrong)
    out = go_pprof("-top", "-nodecount=1000", "-unit=B", "-sample_index=alloc_space",
                   export("pprof", "containers"))
    read = {row[1]: int(row[0]) for row in re.findall(
        r"^ *\S+ +\S+ +\S+ +(\d+)B? +\S+ +(.*?)(?: \(inline\))?$", out, re.M)}
    sums = {}
    for site in report("containers")["sites"]:
        for name in {f["function"] for f in site["stack"]}:
            sums[name] = sums.get(name, 0) + site["allocated_bytes"]
    wanted = {name: sums[name] for name in sums if name in ("main", "words", "numbers")}
    got = {name: read.get(name) for name in wanted}
    tell(wanted and got == wanted, "go tool pprof -top: what functions allocated", got, wanted)


def times():
    """Before 1.24, go prints times to the minute; it prints durations unchanged."""
    for options, time, duration in (
            ([], "10:30", None), (["--peak"], "10:30", None), (["--alloc"], "10:00", "1800s"),
            (["--count"], "10:00", "1800s"), (["--at", "10m"], "10:10", None),
            (["--between", "10m..25m"], "10:10", "900s")):
        top = go_pprof("-top", export("pprof", "past", *options))
        got = re.search(r"^(?:Time: (?:Nov 14, 2023 at |2023-11-14 )(\d+:\d+)"
                        r"(?:am \(UTC\)|:00 UTC))?\n?(?:Duration: (\S+), Total.*)?$",
                        top.split("\n", 3)[3], re.M).groups()
        tell(got == (time, duration), f"{' '.join(options)}: {time}, {duration}", got, top[:300])
    with open(export("pprof", "past"), "rb") as f, open(export("perfetto", "past"), "rb") as g:
        tell(gzip.decompress(f.read()) == gzip.decompress(g.read()), "perfetto: it is pprof's")


def read_by_perl(tool, profile, program):
    """Check google-pprof and jeprof: the total of the listing, and of a function."""
    path = export("pprof-text", profile)
    totals = report(profile)["totals"]
    for option, field in (("--inuse_space", "live_bytes"), ("--inuse_objects", "live_blocks"),
                          ("--alloc_space", "allocated_bytes"), ("--alloc_objects", "allocations")):
        status, out, err = run(tool, "--text", "--show_bytes", option, program, path)
        found = re.search(r"^Total: (\d+)", out, re.M)
        tell(status == 0 and found, f"{tool} {option} reads {profile}", err[:500], out[:200])
        readings.add("pprof-text", tool, profile, field, int(found[1]) if found else "nothing",
                     totals[field])


def made():
    p = past.Past()
    for name in NAMES:
        p.allocate(0, p.site([name, "main"]), 3, 1000)
    p.free(0, 0, 1, 1000)
    p.write("odd.heaptap")
    p = past.Past()
    site = p.site(["f", "main"])
    for _ in range(6):
        p.allocate(0, site, 2, 100)
        p.wait(300)
        p.snapshot("")
    p.start_unix_ns = 1699956000 * 10 ** 9  # 14 November 2023, 10:00 UTC.
    p.write("past.heaptap")
    past.Past().write("empty.heaptap")
    os.environ["TZ"] = "UTC"
    os.environ["PPROF_TMPDIR"] = os.environ["HOME"] = os.getcwd()


def main():
    made()
    if shutil.which("go"):
        for profile in ("containers", "leak", "sample", "odd", "empty"):
            read_by_go(profile)
        go_pprof("-raw", export("pprof", "hostile"))
        functions_of_go()
        times()
    else:
        print("ok - go tool pprof # SKIP needs go")
    for tool in ("google-pprof", "jeprof"):
        if shutil.which(tool):
            for profile, program in (("containers", "containers"), ("leak", "slowleak"),
                                     ("sample", "slowleak"), ("odd", "slowleak")):
                read_by_perl(tool, profile, os.path.join(PROG, program))
        else:
            print(f"ok - {tool} # SKIP needs {tool}")
    finish()


main()
