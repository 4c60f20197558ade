"""lost_blocks.py: the checks of lost_blocks.sh, on test/prog/stale_words.c.

    lost_blocks.py HEAPTAP PROGRAM LIBRARY"""
import json
import subprocess
import sys
import time

import dumps
from telling import finish, tell

heaptap, program, library = sys.argv[1:4]
ROUNDS = 20
FORGOTTEN = (1208, 1208 * 40)
LIST = (3, 3 * 24)
HIDDEN = (1, 700)


def run(*arguments):
    return subprocess.run([heaptap, "core", "--leaks", *arguments], capture_output=True, text=True)


def document(*arguments, code=0):
    got = run("--json=nested", "--no-fold", *arguments)
    tell(got.returncode == code, "exit code %d" % code, got.returncode, got.stderr, *arguments)
    return json.loads(got.stdout)["reachability"]


def pair(sums):
    return sums["blocks"], sums["bytes"]


def stale():
    """The words of forget() may keep its blocks on the stack, but nowhere else."""
    held = 0
    for _ in range(ROUNDS):
        waiting = dumps.Waiting(library, "stale.heaptap", [program])
        waiting.asleep()
        found = document("--pid", str(waiting.pid))
        waiting.end()
        lost, through, stack = (pair(found[key]) for key in
                                ("lost", "lost_through_others", "reached_from_stacks"))
        # The blocks of 802 and 803 bytes are on stacks as well.
        blocks, sizes = lost[0] + through[0] + stack[0], lost[1] + through[1] + stack[1]
        # pthread_create and streams keep blocks whose pointers are variables.
        if (blocks, sizes) != (FORGOTTEN[0] + LIST[0] + HIDDEN[0] + 2,
                               FORGOTTEN[1] + LIST[1] + HIDDEN[1] + 802 + 803):
            tell(False, "forgotten blocks are lost or held by stack words only", found)
            return
        held += stack[0] - 2
    tell(held > ROUNDS * FORGOTTEN[0] / 2,
         "in %d rounds, forgotten blocks are lost or held by stack words only" % ROUNDS, held)


def text_of(waiting):
    text = run("--pid", str(waiting.pid)).stdout
    tell("kept only by words on stacks or in registers" in text, "text has the class", text)


def gate(where):
    got = run("--fail-over", "0", *where)
    tell(got.returncode == 1 and "and --fail-over allows none" in got.stderr, "a lost block fails",
         got.returncode, got.stderr)
    got = run("--fail-over", "10M", *where)
    tell(got.returncode == 0 and got.stderr == "", "less than the limit passes", got.stderr)
    total = sum(document(*where)[key]["bytes"] for key in ("lost", "lost_through_others"))
    got = run("--fail-over", str(total), *where)
    tell(got.returncode == 0, "the limit itself passes", total, got.stderr)
    got = run("--fail-over", str(total - 1), *where)
    tell(got.returncode == 1 and "more than the" in got.stderr, "a byte more fails", got.stderr)
    got = run("--fail-over", "peak=1", *where)
    tell(got.returncode == 2, "another limit is refused", got.stderr)


def suppressed(where):
    with open("list.supp", "w") as out:
        out.write("# known\nleak:^lose_list$\nleak:^hide$\nleak:^forget$\n")
    found = document("--suppressions", "list.supp", "--fail-over", "0", *where)
    hidden = {one["pattern"]: (one["live_blocks"], one["live_bytes"])
              for one in found["suppressed"]["by"]}
    tell(pair(found["lost"]) == (0, 0) and pair(found["lost_through_others"]) == (0, 0) and
         hidden.get("^lose_list$") == LIST and hidden.get("^hide$") == HIDDEN,
         "suppressed blocks are counted apart, with those lost with them", hidden, found)
    text = run("--suppressions", "list.supp", *where).stdout
    tell("Suppressed" in text and "^hide$" in text, "suppressions in text", text)
    for name, content, code in (("none.supp", None, 3), ("bad.supp", "leek:x\n", 3)):
        if content is not None:
            with open(name, "w") as out:
                out.write(content)
        got = run("--suppressions", name, *where)
        tell(got.returncode == code and name in got.stderr, "a bad file of suppressions: " + name,
             got.returncode, got.stderr)


