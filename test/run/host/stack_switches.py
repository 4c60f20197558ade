"""stack_switches.py: run random programs that switch stacks, bare and recorded.

    stack_switches.py FIRST LAST

Program number N is `stack_switches N` (test/prog/stack_switches.cc). Each program must print and
return the same alone and recorded. The profile must have the sums of the function `take` to the
byte, and no losses. Every fourth program has a reserve, so that the recorder makes no system calls.
Every eighth is sampled; its counts are estimates and not compared.
"""
import os
import re
import subprocess
import sys

import documents
from telling import finish, tell

SHOWN_MAX = 10
RESERVE_BYTES = 32 << 20


def run(number, **environment):
    done = subprocess.run([os.environ["PROG"] + "/stack_switches", str(number)], timeout=120,
                          env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode()


def recording(number, path):
    settings = {"LD_PRELOAD": os.environ["LIBHEAPTAP"], "HEAPTAP_OUT": path}
    if number % 4 == 2:
        settings["HEAPTAP_RESERVE"] = str(RESERVE_BYTES)
    if number % 8 == 5:
        settings["HEAPTAP_SAMPLE"] = "1024"
    return settings


def taken(report):
    sites = [site for site in report["sites"]
             if (site["stack"][0]["function"] or "").startswith("take(")]
    return [sum(site[key] for site in sites) for key in ("allocations", "allocated_bytes")]


def wrong_counts(number, path, output):
    """Return a sentence about a wrong count or a loss, or None."""
    report = documents.loads(subprocess.run(
        [os.environ["HEAPTAP"], "report", "--json", "--no-fold", path],
        check=True, stdout=subprocess.PIPE).stdout)
    wanted = [int(n) for n in re.match(r"allocations (\d+) allocated_bytes (\d+)", output).groups()]
    lost = {key: report["losses"][key] for key in ("events", "unknown_frees", "double_frees")
            if report["losses"][key]}
    if number % 8 != 5 and taken(report) != wanted:
        return f"take: wanted {wanted}, got {taken(report)}"
    return f"lost {lost}" if lost else None


def main(first, last):
    behaved, counted, broken = [], [], 0
    for number in range(first, last + 1):
        path = os.path.abspath(f"{number}.heaptap")
        bare, recorded = run(number), run(number, **recording(number, path))
        if bare[0] != number % 7:
            behaved.append(f"{number}: alone it returns {bare}")
        elif bare != recorded:
            behaved.append(f"{number}: alone {bare}, recorded {recorded}")
        else:
            wrong = wrong_counts(number, path, bare[1])
            if wrong:
                counted.append(f"{number}: {wrong}")
        if os.path.exists(path):
            os.unlink(path)
    count = last - first + 1
    tell(not behaved, f"{count} programs that switch stacks: output and status",
         f"{len(behaved)} differ", *behaved[:SHOWN_MAX])
    tell(not counted, f"{count} programs that switch stacks: counts",
         f"{len(counted)} are wrong", *counted[:SHOWN_MAX])


main(int(sys.argv[1]), int(sys.argv[2]))
finish()
