"""lsan.py: the checks of lsan.sh.

    lsan.py HEAPTAP PROGRAM LIBRARY PROGRAM_WITH_LSAN

Each program is a random list of shapes for test/prog/leak_shapes.c. The first ones have a single
shape each.

LeakSanitizer does not search memory that was mapped without malloc, so blocks kept from there only
count. It ignores blocks of the dynamic linker. heaptap does not, so there is one more for the stack
that libc keeps of an ended thread: its table of thread-local variables."""
import json
import os
import random
import re
import subprocess
import sys

import dumps
from telling import finish, tell

heaptap, program, library, with_lsan = sys.argv[1:5]
PROGRAMS = int(os.environ.get("SHAPES_PROGRAMS", "40"))
SEED = int(os.environ.get("SHAPES_SEED", "1"))
SHAPES = ["keep_list", "lose_list", "keep_ring", "lose_ring", "keep_tree", "lose_tree",
          "keep_inside", "keep_end", "keep_local", "lose_inverted", "lose_in_freed", "keep_mapped",
          "keep_specific", "lose_unaligned", "lose_moved", "lose_aligned", "keep_in_threads",
          "lose_with_thread"]
# These have the name of their pointer, but it does not keep blocks for LeakSanitizer.
NOT_KEPT = "keep_end", "keep_mapped"
LINKER_BYTES = 304
LSAN_SUM = re.compile(r"LeakSanitizer: (\d+) byte\(s\) leaked in (\d+) allocation")


def random_program(source, first):
    """Return the arguments of a program, and its lost blocks and bytes."""
    arguments, blocks, size = [], 0, 0
    names = [first] if first else source.sample(SHAPES, source.randint(2, 8))
    for name in names:
        count, each = source.randint(1, 12), source.randint(24, 400)
        arguments.append("%s:%d:%d" % (name, count, each))
        if name.startswith("lose_") or name in NOT_KEPT:
            blocks += count
            size += count * each
    return arguments, (blocks, size)


def by_lsan(arguments):
    got = subprocess.run([with_lsan, *arguments], capture_output=True, text=True)
    found = LSAN_SUM.search(got.stderr)
    assert got.returncode == 0, got.stderr
    return (int(found[2]), int(found[1])) if found else (0, 0)


def by_heaptap(arguments):
    waiting = dumps.Waiting(library, "shapes.heaptap", [program, *arguments])
    waiting.asleep()
    got = subprocess.run([heaptap, "core", "--leaks", "--json", "--pid", str(waiting.pid)],
                         capture_output=True, text=True)
    waiting.end()
    assert got.returncode == 0, got.stderr
    found = json.loads(got.stdout)["reachability"]
    lost, through, mapped = (found[key] for key in
                             ("lost", "lost_through_others", "reached_from_mapped_memory"))
    kept = sum(int(one.split(":")[1]) * int(one.split(":")[2]) for one in arguments
               if one.startswith("keep_mapped"))
    linker = {"blocks": 0, "bytes": 0}
    if any(one.startswith("lose_with_thread") for one in arguments) and mapped["bytes"] > kept:
        linker = {"blocks": 1, "bytes": LINKER_BYTES}
    return tuple(lost[unit] + through[unit] + mapped[unit] - linker[unit]
                 for unit in ("blocks", "bytes"))


source = random.Random(SEED)
usable = subprocess.run([with_lsan, "lose_list:1:24"], capture_output=True, text=True)
if not LSAN_SUM.search(usable.stderr):
    dumps.skip("LeakSanitizer does not work here: " + usable.stderr.strip()[-200:])
equal = 0
for number in range(PROGRAMS):
    shapes, known = random_program(source, SHAPES[number] if number < len(SHAPES) else None)
    lsan, ours = by_lsan(shapes), by_heaptap(shapes)
    equal += known == lsan == ours
    if known != lsan or known != ours:
        tell(False, "program %d: blocks and bytes are equal" % number, "known", known,
             "LeakSanitizer", lsan, "heaptap", ours, *shapes)
tell(equal == PROGRAMS, "%d of %d programs have equal leaks" % (equal, PROGRAMS))
finish()
