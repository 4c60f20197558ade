#!/usr/bin/env python3
"""faults.py: make every system call of the recorder fail, one after the other.

    faults.py [--all] [--only CALL]

For each call, each suitable error number, and n = 1, 2, 3, ... up to the number of calls, the
program `grow` runs with the n-th call failing, and again with the n-th and all later calls failing
(test/fault/inject.c). `grow` makes every table of the profile grow, joins threads and forks. Then

  - its output and status equal those of a run without the recorder, within the time limit,
  - stderr has nothing but lines that begin with "heaptap: ", one for each process at the most,
  - each process has either no profile and a line on stderr, or one that `heaptap report` reads,
    and if its totals are not the true ones, the profile says that something is missing; an empty
    file is left only where it cannot be removed.

A call that is never made is skipped. Without --all, n runs up to 6 and then in steps, about 12
values per call. If this fails, recording harms a program on a machine that lacks resources, or a
user trusts wrong totals.

faults.sh runs it and sets its environment. It works in the current directory.
"""
import argparse
import concurrent.futures
import glob
import os
import shutil
import socket
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import documents  # noqa: E402

TIME_LIMIT_S = 120
CASES = [
    # (call, error, how). "each": the n-th call fails; "after": the n-th and later calls; "first":
    # all calls. After a "+" follows a call that is made only when the first one has failed; it
    # fails as well.
    ("mmap", "ENOMEM", "each after"),
    ("mmap", "EAGAIN", "after"),
    ("mprotect+munmap", "ENOMEM", "each"),
    ("mprotect", "ENOMEM", "each after"),
    ("munlock", "EPERM", "each after"),
    ("madvise", "EINVAL", "each after"),
    ("madvise", "ENOMEM", "each"),
    ("mincore", "ENOMEM", "each after"),
    ("openat", "EMFILE", "each after"),
    ("openat", "EACCES", "each after"),
    ("openat", "ENOENT", "each"),
    ("newfstatat", "EACCES", "each after"),
    ("fstat", "EIO", "each after"),
    ("ftruncate", "ENOSPC", "each after"),
    ("ftruncate", "EFBIG", "each"),
    ("fallocate+pwrite64", "EOPNOTSUPP", "each after"),
    ("fallocate", "ENOSPC", "each after"),
    ("fallocate", "EOPNOTSUPP", "each after"),
    ("fallocate", "EIO", "each"),
    ("pread64", "EIO", "each after"),
    ("fcntl", "EMFILE", "each after"),
    ("fcntl", "EBADF", "each after"),
    ("mremap", "ENOMEM", "each after"),
    ("write", "ENOSPC", "each after"),
    ("linkat", "ENOENT", "each after"),
    ("linkat", "EACCES", "each"),
    ("mmap+unlinkat", "EACCES", "each"),
    ("fallocate+unlinkat", "EACCES", "after"),
    ("fallocate+poll", "ENOSPC", "after"),
    ("fallocate+rt_sigpending", "ENOSPC", "after"),
    ("readlinkat", "EACCES", "each after"),
    ("getcwd", "ENOENT", "each after"),
    ("getpid", "EPERM", "each after"),
    ("getppid", "EPERM", "each after"),
    ("gettid", "EPERM", "each after"),
    ("tgkill", "EPERM", "each after"),
    ("prctl", "EPERM", "each after"),
    ("clock_gettime", "EPERM", "first"),
    ("prlimit64", "EPERM", "first"),
    ("sched_getaffinity", "EPERM", "first"),
    ("uname", "EPERM", "first"),
    ("rt_sigprocmask", "EPERM", "first"),
    ("sched_yield", "EPERM", "first"),
    ("nanosleep", "EPERM", "first"),
]
TRUTH = ("allocations", "frees", "allocated_bytes", "freed_bytes", "live_blocks", "live_bytes")

inject = os.path.join(os.environ["BUILD"], "test/fault/inject")
program = os.path.join(os.environ["PROG"], "grow")


class Run:
    """One run: its output, and the reports of the profiles that it left."""

    def __init__(self, name, call, error, n, after):
        self.name = name
        os.makedirs(name)
        call, _, also = call.partition("+")
        command = [inject, "--call", call, "--errno", error, "--n", str(n), "--count", "count",
                   "--preload", os.environ["LIBHEAPTAP"]] + ["--all-after"] * after
        command += ["--also", also] if also else []
        env = dict(os.environ, HEAPTAP_OUT="p.heaptap")
        err, theirs = socket.socketpair()
        err.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        try:
            done = subprocess.run(command + ["--", program], cwd=name, env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=theirs, timeout=TIME_LIMIT_S,
                                  check=False)
            self.status, self.out = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            self.status, self.out = "hangs", ""
        theirs.close()
        self.said = by_process(err)
        err.close()
        self.err = "".join(self.said.values())
        self.count = int(read_or_none(f"{name}/count") or -1)
        self.messages = self.err.splitlines()
        self.removable = "unlinkat" not in (call, also)
        # If one of these fails, no message can be written.
        needed = {"write", "fstat", "poll", "rt_sigpending"}
        self.told = bool(self.messages) or bool({call, also} & needed)
        # A child's profile has the plain name if the parent is not recorded.
        self.parent = self.child = None
        for path in glob.glob(f"{name}/p*.heaptap"):
            shown = report(path)
            plain = os.path.basename(path) == "p.heaptap"
            if not plain or (isinstance(shown, dict) and shown["process"]["forked"]):
                self.child = shown
            else:
                self.parent = shown
        shutil.rmtree(name)


