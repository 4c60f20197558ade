#!/usr/bin/env python3
"""torture.py: large real programs, bare and recorded: what must not differ, and what was lost.

    torture.py --out DIR --build DIR [--only REGEX] [--short] [--keep]

`make torture` runs all of it, about half an hour; test/run/torture.sh runs the short form as part
of `make test`. A program is a script of programs/ with two functions, `prepare` and `run`, and a
few directives (class Program). It is run twice bare and once recorded, each time in an empty
directory of the same name, by `prepare` unrecorded and then

    heaptap run -o PROFILES/ --quiet --no-pack -- bash SCRIPT run

so that every process it starts is recorded, the shell included. Then

    - stdout, stderr and exit status must be those of the bare run. What differs between the two
      bare runs is the program's own business: only lines that both have, in order, are demanded.
      Scripts hide process ids and the like by patterns, so that little is lost to this.
    - no event may be lost in any profile, every profile must be readable, none may have failed.
    - walks that broke off are counted, with the place where it happened. A script for which they
      are natural (code made at run time, without unwind tables) says so in a directive; else they
      fail. So do frees of unknown blocks, which would be events that the recorder did not see.
    - where a script allows it, a fourth run has the oracle (test/oracle) behind the recorder, which
      compares every counter of every stack of every process that was not forked.

The times in the table are information: a loaded machine makes them what it likes. Nothing of a
program is left running: what outlives its script is found by a mark in its environment.

A failure here means that heaptap changes what a program does, hangs, loses events or mistakes
stacks. It does not say why: reduce it (--keep leaves all files; a script can be run by hand).
"""
import argparse
import collections
import concurrent.futures
import difflib
import glob
import json
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

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PATH = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
DIRECTIVE = re.compile(
    r"^# (needs|files|hide|unordered|as|limit|short|oracle|broken|unknown): (.*)$")
LOST = ("reentrant_events", "no_memory_events", "no_thread_events", "ledger_events",
        "other_site_events")
MARK = "HEAPTAP_TORTURE_RUN"
SHOWN = 12  # Lines of a difference.

options = None


class Program:
    """A script and its directives, lines of the form `# NAME: VALUE`:

    needs      commands without which it is skipped
    files      patterns of files, the same
    hide       a regular expression; what it matches in outputs becomes "~"; may be repeated
    unordered  outputs are compared as sorted lines, because processes write them side by side
    as         a user to become if we are root
    limit      seconds for one run; 300 if not given
    short      it belongs to the short form as well
    oracle     the oracle rides along: "yes", or "threads"
    broken     why walks may break off
    unknown    why there are frees of unknown blocks
    """

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)[:-len(".sh")]
        self.hide, found = [], {}
        with open(path, encoding="utf-8") as f:
            for key, value in filter(None, map(directive, f)):
                if key == "hide":
                    self.hide.append(re.compile(value.encode(), re.MULTILINE))
                else:
                    found[key] = value
        self.needs, self.files = found.get("needs", "").split(), found.get("files", "").split()
        self.unordered, self.short = "unordered" in found, "short" in found
        self.limit_s = int(found.get("limit", 300))
        self.user, self.oracle = found.get("as"), found.get("oracle")
        self.broken, self.unknown = found.get("broken"), found.get("unknown")

    def lacks(self):
        """Why it cannot run here, or None."""
        for command in self.needs:
            if shutil.which(command, path=PATH) is None:
                return f"{command} is not installed"
        for pattern in self.files:
            if not glob.glob(pattern):
                return f"{pattern} is not there"
        return None


def directive(line):
    match = DIRECTIVE.match(line.rstrip())
    return match.groups() if match else None


class Run:
    """What one run of a program came to."""

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


