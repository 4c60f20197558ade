"""heaptrack_events.py: replay and sum lists of events for heaptrack.

    heaptrack_events.py HEAPTAP     in a directory with the profiles of heaptrack_events.sh

The reader in this script treats a file as heaptrack does: it replays the events, and records the
live blocks at the peak. `heaptap report --json` has the expected result. If it fails, heaptrack's
numbers or stacks differ from heaptap's.
"""
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

HEAPTAP = sys.argv[1]
FIELDS = ("allocations", "temporary", "peak_bytes", "live_bytes", "allocated_bytes")
COST = {"allocations": "allocations", "temporary": "temporary", "peak_bytes": "peak",
        "live_bytes": "leaked"}
NAMES = ["operator new[](unsigned long)", "a b;c", 'say "hi"', "line\nbreak", "na\u00efve 名前",
         "l" * 2000, "s main", "+ 0"]
PRINT = shutil.which("heaptrack_print")


def heaptap(*arguments):
    done = subprocess.run([HEAPTAP, *arguments], capture_output=True, timeout=100, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def report(*arguments):
    status, out, err = heaptap("report", "--json", "--no-fold", *arguments)
    assert status == 0, err
    return documents.loads(out)


class Played:
    """The sums of a file of events. `stacks`: by trace, innermost first. `sums`: of each trace."""

    def __init__(self, data):
        self.strings, self.ips, self.traces, self.kinds = [""], [None], [None], []
        self.sums, self.total, self.most, self.now = {}, 0, 0, 0
        self.moments, self.latest, self.used, self.command = [], None, 0, None
        for line in data.decode("utf-8", "surrogateescape").split("\n")[:-1]:
            getattr(self, {"+": "plus", "-": "minus"}.get(line[0], "line_" + line[0].strip("#")),
                    None)(line[2:])

    def line_(self, text):
        """A comment."""

    def line_v(self, text):
        assert text == "10000 1"

    def line_X(self, text):
        assert self.command is None
        self.command = text

    def line_s(self, text):
        self.strings.append(text)

    def line_i(self, text):
        self.ips.append([int(n, 16) for n in text.split(" ")])

    def line_t(self, text):
        ip, caller = (int(n, 16) for n in text.split(" "))
        assert 0 < ip < len(self.ips) and caller < len(self.traces)
        self.traces.append((ip, caller))

    def line_a(self, text):
        size, trace = (int(n, 16) for n in text.split(" "))
        assert 0 < trace < len(self.traces) and self.used == len(self.kinds), "kinds are used"
        self.kinds.append((size, trace))
        self.sums.setdefault(trace, dict.fromkeys(FIELDS, 0))

    def plus(self, text):
        kind = int(text, 16)
        size, trace = self.kinds[kind]
        self.used = max(self.used, kind + 1)
        row = self.sums[trace]
        row["allocations"] += 1
        row["allocated_bytes"] += size
        row["live_bytes"] += size
        self.total += size
        if self.total > self.most:
            self.most, self.peak_ms = self.total, self.now
            self.at_peak = len(self.moments)
            for other in self.sums.values():
                other["peak_bytes"] = other["live_bytes"]
        self.latest = kind

    def minus(self, text):
        kind = int(text, 16)
        size, trace = self.kinds[kind]
        row = self.sums[trace]
        row["temporary"] += kind == (self.latest or 0)
        row["live_bytes"] -= size
        assert row["live_bytes"] >= 0
        self.total -= size
        self.latest = None

    def line_c(self, text):
        ms = int(text, 16)
        assert ms >= self.now, "time does not go back"
        self.now = ms
        self.moments.append((ms, {t: row["live_bytes"] for t, row in self.sums.items()}))

    def stack(self, trace):
        names = []
        while trace:
            ip, trace = self.traces[trace]
            names.append(self.strings[self.ips[ip][2]])
        return tuple(names)

    def by_stack(self, of_trace=None):
        """Return {stack: its values}, or for one number per trace."""
        found = {}
        for trace, row in (of_trace or self.sums).items():
            values = row if isinstance(row, dict) else {"live_bytes": row}
            sums = found.setdefault(self.stack(trace), dict.fromkeys(values, 0))
            for field, value in values.items():
                sums[field] += value
        return {stack: sums for stack, sums in found.items() if any(sums.values())}


def cleaned(name):
    return re.sub("[\x00-\x08\x0b-\x1f\x7f]", "?", name.replace("\n", " "))


def frame_name(frame):
    if frame["function"] is not None:
        return cleaned(frame["function"])
    base = os.path.basename(frame["module"] or "")
    if "function_offset" in frame:
        return f"{base}+{frame['function_offset']}…"
    return f"{base}+0x{int(frame['offset'], 16) - 1:x}"


def wanted(document, fields=FIELDS):
    found = {}
    for site in document["sites"]:
        key = tuple(frame_name(f) for f in site["stack"]) or ("[other stacks]",)
        sums = found.setdefault(key, dict.fromkeys(fields, 0))
        for field in fields:
            sums[field] += max(site[field] or 0, 0)
    return {stack: sums for stack, sums in found.items() if any(sums.values())}


def exported(profile, *options):
    status, data, err = heaptap("export", "-f", "heaptrack", "--no-fold", *options, profile)
    tell(status == 0 and heaptap("export", "-f", "heaptrack", "--no-fold", *options, profile)[1] ==
         data, f"{profile} {' '.join(options)}: written, and the same twice", err)
    return data


def differences(got, truth, fields):
    return [(stack[0][:40], len(stack), {f: (got.get(stack, {}).get(f, 0),
                                             truth.get(stack, {}).get(f, 0)) for f in fields})
            for stack in {*got, *truth} for f in fields
            if got.get(stack, {}).get(f, 0) != truth.get(stack, {}).get(f, 0)]


def compare(profile, *options, fields=FIELDS):
    played = Played(exported(profile, *options))
    truth = wanted(report(profile, *options))
    wrong = differences(played.by_stack(), truth, fields)
    tell(not wrong, f"{profile} {' '.join(options)}: each stack has its numbers", len(wrong),
         *wrong[:5])
    return played


def printed(profile, suffix="", metrics=tuple(COST)):
    """Return heaptrack_print's own sums, from its lines of a stack and a number."""
    if PRINT is None:
        print(f"ok - heaptrack_print reads {profile}{suffix} # SKIP needs heaptrack_print")
        return
    path, totals = profile.replace(".heaptap", ".heaptrack" + suffix), report(profile)["totals"]
    status, _, err = heaptap("export", "--no-fold", "-o", path, profile)
    assert status == 0, err
    for field in metrics:
        done = subprocess.run([PRINT, "-p0", "-a0", "-T0", "-t0", "--disable-builtin-suppressions",
                               "-F", "stacks.txt", "--flamegraph-cost-type", COST[field], path],
                              capture_output=True, timeout=100, check=False)
        tell(done.returncode == 0 and not done.stderr, f"heaptrack_print reads {path}, {field}",
             done.stderr)
        with open("stacks.txt", encoding="utf-8", errors="surrogateescape") as f:
            read = sum(int(line.rsplit(" ", 1)[1]) for line in f)
        readings.add("heaptrack" + suffix, "heaptrack_print", profile.replace(".heaptap", ""),
                     field, read, totals[field])


def made():
    """Write a profile with blocks of all sizes and lives, known at every moment, and a profile with
    many calls."""
    p = past.Past()
    sites = [p.site(NAMES[i:] + ["main"]) for i in range(len(NAMES))]
    # An array grows: each time a larger block is allocated, and the old one is freed.
    grows = p.site(["grows", "main"])
    most = 0
    for turn in range(20):
        for i, site in enumerate(sites):
            p.allocate(i % 2, site, 3 * turn + i, 10 + i * turn)
        p.allocate(0, grows, 1, 100 * 2 ** (turn + 1))
        if turn > 0:
            p.free(0, grows, 1, 100 * 2 ** turn)
        p.wait(0.5)
        live = sum(a[1] - a[3] for a in p.sums().values())
        if live > most:
            most = live
            p.peak()
        p.wait(0.5)
        p.snapshot("half" if turn == 10 else "")
        for i, site in enumerate(sites[1:]):
            p.free((i + 1) % 2, site, (3 * turn + i + 1) * (turn % 3) // 2, 10 + (i + 1) * turn)
    p.free(0, grows, 1, 100 * 2 ** 20)
    p.wait(1)
    p.write("made.heaptap")
    many = past.Past()
    many.allocate(0, many.site(["busy", "main"]), 10 ** 9, 100)
    many.free(0, 0, 10 ** 9 - 3, 100)
    many.allocate(0, many.site(["calm", "main"]), 30, 7)
    many.wait(1)
    many.write("many.heaptap")
    tie = past.Past()
    tie.allocate(0, tie.site(["f", "main"]), 100, 10)
    tie.wait(1)
    tie.snapshot()
    tie.allocate(0, 0, 50, 10)
    tie.peak()
    tie.free(0, 0, 150, 10)
    tie.wait(1)
    tie.write("tie.heaptap")
    past.Past().write("empty.heaptap")
    one = past.Past()
    one.allocate(0, one.site(["f", "main"]), 1, 5)
    one.peak()
    one.allocate(0, one.site(["zero", "main"]), 1, 0)
    one.free(0, 0, 1, 5)
    one.wait(1)
    one.write("one.heaptap")


def over_time():
    """Compare the live blocks at each snapshot; the peak is between two snapshots."""
    played = compare("made.heaptap")
    moments = {ms: live for ms, live in played.moments}
    tell(sorted(moments) == sorted([1000 * n for n in range(1, 22)] + [19500]),
         "made: all moments are there", sorted(moments))
    wrong = {n: differences(played.by_stack(moments[1000 * n]),
                            wanted(report("--at", f"{n}.5s", "made.heaptap"), ["live_bytes"]),
                            ["live_bytes"]) for n in range(1, 20)}
    tell(not any(wrong.values()), "made: each moment has the live blocks",
         *[(n, w[:2]) for n, w in wrong.items() if w])
    sums = [(ms, sum(live.values())) for ms, live in compare("tie.heaptap").moments]
    tell((1000, 1000) in sums and (1000, 1500) in sums and sums[-1] == (2000, 0),
         "tie: a peak in the tick of a snapshot may come after it", sums)
    played = compare("leak.heaptap")
    totals = sorted({sum(live.values()) for _, live in played.moments})
    tell(len(totals) > 3, "leak: it grows over time", totals)


def divided():
    """Calls beyond the limit are divided, as the title states; bytes are not."""
    data = exported("many.heaptap")
    calls = data.count(b"\n+ ")
    tell(10 ** 9 // 101 <= calls <= 10 ** 9 // 101 + 30 and
         b"\nX /dev/null/program (1 call here stands for 101)\n" in data,
         "many: calls are divided", calls)


def refused():
    for options in (["--at", "half"], ["--between", "half.."], ["--at", "peak"], ["--alloc"]):
        status, out, err = heaptap("export", "-f", "heaptrack", *options, "made.heaptap")
        tell(status == 2 and not out and err, f"refused: {' '.join(options)}", status, err)


def main():
    made()
    over_time()
    for profile in ("containers.heaptap", "merged.heaptap", "heaps.heaptap", "hostile.heaptap",
                    "empty.heaptap", "one.heaptap"):
        if profile == "hostile.heaptap":  # Its names are not valid text.
            Played(exported(profile))
        else:
            compare(profile)
        printed(profile)
    compare("threads.heaptap", fields=("allocations", "live_bytes", "allocated_bytes"))
    compare("sample.heaptap")
    for profile in ("made.heaptap", "leak.heaptap", "sample.heaptap"):
        printed(profile)
    printed("containers.heaptap", ".gz", ("peak_bytes",))
    printed("containers.heaptap", ".zst", ("peak_bytes",))
    printed("many.heaptap", metrics=("peak_bytes", "live_bytes"))
    compare("containers.heaptap", "--filter", "vector")
    compare("heaps.heaptap", "--heap", "session pool")
    compare("heaps.heaptap", "--label", "tenant=acme")
    roots = Played(exported("heaps.heaptap", "--root-by", "heap")).by_stack()
    tell({stack[-1] for stack in roots} == {"[malloc]", "[heap parser arena]",
                                            "[heap session pool]"}, "--root-by heap", list(roots))
    tell(exported("session") == exported("merged.heaptap"), "a session is the sum of its processes")
    divided()
    refused()
    finish()


main()