def by_process(end):
    """Return {process id: text that the process wrote}, from a socket that identifies the sender.
    """
    texts = {}
    end.setblocking(False)
    while True:
        try:
            data, told, _, _ = end.recvmsg(1 << 16, socket.CMSG_SPACE(12))
        except BlockingIOError:
            return texts
        if not data:
            return texts
        pids = [struct.unpack("3i", value)[0] for level, kind, value in told
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)]
        pid = pids[0] if pids else 0
        texts[pid] = texts.get(pid, "") + data.decode("utf-8", "replace")


def read_or_none(path):
    try:
        with open(path, encoding="ascii") as f:
            return f.read()
    except FileNotFoundError:
        return None


def report(path):
    """Return the report of a profile or, as a string, the reason why it fails."""
    done = subprocess.run([os.environ["HEAPTAP"], "report", "--json", "--no-fold", path],
                          capture_output=True, text=True, check=False)
    return documents.loads(done.stdout) if done.returncode == 0 else done.stderr.strip() or "crash"


def says_short(shown):
    losses = shown["losses"]
    return bool(losses["file_failed"] or shown["notes"] or losses["events"] or
                losses["ledger_events"] or losses["unknown_frees"])


def judge_process(who, shown, truth, told, removable):
    """Return (problem or None, outcome) for one process. TOLD: there is a line on stderr, or none
    could be written. REMOVABLE: files can be removed."""
    if shown is None:
        return (None, "not recorded") if told else (f"{who}: no profile and no message", "")
    if isinstance(shown, str):
        return f"{who}: {shown}", ""
    short = any(shown["totals"][key] != truth["totals"][key] for key in TRUTH)
    if told and shown["totals"]["allocations"] == 0 and not says_short(shown):
        outcome = "not recorded, empty file left"
        return (f"{who}: {outcome}", "") if removable else (None, outcome)
    if short and not says_short(shown):
        got = {key: shown["totals"][key] for key in TRUTH}
        return f"{who}: totals are wrong without a mark: {got}", ""
    return None, "losses shown" if says_short(shown) else "whole"


def judge(run, bare, truth):
    """Return (problems, outcome) of a run."""
    problems = []
    if (run.status, run.out) != bare:
        problems.append(f"status {run.status}, output {run.out!r}, stderr {run.err!r}")
    strange = [m for m in run.messages if not m.startswith("heaptap: ")]
    if strange:
        problems.append(f"stderr has {strange}")
    if len(run.messages) > 2 or any(len(text.splitlines()) > 1 for pid, text in run.said.items()
                                    if pid != 0):
        problems.append(f"too many messages: {run.said}")
    outcomes = []
    for who in "parent", "child":
        shown, true = getattr(run, who), getattr(truth, who)
        problem, outcome = judge_process(who, shown, true, run.told, run.removable)
        problems += [problem] if problem else []
        outcomes.append(outcome)
    return problems, " / ".join(outcomes)


def ranges(numbers):
    """Return a text for numbers in ascending order: [1, 2, 3, 7] is "1-3 7"."""
    parts = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def chosen(count, how, everything):
    if how == "first":
        return [1]
    numbers = range(1, count + 2)
    if everything or count < 12:
        return list(numbers)
    return sorted(set(list(range(1, 7)) + list(range(7, count + 2, max(1, count // 6)))))


def one_case(case, bare, truth, everything):
    """Run one (call, error, how). Return rows for the table, and problems."""
    call, error, how = case
    count = Run(f"{call}.{error}.{how}.0", call, error, 0, False).count
    by_outcome, problems = {}, []
    if count < 0:
        problems.append("the calls were not counted")
    for n in chosen(count, how, everything) if count > 0 else []:
        run = Run(f"{call}.{error}.{how}.{n}", call, error, n, how != "each")
        wrong, outcome = judge(run, bare, truth)
        problems += [f"{call} {error} {how} n={n}: {p}" for p in wrong]
        by_outcome.setdefault("WRONG" if wrong else outcome, []).append(n)
    return count, by_outcome, problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    bare = (done.returncode, done.stdout)
    truth = Run("truth", "pread64", "EIO", 0, False)
    if truth.status == 77:
        print(f"not possible here: {truth.err.strip()}")
        sys.exit(77)
    cases = [(call, error, how) for call, error, hows in CASES for how in hows.split()
             if options.only is None or options.only in call]
    failed = 0
    print(f"# {'call':24}{'error':12}{'which':7}{'calls':>6}  n: outcome of parent / child")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(one_case, case, bare, truth, options.all) for case in cases]
        for (call, error, how), job in zip(cases, jobs):
            count, by_outcome, problems = job.result()
            head = f"# {call:24}{error:12}{how:7}{count:6}"
            for outcome, numbers in by_outcome.items():
                print(f"{head}  {ranges(numbers)}: {outcome}")
                head = "#" + " " * 49
            for problem in problems[:5]:
                print(f"#   {problem}")
            result = "not ok" if problems else "ok"
            skip = " # SKIP never called" if count == 0 else ""
            print(f"{result} - {call} fails with {error}, {how}{skip}", flush=True)
            failed += bool(problems)
    sys.exit(failed > 0)


main()
