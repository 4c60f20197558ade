#!/usr/bin/env python3
"""drive.py: run every test and count the results.

    drive.py --out DIR --build DIR [--only REGEX] [--jobs N]
    drive.py --out DIR --build DIR [--only REGEX] --needs     print what make must build first

Started by `make test`. A job is one program: the source rules, a unit-test program, a fuzz
target's replay, the comparison of unwinders, or a script of an area of test/run:
test/run/AREA/NAME.sh is run/NAME. It reports one or more results:

    lines "ok - NAME", "not ok - NAME", "ok - NAME # SKIP why"   (with or without a number: TAP)
    exit status 77        skipped; the last line is the reason
    exit status 0         passed, if no such line was printed; a script has to print one
    anything else         failed, whatever the lines say

Every job has a separate empty directory for its home, cache and temporary files, a time limit of
$JOB_SECONDS (300), umask 022, no terminal, and no variables that change how malloc or Python works.
The directories are below TMPDIR, or below BUILD if programs in TMPDIR cannot be started. Scripts
start in their directory; unit tests and rules start in the source tree. Processes that a job leaves
in its process group are killed. Jobs run a few at a time and are shown in order, a failed job with
its whole output; skips are repeated at the end. The last line is "N passed, N failed, N skipped",
and is also written to OUT/test/counts. The exit status is 1 if a job failed or nothing ran.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from needs import Needs

TIME_LIMIT_S = int(os.environ.get("JOB_SECONDS", "300"))
SKIPPED = 77
RESULT = re.compile(r"^(not ok|ok)\b(?:\s+\d+)?(?:\s*-)?\s*(.*)$")
SKIP = re.compile(r"#\s*SKIP\b[ :]*(.*)$", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.(\d+)$")

PASS, FAIL, SKIPS = "passed", "failed", "skipped"
source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Job:
    """A program to run. TAP: it must announce the number of its results. TELLS: it must print
    results."""

    def __init__(self, name, command, tap=False, tells=False, directory=None):
        self.name, self.command, self.directory = name, command, directory
        self.tap, self.tells = tap, tells


class Outcome:
    """The result of a job: (kind, name, reason) for each result, and the text to show."""

    def __init__(self, results, output, seconds):
        self.results, self.output, self.seconds = results, output, seconds

    def count(self, kind):
        return sum(1 for result in self.results if result[0] == kind)


def files(directory, pattern):
    """Yield paths of DIRECTORY's entries that match PATTERN, and the text matched by PATTERN's
    group."""
    folder = os.path.join(source, directory)
    if not os.path.isdir(folder):
        return []
    found = [(re.fullmatch(pattern, entry), entry) for entry in sorted(os.listdir(folder))]
    return [(os.path.join(folder, entry), match[1]) for match, entry in found if match]


def scripts(directory):
    """Return paths and names of the scripts in the folders of DIRECTORY, by name."""
    found = [pair for area in os.listdir(os.path.join(source, directory))
             for pair in files(os.path.join(directory, area), r"(.*)\.sh")]
    return sorted(found, key=lambda pair: pair[1])


def interpreter(script):
    """Return the interpreter named in the first line of SCRIPT, so that scripts need not be
    executable."""
    with open(script, encoding="utf-8", errors="replace") as f:
        first = f.readline()
    return first[2:].split() if first.startswith("#!") else ["sh"]


def all_jobs(out, build):
    jobs = [Job("check", [os.path.join(source, "tools/tidy"), "--build", build], directory=source)]
    for _, name in files("test/unit", r"test_(.*)\.c"):
        jobs.append(Job(f"unit/{name}", [f"{out}/test/unit/test_{name}"], tap=True,
                        directory=source))
    if files("test/unwind", r"(stackdiff)\.c"):
        jobs.append(Job("unwind/stackdiff", [f"{build}/test/unwind/stackdiff"]))
    for _, name in files("test/fuzz", r"fuzz_(.*)\.c"):
        corpus = os.path.join(source, "test/fuzz/corpus", name)
        inputs = [corpus] if os.path.isdir(corpus) else []
        jobs.append(Job(f"fuzz/{name}", [f"{build}/test/fuzz/replay_{name}", *inputs]))
    for path, name in scripts("test/run"):
        jobs.append(Job(f"run/{name}", [*interpreter(path), path], tells=True))
    return jobs


def environment(out, build, scratch):
    env = {k: v for k, v in os.environ.items()
           if (not k.startswith(("HEAPTAP", "MAKE", "MFLAGS", "MALLOC_")) or
               k == "HEAPTAP_EVERY_INSTRUCTION") and k not in
           ("LD_PRELOAD", "DEBUGINFOD_URLS", "NO_COLOR", "CDPATH", "ENV", "BASH_ENV",
            "GLIBC_TUNABLES", "PYTHONMALLOC", "PYTHONPATH", "PYTHONHOME")}
    env.update(HEAPTAP=f"{out}/heaptap", LIBHEAPTAP=f"{build}/libheaptap.so",
               PROG=f"{build}/test/prog", ORACLE=f"{out}/test/oracle", SRCDIR=source,
               BUILD=build, HOME=scratch, TMPDIR=scratch, XDG_CACHE_HOME=f"{scratch}/.cache",
               LC_ALL="C.UTF-8", TZ="UTC", COLUMNS="80", CMOCKA_MESSAGE_OUTPUT="TAP",
               GOCACHE=f"{build}/test/go-cache", GOFLAGS="-mod=mod")
    return env


def end_session(process):
    """Kill the job and all processes that it left in its process group; other processes are not
    killed."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def execute(job, env, scratch):
    """Return the job's output, and its exit status or the reason why it has none."""
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(job.command, cwd=job.directory or scratch, env=env,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True)
        except OSError as error:
            return "", f"cannot be started: {error.strerror}"
        try:
            status = process.wait(TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            status = f"took longer than {TIME_LIMIT_S} s"
        end_session(process)
        process.wait()
        log.seek(0)
        return log.read().decode("utf-8", "replace"), status


def judge(job, output, status):
    """Return the results according to OUTPUT and STATUS."""
    results, planned = [], None
    for line in output.splitlines():
        plan, match = PLAN.match(line), RESULT.match(line)
        if plan:
            planned = int(plan[1])
        if not match:
            continue
        skip = SKIP.search(match[2])
        # cmocka prints "not ok 3 # SKIP name", which is no failure in TAP.
        if skip:
            results.append((SKIPS, match[2][:skip.start()].strip(), skip[1]))
        elif match[1] == "not ok":
            results.append((FAIL, match[2], ""))
        else:
            results.append((PASS, match[2], ""))
    failed = any(kind == FAIL for kind, _, _ in results)
    lines = [line for line in output.splitlines() if line.strip()]
    if status == SKIPPED:
        results.append((SKIPS, "", lines[-1] if lines else "no reason given"))
    elif isinstance(status, str):
        results.append((FAIL, status, ""))
    elif status < 0:
        results.append((FAIL, f"killed by {signal.Signals(-status).name}", ""))
    elif status and not failed:
        results.append((FAIL, f"exit status {status}", ""))
    elif job.tap and planned != len(results):
        results.append((FAIL, f"announced {planned} tests, reported {len(results)}", ""))
    elif not results and job.tells:
        results.append((FAIL, "nothing was tested", ""))
    elif not results:
        results.append((PASS, "", ""))
    return results


def place_of_scratch(build):
    """Return the directory for temporary files: BUILD if TMPDIR's mount has the flag noexec."""
    place = tempfile.gettempdir()
    if os.statvfs(place).f_flag & os.ST_NOEXEC:
        place = f"{build}/tmp"
        os.makedirs(place, exist_ok=True)
    return place


def perform(job, out, build):
    scratch = tempfile.mkdtemp(prefix="heaptap-test-", dir=place_of_scratch(build))
    started = time.monotonic()
    try:
        output, status = execute(job, environment(out, build, scratch), scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Outcome(judge(job, output, status), output, time.monotonic() - started)


def show(job, outcome):
    failed, skipped, passed = map(outcome.count, (FAIL, SKIPS, PASS))
    word = "FAIL" if failed else "ok" if passed else "skip"
    details = [f"{count} {kind}" for count, kind in
               ((passed, PASS), (failed, FAIL), (skipped, SKIPS)) if count]
    print(f"{word:4}  {job.name:32} {', '.join(details):32} {outcome.seconds:6.1f} s", flush=True)
    if failed:
        for line in outcome.output.rstrip().splitlines():
            print(f"      | {line}")
        for kind, name, _ in outcome.results:
            if kind == FAIL:
                print(f"      failed: {name}")


def main():
    parser = argparse.ArgumentParser(description="run the tests")
    parser.add_argument("--out", required=True, help="where heaptap and the unit tests are")
    parser.add_argument("--build", required=True, help="where the recorder and programs are")
    parser.add_argument("--only", default="", help="run the jobs whose name matches")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--needs", action="store_true", help="print the targets that they need")
    options = parser.parse_args()
    if options.needs:
        needs = Needs(source, options.out, options.build)
        jobs = [j for j in all_jobs(options.out, options.build) if re.search(options.only, j.name)]
        print(*sorted(set().union(*map(needs.of, jobs))))
        return 0
    out, build = os.path.abspath(options.out), os.path.abspath(options.build)
    os.umask(0o022)
    jobs = [j for j in all_jobs(out, build) if re.search(options.only, j.name)]
    counts, skips = {PASS: 0, FAIL: 0, SKIPS: 0}, []

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = [pool.submit(perform, job, out, build) for job in jobs]
        for job, future in zip(jobs, running):
            outcome = future.result()
            show(job, outcome)
            for kind, name, reason in outcome.results:
                counts[kind] += 1
                if kind == SKIPS:
                    skips.append(f"{job.name}{': ' + name if name else ''}: {reason}")
    if skips:
        print("\nskipped:")
        for skip in skips:
            print(f"  {skip}")
    if not jobs:
        print(f"no test matches '{options.only}'")
    line = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    os.makedirs(f"{out}/test", exist_ok=True)
    with open(f"{out}/test/counts", "w", encoding="utf-8") as f:
        f.write(line + "\n")
    print(line)
    return 1 if counts[FAIL] or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
