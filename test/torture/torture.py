#!/usr/bin/env python3
"""torture.py: run large real programs bare and recorded, compare their behaviour, and list losses.

    torture.py --out DIR --build DIR [--group torture|foreign] [--only REGEX] [--short] [--keep]

`make torture` and `make foreign` run all programs of a group, for about half an hour; the jobs
run/torture and run/foreign of `make test` are the short forms. A program is a script in
test/torture/programs/ or test/foreign/ with two functions, `prepare` and `run`, and a few
directives (class Program). A script may also be run for each of many files, such as the programs of
a test suite, which then count as separate programs. Each program is run bare and recorded, each
time in an empty directory of the same name. The driver runs `prepare` unrecorded, and then

    heaptap run -o PROFILES/ --quiet --no-pack -- bash SCRIPT run

so that every process it starts is recorded, the shell included. Then

    - stdout, stderr and exit status must equal a bare run's. Differences between bare runs are the
      program's own: only lines that all have, in order, are required. Scripts hide
      process ids and the like by patterns, so that little is lost to this. Programs of the group
      torture run bare twice; programs of the group foreign run bare again only while outputs
      differ.
    - no event may be lost in any profile, every profile must be readable, none may have failed.
    - broken stack walks are counted, with their place. They fail unless a directive of the script
      permits them (for code made at run time, without unwind tables). Frees of unknown blocks fail
      in the same way, because the recorder may have missed an event.
    - where a script allows it, a fourth run has the oracle (test/oracle) behind the recorder, which
      compares every counter of every stack of every process that was not forked.
    - in the group foreign, another run has the counter (test/counter) behind the recorder. Its
      outputs are checked like the recorded run's, and the sums of every process must agree
      (counted.py).

The times in the table are information only, because they depend on the load of the machine.
Processes that outlive their script are identified by a mark in the environment, and killed.

A failure means that heaptap changes a program's behaviour, hangs, loses events or gets stacks
wrong. To find the cause, reduce the case: --keep leaves all files, and a script can be run by hand.
"""
import argparse
import collections
import concurrent.futures
import copy
import difflib
import functools
import glob
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import counted

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "run"))
import documents  # noqa: E402
SOURCE = os.path.dirname(os.path.dirname(HERE))
PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
DIRECTIVE = re.compile(
    r"^# (needs|files|each|except|hide|unordered|as|limit|short|foreign|oracle|operators|broken"
    r"|unknown|counts|lost): (.*)$")
LOST = ("reentrant_events", "no_memory_events", "no_thread_events", "early_events",
        "ledger_events", "other_site_events")
MARK = "HEAPTAP_TORTURE_RUN"
SHOWN = 12  # Maximum number of lines shown of a difference.
BARE_RUNS = {"torture": (2, 2), "foreign": (1, 4)}  # (minimum, maximum) number of bare runs.

options = None


