"""rounds.py: attach to busy programs and detach, again and again.

    rounds.py ROUNDS

Exits with 1 if an attach fails, or if the program notices."""
import os
import subprocess
import sys
import time

from attach import PROGRAM, heaptap, report

PYTHON = """
import json, os, select, subprocess, sys, threading
over = threading.Event()
def work():
    while not over.is_set():
        rows = {str(i): [i] * 3 for i in range(500)}
        assert json.loads(json.dumps(rows)) == rows
threads = [threading.Thread(target=work) for _ in range(2)]
for t in threads: t.start()
while not select.select([0], [], [], 0.05)[0]: # Until the end of standard input.
    subprocess.run(["/bin/true"], check=True)
over.set()
for t in threads: t.join()
print("ok")
"""


def rounds(name, count, *command, **more):
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               **more)
    time.sleep(0.3)
    for i in range(count):
        profile = f"{name}.heaptap"
        if os.path.exists(profile):
            os.unlink(profile)
        heaptap("attach", "--detached", "-o", profile, program.pid)
        time.sleep(0.05)
        heaptap("detach", "--no-pack", program.pid)
    document = report(profile)
    if document["totals"]["allocations"] == 0 or document["unknown_frees"] or \
            document["losses"]["events"]:
        sys.exit(f"{name}: {document['totals']} {document['losses']}")
    with open(f"/proc/{program.pid}/maps") as maps:
        if "heaptap" in maps.read():
            sys.exit(f"{name}: something is left")
    output, _ = program.communicate(timeout=60)
    if output != "ok\n" or program.returncode != 0:
        sys.exit(f"{name}: status {program.returncode}, {output}")


def main():
    count = int(sys.argv[1])
    rounds("churn", count, PROGRAM, "churn", "4", "0")
    rounds("python", count, sys.executable, "-c", PYTHON,
           env={**os.environ, "PYTHONMALLOC": "malloc"})


if __name__ == "__main__":
    main()