def end_marked(mark):
    """Kill what a run left behind."""
    wanted = f"{MARK}={mark}".encode()
    for entry in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(entry, "rb") as f:
                if wanted in f.read().split(b"\0"):
                    os.kill(int(entry.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass


def fresh(scratch, user):
    """Empty `work` and `tmp`, at the same paths for every run."""
    for name in ("work", "tmp"):
        directory = os.path.join(scratch, name)
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
        if user:
            os.chown(directory, user.pw_uid, user.pw_gid)


def execute(command, program, scratch, extra=None):
    """Run COMMAND in `work`; a Run, its status None if it had to be killed."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    env = {**environment(scratch, mark), **(extra or {})}
    user = become(program)
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    late = threading.Event()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=f"{scratch}/work", env=env, stdout=out, stderr=err,
                                   stdin=subprocess.DEVNULL, start_new_session=True, **as_user)
        timer = threading.Timer(program.limit_s, lambda: (late.set(), end_marked(mark)))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        wall = time.monotonic() - start
        end_marked(mark)
        out.seek(0)
        err.seek(0)
        return Run(None if late.is_set() else process.returncode, out.read(), err.read(), wall,
                   usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def become(program):
    return pwd.getpwnam(program.user) if program.user and os.geteuid() == 0 else None


def one_run(program, scratch, prefix=(), extra=None):
    fresh(scratch, become(program))
    prepared = execute(["bash", program.path, "prepare"], program, scratch)
    if prepared.status != 0:
        tail = (prepared.out + prepared.err).decode(errors="replace").strip().split("\n")[-1]
        raise RuntimeError(f"prepare failed: {tail}")
    return execute([*prefix, "bash", program.path, "run"], program, scratch, extra)


# --- Comparing outputs ---------------------------------------------------------------------------

def lines_of(program, text):
    for pattern in program.hide:
        text = pattern.sub(b"~", text)
    lines = text.split(b"\n")
    return sorted(lines) if program.unordered else lines


def common(a, b):
    """The lines that both have, in order."""
    if a == b:
        return a
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return [line for block in blocks for line in a[block.a:block.a + block.size]]


def contains_in_order(lines, wanted):
    rest = iter(lines)
    return all(line in rest for line in wanted)


def compare_text(program, bare, recorded):
    """How the recorded output differs from what both bare ones agree on; and how many lines they
    do not agree on."""
    first, second = (lines_of(program, text) for text in bare)
    got = lines_of(program, recorded)
    if got in (first, second):
        return [], 0
    wanted = common(first, second)
    varying = max(len(first), len(second)) - len(wanted)
    if varying and contains_in_order(got, wanted):
        return [], varying
    return changes(first, got), varying


def changes(bare, recorded):
    diff = difflib.diff_bytes(difflib.unified_diff, bare, recorded, b"bare", b"recorded", n=0,
                              lineterm=b"")
    return [line.decode(errors="replace") for line in diff]


# --- Reading profiles ----------------------------------------------------------------------------

class Harvest:
    """The sums over all profiles of a session."""

    def __init__(self):
        self.processes = self.events = 0
        self.losses = collections.Counter()
        self.places = collections.Counter()  # Events of broken stacks by where they end.
        self.unreadable = []

    def add(self, path, report):
        losses = dict(report["losses"])
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
    return json.loads(done.stdout)


def outermost(site):
    """Where a stack ends that broke off: the last function that is known, or just its module."""
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
    """In a process of its own: a large report would show in the memory of later programs, which
    begin as copies of this one."""
    try:
        report = read_report(path, "--limit", "1")
        places = broken_places(path) if report["losses"]["unwind_failures"] else {}
        return path, {key: report[key] for key in ("losses", "totals")}, places
    except ValueError as error:
        return path, None, str(error)


def harvest(directory):
    """All profiles of DIRECTORY; two at a time, since a session may have thousands."""
    result = Harvest()
    paths = sorted(glob.glob(f"{glob.escape(directory)}/*.heaptap"))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for path, report, more in pool.map(look, paths):
            if report is None:
                result.unreadable.append(more)
            else:
                result.add(path, report)
                result.places.update(more)
    return result


# --- Judging -------------------------------------------------------------------------------------

class Verdict:
    """A row of the table, and what is wrong with it."""

    def __init__(self, program):
        self.program, self.complaints, self.notes = program, [], []
        self.bare = self.recorded = self.harvest = None
        self.output = self.status = self.wrong = "-"

    def expect(self, condition, complaint, details=()):
        if not condition:
            self.complaints.append(complaint)
            self.complaints += [f"    {line}" for line in list(details)[:SHOWN]]


def judge_outputs(verdict, bare, again, recorded):
    program = verdict.program
    ways = "/".join(sorted({str(run.status) for run in (bare, again)}))
    verdict.status = "same" if recorded.status in (bare.status, again.status) else "DIFFERS"
    verdict.expect(None not in (bare.status, again.status), f"bare: over {program.limit_s} s")
    verdict.expect(recorded.status is not None, f"recorded: over {program.limit_s} s")
    verdict.expect(verdict.status == "same", f"status: bare {ways}, recorded {recorded.status}")
    verdict.output, varying_lines = "same", 0
    for name in ("out", "err"):
        texts = [getattr(run, name) for run in (bare, again)]
        difference, varying = compare_text(program, texts, getattr(recorded, name))
        varying_lines += varying
        if difference:
            verdict.output = "DIFFERS"
            verdict.expect(False, f"std{name} differs", difference)
    if verdict.output == "same" and varying_lines:
        verdict.output = f"same but {varying_lines}"
        verdict.notes.append(f"{varying_lines} lines of output vary from run to run by themselves")


def judge_profiles(verdict, found):
    program, losses = verdict.program, found.losses
    verdict.expect(found.processes > 0, "no profile at all")
    verdict.expect(not found.unreadable, "unusable profiles", found.unreadable)
    verdict.expect(found.lost() == 0, "events lost: " + ", ".join(
        f"{kind} {losses[kind]}" for kind in LOST if losses[kind]))
    places = [f"{count:>8} {place}" for place, count in found.places.most_common(SHOWN)]
    for kind, reason, details in (("unwind_failures", program.broken, places),
                                  ("unknown_frees", program.unknown, ()),
                                  ("overwritten_blocks", program.unknown, ())):
        if losses[kind] and reason:
            verdict.notes.append(f"{kind} {losses[kind]}: {reason}")
        else:
            verdict.expect(losses[kind] == 0, f"{kind} {losses[kind]}", details)


def judge_with_oracle(verdict, scratch):
    """A run of its own, because the oracle is far too slow for the times of the table."""
    program, directory = verdict.program, f"{scratch}/oracle"
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    libraries = [f"{options.build}/libheaptap.so", f"{options.out}/test/oracle/liboracle.so",
                 "libgcc_s.so.1", "libunwind.so.8"]
    run = one_run(program, scratch, ["env", f"LD_PRELOAD={' '.join(libraries)}"], {
        "HEAPTAP_OUT": f"{directory}/p.%e.%p.%n.heaptap", "ORACLE_OUT": f"{directory}/o.%p",
        "ORACLE_UNWINDER": "libunwind", "HEAPTAP_ALLOCATOR": "glibc"})
    if run.status is None:
        verdict.notes.append("with the oracle it takes too long; no stacks compared")
        return
    flags = ["--threads"] if program.oracle == "threads" else []
    compared = subprocess.run(
        [sys.executable, f"{SOURCE}/test/run/pairs.py", f"{options.out}/test/oracle/tool_compare",
         directory, *flags], capture_output=True, text=True, errors="replace", check=False,
        env={**os.environ, "HEAPTAP": options.heaptap})
    counts = re.findall(r"^sites (\d+): equal (\d+), marked (\d+)", compared.stdout, re.MULTILINE)
    sites, equal, marked = (sum(int(row[i]) for row in counts) for i in range(3))
    verdict.wrong = f"{sites - equal - marked} of {sites}"
    verdict.expect(compared.returncode == 0, "differs from the oracle", [
        line for line in compared.stdout.split("\n") if not line.startswith(("sites ", "("))])


def torture(program, scratch):
    verdict = Verdict(program)
    bare, again = one_run(program, scratch), one_run(program, scratch)
    profiles = f"{scratch}/profiles"
    os.mkdir(profiles)
    user = become(program)
    if user:
        os.chown(profiles, user.pw_uid, user.pw_gid)
    recorded = one_run(program, scratch, [options.heaptap, "run", "--quiet", "--no-pack", "-o",
                                          f"{profiles}/", "--"])
    found = harvest(profiles)
    verdict.bare, verdict.recorded, verdict.harvest = bare, recorded, found
    judge_outputs(verdict, bare, again, recorded)
    judge_profiles(verdict, found)
    if program.oracle and not options.no_oracle:
        judge_with_oracle(verdict, scratch)
    return verdict


# --- Telling -------------------------------------------------------------------------------------

COLUMNS = (("program", 14), ("procs", 6), ("events", 12), ("output", 13), ("status", 8),
           ("lost", 6), ("broken", 8), ("guessed", 8), ("trunc", 7), ("wrong", 14), ("unknown", 8),
           ("bare s", 8), ("rec. s", 8), ("MiB", 11))


def cells(verdict):
    found, bare, recorded = verdict.harvest, verdict.bare, verdict.recorded
    losses = found.losses
    return (verdict.program.name, found.processes, f"{found.events:,}", verdict.output,
            verdict.status, found.lost(), losses["unwind_failures"], losses["guessed_frames"],
            losses["truncated_stacks"], verdict.wrong,
            losses["unknown_frees"] + losses["overwritten_blocks"], f"{bare.cpu_s:.1f}",
            f"{recorded.cpu_s:.1f}", f"{bare.rss_kib >> 10}/{recorded.rss_kib >> 10}")


def row(values):
    first, *rest = ((str(value), width) for value, (_, width) in zip(values, COLUMNS))
    return first[0].ljust(first[1]) + "".join(" " + text.rjust(width - 1) for text, width in rest)


def tell(verdict):
    name = verdict.program.name
    print(f"{'not ok' if verdict.complaints else 'ok'} - torture {name}")
    for line in verdict.complaints + verdict.notes:
        print(f"#   {line}")
    sys.stdout.flush()


def tell_table(verdicts):
    print("# " + row(name for name, _ in COLUMNS))
    for verdict in verdicts:
        print("# " + row(cells(verdict)))
    print("# output: lines that vary by themselves are not compared; wrong: sites that differ from"
          " the oracle; unknown: frees")
    print("# of unknown blocks; s: processor time; MiB: of the largest process, bare/recorded")


def reachable(program):
    """None, or why the user it needs could not run it here."""
    user = become(program)
    if user is None:
        return None
    path = os.path.abspath(f"{options.build}/libheaptap.so")
    test = subprocess.run(["test", "-r", path, "-a", "-r", program.path], user=user.pw_uid,
                          group=user.pw_gid, extra_groups=[], check=False)
    return f"user {program.user} cannot read this tree" if test.returncode else None


def one_program(program):
    """Its verdict, or None if it was skipped or could not be prepared."""
    why = program.lacks() or reachable(program)
    if why:
        print(f"ok - torture {program.name} # SKIP {why}", flush=True)
        return None
    scratch = tempfile.mkdtemp(prefix=f"torture-{program.name}-")
    os.chmod(scratch, 0o755)
    try:
        verdict = torture(program, scratch)
        tell(verdict)
        return verdict
    except RuntimeError as error:
        print(f"ok - torture {program.name} # SKIP {error}", flush=True)
        return None
    finally:
        if options.keep:
            print(f"# kept: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(prog="torture.py")
    parser.add_argument("--out", required=True, help="where the command and the oracle are")
    parser.add_argument("--build", required=True, help="where the recorder is")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--no-oracle", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the files")
    parsed = parser.parse_args()
    parsed.out, parsed.build = os.path.abspath(parsed.out), os.path.abspath(parsed.build)
    parsed.heaptap = f"{parsed.out}/heaptap"
    return parsed


def main():
    global options
    options = arguments()
    programs = [Program(path) for path in sorted(glob.glob(f"{HERE}/programs/*.sh"))]
    programs = [p for p in programs if re.search(options.only, p.name)
                and (p.short or not options.short)]
    verdicts = list(filter(None, map(one_program, programs)))
    if verdicts:
        tell_table(verdicts)
    sys.exit(any(verdict.complaints for verdict in verdicts))


main()