class Program:
    """A script with its directives, which are lines `# NAME: VALUE`:

    needs      commands without which it is skipped
    files      patterns of files without which it is skipped
    each       patterns of files, relative to the source tree; the script is run for each as a
               separate program, with the file as an argument
    except     a regular expression for names of files of `each` to leave out, a space, and why
    hide       a regular expression; its matches in outputs become "~"; may be repeated
    unordered  outputs are compared as sorted lines, because several processes write them at once
    as         the user to run as if we are root
    limit      seconds for one run; 300 if not given
    short      the script belongs to the short form as well
    foreign    the script belongs to the group foreign as well, but not to its short form
    oracle     the oracle runs behind the recorder: "yes", or "threads"
    operators  the allocator has operators that do not lead to malloc, so the counter counts those
    broken     why walks may break off
    unknown    why there are frees of unknown blocks
    counts     a regular expression for names of programs for which the counter may see other events
               than the recorder, a space, and why
    lost       why events may be lost
    """

    def __init__(self, path):
        self.path, self.script, self.argument = path, os.path.basename(path)[:-len(".sh")], None
        self.name = self.script
        self.hide, self.left_out, found = [], [], {}
        with open(path, encoding="utf-8") as f:
            for key, value in filter(None, map(directive, f)):
                if key == "hide":
                    self.hide.append(re.compile(value.encode(), re.MULTILINE))
                elif key == "except":
                    self.left_out.append(re.compile(value.split(" ")[0]))
                else:
                    found[key] = f"{found[key]} {value}" if key in found else value
        self.needs, self.files = found.get("needs", "").split(), found.get("files", "").split()
        self.each = found.get("each", "").split()
        self.unordered, self.short = "unordered" in found, "short" in found
        self.both_groups = "foreign" in found
        self.limit_s = int(found.get("limit", 300))
        self.user, self.oracle = found.get("as"), found.get("oracle")
        self.operators = "operators" in found
        self.broken, self.unknown = found.get("broken"), found.get("unknown")
        self.lost, self.differs = found.get("lost"), found.get("counts", "$^ ").split(" ", 1)

    def cases(self):
        """Return this program, or one program for each file."""
        files = sorted(file for pattern in self.each
                       for file in glob.glob(os.path.join(SOURCE, pattern)))
        found = []
        for file in files:
            name = os.path.basename(file).removesuffix(".test")
            if not any(pattern.search(name) for pattern in self.left_out):
                case = copy.copy(self)
                case.argument, case.name = file, f"{self.script}/{name}"
                found.append(case)
        return found or [self]

    def counts(self):
        """Return the reason why counts may differ, or None."""
        pattern, why = self.differs
        return why if re.search(pattern, self.name) else None

    def command(self, function):
        return ["bash", self.path, function, *([self.argument] if self.argument else [])]

    def lacks(self):
        """Return the reason why the program cannot run here, or None."""
        for command in self.needs:
            if shutil.which(command, path=PATH) is None:
                return f"{command} is not installed"
        for pattern in self.files + ([] if self.argument else self.each):
            if not glob.glob(os.path.join(SOURCE, pattern)):
                return f"{pattern} is not there"
        return None


def directive(line):
    match = DIRECTIVE.match(line.rstrip())
    return match.groups() if match else None


class Run:
    """The results of one run of a program."""

    def __init__(self, status, out, err, wall_s, cpu_s, rss_kib):
        self.status, self.out, self.err = status, out, err
        self.wall_s, self.cpu_s, self.rss_kib = wall_s, cpu_s, rss_kib


# --- Running -------------------------------------------------------------------------------------

def environment(scratch, mark):
    env = {k: v for k, v in os.environ.items() if k in ("TERM", "USER", "LOGNAME", "SHELL")}
    env.update(PATH=PATH, HOME=f"{scratch}/work", TMPDIR=f"{scratch}/tmp", LC_ALL="C.UTF-8",
               TZ="UTC", PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", GIT_CONFIG_NOSYSTEM="1",
               PERL_HASH_SEED="0", INPUTS=os.path.join(HERE, "inputs"),
               CACHE=os.path.join(options.build, "torture"))
    env[MARK] = mark
    if options.short:
        env["SHORT"] = "8"
    return env


def belongs(process, wanted, session):
    """Return true if the process has the mark in its environment or, with a cleared environment,
    belongs to our session."""
    with open(f"/proc/{process}/stat", "rb") as f:
        state, _, _, of_session = f.read().rsplit(b")", 1)[1].split()[:4]
    if state == b"Z":
        return False
    with open(f"/proc/{process}/environ", "rb") as f:
        return int(of_session) == session or wanted in f.read().split(b"\0")


def end_marked(mark, session):
    """Kill the processes that a run left behind, and those that they start meanwhile."""
    wanted = f"{MARK}={mark}".encode()
    for _ in range(100):
        found = False
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                if belongs(process, wanted, session):
                    os.kill(int(process), signal.SIGKILL)
                    found = True
            except OSError:
                pass
        if not found:
            return
        time.sleep(0.01)


