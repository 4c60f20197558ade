"""hostile.py: make hostile profiles, and check how the command handles them.

    hostile.py HEAPTAP claims          files that claim far more than they hold
    hostile.py HEAPTAP paths           modules and source files that are other kinds of files
    hostile.py HEAPTAP names           names that would drive a terminal or forge lines
    hostile.py HEAPTAP make WHAT FILE  write any of them

The script writes profiles byte by byte (maker.py). Each check prints "ok - NAME" or "not ok -
NAME"; if one fails, a foreign profile can stop, flood, mislead or control its reader.
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from maker import (BINS, COUNTERS, EVIL, FRAMES, MEMORY_BYTES, NODES,  # noqa: E402
                   SITE_OTHER, THREADS, ZSTD, Checks, Maker, is_clean, one_stack, run,
                   zstd_of_zeros)

VIEWS = {
    "report": ["report"],
    "report --json": ["report", "--json"],
    "leaks": ["leaks"],
    "source": ["source", "f"],
    "export collapsed": ["export", "-f", "collapsed"],
    "export pprof": ["export", "-f", "pprof", "-o", "out.pb.gz"],
    "export pprof-text": ["export", "-f", "pprof-text"],
    "export flamegraph": ["export", "-f", "flamegraph"],
    "export speedscope": ["export", "-f", "speedscope"],
    "export csv": ["export", "-f", "csv"],
    "export chrome": ["export", "-f", "chrome"],
    "export callgrind": ["export", "-f", "callgrind"],
    "export massif": ["export", "-f", "massif"],
    "export dhat": ["export", "-f", "dhat"],
}


# --- claims --------------------------------------------------------------------------------------

def bomb():
    m, size = Maker(), 2040 << 20
    m.segment(NODES, zstd_of_zeros(size), claimed=size, flags=ZSTD)
    return m


def many_bombs():
    m, size = Maker(), 60 << 20
    data = zstd_of_zeros(size)
    for i in range(185):
        m.segment((NODES, COUNTERS, BINS, FRAMES)[i % 4], data if i < 4 else data[:17] + data[-8:],
                  claimed=size, flags=ZSTD)
    for i in range(4, 185):
        m.segments[i] = (m.segments[i][0], data, 0, size, ZSTD)
    return m


def holes():
    m = Maker()
    for i in range(180):
        m.segment((NODES, COUNTERS, THREADS)[i % 3], bytes(17 * 128),
                  table_off=(i // 3) * (63 << 20))
    return m


def deep():
    """A chain of calls with a site at each."""
    m, count = Maker(packed=False), 20000
    m.nodes([(i + 3 if i else 0, 0x401000 + i, 5 + i) for i in range(count)])
    m.counters(count + 5)
    return m


def deep_inlined():
    """A chain of calls with the same 100 functions inlined at each."""
    m, count = Maker(), 1000
    f = m.string("f")
    m.nodes([(i + 3 if i else 0, 0x401000 + i, 5 + i) for i in range(count)]
            + [(count + 3, 0x501000 + i, 5 + count + i) for i in range(20 * count)])
    m.counters(21 * count + 5)
    m.symbols([(f, (0, 0), 0)] * 128, [(0x401000 + i, 0, 128) for i in range(count)])
    return m


def long_strings():
    """The names of the functions are all suffixes of one long name."""
    m, count = Maker(), 2000
    long_name = m.string("a" * (1 << 20))
    m.nodes([(0, 0x401000 + i, 5 + i) for i in range(count)])
    m.counters(count + 5)
    m.symbols([((long_name[0] + i, long_name[1] - i), (0, 0), 0) for i in range(count)],
              [(0x401000 + i, i, 1) for i in range(count)])
    return m


def all_frames():
    """Locations that each claim all frames of the file."""
    m, count = Maker(), 4000
    f = m.string("f")
    m.nodes([(0, 0x401000 + i, 5 + i) for i in range(count)])
    m.counters(count + 5)
    m.symbols([(f, f, i) for i in range(count)], [(0x401000 + i, 0, count) for i in range(count)])
    return m


def shared_frames():
    """Locations that all have the same 256 frames."""
    m, count = Maker(), 200000
    f = m.string("f")
    m.nodes([(0, 0x401000 + i, 5 if i == 0 else 0) for i in range(count)])
    m.counters(5)
    m.symbols([(f, f, i) for i in range(256)], [(0x401000 + i, 0, 256) for i in range(count)])
    return m


def long_frames():
    """Five stacks of 80 calls. At each call, the same 200 functions with long names are inlined;
    there are accesses as well. For output.sh, which counts the output of the views."""
    m, depth, sites = Maker(), 80, 5
    name = m.string("ab<(std::" * 111)
    m.nodes([(i + 3 if i % depth else 0, 0x401000 + i, 5 + i // depth if i % depth == depth - 1
              else 0) for i in range(depth * sites)])
    m.counters(sites + 5)
    m.symbols([(name, name, i) for i in range(200)],
              [(0x401000 + i, i // depth, 195) for i in range(depth * sites)])
    m.count_accesses(8)
    m.access([{"site": 5 + i, "blocks": 1, "accesses": (4, 4, 4), "granules": 4} for i in
              range(sites)])
    m.fields([(5 + i, 0, 0, 0, [(1, 1, 1, 1)] * 4) for i in range(sites)])
    return m


CLAIMS = {"bomb": bomb, "many bombs": many_bombs, "holes": holes, "deep": deep,
          "deep and inlined": deep_inlined, "long strings": long_strings,
          "all frames": all_frames, "shared frames": shared_frames}


def claims(heaptap, checks):
    for name, make in CLAIMS.items():
        make().write("claims.heaptap")
        views = dict(VIEWS) if not name.endswith("bombs") else {"report": VIEWS["report"]}
        views["pack"] = ["pack", "-o", "packed.heaptap"]
        views["diff"] = ["diff", "claims.heaptap"]
        worst = None
        for view, arguments in views.items():
            status, _, err, memory = run(heaptap, [*arguments, "claims.heaptap"])
            if status not in (0, 1, 3) or memory > MEMORY_BYTES:
                worst = f"{view}: status {status}, {memory >> 20} MiB, {err[:200]!r}"
        checks.say(f"{name}: refused or shown, within seconds and a gigabyte", worst is None,
                   worst)


# --- paths ---------------------------------------------------------------------------------------

def paths(heaptap, checks):
    here = os.getcwd()
    os.mkfifo("fifo")
    os.symlink("fifo", "link")
    with open("sparse", "wb") as f:
        f.write(b"\x7fELF\2\1\1")
        f.truncate(1 << 40)
    with open("zeros.gz", "wb") as f:
        f.write(b"\x1f\x8b\x08" + bytes(100))
    victims = ["/dev/zero", "/dev/null", "/dev/full", "/proc/self/mem", "/proc/kmsg", here,
               f"{here}/fifo", f"{here}/link", f"{here}/sparse", f"{here}/zeros.gz",
               f"{here}/../../../../../../etc/passwd", "/proc/self/fd/0", "a\0b", "/" + "x" * 5000]
    for build_id in (b"", b"\x11" * 20):
        for path in victims:
            m = Maker(packed=False)
            m.module(path, build_id)
            m.executable = m.command = m.string(path)
            one_stack(m)
            m.write("paths.heaptap")
            bad = None
            for view, arguments in VIEWS.items():
                status, _, err, memory = run(heaptap, [*arguments, "paths.heaptap"])
                if status not in (0, 1, 3) or memory > MEMORY_BYTES:
                    bad = f"{view}: status {status}, {memory >> 20} MiB, {err[:200]!r}"
            known = "with" if build_id else "without"
            checks.say(f"a module at {path[:60]!r} {known} build id", bad is None, bad)
    sources(heaptap, checks)


def source_profile(path):
    m = Maker()
    f = m.string("f")
    one_stack(m)
    m.symbols([(f, m.string(path), 1)], [(0x401000, 0, 1)])
    m.write("source.heaptap")


def sources(heaptap, checks):
    here = os.getcwd()
    for name, content, mode in (("private.c", b"secret\n", 0o600),
                                ("binary.c", b"secret\0\n", 0o644),
                                ("public.c", b"int visible;\n", 0o644)):
        with open(name, "wb") as f:
            f.write(content)
        os.chmod(name, mode)
    os.symlink("private.c", "linked.c")
    for name in ("private.c", "binary.c", "linked.c", "fifo"):
        source_profile(f"{here}/{name}")
        status, out, err, _ = run(heaptap, ["source", "f", "source.heaptap"])
        checks.say(f"source does not show {name}", status == 0 and b"secret" not in out,
                   f"status {status}: {out[:300]!r} {err[:200]!r}")
    source_profile(f"{here}/public.c")
    _, out, err, _ = run(heaptap, ["source", "f", "source.heaptap"])
    checks.say("source shows a file that everybody may read", b"int visible" in out,
               f"{out[:300]!r} {err[:200]!r}")
    source_profile(f"{here}/private.c")
    _, out, err, _ = run(heaptap, ["source", "f", "--source-dir", here, "source.heaptap"])
    checks.say("source shows a private file below --source-dir", b"secret" in out,
               f"{out[:300]!r} {err[:200]!r}")
    source_profile("../private.c")
    os.makedirs("below", exist_ok=True)
    _, out, err, _ = run(heaptap, ["source", "f", "--source-dir", f"{here}/below",
                                   "source.heaptap"])
    checks.say("source does not leave --source-dir by ..", b"secret" not in out, f"{out[:300]!r}")


# --- names ---------------------------------------------------------------------------------------

def names_profile(packed=True):
    m = Maker(packed)
    m.command = m.string(b"\0".join(EVIL))
    m.executable = m.string(b"/bin/" + EVIL[0])
    m.module(b"/lib/" + b"".join(EVIL))
    m.nodes([(0, 0x401000 + i, 5 + i) for i in range(len(EVIL))]
            + [(0, 0x402000 + i, 30 + i) for i in range(len(EVIL))], other=SITE_OTHER)
    m.counters(30 + len(EVIL), name=b"\x1b[31m\xe2\x80\xae\xff")
    if packed:
        m.symbols([(m.string(b"f" + e), m.string(b"/src/" + e + b".c"), 7) for e in EVIL],
                  [(0x401000 + i, i, 1) for i in range(len(EVIL))])
    return m


SHOWN, REFUSED, NO_PROGRAM = (0, 1), (2, 3), (127,)  # Exit statuses.


def check_text(heaptap, checks, label, arguments, expected=SHOWN):
    status, out, err, _ = run(heaptap, arguments)
    bad = [line for line in (out + err).split(b"\n") if not is_clean(line)]
    checks.say(f"{label}: nothing drives the terminal", status in expected and not bad,
               f"status {status}: {bad[:2]!r}")
    return out


def check_lines(checks, out):
    forged = [line for line in out.decode("utf-8", "replace").splitlines()
              if not re.fullmatch(r".+ [0-9]+", line) or line.startswith("forged")
              or line.endswith(" 99")]
    checks.say("collapsed stacks: no forged line", not forged, f"{forged[:3]!r}")


def check_page(checks, out, label):
    text = out.decode("utf-8", "replace")
    allowed = {"svg", "style", "g", "title", "rect", "text", "script", "tspan", "defs", "path",
               "line", "a", "desc", "circle", "filter", "linearGradient", "stop", "clipPath"}
    outside = re.sub(r"<script[^>]*>.*?</script>|<style[^>]*>.*?</style>|<!--.*?-->|<\?.*?\?>", "",
                     text, flags=re.S)
    tags = set(re.findall(r"<\s*/?\s*([A-Za-z!][\w:]*)", outside))
    good = tags <= allowed and text.count("<script") == 1 and text.count("</script") == 1
    good = good and not re.search(r"<[^>]*\son\w+\s*=", outside)
    checks.say(f"{label}: names stay text", good, f"{tags - allowed} {text.count('<script')}")


def names(heaptap, checks):
    for packed in (True, False):
        names_profile(packed).write("names.heaptap")
        kind = "packed" if packed else "recorded"
        text_views = [("report", []), ("report", ["--wide"]), ("leaks", []),
                      ("export", ["-f", "collapsed"]), ("export", ["-f", "pprof-text"])]
        text_views += [("export", ["-f", name]) for name in ("callgrind", "massif", "dhat")]
        text_views += [("report", ["--by", by]) for by in
                       ("function", "file", "line", "module", "thread")]
        text_views += [("leaks", options) for options in
                       (["--paths"], ["--call-sites", "--callers", "0"], ["--classic"])]
        text_views += [(view, options) for view in ("callgraph", "direct")
                       for options in ([], ["--wide"], ["--classic"], ["--json"])]
        text_views += [("callgraph", ["--dot"]), ("bins", []), ("bins", ["--classic"]),
                       ("report", ["--invert"]), ("control", []), ("timeline", []),
                       ("merge", ["-o", "-"]), ("snapshot", ["name"]),
                       ("diff", ["--by", "function", "names.heaptap"]),
                       ("diff", ["--wide", "names.heaptap"])]
        text_views += [("export", ["-f", form])
                       for form in ("speedscope", "csv", "chrome", "firefox", "flamegraph")]
        text_views += [("report", ["--tree"]), ("diff", ["names.heaptap"]), ("source", ["f"]),
                       ("report", ["--json"]), ("leaks", ["--json"])]
        for view, arguments in text_views:
            label = " ".join([kind, view, *arguments])
            # The profile has no snapshots. Without symbols, it also has no functions.
            refused = view in ("snapshot", "timeline") or (view == "source" and not packed)
            out = check_text(heaptap, checks, label, [view, *arguments, "names.heaptap"],
                             REFUSED if refused else SHOWN)
            if "collapsed" in arguments:
                check_lines(checks, out)
            if "--json" in arguments:
                try:
                    json.loads(out)
                    checks.say(f"{label}: valid JSON", True)
                except ValueError as e:
                    checks.say(f"{label}: valid JSON", False, str(e))
        _, out, _, _ = run(heaptap, ["export", "-f", "flamegraph", "names.heaptap"])
        check_page(checks, out, f"{kind} flame graph")
    evil_name = b"\x1b[31m\xe2\x80\xae.heaptap"
    check_text(heaptap, checks, "a missing file of an evil name", ["report", evil_name], REFUSED)
    names_profile().write(evil_name)
    check_text(heaptap, checks, "pack of a file of an evil name", ["pack", evil_name])
    check_text(heaptap, checks, "merge into one", ["merge", "-o", b"m" + evil_name, evil_name])
    check_text(heaptap, checks, "control of one", ["control", evil_name])
    check_text(heaptap, checks, "snapshot of one", ["snapshot", evil_name, b"n" + evil_name],
               REFUSED)
    for options in ([], ["--no-pack"]):
        for program, once, again in ((["sh", "-c", "true & wait"], SHOWN, REFUSED),
                                     ([b"./no" + evil_name], NO_PROGRAM, NO_PROGRAM)):
            name = b"r%d%s" % (len(options), evil_name)
            check_text(heaptap, checks, f"run {options} {program[0]!r} into one",
                       ["run", "-o", name, *options, "--", *program], once)
            check_text(heaptap, checks, f"run {options} {program[0]!r} into one again",
                       ["run", "-o", name, *options, "--", *program], again)
    check_text(heaptap, checks, "run into a directory that is not there",
               ["run", "-o", evil_name + b"/x", "--", "true"], REFUSED)
    check_text(heaptap, checks, "export into one", ["export", "-o", b"o\x1b/\x07", evil_name],
               REFUSED)
    check_text(heaptap, checks, "a hook of such a name",
               ["run", "--hook", b"\x1b[31m", "--", "true"], REFUSED)
    check_text(heaptap, checks, "an option of such a name", [b"report", b"--\x1b[31m"], REFUSED)
    check_text(heaptap, checks, "a command of such a name", [b"\x1b[31m"], REFUSED)
    check_text(heaptap, checks, "leaks with an evil suppression",
               ["leaks", "--suppressions", evil_name, "names.heaptap"], REFUSED)


def main():
    heaptap, what, checks = sys.argv[1], sys.argv[2], Checks()
    if what == "make":
        makers = {**CLAIMS, "names": names_profile, "long frames": long_frames}
        makers[sys.argv[3]]().write(sys.argv[4])
    else:
        {"claims": claims, "paths": paths, "names": names}[what](heaptap, checks)
    sys.exit(checks.failed > 0)


if __name__ == "__main__":
    main()