def again():
    """Each reading but the first finds 10 more blocks of grow(). The hidden block is freed."""
    waiting = dumps.Waiting(library, "again.heaptap", [program])
    command = [heaptap, "core", "--leaks", "--json=nested", "--no-fold", "--again", "3", "--every",
               "2", "--pid", str(waiting.pid)]
    reader = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    for _ in range(3):
        waiting.go_on()
        waiting.ready()
        time.sleep(2)
    out, errors = reader.communicate()
    waiting.end()
    tell(reader.returncode == 0, "repeated readings succeed", errors)
    found = json.loads(out)["reachability"]
    rows = {row["stack"][0]["function"]: row for row in found["stacks"]}
    grow = rows.get("grow", {})
    tell(found["readings"] == 4 and found["recovered_blocks"] == 1,
         "the hidden block was not lost", found)
    tell("hide" not in rows and "lose_list" in rows, "lost blocks stay", list(rows))
    tell(found["stacks"][0]["stack"][0]["function"] == "grow" and grow["growths"] == 2 and
         pair(grow["grown"]) == (20, 2000) and pair(grow["lost"]) == (20, 2000),
         "the stack that grows comes first, without blocks of the last reading", grow)
    tell(pair(found["lost_in_last_reading"]) == (10, 1000), "blocks that one reading found", found)


def interrupted():
    """A command that waits ends at once when it is killed, and so does its child."""
    waiting = dumps.Waiting(library, "killed.heaptap", [program])
    reader = subprocess.Popen([heaptap, "core", "--leaks", "--again", "1", "--every", "600",
                               "--pid", str(waiting.pid)], stdout=subprocess.PIPE)
    time.sleep(1)
    reader.terminate()
    started = time.monotonic()
    reader.communicate()  # The child has the pipe as well.
    tell(time.monotonic() - started < 5, "a killed command leaves no process")
    waiting.end()


def refused(where):
    for arguments in (["--suppressions", "x"], ["--fail-over", "0"], ["--again", "2"]):
        got = subprocess.run([heaptap, "core", *arguments, *where], capture_output=True, text=True)
        tell(got.returncode == 2 and "need --leaks" in got.stderr,
             arguments[0] + " needs --leaks", got.stderr)
    got = run("--again", "2", "core.1")
    tell(got.returncode == 2 and "a dump never changes" in got.stderr, "a dump is read once",
         got.stderr)


def incomplete():
    """A gate judges nothing if blocks or pointers are missing."""
    if not dumps.have_gcore():
        print("ok - a truncated dump # SKIP gcore is not installed")
        return
    waiting = dumps.Waiting(library, "whole.heaptap", [program])
    dump = dumps.gcore(waiting.pid, "whole")
    waiting.end()
    with open(dump, "rb") as whole, open("part", "wb") as part:
        bytes_ = whole.read()
        part.write(bytes_[:len(bytes_) - len(bytes_) // 50])
    got = run("--fail-over", "10M", dump)
    tell(got.returncode == 0, "a whole dump passes", got.returncode, got.stderr)
    got = run("--fail-over", "10M", "--profile", "whole.heaptap", "part")
    tell(got.returncode == 3 and "--fail-over cannot judge" in got.stderr,
         "a truncated dump is not judged", got.returncode, got.stderr)


stale()
WAITING = dumps.Waiting(library, "gate.heaptap", [program])
WAITING.asleep()
WHERE = ["--pid", str(WAITING.pid)]
text_of(WAITING)
gate(WHERE)
suppressed(WHERE)
refused(WHERE)
WAITING.end()
again()
interrupted()
incomplete()
finish()