def fresh(scratch, user):
    """Create empty directories `work` and `tmp`, at the same paths for every run."""
    for name in ("work", "tmp"):
        directory = os.path.join(scratch, name)
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
        if user:
            os.chown(directory, user.pw_uid, user.pw_gid)


def execute(command, program, scratch, extra=None):
    """Run COMMAND in `work`. Return a Run, whose status is None if the command had to be killed."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    env = {**environment(scratch, mark), **(extra or {})}
    user = become(program)
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    late = threading.Event()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=f"{scratch}/work", env=env, stdout=out, stderr=err,
                                   stdin=subprocess.DEVNULL, start_new_session=True, **as_user)
        timer = threading.Timer(program.limit_s,
                                lambda: (late.set(), end_marked(mark, process.pid)))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        wall = time.monotonic() - start
        end_marked(mark, process.pid)
        out.seek(0)
        err.seek(0)
        return Run(None if late.is_set() else process.returncode, out.read(), err.read(), wall,
                   usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def become(program):
    return pwd.getpwnam(program.user) if program.user and os.geteuid() == 0 else None


def one_run(program, scratch, prefix=(), extra=None):
    fresh(scratch, become(program))
    prepared = execute(program.command("prepare"), program, scratch)
    if prepared.status != 0:
        tail = (prepared.out + prepared.err).decode(errors="replace").strip().split("\n")[-1]
        raise RuntimeError(f"prepare failed: {tail}")
    return execute([*prefix, *program.command("run")], program, scratch, extra)


def run_recorded(program, scratch):
    """Run the program under the command, as users run it; return the run and the data in its
    profiles."""
    directory = make_directory(program, f"{scratch}/profiles")
    run = one_run(program, scratch, [options.heaptap, "run", "--quiet", "--no-pack", "-o",
                                     f"{directory}/", "--"])
    return run, harvest(directory)


def run_with(program, scratch, name, behind, extra):
    """Run the program with other libraries behind the recorder; return the run and the directory
    with the files of both."""
    directory = make_directory(program, f"{scratch}/{name}")
    libraries = ":".join([f"{options.build}/libheaptap.so", *behind])
    run = one_run(program, scratch, ["env", f"LD_PRELOAD={libraries}"], {
        "HEAPTAP_OUT": f"{directory}/p.%e.%p.%n.heaptap",
        **{key: value.format(directory=directory) for key, value in extra.items()}})
    return run, directory


def make_directory(program, path):
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    user = become(program)
    if user:
        os.chown(path, user.pw_uid, user.pw_gid)
    return path


# --- Comparing outputs ---------------------------------------------------------------------------

def lines_of(program, text):
    for pattern in program.hide:
        text = pattern.sub(b"~", text)
    lines = text.split(b"\n")
    return sorted(lines) if program.unordered else lines


def common(a, b):
    """Return the lines that both have, in order."""
    if a == b:
        return a
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return [line for block in blocks for line in a[block.a:block.a + block.size]]


def contains_in_order(lines, wanted):
    rest = iter(lines)
    return all(line in rest for line in wanted)


def compare_text(program, bare, recorded):
    """Return the differences between the recorded output and the lines common to all bare outputs,
    and the number of lines that bare runs do not share."""
    texts = [lines_of(program, text) for text in bare]
    got = lines_of(program, recorded)
    if got in texts:
        return [], 0
    wanted = functools.reduce(common, texts)
    varying = max(map(len, texts)) - len(wanted)
    if varying and contains_in_order(got, wanted):
        return [], varying
    return changes(texts[0], got), varying


def changes(bare, recorded):
    diff = difflib.diff_bytes(difflib.unified_diff, bare, recorded, b"bare", b"recorded", n=0,
                              lineterm=b"")
    return [line.decode(errors="replace") for line in diff]


# --- Reading profiles ----------------------------------------------------------------------------

class Harvest:
    """Sums over all profiles of a session."""

    def __init__(self):
        self.processes = self.events = 0
        self.losses = collections.Counter()
        # Events of broken stacks by the place where the stack ends.
        self.places = collections.Counter()
        self.unreadable, self.images = [], []

    def add(self, path, report):
        losses = dict(report["losses"])
        self.images.append(counted.recorded_image(report))
        self.processes += 1
        self.events += report["totals"]["allocations"] + report["totals"]["frees"]
        if losses.pop("file_failed"):
            self.unreadable.append(f"{os.path.basename(path)}: the file failed")
        self.losses.update(losses)

    def lost(self):
        return sum(self.losses[kind] for kind in LOST)


def read_report(path, *more):
    command = [options.heaptap, "report", "--json", "--no-fold", *more, path]
    done = subprocess.run(command, capture_output=True, check=False,
                          env={**os.environ, "DEBUGINFOD_URLS": ""})
    if done.returncode != 0:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    return documents.loads(done.stdout)


def outermost(site):
    """Return the end of a stack that broke off: the last known function, or just its module."""
    last = site["stack"][-1] if site["stack"] else {"module": None, "function": None}
    module = os.path.basename(last["module"] or "no module")
    return f"{last['function'] or last.get('offset')} in {module}" if last["module"] else module


def broken_places(path):
    report = read_report(path)
    program = os.path.basename(report["process"]["executable"] or "?")
    places = collections.Counter()
    for site in report["sites"]:
        if site["broken"]:
            places[f"{program}: {outermost(site)}"] += site["allocations"]
    return places


def look(path):
    try:
        report = read_report(path, "--limit", "1")
        return {key: report[key] for key in ("process", "losses", "totals", "threads")}, None
    except ValueError as error:
        return None, str(error)


def harvest(directory):
    """Read all profiles of DIRECTORY, two at a time, since a session may have thousands. The large
    reports for broken stacks are read in separate processes. Otherwise, they would increase the
    measured memory of later programs, which begin as copies of this process."""
    result, broken = Harvest(), []
    paths = sorted(glob.glob(f"{glob.escape(directory)}/*.heaptap"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, (report, why) in zip(paths, pool.map(look, paths)):
            if report is None:
                result.unreadable.append(why)
                continue
            result.add(path, report)
            if report["losses"]["unwind_failures"]:
                broken.append(path)
    if broken:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            for places in pool.map(broken_places, broken):
                result.places.update(places)
    return result


# --- Verdicts ------------------------------------------------------------------------------------

class Verdict:
    """A row of the table, or a part of it, and its errors."""

    def __init__(self, program, skipped=None):
        self.program, self.skipped, self.complaints, self.notes = program, skipped, [], []
        self.bare = self.recorded = self.harvest = self.counted = None
        self.output, self.status, self.wrong = "same", "same", "-"
        self.hurt, self.lost, self.wall_s = False, 0, 0

    def expect(self, condition, complaint, details=()):
        if not condition:
            self.complaints.append(complaint)
            self.complaints += [f"    {line}" for line in list(details)[:SHOWN]]


class Likeness:
    """Return differences between a recorded run and the bare ones, with their details, and the
    lines that vary."""

    def __init__(self, program, bare, run):
        self.complaints, self.varying = [], 0
        self.status_same = run.status in [b.status for b in bare]
        if run.status is None:
            self.complaints.append((f"over {program.limit_s} s", ()))
        if not self.status_same:
            ways = "/".join(sorted({str(b.status) for b in bare}))
            self.complaints.append((f"status: bare {ways}, now {run.status}", ()))
        for name in ("out", "err"):
            texts = [getattr(b, name) for b in bare]
            difference, varying = compare_text(program, texts, getattr(run, name))
            self.varying += varying
            if difference:
                self.complaints.append((f"std{name} differs", difference))


def judge_outputs(verdict, bare, again, run, how):
    """Compare RUN with the runs BARE. AGAIN makes further bare runs while these could explain a
    difference."""
    program, (_, most) = verdict.program, BARE_RUNS[options.group]
    alike = Likeness(program, bare, run)
    while alike.complaints and len(bare) < most:
        bare.append(again())
        alike = Likeness(program, bare, run)
    verdict.expect(None not in [b.status for b in bare], f"bare: over {program.limit_s} s")
    for complaint, details in alike.complaints:
        verdict.expect(False, f"{how}: {complaint}", details)
    verdict.hurt |= bool(alike.complaints)
    if not alike.status_same:
        verdict.status = "DIFFERS"
    if alike.complaints:
        verdict.output = "DIFFERS"
    elif alike.varying and verdict.output == "same":
        verdict.output = f"same but {alike.varying}"
        verdict.notes.append(f"{alike.varying} lines of output vary from run to run by themselves")


def judge_profiles(verdict, found, how):
    program, losses = verdict.program, found.losses
    verdict.expect(found.processes > 0, f"{how}: no profile at all")
    verdict.expect(not found.unreadable, f"{how}: unusable profiles", found.unreadable)
    lost = ", ".join(f"{kind} {losses[kind]}" for kind in LOST if losses[kind])
    verdict.lost += found.lost()
    if lost and program.lost:
        verdict.notes.append(f"{how}: events lost ({lost}): {program.lost}")
    else:
        verdict.expect(not lost, f"{how}: events lost: {lost}")
    places = [f"{count:>8} {place}" for place, count in found.places.most_common(SHOWN)]
    for kind, reason, details in (("unwind_failures", program.broken, places),
                                  ("unknown_frees", program.unknown, ()),
                                  ("overwritten_blocks", program.unknown, ())):
        if losses[kind] and reason:
            verdict.notes.append(f"{how}: {kind} {losses[kind]}: {reason}")
        else:
            verdict.expect(losses[kind] == 0, f"{how}: {kind} {losses[kind]}", details)


def judge_with_oracle(verdict, scratch):
    """The oracle needs a separate run, because it is far too slow for the times of the table."""
    program = verdict.program
    run, directory = run_with(
        program, scratch, "oracle",
        [f"{options.out}/test/oracle/liboracle.so", "libgcc_s.so.1", "libunwind.so.8"],
        {"ORACLE_OUT": "{directory}/o.%p", "ORACLE_UNWINDER": "libunwind",
         "HEAPTAP_ALLOCATOR": "glibc"})
    if run.status is None:
        verdict.notes.append("with the oracle it takes too long; no stacks compared")
        return
    # The program declares the losses that it may have; they are still checked.
    flags = ["--marked=100"]
    flags += ["--threads"] if program.oracle == "threads" else []
    compared = subprocess.run(
        [sys.executable, f"{SOURCE}/test/run/pairs.py", f"{options.out}/test/oracle/tool_compare",
         directory, *flags], capture_output=True, text=True, errors="replace", check=False,
        env={**os.environ, "HEAPTAP": options.heaptap})
    counts = re.findall(r"^sites (\d+): equal (\d+), marked (\d+)", compared.stdout, re.MULTILINE)
    sites, equal, marked = (sum(int(row[i]) for row in counts) for i in range(3))
    verdict.wrong = f"{sites - equal - marked} of {sites}"
    verdict.expect(compared.returncode == 0, "differs from the oracle", [
        line for line in compared.stdout.split("\n") if not line.startswith(("sites ", "("))])


def judge_counts(verdict, scratch, bare, again):
    """The counter needs a separate run, because the recorder takes other paths in front of another
    allocator."""
    program = verdict.program
    name = "libcounter_operators.so" if program.operators else "libcounter.so"
    run, directory = run_with(program, scratch, "counted",
                              [f"{options.build}/test/counter/{name}"],
                              {"COUNTER_OUT": "{directory}"})
    found = harvest(directory)
    verdict.counted = counted.Comparison(found.images, counted.counted_images(directory))
    judge_outputs(verdict, bare, again, run, "with the counter")
    judge_profiles(verdict, found, "with the counter")
    if verdict.counted.differences and program.counts():
        verdict.notes.append(f"{verdict.counted.differences:,} events differ: {program.counts()}")
    else:
        verdict.expect(not verdict.counted.differences,
                       f"{verdict.counted.differences:,} events differ", verdict.counted.lines)


def torture(program, scratch):
    def again():
        return one_run(program, scratch)

    verdict = Verdict(program)
    bare = [again() for _ in range(BARE_RUNS[options.group][0])]
    verdict.bare = bare[0]
    verdict.recorded, verdict.harvest = run_recorded(program, scratch)
    judge_outputs(verdict, bare, again, verdict.recorded, "recorded")
    judge_profiles(verdict, verdict.harvest, "recorded")
    if options.group == "foreign":
        judge_counts(verdict, scratch, bare, again)
    if program.oracle and not options.no_oracle:
        judge_with_oracle(verdict, scratch)
    return verdict


# --- Printing ------------------------------------------------------------------------------------

COLUMNS = {
    "torture": (("program", 14), ("procs", 6), ("events", 12), ("output", 13), ("status", 8),
                ("lost", 6), ("broken", 8), ("guessed", 8), ("trunc", 7), ("wrong", 14),
                ("unknown", 8), ("bare s", 8), ("rec. s", 8), ("MiB", 11)),
    "foreign": (("script", 18), ("programs", 9), ("failing", 8), ("procs", 7), ("recorded", 13),
                ("counted", 13), ("differ", 10), ("lost", 6), ("broken", 8), ("unknown", 8),
                ("hurt", 5), ("bare s", 8), ("rec. s", 8), ("wall s", 8)),
}
LEGENDS = {
    "torture": """
output: lines that vary by themselves are not compared; wrong: sites that differ from the oracle;
unknown: frees of unknown blocks; s: processor time; MiB: of the largest process, bare/recorded""",
    "foreign": """
failing: programs that end with another status than 0 even when bare; recorded, counted: events in
the run with the counter behind the recorder; differ: events that only one of the two has; unknown:
frees of unknown blocks; hurt: programs that do something else when recorded; bare, rec.: processor
time of one run; wall: of all runs together""",
}


def torture_cells(verdict):
    found, bare, recorded = verdict.harvest, verdict.bare, verdict.recorded
    losses = found.losses
    return (verdict.program.name, found.processes, f"{found.events:,}", verdict.output,
            verdict.status, verdict.lost, losses["unwind_failures"], losses["guessed_frames"],
            losses["truncated_stacks"], verdict.wrong, unknown(found), f"{bare.cpu_s:.1f}",
            f"{recorded.cpu_s:.1f}", f"{bare.rss_kib >> 10}/{recorded.rss_kib >> 10}")


def unknown(found):
    return found.losses["unknown_frees"] + found.losses["overwritten_blocks"]


def foreign_cells(name, verdicts):
    def total(what):
        return sum(map(what, verdicts))

    return (name, len(verdicts), total(lambda v: v.bare.status != 0),
            total(lambda v: v.harvest.processes), f"{total(lambda v: v.counted.recorded):,}",
            f"{total(lambda v: v.counted.counted):,}",
            f"{total(lambda v: v.counted.differences):,}", total(lambda v: v.lost),
            total(lambda v: v.harvest.losses["unwind_failures"]),
            total(lambda v: unknown(v.harvest)), total(lambda v: v.hurt),
            f"{total(lambda v: v.bare.cpu_s):.1f}", f"{total(lambda v: v.recorded.cpu_s):.1f}",
            f"{total(lambda v: v.wall_s):.0f}")


def row(values):
    columns = COLUMNS[options.group]
    first, *rest = ((str(value), width) for value, (_, width) in zip(values, columns))
    return first[0].ljust(first[1]) + "".join(" " + text.rjust(width - 1) for text, width in rest)


def tell(verdict):
    name = f"{options.group} {verdict.program.name}"
    if verdict.skipped:
        print(f"ok - {name} # SKIP {verdict.skipped}", flush=True)
        return
    print(f"{'not ok' if verdict.complaints else 'ok'} - {name}")
    for line in verdict.complaints + verdict.notes:
        print(f"#   {line}")
    sys.stdout.flush()


def tell_table(verdicts):
    print("# " + row(name for name, _ in COLUMNS[options.group]))
    if options.group == "torture":
        for verdict in verdicts:
            print("# " + row(torture_cells(verdict)))
    else:
        by_script = {}
        for verdict in verdicts:
            by_script.setdefault(verdict.program.script, []).append(verdict)
        for name, several in by_script.items():
            print("# " + row(foreign_cells(name, several)))
        print("# " + row(foreign_cells("all", verdicts)))
    for line in LEGENDS[options.group].strip().split("\n"):
        print(f"# {line}")


def tell_sum(verdicts, skipped):
    """Print the last line of the group foreign."""
    sums = [sum(v.counted.recorded for v in verdicts), sum(v.counted.counted for v in verdicts),
            sum(v.counted.differences for v in verdicts), sum(v.lost for v in verdicts)]
    print("# {} programs; events {:,} recorded, {:,} counted; differences {:,}; losses {:,}; "
          "{} hurt; {} skipped".format(len(verdicts), *sums, sum(v.hurt for v in verdicts),
                                       skipped))


def reachable(program):
    """Return the reason why the program's user could not run it here, or None."""
    user = become(program)
    if user is None:
        return None
    path = os.path.abspath(f"{options.build}/libheaptap.so")
    test = subprocess.run(["test", "-r", path, "-a", "-r", program.path], user=user.pw_uid,
                          group=user.pw_gid, extra_groups=[], check=False)
    return f"user {program.user} cannot read this tree" if test.returncode else None


def one_program(program):
    """Return the verdict on a program, also if the program was skipped or could not be prepared."""
    why = program.lacks() or reachable(program)
    if why:
        return Verdict(program, why)
    scratch = tempfile.mkdtemp(prefix=f"torture-{program.name.replace('/', '-')}-")
    os.chmod(scratch, 0o755)
    try:
        start = time.monotonic()
        verdict = torture(program, scratch)
        verdict.wall_s = time.monotonic() - start
        return verdict
    except RuntimeError as error:
        return Verdict(program, str(error))
    finally:
        if options.keep:
            print(f"# kept: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(prog="torture.py")
    parser.add_argument("--group", choices=sorted(COLUMNS), default="torture")
    parser.add_argument("--out", required=True, help="where the command and the oracle are")
    parser.add_argument("--build", required=True, help="where the recorder is")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--no-oracle", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the files")
    parser.add_argument("--jobs", type=int, default=1, help="programs that run at once")
    parsed = parser.parse_args()
    parsed.out, parsed.build = os.path.abspath(parsed.out), os.path.abspath(parsed.build)
    parsed.heaptap = f"{parsed.out}/heaptap"
    return parsed


def chosen():
    scripts = [Program(path) for path in sorted(glob.glob(f"{HERE}/programs/*.sh"))]
    if options.group == "foreign":
        both = [script for script in scripts if script.both_groups and not options.short]
        scripts = both + [Program(path)
                          for path in sorted(glob.glob(f"{SOURCE}/test/foreign/*.sh"))]
    programs = [case for script in scripts for case in script.cases()]
    return [p for p in programs if re.search(options.only, p.name)
            and (p.short or not options.short)]


def main():
    global options
    options = arguments()
    verdicts = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for verdict in pool.map(one_program, chosen()):
            tell(verdict)
            verdicts.append(verdict)
    done = [verdict for verdict in verdicts if not verdict.skipped]
    if done:
        tell_table(done)
    if done and options.group == "foreign":
        tell_sum(done, len(verdicts) - len(done))
    sys.exit(any(verdict.complaints for verdict in done))


main()
